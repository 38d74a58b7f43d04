package mcpserver

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/script"
	"plimsoll.dev/internal/verify/tool"
)

// Reasons of a binding that may register tools where nobody reads
// (docs/spec/verification.md §5.2, D70.X8).
const (
	handedOn       = "handed_on"
	computedMember = "computed_member"
)

// registerMethods are the methods of a server that register tools.
var registerMethods = []string{"registerTool", "registerToolTask", "tool", "setRequestHandler"}

// inner are the members of a server that are servers themselves, or register.
var inner = []string{"server", "experimental", "tasks"}

// Bounds of one source: how often it is gone through for parameters that turn
// out to be servers, and how many bindings are looked at in all.
const (
	maxRounds  = 24
	maxLookups = 20_000_000
	maxServer  = 24     // how deep a value is followed
	maxAsked   = 20_000 // values that are looked at for one mention or call
)

// handing finds out where a server goes: which names and parameters hold one,
// and which calls are given one that are not read.
type handing struct {
	*scripts
	marked  map[*script.Binding][]string // keys under which it holds a server, "" for itself
	fields  map[fieldOf]bool
	known   map[mention]bool
	calls   map[*script.File]map[int]bool // looked at in this round
	parsed  map[*script.File]map[int]*script.Expr
	next    []*script.File // that a server is handed to
	found   []tool.Dynamic
	lookups int
	steps   int // of the mention that is looked at
	changed bool
}

type fieldOf struct {
	class *script.Class
	name  string
}

type mention struct {
	b    *script.Binding
	c    *script.Class
	path string
}

func newHanding(s *scripts) *handing {
	return &handing{scripts: s, marked: map[*script.Binding][]string{}, fields: map[fieldOf]bool{}, parsed: map[*script.File]map[int]*script.Expr{}}
}

