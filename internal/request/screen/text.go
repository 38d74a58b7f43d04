package screen

import (
	"slices"
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

// Text is a text in another form with a map back to what was received: every
// byte of it knows the characters it came from (docs/spec/circle.md §6.2).
//
// A Text is never changed once it is made.
type Text struct {
	form string
	from []place // as long as form; nil when every character stands where it stood
	size int     // bytes of the text as it was received
}

// place is a Span in half the room: there is one for every byte.
type place struct{ start, end int32 }

// String is the text in this form.
func (t Text) String() string { return t.form }

// at is where the i-th byte came from.
func (t Text) at(i int) place {
	if t.from != nil {
		return t.from[i]
	}
	start := i
	for start > 0 && i-start < utf8.UTFMax-1 && !utf8.RuneStart(t.form[start]) {
		start--
	}
	_, n := utf8.DecodeRuneInString(t.form[start:])
	if start+n <= i { // no UTF-8
		start, n = i, 1
	}
	return place{int32(start), int32(start + n)}
}

// Origin is the span of the received text that the bytes [start, end) of this
// form came from. An empty range, or one outside the form, has the empty span
// where it would stand.
func (t Text) Origin(start, end int) Span {
	start, end = max(start, 0), min(end, len(t.form))
	if start >= end {
		if start < len(t.form) {
			first := int(t.at(start).start)
			return Span{first, first}
		}
		return Span{t.size, t.size}
	}
	p := t.at(start)
	if t.from == nil {
		return Span{int(p.start), int(t.at(end - 1).end)}
	}
	for _, o := range t.from[start+1 : end] {
		p = place{min(p.start, o.start), max(p.end, o.end)}
	}
	return Span{int(p.start), int(p.end)}
}

// received is a text in the form it came in.
func received(s string) Text { return Text{form: s, size: len(s)} }

// builder makes a form out of another one.
type builder struct {
	form []byte
	from []place
}

func newBuilder(size int) *builder {
	return &builder{form: make([]byte, 0, size), from: make([]place, 0, size)}
}

func (b *builder) writeByte(c byte, at place) {
	b.form = append(b.form, c)
	b.from = append(b.from, at)
}

func (b *builder) writeRune(r rune, at place) {
	before := len(b.form)
	b.form = utf8.AppendRune(b.form, r)
	for range len(b.form) - before {
		b.from = append(b.from, at)
	}
}

func (b *builder) writeString(s string, at place) {
	b.form = append(b.form, s...)
	for range len(s) {
		b.from = append(b.from, at)
	}
}

// copy takes over a part of another form as it is.
func (b *builder) copy(t Text, start, end int) {
	b.form = append(b.form, t.form[start:end]...)
	if t.from != nil {
		b.from = append(b.from, t.from[start:end]...)
		return
	}
	for i := start; i < end; {
		p := t.at(i)
		for ; i < min(int(p.end), end); i++ {
			b.from = append(b.from, p)
		}
	}
}

func (b *builder) text(size int) Text {
	return Text{form: string(b.form), from: b.from, size: size}
}

// small is a span of bytes as a place.
func (s Span) small() place { return place{int32(s.Start), int32(s.End)} }

// plain is the text as a person would read it: compatibility forms composed
// (NFKC), what cannot be seen taken out, enclosed and styled letters as letters.
// Case is kept, because secrets depend on it.
func plain(s string) Text { return composed(visible(received(s))) }

// visible takes out what has no width, turns the writing direction or is a
// control, and marks on letters that compose with nothing. A line break stays a
// line break, and every other space is a blank.
func visible(t Text) Text {
	first := firstUnseen(t.form)
	if first == len(t.form) {
		return t
	}
	b := newBuilder(len(t.form))
	b.copy(t, 0, first)
	for i := first; i < len(t.form); {
		r, n := utf8.DecodeRuneInString(t.form[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.writeByte(' ', t.at(i))
		case r == '\n':
			b.copy(t, i, i+n)
		case r == '\u2028', r == '\u2029', r == '\u0085', r == '\r', r == '\v', r == '\f':
			if r != '\r' || i+1 == len(t.form) || t.form[i+1] != '\n' {
				b.writeByte('\n', t.at(i))
			}
		case hidden(r):
		case unicode.IsSpace(r):
			b.writeByte(' ', t.at(i))
		default:
			b.copy(t, i, i+n)
		}
		i += n
	}
	return b.text(t.size)
}

// firstUnseen is the first byte of a character that visible changes.
func firstUnseen(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if common(r) {
			i += n
			continue
		}
		if r == utf8.RuneError && n == 1 || hidden(r) || unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' {
			return i
		}
		i += n
	}
	return len(s)
}

// common says whether a character is a letter of Ukrainian or Japanese that is its
// own normal form.
func common(r rune) bool {
	return r >= 0x0400 && r <= 0x045f || r >= 0x3041 && r <= 0x3096 || r >= 0x30a1 && r <= 0x30fc || r >= 0x4e00 && r <= 0x9fff || r == '、' || r == '。' || r == '「' || r == '」'
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
	n := firstUncomposed(s)
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
			// A character that stands for several comes in pieces, the place of
			// the next one with the last.
			start := it.Pos()
			segment := slices.Clone(it.Next())
			for it.Pos() == start && !it.Done() {
				segment = append(segment, it.Next()...)
			}
			at := t.Origin(i+start, i+it.Pos()).small()
			if string(segment) == s[i+start:i+it.Pos()] {
				for j := i + start; j < i+it.Pos(); {
					r, size := utf8.DecodeRuneInString(s[j:])
					if l := styled(r); l != 0 {
						b.writeRune(l, t.at(j))
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

// firstUncomposed is a place up to which a text is its own normal form, the end of
// the text when all of it is.
func firstUncomposed(s string) int {
	last := 0 // the last character before which a text can be cut
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			last = i
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !common(r) {
			if !norm.NFKC.IsNormalString(s[i:i+n]) || unicode.Is(unicode.M, r) || styled(r) != 0 {
				return last
			}
		} else if r < 0x3000 || r > 0x30ff {
			last = i
		}
		i += n
	}
	return len(s)
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
	form := make([]byte, 0, len(t.form))
	var b *builder // once a letter has another length
	for i := 0; i < len(t.form); {
		c := t.form[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if b != nil {
				b.writeByte(c, t.at(i))
			} else {
				form = append(form, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(t.form[i:])
		l := fold(r)
		if b == nil && utf8.RuneLen(l) != n {
			b = newBuilder(len(t.form))
			b.copy(t, 0, i)
			b.form = append(b.form[:0], form...)
		}
		if b != nil {
			b.writeRune(l, t.at(i))
		} else {
			form = utf8.AppendRune(form, l)
		}
		i += n
	}
	if b != nil {
		return b.text(t.size)
	}
	return Text{form: string(form), from: t.from, size: t.size}
}

// fold is a letter without its case, by way of the upper case, so that the
// letters with several small forms (a final sigma, a long s) are one.
func fold(r rune) rune {
	switch {
	case r >= 0x0430 && r <= 0x045f, r >= 0x3000 && r <= 0x9fff: // small Cyrillic, Japanese
		return r
	case r >= 0x0410 && r <= 0x042f:
		return r + 0x20
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
