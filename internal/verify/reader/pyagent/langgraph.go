package pyagent

import (
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

// graphs are the state graphs of one module. A graph is one agent: its model is
// offered tools in one place (bind_tools) and runs them in another (ToolNode).
type graphs struct {
	builders map[*python.Call]string // StateGraph(…) by the name of its agent
	inside   map[*python.Call]string // calls given to add_node
	nodes    []graphNode
}

// graphNode is what a graph was given as a node.
type graphNode struct {
	graph string
	at    *python.Call
	value python.Expr
}

// findGraphs collects the graphs of a module. The agent has the name that the
// compiled graph is assigned to, else that of the builder.
func (r *chainReader) findGraphs(m *module, targets map[*python.Call]string) *graphs {
	g := &graphs{builders: map[*python.Call]string{}, inside: map[*python.Call]string{}}
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if ok && m.makes(c, []string{"StateGraph", "MessageGraph"}, chainPackages) {
			g.builders[c] = m.agentName(c, targets, nil, "graph")
		}
		return true
	})
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if !ok {
			return true
		}
		a, ok := c.Func.(*python.Attribute)
		if !ok {
			return true
		}
		switch a.Name {
		case "compile":
			if b := g.builder(m, a.Value); b != nil {
				if name := targets[c]; name != "" {
					g.builders[b] = name
				}
				r.program.agents[c] = g.builders[b]
			}
		}
		return true
	})
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if !ok {
			return true
		}
		a, ok := c.Func.(*python.Attribute)
		if !ok || a.Name != "add_node" || len(c.Args) == 0 {
			return true
		}
		b := g.builder(m, a.Value)
		if b == nil {
			return true
		}
		value := argument(c, "action", 1)
		if value == nil {
			value = c.Positional(0)
		}
		g.nodes = append(g.nodes, graphNode{g.builders[b], c, value})
		if made, ok := m.file.Value(value).(*python.Call); ok {
			g.inside[made] = g.builders[b]
		}
		return true
	})
	return g
}

// builder is the StateGraph(…) that an expression stands for, through chains of
// its own methods.
func (g *graphs) builder(m *module, e python.Expr) *python.Call {
	for range maxHops {
		switch at := e.(type) {
		case *python.Call:
			if _, ok := g.builders[at]; ok {
				return at
			}
			a, ok := at.Func.(*python.Attribute)
			if !ok {
				return nil
			}
			e = a.Value
		case *python.Name:
			for _, d := range m.defs(at) {
				if c, ok := d.bind.Value.(*python.Call); ok {
					if _, ok := g.builders[c]; ok {
						return c
					}
				}
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// owner is the graph that a ToolNode or bind_tools belongs to: the one it is a
// node of, or the only graph of the module, or of the whole program.
func (r *chainReader) owner(g *graphs, c *python.Call) string {
	if name := g.inside[c]; name != "" {
		return name
	}
	if name := g.only(); name != "" || len(g.builders) > 0 {
		return name
	}
	return r.only
}

// onlyGraph finds the only graph of the program, if there is exactly one.
func (r *chainReader) onlyGraph() {
	for _, m := range r.modules {
		switch g := r.graphs[m]; {
		case len(g.builders) == 0:
		case len(g.builders) > 1 || r.only != "":
			r.only = ""
			return
		default:
			r.only = g.only()
		}
	}
}

// only is the name of the only graph, "" when there are several or none.
func (g *graphs) only() string {
	if len(g.builders) != 1 {
		return ""
	}
	for _, name := range g.builders {
		return name
	}
	return ""
}

// members adds the graphs as agents, and the agents that are nodes of them.
func (r *chainReader) members(m *module, g *graphs) {
	m.file.Inspect(func(n python.Node) bool {
		if c, ok := n.(*python.Call); ok && g.builders[c] != "" {
			r.out.Agents = append(r.out.Agents, tool.Agent{Name: g.builders[c], Origin: m.origin("langchain", c.Range)})
		}
		return true
	})
	for _, node := range g.nodes {
		h := holder{m, node.graph, node.at.Range}
		if node.value != nil {
			r.toAgents(h, node.value)
		}
	}
}
