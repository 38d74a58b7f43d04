package pyagent_test

import (
	"os"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

func adk(t *testing.T, path string, files map[string]string) *tool.Reading {
	t.Helper()
	r, err := pyagent.ReadADKSource(nil, manifest.Source{ID: "code", Type: "google_adk", Path: path}, tree(files))
	if err != nil {
		t.Fatalf("ReadADKSource: %v", err)
	}
	return r
}

// noted are the annotations of a tool.
func noted(t *testing.T, r *tool.Reading, name string) string {
	t.Helper()
	for i := range r.Tools {
		if r.Tools[i].Name == name {
			return canonical.UTF8.String(r.Tools[i].Annotations)
		}
	}
	t.Fatalf("no tool %q", name)
	return ""
}

func TestTheADKSample(t *testing.T) {
	dir := os.DirFS(samples + "google_adk_agent")
	r, err := pyagent.ReadADKSource(nil, manifest.Source{ID: "adk_support", Type: "google_adk", Path: "agent.py"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, `
		tool lookup_case(case_id:string with_history?:boolean) google_adk_function agent.py:12
		tool request_refund_approval(amount:number case_id:string) google_adk_function agent.py:26
		tool support.get_case(case_id:string) openapi
		tool support.search(query:string) google_adk_inventory
		agent root_agent
		direct_tool root_agent -> lookup_case
		direct_tool root_agent -> request_refund_approval
		toolset root_agent -> support.get_case
		toolset root_agent -> support.search
		dynamic openapi_toolset unresolved_document agent=root_agent name=OpenAPIToolset
		dynamic mcp_toolset runtime_call agent=root_agent name=McpToolset
		toolkit google.adk.tools.openapi_tool OpenAPIToolset bound=root_agent limited=false  config=
		toolkit google.adk.tools.mcp_tool McpToolset bound=root_agent limited=true support.search config=`)
	if got := noted(t, r, "request_refund_approval"); got != `{"long_running":true}` {
		t.Errorf("annotations are %s", got)
	}
	if out := canonical.UTF8.String(r.Tools[1].Output); out != `{"properties":{"status":{},"ticket_id":{}},"type":"object"}` {
		t.Errorf("the refund gives back %s", out)
	}
	if !r.Dynamic[0].Resolved || !r.Dynamic[1].Resolved || r.Dynamic[1].Inventory != "inventories/mcp-tools.json" {
		t.Errorf("dynamic is %+v", r.Dynamic)
	}
	if f := r.ADK; f.Agents != 1 || f.Callbacks != 1 || !f.Inventory || f.EvalFiles != 0 {
		t.Errorf("facts are %+v", *f)
	}
	block, err := pyagent.ReadADK(&manifest.Manifest{ADK: &manifest.ADK{EvalSets: []manifest.Artifact{{Path: "evals/support.eval.json"}}}}, dir)
	if err != nil || block.ADK.EvalFiles != 1 {
		t.Errorf("the block reads %+v, %v", block, err)
	}
}

func TestWhatAnADKAgentHolds(t *testing.T) {
	const head = "from google.adk.agents import Agent, LlmAgent as LA, SequentialAgent\nfrom google.adk import tools as kit\nfrom google.adk.tools import FunctionTool, google_search, agent_tool\n"
	for name, c := range map[string]struct{ text, want string }{
		"functions, wrapped and not": {`
async def a(x: int, tool_context: "ToolContext"): pass
def b(): "Does b."
wrapped = kit.FunctionTool(func=b, require_confirmation=True)
main = LA(model="m", name='x', tools=[a, wrapped, kit.LongRunningFunctionTool(a)])
`, `tool a(x:number) google_adk_function a.py:5
			tool b() google_adk_function a.py:6
			agent main
			direct_tool main -> a
			direct_tool main -> b
			direct_tool main -> a`},
		"sub-agents and agents as tools": {`
first = Agent(name="one")
main = SequentialAgent(name="all", sub_agents=[first, Agent(name="two"), make()])
boss = Agent(tools=[agent_tool.AgentTool(agent=main)])
`, `agent first
			agent main
			agent two
			agent boss
			subagent main -> first
			subagent main -> two
			subagent main -> make open
			subagent boss -> main
			dynamic sub_agents runtime_call agent=main name=make`},
		"what the kit brings": {`
main = Agent(tools=[google_search, kit.VertexAiSearchTool(data_store_id="x")], code_executor=Runner())
`, `tool google_search() google_adk_prebuilt_tool a.py:5
			tool VertexAiSearchTool() google_adk_prebuilt_tool a.py:5
			tool code_executor() google_adk_prebuilt_tool a.py:5
			agent main
			direct_tool main -> google_search
			direct_tool main -> VertexAiSearchTool
			direct_tool main -> code_executor`},
		"a list that is computed": {`
import os
from elsewhere import search
def a(): pass
main = Agent(tools=[a, search] + [f for f in more()])
other = Agent(tools=load())
third = Agent(**options)
`, `tool a() google_adk_function a.py:7
			agent main
			agent other
			agent third
			direct_tool main -> a open
			dynamic tool unresolved_name agent=main name=search
			dynamic tool_list comprehension agent=main name=
			dynamic tool_list runtime_call agent=other name=load
			dynamic tool_list unsupported_expression agent=third name=`},
		"an element with two values": {`
def a(): pass
def b(): pass
main = Agent(tools=[a if x else b])
`, `tool a() google_adk_function a.py:5
			tool b() google_adk_function a.py:6
			agent main
			direct_tool main -> a open
			direct_tool main -> b open
			dynamic tool_list conditional_expression agent=main name=`},
		"a class of one's own": {`
from google.adk.tools.base_tool import BaseTool
class Search(BaseTool):
    def __init__(self):
        super().__init__(name="find", description="Finds things.")
class Desk(Agent):
    def __init__(self):
        super().__init__(name="desk", tools=[Search()])
main = Desk()
`, `tool find() google_adk_function a.py:6
			agent Desk
			agent main
			direct_tool Desk -> find`},
		"added later": {`
def a(): pass
def b(): pass
main = Agent(tools=[a])
main.tools.append(b)
def more():
    main.tools.append(a)
`, `tool a() google_adk_function a.py:5
			tool b() google_adk_function a.py:6
			agent main
			direct_tool main -> a
			direct_tool main -> b
			direct_tool main -> a open`},
		"another framework": {`
from agents import Agent as Other
x = Other(tools=[print])
`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			r := adk(t, "a.py", map[string]string{"a.py": head + c.text})
			r.Toolkit = nil
			expect(t, r, c.want)
		})
	}
}

func TestToolsetsOfADK(t *testing.T) {
	const head = "from google.adk.agents import Agent\nfrom google.adk.tools.mcp_tool.mcp_toolset import McpToolset, MCPToolset\nfrom google.adk.tools.openapi_tool.openapi_spec_parser.openapi_toolset import OpenAPIToolset\nfrom pathlib import Path\nimport os, json\n"
	files := map[string]string{
		"app/inv.json": `{"tools":[{"name":"read_page"},{"name":"drop_page"}]}`,
		"specs/a.yaml": "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n  /pets:\n    get: {operationId: listPets, responses: {'200': {description: ok}}}\n    post: {operationId: addPet, responses: {'200': {description: ok}}}\n",
	}
	const document = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"operationId":"getA","responses":{"200":{"description":"ok"}}}}}}`
	for name, c := range map[string]struct{ text, want string }{
		"nothing is known": {`
