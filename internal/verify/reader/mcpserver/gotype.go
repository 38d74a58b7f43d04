package mcpserver

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// handlerInput is the schema of the input type of the handler that a call of
// AddTool is given: its last parameter, or the type argument of its request.
func (g *golang) handlerInput(s scope, call *ast.CallExpr) schema {
	if args := typeArguments(call.Fun); len(args) > 0 {
		return g.typeSchema(s, args[0])
	}
	if len(call.Args) == 0 {
		return schema{unknown: "missing_schema"}
	}
	handler, at := g.value(s, call.Args[len(call.Args)-1])
	var fn *ast.FuncType
	switch x := handler.(type) {
	case *ast.FuncLit:
		fn = x.Type
	case *ast.Ident, *ast.SelectorExpr:
		if found := at.p.funcs[callee(x)]; found.decl != nil {
			fn, at = found.decl.Type, scope{p: at.p, f: found.file}
		}
	case *ast.CallExpr: // of a function that makes handlers
		found := at.p.funcs[callee(base(x.Fun))]
		if found.decl == nil || found.decl.Type.Results == nil || len(found.decl.Type.Results.List) == 0 {
			break
		}
		at = scope{p: at.p, f: found.file}
		result := found.decl.Type.Results.List[0].Type
		if args := typeArguments(result); len(args) == 2 { // ToolHandlerFor[In, Out]
			return g.typeSchema(at, args[0])
		}
		fn, _ = result.(*ast.FuncType)
	}
	if fn == nil {
		return schema{unknown: "computed_handler"}
	}
	var params []ast.Expr
	for _, field := range fn.Params.List {
		for range max(1, len(field.Names)) {
			params = append(params, field.Type)
		}
	}
	if len(params) < 2 {
		return schema{unknown: "unsupported_handler"}
	}
	last := params[len(params)-1]
	if star, ok := last.(*ast.StarExpr); ok {
		// func(ctx, *CallToolParamsFor[In]), or a raw request without a type.
		args := typeArguments(star.X)
		if len(args) != 1 {
			if from, _ := at.imported(star); isLibrary(from) {
				return schema{unknown: "missing_schema"}
			}
			return g.typeSchema(at, star.X)
		}
		last = args[0]
		if inner, ok := last.(*ast.StarExpr); ok {
			if args := typeArguments(inner.X); len(args) == 1 {
				last = args[0]
			}
		}
	}
	return g.typeSchema(at, last)
}

// typeSchema is the schema of a Go type as its JSON tags say.
func (g *golang) typeSchema(s scope, e ast.Expr) schema {
	w := &typeWalk{golang: g}
	m := w.of(s, e, 0)
	if m[unknownMark] == true {
		return schema{unknown: w.unknown}
	}
	return schema{value: m, unknown: w.unknown}
}

type typeWalk struct {
	*golang
	unknown string
	open    []string // named types that the place is inside of
	nodes   int
}

func (w *typeWalk) fail(reason string) map[string]any {
	w.unknown = reason
	return map[string]any{unknownMark: true}
}

var basicTypes = map[string]string{
	"string": "string", "bool": "boolean", "int": "integer", "int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer",
	"uint": "integer", "uint8": "integer", "uint16": "integer", "uint32": "integer", "uint64": "integer", "byte": "integer", "rune": "integer",
	"float32": "number", "float64": "number",
}

func (w *typeWalk) of(s scope, e ast.Expr, depth int) map[string]any {
	if w.nodes++; depth > maxTrace || w.nodes > maxSchemaNodes {
		return w.fail("too_deep")
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return w.of(s, x.X, depth+1)
	case *ast.StarExpr:
		return w.of(s, x.X, depth+1)
	case *ast.ArrayType:
		if id, ok := x.Elt.(*ast.Ident); ok && (id.Name == "byte" || id.Name == "uint8") && x.Len == nil {
			return map[string]any{"type": "string"}
		}
		return map[string]any{"type": "array", "items": w.of(s, x.Elt, depth+1)}
	case *ast.MapType:
		return map[string]any{"type": "object", "additionalProperties": w.of(s, x.Value, depth+1)}
	case *ast.StructType:
		return w.structure(s, x, depth)
	case *ast.InterfaceType:
		return map[string]any{}
	case *ast.Ident:
		return w.named(s, x.Name, depth)
	case *ast.SelectorExpr:
		return w.foreignType(s, x, depth)
	}
	return w.fail("unsupported_type")
}

