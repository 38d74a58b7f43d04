// Package activation is the ledger of decisions that make a Draft Active
// (docs/spec/contracts.md §5). The documents have no field for them, so they
// live beside the contract, append-only and bound to its version: an edit
// starts a new round, and what was decided before stays in the ledger and no
// longer counts.
//
// The last missing approval and the change of state are one act: when the
// change is refused, the decision is not recorded either, because a recorded
// last vote without an activation could never be repeated.
package activation

import (
	"slices"
	"time"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// Terms is what a decision is measured by. Activate is the event that would
// make the contract Active, with everything its guards read; its votes are
// filled in here.
type Terms struct {
	Creator  contract.ActorID // of the intent
	Options  approval.Options
	Activate state.Event
}

// Ballot is one decision as it arrives.
type Ballot struct {
	Voter    approval.Voter
	Decision contract.Decision
	Reason   *string
}

// Outcome is what became of a decision. Contract and Ledger are those after it;
// Effects belong to the activation, when this was the decision that completed
// it.
type Outcome struct {
	Contract     state.Snapshot
	Ledger       []contract.Vote
	Entry        *contract.Vote
	Duplicate    bool
	SelfApproved bool
	Effects      []state.Effect
}

// Decide records one decision on the current version of a contract, or says why
// not, in the order of checks of docs/spec/contracts.md §5. The ledger holds the
// votes of all versions of this contract.
func Decide(s state.Snapshot, ledger []contract.Vote, t Terms, b Ballot, now time.Time) (Outcome, error) {
	unchanged := Outcome{Contract: s, Ledger: ledger}
	var round []contract.Approval
	closed := false
	for _, v := range ledger {
		if v.Version != s.Version {
			continue
		}
		if v.Role == b.Voter.Role && v.ActorID == b.Voter.ID && v.Decision == b.Decision {
			unchanged.Duplicate = true
			return unchanged, nil
		}
		round = append(round, v.Approval)
		closed = closed || v.Decision == contract.Rejected
	}
	if s.State != contract.Draft && !(s.State == contract.Frozen && s.FrozenFrom == contract.Draft) {
		return unchanged, refusal.New(refusal.ActivationNotDraft, "the contract is %s", s.State)
	}
	if closed {
		return unchanged, refusal.New(refusal.ActivationRoundClosed, "version %d was rejected; an edit opens a new round", s.Version)
	}
	if err := b.Voter.Holds(); err != nil {
		return unchanged, err
	}
	if may := Approvers(s); !may.Has(b.Voter.Role) {
		return unchanged, refusal.New(refusal.ActivationRoleNotRequired, "the activation asks for %s", may)
	}
	// The Policy Engine decides by itself where a hand-written list names it.
	if b.Voter.Role != contract.PolicyEngine {
		if err := b.Voter.Human(); err != nil {
			return unchanged, err
		}
	}
	self, err := t.Options.Check(b.Voter, b.Decision, t.Creator, round)
	if err != nil {
		return unchanged, err
	}
	vote := contract.Vote{Version: s.Version, Approval: contract.Approval{
		Role: b.Voter.Role, ActorID: b.Voter.ID, Decision: b.Decision, DecidedAt: contract.At(now), Reason: b.Reason,
	}}
	out := Outcome{Contract: s, Ledger: append(slices.Clone(ledger), vote), Entry: &vote, SelfApproved: self}
	if b.Decision == contract.Rejected || s.State == contract.Frozen || !complete(s, out.Ledger) {
		return out, nil
	}
	e := t.Activate
	e.To, e.Votes = contract.Active, out.Ledger
	next, effects, err := state.Next(s, e, now)
	if err != nil {
		return unchanged, err
	}
	out.Contract, out.Effects = next, effects
	return out, nil
}

// Approvers is the roles whose decision on the activation of s counts: the list
// of its policy; for an intent, or an empty list, project lead or admin.
// Nobody stands in for a listed role.
func Approvers(s state.Snapshot) contract.RoleSet {
	if s.Kind != contract.KindIntent && !s.GenerationPolicy.Approvals.Empty() {
		return s.GenerationPolicy.Approvals
	}
	return contract.RolesOf(contract.ProjectLead, contract.Admin)
}

// Outstanding is the roles that still have to approve the current version: all
// of a list, or any one where there is none; then all that may are named until
// one has.
func Outstanding(s state.Snapshot, ledger []contract.Vote) contract.RoleSet {
	missing := Approvers(s)
	anyone := s.Kind == contract.KindIntent || s.GenerationPolicy.Approvals.Empty()
	for _, v := range ledger {
		if v.Version != s.Version || v.Decision != contract.Approved || !missing.Has(v.Role) {
			continue
		}
		if anyone {
			return 0
		}
		missing = missing.Minus(contract.RolesOf(v.Role))
	}
	return missing
}

func complete(s state.Snapshot, ledger []contract.Vote) bool { return Outstanding(s, ledger).Empty() }
