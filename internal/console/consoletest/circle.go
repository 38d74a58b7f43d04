package consoletest

import (
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
	allowed := append([]string{"read", "draft"}, actions...)
	id := w.next("r")
	envelope := object{
		"request_id": id,
		"circle_context": object{
			"circle_id": "garden", "member_id": "ada", "channel": object{"kind": "internal", "id": "cli"}, "participants": []any{}, "references": []any{},
		},
		"visibility_level_target": "circle", "sensitivity_flags": []any{}, "consent_status": "not_required",
		"allowed_actions": allowed, "expected_output": []string{expect}, "input_text": text,
	}
	p, err := w.Circle.Ask(w.Context(), w.As("ada", ""), w.text(envelope))
	Must(w, p, err)
	w.Until(id+" has its answer", func() bool {
		p, err = w.Circle.RequestGet(w.Context(), w.As("ada", ""), id)
		return err == nil && string(p.State) == "ended"
	})
	return p
}
