package mcpserver

import (
	"go/ast"
	"go/token"
	"strings"
)

// maxType is how deep types and values are followed.
const maxType = 24

// libraryServer stands for the type that the libraries' constructors give back.
var libraryServer = &ast.BadExpr{}

// isServer says whether an expression is known to be a server.
func (h *goHanding) isServer(at goAt, e ast.Expr, depth int) bool {
	if h.steps++; depth > maxType || h.steps > maxAsked {
		return false
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return h.isServer(at, x.X, depth+1)
	case *ast.StarExpr:
		return h.isServer(at, x.X, depth+1)
	case *ast.UnaryExpr:
		return x.Op == token.AND && h.isServer(at, x.X, depth+1)
	case *ast.Ident:
		if o := object(x); o != nil {
			if h.marked[o] {
				return true
			}
			if value, _ := h.valueOf(x, o); value != nil && h.isServer(at, value, depth+1) {
				return true
			}
		} else if v, ok := at.p.values[x.Name]; ok && v.expr != nil && h.isServer(goAt{at.p, v.file}, v.expr, depth+1) {
			return true
		}
	case *ast.CallExpr: // a conversion
		if len(x.Args) == 1 && h.harmless(at, x) && !isAppend(x) {
			return h.isServer(at, x.Args[0], depth+1)
		}
	case *ast.SelectorExpr, *ast.TypeAssertExpr, *ast.IndexExpr:
	default:
		return false
	}
	from, typ := h.typeOf(at, e, depth+1)
	return typ != nil && h.serverType(from, typ, depth+1)
}

func isAppend(call *ast.CallExpr) bool { return callee(call.Fun) == "append" }

// valueOf is what a name is declared with, and which of its results: nil when
// it is none.
func (h *goHanding) valueOf(id *ast.Ident, o *goObject) (ast.Expr, int) {
	var names, values []ast.Expr
	var decl ast.Node
	many := 0
	switch d := o.Decl.(type) {
	case *ast.AssignStmt:
		decl, names, values, many = d, d.Lhs, d.Rhs, len(d.Lhs)
	case *ast.ValueSpec:
		decl, values = d, d.Values
		if h.places[d] == nil {
			for _, name := range d.Names {
				names = append(names, name)
			}
		}
		many = len(d.Names)
	}
	if len(values) == 0 {
		return nil, 0
	}
	places, ok := h.places[decl] // found once: a declaration may have very many names
	if !ok {
		places = map[string]int{}
		for i, name := range names {
			if other, ok := name.(*ast.Ident); ok {
				places[other.Name] = i
			}
		}
		h.places[decl] = places
	}
	i, ok := places[id.Name]
	switch {
	case ok && len(values) == many:
		return values[i], 0
	case ok && len(values) == 1:
		return values[0], i
	}
	return nil, 0
}

// typeOf is the type of an expression as far as it is written down, and where.
func (h *goHanding) typeOf(at goAt, e ast.Expr, depth int) (goAt, ast.Expr) {
	if h.steps++; depth > maxType || h.steps > maxAsked {
		return at, nil
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return h.typeOf(at, x.X, depth+1)
	case *ast.StarExpr:
		return h.typeOf(at, x.X, depth+1)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return h.typeOf(at, x.X, depth+1)
		}
	case *ast.CompositeLit:
		return at, x.Type
	case *ast.TypeAssertExpr:
		return at, x.Type
	case *ast.IndexExpr:
		from, typ := h.typeOf(at, x.X, depth+1)
		return from, elementType(typ)
	case *ast.Ident:
		return h.typeOfName(at, x, depth)
	case *ast.SelectorExpr:
		return h.typeOfField(at, x, depth)
	case *ast.CallExpr:
		return h.resultOf(at, x, 0, depth+1)
	}
	return at, nil
}

