package decision

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
)

// root asks which agent people talk to, at the place that names one already.
func (b *builder) root(i *effect.Issue) Next {
	const kind, what, why = "declare_agent_root", "the agent that people talk to", "Which tools are reached is counted from the root agent."
	agents := i.Candidates
	if len(agents) == 0 {
		agents = b.agents()
	}
	if _, there := b.at(i.Path); there {
		return b.next(kind, Template{Key: "object", Edits: []Edit{set(pointer(i.Path...), review)}}, unique(agents), what, why)
	}
	return b.next(kind, Template{
		Key: "object", Edits: []Edit{set("/agent_bindings/root", object{{Key: "object", Value: review}})},
	}, unique(agents), what, why)
}

func (b *builder) agents() []string {
	var names []string
	for _, n := range b.in.Head.Graph.Nodes {
		names = append(names, n.Name)
	}
	return names
}

// binding asks for the whole set of tools and agents that one agent reaches.
// It never says that a set is whole: that is the answer.
func (b *builder) binding(i *effect.Issue, kind string) Next {
	const what = "every tool and every agent that it reaches, and that this is all"
	why := "Code shows the agent's tools only in part; a person who knows the agent states the whole set."
	if i.Kind == "conflicting_binding_evidence" {
		why = "The declaration and the code do not agree; a person who knows the agent corrects the one that is wrong."
	}
	tools := b.names()
	if len(i.Candidates) > 0 && i.Kind != "unresolved_agent_binding" && i.Kind != "incomplete_handoff_graph" {
		tools = unique(i.Candidates)
	}
	agents := i.Candidates
	if len(agents) == 0 {
		agents = b.agents()
	}
	if _, there := b.at(i.Path); there && (i.Kind == "unresolved_agent_binding" || i.Kind == "incomplete_handoff_graph") {
		// One name in a declaration that fits no agent.
		key := i.Path[len(i.Path)-1]
		if _, err := strconv.Atoi(key); err == nil {
			key = "handoffs"
		}
		return b.next(kind, Template{Key: key, Edits: []Edit{set(pointer(i.Path...), review)}}, unique(agents),
			"the name of exactly one agent that the sources show", why)
	}
	agent := b.agent(i)
	row, declared := declaration(i.Path)
	if !declared {
		row = slices.IndexFunc(b.declarations(), func(d manifest.Binding) bool { return d.Agent == agent })
	}
	if row < 0 || i.Kind == "unresolved_agent_binding" {
		t := Template{Key: "tools"}
		accepted := tools
		if i.Kind == "unresolved_agent_binding" {
			t.Key, agent, accepted = "agent", review, unique(agents)
		}
		t.Edits = []Edit{push("/agent_bindings/declarations", object{
			{Key: "agent", Value: agent},
			{Key: "complete", Value: review},
			{Key: "tools", Value: []any{review}},
			{Key: "handoffs", Value: []any{review}},
			{Key: "reason", Value: review},
		})}
		return b.next(kind, t, accepted, what, why)
	}
	at := func(key string) string { return pointer("agent_bindings", "declarations", strconv.Itoa(row), key) }
	return b.next(kind, Template{
		Key: "tools",
		Edits: []Edit{
			set(at("tools"), []any{review}), set(at("handoffs"), []any{review}), set(at("reason"), review),
		},
	}, tools, what, why)
}

func (b *builder) declarations() []manifest.Binding {
	if m := b.in.Head.Manifest; m != nil {
		return m.Bindings.Declarations
	}
	return nil
}

func declaration(path []string) (row int, ok bool) {
	if len(path) < 3 || path[0] != "agent_bindings" || path[1] != "declarations" {
		return 0, false
	}
	n, err := strconv.Atoi(path[2])
	return n, err == nil
}

// agent is the agent that an issue of the graph is about: its subject when that
// is one; the first by name that may hold the tool when it is about a tool; else
// root.
func (b *builder) agent(i *effect.Issue) string {
	g := &b.in.Head.Graph
	name := b.holds[i.ToolID]
	for _, n := range g.Nodes {
		if n.Name == i.Subject && i.ToolID == "" && i.Agent == "" || n.ID == i.Subject || i.Agent != "" && n.Name == i.Agent {
			name = n.ID
		}
	}
	for _, n := range g.Nodes {
		if n.ID == name && n.ID != g.Root {
			return n.Name
		}
	}
	return "root"
}

