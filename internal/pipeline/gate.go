package pipeline

import (
	"context"
	"fmt"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/pipeline/state"
)

// The Policy Engine (docs/spec/contracts.md §6): it makes the gate of an
// Acceptance that passed, decides by itself where nobody has to be asked, and
// records what people say.

func (x *session) gateLater(acceptance *Contract) error {
	ref := acceptance.Ref()
	key := fmt.Sprintf("%s:%d:%s/%s", ref.ID, ref.Version, contract.KindPublishGate, x.w.stamp())
	return x.enqueue(JobGate, key, acceptance.Chain, targetArgs{Chain: acceptance.Chain, ID: ref.ID, Version: ref.Version}, time.Time{})
}

// RunGate makes the gate of an Acceptance version: at most one for each.
func (s *Service) RunGate(ctx context.Context, a Attempt) error {
	args, err := arguments[targetArgs](a)
	if err != nil {
		return err
	}
	g := generator{attempt: a, args: args, target: contract.KindPublishGate, actor: policyEngine()}
	return s.generate(ctx, g, func() error {
		received, err := s.now(ctx)
		if err != nil {
			return err
		}
		l, err := s.look(ctx, args.Chain, false)
		if err != nil {
			return err
		}
		return s.step(ctx, g.actor, "contract.create", args.Chain, func(x *session) error {
			return x.makeGate(args.ref(), received, l)
		})
	})
}

func (x *session) makeGate(source Ref, received time.Time, l look) error {
	w := x.w
	acceptance := w.acceptanceRow()
	if acceptance == nil || acceptance.Ref() != source {
		return nil // a later version is judged by now
	}
	key := generation.Key{Source: source.ID, Version: source.Version, Target: contract.KindPublishGate}.String()
	if _, done, err := x.Effect(key); err != nil || done {
		return err
	}
	if err := approval.Admit(w.acceptance()); err != nil {
		return nil //nolint:nilerr // examined again when it passes, or is Active again
	}
	if _, cause, err := x.copies(l, nil, stateOf(acceptance)); err != nil {
		return x.freeze(acceptance, cause)
	}
	if err := generation.InTime(contract.KindPublishGate, x.Now().Sub(received)); err != nil {
		return err
	}
	f, err := x.boundary()
	if err != nil {
		return err
	}
	level := w.level(f.result).Level
	ref, err := x.next(contract.KindPublishGate)
	if err != nil {
		return err
	}
	order := approval.Order{
		ID: ref.ID, Version: ref.Version, Acceptance: w.acceptance(), Level: level, Violation: w.violation(level), Deadlines: x.s.conf.Deadlines,
	}
	made, err := approval.Make(order, x.Now())
	if err != nil {
		return err
	}
	return x.persistGate(made, f, key)
}

// persistGate stores a gate with what people agree to when they approve it, and
// carries out what the Policy Engine decided by itself.
func (x *session) persistGate(made approval.Made, f finding, key string) error {
	w, g := x.w, made.Gate
	acceptance := w.acceptanceRow()
	c := &Contract{Document: g, Chain: w.chain.ID, Source: acceptance.Ref(), BaseCommit: w.chain.BaseCommit, HeadCommit: w.chain.HeadCommit}
	subject := w.subject(c, f)
	c.ApprovalDigest, c.Covers = subject.Digest(), subject.Canonical()
	c.Signals = statuses(w.d)
	for _, old := range w.versions(g.ID) {
		if stateOf(old).Live() {
			if err := x.regenerated(old); err != nil {
				return err
			}
		}
	}
	var verdict *event.Verdict
	if made.Entry != nil {
		verdict = &event.Verdict{Trigger: event.ByAuto, Entry: entry(*made.Entry)}
	}
	// Born rejected: created as Draft and revoked in the same transaction, so the
	// event of the decision already says Revoked.
	born := made.Then != nil && g.State == contract.Draft
	e := state.Event{Policy: state.Answered(approval.Admit(w.acceptance()))}
	snap := state.Snapshot{Level: g.RiskLevel, FinalDecision: g.FinalDecision}
	announced := verdict
	if born {
		announced = nil
	}
	if err := x.create(policyEngine(), c, e, snap, announced); err != nil {
		return err
	}
	x.note(policyEngine(), "contract.create", c, event.Record{
		To: string(g.State), IdempotencyKey: key, Digest: c.ApprovalDigest, BaseCommit: c.BaseCommit, HeadCommit: c.HeadCommit,
		RiskLevel: string(g.RiskLevel), FinalDecision: string(g.FinalDecision),
	})
	if err := x.AddEffect(Effect{Key: key, Result: c.Ref(), At: x.Now()}); err != nil {
		return err
	}
	if made.Entry != nil {
		x.note(policyEngine(), "gate.decide", c, event.Record{Decision: entry(*made.Entry)})
	}
	if made.Then != nil {
		err := x.moved(c, state.Event{
			To: made.Then.To, Actor: x.orchestrator(), Cause: made.Then.Cause, Ground: made.Then.Ground, Reason: made.Then.Reason,
		})
		if err != nil {
			return err
		}
	}
	if born {
		if err := x.announce(c, event.GateDecided, verdict); err != nil {
			return err
		}
	}
	if made.FreezeChain != "" {
		if err := x.freezeChain(made.FreezeChain); err != nil {
			return err
		}
	}
	if g.ApprovalDeadline.IsZero() {
		return nil
	}
	at := g.ApprovalDeadline.Time().Add(time.Millisecond)
	return x.enqueue(JobExpire, fmt.Sprintf("%s:%d", g.ID, g.Version), c.Chain, targetArgs{Chain: c.Chain, ID: g.ID, Version: g.Version}, at)
}

