from agents import Agent, function_tool

@function_tool
def send_email_preview(customer: str, body: str) -> str:
    """Render a preview of an email for human review."""
    return ""

refund_agent = Agent(name="refund-assistant", tools=[send_email_preview])
