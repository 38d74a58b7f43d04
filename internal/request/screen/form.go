package screen

import (
	"strings"
	"unicode/utf8"
)

// form is a text in one of the ways it may be read, with the name of the way.
type form struct {
	name   string
	text   Text // case kept
	folded Text
}

// forms are the ways a text may be read, the plain one first: without what cannot
// be seen, with spaced words put together, decoded (again and again up to
// maxDepth), and what is written in invisible characters. Each differs from those
// before it.
func forms(s string) []form {
	t := plain(s)
	list := []form{{name: "plain", text: t}}
	add := func(name string, t Text) {
		for _, f := range list {
			if f.text.form == t.form {
				return
			}
		}
		list = append(list, form{name: name, text: t})
	}
	if d, ok := despaced(t); ok {
		add("spaced", d)
	}
	name := ""
	for range maxDepth {
		d, kinds, ok := decoded(t)
		if !ok {
			break
		}
		t = composed(visible(d))
		name = strings.TrimPrefix(name+">"+kinds, ">")
		add(name, t)
		if d, ok := despaced(t); ok {
			add(name+">spaced", d)
		}
	}
	if h, ok := hiddenText(s); ok {
		add("invisible", h)
		if d, kinds, ok := decoded(h); ok {
			add("invisible>"+kinds, d)
		}
	}
	for i := range list {
		list[i].folded = folded(list[i].text)
	}
	return list
}

// A turning is a way to write every word of a text differently, or the text as a
// whole, that a reader undoes in the head.
type turning struct {
	name string
	word func(dst []byte, word string) []byte // nil when the word has no such form
	text func(t Text) Text
}

var turnings = []turning{{"rot13", rot13Word, rot13}, {"reversed", reversedWord, reversed}}

func rot13Byte(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return 'a' + (c-'a'+13)%26
	case 'A' <= c && c <= 'Z':
		return 'A' + (c-'A'+13)%26
	}
	return c
}

func rot13Word(dst []byte, word string) []byte {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return nil
		}
		dst = append(dst, rot13Byte(word[i]))
	}
	return dst
}

// rot13 turns every Latin letter by half the alphabet.
func rot13(t Text) Text {
	b := []byte(t.form)
	for i, c := range b {
		b[i] = rot13Byte(c)
	}
	return Text{form: string(b), from: t.from, size: t.size}
}

func reversedWord(dst []byte, word string) []byte {
	for i := len(word); i > 0; {
		_, n := utf8.DecodeLastRuneInString(word[:i])
		i -= n
		dst = append(dst, word[i:i+n]...)
	}
	return dst
}

// reversed is the text read from its end, character by character.
func reversed(t Text) Text {
	b := make([]byte, 0, len(t.form))
	from := make([]place, 0, len(t.form))
	for i := len(t.form); i > 0; {
		_, n := utf8.DecodeLastRuneInString(t.form[:i])
		i -= n
		b = append(b, t.form[i:i+n]...)
		for j := range n {
			from = append(from, t.at(i+j))
		}
	}
	return Text{form: string(b), from: from, size: t.size}
}

// How words are cut up: single letters with gaps of up to maxGap bytes, or chunks
// of up to maxChunk letters with a sign between them.
const (
	minPieces  = 4
	maxGap     = 6
	minChunks  = 3
	maxChunk   = 4
	separators = "-._*|/~+·•,"
)

// despaced puts words together that were cut into pieces: "i g n o r e",
// "i.g.n.o.r.e", "con-sti-tu-tion". Where the gap between pieces is wider than
// the others of the run, its signs or a blank are left. ok is false when nothing was cut.
func despaced(t Text) (Text, bool) {
	s := t.form
	var b *builder
	done := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) || i > 0 && before(s, i) {
			i += n
			continue
		}
		pieces, end := run(s, i)
		if len(pieces) == 0 {
			i += n
			for i < len(s) {
				r, n := utf8.DecodeRuneInString(s[i:])
				if !wordRune(r) {
					break
				}
				i += n
			}
			continue
		}
		if b == nil {
			b = newBuilder(len(s))
		}
		b.copy(t, done, i)
		narrow := pieces[1].Start - pieces[0].End
		for k := 1; k < len(pieces); k++ {
			narrow = min(narrow, pieces[k].Start-pieces[k-1].End)
		}
		for k, p := range pieces {
			if k > 0 && p.Start-pieces[k-1].End > narrow {
				gap := strings.TrimSpace(s[pieces[k-1].End:p.Start])
				if gap == "" {
					gap = " "
				}
				b.writeString(gap, t.Origin(pieces[k-1].End, p.Start).small())
			}
			b.copy(t, p.Start, p.End)
		}
		i, done = end, end
	}
	if b == nil {
		return t, false
	}
	b.copy(t, done, len(s))
	return b.text(t.size), true
}

// before says whether the character before byte i belongs to a word.
func before(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return wordRune(r)
}

// run is a run of pieces that begins at byte i: single letters with blanks or
// signs between them, or short pieces with one and the same sign between them.
func run(s string, i int) ([]Span, int) {
	end, letters := wordEnd(s, i)
	if letters == 1 {
		if p := singles(s, i); len(p) >= minPieces {
			return p, p[len(p)-1].End
		}
	}
	if letters <= maxChunk && end < len(s) && strings.IndexByte(separators, s[end]) >= 0 {
		if p := chunks(s, i); len(p) >= minChunks {
			return p, p[len(p)-1].End
		}
	}
	return nil, 0
}

func singles(s string, i int) []Span {
	var pieces []Span
	for {
		end, letters := wordEnd(s, i)
		if letters != 1 {
			return pieces
		}
		pieces = append(pieces, Span{i, end})
		gap := end
		for gap < len(s) && gap-end < maxGap {
			r, n := utf8.DecodeRuneInString(s[gap:])
			if r != ' ' && r != '\n' && !strings.ContainsRune(separators, r) {
				break
			}
			gap += n
		}
		if gap == end {
			return pieces
		}
		i = gap
	}
}

func chunks(s string, i int) []Span {
	var pieces []Span
	sign := byte(0)
	for {
		end, letters := wordEnd(s, i)
		if letters == 0 || letters > maxChunk {
			return pieces
		}
		pieces = append(pieces, Span{i, end})
		if end >= len(s) || strings.IndexByte(separators, s[end]) < 0 || sign != 0 && s[end] != sign {
			return pieces
		}
		sign = s[end]
		i = end + 1
	}
}

// wordEnd is where the word that begins at byte i ends, and its length in letters.
func wordEnd(s string, i int) (end, letters int) {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) {
			break
		}
		i += n
		letters++
	}
	return i, letters
}
