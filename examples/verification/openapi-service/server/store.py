"""Parcels in memory, for development."""

PARCELS: dict[str, dict] = {}


def parcel(parcel_id: str) -> dict:
    return PARCELS[parcel_id]


def events(parcel_id: str) -> list[dict]:
    return PARCELS[parcel_id]["events"]


def redirect(parcel_id: str, shop: str) -> dict:
    PARCELS[parcel_id]["shop"] = shop
    return PARCELS[parcel_id]
