package flow

import (
	"fmt"

	"plimsoll.dev/internal/verify/tool"
)

// maxEdges bounds what one file can multiply: every tool behind a hub reaches
// every agent in front of it.
const maxEdges = 50_000

// emit turns one workflow into tools, agents, edges and dynamic surfaces. A
// workflow that does not run is recorded without any edge: its tools are in the
// catalogue and nobody calls them.
func (r *n8nReader) emit(w *workflow) *tool.SourceError {
	e := &n8nEmit{n8nReader: r, w: w, hub: map[*node][]*node{}, servers: map[string]int{}}
	for _, name := range w.lost {
		r.out.Warn("unknown_node", fmt.Sprintf("a connection names %.80q, which no node of the workflow is called", name), w.origin())
		if len(r.out.Warnings) > maxEdges {
			return tooMany(w, "connections that lead nowhere")
		}
	}
	for _, n := range w.nodes {
		if n.agent() {
			r.out.N8N.AIAgents++
		}
		r.out.N8N.CredentialRefs += len(n.secrets.Members)
		if n.disabled || !w.live {
			continue
		}
		if n.agent() {
			r.out.Agents = append(r.out.Agents, tool.Agent{Name: n.name, Origin: n.at})
			e.assistant(n)
		}
	}
	for _, n := range w.nodes {
		if err := e.node(n); err != nil {
			return err
		}
		if err := e.provided(n); err != nil {
			return err
		}
	}
	count := e.collect()
	for _, o := range e.own {
		if err := e.reach(o); err != nil {
			return err
		}
	}
	if !w.live && count > 0 {
		r.out.Warn("inactive_workflow", fmt.Sprintf("the workflow is inactive: its tools (%d) are recorded and nothing calls them", count), w.origin())
	}
	r.out.Sources = append(r.out.Sources, tool.Source{ID: w.id, Type: n8nBlock, Path: w.path, State: tool.Loaded, Tools: count})
	return nil
}

func tooMany(w *workflow, what string) *tool.SourceError {
	return &tool.SourceError{SourceID: w.id, Path: w.path, Problem: tool.TooLarge, Detail: fmt.Sprintf("holds more than %d %s", maxEdges, what)}
}

type n8nEmit struct {
	*n8nReader
	w       *workflow
	hub     map[*node][]*node // what a human node passes its tools on to
	servers map[string]int    // index in Sources
	edges   int
	own     []owned
}

// owned is a tool node with the agents that may call it.
type owned struct {
	n     *node
	d     *description
	users []*node
}

// collect adds the tools of the flow's own agents. A name that two nodes offer
// is qualified by the node everywhere, so that neither stands for the other,
// whatever their order.
func (e *n8nEmit) collect() int {
	times := map[string]int{}
	for _, o := range e.own {
		for _, name := range o.d.names {
			times[name]++
		}
	}
	total := 0
	for _, o := range e.own {
		for _, t := range o.d.tools(o.n, "") {
			if times[t.Name] > 1 {
				t.Annotations["n8n_tool_name"] = t.Name
				e.out.Warn("duplicate_tool", fmt.Sprintf("the tool name %.80q is offered %d times; each is named after its node", t.Name, times[t.Name]), t.Origin)
				t.Name = toolName(o.n.name) + "." + t.Name
			}
			e.out.Tools = append(e.out.Tools, t)
			e.bind(o.n, &t, o.d, o.users)
			total++
		}
	}
	return total
}

// node emits what one node is to the models of the flow.
func (e *n8nEmit) node(n *node) *tool.SourceError {
	users, asked := e.users(n)
	if e.edges += len(users); e.edges > maxEdges {
		return tooMany(e.w, "tool connections")
	}
	if n.is("agentTool") {
		e.subagent(n, users)
		return nil
	}
	if !n.offers() {
		return nil
	}
	d := describe(n)
	d.asked = asked
	if e.edges += len(users) * (len(d.names) + len(d.dynamic) + len(e.lists[n.name])); e.edges > maxEdges {
		return tooMany(e.w, "tool connections")
	}
	if !e.w.live || n.disabled {
		d.note("n8n_active", false)
	}
	if e.w.live && !n.disabled {
		e.calls(n, d, users)
	}
	for _, user := range users {
		if user.server() {
			e.expose(user, n, d)
		}
	}
	if servers := count(users, (*node).server); servers > 0 && servers == len(users) {
		return nil // offered to MCP clients alone: no model of the flow calls it
	}
	e.own = append(e.own, owned{n, d, users})
	return nil
}

// users are the agents and servers that a tool reaches, through human nodes,
// and whether a person is asked before each of them.
func (e *n8nEmit) users(n *node) (users []*node, asked bool) {
	seen := map[*node]bool{}
	for _, user := range n.users {
		if !user.human() {
			if !seen[user] {
				seen[user] = true
				users = append(users, user)
			}
			continue
		}
		asked = true
		for _, behind := range e.behind(user) {
			if !seen[behind] {
				seen[behind] = true
				users = append(users, behind)
			}
		}
	}
	return users, asked
}

// behind is what stands behind a human node, which may pass on to another one.
func (e *n8nEmit) behind(hub *node) []*node {
	if known, ok := e.hub[hub]; ok {
		return known
	}
	e.hub[hub] = nil // a circle of human nodes ends here
	seen, queue, found := map[*node]bool{hub: true}, []*node{hub}, []*node(nil)
	for len(queue) > 0 && e.edges <= maxEdges {
		at := queue[0]
		queue = queue[1:]
		e.edges++
		for _, user := range at.users {
			if seen[user] {
				continue
			}
			seen[user] = true
			if user.human() {
				queue = append(queue, user)
			} else {
				found = append(found, user)
			}
		}
	}
	e.hub[hub] = found
	return found
}