// follow goes through files, and those that a server of theirs is handed to,
// until no more is learnt. It answers all of them.
func (h *handing) follow(files []*script.File) []*script.File {
	for round := 0; ; round++ {
		h.known, h.calls, h.found, h.changed = map[mention]bool{}, map[*script.File]map[int]bool{}, nil, false
		for i := 0; i < len(files); i++ {
			h.scan(files[i])
			for _, f := range h.next {
				if !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
			h.next = nil
		}
		if !h.changed {
			break
		}
		if round >= maxRounds && len(files) > 0 {
			h.found = append(h.found, tool.Dynamic{Kind: "binding", Reason: "too_deep", Origin: h.origin(files[0].Path, 1, 1)})
			break
		}
	}
	return files
}

// tell records what was found in the last round.
func (h *handing) tell() {
	for _, d := range h.found {
		h.dynamic(d.Kind, d.Reason, "", d.Origin)
	}
}

func (h *handing) open(reason string, n script.Node) {
	at := h.place(n)
	same := func(d tool.Dynamic) bool { return d.Reason == reason && d.Origin.Location == at.Location }
	if tail := h.found[max(0, len(h.found)-8):]; !slices.ContainsFunc(tail, same) {
		h.found = append(h.found, tool.Dynamic{Kind: "binding", Reason: reason, Origin: at})
	}
}

func (h *handing) scan(f *script.File) {
	for i, name := range f.Mentions() {
		if h.lookups += 1 + f.Same(name); h.lookups > maxLookups {
			h.found = append(h.found, tool.Dynamic{Kind: "binding", Reason: "too_deep", Origin: h.origin(f.Path, 1, 1)})
			return
		}
		h.steps = 0
		h.mention(f, i, name)
		if h.steps > maxAsked { // what was not looked at may be a server
			h.open("too_deep", script.Node{File: f, Expr: &script.Expr{Pos: f.Pos(i)}})
		}
	}
}

// mention looks at one name and at what is done with it.
func (h *handing) mention(f *script.File, i int, name string) {
	b := f.Lookup(name, i)
	if name != "this" && (b == nil || b.Declares(i)) {
		return
	}
	exprs, ends := f.Along(i, 4)
	at, path, holds := -1, "", false
	for k, e := range exprs {
		if k > 0 {
			path += "." + e.Text
		}
		n := script.Node{File: f, Expr: e}
		if at == k-1 && at >= 0 && slices.Contains(inner, e.Text) || h.remembered(b, f, i, path, n) {
			at = k
		} else if at >= 0 || k == 2 {
			break
		}
	}
	if at < 0 {
		member, called, _ := f.After(ends[0])
		if name != "this" && called && member == "registerTool" && !h.refused(f, b, exprs[0]) {
			h.mark(b, "") // nothing else has this method
		}
		holds = b != nil && h.vessel(b, script.Node{File: f, Expr: exprs[0]})
	} else {
		member, called, computed := f.After(ends[at])
		n := script.Node{File: f, Expr: exprs[at]}
		switch {
		case computed != nil:
			text, ok := h.prog.Text(n.At(computed))
			if !ok || slices.Contains(registerMethods, text) || slices.Contains(inner, text) {
				h.open(computedMember, n)
			}
		case member != "":
			h.taken(f, i, ends[at], member, called, n)
		default:
			holds = true
			for _, key := range f.Taken(i) {
				if key == "" || key == "..." || slices.Contains(registerMethods, key) {
					h.open(computedMember, n)
				}
			}
		}
	}
	if holds {
		h.given(f, i)
	}
}

// taken looks at a method of a server that is taken and not called.
func (h *handing) taken(f *script.File, i, end int, member string, called bool, n script.Node) {
	if called || !slices.Contains(registerMethods, member) || f.Before(i, "typeof") {
		return
	}
	exprs, ends := f.Along(i, 8)
	for k, e := range exprs {
		if ends[k] > end && e.Text == member && e.Kind == script.Member {
			switch after, _, _ := f.After(ends[k]); after {
			case "bind", "call", "apply":
				if member != "registerTool" && member != "registerToolTask" { // else it is told already
					h.open("indirect_call", n)
				}
			default:
				h.open(computedMember, n)
			}
			return
		}
	}
}

// refused says whether a name is known to stand for no server.
func (h *handing) refused(f *script.File, b *script.Binding, e *script.Expr) bool {
	n := script.Node{File: f, Expr: e}
	if b.Type != "" {
		return h.typed(n, b.Type) == no
	}
	return h.value(n) == no
}

// remembered is isServer, asked once for a binding and the members behind it.
func (h *handing) remembered(b *script.Binding, f *script.File, i int, path string, n script.Node) bool {
	key := mention{b: b, path: path}
	if b == nil {
		key.c = f.ClassAt(i)
	}
	known, ok := h.known[key]
	if !ok {
		h.prog.Reset()
		known = h.isServer(n, 0)
		h.known[key] = known
	}
	return known
}

// vessel says whether a name stands for what holds or makes a server: an object
// with one in it, a function that gives one back, a class.
func (h *handing) vessel(b *script.Binding, n script.Node) bool {
	key := mention{b: b, path: anywhere}
	known, ok := h.known[key]
	if !ok {
		h.prog.Reset()
		switch to := h.prog.Reduce(n); {
		case to.Kind() == script.Object, to.Kind() == script.Array:
			known = len(h.carried(to, 0)) > 0
		case to.Kind() == script.Function:
			known = slices.ContainsFunc(h.results(to), func(r script.Node) bool { return h.isServer(r, 0) })
		default:
			known = to.Class != nil && to.Class.Extends != "" || strings.HasPrefix(to.Import.From, sdk)
		}
		h.known[key] = known
	}
	return known
}

// isServer says whether an expression is known to be a server.
func (h *handing) isServer(n script.Node, depth int) bool {
	if h.steps++; n.Expr == nil || depth > maxServer || h.steps > maxAsked {
		return false
	}
	switch e := n.Expr; e.Kind {
	case script.Name:
		return h.nameIs(n, depth)
	case script.This:
		c := n.File.ClassAt(e.At)
		return c != nil && c.Extends != "" && h.typed(n, c.Extends) == yes
	case script.Member:
		return h.memberIs(n, depth)
	case script.Either, script.Condition:
		return slices.ContainsFunc(e.Args, func(a *script.Expr) bool { return h.isServer(n.At(a), depth+1) })
	case script.Call:
		if h.value(n) == yes {
			return true
		}
		callee := h.prog.Reduce(n.At(e.X))
		if e.New {
			return callee.Class != nil && callee.Class.Extends != "" && h.typed(script.Node{File: callee.File, Expr: &script.Expr{At: callee.Class.At, X: &script.Expr{At: callee.Class.At}}}, callee.Class.Extends) == yes
		}
		return slices.ContainsFunc(h.results(callee), func(r script.Node) bool { return h.isServer(r, depth+1) })
	default:
	}
	return false
}

func (h *handing) nameIs(n script.Node, depth int) bool {
	b := n.File.Lookup(n.Expr.Text, n.Expr.At)
	switch {
	case b == nil:
		return false
	case slices.Contains(h.marked[b], ""):
		return true
	case b.Type != "":
		return h.typed(script.Node{File: n.File, Expr: &script.Expr{At: n.Expr.At}}, b.Type) == yes
	case b.How == script.ByImport:
		r := h.prog.Reduce(n)
		return r.Kind() == script.Call && h.isServer(r, depth+1)
	case b.How != script.ByConst && b.How != script.ByLet:
		return false
	}
	for _, init := range n.File.Values(b) {
		from := n.At(init)
		for _, key := range b.Path {
			from = from.At(&script.Expr{Kind: script.Member, X: from.Expr, Text: key, At: init.At, Pos: init.Pos})
		}
		if h.isServer(from, depth+1) {
			return true
		}
	}
	return false
}

func (h *handing) memberIs(n script.Node, depth int) bool {
	e := n.Expr
	if e.X.Kind == script.This {
		if h.fields[fieldOf{n.File.ClassAt(e.At), e.Text}] {
			return true
		}
		if field, ok := n.File.Field(e.Text, e.At); ok {
			return field.Type != "" && h.typed(script.Node{File: n.File, Expr: &script.Expr{At: e.At}}, field.Type) == yes ||
				field.Init != nil && h.isServer(n.At(field.Init), depth+1)
		}
	}
	if e.X.Kind == script.Name {
		if b := n.File.Lookup(e.X.Text, e.X.At); b != nil && slices.Contains(h.marked[b], e.Text) {
			return true
		}
	}
	if slices.Contains(inner, e.Text) && h.isServer(n.At(e.X), depth+1) {
		return true
	}
	from := h.prog.Reduce(n.At(e.X))
	if from.Kind() == script.Call && !from.Expr.New {
		for _, r := range h.results(h.prog.Reduce(from.At(from.Expr.X))) {
			if v, ok := h.prog.Get(r, e.Text); ok && h.isServer(v, depth+1) {
				return true
			}
		}
		return false
	}
	if from.Kind() == script.Object {
		v, ok := h.prog.Get(from, e.Text)
		return ok && h.isServer(v, depth+1)
	}
	r := h.prog.Reduce(n)
	return r.Kind() == script.Call && r.Expr != e && h.isServer(r, depth+1)
}

// maxResults is how many results of a function are looked at.
const maxResults = 50

// results are what a function gives back.
func (h *handing) results(fn script.Node) []script.Node {
	if fn.Kind() != script.Function || fn.Expr.Fn == nil {
		return nil
	}
	list := fn.File.Returns(fn.Expr.Fn)
	var out []script.Node
	for _, e := range list[:min(len(list), maxResults)] {
		out = append(out, fn.At(e))
	}
	return out
}

// mark notes that a name holds a server, itself or under a key.
func (h *handing) mark(b *script.Binding, key string) {
	if !slices.Contains(h.marked[b], key) {
		h.marked[b] = append(h.marked[b], key)
		h.changed = true
	}
}
