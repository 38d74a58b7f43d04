package script

import (
	"slices"
	"strconv"
)

// Node is an expression in its file, with the values of loop variables that it
// is looked at with. Reason says why a node of kind Unknown is unknown; Import
// what of another module it is.
type Node struct {
	File   *File
	Expr   *Expr
	Reason string
	Import Import
	Class  *Class // for a node that stands for a class
	env    *env
}

// env is a list of loop variables and what they stand for.
type env struct {
	b  *Binding
	n  Node
	up *env
}

// With is n seen with the loop variable b standing for value.
func (n Node) With(b *Binding, value Node) Node {
	n.env = &env{b: b, n: value, up: n.env}
	return n
}

// at is another expression of the same place.
func (n Node) at(e *Expr) Node { return Node{File: n.File, Expr: e, env: n.env} }

// At is e seen from the same place.
func (n Node) At(e *Expr) Node { return n.at(e) }

// Kind is the kind of the node's expression.
func (n Node) Kind() Kind {
	if n.Expr == nil {
		return Unknown
	}
	return n.Expr.Kind
}

func (n Node) unknown(reason string) Node {
	e := &Expr{Kind: Unknown}
	if n.Expr != nil {
		e.At, e.Pos = n.Expr.At, n.Expr.Pos
	}
	return Node{File: n.File, Expr: e, Reason: reason, env: n.env}
}

// Program finds what names stand for across files. Load is the file that a
// module of an import in a file leads to, nil when it is none of the program's.
type Program struct {
	Load  func(from *File, module string) *File
	steps int // of the current question
	spent int // of all questions before it
}

// Bounds of one question to a Program.
const (
	maxSteps    = 200_000
	maxSpent    = 5_000_000 // of all questions; what is asked after that gets few
	fewSteps    = 1000
	maxChain    = 64
	maxElements = 5000
)

// Reset lets the next question begin with its full budget.
func (p *Program) Reset() {
	p.spent += p.steps
	p.steps = 0
}

// over says whether the current question has used its budget up.
func (p *Program) over() bool {
	return p.steps > maxSteps || p.spent > maxSpent && p.steps > fewSteps
}

// Reduce follows names, members and imports to what they stand for: a literal,
// a function, a call, or a node of kind Unknown with its reason.
func (p *Program) Reduce(n Node) Node { return p.reduce(n, 0) }

func (p *Program) reduce(n Node, depth int) Node {
	if p.steps++; depth > maxChain || p.over() || n.Expr == nil {
		return n.unknown("too_deep")
	}
	e := n.Expr
	switch e.Kind {
	case Name:
		if e.Text == "undefined" {
			return n.at(&Expr{Kind: Null, At: e.At, Pos: e.Pos})
		}
		b := n.File.Lookup(e.Text, e.At)
		if b == nil {
			return n.unknown("unresolved_name")
		}
		return p.binding(n, b, depth+1)
	case Member:
		if e.X.Kind == This {
			return p.field(n, e, depth)
		}
		return p.member(p.reduce(n.at(e.X), depth+1), e.Text, depth+1)
	case Index:
		if key, ok := p.text(n.at(e.Y), depth+1); ok {
			return p.member(p.reduce(n.at(e.X), depth+1), key, depth+1)
		}
		return n.unknown("computed_key")
	case Call:
		return p.wrapped(n, depth)
	case Condition, Either:
		return n.unknown("condition")
	case Unknown:
		if n.Reason == "" {
			n.Reason = "unsupported_expression"
		}
	default:
	}
	return n
}

func (p *Program) binding(n Node, b *Binding, depth int) Node {
	switch b.How {
	case ByImport:
		return p.exported(n, n.File, b.Import, depth)
	case ByFunction:
		return n.at(&Expr{Kind: Function, Fn: b.Fn, At: n.Expr.At, Pos: n.Expr.Pos})
	case ByEach:
		for v := n.env; v != nil; v = v.up {
			if v.b == b || v.b.at == b.at || v.b.Init != nil && v.b.Init == b.Init {
				return p.path(v.n, b.Path, depth)
			}
		}
		return n.unknown("loop_variable")
	case ByParam:
		return n.unknown("parameter")
	case ByClass:
		out := n.unknown("class")
		out.Class = n.File.ClassNamed(b)
		return out
	default:
	}
	switch {
	case b.Changed:
		return n.unknown("changed_value")
	case b.Init == nil:
		return n.unknown("no_value")
	}
	return p.path(p.reduce(n.at(b.Init), depth+1), b.Path, depth)
}

func (p *Program) path(n Node, keys []string, depth int) Node {
	for _, key := range keys {
		n = p.member(p.reduce(n, depth+1), key, depth+1)
	}
	return p.reduce(n, depth+1)
}

func (p *Program) field(n Node, e *Expr, depth int) Node {
	field, ok := n.File.Field(e.Text, e.At)
	switch {
	case !ok:
		return n.unknown("unresolved_name")
	case field.Changed:
		return n.unknown("changed_value")
	case field.Init == nil:
		return n.unknown("no_value")
	}
	return p.reduce(n.at(field.Init), depth+1)
}

