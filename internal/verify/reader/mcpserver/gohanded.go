package mcpserver

import (
	"bytes"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// goHanding finds out where the servers of Go code go: which calls are given
// one that are not read, and which of its methods are kept as values
// (docs/spec/verification.md §5.2, D70.X8).
type goHanding struct {
	*golang
	marked  map[*goObject]bool          // names that hold a server whatever their type says
	places  map[ast.Node]map[string]int // of the names of a declaration
	found   []tool.Dynamic
	changed bool
	steps   int // of the node that is looked at
}

// goAt is where an expression is looked at from.
type goAt struct {
	p *goPackage
	f *goFile
}

// goTarget is a function of the source.
type goTarget struct {
	goAt
	typ *ast.FuncType
}

var goRegisterMethods = []string{"AddTool", "AddTools", "SetTools", "AddSessionTool", "AddSessionTools"}

// handed goes through all packages until no name is learnt any more.
func (g *golang) handed() {
	h := &goHanding{golang: g, marked: map[*goObject]bool{}, places: map[ast.Node]map[string]int{}}
	for round := 0; ; round++ {
		h.found, h.changed = nil, false
		for _, dir := range g.dirs {
			p := g.packages[dir]
			for _, f := range p.files {
				h.scan(goAt{p, f})
			}
		}
		if !h.changed {
			break
		}
		if round >= maxRounds {
			h.found = append(h.found, tool.Dynamic{Kind: "binding", Reason: "too_deep", Origin: g.origin(g.packages[g.dirs[0]].files[0].name, 1, 1)})
			break
		}
	}
	for _, d := range h.found {
		g.dynamic(d.Kind, d.Reason, "", d.Origin)
	}
}

func (h *goHanding) open(reason string, at goAt, pos token.Pos) {
	o := h.place(at.f, pos)
	same := func(d tool.Dynamic) bool { return d.Reason == reason && d.Origin.Location == o.Location }
	if tail := h.found[max(0, len(h.found)-8):]; !slices.ContainsFunc(tail, same) {
		h.found = append(h.found, tool.Dynamic{Kind: "binding", Reason: reason, Origin: o})
	}
}

func (h *goHanding) scan(at goAt) {
	called := map[ast.Expr]bool{}
	ast.Inspect(at.f.tree, func(n ast.Node) bool {
		if n != nil && h.steps > maxAsked { // what was not looked at may be a server
			h.open("too_deep", at, n.Pos())
		}
		h.steps = 0
		switch x := n.(type) {
		case *ast.CallExpr:
			called[plain(x.Fun)] = true
			h.given(at, x)
		case *ast.SelectorExpr:
			if slices.Contains(goRegisterMethods, x.Sel.Name) && !called[x] && h.isServer(at, x.X, 0) {
				h.open(computedMember, at, x.Pos())
			}
		case *ast.AssignStmt:
			for i, left := range x.Lhs {
				if id, ok := left.(*ast.Ident); ok && x.Tok == token.ASSIGN && len(x.Lhs) == len(x.Rhs) && h.isServer(at, x.Rhs[i], 0) {
					h.mark(id)
				}
			}
		}
		return true
	})
}

// plain is an expression without parentheses and type arguments.
func plain(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return e
		}
	}
}

// goObject is what an identifier stands for in its file. The parser's resolution
// is by scopes alone, and that is all that is asked here.
type goObject = ast.Object //nolint:staticcheck // keys of literals, which it may get wrong, are not asked for

func object(id *ast.Ident) *goObject { return id.Obj }

func (h *goHanding) mark(id *ast.Ident) {
	if o := object(id); o != nil && !h.marked[o] {
		h.marked[o], h.changed = true, true
	}
}

// given looks at a call that is given a server.
func (h *goHanding) given(at goAt, call *ast.CallExpr) {
	var targets []goTarget
	asked, read := false, false
	for k, arg := range call.Args {
		direct := h.isServer(at, arg, 0)
		if !direct && !h.holds(at, arg, 0) {
			continue
		}
		if !asked {
			if h.harmless(at, call) {
				return
			}
			targets, read = h.targets(at, call.Fun, 0)
			asked = true
		}
		ok := read
		for _, fn := range targets {
			ok = h.into(fn, k, direct) && ok
		}
		if !ok {
			h.open(handedOn, at, call.Pos())
			return
		}
	}
}

