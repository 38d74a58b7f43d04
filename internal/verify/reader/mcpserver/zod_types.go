package mcpserver

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"

	"plimsoll.dev/internal/verify/script"
)

// simple are the Zod functions whose type is all that JSON Schema says.
// It is made when it is first asked for: the program starts without it.
var simple = sync.OnceValue(func() map[string]map[string]any {
	return map[string]map[string]any{
		"string": {"type": "string"}, "number": {"type": "number"}, "boolean": {"type": "boolean"}, "bigint": {"type": "integer"},
		"int": {"type": "integer"}, "int32": {"type": "integer"}, "uint32": {"type": "integer", "minimum": json.Number("0")},
		"date": {"type": "string", "format": "date-time"}, "any": {}, "unknown": {}, "null": {"type": "null"},
		"email": {"type": "string", "format": "email"}, "url": {"type": "string", "format": "uri"}, "uuid": {"type": "string", "format": "uuid"},
		"guid": {"type": "string", "format": "uuid"}, "ipv4": {"type": "string", "format": "ipv4"}, "ipv6": {"type": "string", "format": "ipv6"},
		"iso.datetime": {"type": "string", "format": "date-time"}, "iso.date": {"type": "string", "format": "date"},
		"iso.time": {"type": "string", "format": "time"}, "never": {"not": map[string]any{}},
	}
})

// make is the shape of a call of a Zod function.
func (s *scripts) make(name string, n script.Node, depth int) shape {
	name = strings.TrimPrefix(name, "coerce.")
	if base, ok := simple()[name]; ok {
		return s.options(shape{schema: maps.Clone(base)}, n)
	}
	first, has := arg(n, 0)
	switch name {
	case "object", "strictObject", "looseObject", "interface":
		if !has {
			return shape{schema: map[string]any{"type": "object", "properties": map[string]any{}}}
		}
		reduced := s.prog.Reduce(first)
		if reduced.Kind() != script.Object {
			return s.shape(first, depth+1) // z.object(other.shape)
		}
		out := s.object(reduced, depth+1)
		if name == "strictObject" {
			out.schema["additionalProperties"] = false
		}
		return out
	case "enum", "nativeEnum":
		if values, ok := s.values(first); has && ok {
			return shape{schema: typed(values)}
		}
		return unknownShape(s.why(first, "computed_values"))
	case "literal":
		return s.literal(first)
	case "array", "set":
		if !has {
			return shape{schema: map[string]any{"type": "array"}}
		}
		inner := s.shape(first, depth+1)
		return shape{schema: map[string]any{"type": "array", "items": orAny(inner.schema)}, unknown: inner.unknown}
	case "tuple":
		list, unknown := s.list(first, depth)
		return shape{schema: map[string]any{"type": "array", "prefixItems": list}, unknown: unknown}
	case "union", "discriminatedUnion", "xor":
		if name == "discriminatedUnion" {
			first, has = arg(n, 1)
		}
		if !has {
			return unknownShape("missing_argument")
		}
		list, unknown := s.list(first, depth)
		return shape{schema: map[string]any{"anyOf": list}, unknown: unknown}
	case "intersection":
		return s.joined(n, first, depth)
	case "record", "map", "partialRecord":
		value := first
		if second, ok := arg(n, 1); ok {
			value = second
		}
		inner := s.shape(value, depth+1)
		return shape{schema: map[string]any{"type": "object", "additionalProperties": orAny(inner.schema)}, unknown: inner.unknown}
	case "optional", "nullable", "nullish":
		return s.apply(name, s.shape(first, depth+1), n, depth)
	case "preprocess", "pipe":
		if second, ok := arg(n, 1); ok && name == "preprocess" {
			first = second
		}
		return s.shape(first, depth+1)
	case "undefined", "void":
		return shape{schema: map[string]any{}, optional: true}
	}
	return unknownShape("unsupported_type")
}

