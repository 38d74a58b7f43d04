package manifest

import (
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/gate/source"
)

// Options is what the loader cannot know by itself.
type Options struct {
	// Name is the file's name, relative to the manifest directory. "" is
	// shipgate.yaml.
	Name string
	// KnownCheck is the default severity and the floor ("" for none) of a check
	// of the catalogue. Without it severity overrides are held to their form only.
	KnownCheck func(id string) (severity, floor string, ok bool)
	// CheckIDs are the ids that a misspelt one may mean.
	CheckIDs []string
	// Today is the evaluation date, YYYY-MM-DD. "" lets nothing expire.
	Today string
	// YAML parses a text that is no JSON. Nil is source.ParseYAML.
	YAML source.Parser
}

// Version is the version of the format that is read.
const Version = "0.1"

// DefaultName is what a manifest is called.
const DefaultName = "shipgate.yaml"

// Load reads a manifest strictly (§4.1). The error is an *Errors with every
// fault of the file, of class 2.
func Load(text []byte, opt Options) (*Manifest, error) {
	if opt.Name == "" {
		opt.Name = DefaultName
	}
	f := &faults{}
	root, ok := parse(opt.Name, text, opt.YAML, f)
	if !ok {
		return nil, f.errors(opt.Name, 2)
	}
	legacy(root, f)
	w := walker{faults: f, homes: homes}
	w.value(without(root, legacyKey), table())
	m := bind(root)
	m.Name, m.Text, m.Root = opt.Name, text, root
	if !f.full {
		r := rules{faults: f, m: m, opt: opt}
		r.hold()
	}
	if err := f.errors(opt.Name, 2); err != nil {
		return nil, err
	}
	return m, nil
}

// legacyKey stood at the top before checks.severity_overrides (§4.1 rule 4).
const legacyKey = "check_severity_overrides"

func legacy(root source.Value, f *faults) {
	for _, m := range root.Members {
		if m.Key == legacyKey {
			f.suggest([]string{legacyKey}, m.Pos, LegacyKey, "checks.severity_overrides", "was moved to checks.severity_overrides")
		}
	}
}

// without is a mapping without one key.
func without(v source.Value, key string) source.Value {
	if !v.Get(key).Present() {
		return v
	}
	rest := source.Value{Kind: v.Kind, Pos: v.Pos}
	for _, m := range v.Members {
		if m.Key != key {
			rest.Members = append(rest.Members, m)
		}
	}
	return rest
}

// places is every dotted place of the table by its last key.
var places = sync.OnceValue(func() map[string][]string {
	found := map[string][]string{}
	var walk func(s *shape, path []string)
	walk = func(s *shape, path []string) {
		switch s.kind {
		case listShape, dictShape:
			walk(s.item, append(slices.Clone(path), "*"))
		case objectShape:
			for _, f := range s.fields {
				at := append(slices.Clone(path), f.key)
				found[f.key] = append(found[f.key], strings.Join(at, "."))
				walk(f.shape, at)
			}
		default: // nothing below
		}
	}
	walk(table(), nil)
	return found
})

// homes is where the table knows a key, items of lists left out: a misplaced key
// is led to one place or to none.
func homes(key string) []string {
	var at []string
	for _, place := range places()[key] {
		if !strings.Contains(place, "*") {
			at = append(at, place)
		}
	}
	return at
}

// Shapes of scalars as the binder reads them. What the walker refused reads as
// absent, so that the rules of the whole file can still be held.

func str(v source.Value) string {
	switch v.Kind {
	case source.String, source.Date, source.Number:
		return v.Text
	default:
		return ""
	}
}

func truth(v source.Value, otherwise bool) bool {
	if v.Kind != source.Bool {
		return otherwise
	}
	return v.Truth
}

func maybe(v source.Value) *bool {
	if v.Kind != source.Bool {
		return nil
	}
	said := v.Truth
	return &said
}

// strs is the texts of a list; nil when the list is not given.
func strs(v source.Value) []string {
	if v.Kind != source.List {
		return nil
	}
	all := make([]string, 0, len(v.Items))
	for _, item := range v.Items {
		all = append(all, str(item))
	}
	return all
}

// entry is an entry of a list that may be written as a bare text.
func entry(v source.Value, short string) source.Value {
	if v.Kind != source.String && v.Kind != source.Date {
		return v
	}
	return source.Value{Kind: source.Map, Pos: v.Pos, Members: []source.Member{{Key: short, Pos: v.Pos, Value: v}}}
}

// each makes one thing of every item of a list.
func each[T any](v source.Value, make func(i int, item source.Value) T) []T {
	if v.Kind != source.List {
		return nil
	}
	var all []T
	for i, item := range v.Items {
		all = append(all, make(i, item))
	}
	return all
}

// optional is a block that is nil when it is not given.
func optional[T any](v source.Value, make func(source.Value) T) *T {
	if !given(v) {
		return nil
	}
	made := make(v)
	return &made
}
