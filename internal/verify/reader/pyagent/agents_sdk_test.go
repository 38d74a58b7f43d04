package pyagent_test

import (
	"os"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
)

// samples are the programs that the gate tries itself on, too.
const samples = "../../../../examples/self-check/"

func TestTheRefundAgentSample(t *testing.T) {
	m := &manifest.Manifest{Name: "shipgate.yaml"}
	s := manifest.Source{ID: "openai_sdk_static", Type: "openai_agents_sdk", Path: "agents/refund_agent.py"}
	r, err := pyagent.ReadAgentsSDK(m, s, os.DirFS(samples+"support_refund_agent"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, `
		tool send_email_preview(customer_id:string template:string) sdk_function agents/refund_agent.py:7
		agent refund_agent
		direct_tool refund_agent -> send_email_preview`)
	if got := r.Tools[0].Description; got != "Preview an email to a customer without sending it." {
		t.Errorf("description %q", got)
	}
	if got := r.Tools[0].Signature; got != "send_email_preview(customer_id: str, template: str) -> str" {
		t.Errorf("signature %q", got)
	}
}

func TestFormsOfFunctionTools(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an alias": {`
from agents import function_tool as ft, RunContextWrapper
@ft(name_override='find order', description_override="Finds.")
async def order(
    ctx: RunContextWrapper[int],
    number: int, *,
    tags: list[str] = (),
    deep: "bool | None" = None,
) -> dict:
    return {}
`, `tool find order(deep?:boolean number:number tags?:array) sdk_function a.py:4`},
		"a module": {`
import agents as sdk
@sdk.function_tool
def a(wrapper: sdk.RunContextWrapper, x: dict, y: float = 1.5): pass
@sdk.tool.function_tool()
def b(self, *args, **kwargs): pass
`, `tool a(x:object y?:number) sdk_function a.py:4
			tool b() sdk_function a.py:6`},
		"the other package": {`
import openai_agents
@openai_agents.function_tool(strict_mode=False)
def a(): pass
`, `tool a() sdk_function a.py:4`},
		"a partial": {`
from functools import partial
from agents import function_tool
loose = partial(function_tool, strict_mode=False)
@loose
def a(x): pass
@loose(name_override="bee")
def b(x): pass
`, `tool a(x:string) sdk_function a.py:6
			tool bee(x:string) sdk_function a.py:8`},
		"a call": {`
from agents import function_tool, FunctionTool
def look(q: str): "Looks."
look_tool = function_tool(look, name_override="look_up"); see = function_tool(name_override="see")(look)
raw = FunctionTool(name="raw", description="R", params_json_schema={"type": "object", "properties": {"n": {"type": "integer"}}}, on_invoke_tool=None)
`, `tool look_up(q:string) sdk_function a.py:4
			tool see(q:string) sdk_function a.py:4
			tool raw(n?:integer) sdk_function a.py:5`},
		"names that are computed": {`
import os
from agents import function_tool, FunctionTool
@function_tool(name_override=os.environ["N"])
def a(): pass
b = FunctionTool(name=f"{a}_x", params_json_schema={})
`, `tool a() sdk_function a.py:5
			dynamic name unsupported_expression agent= name=a
			dynamic name unsupported_expression agent= name=FunctionTool`},
		"a constant of the file": {`
from agents import function_tool
NAME = "con" + "stant"
@function_tool(name_override=NAME)
def a(): pass
`, `tool constant() sdk_function a.py:5`},
		"no tool: another module's decorator": {`
from mine import function_tool
@function_tool
def a(): pass
`, ``},
		"a fallback import": {`
try:
    from agents import function_tool
except ImportError:
    from stub import function_tool
@function_tool
def a(): pass
`, `tool a() sdk_function a.py:7`},
		"letters of full width": {`
from agents import ｆunction_tool
@function_tool
def a(): pass
`, `tool a() sdk_function a.py:4`},
		"conditional definitions": {`
import sys
from agents import Agent, function_tool
if sys.platform == "linux":
    @function_tool
    def a(x: int): pass
else:
    @function_tool
    def a(y: str): pass
bot = Agent(name="bot", tools=[a])
`, `tool a(x:number) sdk_function a.py:6
			agent bot
			direct_tool bot -> a open
			dynamic name defined_twice agent= name=a
			warning duplicate_tool`},
	} {
		t.Run(name, func(t *testing.T) { expect(t, sdk(t, "a.py", map[string]string{"a.py": c.text}), c.want) })
	}
}

func TestAgentsAndWhatTheyHold(t *testing.T) {
	const head = `
from agents import Agent, function_tool, handoff
@function_tool
def a(): pass
@function_tool
def b(): pass
`
	const tools = "tool a() sdk_function a.py:4\ntool b() sdk_function a.py:6\n"
	for name, c := range map[string]struct{ text, want string }{
		"several lines, a constant and a star": {`
COMMON = [a]
bot = Agent[dict](
    "Bot",
    tools=[
        *COMMON,
        b,
    ],
)`, "agent bot\ndirect_tool bot -> a\ndirect_tool bot -> b"},
		"handoffs": {
			`
first = Agent(name="First", tools=[a])
second: Agent = Agent(name="Second", handoffs=[first, handoff(agent=Agent(name="third", tools=[b]))])`,
			`agent first
			agent second
			agent third
			direct_tool first -> a
			handoff second -> first
			handoff second -> third
			direct_tool third -> b`,
		},
		"handoffs given later": {
			`
one = Agent(name="1", tools=[a])
two = Agent(name="2", handoffs=[one])
one.handoffs.append(two)
if one:
    one.tools.append(b)`,
			`agent one
			agent two
			direct_tool one -> a
			handoff two -> one
			handoff one -> two
			direct_tool one -> b open`,
		},
		"a list that grows": {
			`
tools = [a]
tools.append(b)
bot = Agent(name="bot", tools=tools)`,
			`agent bot
			direct_tool bot -> a
			direct_tool bot -> b`,
		},
		"a list that grows by another list": {
			`
tools = [a]
more = [b]
tools.extend(more)
bot = Agent(name="bot", tools=tools)`,
			`agent bot
			direct_tool bot -> a
			direct_tool bot -> b`,
		},
		"a list that may grow": {
			`
tools = [a]
if fast():
    tools.append(b)
bot = Agent(name="bot", tools=tools)`,
			`agent bot
			direct_tool bot -> a open
			direct_tool bot -> b open
			dynamic tool_list changed_in_place agent=bot name=tools`,
		},
		"a list that grows by what a call gives": {
			`
tools = [a]
tools.extend(load())
bot = Agent(name="bot", tools=tools)`,
			`agent bot
			direct_tool bot -> a open
			dynamic tool_list runtime_call agent=bot name=load`,
		},
		"a list that grows in a function": {
			`
tools = [a]
def more():
    tools.append(b)
bot = Agent(name="bot", tools=tools)`,
			`agent bot
			direct_tool bot -> a open
			direct_tool bot -> b open
			dynamic tool_list changed_in_place agent=bot name=tools`,
		},
		"a list that grows and shrinks": {
			`
tools = [a]
tools.append(b)
tools[0] = make()
bot = Agent(name="bot", tools=tools)`,
			`agent bot
			direct_tool bot -> a open
			direct_tool bot -> b open
			dynamic tool_list changed_in_place agent=bot name=tools`,
		},
		"a list that another function changes": {
			`
def more(into, n=1):
    into.append(b)
tools = [a]
more(tools)
bot = Agent(name="bot", tools=tools)`,
			`agent bot
			direct_tool bot -> a open
			dynamic tool_list changed_in_place agent=bot name=tools`,
		},
		"lists that are computed": {
			`
import os
bot = Agent(name="bot", tools=[t for t in (a, b)])
two = Agent(name="two", tools=load())
three = Agent(name="three", tools=[a] if os.environ.get("X") else [b])
four = Agent(name="four", tools=[make(), unknown, 1])
five = Agent(name="five", **{"tools": [a]})`,
			`agent bot
			agent two
			agent three
			agent four
			agent five
			direct_tool three -> a open
			direct_tool three -> b open
			dynamic tool_list comprehension agent=bot name=
			dynamic tool_list runtime_call agent=two name=load
			dynamic tool_list conditional_expression agent=three name=
			dynamic tool runtime_call agent=four name=make
			dynamic tool unresolved_name agent=four name=unknown
			dynamic tool unsupported_expression agent=four name=
			dynamic tool_list unsupported_expression agent=five name=`,
		},
		"names of agents without a variable": {
			`
def build():
    return Agent(name="built", tools=[a])
def other(name):
    return Agent(name=name, tools=[b])
class Team:
    def __init__(self):
        self.lead = Agent(name="Lead", tools=[a])`,
			`agent built
			agent other
			agent lead
			direct_tool built -> a
			direct_tool other -> b
			direct_tool lead -> a`,
		},
		"an agent as a tool, a clone and a subclass": {
			`
class Mine(Agent): pass
base = Mine(name="base", tools=[a])
copy = base.clone(name="copy")
bot = Agent(name="bot", tools=[base.as_tool(tool_name="ask", tool_description="")])`,
			`agent base
			agent copy
			agent bot
			direct_tool base -> a
			direct_tool copy -> a
			subagent bot -> base`,
		},
		"attributes of an object": {
			`
class Team:
    def __init__(self):
        self.tools = [a, b]
        self.bot = Agent(name="bot", tools=self.tools)
        self.top = Agent(name="top", handoffs=[self.bot])`,
			`agent bot
			agent top
			direct_tool bot -> a
			direct_tool bot -> b
			handoff top -> bot`,
		},
		"a handoff to nobody that is known": {
			`
bot = Agent(name="bot", tools=[], handoffs=[somebody])`,
			`agent bot
			handoff bot -> somebody open
			dynamic handoff unresolved_name agent=bot name=somebody`,
		},
		"servers and hosted tools": {
			`
from agents import WebSearchTool
from agents.mcp import MCPServerStdio, create_static_tool_filter
files = MCPServerStdio(params={}, tool_filter=create_static_tool_filter(allowed_tool_names=["read", "list"]))
bot = Agent(name="bot", tools=[WebSearchTool()], mcp_servers=[files])`,
			`agent bot
			dynamic tool runtime_call agent=bot name=WebSearchTool
			dynamic mcp_client runtime_call agent=bot name=files
			toolkit agents.mcp MCPServerStdio bound=files limited=true list,read config=`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, sdk(t, "a.py", map[string]string{"a.py": head + c.text}), tools+c.want)
		})
	}
}
