package effect

import (
	"fmt"

	"plimsoll.dev/internal/verify/tool"
)

// annotations reads the binding annotations of tools (§5.3): a list that says
// itself who holds its tools.
func (b *binder) annotations() {
	each := func(read func(*Tool, *tool.Tool)) {
		for _, t := range b.x.s.Catalog {
			for i := range t.Members {
				read(t, &t.Members[i])
			}
		}
	}
	// Agents first: whether a name brings its own agent must not depend on order.
	owners := map[*tool.Tool]string{}
	each(func(t *Tool, m *tool.Tool) {
		if owner := b.owner(t, m); owner != "" {
			owners[m] = owner
		}
	})
	each(func(t *Tool, m *tool.Tool) { b.holders(t, m, owners[m]) })
}

func (b *binder) direct(t *Tool, o tool.Origin, from string, kind tool.EdgeKind) {
	b.edge(GraphEdge{Kind: kind, From: from, Tool: t.ID, Complete: true, Declared: true, At: o})
}

func (b *binder) unreadable(t *Tool, o tool.Origin, key string) {
	i := at(o, InvalidBindingAnnotation, t.Name, "The annotation "+key+" cannot be read.")
	i.ToolID, i.InSource = t.ID, true
	b.issue(i)
}

// owner is the agent that the reader of a framework names, or "".
func (b *binder) owner(t *Tool, m *tool.Tool) string {
	o, owner := m.Origin, ""
	if name, ok := text(m, "adk_agent_name"); ok {
		source := o.SourceID
		if given, ok := text(m, "adk_agent_source_id"); ok && given != "" {
			source = given
		}
		if name == "" {
			b.unreadable(t, o, "adk_agent_name")
		} else {
			owner = b.node(name, source, o)
			b.direct(t, o, owner, tool.DirectTool)
		}
	}
	if plugin, ok := text(m, "codex_plugin"); ok {
		if server, ok := text(m, "codex_plugin_mcp_server"); ok && plugin != "" && server != "" {
			b.direct(t, o, b.node(plugin+"/"+server, o.SourceID, o), tool.Toolset)
		}
	}
	return owner
}

// holders reads the lists of agents that a tool's annotations name.
func (b *binder) holders(t *Tool, m *tool.Tool, owner string) {
	o := m.Origin
	bad := func(key string) { b.unreadable(t, o, key) }
	var holders []string
	if owner != "" {
		holders = append(holders, owner)
	}
	for _, item := range listed(m, "agent_bindings", bad) {
		name, ok := item.(string)
		if !ok || name == "" {
			bad("agent_bindings")
			continue
		}
		if id := b.annotatedAgent(t, o, name); id != "" {
			holders = append(holders, id)
			b.direct(t, o, id, tool.DirectTool)
		}
	}
	for _, item := range listed(m, "agent_handoffs", bad) {
		name, ok := item.(string)
		if !ok || name == "" || len(holders) == 0 {
			bad("agent_handoffs")
			continue
		}
		to := b.annotatedAgent(t, o, name)
		for _, from := range holders {
			if to != "" {
				b.edge(GraphEdge{Kind: tool.Handoff, From: from, To: to, Complete: true, Declared: true, At: o})
			}
		}
	}
	for _, item := range listed(m, "binding_surface_partial", bad) {
		name, ok := item.(string)
		if !ok || name == "" {
			bad("binding_surface_partial")
			continue
		}
		i := at(o, PartialBinding, name, fmt.Sprintf("%s says that the tools of %s are known in part.", t.Name, name))
		i.InSource = true
		b.issue(i)
	}
}

// annotatedAgent is the agent that an annotation names: of the same source, else
// the one of that name. Where no source shows any agent it brings its own.
func (b *binder) annotatedAgent(t *Tool, o tool.Origin, name string) string {
	if id := b.id(name, o.SourceID); b.nodes[id].ID != "" {
		return id
	}
	id, hits := b.agentNamed(name, "")
	switch {
	case hits == 1:
		return id
	case hits == 0 && len(b.known) == 0:
		return b.node(name, "", o)
	}
	i := at(o, UnresolvedAgent, name, fmt.Sprintf("An annotation of %s names it, and %d agents have that name.", t.Name, hits))
	i.InSource, i.Candidates = true, b.agents()
	b.issue(i)
	return ""
}

func text(m *tool.Tool, key string) (string, bool) {
	s, ok := m.Annotations[key].(string)
	return s, ok
}

// listed is a list annotation; one name alone is a list of one.
func listed(m *tool.Tool, key string, bad func(string)) []any {
	switch v := m.Annotations[key].(type) {
	case nil:
		return nil
	case string:
		return []any{v}
	case []any:
		return v
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	}
	bad(key)
	return nil
}
