// Package screen reads a text before anybody acts on it: it finds secrets,
// personal data and attempts to breach the constitution, also where they are
// encoded or disguised, and says where they stand in the text as it was received
// (docs/spec/circle.md §6.2, §8).
//
// What it finds is evidence: a rule and a span. No secret is ever part of it.
package screen

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/fault"
)

// Sort is the sort of a finding.
type Sort string

// The sorts.
const (
	SortSecret   Sort = "secret"
	SortPersonal Sort = "personal"
	SortBreach   Sort = "breach"
)

// Finding is one thing that was found, with its evidence.
type Finding struct {
	Sort   Sort
	Kind   Kind   // what it is about; for a secret KindSecret
	Rule   string // the id of the rule that found it
	Locale string // of the words that were found; "" where language does not matter
	Span   Span   // of the text as it was received
	Form   string // how the text had to be read: "plain", "base64", "url>rot13"
	Data   bool   // a breach that is quoted or reported in order to be discussed: no breach
}

// KindSecret is the kind of every secret.
const KindSecret Kind = "secret"

// Report is what a text holds.
type Report struct {
	Findings []Finding // by place, then by rule; none is there twice
	Redacted string    // the text, every secret replaced; the only form that may be kept or shown
	Text     Text      // normalised for looking up phrases, with secrets starred out
}

// Secrets says whether there is a secret in the text.
func (r *Report) Secrets() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Sort == SortSecret })
}

// Breach says whether the text asks for a breach. Talking about one is none.
func (r *Report) Breach() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Sort == SortBreach && !f.Data })
}

// Screen reads texts. It holds no state: the same text always has the same
// report. It may be used by many at once if its Secrets may.
type Screen struct {
	secrets Secrets
	match   matcher
	listen  listener
}

// Config is what a Screen is made of.
type Config struct {
	Secrets  Secrets   // required: without it no secret of a service would be found
	Lexicons []Lexicon // languages besides those that are shipped
}

// New makes a Screen. The error is of kind Invalid.
func New(c Config) (*Screen, error) {
	const op = "screen.New"
	if c.Secrets == nil {
		return nil, fault.E(op, fault.Invalid, "the screen has nothing to find secrets with", nil)
	}
	words, err := compile(append(Lexicons(), c.Lexicons...))
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "the words of a language cannot be used", err)
	}
	return &Screen{secrets: c.Secrets, match: matcher{words: words, rules: rules()}, listen: newListener()}, nil
}

// Read screens a text. It takes any bytes; those that are no UTF-8 read as blanks.
// Its time grows with the length of the text and nothing else.
func (s *Screen) Read(text string) Report {
	c := collector{text: text}
	ways := forms(text)

	c.secrets("plain", received(text), s.secrets.Find(text))
	for _, f := range ways {
		if f.text.form != text {
			c.secrets(f.name, f.text, s.secrets.Find(f.text.form))
		}
		lower := lowered(f.text.form)
		words := s.listen.listen(lower)
		c.secrets(f.name, f.text, spoken(f.text.form, lower, words))
		if !strings.HasSuffix(f.name, "spaced") {
			c.personal(f.name, f.text, personal(f.text.form, lower, words))
		}
	}
	spans := merged(c.spans)

	var deepest form
	var words *reading
	for _, f := range ways {
		r := read(f.folded, f.text.form)
		c.breaches(f.name, s.match.find(r), f.folded)
		if !strings.HasSuffix(f.name, "spaced") && f.name != "invisible" {
			deepest, words = f, r
		}
	}
	for _, t := range turnings {
		if !s.match.words.promising(words, t.word) {
			continue
		}
		text := t.text(deepest.folded)
		c.breaches(strings.TrimPrefix(deepest.name+">"+t.name, "plain>"), s.match.find(read(text, "")), text)
	}

	return Report{Findings: c.sorted(), Redacted: redact(text, spans), Text: masked(ways[0].folded, spans)}
}

// collector keeps the first finding of each rule at each place.
type collector struct {
	text     string
	findings []Finding
	spans    []Span // of secrets
}

func (c *collector) secrets(form string, t Text, found []Match) {
	for _, f := range found {
		span := c.whole(t.Origin(f.Start, f.End))
		if span.Len() == 0 {
			continue
		}
		c.spans = append(c.spans, span)
		c.add(Finding{Sort: SortSecret, Kind: KindSecret, Rule: f.Rule, Span: span, Form: form})
	}
}

func (c *collector) personal(form string, t Text, found []datum) {
	for _, f := range found {
		c.add(Finding{Sort: SortPersonal, Kind: f.kind, Rule: f.rule, Span: c.whole(t.Origin(f.start, f.end)), Form: form})
	}
}

func (c *collector) breaches(form string, found []breach, t Text) {
	for _, f := range found {
		c.add(Finding{
			Sort: SortBreach, Kind: f.rule.Kind, Rule: f.rule.ID, Locale: f.locale, Span: c.whole(t.Origin(f.start, f.end)), Form: form, Data: f.data,
		})
	}
}

// whole widens a span to whole characters, which it only is not where the text is
// no UTF-8.
func (c *collector) whole(s Span) Span {
	for s.Start > 0 && s.Start < len(c.text) && !utf8.RuneStart(c.text[s.Start]) {
		s.Start--
	}
	for s.End < len(c.text) && !utf8.RuneStart(c.text[s.End]) {
		s.End++
	}
	return s
}

func (c *collector) add(f Finding) {
	for _, o := range c.findings {
		if o.Rule == f.Rule && o.Data == f.Data && o.Span.Start <= f.Span.Start && f.Span.End <= o.Span.End {
			return
		}
	}
	c.findings = append(c.findings, f)
}

func (c *collector) sorted() []Finding {
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		if a.Span.Start != b.Span.Start {
			return a.Span.Start - b.Span.Start
		}
		if a.Span.End != b.Span.End {
			return a.Span.End - b.Span.End
		}
		return strings.Compare(a.Rule, b.Rule)
	})
	if c.findings == nil {
		return []Finding{}
	}
	return c.findings
}

// String is the evidence of a finding for people and logs: it names a rule and a
// place, and quotes nothing.
func (f Finding) String() string {
	return fmt.Sprintf("%s at %d-%d (%s)", f.Rule, f.Span.Start, f.Span.End, f.Form)
}
