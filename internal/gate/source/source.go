// Package source reads the text of one configuration file on one side of a
// change: strict JSON, JSON with comments, TOML and YAML, each into the same
// immutable tree of values with one-based positions.
//
// The parsers are stricter than the hosts on purpose: a key given twice, a
// second YAML document or a conflict marker is a parse failure, because two
// readers with two meanings is where grants hide (docs/spec/boundary.md §4.5).
// A parse failure carries a parser token and a position, never source text.
package source

import (
	"bytes"
	"fmt"

	"plimsoll.dev/internal/canonical"
)

// Position is a place in a text. Line and Column are one-based; the zero
// Position means "not known".
type Position struct {
	Line, Column int
}

// Kind is the sort of a Value.
type Kind string

// The kinds. A TOML date is a Date whose Text is the date as written.
const (
	Null   Kind = "null"
	Bool   Kind = "bool"
	Number Kind = "number"
	String Kind = "string"
	Date   Kind = "date"
	List   Kind = "list"
	Map    Kind = "map"
)

// Value is one node of a parsed file. The zero Value has no Kind and stands for
// "absent": every accessor on it answers with nothing.
type Value struct {
	Kind    Kind
	Text    string // Number and Date as written in normal form, String unescaped
	Truth   bool   // Bool
	Items   []Value
	Members []Member // in file order, keys unique
	Pos     Position

	// index finds a member of a large Map; nil for a small one. It is used only
	// while it covers Members, so that a Value put together by hand is right
	// without one.
	index map[string]int
}

// Member is one key of a Map.
type Member struct {
	Key   string
	Pos   Position // of the key
	Value Value
}

// Present says whether the value exists at all (an explicit null does).
func (v Value) Present() bool { return v.Kind != "" }

// Get is the member named key, or the zero Value.
func (v Value) Get(key string) Value {
	if v.index != nil && len(v.index) == len(v.Members) {
		if i, ok := v.index[key]; ok {
			return v.Members[i].Value
		}
		return Value{}
	}
	for _, m := range v.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return Value{}
}

// At follows keys from v; the zero Value when one is missing.
func (v Value) At(keys ...string) Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// A Parser reads a text, as ParseYAML does. Nobody changes what it answers, so
// that one may give the same answer to all who ask for the same text.
type Parser func(text []byte) (Value, *ParseError)

// Str is the text of a String, or "".
func (v Value) Str() string {
	if v.Kind == String {
		return v.Text
	}
	return ""
}

// True says whether v is the boolean true.
func (v Value) True() bool { return v.Kind == Bool && v.Truth }

// Strings is every String item of a List, in order.
func (v Value) Strings() []Value {
	var out []Value
	for _, e := range v.Items {
		if e.Kind == String {
			out = append(out, e)
		}
	}
	return out
}

// Equal says whether both values mean the same: object keys in any order, list
// items in order, positions not considered. Two absent values are equal.
func (v Value) Equal(o Value) bool {
	if v.Kind != o.Kind {
		return false
	}
	switch v.Kind {
	case Bool:
		return v.Truth == o.Truth
	case List:
		if len(v.Items) != len(o.Items) {
			return false
		}
		for i := range v.Items {
			if !v.Items[i].Equal(o.Items[i]) {
				return false
			}
		}
		return true
	case Map:
		if len(v.Members) != len(o.Members) {
			return false
		}
		o = o.indexed()
		for _, m := range v.Members {
			other := o.Get(m.Key)
			if !other.Present() || !m.Value.Equal(other) {
				return false
			}
		}
		return true
	default:
		return v.Text == o.Text
	}
}

// indexedFrom is the number of members from which on a Map is indexed: below
// it, comparing a few keys is faster than hashing one.
const indexedFrom = 12

// indexed is v with an index if it is a large Map. The parsers index theirs; a
// Value put together by hand gets one when it is compared, because a hostile
// file has a hundred thousand keys.
func (v Value) indexed() Value {
	if len(v.Members) < indexedFrom || len(v.index) == len(v.Members) {
		return v
	}
	v.index = make(map[string]int, len(v.Members))
	for i := range v.Members {
		v.index[v.Members[i].Key] = i
	}
	return v
}

// ParseError says that a text is not what its parser accepts. Its text holds
// the parser's name and the place, never a key or a value.
type ParseError struct {
	Parser string // JSONDecodeError, TOMLDecodeError or YAMLError
	Pos    Position
	Reason Reason // "" where the grammar alone refuses
}

// Reason is why a text that its grammar may accept is refused; it is for
// sentences to people and part of no evidence.
type Reason string

// The reasons.
const (
	DuplicateKey   Reason = "duplicate_key"
	SecondDocument Reason = "second_document"
	TooDeep        Reason = "too_deep"
	TooMany        Reason = "too_many_nodes" // aliases written out
	AliasInItself  Reason = "alias_in_itself"
	NotText        Reason = "not_text" // not UTF-8, a forbidden character, a second byte order mark
	Conflict       Reason = "conflict_marker"
)

func (e *ParseError) because(r Reason) *ParseError {
	e.Reason = r
	return e
}

// The parser tokens of docs/spec/boundary.md §5.2.
const (
	JSONParser = "JSONDecodeError"
	TOMLParser = "TOMLDecodeError"
	YAMLParser = "YAMLError"
)

func (e *ParseError) Error() string {
	if e.Pos.Line == 0 {
		return e.Parser
	}
	return fmt.Sprintf("%s at line %d, column %d", e.Parser, e.Pos.Line, e.Pos.Column)
}

// Evidence is the members of the evidence of a parse failure, without the kind.
// Line and column are left out where they are not known.
func (e *ParseError) Evidence() canonical.Object {
	o := canonical.Object{{Key: "parser", Value: e.Parser}}
	if e.Pos.Line > 0 {
		o = append(o, canonical.Member{Key: "line", Value: e.Pos.Line}, canonical.Member{Key: "column", Value: e.Pos.Column})
	}
	return o
}

var bom = []byte("\xEF\xBB\xBF")

// TrimBOM drops a leading UTF-8 byte order mark and says whether there was one.
func TrimBOM(text []byte) ([]byte, bool) {
	rest, had := bytes.CutPrefix(text, bom)
	return rest, had
}
