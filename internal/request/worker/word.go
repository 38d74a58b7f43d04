package worker

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The built-in engines read a request for the few things their drafts are made
// of: what it is about, who, when, how many. They find words, not meaning; what
// they do not find they leave as the words of whoever asked.

// place is bytes of a text, from start up to end.
type place struct{ start, end int }

func (p place) of(s string) string { return s[p.start:p.end] }

// token is a word or a number of a text. Scripts that do not space their words
// make tokens of their own.
type token struct {
	place
	text string // in lower case, one apostrophe for all
}

// unspaced says whether r is of a script without spaces between words. The first
// of them begins behind most letters there are in a text.
func unspaced(r rune) bool {
	return r >= 0x2E80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー')
}

// wordly says whether r is a letter or a number.
func wordly(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' || r == '`' }

// lowered is s with every letter small, byte for byte as long: a letter whose small form has another length stays.
func lowered(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); l != r && utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, s)
}

// joined says whether a mark belongs to the word it stands in: a point between
// digits, an apostrophe or a dash between letters.
func joined(s string, at int, r rune, size int) bool {
	if !strings.ContainsRune(".,:-", r) && !apostrophe(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(s[at+size:])
	prev, _ := utf8.DecodeLastRuneInString(s[:at])
	return r < utf8.RuneSelf && r != '\'' && r != '`' && unicode.IsDigit(prev) && unicode.IsDigit(next) ||
		(apostrophe(r) || r == '-') && unicode.IsLetter(prev) && unicode.IsLetter(next) && !unspaced(next)
}

// tokens cuts a text. Digits keep the points and colons between them: "1.5",
// "18:30", "2026-05-12".
func tokens(s string) []token {
	list := []token{}
	low := lowered(s)
	for at := 0; at < len(low); {
		r, size := utf8.DecodeRuneInString(low[at:])
		if !wordly(r) {
			at += size
			continue
		}
		start, dense := at, unspaced(r)
		for at < len(low) {
			r, size = utf8.DecodeRuneInString(low[at:])
			if !wordly(r) && !(r >= utf8.RuneSelf && unicode.IsMark(r)) && !joined(low, at, r, size) || at > start && wordly(r) && unspaced(r) != dense {
				break
			}
			at += size
		}
		text := low[start:at]
		if strings.ContainsAny(text, "’ʼ`") {
			text = strings.NewReplacer("’", "'", "ʼ", "'", "`", "'").Replace(text)
		}
		list = append(list, token{place{start, at}, text})
	}
	return list
}

// matches says whether a token is the word; a word with a star is the beginning
// of one.
func (t token) matches(word string) bool {
	if stem, ok := strings.CutSuffix(word, "*"); ok {
		return strings.HasPrefix(t.text, stem)
	}
	return t.text == word
}

// words is a list of phrases: words that follow each other, or a piece of a text
// that is not spaced.
type words []string

func dense(phrase string) bool { return strings.ContainsFunc(phrase, unspaced) }

// find is the first place of any of the phrases.
func (w words) find(s string) (place, bool) { return w.after(s, 0) }

func (w words) after(s string, from int) (place, bool) {
	best, found := place{}, false
	better := func(p place) {
		if p.start >= from && (!found || p.start < best.start || p.start == best.start && p.end > best.end) {
			best, found = p, true
		}
	}
	all := tokens(s)
	for _, phrase := range w {
		if dense(phrase) {
			if i := strings.Index(s[from:], phrase); i >= 0 {
				better(place{from + i, from + i + len(phrase)})
			}
			continue
		}
		want := strings.Fields(phrase)
	next:
		for i := 0; i+len(want) <= len(all); i++ {
			for j, word := range want {
				if !all[i+j].matches(word) {
					continue next
				}
			}
			if all[i].start >= from {
				better(place{all[i].start, all[i+len(want)-1].end})
				break
			}
		}
	}
	return best, found
}

func (w words) in(s string) bool { _, ok := w.find(s); return ok }

// most is how many phrases are taken off one end: nobody is so polite, and who is
// makes no text longer to read.
const most = 8

