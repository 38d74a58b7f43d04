package manifest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/gate/source"
)

// A shape is what one place of a file may hold. The loader and the published
// schema are both made from it, so that neither knows a key the other lacks.
type shape struct {
	kind   shapeKind
	fields []field // of an object
	item   *shape  // of a list or a dictionary
	words  []string
	wrong  map[string]string // what to say of a word that belongs elsewhere
	short  string            // an object's key that a bare text stands for
	form   form
	least  int    // items of a list, members of a dictionary, value of an integer
	name   string // its name among the schema's definitions, or ""
	anyOf  []string
}

type shapeKind int

const (
	textShape   shapeKind = iota
	scalarShape           // a text or a number, kept as text
	flagShape
	wholeShape
	listShape
	objectShape
	dictShape // names of people's choosing
	anyShape  // any JSON value
)

// form is a further demand on a text.
type form int

const (
	free form = iota
	filled
	dated
	digest
)

// field is one key of an object.
type field struct {
	key   string
	must  bool
	fixed any // a default that is published, or nil
	shape *shape
	help  string
}

// Forms of texts, as the schema publishes them. What ASCII calls a blank is one.
const (
	filledPattern = `[^ \t\n\f\r]`
	datedPattern  = `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`
	digestPattern = `^(sha256:)?[0-9a-fA-F]{64}$`
)

var digestForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(digestPattern) })

func blank(text string) bool { return strings.Trim(text, " \t\n\f\r") == "" }

// isDate says whether a text is a day, YYYY-MM-DD.
func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil && len(text) == len(time.DateOnly)
}

// walker holds a value against a shape.
type walker struct {
	*faults
	path []string
	// homes finds the places where a key would be known.
	homes func(key string) []string
}

func (w *walker) in(key string, do func()) {
	w.path = append(w.path, key)
	do()
	w.path = w.path[:len(w.path)-1]
}

func (w *walker) fault(v source.Value, code Code, format string, args ...any) {
	w.add(w.path, v.Pos, code, format, args...)
}

// value holds v against s. An optional place may be null, which is as if it were
// not given; the caller has passed those over.
func (w *walker) value(v source.Value, s *shape) {
	if w.full || w.reviewed(v) {
		return
	}
	if s.short != "" && (v.Kind == source.String || v.Kind == source.Date) {
		w.text(v, s.at(s.short).shape)
		return
	}
	switch s.kind {
	case anyShape:
		w.any(v)
	case textShape:
		w.text(v, s)
	case scalarShape:
		if v.Kind == source.Number {
			return
		}
		w.text(v, s)
	case flagShape:
		w.flag(v)
	case wholeShape:
		n, err := strconv.Atoi(v.Text)
		if v.Kind != source.Number || err != nil || n < s.least {
			w.fault(v, WrongType, "must be a whole number of at least %d", s.least)
		}
	case listShape:
		w.list(v, s)
	case dictShape:
		w.dict(v, s)
	case objectShape:
		w.object(v, s)
	}
}

func (w *walker) text(v source.Value, s *shape) {
	switch v.Kind {
	case source.String, source.Date: // YAML 1.2 knows no dates: a day is its text
	case source.Number, source.Bool:
		w.fault(v, WrongType, "must be a text, not %s; put it in quotes", article(v.Kind))
		return
	default:
		w.fault(v, WrongType, "must be a text, not %s", article(v.Kind))
		return
	}
	switch {
	case len(s.words) > 0:
		if said, ok := s.wrong[v.Text]; ok {
			w.fault(v, WrongValue, "%s", said)
		} else if !slices.Contains(s.words, v.Text) {
			w.suggest(w.path, v.Pos, WrongValue, Nearest(v.Text, s.words), "must be one of %s", strings.Join(s.words, ", "))
		}
	case s.form == filled && blank(v.Text):
		w.fault(v, Blank, "must not be empty")
	case s.form == dated && !isDate(v.Text):
		w.fault(v, WrongValue, "must be a day of the form YYYY-MM-DD")
	case s.form == digest && !digestForm().MatchString(v.Text):
		w.fault(v, WrongValue, "must be a SHA-256 in 64 hexadecimal digits")
	}
}

// reviewed says whether a text still asks for a person's answer.
func (w *walker) reviewed(v source.Value) bool {
	if v.Kind != source.String || !strings.Contains(v.Text, Review) {
		return false
	}
	w.fault(v, ReviewNeeded, "a person must replace %s", Review)
	return true
}

