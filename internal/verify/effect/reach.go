package effect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// hold is how the root reaches a tool.
type hold struct {
	reach Reach
	agent string   // the nearest agent that holds a reachable tool
	name  string   // name of an agent that may hold a possible one
	path  []string // to a reachable tool
}

// reach walks from the root over handoffs, breadth first (§6.4). What complete
// edges lead to is reachable; what only an incomplete one leads to is possible.
func (b *binder) reach() {
	b.sortGraph()
	s := b.x.s
	held := make([]hold, len(s.Catalog))
	b.x.held = held
	s.Reach, s.Paths = make(map[string]Reach, len(held)), make(map[string][]string, len(held))
	if b.g.Root != "" {
		b.walkEdges(held)
	}
	for n, t := range s.Catalog {
		h := &held[n]
		h.reach = cmp.Or(h.reach, Unbound)
		s.Reach[t.ID] = h.reach
		switch h.reach {
		case Reachable:
			s.Paths[t.ID] = h.path
		case Possible:
			i := about(t, PartialBinding, fmt.Sprintf("The agent %s may hold it: the list that names it could not be read in full.", h.name))
			i.Agent, i.Key = h.name, "agent_bindings.declarations[].tools"
			b.issue(i)
		case Unbound:
		}
	}
}

// walkEdges finds how the root reaches each tool of the catalog, if it does.
func (b *binder) walkEdges(held []hold) {
	from := map[string][]*GraphEdge{} // handoffs only
	for i := range b.g.Edges {
		if e := &b.g.Edges[i]; e.To != "" {
			from[e.From] = append(from[e.From], e)
		}
	}
	sure := walk(from, map[string]step{b.g.Root: {}}, true)
	maybe := walk(from, sure, false)
	for i := range b.g.Edges {
		e := &b.g.Edges[i]
		at, reached := sure[e.From]
		_, possible := maybe[e.From]
		if e.Tool == "" {
			if reached && !e.Complete {
				b.unfinished(e)
			}
			continue
		}
		h := &held[b.x.s.tools[e.Tool]]
		switch {
		case reached && e.Complete:
			if h.reach != Reachable || cmp.Or(cmp.Compare(at.depth, sure[h.agent].depth), strings.Compare(e.From, h.agent)) < 0 {
				h.agent = e.From
			}
			h.reach = Reachable
		case possible && h.reach != Reachable:
			h.reach = Possible
			if name := b.nodes[e.From].Name; h.name == "" || name < h.name {
				h.name = name
			}
		}
	}
	paths := map[string][]string{} // tools of one agent have one path
	for n := range held {
		h := &held[n]
		if h.reach != Reachable {
			continue
		}
		known, ok := paths[h.agent]
		if !ok {
			known = path(sure, h.agent)
			paths[h.agent] = known
		}
		h.path = known
	}
}

// unfinished reports a handoff of an agent whose handoffs could not all be read,
// unless a declaration says them all.
func (b *binder) unfinished(e *GraphEdge) {
	if _, closed := b.declares[e.From]; closed {
		return
	}
	i := at(e.At, IncompleteHandoffs, b.nodes[e.From].Name, fmt.Sprintf("It may hand over to %s; not all of its handoffs could be read.", b.nodes[e.To].Name))
	i.Key = "agent_bindings.declarations[].handoffs"
	b.issue(i)
}

// step is how an agent is reached: from which one, and after how many handoffs.
type step struct {
	from  string
	depth int
}

// maxPath bounds the agents of one path: a chain of thousands would be repeated
// for each of its tools.
const maxPath = 32

// path is the agents from the root to the one that holds a tool. Of a longer
// chain it is the root and the last ones.
func path(steps map[string]step, id string) []string {
	length := steps[id].depth + 1
	list := make([]string, 0, min(length, maxPath))
	for ; len(list) < maxPath-1 && steps[id].depth > 0; id = steps[id].from {
		list = append(list, id)
	}
	for steps[id].depth > 0 {
		id = steps[id].from
	}
	list = append(list, id)
	slices.Reverse(list)
	return list
}

// walk is the agents that are reached from those given. Only complete handoffs
// are followed when complete is set.
func walk(from map[string][]*GraphEdge, start map[string]step, complete bool) map[string]step {
	steps := make(map[string]step, len(start))
	queue := make([]string, 0, len(start))
	for id, s := range start {
		steps[id] = s
		queue = append(queue, id)
	}
	slices.SortFunc(queue, func(a, b string) int {
		return cmp.Or(cmp.Compare(steps[a].depth, steps[b].depth), strings.Compare(a, b))
	})
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, e := range from[id] {
			if complete && !e.Complete {
				continue
			}
			if _, seen := steps[e.To]; !seen {
				steps[e.To] = step{id, steps[id].depth + 1}
				queue = append(queue, e.To)
			}
		}
	}
	return steps
}

func (b *binder) sortGraph() {
	g := b.g
	for _, n := range b.nodes {
		g.Nodes = append(g.Nodes, n)
	}
	slices.SortFunc(g.Nodes, func(a, b Node) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	order := make([]*GraphEdge, len(b.edges)) // an edge is too large to be moved while sorting
	for i := range b.edges {
		order[i] = &b.edges[i]
	}
	slices.SortFunc(order, compareEdges)
	// The same edge from two places is one edge, at the first place.
	order = slices.CompactFunc(order, func(a, b *GraphEdge) bool {
		return a.Kind == b.Kind && a.From == b.From && a.Tool == b.Tool && a.To == b.To && a.Complete == b.Complete && a.Declared == b.Declared
	})
	if len(order) > 0 {
		g.Edges = make([]GraphEdge, len(order))
	}
	for i, e := range order {
		g.Edges[i] = *e
	}
}

func compareEdges(a, b *GraphEdge) int {
	if c := strings.Compare(a.From, b.From); c != 0 {
		return c
	}
	if c := cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Tool, b.Tool)); c != 0 {
		return c
	}
	return cmp.Or(
		strings.Compare(a.To, b.To),
		cmp.Compare(truth(b.Complete), truth(a.Complete)), cmp.Compare(truth(a.Declared), truth(b.Declared)),
		comparePlaces(&a.At, &b.At),
	)
}

// conclude sets the status of the graph.
func (b *binder) conclude() {
	g, s := b.g, b.x.s
	declared := len(b.m.Bindings.Declarations) > 0 || len(b.bound) > 0
	if g.Root != "" && !declared && len(g.Edges) == 0 && len(s.Catalog) > 0 && len(g.Issues) == 0 {
		b.issue(Issue{
			Kind: MissingBinding, Subject: b.nodes[g.Root].Name, Key: "agent_bindings.declarations", Candidates: b.x.names(),
			Why: "Nothing shows which of the tools it holds.",
		})
	}
	g.Issues = tidy(g.Issues)
	nothing := len(s.Catalog) == 0 && len(g.Nodes) == 0
	switch {
	case b.open(ConflictingBinding):
		g.Status = "conflicting"
	case slices.ContainsFunc(g.Issues, func(i Issue) bool { return i.Kind != AmbiguousRoot && i.Kind != MissingBinding }):
		g.Status = "partial"
	case declared && g.Root != "" && len(g.Issues) == 0:
		g.Status = "declared"
	case len(g.Issues) == 0 && (len(g.Edges) > 0 || len(s.Catalog) == 0):
		g.Status = "structural"
	default:
		g.Status = "unknown"
	}
	g.Eligible = (g.Root != "" || nothing) && len(g.Issues) == 0 && (g.Status == "declared" || g.Status == "structural")
}
