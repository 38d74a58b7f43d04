package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/request"
)

// saidMost is how much of a text a page shows at once, in bytes.
const saidMost = 8 << 10

// said is the text of a request as a page shows it: as it was written, with what
// triage decided by underlined, each with the number of its reason.
type said struct {
	Parts  []saidPart
	Whys   []why
	More   int  // reasons that are left out
	Longer bool // the text goes on
}

// saidPart is a piece of the text that is shown in one way.
type saidPart struct {
	Text   string
	Gone   bool   // a secret was here
	Rule   string // that found it
	Odd    string // a character that nobody sees, by its number
	Marked bool
	Ends   []int // the numbers of the reasons that end here
}

// why is one thing that triage decided, and by which rule. Number is 0 for one
// that is about no place of the text.
type why struct {
	Number int
	request.Evidence
}

// whysMost is how many reasons a page shows.
const whysMost = 60

// readSaid cuts a text into its parts. most bounds what is shown of it, 0 is all.
func readSaid(w *request.Written, most int) said {
	text := w.Envelope.InputText
	s := said{Parts: []saidPart{}, Whys: []why{}}
	if most > 0 && len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text, s.Longer = text[:most], true
	}
	placed := s.reasons(w.Evidence, len(text))
	gone := map[int]request.Redaction{}
	cuts := []int{0, len(text)}
	for _, r := range w.Redactions {
		if r.End <= len(text) {
			gone[r.Start] = r
			cuts = append(cuts, r.Start, r.End)
		}
	}
	for _, y := range placed {
		cuts = append(cuts, y.Start, y.End)
	}
	for i, r := range text {
		if unseen(r) {
			cuts = append(cuts, i, i+utf8.RuneLen(r))
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := 0; i+1 < len(cuts); i++ {
		start, end := cuts[i], cuts[i+1]
		p := saidPart{Text: text[start:end]}
		if r, ok := gone[start]; ok {
			p.Gone, p.Rule = true, r.Rule
		}
		if r, n := utf8.DecodeRuneInString(p.Text); n == len(p.Text) && unseen(r) {
			p.Odd = fmt.Sprintf("%04X", r)
		}
		for _, y := range placed {
			p.Marked = p.Marked || y.Start <= start && end <= y.End
			if y.End == end {
				p.Ends = append(p.Ends, y.Number)
			}
		}
		s.Parts = append(s.Parts, p)
	}
	return s
}

// reasons numbers the evidence in the order of the text, what is about no place
// last, and answers what has one.
func (s *said) reasons(list []request.Evidence, length int) (placed []why) {
	seen := map[request.Evidence]bool{}
	for _, e := range list {
		if e.End > length {
			e.Start, e.End = 0, 0
		}
		if !seen[e] {
			seen[e] = true
			s.Whys = append(s.Whys, why{Evidence: e})
		}
	}
	slices.SortStableFunc(s.Whys, func(a, b why) int {
		if at, bt := a.End > a.Start, b.End > b.Start; at != bt {
			if at {
				return -1
			}
			return 1
		}
		return cmp.Or(a.Start-b.Start, a.End-b.End)
	})
	if len(s.Whys) > whysMost {
		s.More = len(s.Whys) - whysMost
		s.Whys = s.Whys[:whysMost]
	}
	for i := range s.Whys {
		if y := &s.Whys[i]; y.End > y.Start {
			y.Number = i + 1
			placed = append(placed, *y)
		}
	}
	return placed
}

// plain is a text with such characters named.
func plain(text string) string {
	if !strings.ContainsFunc(text, unseen) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unseen(r) {
			b.WriteString(numbered(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// firstWords is the beginning of a text in one line.
func firstWords(w *request.Written, most int) []saidPart {
	s := readSaid(&request.Written{Envelope: w.Envelope, Redactions: w.Redactions, Evidence: nil}, 4*most)
	out, left := []saidPart{}, most
	for _, p := range s.Parts {
		if p.Gone {
			out, left = append(out, p), left-1
			continue
		}
		if p.Odd != "" {
			continue
		}
		line := []rune{}
		for _, r := range p.Text {
			if unicode.IsSpace(r) {
				r = ' '
				if n := len(line); n > 0 && line[n-1] == ' ' {
					continue
				}
			}
			line = append(line, r)
		}
		if len(line) > left {
			return append(out, saidPart{Text: string(line[:left]) + "…"})
		}
		out, left = append(out, saidPart{Text: string(line)}), left-len(line)
	}
	if s.Longer {
		out = append(out, saidPart{Text: "…"})
	}
	return out
}

// Key is the key of words/ of what was decided, "" where nothing was.
func (y why) Key() string {
	if y.Value == "" {
		return ""
	}
	return map[string]string{
		"intent": "request.intent.", "sensitivity": "request.flag.", "origin": "request.origin.", "visibility": "request.level.",
		"consent": "request.claim.", "stop": "request.stop.",
	}[y.Of] + y.Value
}
