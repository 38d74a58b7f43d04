def greeting(place: str) -> str:
    return f"You help customers of {place}. Be brief."