main = Agent(tools=[McpToolset(connection_params=p)])
`, `agent main
			dynamic mcp_toolset runtime_call agent=main name=McpToolset`},
		"a filter": {`
main = Agent(tools=[MCPToolset(connection_params=p, tool_filter=["a", "b"])])
`, `tool a() google_adk_mcp_tool app/a.py:7
			tool b() google_adk_mcp_tool app/a.py:7
			agent main
			toolset main -> a
			toolset main -> b
			dynamic mcp_toolset runtime_call agent=main name=MCPToolset filtered`},
		"a filter that is computed": {`
main = Agent(tools=[McpToolset(connection_params=p, tool_filter=names())])
`, `agent main
			dynamic mcp_toolset runtime_call agent=main name=McpToolset`},
		"an inventory beside the code": {`
wiki = McpToolset(connection_params=p, tool_inventory_path="inv.json")
main = Agent(tools=[wiki])
`, `tool read_page() google_adk_inventory
			tool drop_page() google_adk_inventory
			agent main
			toolset main -> drop_page
			toolset main -> read_page
			dynamic mcp_toolset runtime_call agent=main name=McpToolset resolved by app/inv.json`},
		"an inventory that is not there": {`
main = Agent(tools=[McpToolset(inventory_path="gone.json")])
`, `agent main
			dynamic mcp_toolset runtime_call agent=main name=McpToolset
			warning missing_inventory`},
		"a toolset that nobody holds": {`
