package pyagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

// Bounds of one schema.
const (
	maxSchemaDepth  = 8
	maxSchemaFields = 500
	maxSignature    = 64 // parameters shown
)

// skipped are parameters that frameworks fill in themselves (§5.2).
var skipped = []string{"self", "cls", "ctx", "context", "config", "runtime", "run_manager", "callbacks"}

// injected are types of parameters that frameworks fill in themselves.
var injected = []string{"RunContextWrapper", "ToolContext", "ToolRuntime", "RunnableConfig", "CallbackContext", "InvocationContext"}

// schemas turns annotations into JSON Schema (§5.2 "Python rules").
type schemas struct {
	mod    *module
	fields int
	open   map[*python.Class]bool
}

// function is a tool made of a function: its parameters, docstring and place.
// kind is the source_type. The name is the function's own.
func (m *module) function(f *python.Function, kind string) tool.Tool {
	s := schemas{mod: m, open: map[*python.Class]bool{}}
	schema := s.function(f)
	return tool.Tool{
		Name: f.Name, Description: docstring(f.Body), Origin: m.origin(kind, f.Range),
		Input: schema, Params: tool.Parameters(schema), Signature: m.signature(f),
		Annotations: map[string]any{}, Method: "parsed", Confidence: tool.Medium,
	}
}

// useSchema gives a tool the schema of a Pydantic class, as args_schema does.
func (m *module) useSchema(t *tool.Tool, e python.Expr) {
	if e == nil {
		return
	}
	if d := m.pydantic(e); d != nil {
		s := schemas{mod: d.mod, open: map[*python.Class]bool{}}
		t.Input = s.class(d.bind.Class, 0)
		t.Params = tool.Parameters(t.Input)
		return
	}
	if v, ok := m.file.Literal(e); ok {
		if v == nil {
			return
		}
		if schema, ok := v.(map[string]any); ok {
			t.Input, t.Params = schema, tool.Parameters(schema)
			return
		}
	}
	t.Input, t.Params = nil, nil
	m.dynamic("schema", unresolvedName, "", t.Name, e.At())
}

var pydanticPackages = []string{"pydantic", "langchain_core", "langchain"}

// pydantic is the BaseModel class of the program that an expression names.
func (m *module) pydantic(e python.Expr) *def {
	for _, d := range m.defs(e) {
		if d.bind.Class != nil && d.classIs([]string{"BaseModel"}, pydanticPackages) {
			return &d
		}
	}
	return nil
}

// docstring is the first paragraph of the text that a body begins with, on one
// line.
func docstring(body []python.Stmt) string {
	if len(body) == 0 {
		return ""
	}
	e, ok := body[0].(*python.Evaluate)
	if !ok {
		return ""
	}
	s, ok := e.Value.(*python.Str)
	if !ok || s.Bytes {
		return ""
	}
	return paragraph(s.Value)
}

