"""A crew of one that reads and sums up support cases."""

from crewai import Agent, Crew, Task
from crewai.tools import BaseTool, tool
from crewai_tools import FileReadTool
from pydantic import BaseModel, Field


class CaseInput(BaseModel):
    case_id: str = Field(description="Number of the case.")
    lines: int = Field(20, ge=1, le=200)


class LookupCase(BaseTool):
    name: str = "lookup_case"
    description: str = "Read the data of one support case."
    args_schema: type[BaseModel] = CaseInput

    def _run(self, case_id: str, lines: int = 20) -> str:
        return case_id[:lines]


@tool
def summarize_case(text: str) -> str:
    """Sum up what is known of a case in a few lines."""
    return text[:200]


reader = FileReadTool()

analyst = Agent(
    role="Case analyst",
    goal="Know the case",
    backstory="Reads before it answers.",
    tools=[summarize_case, LookupCase(), reader],
)

crew = Crew(agents=[analyst], tasks=[Task(description="Sum up case {case}.", expected_output="five lines", agent=analyst)])