spare = McpToolset(connection_params=p)
`, `dynamic mcp_toolset runtime_call agent= name=McpToolset`},
		"another toolset of the kit": {`
from google.adk.tools.apihub_tool import APIHubToolset
main = Agent(tools=[APIHubToolset(name="x")])
`, `agent main
			dynamic toolset runtime_call agent=main name=APIHubToolset`},
		"a document in the code": {`
main = Agent(tools=[OpenAPIToolset(spec_str='` + document + `', spec_str_type="json")])
`, `tool getA() openapi app/a.py:7
			agent main
			toolset main -> getA
			dynamic openapi_toolset unresolved_document agent=main name=OpenAPIToolset resolved by `},
		"a document as a dict": {`
main = Agent(tools=[OpenAPIToolset(spec_dict=` + document + `)])
`, `tool getA() openapi app/a.py:7
			agent main
			toolset main -> getA
			dynamic openapi_toolset unresolved_document agent=main name=OpenAPIToolset resolved by `},
		"a document in a file, with a filter": {`
here = os.path.dirname(os.path.abspath(__file__))
main = Agent(tools=[OpenAPIToolset(spec_str=open(os.path.join(here, "..", "specs", "a.yaml")).read(), tool_filter=["add_pet"])])
`, `tool listPets() openapi
			tool addPet() openapi
			agent main
			toolset main -> addPet
			dynamic openapi_toolset unresolved_document agent=main name=OpenAPIToolset filtered resolved by `},
		"a document from the network": {`
main = Agent(tools=[OpenAPIToolset(spec_str=requests.get(url).text)])
`, `agent main
			dynamic openapi_toolset unresolved_document agent=main name=OpenAPIToolset`},
		"a document that is not there": {`
main = Agent(tools=[OpenAPIToolset(spec_dict=json.load(open("gone.json")))])
`, `agent main
			dynamic openapi_toolset unresolved_document agent=main name=OpenAPIToolset
			warning missing_document`},
	} {
		t.Run(name, func(t *testing.T) {
			files["app/a.py"] = head + c.text
			r := adk(t, "app/a.py", files)
			r.Toolkit = nil
			lines := shown(r)
			for _, d := range r.Dynamic {
				for i, line := range lines {
					if line == "dynamic "+d.Kind+" "+d.Reason+" agent="+d.Agent+" name="+d.Name {
						if d.Filtered {
							lines[i] += " filtered"
						}
						if d.Resolved {
							lines[i] += " resolved by " + d.Inventory
						}
					}
				}
			}
			got, want := strings.TrimSpace(strings.Join(lines, "\n")), []string{}
			for line := range strings.Lines(c.want) {
				want = append(want, strings.TrimLeft(strings.TrimSuffix(line, "\n"), "\t"))
			}
			if got != strings.TrimSpace(strings.Join(want, "\n")) {
				t.Errorf("read:\n%s\n\nwant:\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

func TestAgentConfigurationsOfADK(t *testing.T) {
	files := map[string]string{
		"root_agent.yaml": `
name: desk
model: m
tools:
  - lookup
  - name: shop.tools.refund
    description: Pays back.
    input_schema: {type: object, properties: {amount: {type: number, maximum: 100}}}
  - name: LongRunningFunctionTool
    args: {func: shop.tools.ask}
  - name: McpToolset
    args: {connection: x, tool_filter: [find]}
  - name: AgentTool
    args: {agent: {config_path: sub/clerk.yaml}}
  - {}
sub_agents:
  - config_path: sub/clerk.yaml
  - code: shop.team.helper
  - code: shop.team.nobody
  - name: inline
    tools: [lookup]
before_tool_callbacks:
  - name: shop.guard.check
