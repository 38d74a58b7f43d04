package flow_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/flow"
	"plimsoll.dev/internal/verify/tool"
)

func TestAnN8NWorkflowShowsWhatItsAgentMayCall(t *testing.T) {
	r := n8n(t, tree("flows/helpdesk.json", sample(t, "helpdesk.n8n.json"), "flows/refund.json", `{"id":"rEfund7","name":"Refunds","nodes":[]}`), "flows")
	same(t, "tools", shown(r), []string{
		"n8n_http_tool Order_lookup high order_id:number!",
		"n8n_ai_tool Send_a_mail high Message:string! Subject:string To:string!",
		"n8n_workflow_tool Refund high order:number!",
		"n8n_mcp_client_tool search_pages medium",
		"n8n_mcp_client_tool read_page medium",
		"n8n_code_tool discount high total:number!",
	})
	same(t, "edges", edges(r), []string{
		"Triage Agent -direct_tool-> Order_lookup",
		"Triage Agent -direct_tool-> Send_a_mail",
		"Triage Agent -workflow-> Refund",
		"Triage Agent -toolset-> search_pages",
		"Triage Agent -toolset-> read_page",
		"Triage Agent -direct_tool-> discount",
	})
	same(t, "agents", agents(r), []string{"Triage Agent"})
	same(t, "dynamic", dynamics(r), nil)
	same(t, "warnings", warnings(r), nil)
	if want := (tool.N8N{Workflows: 2, AIAgents: 1, CredentialRefs: 2}); r.N8N.Workflows != want.Workflows ||
		r.N8N.AIAgents != want.AIAgents || r.N8N.CredentialRefs != want.CredentialRefs || len(r.N8N.Secrets) != 0 {
		t.Errorf("facts are %+v", *r.N8N)
	}
	lookup := find(t, r, "Order_lookup")
	if o := lookup.Origin; o.SourceID != "n8n:flows/helpdesk.json" || o.Pointer != "/nodes/3" || o.Start.Line != 11 {
		t.Errorf("origin is %+v", o)
	}
	if got, want := lookup.Annotations["httpMethod"], "GET"; got != want {
		t.Errorf("the method is %v, want %v", got, want)
	}
	if got, want := find(t, r, "Send_a_mail").Description, "send message in gmail"; got != want {
		t.Errorf("an undescribed node is called %q, want %q", got, want)
	}
	if p := find(t, r, "discount").Params[0]; p.Maximum != "500" {
		t.Errorf("the bound of the written schema is %q", p.Maximum)
	}
}

