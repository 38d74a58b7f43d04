package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// Problem is one thing that is wrong with a plan or an earlier result. The
// message holds no value of the document.
type Problem struct {
	At      string // for example capability_requests[2].effect; "" for the whole
	Pos     source.Position
	Message string
}

// DocumentError says that a document is not what its schema allows. All that is
// wrong is reported together.
type DocumentError struct{ Problems []Problem }

// maxProblems bounds the list: a hostile plan has half a million keys.
const maxProblems = 50

// Error is one line a problem: place: message.
func (e *DocumentError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		at := p.At
		switch {
		case p.Pos.Line > 0 && at == "":
			at = fmt.Sprintf("line %d, column %d", p.Pos.Line, p.Pos.Column)
		case p.Pos.Line > 0:
			at = fmt.Sprintf("%s (line %d, column %d)", p.At, p.Pos.Line, p.Pos.Column)
		}
		lines[i] = strings.TrimPrefix(at+": "+p.Message, ": ")
	}
	return strings.Join(lines, "\n")
}

// reader walks a document and collects what is wrong with it.
type reader struct{ problems []Problem }

func (r *reader) wrong(at string, v source.Value, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{At: at, Pos: v.Pos, Message: fmt.Sprintf(format, args...)})
	}
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return &DocumentError{r.problems}
}

// parse reads JSON text, most bytes of it.
func parse(text []byte, most int) (source.Value, error) {
	if len(text) > most {
		return source.Value{}, &DocumentError{[]Problem{{Message: fmt.Sprintf("is larger than %d bytes", most)}}}
	}
	v, bad := source.ParseJSON(text)
	if bad == nil {
		return v, nil
	}
	message := "is no JSON"
	if said, ok := refusals[bad.Reason]; ok {
		message = said
	}
	return source.Value{}, &DocumentError{[]Problem{{Pos: bad.Pos, Message: message}}}
}

var refusals = map[source.Reason]string{
	source.DuplicateKey: "a key is given twice",
	source.TooDeep:      "is nested too deeply",
	source.TooMany:      "has too many values",
	source.NotText:      "is not UTF-8 text, or holds a character that no JSON text has",
	source.Conflict:     "holds a merge conflict",
}

// object says whether v is one and refuses the keys that its schema does not
// know.
func (r *reader) object(at string, v source.Value, known ...string) bool {
	if v.Kind != source.Map {
		r.wrong(at, v, "must be an object")
		return false
	}
	for _, m := range v.Members {
		if !slices.Contains(known, m.Key) {
			r.wrong(below(at, m.Key), source.Value{Pos: m.Pos}, "is not a key that can stand here; known are %s", strings.Join(known, ", "))
		}
	}
	return true
}

func below(at, key string) string {
	if !isName(key) {
		key = "<key>"
	}
	if at == "" {
		return key
	}
	return at + "." + key
}

// items are those of a list, at most so many; none where it is absent.
func (r *reader) items(at string, v source.Value, most int) []source.Value {
	switch {
	case !v.Present():
	case v.Kind != source.List:
		r.wrong(at, v, "must be a list")
	case len(v.Items) > most:
		r.wrong(at, v, "has %d entries; at most %d are taken", len(v.Items), most)
	default:
		return v.Items
	}
	return nil
}

// isName says whether a key may be repeated in a message: what is no name may be
// anything, a secret too.
func isName(key string) bool {
	return len(key) <= 40 && !strings.ContainsFunc(key, func(c rune) bool {
		return c != '_' && c != '-' && (c < 'a' || 'z' < c) && (c < 'A' || 'Z' < c)
	})
}

func item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// text is a string that says something.
func (r *reader) text(at string, v source.Value) string { return r.bounded(at, v, MaxText) }

// bounded is a text of at most so many bytes.
func (r *reader) bounded(at string, v source.Value, most int) string {
	switch {
	case !v.Present():
		r.wrong(at, v, "is missing")
	case v.Kind != source.String:
		r.wrong(at, v, "must be a text")
	case !strings.ContainsFunc(v.Text, visible):
		r.wrong(at, v, "is blank")
	case len(v.Text) > most:
		r.wrong(at, v, "is longer than %d bytes", most)
	}
	return v.Str()
}

// maybe is a text that may be absent or null.
func (r *reader) maybe(at string, v source.Value) string {
	if !v.Present() || v.Kind == source.Null {
		return ""
	}
	return r.text(at, v)
}

// truth is a boolean that may be absent or null; false then.
func (r *reader) truth(at string, v source.Value) bool {
	if v.Present() && v.Kind != source.Null && v.Kind != source.Bool {
		r.wrong(at, v, "must be true or false")
	}
	return v.True()
}

// version refuses a document of another version than the one there is.
func (r *reader) version(at string, v source.Value, want string) {
	if v.Present() && v.Str() != want {
		r.wrong(at, v, "must be %q", want)
	}
}

func (r *reader) texts(at string, v source.Value) []string {
	list := r.items(at, v, MaxRequests)
	out := make([]string, 0, len(list))
	for i, e := range list {
		out = append(out, r.text(item(at, i), e))
	}
	return out
}
