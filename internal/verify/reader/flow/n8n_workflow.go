package flow

import (
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// A workflow is one n8n workflow with its nodes and the tool connections among
// them. n8n connects nodes by name, and a sub-node points to the node that uses
// it.
type workflow struct {
	id   string // of the source
	path string
	keys []string // pointer to the workflow in its file
	root source.Value
	live bool // may run: neither inactive nor archived

	nodes  []*node
	byName map[string]*node
	lost   []string // names in connections that no node has
}

// A node is one box of the flow.
type node struct {
	name, id  string
	vendor    string // package, "n8n-nodes-base"
	kind      string // type inside of the package, "httpRequestTool"
	version   float64
	params    source.Value
	secrets   source.Value // references to credentials, by kind
	disabled  bool
	community bool
	at        tool.Origin
	users     []*node // nodes that this one is offered to as a tool
	thinkers  []*node // agents that think with this model
	used      bool    // it is offered one itself
}

func newWorkflow(root source.Value, id, path string, keys []string) *workflow {
	active := root.Get("active")
	w := &workflow{
		id: id, path: path, keys: keys, root: root, byName: map[string]*node{},
		// An export for source control has no "active"; such a flow may run.
		live: (!active.Present() || active.Kind == source.Null || active.True()) && !root.Get("isArchived").True(),
	}
	for i, v := range root.Get("nodes").Items {
		if v.Kind == source.Map {
			w.node(v, i)
		}
	}
	w.connect(root.Get("connections"))
	return w
}

func (w *workflow) origin() tool.Origin {
	return tool.Origin{Type: n8nBlock, SourceID: w.id, Ref: w.path, Path: w.path, Pointer: tool.Pointer(w.keys...), Start: w.root.Pos}
}

func (w *workflow) node(v source.Value, index int) {
	vendor, kind := v.Get("type").Str(), ""
	if dot := strings.LastIndexByte(vendor, '.'); dot >= 0 {
		vendor, kind = vendor[:dot], vendor[dot+1:]
	}
	n := &node{
		name: v.Get("name").Str(), id: v.Get("id").Str(), vendor: vendor, kind: kind,
		params: v.Get("parameters"), secrets: v.Get("credentials"), disabled: v.Get("disabled").True(), at: w.origin(),
	}
	switch vendor {
	case "n8n-nodes-base", "@n8n/n8n-nodes-langchain", "n8n-nodes-langchain":
	default:
		n.community = true
	}
	n.version, _ = strconv.ParseFloat(v.Get("typeVersion").Text, 64)
	n.at.Start, n.at.EndLine = v.Pos, tool.EndLine(v)
	n.at.Pointer = tool.Pointer(append(append([]string(nil), w.keys...), "nodes", strconv.Itoa(index))...)
	w.nodes = append(w.nodes, n)
	if _, taken := w.byName[n.name]; !taken {
		w.byName[n.name] = n
	}
}

// connect reads the ai_tool connections: {"<tool>": {"ai_tool": [[{"node":
// "<user>"}]]}}, and which model an agent thinks with, written alike.
func (w *workflow) connect(connections source.Value) {
	for _, m := range connections.Members {
		from, known := w.byName[m.Key]
		if known {
			w.think(from, m.Value.Get("ai_languageModel"))
		}
		offered := map[*node]bool{}
		for _, output := range m.Value.Get("ai_tool").Items {
			for _, target := range output.Items {
				name := target.Get("node").Str()
				to, ok := w.byName[name]
				switch {
				case !known:
					w.lost = append(w.lost, m.Key)
				case !ok:
					w.lost = append(w.lost, name)
				case !offered[to]:
					offered[to] = true
					from.users = append(from.users, to)
					to.used = true
				}
			}
		}
	}
}

func (w *workflow) think(model *node, outputs source.Value) {
	seen := map[*node]bool{}
	for _, output := range outputs.Items {
		for _, target := range output.Items {
			if user, ok := w.byName[target.Get("node").Str()]; ok && !seen[user] {
				seen[user] = true
				model.thinkers = append(model.thinkers, user)
			}
		}
	}
}

// is says whether the node is one of n8n's own of the given kinds.
func (n *node) is(kinds ...string) bool {
	if n.community {
		return false
	}
	for _, kind := range kinds {
		if n.kind == kind {
			return true
		}
	}
	return false
}

// server says that the node offers its tools to MCP clients.
func (n *node) server() bool { return n.is("mcpTrigger") }

// human says that the node only asks a person before a tool runs. It is no
// tool; what passes through it is one.
func (n *node) human() bool { return !n.community && strings.HasSuffix(n.kind, "HitlTool") }

// client says that the node offers tools of an MCP server.
func (n *node) client() bool {
	return !n.community && strings.HasPrefix(n.kind, "mcp") && strings.HasSuffix(n.kind, "ClientTool")
}

// agent says that a model decides in this node.
func (n *node) agent() bool {
	return n.is("agent", "agentTool", "openAiAssistant") || n.used && !n.server() && !n.human() ||
		n.vendor != "n8n-nodes-base" && !n.community && len(n.provided()) > 0 && !strings.HasPrefix(n.kind, "lm")
}

// provided are the tools that the model's provider runs, such as searching the
// web, where the node switches them on.
func (n *node) provided() []string {
	var names []string
	for _, m := range n.params.Get("builtInTools").Members {
		if off := m.Value.Kind == source.Null || m.Value.Kind == source.Bool && !m.Value.Truth; !off {
			names = append(names, m.Key)
		}
	}
	for _, v := range n.params.Get("nativeTools").Strings() {
		names = append(names, v.Text)
	}
	return names
}

// offers says that the node is a tool for a model, whether it is connected or
// not. An agent that is offered to another agent is an agent.
func (n *node) offers() bool {
	if n.is("agentTool") || n.server() || n.human() {
		return false
	}
	if len(n.users) > 0 {
		return true
	}
	rest, prefixed := strings.CutPrefix(n.kind, "tool")
	return prefixed && rest != "" && 'A' <= rest[0] && rest[0] <= 'Z' && rest != "Executor" ||
		strings.HasSuffix(n.kind, "Tool") || n.params.Get("mode").Str() == "retrieve-as-tool"
}

// literal is a text that no expression decides. n8n marks an expression by a
// leading =; without {{ }} behind it the rest is taken as it stands.
func literal(v source.Value) (string, bool) {
	if v.Kind != source.String {
		return "", false
	}
	rest, expression := strings.CutPrefix(v.Text, "=")
	if !expression {
		return v.Text, true
	}
	return rest, !strings.Contains(rest, "{{")
}
