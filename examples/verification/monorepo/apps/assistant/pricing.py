import agents


@agents.function_tool
def price_with_tax(article: str, country: str) -> dict:
    """Show the price of an article with the tax of a country."""
    return {"article": article, "country": country}
