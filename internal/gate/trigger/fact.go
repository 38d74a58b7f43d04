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
	return e.when(f), f.tokens
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

// predicate is the condition of a row.
type predicate func(*facts) bool

// paths holds when a changed file matches a pattern.
func paths(patterns ...string) predicate {
	globs := surface.FoldedGlobs(patterns...)
	return func(f *facts) bool { return slices.ContainsFunc(f.files, globs.Match) }
}

// adapter holds when a changed file belongs to the adapter.
func adapter(id surface.AdapterID) predicate {
	return func(f *facts) bool {
		list := surface.Adapters()
		i := slices.IndexFunc(list, func(a surface.Adapter) bool { return a.ID == id })
		return slices.ContainsFunc(f.files, list[i].Matches)
	}
}

// tokens holds when the text has every one of the tokens.
func tokens(all ...string) predicate {
	return func(f *facts) bool {
		for _, t := range all {
			if !f.has(t) {
				return false
			}
		}
		f.tokens = append(f.tokens, all...)
		return true
	}
}

// anyOf holds when one predicate does. It tries them all, so that every token
// that counts is named.
func anyOf(list ...predicate) predicate {
	return func(f *facts) bool {
		held := false
		for _, p := range list {
			held = p(f) || held
		}
		return held
	}
}

// both holds when both predicates do. The second is the cheap one.
func both(a, b predicate) predicate {
	return func(f *facts) bool { return b(f) && a(f) }
}

func manifest(f *facts) bool { return f.manifest }

func gateWorkflow(f *facts) bool { return slices.ContainsFunc(f.files, surface.IsGateWorkflow) }

// docsOnly holds when every changed file is a document or a test and none of
// them is more than that. A change without files is no change of documents.
func docsOnly(f *facts) bool {
	return len(f.files) > 0 && !slices.ContainsFunc(f.files, func(p string) bool {
		return !docPatterns.Match(p) || neverDocs.Match(p) || surface.IsAdapterPath(p)
	})
}
