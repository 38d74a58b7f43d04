package flow

import (
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// An offer is what makes two sightings of a tool the same tool.
type offer struct{ kind, server, name, spec string }

// offered is a tool with the agent it was first seen with.
type offered struct {
	tool  tool.Tool
	agent string
}

// A link is an edge to a tool whose final name is not known yet.
type link struct {
	kind  tool.EdgeKind
	agent string
	tool  int
	at    tool.Origin
}

// offer keeps a tool once and gives its place in found.
func (r *conductorReader) offer(key offer, agent string, t tool.Tool) int {
	at, known := r.index[key]
	if !known {
		at = len(r.found)
		r.index[key] = at
		r.found = append(r.found, offered{t, agent})
	}
	return at
}

func (r *conductorReader) link(l link) {
	key := l
	key.at = tool.Origin{} // a second call from elsewhere is the same edge
	if !r.linked[key] {
		r.linked[key] = true
		r.links = append(r.links, l)
	}
}

// finish names the tools and draws the edges to them. A name that several tools
// share is qualified by the agent of each, so that none stands for another.
func (r *conductorReader) finish() {
	times := map[string]int{}
	for i := range r.found {
		times[r.found[i].tool.Name]++
	}
	for i := range r.found {
		t := &r.found[i].tool
		if times[t.Name] > 1 {
			r.out.Warn("duplicate_tool", "several tools of the source have one name; each is named after its agent", t.Origin)
			t.Annotations["conductor_tool_name"] = t.Name
			t.Name = toolName(r.found[i].agent) + "." + t.Name
		}
		r.out.Tools = append(r.out.Tools, *t)
	}
	for _, l := range r.links {
		r.out.Edges = append(r.out.Edges, tool.Edge{
			Kind: l.kind, Agent: l.agent, To: r.found[l.tool].tool.Name, Complete: true, Declared: true, Origin: l.at,
		})
	}
}

// task reads one task.
func (w *taskWalk) task(v source.Value, keys []string) {
	at := w.d.at
	at.Pointer, at.Start, at.EndLine = tool.Pointer(keys...), v.Pos, tool.EndLine(v)
	kind := v.Get("type")
	input := v.Get("inputParameters")
	if kind.Kind == source.String && strings.Contains(kind.Text, "${") {
		w.open("task", "expression", w.agent, v.Get("taskReferenceName").Str(), at)
		return
	}
	switch strings.ToUpper(kind.Str()) {
	case "CALL_MCP_TOOL":
		w.call(input, at)
	case "LIST_MCP_TOOLS":
		if server, ok := fixed(input.Get("mcpServer")); ok {
			w.listed[server] = true
		}
	case "HUMAN":
		w.human = append(w.human, v.Get("taskReferenceName").Str())
	case "LLM_CHAT_COMPLETE":
		w.model(v, input, at)
	case "SUB_WORKFLOW":
		w.subWorkflow(v.Get("subWorkflowParam"), w.agent, at)
	case "START_WORKFLOW":
		name, _ := fixed(input.At("startWorkflow", "name"))
		w.open("workflow", "runtime_call", w.agent, name, at)
	case "AGENT":
		w.open("agent", "runtime_call", w.agent, v.Get("taskReferenceName").Str(), at)
	case "DYNAMIC", "FORK_JOIN_DYNAMIC":
		w.open("task", "runtime_call", w.agent, v.Get("taskReferenceName").Str(), at)
	}
}

// open records what only a run decides.
func (w *taskWalk) open(kind, reason, agent, name string, at tool.Origin) {
	w.out.Dynamic = append(w.out.Dynamic, tool.Dynamic{
		Framework: conductor, Kind: kind, Reason: reason, Agent: agent, Name: name, Origin: at,
	})
}

// call is a tool that the flow itself calls. What it passes is its input as far
// as anybody can read it here.
func (w *taskWalk) call(input source.Value, at tool.Origin) {
	name, ok := fixed(input.Get("method"))
	if !ok {
		w.open("name", "expression", w.agent, "", at)
		return
	}
	t := tool.Tool{Name: name, Origin: at, Method: "declared", Confidence: tool.High, Annotations: map[string]any{}}
	t.Origin.Type = "conductor_mcp_tool"
	server, ok := fixed(input.Get("mcpServer"))
	if !ok {
		w.open("mcp_client", "expression", w.agent, name, at)
		t.Confidence = tool.Medium
	}
	w.served(&t, server)
	arguments := input.Get("arguments")
	if arguments.Present() && arguments.Kind != source.Map {
		t.Annotations["mcp_unknown_schema"] = true
	} else {
		t.Input = passed(arguments)
		t.Params = tool.Parameters(t.Input)
	}
	spec := canonical.UTF8.String(t.Input)
	w.link(link{tool.Workflow, w.agent, w.offer(offer{t.Origin.Type, server, name, spec}, w.agent, t), at})
}

// served notes which server a tool is of, and what the flow does around it. A
// person in the flow is context: that it asks about this very tool is nothing a
// reader can know.
func (w *taskWalk) served(t *tool.Tool, server string) {
	if server != "" {
		t.Annotations["mcp_server"] = server
		if w.listed[server] {
			t.Annotations["conductor_discovery"] = true
		}
	}
	if len(w.human) > 0 {
		t.Annotations["conductor_human_tasks"] = w.human[:len(w.human):len(w.human)]
	}
}

// passed is the schema of what a task passes: a value that is computed may be
// anything.
func passed(arguments source.Value) map[string]any {
	properties := map[string]any{}
	for _, m := range arguments.Members {
		if _, ok := fixed(m.Value); ok || m.Value.Kind != source.String {
			properties[m.Key] = map[string]any{"type": exampleType(m.Value)}
			continue
		}
		properties[m.Key] = map[string]any{}
	}
	return map[string]any{"type": "object", "properties": properties}
}

// model is a task in which a language model chooses among tools.
func (w *taskWalk) model(task, input source.Value, at tool.Origin) {
	agent := w.agent + "/" + task.Get("taskReferenceName").Str()
	if !w.seen[agent] {
		w.seen[agent] = true
		w.out.Agents = append(w.out.Agents, tool.Agent{Name: agent, Origin: at})
		w.out.Edges = append(w.out.Edges, tool.Edge{Kind: tool.Subagent, Agent: w.agent, To: agent, Complete: true, Declared: true, Origin: at})
	}
	tools := input.Get("tools")
	if tools.Present() && tools.Kind != source.List && tools.Kind != source.Null {
		w.open("tool_list", "expression", agent, "", at)
	}
	for _, item := range tools.Items {
		w.choice(item, agent, at)
	}
}

// choice is one tool that a model may choose.
func (w *taskWalk) choice(v source.Value, agent string, at tool.Origin) {
	name, ok := fixed(v.Get("name"))
	if !ok {
		reason := "unsupported_expression"
		if v.Kind == source.String || v.Get("name").Kind == source.String {
			reason = "expression"
		}
		w.open("tool_list", reason, agent, "", at)
		return
	}
	kind := strings.ToUpper(v.Get("type").Str())
	t := tool.Tool{
		Name: name, Description: v.Get("description").Str(), Origin: at, Method: "declared", Confidence: tool.High,
		Annotations: map[string]any{},
	}
	t.Origin.Type = "conductor_llm_tool"
	if kind != "" {
		t.Annotations["conductor_task_type"] = kind
	}
	server := ""
	switch kind {
	case "CALL_MCP_TOOL":
		t.Origin.Type = "conductor_mcp_tool"
		if server, ok = fixed(v.At("configParams", "mcpServer")); !ok {
			w.open("mcp_client", "expression", agent, name, at)
			t.Confidence = tool.Medium
		}
	case "SUB_WORKFLOW":
		w.subWorkflow(v, agent, at)
	case "START_WORKFLOW", "AGENT", "DYNAMIC", "FORK_JOIN_DYNAMIC":
		w.open("task", "runtime_call", agent, name, at)
	}
	w.served(&t, server)
	w.schemas(&t, v, agent, at)
	spec := canonical.UTF8.String(tool.Plain(v))
	w.link(link{tool.DirectTool, agent, w.offer(offer{t.Origin.Type, server, name, spec}, agent, t), at})
}

func (w *taskWalk) schemas(t *tool.Tool, v source.Value, agent string, at tool.Origin) {
	input := v.Get("inputSchema")
	switch {
	case input.Kind == source.Map:
		t.Input = tool.Plain(input)
		t.Params = tool.Parameters(t.Input)
	case input.Present() && input.Kind != source.Null:
		w.open("schema", "expression", agent, t.Name, at)
		t.Confidence = tool.Medium
	}
	if t.Input == nil && t.Origin.Type == "conductor_mcp_tool" {
		t.Annotations["mcp_unknown_schema"] = true
	}
	if output := v.Get("outputSchema"); output.Kind == source.Map {
		t.Output = tool.Plain(output)
	}
}

// subWorkflow leads to the workflow that v names. One that is written down
// inline belongs to the flow it stands in.
func (w *taskWalk) subWorkflow(v source.Value, agent string, at tool.Origin) {
	if v.Get("workflowDefinition").Kind == source.Map {
		return
	}
	name, ok := fixed(v.Get("name"))
	if !ok || v.Get("workflowDefinition").Kind == source.String {
		w.open("workflow", "expression", agent, "", at)
		return
	}
	if version := v.Get("version"); version.Kind == source.String && strings.Contains(version.Text, "${") {
		w.open("workflow", "expression", agent, name, at)
		return
	}
	d := w.resolve(name, v.Get("version"))
	if d == nil {
		w.open("workflow", "unresolved_workflow", agent, name, at)
		return
	}
	w.out.Edges = append(w.out.Edges, tool.Edge{Kind: tool.Subagent, Agent: agent, To: d.agent, Complete: true, Declared: true, Origin: at})
}
