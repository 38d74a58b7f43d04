package trigger

import (
	"bytes"
	"slices"

	"plimsoll.dev/internal/gate/surface"
)

// facts is a change as the predicates see it. A token is searched once, however
// many rows ask for it.
type facts struct {
	files    []string
	text     [][]byte
	manifest bool
	found    map[string]bool
	tokens   []string // of the row that is being tried
}

func newFacts(in Input) *facts {
	return &facts{files: in.ChangedFiles, text: in.Text, manifest: in.ManifestPresent, found: map[string]bool{}}
}

// holds tries one row and returns the tokens that made it hold.
func (f *facts) holds(e *Entry) (bool, []string) {
	f.tokens = nil
	return e.when.holds(f), f.tokens
}

// has searches a token in the texts. All tokens are ASCII, which a lossy
// decoding neither makes nor breaks, so the bytes are searched as they are.
func (f *facts) has(token string) bool {
	found, known := f.found[token]
	if !known {
		found = slices.ContainsFunc(f.text, func(t []byte) bool { return bytes.Contains(t, []byte(token)) })
		f.found[token] = found
	}
	return found
}

// predicate is the condition of a row: what tries it, and what says it.
type predicate struct {
	holds func(*facts) bool
	said  func() When
}

// When is a condition as the catalogue document says it: one key of the
// vocabulary and its value.
type When map[string]any

// paths holds when a changed file matches a pattern.
func paths(patterns ...string) predicate {
	globs := surface.FoldedGlobs(patterns...)
	return predicate{
		func(f *facts) bool { return slices.ContainsFunc(f.files, globs.Match) },
		func() When { return saidOf("glob", patterns) },
	}
}

// saidOf is one value of a key, or any of several.
func saidOf(key string, values []string) When {
	if len(values) == 1 {
		return When{key: values[0]}
	}
	list := []When{}
	for _, v := range values {
		list = append(list, When{key: v})
	}
	return When{"any_of": list}
}

// adapter holds when a changed file belongs to the adapter.
func adapter(id surface.AdapterID) predicate {
	find := func() *surface.Adapter {
		list := surface.Adapters()
		return &list[slices.IndexFunc(list, func(a surface.Adapter) bool { return a.ID == id })]
	}
	return predicate{
		func(f *facts) bool { return slices.ContainsFunc(f.files, find().Matches) },
		func() When { return saidOf("glob", find().Patterns) },
	}
}

// tokens holds when the text has every one of the tokens.
func tokens(all ...string) predicate {
	return predicate{
		func(f *facts) bool {
			for _, t := range all {
				if !f.has(t) {
					return false
				}
			}
			f.tokens = append(f.tokens, all...)
			return true
		},
		func() When {
			if len(all) == 1 {
				return When{"diff_contains": all[0]}
			}
			list := []When{}
			for _, t := range all {
				list = append(list, When{"diff_contains": t})
			}
			return When{"all_of": list}
		},
	}
}

// anyOf holds when one predicate does. It tries them all, so that every token
// that counts is named.
func anyOf(list ...predicate) predicate {
	return predicate{
		func(f *facts) bool {
			held := false
			for _, p := range list {
				held = p.holds(f) || held
			}
			return held
		},
		func() When { return When{"any_of": saidOfAll(list)} },
	}
}

func saidOfAll(list []predicate) []When {
	out := []When{}
	for _, p := range list {
		out = append(out, p.said())
	}
	return out
}

// both holds when both predicates do. The second is the cheap one.
func both(a, b predicate) predicate {
	return predicate{
		func(f *facts) bool { return b.holds(f) && a.holds(f) },
		func() When { return When{"all_of": saidOfAll([]predicate{a, b})} },
	}
}

var (
	manifest = predicate{
		func(f *facts) bool { return f.manifest },
		func() When { return When{"file_present": "shipgate.yaml"} },
	}
	gateWorkflow = predicate{
		func(f *facts) bool { return slices.ContainsFunc(f.files, surface.IsGateWorkflow) },
		func() When { return saidOf("glob", gateWorkflowPatterns) },
	}
	documents = predicate{docsOnly, func() When {
		never := slices.Clone(neverDocPatterns)
		for _, a := range surface.Adapters() {
			never = append(never, a.Patterns...)
		}
		return When{"all_of": []When{{"every_file_matches": docNames}, {"none_match_glob": never}}}
	}}
)

// gateWorkflowPatterns say what surface.IsGateWorkflow tries.
var gateWorkflowPatterns = []string{"**/.github/workflows/agents-shipgate.yml", "**/.github/workflows/agents-shipgate.yaml"}

// docsOnly holds when every changed file is a document or a test and none of
// them is more than that. A change without files is no change of documents.
func docsOnly(f *facts) bool {
	return len(f.files) > 0 && !slices.ContainsFunc(f.files, func(p string) bool {
		return !docPatterns.Match(p) || neverDocs.Match(p) || surface.IsAdapterPath(p)
	})
}
