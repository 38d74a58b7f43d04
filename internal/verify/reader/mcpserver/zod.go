package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/script"
)

// Bounds of one schema.
const (
	maxSchemaDepth = 48
	maxSchemaNodes = 5000
)

// unknownMark is what stands where a schema is computed.
const unknownMark = "x-shipgate-unknown"

// shape is a Zod type as JSON Schema. Optional says that a property of the type
// may be left out; unknown why it, or a part of it, is not known.
type shape struct {
	schema   map[string]any
	optional bool
	unknown  string
}

func unknownShape(reason string) shape {
	return shape{schema: map[string]any{unknownMark: true}, unknown: reason}
}

// schema reads an input or output schema: a Zod object, the properties of one,
// or JSON Schema as a literal.
func (s *scripts) schema(n script.Node) schema {
	s.nodes = 0
	got := s.shape(n, 0)
	if got.schema == nil {
		return schema{unknown: got.unknown}
	}
	if got.schema[unknownMark] == true && len(got.schema) == 1 {
		return schema{unknown: got.unknown}
	}
	return schema{value: got.schema, unknown: got.unknown}
}

func (s *scripts) shape(n script.Node, depth int) shape {
	if s.nodes++; depth > maxSchemaDepth || s.nodes > maxSchemaNodes {
		return unknownShape("too_deep")
	}
	reduced := s.prog.Reduce(n)
	switch reduced.Kind() {
	case script.Null:
		return shape{}
	case script.Object:
		if s.isJSONSchema(reduced) {
			return s.literalSchema(reduced)
		}
		return s.object(reduced, depth)
	case script.Call:
		if converted, ok := s.converted(reduced); ok {
			return s.shape(converted, depth+1)
		}
		return s.zod(reduced, depth)
	case script.Member:
		if reduced.Expr.Text == "shape" { // of a Zod object
			return s.zod(reduced.At(reduced.Expr.X), depth)
		}
	default:
	}
	return unknownShape(s.why(n, "unsupported_expression"))
}

// isJSONSchema tells JSON Schema from the properties of a Zod object: its type
// is text, or it has a keyword whose value is no Zod type.
func (s *scripts) isJSONSchema(n script.Node) bool {
	props, _ := s.prog.Props(n)
	for _, p := range props {
		kind := s.prog.Reduce(p.Node).Kind()
		switch p.Key {
		case "type":
			if kind == script.String || kind == script.Array || kind == script.Condition {
				return true
			}
		case "$schema", "$ref", "additionalProperties":
			if kind == script.String || kind == script.Bool {
				return true
			}
		case "properties", "anyOf", "oneOf", "allOf":
			if kind == script.Object || kind == script.Array {
				return true
			}
		}
	}
	return false
}

// literalSchema is JSON Schema as it is written, computed parts marked.
func (s *scripts) literalSchema(n script.Node) shape {
	out := shape{}
	value := s.marked(n, &out.unknown, 0)
	out.schema, _ = value.(map[string]any)
	return out
}

// marked is a literal as decoded JSON; what is computed is marked, and reason
// says why.
func (s *scripts) marked(n script.Node, reason *string, depth int) any {
	if s.nodes++; depth > maxSchemaDepth || s.nodes > maxSchemaNodes {
		*reason = "too_deep"
		return map[string]any{unknownMark: true}
	}
	reduced := s.prog.Reduce(n)
	switch reduced.Kind() {
	case script.Object:
		props, complete := s.prog.Props(reduced)
		out := map[string]any{}
		for _, p := range props {
			if s.prog.Reduce(p.Node).Kind() == script.Null && p.Node.Kind() == script.Name {
				delete(out, p.Key) // undefined
				continue
			}
			out[p.Key] = s.marked(p.Node, reason, depth+1)
		}
		if !complete {
			*reason, out[unknownMark] = s.why(reduced, "spread"), true
		}
		return out
	case script.Array:
		items, complete := s.prog.Items(reduced)
		out := make([]any, 0, len(items))
		for _, item := range items {
			out = append(out, s.marked(item, reason, depth+1))
		}
		if !complete {
			*reason = "spread"
		}
		return out
	case script.Call:
		if converted, ok := s.converted(reduced); ok {
			inner := s.shape(converted, depth+1)
			if inner.unknown != "" {
				*reason = inner.unknown
			}
			return inner.schema
		}
	default:
	}
	if value, ok := s.plain(reduced, depth); ok {
		return value
	}
	*reason = s.why(n, "unsupported_expression")
	return map[string]any{unknownMark: true}
}

// plain is a literal as decoded JSON.
func (s *scripts) plain(n script.Node, depth int) (any, bool) {
	n = s.prog.Reduce(n)
	switch n.Kind() {
	case script.Bool:
		return n.Expr.Text == "true", true
	case script.Null:
		return nil, true
	case script.Number:
		return json.Number(n.Expr.Text), n.Expr.Text != ""
	case script.Object, script.Array:
		if depth > maxSchemaDepth {
			return nil, false
		}
		reason := ""
		value := s.marked(n, &reason, depth+1)
		return value, reason == ""
	default:
	}
	text, ok := s.prog.Text(n)
	return text, ok
}

