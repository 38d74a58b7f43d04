package pyagent_test

import (
	"os"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
)

func TestTheLangChainSample(t *testing.T) {
	m := &manifest.Manifest{Name: "shipgate.yaml"}
	s := manifest.Source{ID: "langchain_agent", Type: "langchain", Path: "agent.py"}
	r, err := pyagent.ReadLangChainSource(m, s, os.DirFS(samples+"simple_langchain_agent"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, `
		tool lookup_case(case_id:string) langchain_function agent.py:14
		tool summarize_case(case_id:string sentences?:number) langchain_structured_tool agent.py:23
		agent case_reader
		direct_tool case_reader -> lookup_case
		direct_tool case_reader -> summarize_case`)
	p := r.Tools[1].Params[1]
	if p.Minimum != "1" || p.Maximum != "10" || p.Description != "Length of the summary" {
		t.Errorf("sentences: %+v", p)
	}
}

func TestFormsOfLangChainTools(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"decorators": {`
from langchain.tools import tool
import langchain_core.tools as lc
from typing import Annotated, Literal, Optional
@tool("look-up", return_direct=True)
def a(q: Annotated[str, "the question"], kind: Literal["x", "y"], n: Optional[int] = None, run_manager=None): "A."
@lc.tool(description="Other.")
async def b(x: dict[str, int]): "B."
@tool
@other
def c(): pass
`, `tool look-up(kind:enum n?:number q:string) langchain_function a.py:6
			tool b(x:object) langchain_function a.py:8
			tool c() langchain_function a.py:11`},
		"calls": {`
from langchain_core.tools import StructuredTool, Tool, tool
def f(a: int): "Eff."
async def g(b: bool): pass
f_tool = tool(f)
g_tool = tool("gee")(g)
h_tool = tool("aitch", f)
s = StructuredTool.from_function(coroutine=g, name="ess")
t = Tool(name="tee", func=lambda q: q, description="T")
u = Tool("you", f, "U")
v = Tool.from_function(f, name="vee", description="V")
`, `tool f(a:number) langchain_function a.py:5
			tool gee(b:boolean) langchain_function a.py:6
			tool aitch(a:number) langchain_function a.py:7
			tool ess(b:boolean) langchain_structured_tool a.py:8
			tool tee() langchain_tool a.py:9
			tool you(a:number) langchain_tool a.py:10
			tool vee(a:number) langchain_tool a.py:11
			dynamic schema unsupported_expression agent= name=tee`},
		"schemas": {`
from langchain.tools import tool
from pydantic import BaseModel, Field
class Base(BaseModel):
    id: int = Field(..., ge=0, description="which")
class In(Base):
    limit: int = Field(default=5, le=10)
    tags: list[str]
    inner: Base
class Other: pass
@tool(args_schema=In)
def a(**kw): pass
@tool(args_schema=Other)
def b(x): pass
`, `tool a(id:number inner:object limit?:number tags:array) langchain_function a.py:12
			tool b() langchain_function a.py:14
			dynamic schema unresolved_name agent= name=b`},
		"no tool: a decorator of the same name": {`
from celery import tool
@tool
def a(): pass
`, ``},
	} {
		t.Run(name, func(t *testing.T) { expect(t, chain(t, "a.py", map[string]string{"a.py": c.text}), c.want) })
	}
}

func TestAgentsOfLangChain(t *testing.T) {
	const head = `
from langchain_core.tools import tool, BaseTool
from langchain.agents import create_agent, create_tool_calling_agent, AgentExecutor, initialize_agent
from langgraph.prebuilt import ToolNode, create_react_agent
from langgraph.graph import StateGraph
@tool
def a(): pass
@tool
def b(): pass
`
	const tools = "tool a() langchain_function a.py:7\ntool b() langchain_function a.py:9\n"
	for name, c := range map[string]struct{ text, want string }{
		"lists in every place": {
			`
bot = create_agent("m", [a, b], system_prompt="")
two = create_react_agent(model=llm, tools=(a,))
three = initialize_agent([b], llm)`,
			`agent bot
			agent two
			agent three
			direct_tool bot -> a
			direct_tool bot -> b
			direct_tool two -> a
			direct_tool three -> b`,
		},
		"an executor runs an agent": {
			`
tools = [a, b]
inner = create_tool_calling_agent(llm, tools, prompt)
executor = AgentExecutor(agent=inner, tools=tools, verbose=True)`,
			`agent inner
			agent executor
			direct_tool inner -> a
			direct_tool inner -> b
			direct_tool executor -> a
			direct_tool executor -> b
			subagent executor -> inner`,
		},
		"a graph is one agent": {
			`
tools = [a, b]
model = ChatOpenAI().bind_tools(tools)
def call(state): return model.invoke(state)
builder = StateGraph(dict)
builder.add_node("model", call)
builder.add_node("tools", ToolNode(tools))
graph = builder.compile()`,
			`agent graph
			agent graph
			agent graph
			direct_tool graph -> a
			direct_tool graph -> b
			tool_node graph -> a
			tool_node graph -> b`,
		},
		"agents as nodes of a graph": {
			`
one = create_react_agent(llm, [a])
two = create_react_agent(llm, [b])
flow = StateGraph(dict).add_node("one", one).add_node("two", two).compile()`,
			`agent one
			agent two
			agent flow
			direct_tool one -> a
			direct_tool two -> b
			subagent flow -> two
			subagent flow -> one`,
		},
		"a chain with pipes": {
			`
bot = prompt | llm.bind_tools([a]) | parser
run = AgentExecutor(agent=bot, tools=[a])`,
			`agent bot
			agent run
			direct_tool bot -> a
			direct_tool run -> a
			subagent run -> bot`,
		},
		"functions, classes and schemas": {
			`
from pydantic import BaseModel
class Mine(BaseTool):
    name: str = "mine"
    description: str = "My own."
    def _run(self, x: int, run_manager=None): pass
class Ask(BaseModel):
    "Asks."
    q: str
def plain(y: bool): "Plain."
bot = create_agent("m", [Mine(), plain, Ask])`,
			`tool mine(x:number) langchain_tool a.py:12
			tool plain(y:boolean) langchain_function a.py:19
			tool Ask(q:string) langchain_function a.py:16
			agent bot
			direct_tool bot -> mine
			direct_tool bot -> plain
			direct_tool bot -> Ask`,
		},
		"what cannot be listed": {
			`
from langchain_community.agent_toolkits import SQLDatabaseToolkit
from langchain_community.tools import DuckDuckGoSearchRun
kit = SQLDatabaseToolkit(db=db, llm=llm)
bot = create_agent("m", kit.get_tools() + [a])
two = create_agent("m", [DuckDuckGoSearchRun(), wrap(b)])
three = create_agent("m", [f for f in (a, b)])`,
			`agent bot
			agent two
			agent three
			direct_tool bot -> a open
			dynamic tool_list runtime_call agent=bot name=kit.get_tools
			dynamic tool runtime_call agent=two name=DuckDuckGoSearchRun
			dynamic tool runtime_call agent=two name=wrap
			dynamic tool_list comprehension agent=three name=
			toolkit langchain_community.agent_toolkits SQLDatabaseToolkit bound=kit limited=false  config=
			toolkit langchain_community.tools DuckDuckGoSearchRun bound=two limited=false  config=`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, chain(t, "a.py", map[string]string{"a.py": head + c.text}), tools+c.want)
		})
	}
}