func TestWhatAnExpressionDecidesInN8NIsDynamic(t *testing.T) {
	for name, c := range map[string]struct {
		node          string
		dynamic, tool string // "" for none
	}{
		"a computed workflow id": {
			`"type":"@n8n/n8n-nodes-langchain.toolWorkflow","typeVersion":2.2,"parameters":{"workflowId":{"__rl":true,"mode":"id","value":"={{ $json.flow }}"}}`,
			"workflow expression of Agent", "n8n_workflow_tool Tool_0 high",
		},
		"a workflow that is not in the repository": {
			`"type":"@n8n/n8n-nodes-langchain.toolWorkflow","typeVersion":1.2,"parameters":{"name":"pay","workflowId":"zz9"}`,
			"workflow unresolved_workflow zz9 of Agent", "n8n_workflow_tool pay high query:string!",
		},
		"a computed name": {
			`"type":"@n8n/n8n-nodes-langchain.toolCode","typeVersion":1.1,"parameters":{"name":"={{ $vars.NAME }}"}`,
			"name expression of Agent", "n8n_code_tool Tool_0 low query:string!",
		},
		"the same parameter in a version that does not read it": {
			`"type":"@n8n/n8n-nodes-langchain.toolCode","typeVersion":1.3,"parameters":{"name":"={{ $vars.NAME }}"}`,
			"", "n8n_code_tool Tool_0 high query:string!",
		},
		"all tools of a server": {
			`"type":"@n8n/n8n-nodes-langchain.mcpClientTool","typeVersion":1,"parameters":{"endpointUrl":"https://x.example"}`,
			"mcp_client wildcard Tool 0 of Agent (all)", "",
		},
		"all but some": {
			`"type":"@n8n/n8n-nodes-langchain.mcpClientTool","typeVersion":1,"parameters":{"include":"except","excludeTools":["drop"]}`,
			"mcp_client wildcard Tool 0 of Agent (all_except)", "",
		},
		"a computed selection": {
			`"type":"@n8n/n8n-nodes-langchain.mcpClientTool","typeVersion":1,"parameters":{"include":"selected","includeTools":"={{ $json.tools }}"}`,
			"mcp_client expression Tool 0 of Agent (selected)", "",
		},
		"a computed server": {
			`"type":"@n8n/n8n-nodes-langchain.mcpClientTool","typeVersion":1.1,"parameters":{"endpointUrl":"={{ $env.MCP }}","include":"selected","includeTools":["a"]}`,
			"mcp_client expression Tool 0 of Agent (selected)", "n8n_mcp_client_tool a medium",
		},
		"a node of somebody else": {
			`"type":"n8n-nodes-acme.ledgerTool","typeVersion":1,"parameters":{"operation":"book"}`,
			"community_node community_node Tool_0 of Agent", "n8n_ai_tool Tool_0 low",
		},
		"a computed operation": {
			`"type":"n8n-nodes-base.slackTool","typeVersion":2,"parameters":{"operation":"={{ $json.op }}"}`,
			"operation expression of Agent", "n8n_ai_tool Tool_0 medium",
		},
		"a computed name of an input": {
			`"type":"n8n-nodes-base.slackTool","typeVersion":2,"parameters":{"operation":"post","text":"={{ $fromAI($json.key, 'text') }}"}`,
			"schema expression of Agent", "n8n_ai_tool Tool_0 medium",
		},
		"a computed value alone": {
			`"type":"n8n-nodes-base.slackTool","typeVersion":2,"parameters":{"operation":"post","text":"={{ $json.text }}"}`,
			"", "n8n_ai_tool Tool_0 high",
		},
		"an expression without braces": {
			`"type":"n8n-nodes-base.httpRequestTool","typeVersion":4.2,"parameters":{"method":"=DELETE","url":"https://x.example"}`,
			"", "n8n_http_tool Tool_0 high",
		},
		"a computed method": {
			`"type":"n8n-nodes-base.httpRequestTool","typeVersion":4.2,"parameters":{"method":"={{ $json.m }}","url":"https://x.example"}`,
			"operation expression of Agent", "n8n_http_tool Tool_0 medium",
		},
		"a schema that cannot be read": {
			`"type":"@n8n/n8n-nodes-langchain.toolCode","typeVersion":1.3,"parameters":{"specifyInputSchema":true,"jsonSchemaExample":"{ not json"}`,
			"schema unsupported_expression of Agent", "n8n_code_tool Tool_0 medium",
		},
		"a built-in tool": {
			`"type":"@n8n/n8n-nodes-langchain.toolCalculator","typeVersion":1,"parameters":{}`,
			"", "n8n_ai_tool Tool_0 low input:string!",
		},
		"a store that is searched": {
			`"type":"@n8n/n8n-nodes-langchain.vectorStorePinecone","typeVersion":1.1,"parameters":{"mode":"retrieve-as-tool","toolName":"handbook","toolDescription":"Finds rules."}`,
			"", "n8n_ai_tool handbook high input:string!",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := n8n(t, tree("f.json", agentFlow(c.node)), "f.json")
			same(t, "dynamic", dynamics(r), lines(c.dynamic))
			same(t, "tools", shown(r), lines(c.tool))
		})
	}
}

// lines is the text as a list, none when it is empty.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

const (
	mailNode   = `{"id":"m","name":"Mail","type":"n8n-nodes-base.gmailTool","typeVersion":2,"parameters":{"operation":"send"}}`
	firstAgent = `{"id":"a","name":"First","type":"@n8n/n8n-nodes-langchain.agent","typeVersion":2,"parameters":{}}`
	helper     = `{"id":"b","name":"Helper","type":"@n8n/n8n-nodes-langchain.agentTool","typeVersion":2,"parameters":{"toolDescription":"helps"}}`
	trigger    = `{"id":"s","name":"Serve","type":"@n8n/n8n-nodes-langchain.mcpTrigger","typeVersion":1,"parameters":{"path":"x"}}`
	askPerson  = `{"id":"h","name":"Ask","type":"n8n-nodes-base.slackHitlTool","typeVersion":1,"parameters":{}}`
)

