package tool

import (
	"encoding/json"
	"slices"
	"strings"
)

// Bounds of the walk over one JSON Schema.
const (
	maxSchemaDepth = 32
	maxSchemaNodes = 5000
)

// Parameters are the inputs that a JSON Schema asks for, sorted by name (§5.1).
// schema is decoded JSON. Local references and allOf are followed; what one of
// several alternatives asks for is an optional parameter. A schema of something
// else than an object is one parameter named input; no schema, or one that only
// says "any object", has none.
func Parameters(schema any) []Parameter {
	root, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	w := schemaWalk{root: root, found: parameters{list: []Parameter{}}}
	w.collect(root, true, 0)
	if len(w.found.list) == 0 && !w.object {
		kind := w.kind(root, 0)
		if kind == "" || slices.Contains(strings.Split(kind, "|"), "object") {
			return nil
		}
		p := w.parameter("input", root, true)
		return []Parameter{p}
	}
	slices.SortFunc(w.found.list, func(a, b Parameter) int { return strings.Compare(a.Name, b.Name) })
	return w.found.list
}

// parameters are those of one schema. Most have a few, which are looked through;
// more are found by their names.
type parameters struct {
	list []Parameter
	at   map[string]int
}

const fewParameters = 8

// named is the parameter of a name, or nil. It stands until another one is added.
func (p *parameters) named(name string) *Parameter {
	if len(p.list) <= fewParameters {
		if i := slices.IndexFunc(p.list, func(have Parameter) bool { return have.Name == name }); i >= 0 {
			return &p.list[i]
		}
		return nil
	}
	if p.at == nil {
		p.at = make(map[string]int, 2*len(p.list))
	}
	for i := len(p.at); i < len(p.list); i++ {
		p.at[p.list[i].Name] = i
	}
	if i, ok := p.at[name]; ok {
		return &p.list[i]
	}
	return nil
}

type schemaWalk struct {
	root   map[string]any
	found  parameters
	object bool // the schema says that it is about an object
	nodes  int
}

