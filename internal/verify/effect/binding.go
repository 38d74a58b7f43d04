package effect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// declaredRef is the source_ref of an agent that only the manifest names.
const declaredRef = "manifest"

// rootName is the agent of a declaration that means the selected root.
const rootName = "root"

// nodeID names an agent by its name and its source; one that no source has by
// where it is named (§6.4).
func nodeID(name, sourceID string) string {
	o := canonical.Object{{Key: "name", Value: name}, {Key: "source_id", Value: sourceID}, {Key: "source_ref"}}
	if sourceID == "" {
		o[1].Value, o[2].Value = nil, declaredRef
	}
	return "agent_v1:" + digest(canonical.UTF8, o)[:24]
}

// id is the id of an agent, remembered: every edge asks for it.
func (b *binder) id(name, sourceID string) string {
	k := sourceName{sourceID, name}
	id, ok := b.ids[k]
	if !ok {
		id = nodeID(name, sourceID)
		b.ids[k] = id
	}
	return id
}

// sourceName is a name inside of one source.
type sourceName struct{ source, name string }

// binder builds the binding graph of one side.
type binder struct {
	m *manifest.Manifest
	x *resolver
	g *Graph

	nodes    map[string]Node // by id
	byName   map[string][]string
	known    []string    // ids of agents that sources show, as opposed to declared ones
	edges    []GraphEdge // some twice
	ids      map[sourceName]string
	declares map[string]int  // node id to its row of agent_bindings.declarations
	spoken   map[string]bool // node ids that have an unread list
	bound    map[string]bool // source ids that the manifest binds to the root as a whole
	conflict map[string]bool // node ids with conflicting evidence

	rootRow  int                          // row of the declaration of "root", -1 for none
	declared map[string]map[string]string // by node id: names of declared tools to tool ids
}

func (x *resolver) bind() {
	b := &binder{
		m: x.m, x: x, g: &x.s.Graph, nodes: map[string]Node{}, byName: map[string][]string{}, ids: map[sourceName]string{},
		declares: map[string]int{}, spoken: map[string]bool{}, bound: map[string]bool{}, conflict: map[string]bool{}, rootRow: -1,
		declared: map[string]map[string]string{},
	}
	for _, s := range x.m.Sources {
		if s.Binding != nil && s.Binding.Complete {
			b.bound[s.ID] = true
		}
	}
	b.seen()
	b.annotations()
	b.declaredAgents()
	b.chooseRoot()
	b.declarations()
	b.sources()
	b.readEdges()
	b.unread()
	b.compare()
	b.reach()
	b.conclude()
	x.conflict = b.conflict
}

// node is the id of an agent, which is added when it is new.
func (b *binder) node(name, sourceID string, o tool.Origin) string {
	id := b.id(name, sourceID)
	have, ok := b.nodes[id]
	if !ok {
		b.byName[name] = append(b.byName[name], id)
		if sourceID != "" {
			b.known = append(b.known, id)
		}
	}
	if !ok || earlier(o, have.At) {
		b.nodes[id] = Node{ID: id, Name: name, At: o}
	}
	return id
}

// earlier keeps the place of an agent independent of the order of files.
func earlier(a, b tool.Origin) bool { return comparePlaces(&a, &b) < 0 }

func (b *binder) issue(i Issue) { b.g.Issues = append(b.g.Issues, i) }

// seen adds the agents that sources show: by themselves and as the start of an
// edge.
func (b *binder) seen() {
	for _, a := range b.x.r.Agents {
		b.node(a.Name, a.Origin.SourceID, a.Origin)
	}
	for _, e := range b.x.r.Edges {
		b.node(e.Agent, e.Origin.SourceID, e.Origin)
	}
	for _, d := range b.x.r.Dynamic {
		if d.Agent != "" {
			b.node(d.Agent, d.Origin.SourceID, d.Origin)
		}
	}
}

func (b *binder) edge(e GraphEdge) { b.edges = append(b.edges, e) }

// readEdges adds what code, flows and lists show.
func (b *binder) readEdges() {
	b.edges = slices.Grow(b.edges, len(b.x.r.Edges))
	for _, e := range b.x.r.Edges {
		from := b.node(e.Agent, e.Origin.SourceID, e.Origin)
		out := GraphEdge{Kind: e.Kind, From: from, Complete: e.Complete, Declared: e.Declared, At: e.Origin}
		switch e.Kind {
		case tool.Subagent, tool.Handoff:
			if out.To = b.target(from, e); out.To == "" {
				continue
			}
		case tool.DirectTool, tool.ToolNode, tool.Toolset, tool.Workflow:
			if out.Tool = b.held(from, e); out.Tool == "" {
				continue
			}
		}
		b.edge(out)
	}
}