func orAny(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func (s *scripts) joined(n, first script.Node, depth int) shape {
	second, _ := arg(n, 1)
	a, b := s.shape(first, depth+1), s.shape(second, depth+1)
	out := shape{schema: map[string]any{"allOf": []any{orAny(a.schema), orAny(b.schema)}}, unknown: a.unknown}
	if out.unknown == "" {
		out.unknown = b.unknown
	}
	return out
}

// typed is an enumeration with the one type that all its values have.
func typed(values []any) map[string]any {
	kind := ""
	for _, v := range values {
		one := "string"
		switch v.(type) {
		case string:
		case json.Number:
			one = "number"
		case bool:
			one = "boolean"
		default:
			one = "mixed"
		}
		if kind != "" && kind != one {
			one = "mixed"
		}
		kind = one
	}
	out := map[string]any{"enum": values}
	if kind != "mixed" && kind != "" {
		out["type"] = kind
	}
	return out
}

func (s *scripts) literal(n script.Node) shape {
	if n.Expr == nil {
		return unknownShape("missing_argument")
	}
	if s.prog.Reduce(n).Kind() == script.Array {
		if values, ok := s.values(n); ok {
			return shape{schema: typed(values)}
		}
	}
	value, ok := s.plain(n, 0)
	if !ok {
		return unknownShape(s.why(n, "computed_value"))
	}
	out := typed([]any{value})
	delete(out, "enum")
	out["const"] = value
	return shape{schema: out}
}

// options reads {description} of a first argument that is an object.
func (s *scripts) options(out shape, n script.Node) shape {
	if first, ok := arg(n, 0); ok {
		if text, ok := s.prog.Get(first, "description"); ok {
			out.schema["description"], _ = s.prog.Text(text)
		}
	}
	return out
}

// bounds are the methods that set a keyword to their first argument, by type.
var bounds = map[string]map[string]string{
	"min":        {"string": "minLength", "array": "minItems", "number": "minimum", "integer": "minimum"},
	"max":        {"string": "maxLength", "array": "maxItems", "number": "maximum", "integer": "maximum"},
	"gte":        {"number": "minimum", "integer": "minimum"},
	"lte":        {"number": "maximum", "integer": "maximum"},
	"gt":         {"number": "exclusiveMinimum", "integer": "exclusiveMinimum"},
	"lt":         {"number": "exclusiveMaximum", "integer": "exclusiveMaximum"},
	"multipleOf": {"number": "multipleOf", "integer": "multipleOf"},
	"step":       {"number": "multipleOf", "integer": "multipleOf"},
}

// signs are the methods that bound a number by zero.
var signs = map[string]string{
	"positive": "exclusiveMinimum", "nonnegative": "minimum", "negative": "exclusiveMaximum", "nonpositive": "maximum",
}

// formats are the methods that give a string a format.
var formats = map[string]string{
	"email": "email", "url": "uri", "uuid": "uuid", "datetime": "date-time", "date": "date", "time": "time", "ip": "ip",
}

// silent are the methods that change nothing that JSON Schema says of an input.
var silent = map[string]bool{
	"refine": true, "superRefine": true, "transform": true, "pipe": true, "brand": true, "readonly": true, "catch": true, "trim": true,
	"toLowerCase": true, "toUpperCase": true, "finite": true, "safe": true, "regex": true, "startsWith": true, "endsWith": true, "includes": true,
	"passthrough": true, "strip": true, "loose": true, "check": true, "overwrite": true, "cuid": true, "nanoid": true, "ulid": true, "nonempty": true,
	"register": true, "normalize": true, "base64": true, "cidr": true, "jwt": true, "emoji": true, "superrefine": true, "nonoptional": true, "unwrap": false,
}

// apply is a shape after a method of its chain.
func (s *scripts) apply(method string, in shape, n script.Node, depth int) shape {
	if in.schema == nil {
		in.schema = map[string]any{}
	}
	out := shape{schema: maps.Clone(in.schema), optional: in.optional, unknown: in.unknown}
	first, has := arg(n, 0)
	kind, _ := out.schema["type"].(string)
	if list, ok := out.schema["type"].([]any); ok { // nullable
		kind, _ = list[0].(string)
	}
	if keyword, ok := bounds[method][kind]; ok {
		if value, ok := s.plain(first, 0); has && ok {
			out.schema[keyword] = value
		}
		return out
	}
	if keyword, ok := signs[method]; ok {
		out.schema[keyword] = json.Number("0")
		return out
	}
	if format, ok := formats[method]; ok && kind == "string" {
		out.schema["format"] = format
		return out
	}
	if silent[method] {
		return out
	}
	switch method {
	case "optional", "exactOptional":
		out.optional = true
	case "default", "prefault":
		out.optional = true
		if value, ok := s.plain(first, 0); has && ok {
			out.schema["default"] = value
		}
	case "nullable", "nullish":
		out.optional = out.optional || method == "nullish"
		if kind != "" && out.schema["enum"] == nil && out.schema["const"] == nil {
			out.schema["type"] = []any{kind, "null"}
		} else {
			out.schema = map[string]any{"anyOf": []any{out.schema, map[string]any{"type": "null"}}}
		}
	case "describe":
		if text, ok := s.prog.Text(first); has && ok {
			out.schema["description"] = text
		}
	case "meta":
		for _, key := range []string{"description", "title"} {
			if v, ok := s.prog.Get(first, key); has && ok {
				if text, ok := s.prog.Text(v); ok {
					out.schema[key] = text
				}
			}
		}
	case "int":
		out.schema["type"] = "integer"
	case "length":
		if value, ok := s.plain(first, 0); has && ok {
			keyword := map[string]string{"string": "Length", "array": "Items"}[kind]
			if keyword != "" {
				out.schema["min"+keyword], out.schema["max"+keyword] = value, value
			}
		}
	case "array":
		out = shape{schema: map[string]any{"type": "array", "items": out.schema}, unknown: out.unknown}
	case "strict":
		out.schema["additionalProperties"] = false
	case "or", "and":
		other := s.shape(first, depth+1)
		key := map[string]string{"or": "anyOf", "and": "allOf"}[method]
		out = shape{schema: map[string]any{key: []any{out.schema, orAny(other.schema)}}, unknown: out.unknown}
		if out.unknown == "" {
			out.unknown = other.unknown
		}
	default:
		return s.derived(method, out, first, depth)
	}
	return out
}

// derived is an object made out of another: extended, cut, made optional.
func (s *scripts) derived(method string, out shape, first script.Node, depth int) shape {
	properties, ok := out.schema["properties"].(map[string]any)
	if !ok {
		out.unknown = "unsupported_method"
		return out
	}
	properties = maps.Clone(properties)
	required := map[string]bool{}
	list, _ := out.schema["required"].([]any)
	for _, name := range list {
		if text, ok := name.(string); ok {
			required[text] = true
		}
	}
	keys := map[string]bool{}
	switch method {
	case "extend", "safeExtend", "merge":
		other := s.shape(first, depth+1)
		more, ok := other.schema["properties"].(map[string]any)
		if !ok || other.unknown != "" {
			out.unknown = "computed_extension"
		}
		must, _ := other.schema["required"].([]any)
		for name, schema := range more {
			properties[name] = schema
			required[name] = false
		}
		for _, name := range must {
			if text, ok := name.(string); ok {
				required[text] = true
			}
		}
	case "pick", "omit", "partial", "required", "deepPartial":
		picked, complete := s.prog.Props(first)
		for _, p := range picked {
			keys[p.Key] = true
		}
		if first.Expr != nil && !complete {
			out.unknown = "computed_keys"
			return out
		}
		for name := range maps.Clone(properties) {
			all := first.Expr == nil
			switch {
			case method == "pick" && !keys[name], method == "omit" && keys[name]:
				delete(properties, name)
				delete(required, name)
			case (method == "partial" || method == "deepPartial") && (all || keys[name]):
				required[name] = false
			case method == "required" && (all || keys[name]):
				required[name] = true
			}
		}
	default:
		out.unknown = "unsupported_method"
		return out
	}
	out.schema["properties"] = properties
	setRequired(out.schema, required)
	return out
}
