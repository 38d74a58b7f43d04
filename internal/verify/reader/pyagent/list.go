package pyagent

import (
	"slices"

	"plimsoll.dev/internal/verify/python"
)

// item is one element of a list of tools or agents, in the module where it is
// written. Sure is false when the list may not hold it.
type item struct {
	mod  *module
	expr python.Expr
	sure bool
}

// gap is why a list is not complete, and where.
type gap struct {
	mod    *module
	reason string
	name   string
	at     python.Range
}

// list is what a list expression holds, as far as it is written down.
type list struct {
	items []item
	gaps  []gap
	steps int
}

// Bounds of one list: lists may be made of lists, several times each.
const (
	maxItems = 2000
	maxSteps = 5000
	maxGaps  = 50
)

func (l *list) gap(m *module, reason string, e python.Node) {
	if len(l.gaps) >= maxGaps {
		return // it is said often enough that the list is not complete
	}
	g := gap{mod: m, reason: reason, at: e.At()}
	if e, ok := e.(python.Expr); ok {
		g.name = label(e)
		m.offers(e, 0)
	}
	l.gaps = append(l.gaps, g)
}

// complete says whether the list is exactly its items.
func (l *list) complete() bool { return len(l.gaps) == 0 }

// label is the name that an expression shows: x, x.y, or what x() calls.
func label(e python.Expr) string {
	switch e := e.(type) {
	case *python.Name:
		return e.ID
	case *python.Attribute:
		if head := label(e.Value); head != "" && len(head) < 200 {
			return head + "." + e.Name
		}
		return e.Name
	case *python.Call:
		return label(e.Func)
	case *python.Starred:
		return label(e.Value)
	case *python.Await:
		return label(e.Value)
	}
	return ""
}

// readList reads a list of tools or agents. A nil expression is an empty list.
func (m *module) readList(e python.Expr) *list {
	l := &list{}
	if e != nil {
		l.read(m, e, true, 0)
	}
	for _, it := range l.items {
		it.mod.offers(it.expr, 0)
	}
	return l
}

func (l *list) read(m *module, e python.Expr, sure bool, hop int) {
	if l.steps++; hop > maxHops || len(l.items) > maxItems || l.steps > maxSteps || !m.prog.spend() {
		if l.steps <= maxSteps+1 {
			l.gap(m, unsupported, e)
		}
		return
	}
	switch e := e.(type) {
	case *python.Sequence:
		for _, el := range e.Items {
			if s, ok := el.(*python.Starred); ok {
				l.read(m, s.Value, sure, hop+1)
				continue
			}
			l.items = append(l.items, item{m, el, sure})
			m.prog.spend()
		}
	case *python.Constant:
		if e.Text != "None" {
			l.gap(m, unsupported, e)
		}
	case *python.Binary:
		if e.Op != "+" {
			l.gap(m, unsupported, e)
			return
		}
		l.read(m, e.Left, sure, hop+1)
		l.read(m, e.Right, sure, hop+1)
	case *python.Conditional:
		l.gap(m, conditional, e)
		l.read(m, e.Then, false, hop+1)
		l.read(m, e.Else, false, hop+1)
	case *python.Logical:
		l.gap(m, conditional, e)
		for _, v := range e.Values {
			l.read(m, v, false, hop+1)
		}
	case *python.Walrus:
		l.read(m, e.Value, sure, hop+1)
	case *python.Await:
		l.read(m, e.Value, sure, hop+1)
	case *python.Name:
		l.name(m, e, sure, hop)
	case *python.Attribute:
		l.attribute(m, e, sure, hop)
	case *python.Call:
		if n, ok := e.Func.(*python.Name); ok && len(e.Args) == 1 && e.Positional(0) != nil && m.file.Lookup(n) == nil &&
			(n.ID == "list" || n.ID == "tuple" || n.ID == "sorted" || n.ID == "set") {
			l.read(m, e.Args[0].Value, sure, hop+1)
			return
		}
		l.gap(m, runtimeCall, e)
	case *python.Comprehension:
		l.gap(m, comprehension, e)
	default:
		l.gap(m, unsupported, e)
	}
}

// name reads the list that a name stands for, with everything that is done to
// it on the way.
func (l *list) name(m *module, e *python.Name, sure bool, hop int) {
	if v := m.file.Lookup(e); v != nil {
		l.variable(m, v, e, sure, hop)
		return
	}
	found := m.fromStars(e.ID, 0)
	l.fromDefs(m, found, e, sure, hop)
}

func (l *list) attribute(m *module, e *python.Attribute, sure bool, hop int) {
	if own := m.selfAttribute(e); own != nil {
		one := len(own.values) == 1
		if !one {
			l.gap(m, conditional, e)
		}
		for _, value := range own.values {
			l.read(m, value, sure && one, hop+1)
		}
		if len(own.changes) > 0 {
			l.gap(m, changed, e)
		}
		for _, c := range own.changes {
			l.put(m, c, false, hop)
		}
		return
	}
	l.fromDefs(m, m.defs(e), e, sure, hop)
}

