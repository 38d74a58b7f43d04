package mcpserver

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// local is the expression that a name in a function stands for at a place, and
// whether it is a loop variable over it. It answers false when the name is not
// declared in the function, and a nil expression when it cannot be known.
func (s scope) local(name string, pos token.Pos) (e ast.Expr, each, ok bool) {
	for i := len(s.stack) - 1; i >= 0; i-- {
		switch x := s.stack[i].(type) {
		case *ast.RangeStmt:
			if id, isID := x.Value.(*ast.Ident); isID && id.Name == name && x.Tok == token.DEFINE {
				return x.X, true, true
			}
			if id, isID := x.Key.(*ast.Ident); isID && id.Name == name && x.Tok == token.DEFINE {
				return nil, false, true
			}
		case *ast.BlockStmt:
			if e, ok := declaredIn(x.List, name, pos); ok {
				if len(s.others(name, e)) > 0 {
					return nil, false, true
				}
				return e, false, true
			}
		case *ast.FuncLit:
			if hasParam(x.Type, name) {
				return nil, false, true
			}
		case *ast.FuncDecl:
			if hasParam(x.Type, name) {
				return nil, false, true
			}
		}
	}
	return nil, false, false
}

// declaredIn is the value of the last declaration of a name in a block before a
// place.
func declaredIn(list []ast.Stmt, name string, pos token.Pos) (ast.Expr, bool) {
	var found ast.Expr
	ok := false
	for _, stmt := range list {
		if stmt.Pos() >= pos {
			break
		}
		switch x := stmt.(type) {
		case *ast.AssignStmt:
			for i, left := range x.Lhs {
				if id, isID := left.(*ast.Ident); isID && id.Name == name && x.Tok == token.DEFINE {
					found, ok = nil, true
					if len(x.Rhs) == len(x.Lhs) {
						found = x.Rhs[i]
					} else if i == 0 && len(x.Rhs) == 1 {
						found = x.Rhs[0]
					}
				}
			}
		case *ast.DeclStmt:
			decl, isGen := x.Decl.(*ast.GenDecl)
			if !isGen {
				continue
			}
			for _, spec := range decl.Specs {
				if v, isValue := spec.(*ast.ValueSpec); isValue {
					for i, id := range v.Names {
						if id.Name == name {
							found, ok = nil, true
							if len(v.Values) == len(v.Names) {
								found = v.Values[i]
							}
						}
					}
				}
			}
		}
	}
	return found, ok
}

// others are the values that a name gets in the function around besides its
// first one; nil for one that is not an expression of its own.
func (s scope) others(name string, first ast.Expr) []ast.Expr {
	var out []ast.Expr
	for _, n := range s.stack {
		fn, ok := n.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		for _, value := range s.p.assignments(fn)[name] {
			if value == nil || value != first {
				out = append(out, value)
			}
		}
	}
	return out
}

// assignments are the values that the names of a function are given after their
// declaration; nil stands for one that is not an expression of its own. They
// are collected once for each function, which may register thousands of tools.
func (p *goPackage) assignments(fn *ast.FuncDecl) map[string][]ast.Expr {
	if known, ok := p.assigned[fn]; ok {
		return known
	}
	found := map[string][]ast.Expr{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		x, ok := n.(*ast.AssignStmt)
		if !ok || x.Tok == token.DEFINE {
			return true
		}
		for i, left := range x.Lhs {
			id, whole := left.(*ast.Ident)
			var value ast.Expr
			if whole && len(x.Rhs) == len(x.Lhs) {
				value = x.Rhs[i]
			}
			if !whole {
				id = holder(left) // a part of it is changed
			}
			if id != nil {
				found[id.Name] = append(found[id.Name], value)
			}
		}
		return true
	})
	p.assigned[fn] = found
	return found
}

// holder is the variable that an assigned field or element is a part of.
func holder(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func hasParam(fn *ast.FuncType, name string) bool {
	for _, list := range []*ast.FieldList{fn.Params, fn.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				if id.Name == name {
					return true
				}
			}
		}
	}
	return false
}

func (g *golang) traceName(s scope, x *ast.Ident) string {
	if e, _, ok := s.local(x.Name, x.Pos()); ok {
		if e == nil {
			return g.traceGrown(s, x)
		}
		return g.trace(s, e)
	}
	if v, ok := s.p.values[x.Name]; ok {
		return g.trace(scope{p: s.p, f: v.file}, v.expr)
	}
	return "unresolved_name"
}

