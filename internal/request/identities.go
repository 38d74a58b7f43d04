package request

import (
	"context"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Step-up identity: a second proof, for one action (docs/spec/circle.md §§1, 7).

// attempts is how often a challenge may be answered wrongly.
const attempts = 5

// EnrollArgs is a factor that somebody wants.
type EnrollArgs struct {
	Kind FactorKind
	Name string
	// Challenge is one they have answered; needed of whoever has a factor already:
	// a stolen session must not add another.
	Challenge string
}

// Enrolled is a factor to be. Offer is shown once; nothing is enrolled before the
// challenge is answered.
type Enrolled struct {
	Challenge *Challenge
	FactorID  string
	Offer     Offer
}

// ChallengeArgs asks for a challenge for the consent to an artifact; without one
// it is for the caller's own factors.
type ChallengeArgs struct {
	Artifact string
}

// ChallengeShown is a challenge as its actor sees it.
type ChallengeShown struct {
	*Challenge
	WebAuthn *WebAuthnAsk // what a browser needs; nil for TOTP
}

// AnswerArgs answers a challenge: six digits, or the JSON a browser made.
type AnswerArgs struct {
	ID     string
	Answer []byte
}

// Answered is what a right answer leaves.
type Answered struct {
	Challenge *Challenge
	Factor    *Factor
	Enrolled  bool
}

func (s *Service) prover() (Prover, error) {
	if s.conf.Prover == nil {
		return nil, fault.E("request.identity", fault.Invalid, "no second proof of identity can be given here", nil)
	}
	return s.conf.Prover, nil
}

// human refuses whoever is no person.
func (x *session) human(what string) error {
	if p := x.person(); !p.Human {
		return problem.New(problem.HumanRequired, "only a person can %s", what)
	}
	return nil
}

// IdentityEnroll begins the enrolment of a factor of the caller.
func (s *Service) IdentityEnroll(ctx context.Context, by pipeline.Caller, a EnrollArgs) (*Enrolled, error) {
	prover, err := s.prover()
	if err != nil {
		return nil, err
	}
	challenge, factor := s.conf.NewID("chal"), s.conf.NewID("factor")
	return do(ctx, s, by, "identity.enroll", func(x *session) (*Enrolled, error) {
		x.about(ofFactor, factor, "")
		if err := x.human("enrol a factor"); err != nil {
			return nil, err
		}
		have, err := x.Factors(string(x.actor.ID))
		if err != nil {
			return nil, err
		}
		if Strongest(have) != "" {
			if how, err := x.answered(a.Challenge, "", ""); err != nil || how == "" {
				if err == nil {
					err = problem.New(problem.ConsentStepUp, "prove your identity with a factor you have before you add another")
				}
				return nil, err
			}
		}
		made, err := prover.Enrol(Enrolling{Challenge: challenge, Factor: factor, Actor: string(x.actor.ID), Kind: a.Kind, Name: a.Name, Factors: have})
		if err != nil {
			return nil, err
		}
		c := x.challenge(challenge, a.Kind, made.Material)
		x.rec.To = string(a.Kind)
		return &Enrolled{Challenge: c, FactorID: factor, Offer: made.Offer}, x.CreateChallenge(c)
	})
}

func (x *session) challenge(id string, kind FactorKind, material []byte) *Challenge {
	limits := x.s.conf.Set.Set().Registry().Limits
	return &Challenge{
		ID: id, Actor: string(x.actor.ID), Kind: kind, Action: envelope.StepUp, Material: material, CreatedAt: x.Now(), ExpiresAt: x.Now().Add(limits.StepUp),
	}
}

// ChallengeOpen asks the caller to prove their identity, for the consent to an
// artifact or for a change of their factors.
func (s *Service) ChallengeOpen(ctx context.Context, by pipeline.Caller, a ChallengeArgs) (*ChallengeShown, error) {
	prover, err := s.prover()
	if err != nil {
		return nil, err
	}
	id := s.conf.NewID("chal")
	return do(ctx, s, by, "identity.challenge", func(x *session) (*ChallengeShown, error) {
		x.about(ofChallenge, id, "")
		if err := x.human("prove their identity"); err != nil {
			return nil, err
		}
		have, err := x.Factors(string(x.actor.ID))
		if err != nil {
			return nil, err
		}
		kind := Strongest(have)
		if kind == "" {
			return nil, problem.New(problem.ConsentStepUp, "there is no factor to prove your identity with: enrol one first")
		}
		asked, err := prover.Ask(Asking{Challenge: id, Actor: string(x.actor.ID), Kind: kind, Factors: have})
		if err != nil {
			return nil, err
		}
		c := x.challenge(id, kind, asked.Material)
		if a.Artifact != "" {
			at, _, err := x.touched(a.Artifact)
			if err != nil {
				return nil, err
			}
			c.Circle, c.Request, c.Action = at.Circle, at.Provenance.RequestID, at.Scope.Action
			x.about(ofChallenge, id, at.Provenance.RequestID)
		}
		return &ChallengeShown{Challenge: c, WebAuthn: asked.WebAuthn}, x.CreateChallenge(c)
	})
}

// ChallengeAnswer answers a challenge. A wrong answer counts, also when it is
// refused.
func (s *Service) ChallengeAnswer(ctx context.Context, by pipeline.Caller, a AnswerArgs) (*Answered, error) {
	prover, err := s.prover()
	if err != nil {
		return nil, err
	}
	return do(ctx, s, by, "identity.answer", func(x *session) (*Answered, error) {
		x.about(ofChallenge, "", "")
		c, err := x.Challenge(a.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
		if err != nil || c.Actor != string(x.actor.ID) {
			return nil, fault.E("request.ChallengeAnswer", fault.NotFound, "there is no challenge of yours with the id", nil)
		}
		x.about(ofChallenge, c.ID, c.Request)
		switch {
		case !c.AnsweredAt.IsZero():
			return nil, problem.New(problem.ChallengeClosed, "the challenge was answered before")
		case !x.Now().Before(c.ExpiresAt):
			return nil, problem.New(problem.ChallengeClosed, "the time to answer the challenge has passed")
		case c.Attempts >= attempts:
			return nil, problem.New(problem.ChallengeClosed, "the challenge was answered wrongly too often")
		}
		have, err := x.Factors(c.Actor)
		if err != nil {
			return nil, err
		}
		c.Attempts++
		proof, err := prover.Answer(c, have, a.Answer, x.Now())
		if err != nil {
			if fault.KindOf(err) != fault.Denied && fault.KindOf(err) != fault.Invalid {
				return nil, err
			}
			x.kept = problem.New(problem.ChallengeFailed, "the answer proves nothing")
			return nil, x.UpdateChallenge(c)
		}
		c.AnsweredAt, c.Factor = x.Now(), proof.Factor.ID
		x.rec.To, x.rec.Resolution = proof.Factor.ID, string(proof.Factor.Kind)
		write := x.UpdateFactor
		if proof.New {
			write = x.CreateFactor
		}
		if err := errorsOf(write(proof.Factor), x.UpdateChallenge(c)); err != nil {
			return nil, err
		}
		return &Answered{Challenge: c, Factor: proof.Factor, Enrolled: proof.New}, nil
	})
}

// FactorList is the caller's factors.
func (s *Service) FactorList(ctx context.Context, by pipeline.Caller) ([]*Factor, error) {
	return view(ctx, s, by, func(r Reader, a *pipeline.Actor) ([]*Factor, error) { return r.Factors(string(a.ID)) })
}

// proved is how the caller has proved their identity for an artifact, "" when they
// have not. A challenge that is named must be good for it.
func (x *session) proved(challenge string, a *artifact.Artifact) (string, error) {
	if challenge == "" {
		return "", nil
	}
	return x.answered(challenge, a.Provenance.RequestID, a.Circle)
}

// answered is the kind of factor that answered a challenge of the caller, for a
// request of a circle; it holds as long as a challenge may be answered.
func (x *session) answered(id, request, of string) (string, error) {
	if id == "" {
		return "", nil
	}
	no := problem.New(problem.ConsentStepUp, "the challenge is not one you have just answered for this")
	c, err := x.Challenge(id)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			err = no
		}
		return "", err
	}
	fresh := x.s.conf.Set.Set().Registry().Limits.StepUp
	if c.Actor != string(x.actor.ID) || c.Request != request || c.Circle != of || c.AnsweredAt.IsZero() || x.Now().Sub(c.AnsweredAt) > fresh {
		return "", no
	}
	f, err := x.Factor(c.Factor)
	if err != nil || !f.RevokedAt.IsZero() {
		return "", errorsOf(ignoreMissing(err), no)
	}
	return string(f.Kind), nil
}