func wired(extra string, nodes []string, wires ...string) string {
	var connections []string
	for _, w := range wires {
		from, to, _ := strings.Cut(w, ">")
		connections = append(connections, `"`+from+`":{"ai_tool":[[{"node":"`+to+`","type":"ai_tool","index":0}]]}`)
	}
	return `{"name":"w"` + extra + `,"nodes":[` + strings.Join(nodes, ",") + `],"connections":{` + strings.Join(connections, ",") + `}}`
}

func TestAnAgentThatIsOfferedAsAToolIsASubagent(t *testing.T) {
	r := n8n(t, tree("f.json", wired("", []string{firstAgent, helper, mailNode}, "Helper>First", "Mail>Helper")), "f.json")
	same(t, "agents", agents(r), []string{"First", "Helper"})
	same(t, "edges", edges(r), []string{"First -subagent-> Helper", "Helper -direct_tool-> Mail"})
	same(t, "tools", shown(r), []string{"n8n_ai_tool Mail high"})
}

func TestToolsOfAnMCPServerTriggerAreACatalogueWithoutAnAgent(t *testing.T) {
	r := n8n(t, tree("f.json", wired("", []string{trigger, mailNode}, "Mail>Serve")), "f.json")
	same(t, "tools", shown(r), []string{"mcp Mail high"})
	same(t, "edges", edges(r), nil)
	same(t, "agents", agents(r), nil)
	mail := find(t, r, "Mail")
	if mail.Annotations["exposed_by"] != "n8n_mcp_server_trigger" || mail.Origin.SourceID != "n8n:f.json#Serve" {
		t.Errorf("exposed tool is %s of %s", annotations(mail), mail.Origin.SourceID)
	}
	// Offered to a model of the flow as well, it is two observations.
	both := `{"name":"w","nodes":[` + strings.Join([]string{trigger, mailNode, firstAgent}, ",") +
		`],"connections":{"Mail":{"ai_tool":[[{"node":"Serve","type":"ai_tool","index":0},{"node":"First","type":"ai_tool","index":0}]]}}}`
	r = n8n(t, tree("f.json", both), "f.json")
	same(t, "tools", shown(r), []string{"mcp Mail high", "n8n_ai_tool Mail high"})
	same(t, "edges", edges(r), []string{"First -direct_tool-> Mail"})
}

func TestAPersonWhoIsAskedIsContextAndNoTool(t *testing.T) {
	r := n8n(t, tree("f.json", wired("", []string{firstAgent, askPerson, mailNode}, "Mail>Ask", "Ask>First")), "f.json")
	same(t, "tools", shown(r), []string{"n8n_ai_tool Mail high"})
	same(t, "edges", edges(r), []string{"First -direct_tool-> Mail"})
	if find(t, r, "Mail").Annotations["n8n_human_review"] != true {
		t.Error("nothing says that a person stands between")
	}
	// People who ask one another in a circle never reach an agent.
	r = n8n(t, tree("f.json", wired("", []string{askPerson, mailNode}, "Mail>Ask", "Ask>Ask")), "f.json")
	same(t, "edges", edges(r), nil)
}

func TestAWorkflowThatDoesNotRunIsRecordedWithoutEdges(t *testing.T) {
	for name, c := range map[string]struct {
		extra string
		live  bool
	}{
		"active": {`,"active":true`, true}, "not said": {"", true}, "null": {`,"active":null`, true},
		"inactive": {`,"active":false`, false}, "archived": {`,"active":true,"isArchived":true`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := n8n(t, tree("f.json", wired(c.extra, []string{firstAgent, mailNode}, "Mail>First")), "f.json")
			same(t, "tools", shown(r), []string{"n8n_ai_tool Mail high"})
			if got := len(r.Edges) == 1 && len(r.Agents) == 1; got != c.live {
				t.Errorf("edges %v, agents %v", edges(r), agents(r))
			}
			if _, said := find(t, r, "Mail").Annotations["n8n_active"]; said == c.live {
				t.Errorf("annotations are %s", annotations(find(t, r, "Mail")))
			}
			if got := len(r.Warnings) == 0; got != c.live {
				t.Errorf("warnings are %v", warnings(r))
			}
		})
	}
	// So is a node that is switched off.
	off := strings.Replace(mailNode, `"id":"m"`, `"id":"m","disabled":true`, 1)
	r := n8n(t, tree("f.json", wired("", []string{firstAgent, off}, "Mail>First")), "f.json")
	same(t, "edges", edges(r), nil)
	same(t, "tools", shown(r), []string{"n8n_ai_tool Mail high"})
}

