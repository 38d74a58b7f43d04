package mcpserver

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// newTool reads mcp.NewTool(name, options…).
func (g *golang) newTool(s scope, call *ast.CallExpr) {
	d, ok := g.started(s, call)
	if !ok {
		return
	}
	in := &inputs{properties: map[string]any{}, required: map[string]bool{}}
	for _, arg := range call.Args[1:] {
		g.option(s, &d, in, arg)
	}
	if call.Ellipsis.IsValid() {
		in.unknown = "spread"
	}
	if d.input.value == nil && d.input.unknown == "" {
		d.input = in.schema()
	}
	g.add(d)
}

// started is the definition that begins with the literal name of a call.
func (g *golang) started(s scope, call *ast.CallExpr) (definition, bool) {
	at := g.place(s.f, call.Pos())
	if len(call.Args) == 0 {
		g.dynamic("name", "missing_name", "", at)
		return definition{}, false
	}
	name, ok := g.str(s, call.Args[0])
	if !ok || name == "" {
		g.dynamic("name", "computed_name", "", at)
		return definition{}, false
	}
	return definition{name: name, at: at}, true
}

// rawTool reads mcp.NewToolWithRawSchema(name, description, schema).
func (g *golang) rawTool(s scope, call *ast.CallExpr) {
	d, ok := g.started(s, call)
	if !ok {
		return
	}
	if len(call.Args) > 1 {
		d.description = g.words(s, call.Args[1], d.at)
	}
	d.input.unknown = "computed_schema"
	if len(call.Args) > 2 {
		d.input = g.raw(s, call.Args[2])
	}
	g.add(d)
}

// raw is JSON Schema that stands in the code as text.
func (g *golang) raw(s scope, e ast.Expr) schema {
	text, ok := g.str(s, e)
	if !ok {
		return schema{unknown: "computed_schema"}
	}
	v, err := source.ParseJSON([]byte(text))
	m, isMap := tool.Plain(v).(map[string]any)
	if err != nil || !isMap {
		return schema{unknown: "invalid_schema"}
	}
	return schema{value: m}
}

func (g *golang) words(s scope, e ast.Expr, at tool.Origin) string {
	text, ok := g.str(s, e)
	if !ok {
		g.out.Warn("computed_description", "the description of a tool is computed and was not read", at)
	}
	return text
}

// inputs is an object schema that options put together.
type inputs struct {
	properties map[string]any
	required   map[string]bool
	unknown    string
}

func (in *inputs) schema() schema {
	m := map[string]any{"type": "object", "properties": in.properties}
	if in.unknown != "" {
		m[unknownMark] = true
	}
	setRequired(m, in.required)
	return schema{value: m, unknown: in.unknown}
}

var goProperties = map[string]string{
	"WithString": "string", "WithNumber": "number", "WithInteger": "integer", "WithBoolean": "boolean", "WithObject": "object",
	"WithArray": "array", "WithAny": "",
}

var goHints = map[string]string{
	"WithReadOnlyHintAnnotation": "readOnlyHint", "WithDestructiveHintAnnotation": "destructiveHint",
	"WithIdempotentHintAnnotation": "idempotentHint", "WithOpenWorldHintAnnotation": "openWorldHint",
}

// option reads one option of mcp.NewTool.
func (g *golang) option(s scope, d *definition, in *inputs, e ast.Expr) {
	e, s = g.value(s, e)
	call, ok := e.(*ast.CallExpr)
	if !ok {
		in.unknown = "computed_option"
		return
	}
	from, name := s.imported(call.Fun)
	if !strings.HasPrefix(from, communityG) {
		in.unknown = "runtime_call"
		return
	}
	if kind, ok := goProperties[name]; ok {
		g.property(s, in, kind, call)
		return
	}
	if hint, ok := goHints[name]; ok && len(call.Args) == 1 {
		g.hint(s, d, hint, call.Args[0])
		return
	}
	switch {
	case name == "WithDescription" && len(call.Args) == 1:
		d.description = g.words(s, call.Args[0], d.at)
	case (name == "WithTitleAnnotation" || name == "WithToolTitle") && len(call.Args) == 1:
		if title, ok := g.str(s, call.Args[0]); ok {
			d.annotations = with(d.annotations, "title", title)
		}
	case name == "WithToolAnnotation" && len(call.Args) == 1:
		g.annotate(s, d, call.Args[0])
	case name == "WithRawInputSchema" && len(call.Args) == 1:
		d.input = g.raw(s, call.Args[0])
	case name == "WithRawOutputSchema" && len(call.Args) == 1:
		d.output = g.raw(s, call.Args[0])
	case name == "WithInputSchema" || name == "WithOutputSchema":
		got := schema{unknown: "computed_schema"}
		if args := typeArguments(call.Fun); len(args) == 1 {
			got = g.typeSchema(s, args[0])
		}
		if name == "WithInputSchema" {
			d.input = got
		} else {
			d.output = got
		}
	case name == "WithSchemaAdditionalProperties", name == "WithMeta", name == "WithTaskSupport", name == "WithIcons", name == "WithToolIcons", name == "WithDeferLoading":
	default:
		in.unknown = "unsupported_option"
	}
}