func (l *list) fromDefs(m *module, found []def, e python.Expr, sure bool, hop int) {
	if len(found) == 0 {
		l.gap(m, unresolvedName, e)
		return
	}
	seen := map[*python.Variable]bool{}
	for _, d := range found {
		if !seen[d.of] {
			seen[d.of] = true
			l.variable(d.mod, d.of, e, sure, hop+1)
		}
	}
}

// variable reads every value a variable may have, and what is appended to it.
func (l *list) variable(m *module, v *python.Variable, e python.Expr, sure bool, hop int) {
	if hop > maxHops {
		l.gap(m, unresolvedName, e)
		return
	}
	if l.steps++; l.steps > maxSteps {
		l.gap(m, unsupported, e)
		return
	}
	one := v.Only() != nil && !v.Only().Conditional
	if !one {
		l.gap(m, conditional, e)
	}
	for i := range v.Bindings {
		k := &v.Bindings[i]
		switch k.Kind {
		case python.Assigned:
			l.read(m, k.Value, sure && one, hop+1)
		case python.Imported:
			if found := m.byQualified(k.Import, hop+1); len(found) > 0 {
				l.fromDefs(m, found, e, sure && one, hop+1)
			} else {
				l.gap(m, unresolvedName, e)
			}
		case python.Changed:
			if k.Value != nil {
				l.read(m, k.Value, false, hop+1)
			}
		case python.Parameter, python.Bound, python.Defined, python.Declared:
			l.gap(m, unresolvedName, e)
		}
	}
	l.changes(m, v, e, sure && one, hop)
}

// changes adds what is put into the list after it was made. What a statement of
// the module itself adds is always there; any other change leaves the list open.
func (l *list) changes(m *module, v *python.Variable, e python.Expr, sure bool, hop int) {
	if l.steps++; hop > maxHops || l.steps > maxSteps {
		return
	}
	if slices.ContainsFunc(v.Mutated, func(n python.Node) bool { return !m.grows(v, n) }) {
		l.gap(m, changed, e)
	}
	for _, n := range v.Mutated {
		if c, ok := n.(*python.Call); ok {
			l.put(m, c, sure && m.grows(v, n), hop)
		}
	}
	for _, alias := range v.Aliases {
		if n, ok := alias.(*python.Name); ok {
			if other := m.file.Lookup(n); other != nil && other != v && len(other.Mutated) > 0 {
				l.gap(m, changed, e)
				l.changes(m, other, e, false, hop+1)
			}
		}
	}
	for _, c := range v.Passed {
		if !m.prog.spend() {
			return
		}
		if m.changesArgument(c, v) {
			l.gap(m, changed, e)
		}
	}
}

// grows says whether a change of a variable's list is one that every run of the
// module makes: x.append(y), x.insert(0, y) or x.extend(…) as a statement of it.
func (m *module) grows(v *python.Variable, n python.Node) bool {
	c, ok := n.(*python.Call)
	if !ok {
		return false
	}
	a, ok := c.Func.(*python.Attribute)
	if !ok || a.Name != "append" && a.Name != "insert" && a.Name != "extend" || slices.ContainsFunc(c.Args, func(arg python.Arg) bool { return arg.Stars > 0 }) {
		return false
	}
	if x, ok := a.Value.(*python.Name); !ok || m.file.Lookup(x) != v {
		return false
	}
	if m.straight == nil {
		m.straight = map[python.Node]bool{}
		for _, s := range m.file.Body {
			if e, ok := s.(*python.Evaluate); ok {
				m.straight[e.Value] = true
			}
		}
	}
	return m.straight[c]
}

// put adds what list.append(…) and the like put into a list; sure says whether
// that always happens.
func (l *list) put(m *module, c *python.Call, sure bool, hop int) {
	a, ok := c.Func.(*python.Attribute)
	if !ok || len(c.Args) == 0 {
		return
	}
	switch value := c.Args[len(c.Args)-1].Value; a.Name {
	case "append", "insert", "add":
		l.items = append(l.items, item{m, value, sure})
	case "extend", "update":
		l.read(m, value, sure, hop+1)
	}
}

// changesArgument says whether a function of the program that is called with
// the list changes it.
func (m *module) changesArgument(c *python.Call, v *python.Variable) bool {
	for _, d := range m.defs(c.Func) {
		if d.bind.Function == nil {
			continue
		}
		params := d.bind.Function.Params.List
		place := 0
		for _, a := range c.Args {
			n, ok := a.Value.(*python.Name)
			mine := ok && m.file.Lookup(n) == v
			for i, param := range params {
				if !mine || a.Stars > 0 || a.Name == "" && i != place || a.Name != "" && a.Name != param.Name {
					continue
				}
				if inner := d.mod.file.ScopeOf(d.bind.Function).Lookup(param.Name); inner != nil && (len(inner.Mutated) > 0 || len(inner.Bindings) > 1) {
					return true
				}
			}
			if a.Name == "" {
				place++
			}
		}
	}
	return false
}
