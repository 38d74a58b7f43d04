package python

import "strings"

// binder walks the tree once, opens scopes, records what binds, changes and
// passes on each name, and refuses a tree that is too high for later walks.
type binder struct {
	file   *File
	scope  *Scope
	branch int // if, loops, try and match around the statement, in its scope
	height int
	fault  *SyntaxError
	uses   []use
	scopes []*Scope // in the order of the text
}

// use is something done to an object by its name; it is settled when all names
// are known.
type use struct {
	name   *Name
	change Node
	call   *Call
	to     Expr
}

func bind(src string, body []Stmt) (*File, error) {
	module := newScope(ModuleScope, nil, nil)
	b := &binder{file: &File{src: src, Body: body, Module: module, scopes: map[Node]*Scope{}}, scope: module, scopes: []*Scope{module}}
	eachStmt(body, b.visit)
	if b.fault != nil {
		return nil, b.fault
	}
	for _, u := range b.uses {
		v := b.file.Lookup(u.name)
		switch {
		case v == nil:
		case u.call != nil:
			v.Passed = append(v.Passed, u.call)
		case u.to != nil:
			v.Aliases = append(v.Aliases, u.to)
		default:
			v.Mutated = append(v.Mutated, u.change)
		}
	}
	// In the order of the text a name comes after what it is made of, so that a
	// long chain of names is no deep one.
	for _, s := range b.scopes {
		for _, v := range s.order {
			b.file.known(v, 0)
		}
	}
	return b.file, nil
}

func (b *binder) bind(name string, k Binding) {
	k.Conditional = b.branch > 0
	s := b.scope
	if outer := s.outer[name]; outer != nil {
		s = outer
		k.Conditional = true // when and whether the function runs is unknown
	}
	v := s.variable(name)
	v.Bindings = append(v.Bindings, k)
}

// inside runs do in a scope of its own.
func (b *binder) inside(kind ScopeKind, node Node, do func()) {
	scope, branch := b.scope, b.branch
	b.scope, b.branch = newScope(kind, node, scope), 0
	b.file.scopes[node] = b.scope
	b.scopes = append(b.scopes, b.scope)
	do()
	b.scope, b.branch = scope, branch
}

func (b *binder) visit(n Node) {
	if b.fault != nil {
		return
	}
	if b.height++; b.height > maxHeight {
		b.fault = &SyntaxError{Pos: n.At().Start, Detail: "the program is nested too deep"}
	}
	defer func() { b.height-- }()
	switch n := n.(type) {
	case Expr:
		b.expr(n)
	case Stmt:
		b.stmt(n)
	}
}

func (b *binder) expr(n Expr) {
	switch n := n.(type) {
	case *Name:
		n.scope = b.scope
		return
	case *Lambda:
		eachParam(n.Params, b.visit)
		b.inside(FunctionScope, n, func() {
			b.params(n.Params)
			b.visit(n.Body)
		})
		return
	case *Comprehension:
		b.comprehension(n)
		return
	case *Walrus:
		scope := b.scope
		for b.scope.Kind == ComprehensionScope {
			b.scope = b.scope.Parent
		}
		b.bind(n.Target.ID, Binding{Kind: Assigned, At: n.Range, Value: n.Value})
		n.Target.scope = b.scope
		b.scope = scope
		b.alias(n.Value, n.Target)
		b.visit(n.Value)
		return
	case *Call:
		b.call(n)
	}
	exprChildren(n, b.visit)
}

var mutators = map[string]bool{
	"append": true, "extend": true, "insert": true, "remove": true, "pop": true, "clear": true, "update": true,
	"setdefault": true, "popitem": true, "add": true, "discard": true, "__setitem__": true, "__delitem__": true,
	"__iadd__": true, "difference_update": true, "intersection_update": true, "symmetric_difference_update": true,
}

func (b *binder) call(c *Call) {
	if a, ok := c.Func.(*Attribute); ok && mutators[a.Name] {
		b.mutate(a.Value, c)
	}
	for _, arg := range c.Args {
		if n, ok := arg.Value.(*Name); ok {
			b.uses = append(b.uses, use{name: n, call: c})
		}
	}
}

