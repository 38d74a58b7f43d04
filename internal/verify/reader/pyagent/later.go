package pyagent

import (
	"fmt"
	"slices"

	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

// once adds a tool that is the same wherever it is named in a file.
func (p *program) once(t tool.Tool) string {
	key := t.Origin.Ref + "\x00" + t.Name + "\x00" + t.Origin.Type
	if _, known := p.first[key]; !known {
		p.first[key] = len(p.out.Tools)
		p.out.Tools = append(p.out.Tools, t)
	}
	return t.Name
}

// maxEdges bounds what one source can multiply: a list that many agents share is
// written out for each of them.
const maxEdges = 50_000

// overfull is the error of a source that shows more than maxEdges edges or
// unread lists.
func (p *program) overfull() *tool.SourceError {
	if max(len(p.out.Edges), len(p.out.Dynamic)) <= maxEdges {
		return nil
	}
	return p.owned(&tool.SourceError{
		Path: p.modules[0].path, Problem: tool.TooLarge, Detail: fmt.Sprintf("shows more than %d connections of agents and tools", maxEdges),
	})
}

// afterwards finds what is put into an agent's list after the agent was made:
// agent.tools = […], agent.tools.append(x). Statements of the module itself
// always run; others may not.
func (m *module) afterwards(attrs []string, give func(h holder, attr string, l *list)) {
	always := map[python.Node]bool{}
	for _, s := range m.file.Body {
		always[s] = true
		if e, ok := s.(*python.Evaluate); ok {
			always[e.Value] = true
		}
	}
	add := func(at python.Node, target, value python.Expr, single bool) {
		a, ok := target.(*python.Attribute)
		if !ok || !slices.Contains(attrs, a.Name) {
			return
		}
		for _, name := range m.agentsOf(a.Value) {
			l := &list{items: []item{{m, value, true}}}
			if !single {
				l = m.readList(value)
			}
			for i := range l.items {
				l.items[i].sure = l.items[i].sure && always[at]
			}
			give(holder{m, name, a.Range}, a.Name, l)
		}
	}
	m.file.Inspect(func(n python.Node) bool {
		switch n := n.(type) {
		case *python.Assign:
			for _, target := range n.Targets {
				add(n, target, n.Value, false)
			}
		case *python.AugAssign:
			add(n, n.Target, n.Value, false)
		case *python.Call:
			a, ok := n.Func.(*python.Attribute)
			if !ok || len(n.Args) == 0 {
				return true
			}
			switch a.Name {
			case "append", "insert":
				add(n, a.Value, n.Args[len(n.Args)-1].Value, true)
			case "extend":
				add(n, a.Value, n.Args[0].Value, false)
			}
		}
		return true
	})
}
