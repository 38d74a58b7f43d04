package flow_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/flow"
	"plimsoll.dev/internal/verify/tool"
)

func read(t *testing.T, files fstest.MapFS, path string) *tool.Reading {
	t.Helper()
	r, err := flow.ReadConductor(&manifest.Manifest{}, manifest.Source{ID: "trips", Type: "conductor", Path: path}, files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tasks is a definition of the given tasks, each written without braces.
func tasks(list ...string) string {
	for i, task := range list {
		list[i] = fmt.Sprintf(`{"name":"n%d","taskReferenceName":"r%d",%s}`, i, i, task)
	}
	return `{"name":"flow","version":1,"schemaVersion":2,"tasks":[` + strings.Join(list, ",") + `]}`
}

func TestAConductorWorkflowShowsWhatItCallsAndWhatItsModelsMayCall(t *testing.T) {
	files := tree(
		"flows/travel.json", sample(t, "travel.conductor.json"),
		"flows/flight.json", `[{"name":"book_flight","version":1,"tasks":[{"name":"s","taskReferenceName":"s","type":"SIMPLE"}]},
			{"name":"book_flight","version":2,"tasks":[{"name":"m","taskReferenceName":"m","type":"CALL_MCP_TOOL","inputParameters":{"mcpServer":"https://air.example","method":"book","arguments":"${s.output}"}}]}]`,
		"flows/pay/pay.json", `{"name":"pay","version":1,"tasks":[{"name":"h","taskReferenceName":"h","type":"HUMAN"}]}`,
		"flows/taskdefs.json", `[{"name":"book_hotel","retryCount":3}]`,
	)
	r := read(t, files, "flows")
	same(t, "tools", shown(r), []string{
		"conductor_mcp_tool book high",
		"conductor_llm_tool book_hotel high nights:integer!",
		"conductor_mcp_tool route high to:string",
		"conductor_llm_tool pay high",
		"conductor_mcp_tool geocode high city: limit:number",
	})
	same(t, "edges", edges(r), []string{
		"plan_trip -subagent-> plan_trip/think_ref",
		"plan_trip/think_ref -subagent-> pay",
		"plan_trip -subagent-> book_flight@1",
		"book_flight -workflow-> book",
		"plan_trip/think_ref -direct_tool-> book_hotel",
		"plan_trip/think_ref -direct_tool-> route",
		"plan_trip/think_ref -direct_tool-> pay",
		"plan_trip -workflow-> geocode",
	})
	same(t, "agents", agents(r), []string{"book_flight@1", "book_flight", "pay", "plan_trip", "plan_trip/think_ref"})
	same(t, "dynamic", dynamics(r), nil)
	same(t, "warnings", warnings(r), []string{"not_a_workflow"})
	if got, want := annotations(find(t, r, "geocode")), `{"conductor_discovery":true,"conductor_human_tasks":["ok_ref"],"mcp_server":"https://maps.example/mcp"}`; got != want {
		t.Errorf("annotations are %s, want %s", got, want)
	}
	if find(t, r, "book").Annotations["mcp_unknown_schema"] != true {
		t.Error("what a computed argument asks for is taken as known")
	}
	if o := find(t, r, "geocode").Origin; o.SourceID != "trips" || o.Path != "flows/travel.json" || o.Pointer != "/tasks/2/defaultCase/1" {
		t.Errorf("origin is %+v", o)
	}
}

func TestWhatOnlyARunOfConductorDecidesIsDynamic(t *testing.T) {
	for name, c := range map[string]struct{ task, dynamic, tool string }{
		"a started workflow":   {`"type":"START_WORKFLOW","inputParameters":{"startWorkflow":{"name":"other"}}`, "workflow runtime_call other of flow", ""},
		"an agent":             {`"type":"AGENT"`, "agent runtime_call r0 of flow", ""},
		"a dynamic task":       {`"type":"DYNAMIC","dynamicTaskNameParam":"t"`, "task runtime_call r0 of flow", ""},
		"a dynamic fork":       {`"type":"FORK_JOIN_DYNAMIC"`, "task runtime_call r0 of flow", ""},
		"a computed type":      {`"type":"${workflow.input.type}"`, "task expression r0 of flow", ""},
		"a computed method":    {`"type":"CALL_MCP_TOOL","inputParameters":{"mcpServer":"s","method":"${p.output.m}"}`, "name expression of flow", ""},
		"a computed server":    {`"type":"CALL_MCP_TOOL","inputParameters":{"mcpServer":"${workflow.input.s}","method":"run"}`, "mcp_client expression run of flow", "conductor_mcp_tool run medium"},
		"a computed tool list": {`"type":"LLM_CHAT_COMPLETE","inputParameters":{"tools":"${list.output.tools}"}`, "tool_list expression of flow/r0", ""},
		"a computed tool":      {`"type":"LLM_CHAT_COMPLETE","inputParameters":{"tools":["${a.output}"]}`, "tool_list expression of flow/r0", ""},
		"a tool without name":  {`"type":"LLM_CHAT_COMPLETE","inputParameters":{"tools":[{"type":"SIMPLE"}]}`, "tool_list unsupported_expression of flow/r0", ""},
		"a computed schema":    {`"type":"LLM_CHAT_COMPLETE","inputParameters":{"tools":[{"name":"t","inputSchema":"${s}"}]}`, "schema expression t of flow/r0", "conductor_llm_tool t medium"},
		"an unknown workflow":  {`"type":"SUB_WORKFLOW","subWorkflowParam":{"name":"gone"}`, "workflow unresolved_workflow gone of flow", ""},
		"an unknown version":   {`"type":"SUB_WORKFLOW","subWorkflowParam":{"name":"flow","version":9}`, "workflow unresolved_workflow flow of flow", ""},
		"a computed workflow":  {`"type":"SUB_WORKFLOW","subWorkflowParam":{"name":"${workflow.input.n}"}`, "workflow expression of flow", ""},
		"a computed version":   {`"type":"SUB_WORKFLOW","subWorkflowParam":{"name":"flow","version":"${v}"}`, "workflow expression flow of flow", ""},
		"a plain step":         {`"type":"HTTP","inputParameters":{"uri":"${workflow.input.u}"}`, "", ""},
		"a model without any":  {`"type":"LLM_CHAT_COMPLETE","inputParameters":{"model":"m"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, tree("w.json", tasks(c.task)), "w.json")
			same(t, "dynamic", dynamics(r), lines(c.dynamic))
			same(t, "tools", shown(r), lines(c.tool))
		})
	}
}

func TestTasksInsideOfTasksAreFound(t *testing.T) {
	call := `{"name":"c","taskReferenceName":"c","type":"CALL_MCP_TOOL","inputParameters":{"mcpServer":"s","method":"hidden"}}`
	for name, task := range map[string]string{
		"a loop":               `"type":"DO_WHILE","loopOver":[` + call + `]`,
		"a case":               `"type":"DECISION","decisionCases":{"x/y":[` + call + `]}`,
		"the default case":     `"type":"SWITCH","defaultCase":[` + call + `]`,
		"a fork":               `"type":"FORK_JOIN","forkTasks":[[],[` + call + `]]`,
		"an inline workflow":   `"type":"SUB_WORKFLOW","subWorkflowParam":{"name":"in","workflowDefinition":{"name":"in","tasks":[` + call + `]}}`,
		"a type nobody knows":  `"type":"REPEAT","loopOver":[` + call + `]`,
		"a loop inside a fork": `"type":"FORK_JOIN","forkTasks":[[{"name":"l","taskReferenceName":"l","type":"DO_WHILE","loopOver":[` + call + `]}]]`,
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, tree("w.json", tasks(task)), "w.json")
			same(t, "edges", edges(r), []string{"flow -workflow-> hidden"})
			same(t, "dynamic", dynamics(r), nil)
		})
	}
}

func TestTheSameConductorToolIsOneAndAnotherOfItsNameIsAnother(t *testing.T) {
	same2 := `"type":"CALL_MCP_TOOL","inputParameters":{"mcpServer":"s","method":"run","arguments":{"x":"${a}"}}`
	r := read(t, tree("w.json", tasks(same2, same2)), "w.json")
	same(t, "tools", shown(r), []string{"conductor_mcp_tool run high x:"})
	same(t, "edges", edges(r), []string{"flow -workflow-> run"})
	r = read(t, tree("w.json", tasks(
		`"type":"LLM_CHAT_COMPLETE","inputParameters":{"tools":[{"name":"run","description":"reads"}]}`,
		`"type":"LLM_CHAT_COMPLETE","inputParameters":{"tools":[{"name":"run","description":"deletes"}]}`,
	)), "w.json")
	same(t, "tools", shown(r), []string{"conductor_llm_tool flow_r0.run high", "conductor_llm_tool flow_r1.run high"})
	same(t, "tool edges", edges(r)[2:], []string{"flow/r0 -direct_tool-> flow_r0.run", "flow/r1 -direct_tool-> flow_r1.run"})
	same(t, "warnings", warnings(r), []string{"duplicate_tool", "duplicate_tool"})
}

func TestAConductorFileThatIsNoDefinitionStopsTheReading(t *testing.T) {
	deep := strings.Repeat(`{"name":"l","type":"DO_WHILE","loopOver":[`, 40) + strings.Repeat(`]}`, 40)
	wide := `{"type":"SIMPLE"}` + strings.Repeat(`,{"type":"SIMPLE"}`, 5000)
	one := `{"name":"a","version":1,"tasks":[{"type":"SIMPLE"}]}`
	for name, c := range map[string]struct{ text, detail string }{
		"no name":            {`{"tasks":[{"type":"SIMPLE"}]}`, "has no name"},
		"no tasks":           {`{"name":"a"}`, "has no list of tasks"},
		"empty tasks":        {`{"name":"a","tasks":[]}`, "or an empty one"},
		"another schema":     {`{"name":"a","schemaVersion":1,"tasks":[{}]}`, "schemaVersion"},
		"a version as text":  {`{"name":"a","version":"1","tasks":[{}]}`, "not an integer"},
		"a broken version":   {`{"name":"a","version":1.5,"tasks":[{}]}`, "not an integer"},
		"a text as task":     {`{"name":"a","tasks":["x"]}`, "not an object"},
		"a definition twice": {`[` + one + `,` + one + `]`, "defined twice"},
		"an empty list":      {`[]`, "no workflow definition"},
		"a number":           {`3`, "not an object"},
		"too deep":           {`{"name":"a","tasks":[` + deep + `]}`, "more than 32 levels"},
		"too many":           {`{"name":"a","tasks":[` + wide + `]}`, "more than 5000 tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := flow.ReadConductor(&manifest.Manifest{}, manifest.Source{ID: "trips", Path: "w.json"}, tree("w.json", c.text))
			if err == nil || !strings.Contains(err.Error(), c.detail) || err.SourceID != "trips" {
				t.Errorf("got %v, want %q", err, c.detail)
			}
		})
	}
	if _, err := flow.ReadConductor(&manifest.Manifest{}, manifest.Source{ID: "trips", Path: "gone"}, tree()); err == nil || err.Problem != tool.NotThere {
		t.Errorf("got %v", err)
	}
}