// subject is what an approver of a gate agrees to, as it is now (R14).
func (w *work) subject(g *Contract, f finding) approval.Subject {
	s := approval.Subject{
		GateID: g.Ref().ID, GateVersion: g.Ref().Version, DiffHash: w.chain.DiffHash,
		BoundaryAuditID: f.auditID, VerifyDecisionID: f.verifyID, PolicySetDigest: f.policySet,
	}
	if a := w.acceptanceRow(); a != nil {
		s.AcceptanceID, s.AcceptanceVersion = a.Ref().ID, a.Ref().Version
	}
	return s
}

// digestChanged says whether the digest computed now differs from the one of a
// gate.
func (x *session) digestChanged(g *Contract) (bool, error) {
	since, err := x.since(g)
	return since != "", err
}

// since says in words what is no longer as a gate asks about it, "" for nothing.
func (x *session) since(g *Contract) (string, error) {
	f, err := x.boundary()
	if err != nil {
		return "", err
	}
	now := x.w.subject(g, f)
	if now.Digest() == g.ApprovalDigest {
		return "", nil
	}
	return now.Since(g.Covers), nil
}

// statuses is each critical signal as declared, observed or undeclared (R10).
func statuses(d details) []byte {
	o := canonical.Object{}
	for _, s := range risk.Statuses(d.Declared, d.Observed) {
		o = append(o, canonical.Member{Key: string(s.Signal), Value: string(s.Status)})
	}
	return canonical.UTF8.Append(nil, o)
}

// GateDecide records a person's decision (§6.4).
func (s *Service) GateDecide(ctx context.Context, by Caller, a GateArgs) (*GateResult, error) {
	return do(ctx, s, by, "gate.decide", func(x *session) (*GateResult, error) {
		c, err := x.gateAt(a.ID, a.Version)
		if err != nil {
			return nil, err
		}
		if err := x.plainReason(a.Reason); err != nil {
			return nil, err
		}
		g := c.Document.(*contract.PublishGate)
		terms := approval.Terms{Digest: c.ApprovalDigest, Options: s.conf.Options}
		if terms.Since, err = x.since(c); err != nil {
			return nil, err
		}
		if i := x.w.root(c); i != nil {
			terms.Creator = i.Creator
		}
		x.rec.Digest, x.rec.BaseCommit, x.rec.HeadCommit = a.Digest, c.BaseCommit, c.HeadCommit
		x.rec.Decision = entry(contract.Approval{Role: by.Role, ActorID: by.Actor, Decision: a.Decision, DecidedAt: x.at(), Reason: a.Reason})
		out, err := approval.Decide(g, terms, approval.Ballot{Voter: x.voter(), Decision: a.Decision, Reason: a.Reason, Digest: a.Digest}, x.Now())
		if out.Moved && c == x.w.gateRow() {
			// Who would have agreed is asked again, about what is there now.
			if err := x.rejudgeLater("digest/" + c.ApprovalDigest); err != nil {
				return nil, err
			}
			return nil, x.keep(err)
		}
		if err != nil {
			return nil, x.outcome(c, out, err)
		}
		if out.Duplicate {
			return result(g, true), nil
		}
		x.rec.SelfApproved = out.SelfApproved
		err = x.AddConsent(g.ID, Consent{
			GateVersion: g.Version, Approval: *out.Entry, Digest: a.Digest, BaseCommit: c.BaseCommit, HeadCommit: c.HeadCommit,
			SelfApproved: out.SelfApproved,
		})
		if err != nil {
			return nil, err
		}
		if err := x.outcome(c, out, nil); err != nil {
			return nil, err
		}
		return result(c.Document.(*contract.PublishGate), false), nil
	})
}

