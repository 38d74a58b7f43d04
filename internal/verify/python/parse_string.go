package python

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// joined collects neighbouring literals.
type joined struct {
	parts    []Expr
	value    strings.Builder
	holes    []int
	at       Range
	pending  bool // value belongs to a Str that is not in parts yet
	format   bool
	template bool
}

func (j *joined) add(s string, holes []int, at Range) {
	for _, h := range holes {
		j.holes = append(j.holes, h+j.value.Len())
	}
	if !j.pending {
		j.pending, j.at.Start = true, at.Start
	}
	j.at.End = at.End
	j.value.WriteString(s)
}

func (j *joined) flush() {
	if j.pending && j.value.Len() > 0 {
		j.parts = append(j.parts, j.str(j.at))
	}
	j.value.Reset()
	j.holes, j.pending = nil, false
}

func (j *joined) str(at Range) *Str {
	return &Str{Range: at, Value: j.value.String(), Opaque: len(j.holes) > 0, holes: j.holes}
}

// strings reads a run of literals, which Python joins into one.
func (p *parser) strings() Expr {
	start := p.tok().start
	var j joined
	isBytes, plain := false, false
	for p.fault == nil && (p.tok().kind == text || p.tok().kind == formatStart) {
		t := p.tok()
		if t.kind == formatStart {
			p.formatted(&j)
			plain = true
			continue
		}
		p.next()
		prefix, body := split(t.text)
		raw, b := strings.ContainsRune(prefix, 'r'), strings.ContainsRune(prefix, 'b')
		isBytes, plain = isBytes || b, plain || !b
		value, holes, ok := unescape(body, raw, b)
		if !ok {
			p.fail(t.start, "a string with an escape that is none, or bytes that are not ASCII")
		}
		j.add(value, holes, Range{t.start, t.end})
	}
	if isBytes && plain && p.fault == nil {
		p.fail(start, "bytes and text cannot be joined")
	}
	at := p.since(start)
	if j.format {
		j.flush()
		return &FString{Range: at, Parts: j.parts, Template: j.template}
	}
	s := j.str(at)
	s.Bytes = isBytes
	return s
}

// split takes a literal apart: prefix in lower case, and what stands between
// the quotes.
func split(literal string) (prefix, body string) {
	i := strings.IndexAny(literal, `"'`)
	prefix, body = strings.ToLower(literal[:i]), literal[i:]
	size := 1
	if len(body) >= 6 && body[1] == body[0] && body[2] == body[0] {
		size = 3
	}
	return prefix, body[size : len(body)-size]
}

// formatted adds the parts of one formatted string.
func (p *parser) formatted(j *joined) {
	t := p.next()
	prefix := strings.ToLower(strings.TrimRight(t.text, `"'`))
	j.format = true
	j.template = j.template || strings.ContainsRune(prefix, 't')
	p.middle(j, strings.ContainsRune(prefix, 'r'))
	if p.tok().kind != formatEnd {
		p.unexpected("the end of the string")
		return
	}
	p.next()
}

// middle reads text and fields.
func (p *parser) middle(j *joined, raw bool) {
	for p.fault == nil {
		t := p.tok()
		switch {
		case t.kind == formatText:
			p.next()
			value, holes, ok := unescape(t.text, raw, false)
			if !ok {
				p.fail(t.start, "a string with an escape that is none")
			}
			j.add(value, holes, Range{t.start, t.end})
		case t.kind == operator && t.text == "{":
			p.field(j, raw)
		default:
			return
		}
	}
}

func (p *parser) field(j *joined, raw bool) {
	if !p.deeper() {
		return
	}
	defer p.shallower()
	open := p.next()
	f := &Interpolation{}
	if p.word("yield") {
		f.Value = p.yield()
	} else {
		f.Value = p.listOf(p.tok().start, func() Expr { return p.starOr(p.named) })
	}
	debug := p.takeOp("=")
	if debug {
		shown := p.src[open.off+1 : p.tok().off]
		j.add(withoutComments(shown), nil, Range{open.start, p.tok().start})
	}
	if p.takeOp("!") {
		if t := p.tok(); t.kind == name && (t.text == "s" || t.text == "r" || t.text == "a") {
			f.Conversion = t.text[0]
		}
		if f.Conversion == 0 {
			p.unexpected("a conversion")
		}
		p.next()
	}
	if at := p.tok().start; p.takeOp(":") {
		var spec joined
		from := p.tok().start
		p.middle(&spec, raw)
		spec.flush()
		f.Spec = &FString{Range: p.since(from), Parts: spec.parts}
		if len(spec.parts) == 0 {
			f.Spec.Range = Range{at, at}
		}
	}
	if debug && f.Conversion == 0 && f.Spec == nil {
		f.Conversion = 'r'
	}
	p.wantOp("}")
	f.Range = p.since(open.start)
	j.flush()
	j.parts = append(j.parts, f)
}

// withoutComments is the text of {x=} as Python keeps it.
func withoutComments(shown string) string {
	if !strings.Contains(shown, "#") {
		return shown
	}
	var b strings.Builder
	var q byte
	for i := 0; i < len(shown); i++ {
		c := shown[i]
		switch {
		case q != 0 && c == '\\' && i+1 < len(shown):
			b.WriteByte(c)
			i++
			c = shown[i]
		case q != 0 && c == q:
			q = 0
		case q == 0 && (c == '"' || c == '\''):
			q = c
		case q == 0 && c == '#':
			for i < len(shown) && shown[i] != '\n' {
				i++
			}
			i--
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unescape is the value of a literal's body, and the offsets of the characters
// in it that are given by name.
func unescape(body string, raw, isBytes bool) (value string, holes []int, ok bool) {
	if isBytes {
		for i := range len(body) {
			if body[i] >= utf8.RuneSelf {
				return "", nil, false
			}
		}
	}
	if raw || strings.IndexByte(body, '\\') < 0 {
		return body, nil, true
	}
	var b strings.Builder
	b.Grow(len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 == len(body) {
			b.WriteByte(body[i])
			i++
			continue
		}
		c := body[i+1]
		i += 2
		if simple := strings.IndexByte("\\'\"abfnrtv", c); simple >= 0 {
			b.WriteByte("\\'\"\a\b\f\n\r\t\v"[simple])
			continue
		}
		var width int
		switch {
		case c == '\n':
			continue
		case c >= '0' && c <= '7':
			n := 0
			i--
			for j := 0; j < 3 && i < len(body) && body[i] >= '0' && body[i] <= '7'; j++ {
				n = n*8 + int(body[i]-'0')
				i++
			}
			write(&b, n, isBytes)
			continue
		case c == 'x':
			width = 2
		case c == 'u' && !isBytes:
			width = 4
		case c == 'U' && !isBytes:
			width = 8
		case c == 'N' && !isBytes:
			end := strings.IndexByte(body[i:], '}')
			if end < 2 || body[i] != '{' {
				return "", nil, false
			}
			holes = append(holes, b.Len())
			b.WriteRune(utf8.RuneError)
			i += end + 1
			continue
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		if i+width > len(body) {
			return "", nil, false
		}
		n, err := strconv.ParseUint(body[i:i+width], 16, 32)
		if err != nil || n > utf8.MaxRune {
			return "", nil, false
		}
		write(&b, int(n), isBytes)
		i += width
	}
	return b.String(), holes, true
}

// write adds a byte, or a character: U+FFFD for half of a surrogate pair, which
// no text can hold.
func write(b *strings.Builder, n int, isBytes bool) {
	if isBytes {
		b.WriteByte(byte(n))
		return
	}
	b.WriteRune(rune(n))
}
