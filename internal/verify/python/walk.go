package python

// Inspect calls visit for n and, while it answers true, for everything below n
// in the order of the text. Parameters, handlers, cases and patterns are no
// nodes; what they hold is visited.
func Inspect(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	children(n, func(child Node) { Inspect(child, visit) })
}

func (f *File) each(do func(Node)) { eachStmt(f.Body, do) }

// largeModule is how many bytes make a module large: the way through it is not
// remembered, which would take half as much memory again as the module.
const largeModule = 1 << 20

// Inspect walks over the whole module. The way is remembered: a reader goes
// through a module for one thing after the other.
func (f *File) Inspect(visit func(Node) bool) {
	if len(f.src) > largeModule {
		f.each(func(n Node) { Inspect(n, visit) })
		return
	}
	if f.way == nil {
		f.walk()
	}
	for i := 0; i < len(f.way); {
		if visit(f.way[i].node) {
			i++
		} else {
			i = f.way[i].past
		}
	}
}

// passed is a node on the way through a module, and where what is below it ends.
type passed struct {
	node Node
	past int
}

func (f *File) walk() {
	f.way = make([]passed, 0, 64)
	var pass func(Node)
	pass = func(n Node) {
		at := len(f.way)
		f.way = append(f.way, passed{node: n})
		children(n, pass)
		f.way[at].past = len(f.way)
	}
	f.each(pass)
}

func eachStmt(body []Stmt, do func(Node)) {
	for _, s := range body {
		do(s)
	}
}

func eachExpr(list []Expr, do func(Node)) {
	for _, e := range list {
		do(e)
	}
}

func maybe(e Expr, do func(Node)) {
	if e != nil {
		do(e)
	}
}

func eachArg(list []Arg, do func(Node)) {
	for _, a := range list {
		do(a.Value)
	}
}

func eachParam(p Params, do func(Node)) {
	for _, param := range p.List {
		maybe(param.Annotation, do)
		maybe(param.Default, do)
	}
}

func eachTypeParam(list []TypeParam, do func(Node)) {
	for _, tp := range list {
		maybe(tp.Bound, do)
		maybe(tp.Default, do)
	}
}

func eachPattern(p *Pattern, do func(Node)) {
	maybe(p.Value, do)
	eachExpr(p.Keys, do)
	for _, item := range p.Items {
		eachPattern(item, do)
	}
}

func children(n Node, do func(Node)) {
	switch n := n.(type) {
	case Expr:
		exprChildren(n, do)
	case Stmt:
		stmtChildren(n, do)
	}
}

func exprChildren(n Expr, do func(Node)) {
	switch n := n.(type) {
	case *Name, *Str, *Number, *Constant:
	case *FString:
		eachExpr(n.Parts, do)
	case *Interpolation:
		do(n.Value)
		if n.Spec != nil {
			do(n.Spec)
		}
	case *Attribute:
		do(n.Value)
	case *Subscript:
		do(n.Value)
		do(n.Index)
	case *Call:
		do(n.Func)
		eachArg(n.Args, do)
	case *Starred:
		do(n.Value)
	case *Unary:
		do(n.Operand)
	case *Binary:
		do(n.Left)
		do(n.Right)
	case *Logical:
		eachExpr(n.Values, do)
	case *Compare:
		do(n.Left)
		eachExpr(n.Values, do)
	case *Lambda:
		eachParam(n.Params, do)
		do(n.Body)
	case *Conditional:
		do(n.Then)
		do(n.Test)
		do(n.Else)
	case *Sequence:
		eachExpr(n.Items, do)
	case *Dict:
		for _, item := range n.Items {
			maybe(item.Key, do)
			do(item.Value)
		}
	case *Comprehension:
		do(n.Item)
		maybe(n.Value, do)
		for _, c := range n.Clauses {
			do(c.Target)
			do(c.Iter)
			eachExpr(c.Ifs, do)
		}
	case *Await:
		do(n.Value)
	case *Yield:
		maybe(n.Value, do)
	case *Walrus:
		do(n.Target)
		do(n.Value)
	case *Slice:
		maybe(n.Lower, do)
		maybe(n.Upper, do)
		maybe(n.Step, do)
	}
}

func stmtChildren(n Stmt, do func(Node)) {
	switch n := n.(type) {
	case *Function:
		eachExpr(n.Decorators, do)
		eachTypeParam(n.TypeParams, do)
		eachParam(n.Params, do)
		maybe(n.Returns, do)
		eachStmt(n.Body, do)
	case *Class:
		eachExpr(n.Decorators, do)
		eachTypeParam(n.TypeParams, do)
		eachArg(n.Args, do)
		eachStmt(n.Body, do)
	case *Return:
		maybe(n.Value, do)
	case *Delete:
		eachExpr(n.Targets, do)
	case *Assign:
		eachExpr(n.Targets, do)
		do(n.Value)
	case *AugAssign:
		do(n.Target)
		do(n.Value)
	case *AnnAssign:
		do(n.Target)
		do(n.Annotation)
		maybe(n.Value, do)
	case *TypeAlias:
		do(n.Name)
		eachTypeParam(n.TypeParams, do)
		do(n.Value)
	case *Evaluate:
		do(n.Value)
	case *Raise:
		maybe(n.Value, do)
		maybe(n.Cause, do)
	case *Assert:
		do(n.Test)
		maybe(n.Message, do)
	case *Import, *Declare, *Simple:
	default:
		blockChildren(n, do)
	}
}

// blockChildren are the children of statements that hold blocks and open no
// scope.
func blockChildren(n Stmt, do func(Node)) {
	switch n := n.(type) {
	case *For:
		do(n.Target)
		do(n.Iter)
		eachStmt(n.Body, do)
		eachStmt(n.Else, do)
	case *While:
		do(n.Test)
		eachStmt(n.Body, do)
		eachStmt(n.Else, do)
	case *If:
		for _, b := range n.Branches {
			do(b.Test)
			eachStmt(b.Body, do)
		}
		eachStmt(n.Else, do)
	case *With:
		for _, item := range n.Items {
			do(item.Context)
			maybe(item.Target, do)
		}
		eachStmt(n.Body, do)
	case *Try:
		eachStmt(n.Body, do)
		for _, h := range n.Handlers {
			maybe(h.Type, do)
			eachStmt(h.Body, do)
		}
		eachStmt(n.Else, do)
		eachStmt(n.Finally, do)
	case *Match:
		do(n.Subject)
		for _, c := range n.Cases {
			eachPattern(c.Pattern, do)
			maybe(c.Guard, do)
			eachStmt(c.Body, do)
		}
	}
}
