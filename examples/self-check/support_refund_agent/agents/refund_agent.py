"""An assistant that answers questions about refunds and prepares them."""

from agents import Agent, function_tool


@function_tool
def send_email_preview(customer_id: str, template: str) -> str:
    """Preview an email to a customer without sending it.

    The text is shown to the person who asked and kept nowhere.
    """
    return f"To {customer_id}: {template}"


refund_agent = Agent(
    name="Refund assistant",
    instructions="Help with refunds; a person approves each of them.",
    tools=[send_email_preview],
)