func (h *goHanding) typeOfName(at goAt, x *ast.Ident, depth int) (goAt, ast.Expr) {
	o := object(x)
	if o == nil {
		if typ, ok := at.p.kinds[x.Name]; ok {
			return goAt{at.p, typ.file}, typ.kind
		}
		if v, ok := at.p.values[x.Name]; ok && v.expr != nil {
			return h.typeOf(goAt{at.p, v.file}, v.expr, depth+1)
		}
		return at, nil
	}
	switch d := o.Decl.(type) {
	case *ast.Field:
		if many, ok := d.Type.(*ast.Ellipsis); ok {
			return at, &ast.ArrayType{Elt: many.Elt}
		}
		return at, d.Type
	case *ast.ValueSpec:
		if d.Type != nil {
			return at, d.Type
		}
	}
	value, i := h.valueOf(x, o)
	switch v := value.(type) {
	case nil:
		return at, nil
	case *ast.UnaryExpr:
		if v.Op == token.RANGE {
			from, typ := h.typeOf(at, v.X, depth+1)
			return from, elementType(typ)
		}
	case *ast.CallExpr:
		return h.resultOf(at, v, i, depth+1)
	}
	return h.typeOf(at, value, depth+1)
}

// typeOfField is the type of a field, or of a variable of another package.
func (h *goHanding) typeOfField(at goAt, x *ast.SelectorExpr, depth int) (goAt, ast.Expr) {
	if from, name := h.from(at, x); from != "" {
		if p := h.within(from); p != nil {
			return h.typeOfName(goAt{p, p.files[0]}, &ast.Ident{Name: name}, depth+1)
		}
		return at, nil
	}
	from, typ := h.typeOf(at, x.X, depth+1)
	for range maxType {
		in, spec := h.named(from, typ)
		if spec == nil {
			return at, nil
		}
		from, typ = in, spec.Type
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range fields.Fields.List {
			if len(field.Names) == 0 && callee(bare(field.Type)) == x.Sel.Name {
				return from, field.Type
			}
			for _, name := range field.Names {
				if name.Name == x.Sel.Name {
					return from, field.Type
				}
			}
		}
		return at, nil
	}
	return at, nil
}

// bare is a type without pointers, parentheses and type arguments.
func bare(e ast.Expr) ast.Expr {
	for {
		e = plain(e)
		star, ok := e.(*ast.StarExpr)
		if !ok {
			return e
		}
		e = star.X
	}
}

// named is the declaration in the source of a named type.
func (h *goHanding) named(at goAt, typ ast.Expr) (goAt, *ast.TypeSpec) {
	switch x := bare(typ).(type) {
	case *ast.Ident:
		if o := object(x); o != nil {
			spec, _ := o.Decl.(*ast.TypeSpec)
			return at, spec
		}
		t := at.p.types[x.Name]
		return goAt{at.p, t.file}, t.spec
	case *ast.SelectorExpr:
		from, name := h.from(at, x)
		if p := h.within(from); p != nil && from != "" {
			t := p.types[name]
			return goAt{p, t.file}, t.spec
		}
	}
	return at, nil
}

// resultOf is the type of result i of a call.
func (h *goHanding) resultOf(at goAt, call *ast.CallExpr, i, depth int) (goAt, ast.Expr) {
	switch fun := plain(call.Fun).(type) {
	case *ast.SelectorExpr:
		from, name := h.from(at, fun)
		if from == officialGo && name == "NewServer" || strings.HasPrefix(from, communityG) && name == "NewMCPServer" {
			return at, libraryServer
		}
	case *ast.Ident:
		if fun.Name == "new" && object(fun) == nil && len(call.Args) == 1 {
			return at, call.Args[0]
		}
		if h.typeNamed(at, fun) != nil {
			return at, fun
		}
	}
	targets, _ := h.targets(at, call.Fun, depth+1)
	for _, fn := range targets {
		if fn.typ.Results == nil {
			continue
		}
		n := 0
		for _, field := range fn.typ.Results.List {
			if n += max(1, len(field.Names)); i < n {
				return fn.goAt, field.Type
			}
		}
	}
	return at, nil
}

