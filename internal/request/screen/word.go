package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one word of a form, or one unbroken run of Japanese writing.
type word struct {
	start, end int // bytes of the form
	at         int // place in units: words apart is unitsPerWord, Japanese characters apart is 1
	sentence   int
	clause     int
	quoted     bool
	cjk        bool
	upper      bool // it begins with a capital letter
	glued      bool // longer than words are: words may stand in it without blanks
}

// Distances are counted in units, so that a limit means about the same in a
// writing with blanks and in one without.
const (
	unitsPerWord = 3
	gluedLength  = 14
	maxGlued     = 120 // what is longer is no text without blanks but an encoding
)

// reading is a form cut into words.
type reading struct {
	text  Text
	words []word
	open  []Span // quoted parts, in bytes of the form
}

func wordRune(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	switch {
	case r >= 0x0400 && r <= 0x0481, r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r == 'ー', r >= 0x4e00 && r <= 0x9fff, r == '々':
		return true
	case r >= 0x2000 && r <= 0x206f, r >= 0x3000 && r <= 0x3004:
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// inner are signs that belong to a word when letters stand on both sides.
func inner(c byte) bool { return c == '\'' || c == '@' || c == '$' || c == '|' || c == '!' || c == '+' }

// read cuts a folded form into words, sentences, clauses and quotations. kept is
// the same form with its case, "" when there is none.
func read(t Text, kept string) *reading {
	s := t.form
	if len(kept) != len(s) {
		kept = ""
	}
	r := &reading{text: t, words: make([]word, 0, len(s)/5+4), open: quotations(s)}
	var sentence, clause, at, words, quote int
	// since counts the words of the sentence: one word and a full stop is no
	// sentence, or "Ignore. The. Constitution." would be three.
	since := 0
	for i := 0; i < len(s); {
		c, n := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(s[i:])
		}
		if !wordRune(c) {
			switch edge(s, i, c, n) {
			case sentenceEdge:
				if since > 1 {
					sentence++
					since = 0
				}
				clause++
			case clauseEdge:
				clause++
			case noEdge:
			}
			i += n
			continue
		}
		w := word{start: i, sentence: sentence, clause: clause, at: at, cjk: scriptOf(c) == cjk || c == 'ー'}
		if kept != "" && !w.cjk {
			first, _ := utf8.DecodeRuneInString(kept[i:])
			w.upper = unicode.IsUpper(first)
		}
		count := 0
		for i < len(s) {
			c, n = rune(s[i]), 1
			if c >= utf8.RuneSelf {
				c, n = utf8.DecodeRuneInString(s[i:])
			}
			if !wordRune(c) {
				if w.cjk || n > 1 || !inner(s[i]) || i+1 >= len(s) {
					break
				}
				if next, _ := utf8.DecodeRuneInString(s[i+1:]); !wordRune(next) {
					break
				}
			} else if w.cjk != (scriptOf(c) == cjk || c == 'ー') {
				break
			}
			count++
			i += n
		}
		w.end = i
		w.glued = !w.cjk && count >= gluedLength && count <= maxGlued
		if w.cjk {
			at += count + 1
		} else {
			at += unitsPerWord
		}
		for quote < len(r.open) && r.open[quote].End <= w.start {
			quote++
		}
		w.quoted = quote < len(r.open) && r.open[quote].Start <= w.start
		r.words = append(r.words, w)
		words++
		since++
	}
	return r
}

type edgeKind uint8

const (
	noEdge edgeKind = iota
	clauseEdge
	sentenceEdge
)

// edge says what a sign between words ends.
func edge(s string, i int, c rune, n int) edgeKind {
	switch c {
	case '。', '!', '?', '…', '؟', '।':
		return sentenceEdge
	case '.':
		if i+n == len(s) || s[i+n] == ' ' || s[i+n] == '\n' || s[i+n] >= utf8.RuneSelf || strings.IndexByte("\"')]", s[i+n]) >= 0 {
			return sentenceEdge
		}
		return noEdge
	case '\n':
		// A single line break may stand in the middle of a sentence; an empty
		// line, a list and a quotation may not.
		rest := strings.TrimLeft(s[i+n:], " \t")
		if rest == "" || strings.IndexByte("\n-*#>|", rest[0]) >= 0 || rest[0] >= '0' && rest[0] <= '9' {
			return sentenceEdge
		}
		return clauseEdge
	case ',', ';', ':', '、', '，', '—', '–', '(', ')', '[', ']', '{', '}', '<', '>', '=', '"', '“', '”', '„', '«', '»', '「', '」', '『', '』', '`', '・':
		return clauseEdge
	}
	return noEdge
}

// maxQuotation is how long a quotation may be, in bytes: a quotation mark that is
// never closed must not turn the rest of a text into one.
const maxQuotation = 4096

// quotations are the parts of a form between quotation marks, between backticks
// and on lines that begin with ">", in order and without overlap.
func quotations(s string) []Span {
	var open []Span
	line := true               // at the beginning of a line
	closes := map[string]int{} // where the next mark of each sort is
	for i := 0; i < len(s); {
		c, n := rune(s[i]), 1
		if 'a' <= c && c <= 'z' {
			line = false
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(s[i:])
		}
		end := 0
		switch {
		case line && c == '>':
			end = strings.IndexByte(s[i:], '\n')
			if end < 0 {
				end = len(s) - i
			}
			open = append(open, Span{i + n, i + end})
			i += end
			continue
		case c == '\'':
			end = single(s, i)
		default:
			if marks := closing(c); marks != "" {
				var known bool
				if end, known = closes[marks]; !known || end < i+n {
					if end = strings.IndexAny(s[i+n:], marks); end >= 0 {
						end += i + n
					} else {
						end = len(s)
					}
					closes[marks] = end
				}
				if end == len(s) {
					end = 0
				}
			}
		}
		line = c == '\n' || line && c == ' '
		if end > i+n && end-i <= maxQuotation {
			open = append(open, Span{i + n, end})
			_, m := utf8.DecodeRuneInString(s[end:])
			i = end + m
			continue
		}
		i += n
	}
	return open
}

// closing are the marks that end what the mark c begins.
func closing(c rune) string {
	switch c {
	case '"':
		return "\""
	case '`':
		return "`"
	case '“', '„':
		return "”“"
	case '«':
		return "»"
	case '「':
		return "」"
	case '『':
		return "』"
	case '《':
		return "》"
	}
	return ""
}

// single is the end of a quotation in single marks that begins at i, 0 when the
// mark is an apostrophe.
func single(s string, i int) int {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if i > 0 && wordRune(before) || i+1 >= len(s) || s[i+1] == ' ' {
		return 0
	}
	for j := i + 1; j < len(s) && j-i < maxQuotation/8 && s[j] != '\n'; j++ {
		if s[j] != '\'' {
			continue
		}
		after, _ := utf8.DecodeRuneInString(s[j+1:])
		if j+1 == len(s) || !wordRune(after) {
			return j
		}
	}
	return 0
}

// text is the word as it stands in the form.
func (r *reading) string(i int) string { return r.text.form[r.words[i].start:r.words[i].end] }

// gap says whether two neighbouring words are parted by blanks and hyphens alone.
func (r *reading) gap(i int) bool {
	if i+1 >= len(r.words) {
		return false
	}
	between := r.text.form[r.words[i].end:r.words[i+1].start]
	return strings.Trim(between, " ,\n\t-_*~\"'`“”„«»") == ""
}
