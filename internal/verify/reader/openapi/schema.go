package openapi

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// Bounds of what references may be written out to (§5.2): per input or output
// of an operation, and for the whole document, so that many operations that
// share one large schema end as well. A level of a schema is two of the tree:
// the keyword and what stands below it.
const (
	maxDepth         = 32
	maxTreeDepth     = 2 * maxDepth
	maxNodes         = 5000
	maxDocumentNodes = 1_000_000
)

// recursive marks a reference to a schema that the place is already inside of,
// unresolvedMark one that leads nowhere or beyond the bounds.
const (
	recursive      = "x-shipgate-recursive"
	unresolvedMark = "x-shipgate-unresolved"
)

// writer writes the schemas of one operation out, local references resolved.
type writer struct {
	doc        *document
	pointer    string
	budget     int
	open       []string // references that the current place is inside of
	unresolved bool
	limited    bool
}

// target is the value that a local reference leads to.
func (d *document) target(ref string) (source.Value, bool) {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return source.Value{}, false
	}
	v := d.root
	for _, key := range strings.Split(rest, "/") {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		switch v.Kind {
		case source.Map:
			v = v.Get(key)
		case source.List:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v.Items) {
				return source.Value{}, false
			}
			v = v.Items[i]
		default:
			return source.Value{}, false
		}
	}
	return v, v.Present()
}

// follow is the object that v is or refers to. It answers false, after a
// warning, for a reference that leads nowhere, in circles, or out of the document.
func (d *document) follow(v source.Value, pointer string) (source.Value, bool) {
	for range maxDepth {
		ref := v.Get("$ref")
		if ref.Kind != source.String {
			return v, true
		}
		next, ok := d.target(ref.Text)
		if !ok {
			d.reference(ref, pointer)
			return v, false
		}
		v = next
	}
	d.warn("recursive_ref", "a reference leads back to itself", v, pointer)
	return v, false
}

func (d *document) reference(ref source.Value, pointer string) {
	if strings.HasPrefix(ref.Text, "#") {
		d.warn("missing_ref", "a reference leads nowhere", ref, pointer)
		return
	}
	d.warn("external_ref", "a reference leaves the document and was not followed", ref, pointer)
}

// schema is v as decoded JSON, references written out.
func (w *writer) schema(v source.Value, depth int) any {
	w.budget--
	w.doc.budget--
	if depth > maxTreeDepth || w.budget < 0 || w.doc.budget < 0 {
		return w.limit(v)
	}
	switch v.Kind {
	case source.List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = w.schema(item, depth+1)
		}
		return list
	case source.Map:
		if ref := v.Get("$ref"); ref.Kind == source.String {
			return w.reference(v, ref, depth)
		}
		m := make(map[string]any, len(v.Members))
		for _, member := range v.Members {
			m[member.Key] = w.schema(member.Value, depth+1)
		}
		return m
	default:
		return tool.Plain(v)
	}
}

func (w *writer) limit(v source.Value) any {
	if !w.limited {
		w.limited = true
		w.doc.warn("schema_limit", "a schema is deeper or larger than what is read, and was cut", v, w.pointer)
	}
	w.unresolved = true
	return map[string]any{unresolvedMark: true}
}

func (w *writer) reference(v, ref source.Value, depth int) any {
	if slices.Contains(w.open, ref.Text) {
		return map[string]any{"$ref": ref.Text, recursive: true}
	}
	target, ok := w.doc.target(ref.Text)
	if !ok {
		w.doc.reference(ref, w.pointer)
		w.unresolved = true
		return map[string]any{"$ref": ref.Text, unresolvedMark: true}
	}
	w.open = append(w.open, ref.Text)
	out := w.schema(target, depth+1)
	w.open = w.open[:len(w.open)-1]
	whole, isMap := out.(map[string]any)
	if !isMap || !w.doc.newer || len(v.Members) == 1 {
		return out
	}
	return w.beside(whole, v, depth)
}

// beside adds what stands next to a reference: words about the value replace
// those of the target, every demand holds besides those of the target.
func (w *writer) beside(whole map[string]any, v source.Value, depth int) any {
	more := map[string]any{}
	for _, member := range v.Members {
		switch member.Key {
		case "$ref":
		case "title", "description", "default", "example", "examples", "deprecated":
			whole[member.Key] = w.schema(member.Value, depth+1)
		default:
			more[member.Key] = w.schema(member.Value, depth+1)
		}
	}
	if len(more) > 0 {
		parts, _ := whole["allOf"].([]any)
		whole["allOf"] = append(parts, more)
	}
	return whole
}

// media is the schema of a content object: of the JSON form, else of the first.
func (w *writer) media(content source.Value) (source.Value, bool) {
	var first source.Value
	for _, m := range content.Members {
		kind, _, _ := strings.Cut(strings.ToLower(m.Key), ";")
		kind = strings.TrimSpace(kind)
		if kind == "application/json" || strings.HasSuffix(kind, "+json") {
			return m.Value.Get("schema"), true
		}
		if !first.Present() {
			first = m.Value.Get("schema")
		}
	}
	return first, len(content.Members) > 0
}

// output is the schema of the response 200, else 201, else of the first one.
func (w *writer) output(op source.Value) any {
	responses := op.Get("responses")
	chosen := responses.Get("200")
	if !chosen.Present() {
		chosen = responses.Get("201")
	}
	for _, m := range responses.Members {
		if !chosen.Present() && !strings.HasPrefix(m.Key, "x-") {
			chosen = m.Value
		}
	}
	if !chosen.Present() {
		return nil
	}
	response, ok := w.doc.follow(chosen, w.pointer)
	if !ok {
		return nil
	}
	if schema, ok := w.media(response.Get("content")); ok && schema.Present() {
		return w.schema(schema, 0)
	}
	return nil
}

// objectLike says whether a schema, references written out, is about an object.
func objectLike(schema any, depth int) bool {
	m, ok := schema.(map[string]any)
	if !ok || depth > maxDepth {
		return false
	}
	switch kind := m["type"].(type) {
	case string:
		return kind == "object"
	case []any:
		return slices.Contains(kind, any("object"))
	}
	if _, ok := m["properties"].(map[string]any); ok {
		return true
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := m[key].([]any)
		for _, part := range parts {
			if objectLike(part, depth+1) {
				return true
			}
		}
	}
	return false
}

// form is the input schema that is being put together.
type form struct {
	properties map[string]any
	required   []string
}

func (f *form) add(name string, schema any, required bool) {
	f.properties[name] = schema
	if required {
		f.required = append(f.required, name)
	}
}

func (f *form) schema(rest map[string]any) map[string]any {
	out := maps.Clone(rest)
	if out == nil {
		out = map[string]any{}
	}
	out["type"] = "object"
	out["properties"] = f.properties
	delete(out, "required")
	if len(f.required) > 0 {
		slices.Sort(f.required)
		required := make([]any, 0, len(f.required))
		for _, name := range slices.Compact(f.required) {
			required = append(required, name)
		}
		out["required"] = required
	}
	return out
}
