package flow

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// A description is what one tool node offers to a model.
type description struct {
	kind       string // source type
	edge       tool.EdgeKind
	names      []string
	text       string
	input      map[string]any // nil when not known
	method     string
	confidence tool.Confidence
	notes      map[string]any // annotations
	workflow   string         // id of the workflow it calls
	dynamic    []tool.Dynamic
	unproven   string // why an edge to it is not complete
	asked      bool   // a person is asked before it runs
}

func (d *description) note(key string, value any) { d.notes[key] = value }

// open records something about the tool that only a run decides.
func (d *description) open(kind, reason, name string) {
	d.dynamic = append(d.dynamic, tool.Dynamic{Kind: kind, Reason: reason, Name: name})
	if kind == "name" {
		d.unproven = reason
	}
}

// lower sets the confidence if it is worse than what stood before.
func (d *description) lower(c tool.Confidence) {
	if d.confidence == tool.High || c == tool.Low {
		d.confidence = c
	}
}

// tools are the records of a node. id is the source they belong to when it is
// not the workflow itself.
func (d *description) tools(n *node, id string) []tool.Tool {
	out := make([]tool.Tool, 0, len(d.names))
	for _, name := range d.names {
		t := tool.Tool{
			Name: name, Description: d.text, Origin: n.at, Method: d.method, Confidence: d.confidence,
			Annotations: make(map[string]any, len(d.notes)+2),
		}
		for key, value := range d.notes {
			t.Annotations[key] = value
		}
		if d.asked {
			t.Annotations["n8n_human_review"] = true
		}
		if d.input != nil {
			t.Input = d.input
			t.Params = tool.Parameters(d.input)
		}
		t.Origin.Type = d.kind
		if id != "" {
			t.Origin.SourceID = id
		}
		out = append(out, t)
	}
	return out
}

// describe reads a tool node.
func describe(n *node) *description {
	d := &description{
		kind: "n8n_ai_tool", edge: tool.DirectTool, method: "declared", confidence: tool.High,
		notes: map[string]any{"n8n_node_type": n.vendor + "." + n.kind, "n8n_node_id": n.id},
	}
	switch {
	case n.community:
		d.community(n)
	case n.client():
		d.client(n)
		return d
	case n.is("toolWorkflow"):
		d.kind, d.edge = "n8n_workflow_tool", tool.Workflow
		d.calledWorkflow(n)
	case n.is("toolCode"):
		d.kind = "n8n_code_tool"
	case n.is("toolHttpRequest", "httpRequestTool"):
		d.kind = "n8n_http_tool"
		d.http(n)
	default:
		d.operation(n)
	}
	d.named(n)
	d.described(n)
	d.inputs(n)
	return d
}

// nameParameter is the parameter that holds the tool's name and the version of
// the node from which on its own name is used instead.
func nameParameter(n *node) (key string, until float64) {
	switch {
	case n.is("toolWorkflow"):
		return "name", 2.2
	case n.is("toolCode"):
		return "name", 1.3
	case n.is("toolHttpRequest", "toolVectorStore"):
		return "name", 1.1
	case n.params.Get("mode").Str() == "retrieve-as-tool":
		return "toolName", 1.3
	}
	return "", 0
}

func (d *description) named(n *node) {
	if key, until := nameParameter(n); key != "" && n.version < until {
		if v := n.params.Get(key); v.Present() {
			name, ok := literal(v)
			if ok && name != "" {
				d.names = []string{name}
				return
			}
			if !ok {
				d.open("name", "expression", "")
				d.method = "stub"
				d.lower(tool.Low)
			}
		}
	}
	d.names = []string{toolName(n.name)}
}

