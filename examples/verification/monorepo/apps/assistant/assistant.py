"""The assistant of the shop. Its helpers get the mail server and the catalog from deploy/."""

from agents import Agent, handoff

from .helpers import greeting
from .pricing import price_with_tax

mailer = Agent(name="mailer", instructions="Draft mails; send what was confirmed.")

searcher = Agent(
    name="searcher",
    handoff_description="Finds articles.",
    instructions="Search the catalog.",
)

shop_assistant = Agent(
    name="shop_assistant",
    instructions=greeting("the shop"),
    tools=[price_with_tax],
    handoffs=[handoff(mailer), searcher],
)
