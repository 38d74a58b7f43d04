package pyagent

import "plimsoll.dev/internal/verify/python"

// attribute is what one attribute of the objects of a class is set to: values
// that methods and the class body assign, and what is put into them later.
type attribute struct {
	values  []python.Expr
	changes []*python.Call
}

// attributes are those of one class by name, found once.
func (m *module) attributes(c *python.Class) map[string]*attribute {
	if have, ok := m.objects[c]; ok {
		return have
	}
	all := map[string]*attribute{}
	at := func(name string) *attribute {
		if all[name] == nil {
			all[name] = &attribute{}
		}
		return all[name]
	}
	assign := func(target, value python.Expr) {
		switch t := target.(type) {
		case *python.Name:
			if value != nil {
				at(t.ID).values = append(at(t.ID).values, value)
			}
		case *python.Attribute:
			if m.selfOf(t.Value) == c && value != nil {
				at(t.Name).values = append(at(t.Name).values, value)
			}
		}
	}
	for _, s := range c.Body {
		switch s := s.(type) {
		case *python.Assign:
			assign(s.Targets[0], s.Value)
		case *python.AnnAssign:
			assign(s.Target, s.Value)
		}
	}
	python.Inspect(c, func(n python.Node) bool {
		switch n := n.(type) {
		case *python.Assign:
			for _, t := range n.Targets {
				if _, ok := t.(*python.Attribute); ok {
					assign(t, n.Value)
				}
			}
		case *python.AnnAssign:
			if _, ok := n.Target.(*python.Attribute); ok {
				assign(n.Target, n.Value)
			}
		case *python.AugAssign:
			if _, ok := n.Target.(*python.Attribute); ok {
				assign(n.Target, n.Value)
			}
		case *python.Call:
			f, ok := n.Func.(*python.Attribute)
			if !ok {
				break
			}
			owner, ok := f.Value.(*python.Attribute)
			if ok && len(n.Args) > 0 && m.selfOf(owner.Value) == c && (f.Name == "append" || f.Name == "extend" || f.Name == "insert") {
				at(owner.Name).changes = append(at(owner.Name).changes, n)
			}
		}
		return true
	})
	m.objects[c] = all
	return all
}

// selfOf is the class whose object a name is: the first parameter of one of its
// methods.
func (m *module) selfOf(e python.Expr) *python.Class {
	n, ok := e.(*python.Name)
	if !ok {
		return nil
	}
	v := m.file.Lookup(n)
	if v == nil || v.Only() == nil || v.Only().Kind != python.Parameter || v.Scope.Parent == nil || v.Scope.Parent.Kind != python.ClassScope {
		return nil
	}
	f, ok := v.Scope.Node.(*python.Function)
	if !ok || len(f.Params.List) == 0 || f.Params.List[0].Name != n.ID {
		return nil
	}
	c, _ := v.Scope.Parent.Node.(*python.Class)
	return c
}

// selfAttribute is what self.name is set to in the class around it, nil when nothing is.
func (m *module) selfAttribute(e *python.Attribute) *attribute {
	c := m.selfOf(e.Value)
	if c == nil {
		return nil
	}
	return m.attributes(c)[e.Name]
}

// selfDefs are the definitions that self.name may mean: values and methods.
func (m *module) selfDefs(e *python.Attribute) []def {
	c := m.selfOf(e.Value)
	if c == nil {
		return nil
	}
	var all []def
	if a := m.attributes(c)[e.Name]; a != nil {
		for i, value := range a.values {
			if i > maxHops {
				break // so many places say nothing certain
			}
			all = append(all, def{mod: m, bind: &python.Binding{Kind: python.Assigned, Value: value}})
		}
	}
	if f := method(c, e.Name); f != nil {
		all = append(all, def{mod: m, bind: &python.Binding{Kind: python.Defined, Function: f}})
	}
	return all
}