// into notes that parameter k of a function holds a server. It answers false
// when that parameter is not followed.
func (h *goHanding) into(fn goTarget, k int, direct bool) bool {
	i := 0
	for _, field := range fn.typ.Params.List {
		n := max(1, len(field.Names))
		_, variadic := field.Type.(*ast.Ellipsis)
		if variadic && k >= i {
			return false
		}
		if k >= i+n {
			i += n
			continue
		}
		if len(field.Names) > 0 && direct {
			h.mark(field.Names[k-i])
		}
		return true
	}
	return false
}

// holds says whether a literal has a server in it.
func (h *goHanding) holds(at goAt, e ast.Expr, depth int) bool {
	switch x := e.(type) {
	case *ast.UnaryExpr:
		return x.Op == token.AND && h.holds(at, x.X, depth+1)
	case *ast.CompositeLit:
		return depth < 8 && slices.ContainsFunc(x.Elts, func(value ast.Expr) bool {
			if kv, ok := value.(*ast.KeyValueExpr); ok {
				value = kv.Value
			}
			return h.isServer(at, value, 0) || h.holds(at, value, depth+1)
		})
	}
	return false
}

// Functions of the two libraries that are given a server and register no tool
// that is not read otherwise.
var goServing = []string{
	"AddTool", "ServeStdio", "NewStdioServer", "NewSSEServer", "NewStreamableHTTPServer", "NewTestServer", "NewTestStreamableHTTPServer",
	"NewInProcessClient", "NewInProcessClientWithSamplingHandler", "NewInProcessTransport", "NewInProcessTransportWithOptions",
}

// harmless says whether a call is known to register no tool: it serves, prints,
// converts or keeps what it is given.
func (h *goHanding) harmless(at goAt, call *ast.CallExpr) bool {
	switch fun := plain(call.Fun).(type) {
	case *ast.Ident:
		if object(fun) == nil && at.p.funcs[fun.Name].decl == nil {
			if slices.Contains([]string{"append", "any", "print", "println", "panic"}, fun.Name) && at.p.values[fun.Name].expr == nil {
				return true
			}
		}
		return h.typeNamed(at, fun) != nil
	case *ast.SelectorExpr:
		from, name := h.from(at, fun)
		return slices.Contains([]string{"fmt", "log", "log/slog", "errors"}, from) || isLibrary(from) && slices.Contains(goServing, name)
	case *ast.ArrayType, *ast.InterfaceType, *ast.StarExpr:
		return true // a conversion
	}
	return false
}

// typeNamed is the type of the package that an identifier names.
func (h *goHanding) typeNamed(at goAt, id *ast.Ident) *ast.TypeSpec {
	if o := object(id); o != nil {
		spec, _ := o.Decl.(*ast.TypeSpec)
		return spec
	}
	return at.p.types[id.Name].spec
}

// from is the package and the name of a qualified identifier.
func (h *goHanding) from(at goAt, x *ast.SelectorExpr) (string, string) {
	if id, ok := x.X.(*ast.Ident); ok && object(id) == nil {
		return at.f.imports[id.Name], x.Sel.Name
	}
	return "", ""
}

// within is the package of the source with an import path, nil without one.
func (g *golang) within(from string) *goPackage {
	for _, dir := range g.dirs {
		if g.imports(from, dir) {
			return g.packages[dir]
		}
	}
	return nil
}

// imports says whether an import path means a directory: by the module's own
// path where its go.mod is in the tree, else by the last element.
func (g *golang) imports(from, dir string) bool {
	if module, root := g.module(dir); module != "" {
		return from == path.Join(module, strings.TrimPrefix(strings.TrimPrefix(dir, root), "/"))
	}
	return strings.HasSuffix(from, "/"+path.Base(dir))
}

// module is the path of the module that a directory belongs to, and its root:
// "" without a go.mod that says so.
func (g *golang) module(dir string) (string, string) {
	for at := dir; ; at = path.Dir(at) {
		name, ok := g.modules[at]
		if !ok {
			if text, err := tool.ReadFile(g.tree, path.Join(at, "go.mod")); err == nil {
				for line := range bytes.Lines(text) {
					if fields := strings.Fields(string(line)); len(fields) >= 2 && fields[0] == "module" {
						name = strings.Trim(fields[1], "\"`")
						break
					}
				}
			}
			g.modules[at] = name
		}
		if name != "" {
			if at == "." {
				at = ""
			}
			return name, at
		}
		if at == "." || at == "/" {
			return "", ""
		}
	}
}