// target is the agent that a handoff leads to: one of the source it names, or one
// that the declaration of the agent names.
func (b *binder) target(from string, e tool.Edge) string {
	id := b.id(e.To, e.Target())
	if _, ok := b.nodes[id]; ok {
		return id
	}
	others := b.byName[e.To]
	if row, ok := b.declares[from]; ok && len(others) == 1 && slices.Contains(b.m.Bindings.Declarations[row].Handoffs, e.To) {
		return others[0]
	}
	i := at(e.Origin, IncompleteHandoffs, e.Agent, fmt.Sprintf("It hands over to %s, and no agent of its source has that name.", e.To))
	i.Key = "agent_bindings.declarations[].handoffs"
	b.issue(i)
	return ""
}

// held is the tool that an edge leads to: exactly one of the source it names, or one
// that the declaration of the agent names in another source.
func (b *binder) held(from string, e tool.Edge) string {
	hits := b.x.bySource[sourceName{e.Target(), e.To}]
	if len(hits) == 1 {
		return hits[0].ID
	}
	if id := b.declared[from][e.To]; id != "" && len(hits) == 0 {
		return id
	}
	i := at(e.Origin, UnresolvedBoundTool, e.To, fmt.Sprintf("The agent %s holds it, and %s of this source has that name.", e.Agent, tools(len(hits))))
	// A tool of that name in another source is meant once a declaration says so.
	i.Agent, i.Key = e.Agent, "tool_sources"
	if len(b.x.byName[e.To]) > 0 {
		i.Key, i.Candidates = "agent_bindings.declarations[].tools", b.x.names()
	}
	b.issue(i)
	return ""
}

func tools(n int) string {
	if n == 0 {
		return "no tool"
	}
	return fmt.Sprintf("more than one tool (%d)", n)
}

// agentNamed is the one agent of a name, and how many there are.
func (b *binder) agentNamed(name, sourceID string) (id string, hits int) {
	var found []string
	for _, id := range b.byName[name] {
		if sourceID == "" || id == b.id(name, sourceID) {
			found = append(found, id)
		}
	}
	if len(found) == 1 {
		return found[0], 1
	}
	return "", len(found)
}

func (b *binder) agents() []string {
	names := make([]string, 0, len(b.known))
	for _, id := range b.known {
		names = append(names, b.nodes[id].Name)
	}
	return sorted(names)
}

func declarationPath(row int, more ...string) []string {
	return append([]string{"agent_bindings", "declarations", fmt.Sprint(row)}, more...)
}

// declaredAgents finds the agents that declarations are about. Where no source shows
// any agent, a declaration brings its own.
func (b *binder) declaredAgents() {
	fresh := len(b.known) == 0
	for row, d := range b.m.Bindings.Declarations {
		if d.Agent == rootName {
			b.rootRow = row
			continue
		}
		id, hits := b.agentNamed(d.Agent, "")
		switch {
		case hits == 1:
			b.declares[id] = row
		case hits == 0 && fresh:
			b.declares[b.node(d.Agent, "", tool.Origin{Type: "manifest", Ref: declaredRef, Start: d.Pos})] = row
		default:
			why := "A declaration is about it, and no source shows an agent of that name."
			if hits > 1 {
				why = fmt.Sprintf("A declaration is about it, and %d agents have that name.", hits)
			}
			b.issue(Issue{
				Kind: UnresolvedAgent, Subject: d.Agent, Path: declarationPath(row, "agent"),
				Key: "agent_bindings.declarations[].agent", Why: why, Candidates: b.agents(),
			})
		}
	}
}