// serverType says whether a type is that of a server of the libraries.
func (h *goHanding) serverType(at goAt, typ ast.Expr, depth int) bool {
	if typ == libraryServer {
		return true
	}
	if depth > 2*maxType {
		return false
	}
	switch x := bare(typ).(type) {
	case *ast.SelectorExpr:
		switch from, name := h.from(at, x); {
		case from == officialGo:
			return name == "Server"
		case strings.HasPrefix(from, communityG):
			return name == "MCPServer"
		}
	case *ast.Ident:
		if at.f == nil {
			return false
		}
		if from := at.f.imports["."]; from == officialGo && x.Name == "Server" || strings.HasPrefix(from, communityG) && x.Name == "MCPServer" {
			return true
		}
	}
	in, spec := h.named(at, typ)
	if spec == nil {
		return false
	}
	if _, ok := spec.Type.(*ast.StructType); ok {
		return false
	}
	return h.serverType(in, spec.Type, depth+1)
}

// targets are the functions of the source that a call may run, and whether
// these are all of them.
func (h *goHanding) targets(at goAt, fun ast.Expr, depth int) ([]goTarget, bool) {
	if h.steps++; depth > maxType || h.steps > maxAsked {
		return nil, false
	}
	switch x := plain(fun).(type) {
	case *ast.FuncLit:
		return []goTarget{{at, x.Type}}, true
	case *ast.Ident:
		return h.targetsOfName(at, x, depth)
	case *ast.SelectorExpr:
		if from, name := h.from(at, x); from != "" {
			if p := h.within(from); p != nil {
				return h.targetsOfName(goAt{p, p.files[0]}, &ast.Ident{Name: name}, depth+1)
			}
			return nil, false
		}
		from, typ := h.typeOf(at, x.X, depth+1)
		if in, spec := h.named(from, typ); spec != nil {
			if fn, ok := in.p.methods[spec.Name.Name+"."+x.Sel.Name]; ok && fn.decl.Body != nil {
				return []goTarget{{goAt{in.p, fn.file}, fn.decl.Type}}, true
			}
		}
	}
	return nil, false
}

func (h *goHanding) targetsOfName(at goAt, x *ast.Ident, depth int) ([]goTarget, bool) {
	o := object(x)
	if o == nil {
		if fn := at.p.funcs[x.Name]; fn.decl != nil && fn.decl.Recv == nil && fn.decl.Body != nil {
			return []goTarget{{goAt{at.p, fn.file}, fn.decl.Type}}, true
		}
		return nil, false // a variable of the package may be set by anybody
	}
	if fn, ok := o.Decl.(*ast.FuncDecl); ok && fn.Body != nil {
		return []goTarget{{at, fn.Type}}, true
	}
	value, i := h.valueOf(x, o)
	if loop, ok := value.(*ast.UnaryExpr); ok && loop.Op == token.RANGE && i == 1 {
		return h.looped(at, loop.X, depth)
	}
	assign, ok := o.Decl.(*ast.AssignStmt)
	if value == nil || i != 0 || !ok || h.assignedAgain(at, x, assign) {
		return nil, false
	}
	return h.targets(at, value, depth+1)
}

// looped are the functions of the literal list that a loop goes over.
func (h *goHanding) looped(at goAt, list ast.Expr, depth int) ([]goTarget, bool) {
	if id, ok := list.(*ast.Ident); ok && object(id) != nil {
		list, _ = h.valueOf(id, object(id))
	}
	lit, ok := list.(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	var out []goTarget
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		more, ok := h.targets(at, e, depth+1)
		if !ok {
			return out, false
		}
		out = append(out, more...)
	}
	return out, len(out) > 0
}

// assignedAgain says whether a local name gets another value than its first.
func (h *goHanding) assignedAgain(at goAt, x *ast.Ident, first *ast.AssignStmt) bool {
	for _, fn := range at.f.tree.Decls {
		if d, ok := fn.(*ast.FuncDecl); ok && d.Body != nil && d.Pos() <= first.Pos() && first.End() <= d.End() {
			return len(at.p.assignments(d)[x.Name]) > 0
		}
	}
	return false
}
