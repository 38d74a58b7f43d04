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
	Conceal              // delete, hide, keep silent about
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
type node struct {
	edges   []edgeTo
	entries []entry
}

type edgeTo struct {
	letter byte
	to     int32
}

// dictionary finds the words of all lexicons in one walk.
type dictionary struct {
	locales []string
	spaced  tree
	run     tree
}

type tree struct {
	nodes []node
	first [256]int32 // the children of the root
}

func (t *tree) step(n int32, c byte) int32 {
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

func (t *tree) add(word string, e entry) {
	n := int32(0)
	for i := 0; i < len(word); i++ {
		next := t.step(n, word[i])
		if next == 0 {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{})
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
	d := &dictionary{spaced: tree{nodes: make([]node, 1)}, run: tree{nodes: make([]node, 1)}}
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
	return hits
}

// minGlued is the shortest word, in bytes, that is found inside a longer one.
const minGlued = 4

// walk follows the letters of text from byte j on, through the following words
// where an entry has several.
func (d *dictionary) walk(hits []hit, r *reading, t *tree, i, j int, text string, at int, glued bool) []hit {
	w := &r.words[i]
	whole := len(text) == w.end-w.start // another spelling has no places inside
	n, last, from := int32(0), i, j
	for {
		for ; j < len(text); j++ {
			n = t.step(n, text[j])
			if n == 0 {
				return hits
			}
			for _, e := range t.nodes[n].entries {
				if glued && j+1-from < minGlued || !glued && !e.open && j+1 != len(text) {
					continue
				}
				h := hit{entry: e, start: w.start, end: r.words[last].end, first: i, last: last, at: at, sentence: w.sentence}
				if w.cjk || glued {
					h.start = w.start + from
				}
				if whole && (w.cjk || glued) && last == i {
					h.end = w.start + j + 1
				}
				hits = append(hits, h)
			}
		}
		if w.cjk || glued || !r.gap(last) {
			return hits
		}
		if n = t.step(n, ' '); n == 0 {
			return hits
		}
		last++
		text, j = r.string(last), 0
		if s := spellings(text, nil); len(s) > 1 && t.step(n, text[0]) == 0 {
			text = s[1]
		}
	}
}
