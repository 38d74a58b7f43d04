package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"plimsoll.dev/internal/pipeline/refusal"
)

// Flaw says what is wrong with a text that is not the JSON we take.
type Flaw string

// The flaws.
const (
	Malformed    Flaw = "malformed"     // no JSON
	Truncated    Flaw = "truncated"     // no JSON because it ends too early
	DuplicateKey Flaw = "duplicate key" // one member name twice in an object
	BadUnicode   Flaw = "bad unicode"   // a lone surrogate, or bytes that are not UTF-8
	NotFinite    Flaw = "not finite"    // NaN, an infinity, or a number beyond binary64
)

// TextError is a text Parse does not take, with the place it stopped at.
type TextError struct {
	Flaw   Flaw
	Offset int    // in bytes
	Path   string // JSON pointer of the value it happened in
	Detail string
}

func (e *TextError) Error() string {
	return fmt.Sprintf("byte %d: %s", e.Offset, e.Detail)
}

// Refusal is e as the application layer answers it: the catalogue has a code
// for every flaw but plain malformed text, which is no document at all.
func (e *TextError) Refusal() *refusal.Refusal {
	code := refusal.ContractSchemaInvalid
	switch e.Flaw {
	case DuplicateKey:
		code = refusal.HashDuplicateKey
	case BadUnicode:
		code = refusal.HashInvalidUnicode
	case NotFinite:
		code = refusal.HashNonFinite
	case Malformed, Truncated:
	}
	return refusal.At(code, e.Path, "%s", e.Error())
}

// maxDepth is the nesting Parse follows, the limit of encoding/json.
const maxDepth = 10000

// Parse reads one JSON value: objects as map[string]any, arrays as []any,
// numbers as json.Number with the text they had. It is stricter than
// encoding/json where two readers could see two documents: a duplicate member,
// a lone surrogate, a byte that is not UTF-8 and a number that is not finite
// are refused, each with its own Flaw.
func Parse(text []byte) (any, error) {
	p := parser{text: text}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.text) {
		return nil, p.fail(Malformed, "more text after the value")
	}
	return v, nil
}

type parser struct {
	text []byte
	at   int
	path []string
}

func (p *parser) fail(flaw Flaw, detail string) error {
	if flaw == Malformed && p.at >= len(p.text) {
		flaw = Truncated
	}
	return &TextError{Flaw: flaw, Offset: p.at, Path: Pointer(p.path...), Detail: detail}
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, p.fail(Malformed, "nested too deeply")
	}
	if p.at >= len(p.text) {
		return nil, p.fail(Malformed, "a value is missing")
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.str()
	case c == '-' || digit(c):
		return p.number()
	case p.word("true"):
		return true, nil
	case p.word("false"):
		return false, nil
	case p.word("null"):
		return nil, nil
	case p.word("NaN") || p.word("Infinity"):
		return nil, p.fail(NotFinite, "not a number of JSON")
	}
	return nil, p.fail(Malformed, "no JSON value starts here")
}

func (p *parser) word(w string) bool {
	if !bytes.HasPrefix(p.text[p.at:], []byte(w)) {
		return false
	}
	p.at += len(w)
	return true
}

func (p *parser) object(depth int) (any, error) {
	object := map[string]any{}
	p.at++
	p.space()
	if p.take('}') {
		return object, nil
	}
	for {
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return nil, p.fail(Malformed, "a member name is missing")
		}
		start := p.at
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		p.path = append(p.path, key)
		if _, twice := object[key]; twice {
			p.at = start
			return nil, p.fail(DuplicateKey, "the member "+strconv.Quote(key)+" is there twice")
		}
		p.space()
		if !p.take(':') {
			return nil, p.fail(Malformed, "a colon is missing")
		}
		p.space()
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		object[key] = v
		p.path = p.path[:len(p.path)-1]
		p.space()
		if p.take(',') {
			continue
		}
		if p.take('}') {
			return object, nil
		}
		return nil, p.fail(Malformed, "the object is not closed")
	}
}

