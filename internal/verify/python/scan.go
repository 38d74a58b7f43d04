package python

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	endOfFile kind = iota
	newline
	indent
	dedent
	name
	keyword
	number
	text // a string literal without fields
	formatStart
	formatText
	formatEnd
	operator
)

// A token is a piece of the source. Texts are slices of the one normalised
// source, so off leads back to it.
type token struct {
	kind       kind
	off        int
	text       string
	start, end Pos
}

// bracket is one that is open; field says that it is the { of a formatted
// string.
type bracket struct {
	close byte
	field bool
	at    Pos
}

// scanner takes a module apart. The first fault ends the scan.
type scanner struct {
	src    string
	off    int
	line   int
	begin  int // offset of the line's first byte
	wide   int // continuation bytes of UTF-8 on this line before off
	tokens []token
	open   []bracket
	levels []level // of indentation, the outermost is {0, 0}
	fault  *SyntaxError
}

// level is one indentation, measured with tabs of eight and of one: where the
// two disagree about an order, the text means different things to different
// people and is refused.
type level struct{ wide, narrow int }

const maxIndents = 100

// scan takes text apart, or says why it is not Python.
func scan(input []byte) ([]token, string, *SyntaxError) {
	src, fault := normalise(input)
	if fault != nil {
		return nil, "", fault
	}
	s := &scanner{src: src, line: 1, levels: []level{{}}, tokens: make([]token, 0, min(len(src)/5, maxTokens)+16)}
	for s.fault == nil && s.off < len(s.src) {
		if s.indentation() {
			s.logicalLine()
		}
	}
	if s.fault != nil {
		return nil, "", s.fault
	}
	for range s.levels[1:] {
		s.mark(dedent)
	}
	s.mark(endOfFile)
	return s.tokens, src, s.fault
}

// normalise takes the byte order mark off and makes every end of line \n, which
// is what Python does before it reads.
func normalise(input []byte) (string, *SyntaxError) {
	declared, line := declaration(input)
	input, marked := bytes.CutPrefix(input, []byte("\ufeff"))
	plain := bytes.IndexFunc(input, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	switch declared {
	case "", "utf-8":
	case "utf8", "ascii", "us-ascii": // Python refuses them beside a mark
		if marked || declared != "utf8" && !plain {
			return "", &SyntaxError{Pos: Pos{line, 1}, Detail: "the declared encoding is not that of the file"}
		}
	default:
		return "", &SyntaxError{Pos: Pos{line, 1}, Detail: "the file declares an encoding other than UTF-8"}
	}
	if bytes.IndexByte(input, '\r') >= 0 {
		input = bytes.ReplaceAll(input, []byte("\r\n"), []byte("\n"))
		input = bytes.ReplaceAll(input, []byte("\r"), []byte("\n"))
	}
	if i := bytes.IndexByte(input, 0); i >= 0 {
		return "", &SyntaxError{Pos: lineAt(input, i), Detail: "a NUL byte"}
	}
	if !utf8.Valid(input) {
		for i := 0; i < len(input); {
			r, n := utf8.DecodeRune(input[i:])
			if r == utf8.RuneError && n == 1 {
				return "", &SyntaxError{Pos: lineAt(input, i), Detail: "not UTF-8"}
			}
			i += n
		}
	}
	return string(input), nil
}

func lineAt(input []byte, off int) Pos {
	return Pos{Line: 1 + bytes.Count(input[:off], []byte("\n")), Column: 1}
}

// declaration is the encoding that one of the first two lines declares (PEP
// 263), in lower case with hyphens, "" without one, and its line.
func declaration(input []byte) (string, int) {
	rest := bytes.TrimPrefix(input, []byte("\ufeff"))
	for line := 1; line <= 2; line++ {
		here := rest
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			here, rest = rest[:i], rest[i:]
			rest = bytes.TrimPrefix(rest, []byte("\r"))
			rest = bytes.TrimPrefix(rest, []byte("\n"))
		} else {
			rest = nil
		}
		body := bytes.TrimLeft(here, " \t\f")
		if len(body) == 0 {
			continue
		}
		if body[0] != '#' {
			return "", 0
		}
		if found := codingOf(body); found != "" {
			return found, line
		}
	}
	return "", 0
}

