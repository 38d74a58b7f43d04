package script

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Bounds of one file.
const (
	maxTokens = 1_000_000
	maxDepth  = 300
	lookahead = 8
)

type sort uint8

const (
	word sort = iota // names and keywords
	text             // a string
	numeric
	template // a whole one
	templateHead
	templateMiddle
	templateTail
	regexp
	private
	sign // punctuation and operators
	end
)

// token is one token. match is the other bracket; of a template's head and
// middle the next piece, of its tail the head. encl is the innermost open bracket
// around the token. Both are -1 without.
type token struct {
	text        string
	sort        sort
	newline     bool // a line ends before it
	glued       bool // written without space after a > before it
	line, col   int32
	match, encl int32
}

func (t *token) is(s string) bool     { return t.sort == sign && t.text == s }
func (t *token) isWord(s string) bool { return t.sort == word && t.text == s }
func (t *token) pos() Position        { return Position{Line: int(t.line), Column: int(t.col)} }

// place walks through a text and knows where it is.
type place struct {
	text      []byte
	off       int
	line, col int32
}

func (p *place) advance(n int) {
	for end := p.off + n; p.off < end; p.off++ {
		switch b := p.text[p.off]; {
		case b == '\n', b == '\r' && !bytes.HasPrefix(p.text[p.off+1:], []byte("\n")):
			p.line, p.col = p.line+1, 1
		case utf8.RuneStart(b):
			p.col++
		}
	}
}

