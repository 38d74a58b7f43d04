package pyagent_test

import (
	"os"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

func crew(t *testing.T, path string, files map[string]string) *tool.Reading {
	t.Helper()
	r, err := pyagent.ReadCrewAISource(nil, manifest.Source{ID: "code", Type: "crewai", Path: path}, tree(files))
	if err != nil {
		t.Fatalf("ReadCrewAISource: %v", err)
	}
	r.Toolkit = nil
	return r
}

func TestTheCrewAISample(t *testing.T) {
	r, err := pyagent.ReadCrewAISource(nil, manifest.Source{ID: "crewai_agent", Type: "crewai", Path: "crew.py"}, os.DirFS(samples+"simple_crewai_agent"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, `
		tool lookup_case(case_id:string lines?:number) crewai_class_tool crew.py:14
		tool summarize_case(text:string) crewai_function crew.py:24
		tool FileReadTool() crewai_prebuilt_tool crew.py:29
		agent analyst
		agent crew
		direct_tool analyst -> summarize_case
		direct_tool analyst -> lookup_case
		direct_tool analyst -> FileReadTool
		subagent crew -> analyst
		warning prebuilt_tool`)
	lookup, reader := r.Tools[0], r.Tools[2]
	if lookup.Description != "Read the data of one support case." || lookup.Params[1].Maximum != "200" || lookup.Confidence != tool.Medium {
		t.Errorf("the class is %+v", lookup)
	}
	if reader.Confidence != tool.Low || reader.Method != "prebuilt" {
		t.Errorf("the prebuilt tool is %+v", reader)
	}
}

func TestToolsOfCrewAI(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"decorators": {`
from crewai.tools import tool as t
import crewai.tools
@t("Find orders")
def find(q: str, limit: int = 3): "Finds."
@crewai.tools.tool
async def plain(x): pass
@t(name=NAME)
def other(): pass
`, `tool Find orders(limit?:number q:string) crewai_function a.py:5
			tool plain(x:string) crewai_function a.py:7
			tool other() crewai_function a.py:9
			dynamic name unsupported_expression agent= name=other`},
		"classes": {`
from crewai.tools import BaseTool
from typing import Type
class Base(BaseTool):
    description: str = "Shared."
class A(Base):
    name = "a_tool"
    def _run(self, x: bool, run_manager=None): pass
class B(Base):
    """Does b."""
    name: str = f"{PREFIX}_b"
    async def _arun(self, y: list): pass
class C(BaseTool):
    name: str = "c"
class Unrelated:
    name = "u"
    def _run(self): pass
`, `tool a_tool(x:boolean) crewai_class_tool a.py:6
			tool B(y:array) crewai_class_tool a.py:9
			tool c() crewai_class_tool a.py:13
			dynamic name unsupported_expression agent= name=B`},
		"the older home of both": {`
from crewai_tools import tool, BaseTool
@tool("One")
def one(): pass
class Two(BaseTool):
    name: str = "two"
    def _run(self): pass
`, `tool One() crewai_function a.py:4
			tool two() crewai_class_tool a.py:5`},
		"another library's decorator": {`
from langchain.tools import tool
@tool
def x(): pass
`, ``},
	} {
		t.Run(name, func(t *testing.T) { expect(t, crew(t, "a.py", map[string]string{"a.py": c.text}), c.want) })
	}
}

func TestWhatCrewsAndTheirAgentsHold(t *testing.T) {
	const head = "from crewai import Agent, Crew, Task\nfrom crewai.tools import tool, BaseTool\nimport crewai_tools as ct\n@tool\ndef a(): pass\n@tool\ndef b(): pass\nclass K(BaseTool):\n    name: str = 'k'\n    def _run(self): pass\n"
	const tools = `tool a() crewai_function a.py:5
			tool b() crewai_function a.py:7
			tool k() crewai_class_tool a.py:8
			`
	for name, c := range map[string]struct{ text, want string }{
		"an object with a name of its own": {`
one = Agent(role="r", tools=[K(name="mine"), K()])
`, `tool a() crewai_function a.py:5
			tool b() crewai_function a.py:7
			tool k() crewai_class_tool a.py:8
			tool mine() crewai_class_tool a.py:12
			agent one
			direct_tool one -> mine
			direct_tool one -> k`},
		"code, servers and apps": {`
one = Agent(role="r", allow_code_execution=True, mcps=["https://x.example/mcp"], apps=["mail"])
two = Agent(role="r", allow_code_execution=False, mcps=[])
`, tools + `tool CodeInterpreterTool() crewai_prebuilt_tool a.py:12
			agent one
			agent two
			direct_tool one -> CodeInterpreterTool
			dynamic mcp_client runtime_call agent=one name=
			dynamic toolset runtime_call agent=one name=
			warning prebuilt_tool`},
		"what is computed": {`
with ct.MCPServerAdapter(params) as served:
    one = Agent(role="r", tools=served)
two = Agent(role="r", tools=[make(), a])
three = Agent(role="r", **more)
all = Crew(agents=[one, team()], tasks=[], manager_agent=two)
`, tools + `agent one
			agent two
			agent three
			agent all
			direct_tool two -> a
			subagent all -> one
			subagent all -> team open
			subagent all -> two
			dynamic tool_list unresolved_name agent=one name=served
			dynamic tool runtime_call agent=two name=make
			dynamic tool_list unsupported_expression agent=three name=
			dynamic agent_list runtime_call agent=all name=team`},
		"tools of one task": {`
one = Agent(role="r")
x = Task(description="d", agent=one, tools=[a])
y = Task(description="d", tools=[b])
`, tools + `agent one
			direct_tool one -> a
			dynamic task_tools unresolved_name agent= name=`},
		"an agent without a name": {`
Crew(name="night shift", agents=[Agent(role="Guard", tools=[a])])
`, tools + `agent night shift
			agent Guard
			subagent night shift -> Guard
			direct_tool Guard -> a`},
	} {
		t.Run(name, func(t *testing.T) { expect(t, crew(t, "a.py", map[string]string{"a.py": head + c.text}), c.want) })
	}
}

func TestTheProjectTemplateOfCrewAI(t *testing.T) {
	files := map[string]string{
		"src/crew.py": `
from crewai import Agent, Crew, Process, Task
from crewai.project import CrewBase, agent, crew, task, tool
from crewai_tools import SerperDevTool
from tools.custom import Ledger

@CrewBase
class Desk:
    agents_config = "config/agents.yaml"

    @tool
    def search(self):
        return SerperDevTool()

    @agent
    def reader(self) -> Agent:
        return Agent(config=self.agents_config["reader"], tools=[Ledger(), self.search()])

    @agent
    def writer(self) -> Agent:
        return Agent(config=self.agents_config["writer"])

    @agent
    def lost(self) -> Agent:
        return Agent(config=self.agents_config["lost"])

    @task
    def read(self) -> Task:
        return Task(config=self.tasks_config["read"], agent=self.reader(), tools=[Ledger()])

    @crew
    def crew(self) -> Crew:
        return Crew(agents=self.agents, tasks=self.tasks, process=Process.sequential)
`,
		"src/config/agents.yaml": "reader:\n  role: reads\nwriter:\n  role: writes\n  tools: [search, unknown]\n",
		"src/tools.py":           "",
		"src/custom.py":          "from crewai.tools import BaseTool\nclass Ledger(BaseTool):\n    name: str = 'ledger'\n    def _run(self, day: str): pass\n",
	}
	// A folder is read without the folders in it, so the tool lies beside.
	files["src/crew.py"] = "from custom import Ledger\n" + files["src/crew.py"]
	r := crew(t, "src", files)
	expect(t, r, `
		tool ledger(day:string) crewai_class_tool src/custom.py:2
		tool SerperDevTool() crewai_prebuilt_tool src/crew.py:14
		agent reader
		agent writer
		agent lost
		agent crew
		direct_tool reader -> ledger
		direct_tool reader -> SerperDevTool
		direct_tool writer -> SerperDevTool
		direct_tool reader -> ledger
		subagent crew -> reader
		subagent crew -> writer
		subagent crew -> lost
		dynamic tool unresolved_name agent=writer name=unknown
		dynamic tool_list unresolved_name agent=lost name=self.agents_config
		warning prebuilt_tool`)
}

func TestTheBlockOfCrewAI(t *testing.T) {
	m := &manifest.Manifest{Name: "shipgate.yaml", CrewAI: &manifest.Framework{
		Entrypoints: []manifest.Artifact{{Path: "a.py"}, {Path: "gone.py", Optional: true}},
		Inventories: []manifest.Artifact{{Path: "inv.yaml"}},
	}}
	files := map[string]string{"a.py": "from crewai import Agent\nx = Agent(role='r')\n", "inv.yaml": "tools: [{name: i}]\n"}
	r, err := pyagent.ReadCrewAI(m, tree(files))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, `
		tool i() crewai_inventory
		agent x
		warning missing_optional_source`)
	if r, err := pyagent.ReadCrewAI(&manifest.Manifest{}, tree(nil)); err != nil || len(r.Sources) != 0 {
		t.Errorf("without a block: %+v, %v", r, err)
	}
	m.CrewAI.Entrypoints[1].Optional = false
	if _, err := pyagent.ReadCrewAI(m, tree(files)); err == nil || err.Problem != tool.NotThere {
		t.Errorf("got %v", err)
	}
}
