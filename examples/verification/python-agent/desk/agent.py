"""The agent that stands at the desk."""

from agents import Agent

from desk.session import Session
from desk.tools.books import search_books, shelf_of
from desk.tools.loans import extend_loan, list_loans

INSTRUCTIONS = """
You help readers of a public library. Answer from the catalogue only.
Extend a loan when the reader asks for it and say until when it runs.
"""

desk = Agent[Session](
    name="Library desk",
    instructions=INSTRUCTIONS,
    tools=[
        search_books,
        shelf_of,
        list_loans,
        extend_loan,
    ],
)
