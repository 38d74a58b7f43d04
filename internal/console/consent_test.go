package console_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// waitingFor is the artifacts of a request that wait for a consent of their own.
func waitingFor(t *testing.T, w *consoletest.World, of string) []*request.ArtifactShown {
	t.Helper()
	list, _, err := w.Circle.ArtifactList(t.Context(), w.As("ada", ""), request.ArtifactFilter{
		Requests: []string{of}, Statuses: []artifact.Status{artifact.WaitingForConsent},
	}, pipeline.Page{})
	out := []*request.ArtifactShown{}
	for _, a := range consoletest.Must(w, list, err) {
		if a.WaitsFor == "" {
			out = append(out, a)
		}
	}
	return out
}

func core(t *testing.T, w *consoletest.World) *request.ArtifactShown {
	t.Helper()
	p := w.Ask("Change the constitution: a quorum of three quarters from now on.", "core_change_proposal", "core_change_draft", "propose_decision", "request_consent")
	list := waitingFor(t, w, p.RequestID)
	if len(list) == 0 {
		t.Fatal("nothing waits for a consent")
	}
	return list[0]
}

func TestAConsentIsGivenTakenBackOrRefused(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	first, second := core(t, w), core(t, w)
	page := "/decisions/consents/" + first.ID
	lea := w.Visit("lea")
	says(t, lea.Get("/inbox"), 200, "Do you consent to this: Change of the registry: a quorum of three quarters from now on?", page)
	a := lea.Get(page)
	says(t, a, 200, "Do you consent to this change of the core: Change of the registry: a quorum of three quarters from now on?", "proposal to change the core ·", "If you consent", "three quarters", `value="`+first.ContentSHA256+`"`, "until")
	lea.Lang = "uk"
	says(t, lea.Get(page), 200, "Чи згодні ви на цю зміну основ", "Я згоден")
	lea.Lang = ""
	says(t, lea.Submit(page, page, form{"do": {"grant"}}), 422, "Tick what you decide on")
	says(t, lea.Submit(page, page, form{"do": {"grant"}, "digest": {strings.Repeat("0", 64)}}), 409, "What you ticked is not what is there now")
	if a := lea.Submit(page, page, form{"do": {"grant"}, "digest": {first.ContentSHA256}}); a.Status != http.StatusSeeOther || a.Header.Get("Location") != page {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	given := lea.Get(page)
	says(t, given, 200, "You consented", "Take the consent back", "Consents so far")
	lacks(t, given, `value="grant"`)
	lacks(t, lea.Get("/inbox"), page)
	if a := lea.Submit(page, page, form{"do": {"revoke"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	says(t, lea.Get(page), 200, "You took your consent back", "taken back")

	page = "/decisions/consents/" + second.ID
	if a := lea.Submit(page, page, form{"do": {"refuse"}, "digest": {second.ContentSHA256}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	says(t, lea.Get(page), 200, "You refused", "refused")
	// Who is not of the circle sees nothing of it.
	says(t, w.Visit("rex").Get(page), 404)
	says(t, lea.Get("/decisions/consents/art-nothing"), 404)
}

func TestADecisionTakesEffectWhenItsMemberConfirmsIt(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	w.Ask("Decide that the shop opens at nine.", "decision_draft", "propose_decision", "request_consent")
	list, _, err := w.Circle.ArtifactList(t.Context(), w.As("ada", ""), request.ArtifactFilter{Types: []envelope.ArtifactType{envelope.DecisionDraft}}, pipeline.Page{})
	d := consoletest.Must(w, list, err)[0]
	page := "/decisions/consents/" + d.ID
	ada := w.Visit("ada")
	says(t, ada.Get("/inbox"), 200, "Shall this take effect: ", "shop opens at nine?", page)
	says(t, ada.Get(page), 200, "Shall this take effect: ", "draft of a decision ·", "It stands as decided", "the shop opens at nine", "internal")
	says(t, ada.Submit(page, page, form{"do": {"confirm"}}), 422, "Tick what you decide on")
	if a := ada.Submit(page, page, form{"do": {"confirm"}, "digest": {d.ContentSHA256}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	done := ada.Get(page)
	says(t, done, 200, "ada confirmed it")
	lacks(t, done, `value="confirm"`)
	lacks(t, ada.Get("/inbox"), page)
	// Whoever is second is told how it stands.
	says(t, ada.Post(page, fields(t, ada.Get("/signin").Body, "/signin", form{"do": {"decline"}, "key": {"page-1"}})), 409, "no longer where this can be done", "ada confirmed it")
}

// letter is a request of ada's that would leave the circle.
func letter(t *testing.T, w *consoletest.World) *request.ArtifactShown {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"request_id": "letter-1",
		"circle_context": map[string]any{
			"circle_id": "garden", "member_id": "ada", "channel": map[string]any{"kind": "internal", "id": "cli"}, "participants": []any{}, "references": []any{},
		},
		"visibility_level_target": "public", "sensitivity_flags": []any{}, "consent_status": "not_required",
		"allowed_actions": []string{"read", "draft", "export_draft", "request_consent", "step_up"}, "expected_output": []string{"bridge_draft"},
		"input_text": "Draft a letter to the town council: we open our garden to everyone on the first of May.",
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Circle.Ask(t.Context(), w.As("ada", ""), text)
	consoletest.Must(w, p, err)
	w.Until("the letter is drafted", func() bool {
		p, err := w.Circle.RequestGet(t.Context(), w.As("ada", ""), "letter-1")
		return err == nil && p.State == request.Ended
	})
	for _, a := range waitingFor(t, w, "letter-1") {
		if a.Type == envelope.BridgeDraft {
			return a
		}
	}
	t.Fatal("no letter waits for a consent")
	return nil
}

var challengeField = regexp.MustCompile(`name="challenge" value="([^"]+)"`)

func TestWhatLeavesTheCircleAsksWhoSomebodyIsAnew(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	d := letter(t, w)
	page := "/decisions/consents/" + d.ID
	ada := w.Visit("ada")
	says(t, ada.Get(page), 200, "Do you consent that this leaves the circle: message to the outside?")
	grant := form{"do": {"grant"}, "digest": {d.ContentSHA256}}
	says(t, ada.Submit(page, page, grant), 422, "This needs a second proof of who you are, and you have none")

	now := time.Now()
	offered, err := w.Circle.IdentityEnroll(t.Context(), w.As("ada", ""), request.EnrollArgs{Kind: request.TOTP, Name: "phone"})
	secret := consoletest.Must(w, offered, err).Offer.Secret
	answered, err := w.Circle.ChallengeAnswer(t.Context(), w.As("ada", ""), request.AnswerArgs{ID: offered.Challenge.ID, Answer: []byte(totp(secret, now.Add(-30*time.Second)))})
	consoletest.Must(w, answered, err)

	asked := ada.Submit(page, page, grant)
	says(t, asked, 200, "Code of your authenticator", `id="code"`)
	challenge := challengeField.FindStringSubmatch(asked.Body)
	if challenge == nil {
		t.Fatalf("there is no challenge\n%s", main(asked.Body))
	}
	with := func(code string) consoletest.Answer {
		return ada.Post(page, fields(t, ada.Get(page+"?challenge="+challenge[1]).Body, page, form{"do": {"grant"}, "digest": {d.ContentSHA256}, "code": {code}}))
	}
	says(t, with(""), 422, "Write the code of your authenticator")
	wrong := "000000"
	if right := totp(secret, now); right == wrong {
		wrong = "111111"
	}
	says(t, with(wrong), 403, "The code is not right", challenge[1])
	if a := with(totp(secret, now)); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	says(t, ada.Get(page), 200, "You consented", "totp")
	if strings.Contains(w.Log(), secret) {
		t.Error("the log holds the secret of a factor")
	}
}