func TestTwoToolsOfOneNameAreNamedAfterTheirNodesWhateverTheirOrder(t *testing.T) {
	client := `"type":"@n8n/n8n-nodes-langchain.mcpClientTool","typeVersion":1,"parameters":{"include":"selected","includeTools":["search"]}`
	r := n8n(t, tree("f.json", agentFlow(client, client)), "f.json")
	same(t, "tools", shown(r), []string{"n8n_mcp_client_tool Tool_0.search medium", "n8n_mcp_client_tool Tool_1.search medium"})
	same(t, "edges", edges(r), []string{"Agent -toolset-> Tool_0.search", "Agent -toolset-> Tool_1.search"})
	same(t, "warnings", warnings(r), []string{"duplicate_tool", "duplicate_tool"})
}

func TestTheWorkflowFileIsPartOfAToolsIdentity(t *testing.T) {
	text := wired("", []string{firstAgent, mailNode}, "Mail>First")
	r := n8n(t, tree("a/one.json", text, "a/b/two.json", text, "a/readme.json", `{"hello":1}`), "a", "a/one.json")
	ids := []string{}
	for i := range r.Tools {
		ids = append(ids, r.Tools[i].Origin.SourceID)
	}
	same(t, "source ids", ids, []string{"n8n:a/b/two.json", "n8n:a/one.json"})
	same(t, "warnings", warnings(r), []string{"not_a_workflow"})
	r = n8n(t, tree("all.json", `[`+strings.Replace(text, `"name":"w"`, `"name":"w","id":"k1"`, 1)+`,`+text+`,`+text+`]`), "all.json")
	ids = nil
	for i := range r.Tools {
		ids = append(ids, r.Tools[i].Origin.SourceID+" "+r.Tools[i].Origin.Pointer)
	}
	same(t, "source ids", ids, []string{"n8n:all.json#k1 /0/nodes/1", "n8n:all.json#w /1/nodes/1", "n8n:all.json#/2 /2/nodes/1"})
}

func TestWhatStandsAroundN8NWorkflowsIsCounted(t *testing.T) {
	files := tree(
		"w.json", wired("", []string{firstAgent, mailNode}, "Mail>First"),
		"inv.json", `{"tools":[{"name":"search","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}]}`,
		"cred.json", `{"gmailOAuth2":{"id":"c2"}}`, "vars.json", `{"REGION":"eu"}`, "empty.json", `[]`,
		"eval.json", `[{"input":"x"}]`, "table.json", `{"columns":[]}`, "runs/1.json", `{"data":{}}`,
	)
	m := &manifest.Manifest{N8N: &manifest.N8N{
		Workflows: artifacts("w.json"), Inventories: artifacts("inv.json"), CredentialStubs: artifacts("cred.json"),
		VariableStubs: artifacts("vars.json"), DataTables: artifacts("table.json"), Executions: artifacts("runs"), EvalSets: artifacts("eval.json", "empty.json"),
	}}
	r, err := flow.ReadN8N(m, files)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.N8N; !n.Inventory || n.CredentialStubs != 1 || n.EvalFiles != 1 {
		t.Errorf("facts are %+v", *n)
	}
	same(t, "tools", shown(r), []string{"n8n_inventory search high q:string", "n8n_ai_tool Mail high"})
	same(t, "warnings", warnings(r), []string{"empty_eval_set"})

	m.N8N.Inventories = []manifest.Artifact{{Path: "gone.json", Optional: true}}
	m.N8N.Workflows = append(m.N8N.Workflows, manifest.Artifact{Path: "nowhere", Optional: true})
	if r, err = flow.ReadN8N(m, files); err != nil {
		t.Fatal(err)
	}
	if r.N8N.Inventory {
		t.Error("an inventory that is not there counts")
	}
	same(t, "warnings", warnings(r), []string{"missing_optional_source", "missing_optional_source", "empty_eval_set"})
}