// traceGrown follows a list that only ever grows by append.
func (g *golang) traceGrown(s scope, x *ast.Ident) string {
	values := s.others(x.Name, nil)
	if len(values) == 0 {
		return "changed_value"
	}
	for _, value := range values {
		call, ok := value.(*ast.CallExpr)
		if !ok || callee(call.Fun) != "append" || len(call.Args) == 0 {
			return "changed_value"
		}
		if id, ok := call.Args[0].(*ast.Ident); !ok || id.Name != x.Name {
			return "changed_value"
		}
		for _, arg := range call.Args[1:] {
			if reason := g.trace(s, arg); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// value follows names to the expression that they stand for.
func (g *golang) value(s scope, e ast.Expr) (ast.Expr, scope) {
	for range maxTrace {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.Ident:
			if local, each, ok := s.local(x.Name, x.Pos()); ok {
				if local == nil || each {
					return e, s
				}
				e = local
				continue
			}
			if v, ok := s.p.values[x.Name]; ok {
				e, s = v.expr, scope{p: s.p, f: v.file}
				continue
			}
		case *ast.SelectorExpr:
			from, name := s.imported(x)
			if next, at, ok := g.foreign(from, name); ok {
				e, s = next, at
				continue
			}
		}
		return e, s
	}
	return e, s
}

// foreign is a package-level value of another package of the source.
func (g *golang) foreign(from, name string) (ast.Expr, scope, bool) {
	if from == "" {
		return nil, scope{}, false
	}
	for _, dir := range g.dirs {
		p := g.packages[dir]
		if v, ok := p.values[name]; ok && g.imports(from, dir) {
			return v.expr, scope{p: p, f: v.file}, true
		}
	}
	return nil, scope{}, false
}

// str is the string that an expression is made of literals for.
func (g *golang) str(s scope, e ast.Expr) (string, bool) {
	g.parts = 0
	return g.strAt(s, e, 0)
}

// maxParts is of how many literals a string may be put together.
const maxParts = 1000

func (g *golang) strAt(s scope, e ast.Expr, depth int) (string, bool) {
	if g.parts++; depth > maxTrace || g.parts > maxParts {
		return "", false
	}
	e, s = g.value(s, e)
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			text, err := strconv.Unquote(x.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			a, ok := g.strAt(s, x.X, depth+1)
			if !ok {
				return "", false
			}
			b, ok := g.strAt(s, x.Y, depth+1)
			return a + b, ok && len(a)+len(b) < 1<<20
		}
	case *ast.CallExpr: // string(x), json.RawMessage(x), []byte(x)
		if len(x.Args) != 1 {
			return "", false
		}
		_, isBytes := x.Fun.(*ast.ArrayType)
		if name := callee(x.Fun); isBytes || name == "string" || name == "RawMessage" || name == "TrimSpace" {
			text, ok := g.strAt(s, x.Args[0], depth+1)
			if name == "TrimSpace" {
				text = strings.TrimSpace(text)
			}
			return text, ok
		}
	}
	return "", false
}

// truth is a boolean, or what a function that makes a pointer to one is given.
func (g *golang) truth(s scope, e ast.Expr) (value, ok bool) {
	e, s = g.value(s, e)
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "true", x.Name == "true" || x.Name == "false"
	case *ast.UnaryExpr:
		if id, isID := x.X.(*ast.Ident); isID && x.Op == token.AND {
			inner, at := g.value(s, id)
			if _, isID := inner.(*ast.Ident); isID {
				return g.truth(at, inner)
			}
		}
	case *ast.CallExpr: // ptr(true), new(true), mcp.ToBoolPtr(true)
		if len(x.Args) == 1 {
			inner, at := g.value(s, x.Args[0])
			if _, isID := inner.(*ast.Ident); isID {
				return g.truth(at, inner)
			}
		}
	}
	return false, false
}

// num is a number as JSON has it.
func (g *golang) num(s scope, e ast.Expr) (string, bool) {
	e, s = g.value(s, e)
	sign := ""
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		sign = "-"
		e, _ = g.value(s, u.X)
	}
	if lit, ok := e.(*ast.BasicLit); ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT) {
		f, err := strconv.ParseFloat(strings.ReplaceAll(lit.Value, "_", ""), 64)
		if n, intErr := strconv.ParseInt(lit.Value, 0, 64); intErr == nil {
			return sign + strconv.FormatInt(n, 10), true
		}
		if err == nil {
			return sign + strconv.FormatFloat(f, 'g', -1, 64), true
		}
	}
	return "", false
}