// bind connects one tool with the agents that may call it.
func (e *n8nEmit) bind(n *node, t *tool.Tool, d *description, users []*node) {
	if !e.w.live || n.disabled {
		return
	}
	for _, user := range users {
		if user.server() || user.disabled {
			continue
		}
		e.out.Edges = append(e.out.Edges, tool.Edge{
			Kind: d.edge, Agent: user.name, To: t.Name, Complete: d.unproven == "", Declared: true, Origin: n.at, Unproven: d.unproven,
		})
	}
}

// reach connects the users of a tool that runs a workflow with the agents in
// it: what those may do, the users can have done.
func (e *n8nEmit) reach(o owned) *tool.SourceError {
	called := e.called(o.d.workflow)
	if called == nil || !e.w.live || o.n.disabled {
		return nil
	}
	for _, w := range called {
		for _, agent := range w.nodes {
			if !agent.agent() || agent.disabled {
				continue
			}
			for _, user := range o.users {
				if user.server() || user.disabled {
					continue
				}
				if e.edges++; e.edges > maxEdges {
					return tooMany(e.w, "tool connections")
				}
				e.out.Edges = append(e.out.Edges, tool.Edge{
					Kind: tool.Subagent, Agent: user.name, To: agent.name, ToSource: w.id, Complete: true, Declared: true, Origin: o.n.at,
				})
			}
		}
	}
	return nil
}

// subagent connects an agent that is offered to another one as a tool.
func (e *n8nEmit) subagent(n *node, users []*node) {
	if !e.w.live || n.disabled {
		return
	}
	for _, user := range users {
		if user.server() || user.disabled {
			continue
		}
		e.out.Edges = append(e.out.Edges, tool.Edge{Kind: tool.Subagent, Agent: user.name, To: n.name, Complete: true, Declared: true, Origin: n.at})
	}
}

// calls emits the dynamic surfaces of a live tool, once for each agent that
// meets them and once without an agent when there is none.
func (e *n8nEmit) calls(n *node, d *description, users []*node) {
	if d.workflow != "" && len(e.byID[d.workflow]) != 1 {
		d.dynamic = append(d.dynamic, tool.Dynamic{Kind: "workflow", Reason: "unresolved_workflow", Name: d.workflow})
	}
	agents := []string{}
	for _, user := range users {
		if !user.server() && !user.disabled {
			agents = append(agents, user.name)
		}
	}
	if len(agents) == 0 {
		agents = append(agents, "")
	}
	for _, dynamic := range d.dynamic {
		if dynamic.Kind == "mcp_client" {
			e.inventory(&dynamic, agents)
		}
		dynamic.Framework, dynamic.Node, dynamic.Origin = n8nBlock, n.id, n.at
		for _, agent := range agents {
			dynamic.Agent = agent
			e.out.Dynamic = append(e.out.Dynamic, dynamic)
		}
	}
}

// expose emits the tool as a server's tool. The server is a catalogue of its
// own: whoever connects to it is not in this repository.
func (e *n8nEmit) expose(server, n *node, d *description) {
	id := e.w.id + "#" + server.name
	tools := d.tools(n, id)
	for i := range tools {
		tools[i].Origin.Type = "mcp"
		tools[i].Annotations["exposed_by"] = "n8n_mcp_server_trigger"
	}
	e.out.Tools = append(e.out.Tools, tools...)
	if at, ok := e.servers[id]; ok {
		e.out.Sources[at].Tools += len(tools)
		return
	}
	e.servers[id] = len(e.out.Sources)
	e.out.Sources = append(e.out.Sources, tool.Source{ID: id, Type: "mcp", Path: e.w.path, State: tool.Loaded, Tools: len(tools)})
}

// assistant records an agent whose tools are kept elsewhere.
func (e *n8nEmit) assistant(n *node) {
	kept := n.is("openAiAssistant") && n.params.Get("mode").Str() != "new" ||
		n.is("openAi") && n.params.Get("resource").Str() == "assistant" && n.params.Get("operation").Str() != "create"
	if kept {
		e.out.Dynamic = append(e.out.Dynamic, tool.Dynamic{
			Framework: n8nBlock, Kind: "toolset", Reason: "runtime_call", Agent: n.name, Name: n.name, Node: n.id, Origin: n.at,
		})
	}
}

// provided adds the tools that a provider runs for a model, to every agent that
// thinks with it. The flow says that they are on and nothing else.
func (e *n8nEmit) provided(n *node) *tool.SourceError {
	names := n.provided()
	if len(names) == 0 {
		return nil
	}
	users := n.thinkers
	if n.agent() {
		users = append(users[:len(users):len(users)], n)
	}
	if e.edges += len(users) * len(names); e.edges > maxEdges {
		return tooMany(e.w, "tool connections")
	}
	d := &description{
		kind: "n8n_ai_tool", edge: tool.DirectTool, names: names, method: "prebuilt", confidence: tool.Low,
		notes: map[string]any{"n8n_node_type": n.vendor + "." + n.kind, "n8n_node_id": n.id},
	}
	if !e.w.live || n.disabled {
		d.note("n8n_active", false)
	}
	e.own = append(e.own, owned{n, d, users})
	return nil
}

func count(nodes []*node, is func(*node) bool) int {
	found := 0
	for _, n := range nodes {
		if is(n) {
			found++
		}
	}
	return found
}