func (b *binder) mutate(e Expr, by Node) {
	if n, ok := e.(*Name); ok {
		b.uses = append(b.uses, use{name: n, change: by})
	}
}

func (b *binder) alias(value, to Expr) {
	if n, ok := value.(*Name); ok {
		b.uses = append(b.uses, use{name: n, to: to})
	}
}

func (b *binder) comprehension(c *Comprehension) {
	if len(c.Clauses) > 0 {
		b.visit(c.Clauses[0].Iter) // evaluated outside
	}
	b.inside(ComprehensionScope, c, func() {
		for i, clause := range c.Clauses {
			b.target(clause.Target)
			if i > 0 {
				b.visit(clause.Iter)
			}
			eachExpr(clause.Ifs, b.visit)
		}
		b.visit(c.Item)
		maybe(c.Value, b.visit)
	})
}

func (b *binder) params(p Params) {
	for _, param := range p.List {
		b.bind(param.Name, Binding{Kind: Parameter, At: param.Range, Annotation: param.Annotation})
	}
}

func (b *binder) typeParams(list []TypeParam) {
	for _, tp := range list {
		b.bind(tp.Name, Binding{Kind: Bound, At: tp.Range})
	}
}

// target binds the names in a target whose value is not shown, and visits the
// rest of it.
func (b *binder) target(e Expr) {
	switch e := e.(type) {
	case *Name:
		e.scope = b.scope
		b.bind(e.ID, Binding{Kind: Bound, At: e.Range})
	case *Starred:
		b.target(e.Value)
	case *Sequence:
		for _, item := range e.Items {
			b.target(item)
		}
	case *Subscript:
		b.mutate(e.Value, e)
		b.visit(e)
	default:
		b.visit(e)
	}
}

// assign binds a target to a value that is shown.
func (b *binder) assign(target, value, annotation Expr, at Range) {
	switch t := target.(type) {
	case *Name:
		t.scope = b.scope
		b.bind(t.ID, Binding{Kind: Assigned, At: at, Value: value, Annotation: annotation})
	case *Sequence:
		v, ok := value.(*Sequence)
		if !ok || len(v.Items) != len(t.Items) || starred(v.Items) || starred(t.Items) {
			b.target(t)
			return
		}
		for i, item := range t.Items {
			b.assign(item, v.Items[i], nil, at)
		}
		return
	default:
		b.target(target)
	}
	b.alias(value, target)
}

func starred(list []Expr) bool {
	for _, e := range list {
		if _, ok := e.(*Starred); ok {
			return true
		}
	}
	return false
}

func (b *binder) stmt(n Stmt) {
	switch n := n.(type) {
	case *Function:
		b.function(n)
	case *Class:
		b.class(n)
	case *Assign:
		b.visit(n.Value)
		for _, target := range n.Targets {
			b.assign(target, n.Value, nil, n.Range)
		}
	case *AnnAssign:
		b.visit(n.Annotation)
		if n.Value == nil {
			if name, ok := n.Target.(*Name); ok {
				name.scope = b.scope
				b.scope.annotate(name.ID, n.Annotation)
				return
			}
			b.visit(n.Target)
			return
		}
		b.visit(n.Value)
		b.assign(n.Target, n.Value, n.Annotation, n.Range)
	case *AugAssign:
		b.visit(n.Value)
		b.change(n.Target, n.Value, n)
	case *Delete:
		for _, target := range n.Targets {
			b.change(target, nil, n)
		}
	case *TypeAlias:
		n.Name.scope = b.scope
		b.bind(n.Name.ID, Binding{Kind: Bound, At: n.Range})
		b.inside(FunctionScope, n, func() {
			b.typeParams(n.TypeParams)
			eachTypeParam(n.TypeParams, b.visit)
			b.visit(n.Value)
		})
	case *Import:
		b.imports(n)
	case *Declare:
		b.declare(n)
	case *With:
		for _, item := range n.Items {
			b.visit(item.Context)
			if item.Target != nil {
				b.target(item.Target)
			}
		}
		eachStmt(n.Body, b.visit)
	case *For, *While, *If, *Try, *Match:
		b.branch++
		b.branches(n)
		b.branch--
	default:
		stmtChildren(n, b.visit)
	}
}

