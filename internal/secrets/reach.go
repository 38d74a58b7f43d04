package secrets

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// spot is where a keyword stands.
type spot struct{ start, end int }

// keywords finds the keywords of all rules in one walk, without regard to the case
// of ASCII letters.
type keywords struct {
	first [256]int32 // the children of the root
	nodes []knot
}

type knot struct {
	edges []edge
	rules []int
}

type edge struct {
	letter byte
	to     int32
}

func newKeywords() keywords { return keywords{nodes: make([]knot, 1)} }

func (k *keywords) step(n int32, c byte) int32 {
	for _, e := range k.nodes[n].edges {
		if e.letter == c {
			return e.to
		}
	}
	return 0
}

func (k *keywords) add(word string, rule int) {
	n := int32(0)
	for i := range len(word) {
		to := k.step(n, word[i])
		if to == 0 {
			to = int32(len(k.nodes))
			k.nodes = append(k.nodes, knot{})
			k.nodes[n].edges = append(k.nodes[n].edges, edge{word[i], to})
			if n == 0 {
				k.first[word[i]] = to
			}
		}
		n = to
	}
	k.nodes[n].rules = append(k.nodes[n].rules, rule)
}

// find is where each rule has its keywords, in the order of the text.
func (k *keywords) find(text string) map[int][]spot {
	found := map[int][]spot{}
	for i := range len(text) {
		n := k.first[lower(text[i])]
		for j := i + 1; n != 0; j++ {
			for _, r := range k.nodes[n].rules {
				found[r] = append(found[r], spot{i, j})
			}
			if j == len(text) {
				break
			}
			n = k.step(n, lower(text[j]))
		}
	}
	return found
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// maxReach is the longest match for which looking around keywords is worth it.
const maxReach = 2048

// way is how a rule is run: where its matches can be, seen from a keyword.
type way struct {
	pattern *regexp.Regexp
	near    bool // a match holds a keyword: it is enough to look around those
	reach   int  // bytes a match can have, not counting runs
	runs    int  // parts of a match that go on until a blank
	head    bool // the pattern is tried at a keyword, with which a match begins
	edge    bool // of a word, before the keyword
	lead    *regexp.Regexp
	sign    *sign
}

// sign is what must follow a keyword for a match: one of a few bytes, after at
// most so many of others.
type sign struct {
	between [256]bool
	most    int
	signs   [256]bool
}

// signAfter reads it off the parts of a pattern after the keyword; nil when they
// say nothing of the kind.
func signAfter(parts []*syntax.Regexp) *sign {
	s := &sign{}
	for _, p := range parts {
		for p.Op == syntax.OpCapture {
			p = p.Sub[0]
		}
		if p.Op == syntax.OpRepeat && p.Min == 0 && p.Max > 0 && p.Sub[0].Op == syntax.OpCharClass {
			n, _ := longest(p)
			s.most += n
			for i := 0; i < len(p.Sub[0].Rune); i += 2 {
				for c := range 256 {
					if c >= 0x80 || p.Sub[0].Rune[i] <= rune(c) && rune(c) <= p.Sub[0].Rune[i+1] {
						s.between[c] = true
					}
				}
			}
			continue
		}
		texts := exact(p)
		for _, t := range texts {
			if t == "" || t[0] >= 0x80 || p.Flags&syntax.FoldCase != 0 && 'a' <= t[0] && t[0] <= 'z' {
				return nil
			}
			s.signs[t[0]] = true
		}
		if len(texts) == 0 {
			return nil
		}
		return s
	}
	return nil
}

// follows says whether the sign follows the byte at i.
func (s *sign) follows(text string, i int) bool {
	for end := min(len(text), i+s.most+1); i < end; i++ {
		if s.signs[text[i]] {
			return true
		}
		if !s.between[text[i]] {
			return false
		}
	}
	return false
}

// plan finds the cheapest way to run a pattern that finds what the pattern alone
// would find in the whole text.
func plan(pattern string, words []string) (way, error) {
	whole, err := regexp.Compile(pattern)
	if err != nil {
		return way{}, err
	}
	w := way{pattern: whole}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || len(words) == 0 {
		return w, err
	}
	w.begin(re, words)
	if n, runs := longest(re); n >= 0 && n <= maxReach && holds(re, words, []string{""}) {
		w.near, w.reach, w.runs = true, n, runs
	} else if w.head {
		w = way{pattern: whole}
	}
	return w, nil
}

// begin sees whether every match begins with a keyword, but for the edge of a word
// and a few letters of no interest before it. Then it is enough to try the rest of
// the pattern at each keyword, which is much quicker than to search for a beginning
// that may be anything.
func (w *way) begin(re *syntax.Regexp, words []string) {
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	var edge bool
	var lead *regexp.Regexp
	if parts[0].Op == syntax.OpWordBoundary {
		edge, parts = true, parts[1:]
	}
	if p := parts[:1]; !edge && len(p) == 1 && p[0].Op == syntax.OpRepeat && p[0].Min == 0 && p[0].Max > 0 {
		found, err := regexp.Compile("(?:" + p[0].Sub[0].String() + "){0," + strconv.Itoa(p[0].Max) + "}$")
		if err != nil {
			return
		}
		lead, parts = found, parts[1:]
	}
	if len(parts) == 0 || !begins(heads(parts), words) {
		return
	}
	rest := &syntax.Regexp{Op: syntax.OpConcat, Sub: parts}
	pattern, err := regexp.Compile("^(?:" + rest.String() + ")")
	if err != nil {
		return
	}
	w.pattern, w.head, w.edge, w.lead = pattern, true, edge, lead
	if texts := exact(parts[0]); len(texts) > 0 && !slices.ContainsFunc(texts, func(t string) bool { return !slices.Contains(words, t) }) {
		w.sign = signAfter(parts[1:])
	}
}

// heads is what a match can begin with, in lower case, as far as it is spelt out;
// nil when it is not.
func heads(parts []*syntax.Regexp) []string {
	texts := []string{""}
	for _, p := range parts {
		if more := exact(p); more != nil {
			if all := joined(texts, more); all != nil {
				texts = all
				continue
			}
			return texts
		}
		for p.Op == syntax.OpCapture {
			p = p.Sub[0]
		}
		var more []string
		switch p.Op { //nolint:exhaustive // others begin with anything
		case syntax.OpConcat:
			more = heads(p.Sub)
		case syntax.OpAlternate:
			for _, s := range p.Sub {
				some := heads([]*syntax.Regexp{s})
				if some == nil {
					return texts
				}
				more = append(more, some...)
			}
		}
		if all := joined(texts, more); all != nil {
			return all
		}
		return texts
	}
	return texts
}

// at says whether a match can begin at byte i of a text.
func (w way) at(text string, i int) bool {
	return !w.edge || (i == 0 || !wordByte(text[i-1])) == wordByte(text[i])
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func begins(texts, words []string) bool {
	for _, t := range texts {
		found := false
		for _, w := range words {
			found = found || strings.HasPrefix(t, strings.ToLower(w))
		}
		if !found {
			return false
		}
	}
	return len(texts) > 0
}

// right and left are how far a match that holds the byte at i can go.
func (w way) right(text string, i int) int {
	i += w.reach + 1
	for range w.runs {
		for i < len(text) && !blank(text[i]) {
			i++
		}
		i += w.reach + 1
	}
	return min(i, len(text))
}

func (w way) left(text string, i int) int {
	i -= w.reach + 1
	for range w.runs {
		for i > 0 && !blank(text[i-1]) {
			i--
		}
		i -= w.reach + 1
	}
	return max(i, 0)
}

func blank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f'
}

// longest is how many bytes a match can have, without the runs of characters other
// than blanks in it, and how many such runs there are. It is -1 when there is no
// other bound.
func longest(re *syntax.Regexp) (n, runs int) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			n += width(r, re.Flags)
		}
	case syntax.OpCharClass:
		for _, r := range re.Rune {
			n = max(n, width(r, 0))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = utf8.UTFMax
	case syntax.OpCapture, syntax.OpQuest:
		return longest(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return endless(re.Sub[0], 1)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return endless(re.Sub[0], max(1, re.Min))
		}
		n, runs = longest(re.Sub[0])
		if runs > 0 && re.Max > 1 {
			return -1, 0
		}
		n *= re.Max
	case syntax.OpConcat, syntax.OpAlternate:
		for _, s := range re.Sub {
			k, r := longest(s)
			if k < 0 {
				return -1, 0
			}
			if re.Op == syntax.OpConcat {
				n, runs = n+k, runs+r
			} else {
				n, runs = max(n, k), max(runs, r)
			}
		}
	default: // places between characters
	}
	return n, runs
}

