"""The service: one function an operation of api/orders.yaml."""

from server import store


def list_orders(customer: str, limit: int = 20) -> list[dict]:
    return store.of(customer)[:limit]


def get_order(order_id: str) -> dict:
    return store.order(order_id)


def readdress_order(order_id: str, body: dict) -> dict:
    return store.change(order_id, street=body["street"])
