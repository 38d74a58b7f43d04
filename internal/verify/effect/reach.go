package effect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// reach walks from the root over handoffs, breadth first (§6.4). What complete
// edges lead to is reachable; what only an incomplete one leads to is possible.
func (b *binder) reach() {
	b.sortGraph()
	s := b.x.s
	s.Reach, s.Paths = make(map[string]Reach, len(s.Catalog)), map[string][]string{}
	for _, t := range s.Catalog {
		s.Reach[t.ID] = Unbound
	}
	if b.g.Root == "" {
		return
	}
	from := map[string][]*GraphEdge{} // handoffs only
	for i := range b.g.Edges {
		if e := &b.g.Edges[i]; e.To != "" {
			from[e.From] = append(from[e.From], e)
		}
	}
	sure := walk(from, map[string]step{b.g.Root: {}}, true)
	maybe := walk(from, sure, false)
	best := map[string]string{} // by reachable tool: the nearest agent that holds it
	held := map[string]string{} // by possible tool: name of an agent that may hold it
	for _, e := range b.g.Edges {
		_, reached := sure[e.From]
		_, possible := maybe[e.From]
		switch {
		case e.Tool == "":
			if reached && !e.Complete {
				i := at(e.At, IncompleteHandoffs, b.nodes[e.From].Name, fmt.Sprintf("It may hand over to %s; not all of its handoffs could be read.", b.nodes[e.To].Name))
				i.Key = "agent_bindings.declarations[].handoffs"
				if _, closed := b.declares[e.From]; !closed {
					b.issue(i)
				}
			}
		case reached && e.Complete:
			have, ok := best[e.Tool]
			if !ok || cmp.Or(cmp.Compare(sure[e.From].depth, sure[have].depth), strings.Compare(e.From, have)) < 0 {
				best[e.Tool] = e.From
			}
			s.Reach[e.Tool] = Reachable
		case possible && s.Reach[e.Tool] != Reachable:
			s.Reach[e.Tool] = Possible
			if name := b.nodes[e.From].Name; held[e.Tool] == "" || name < held[e.Tool] {
				held[e.Tool] = name
			}
		}
	}
	for _, t := range s.Catalog {
		if s.Reach[t.ID] == Reachable {
			s.Paths[t.ID] = path(sure, best[t.ID])
		}
		if s.Reach[t.ID] == Possible {
			i := about(t, PartialBinding, fmt.Sprintf("The agent %s may hold it: the list that names it could not be read in full.", held[t.ID]))
			i.Agent, i.Key = held[t.ID], "agent_bindings.declarations[].tools"
			b.issue(i)
		}
	}
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
	g.Edges = b.edges
	slices.SortFunc(g.Edges, compareEdges)
	// The same edge from two places is one edge, at the first place.
	g.Edges = slices.CompactFunc(g.Edges, func(a, b GraphEdge) bool {
		a.At, b.At = tool.Origin{}, tool.Origin{}
		return a == b
	})
}

func compareEdges(a, b GraphEdge) int {
	return cmp.Or(
		strings.Compare(a.From, b.From), strings.Compare(string(a.Kind), string(b.Kind)),
		strings.Compare(a.Tool, b.Tool), strings.Compare(a.To, b.To),
		cmp.Compare(truth(b.Complete), truth(a.Complete)), cmp.Compare(truth(a.Declared), truth(b.Declared)),
		comparePlaces(a.At, b.At),
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
