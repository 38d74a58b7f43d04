package mcpserver

import (
	"slices"

	"plimsoll.dev/internal/verify/script"
)

// anywhere is the key of a server that an argument holds in some other place.
const anywhere = "*"

// given looks at the call that the value at token i is an argument of: what is
// read is followed, anything else may register tools.
func (h *handing) given(f *script.File, i int) {
	open := f.Given(i)
	if open < 0 || h.calls[f][open] {
		return
	}
	if h.calls[f] == nil {
		h.calls[f] = map[int]bool{}
	}
	h.calls[f][open] = true
	h.prog.Reset()
	if h.parsed[f] == nil {
		h.parsed[f] = map[int]*script.Expr{}
	}
	if h.parsed[f][open] == nil {
		h.parsed[f][open] = f.CallAt(open)
	}
	call := script.Node{File: f, Expr: h.parsed[f][open]}
	var targets []script.Node
	asked, read := false, false
	for k, arg := range call.Expr.Args {
		keys := h.carried(call.At(arg), 0)
		if len(keys) == 0 || h.harmless(call) {
			continue
		}
		if !asked {
			targets, read = h.targets(call)
			asked = true
		}
		ok := read && arg.Kind != script.Spread
		for _, fn := range targets {
			ok = h.into(fn, k, keys) && ok
		}
		if !ok {
			h.open(handedOn, call)
		}
	}
}

// carried are the keys under which an argument holds a server: "" for itself.
func (h *handing) carried(n script.Node, depth int) []string {
	if h.steps++; n.Expr == nil || depth > 8 || h.steps > maxAsked {
		return nil
	}
	if h.isServer(n, 0) {
		return []string{""}
	}
	e := n.Expr
	var out []string
	inside := func(list []*script.Expr) {
		if slices.ContainsFunc(list, func(a *script.Expr) bool { return len(h.carried(n.At(a), depth+1)) > 0 }) {
			out = append(out, anywhere)
		}
	}
	switch e.Kind {
	case script.Spread:
		return h.carried(n.At(e.X), depth+1)
	case script.Array, script.Either, script.Condition:
		inside(e.Args)
	case script.Object:
		for _, p := range e.Props {
			keys := h.carried(n.At(p.Value), depth+1)
			switch {
			case len(keys) == 0:
			case p.Key != "" && p.KeyExpr == nil && slices.Equal(keys, []string{""}):
				out = append(out, p.Key)
			default:
				out = append(out, anywhere)
			}
		}
	case script.Name, script.Member:
		if to := h.prog.Reduce(n); to.Kind() == script.Object || to.Kind() == script.Array {
			return h.carried(to, depth+1)
		}
	default:
	}
	return out
}

// harmless says whether a call is known to register no tool: it prints, copies
// or keeps what it is given.
func (h *handing) harmless(call script.Node) bool {
	x := call.Expr.X
	if x.Kind == script.Name && !call.Expr.New {
		return slices.Contains([]string{"String", "Boolean"}, x.Text) && call.File.Lookup(x.Text, x.At) == nil
	}
	if x.Kind != script.Member {
		return false
	}
	if x.X.Kind == script.Name && call.File.Lookup(x.X.Text, x.X.At) == nil {
		switch x.X.Text {
		case "console":
			return true
		case "JSON":
			return x.Text == "stringify"
		case "Object":
			return slices.Contains([]string{"freeze", "seal", "keys"}, x.Text)
		}
	}
	if slices.Contains([]string{"bind", "call", "apply"}, x.Text) && x.X.Kind == script.Member && h.isServer(call.At(x.X.X), 0) {
		return true // told as indirect where it registers
	}
	return slices.Contains([]string{"push", "set", "add", "delete", "has", "includes", "indexOf"}, x.Text) && h.container(call.At(x.X))
}

// container says whether a value is a list, a map or a set of the language.
func (h *handing) container(n script.Node) bool {
	if n.Kind() == script.Name {
		if b := n.File.Lookup(n.Expr.Text, n.Expr.At); b != nil && b.Init != nil && len(b.Path) == 0 {
			n = n.At(b.Init)
		}
	} else if n.Kind() == script.Member && n.Expr.X.Kind == script.This {
		if field, ok := n.File.Field(n.Expr.Text, n.Expr.At); ok && field.Init != nil {
			n = n.At(field.Init)
		}
	}
	if n.Kind() == script.Array {
		return true
	}
	return n.Kind() == script.Call && n.Expr.New && n.Expr.X.Kind == script.Name &&
		slices.Contains([]string{"Map", "Set", "WeakMap", "WeakSet"}, n.Expr.X.Text) && n.File.Lookup(n.Expr.X.Text, n.Expr.X.At) == nil
}

