package request_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/request/worker"
)

// codes is a prover whose every factor answers with the same word.
type codes struct{}

func (codes) Enrol(e request.Enrolling) (request.Enrolment, error) {
	return request.Enrolment{Material: []byte(e.Factor), Offer: request.Offer{Kind: e.Kind, Secret: "shown once"}}, nil
}

func (codes) Ask(request.Asking) (request.Asked, error) {
	return request.Asked{Material: []byte("ask")}, nil
}

func (codes) Answer(c *request.Challenge, factors []*request.Factor, answer []byte, now time.Time) (request.Proof, error) {
	if string(answer) != "the right word" {
		return request.Proof{}, fault.E("codes", fault.Denied, "no", nil)
	}
	if string(c.Material) != "ask" {
		f := &request.Factor{ID: string(c.Material), Actor: c.Actor, Kind: c.Kind, Name: "phone", Material: []byte("m"), CreatedAt: now, ConfirmedAt: now}
		return request.Proof{Factor: f, New: true}, nil
	}
	return request.Proof{Factor: factors[0]}, nil
}

func proving(c *request.Config) { c.Prover = codes{} }

// proves enrols a factor for an actor, and answers a challenge for an artifact.
func (w *world) enrols(actor string) {
	w.Helper()
	e := must(w.IdentityEnroll(w.Context(), as(actor), request.EnrollArgs{Kind: request.TOTP, Name: "phone"}))
	must(w.ChallengeAnswer(w.Context(), as(actor), request.AnswerArgs{ID: e.Challenge.ID, Answer: []byte("the right word")}))
}

func (w *world) proves(actor, id string) string {
	w.Helper()
	c := must(w.ChallengeOpen(w.Context(), as(actor), request.ChallengeArgs{Artifact: id}))
	must(w.ChallengeAnswer(w.Context(), as(actor), request.AnswerArgs{ID: c.ID, Answer: []byte("the right word")}))
	return c.ID
}

func (w *world) consents(actor string, d doc, decision artifact.Decision, challenge string) (*request.ConsentShown, error) {
	return w.ConsentDecide(w.Context(), as(actor), request.ConsentArgs{Artifact: d.ID, SHA256: d.SHA256, Decision: decision, Challenge: challenge})
}

func (w *world) status(id string) artifact.Status {
	w.Helper()
	return must(w.ArtifactGet(w.Context(), as("olha"), id)).Status
}

func TestAConfirmationNamesWhatWasSeenAndIsAPersonsAndAMembers(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		w := newWorldAt(t, at, nil)
		d := of(t, w.answer(decision("Let us decide whether the greenhouse opens on Saturdays.")), "decision_draft")
		confirm := func(by, sum string) error {
			_, err := w.ArtifactConfirm(t.Context(), as(by), request.MoveArgs{ID: d.ID, SHA256: sum})
			return err
		}
		if err := confirm("petro", strings.Repeat("0", 64)); problem.CodeOf(err) != problem.DigestMismatch {
			t.Errorf("another digest: %v", err)
		}
		for _, by := range []string{"lena", "bot", "agent"} {
			if err := confirm(by, d.SHA256); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s is no member: %v", by, err)
			}
		}
		if err := confirm("petro", d.SHA256); err != nil {
			t.Fatal(err)
		}
		if err := confirm("petro", d.SHA256); problem.CodeOf(err) != problem.TransitionForbidden {
			t.Errorf("twice: %v", err)
		}
		if got := w.status(d.ID); got != artifact.Confirmed {
			t.Errorf("status %s", got)
		}
		// The package stays as it was given: never confirmed.
		p := must(w.RequestGet(t.Context(), as("olha"), read(t, mustDoc(w, d.ID)).request()))
		w.sound(p)
		// What was decided can be found.
		found := of(t, w.answer(ask{text: "What did we decide about the greenhouse?", actions: []string{"read", "research"}, outputs: []string{"research_note"}}), "research_note")
		_ = found
		if _, err := w.MemberRemove(t.Context(), as("olha"), "c-forest", "petro"); err != nil {
			t.Fatal(err)
		}
		e := of(t, w.answer(decision("Let us decide whether the pond is cleaned in May.")), "decision_draft")
		if _, err := w.ArtifactConfirm(t.Context(), as("petro"), request.MoveArgs{ID: e.ID, SHA256: e.SHA256}); err == nil {
			t.Error("who left the circle confirmed")
		}
	})
}

