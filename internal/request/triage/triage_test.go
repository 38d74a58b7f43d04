package triage_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/request/triage"
	"plimsoll.dev/internal/secrets"
)

// vector is a case of testdata/triage.json, as the specification has them.
type vector struct {
	Name     string
	Envelope struct {
		Circle struct {
			CircleID string                    `json:"circle_id"`
			MemberID string                    `json:"member_id"`
			Channel  struct{ Kind, ID string } `json:"channel"`
			Locale   string                    `json:"locale"`
		} `json:"circle_context"`
		Target  envelope.Level         `json:"visibility_level_target"`
		Flags   []envelope.Flag        `json:"sensitivity_flags"`
		Consent envelope.ConsentStatus `json:"consent_status"`
		Actions []envelope.Action      `json:"allowed_actions"`
		Expect  envelope.ArtifactType  `json:"expected_output"`
		Text    string                 `json:"input_text"`
		Parts   []string               `json:"input_text_parts"`
	}
	Expect struct {
		Intent  constitution.Intent
		Chain   *string
		First   constitution.AgentID `json:"first_worker"`
		Workers []constitution.AgentID
		Flags   []envelope.Flag `json:"flags_added"`
		Stop    *envelope.Condition
		Origin  envelope.Origin
	}
}

func (v vector) text() string { return v.Envelope.Text + strings.Join(v.Envelope.Parts, "") }

func (v vector) envelope() *envelope.Envelope {
	e := v.Envelope
	return &envelope.Envelope{
		RequestID: "r-1",
		Circle: envelope.Context{
			CircleID: e.Circle.CircleID, MemberID: e.Circle.MemberID, Locale: e.Circle.Locale,
			Channel: envelope.Channel{Kind: envelope.Origin(e.Circle.Channel.Kind), ID: e.Circle.Channel.ID},
		},
		Target: e.Target, Flags: e.Flags, Consent: e.Consent, AllowedActions: e.Actions,
		ExpectedOutputs: []envelope.ArtifactType{e.Expect}, InputText: v.text(),
	}
}

func vectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/triage.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Cases []vector }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) < 30 {
		t.Fatalf("%d cases", len(doc.Cases))
	}
	return doc.Cases
}

// desk is a triage with the shipped registry and everything before it.
type desk struct {
	registry *constitution.Registry
	screen   *screen.Screen
	triage   *triage.Triage
}

func newDesk(tb testing.TB) *desk {
	tb.Helper()
	files, err := plimsoll.ClanConfig()
	if err != nil {
		tb.Fatal(err)
	}
	set, err := constitution.Load(files)
	if err != nil {
		tb.Fatal(err)
	}
	finder, err := secrets.New()
	if err != nil {
		tb.Fatal(err)
	}
	s, err := screen.New(screen.Config{Secrets: finder})
	if err != nil {
		tb.Fatal(err)
	}
	tr, err := triage.New(set.Registry())
	if err != nil {
		tb.Fatal(err)
	}
	return &desk{set.Registry(), s, tr}
}

func (d *desk) decide(e *envelope.Envelope) triage.Result {
	r := d.screen.Read(e.InputText)
	return d.triage.Decide(triage.Input{Envelope: e, Report: &r})
}

// workers are those the rules of docs/spec/circle.md §6.3 call, in their order.
func (d *desk) workers(e *envelope.Envelope, r triage.Result) []constitution.AgentID {
	if c := r.First(); c.Stops() {
		return []constitution.AgentID{}
	}
	entry, _ := d.registry.Intent(r.Intent)
	list := slices.Clone(entry.Workers)
	if chain, ok := d.registry.Chain(entry.Chain); ok {
		for _, s := range chain.Steps {
			list = append(list, s.Worker)
		}
	}
	if r.Guarded && len(list) > 0 && list[0] != constitution.PrivacySentinel {
		list = slices.Insert(list, 0, constitution.PrivacySentinel)
	}
	return list
}

func (d *desk) check(t *testing.T, v vector, e *envelope.Envelope) {
	t.Helper()
	r := d.decide(e)
	say := func(format string, args ...any) {
		t.Helper()
		t.Errorf(format, args...)
		t.Logf("%q\n%+v", e.InputText, r)
	}
	var stop envelope.Condition
	if v.Expect.Stop != nil {
		stop = *v.Expect.Stop
	}
	if r.First() != stop {
		say("stop is %q, %q is expected", r.First(), stop)
	}
	if v.Expect.Intent != "" && r.Intent != v.Expect.Intent {
		say("intent is %q, %q is expected", r.Intent, v.Expect.Intent)
	}
	if v.Expect.Chain != nil && r.Chain != *v.Expect.Chain {
		say("chain is %q, %q is expected", r.Chain, *v.Expect.Chain)
	}
	if v.Expect.Origin != "" && r.Origin != v.Expect.Origin {
		say("origin is %q", r.Origin)
	}
	for _, f := range v.Expect.Flags {
		if !slices.Contains(r.Flags, f) || e.Has(f) {
			say("the flag %s is not added", f)
		}
	}
	for _, f := range e.Flags {
		if !slices.Contains(r.Flags, f) {
			say("the flag %s is removed", f)
		}
	}
	workers := d.workers(e, r)
	if v.Expect.First != "" && (len(workers) == 0 || workers[0] != v.Expect.First) {
		say("workers are %q, the first should be %s", workers, v.Expect.First)
	}
	if v.Expect.Workers != nil && !slices.Equal(workers, v.Expect.Workers) {
		say("workers are %q, %q are expected", workers, v.Expect.Workers)
	}
	for _, ev := range r.Evidence {
		if ev.Rule == "" || ev.Span.Start < 0 || ev.Span.End < ev.Span.Start || ev.Span.End > len(e.InputText) {
			say("evidence without a rule or a place: %+v", ev)
		}
	}
}

func TestVectors(t *testing.T) {
	d := newDesk(t)
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) { d.check(t, v, v.envelope()) })
	}
}
