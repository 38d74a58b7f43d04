// Package patch applies suggested edits to the bytes of a file
// (docs/spec/verification.md §19).
//
// An edit touches the bytes of its own place and no others: comments, order,
// quoting and line ends of everything else stay as people wrote them. What the
// edit made is read again and held against what it should have made; an edit
// that cannot be done so is refused, never done in part.
package patch

import (
	"bytes"
	"encoding/json"
	"fmt"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/manifest"
)

// Format is the language of a file.
type Format string

// The formats.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// Valid says whether f is a format.
func (f Format) Valid() bool { return f == YAML || f == JSON }

// Edit is one change of one file. Pointer is RFC 6901. Value is a JSON value:
// nil, bool, string, json.Number or another number, []any, map[string]any.
//
// SetPointer replaces the value at Pointer, or adds it where the place above is
// an object. AppendPointer adds Value to the list at Pointer. Both make what is
// missing on the way there; null counts as missing. RemovePointer takes the
// value and its key away.
type Edit struct {
	Kind    check.PatchKind
	Pointer string
	Value   any
}

// Class says what an error leads to.
type Class int

// The classes, as exit codes (§1.1).
const (
	Malformed Class = 2 // the payload cannot be meant
	Input     Class = 3 // the file cannot be read, or is not the one that was meant
	Outside   Class = 5 // the target is not in the manifest directory
)

// Error is why nothing was changed.
type Error struct {
	Class Class
	Path  string // the target, or ""
	Msg   string // never a value of the file
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

func refuse(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Msg: fmt.Sprintf(format, args...)}
}

// Apply makes one edit after the other.
func Apply(text []byte, format Format, edits ...Edit) ([]byte, *Error) {
	if !format.Valid() {
		return nil, refuse(Malformed, "%q is no format that can be edited", string(format))
	}
	if len(text) > manifest.MaxFile {
		return nil, refuse(Input, "the file is over %d MiB", manifest.MaxFile>>20)
	}
	body, bom := source.TrimBOM(text)
	before, err := read(body, format)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if body, before, err = apply(body, before, format, e); err != nil {
			return nil, err
		}
	}
	if bom {
		return append([]byte("\ufeff"), body...), nil
	}
	return bytes.Clone(body), nil
}

// read parses a text strictly.
func read(text []byte, format Format) (source.Value, *Error) {
	parse := source.ParseYAML
	if format == JSON {
		parse = source.ParseJSON
	}
	v, err := parse(text)
	if err != nil {
		return v, refuse(Input, "the file cannot be read: %v", err)
	}
	return v, nil
}

// apply makes one edit and gives the text and what it reads as.
func apply(text []byte, before source.Value, format Format, e Edit) ([]byte, source.Value, *Error) {
	steps, ok := Steps(e.Pointer)
	if !ok {
		return nil, before, refuse(Malformed, "%q is no JSON pointer", e.Pointer)
	}
	if len(steps) == 0 && e.Kind != check.AppendPointer {
		return nil, before, refuse(Malformed, "the whole file cannot be replaced or removed")
	}
	var value source.Value
	if e.Kind != check.RemovePointer {
		var err *Error
		if value, err = valueOf(e.Value, format); err != nil {
			return nil, before, err
		}
	}
	want, err := expected(before, steps, e.Kind, value)
	if err != nil {
		return nil, before, err
	}
	if want.Equal(before) && e.Kind == check.SetPointer {
		return text, before, nil
	}
	d, err := open(text, format)
	if err != nil {
		return nil, before, err
	}
	switch e.Kind {
	case check.RemovePointer:
		err = d.remove(steps)
	case check.SetPointer:
		err = d.set(steps, value)
	default:
		err = d.append(steps, value)
	}
	if err != nil {
		return nil, before, err
	}
	after, result := d.bytes()
	if !result {
		return nil, before, refuse(Input, "%s: cannot be edited in place", e.Pointer)
	}
	got, failed := read(after, format)
	if failed != nil || !got.Equal(want) {
		return nil, before, refuse(Input, "%s: cannot be edited in place without touching something else; edit it by hand", e.Pointer)
	}
	return after, got, nil
}

// valueOf is a JSON value as the format reads it.
func valueOf(v any, format Format) (source.Value, *Error) {
	text, err := json.Marshal(v)
	if err != nil {
		return source.Value{}, refuse(Malformed, "the value is no JSON")
	}
	value, failed := read(text, format)
	if failed != nil {
		return source.Value{}, refuse(Malformed, "the value cannot be written into this file")
	}
	return value, nil
}

// expected is what the file must read as after an edit.
func expected(v source.Value, steps []string, kind check.PatchKind, value source.Value) (source.Value, *Error) {
	missing := !v.Present() || v.Kind == source.Null
	if len(steps) == 0 {
		if kind != check.AppendPointer {
			return value, nil
		}
		switch {
		case missing:
			return source.Value{Kind: source.List, Items: []source.Value{value}}, nil
		case v.Kind != source.List:
			return v, refuse(Malformed, "the pointer leads to %s, not to a list", v.Kind)
		}
		return source.Value{Kind: source.List, Items: append(append([]source.Value(nil), v.Items...), value)}, nil
	}
	last := len(steps) == 1
	switch {
	case v.Kind == source.List:
		i, ok := index(steps[0], len(v.Items))
		if !ok {
			return v, refuse(Malformed, "the list has no entry %q", steps[0])
		}
		out := source.Value{Kind: source.List, Items: append([]source.Value(nil), v.Items...)}
		if last && kind == check.RemovePointer {
			out.Items = append(out.Items[:i:i], v.Items[i+1:]...)
			return out, nil
		}
		item, err := expected(v.Items[i], steps[1:], kind, value)
		out.Items[i] = item
		return out, err
	case v.Kind == source.Map || missing && kind != check.RemovePointer:
		return expectedMember(v, steps, kind, value)
	}
	if missing {
		return v, refuse(Malformed, "there is no %q to remove", steps[0])
	}
	return v, refuse(Malformed, "%q leads into %s", steps[0], v.Kind)
}

func expectedMember(v source.Value, steps []string, kind check.PatchKind, value source.Value) (source.Value, *Error) {
	out := source.Value{Kind: source.Map}
	found := false
	for _, m := range v.Members {
		if m.Key == steps[0] {
			found = true
			if len(steps) == 1 && kind == check.RemovePointer {
				continue
			}
			inner, err := expected(m.Value, steps[1:], kind, value)
			if err != nil {
				return v, err
			}
			m.Value = inner
		}
		out.Members = append(out.Members, m)
	}
	if found {
		return out, nil
	}
	if kind == check.RemovePointer {
		return v, refuse(Malformed, "there is no %q to remove", steps[0])
	}
	inner, err := expected(source.Value{}, steps[1:], kind, value)
	out.Members = append(out.Members, source.Member{Key: steps[0], Value: inner})
	return out, err
}
