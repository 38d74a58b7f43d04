"""The server: handlers by operation id, as api/parcels.yaml names them."""

from server import store


def get_parcel(parcel_id: str) -> dict:
    return store.parcel(parcel_id)


def list_events(parcel_id: str, limit: int = 20) -> list[dict]:
    return store.events(parcel_id)[:limit]


def redirect_parcel(parcel_id: str, body: dict) -> dict:
    return store.redirect(parcel_id, body["shop"])