func typeArguments(e ast.Expr) []ast.Expr {
	switch x := e.(type) {
	case *ast.IndexExpr:
		return []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		return x.Indices
	}
	return nil
}

// hint sets an annotation. A computed one is said, and absent.
func (g *golang) hint(s scope, d *definition, key string, e ast.Expr) {
	value, ok := g.truth(s, e)
	if !ok {
		g.out.Warn("computed_annotation", "an annotation of a tool is computed and was not read", d.at)
		delete(d.annotations, key)
		return
	}
	d.annotations = with(d.annotations, key, value)
}

var annotationFields = map[string]string{
	"ReadOnlyHint": "readOnlyHint", "DestructiveHint": "destructiveHint", "IdempotentHint": "idempotentHint", "OpenWorldHint": "openWorldHint",
}

// annotate reads a literal of mcp.ToolAnnotation or mcp.ToolAnnotations.
func (g *golang) annotate(s scope, d *definition, e ast.Expr) {
	lit, s := g.literal(s, e)
	if lit == nil {
		g.out.Warn("computed_annotation", "an annotation of a tool is computed and was not read", d.at)
		return
	}
	for _, element := range lit.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key := callee(kv.Key)
		if hint, ok := annotationFields[key]; ok {
			g.hint(s, d, hint, kv.Value)
		} else if title, ok := g.str(s, kv.Value); ok && key == "Title" {
			d.annotations = with(d.annotations, "title", title)
		}
	}
}

// literal is the composite literal that an expression stands for.
func (g *golang) literal(s scope, e ast.Expr) (*ast.CompositeLit, scope) {
	e, s = g.value(s, e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e, s = g.value(s, u.X)
	}
	lit, _ := e.(*ast.CompositeLit)
	return lit, s
}

// fields are the keyed elements of a composite literal.
func fields(lit *ast.CompositeLit) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, element := range lit.Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				out[id.Name] = kv.Value
			}
		}
	}
	return out
}

// property reads mcp.WithString(name, options…) and its like.
func (g *golang) property(s scope, in *inputs, kind string, call *ast.CallExpr) {
	if len(call.Args) == 0 {
		in.unknown = "missing_name"
		return
	}
	name, ok := g.str(s, call.Args[0])
	if !ok {
		in.unknown = "computed_name"
		return
	}
	m := map[string]any{}
	if kind != "" {
		m["type"] = kind
	}
	in.properties[name] = m
	for _, arg := range call.Args[1:] {
		arg, at := g.value(s, arg)
		option, ok := arg.(*ast.CallExpr)
		if !ok {
			in.unknown = "computed_option"
			continue
		}
		g.refine(at, in, m, name, option)
	}
}

// keywords are the options of a property that set a keyword to a number or a
// text.
var keywords = map[string]string{
	"Description": "description", "Title": "title", "Pattern": "pattern", "DefaultString": "default", "DefaultNumber": "default",
	"Min": "minimum", "Max": "maximum", "MultipleOf": "multipleOf", "MinLength": "minLength", "MaxLength": "maxLength",
	"MinItems": "minItems", "MaxItems": "maxItems", "MinProperties": "minProperties", "MaxProperties": "maxProperties",
}

func (g *golang) refine(s scope, in *inputs, m map[string]any, name string, call *ast.CallExpr) {
	_, option := s.imported(call.Fun)
	if keyword, ok := keywords[option]; ok && len(call.Args) == 1 {
		if text, ok := g.str(s, call.Args[0]); ok {
			m[keyword] = text
		} else if n, ok := g.num(s, call.Args[0]); ok {
			m[keyword] = json.Number(n)
		} else if option != "Description" && option != "Title" {
			in.unknown = "computed_value"
		}
		return
	}
	switch option {
	case "Required":
		in.required[name] = true
	case "Enum":
		values := make([]any, 0, len(call.Args))
		for _, arg := range call.Args {
			text, ok := g.str(s, arg)
			if !ok {
				in.unknown = "computed_values"
				return
			}
			values = append(values, text)
		}
		if call.Ellipsis.IsValid() {
			in.unknown = "computed_values"
			return
		}
		m["enum"] = values
	case "DefaultBool":
		if len(call.Args) == 1 {
			if value, ok := g.truth(s, call.Args[0]); ok {
				m["default"] = value
			}
		}
	case "WithStringItems", "WithStringEnumItems":
		m["items"] = map[string]any{"type": "string"}
	case "WithNumberItems":
		m["items"] = map[string]any{"type": "number"}
	case "WithIntegerItems":
		m["items"] = map[string]any{"type": "integer"}
	case "WithBooleanItems":
		m["items"] = map[string]any{"type": "boolean"}
	case "Items", "Properties", "AdditionalProperties", "PropertyNames", "UniqueItems", "DefaultArray":
		// What stands inside of an input is not compared further.
	default:
		in.unknown = "unsupported_option"
	}
}