// toolName is the name that n8n derives from a node's own.
func toolName(name string) string {
	var b strings.Builder
	gap := false
	for _, c := range name {
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
		if plain {
			b.WriteRune(c)
		} else if !gap {
			b.WriteByte('_')
		}
		gap = !plain
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

func (d *description) described(n *node) {
	for _, key := range []string{"toolDescription", "description"} {
		if v := n.params.Get(key); v.Kind == source.String {
			if s, ok := literal(v); ok && s != "" {
				d.text = s
				return
			}
			// A description that is computed is none that a reader can judge.
			d.note("n8n_description_expression", true)
		}
	}
}

// operation says in words what a node of a service does, as n8n itself does
// when nobody wrote a description.
func (d *description) operation(n *node) {
	operation, fixed := literal(n.params.Get("operation"))
	resource, _ := literal(n.params.Get("resource"))
	if !fixed {
		if n.params.Get("operation").Present() {
			d.open("operation", "expression", "")
			d.lower(tool.Medium)
		}
		return
	}
	d.note("n8n_operation", operation)
	if resource != "" {
		d.note("n8n_resource", resource)
	}
	d.text = strings.Join(strings.Fields(operation+" "+resource+" in "+strings.TrimSuffix(n.kind, "Tool")), " ")
}

// community is a node of a package that n8n does not ship: what it does is not
// known here.
func (d *description) community(n *node) {
	d.method = "stub"
	d.lower(tool.Low)
	d.open("community_node", "community_node", toolName(n.name))
}

// calledWorkflow reads which workflow is called.
func (d *description) calledWorkflow(n *node) {
	if n.params.Get("source").Str() == "parameter" {
		d.note("n8n_workflow_source", "parameter")
		if _, ok := literal(n.params.Get("workflowJson")); !ok {
			d.open("workflow", "expression", "")
		}
		return
	}
	id := n.params.Get("workflowId")
	if id.Kind == source.Map {
		id = id.Get("value")
	}
	if id.Kind == source.Number {
		d.workflow = id.Text
	} else if s, ok := literal(id); ok && s != "" {
		d.workflow = s
	} else {
		d.open("workflow", "expression", "")
		return
	}
	d.note("n8n_workflow_id", d.workflow)
}

// http reads what an HTTP tool does by protocol. A method that is not given is
// GET; one that is computed is not known.
func (d *description) http(n *node) {
	method := n.params.Get("method")
	if !method.Present() {
		d.note("httpMethod", "GET")
	} else if s, ok := literal(method); ok {
		d.note("httpMethod", strings.ToUpper(s))
	} else {
		d.open("operation", "expression", "")
		d.lower(tool.Medium)
	}
	address := n.params.Get("url")
	if _, ok := literal(address); !ok && address.Present() {
		d.note("n8n_url_expression", true)
	}
	if openHost(address.Str(), n.is("toolHttpRequest")) {
		d.open("address", "expression", "")
		d.lower(tool.Medium)
	}
}

// client reads an MCP client: which tools of its server it lets through. The
// schemas are the server's and not known here.
func (d *description) client(n *node) {
	d.kind, d.edge, d.method = "n8n_mcp_client_tool", tool.Toolset, "stub"
	d.confidence = tool.Medium
	d.note("mcp_server", n.name)
	d.note("mcp_unknown_schema", true)
	selection := "all"
	if v := n.params.Get("include"); v.Present() {
		s, ok := literal(v)
		switch {
		case !ok:
			d.open("mcp_client", "expression", n.name)
			return
		case s == "selected":
			selection = "selected"
		case s == "except":
			selection = "all_except"
		}
	}
	d.note("n8n_selection", selection)
	if selection != "selected" {
		d.dynamic = append(d.dynamic, tool.Dynamic{
			Kind: "mcp_client", Reason: "wildcard", Name: n.name, Selection: selection, Filtered: selection == "all_except",
		})
		return
	}
	list := n.params.Get("includeTools")
	if list.Kind != source.List {
		d.dynamic = append(d.dynamic, tool.Dynamic{Kind: "mcp_client", Reason: "expression", Name: n.name, Selection: selection})
		return
	}
	taken := map[string]bool{}
	for _, item := range list.Items {
		name, ok := literal(item)
		switch {
		case !ok || name == "":
			d.dynamic = append(d.dynamic, tool.Dynamic{Kind: "mcp_client", Reason: "expression", Name: n.name, Selection: selection, Filtered: true})
		case !taken[name]:
			taken[name] = true
			d.names = append(d.names, name)
		}
	}
	for _, key := range []string{"endpointUrl", "sseEndpoint"} {
		if v := n.params.Get(key); v.Present() {
			if _, ok := literal(v); !ok {
				// Names of a server that nobody can name are names of anything.
				d.dynamic = append(d.dynamic, tool.Dynamic{Kind: "mcp_client", Reason: "expression", Name: n.name, Selection: selection, Filtered: true})
				d.unproven = "expression"
			}
		}
	}
}
