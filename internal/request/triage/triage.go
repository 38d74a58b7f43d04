// Package triage decides what a request to the circle is about and what stops it:
// intent, sensitivity, visibility and consent, each with its evidence
// (docs/spec/circle.md §6.2, §7, §8).
//
// It is deterministic: the same request, report and facts always have the same
// answer. A model may add to what triage finds and can take nothing away.
package triage

import (
	"fmt"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
)

// Triage decides by one registry. Any number of requests may be decided at once.
type Triage struct {
	registry *constitution.Registry
	book     *screen.Phrasebook
	triggers []trigger // as long as the book
}

// trigger is what a phrase of the book points at.
type trigger struct {
	intent constitution.Intent
	locale constitution.Locale
	line   int // of the registry
}

// New makes a Triage. The error is of kind Invalid: a trigger of the registry
// cannot be looked for.
func New(r *constitution.Registry) (*Triage, error) {
	const op = "triage.New"
	t := &Triage{registry: r}
	var phrases []screen.Phrase
	for _, entry := range r.Intents {
		for _, l := range r.Locales {
			for _, trig := range entry.Triggers[l] {
				p := screen.Phrase{}
				for _, term := range trig.Terms {
					text := term.Text
					if term.Stem {
						text += "*"
					}
					p = append(p, text)
				}
				phrases = append(phrases, p)
				t.triggers = append(t.triggers, trigger{entry.ID, l, trig.Line})
			}
		}
	}
	book, err := screen.NewPhrasebook(phrases)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "the triggers of the registry cannot be used", err)
	}
	t.book = book
	return t, nil
}

// Input is what triage looks at. Only the registry, the envelope and the report
// are always there; the rest is what the circle knows besides.
type Input struct {
	Envelope *envelope.Envelope
	Report   *screen.Report // of the input text
	Sources  []Source
	Consent  Consent
	Model    *Opinion // nil: no model was asked
}

// Source is something the request refers to.
type Source struct {
	Level    envelope.Level  // who may see it
	External bool            // it came from outside
	Report   *screen.Report  // of its text; nil when it has none
	Flags    []envelope.Flag // what it is known to be
}

// Consent is what the ledger says (docs/spec/circle.md §7). The zero value is an
// empty ledger and a request that concerns others.
type Consent struct {
	Own     bool           // nobody but the member is concerned
	Granted bool           // a record matches the request
	Lifted  envelope.Level // the level all records on it name; "" when there are none
}

// Opinion is what a model adds.
type Opinion struct {
	Flags   []envelope.Flag
	Intents []constitution.Intent
}

// Subject is what a piece of evidence is for.
type Subject string

// The subjects.
const (
	OfOrigin      Subject = "origin"
	OfIntent      Subject = "intent"
	OfSensitivity Subject = "sensitivity"
	OfVisibility  Subject = "visibility"
	OfConsent     Subject = "consent"
	OfStop        Subject = "stop"
)

// Evidence is why something was decided. It names a rule and a place, and quotes
// nothing.
type Evidence struct {
	Of    Subject
	Value string      // what was decided
	Rule  string      // "registry:312", "envelope.flags", "personal.email", "breach.execute"
	Span  screen.Span // of the input text; empty when the rule is about no place in it
}

// Result is what triage decided.
type Result struct {
	Origin   envelope.Origin
	Intent   constitution.Intent
	Also     []constitution.Intent // other intents the text speaks of, in the order of the registry
	Chain    string                // "" when the intent has none
	Locale   constitution.Locale   // of the answer
	Flags    []envelope.Flag       // the envelope's and those that were added, in the order of §4
	Ceiling  envelope.Level        // the widest target allowed; "" is none at all
	Consent  envelope.ConsentStatus
	Critical bool
	Guarded  bool                 // the Privacy-Sentinel has to come first (docs/spec/circle.md §6.3)
	Stops    []envelope.Condition // in the order in which they act
	Evidence []Evidence           // in the order of the subjects
}

// Stopped says whether a condition stops or blocks the request.
func (r *Result) Stopped(c envelope.Condition) bool { return slices.Contains(r.Stops, c) }

// First is the condition that acts, "" when none does.
func (r *Result) First() envelope.Condition {
	if len(r.Stops) == 0 {
		return ""
	}
	return r.Stops[0]
}

// Decide decides one request.
func (t *Triage) Decide(in Input) Result {
	d := decision{Triage: t, in: in, flags: map[envelope.Flag]bool{}}
	d.origin()
	d.intent()
	d.sensitivity()
	d.visibility()
	d.consent()
	d.stops()
	return d.out
}

// decision is one request being decided.
type decision struct {
	*Triage
	in    Input
	out   Result
	flags map[envelope.Flag]bool
	spots map[constitution.Intent][]screen.Spot
}

func (d *decision) say(of Subject, value, rule string, span screen.Span) {
	d.out.Evidence = append(d.out.Evidence, Evidence{of, value, rule, span})
}

func (d *decision) origin() {
	d.out.Origin = envelope.Internal
	if d.in.Envelope.External() {
		d.out.Origin = envelope.External
		d.say(OfOrigin, string(envelope.External), "envelope.channel", screen.Span{})
	}
	d.out.Locale = d.locale()
}

// locale is the language to answer in: what the request asks for, else that of
// its letters.
func (d *decision) locale() constitution.Locale {
	known := d.registry.Locales
	tag := d.in.Envelope.Circle.Locale
	for i, c := range tag {
		if c == '-' {
			tag = tag[:i]
			break
		}
	}
	if slices.Contains(known, constitution.Locale(tag)) {
		return constitution.Locale(tag)
	}
	guess := constitution.Locale("en")
	switch latin, slavic, japanese := screen.Letters(d.in.Report.Text.String()); {
	case japanese > 0 && 3*japanese >= latin+slavic:
		guess = "ja"
	case slavic > latin:
		guess = "uk"
	}
	if slices.Contains(known, guess) || len(known) == 0 {
		return guess
	}
	return known[0]
}

// rule names the line of the registry that a trigger stands on.
func (t *Triage) rule(phrase int) string { return fmt.Sprintf("registry:%d", t.triggers[phrase].line) }