// endless is a part that may be repeated for ever.
func endless(re *syntax.Regexp, least int) (n, runs int) {
	if re.Op != syntax.OpCharClass {
		return -1, 0
	}
	for i := 0; i < len(re.Rune); i += 2 {
		for _, c := range " \n\t\r\v\f" {
			if re.Rune[i] <= c && c <= re.Rune[i+1] {
				return -1, 0
			}
		}
	}
	return least * utf8.UTFMax, 1
}

// width is the most bytes a rune takes, in any case it may stand for.
func width(r rune, flags syntax.Flags) int {
	n := len(string(r))
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			n = max(n, len(string(f)))
		}
	}
	return n
}

// holds says whether every match of a pattern holds one of the words, whatever
// their case, when one of the texts of before stands before it.
func holds(re *syntax.Regexp, words, before []string) bool {
	if texts := exact(re); texts != nil {
		return hold(joined(before, texts), words)
	}
	switch re.Op { //nolint:exhaustive // nothing else is made of parts that are always there
	case syntax.OpCapture, syntax.OpPlus:
		return holds(re.Sub[0], words, before)
	case syntax.OpRepeat:
		return re.Min > 0 && holds(re.Sub[0], words, before)
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			if !holds(s, words, before) {
				return false
			}
		}
		return true
	case syntax.OpConcat:
		for _, s := range re.Sub {
			if holds(s, words, before) {
				return true
			}
			// Literals side by side are one word.
			if before = joined(before, exact(s)); before == nil {
				before = []string{""}
			}
		}
	}
	return false
}