func paragraph(text string) string {
	var words []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if strings.TrimSpace(line) == "" {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

// signature shows a function as written, without the values of defaults, which
// may be secrets.
func (m *module) signature(f *python.Function) string {
	var params []string
	for i, p := range f.Params.List {
		if i == maxSignature {
			params = append(params, "…")
			break
		}
		text := p.Name
		switch p.Kind {
		case python.VarArgs, python.VarKeywords:
			text = string(p.Kind) + text
		default:
		}
		if p.Annotation != nil {
			text += ": " + m.short(p.Annotation)
		}
		if p.Default != nil {
			text += " = …"
		}
		params = append(params, text)
	}
	sig := f.Name + "(" + strings.Join(params, ", ") + ")"
	if f.Async {
		sig = "async " + sig
	}
	if f.Returns != nil {
		sig += " -> " + m.short(f.Returns)
	}
	return sig
}

// short is the text of an annotation on one line, texts in it left out.
func (m *module) short(e python.Expr) string {
	literal := false
	python.Inspect(e, func(n python.Node) bool {
		switch n.(type) {
		case *python.Str, *python.FString:
			literal = true
		}
		return !literal
	})
	if literal {
		if s, ok := e.(*python.Subscript); ok {
			return label(s.Value) + "[…]"
		}
		return "…"
	}
	r := e.At()
	if r.End.Line-r.Start.Line > 20 {
		return "…"
	}
	text := strings.Join(strings.Fields(m.file.Source(r)), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}

func (s *schemas) function(f *python.Function) map[string]any {
	properties, required := map[string]any{}, []any{}
	out := map[string]any{"type": "object", "properties": properties}
	for _, p := range f.Params.List {
		if s.fields++; s.fields > maxSchemaFields {
			out["additionalProperties"] = true
			break
		}
		switch p.Kind {
		case python.VarArgs:
			continue
		case python.VarKeywords:
			out["additionalProperties"] = true
			continue
		default:
		}
		if slices.Contains(skipped, p.Name) || s.isInjected(p.Annotation) {
			continue
		}
		property := s.annotation(p.Annotation, 0)
		if p.Default == nil {
			required = append(required, p.Name)
		} else if s.field(property, p.Default) {
			required = append(required, p.Name)
		}
		properties[p.Name] = property
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// isInjected says whether the framework itself fills a parameter of this type.
func (s *schemas) isInjected(e python.Expr) bool {
	sub, ok := e.(*python.Subscript)
	if !ok {
		return e != nil && slices.Contains(injected, last(s.named(e)))
	}
	if slices.Contains(injected, last(s.named(sub.Value))) {
		return true
	}
	args, _ := sub.Index.(*python.Sequence)
	if last(s.named(sub.Value)) != "Annotated" || args == nil {
		return false
	}
	for _, meta := range args.Items[min(1, len(args.Items)):] {
		if c, ok := meta.(*python.Call); ok {
			meta = c.Func
		}
		if strings.HasPrefix(last(s.named(meta)), "Injected") {
			return true
		}
	}
	return false
}

// named is the qualified name of a type, or the name as written.
func (s *schemas) named(e python.Expr) string {
	if q, ok := s.mod.file.Resolve(e); ok {
		return q
	}
	return label(e)
}

// annotation is the schema of a type: the coarse types of §5.2. None beside a
// type, Annotated and quotes around a type do not hide it.
func (s *schemas) annotation(e python.Expr, depth int) map[string]any {
	if depth > maxSchemaDepth {
		return map[string]any{"type": "string"}
	}
	switch e := e.(type) {
	case *python.Str:
		if inner, err := python.Parse([]byte(e.Value)); err == nil && len(e.Value) < 200 && len(inner.Body) == 1 {
			if v, ok := inner.Body[0].(*python.Evaluate); ok && !isText(v.Value) {
				return s.annotation(v.Value, depth+1)
			}
		}
	case *python.Binary:
		if e.Op == "|" {
			return s.union([]python.Expr{e.Left, e.Right}, depth)
		}
	case *python.Subscript:
		return s.generic(e, depth)
	case *python.Name, *python.Attribute:
		if d := s.mod.pydantic(e); d != nil && d.mod == s.mod {
			return s.class(d.bind.Class, depth+1)
		}
		if s.isTypedDict(e) {
			return map[string]any{"type": "object"}
		}
		return coarse(last(s.named(e)))
	}
	return map[string]any{"type": "string"}
}

func isText(e python.Expr) bool {
	_, ok := e.(*python.Str)
	return ok
}

func coarse(name string) map[string]any {
	kind := "string"
	switch name {
	case "int", "float":
		kind = "number"
	case "bool":
		kind = "boolean"
	case "dict", "Dict", "Mapping", "TypedDict":
		kind = "object"
	case "list", "List", "set", "Set", "tuple", "Tuple", "Sequence":
		kind = "array"
	}
	return map[string]any{"type": kind}
}

func (s *schemas) isTypedDict(e python.Expr) bool {
	for _, d := range s.mod.defs(e) {
		if d.classIs([]string{"TypedDict"}, []string{"typing", "typing_extensions"}) {
			return true
		}
	}
	return false
}

func arguments(e python.Expr) []python.Expr {
	if list, ok := e.(*python.Sequence); ok && list.Kind == python.Tuple {
		return list.Items
	}
	return []python.Expr{e}
}

func (s *schemas) generic(e *python.Subscript, depth int) map[string]any {
	args := arguments(e.Index)
	switch name := last(s.named(e.Value)); name {
	case "Optional", "Union":
		return s.union(args, depth)
	case "Annotated":
		out := s.annotation(args[0], depth+1)
		for _, meta := range args[1:] {
			if text, ok := s.mod.file.Text(meta); ok {
				out["description"] = text
			} else if s.isField(meta) {
				s.field(out, meta)
			}
		}
		return out
	case "Literal":
		var values []any
		for _, a := range args {
			v, ok := s.mod.file.Literal(a)
			if !ok {
				return map[string]any{"type": "string"}
			}
			values = append(values, v)
		}
		return map[string]any{"enum": values}
	case "Required", "NotRequired", "Final", "ClassVar":
		return s.annotation(args[0], depth+1)
	default:
		return coarse(name)
	}
}

// union is the one type beside None, a string when there are several.
func (s *schemas) union(list []python.Expr, depth int) map[string]any {
	var types []python.Expr
	for _, e := range list {
		if c, ok := e.(*python.Constant); !ok || c.Text != "None" {
			types = append(types, e)
		}
	}
	if len(types) == 1 {
		return s.annotation(types[0], depth+1)
	}
	return map[string]any{"type": "string"}
}

func (s *schemas) isField(e python.Expr) bool {
	c, ok := e.(*python.Call)
	return ok && (s.mod.is(c.Func, []string{"Field"}, pydanticPackages) || last(label(c.Func)) == "Field")
}

// field adds what a default says: Field(…) or a plain value. It answers whether
// the parameter is required all the same. A default that is text is not kept:
// it may be a secret.
func (s *schemas) field(out map[string]any, e python.Expr) bool {
	c, ok := e.(*python.Call)
	if !ok || !s.isField(e) {
		s.keepDefault(out, e)
		return false
	}
	if text, ok := s.mod.file.Text(c.Arg("description")); ok {
		out["description"] = paragraph(text)
	}
	for _, bound := range [...][2]string{{"ge", "minimum"}, {"gt", "minimum"}, {"le", "maximum"}, {"lt", "maximum"}} {
		if a := c.Arg(bound[0]); a != nil {
			if v, ok := s.mod.file.Literal(a); ok {
				if n, ok := v.(json.Number); ok {
					out[bound[1]] = n
				}
			}
		}
	}
	value := c.Positional(0)
	if value == nil {
		value = c.Arg("default")
	}
	if value == nil {
		return c.Arg("default_factory") == nil
	}
	if k, ok := value.(*python.Constant); ok && k.Text == "..." {
		return true
	}
	s.keepDefault(out, value)
	return false
}

func (s *schemas) keepDefault(out map[string]any, e python.Expr) {
	v, ok := s.mod.file.Literal(e)
	if !ok {
		return
	}
	switch v.(type) {
	case bool, json.Number:
		out["default"] = v
	}
}

// class is the schema of a Pydantic class: its annotated fields and those of
// the classes of the same file that it is made from.
func (s *schemas) class(c *python.Class, depth int) map[string]any {
	out := map[string]any{"type": "object"}
	if s.open[c] || depth > maxSchemaDepth {
		return out
	}
	s.open[c] = true
	defer delete(s.open, c)
	properties, required := map[string]any{}, map[string]bool{}
	s.fieldsOf(c, depth, properties, required, 0)
	names := []any{}
	for name := range required {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	out["properties"] = properties
	if len(names) > 0 {
		out["required"] = names
	}
	return out
}

func (s *schemas) fieldsOf(c *python.Class, depth int, properties map[string]any, required map[string]bool, hop int) {
	if hop > maxSchemaDepth {
		return
	}
	for _, base := range c.Args {
		if s.fields++; s.fields > maxSchemaFields {
			return
		}
		for _, d := range s.mod.defs(base.Value) {
			if d.bind.Class != nil && d.mod == s.mod && d.bind.Class != c {
				s.fieldsOf(d.bind.Class, depth, properties, required, hop+1)
			}
		}
	}
	for _, st := range c.Body {
		a, ok := st.(*python.AnnAssign)
		if !ok {
			continue
		}
		name, ok := a.Target.(*python.Name)
		if !ok || strings.HasPrefix(name.ID, "_") || name.ID == "model_config" {
			continue
		}
		if sub, ok := a.Annotation.(*python.Subscript); ok && last(s.named(sub.Value)) == "ClassVar" {
			continue
		}
		if s.fields++; s.fields > maxSchemaFields {
			return
		}
		property := s.annotation(a.Annotation, depth+1)
		delete(required, name.ID)
		if a.Value == nil || s.field(property, a.Value) {
			required[name.ID] = true
		}
		properties[name.ID] = property
	}
}