// scan reads the tokens of a text and matches its brackets.
func scan(src []byte) ([]token, *Error) {
	src = bytes.TrimPrefix(slices.Clone(src), []byte("\xEF\xBB\xBF"))
	if bytes.HasPrefix(src, []byte("#!")) {
		for i := 0; i < len(src) && src[i] != '\n' && src[i] != '\r'; i++ {
			src[i] = ' '
		}
	}
	s := &scanner{whole: string(src), place: place{text: src, line: 1, col: 1}}
	s.lexer = js.NewLexer(parse.NewInputBytes(slices.Clip(slices.Clone(src))))
	for {
		more, err := s.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if n := len(s.open); n > 0 {
		return nil, s.fail(int(s.open[n-1]), "a bracket is never closed")
	}
	// Several ends, so that who looks a few tokens ahead need not ask for each.
	for range lookahead {
		s.tokens = append(s.tokens, token{sort: end, line: s.place.line, col: s.place.col, match: -1, encl: -1})
	}
	return s.tokens, nil
}

type scanner struct {
	whole   string
	place   place
	lexer   *js.Lexer
	tokens  []token
	open    []int32 // brackets
	heads   []int32 // for each of them itself, for the middle of a template its head
	newline bool
	looked  int // bytes that were looked ahead for the end of an expression
}

// maxLooked keeps a line of slashes and open classes linear.
const maxLooked = 100_000_000

func (s *scanner) fail(at int, reason string) *Error {
	return &Error{Pos: s.tokens[at].pos(), Reason: reason}
}

func (s *scanner) here(reason string) *Error {
	return &Error{Pos: Position{Line: int(s.place.line), Column: int(s.place.col)}, Reason: reason}
}

// next takes one token of the lexer.
func (s *scanner) next() (bool, *Error) {
	kind, raw := s.lexer.Next()
	switch kind {
	case js.WhitespaceToken:
		s.place.advance(len(raw))
		return true, nil
	case js.LineTerminatorToken, js.CommentLineTerminatorToken:
		s.newline = true
		s.place.advance(len(raw))
		return true, nil
	case js.CommentToken:
		if bytes.HasPrefix(raw, []byte("<!--")) || bytes.HasPrefix(raw, []byte("-->")) {
			// In a module these are operators: what follows would be hidden from
			// us and not from the engine.
			return false, s.here("an HTML comment in a script")
		}
		s.place.advance(len(raw))
		return true, nil
	case js.ErrorToken:
		if len(raw) == 0 {
			if errors.Is(s.lexer.Err(), io.EOF) {
				return false, nil
			}
			return false, s.here("text that is not understood")
		}
		if string(raw) != "@" {
			return false, s.here("a character that is not understood, or a literal that does not end")
		}
	case js.DivToken, js.DivEqToken:
		if s.regexpHere() {
			kind, raw = s.lexer.RegExp()
			if kind == js.ErrorToken {
				return false, s.here("a regular expression that does not end")
			}
		}
	default:
	}
	if len(s.tokens) >= maxTokens {
		err := s.here("the file has too many tokens")
		err.Large = true
		return false, err
	}
	return true, s.emit(kind, len(raw))
}

// emit appends a token of n bytes. Signs that begin with > are taken apart,
// because > also closes type arguments.
func (s *scanner) emit(kind js.TokenType, n int) *Error {
	t := token{
		text: s.whole[s.place.off : s.place.off+n], sort: sortOf(kind), newline: s.newline,
		line: s.place.line, col: s.place.col, match: -1, encl: -1,
	}
	if len(s.open) > 0 {
		t.encl = s.open[len(s.open)-1]
	}
	s.newline = false
	if t.sort == sign && len(t.text) > 1 && t.text[0] == '>' {
		for i := range len(t.text) {
			part := t
			part.text, part.col = t.text[i:i+1], t.col+int32(i) //nolint:gosec // an operator has four bytes at most
			part.glued, part.newline = i > 0, t.newline && i == 0
			s.tokens = append(s.tokens, part)
		}
		s.place.advance(n)
		return nil
	}
	at := int32(len(s.tokens)) //nolint:gosec // bounded by maxTokens
	s.tokens = append(s.tokens, t)
	s.place.advance(n)
	return s.bracket(at)
}

// bracket keeps the stack of open brackets.
func (s *scanner) bracket(at int32) *Error {
	t, head := &s.tokens[at], at
	opens := t.sort == templateHead || t.sort == sign && (t.text == "(" || t.text == "[" || t.text == "{")
	closes := t.sort == templateMiddle || t.sort == templateTail || t.sort == sign && (t.text == ")" || t.text == "]" || t.text == "}")
	if closes {
		n := len(s.open)
		if n == 0 || !fits(&s.tokens[s.open[n-1]], t) {
			return s.fail(int(at), "a bracket that closes nothing")
		}
		o := s.open[n-1]
		head = s.heads[n-1]
		s.open, s.heads = s.open[:n-1], s.heads[:n-1]
		s.tokens[o].match = at
		if t.sort != templateMiddle {
			t.match = head
		}
		t.encl = s.tokens[o].encl
	}
	if opens || t.sort == templateMiddle {
		if len(s.open) >= maxDepth {
			return s.fail(int(at), "brackets are nested too deep")
		}
		s.open, s.heads = append(s.open, at), append(s.heads, head)
	}
	return nil
}

func fits(open, closing *token) bool {
	switch closing.text {
	case ")":
		return open.is("(")
	case "]":
		return open.is("[")
	case "}":
		if closing.sort == sign {
			return open.is("{")
		}
	}
	return open.sort == templateHead || open.sort == templateMiddle
}

func sortOf(kind js.TokenType) sort {
	switch kind {
	case js.StringToken:
		return text
	case js.TemplateToken:
		return template
	case js.TemplateStartToken:
		return templateHead
	case js.TemplateMiddleToken:
		return templateMiddle
	case js.TemplateEndToken:
		return templateTail
	case js.RegExpToken:
		return regexp
	case js.PrivateIdentifierToken:
		return private
	default:
	}
	switch {
	case js.IsNumeric(kind):
		return numeric
	case js.IsIdentifier(kind), js.IsReservedWord(kind):
		return word
	}
	return sign
}

// before are the words after which a / begins a regular expression.
var before = []string{
	"return", "typeof", "case", "in", "of", "do", "else", "void", "delete", "throw", "new", "instanceof", "await", "yield", "extends", "default",
}

// regexpHere says whether a / that was just read begins a regular expression:
// where a value cannot have ended, and the line closes it.
func (s *scanner) regexpHere() bool {
	if !s.closedOnLine() {
		return false
	}
	if len(s.tokens) == 0 {
		return true
	}
	t := &s.tokens[len(s.tokens)-1]
	switch t.sort {
	case text, numeric, template, templateTail, regexp, private:
		return false
	case word:
		return slices.Contains(before, t.text)
	case sign:
		switch t.text {
		case "]", "++", "--":
			return false
		case ")":
			// After the head of a statement comes a statement.
			o := t.match
			return o > 0 && s.tokens[o-1].sort == word && slices.Contains([]string{"if", "while", "for", "with"}, s.tokens[o-1].text)
		case "}":
			return s.newline
		}
	default:
	}
	return true
}

// closedOnLine says whether a / that ends a regular expression stands on the
// rest of the line.
func (s *scanner) closedOnLine() bool {
	rest, class := s.place.text[s.place.off+1:], false
	for i := 0; i < len(rest) && s.looked < maxLooked; i++ {
		s.looked++
		switch rest[i] {
		case '\\':
			i++
		case '\n', '\r':
			return false
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return true
			}
		}
	}
	return false
}