func mustDoc(w *world, id string) []byte {
	return must(w.ArtifactGet(w.Context(), as("olha"), id)).Document()
}

func (d doc) request() string { return d.Provenance.Request }

func TestADeclinedArtifactIsADraftThatCanBeAdopted(t *testing.T) {
	w := newWorld(t, nil)
	d := of(t, w.answer(decision("Let us decide whether the greenhouse opens on Saturdays.")), "decision_draft")
	must(w.ArtifactDecline(t.Context(), as("petro"), request.MoveArgs{ID: d.ID}))
	if got := w.status(d.ID); got != artifact.Draft {
		t.Errorf("status %s", got)
	}
	if _, err := w.ArtifactConfirm(t.Context(), as("petro"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}); problem.CodeOf(err) != problem.TransitionForbidden {
		t.Errorf("a draft was confirmed: %v", err)
	}
	must(w.ArtifactAdopt(t.Context(), as("petro"), request.MoveArgs{ID: d.ID}))
	must(w.ArtifactConfirm(t.Context(), as("olha"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
}

func TestAnExportNeedsAConsentWithAProofOfIdentity(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		w := newWorldAt(t, at, proving)
		w.enrols("olha")
		p := w.answer(export("Draft a letter to the town council: we open our garden to everyone on the first of May."))
		of(t, p, "identity_challenge")
		d, asks := of(t, p, "bridge_draft"), of(t, p, "consent_request")
		if _, err := w.consents("olha", d, artifact.Granted, ""); problem.CodeOf(err) != problem.ConsentStepUp {
			t.Errorf("without a proof: %v", err)
		}
		if _, err := w.consents("petro", d, artifact.Granted, ""); problem.CodeOf(err) != problem.ConsentNotOwed {
			t.Errorf("petro is not asked: %v", err)
		}
		// A challenge for one request proves nothing for another, and not for somebody else.
		other := of(t, w.answer(export("Draft a letter to the school: we open our garden to everyone on the first of May.")), "bridge_draft")
		if _, err := w.consents("olha", d, artifact.Granted, w.proves("olha", other.ID)); problem.CodeOf(err) != problem.ConsentStepUp {
			t.Errorf("with the proof for another: %v", err)
		}
		c := must(w.consents("olha", d, artifact.Granted, w.proves("olha", d.ID)))
		if c.Artifact.Status != artifact.NeedsConfirmation || w.status(asks.ID) != artifact.NeedsConfirmation {
			t.Errorf("the draft is %s, the request for consent %s", c.Artifact.Status, w.status(asks.ID))
		}
		// Consent for one digest never serves another.
		if got := w.status(other.ID); got != artifact.WaitingForConsent {
			t.Errorf("the other draft is %s", got)
		}
		must(w.ConsentRevoke(t.Context(), as("olha"), c.ID))
		if _, err := w.ArtifactConfirm(t.Context(), as("olha"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}); problem.CodeOf(err) != problem.ConsentMissing {
			t.Errorf("confirmed after the consent was revoked: %v", err)
		}
		w.later(time.Second)
		must(w.consents("olha", d, artifact.Granted, w.proves("olha", d.ID)))
		must(w.ArtifactConfirm(t.Context(), as("olha"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
		if _, err := w.consents("olha", other, artifact.Refused, ""); err != nil {
			t.Fatal(err)
		}
		if got := w.status(other.ID); got != artifact.Draft {
			t.Errorf("a refused draft is %s", got)
		}
		list, _, err := w.ConsentList(t.Context(), as("petro"), request.ConsentFilter{}, pipeline.Page{})
		if err != nil || len(list) != 3 {
			t.Errorf("%d consents, %v", len(list), err)
		}
	})
}

func TestSilenceIsNoConsent(t *testing.T) {
	w := newWorld(t, nil)
	d := of(t, w.answer(export("Draft a letter to the town council: we open our garden to everyone on the first of May.")), "bridge_draft")
	w.later(7 * 24 * time.Hour)
	w.drain()
	shown := must(w.ArtifactGet(t.Context(), as("olha"), d.ID))
	if shown.Status != artifact.Draft || shown.Reason != artifact.ConsentExpired {
		t.Errorf("%s, %s", shown.Status, shown.Reason)
	}
}

func TestAConsentThatEndsMovesTheDraftBack(t *testing.T) {
	w := newWorld(t, proving)
	must(w.MemberSet(t.Context(), as("olha"), request.MemberArgs{Circle: "c-forest", Actor: "lena", Roles: []circle.Role{circle.Council}}))
	d := of(t, w.answer(coreChange("Change the constitution: a quorum of three quarters from now on.")), "core_change_proposal")
	_, err := w.ConsentDecide(t.Context(), as("olha"), request.ConsentArgs{
		Artifact: d.ID, SHA256: d.SHA256, Decision: artifact.Granted, ExpiresAt: w.clock().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.later(2 * time.Hour)
	w.drain()
	if got := must(w.ArtifactGet(t.Context(), as("olha"), d.ID)); got.Status != artifact.Draft || got.Reason != artifact.ConsentExpired {
		t.Errorf("%s, %s", got.Status, got.Reason)
	}
}

func TestACoreChangeNeedsTheCouncil(t *testing.T) {
	w := newWorld(t, nil)
	d := of(t, w.answer(coreChange("Change the constitution: a quorum of three quarters from now on.")), "core_change_proposal")
	must(w.consents("olha", d, artifact.Granted, ""))
	if got := w.status(d.ID); got != artifact.WaitingForConsent { // two of the council of two
		t.Fatalf("one of the council was enough: %s", got)
	}
	must(w.consents("petro", d, artifact.Granted, ""))
	if got := w.status(d.ID); got != artifact.NeedsConfirmation {
		t.Fatalf("%s", got)
	}
	must(w.ArtifactConfirm(t.Context(), as("petro"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
}

func TestAConfirmedDecisionAboutTheRepositoryBecomesADraftIntent(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		w := newWorldAt(t, at, nil)
		a := decision("Let us decide to add a page about the greenhouse, as the contract says.")
		a.references = []envelope.Reference{{Kind: envelope.RefContract, ID: "git@example.org:app"}}
		d := of(t, w.answer(a), "decision_draft")
		must(w.MemberSet(t.Context(), as("olha"), request.MemberArgs{Circle: "c-forest", Actor: "lena"}))
		if _, err := w.ArtifactConfirm(t.Context(), as("lena"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}); refusal.CodeOf(err) != refusal.RoleNotPermitted {
			t.Errorf("lena has not the role requester: %v", err)
		}
		if got := w.status(d.ID); got != artifact.NeedsConfirmation {
			t.Errorf("a refused confirmation left %s", got)
		}
		shown := must(w.ArtifactConfirm(t.Context(), as("petro"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
		made := must(w.contracts.ContractGet(t.Context(), contract.ID(shown.ContractID), 0))
		intent := made.Document.(*contract.Intent)
		if intent.State != contract.Draft || intent.Creator != "petro" {
			t.Errorf("%+v", intent)
		}
		if got := intent.RequestedCapabilities.List(); len(got) != 2 { // of the gate verdict
			t.Errorf("capabilities %v", got)
		}
		if !slices.Contains(w.audit(), "contract.create") {
			t.Error("the audit log has no contract.create")
		}
	})
}

func TestAConfirmedWebhookLeavesOnce(t *testing.T) {
	var hook string
	w := newWorld(t, func(c *request.Config) {
		c.Prover = codes{}
		c.Engines[constitution.Bridge] = worker.Func(func(t *worker.Task) (worker.Result, error) {
			r, err := fake(t)
			if err != nil {
				return r, err
			}
			v := object{}
			if err := json.Unmarshal(r.Drafts[0].Content, &v); err != nil {
				return r, err
			}
			v["channel"], v["recipients"] = "webhook", []any{object{"kind": "outside", "id": hook}}
			r.Drafts[0].Content, err = json.Marshal(v)
			return r, err
		})
	})
	address := "https://example.org/hook"
	made := must(w.contracts.WebhookCreate(t.Context(), pipeline.Caller{Actor: "olha", Role: contract.Admin}, pipeline.WebhookArgs{URL: &address}))
	hook = made.Of.ID
	w.enrols("olha")
	d := of(t, w.answer(export("Draft a letter to the town council: we open our garden to everyone on the first of May.")), "bridge_draft")
	must(w.consents("olha", d, artifact.Granted, w.proves("olha", d.ID)))
	must(w.ArtifactConfirm(t.Context(), as("olha"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
	if _, err := w.ArtifactConfirm(t.Context(), as("olha"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}); err == nil {
		t.Error("confirmed twice")
	}
	sent := []queued{}
	for _, j := range w.line {
		if j.Kind == request.JobSend {
			sent = append(sent, j)
		}
	}
	if len(sent) != 1 {
		t.Fatalf("%d deliveries", len(sent))
	}
	out := must(w.Outgoing(t.Context(), pipeline.Attempt{Job: sent[0].Job}))
	if out.Webhook != hook || artifact.Digest(out.Document) != d.SHA256 {
		t.Errorf("%+v", out)
	}
}

func TestANoteIsKeptForThoseWhoMaySeeIt(t *testing.T) {
	w := newWorld(t, func(c *request.Config) { c.Engines = worker.Engines() })
	private := remember("Remember that the pump key hangs behind the barn door.")
	private.target = "private"
	w.answer(private)
	w.answer(remember("Remember that the ladder stands behind the shed."))
	search := func(actor string) []string {
		titles := []string{}
		err := w.conf.Store.View(t.Context(), func(r request.Reader) error {
			titles = titles[:0]
			list, err := r.Search(memory.Ask("pump ladder barn shed"), []memory.Kind{memory.Kept}, memory.Viewer{Actor: actor, Circle: "c-forest", Clan: "wood"}, 10)
			for _, n := range list {
				titles = append(titles, n.Text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return titles
	}
	if got := search("olha"); len(got) != 2 {
		t.Errorf("olha finds %v", got)
	}
	if got := search("petro"); len(got) != 1 {
		t.Errorf("petro finds %v", got)
	}
	// Over an external channel a note waits for somebody to confirm it.
	a := remember("Remember that the gate code is on the board in the hall.")
	a.id = "note-from-outside"
	must(w.Ask(t.Context(), as("bot"), a.document()))
	w.drain()
	p := must(w.RequestGet(t.Context(), as("olha"), a.id))
	if d := of(t, p, "memory_note"); d.Status != "needs_confirmation" || d.Provenance.Origin != "external" {
		t.Errorf("%s", show(p))
	}
	if got := search("olha"); len(got) != 2 {
		t.Errorf("a note from outside was kept: %v", got)
	}
}

func TestAWrongAnswerCountsAndFiveCloseTheChallenge(t *testing.T) {
	w := newWorld(t, proving)
	e := must(w.IdentityEnroll(t.Context(), as("olha"), request.EnrollArgs{Kind: request.TOTP, Name: "phone"}))
	answer := func(by, word string) error {
		_, err := w.ChallengeAnswer(t.Context(), as(by), request.AnswerArgs{ID: e.Challenge.ID, Answer: []byte(word)})
		return err
	}
	if err := answer("petro", "the right word"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("somebody else answered: %v", err)
	}
	for range 5 {
		if err := answer("olha", "a wrong word"); problem.CodeOf(err) != problem.ChallengeFailed {
			t.Errorf("%v", err)
		}
	}
	if err := answer("olha", "the right word"); problem.CodeOf(err) != problem.ChallengeClosed {
		t.Errorf("a challenge took a sixth answer: %v", err)
	}
	w.enrols("olha")
	if _, err := w.IdentityEnroll(t.Context(), as("olha"), request.EnrollArgs{Kind: request.TOTP, Name: "another"}); problem.CodeOf(err) != problem.ConsentStepUp {
		t.Errorf("another factor without a proof: %v", err)
	}
}

func TestACircleInAClanIsFoundedByThoseWithAVoiceInIt(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.CircleCreate(t.Context(), as("lena"), request.CircleArgs{ID: "c-moor", Name: "Moor", Clan: "wood"}); problem.CodeOf(err) != problem.RoleRequired {
		t.Errorf("lena joined the clan: %v", err)
	}
	must(w.CircleCreate(t.Context(), as("lena"), request.CircleArgs{ID: "c-moor", Name: "Moor"}))
	if _, err := w.CircleGet(t.Context(), as("petro"), "c-moor"); problem.CodeOf(err) != problem.MemberRequired {
		t.Errorf("petro saw another circle: %v", err)
	}
	if _, err := w.MemberSet(t.Context(), as("olha"), request.MemberArgs{Circle: "c-forest", Actor: "agent"}); problem.CodeOf(err) != problem.HumanRequired {
		t.Errorf("an agent became a member: %v", err)
	}
	if _, err := w.MemberRemove(t.Context(), as("olha"), "c-forest", "olha"); problem.CodeOf(err) != problem.LastSteward {
		t.Errorf("the last steward left: %v", err)
	}
}