func codingOf(comment []byte) string {
	for {
		i := bytes.Index(comment, []byte("coding"))
		if i < 0 {
			return ""
		}
		comment = comment[i+len("coding"):]
		if len(comment) == 0 || comment[0] != ':' && comment[0] != '=' {
			continue
		}
		value := bytes.TrimLeft(comment[1:], " \t")
		end := 0
		for end < len(value) && (isWord(value[end]) || value[end] == '-' || value[end] == '.') {
			end++
		}
		if end == 0 {
			continue
		}
		found := strings.ReplaceAll(strings.ToLower(string(value[:end])), "_", "-")
		if strings.HasPrefix(found, "utf-8-") {
			return "utf-8"
		}
		return found
	}
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (s *scanner) here() Pos { return Pos{Line: s.line, Column: s.off - s.begin - s.wide + 1} }

func (s *scanner) fail(at Pos, detail string) {
	if s.fault == nil {
		s.fault = &SyntaxError{Pos: at, Detail: detail}
	}
}

// peek is the byte n places on, 0 at the end of the text.
func (s *scanner) peek(n int) byte {
	if s.off+n < len(s.src) {
		return s.src[s.off+n]
	}
	return 0
}

// step goes over one byte and keeps the place.
func (s *scanner) step() {
	switch b := s.src[s.off]; {
	case b == '\n':
		s.off++
		s.line, s.begin, s.wide = s.line+1, s.off, 0
		return
	case !utf8.RuneStart(b):
		s.wide++
	}
	s.off++
}

func (s *scanner) steps(n int) {
	for range n {
		s.step()
	}
}

// emit adds the token that starts at off and start and ends here.
func (s *scanner) emit(k kind, off int, start Pos) {
	if len(s.tokens) >= maxTokens {
		s.fail(start, "more tokens than we read")
		return
	}
	s.tokens = append(s.tokens, token{kind: k, off: off, text: s.src[off:s.off], start: start, end: s.here()})
}

// mark adds a token without text.
func (s *scanner) mark(k kind) { s.emit(k, s.off, s.here()) }

// indentation reads the blanks before a logical line and says whether there is
// one: blank lines and comments are none.
func (s *scanner) indentation() bool {
	var now level
	held := 0
	for s.off < len(s.src) {
		switch s.src[s.off] {
		case ' ':
			now.wide++
			now.narrow++
		case '\t':
			now.wide = (now.wide/8 + 1) * 8
			now.narrow++
		case '\f':
			now = level{}
		case '\\':
			// The blanks before the first backslash are the indentation of
			// what follows.
			if held == 0 {
				held = now.wide
			}
			if !s.continuation() {
				return false
			}
			continue
		case '\n':
			s.step()
			return false
		case '#':
			s.comment()
			if s.off < len(s.src) {
				s.step()
			}
			return false
		default:
			if held > 0 {
				now = level{wide: held, narrow: held}
			}
			return s.indent(now)
		}
		s.step()
	}
	return false
}

func (s *scanner) indent(now level) bool {
	top := s.levels[len(s.levels)-1]
	switch {
	case now.wide == top.wide:
		if now.narrow != top.narrow {
			s.fail(s.here(), "tabs and spaces disagree in the indentation")
			return false
		}
	case now.wide > top.wide:
		if now.narrow <= top.narrow {
			s.fail(s.here(), "tabs and spaces disagree in the indentation")
			return false
		}
		if len(s.levels) >= maxIndents {
			s.fail(s.here(), "blocks are nested too deep")
			return false
		}
		s.levels = append(s.levels, now)
		s.mark(indent)
	default:
		for len(s.levels) > 1 && now.wide < s.levels[len(s.levels)-1].wide {
			s.levels = s.levels[:len(s.levels)-1]
			s.mark(dedent)
		}
		if now != s.levels[len(s.levels)-1] {
			s.fail(s.here(), "the indentation fits no block that is open")
			return false
		}
	}
	return s.fault == nil
}

// continuation goes over a backslash at the end of a line.
func (s *scanner) continuation() bool {
	if s.peek(1) != '\n' || s.off+2 >= len(s.src) {
		s.fail(s.here(), "a backslash that ends no line")
		return false
	}
	s.steps(2)
	return true
}

func (s *scanner) comment() {
	for s.off < len(s.src) && s.src[s.off] != '\n' {
		s.step()
	}
}

// logicalLine reads tokens up to the end of the line outside of brackets.
func (s *scanner) logicalLine() {
	for s.fault == nil {
		if s.off >= len(s.src) {
			if len(s.open) > 0 {
				s.fail(s.open[len(s.open)-1].at, "a bracket that does not close")
				return
			}
			s.mark(newline)
			return
		}
		if s.src[s.off] == '\n' && len(s.open) == 0 {
			s.mark(newline)
			s.step()
			return
		}
		s.token()
	}
}

// token reads one token, or the blanks before it.
func (s *scanner) token() {
	switch c := s.src[s.off]; {
	case c == ' ' || c == '\t' || c == '\f' || c == '\n':
		s.step()
	case c == '#':
		s.comment()
	case c == '\\':
		s.continuation()
	case c >= '0' && c <= '9' || c == '.' && s.peek(1) >= '0' && s.peek(1) <= '9':
		s.number()
	case c == '"' || c == '\'':
		s.string(s.off, s.here())
	case c >= utf8.RuneSelf || isWord(c):
		s.word()
	default:
		s.operator()
	}
}

func (s *scanner) word() {
	start, off := s.here(), s.off
	ascii := true
	for s.off < len(s.src) && (isWord(s.src[s.off]) || s.src[s.off] >= utf8.RuneSelf) {
		ascii = ascii && s.src[s.off] < utf8.RuneSelf
		s.step()
	}
	word := s.src[off:s.off]
	if next := s.peek(0); (next == '"' || next == '\'') && isPrefix(word) {
		s.off = off + len(word) // prefixes are plain letters
		s.prefixed(word, off, start)
		return
	}
	if ascii {
		if keywords[word] {
			s.emit(keyword, off, start)
		} else {
			s.emit(name, off, start)
		}
		return
	}
	normal, ok := identifier(word)
	if !ok {
		s.fail(start, "a character that belongs to no name")
		return
	}
	s.emit(name, off, start)
	if s.fault == nil {
		s.tokens[len(s.tokens)-1].text = normal
	}
}

var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true, "async": true, "await": true,
	"break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true, "else": true, "except": true,
	"finally": true, "for": true, "from": true, "global": true, "if": true, "import": true, "in": true, "is": true,
	"lambda": true, "nonlocal": true, "not": true, "or": true, "pass": true, "raise": true, "return": true, "try": true,
	"while": true, "with": true, "yield": true,
}

