package worker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// What Audit-Log says.
var (
	sayServed = phrase{"Request %s of %s (%s): %d acts, %s.", "Запит %s від %s (%s): дій %d, %s.", "%[2]sの依頼%[1]s（%[3]s）：行い%[4]d件、%[5]s。"}
	sayMade   = phrase{"made %s", "створено %s", "できたもの %s"}
	sayNone   = phrase{"nothing made", "нічого не створено", "できたものはない"}
	sayFailed = phrase{"%d failed", "невдалих: %d", "失敗%d件"}
)

// outcomes is what an act may come to, the worst first.
var outcomes = []string{"stopped", "blocked", "failed", "refused", "done"}

// auditLog puts what happened into words that can be read in ten years, and
// reports a breach (docs/spec/circle.md §1). It names ids and digests; no text of
// a request is ever before it.
func auditLog(t *Task) (Result, error) {
	if b := t.Facts.Breach; b != nil && (t.wants(envelope.BreachReport) || !t.wants(envelope.AuditEntry)) {
		return Result{Drafts: []Draft{t.breach(b)}}, nil
	}
	say := t.tongue()
	outcome, made, failed := "done", []string{}, 0
	for _, d := range t.Facts.Doings {
		if at := slices.Index(outcomes, d.Outcome); at >= 0 && at < slices.Index(outcomes, outcome) {
			outcome = d.Outcome
		}
		failed += one(d.Outcome == "failed")
		if d.Kind == "artifact" && len(made) < 5 {
			made = append(made, clip(fmt.Sprintf("%s %.12s", d.ID, d.SHA256), 120))
		}
	}
	if len(t.Stops) > 0 && outcome != "stopped" {
		outcome = "blocked"
		if t.Stops[0].Stops() {
			outcome = "stopped"
		}
	}
	tail := say.say(sayNone)
	if len(made) > 0 {
		tail = say.say(sayMade, say.list(made))
	}
	if failed > 0 {
		tail += "; " + say.say(sayFailed, failed)
	}
	summary := say.say(sayServed, t.Request.ID, t.Request.Member, t.Request.Intent, len(t.Facts.Doings), tail)
	if t.Request.Origin == envelope.External {
		summary += " provenance=external"
	}
	o := canonical.Object{
		{Key: "action", Value: "request." + string(cmp.Or(t.Request.Intent, constitution.Unclear))},
		{Key: "actor", Value: t.Request.Member},
		{Key: "subject", Value: canonical.Object{{Key: "kind", Value: "request"}, {Key: "id", Value: t.Request.ID}}},
		{Key: "outcome", Value: outcome},
		{Key: "summary", Value: line(summary)},
		{Key: "origin", Value: string(t.Request.Origin)},
	}
	if len(t.Stops) > 0 {
		o = append(o, canonical.Member{Key: "condition", Value: string(t.Stops[0])})
	}
	return Result{Drafts: []Draft{drafted(envelope.AuditEntry, o)}}, nil
}

// disguises is the forms a text may be disguised in, as reports name them.
var disguises = []struct{ form, name string }{
	{"base64", "base64"},
	{"hex", "hex"},
	{"url", "url"},
	{"html", "html"},
	{"rot13", "rot13"},
	{"spaced", "spacing"},
	{"homoglyph", "homoglyph"},
	{"confus", "homoglyph"},
	{"invisible", "invisible"},
	{"reversed", "spacing"},
}

func (t *Task) breach(b *Breach) Draft {
	hits, decoded := []canonical.Object{}, []string{}
	for _, h := range b.Hits[:min(len(b.Hits), 256)] {
		hits = append(hits, canonical.Object{
			{Key: "rule", Value: clip(h.Rule, 128)},
			{Key: "span", Value: canonical.Object{{Key: "start", Value: h.Start}, {Key: "end", Value: h.End}}},
			{Key: "masked", Value: clip(h.Masked, 1000)},
		})
		for _, d := range disguises {
			if strings.Contains(h.Form, d.form) && !slices.Contains(decoded, d.name) {
				decoded = append(decoded, d.name)
			}
		}
	}
	if len(hits) == 0 { // somebody saw a breach and told nobody where
		hits = append(hits, canonical.Object{
			{Key: "rule", Value: string(b.Condition)},
			{Key: "span", Value: canonical.Object{{Key: "start", Value: 0}, {Key: "end", Value: 0}}},
			{Key: "masked", Value: ""},
		})
	}
	slices.Sort(decoded)
	recommend := []string{}
	if b.Condition == envelope.SecretsDetected {
		recommend = append(recommend, "rotate")
	}
	if b.InWindow > 1 || b.Suspended {
		recommend = append(recommend, "review_channel")
	}
	if b.InWindow <= 1 && b.Channel.Kind == envelope.Internal {
		recommend = append(recommend, "talk")
	}
	o := canonical.Object{
		{Key: "condition", Value: string(b.Condition)},
		{Key: "hits", Value: hits},
		{Key: "member_id", Value: t.Request.Member},
		{Key: "channel", Value: canonical.Object{{Key: "kind", Value: string(b.Channel.Kind)}, {Key: "id", Value: b.Channel.ID}}},
		{Key: "breaches_in_window", Value: max(1, b.InWindow)},
		{Key: "suspended", Value: b.Suspended},
		{Key: "recommend", Value: recommend},
	}
	put(&o, "decoded", decoded)
	return drafted(envelope.BreachReport, o)
}
