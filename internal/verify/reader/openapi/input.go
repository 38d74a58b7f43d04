package openapi

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// parameter is one parameter of an operation.
type parameter struct {
	name, in string
	value    source.Value
}

// input is the object that a caller fills in: the parameters of the path item,
// then those of the operation, which replace them, then the body. nil without
// any.
func (w *writer) input(item, op source.Value) (any, *tool.SourceError) {
	params, err := w.parameters(item, op)
	if err != nil {
		return nil, err
	}
	f := &form{properties: map[string]any{}}
	for _, p := range params {
		w.parameter(f, p)
	}
	rest := w.body(f, op.Get("requestBody"))
	if len(f.properties) == 0 && rest == nil {
		return map[string]any{"type": "object", "properties": map[string]any{}}, nil
	}
	return f.schema(rest), nil
}

func (w *writer) parameters(item, op source.Value) ([]parameter, *tool.SourceError) {
	var out []parameter
	for _, holder := range []source.Value{item, op} {
		list := holder.Get("parameters")
		if list.Present() && list.Kind != source.List && list.Kind != source.Null {
			return nil, w.doc.fail(list, w.pointer+"/parameters", "parameters is not a list")
		}
		for _, v := range list.Items {
			p, ok := w.one(v)
			if !ok {
				continue
			}
			i := slices.IndexFunc(out, func(o parameter) bool { return o.name == p.name && o.in == p.in })
			if i >= 0 {
				out[i] = p
				continue
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// one is a parameter, its reference followed. Headers that only carry how the
// call is made are no input, as the standard has it.
func (w *writer) one(v source.Value) (parameter, bool) {
	target, ok := w.doc.follow(v, w.pointer+"/parameters")
	if !ok {
		w.unresolved = true
		return parameter{}, false
	}
	p := parameter{name: target.Get("name").Str(), in: target.Get("in").Str(), value: target}
	if p.name == "" || p.in == "" {
		w.doc.warn("unnamed_parameter", "a parameter has no name or no place and was skipped", v, w.pointer+"/parameters")
		w.unresolved = true
		return parameter{}, false
	}
	if p.in == "header" {
		switch strings.ToLower(p.name) {
		case "accept", "content-type", "authorization":
			return parameter{}, false
		}
	}
	return p, true
}

func (w *writer) parameter(f *form, p parameter) {
	v := p.value.Get("schema")
	if !v.Present() {
		v, _ = w.media(p.value.Get("content"))
	}
	schema := map[string]any{}
	if v.Present() {
		written, ok := w.schema(v, 0).(map[string]any)
		if ok {
			schema = written
		}
	}
	if text := p.value.Get("description").Str(); text != "" {
		schema["description"] = text
	}
	f.add(w.free(f, p.name, p.in), schema, p.value.Get("required").True() || p.in == "path")
}

// free is a name that the form does not hold yet. Two inputs of one name are
// both kept: the later one says where it belongs.
func (w *writer) free(f *form, name, place string) string {
	if _, taken := f.properties[name]; !taken {
		return name
	}
	w.doc.warn("duplicate_parameter", "two inputs of an operation have one name; the second is shown with its place", source.Value{}, w.pointer)
	for {
		name = place + "_" + name
		if _, taken := f.properties[name]; !taken {
			return name
		}
	}
}

// body merges the request body into the form and answers with what its schema
// says besides properties. A body that is no object becomes the field body.
func (w *writer) body(f *form, v source.Value) map[string]any {
	if !v.Present() || v.Kind == source.Null {
		return nil
	}
	body, ok := w.doc.follow(v, w.pointer+"/requestBody")
	if !ok {
		w.unresolved = true
		return nil
	}
	must := body.Get("required").True()
	found, has := w.media(body.Get("content"))
	if !has {
		return nil
	}
	var schema any = map[string]any{}
	if found.Present() {
		schema = w.schema(found, 0)
	}
	m, _ := schema.(map[string]any)
	if !objectLike(schema, 0) {
		if m == nil {
			m = map[string]any{}
		}
		f.add(w.free(f, "body", "request"), m, must)
		return nil
	}
	required, _ := m["required"].([]any)
	properties, _ := m["properties"].(map[string]any)
	for _, name := range sorted(properties) {
		f.add(w.free(f, name, "body"), properties[name], must && slices.Contains(required, any(name)))
	}
	rest := map[string]any{}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "additionalProperties"} {
		if part, ok := m[key]; ok {
			rest[key] = part
		}
	}
	if !must {
		// An optional body demands nothing by its parts.
		if all, ok := rest["allOf"].([]any); ok {
			rest["anyOf"] = slices.Concat(all, anyList(rest["anyOf"]))
			delete(rest, "allOf")
		}
	}
	return rest
}

func anyList(v any) []any {
	list, _ := v.([]any)
	return list
}

func sorted(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
