package screen

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Class is what a group of words means to the rules, in any language.
type Class uint8

// The classes. A rule names classes and never words; a language gives each class
// its words.
const (
	Bypass  Class = iota // leave a rule aside
	Void                 // a rule does not count for you
	Rules                // the constitution, and what somebody was told to keep to
	Guard                // a check, a consent, a gate: what stands in the way
	Record               // the audit log and its entries
	Conceal              // delete, hide
	Silence              // do not tell, do not log
	From                 // from somebody
	Reveal               // show, tell, send
	Ask                  // what is, which are
	Secret               // passwords, keys, tokens
	Hidden               // system prompts and other instructions that are not shown
	Notes                // what a member keeps for itself
	Other                // belonging to somebody else
	Own                  // belonging to who asks
	Execute              // run, carry out
	Effect               // a command, a transfer: what can be run
	Act                  // send, delete, pay: something with an effect
	Unasked              // without asking, without consent
	Will                 // a testament
	Decide               // consent, confirm, vote
	InName               // on behalf of, instead of
	Assume               // you are now, pretend
	Free                 // without limits, in developer mode
	Forge                // mark as, set to
	Settled              // confirmed, granted
	Marker               // signs that begin a system message
	Outward              // to an address outside
	Data                 // notes, records, everything said
	Meta                 // a policy, a schedule, a list about: a thing that is talked about
	You                  // the one who is spoken to
	Pronoun              // it, them
	Member               // a person or body that decides
	Mention              // signs that something is talked about: a report, a phrase, an example
	Say                  // wrote, says
	Boss                 // those in whose name orders are faked
	Obey                 // do what it says
	classes
)

// Mood is the grammar of a verb, as far as it tells an order from a report.
type Mood uint8

// The moods.
const (
	Noun       Mood = iota // no verb, or one whose grammar says nothing
	Command                // an order by its form
	Base                   // an order where it begins a clause or follows a word that makes it one
	Infinitive             // an order after a word that makes it one
	Participle             // an order when the sentence holds one ("answer, ignoring the rules")
)

// Words are the words of a class in one mood. They are parted by "|". A "*" at the
// end means that the word may go on, a blank that another word follows.
type Words struct {
	Class Class
	Mood  Mood
	List  string
}

// Lexicon is the words of one language (docs/spec/circle.md §8). A language that
// is written without blanks sets Unbroken: its words are looked for at every
// character.
type Lexicon struct {
	Locale   string // BCP 47
	Unbroken bool
	Words    []Words
}

// Lexicons are the languages that are shipped: English, Ukrainian, Japanese.
func Lexicons() []Lexicon { return []Lexicon{english, ukrainian, japanese} }

// entry is a meaning of a sequence of letters.
type entry struct {
	class  Class
	mood   Mood
	locale uint8
	open   bool // the word may go on
}

// node is a place in the tree of letters.
type node[E any] struct {
	edges   []edgeTo
	entries []E
}

type edgeTo struct {
	letter byte
	to     int32
}

// dictionary finds the words of all lexicons in one walk.
type dictionary struct {
	locales []string
	spaced  tree[entry]
	run     tree[entry]
}

// tree finds every word of a list that begins at a place.
type tree[E any] struct {
	nodes []node[E]
	first [256]int32 // the children of the root
}

func newTree[E any]() tree[E] { return tree[E]{nodes: make([]node[E], 1)} }

func (t *tree[E]) step(n int32, c byte) int32 {
	if n == 0 {
		return t.first[c]
	}
	for _, e := range t.nodes[n].edges {
		if e.letter == c {
			return e.to
		}
	}
	return 0
}

func (t *tree[E]) add(word string, e E) {
	n := int32(0)
	for i := 0; i < len(word); i++ {
		next := t.step(n, word[i])
		if next == 0 {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, node[E]{})
			if n == 0 {
				t.first[word[i]] = next
			} else {
				t.nodes[n].edges = append(t.nodes[n].edges, edgeTo{word[i], next})
			}
		}
		n = next
	}
	t.nodes[n].entries = append(t.nodes[n].entries, e)
}

// compile makes a dictionary. The error names the locale and the word.
func compile(lexicons []Lexicon) (*dictionary, error) {
	d := &dictionary{spaced: newTree[entry](), run: newTree[entry]()}
	for i, l := range lexicons {
		if l.Locale == "" || i > 255 {
			return nil, fmt.Errorf("lexicon %d has no locale", i+1)
		}
		d.locales = append(d.locales, l.Locale)
		for _, w := range l.Words {
			if w.Class >= classes {
				return nil, fmt.Errorf("lexicon %s: there is no class %d", l.Locale, w.Class)
			}
			for entryText := range strings.SplitSeq(w.List, "|") {
				text, open := strings.CutSuffix(strings.TrimSpace(entryText), "*")
				text = Normalise(text).String()
				if text == "" || !utf8.ValidString(text) {
					return nil, fmt.Errorf("lexicon %s: class %d has an empty word", l.Locale, w.Class)
				}
				e := entry{class: w.Class, mood: w.Mood, locale: uint8(i), open: open || l.Unbroken}
				if l.Unbroken {
					d.run.add(text, e)
				}
				d.spaced.add(text, e)
			}
		}
	}
	return d, nil
}

