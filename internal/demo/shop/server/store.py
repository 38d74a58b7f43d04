"""Orders in memory, for development."""

ORDERS: dict[str, dict] = {}


def of(customer: str) -> list[dict]:
    mine = [o for o in ORDERS.values() if o["customer"] == customer]
    return sorted(mine, key=lambda o: o["id"], reverse=True)


def order(order_id: str) -> dict:
    return ORDERS[order_id]


def change(order_id: str, **fields) -> dict:
    ORDERS[order_id].update(fields)
    return ORDERS[order_id]