// converted is the argument of a call that turns a Zod type into JSON Schema.
func (s *scripts) converted(n script.Node) (script.Node, bool) {
	e := n.Expr
	name := e.X.Text
	if !slices.Contains([]string{"zodToJsonSchema", "toJSONSchema", "toJsonSchema", "fromJsonSchema", "jsonSchema"}, name) || len(e.Args) == 0 {
		return n, false
	}
	return n.At(e.Args[0]), true
}

// object is the shape of an object of named types.
func (s *scripts) object(n script.Node, depth int) shape {
	props, complete := s.prog.Props(n)
	out := shape{schema: map[string]any{"type": "object"}}
	properties, required := map[string]any{}, map[string]bool{}
	for _, p := range props {
		inner := s.shape(p.Node, depth+1)
		if inner.schema == nil {
			inner.schema = map[string]any{}
		}
		properties[p.Key] = inner.schema
		required[p.Key] = !inner.optional
		if inner.unknown != "" {
			out.unknown = inner.unknown
		}
	}
	if !complete {
		out.unknown = s.why(n, "spread")
		out.schema[unknownMark] = true
	}
	out.schema["properties"] = properties
	setRequired(out.schema, required)
	return out
}

func setRequired(schema map[string]any, required map[string]bool) {
	names := make([]string, 0, len(required))
	for name, must := range required {
		if must {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	delete(schema, "required")
	if len(names) > 0 {
		list := make([]any, len(names))
		for i, name := range names {
			list[i] = name
		}
		schema["required"] = list
	}
}

// zod reads a chain of calls on the Zod namespace.
func (s *scripts) zod(n script.Node, depth int) shape {
	if s.nodes++; depth > maxSchemaDepth*2 || s.nodes > maxSchemaNodes {
		return unknownShape("too_deep")
	}
	n = s.prog.Reduce(n)
	if n.Kind() != script.Call || n.Expr.New {
		return unknownShape(s.why(n, "unsupported_expression"))
	}
	if name, ok := s.factory(n); ok {
		return s.make(name, n, depth)
	}
	if n.Expr.X.Kind != script.Member {
		return unknownShape("runtime_call")
	}
	inner := s.zod(n.At(n.Expr.X.X), depth+1)
	if inner.schema == nil {
		return inner
	}
	return s.apply(n.Expr.X.Text, inner, n, depth)
}

// factory is the name of the Zod function that a call calls, "coerce.number"
// for a nested one.
func (s *scripts) factory(n script.Node) (string, bool) {
	callee := s.prog.Reduce(n.At(n.Expr.X))
	from := callee.Import.From
	if from == "zod" || strings.HasPrefix(from, "zod/") {
		name := strings.TrimPrefix(strings.TrimPrefix(callee.Import.Name, "z."), "default.")
		return name, true
	}
	// The namespace may come from a module that is not read; by its name alone
	// it is taken for what everybody calls so.
	var parts []string
	x := n.Expr.X
	for x.Kind == script.Member {
		parts = append([]string{x.Text}, parts...)
		x = x.X
	}
	if x.Kind != script.Name || x.Text != "z" || len(parts) == 0 {
		return "", false
	}
	if b := n.File.Lookup("z", x.At); b == nil || b.How == script.ByImport && callee.Kind() == script.Unknown {
		return strings.Join(parts, "."), true
	}
	return "", false
}

// arg is argument i of a call.
func arg(n script.Node, i int) (script.Node, bool) {
	if i >= len(n.Expr.Args) {
		return script.Node{}, false
	}
	return n.At(n.Expr.Args[i]), true
}

// list are the shapes of a literal list of types.
func (s *scripts) list(n script.Node, depth int) ([]any, string) {
	items, complete := s.prog.Items(n)
	unknown := ""
	if !complete {
		unknown = s.why(n, "spread")
	}
	out := make([]any, 0, len(items))
	for _, item := range items {
		inner := s.shape(item, depth+1)
		if inner.unknown != "" {
			unknown = inner.unknown
		}
		out = append(out, inner.schema)
	}
	return out, unknown
}

// values is a literal list of values, or those of a literal object.
func (s *scripts) values(n script.Node) ([]any, bool) {
	reduced := s.prog.Reduce(n)
	var nodes []script.Node
	var complete bool
	if reduced.Kind() == script.Object {
		var props []script.Property
		props, complete = s.prog.Props(reduced)
		for _, p := range props {
			nodes = append(nodes, p.Node)
		}
	} else {
		nodes, complete = s.prog.Items(n)
	}
	var out []any
	for _, node := range nodes {
		value, ok := s.plain(node, 0)
		if !ok {
			return nil, false
		}
		out = append(out, value)
	}
	return out, complete && len(out) > 0
}
