// Package canonical writes JSON in the one spelling that digests are taken
// over: object keys sorted by code point, nothing else left to choice.
//
// Three spellings are in use: Compact and Spaced escape everything outside
// ASCII (docs/spec/boundary.md §9, separators C and S); UTF8 leaves text as it
// is (docs/spec/verification.md §1).
package canonical

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Member is one key of an Object with its value.
type Member struct {
	Key   string
	Value any
}

// Object is a JSON object whose printed order is the order given here. Values
// are nil, bool, string, int, int64, json.Number, []string, []any, []Object,
// Object or map[string]any.
type Object []Member

// Get returns the value of key, or nil.
func (o Object) Get(key string) any {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// MarshalJSON prints the object in its own order, without HTML escaping.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := plain(m.Key)
		if err != nil {
			return nil, err
		}
		v, err := plain(m.Value)
		if err != nil {
			return nil, err
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Spelling is one way to write canonical JSON.
type Spelling struct {
	comma, colon string
	ascii        bool
}

// The spellings.
var (
	Compact = Spelling{comma: ",", colon: ":", ascii: true}
	Spaced  = Spelling{comma: ", ", colon: ": ", ascii: true}
	UTF8    = Spelling{comma: ",", colon: ":"}
)

// Append writes v after dst. It panics on a value of a type that Object does
// not name: that is a broken invariant of ours, never of the input.
func (s Spelling) Append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return s.appendString(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case json.Number:
		return append(dst, v...)
	case []string:
		return appendList(s, dst, v)
	case []any:
		return appendList(s, dst, v)
	case []Object:
		return appendList(s, dst, v)
	case Object:
		return s.appendObject(dst, v)
	case map[string]any:
		o := make(Object, 0, len(v))
		for k, e := range v {
			o = append(o, Member{k, e})
		}
		return s.appendObject(dst, o)
	default:
		panic(fmt.Sprintf("canonical: no spelling for %T", v))
	}
}

func appendList[T any](s Spelling, dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, s.comma...)
		}
		dst = s.Append(dst, e)
	}
	return append(dst, ']')
}

// UTF-8 sorts bytewise as by code point, so plain string comparison is right.
func (s Spelling) appendObject(dst []byte, o Object) []byte {
	byKey := func(a, b Member) int { return strings.Compare(a.Key, b.Key) }
	sorted := o
	if !slices.IsSortedFunc(o, byKey) {
		sorted = slices.Clone(o)
		slices.SortStableFunc(sorted, byKey)
	}
	dst = append(dst, '{')
	for i, m := range sorted {
		if i > 0 {
			dst = append(dst, s.comma...)
		}
		dst = s.appendString(dst, m.Key)
		dst = append(dst, s.colon...)
		dst = s.Append(dst, m.Value)
	}
	return append(dst, '}')
}

// AppendString is Append of a string.
func (s Spelling) AppendString(dst []byte, text string) []byte { return s.appendString(dst, text) }

const hexDigits = "0123456789abcdef"

func (s Spelling) appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		// Most text is plain; runs of it are copied whole, which makes a digest
		// over a large diff several times cheaper.
		if run := plainLen(text[i:]); run > 0 {
			dst = append(dst, text[i:i+run]...)
			i += run
			continue
		}
		c := text[i]
		if c < utf8.RuneSelf {
			dst = appendASCII(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case !s.ascii && r == utf8.RuneError && size == 1:
			dst = append(dst, "\uFFFD"...)
		case !s.ascii:
			dst = append(dst, text[i:i+size]...)
		case r > 0xFFFF:
			r -= 0x10000
			dst = appendEscape(dst, 0xD800+(r>>10))
			dst = appendEscape(dst, 0xDC00+(r&0x3FF))
		default:
			dst = appendEscape(dst, r)
		}
		i += size
	}
	return append(dst, '"')
}

// isPlain says whether c stands for itself in every spelling.
func isPlain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

// appendASCII writes an ASCII byte that is not plain.
func appendASCII(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return appendEscape(dst, rune(c))
}

func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// String is v in this spelling.
func (s Spelling) String(v any) string { return string(s.Append(nil, v)) }

// SHA256 is the lower-case hex digest of v in this spelling.
func (s Spelling) SHA256(v any) string {
	sum := sha256.Sum256(s.Append(nil, v))
	return hex.EncodeToString(sum[:])
}