func result(g *contract.PublishGate, duplicate bool) *GateResult {
	return &GateResult{FinalDecision: g.FinalDecision, State: g.State, Outstanding: outstanding(g), Duplicate: duplicate}
}

// gateAt is the gate version a command is addressed to.
func (x *session) gateAt(id contract.ID, version int64) (*Contract, error) {
	c, err := x.voted(id, version)
	if err != nil {
		return nil, err
	}
	if _, ok := c.Document.(*contract.PublishGate); !ok {
		return nil, missing("%s is no gate", id)
	}
	return c, nil
}

// outcome writes what became of a gate. A command that found it overdue commits
// the expiry and is refused all the same (§6.5).
func (x *session) outcome(c *Contract, out approval.Outcome, refused error) error {
	if refused != nil && out.Trigger != approval.ByExpiry {
		return refused
	}
	if s := stateOf(c); out.Trigger == approval.ByExpiry && s != contract.Active && s != contract.Frozen {
		return refused // it was taken back before: nothing waits for it, and nothing stops
	}
	if refused != nil {
		x.kept = refused
	}
	verdict := &event.Verdict{Trigger: event.Trigger(out.Trigger), Reversed: out.Reversed}
	if out.Entry != nil {
		verdict.Entry = entry(*out.Entry)
	}
	c.Document = out.Gate
	actor, action := x.orchestrator(), "contract.transition"
	switch {
	case out.Then != nil:
		e := state.Event{
			To: out.Then.To, Actor: x.orchestrator(), Cause: out.Then.Cause, Ground: out.Then.Ground, Reason: out.Then.Reason,
			Policy: state.Answered(approval.Settled(out.Gate)),
		}
		from := stateOf(c)
		if err := x.move(c, e, verdict); err != nil {
			return err
		}
		if out.Trigger == approval.ByExpiry {
			actor, action = policyEngine(), "gate.expire"
		}
		x.note(actor, action, c, event.Record{From: string(from), To: string(e.To), Cause: string(e.Cause), Ground: string(e.Ground)})
	case out.Trigger == approval.ByExpiry:
		// A gate that was frozen already stays so, under the cause that counts now.
		if err := x.preempt(lock.Contract(c.Ref().ID)); err != nil {
			return err
		}
		c.FreezeCause = out.Cause
		if err := x.write(c); err != nil {
			return err
		}
		if err := x.announce(c, event.GateDecided, verdict); err != nil {
			return err
		}
		x.note(policyEngine(), "gate.expire", c, event.Record{Cause: string(out.Cause)})
	default:
		if err := x.free(c.Ref().ID); err != nil {
			return err
		}
		if err := x.write(c); err != nil {
			return err
		}
		if out.Entry != nil {
			if err := x.announce(c, event.GateDecided, verdict); err != nil {
				return err
			}
		}
	}
	if out.FreezeChain != "" && c.Source == x.currentAcceptance() {
		return x.freezeChain(out.FreezeChain)
	}
	return nil
}

// currentAcceptance is the Acceptance version the chain is judged by.
func (x *session) currentAcceptance() Ref {
	if a := x.w.acceptanceRow(); a != nil {
		return a.Ref()
	}
	return Ref{}
}

