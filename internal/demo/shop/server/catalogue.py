"""What the shop sells, for agents who look something up."""

TEAS = {"assam": 900, "sencha": 1200, "rooibos": 700}


def price(tea: str) -> int:
    return TEAS[tea]
