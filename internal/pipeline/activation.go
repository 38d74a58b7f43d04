package pipeline

import (
	"context"

	"plimsoll.dev/internal/pipeline/activation"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// ActivationList is the activation ledger of a contract.
func (s *Service) ActivationList(ctx context.Context, id contract.ID) ([]Vote, error) {
	return view(ctx, s, func(r Reader) ([]Vote, error) {
		c, err := r.Contract(id)
		if c, err = found(c, err, "%s is unknown", id); err != nil {
			return nil, err
		}
		Traced(ctx, c.Correlation)
		return r.Votes(id)
	})
}

// ActivationLedgers is the votes of several contracts, of each as ActivationList
// has them.
func (s *Service) ActivationLedgers(ctx context.Context, ids []contract.ID) (map[contract.ID][]Vote, error) {
	return view(ctx, s, func(r Reader) (map[contract.ID][]Vote, error) { return r.Ledgers(ids...) })
}

// ActivationDecide records a decision on a Draft (§5). The last approval that
// was missing makes it Active in the same transaction, or is not recorded.
func (s *Service) ActivationDecide(ctx context.Context, by Caller, a ActivationArgs) (*ActivationResult, error) {
	return do(ctx, s, by, "activation.decide", func(x *session) (*ActivationResult, error) {
		c, err := x.voted(a.ID, a.Version)
		if err != nil {
			return nil, err
		}
		if err := x.plainReason(a.Reason); err != nil {
			return nil, err
		}
		if a.ContentDigest != "" && a.ContentDigest != contract.ContentDigest(c.Document) {
			return nil, refusal.New(refusal.ContractVersionConflict, "%s version %d says something else by now", a.ID, a.Version)
		}
		return x.vote(c, activation.Ballot{Voter: x.voter(), Decision: a.Decision, Reason: a.Reason})
	})
}

// voted is the version a decision is bound to. One that was edited away is
// stale, not unknown.
func (x *session) voted(id contract.ID, version int64) (*Contract, error) {
	c, err := x.exactly(id, version)
	if refusal.CodeOf(err) != missingCode {
		return c, err
	}
	rows, e := x.Versions(id)
	if e != nil || len(rows) == 0 {
		return nil, err
	}
	if e := merge.Version(rows[0].Ref().Version, version); e != nil {
		return nil, e
	}
	return nil, err
}

// vote records one decision, of whoever.
func (x *session) vote(c *Contract, b activation.Ballot) (*ActivationResult, error) {
	votes, err := x.Votes(c.Ref().ID)
	if err != nil {
		return nil, err
	}
	ledger := ballots(votes)
	terms := activation.Terms{Options: x.s.conf.Options, Activate: x.activation(c)}
	if i := x.w.root(c); i != nil {
		terms.Creator = i.Creator
	}
	before := stateOf(c)
	out, err := activation.Decide(snapshot(c), ledger, terms, b, x.Now())
	if err != nil {
		return nil, err
	}
	if out.Duplicate {
		x.rec.Decision = entry(contract.Approval{Role: b.Voter.Role, ActorID: b.Voter.ID, Decision: b.Decision, DecidedAt: x.at(), Reason: b.Reason})
		return &ActivationResult{Entry: repeated(votes, c.Ref().Version, b), State: before, Duplicate: true}, nil
	}
	if err := x.free(c.Ref().ID); err != nil {
		return nil, err
	}
	v := Vote{Vote: *out.Entry, SelfApproved: out.SelfApproved}
	if err := x.AddVote(c.Ref().ID, v); err != nil {
		return nil, err
	}
	if b.Voter.ID == x.actor.ID {
		x.rec.Decision, x.rec.SelfApproved = entry(out.Entry.Approval), out.SelfApproved
	}
	if out.Contract.State != before {
		if err := x.carry(c, out.Contract, out.Effects, nil); err != nil {
			return nil, err
		}
		x.note(x.orchestrator(), "contract.transition", c, event.Record{From: string(before), To: string(out.Contract.State)})
		if c.Document.Head().Kind == contract.KindIntent {
			if err := x.begun(c); err != nil {
				return nil, err
			}
		}
	}
	return &ActivationResult{Entry: v, State: stateOf(c)}, nil
}

// activation is the event that makes c Active, with what its guards read.
func (x *session) activation(c *Contract) state.Event {
	e := state.Event{To: contract.Active, Actor: x.orchestrator(), Profile: x.s.conf.Profile}
	if src := x.w.source(c); src != nil {
		e.Source = stateOf(src)
	}
	for _, v := range x.w.versions(c.Ref().ID) {
		if v.Ref().Version >= c.Ref().Version {
			continue
		}
		if e.Predecessor == "" || !e.Predecessor.Live() {
			e.Predecessor = stateOf(v)
		}
	}
	return e
}

// policyVote is the Policy Engine's own decision where a hand-written list names
// it: it approves unless the work breaks a rule (§5).
func (x *session) policyVote(c *Contract) error {
	t, ok := c.Document.(*contract.TaskSeed)
	if !ok || stateOf(c) != contract.Draft || !t.GenerationPolicy.Approvals.Has(contract.PolicyEngine) {
		return nil
	}
	b := activation.Ballot{Voter: approval.Voter{Actor: policyEngine(), HoldsRole: true}, Decision: contract.Approved}
	if rule := x.w.violation(x.w.level(nil).Level); rule != "" {
		b.Decision, b.Reason = contract.Rejected, &rule
	}
	out, err := x.vote(c, b)
	if err != nil {
		return err
	}
	x.note(policyEngine(), "activation.decide", c, event.Record{Decision: entry(out.Entry.Approval)})
	return nil
}

func ballots(votes []Vote) []contract.Vote {
	list := make([]contract.Vote, len(votes))
	for i, v := range votes {
		list[i] = v.Vote
	}
	return list
}

// repeated is the entry a repeated decision repeats.
func repeated(votes []Vote, version int64, b activation.Ballot) Vote {
	for _, v := range votes {
		if v.Version == version && v.Role == b.Voter.Role && v.ActorID == b.Voter.ID && v.Decision == b.Decision {
			return v
		}
	}
	return Vote{}
}

// entry is a decision as the audit log and the events have it.
func entry(a contract.Approval) *event.Entry {
	return &event.Entry{
		Role: string(a.Role), ActorID: string(a.ActorID), Decision: string(a.Decision), DecidedAt: a.DecidedAt.String(), Reason: a.Reason,
	}
}
