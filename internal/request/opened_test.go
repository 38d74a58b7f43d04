package request_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
)

func TestWhoOpensARequestReadsWhatWasWrittenAndHowItStandsNow(t *testing.T) {
	w := newWorld(t, nil)
	a := decision("Вирішимо разом: теплиця відкривається о дев'ятій.")
	a.id, a.locale = "req-open", "uk"
	d := of(t, w.answer(a), "decision_draft")
	must(w.ArtifactConfirm(t.Context(), as("olha"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
	o := must(w.RequestOpen(t.Context(), as("petro"), "req-open"))
	if !o.Written.Readable || o.Written.Envelope.InputText != a.text || o.Written.Locale != "uk" || len(o.Written.Redactions) != 0 {
		t.Errorf("petro reads %+v", o.Written)
	}
	if o.Status != artifact.NeedsConfirmation || len(o.Artifacts) == 0 || o.Artifacts[0].Status != artifact.Confirmed {
		t.Errorf("the package was %s, and is %+v now", o.Status, o.Artifacts)
	}
	spoken := false
	for _, e := range o.Written.Evidence {
		spoken = spoken || e.Of == "intent" && e.Start < e.End && strings.HasPrefix(a.text[e.Start:], "Вирішимо")
	}
	if !spoken {
		t.Errorf("the evidence points elsewhere: %+v", o.Written.Evidence)
	}
	if len(o.Events) < 3 || o.Events[0].What != "accepted" {
		t.Errorf("%+v", o.Events)
	}
	if _, err := w.RequestOpen(t.Context(), as("lena"), "req-open"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("lena, who is in no circle: %v", err)
	}
	list, _, err := w.RequestPage(t.Context(), as("petro"), request.Filter{Made: []artifact.Status{artifact.Confirmed}}, pipeline.Page{Limit: 5})
	if err != nil || len(list) != 1 || list[0].Written.Envelope.InputText != a.text {
		t.Errorf("%+v, %v", list, err)
	}
	if list := must2(w.RequestPage(t.Context(), as("lena"), request.Filter{}, pipeline.Page{})); len(list) != 0 {
		t.Errorf("lena lists %d", len(list))
	}
}

func must2[T any](v T, _ pipeline.Mark, err error) T { return must(v, err) }

func TestEvidenceIsFoundAgainBehindASecretThatWasTakenOut(t *testing.T) {
	w := newWorld(t, nil)
	secret := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	a := decision("The key is " + secret + " and [redacted] is a word. Write to ivan.petrenko@sadok.ua about it.")
	a.id = "req-secret"
	w.answer(a)
	o := must(w.RequestOpen(t.Context(), as("olha"), "req-secret"))
	text := o.Written.Envelope.InputText
	if strings.Contains(text, secret) || len(o.Written.Redactions) != 1 {
		t.Fatalf("%q, %v", text, o.Written.Redactions)
	}
	if at := o.Written.Redactions[0]; at.Rule != "github-pat" || at.Start != len("The key is ") || text[at.Start:at.End] != screen.Redaction {
		t.Errorf("the secret was at %v of %q", at, text)
	}
	found := false
	for _, e := range o.Written.Evidence {
		if e.Value == string(envelope.Secrets) && e.Start != e.End {
			t.Errorf("a place within a secret is shown: %+v", e)
		}
		if e.Value == string(envelope.PersonalData) && e.Start < e.End {
			found = true
			if got := text[e.Start:e.End]; got != "ivan.petrenko@sadok.ua" {
				t.Errorf("the address is at %q", got)
			}
		}
	}
	if !found {
		t.Errorf("%+v", o.Written.Evidence)
	}
	// What is for nobody is not for the circle either.
	if p := must(w.RequestOpen(t.Context(), as("petro"), "req-secret")); p.Written.Readable || p.Written.Envelope.InputText != "" {
		t.Errorf("petro reads %q", p.Written.Envelope.InputText)
	}
}

func TestTheCircleDoesNotReadWhatAFlagKeepsPrivate(t *testing.T) {
	w := newWorld(t, nil)
	a := decision("Let us decide who helps Ira, who has been diagnosed with diabetes.")
	a.id, a.flags = "req-health", []string{"health"}
	w.answer(a)
	if o := must(w.RequestOpen(t.Context(), as("olha"), "req-health")); o.Written.Envelope.InputText != a.text {
		t.Errorf("olha, who asked, reads %q", o.Written.Envelope.InputText)
	}
	o := must(w.RequestOpen(t.Context(), as("petro"), "req-health"))
	if o.Written.Readable || o.Written.Envelope.InputText != "" {
		t.Errorf("petro reads %q", o.Written.Envelope.InputText)
	}
	for _, e := range o.Written.Evidence {
		if e.Start != e.End {
			t.Errorf("a place of a text nobody shows: %+v", e)
		}
	}
}