plugins: [a, b]
`,
		"sub/clerk.yaml": "name: clerk\ntools: [file_case]\nsub_agents: [{config_path: ../root_agent.yaml}]\n",
		"shop.py":        "x = 1\n",
		"team.py":        "from google.adk.agents import Agent\nhelper = Agent(name='h')\n",
	}
	r := adk(t, ".", files)
	expect(t, r, `
		tool lookup() google_adk_config
		tool refund(amount?:number) google_adk_config
		tool ask() google_adk_config
		tool find() google_adk_mcp_tool
		tool file_case() google_adk_config
		agent helper
		agent desk
		agent clerk
		agent inline
		direct_tool desk -> lookup
		direct_tool desk -> refund
		direct_tool desk -> ask
		toolset desk -> find
		direct_tool clerk -> file_case
		subagent clerk -> desk
		subagent desk -> clerk
		subagent desk -> clerk
		subagent desk -> helper
		subagent desk -> nobody open
		direct_tool inline -> lookup
		subagent desk -> inline
		dynamic mcp_toolset runtime_call agent=desk name=McpToolset
		dynamic tool_list unsupported_expression agent=desk name=`)
	if got := noted(t, r, "ask"); got != `{"adk_reference":"shop.tools.ask","long_running":true}` {
		t.Errorf("annotations are %s", got)
	}
	if f := r.ADK; f.Agents != 4 || f.Callbacks != 3 {
		t.Errorf("facts are %+v", *f)
	}
	if o := r.Tools[1].Origin; o.Start.Line != 6 || o.Path != "root_agent.yaml" || r.Tools[1].Confidence != tool.High {
		t.Errorf("origin is %+v", o)
	}
}

func TestWhatADKCannotReadStopsTheReading(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		files   map[string]string
		problem tool.Problem
		line    int
	}{
		"not there":            {"gone.py", nil, tool.NotThere, 0},
		"no Python":            {"a.py", map[string]string{"a.py": "x = 1\ndef (:\n"}, tool.Malformed, 2},
		"no agent":             {"a.yaml", map[string]string{"a.yaml": "tools: []\n"}, tool.Malformed, 1},
		"no YAML":              {"a.yaml", map[string]string{"a.yaml": "a: [\n"}, tool.Malformed, 2},
		"a sub-agent outside":  {"a.yaml", map[string]string{"a.yaml": "name: a\nsub_agents: [{config_path: ../b.yaml}]\n"}, tool.Outside, 0},
		"a sub-agent missing":  {"a.yaml", map[string]string{"a.yaml": "name: a\nsub_agents: [{config_path: b.yaml}]\n"}, tool.NotThere, 0},
		"an inventory, broken": {"a.py", map[string]string{"a.py": "from google.adk.tools import McpToolset\nx = McpToolset(inventory_path='i.json')\n", "i.json": "{"}, tool.Malformed, 1},
		"a document, broken": {
			"a.py", map[string]string{"a.py": "from google.adk.tools import OpenAPIToolset\n\nx = OpenAPIToolset(spec_str='{}')\n"}, tool.Malformed, 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pyagent.ReadADKSource(nil, manifest.Source{ID: "code", Path: c.path}, tree(c.files))
			if err == nil || err.Problem != c.problem || err.Line != c.line || err.SourceID != "code" {
				t.Errorf("got %+v", err)
			}
		})
	}
}

func TestTheBlockOfADK(t *testing.T) {
	files := map[string]string{
		"one.py": "from google.adk.agents import Agent\nfrom two import lookup\nmain = Agent(tools=[lookup])\n",
		"two.py": "def lookup(x): pass\n", "agent.yaml": "name: conf\ntools: [t]\n", "inv.json": `[{"name":"i"}]`,
		"eval.json": `{"cases":[1]}`, "empty.json": "[]", "trace.jsonl": "{}\n",
	}
	at := func(paths ...string) []manifest.Artifact {
		var out []manifest.Artifact
		for _, p := range paths {
			out = append(out, manifest.Artifact{Path: p})
		}
		return out
	}
	m := &manifest.Manifest{Name: "shipgate.yaml", ADK: &manifest.ADK{
		Entrypoints: at("one.py", "two.py"), AgentConfigs: append(at("agent.yaml"), manifest.Artifact{Path: "gone.yaml", Optional: true}),
		EvalSets: at("eval.json", "empty.json"), Inventories: at("inv.json"), Traces: at("trace.jsonl"),
	}}
	r, err := pyagent.ReadADK(m, tree(files))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, `
		tool lookup(x:string) google_adk_function two.py:1
		tool t() google_adk_config
		tool i() google_adk_inventory
		agent main
		agent conf
		direct_tool main -> lookup
		direct_tool conf -> t
		warning missing_optional_source
		warning empty_eval_set`)
	if f := r.ADK; f.Agents != 2 || f.EvalFiles != 1 || !f.Inventory {
		t.Errorf("facts are %+v", *f)
	}
	if id := r.Tools[2].Origin.SourceID; id != "google_adk:inv.json" {
		t.Errorf("the inventory is source %s", id)
	}
	if r, err := pyagent.ReadADK(&manifest.Manifest{}, tree(nil)); err != nil || r.ADK != nil {
		t.Errorf("without a block: %+v, %v", r, err)
	}
}