func (p *parser) array(depth int) (any, error) {
	array := []any{}
	p.at++
	p.space()
	if p.take(']') {
		return array, nil
	}
	for {
		p.space()
		p.path = append(p.path, strconv.Itoa(len(array)))
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
		p.path = p.path[:len(p.path)-1]
		p.space()
		if p.take(',') {
			continue
		}
		if p.take(']') {
			return array, nil
		}
		return nil, p.fail(Malformed, "the array is not closed")
	}
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) str() (string, error) {
	p.at++
	for i := p.at; i < len(p.text); i++ { // nearly all are plain
		switch c := p.text[i]; {
		case c == '"':
			text := string(p.text[p.at:i])
			p.at = i + 1
			return text, nil
		case c >= 0x20 && c != '\\' && c < utf8.RuneSelf:
			continue
		}
		break
	}
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		case c < 0x20:
			return "", p.fail(Malformed, "a control character in a string")
		case c < utf8.RuneSelf:
			b.WriteByte(c)
			p.at++
		default:
			r, size := utf8.DecodeRune(p.text[p.at:])
			if r == utf8.RuneError && size == 1 {
				return "", p.fail(BadUnicode, "a byte that is not UTF-8")
			}
			b.Write(p.text[p.at : p.at+size])
			p.at += size
		}
	}
	return "", p.fail(Malformed, "the string is not closed")
}

func (p *parser) escape() (rune, error) {
	if p.at+1 >= len(p.text) {
		p.at = len(p.text)
		return 0, p.fail(Malformed, "the string is not closed")
	}
	if i := strings.IndexByte(`"\/bfnrt`, p.text[p.at+1]); i >= 0 {
		p.at += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	high, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if !utf16.IsSurrogate(high) {
		return high, nil
	}
	start := p.at
	low, err := p.hex4()
	if r := utf16.DecodeRune(high, low); err == nil && r != utf8.RuneError {
		return r, nil
	}
	p.at = start
	return 0, p.fail(BadUnicode, "a lone surrogate")
}

func (p *parser) hex4() (rune, error) {
	if p.at+6 > len(p.text) || p.text[p.at] != '\\' || p.text[p.at+1] != 'u' {
		if p.at+6 > len(p.text) {
			p.at = len(p.text)
		}
		return 0, p.fail(Malformed, "an escape that JSON does not have")
	}
	n, err := strconv.ParseUint(string(p.text[p.at+2:p.at+6]), 16, 16)
	if err != nil || p.text[p.at+2] == '+' {
		return 0, p.fail(Malformed, "an escape that JSON does not have")
	}
	p.at += 6
	return rune(n), nil
}

func (p *parser) number() (any, error) {
	start := p.at
	p.take('-')
	if p.word("Infinity") {
		return nil, p.fail(NotFinite, "-Infinity is not a number of JSON")
	}
	if !p.take('0') && !p.digits() {
		return nil, p.fail(Malformed, "a number without digits")
	}
	integer := true
	if p.take('.') {
		integer = false
		if !p.digits() {
			return nil, p.fail(Malformed, "a fraction without digits")
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		integer = false
		p.at++
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return nil, p.fail(Malformed, "an exponent without digits")
		}
	}
	text := string(p.text[start:p.at])
	if !integer {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return nil, p.fail(NotFinite, "a number beyond the range of binary64")
		}
	}
	return json.Number(text), nil
}

func (p *parser) digits() bool {
	start := p.at
	for p.at < len(p.text) && digit(p.text[p.at]) {
		p.at++
	}
	return p.at > start
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer is the JSON pointer of the given steps; "" is the document itself.
func Pointer(steps ...string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(s))
	}
	return b.String()
}

// Unreadable is an error of Parse as a list of refusals; any other error as it is.
func Unreadable(err error) error {
	if text, ok := errors.AsType[*TextError](err); ok {
		return refusal.List{text.Refusal()}
	}
	return err
}