// overdue expires a gate that a command other than a decision finds overdue.
func (x *session) overdue(c *Contract) error {
	g, ok := c.Document.(*contract.PublishGate)
	if !ok || !approval.Overdue(g, x.Now()) || stateOf(c) == contract.Revoked {
		return nil
	}
	if err := x.outcome(c, approval.Expire(g, x.Now()), nil); err != nil {
		return err
	}
	return approval.Publishable(c.Document.(*contract.PublishGate))
}

// RunExpire is the timer of a gate's deadline.
func (s *Service) RunExpire(ctx context.Context, a Attempt) error {
	args, err := arguments[targetArgs](a)
	if err != nil {
		return err
	}
	return again(s.step(ctx, policyEngine(), "gate.expire", args.Chain, func(x *session) error {
		c := x.w.row(args.ref())
		if c == nil || stateOf(c) == contract.Revoked || stateOf(c) == contract.Archived {
			return nil
		}
		out := approval.Expire(c.Document.(*contract.PublishGate), x.Now())
		if out.Trigger == "" {
			return nil
		}
		return x.outcome(c, out, nil)
	}))
}

// GateHold puts a gate on hold (§6.6).
func (s *Service) GateHold(ctx context.Context, by Caller, a HoldArgs) (*Shown, error) {
	return s.hold(ctx, by, "gate.hold", a, approval.SetHold)
}

// GateRelease takes a hold off.
func (s *Service) GateRelease(ctx context.Context, by Caller, a HoldArgs) (*Shown, error) {
	return s.hold(ctx, by, "gate.release", a, approval.Release)
}

func (s *Service) hold(ctx context.Context, by Caller, id string, a HoldArgs,
	decide func(*contract.PublishGate, contract.Actor, time.Time) (approval.Outcome, error),
) (*Shown, error) {
	return do(ctx, s, by, id, func(x *session) (*Shown, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		c, err := x.gateAt(a.ID, a.Version)
		if err != nil {
			return nil, err
		}
		if err := x.plain("/reason", a.Reason); err != nil {
			return nil, err
		}
		x.rec.Resolution = a.Reason
		out, err := decide(c.Document.(*contract.PublishGate), x.actor, x.Now())
		if err != nil {
			return nil, x.outcome(c, out, err)
		}
		if out.Duplicate {
			return x.w.shown(c), nil
		}
		return x.w.shown(c), x.outcome(c, out, nil)
	})
}

// GateList is a page of gates.
func (s *Service) GateList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	f.Kinds = []contract.Kind{contract.KindPublishGate}
	return s.ContractList(ctx, f, p)
}

// GateGet is a gate with what an approver agrees to.
func (s *Service) GateGet(ctx context.Context, id contract.ID) (*Shown, error) {
	c, err := s.ContractGet(ctx, id, 0)
	if err == nil && c.Document.Head().Kind != contract.KindPublishGate {
		return nil, missing("%s is no gate", id)
	}
	return c, err
}

// BoundaryOf is what the gate said of the change that a chain has now, with the
// decision of the verification; nil where nothing was delivered (R10).
func (s *Service) BoundaryOf(ctx context.Context, chain contract.ID) (*risk.Boundary, error) {
	return view(ctx, s, func(r Reader) (*risk.Boundary, error) {
		w, err := load(r, &s.conf, chain)
		if w, err = found(w, err, "%s is unknown", chain); err != nil {
			return nil, err
		}
		f, err := readBoundary(r, w)
		return f.result, err
	})
}

// GateSince is what a version of a gate asks about that is another by now:
// members of approval.Subject, none while every agreement to it holds. The version
// is that which the caller has shown: a newer one may be there already.
func (s *Service) GateSince(ctx context.Context, gate Ref) ([]string, error) {
	return view(ctx, s, func(r Reader) ([]string, error) {
		c, err := r.ContractAt(gate)
		if c, err = found(c, err, "%s version %d is unknown", gate.ID, gate.Version); err != nil {
			return nil, err
		}
		if c.Document.Head().Kind != contract.KindPublishGate {
			return nil, missing("%s is no gate", gate.ID)
		}
		w, err := load(r, &s.conf, c.Chain)
		if err != nil {
			return nil, err
		}
		f, err := readBoundary(r, w)
		if err != nil {
			return nil, err
		}
		return approval.Changed(c.Covers, w.subject(c, f).Canonical())
	})
}
