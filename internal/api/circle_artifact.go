package api

import (
	"context"
	"encoding/json"
	"time"

	"plimsoll.dev/internal/pipeline"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// Outcome is an artifact of the circle with what it waits for. Artifact is a
// document of docs/contracts/clan-artifact.schema.json.
type Outcome struct {
	Artifact    json.RawMessage `json:"artifact" doc:"A document of clan-artifact.schema.json."`
	OwnerID     string          `json:"owner_id" doc:"The member whose request it came of."`
	Owed        []clan.Owed     `json:"owed"`
	WaitsFor    string          `json:"waits_for,omitempty" doc:"The artifact whose consents this one waits for."`
	ConsentBy   string          `json:"consent_by,omitempty" format:"date-time" doc:"Silence until then is no consent."`
	ConfirmedBy string          `json:"confirmed_by,omitempty"`
	ConfirmedAt string          `json:"confirmed_at,omitempty" format:"date-time"`
	UpdatedAt   string          `json:"updated_at" format:"date-time"`
}

func viewOutcome(a *clan.ArtifactShown) Outcome {
	return Outcome{
		Artifact: a.Document(), OwnerID: a.Owner, Owed: append([]clan.Owed{}, a.Owed...), WaitsFor: a.WaitsFor, ConsentBy: stamp(a.ConsentBy),
		ConfirmedBy: a.ConfirmedBy, ConfirmedAt: stamp(a.ConfirmedAt), UpdatedAt: stamp(a.UpdatedAt),
	}
}

func showOutcome(a *clan.ArtifactShown) (Outcome, string) { return viewOutcome(a), quoted(a.Tag()) }

func (a *API) outcomeList() endpoint {
	type parameters struct {
		CircleID  []string                `query:"circle_id"`
		RequestID []string                `query:"request_id"`
		OwnerID   []string                `query:"owner_id"`
		Type      []envelope.ArtifactType `query:"type"`
		Status    []artifact.Status       `query:"status" doc:"draft, needs_confirmation, waiting_for_consent or confirmed."`
	}
	return sparse("outcome.list", func(ctx context.Context, by pipeline.Caller, p *parameters, page pipeline.Page) ([]*clan.ArtifactShown, pipeline.Mark, error) {
		f := clan.ArtifactFilter{Circles: p.CircleID, Requests: p.RequestID, Owners: p.OwnerID, Types: p.Type, Statuses: p.Status}
		return a.conf.Circle.ArtifactList(ctx, by, f, page)
	}, viewOutcome)
}

func (a *API) outcomeGet() endpoint {
	return act("outcome.get", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*clan.ArtifactShown, error) {
		return a.conf.Circle.ArtifactGet(ctx, by, p.ID)
	}, showOutcome)
}

func (a *API) outcomeConfirm() endpoint {
	type body struct {
		SHA256 string `json:"content_sha256" doc:"Of the content that was seen."`
	}
	return act("outcome.confirm", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byName, b *body) (*clan.ArtifactShown, error) {
		return a.conf.Circle.ArtifactConfirm(ctx, by, clan.MoveArgs{ID: p.ID, SHA256: b.SHA256})
	}, showOutcome)
}

func (a *API) outcomeDecline() endpoint {
	return act("outcome.decline", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*clan.ArtifactShown, error) {
		return a.conf.Circle.ArtifactDecline(ctx, by, clan.MoveArgs{ID: p.ID})
	}, showOutcome)
}

func (a *API) outcomeAdopt() endpoint {
	return act("outcome.adopt", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*clan.ArtifactShown, error) {
		return a.conf.Circle.ArtifactAdopt(ctx, by, clan.MoveArgs{ID: p.ID})
	}, showOutcome)
}

// Consent is a record of the ledger (docs/spec/circle.md §7), with the artifact as
// it stands after the decision where one was just made.
type Consent struct {
	Consent  json.RawMessage `json:"consent"`
	Artifact *Outcome        `json:"artifact,omitempty"`
}

func showConsent(c *clan.ConsentShown) (Consent, string) {
	view := Consent{Consent: c.Document()}
	if c.Artifact != nil {
		of := viewOutcome(c.Artifact)
		view.Artifact = &of
	}
	return view, ""
}

func (a *API) consentList() endpoint {
	type parameters struct {
		CircleID   []string            `query:"circle_id"`
		MemberID   []string            `query:"member_id"`
		ArtifactID []string            `query:"artifact_id"`
		Decision   []artifact.Decision `query:"decision" doc:"granted, refused or revoked."`
	}
	return sparse("consent.list", func(ctx context.Context, by pipeline.Caller, p *parameters, page pipeline.Page) ([]*artifact.Consent, pipeline.Mark, error) {
		f := clan.ConsentFilter{Circles: p.CircleID, Members: p.MemberID, Artifacts: p.ArtifactID, Decisions: p.Decision}
		return a.conf.Circle.ConsentList(ctx, by, f, page)
	}, func(c *artifact.Consent) Consent { return Consent{Consent: c.Document()} })
}

func (a *API) consentDecide() endpoint {
	type body struct {
		ArtifactID  string            `json:"artifact_id"`
		SHA256      string            `json:"content_sha256" doc:"Of the content that was seen."`
		Decision    artifact.Decision `json:"decision" enum:"granted,refused"`
		ExpiresAt   *contractTime     `json:"expires_at,omitempty"`
		ChallengeID string            `json:"challenge_id,omitempty" doc:"One you have just answered, where identity has to be proved anew."`
	}
	return act("consent.decide", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*clan.ConsentShown, error) {
		args := clan.ConsentArgs{Artifact: b.ArtifactID, SHA256: b.SHA256, Decision: b.Decision, Challenge: b.ChallengeID}
		if b.ExpiresAt != nil {
			args.ExpiresAt = time.Time(*b.ExpiresAt)
		}
		return a.conf.Circle.ConsentDecide(ctx, by, args)
	}, showConsent)
}

func (a *API) consentRevoke() endpoint {
	return act("consent.revoke", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*clan.ConsentShown, error) {
		return a.conf.Circle.ConsentRevoke(ctx, by, p.ID)
	}, showConsent)
}
