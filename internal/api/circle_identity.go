package api

import (
	"context"
	"encoding/json"

	"plimsoll.dev/internal/pipeline"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

// Factor is a second proof of identity that somebody has.
type Factor struct {
	ID          string          `json:"factor_id"`
	Kind        clan.FactorKind `json:"kind" enum:"totp,webauthn"`
	Name        string          `json:"name"`
	CreatedAt   string          `json:"created_at" format:"date-time"`
	ConfirmedAt string          `json:"confirmed_at,omitempty" format:"date-time" doc:"Absent until it has answered once: it does not count before."`
	RevokedAt   string          `json:"revoked_at,omitempty" format:"date-time"`
}

func viewFactor(f *clan.Factor) Factor {
	return Factor{f.ID, f.Kind, f.Name, stamp(f.CreatedAt), stamp(f.ConfirmedAt), stamp(f.RevokedAt)}
}

// Challenge asks its actor for a proof of identity.
type Challenge struct {
	ID        string            `json:"challenge_id"`
	Kind      clan.FactorKind   `json:"kind" enum:"totp,webauthn"`
	RequestID string            `json:"request_id,omitempty"`
	Action    envelope.Action   `json:"action,omitempty"`
	ExpiresAt string            `json:"expires_at" format:"date-time"`
	WebAuthn  *clan.WebAuthnAsk `json:"webauthn,omitempty" doc:"What a browser needs."`
}

func viewChallenge(c *clan.Challenge, ask *clan.WebAuthnAsk) Challenge {
	return Challenge{c.ID, c.Kind, c.Request, c.Action, stamp(c.ExpiresAt), ask}
}

func (a *API) identityList() endpoint {
	return wholeOf("identity.list", func(ctx context.Context, by pipeline.Caller, _ *none) ([]*clan.Factor, error) {
		return a.conf.Circle.FactorList(ctx, by)
	}, viewFactor)
}

// Enrolment is a factor to be: nothing is enrolled before the challenge is
// answered. What is secret in it is shown once.
type Enrolment struct {
	FactorID  string          `json:"factor_id"`
	Challenge Challenge       `json:"challenge"`
	URI       string          `json:"uri,omitempty" doc:"Of TOTP: otpauth://, for an authenticator app. Shown once."`
	Secret    string          `json:"secret,omitempty" doc:"Of TOTP: the same for typing in. Shown once."`
	Creation  json.RawMessage `json:"creation,omitempty" doc:"Of WebAuthn: PublicKeyCredentialCreationOptions."`
}

// showEnrolment leaves what is secret out of the answer that is kept: a
// repetition under the same key is a second time.
func showEnrolment(e *clan.Enrolled, kept bool) answer {
	view := Enrolment{FactorID: e.FactorID, Challenge: viewChallenge(e.Challenge, nil)}
	if !kept {
		view.URI, view.Secret, view.Creation = e.Offer.URI, e.Offer.Secret, e.Offer.Creation
	}
	return answer{body: view}
}

func (a *API) identityEnroll() endpoint {
	type body struct {
		Kind        clan.FactorKind `json:"kind" enum:"totp,webauthn"`
		Name        string          `json:"name"`
		ChallengeID string          `json:"challenge_id,omitempty" doc:"One you have just answered, when you have a factor already."`
	}
	return actAs("identity.enroll", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*clan.Enrolled, error) {
		return a.conf.Circle.IdentityEnroll(ctx, by, clan.EnrollArgs{Kind: b.Kind, Name: b.Name, Challenge: b.ChallengeID})
	}, showEnrolment, typed[Enrolment]())
}

func (a *API) identityChallenge() endpoint {
	type body struct {
		ArtifactID string `json:"artifact_id,omitempty" doc:"What you are going to consent to; absent for a change of your factors."`
	}
	return act("identity.challenge", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*clan.ChallengeShown, error) {
		return a.conf.Circle.ChallengeOpen(ctx, by, clan.ChallengeArgs{Artifact: b.ArtifactID})
	}, func(c *clan.ChallengeShown) (Challenge, string) { return viewChallenge(c.Challenge, c.WebAuthn), "" })
}

// Answered is what a right answer leaves.
type Answered struct {
	ChallengeID string `json:"challenge_id" doc:"To be named by the consent it is for."`
	Factor      Factor `json:"factor"`
	Enrolled    bool   `json:"enrolled" doc:"The factor counts from now on."`
}

func (a *API) identityAnswer() endpoint {
	type body struct {
		Code      string          `json:"code,omitempty" doc:"Six digits."`
		Assertion json.RawMessage `json:"assertion,omitempty" doc:"What the browser made."`
	}
	return act("identity.answer", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byName, b *body) (*clan.Answered, error) {
		proof := []byte(b.Code)
		if b.Code == "" {
			proof = b.Assertion
		}
		return a.conf.Circle.ChallengeAnswer(ctx, by, clan.AnswerArgs{ID: p.ID, Answer: proof})
	}, func(d *clan.Answered) (Answered, string) {
		return Answered{d.Challenge.ID, viewFactor(d.Factor), d.Enrolled}, ""
	})
}
