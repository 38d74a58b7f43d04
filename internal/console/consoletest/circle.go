package consoletest

import (
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/circle"
)

type object = map[string]any

// Garden founds the circle of every story: ada asks, lea is of its council, sam is
// a member.
func (w *World) Garden() {
	w.Helper()
	made, err := w.Circle.CircleCreate(w.Context(), w.As("ada", ""), request.CircleArgs{ID: "garden", Name: "The garden"})
	Must(w, made, err)
	for who, roles := range map[string][]circle.Role{"lea": {circle.Council}, "sam": {}} {
		made, err := w.Circle.MemberSet(w.Context(), w.As("ada", ""), request.MemberArgs{Circle: "garden", Actor: who, Roles: roles})
		Must(w, made, err)
	}
}

// Ask is the package of a request of ada's in the garden, once it has ended.
// expect is the kind of artifact that is asked for, actions what is allowed beside
// reading and drafting.
func (w *World) Ask(text, expect string, actions ...string) *request.Package {
	w.Helper()
	return w.AskAs("ada", text, expect, actions...)
}

// AskAs is Ask of another member.
func (w *World) AskAs(who, text, expect string, actions ...string) *request.Package {
	w.Helper()
	p := w.asks(who, text, expect, actions)
	w.Until(p.RequestID+" has its answer", func() bool {
		next, err := w.Circle.RequestGet(w.Context(), w.As(who, ""), p.RequestID)
		if err == nil {
			p = next
		}
		return err == nil && p.State == request.Ended
	})
	return p
}

// Asked is a request of ada's for a decision that nobody has waited for.
func (w *World) Asked(text string) *request.Package {
	w.Helper()
	return w.asks("ada", text, "decision_draft", []string{"propose_decision", "request_consent"})
}

func (w *World) asks(who, text, expect string, actions []string) *request.Package {
	w.Helper()
	envelope := object{
		"request_id": w.next("r"),
		"circle_context": object{
			"circle_id": "garden", "member_id": who, "channel": object{"kind": "internal", "id": "cli"}, "participants": []any{}, "references": []any{},
		},
		"visibility_level_target": "circle", "sensitivity_flags": []any{}, "consent_status": "not_required",
		"allowed_actions": append([]string{"read", "draft"}, actions...), "expected_output": []string{expect}, "input_text": text,
	}
	p, err := w.Circle.Ask(w.Context(), w.As(who, ""), w.text(envelope))
	return Must(w, p, err)
}

// Consented is a change of the core that ada asked for and somebody has consented
// to, with the id of the consent.
func (w *World) Consented(who string) (p *request.Package, consent string) {
	w.Helper()
	p = w.Ask("Change the constitution: a quorum of three quarters from now on.", "core_change_proposal", "core_change_draft", "propose_decision", "request_consent")
	return p, w.Consents(p, who)
}

// Consents has somebody consent to what waits for them in a request, and answers
// the id of the consent.
func (w *World) Consents(p *request.Package, who string) string {
	w.Helper()
	list, _, err := w.Circle.ArtifactList(w.Context(), w.As(who, ""), request.ArtifactFilter{Requests: []string{p.RequestID}}, pipeline.Page{})
	for _, a := range Must(w, list, err) {
		if a.WaitsFor != "" || a.Status != "waiting_for_consent" {
			continue
		}
		given, err := w.Circle.ConsentDecide(w.Context(), w.As(who, ""), request.ConsentArgs{Artifact: a.ID, SHA256: a.ContentSHA256, Decision: "granted"})
		return Must(w, given, err).ID
	}
	w.Fatalf("nothing of %s waits for a consent", p.RequestID)
	return ""
}
