package screen

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Span is a half-open range of byte offsets into the text as it was received.
// Both ends lie between characters.
type Span struct {
	Start int
	End   int
}

// Len is the length of the span in bytes.
func (s Span) Len() int { return s.End - s.Start }

// join is the smallest span that holds both.
func (s Span) join(o Span) Span { return Span{min(s.Start, o.Start), max(s.End, o.End)} }

// Text is a text in another form with a map back to what was received: every
// byte of it knows the characters it came from (docs/spec/circle.md §6.2).
//
// A Text is never changed once it is made.
type Text struct {
	form string
	from []Span // as long as form
	size int    // bytes of the text as it was received
}

// String is the text in this form.
func (t Text) String() string { return t.form }

// Origin is the span of the received text that the bytes [start, end) of this
// form came from. An empty range, or one outside the form, has the empty span
// where it would stand.
func (t Text) Origin(start, end int) Span {
	start, end = max(start, 0), min(end, len(t.form))
	if start >= end {
		switch {
		case start < len(t.from):
			return Span{t.from[start].Start, t.from[start].Start}
		default:
			return Span{t.size, t.size}
		}
	}
	s := t.from[start]
	for _, o := range t.from[start+1 : end] {
		s = s.join(o)
	}
	return s
}

// received is a text in the form it came in.
func received(s string) Text {
	t := Text{form: s, from: make([]Span, len(s)), size: len(s)}
	for i := 0; i < len(s); {
		n := 1
		if s[i] >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(s[i:])
		}
		for j := i; j < i+n; j++ {
			t.from[j] = Span{i, i + n}
		}
		i += n
	}
	return t
}

// builder makes a form out of another one.
type builder struct {
	form []byte
	from []Span
}

func newBuilder(size int) *builder {
	return &builder{form: make([]byte, 0, size), from: make([]Span, 0, size)}
}

func (b *builder) writeByte(c byte, at Span) {
	b.form = append(b.form, c)
	b.from = append(b.from, at)
}

func (b *builder) writeRune(r rune, at Span) {
	before := len(b.form)
	b.form = utf8.AppendRune(b.form, r)
	for range len(b.form) - before {
		b.from = append(b.from, at)
	}
}

func (b *builder) writeString(s string, at Span) {
	b.form = append(b.form, s...)
	for range len(s) {
		b.from = append(b.from, at)
	}
}

// copy takes over a part of another form as it is.
func (b *builder) copy(t Text, start, end int) {
	b.form = append(b.form, t.form[start:end]...)
	b.from = append(b.from, t.from[start:end]...)
}

func (b *builder) text(size int) Text {
	return Text{form: string(b.form), from: b.from, size: size}
}

// plain is the text as a person would read it: compatibility forms composed
// (NFKC), what cannot be seen taken out, enclosed and styled letters as letters.
// Case is kept, because secrets depend on it.
func plain(s string) Text { return composed(visible(received(s))) }

// visible takes out what has no width, turns the writing direction or is a
// control, and marks on letters that compose with nothing. A line break stays a
// line break, and every other space is a blank.
func visible(t Text) Text {
	first := 0
	for first < len(t.form) && (t.form[first] >= ' ' && t.form[first] < 0x7f || t.form[first] == '\n') {
		first++
	}
	if first == len(t.form) {
		return t
	}
	b := newBuilder(len(t.form))
	b.copy(t, 0, first)
	for i := first; i < len(t.form); {
		r, n := utf8.DecodeRuneInString(t.form[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.writeRune(' ', t.from[i])
		case r == '\n':
			b.copy(t, i, i+n)
		case r == '\u2028', r == '\u2029', r == '\u0085', r == '\r', r == '\v', r == '\f':
			if r != '\r' || i+1 == len(t.form) || t.form[i+1] != '\n' {
				b.writeByte('\n', t.from[i])
			}
		case hidden(r):
		case unicode.IsSpace(r):
			b.writeByte(' ', t.from[i])
		default:
			b.copy(t, i, i+n)
		}
		i += n
	}
	return b.text(t.size)
}

// hidden says whether a character leaves no trace on the page: controls,
// formats (zero width, direction, tags), variation selectors, fillers.
func hidden(r rune) bool {
	if r < 0x80 {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f, 0x2800, 0x3164, 0xffa0, 0xfffc, 0xfffd:
		return true
	}
	return r >= 0x80 && r < 0xa0 && r != 0x85 || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff || unicode.Is(unicode.Cf, r)
}

// composed is the NFKC form, without marks that compose with no letter: a line
// drawn through a word does not make it another word.
func composed(t Text) Text {
	s := t.form
	n := 0
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	if n == len(s) {
		return t
	}
	b := newBuilder(len(s) + len(s)/8)
	b.copy(t, 0, n)
	var it norm.Iter
	for i := n; i < len(s); {
		// An ASCII character composes only with what follows it.
		if s[i] < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			b.copy(t, i, i+1)
			i++
			continue
		}
		end := i + 1
		for end < len(s) && s[end] >= utf8.RuneSelf {
			end++
		}
		it.InitString(norm.NFKC, s[i:end])
		for !it.Done() {
			start := it.Pos()
			segment := it.Next()
			at := t.Origin(i+start, i+it.Pos())
			if string(segment) == s[i+start:i+it.Pos()] {
				for j := i + start; j < i+it.Pos(); {
					r, size := utf8.DecodeRuneInString(s[j:])
					if l := styled(r); l != 0 {
						b.writeRune(l, t.from[j])
					} else if !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Me, r) {
						b.copy(t, j, j+size)
					}
					j += size
				}
				continue
			}
			for j := 0; j < len(segment); {
				r, size := utf8.DecodeRune(segment[j:])
				if !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Me, r) {
					b.writeRune(r, at)
				}
				j += size
			}
		}
		i = end
	}
	return b.text(t.size)
}

// styled is the letter in a circle, a square or a flag that NFKC leaves alone; 0
// when r is none.
func styled(r rune) rune {
	switch {
	case r < 0x1f150:
		return 0
	case r <= 0x1f169:
		return 'A' + r - 0x1f150
	case r >= 0x1f170 && r <= 0x1f189:
		return 'A' + r - 0x1f170
	case r >= 0x1f1e6 && r <= 0x1f1ff:
		return 'A' + r - 0x1f1e6
	}
	return 0
}

// folded is the form that words are looked up in: without case.
func folded(t Text) Text {
	b := newBuilder(len(t.form))
	for i := 0; i < len(t.form); {
		c := t.form[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			b.writeByte(c, t.from[i])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(t.form[i:])
		if l := fold(r); l == r {
			b.copy(t, i, i+n)
		} else {
			b.writeRune(l, t.from[i])
		}
		i += n
	}
	return b.text(t.size)
}

// fold is a letter without its case, by way of the upper case, so that the
// letters with several small forms (a final sigma, a long s) are one.
func fold(r rune) rune {
	switch {
	case r >= 0x0430 && r <= 0x045f: // small Cyrillic
		return r
	case r == '’' || r == 'ʼ' || r == 'ʹ' || r == '‘' || r == '＇':
		return '\''
	case r == '‐' || r == '‑' || r == '−':
		return '-'
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// Normalise is the form that phrases are looked for in: NFKC, without case and
// without anything that cannot be seen. Bytes that are no UTF-8 read as blanks.
func Normalise(s string) Text { return folded(plain(s)) }
