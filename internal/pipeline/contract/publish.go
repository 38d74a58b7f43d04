package contract

import "plimsoll.dev/internal/canonical"

// Action is what a gate is for at the moment (docs/spec/contracts.md §6.6).
type Action string

// The actions.
const (
	Publish Action = "publish" // the normal gate
	Reject  Action = "reject"  // the record of a refusal by the Policy Engine
	Hold    Action = "hold"    // approvals are refused until it is released
)

// Valid says whether a is one of the three.
func (a Action) Valid() bool { return a == Publish || a == Reject || a == Hold }

// FinalDecision is what a gate came to.
type FinalDecision string

// The final decisions.
const (
	DecisionPending  FinalDecision = "pending"
	DecisionApproved FinalDecision = "approved"
	DecisionRejected FinalDecision = "rejected"
	DecisionExpired  FinalDecision = "expired"
)

// Valid says whether d is one of the four.
func (d FinalDecision) Valid() bool {
	switch d {
	case DecisionPending, DecisionApproved, DecisionRejected, DecisionExpired:
		return true
	}
	return false
}

// PublishGate says whether a piece of work may be released, and who agreed.
// Approvals is append-only, in the order of decision. ApprovalDeadline is zero
// when there is none.
type PublishGate struct {
	Base
	EntityID          ID
	Action            Action
	RiskLevel         Level
	RequiredApprovals RoleSet
	Approvals         []Approval
	FinalDecision     FinalDecision
	ApprovalDeadline  Timestamp
}

// Source is the Acceptance the gate is for.
func (d *PublishGate) Source() ID { return d.EntityID }

// With is a copy with another common part.
func (d *PublishGate) With(b Base) Document {
	c := *d
	c.Base = b
	return &c
}

func readPublishGate(b Base, m reader) *PublishGate {
	return &PublishGate{
		Base:              b,
		EntityID:          ID(m.text("entityId")),
		Action:            Action(m.text("action")),
		RiskLevel:         Level(m.text("riskLevel")),
		RequiredApprovals: m.roles("requiredApprovals"),
		Approvals:         m.approvals("approvals"),
		FinalDecision:     FinalDecision(m.text("finalDecision")),
		ApprovalDeadline:  m.time("approvalDeadline"),
	}
}

func (d *PublishGate) members() canonical.Object {
	o := canonical.Object{
		{Key: "entityId", Value: string(d.EntityID)},
		{Key: "action", Value: string(d.Action)},
		{Key: "riskLevel", Value: string(d.RiskLevel)},
		{Key: "requiredApprovals", Value: names(d.RequiredApprovals.List())},
		{Key: "approvals", Value: approvalObjects(d.Approvals)},
		{Key: "finalDecision", Value: string(d.FinalDecision)},
	}
	if !d.ApprovalDeadline.IsZero() {
		o = append(o, canonical.Member{Key: "approvalDeadline", Value: d.ApprovalDeadline.String()})
	}
	return o
}