// targets are the functions of the source that a call may run, and whether
// these are all of them.
func (h *handing) targets(call script.Node) ([]script.Node, bool) {
	x := call.At(call.Expr.X)
	switch {
	case call.Expr.New:
		return h.constructor(h.prog.Reduce(x))
	case x.Kind() == script.Name && x.Expr.Text == "super":
		c := call.File.ClassAt(x.Expr.At)
		if c == nil || c.Extends == "" {
			return nil, false
		}
		return h.constructor(h.prog.Reduce(x.At(&script.Expr{Kind: script.Name, Text: c.Extends, At: c.At})))
	case x.Kind() == script.Name:
		if b := call.File.Lookup(x.Expr.Text, x.Expr.At); b != nil && b.How == script.ByEach {
			return h.looped(x, b)
		}
	}
	if fn := h.prog.Reduce(x); fn.Kind() == script.Function && fn.Expr.Fn != nil {
		return []script.Node{fn}, true
	}
	if x.Kind() == script.Member {
		return h.method(x)
	}
	return nil, false
}

// looped are the functions of the literal list that a loop goes over.
func (h *handing) looped(x script.Node, b *script.Binding) ([]script.Node, bool) {
	items, complete := h.prog.Items(x.At(b.Init))
	var out []script.Node
	for _, item := range items {
		fn := h.prog.Reduce(x.With(b, item))
		if fn.Kind() != script.Function || fn.Expr.Fn == nil {
			return out, false
		}
		out = append(out, fn)
	}
	return out, complete && len(out) > 0
}

func (h *handing) constructor(class script.Node) ([]script.Node, bool) {
	return h.inherited(class, "constructor")
}

// inherited is the method of a class, or of what it extends.
func (h *handing) inherited(class script.Node, name string) ([]script.Node, bool) {
	for range 8 {
		c := class.Class
		if c == nil {
			return nil, false
		}
		if fn := c.Method(name); fn != nil {
			return []script.Node{{File: class.File, Expr: &script.Expr{Kind: script.Function, Fn: fn, At: fn.Body}}}, true
		}
		if c.Extends == "" {
			return nil, name == "constructor" // nobody takes the arguments
		}
		class = h.prog.Reduce(script.Node{File: class.File, Expr: &script.Expr{Kind: script.Name, Text: c.Extends, At: c.At}})
	}
	return nil, false
}

// method is the method of a class of the source that a member stands for.
func (h *handing) method(x script.Node) ([]script.Node, bool) {
	on, name := x.At(x.Expr.X), x.Expr.Text
	if on.Kind() == script.This {
		if c := x.File.ClassAt(on.Expr.At); c != nil {
			return h.inherited(script.Node{File: x.File, Class: c}, name)
		}
		return nil, false
	}
	declared := ""
	if on.Kind() == script.Name {
		if b := x.File.Lookup(on.Expr.Text, on.Expr.At); b != nil {
			declared = b.Type
		}
	} else if on.Kind() == script.Member && on.Expr.X.Kind == script.This {
		if field, ok := x.File.Field(on.Expr.Text, on.Expr.At); ok {
			declared = field.Type
			if field.Init != nil && declared == "" {
				on = on.At(field.Init)
			}
		}
	}
	if declared != "" {
		return h.inherited(h.prog.Reduce(x.At(&script.Expr{Kind: script.Name, Text: declared, At: x.Expr.At})), name)
	}
	to := h.prog.Reduce(on)
	if to.Class != nil { // a static method
		return h.inherited(to, name)
	}
	if to.Kind() == script.Call && to.Expr.New {
		return h.inherited(h.prog.Reduce(to.At(to.Expr.X)), name)
	}
	return nil, false
}

// into notes that parameter k of a function holds a server. It answers false
// when the function may do with it what is not followed.
func (h *handing) into(fn script.Node, k int, keys []string) bool {
	h.next = append(h.next, fn.File)
	params := fn.Expr.Fn.Params
	if k >= len(params) || fn.File.Rest(params[k]) {
		return false
	}
	p := params[k]
	if slices.Contains(keys, anywhere) {
		return false
	}
	for _, b := range fn.File.Of(p) {
		for _, key := range keys {
			switch {
			case p.Name != "":
				h.mark(b, key)
			case key == "" && len(b.Path) == 1 && (slices.Contains(registerMethods, b.Path[0]) || b.Path[0] == "..."):
				return false
			case len(b.Path) == 1 && (b.Path[0] == key || key == "" && slices.Contains(inner, b.Path[0])):
				h.mark(b, "")
			}
		}
		if c := fn.File.ClassAt(p.At); c != nil && p.Field && p.Name != "" && slices.Contains(keys, "") {
			if at := (fieldOf{c, p.Name}); !h.fields[at] {
				h.fields[at], h.changed = true, true
			}
		}
	}
	return true
}
