package surface

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// Setting is one key of a configuration object, with its value and the place
// of the key.
type Setting struct {
	Key   string
	Pos   source.Position
	Value source.Value
}

// settings are the members of v that keep accepts, in file order. What is no
// object has none.
func settings(v source.Value, keep func(key string) bool) []Setting {
	var out []Setting
	for _, m := range v.Members {
		if keep(m.Key) {
			out = append(out, Setting{Key: m.Key, Pos: m.Pos, Value: m.Value})
		}
	}
	return out
}

// setting is one member of v; without the key its value is absent.
func setting(v source.Value, key string) Setting {
	for _, m := range v.Members {
		if m.Key == key {
			return Setting{Key: key, Pos: m.Pos, Value: m.Value}
		}
	}
	return Setting{Key: key}
}

// Changed says whether the setting means something else than before.
func (s Setting) Changed(before Setting) bool { return !s.Value.Equal(before.Value) }

// ChangedSettings lists by key what was added, edited or removed. A removed
// setting has no place in the new text and no value.
func ChangedSettings(before, after []Setting) []Setting {
	olds := make(map[string]Setting, len(before))
	for _, s := range before {
		olds[s.Key] = s
	}
	var out []Setting
	for _, s := range after {
		if s.Changed(olds[s.Key]) {
			out = append(out, s)
		}
		delete(olds, s.Key)
	}
	for key := range olds {
		out = append(out, Setting{Key: key})
	}
	slices.SortFunc(out, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// outside accepts every key that is not in the list.
func outside(known ...string) func(string) bool {
	return func(key string) bool { return !slices.Contains(known, key) }
}

// readable says whether both sides are known texts that parsed. Only then do
// rules compare them (docs/spec/boundary.md §5.2, "Common").
func (s *Surface) readable() bool {
	return s.Old.Unresolved == "" && s.New.Unresolved == "" && !s.Failed()
}
