package source

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseJSON reads strict JSON (RFC 8259): one value, no comments, no key twice
// in one object. Keys are compared after unescaping, as hosts compare them. A
// lone surrogate escape reads as U+FFFD.
//
// The reader is our own because the standard library gives no position of a
// key and lets a second one win in silence.
func ParseJSON(text []byte) (Value, *ParseError) { return readJSON(text, false) }

type jsonReader struct {
	text     []byte
	off      int
	cursor   cursor
	comments bool // and trailing commas
	depth    int
	nodes    int
}

func readJSON(text []byte, comments bool) (Value, *ParseError) {
	if err := screen(JSONParser, text); err != nil {
		return Value{}, err
	}
	r := &jsonReader{text: text, cursor: newCursor(text), comments: comments}
	v, err := r.value()
	if err == nil {
		err = r.space()
	}
	if err == nil && r.off < len(text) {
		err = r.fail()
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// fail is the failure at the current place.
func (r *jsonReader) fail() *ParseError { return r.failAt(r.cursor.at(r.off)) }

func (r *jsonReader) failAt(pos Position) *ParseError {
	return &ParseError{Parser: JSONParser, Pos: pos}
}

// peek is the current byte, 0 at the end; screen has refused NUL in the text.
func (r *jsonReader) peek() byte {
	if r.off < len(r.text) {
		return r.text[r.off]
	}
	return 0
}

func (r *jsonReader) take(b byte) bool {
	if r.peek() != b {
		return false
	}
	r.off++
	return true
}

// space skips what may stand between two tokens.
func (r *jsonReader) space() *ParseError {
	for {
		switch r.peek() {
		case ' ', '\t', '\n', '\r':
			r.off++
		case '/':
			if !r.comments || !r.comment() {
				return r.fail()
			}
		default:
			return nil
		}
	}
}

// value reads one value with the space before it.
func (r *jsonReader) value() (Value, *ParseError) {
	if err := r.space(); err != nil {
		return Value{}, err
	}
	if r.nodes++; r.nodes > maxNodes {
		return Value{}, r.fail().because(TooMany)
	}
	pos := r.cursor.at(r.off)
	switch b := r.peek(); {
	case b == '{', b == '[':
		if r.depth++; r.depth > maxDepth {
			return Value{}, r.fail().because(TooDeep)
		}
		defer func() { r.depth-- }()
		if b == '{' {
			return r.object(pos)
		}
		return r.array(pos)
	case b == '"':
		s, err := r.str()
		return Value{Kind: String, Text: s, Pos: pos}, err
	case b == '-', '0' <= b && b <= '9':
		n, err := r.number()
		return Value{Kind: Number, Text: n, Pos: pos}, err
	case r.word("null"):
		return Value{Kind: Null, Pos: pos}, nil
	case r.word("true"):
		return Value{Kind: Bool, Truth: true, Pos: pos}, nil
	case r.word("false"):
		return Value{Kind: Bool, Pos: pos}, nil
	}
	return Value{}, r.fail()
}

func (r *jsonReader) word(w string) bool {
	if len(r.text)-r.off < len(w) || string(r.text[r.off:r.off+len(w)]) != w {
		return false
	}
	r.off += len(w)
	return true
}

func (r *jsonReader) object(pos Position) (Value, *ParseError) {
	var m members
	err := r.sequence('}', func() *ParseError {
		keyPos := r.cursor.at(r.off)
		if r.peek() != '"' {
			return r.fail()
		}
		key, err := r.str()
		if err != nil {
			return err
		}
		if m.has(key) {
			return r.failAt(keyPos).because(DuplicateKey)
		}
		if err := r.space(); err != nil {
			return err
		}
		if !r.take(':') {
			return r.fail()
		}
		v, err := r.value()
		if err != nil {
			return err
		}
		m.add(Member{Key: key, Pos: keyPos, Value: v})
		return nil
	})
	return m.value(pos), err
}

func (r *jsonReader) array(pos Position) (Value, *ParseError) {
	list := Value{Kind: List, Pos: pos}
	err := r.sequence(']', func() *ParseError {
		v, err := r.value()
		list.Items = append(list.Items, v)
		return err
	})
	return list, err
}

// sequence reads the elements between the bracket it stands on and end,
// separated by commas.
func (r *jsonReader) sequence(end byte, element func() *ParseError) *ParseError {
	r.off++
	for first := true; ; first = false {
		if err := r.space(); err != nil {
			return err
		}
		if (first || r.comments) && r.take(end) {
			return nil
		}
		if err := element(); err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		if r.take(end) {
			return nil
		}
		if !r.take(',') {
			return r.fail()
		}
	}
}

// number reads a number and gives its normal form. JSON has one kind of
// number: 1.0 is 1.
func (r *jsonReader) number() (string, *ParseError) {
	start := r.off
	r.take('-')
	if !r.take('0') && !r.digits() {
		return "", r.fail()
	}
	if r.take('.') && !r.digits() {
		return "", r.fail()
	}
	if r.take('e') || r.take('E') {
		_ = r.take('+') || r.take('-')
		if !r.digits() {
			return "", r.fail()
		}
	}
	n, ok := decimal(string(r.text[start:r.off]))
	if !ok {
		return "", r.fail()
	}
	return n, nil
}

func (r *jsonReader) digits() bool {
	start := r.off
	for '0' <= r.peek() && r.peek() <= '9' {
		r.off++
	}
	return r.off > start
}

// str reads the string it stands on and unescapes it.
func (r *jsonReader) str() (string, *ParseError) {
	r.off++
	start := r.off
	for r.off < len(r.text) && r.text[r.off] != '"' && r.text[r.off] != '\\' && r.text[r.off] >= ' ' {
		r.off++
	}
	if r.peek() == '"' {
		r.off++
		return string(r.text[start : r.off-1]), nil
	}
	var b strings.Builder
	b.Write(r.text[start:r.off])
	for {
		switch c := r.peek(); {
		case c == '"':
			r.off++
			return b.String(), nil
		case c < ' ':
			return "", r.fail()
		case c != '\\':
			b.WriteByte(c)
			r.off++
		case !r.escape(&b):
			return "", r.fail()
		}
	}
}

// escape reads one escape sequence; on false the reader stands on what is
// wrong with it.
func (r *jsonReader) escape(b *strings.Builder) bool {
	r.off++
	if i := strings.IndexByte(`"\/bfnrt`, r.peek()); i >= 0 {
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		r.off++
		return true
	}
	if !r.take('u') {
		return false
	}
	c, ok := r.hex4()
	if !ok {
		return false
	}
	if utf16.IsSurrogate(c) {
		after := r.off
		if r.word(`\u`) {
			low, ok := r.hex4()
			if !ok {
				return false
			}
			if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
				b.WriteRune(pair)
				return true
			}
		}
		r.off = after // what follows is a character of its own
	}
	b.WriteRune(c) // a lone surrogate becomes U+FFFD
	return true
}

func (r *jsonReader) hex4() (rune, bool) {
	var c rune
	for range 4 {
		b := r.peek()
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			b = (b | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		c = c<<4 | rune(b)
		r.off++
	}
	return c, true
}