// member is a property of an object, an element of a list, or an export.
func (p *Program) member(n Node, key string, depth int) Node {
	if n.Import.Name == "*" {
		return p.exported(n, n.File, Import{From: n.Import.From, Name: key}, depth)
	}
	switch n.Kind() {
	case Object:
		props, complete := p.props(n, depth)
		for i := len(props) - 1; i >= 0; i-- {
			if props[i].Key == key {
				return p.reduce(props[i].Node, depth+1)
			}
		}
		if complete {
			return n.at(&Expr{Kind: Null, At: n.Expr.At, Pos: n.Expr.Pos})
		}
		return n.unknown("computed_key")
	case Array:
		items, complete := p.items(n, depth)
		for i, item := range items {
			if strconv.Itoa(i) == key {
				return p.reduce(item, depth+1)
			}
		}
		_ = complete
		return n.unknown("computed_key")
	default:
	}
	if n.Kind() == Call || n.Kind() == Member {
		// What a call gives back is not known, but who asks may know the callee.
		return n.at(&Expr{Kind: Member, X: n.Expr, Text: key, At: n.Expr.At, Pos: n.Expr.Pos})
	}
	if n.Kind() == Unknown && n.Reason != "" {
		out := n.unknown(n.Reason)
		if n.Import.Name != "" {
			out.Import = Import{From: n.Import.From, Name: n.Import.Name + "." + key}
		}
		return out
	}
	return n.unknown("runtime_value")
}

// exported follows an import. What stands in a module that is not the program's
// is Unknown and says which.
func (p *Program) exported(n Node, from *File, imp Import, depth int) Node {
	if p.steps++; depth > maxChain || p.over() {
		return n.unknown("too_deep")
	}
	file := p.Load(from, imp.From)
	if file == nil {
		out := n.unknown("imported")
		out.Import = imp
		return out
	}
	if imp.Name == "*" {
		out := Node{File: from, Expr: &Expr{Kind: Unknown}, Reason: "namespace", Import: imp}
		return out
	}
	e, next, ok := file.Exported(imp.Name)
	switch {
	case e != nil:
		return p.reduce(Node{File: file, Expr: e}, depth+1)
	case ok:
		return p.exported(Node{File: file, Expr: n.Expr}, file, next, depth+1)
	}
	if whole, _, ok := file.Exported("="); ok {
		out := p.reduce(Node{File: file, Expr: whole}, depth+1)
		if imp.Name == "default" {
			return out
		}
		return p.member(out, imp.Name, depth+1)
	}
	for _, module := range file.Stars() {
		if out := p.exported(Node{File: file, Expr: n.Expr}, file, Import{From: module, Name: imp.Name}, depth+1); out.Kind() != Unknown || out.Reason != "imported" && out.Reason != "not_exported" {
			return out
		}
	}
	return n.unknown("not_exported")
}

// wrapped sees through calls that give back what they are given, and require.
func (p *Program) wrapped(n Node, depth int) Node {
	e := n.Expr
	if e.New || len(e.Args) != 1 {
		return n
	}
	if e.X.Kind == Name && (e.X.Text == "require" || e.X.Text == "import") && e.Args[0].Kind == String {
		imp := Import{From: e.Args[0].Text, Name: "*"}
		if file := p.Load(n.File, imp.From); file != nil {
			if whole, _, ok := file.Exported("="); ok {
				return p.reduce(Node{File: file, Expr: whole}, depth+1)
			}
		}
		return Node{File: n.File, Expr: &Expr{Kind: Unknown, At: e.At, Pos: e.Pos}, Reason: "namespace", Import: imp}
	}
	if e.X.Kind == Member && e.X.X.Kind == Name && e.X.X.Text == "Object" && slices.Contains([]string{"freeze", "seal"}, e.X.Text) {
		return p.reduce(n.at(e.Args[0]), depth+1)
	}
	return n
}

// Text is the string that n stands for: a literal, or literals put together.
func (p *Program) Text(n Node) (string, bool) { return p.text(n, 0) }

func (p *Program) text(n Node, depth int) (string, bool) {
	n = p.reduce(n, depth)
	switch n.Kind() {
	case String, Number:
		return n.Expr.Text, true
	case Concat:
		out := ""
		for _, part := range n.Expr.Args {
			s, ok := p.text(n.at(part), depth+1)
			if !ok || len(out)+len(s) > 1<<20 {
				return "", false
			}
			out += s
		}
		return out, true
	case Call:
		// ["a", "b"].join(" "), and text.trim()
		if x := n.Expr.X; x.Kind == Member && x.Text == "trim" && len(n.Expr.Args) == 0 {
			return p.text(n.at(x.X), depth+1)
		} else if x.Kind == Member && x.Text == "join" {
			return p.join(n, depth)
		}
	default:
	}
	return "", false
}

func (p *Program) join(n Node, depth int) (string, bool) {
	between := ","
	if args := n.Expr.Args; len(args) > 0 {
		var ok bool
		if between, ok = p.text(n.at(args[0]), depth+1); !ok {
			return "", false
		}
	}
	items, complete := p.items(n.at(n.Expr.X.X), depth+1)
	out := ""
	for i, item := range items {
		s, ok := p.text(item, depth+1)
		if !ok || len(out)+len(s) > 1<<20 {
			return "", false
		}
		if i > 0 {
			out += between
		}
		out += s
	}
	return out, complete
}
