package pyagent

import (
	"strings"

	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

// class emits a class that is a tool.
func (r *crewReader) class(m *module, class *python.Class) {
	var run *python.Function
	for _, s := range class.Body {
		f, ok := s.(*python.Function)
		if !ok {
			continue
		}
		if f.Name == "_run" || f.Name == "_arun" && run == nil {
			run = f
		}
	}
	own := def{mod: m, bind: &python.Binding{Class: class}}
	if !own.classIs([]string{"BaseTool"}, crewPackages) {
		return
	}
	t := tool.Tool{
		Name: class.Name, Description: docstring(class.Body), Annotations: map[string]any{}, Method: "parsed", Confidence: tool.Medium,
	}
	if run != nil {
		parsed := m.function(run, crewClass)
		t.Input, t.Params, t.Signature = parsed.Input, parsed.Params, parsed.Signature
	}
	if v := r.attribute(own, "name", 0); v.expr != nil {
		if name, ok := v.mod.file.Text(v.expr); ok && name != "" {
			t.Name = name
		} else {
			v.mod.dynamic("name", unsupported, "", class.Name, v.expr.At())
			t.Confidence = tool.Low
		}
	}
	if v := r.attribute(own, "description", 0); v.expr != nil {
		if text, ok := v.mod.file.Text(v.expr); ok {
			t.Description = paragraph(text)
		}
	}
	if v := r.attribute(own, "args_schema", 0); v.expr != nil {
		v.mod.useSchema(&t, v.expr)
	}
	t.Origin = m.origin(crewClass, class.Range)
	if run == nil {
		if r.bases[class] {
			return // what the program's own tools are made from
		}
		t.Confidence = tool.Low
	}
	m.emit(class, t)
}

// prepare notes which classes others are made from.
func (r *crewReader) prepare(m *module, class *python.Class) {
	for _, base := range class.Args {
		for _, d := range m.defs(base.Value) {
			if d.bind.Class != nil {
				r.bases[d.bind.Class] = true
			}
		}
	}
}

// attribute is the value that a class or one that it is made from gives to a
// name in its body.
func (r *crewReader) attribute(d def, name string, hop int) item {
	if d.bind.Class == nil || hop > maxHops {
		return item{}
	}
	if r.named[d.bind.Class] == nil {
		r.named[d.bind.Class] = given(d)
	}
	if found, ok := r.named[d.bind.Class][name]; ok {
		return found
	}
	r.named[d.bind.Class][name] = item{} // nothing, until a base says otherwise
	for _, base := range d.bind.Class.Args {
		for _, up := range d.mod.defs(base.Value) {
			if found := r.attribute(up, name, hop+1); found.expr != nil {
				r.named[d.bind.Class][name] = found
				return found
			}
		}
	}
	return item{}
}

// given are the values that a class's own body gives to names, the first of each.
func given(d def) map[string]item {
	all := map[string]item{}
	add := func(target, value python.Expr) {
		if n, ok := target.(*python.Name); ok && value != nil {
			if _, known := all[n.ID]; !known {
				all[n.ID] = item{d.mod, value, true}
			}
		}
	}
	for _, s := range d.bind.Class.Body {
		switch s := s.(type) {
		case *python.AnnAssign:
			add(s.Target, s.Value)
		case *python.Assign:
			for _, target := range s.Targets {
				add(target, s.Value)
			}
		}
	}
	return all
}

// function emits a function that a decorator makes a tool.
func (r *crewReader) function(m *module, f *python.Function) {
	for _, d := range f.Decorators {
		if strings.HasSuffix(m.which(decorating(d), []string{"tool"}, crewPackages), "project.tool") {
			continue // a method that gives a tool; what it gives is followed
		}
		options, ok := m.decorator(d, []string{"tool"}, crewPackages)
		if !ok {
			continue
		}
		t := m.function(f, crewFunction)
		for _, c := range options {
			if first := argument(c, "name", 0); first != nil {
				if name, ok := m.file.Text(first); ok && name != "" {
					t.Name = name
				} else {
					m.dynamic("name", unsupported, "", f.Name, c.Range)
					t.Confidence = tool.Low
				}
			}
			if schema := c.Arg("args_schema"); schema != nil {
				m.useSchema(&t, schema)
			}
			if text, ok := m.file.Text(c.Arg("description")); ok {
				t.Description = paragraph(text)
			}
		}
		m.emit(f, t)
		return
	}
}

// decorating is what is named in a decorator, called or not.
func decorating(d python.Expr) python.Expr {
	if c, ok := d.(*python.Call); ok {
		return c.Func
	}
	return d
}

// tool adds one element of a list of tools.
func (r *crewReader) tool(h holder, it item, hop int) {
	if t, ok := it.expr.(*python.Conditional); ok && hop < maxHops {
		it.mod.dynamic("tool_list", conditional, h.name, "", t.Range)
		r.tool(h, item{it.mod, t.Then, false}, hop+1)
		r.tool(h, item{it.mod, t.Else, false}, hop+1)
		return
	}
	if f := r.method(it.mod, it.expr); f != nil && hop < maxHops {
		r.given(h, it, f, hop)
		return
	}
	defs := it.mod.defsOf(it.expr)
	known := len(defs) > 0
	for _, d := range defs {
		known = r.means(h, item{it.mod, it.expr, it.sure && len(defs) == 1}, d) && known
	}
	if !known {
		reason := reasonOf(it.expr)
		if len(defs) > 0 {
			reason = defs[0].unknown(it.expr)
		}
		it.mod.dynamic("tool", reason, h.name, label(it.expr), it.expr.At())
	}
}

// given follows a method that gives a tool to what it returns, or to itself when
// it is one.
func (r *crewReader) given(h holder, it item, f *python.Function, hop int) {
	if name := r.made[f]; name != "" {
		h.edge(tool.DirectTool, name, it)
		return
	}
	values := r.body(f).returns
	if r.following[f] || len(values) > maxHops {
		// It gives itself, or more than anybody means.
		it.mod.dynamic("tool", runtimeCall, h.name, label(it.expr), it.expr.At())
		return
	}
	r.following[f] = true
	defer delete(r.following, f)
	for _, v := range values {
		if r.overfull() != nil {
			return
		}
		r.tool(h, item{it.mod, v, it.sure && len(values) == 1}, hop+1)
	}
	if len(values) == 0 {
		it.mod.dynamic("tool", runtimeCall, h.name, label(it.expr), it.expr.At())
	}
}

// means adds what one definition offers; false when it is not understood.
func (r *crewReader) means(h holder, it item, d def) bool {
	if node := d.node(); node != nil && r.made[node] != "" {
		h.edge(tool.DirectTool, r.made[node], it)
		return true
	}
	c, ok := d.bind.Value.(*python.Call)
	if !ok {
		return false
	}
	// An object of a class that is a tool; it may be given another name.
	for _, class := range d.mod.defs(c.Func) {
		if class.bind.Class == nil || r.made[class.bind.Class] == "" {
			continue
		}
		h.edge(tool.DirectTool, r.instance(d.mod, c, class), it)
		return true
	}
	q := d.mod.external(c.Func)
	if first(q) == "crewai_tools" && strings.HasSuffix(last(q), "Tool") {
		r.prebuilt(h, item{d.mod, c, it.sure}, last(q), "")
		return true
	}
	return false
}

// instance is the name of the tool that a class's call makes.
func (r *crewReader) instance(m *module, c *python.Call, class def) string {
	usual := r.made[class.bind.Class]
	name, ok := m.file.Text(c.Arg("name"))
	if !ok || name == "" || name == usual {
		return usual
	}
	key := class.mod.path + "\x00" + usual + "\x00" + crewClass
	if i, ok := r.first[key]; ok {
		t := r.out.Tools[i]
		t.Name, t.Origin = name, m.origin(crewClass, c.Range)
		if text, ok := m.file.Text(c.Arg("description")); ok {
			t.Description = paragraph(text)
		}
		return m.emit(c, t)
	}
	return usual
}

// prebuilt adds a tool that the framework brings: its name is all that is known.
func (r *crewReader) prebuilt(h holder, it item, name, text string) {
	t := tool.Tool{
		Name: name, Description: text, Origin: it.mod.origin(crewPrebuilt, it.expr.At()),
		Annotations: map[string]any{}, Method: "prebuilt", Confidence: tool.Low,
	}
	before := len(r.out.Tools)
	h.edge(tool.DirectTool, r.once(t), it)
	if len(r.out.Tools) > before {
		r.out.Warn("prebuilt_tool", "a prebuilt tool is known by its name alone; an inventory can say what it takes", t.Origin)
	}
}