func (b *binder) branches(n Stmt) {
	switch n := n.(type) {
	case *For:
		b.target(n.Target)
		b.visit(n.Iter)
		eachStmt(n.Body, b.visit)
		eachStmt(n.Else, b.visit)
	case *Try:
		for _, h := range n.Handlers {
			if h.Name != "" {
				b.bind(h.Name, Binding{Kind: Bound, At: h.Range})
			}
		}
		blockChildren(n, b.visit)
	case *Match:
		for _, c := range n.Cases {
			b.pattern(c.Pattern)
		}
		blockChildren(n, b.visit)
	default:
		blockChildren(n, b.visit)
	}
}

func (b *binder) pattern(p *Pattern) {
	if p.Name != "" {
		b.bind(p.Name, Binding{Kind: Bound, At: p.Range})
	}
	for _, item := range p.Items {
		b.pattern(item)
	}
}

// change is an augmented assignment or del of a target.
func (b *binder) change(e, value Expr, by Stmt) {
	switch e := e.(type) {
	case *Name:
		e.scope = b.scope
		b.bind(e.ID, Binding{Kind: Changed, At: by.At(), Value: value})
	case *Sequence:
		for _, item := range e.Items {
			b.change(item, nil, by)
		}
	case *Subscript:
		b.mutate(e.Value, by)
		b.visit(e)
	default:
		b.visit(e)
	}
}

func (b *binder) function(f *Function) {
	eachExpr(f.Decorators, b.visit)
	b.bind(f.Name, Binding{Kind: Defined, At: f.Range, Function: f})
	eachParam(f.Params, b.visit)
	maybe(f.Returns, b.visit)
	b.inside(FunctionScope, f, func() {
		b.typeParams(f.TypeParams)
		eachTypeParam(f.TypeParams, b.visit)
		b.params(f.Params)
		eachStmt(f.Body, b.visit)
	})
}

func (b *binder) class(c *Class) {
	eachExpr(c.Decorators, b.visit)
	b.bind(c.Name, Binding{Kind: Declared, At: c.Range, Class: c})
	eachArg(c.Args, b.visit)
	b.inside(ClassScope, c, func() {
		b.typeParams(c.TypeParams)
		eachTypeParam(c.TypeParams, b.visit)
		eachStmt(c.Body, b.visit)
	})
}

func (b *binder) imports(n *Import) {
	module := strings.Repeat(".", n.Level) + n.Module
	for _, a := range n.Names {
		switch {
		case n.From && a.Name == "*":
			b.file.Stars = append(b.file.Stars, module)
		case n.From:
			bound := a.As
			if bound == "" {
				bound = a.Name
			}
			b.bind(bound, Binding{Kind: Imported, At: a.Range, Import: join(module, a.Name)})
		case a.As != "":
			b.bind(a.As, Binding{Kind: Imported, At: a.Range, Import: a.Name})
		default:
			first, _, _ := strings.Cut(a.Name, ".")
			b.bind(first, Binding{Kind: Imported, At: a.Range, Import: first})
		}
	}
}

// join is module.name, where a module of dots alone needs no other dot.
func join(module, name string) string {
	if strings.HasSuffix(module, ".") {
		return module + name
	}
	return module + "." + name
}

func (b *binder) declare(n *Declare) {
	if b.scope.outer == nil {
		b.scope.outer = map[string]*Scope{}
	}
	for _, name := range n.Names {
		to := b.file.Module
		if n.Keyword == "nonlocal" {
			to = b.scope.enclosing(name)
		}
		if to != b.scope {
			b.scope.outer[name] = to
		}
	}
}

// enclosing is the function around s that binds the name, or the nearest one.
func (s *Scope) enclosing(name string) *Scope {
	var nearest *Scope
	for at := s.Parent; at != nil; at = at.Parent {
		if at.Kind != FunctionScope {
			continue
		}
		if at.names[name] != nil {
			return at
		}
		if nearest == nil {
			nearest = at
		}
	}
	if nearest == nil {
		return s
	}
	return nearest
}

// annotate keeps the annotation of a name that gets no value here.
func (s *Scope) annotate(name string, annotation Expr) {
	if s.annotations == nil {
		s.annotations = map[string]Expr{}
	}
	s.annotations[name] = annotation
}
