// Package memory is what the circle remembers, and how it is found again by the
// words in it: the same in Ukrainian, English and Japanese, and on both databases
// (docs/spec/circle.md §1, Memory and Research-Scout).
//
// A note is seen within its level and by nobody else; who may see it is part of
// every search.
package memory

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"plimsoll.dev/internal/request/envelope"
)

// Kind says what a note is of.
type Kind string

// The kinds of note: what somebody asked to be remembered, the content of an
// artifact, and a page of a document of the repository.
const (
	Kept       Kind = "memory"
	OfArtifact Kind = "artifact"
	OfDocument Kind = "document"
)

// Valid says whether k is one of the three.
func (k Kind) Valid() bool { return k == Kept || k == OfArtifact || k == OfDocument }

// Note is a text that can be found.
type Note struct {
	ID         string
	Kind       Kind
	Circle     string
	Owner      string // the member whose note it is; the only one who sees a private one
	Visibility envelope.Level
	Origin     envelope.Origin
	Source     string // the artifact's or the document's id
	SHA256     string // of what the text was taken from, for citations
	Title      string
	Text       string
	CreatedAt  time.Time
	ExpiresAt  time.Time // no longer found from then on; zero when it stays
}

// Viewer is who searches, from within which circle. Membership is the caller's to
// check.
type Viewer struct {
	Actor  string
	Circle string
	Clan   string // the circle's; "" for a circle that stands alone
}

// The limits of what is indexed.
const (
	maxTerms = 16_384
	maxTerm  = 32 // code points
)

// Terms is the words of a text in their order: compatibility forms unified, case
// folded, cut at whatever is no letter, mark or digit. Scripts that do not space
// their words are cut into pairs of letters that overlap.
func Terms(text string) []string {
	text = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
	terms := []string{}
	var word []rune
	dense := false // the word is of a script without spaces
	end := func() {
		switch {
		case len(word) == 0 || len(terms) >= maxTerms:
		case dense && len(word) > 1:
			for i := range len(word) - 1 {
				terms = append(terms, string(word[i:i+2]))
			}
		default:
			terms = append(terms, string(word[:min(len(word), maxTerm)]))
		}
		word = word[:0]
	}
	for _, r := range text {
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) {
			end()
			continue
		}
		if d := unspaced(r); len(word) > 0 && d != dense && !unicode.Is(unicode.M, r) {
			end()
			dense = d
		} else if len(word) == 0 {
			dense = d
		}
		word = append(word, r)
	}
	end()
	return terms[:min(len(terms), maxTerms)]
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー'
}

// Query is what is searched for: a note matches when it has one of the words, and
// comes the sooner the more of them it has.
type Query []Stem

// Stem is a word, or the beginning of one where words are inflected.
type Stem struct {
	Text  string
	Begin bool // any word that begins with Text
}

// maxStems bounds a query; a question has fewer words.
const maxStems = 32

// Ask is the query of a question. The end of a longer word is left open, since
// Ukrainian and English change it; the short words that every sentence has do not
// count where there are others.
func Ask(question string) Query {
	q := Query{}
	long := false
	for _, t := range Terms(question) {
		letters := []rune(t)
		s := Stem{Text: t}
		if n := len(letters); n > 4 && !unspaced(letters[0]) {
			s = Stem{Text: string(letters[:max(4, n-n/3)]), Begin: true}
		}
		if !slices.Contains(q, s) {
			q = append(q, s)
			long = long || telling(s)
		}
	}
	if long {
		q = slices.DeleteFunc(q, func(s Stem) bool { return !telling(s) })
	}
	return q[:min(len(q), maxStems)]
}

func telling(s Stem) bool {
	letters := []rune(s.Text)
	return len(letters) > 3 || unspaced(letters[0]) || strings.ContainsFunc(s.Text, unicode.IsNumber)
}

// Hits is how many of the query's words a text has.
func (q Query) Hits(text string) int {
	terms := Terms(text)
	n := 0
	for _, s := range q {
		if slices.ContainsFunc(terms, s.matches) {
			n++
		}
	}
	return n
}

func (s Stem) matches(term string) bool {
	return term == s.Text || s.Begin && strings.HasPrefix(term, s.Text)
}

// Ranked is the notes with the most of the query's words first, in the order they
// came where these are equal.
func (q Query) Ranked(notes []Note) []Note {
	hits := make(map[string]int, len(notes))
	for _, n := range notes {
		hits[n.ID] = q.Hits(n.Title + "\n" + n.Text)
	}
	ranked := slices.Clone(notes)
	slices.SortStableFunc(ranked, func(a, b Note) int { return hits[b.ID] - hits[a.ID] })
	return ranked
}