func hold(texts, words []string) bool {
	for _, t := range texts {
		found := false
		for _, w := range words {
			found = found || strings.Contains(t, strings.ToLower(w))
		}
		if !found {
			return false
		}
	}
	return len(texts) > 0
}

// maxTexts bounds how many texts a part of a pattern is spelt out into.
const maxTexts = 256

// exact is every text a pattern matches, in lower case; nil when there are too
// many.
func exact(re *syntax.Regexp) []string {
	switch re.Op { //nolint:exhaustive // the rest stands for too many texts
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpCapture:
		return exact(re.Sub[0])
	case syntax.OpQuest:
		if texts := exact(re.Sub[0]); texts != nil {
			return append([]string{""}, texts...)
		}
	case syntax.OpRepeat:
		if re.Max < 0 || re.Max > 4 {
			return nil
		}
		var texts []string
		for run, n := []string{""}, 0; n <= re.Max; n++ {
			if n >= re.Min {
				texts = append(texts, run...)
			}
			if run = joined(run, exact(re.Sub[0])); run == nil || len(texts) > maxTexts {
				return nil
			}
		}
		return texts
	case syntax.OpCharClass:
		var texts []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if texts = append(texts, strings.ToLower(string(r))); len(texts) > 16 {
					return nil
				}
			}
		}
		return texts
	case syntax.OpAlternate:
		var texts []string
		for _, s := range re.Sub {
			more := exact(s)
			if more == nil || len(texts)+len(more) > maxTexts {
				return nil
			}
			texts = append(texts, more...)
		}
		return texts
	case syntax.OpConcat:
		texts := []string{""}
		for _, s := range re.Sub {
			if texts = joined(texts, exact(s)); texts == nil {
				return nil
			}
		}
		return texts
	}
	return nil
}

// joined is every text of a followed by every text of b; nil when there are too
// many, or b is nil.
func joined(a, b []string) []string {
	if b == nil || len(a)*len(b) > maxTexts {
		return nil
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}
