package python

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// identifier is a name in the form in which Python compares names. Without it a
// decorator in letters of full width would be another name to us than to Python.
func identifier(word string) (string, bool) {
	normal := norm.NFKC.String(word)
	for i, r := range normal {
		start := r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_ID_Start)
		if i == 0 && !start {
			return "", false
		}
		if !start && !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) {
			return "", false
		}
	}
	return normal, normal != ""
}

func isPrefix(word string) bool {
	switch strings.ToLower(word) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	}
	return false
}

func (s *scanner) prefixed(word string, off int, start Pos) {
	lower := strings.ToLower(word)
	if strings.ContainsAny(lower, "ft") {
		s.formatted(off, start, strings.Contains(lower, "r"))
		return
	}
	s.string(off, start)
}

// quote reads the opening quotes: which, and one or three.
func (s *scanner) quote() (byte, int) {
	q := s.src[s.off]
	size := 1
	if s.peek(1) == q && s.peek(2) == q {
		size = 3
	}
	s.steps(size)
	return q, size
}

// closes says whether the quotes that end the literal stand here.
func (s *scanner) closes(q byte, size int) bool {
	return s.peek(0) == q && (size == 1 || s.peek(1) == q && s.peek(2) == q)
}

func (s *scanner) string(off int, start Pos) {
	q, size := s.quote()
	for {
		switch {
		case s.off >= len(s.src), size == 1 && s.src[s.off] == '\n':
			s.fail(start, "a string that does not end")
			return
		case s.closes(q, size):
			s.steps(size)
			s.emit(text, off, start)
			return
		case s.src[s.off] == '\\' && s.off+1 < len(s.src):
			s.steps(2)
		default:
			s.step()
		}
	}
}

// formatted reads a formatted string as its parts: formatStart, then formatText
// and the tokens of fields, then formatEnd.
func (s *scanner) formatted(off int, start Pos, raw bool) {
	f := formatScan{scanner: s, raw: raw, start: start}
	f.q, f.size = s.quote()
	s.emit(formatStart, off, start)
	f.middle(false)
	if s.fault != nil {
		return
	}
	at, end := s.here(), s.off
	s.steps(f.size)
	s.emit(formatEnd, end, at)
}

type formatScan struct {
	*scanner
	q     byte
	size  int
	raw   bool
	start Pos
}

// middle reads text and fields up to the closing quotes, or, inside of a format
// (spec), up to the brace that ends the field.
func (f *formatScan) middle(spec bool) {
	at, off := f.here(), f.off
	flush := func() {
		if f.off > off {
			f.emit(formatText, off, at)
		}
	}
	for f.fault == nil {
		if f.off >= len(f.src) {
			f.fail(f.start, "a string that does not end")
			return
		}
		c := f.src[f.off]
		switch {
		case c == '\n' && f.size == 1 && spec:
			flush() // the line ends the format, not the field
			return
		case c == '\n' && f.size == 1:
			f.fail(f.start, "a string that does not end")
			return
		case c == f.q && f.closes(f.q, f.size):
			if spec {
				f.fail(f.here(), "a field that does not end")
				return
			}
			flush()
			return
		case c == '{' && f.peek(1) == '{' && !spec:
			f.step()
			flush()
			f.step()
			at, off = f.here(), f.off
		case c == '{':
			flush()
			f.field()
			at, off = f.here(), f.off
		case c == '}' && spec:
			flush()
			return
		case c == '}' && f.peek(1) == '}':
			f.step()
			flush()
			f.step()
			at, off = f.here(), f.off
		case c == '}':
			f.fail(f.here(), "a brace closes no field")
			return
		case c == '\\':
			f.escape()
		default:
			f.step()
		}
	}
}

// escape goes over a backslash and what it takes with it: never a brace, except
// that of a character's name.
func (f *formatScan) escape() {
	f.step()
	switch next := f.peek(0); {
	case f.off >= len(f.src) || next == '{' || next == '}':
	case next == 'N' && !f.raw && f.peek(1) == '{':
		for f.off < len(f.src) && f.src[f.off] != '}' && f.src[f.off] != '\n' && f.src[f.off] != f.q {
			f.step()
		}
		if f.peek(0) == '}' {
			f.step()
		}
	default:
		f.step()
	}
}

// field reads one {…} as tokens.
func (f *formatScan) field() {
	at, off := f.here(), f.off
	f.step()
	if !f.push(bracket{close: '}', field: true}, at) {
		return
	}
	f.emit(operator, off, at)
	depth := len(f.open)
	for f.fault == nil {
		switch {
		case f.off >= len(f.src):
			f.fail(f.start, "a string that does not end")
		case len(f.open) == depth && f.src[f.off] == ':':
			f.operator()
			f.middle(true)
		case len(f.open) == depth && f.src[f.off] == '}':
			f.operator()
			return
		default:
			f.token()
		}
	}
}

// number reads a number and what may follow it: a keyword, for example, as in
// 1if x else 2.
func (s *scanner) number() {
	start, off := s.here(), s.off
	var ok bool
	if s.src[s.off] == '0' && strings.IndexByte("xXoObB", s.peek(1)) >= 0 && s.peek(1) != 0 {
		base := s.peek(1) | 0x20
		s.steps(2)
		if s.peek(0) == '_' {
			s.step()
		}
		ok = s.digits(func(b byte) bool {
			switch base {
			case 'x':
				return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f'
			case 'o':
				return b >= '0' && b <= '7'
			}
			return b == '0' || b == '1'
		})
	} else {
		ok = s.decimal(off)
	}
	if next := s.peek(0); ok && (isWord(next) || next >= utf8.RuneSelf) {
		ok = false
		for _, word := range [...]string{"and", "else", "for", "if", "in", "is", "not", "or"} {
			ok = ok || strings.HasPrefix(s.src[s.off:], word)
		}
	}
	if !ok {
		s.fail(start, "a number that is none")
		return
	}
	s.emit(number, off, start)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// digits reads digits with single underscores between them.
func (s *scanner) digits(is func(byte) bool) bool {
	if !is(s.peek(0)) {
		return false
	}
	for {
		for is(s.peek(0)) {
			s.step()
		}
		if s.peek(0) != '_' {
			return true
		}
		if !is(s.peek(1)) {
			return false
		}
		s.step()
	}
}

func (s *scanner) decimal(off int) bool {
	whole := true
	if s.peek(0) != '.' {
		if !s.digits(isDigit) {
			return false
		}
	}
	intPart := s.src[off:s.off]
	if s.peek(0) == '.' {
		whole = false
		s.step()
		if isDigit(s.peek(0)) && !s.digits(isDigit) {
			return false
		}
	}
	if s.peek(0)|0x20 == 'e' {
		sign := 1
		if s.peek(1) == '+' || s.peek(1) == '-' {
			sign = 2
		}
		if isDigit(s.peek(sign)) {
			whole = false
			s.steps(sign)
			if !s.digits(isDigit) {
				return false
			}
		}
	}
	if s.peek(0)|0x20 == 'j' {
		s.step()
		return true
	}
	// A leading zero is only for zero itself.
	return !whole || intPart[0] != '0' || strings.Trim(intPart, "0_") == ""
}
