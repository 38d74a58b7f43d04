package approval

import (
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// The answers of the Policy Engine that a change of state waits for. The
// Orchestrator asks and passes the code on unchanged (docs/spec/contracts.md
// §0.1, §2.4). A nil answer opens the edge.

// Publishable answers for the publication of a chain: there is a gate and it is
// approved. g is the gate of the current Acceptance version, nil for none.
func Publishable(g *contract.PublishGate) error {
	if g == nil {
		return refusal.New(refusal.GateMissing, "the Acceptance has no gate")
	}
	switch g.FinalDecision {
	case contract.DecisionApproved:
		return nil
	case contract.DecisionRejected:
		return refusal.New(refusal.GateRejected, "%s was rejected", g.ID)
	case contract.DecisionExpired:
		return expired(g)
	case contract.DecisionPending:
	}
	return refusal.New(refusal.GateNotApproved, "%s waits for %s", g.ID, Outstanding(g))
}

// Settled answers for the publication of the gate itself: approved, by every
// required role, and not on hold.
func Settled(g *contract.PublishGate) error {
	if err := Publishable(g); err != nil {
		return err
	}
	if missing := Outstanding(g); !missing.Empty() {
		return refusal.At(refusal.GateApprovalsIncomplete, "/approvals", "%s has not approved", missing)
	}
	if g.Action == contract.Hold {
		return refusal.New(refusal.GateOnHold, "%s is on hold", g.ID)
	}
	return nil
}

// Reopenable answers for the resumption of a frozen gate: it must be undecided
// and in time.
func Reopenable(g *contract.PublishGate, now time.Time) error {
	if g.FinalDecision != contract.DecisionPending {
		return final(g)
	}
	if Overdue(g, now) {
		return expired(g)
	}
	return nil
}

func final(g *contract.PublishGate) error {
	if g.FinalDecision == contract.DecisionExpired {
		return expired(g)
	}
	return refusal.New(refusal.GateAlreadyFinal, "%s is %s", g.ID, g.FinalDecision)
}
