package pyagent

import (
	"slices"

	"plimsoll.dev/internal/verify/python"
)

// handedOn finds agents' lists that leave the forms which afterwards reads: kept
// under another name, given to a function, changed by a place in the list, or
// reached by setattr and getattr. What is put into them there is not known, so
// the agent's list is open. attrs are the attributes that hold such lists.
func (m *module) handedOn(attrs []string) {
	h := handing{module: m, attrs: attrs, seen: map[python.Range]bool{}}
	m.file.Inspect(func(n python.Node) bool {
		switch n := n.(type) {
		case *python.Assign:
			h.assign(n.Targets, n.Value)
		case *python.AnnAssign:
			if n.Value != nil {
				h.assign([]python.Expr{n.Target}, n.Value)
			}
		case *python.AugAssign:
			h.part(n.Target)
			h.parameter(n.Target, n.Value)
		case *python.Walrus:
			h.list(n.Value)
		case *python.Return:
			h.list(n.Value)
		case *python.Attribute:
			if n.Name == "__dict__" {
				h.members(n.Value, n)
			}
		case *python.Call:
			h.call(n)
		}
		return true
	})
}

type handing struct {
	*module
	attrs []string
	seen  map[python.Range]bool
}

// ofAgent is the agent whose list an expression is; "" for anything else.
func (h *handing) ofAgent(e python.Expr) (agent string, at *python.Attribute) {
	a, ok := e.(*python.Attribute)
	if !ok || !slices.Contains(h.attrs, a.Name) {
		return "", nil
	}
	for _, name := range h.agentsOf(a.Value) {
		return name, a
	}
	return "", a
}

func (h *handing) open(agent string, at python.Expr) {
	if !h.seen[at.At()] {
		h.seen[at.At()] = true
		h.dynamic("tool_list", changed, agent, label(at), at.At())
	}
}

// list opens the list that is handed on as it is.
func (h *handing) list(e python.Expr) {
	if agent, at := h.ofAgent(e); agent != "" {
		h.open(agent, at)
	}
}

// part opens the list that a place of it is set in: agent.tools[n:] = […].
func (h *handing) part(target python.Expr) {
	if s, ok := target.(*python.Subscript); ok {
		h.list(s.Value)
		h.parameter(s.Value, nil)
	}
}

func (h *handing) assign(targets []python.Expr, value python.Expr) {
	for _, target := range targets {
		h.part(target)
		h.parameter(target, value)
		// A list that goes to another agent is read there.
		if agent, _ := h.ofAgent(target); agent == "" && !h.onlyRead(target) {
			h.list(value)
		}
	}
}

// onlyRead says whether a target is a name of the file that nothing is put into
// and that nobody else is given.
func (h *handing) onlyRead(target python.Expr) bool {
	name, ok := target.(*python.Name)
	if !ok {
		return false
	}
	v := h.file.Lookup(name)
	return v != nil && len(v.Mutated)+len(v.Passed)+len(v.Aliases) == 0 && v.Only() != nil
}

// Methods of a list that add nothing to it, or that are read elsewhere, and
// functions that keep no list they are given.
var (
	listMethods = []string{"append", "insert", "extend", "copy", "count", "index", "clear", "pop", "remove", "sort", "reverse"}
	lookers     = []string{
		"len", "list", "tuple", "set", "frozenset", "sorted", "reversed", "enumerate", "iter", "any", "all", "zip", "map", "filter",
		"print", "str", "repr", "format", "bool", "type", "isinstance", "sum", "min", "max",
	}
	tellers = []string{"debug", "info", "warning", "error", "exception", "critical", "log", "join", "format"}
)

func (h *handing) call(c *python.Call) {
	method, isMethod := c.Func.(*python.Attribute)
	if isMethod {
		if !slices.Contains(listMethods, method.Name) {
			h.list(method.Value)
		}
		if slices.Contains([]string{"append", "insert", "extend"}, method.Name) && len(c.Args) > 0 {
			h.parameter(method.Value, c.Args[len(c.Args)-1].Value)
		}
		if slices.Contains(tellers, method.Name) {
			return
		}
		if method.Name == "append_tools" { // of a request to the model, in ADK's callbacks
			h.open("", method)
		}
	}
	if name, ok := c.Func.(*python.Name); ok && h.file.Lookup(name) == nil {
		switch name.ID {
		case "setattr", "getattr":
			h.byName(c)
		case "vars":
			h.members(c.Positional(0), c)
		}
		if slices.Contains(lookers, name.ID) {
			return
		}
	}
	for _, a := range c.Args {
		if !isAgentCall(h.module, c) {
			h.list(a.Value)
		}
	}
}

// isAgentCall says whether a call makes an agent: its lists are read there.
func isAgentCall(m *module, c *python.Call) bool { return m.prog.agents[c] != "" }

// members opens the lists of an agent whose members are reached as a dict.
func (h *handing) members(of, at python.Expr) {
	for _, agent := range h.agentsOf(of) {
		h.open(agent, at)
	}
}

// byName opens the list that setattr(agent, "tools", …) sets, or that getattr
// gives; a name that is computed may be any.
func (h *handing) byName(c *python.Call) {
	of, attr := c.Positional(0), c.Positional(1)
	if of == nil || attr == nil {
		return
	}
	name, known := h.file.Text(attr)
	if known && !slices.Contains(h.attrs, name) {
		return
	}
	h.members(of, c)
}

// parameter opens every list of the source when the list of something is changed
// that only a run knows: what a function is given, what a loop goes over, what a
// container or a call gives. The agent is not known where that is written.
func (h *handing) parameter(target, value python.Expr) {
	agent, a := h.ofAgent(target)
	if a == nil || agent != "" {
		return
	}
	name, given := root(a.Value)
	if !given {
		if name == nil || name.ID == "self" || name.ID == "cls" {
			return
		}
		v := h.file.Lookup(name)
		if v == nil || !slices.ContainsFunc(v.Bindings, func(b python.Binding) bool { return b.Kind == python.Parameter || b.Kind == python.Bound }) {
			return
		}
	}
	switch value.(type) {
	case *python.Str, *python.FString, *python.Number, *python.Constant:
		return
	}
	h.open("", a)
}

// root is the name that a chain of attributes begins with: context of
// context.agent.tools. Given says that a place in a container or a call is on the
// way.
func root(e python.Expr) (name *python.Name, given bool) {
	for {
		switch at := e.(type) {
		case *python.Name:
			return at, given
		case *python.Attribute:
			e = at.Value
		case *python.Subscript, *python.Call:
			return nil, true
		default:
			return nil, given
		}
	}
}