// chooseRoot selects the agent that people talk to, by the rules of §6.4. A name
// that people wrote down and that fits nothing, or several agents, is not
// guessed around: the wrong root would hide tools.
func (b *binder) chooseRoot() {
	bindings := b.m.Bindings
	one := len(bindings.Declarations) == 1
	switch {
	case bindings.RootObject != "":
		b.rootBy(bindings.RootObject, bindings.RootSource, "agent_bindings.root.object", []string{"agent_bindings", "root", "object"})
	case b.m.Agent.SDK.Object != "" && (len(b.known) > 0 || len(bindings.Declarations) == 0 && len(b.bound) == 0):
		b.rootBy(b.m.Agent.SDK.Object, "", "agent.sdk.object", []string{"agent", "sdk", "object"})
	case one && b.rootRow < 0:
		for id := range b.declares {
			b.g.Root = id
		}
	case one && len(b.known) == 1:
		b.g.Root = b.known[0]
	case one, len(b.known) == 0 && (b.rootRow >= 0 || len(b.bound) > 0 && len(b.nodes) == 0):
		b.g.Root = b.node(rootName, "", tool.Origin{Type: "manifest", Ref: declaredRef})
	default:
		b.g.Root = b.start()
	}
	if b.g.Root != "" && b.rootRow >= 0 {
		b.declares[b.g.Root] = b.rootRow
	}
	if b.g.Root != "" || len(b.x.s.Catalog) == 0 && len(b.nodes) == 0 || b.open(AmbiguousRoot) ||
		one && b.open(UnresolvedAgent) {
		return // there is none to choose, or it is said why it cannot be chosen
	}
	if len(b.nodes) == 0 {
		// One declaration of root answers who the agent is and what it holds.
		b.issue(Issue{
			Kind: AmbiguousRoot, Subject: cmp.Or(b.m.Agent.Name, rootName), Key: "agent_bindings.declarations", Candidates: b.x.names(),
			Why: "No source shows an agent, and nothing says which of the tools yours holds.",
		})
		return
	}
	b.ambiguous(fmt.Sprintf("There are %d agents, and nothing says which of them people talk to.", len(b.nodes)), "agent_bindings.root.object", nil)
}

func (b *binder) open(kind string) bool {
	return slices.ContainsFunc(b.g.Issues, func(i Issue) bool { return i.Kind == kind })
}

func (b *binder) ambiguous(why, key string, path []string) {
	b.issue(Issue{Kind: AmbiguousRoot, Subject: cmp.Or(b.m.Agent.Name, rootName), Why: why, Key: key, Path: path, Candidates: b.agents()})
}

// rootBy is the agent that people name as the root. Where no source shows any
// agent it is one that only the manifest knows.
func (b *binder) rootBy(name, sourceID, key string, path []string) {
	id, hits := b.agentNamed(name, sourceID)
	switch {
	case hits == 1:
		b.g.Root = id
	case hits == 0 && len(b.known) == 0:
		b.g.Root = b.node(name, "", tool.Origin{Type: "manifest", Ref: declaredRef, Start: b.m.At(path...)})
	case hits == 0:
		b.ambiguous(fmt.Sprintf("%s names %s, and no source shows an agent of that name.", key, name), key, path)
	default:
		b.ambiguous(fmt.Sprintf("%s names %s, and %d agents have that name.", key, name, hits), "agent_bindings.root.source_id", path)
	}
}

// start is the single agent that nothing hands over to, or the only agent.
func (b *binder) start() string {
	target := map[string]bool{}
	for _, e := range b.x.r.Edges {
		if e.Kind == tool.Subagent || e.Kind == tool.Handoff {
			target[b.id(e.To, e.Target())] = true
		}
	}
	for _, e := range b.edges {
		if e.To != "" {
			target[e.To] = true
		}
	}
	for _, d := range b.m.Bindings.Declarations {
		for _, name := range d.Handoffs {
			if id, hits := b.agentNamed(name, ""); hits == 1 {
				target[id] = true
			}
		}
	}
	var free []string
	for id := range b.nodes {
		if !target[id] {
			free = append(free, id)
		}
	}
	if len(free) == 1 {
		return free[0]
	}
	if len(b.nodes) == 1 {
		for id := range b.nodes {
			return id
		}
	}
	return ""
}

