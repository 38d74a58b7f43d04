package screen

import (
	"fmt"
	"slices"
	"strings"
)

// Phrase is words that all stand in one sentence, in any order. A "*" at the end
// of a word means that it may go on; words joined by a hyphen follow one another.
type Phrase []string

// Phrasebook finds phrases in normalised texts (docs/spec/circle.md §6.2). It is
// never changed once it is made.
type Phrasebook struct {
	tree    tree[term]
	phrases []Phrase
	uses    [][]use // of each different word, the phrases it is part of
}

// term is a different word of all phrases.
type term struct {
	id   int
	open bool
}

type use struct{ phrase, part int }

// maxParts is how many words a phrase may have.
const maxParts = 32

// NewPhrasebook compiles phrases. The error names the phrase that cannot be used.
func NewPhrasebook(phrases []Phrase) (*Phrasebook, error) {
	b := &Phrasebook{tree: newTree[term](), phrases: phrases}
	ids := map[string]int{}
	for p, phrase := range phrases {
		if len(phrase) == 0 || len(phrase) > maxParts {
			return nil, fmt.Errorf("phrase %d has %d words, 1 to %d are expected", p, len(phrase), maxParts)
		}
		for i, w := range phrase {
			text, open := strings.CutSuffix(w, "*")
			words := read(Normalise(text), "")
			if len(words.words) == 0 {
				return nil, fmt.Errorf("phrase %d: %q is no word", p, w)
			}
			text = words.string(0)
			for k := 1; k < len(words.words); k++ {
				if words.words[k].start > words.words[k-1].end {
					text += " "
				}
				text += words.string(k)
			}
			open = open || words.words[len(words.words)-1].cjk
			key := fmt.Sprint(text, open)
			id, known := ids[key]
			if !known {
				id = len(ids)
				ids[key] = id
				b.tree.add(text, term{id, open})
				b.uses = append(b.uses, nil)
			}
			b.uses[id] = append(b.uses[id], use{p, i})
		}
	}
	return b, nil
}

// Spot is a phrase that was found.
type Spot struct {
	Phrase int  // its place in the list the book was made from
	Span   Span // of the text as it was received, from the first of its words to the last
}

// Find is every phrase that stands in a sentence of the text, once for each
// sentence, in the order of the sentences and then of the phrases.
func (b *Phrasebook) Find(t Text) []Spot {
	r := read(t, "")
	var found []Spot
	parts := make([]partial, len(b.phrases))
	var begun []int // phrases that the sentence has a part of
	sentence := -1
	flush := func() {
		slices.Sort(begun)
		for _, p := range begun {
			if m := parts[p]; m.have == uint32(1)<<len(b.phrases[p])-1 {
				found = append(found, Spot{p, t.Origin(m.start, m.end)})
			}
			parts[p] = partial{}
		}
		begun = begun[:0]
	}
	take := func(id, start, end int) {
		for _, u := range b.uses[id] {
			m := &parts[u.phrase]
			if m.have == 0 {
				*m = partial{start: start, end: end}
				begun = append(begun, u.phrase)
			}
			m.have |= 1 << u.part
			m.start, m.end = min(m.start, start), max(m.end, end)
		}
	}
	var buf [3]string
	for i := range r.words {
		w := &r.words[i]
		if w.sentence != sentence {
			flush()
			sentence = w.sentence
		}
		text := r.string(i)
		if w.cjk {
			for j := range text {
				b.follow(r, i, w.start+j, 0, text[j:], take)
			}
			continue
		}
		for _, s := range spellings(text, buf[:0]) {
			b.follow(r, i, w.start, 0, s, take)
		}
	}
	flush()
	return found
}

// partial is how much of a phrase a sentence has.
type partial struct {
	have       uint32
	start, end int
}

// follow walks the tree from a node along a word and those after it.
func (b *Phrasebook) follow(r *reading, i, start int, n int32, text string, take func(id, start, end int)) {
	w := &r.words[i]
	for j := range len(text) {
		if n = b.tree.step(n, text[j]); n == 0 {
			return
		}
		for _, e := range b.tree.nodes[n].entries {
			if e.open || j+1 == len(text) {
				end := w.end
				if w.cjk {
					end -= len(text) - j - 1
				}
				take(e.id, start, end)
			}
		}
	}
	if i+1 == len(r.words) {
		return
	}
	next := &r.words[i+1]
	if next.start > w.end {
		if next.sentence != w.sentence || !r.gap(i) {
			return
		}
		if n = b.tree.step(n, ' '); n == 0 {
			return
		}
	}
	b.follow(r, i+1, start, n, r.string(i+1), take)
}
