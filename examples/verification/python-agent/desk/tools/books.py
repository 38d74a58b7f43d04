"""Books: what there is and where it stands."""

from agents import function_tool

from desk import client


@function_tool
async def search_books(words: str, page: int = 1) -> dict:
    """Search the catalogue for books by words of their title or author."""
    return await client.get("/books", q=words, page=str(page))


@function_tool(name_override="find_shelf")
async def shelf_of(isbn: str) -> dict:
    """Say on which shelf the copies of a book stand."""
    return await client.get(f"/books/{isbn}/shelf")
