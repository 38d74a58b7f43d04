package worker

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
)

// The bounds of a research note.
const (
	maxCitations = 32
	maxQuote     = 800 // code points
)

var (
	constitutionWords = words{"constitution*", "jos-base", "конституц*", "憲法"}
	registryWords     = words{"registry", "реєстр*", "登録簿"}
)

// What Research-Scout says.
var (
	saySays     = phrase{"%s says: %s", "%s каже: %s", "%sにはこうある：%s"}
	sayOfDate   = phrase{"%s (%s)", "%s (%s)", "%s（%s）"}
	sayOutside  = phrase{"%s, from outside", "%s, ззовні", "%s、外部から"}
	sayNote     = phrase{"A note", "Нотатка", "覚え書き"}
	sayArtifact = phrase{"An artifact", "Артефакт", "成果物"}
	sayDocument = phrase{"A document", "Документ", "文書"}
)

// citation is words that stand in a source.
type citation struct {
	source artifact.Source
	title  string
	quote  string
	at     place
	date   string
	kind   memory.Kind
}

// researchScout finds what is already known and says where it stands
// (docs/spec/circle.md §1). It answers with passages and nothing else: each is
// quoted exactly, with its place, and an empty answer is an answer. An instruction
// that stands in a passage is a passage like any other.
func researchScout(t *Task) (Result, error) {
	question := t.Request.Text
	query := memory.Ask(asked(question))
	found, searched := []citation{}, []string{"memory", "artifact", "document"}
	for _, n := range t.Facts.Notes {
		c := citation{source: noteSource(n), title: n.Title, date: n.CreatedAt.UTC().Format("2006-01-02"), kind: n.Kind}
		if c.quote, c.at = passage(query, cmp.Or(n.Text, n.Title)); c.quote != "" {
			found = append(found, c)
		}
	}
	for _, d := range t.found() {
		c := citation{source: d.Source, title: cmp.Or(d.Title, d.Reference.ID), kind: memory.OfDocument}
		if c.quote, c.at = passage(query, d.Text); c.quote != "" && query.Hits(c.quote) > 0 {
			found = append(found, c)
		}
	}
	for _, page := range []struct {
		words words
		name  string
		path  string
	}{{constitutionWords, "constitution", basePath}, {registryWords, "registry", constitution.RegistryPath}} {
		if page.words.in(question) {
			searched = append(searched, page.name)
			found = append(found, t.page(query, page.path)...)
		}
	}
	found = found[:min(len(found), maxCitations)]

	say := t.tongue()
	citations, findings := []canonical.Object{}, []canonical.Object{}
	d := Draft{}
	for i, c := range found {
		o := canonical.Object{{Key: "source", Value: source(c.source)}, {Key: "quote", Value: c.quote}}
		put(&o, "title", clip(line(c.title), 300))
		if c.at.end > c.at.start && c.at.end <= 1<<20 {
			o = append(o, canonical.Member{Key: "span", Value: canonical.Object{{Key: "start", Value: c.at.start}, {Key: "end", Value: c.at.end}}})
		}
		citations = append(citations, o)
		findings = append(findings, canonical.Object{
			{Key: "statement", Value: clip(say.say(saySays, c.called(say), say.quote(line(c.quote))), 3900)}, {Key: "citations", Value: numbersOf([]int{i})},
		})
		if !slices.Contains(d.Sources, c.source) {
			d.Sources = append(d.Sources, c.source)
		}
	}
	content := drafted(envelope.ResearchNote, canonical.Object{
		{Key: "question", Value: cmp.Or(line(question), "?")},
		{Key: "findings", Value: findings},
		{Key: "citations", Value: citations},
		{Key: "searched", Value: searched},
		{Key: "nothing_found", Value: len(found) == 0},
		{Key: "locale", Value: string(say)},
	})
	content.Sources, content.Concerns = d.Sources, t.concerned()
	return Result{Drafts: []Draft{content}}, nil
}

// asked is the words of a question that tell what it is about, in its order; all of
// them where none does.
func asked(question string) string {
	telling := []string{}
	for _, t := range tokens(question) {
		if word := t.of(question); !common.in(word) && !constitutionWords.in(word) && !registryWords.in(word) {
			telling = append(telling, word)
		}
	}
	return cmp.Or(strings.Join(telling, " "), question)
}