// composite reads a literal of mcp.Tool, also one whose type its list says.
func (g *golang) composite(s scope, lit *ast.CompositeLit) {
	if from, name := s.imported(lit.Type); isLibrary(from) && name == "Tool" {
		g.literalTool(s, lit)
		return
	}
	from, name := s.imported(elementType(lit.Type))
	if !isLibrary(from) || name != "Tool" {
		return
	}
	for _, element := range lit.Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			element = kv.Value
		}
		if inner, ok := element.(*ast.CompositeLit); ok && inner.Type == nil {
			g.literalTool(s, inner)
		}
	}
}

// literalTool reads {Name, Description, InputSchema, Annotations}.
func (g *golang) literalTool(s scope, lit *ast.CompositeLit) {
	f := fields(lit)
	at := g.place(s.f, lit.Pos())
	if len(lit.Elts) == 0 {
		return // a zero value that is filled elsewhere
	}
	name, ok := "", false
	if f["Name"] != nil {
		name, ok = g.str(s, f["Name"])
	}
	if !ok || name == "" {
		g.dynamic("name", "computed_name", "", at)
		return
	}
	d := definition{name: name, at: at}
	if e := f["Description"]; e != nil {
		d.description = g.words(s, e, at)
	}
	if e := f["Title"]; e != nil {
		if title, ok := g.str(s, e); ok {
			d.annotations = with(d.annotations, "title", title)
		}
	}
	if e := f["Annotations"]; e != nil {
		g.annotate(s, &d, e)
	}
	d.input = g.toolInput(s, lit, f)
	if e := f["RawOutputSchema"]; e != nil {
		d.output = g.raw(s, e)
	}
	g.add(d)
}

// toolInput is the input schema of a literal tool: as it is given, else as the
// handler beside it takes it.
func (g *golang) toolInput(s scope, lit *ast.CompositeLit, f map[string]ast.Expr) schema {
	if e := f["RawInputSchema"]; e != nil {
		return g.raw(s, e)
	}
	if e := f["InputSchema"]; e != nil {
		return g.schemaValue(s, e, 0)
	}
	call := registering(s, lit)
	if call == nil {
		return schema{unknown: "missing_schema"}
	}
	return g.handlerInput(s, call)
}

// registering is the call of AddTool that a literal, or the variable that it is
// given to, is an argument of.
func registering(s scope, lit *ast.CompositeLit) *ast.CallExpr {
	name := ""
	for i := len(s.stack) - 1; i >= 0; i-- {
		switch x := s.stack[i].(type) {
		case *ast.CallExpr:
			if callee(base(x.Fun)) == "AddTool" {
				return x
			}
			return nil
		case *ast.AssignStmt:
			for n, right := range x.Rhs {
				if right.Pos() <= lit.Pos() && lit.End() <= right.End() && n < len(x.Lhs) {
					if id, ok := x.Lhs[n].(*ast.Ident); ok {
						name = id.Name
					}
				}
			}
		case *ast.ValueSpec:
			if len(x.Names) == 1 {
				name = x.Names[0].Name
			}
		case *ast.BlockStmt:
			if name != "" {
				return usedBy(x, name)
			}
		case *ast.File:
			if name != "" {
				return usedBy(x, name)
			}
		}
	}
	return nil
}

func base(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.IndexExpr:
		return x.X
	case *ast.IndexListExpr:
		return x.X
	}
	return e
}

// usedBy is the call of AddTool with a variable.
func usedBy(n ast.Node, name string) *ast.CallExpr {
	var found *ast.CallExpr
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || callee(base(call.Fun)) != "AddTool" {
			return found == nil
		}
		for _, arg := range call.Args {
			if u, ok := arg.(*ast.UnaryExpr); ok {
				arg = u.X
			}
			if id, ok := arg.(*ast.Ident); ok && id.Name == name {
				found = call
			}
		}
		return true
	})
	return found
}
