// Package listing reads tools from files that list them: MCP tool lists and
// inventories, and what the openai_api and anthropic blocks of the manifest
// name (docs/spec/verification.md §§4.5, 5.2).
//
// An entry that cannot be a tool becomes a warning with its place, never
// nothing at all. No message repeats a value of a file.
package listing

import (
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// file is one listing that is being read.
type file struct {
	path   string // as declared, clean
	kind   string // source_type of its tools
	source string // source id of its tools
	root   source.Value
	out    *tool.Reading
	seen   map[string]bool
}

// fail is a fault of the whole file: exit 3.
func (f *file) fail(v source.Value, pointer, detail string) *tool.SourceError {
	return &tool.SourceError{
		SourceID: f.source, Path: f.path, Line: v.Pos.Line, Pointer: pointer, Problem: tool.Malformed, Detail: detail,
	}
}

func (f *file) warn(code, message string, v source.Value, pointer string) {
	f.out.Warnings = append(f.out.Warnings, tool.Warning{
		Code: code, Message: message, SourceID: f.source, Origin: f.origin(v, pointer),
	})
}

func (f *file) origin(v source.Value, pointer string) tool.Origin {
	return tool.Origin{
		Type: f.kind, SourceID: f.source, Ref: f.path, Path: f.path, Pointer: pointer, Start: v.Pos, EndLine: tool.EndLine(v),
	}
}

// add keeps a tool; a second one of the same name in one file is kept too, and
// said, because it may differ in what it may do.
func (f *file) add(t tool.Tool, v source.Value) {
	if f.seen[t.Name] {
		f.warn("duplicate_tool", "the file lists a tool named "+strconv.Quote(t.Name)+" twice", v, t.Origin.Pointer)
	}
	f.seen[t.Name] = true
	f.out.Tools = append(f.out.Tools, t)
}

// newFile parses text, which was read from path.
func newFile(path, kind, id string, text []byte) (*file, *tool.SourceError) {
	v, err := tool.Parse(path, text)
	if err != nil {
		err.SourceID = id
		return nil, err
	}
	return &file{
		path: path, kind: kind, source: id, root: v,
		out: &tool.Reading{}, seen: map[string]bool{},
	}, nil
}

// entries are the items of a list, or of the list below key of an object, and
// the pointer to the list. It answers false when there is no such list.
func (f *file) entries(key string) ([]source.Value, string, bool) {
	switch f.root.Kind {
	case source.List:
		return f.root.Items, "", true
	case source.Map:
		if list := f.root.Get(key); list.Kind == source.List {
			return list.Items, "/" + key, true
		}
	default:
	}
	return nil, "", false
}

// text is the string below the first of keys that is there; another kind of
// value is a warning.
func (f *file) text(entry source.Value, pointer string, keys ...string) string {
	for _, key := range keys {
		v := entry.Get(key)
		switch v.Kind {
		case source.String:
			return v.Text
		case "", source.Null:
		default:
			f.warn("invalid_field", key+" is not text", v, pointer+tool.Pointer(key))
		}
	}
	return ""
}

// schema is the JSON Schema below the first of keys that is there. What is no
// schema is a warning, and the tool has an unknown one.
func (f *file) schema(entry source.Value, pointer string, keys ...string) (schema any, unknown bool) {
	for _, key := range keys {
		v := entry.Get(key)
		switch v.Kind {
		case source.Map:
			return tool.Plain(v), unknown
		case "", source.Null:
		default:
			f.warn("invalid_schema", key+" is not an object", v, pointer+tool.Pointer(key))
			unknown = true
		}
	}
	return nil, unknown
}

// auth reads {type, scopes, credential_mode}.
func (f *file) auth(entry source.Value, pointer string) tool.Auth {
	v := entry.Get("auth")
	pointer += "/auth"
	switch v.Kind {
	case "", source.Null:
		return tool.Auth{}
	case source.Map:
	default:
		f.warn("invalid_field", "auth is not an object", v, pointer)
		return tool.Auth{}
	}
	a := tool.Auth{
		Type:           f.text(v, pointer, "type"),
		CredentialMode: f.text(v, pointer, "credential_mode"),
		Source:         "source",
	}
	a.Anonymous = a.Type == "none" || a.Type == "anonymous"
	switch scopes := v.Get("scopes"); scopes.Kind {
	case source.List:
		for _, s := range scopes.Items {
			if s.Kind != source.String || strings.TrimSpace(s.Text) == "" {
				f.warn("invalid_field", "a scope is not text", s, pointer+"/scopes")
				continue
			}
			a.Scopes = append(a.Scopes, s.Text)
		}
	case source.String: // as OAuth spells a list
		a.Scopes = strings.Fields(scopes.Text)
	case "", source.Null:
	default:
		f.warn("invalid_field", "scopes is not a list", scopes, pointer+"/scopes")
	}
	return a
}

// annotations is the free map of §5.3, values as they are written: whether a
// hint is an exact boolean is a question of identity.
func (f *file) annotations(entry source.Value, pointer string) map[string]any {
	v := entry.Get("annotations")
	switch v.Kind {
	case source.Map:
		m, _ := tool.Plain(v).(map[string]any)
		return m
	case "", source.Null:
	default:
		f.warn("invalid_field", "annotations is not an object", v, pointer+"/annotations")
	}
	return nil
}

// note sets an annotation of ours.
func note(t *tool.Tool, key string, value any) {
	if t.Annotations == nil {
		t.Annotations = map[string]any{}
	}
	t.Annotations[key] = value
}