// noteSource is a note as something that is cited.
func noteSource(n memory.Note) artifact.Source {
	s := artifact.Source{Kind: artifact.FromMemory, ID: n.ID, SHA256: cmp.Or(n.SHA256, artifact.Digest([]byte(n.Text))), Visibility: n.Visibility, Origin: n.Origin}
	switch n.Kind {
	case memory.OfArtifact:
		s.Kind, s.ID = artifact.FromArtifact, cmp.Or(n.Source, n.ID)
	case memory.OfDocument:
		s.Kind, s.ID = artifact.FromDocument, cmp.Or(n.Source, n.ID)
	case memory.Kept:
	}
	return s
}

// called is a source as people call it: its title, its date, and whether it came
// from outside.
func (c citation) called(say tongue) string {
	kinds := map[memory.Kind]phrase{memory.Kept: sayNote, memory.OfArtifact: sayArtifact, memory.OfDocument: sayDocument}
	name := say.say(kinds[c.kind])
	if c.title != "" {
		name = say.quote(clip(line(c.title), 120))
	}
	if c.date != "" {
		name = say.say(sayOfDate, name, c.date)
	}
	if c.source.Origin != envelope.Internal {
		name = say.say(sayOutside, name)
	}
	return name
}

// passage is the sentence of a text that has most of the words that are searched,
// the first of several, and the one behind it where there is room.
func passage(query memory.Query, text string) (string, place) {
	best, most := place{}, -1
	all := sentences(text)
	for i, s := range all {
		if i >= 2_000 {
			break
		}
		if n := query.Hits(s.of(text)); n > most {
			best, most = s, n
			if i+1 < len(all) && utf8.RuneCountInString(text[s.start:all[i+1].end]) <= maxQuote/2 {
				best.end = all[i+1].end
			}
		}
	}
	quote := best.of(text)
	if utf8.RuneCountInString(quote) > maxQuote {
		quote = string([]rune(quote)[:maxQuote])
		best.end = best.start + len(quote)
	}
	return quote, best
}

// page is the clauses of one of the texts every member may read that have words
// of the question: the most telling ones, in the order of the page.
func (t *Task) page(query memory.Query, name string) []citation {
	text := string(t.Facts.Set.File(name))
	sum := artifact.Digest([]byte(text))
	type hit struct {
		citation
		n int
	}
	hits := []hit{}
	add := func(quote, title string, from int) int {
		at := strings.Index(text[from:], quote)
		if at < 0 {
			return from
		}
		at += from
		if n := query.Hits(title + "\n" + quote); n > 0 {
			quote = clip(quote, maxQuote)
			hits = append(hits, hit{citation{
				source: artifact.Source{Kind: artifact.FromDocument, ID: name, SHA256: sum, Visibility: envelope.Public, Origin: envelope.Internal},
				title:  strings.Trim(name+": "+title, ": "), quote: quote, at: place{at, at + len(quote)}, kind: memory.OfDocument,
			}, n})
		}
		return at + 1
	}
	from := 0
	if strings.HasSuffix(name, ".md") {
		for _, c := range clauses(text) {
			first, _, _ := strings.Cut(c.text, "\n")
			if i := strings.Index(text[from:], first); i < 0 { // joined lines: quote the first of them
				first = firstLine(text[from:], c.text)
			}
			if first != "" {
				from = add(first, c.place(), from)
			}
		}
	} else {
		for _, l := range strings.Split(text, "\n") {
			if l = strings.TrimSpace(l); l != "" {
				from = add(l, "", from)
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.n - a.n })
	list := []citation{}
	for _, h := range hits[:min(len(hits), 8)] {
		list = append(list, h.citation)
	}
	slices.SortStableFunc(list, func(a, b citation) int { return a.at.start - b.at.start })
	return list
}

// firstLine is the beginning of a joined paragraph as it stands on its first line.
func firstLine(text, joined string) string {
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		for _, lead := range []string{l, strings.TrimSpace(strings.TrimLeft(l, "0123456789."))} {
			if lead != "" && strings.HasPrefix(joined, lead) {
				return lead
			}
		}
	}
	return ""
}