func TestAnN8NFileThatIsNoWorkflowStopsTheReading(t *testing.T) {
	for name, c := range map[string]struct{ text, detail string }{
		"a list of something else": {`[{"nodes":[]},{"tasks":[]}]`, "is not an n8n workflow"},
		"an object":                {`{"steps":[]}`, "is not an n8n workflow"},
		"no JSON":                  {`{"nodes":[`, "is not valid JSON"},
		"a key twice":              {`{"nodes":[],"nodes":[]}`, "is not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts("w.json")}}, tree("w.json", c.text))
			if err == nil || err.Problem != tool.Malformed || !strings.Contains(err.Error(), c.detail) || err.SourceID != "n8n:w.json" {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts("../w.json")}}, tree()); err == nil || err.Problem != tool.Outside {
		t.Errorf("got %v", err)
	}
	if r, err := flow.ReadN8N(&manifest.Manifest{}, tree()); err != nil || r.N8N != nil {
		t.Errorf("without a block: %v, %v", r, err)
	}
}

func TestAToolThatRunsAWorkflowLeadsToTheAgentsInIt(t *testing.T) {
	caller := agentFlow(`"type":"@n8n/n8n-nodes-langchain.toolWorkflow","typeVersion":2.2,"parameters":{"workflowId":{"value":"second"}}`)
	through := `{"id":"second","name":"s","active":false,"nodes":[{"id":"e","name":"Run","type":"n8n-nodes-base.executeWorkflow","parameters":{"workflowId":{"value":"third"}}}]}`
	inner := strings.Replace(wired(`,"active":false`, []string{firstAgent, mailNode}, "Mail>First"), `"name":"w"`, `"id":"third","name":"w"`, 1)
	r := n8n(t, tree("a.json", caller, "b.json", through, "c.json", inner), "a.json", "b.json", "c.json")
	same(t, "edges", edges(r), []string{"Agent -workflow-> Tool_0", "Agent -subagent-> First", "First -direct_tool-> Mail"})
	if got := r.Edges[1].Target(); got != "n8n:c.json" {
		t.Errorf("the agent is looked for in %s", got)
	}
	same(t, "warnings", warnings(r), nil)
	same(t, "dynamic", dynamics(r), nil)
	// Two workflows of one id: which of them runs is not known here.
	r = n8n(t, tree("a.json", caller, "b.json", through, "c.json", through), "a.json", "b.json", "c.json")
	same(t, "dynamic", dynamics(r), []string{"workflow unresolved_workflow second of Agent"})
}

func TestWhatAModelsProviderRunsIsATool(t *testing.T) {
	model := `{"id":"l","name":"Model","type":"@n8n/n8n-nodes-langchain.lmChatOpenAi","typeVersion":1.3,"parameters":{"builtInTools":{"webSearch":{"size":"low"},"codeInterpreter":false}}}`
	alone := `{"id":"o","name":"Ask","type":"@n8n/n8n-nodes-langchain.openAi","typeVersion":2,"parameters":{"builtInTools":{"codeInterpreter":true}}}`
	text := `{"name":"w","nodes":[` + strings.Join([]string{firstAgent, helper, model, alone}, ",") +
		`],"connections":{"Model":{"ai_languageModel":[[{"node":"First","type":"ai_languageModel","index":0},{"node":"Helper","type":"ai_languageModel","index":0}]]}}}`
	r := n8n(t, tree("f.json", text), "f.json")
	same(t, "tools", shown(r), []string{"n8n_ai_tool webSearch low", "n8n_ai_tool codeInterpreter low"})
	same(t, "edges", edges(r), []string{"First -direct_tool-> webSearch", "Helper -direct_tool-> webSearch", "Ask -direct_tool-> codeInterpreter"})
}

