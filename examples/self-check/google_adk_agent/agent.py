"""An assistant for support cases."""

from pathlib import Path
from typing import TypedDict

from google.adk.agents import LlmAgent
from google.adk.tools import LongRunningFunctionTool
from google.adk.tools.mcp_tool import McpToolset
from google.adk.tools.openapi_tool import OpenAPIToolset


def lookup_case(case_id: str, with_history: bool = False) -> dict:
    """Look up one support case.

    Args:
        case_id: number of the case.
    """
    return {"case": case_id, "history": with_history}


class Ticket(TypedDict):
    status: str
    ticket_id: str


def request_refund_approval(case_id: str, amount: float, tool_context=None) -> Ticket:
    """Ask a person to approve a refund."""
    return {"status": "pending", "ticket_id": case_id}


def trace(callback_context, llm_request):
    print(llm_request)


spec = Path(__file__).parent / "specs" / "support.openapi.yaml"

root_agent = LlmAgent(
    name="support",
    model="gemini-2.5-flash",
    instruction="Answer questions about cases.",
    tools=[
        lookup_case,
        LongRunningFunctionTool(func=request_refund_approval),
        OpenAPIToolset(spec_str=spec.read_text(), spec_str_type="yaml"),
        McpToolset(connection_params=object(), tool_filter=["support.search"], inventory_path="inventories/mcp-tools.json"),
    ],
    before_model_callback=trace,
)