// collect takes the properties of schema into found. must says that whoever
// calls has to satisfy this part.
func (w *schemaWalk) collect(schema map[string]any, must bool, depth int) {
	if w.nodes++; depth > maxSchemaDepth || w.nodes > maxSchemaNodes {
		return
	}
	schema = w.deref(schema)
	properties, hasProperties := schema["properties"].(map[string]any)
	if hasProperties || schema["type"] == "object" {
		w.object = true
	}
	required := map[string]bool{}
	for _, name := range texts(schema["required"]) {
		required[name] = true
	}
	w.found.list = slices.Grow(w.found.list, len(properties))
	for _, name := range sortedKeys(properties) {
		property, _ := properties[name].(map[string]any)
		p := w.parameter(name, property, must && required[name])
		if old := w.found.named(name); old != nil {
			*old = joined(*old, p)
		} else {
			w.found.list = append(w.found.list, p)
		}
	}
	for _, part := range maps(schema["allOf"]) {
		w.collect(part, must, depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		w.alternatives(maps(schema[key]), depth+1)
	}
	// A part of allOf may only say what is required of another part.
	if must {
		for name := range required {
			if p := w.found.named(name); p != nil {
				p.Required = true
			}
		}
	}
}

// alternatives adds what one of several parts asks for. What the schema says
// besides them stands; a bound among them only if each of them has it.
func (w *schemaWalk) alternatives(parts []map[string]any, depth int) {
	outer, all := w.found, parameters{}
	for _, part := range parts {
		w.found = parameters{}
		w.collect(part, false, depth)
		for _, p := range w.found.list {
			if old := all.named(p.Name); old != nil {
				*old = either(*old, p)
			} else {
				all.list = append(all.list, p)
			}
		}
	}
	w.found = outer
	for _, p := range all.list {
		if old := w.found.named(p.Name); old == nil {
			w.found.list = append(w.found.list, p)
		} else if old.Description == "" {
			old.Description = p.Description
		}
	}
}

// either is a parameter that two alternatives know.
func either(a, b Parameter) Parameter {
	if a.Type != b.Type && b.Type != "" {
		kinds := strings.Split(a.Type, "|")
		for _, kind := range strings.Split(b.Type, "|") {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		a.Type = strings.TrimPrefix(strings.Join(kinds, "|"), "|")
	}
	if a.Enum == nil || b.Enum == nil {
		a.Enum = nil
	} else {
		a.Enum = append(slices.Clone(a.Enum), b.Enum...)
	}
	if a.Minimum != b.Minimum {
		a.Minimum = ""
	}
	if a.Maximum != b.Maximum {
		a.Maximum = ""
	}
	if a.Description == "" {
		a.Description = b.Description
	}
	return a
}

// joined is what two parts of one schema say of a parameter. A bound or a list
// of values stands if one part has it.
func joined(a, b Parameter) Parameter {
	a.Required = a.Required || b.Required
	if a.Type == "" {
		a.Type = b.Type
	}
	if a.Description == "" {
		a.Description = b.Description
	}
	if a.Enum == nil {
		a.Enum = b.Enum
	}
	if a.Minimum == "" {
		a.Minimum = b.Minimum
	}
	if a.Maximum == "" {
		a.Maximum = b.Maximum
	}
	if a.Format == "" {
		a.Format = b.Format
	}
	if a.Default == nil {
		a.Default = b.Default
	}
	return a
}

func (w *schemaWalk) parameter(name string, schema map[string]any, required bool) Parameter {
	p := described(schema)
	target := w.deref(schema)
	if _, isRef := schema["$ref"]; isRef {
		p = joined(p, described(target))
	}
	p.Name, p.Required, p.Type = name, required, w.kind(schema, 0)
	if real := w.onlyReal(target); real != nil {
		// The usual spelling of "may be null": one alternative besides null.
		p = joined(p, w.parameter(name, real, required))
	}
	return p
}

// described is what a schema itself says of its value.
func described(schema map[string]any) Parameter {
	p := Parameter{
		Default: schema["default"],
		Minimum: bound(schema, "minimum", "exclusiveMinimum"),
		Maximum: bound(schema, "maximum", "exclusiveMaximum"),
	}
	p.Description, _ = schema["description"].(string)
	p.Enum, _ = schema["enum"].([]any)
	if constant, ok := schema["const"]; ok && p.Enum == nil {
		p.Enum = []any{constant}
	}
	p.Format, _ = schema["format"].(string)
	return p
}

// onlyReal is the one part of anyOf, oneOf or allOf that is not null.
func (w *schemaWalk) onlyReal(schema map[string]any) map[string]any {
	if w.nodes++; w.nodes > maxSchemaNodes {
		return nil
	}
	var found map[string]any
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		for _, part := range maps(schema[key]) {
			if part["type"] == "null" {
				continue
			}
			if found != nil {
				return nil
			}
			found = part
		}
	}
	return found
}

// kind is the type of a schema: as it says, else as its keywords show.
func (w *schemaWalk) kind(schema map[string]any, depth int) string {
	if w.nodes++; depth > maxSchemaDepth || w.nodes > maxSchemaNodes {
		return ""
	}
	schema = w.deref(schema)
	switch t := schema["type"].(type) {
	case string:
		if schema["nullable"] == true && t != "null" {
			return t + "|null"
		}
		return t
	case []any:
		return strings.Join(texts(t), "|")
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		var kinds []string
		for _, part := range maps(schema[key]) {
			for _, kind := range strings.Split(w.kind(part, depth+1), "|") {
				if kind != "" && !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
		}
		if len(kinds) > 0 {
			return strings.Join(kinds, "|")
		}
	}
	if _, ok := schema["enum"]; ok {
		return "enum"
	}
	if _, ok := schema["const"]; ok {
		return "enum"
	}
	if _, ok := schema["properties"]; ok {
		return "object"
	}
	if _, ok := schema["items"]; ok {
		return "array"
	}
	return ""
}

// deref follows local references; a reference that leads nowhere stays.
func (w *schemaWalk) deref(schema map[string]any) map[string]any {
	for range maxSchemaDepth {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		target, ok := Resolve(w.root, ref).(map[string]any)
		if !ok {
			return schema
		}
		schema = target
	}
	return map[string]any{}
}

// Resolve is the value in root to which the local reference ref ("#/…") leads,
// nil when it leads nowhere or elsewhere.
func Resolve(root any, ref string) any {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if rest == "" {
		return root
	}
	if !strings.HasPrefix(rest, "/") {
		return nil
	}
	for _, key := range strings.Split(rest[1:], "/") {
		m, ok := root.(map[string]any)
		if !ok {
			return nil
		}
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		if root, ok = m[key]; !ok {
			return nil
		}
	}
	return root
}

// bound is a limit as written. In JSON Schema an exclusive limit is a number of
// its own; in OpenAPI 3.0 it is a boolean beside the limit.
func bound(schema map[string]any, keys ...string) string {
	for _, key := range keys {
		switch n := schema[key].(type) {
		case json.Number:
			return n.String()
		case int, int64, float64:
			if text, err := json.Marshal(n); err == nil {
				return string(text)
			}
		}
	}
	return ""
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func maps(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