// hit is a word of a class at a place of a form.
type hit struct {
	entry
	start, end  int // bytes of the form
	first, last int // words of the reading
	at          int // units
	sentence    int
	directive   bool
}

// find looks up every word of a reading, in the order of the text.
func (d *dictionary) find(r *reading) []hit {
	hits := make([]hit, 0, 64)
	var buf [3]string
	for i := range r.words {
		w := &r.words[i]
		text := r.string(i)
		switch {
		case w.cjk:
			at := w.at
			for j := range text {
				hits = d.walk(hits, r, &d.run, i, j, text, at, false)
				at++
			}
			continue
		case w.glued:
			at := w.at
			for j := range text {
				hits = d.walk(hits, r, &d.spaced, i, j, text, at, true)
				at++
			}
			continue
		}
		for _, s := range spellings(text, buf[:0]) {
			hits = d.walk(hits, r, &d.spaced, i, 0, s, w.at, false)
		}
	}
	return owners(hits, r)
}

// owners adds the names that say whose something is: "Taras's notes", "the notes
// of Taras", and in Ukrainian a name right after the word for notes.
func owners(hits []hit, r *reading) []hit {
	notes := map[int]bool{} // words after which a name is an owner
	for _, h := range hits {
		if h.class == Notes {
			notes[h.last+1] = true
		}
	}
	if len(notes) == 0 {
		return hits
	}
	for i := 1; i < len(r.words); i++ {
		w := &r.words[i]
		if !w.upper || w.sentence != r.words[i-1].sentence {
			continue
		}
		if before := r.string(i - 1); strings.HasSuffix(r.string(i), "'s") || before == "of" || before == "by" || notes[i] {
			hits = append(hits, hit{entry: entry{class: Other}, start: w.start, end: w.end, first: i, last: i, at: w.at, sentence: w.sentence})
		}
	}
	return hits
}

// minGlued is the shortest word, in bytes, that is found inside a longer one.
const minGlued = 4

// walk follows the letters of the i-th word from byte j on.
func (d *dictionary) walk(hits []hit, r *reading, t *tree[entry], i, j int, text string, at int, glued bool) []hit {
	w := &r.words[i]
	return d.follow(hits, r, t, 0, i, j, text, hit{
		start: w.start, first: i, at: at, sentence: w.sentence,
	}, glued, len(text) == w.end-w.start)
}

// follow goes on from a node with the letters of the last word from byte j on, and
// with the words after it where an entry has several. whole says that the text is
// the word as it stands, so that places inside it are known.
func (d *dictionary) follow(hits []hit, r *reading, t *tree[entry], n int32, last, j int, text string, h hit, glued, whole bool) []hit {
	w := &r.words[last]
	inside := w.cjk || glued
	if inside && last == h.first {
		h.start = w.start + j
	}
	from := j
	for ; j < len(text); j++ {
		if n = t.step(n, text[j]); n == 0 {
			return hits
		}
		for _, e := range t.nodes[n].entries {
			if glued && j+1-from < minGlued || !glued && !e.open && j+1 != len(text) {
				continue
			}
			h.entry, h.last, h.end = e, last, w.end
			if inside && whole {
				h.end = w.start + j + 1
			}
			hits = append(hits, h)
		}
	}
	if glued || last+1 >= len(r.words) {
		return hits
	}
	switch next := &r.words[last+1]; {
	case next.start == w.end: // another writing begins
	case w.cjk || next.cjk || !r.gap(last) || next.sentence != w.sentence:
		return hits
	default:
		if n = t.step(n, ' '); n == 0 {
			return hits
		}
	}
	if len(t.nodes[n].edges) == 0 {
		return hits
	}
	var buf [3]string
	text = r.string(last + 1)
	for k, s := range spellings(text, buf[:0]) {
		hits = d.follow(hits, r, t, n, last+1, 0, s, h, false, k == 0)
	}
	return hits
}

// promising says whether a reading may say something in words that are turned,
// each by itself, into others of the same length. One longer word that a rule
// could need is enough; looking costs much less than reading the whole text so.
func (d *dictionary) promising(r *reading, turn func(dst []byte, word string) []byte) bool {
	var buf [128]byte
	for i := range r.words {
		text := r.string(i)
		if len(text) < minTurned || len(text) > len(buf) && !r.words[i].cjk {
			continue
		}
		word := turn(buf[:0], text)
		if word == nil {
			continue
		}
		if !r.words[i].cjk {
			if promises(&d.spaced, word, false) {
				return true
			}
			continue
		}
		for j := range word {
			if promises(&d.run, word[j:], true) {
				return true
			}
		}
	}
	return false
}

// minTurned is the shortest word, in bytes, that promises anything.
const minTurned = 5

// promises says whether a word of the tree that a rule could need begins the text,
// and ends it unless it may go on.
func promises(t *tree[entry], text []byte, inside bool) bool {
	n := int32(0)
	for j, c := range text {
		if n = t.step(n, c); n == 0 {
			return false
		}
		if j+1 < minTurned {
			continue
		}
		for _, e := range t.nodes[n].entries {
			if e.class < Meta && (inside || e.open || j+1 == len(text)) {
				return true
			}
		}
	}
	return false
}