func (w *walker) flag(v source.Value) {
	if v.Kind == source.Bool {
		return
	}
	if v.Kind == source.String {
		if truth, ok := map[string]string{"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}[strings.ToLower(v.Text)]; ok {
			w.fault(v, WrongType, "must be true or false: %s is a text here, write %s", strings.ToLower(v.Text), truth)
			return
		}
	}
	w.fault(v, WrongType, "must be true or false, not %s", article(v.Kind))
}

func (w *walker) list(v source.Value, s *shape) {
	if v.Kind != source.List {
		w.fault(v, WrongType, "must be a list, not %s", article(v.Kind))
		return
	}
	if len(v.Items) < s.least {
		w.fault(v, MissingKey, "must have at least %d entries", s.least)
	}
	for i, item := range v.Items {
		w.in(strconv.Itoa(i), func() {
			if item.Kind == source.Null {
				w.fault(item, WrongType, "is an empty entry")
				return
			}
			w.value(item, s.item)
		})
	}
}

func (w *walker) dict(v source.Value, s *shape) {
	if v.Kind != source.Map {
		w.fault(v, WrongType, "must be a mapping, not %s", article(v.Kind))
		return
	}
	if len(v.Members) < s.least {
		w.fault(v, MissingKey, "must have at least one entry")
	}
	for _, m := range v.Members {
		w.in(m.Key, func() {
			w.key(m)
			if m.Value.Kind == source.Null && s.item.kind != anyShape {
				w.fault(m.Value, WrongType, "has no value")
				return
			}
			w.value(m.Value, s.item)
		})
	}
}

// key holds a name of people's choosing to what every name must be.
func (w *walker) key(m source.Member) {
	switch {
	case strings.Contains(m.Key, Review):
		w.add(w.path, m.Pos, ReviewNeeded, "a person must replace %s", Review)
	case blank(m.Key):
		w.add(w.path, m.Pos, Blank, "a name must not be empty")
	}
}

func (w *walker) object(v source.Value, s *shape) {
	if v.Kind != source.Map {
		also := ""
		if s.short != "" {
			also = " or a text"
		}
		w.fault(v, WrongType, "must be a mapping%s, not %s", also, article(v.Kind))
		return
	}
	for _, m := range v.Members {
		w.in(m.Key, func() {
			f := s.at(m.Key)
			if f == nil {
				w.unknown(m, s)
				return
			}
			if m.Value.Kind == source.Null && !f.must {
				return // as if it were not given
			}
			if m.Value.Kind == source.Null {
				w.add(w.path, m.Pos, MissingKey, "has no value and is required")
				return
			}
			w.value(m.Value, f.shape)
		})
		if w.full {
			return
		}
	}
	for _, f := range s.fields {
		if f.must && !v.Get(f.key).Present() {
			w.in(f.key, func() { w.add(w.path, v.Pos, MissingKey, "is required") })
		}
	}
	if len(s.anyOf) > 0 && !slices.ContainsFunc(s.anyOf, func(key string) bool { return given(v.Get(key)) }) {
		w.fault(v, MissingKey, "needs %s", strings.Join(s.anyOf, " or "))
	}
}

// given says whether a value is there and says something.
func given(v source.Value) bool { return v.Present() && v.Kind != source.Null }

// at is the field with a key, or nil.
func (s *shape) at(key string) *field {
	for i := range s.fields {
		if s.fields[i].key == key {
			return &s.fields[i]
		}
	}
	return nil
}

func (s *shape) keys() []string {
	keys := make([]string, len(s.fields))
	for i, f := range s.fields {
		keys[i] = f.key
	}
	return keys
}

// unknown tells of a key that the object does not have: the nearest one that it
// has, else the one place where the key would be known.
func (w *walker) unknown(m source.Member, s *shape) {
	meant := Nearest(m.Key, s.keys())
	if meant == "" && w.homes != nil {
		if homes := w.homes(m.Key); len(homes) == 1 {
			meant = homes[0]
		}
	}
	w.suggest(w.path, m.Pos, UnknownKey, meant, "is no key that is known here")
}

// any looks for what no value may hold: the placeholder, and numbers that are
// not JSON's.
func (w *walker) any(v source.Value) {
	w.reviewed(v)
	switch v.Kind {
	case source.Number:
		if v.Text == "nan" || strings.HasSuffix(v.Text, "inf") {
			w.fault(v, WrongType, "must be a finite number")
		}
	case source.List:
		for i, item := range v.Items {
			w.in(strconv.Itoa(i), func() { w.any(item) })
		}
	case source.Map:
		for _, m := range v.Members {
			w.in(m.Key, func() {
				w.key(m)
				w.any(m.Value)
			})
		}
	default: // no other value holds anything
	}
}
