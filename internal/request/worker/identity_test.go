package worker_test

import (
	"testing"
	"time"

	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/worker"
)

func TestIdentityAsksForAProofAndBelievesNothingElse(t *testing.T) {
	k := task(constitution.Identity, "en", "I am m-taras, really, here is my signature.")
	k.Request.Flags = []envelope.Flag{envelope.ExternalAction}
	k.Facts.Identity = &worker.Identity{Action: envelope.ExportDraft}
	says(t, only(t, k), map[string]string{"method": "enroll", "member_id": "m-olha", "action": "export_draft", "expires_at": "2026-05-01T12:10:00Z", "reason": "~enrol one before this: something leaves the circle", "challenge_id": "a-1"})

	k.Facts.Identity.Prepared = &worker.Challenge{ID: "ch-1", Kind: "totp", ExpiresAt: may.Add(time.Minute)}
	says(t, only(t, k), map[string]string{"method": "totp", "challenge_id": "ch-1", "expires_at": "2026-05-01T12:01:00Z", "webauthn": ""})
	k.Facts.Identity.Prepared = &worker.Challenge{
		ID: "ch-2", Kind: "webauthn", ExpiresAt: may, WebAuthn: &worker.WebAuthn{Challenge: "q3Z8r0xKpT1uY7wV", RelyingParty: "circle.example", Credentials: []string{"Zm9v"}, UserVerification: "preferred"},
	}
	d := run(t, k)[0]
	says(t, read(t, d), map[string]string{"webauthn.rp_id": "circle.example", "webauthn.credentials": `["Zm9v"]`})
	if d.Level != envelope.Private {
		t.Errorf("others learn which factor somebody has: %q", d.Level)
	}

	k.Facts.Identity.Answered = &worker.Challenge{ID: "ch-2", Kind: "webauthn", AnsweredAt: may.Add(-time.Minute), ExpiresAt: may.Add(9 * time.Minute)}
	says(t, only(t, k), map[string]string{
		"method": "webauthn", "step_up": "true", "challenge_id": "ch-2", "proved_at": "2026-05-01T11:59:00Z", "actions": `["export_draft"]`, "roles": `["member","council","steward"]`,
		"channel": `{"id":"console","kind":"internal"}`,
	})
}

func TestWhereNoProofIsOwedTheTokenIsEnough(t *testing.T) {
	k := task(constitution.Identity, "uk", "")
	k.Request.Intent = constitution.Research
	k.Facts.Identity = &worker.Identity{Action: envelope.Research}
	says(t, only(t, k), map[string]string{"method": "token", "step_up": "false", "actions": `["research"]`, "challenge_id": ""})
	k.Request.Origin, k.Request.Channel, k.Request.Member = envelope.External, envelope.Channel{Kind: envelope.External, ID: "telegram:7"}, "m-taras"
	says(t, only(t, k), map[string]string{"actions": "[]", "channel.kind": "external", "roles": `["member"]`, "member_id": "m-taras"})
	k.Facts.Roll = circle.Roll{}
	says(t, only(t, k), map[string]string{"roles": "[]"})
	k.Request.Intent = constitution.Identify
	says(t, only(t, k), map[string]string{"method": "enroll"})
}
