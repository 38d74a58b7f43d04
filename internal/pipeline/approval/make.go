package approval

import (
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Order is what a gate is made from. Violation is the id of the policy rule the
// work breaks, "" when it breaks none.
type Order struct {
	ID         contract.ID
	Version    int64
	Acceptance *contract.Acceptance
	Level      contract.Level
	Violation  string
	Deadlines  Deadlines
}

// Move is a change of state that a decision asks for. It is carried out by
// package state in the transaction that records the decision.
type Move struct {
	To     contract.State
	Cause  contract.Cause  // of a freeze
	Ground contract.Ground // of a revocation, with its reason
	Reason string
}

// Made is a gate as it is created, with what follows in the same transaction.
// Entry is the automatic decision, nil when people decide. FreezeChain is the
// cause for which the Active contracts of the chain are frozen, "" for none.
type Made struct {
	Gate        *contract.PublishGate
	Entry       *contract.Approval
	Then        *Move
	FreezeChain contract.Cause
}

// Admit refuses a gate for an Acceptance that has not passed or is not under
// way: a deadline must not run while the activation is undecided.
func Admit(a *contract.Acceptance) error {
	if a.Status != contract.Passed {
		return refusal.New(refusal.GateAcceptanceNotPassed, "%s is %s", a.ID, a.Status)
	}
	if a.State != contract.Active {
		return refusal.New(refusal.GateAcceptanceNotActive, "%s is %s", a.ID, a.State)
	}
	return nil
}

// Make makes the gate of an Acceptance version. Low and medium are decided at
// once; a violation there is a gate that is born rejected, and on a level where
// people decide a pending gate that is frozen for them to look at.
func Make(o Order, now time.Time) (Made, error) {
	if err := Admit(o.Acceptance); err != nil {
		return Made{}, err
	}
	// A level nobody derived would pass for one that decides itself.
	if !o.Level.Valid() {
		return Made{}, fault.E("approval.Make", fault.Internal, "a gate of no risk level", nil)
	}
	at := contract.At(now)
	g := &contract.PublishGate{
		Base: contract.Base{
			ID: o.ID, Kind: contract.KindPublishGate, State: contract.Active, Version: o.Version, CreatedAt: at, UpdatedAt: at,
		},
		EntityID:          o.Acceptance.ID,
		Action:            contract.Publish,
		RiskLevel:         o.Level,
		RequiredApprovals: Required(o.Level),
		Approvals:         []contract.Approval{},
		FinalDecision:     contract.DecisionPending,
	}
	if o.Level.Human() {
		g.ApprovalDeadline = contract.At(now.Add(o.Deadlines.of(o.Level)))
		if !g.ApprovalDeadline.After(at) {
			return Made{}, refusal.At(refusal.GateDeadlineInvalid, "/approvalDeadline", "a gate needs time to be decided in")
		}
		made := Made{Gate: g}
		if o.Violation != "" {
			made.Then = &Move{To: contract.Frozen, Cause: contract.PolicyViolation}
		}
		return made, nil
	}
	entry := contract.Approval{
		Role: contract.PolicyEngine, ActorID: contract.PolicyEngineActor, Decision: contract.Approved, DecidedAt: at,
	}
	made := Made{Gate: g, Entry: &entry}
	g.State, g.FinalDecision = contract.Published, contract.DecisionApproved
	if o.Violation != "" {
		entry.Decision, entry.Reason = contract.Rejected, &o.Violation
		g.State, g.FinalDecision, g.Action = contract.Draft, contract.DecisionRejected, contract.Reject
		made.Then = &Move{To: contract.Revoked, Ground: contract.Audit, Reason: o.Violation}
		made.FreezeChain = contract.GateRejected
	}
	g.Approvals = append(g.Approvals, entry)
	return made, nil
}
