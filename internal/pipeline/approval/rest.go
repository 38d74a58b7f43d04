package approval

import (
	"strconv"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// AtRest is everything about a stored gate that contradicts itself
// (docs/spec/contracts.md §6.3, §6.7). The four-eyes options play no part: they
// apply when a decision is recorded.
func AtRest(g *contract.PublishGate) refusal.List {
	c := check{gate: g, human: g.RiskLevel.Human()}
	c.form()
	if c.human {
		c.decidedByPeople()
	} else {
		c.decidedByItself()
	}
	c.moments()
	c.state()
	return c.faults
}

// Beside is what contradicts the Acceptance version the gate was made for and
// the level that follows from its execution. A level above the derived one is
// fine: a signal may have raised it. The zero level is not known.
func Beside(g *contract.PublishGate, a *contract.Acceptance, derived contract.Level) refusal.List {
	var faults refusal.List
	if a != nil && a.Status != contract.Passed {
		faults = append(faults, refusal.At(refusal.GateAcceptanceNotPassed, "/entityId", "%s is %s", a.ID, a.Status))
	}
	if g.RiskLevel.Below(derived) {
		faults = append(faults, refusal.At(refusal.GateRiskTooLow, "/riskLevel", "%s, and the work is %s", g.RiskLevel, derived))
	}
	return faults
}

type check struct {
	gate   *contract.PublishGate
	human  bool
	faults refusal.List
}

func (c *check) add(code refusal.Code, path, format string, args ...any) {
	c.faults = append(c.faults, refusal.At(code, path, format, args...))
}

func (c *check) form() {
	g := c.gate
	if want := Required(g.RiskLevel); g.RequiredApprovals != want {
		c.add(refusal.GateRequiredApprovalsMismatch, "/requiredApprovals", "%q, and the matrix has %q for %s", g.RequiredApprovals, want, g.RiskLevel)
	}
	if c.human && g.ApprovalDeadline.IsZero() {
		c.add(refusal.GateDeadlineRequired, "/approvalDeadline", "people need a deadline")
	}
	if c.human && !g.ApprovalDeadline.IsZero() && !g.ApprovalDeadline.After(g.CreatedAt) {
		c.add(refusal.GateDeadlineInvalid, "/approvalDeadline", "the deadline is not after the creation")
	}
	if g.RequiredApprovals.Empty() && g.FinalDecision == contract.DecisionPending {
		c.add(refusal.GatePendingForbidden, "/finalDecision", "nobody is asked")
	}
	if g.FinalDecision == contract.DecisionApproved && g.Action != contract.Publish ||
		g.Action == contract.Reject && g.FinalDecision != contract.DecisionRejected {
		c.add(refusal.GateActionDecisionMismatch, "/action", "%s with %s", g.Action, g.FinalDecision)
	}
}

func (c *check) decidedByItself() {
	var own []contract.Approval
	for _, e := range c.gate.Approvals {
		if e.Role == contract.PolicyEngine {
			own = append(own, e)
		}
	}
	if len(own) != 1 || len(own) != len(c.gate.Approvals) {
		c.add(refusal.GateAutoApprovalRecordMissing, "/approvals", "an automatic gate holds one entry, of the policy engine")
		return
	}
	if string(own[0].Decision) != string(c.gate.FinalDecision) {
		c.add(refusal.GateDecisionMismatch, "/finalDecision", "%s, and the policy engine has %s", c.gate.FinalDecision, own[0].Decision)
	}
}

func (c *check) decidedByPeople() {
	g := c.gate
	rejected := false
	for i, e := range g.Approvals {
		stops := e.Role == contract.Admin && e.Decision == contract.Rejected
		if !g.RequiredApprovals.Has(e.Role) && !stops {
			c.add(refusal.GateRoleNotRequired, pointer("/approvals", i, "/role"), "%s is not asked", e.Role)
		}
		rejected = rejected || e.Decision == contract.Rejected
	}
	missing := Outstanding(g)
	complete := missing.Empty() && !rejected
	switch g.FinalDecision {
	case contract.DecisionApproved:
		if rejected {
			c.add(refusal.GateDecisionMismatch, "/finalDecision", "approved, and somebody rejected")
		} else if !missing.Empty() {
			c.add(refusal.GateApprovalsIncomplete, "/approvals", "%s has not approved", missing)
		}
	case contract.DecisionRejected:
		if !rejected {
			c.add(refusal.GateDecisionMismatch, "/finalDecision", "rejected, and nobody rejected")
		}
	case contract.DecisionPending, contract.DecisionExpired:
		if rejected || complete {
			c.add(refusal.GateDecisionMismatch, "/finalDecision", "%s, and the entries decide", g.FinalDecision)
		}
	}
}

func (c *check) moments() {
	g := c.gate
	for i, e := range g.Approvals {
		if e.DecidedAt.Before(g.CreatedAt) {
			c.add(refusal.GateApprovalEarly, pointer("/approvals", i, "/decidedAt"), "decided before the gate existed")
		}
		if c.human && !g.ApprovalDeadline.IsZero() && e.DecidedAt.After(g.ApprovalDeadline) {
			c.add(refusal.GateApprovalLate, pointer("/approvals", i, "/decidedAt"), "decided after the deadline")
		}
	}
}

// restStates is where a gate may be found with each decision. A rejected Draft
// exists only inside the transaction that makes it.
var restStates = map[contract.FinalDecision][]contract.State{
	contract.DecisionPending:  {contract.Active, contract.Frozen, contract.Revoked, contract.Archived},
	contract.DecisionApproved: {contract.Published, contract.Superseded, contract.Revoked, contract.Archived},
	contract.DecisionRejected: {contract.Revoked, contract.Archived},
	contract.DecisionExpired:  {contract.Frozen, contract.Revoked, contract.Archived},
}

func (c *check) state() {
	for _, s := range restStates[c.gate.FinalDecision] {
		if c.gate.State == s {
			return
		}
	}
	c.add(refusal.GateStateDecisionMismatch, "/state", "%s and %s", c.gate.State, c.gate.FinalDecision)
}

func pointer(list string, i int, member string) string { return list + "/" + strconv.Itoa(i) + member }