// lead is s without phrases at its beginning and the marks behind them.
func (w words) lead(s string) string {
	for range most {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:;–—-、：", r) })
		p, ok := w.find(s)
		if !ok || p.start > 0 || p.end == len(s) {
			break
		}
		s = s[p.end:]
	}
	return strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:;–—-、：", r) })
}

// tail is s without phrases at its end and the marks before them.
func (w words) tail(s string) string {
	for range most {
		s = strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:;–—-、。.!?！？", r) })
		start := w.last(s)
		if start <= 0 {
			break
		}
		s = s[:start]
	}
	return strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:;–—-、。.!?！？", r) })
}

// last is where the longest of the phrases begins that s ends with; -1 when it
// ends with none.
func (w words) last(s string) int {
	start := -1
	earlier := func(at int) {
		if start < 0 || at < start {
			start = at
		}
	}
	all := tokens(s)
next:
	for _, phrase := range w {
		if dense(phrase) {
			if strings.HasSuffix(s, phrase) {
				earlier(len(s) - len(phrase))
			}
			continue
		}
		want := strings.Fields(phrase)
		from := len(all) - len(want)
		if from < 0 || len(all) == 0 || all[len(all)-1].end < len(s) {
			continue
		}
		for i, word := range want {
			if !all[from+i].matches(word) {
				continue next
			}
		}
		earlier(all[from].start)
	}
	return start
}

// until is s up to the first of the phrases.
func (w words) until(s string) string {
	if p, ok := w.find(s); ok {
		s = s[:p.start]
	}
	return strings.TrimSpace(s)
}

// sentences is the sentences of a text, each with the mark that ends it.
func sentences(s string) []place {
	list := []place{}
	start := 0
	end := func(at int) {
		from, to := start, at
		for from < to && unicode.IsSpace(rune(s[from])) {
			from++
		}
		for to > from && unicode.IsSpace(rune(s[to-1])) {
			to--
		}
		if from < to {
			list = append(list, place{from, to})
		}
		start = at
	}
	for i, r := range s {
		after := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			after = i + 1
		}
		switch {
		case r == '\n', strings.ContainsRune("。！？", r):
			end(after)
		case strings.ContainsRune(".!?…", r):
			if next, _ := utf8.DecodeRuneInString(s[after:]); after >= len(s) || unicode.IsSpace(next) {
				end(after)
			}
		}
	}
	end(len(s))
	return list
}

// bare is a sentence without the mark that ends it.
func bare(s string) string {
	return strings.TrimRightFunc(strings.TrimSpace(s), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!?…。！？", r) })
}

// clip is at most n code points of s; a mark says that there were more.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	letters := []rune(s)
	return strings.TrimSpace(string(letters[:n-1])) + "…"
}

// line is s as one line for people, as the schema has it.
func line(s string) string { return clip(strings.Join(strings.Fields(s), " "), 500) }

// capital is s with a capital letter at its beginning.
func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// quoted is the texts that stand between quotation marks.
func quoted(s string) []string {
	list := []string{}
	for _, marks := range [][2]string{{"«", "»"}, {"“", "”"}, {"„", "“"}, {"「", "」"}, {"\"", "\""}} {
		for rest := s; ; {
			_, after, ok := strings.Cut(rest, marks[0])
			inside, behind, closed := strings.Cut(after, marks[1])
			if !ok || !closed {
				break
			}
			if inside = strings.TrimSpace(inside); inside != "" {
				list = append(list, inside)
			}
			rest = behind
		}
	}
	return list
}

// mentions is the ids of the list that stand in a text as words of their own.
func mentions(s string, ids []string) []string {
	list := []string{}
	part := func(c byte) bool {
		return c >= utf8.RuneSelf || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	for _, id := range ids {
		for from := 0; id != ""; {
			i := strings.Index(s[from:], id)
			if i < 0 {
				break
			}
			at := from + i
			if (at == 0 || !part(s[at-1])) && (at+len(id) == len(s) || !part(s[at+len(id)])) {
				list = append(list, id)
				break
			}
			from = at + 1
		}
	}
	return list
}