func (w *typeWalk) named(s scope, name string, depth int) map[string]any {
	if local := s.localType(name); local != nil {
		if w.nodes++; depth > maxTrace {
			return w.fail("too_deep")
		}
		return w.of(s, local, depth+1)
	}
	if t, ok := s.p.types[name]; ok {
		if t.spec.TypeParams != nil {
			return w.fail("generic_type")
		}
		key := s.p.dir + "." + name
		for _, o := range w.open {
			if o == key {
				return map[string]any{"x-shipgate-recursive": true}
			}
		}
		w.open = append(w.open, key)
		defer func() { w.open = w.open[:len(w.open)-1] }()
		return w.of(scope{p: s.p, f: t.file}, t.spec.Type, depth+1)
	}
	if kind, ok := basicTypes[name]; ok {
		return map[string]any{"type": kind}
	}
	if name == "any" {
		return map[string]any{}
	}
	return w.fail("unresolved_name")
}

// localType is a type that a function around the place declares.
func (s scope) localType(name string) ast.Expr {
	for i := len(s.stack) - 1; i >= 0; i-- {
		block, ok := s.stack[i].(*ast.BlockStmt)
		if !ok {
			continue
		}
		for _, stmt := range block.List {
			decl, ok := stmt.(*ast.DeclStmt)
			if !ok {
				continue
			}
			if gen, ok := decl.Decl.(*ast.GenDecl); ok {
				for _, spec := range gen.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == name {
						return t.Type
					}
				}
			}
		}
	}
	return nil
}

func (w *typeWalk) foreignType(s scope, x *ast.SelectorExpr, depth int) map[string]any {
	from, name := s.imported(x)
	switch from + "." + name {
	case "time.Time":
		return map[string]any{"type": "string", "format": "date-time"}
	case "encoding/json.RawMessage":
		return map[string]any{}
	case "encoding/json.Number":
		return map[string]any{"type": "number"}
	}
	for _, dir := range w.dirs {
		p := w.packages[dir]
		if _, ok := p.types[name]; ok && strings.HasSuffix("/"+from, "/"+lastOf(dir)) {
			return w.named(scope{p: p}, name, depth+1)
		}
	}
	return w.fail("imported")
}

func lastOf(dir string) string { return dir[strings.LastIndexByte(dir, '/')+1:] }

func (w *typeWalk) structure(s scope, x *ast.StructType, depth int) map[string]any {
	out := map[string]any{"type": "object"}
	properties, required := map[string]any{}, map[string]bool{}
	for _, field := range x.Fields.List {
		tag := reflect.StructTag("")
		if field.Tag != nil {
			text, err := strconv.Unquote(field.Tag.Value)
			if err == nil {
				tag = reflect.StructTag(text)
			}
		}
		name, rest, _ := strings.Cut(tag.Get("json"), ",")
		if name == "-" && rest == "" {
			continue
		}
		optional := strings.Contains(","+rest+",", ",omitempty,") || strings.Contains(","+rest+",", ",omitzero,")
		if len(field.Names) == 0 && name == "" {
			w.embedded(s, field.Type, properties, required, depth)
			continue
		}
		for _, id := range field.Names {
			if !id.IsExported() {
				continue
			}
			key := name
			if key == "" {
				key = id.Name
			}
			m := w.of(s, field.Type, depth+1)
			optional = describeField(m, tag.Get("jsonschema"), optional)
			if text := tag.Get("jsonschema_description"); text != "" {
				m["description"] = text
			}
			properties[key] = m
			required[key] = !optional
		}
	}
	out["properties"] = properties
	setRequired(out, required)
	return out
}

// embedded takes the fields of an embedded struct up.
func (w *typeWalk) embedded(s scope, e ast.Expr, properties map[string]any, required map[string]bool, depth int) {
	inner := w.of(s, e, depth+1)
	more, _ := inner["properties"].(map[string]any)
	for key, m := range more {
		if _, ok := properties[key]; !ok {
			properties[key] = m
		}
	}
	must, _ := inner["required"].([]any)
	for _, key := range must {
		if text, ok := key.(string); ok {
			required[text] = true
		}
	}
}

