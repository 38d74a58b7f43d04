package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// A body has the shape of a Go type: its members are the fields with a json
// name, and a field with omitempty or omitzero may be missing. Shape is all that
// is judged here. What a value of the right type means is the business of the
// contract's schema and of the use case, which answer with codes of their own
// (docs/spec/contracts.md §20.1).

// decodeBody reads text into the value that out points to, or gives every fault.
func decodeBody(text []byte, out any) error {
	v, err := contract.Parse(text)
	if err != nil {
		return malformedText(err)
	}
	s := shaper{text: text}
	s.fill(v, reflect.ValueOf(out).Elem(), nil)
	if len(s.faults) == 0 {
		return nil
	}
	return &refused{Refusal: s.faults[0], errors: s.faults}
}

func malformedText(err error) error {
	flaw, ok := errors.AsType[*contract.TextError](err)
	if !ok {
		return err
	}
	return &refused{Refusal: refusal.At(refusal.RequestMalformed, flaw.Path, "%s", flaw.Error())}
}

type shaper struct {
	text   []byte
	faults refusal.List
}

// shaped is a type that reads itself.
type shaped interface {
	decode(v any, path string) refusal.List
}

func (s *shaper) fault(path []string, format string, args ...any) {
	s.faults = append(s.faults, refusal.At(refusal.RequestMalformed, contract.Pointer(path...), format, args...))
}

var rawType = reflect.TypeFor[json.RawMessage]()

func (s *shaper) fill(v any, out reflect.Value, path []string) {
	t := out.Type()
	if t == rawType {
		out.Set(reflect.ValueOf(s.rawMember(path)))
		return
	}
	if self, ok := out.Addr().Interface().(shaped); ok {
		s.faults = append(s.faults, self.decode(v, contract.Pointer(path...))...)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(t.Elem())
		s.fill(v, fresh.Elem(), path)
		out.Set(fresh)
	case reflect.Interface:
		if v != nil {
			out.Set(reflect.ValueOf(v))
		}
	case reflect.String:
		text, ok := v.(string)
		if !ok {
			s.fault(path, "a string is expected, not %s", name(v))
			return
		}
		out.SetString(text)
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			s.fault(path, "true or false is expected, not %s", name(v))
			return
		}
		out.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, ok := integer(v)
		if !ok {
			s.fault(path, "an integer is expected, not %s", name(v))
			return
		}
		out.SetInt(n)
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			s.fault(path, "a list is expected, not %s", name(v))
			return
		}
		made := reflect.MakeSlice(t, len(list), len(list))
		for i, item := range list {
			s.fill(item, made.Index(i), append(slices.Clip(path), strconv.Itoa(i)))
		}
		out.Set(made)
	case reflect.Map:
		object, ok := v.(map[string]any)
		if !ok {
			s.fault(path, "an object is expected, not %s", name(v))
			return
		}
		made := reflect.MakeMapWithSize(t, len(object))
		for _, key := range sortedKeys(object) {
			item := reflect.New(t.Elem()).Elem()
			s.fill(object[key], item, append(slices.Clip(path), key))
			made.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), item)
		}
		out.Set(made)
	case reflect.Struct:
		object, ok := v.(map[string]any)
		if !ok {
			s.fault(path, "an object is expected, not %s", name(v))
			return
		}
		s.members(object, out, path)
	default:
		panic("api: a body cannot hold a " + t.String())
	}
}

// rawMember is the text of a member as it was sent: its bytes are what a digest
// is taken of.
func (s *shaper) rawMember(path []string) json.RawMessage {
	text := json.RawMessage(s.text)
	for _, step := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			return nil
		}
		text = object[step]
	}
	return text
}

func (s *shaper) members(object map[string]any, out reflect.Value, path []string) {
	known := fieldsOf(out.Type())
	for _, f := range known {
		v, there := object[f.name]
		if !there {
			if !f.optional {
				s.fault(append(slices.Clip(path), f.name), "the member is missing")
			}
			continue
		}
		s.fill(v, out.FieldByIndex(f.index), append(slices.Clip(path), f.name))
	}
	for _, key := range sortedKeys(object) {
		if !slices.ContainsFunc(known, func(f field) bool { return f.name == key }) {
			s.fault(append(slices.Clip(path), key), "the member is not known here")
		}
	}
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// integer is v as an integer. 1.0 is one for JSON Schema, so it is one here.
func integer(v any) (int64, bool) {
	number, ok := v.(json.Number)
	if !ok || len(number) > 40 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(string(number))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

func name(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case json.Number:
		return "the number " + string(v[:min(len(v), 40)])
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", v)
}

type field struct {
	name     string
	index    []int
	optional bool
}

// fieldsOf is the members of a struct, those of embedded ones included.
func fieldsOf(t reflect.Type) []field {
	fields := []field{}
	for _, f := range reflect.VisibleFields(t) {
		tag, tagged := f.Tag.Lookup("json")
		if !tagged || tag == "-" || !f.IsExported() {
			continue
		}
		parts := strings.Split(tag, ",")
		fields = append(fields, field{
			name: parts[0], index: f.Index,
			optional: slices.Contains(parts, "omitempty") || slices.Contains(parts, "omitzero"),
		})
	}
	return fields
}