// boundTool asks for the source that lists a tool which an agent names; or for
// the right name, when a declaration has a wrong one.
func (b *builder) boundTool(i *effect.Issue, kind string) Next {
	if _, there := b.at(i.Path); there {
		return b.selector(i, kind)
	}
	if i.Key == "agent_bindings.declarations[].tools" {
		// Another source lists a tool of that name: a person says that it is meant.
		return b.binding(i, kind)
	}
	return b.addSource(kind, "An agent names the tool and no source lists exactly one of that name, so nobody knows what it does.")
}

// identity asks which observations are one capability, or corrects who says so.
func (b *builder) identity(i *effect.Issue, kind string) Next {
	const why = "Observations are joined by a statement of a person, never by their name."
	primary, other := object{{Key: "source_id", Value: review}, {Key: "tool", Value: review}}, object{{Key: "source_id", Value: review}, {Key: "tool", Value: review}}
	if t := b.in.Head.Tool(i.ToolID); t != nil && t.Origin.SourceID != "" {
		primary = object{{Key: "source_id", Value: t.Origin.SourceID}, {Key: "tool", Value: t.Name}}
	}
	row := object{
		{Key: "id", Value: review},
		{Key: "provider", Value: review},
		{Key: "reason", Value: review},
		{Key: "primary", Value: primary},
		{Key: "members", Value: []any{primary, other}},
	}
	const what = "the id, the provider, the reason, and every observation of the capability by source and name"
	if n, ok := b.identified(i); ok {
		at := pointer("tool_identity", "bindings", strconv.Itoa(n))
		var edits []Edit
		for _, m := range row[2:] {
			edits = append(edits, set(at+"/"+m.Key, m.Value))
		}
		return b.next(kind, Template{Key: "reason", Edits: edits}, nil, what, why)
	}
	return b.next(kind, Template{Key: "id", Edits: []Edit{push("/tool_identity/bindings", row)}}, nil, what, why)
}

// identified is the index of the binding that an issue of identity is about: the
// one at its path, or the one that names the tool.
func (b *builder) identified(i *effect.Issue) (row int, ok bool) {
	if len(i.Path) >= 3 && i.Path[0] == "tool_identity" && i.Path[1] == "bindings" {
		n, err := strconv.Atoi(i.Path[2])
		return n, err == nil
	}
	t, m := b.in.Head.Tool(i.ToolID), b.in.Head.Manifest
	if t == nil || m == nil {
		return 0, false
	}
	for n := range m.Identities {
		if slices.ContainsFunc(m.Identities[n].Members, func(s manifest.Selector) bool {
			return s.Tool == t.Name && s.SourceID == t.Origin.SourceID
		}) {
			return n, true
		}
	}
	return 0, false
}

// selector asks for what names exactly one tool, at the entry that does not.
func (b *builder) selector(i *effect.Issue, kind string) Next {
	const why = "An entry that names no tool, or several, controls none."
	entry, there := b.at(i.Path)
	if !there {
		return b.effect(i, kind, false)
	}
	key, accepted := b.qualifier(i)
	at := pointer(i.Path...)
	what := "a value that names exactly one tool, as one of the accepted values"
	if entry.Kind == source.Map {
		edits := []Edit{set(at+"/"+key, review)}
		return b.next(kind, Template{Key: key, Edits: edits}, accepted, what, why)
	}
	if key == "tool" {
		return b.next(kind, Template{Key: key, Edits: []Edit{set(at, review)}}, accepted, what, why)
	}
	value := object{{Key: "tool", Value: cmp.Or(entry.Text, i.Subject)}, {Key: key, Value: review}}
	if key == "tool_id" {
		value = object{{Key: key, Value: review}}
	}
	return b.next(kind, Template{Key: key, Edits: []Edit{set(at, value)}}, accepted, what, why)
}

// qualifier is the member of a selector that tells the candidates apart: the
// name when nothing matched, or when two entries are about one tool; else the
// source, or the id when two of one source share the name.
func (b *builder) qualifier(i *effect.Issue) (key string, accepted []string) {
	if len(i.Candidates) == 0 {
		return "tool", b.names()
	}
	accepted = unique(i.Candidates)
	switch {
	case i.Kind == "unresolved_tool_selector" || i.Kind == "unresolved_bound_tool":
		return "tool", accepted
	case slices.ContainsFunc(accepted, func(c string) bool { return !strings.HasPrefix(c, "tool_v2_") }):
		return "source_id", accepted
	}
	return "tool_id", accepted
}

func unique(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}
