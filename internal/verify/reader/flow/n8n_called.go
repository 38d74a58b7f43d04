package flow

import (
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// calledID is the id of the workflow that a node runs: the node of a model or
// the one that a flow itself passes through.
func (n *node) calledID() (string, bool) {
	if n.disabled || !n.is("toolWorkflow", "executeWorkflow") || n.params.Get("source").Str() == "parameter" {
		return "", false
	}
	id := n.params.Get("workflowId")
	if id.Kind == source.Map {
		id = id.Get("value")
	}
	if id.Kind == source.Number {
		return id.Text, true
	}
	s, ok := literal(id)
	return s, ok && s != ""
}

// call makes live what a live workflow runs: n8n runs a called workflow
// whether or not it is active itself.
func (r *n8nReader) call() {
	var queue []*workflow
	for _, w := range r.flows {
		if w.live {
			queue = append(queue, w)
		}
	}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		for _, n := range w.nodes {
			id, ok := n.calledID()
			if !ok {
				continue
			}
			for _, next := range r.byID[id] {
				if !next.live {
					next.live = true
					queue = append(queue, next)
				}
			}
		}
	}
}

// called is the workflow of an id and every workflow that it passes through,
// nil when the id is not exactly one workflow's.
func (r *n8nReader) called(id string) []*workflow {
	first := r.byID[id]
	if id == "" || len(first) != 1 {
		return nil
	}
	if all, known := r.through[id]; known {
		return all
	}
	all, seen := []*workflow{first[0]}, map[*workflow]bool{first[0]: true}
	for i := 0; i < len(all); i++ {
		for _, n := range all[i].nodes {
			next, ok := n.calledID()
			if !ok || !n.is("executeWorkflow") || len(r.byID[next]) != 1 {
				continue
			}
			if w := r.byID[next][0]; !seen[w] {
				seen[w] = true
				all = append(all, w)
			}
		}
	}
	r.through[id] = all
	return all
}

// inventory lets an inventory stand for an MCP client: one whose tools name the
// client's node as their mcp_server. They belong to the client's agents unless
// they say otherwise.
func (e *n8nEmit) inventory(d *tool.Dynamic, agents []string) {
	for _, i := range e.lists[d.Name] {
		t := &e.out.Tools[i]
		if file, ok := t.Annotations["n8n_workflow"].(string); ok && file != e.w.path {
			continue
		}
		d.Resolved, d.Inventory = true, t.Origin.Path
		for _, agent := range agents {
			if agent != "" {
				e.holders = append(e.holders, holder{i, agent, e.w.id})
			}
		}
	}
}

// A holder is an agent that has a tool of an inventory.
type holder struct {
	tool          int // in out.Tools
	agent, source string
}

// bindInventories draws the edges from agents to the tools of inventories.
func (r *n8nReader) bindInventories() {
	seen := map[holder]bool{}
	for _, h := range r.holders {
		t := &r.out.Tools[h.tool]
		if _, said := t.Annotations["agent_bindings"]; said || seen[h] {
			continue
		}
		seen[h] = true
		at := t.Origin
		at.SourceID = h.source
		r.out.Edges = append(r.out.Edges, tool.Edge{
			Kind: tool.Toolset, Agent: h.agent, To: t.Name, ToSource: t.Origin.SourceID, Complete: true, Declared: true, Origin: at,
		})
	}
}
