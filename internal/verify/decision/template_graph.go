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

// root asks which agent people talk to.
func (b *builder) root(i *effect.Issue) Next {
	agents := i.Candidates
	if len(agents) == 0 {
		for _, n := range b.in.Head.Graph.Nodes {
			agents = append(agents, n.Name)
		}
	}
	return b.next("declare_agent_root", Template{
		Key: "object", Edits: []Edit{set("/agent_bindings/root", object{{Key: "object", Value: review}})},
	}, unique(agents), "the agent that people talk to", "Which tools are reached is counted from the root agent.")
}

// binding asks for the whole set of tools and agents that one agent reaches.
// It never says that a set is whole: that is the answer.
func (b *builder) binding(i *effect.Issue, kind string) Next {
	const (
		what = "every tool and every agent that it reaches, and that this is all"
		why  = "Code shows the agent's tools only in part; a person who knows the agent states the whole set."
	)
	tools := unique(i.Candidates)
	if len(tools) == 0 {
		tools = b.names
	}
	agent := b.agent(i)
	row := slices.IndexFunc(b.declarations(), func(d manifest.Binding) bool { return d.Agent == agent })
	if n, ok := declaration(i.Path); ok {
		row = n
	}
	if row < 0 {
		return b.next(kind, Template{
			Key: "tools",
			Edits: []Edit{push("/agent_bindings/declarations", object{
				{Key: "agent", Value: agent},
				{Key: "complete", Value: review},
				{Key: "tools", Value: []any{review}},
				{Key: "handoffs", Value: []any{review}},
				{Key: "reason", Value: review},
			})},
		}, tools, what, why)
	}
	at := func(key string) string { return pointer("agent_bindings", "declarations", strconv.Itoa(row), key) }
	if i.Kind == "unresolved_agent_binding" && row >= 0 {
		var agents []string
		for _, n := range b.in.Head.Graph.Nodes {
			agents = append(agents, n.Name)
		}
		if len(i.Candidates) > 0 {
			agents = i.Candidates
		}
		if len(i.Path) > 3 && i.Path[3] == "handoffs" {
			return b.next(kind, Template{Key: "handoffs", Edits: []Edit{set(at("handoffs"), []any{review})}}, unique(agents),
				"every agent that it may hand over to, by a name that the sources show", why)
		}
		return b.next(kind, Template{Key: "agent", Edits: []Edit{set(at("agent"), review)}}, unique(agents),
			"the name of an agent that the sources show, or root", why)
	}
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
// is one, else root.
func (b *builder) agent(i *effect.Issue) string {
	g := &b.in.Head.Graph
	for _, n := range g.Nodes {
		if n.Name == i.Subject || n.ID == i.Subject {
			if n.ID == g.Root {
				return "root"
			}
			return n.Name
		}
	}
	return "root"
}

// boundTool asks for the source that lists a tool which an agent names.
func (b *builder) boundTool(i *effect.Issue) Next {
	return b.addSource("provide_static_binding_source",
		"An agent names the tool and no source lists exactly one of that name, so nobody knows what it does.")
}

// identity asks which observations are one capability, or corrects who says so.
func (b *builder) identity(i *effect.Issue, kind string) Next {
	const why = "Observations are joined by a statement of a person, never by their name."
	primary, other := object{{Key: "source_id", Value: review}, {Key: "tool", Value: review}}, object{{Key: "source_id", Value: review}, {Key: "tool", Value: review}}
	if t := b.tools[i.ToolID]; t != nil && t.Origin.SourceID != "" {
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
	if len(i.Path) >= 3 && i.Path[0] == "tool_identity" && i.Path[1] == "bindings" {
		at := pointer(i.Path[:3]...)
		var edits []Edit
		for _, m := range row[2:] {
			edits = append(edits, set(at+"/"+m.Key, m.Value))
		}
		return b.next(kind, Template{Key: "reason", Edits: edits}, nil, what, why)
	}
	return b.next(kind, Template{Key: "id", Edits: []Edit{push("/tool_identity/bindings", row)}}, nil, what, why)
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
// name when nothing matched; else the source, or the id when two of one source
// share the name.
func (b *builder) qualifier(i *effect.Issue) (key string, accepted []string) {
	if i.Kind == "unresolved_tool_selector" {
		if len(i.Candidates) == 0 {
			return "tool", b.names
		}
		return "tool", unique(i.Candidates)
	}
	var sources, ids []string
	for _, t := range b.in.Head.Catalog {
		if t.Name == i.Subject || slices.Contains(i.Candidates, t.ID) {
			ids = append(ids, t.ID)
			if t.Origin.SourceID != "" {
				sources = append(sources, t.Origin.SourceID)
			}
		}
	}
	if apart := unique(sources); len(apart) == len(ids) && len(ids) > 0 {
		return "source_id", apart
	}
	if len(ids) > 0 || slices.ContainsFunc(i.Candidates, func(c string) bool { return strings.HasPrefix(c, "tool_v2_") }) {
		return "tool_id", unique(append(ids, ofTools(i.Candidates)...))
	}
	return "source_id", unique(i.Candidates)
}

func ofTools(candidates []string) []string {
	return slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !strings.HasPrefix(c, "tool_v2_") })
}

func unique(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}
