package triage

import (
	"slices"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
)

// intent decides among the intents that could end in what the request expects,
// with the actions it allows: another one could only fail. Among several, the
// triggers in the text decide; when they are silent, what a model thinks; and when
// that is silent too, nothing does, and the answer is a question.
func (d *decision) intent() {
	e := d.in.Envelope
	d.spots = map[constitution.Intent][]screen.Spot{}
	for _, s := range d.book.Find(d.in.Report.Text) {
		id := d.triggers[s.Phrase].intent
		d.spots[id] = append(d.spots[id], s)
	}
	var able []constitution.IntentEntry
	for _, entry := range d.registry.Intents {
		if entry.ID == constitution.Unclear {
			continue
		}
		if slices.ContainsFunc(entry.Outputs, e.Expects) && slices.ContainsFunc(entry.Actions, e.Allows) {
			able = append(able, entry)
		}
	}
	chosen, rule := d.choose(able)
	d.out.Intent = constitution.Unclear
	if chosen >= 0 {
		d.out.Intent, d.out.Chain = able[chosen].ID, able[chosen].Chain
	}
	d.say(OfIntent, string(d.out.Intent), rule, screen.Span{})
	for _, entry := range d.registry.Intents {
		for _, s := range d.spots[entry.ID] {
			d.say(OfIntent, string(entry.ID), d.rule(s.Phrase), s.Span)
		}
		if entry.ID != d.out.Intent && len(d.spots[entry.ID]) > 0 {
			d.out.Also = append(d.out.Also, entry.ID)
		}
	}
}

// choose is the intent with the most different triggers, -1 when nothing decides.
func (d *decision) choose(able []constitution.IntentEntry) (int, string) {
	if len(able) == 0 {
		return -1, "envelope.expected_output"
	}
	if len(able) == 1 {
		return 0, "envelope.expected_output"
	}
	best, most, tie := -1, 0, false
	for i, entry := range able {
		different := map[int]bool{}
		for _, s := range d.spots[entry.ID] {
			different[s.Phrase] = true
		}
		switch n := len(different); {
		case n > most:
			best, most, tie = i, n, false
		case n == most && n > 0:
			tie = true
		}
	}
	if d.in.Model != nil && (best < 0 || tie) {
		for i, entry := range able {
			if slices.Contains(d.in.Model.Intents, entry.ID) && (best < 0 || len(d.spots[entry.ID]) > 0) {
				return i, "model"
			}
		}
	}
	if best < 0 {
		return -1, "registry.triggers"
	}
	return best, "registry.triggers" // of several, the first in the registry
}

// speaksOf says whether the text speaks of an intent that the request would allow,
// whatever else it is about.
func (d *decision) speaksOf(id constitution.Intent, a envelope.Action) bool {
	return d.out.Intent == id || len(d.spots[id]) > 0 && d.in.Envelope.Allows(a)
}