// describeField reads the jsonschema tag: a plain description, or a list of
// required, description=, enum=, minimum= and the like. It answers whether the
// field may be left out.
func describeField(m map[string]any, tag string, optional bool) bool {
	first, _, _ := strings.Cut(tag, ",")
	key, _, pair := strings.Cut(first, "=")
	if tag == "" {
		return optional
	}
	if !(pair && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "") && first != "required" && first != "optional" {
		m["description"] = tag
		return optional
	}
	var enum []any
	for _, part := range strings.Split(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "required":
			optional = false
		case "optional":
			optional = true
		case "description", "title", "format", "pattern":
			m[key] = value
		case "enum":
			enum = append(enum, value)
		case "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "exclusiveMinimum", "exclusiveMaximum":
			if _, err := strconv.ParseFloat(value, 64); err == nil && json.Valid([]byte(value)) {
				m[key] = json.Number(value)
			}
		}
	}
	if enum != nil {
		m["enum"] = enum
	}
	return optional
}

// schemaFields are the fields of a schema literal by their keyword.
var schemaFields = map[string]string{
	"Type": "type", "Properties": "properties", "Required": "required", "Description": "description", "Items": "items", "Enum": "enum",
	"Minimum": "minimum", "Maximum": "maximum", "MinLength": "minLength", "MaxLength": "maxLength", "Format": "format", "Title": "title",
	"AdditionalProperties": "additionalProperties", "AnyOf": "anyOf", "OneOf": "oneOf", "AllOf": "allOf", "Const": "const", "Default": "default",
	"Pattern": "pattern", "MinItems": "minItems", "MaxItems": "maxItems", "Types": "type",
}

// schemaValue is an input schema in code: a literal of a schema type, of a map,
// or JSON text.
func (g *golang) schemaValue(s scope, e ast.Expr, depth int) schema {
	if text, ok := g.str(s, e); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		return g.raw(s, e)
	}
	e, s = g.value(s, e)
	unknown := ""
	g.nodes = 0
	if call, ok := e.(*ast.CallExpr); ok {
		if args := typeArguments(call.Fun); len(args) == 1 && callee(base(call.Fun)) == "For" { // jsonschema.For[T]
			return g.typeSchema(s, args[0])
		}
	}
	value := g.schemaLiteral(s, e, &unknown, depth)
	m, ok := value.(map[string]any)
	if !ok || m[unknownMark] == true {
		return schema{unknown: max(unknown, "computed_schema")}
	}
	return schema{value: m, unknown: unknown}
}

func (g *golang) schemaLiteral(s scope, e ast.Expr, unknown *string, depth int) any {
	if g.nodes++; depth > maxTrace || g.nodes > maxSchemaNodes {
		*unknown = "too_deep"
		return map[string]any{unknownMark: true}
	}
	e, s = g.value(s, e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		return g.schemaLiteral(s, u.X, unknown, depth+1)
	}
	if lit, ok := e.(*ast.CompositeLit); ok {
		return g.schemaComposite(s, lit, unknown, depth)
	}
	if text, ok := g.str(s, e); ok {
		return text
	}
	if n, ok := g.num(s, e); ok {
		return json.Number(n)
	}
	if truth, ok := g.truth(s, e); ok {
		return truth
	}
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 { // ptr(1.0)
		if n, ok := g.num(s, call.Args[0]); ok {
			return json.Number(n)
		}
	}
	*unknown = "computed_schema"
	return map[string]any{unknownMark: true}
}

func (g *golang) schemaComposite(s scope, lit *ast.CompositeLit, unknown *string, depth int) any {
	if _, isArray := lit.Type.(*ast.ArrayType); isArray {
		list := make([]any, 0, len(lit.Elts))
		for _, element := range lit.Elts {
			list = append(list, g.schemaLiteral(s, element, unknown, depth+1))
		}
		return list
	}
	out := map[string]any{}
	for _, element := range lit.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			*unknown = "unsupported_expression"
			continue
		}
		key, isText := g.str(s, kv.Key)
		if id, isID := kv.Key.(*ast.Ident); isID && !isText {
			if key = schemaFields[id.Name]; key == "" {
				continue
			}
		} else if !isText {
			*unknown = "computed_key"
			continue
		}
		out[key] = g.schemaLiteral(s, kv.Value, unknown, depth+1)
	}
	return out
}
