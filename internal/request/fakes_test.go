package request_test

import (
	"encoding/json"
	"time"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/worker"
)

// fakes are engines that answer the least their types admit: what is tested with
// them is the orchestrator.
func fakes() map[constitution.AgentID]worker.Engine {
	all := map[constitution.AgentID]worker.Engine{}
	for _, id := range constitution.Workers() {
		all[id] = worker.Func(fake)
	}
	return all
}

type object = map[string]any

func fake(t *worker.Task) (worker.Result, error) {
	r := worker.Result{}
	for _, kind := range t.Outputs {
		if kind == envelope.ConsentRequest && subject(t, &r) == nil || kind == envelope.IdentityAssertion && len(r.Drafts) > 0 {
			continue
		}
		if kind == envelope.ConsentRequest && len(t.Outputs) > 1 && t.Request.Intent != constitution.CoreChange {
			continue
		}
		if kind == envelope.IdentityChallenge && t.Facts.Identity.Prepared == nil {
			continue
		}
		text, err := json.Marshal(content(t, kind, &r))
		if err != nil {
			return r, err
		}
		d := worker.Draft{Type: kind, Content: text}
		if of := subject(t, &r); of != nil && kind == envelope.DecisionDraft {
			d.WaitsFor = of["artifact_id"].(string)
		}
		r.Drafts = append(r.Drafts, d)
	}
	return r, nil
}

// subject is what a consent is asked for.
func subject(t *worker.Task, _ *worker.Result) object {
	for _, a := range t.Earlier {
		if a.Status == artifact.WaitingForConsent && a.Type != envelope.ConsentRequest {
			return object{"artifact_id": a.ID, "content_sha256": a.ContentSHA256}
		}
	}
	return nil
}

func line(text string) string {
	if len(text) > 200 {
		text = text[:200]
	}
	return "about: " + text
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

func content(t *worker.Task, kind envelope.ArtifactType, r *worker.Result) object {
	q := &t.Request
	switch kind {
	case envelope.PrivacyReport:
		return object{
			"summary": "nothing", "checked": []any{object{"kind": "request", "id": q.ID, "visibility_level": q.Target}}, "findings": []any{}, "flags": []any{},
			"visibility": object{"target": q.Target, "ceiling": "public", "allowed": true, "reason": "no reason"}, "rotate": false,
		}
	case envelope.GateVerdict:
		return object{
			"summary": "medium", "risk": "medium", "verdict": "allowed", "reasons": []any{}, "requested_capabilities": []any{"read_repo", "write_repo"},
			"policy": []any{}, "approvals": []any{},
		}
	case envelope.DecisionDraft:
		c := object{
			"title": "a decision", "proposal": q.Text, "reasons": []any{}, "decided_by": object{"rule": "consent", "members": []any{q.Member}},
			"reversible": true, "undo": "decide again",
		}
		for _, ref := range q.References {
			if ref.Kind == envelope.RefContract {
				c["change"] = object{"repository": ref.ID, "intent": q.Text, "priority": "medium", "requested_capabilities": []any{"read_repo"}}
			}
		}
		return c
	case envelope.ConsentRequest:
		return object{
			"question": "do you agree?", "subject": subject(t, r), "scope": object{"action": "export_draft", "visibility_level": "public", "recipients": []any{}},
			"from": []any{object{"member_id": q.Member, "why": "requester", "decision": "pending"}}, "deadline": at(t.Now.Add(time.Hour)), "step_up": false,
		}
	case envelope.TestimonyDraft:
		return object{
			"title": "a testimony", "statement": "nothing is decided yet", "outcome": "open", "decisions": []any{}, "present": []any{},
			"consents": object{"needed": 0, "granted": 0, "refused": 0, "pending": 0},
		}
	case envelope.CoreChangeProposal:
		return object{
			"title": "a change", "reason": q.Text, "changes": []any{object{"root": "registry", "path": "agents_registry.yaml", "what": "something", "effects": []any{}}},
			"widens": false, "council": object{"needed": 1, "of": 1}, "undo": "change it back",
		}
	case envelope.IdentityChallenge:
		p := t.Facts.Identity.Prepared
		return object{
			"challenge_id": p.ID, "member_id": q.Member, "method": p.Kind, "action": t.Facts.Identity.Action, "reason": "it leaves the circle", "expires_at": at(p.ExpiresAt),
		}
	case envelope.IdentityAssertion:
		return object{
			"member_id": q.Member, "method": "token", "step_up": false, "roles": []any{"member"}, "channel": object{"kind": q.Channel.Kind, "id": q.Channel.ID}, "actions": []any{},
		}
	case envelope.BridgeDraft:
		c := object{
			"channel": "message", "recipients": []any{object{"kind": "outside", "id": "the mill"}}, "body": q.Text, "parts": []any{}, "public": true,
		}
		if t.HandOver {
			c["public"], c["remedies"] = false, []any{object{"condition": "export_payload_not_public", "change": "make it public"}}
		}
		return c
	case envelope.GiftProposal:
		return object{
			"act": "offer", "giver": object{"kind": "member", "id": q.Member}, "receiver": object{"kind": "circle", "id": q.Circle}, "gift": "a gift",
			"message": q.Text, "leaves_circle": q.Has(envelope.ExternalAction), "expects_return": false,
		}
	case envelope.MergeProposal:
		side := object{"sha256": q.Source.SHA256, "origin": q.Origin}
		return object{
			"record": object{"kind": "document", "id": "notes"}, "sides": []any{side, side}, "changes": []any{}, "conflicts": []any{}, "merged": q.Text, "clean": true,
		}
	case envelope.AuditEntry:
		return object{
			"action": "request.ask", "actor": q.Member, "subject": object{"kind": "request", "id": q.ID}, "outcome": "done", "summary": "it was asked", "origin": q.Origin,
		}
	case envelope.BreachReport:
		b := t.Facts.Breach
		hits := []any{}
		for _, h := range b.Hits {
			hits = append(hits, object{"rule": h.Rule, "span": object{"start": h.Start, "end": h.End}, "masked": h.Masked})
		}
		return object{
			"condition": b.Condition, "hits": hits, "member_id": q.Member, "channel": object{"kind": b.Channel.Kind, "id": b.Channel.ID},
			"breaches_in_window": b.InWindow, "suspended": b.Suspended, "recommend": []any{"review_channel"},
		}
	case envelope.HealthReport:
		return object{
			"state": "unknown", "summary": "nothing is measured", "measured_at": at(t.Now), "components": []any{object{"name": "store", "state": "unknown", "detail": "nothing"}},
		}
	case envelope.ResearchNote:
		return object{"question": line(q.Text), "findings": []any{}, "citations": []any{}, "searched": []any{"memory"}, "nothing_found": true}
	case envelope.RitualPlan:
		return object{"title": "a meeting", "purpose": line(q.Text), "minutes": 40, "steps": []any{object{"title": "begin", "minutes": 40, "form": "a circle"}}}
	case envelope.MemoryNote:
		return object{"act": "keep", "title": "a note", "text": q.Text}
	}
	return nil
}