const (
	threes = " **= //= >>= <<= ... "
	twos   = " ** // >> << <= >= == != -> += -= *= /= %= &= |= ^= @= := "
	ones   = "+-*/%@&|^~<>()[]{},:.;="
)

func (s *scanner) operator() {
	start, off := s.here(), s.off
	field := len(s.open) > 0 && s.open[len(s.open)-1].field
	size := 0
	switch {
	case s.listed(threes, 3):
		size = 3
	case s.listed(twos, 2):
		size = 2
	}
	c := s.src[s.off]
	switch {
	case field && c == ':':
		size = 1 // begins the format, also before an equals sign
	case size == 0 && (strings.IndexByte(ones, c) >= 0 || field && c == '!'):
		size = 1
	case size == 0:
		s.fail(start, "a character that is no Python")
		return
	}
	s.steps(size)
	if size == 1 && !s.balance(c, start) {
		return
	}
	s.emit(operator, off, start)
}

// listed says whether the next n bytes are one of the operators in all.
func (s *scanner) listed(all string, n int) bool {
	if s.off+n > len(s.src) {
		return false
	}
	next := s.src[s.off : s.off+n]
	return !strings.ContainsAny(next, " ") && strings.Contains(all, " "+next+" ")
}

// balance keeps the stack of open brackets.
func (s *scanner) balance(c byte, at Pos) bool {
	switch c {
	case '(':
		return s.push(bracket{close: ')'}, at)
	case '[':
		return s.push(bracket{close: ']'}, at)
	case '{':
		return s.push(bracket{close: '}'}, at)
	case ')', ']', '}':
		if len(s.open) == 0 || s.open[len(s.open)-1].close != c {
			s.fail(at, "a bracket closes that was not opened")
			return false
		}
		s.open = s.open[:len(s.open)-1]
	}
	return true
}

func (s *scanner) push(b bracket, at Pos) bool {
	if len(s.open) >= maxDepth {
		s.fail(at, "brackets are nested too deep")
		return false
	}
	b.at = at
	s.open = append(s.open, b)
	return true
}
