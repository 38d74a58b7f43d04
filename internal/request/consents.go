package request

import (
	"context"
	"slices"
	"strconv"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/problem"
)

// The consent ledger (docs/spec/circle.md §7).

// ConsentArgs is what somebody says about an artifact that needs their consent.
type ConsentArgs struct {
	Artifact  string
	SHA256    string // of the content they saw
	Decision  artifact.Decision
	ExpiresAt time.Time // zero when the consent does not end by itself
	Challenge string    // that was answered, where identity has to be proved anew; "" for none
}

// ConsentShown is a record of the ledger with what it moved.
type ConsentShown struct {
	*artifact.Consent
	Artifact *ArtifactShown // as it stands after the decision
}

// ConsentDecide records a consent or a refusal, and moves what it is about when
// nothing more is owed, or cannot be given any more. It never confirms anything.
//
// Where identity has to be proved anew and no challenge was answered it is refused
// with problem.ConsentStepUp: ChallengeOpen makes one.
func (s *Service) ConsentDecide(ctx context.Context, by pipeline.Caller, a ConsentArgs) (*ConsentShown, error) {
	id := s.conf.NewID("consent")
	return do(ctx, s, by, "consent.decide", func(x *session) (*ConsentShown, error) {
		at, roll, err := x.touched(a.Artifact)
		if err != nil {
			return nil, err
		}
		if at.WaitsFor != "" {
			return nil, problem.New(problem.ConsentNotOwed, "consent is asked for %s, which this waits for", at.WaitsFor)
		}
		stepUp, err := x.proved(a.Challenge, at)
		if err != nil {
			return nil, err
		}
		_, demand, err := stand(x, s.conf.Set.Set().Registry().Quorum, at)
		if err != nil {
			return nil, err
		}
		ledger, err := x.Ledger(at.ID)
		if err != nil {
			return nil, err
		}
		c, err := at.Decide(artifact.Deciding{
			ID: id, By: x.person(), Decision: a.Decision, Digest: a.SHA256, ExpiresAt: a.ExpiresAt, StepUp: stepUp, Now: x.Now(),
		}, roll, demand, ledger)
		if err != nil {
			return nil, err
		}
		x.rec.To, x.rec.Digest, x.rec.Resolution = string(c.Decision), c.ContentSHA256, c.StepUp
		x.rec.Ground = c.ID
		if err := x.AddConsent(&c); err != nil {
			return nil, err
		}
		if !c.ExpiresAt.IsZero() {
			if err := x.settleAt(at, c.ExpiresAt); err != nil {
				return nil, err
			}
		}
		shown, err := x.settled(at)
		return &ConsentShown{Consent: &c, Artifact: shown}, err
	})
}

// ConsentRevoke takes a consent back. What was confirmed with it stays confirmed;
// what was not can no longer be.
func (s *Service) ConsentRevoke(ctx context.Context, by pipeline.Caller, id string) (*ConsentShown, error) {
	return do(ctx, s, by, "consent.revoke", func(x *session) (*ConsentShown, error) {
		x.about(ofConsent, "", "")
		c, err := x.Consent(id)
		if err != nil {
			return nil, err
		}
		if c.Member != string(x.actor.ID) {
			return nil, fault.E("request.ConsentRevoke", fault.NotFound, "there is no consent of yours with the id", nil)
		}
		x.about(ofConsent, c.ID, c.RequestID)
		if err := x.matches(tag(c.ID, c.Revision)); err != nil {
			return nil, err
		}
		after, err := c.Revoke(x.person(), x.Now())
		if err != nil {
			return nil, err
		}
		x.rec.From, x.rec.To, x.rec.Digest = string(c.Decision), string(after.Decision), c.ContentSHA256
		if err := x.RevokeConsent(&after); err != nil {
			return nil, err
		}
		out := &ConsentShown{Consent: &after}
		at, err := x.Artifact(c.ArtifactID)
		if err != nil {
			return out, ignoreMissing(err)
		}
		out.Artifact, err = x.settled(at)
		return out, err
	})
}

// settled moves an artifact, and whatever waits for the same consents, as far as
// the ledger does now.
func (x *session) settled(a *artifact.Artifact) (*ArtifactShown, error) {
	st, _, err := stand(x, x.s.conf.Set.Set().Registry().Quorum, a)
	if err != nil {
		return nil, err
	}
	list, err := x.ArtifactsOf(a.Provenance.RequestID)
	if err != nil {
		return nil, err
	}
	out := *a
	for _, one := range list {
		if one.ID != a.ID && one.WaitsFor != a.ID {
			continue
		}
		after, moved := one.Settle(st, x.Now())
		if !moved {
			continue
		}
		x.note("artifact.settle", event.Record{
			Kind: ofArtifact, ID: one.ID, Version: one.Version, From: string(one.Status), To: string(after.Status), Ground: string(after.Reason),
			Cause: provenance(one.Provenance.Origin), Digest: one.ContentSHA256, CorrelationID: one.Provenance.RequestID,
		})
		if err := x.UpdateArtifact(&after); err != nil {
			return nil, err
		}
		if after.ID == a.ID {
			out = after
		}
	}
	return x.s.showing(x, &out)
}

// runSettle looks at an artifact when the time for a consent has run out. Silence
// is not consent: it becomes a draft, never confirmed.
func (s *Service) runSettle(ctx context.Context, a pipeline.Attempt) error {
	args, err := arguments[settleArgs](a)
	if err != nil {
		return err
	}
	return s.own(ctx, "artifact.settle", func(x *session) error {
		at, err := x.Artifact(args.Artifact)
		if err != nil {
			return ignoreMissing(err)
		}
		x.about(ofArtifact, at.ID, at.Provenance.RequestID)
		_, err = x.settled(at)
		return err
	})
}

// ConsentList is a page of the ledger of the caller's circles, newest decision
// first. Of what they may not see they are shown their own consents alone.
func (s *Service) ConsentList(ctx context.Context, by pipeline.Caller, f ConsentFilter, p pipeline.Page) (list []*artifact.Consent, behind pipeline.Mark, err error) {
	list, err = view(ctx, s, by, func(r Reader, a *pipeline.Actor) ([]*artifact.Consent, error) {
		behind = pipeline.Mark{}
		out := []*artifact.Consent{}
		if !slices.Equal(f.Members, []string{string(a.ID)}) { // one's own are shown wherever one was a member
			ids, err := among(r, string(a.ID), f.Circles)
			if err != nil || len(ids) == 0 {
				return out, err
			}
			f.Circles = ids
		}
		all, err := r.Consents(f, p)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			if c.Member != string(a.ID) {
				of, err := r.Artifact(c.ArtifactID)
				if err != nil {
					if fault.KindOf(err) == fault.NotFound {
						continue
					}
					return nil, err
				}
				if seen, err := seenBy(r, of, string(a.ID)); err != nil || !seen {
					if err != nil {
						return nil, err
					}
					continue
				}
			}
			out = append(out, c)
		}
		if p.Limit > 0 && len(all) == p.Limit {
			last := all[len(all)-1]
			behind = pipeline.Mark{At: last.DecidedAt, ID: last.ID}
		}
		return out, nil
	})
	return list, behind, err
}

func number(n int) string { return strconv.Itoa(n) }