// The order of nodes and of connections says nothing.
func TestTheOrderOfAnN8NFileDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes, wires []string
		for i := range rapid.IntRange(1, 6).Draw(t, "agents") {
			nodes = append(nodes, fmt.Sprintf(`{"id":"a%d","name":"A%d","type":"@n8n/n8n-nodes-langchain.agent","parameters":{}}`, i, i))
		}
		held := len(nodes)
		for i := range rapid.IntRange(1, 8).Draw(t, "tools") {
			name := rapid.SampledFrom([]string{"find", "send", "drop"}).Draw(t, "name")
			nodes = append(nodes, fmt.Sprintf(`{"id":"t%d","name":"T%d","type":"@n8n/n8n-nodes-langchain.toolCode","typeVersion":1.1,"parameters":{"name":"%s"}}`, i, i, name))
			wires = append(wires, fmt.Sprintf(`"T%d":{"ai_tool":[[{"node":"A%d","type":"ai_tool","index":0}]]}`, i, rapid.IntRange(0, held-1).Draw(t, "agent")))
		}
		read := func(nodes, wires []string) []string {
			text := `{"name":"w","nodes":[` + strings.Join(nodes, ",") + `],"connections":{` + strings.Join(wires, ",") + `}}`
			r, err := flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts("w.json")}}, tree("w.json", text))
			if err != nil {
				t.Fatal(err)
			}
			out := append(append(shown(r), edges(r)...), agents(r)...)
			slices.Sort(out)
			return out
		}
		before := read(nodes, wires)
		if after := read(rapid.Permutation(nodes).Draw(t, "nodes"), rapid.Permutation(wires).Draw(t, "wires")); !slices.Equal(before, after) {
			t.Fatalf("%v became %v", before, after)
		}
	})
}

func TestAnInventoryThatNamesAnMCPClientStandsForIt(t *testing.T) {
	files := tree(
		"w.json", agentFlow(`"type":"@n8n/n8n-nodes-langchain.mcpClientTool","typeVersion":1,"parameters":{}`),
		"inv.json", `{"tools":[{"name":"search","annotations":{"mcp_server":"Tool 0"}},{"name":"other"},
			{"name":"elsewhere","annotations":{"mcp_server":"Tool 0","n8n_workflow":"x.json"}}]}`,
	)
	r, err := flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts("w.json"), Inventories: artifacts("inv.json")}}, files)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "edges", edges(r), []string{"Agent -toolset-> search"})
	if e := r.Edges[0]; e.Origin.SourceID != "n8n:w.json" || e.Target() != "n8n:inv.json" {
		t.Errorf("the edge leads from %s to %s", e.Origin.SourceID, e.Target())
	}
	if d := r.Dynamic; len(d) != 1 || !d[0].Resolved || d[0].Inventory != "inv.json" {
		t.Errorf("dynamic is %+v", d)
	}
}

// A flow in which everything meets everything is refused before it is written
// out: the product of two long lists is no longer linear in the file.
func TestWhatMultipliesIsBounded(t *testing.T) {
	nodes, wires := []string{askPerson}, []string{}
	for i := range 400 {
		n := strconv.Itoa(i)
		nodes = append(nodes,
			`{"id":"t`+n+`","name":"T`+n+`","type":"n8n-nodes-base.gmailTool","parameters":{}}`,
			`{"id":"a`+n+`","name":"A`+n+`","type":"@n8n/n8n-nodes-langchain.agent","parameters":{}}`)
		wires = append(wires, "T"+n+">Ask")
	}
	text := wired("", nodes, wires...)
	hub := make([]string, 400)
	for i := range hub {
		hub[i] = `{"node":"A` + strconv.Itoa(i) + `","type":"ai_tool","index":0}`
	}
	text = strings.TrimSuffix(text, "}}") + `,"Ask":{"ai_tool":[[` + strings.Join(hub, ",") + `]]}}}`
	wide := `"type":"@n8n/n8n-nodes-langchain.mcpClientTool","parameters":{"include":"selected","includeTools":[` + strings.Repeat(`"={{x}}",`, 60_000) + `"a"]}`
	for _, text := range []string{text, agentFlow(wide)} {
		_, err := flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts("w.json")}}, tree("w.json", text))
		if err == nil || err.Problem != tool.TooLarge {
			t.Errorf("got %v", err)
		}
	}
}
