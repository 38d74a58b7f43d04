"""Reads support cases and sums them up."""

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool, tool
from pydantic import BaseModel, Field


class SummaryInput(BaseModel):
    case_id: str = Field(description="Number of the case")
    sentences: int = Field(3, ge=1, le=10, description="Length of the summary")


@tool
def lookup_case(case_id: str) -> dict:
    """Look up the metadata of a support case."""
    return {"id": case_id}


def summarize(case_id: str, sentences: int = 3) -> dict:
    return {"id": case_id, "sentences": sentences}


summarize_case = StructuredTool.from_function(
    func=summarize,
    name="summarize_case",
    description="Summarize a support case in a few sentences.",
    args_schema=SummaryInput,
)

case_reader = create_agent("openai:gpt-5", tools=[lookup_case, summarize_case])
