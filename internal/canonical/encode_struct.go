package canonical

import (
	"reflect"
	"slices"
	"strings"
)

// member is one field of a struct as JSON has it.
type member struct {
	name      string
	key       []byte // the name as it is written
	lead      []byte // a comma, the name and a colon, as a line has them
	index     []int
	omitEmpty bool
	writer    writer
}

// membersOf are the members of a struct in declared order. It answers false for
// what only encoding/json knows how to write.
func membersOf(t reflect.Type) (members []member, ok bool) {
	seen := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-", !f.IsExported() && !f.Anonymous:
			continue
		case options != "" && options != "omitempty", f.Anonymous && tagged:
			return nil, false
		case f.Anonymous:
			inner, ok := membersOf(f.Type)
			if f.Type.Kind() != reflect.Struct || !ok {
				return nil, false
			}
			for _, m := range inner {
				m.index = append([]int{i}, m.index...)
				members = append(members, m)
			}
			continue
		case name == "":
			name = f.Name
		}
		key := appendText(nil, name)
		members = append(members, member{
			name: name, key: key, lead: slices.Concat([]byte{','}, key, []byte{':'}), index: []int{i},
			omitEmpty: options == "omitempty", writer: writerOf(f.Type),
		})
	}
	for _, m := range members {
		if seen[m.name] {
			return nil, false
		}
		seen[m.name] = true
	}
	return members, true
}

func structWriter(t reflect.Type, declared []member) writer {
	byName := slices.Clone(declared)
	slices.SortFunc(byName, func(a, b member) int { return strings.Compare(a.name, b.name) })
	kept := -1
	for i := range t.NumField() {
		if t.Field(i).Type == keptType {
			kept = i
		}
	}
	return func(e *encoder, v reflect.Value) {
		if kept >= 0 && e.line && !e.sorted {
			if text := v.Field(kept).Field(0).Bytes(); text != nil {
				e.repeat(text)
				return
			}
		}
		members, tight := declared, e.line
		if e.sorted {
			members, tight = byName, e.spelling == UTF8
		}
		n, top := 0, e.depth == 0
		e.dst = append(e.dst, '{')
		e.depth++
		for i := range members {
			m := &members[i]
			field := v.Field(m.index[0])
			for _, inner := range m.index[1:] {
				field = field.Field(inner)
			}
			if m.omitEmpty && empty(field) || top && e.sorted && slices.Contains(e.without, m.name) {
				continue
			}
			switch {
			case tight && n == 0:
				e.dst = append(e.dst, m.lead[1:]...)
			case tight:
				e.dst = append(e.dst, m.lead...)
			case e.sorted:
				e.next(n, false)
				e.text(m.name)
				e.colon()
			default:
				e.next(n, !e.line)
				e.dst = append(e.dst, m.key...)
				e.colon()
			}
			n++
			m.writer(e, field)
		}
		e.close(n, '}', !e.line)
	}
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