// declarations adds the edges that people declare.
func (b *binder) declarations() {
	agents := make([]string, len(b.m.Bindings.Declarations))
	for id, row := range b.declares {
		agents[row] = id
	}
	for row, d := range b.m.Bindings.Declarations {
		from := agents[row]
		if from == "" {
			continue
		}
		b.declared[from] = map[string]string{}
		where := tool.Origin{Type: "manifest", Ref: declaredRef, Start: d.Pos}
		for _, sel := range d.Tools {
			hits := b.x.match(sel)
			switch len(hits) {
			case 0:
				b.issue(Issue{
					Kind: UnresolvedBoundTool, Subject: cmp.Or(sel.Tool, sel.ToolID), Path: sel.Path,
					Key: "agent_bindings.declarations[].tools[].tool", Candidates: b.x.similar(sel.Tool),
					Why: fmt.Sprintf("The declaration of %s names %s, and no tool of the sources is that.", d.Agent, describe(sel)),
				})
			case 1:
				b.declared[from][sel.Tool] = hits[0].ID
				b.edge(GraphEdge{Kind: tool.DirectTool, From: from, Tool: hits[0].ID, Complete: true, Declared: true, At: where})
			default:
				b.x.one(sel, "The declaration of "+d.Agent)
			}
		}
		for n, name := range d.Handoffs {
			to, hits := b.agentNamed(name, "")
			if hits != 1 {
				b.issue(Issue{
					Kind: IncompleteHandoffs, Subject: d.Agent, Path: declarationPath(row, "handoffs", fmt.Sprint(n)),
					Key: "agent_bindings.declarations[].handoffs", Candidates: b.agents(),
					Why: fmt.Sprintf("Its declaration hands over to %s, which is not exactly one agent.", name),
				})
				continue
			}
			b.edge(GraphEdge{Kind: tool.Handoff, From: from, To: to, Complete: true, Declared: true, At: where})
		}
	}
}

// sources binds whole sources to the root, where the manifest says so.
func (b *binder) sources() {
	if b.g.Root == "" || len(b.bound) == 0 {
		return
	}
	b.edges = slices.Grow(b.edges, len(b.x.s.Catalog))
	for _, t := range b.x.s.Catalog {
		for i := range t.Members {
			if o := t.Members[i].Origin; b.bound[o.SourceID] {
				where := tool.Origin{Type: "manifest", SourceID: o.SourceID, Ref: declaredRef}
				b.edge(GraphEdge{Kind: tool.Toolset, From: b.g.Root, Tool: t.ID, Complete: true, Declared: true, At: where})
			}
		}
	}
}

// compare holds each declaration against what the sources show of its agent.
func (b *binder) compare() {
	type sets struct {
		tools  []bool // by place in the catalog; nil for none
		agents map[string]bool
		open   bool // some list was not read in full
	}
	shown, said := map[string]*sets{}, map[string]*sets{}
	catalog := b.x.s.Catalog
	into := func(all map[string]*sets, e *GraphEdge) {
		s := all[e.From]
		if s == nil {
			s = &sets{agents: map[string]bool{}}
			all[e.From] = s
		}
		switch {
		case e.Tool == "":
			s.agents[e.To] = true
		case s.tools == nil:
			s.tools = make([]bool, len(catalog))
			fallthrough
		default:
			s.tools[b.x.s.tools[e.Tool]] = true
		}
		s.open = s.open || !e.Complete
	}
	for i := range b.edges {
		e := &b.edges[i]
		if _, declares := b.declares[e.From]; !declares {
			continue // nobody asks what it has
		}
		if e.Declared && e.At.Type == "manifest" && e.At.SourceID == "" {
			into(said, e)
		} else {
			into(shown, e)
		}
	}
	for id, row := range b.declares {
		have, want := shown[id], said[id]
		if have == nil {
			continue
		}
		if want == nil {
			want = &sets{}
		}
		var differ []string
		check := func(name string, have, want bool) {
			switch {
			case have && !want:
				differ = append(differ, name+" is not declared")
			case want && !have && !b.spoken[id] && !shown[id].open:
				differ = append(differ, name+" is not in the source")
			}
		}
		if have.tools != nil {
			for n, t := range catalog {
				check(t.Name, have.tools[n], want.tools != nil && want.tools[n])
			}
		}
		if len(have.agents) > 0 {
			for id := range have.agents {
				check(b.nodes[id].Name, true, want.agents[id])
			}
			for id := range want.agents {
				check(b.nodes[id].Name, have.agents[id], true)
			}
		}
		if differ = sorted(differ); len(differ) == 0 {
			continue
		}
		b.conflict[id] = true
		i := at(b.nodes[id].At, ConflictingBinding, b.nodes[id].Name, "Its declaration is not what the source shows: "+few(differ)+".")
		i.Path, i.Key = declarationPath(row), "agent_bindings.declarations[]"
		b.issue(i)
	}
}

// few joins the first of a list for people.
func few(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
