// Package approval says who must agree to what, and when they have.
//
// It is the Policy Engine: it derives the approvers of an activation and of a
// release, makes gates, records decisions on them in the one order of checks of
// docs/spec/contracts.md §6.4, and judges a gate at rest. It moves no contract:
// a decision that ends a gate says which state it leads to, and package state
// carries that out.
package approval

import (
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Required is who must approve a release at a level: the matrix of
// docs/spec/contracts.md §6.3, no more and no less.
func Required(l contract.Level) contract.RoleSet {
	switch l {
	case contract.High:
		return contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer)
	case contract.Critical:
		return contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer, contract.ReleaseManager)
	case contract.Low, contract.Medium:
	}
	return 0
}

// Deadlines is how long a gate waits for people, by level.
type Deadlines struct {
	High     time.Duration
	Critical time.Duration
}

// DefaultDeadlines is 24 and 48 hours.
func DefaultDeadlines() Deadlines {
	return Deadlines{High: 24 * time.Hour, Critical: 48 * time.Hour}
}

func (d Deadlines) of(l contract.Level) time.Duration {
	if l == contract.Critical {
		return d.Critical
	}
	return d.High
}

// Options are the four-eyes options. The zero value is both off, which a
// configuration must say aloud: see FourEyes.
type Options struct {
	DistinctActors     bool // one person approves under one role only
	ForbidSelfApproval bool // the intent's creator does not approve
}

// FourEyes is both options on, the default of the product (rulings R9).
func FourEyes() Options { return Options{DistinctActors: true, ForbidSelfApproval: true} }

// Voter is who wants to decide, and what the registry knows of them.
type Voter struct {
	contract.Actor
	HoldsRole bool
}

// Human refuses a voter who is no person: from high on, and at every
// activation, people decide.
func (v Voter) Human() error {
	if v.Type != contract.Human {
		return refusal.New(refusal.ApprovalHumanRequired, "%s is no person", v.ID)
	}
	return nil
}

// Holds refuses a voter who does not hold the role they act under.
func (v Voter) Holds() error {
	if !v.HoldsRole {
		return refusal.New(refusal.ApprovalRoleNotHeld, "%s does not hold the role %s", v.ID, v.Role)
	}
	return nil
}

// Check applies the options to one decision beside those already recorded for
// the same contract version or gate. Rejections are always taken. selfApproved
// says that the decision stands only because an option is off; it is marked so
// in the audit record (rulings R9).
func (o Options) Check(v Voter, d contract.Decision, creator contract.ActorID, recorded []contract.Approval) (selfApproved bool, err error) {
	if d != contract.Approved {
		return false, nil
	}
	for _, e := range recorded {
		if e.Decision == contract.Approved && e.ActorID == v.ID && e.Role != v.Role {
			if o.DistinctActors {
				return false, refusal.New(refusal.ApprovalActorNotDistinct, "%s has approved as %s already", v.ID, e.Role)
			}
			selfApproved = true
		}
	}
	if v.ID == creator {
		if o.ForbidSelfApproval {
			return false, refusal.New(refusal.ApprovalSelfApproval, "%s raised the intent", v.ID)
		}
		selfApproved = true
	}
	return selfApproved, nil
}

// TaskSeedPolicy is the generationPolicy a set of capabilities derives
// (docs/spec/contracts.md §4.2).
func TaskSeedPolicy(c capability.Set) contract.GenerationPolicy {
	if safe(c) {
		return contract.GenerationPolicy{AutoActivate: true}
	}
	var roles contract.RoleSet
	if c.Meets(capability.Of(capability.InstallDeps, capability.NetworkAccess, capability.ReadSecrets)) {
		roles |= contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer)
	}
	if c.Has(capability.PublishRelease) {
		roles |= contract.RolesOf(contract.ProjectLead, contract.ReleaseManager)
	}
	if roles.Empty() { // only {write_repo}: the sources name nobody
		roles = contract.RolesOf(contract.ProjectLead)
	}
	return contract.GenerationPolicy{Approvals: roles}
}

// safe says whether work with c may start by itself: reading, or reading and
// writing.
func safe(c capability.Set) bool {
	return c == capability.Of(capability.ReadRepo) || c == capability.Of(capability.ReadRepo, capability.WriteRepo)
}

// AcceptancePolicy is the generationPolicy of an Acceptance: inherited from its
// TaskSeed, and widened by the matrix when the execution turned out high or
// critical. The Policy Engine is no approver of an Acceptance and is
// dropped; an empty remainder becomes the project lead.
func AcceptancePolicy(task contract.GenerationPolicy, snapshot capability.Set, execution contract.Level) contract.GenerationPolicy {
	roles := task.Approvals.Minus(contract.RolesOf(contract.PolicyEngine))
	if execution.Human() {
		return contract.GenerationPolicy{Approvals: roles.Union(Required(execution))}
	}
	if task.AutoActivate && safe(snapshot) {
		return contract.GenerationPolicy{AutoActivate: true}
	}
	if roles.Empty() {
		roles = contract.RolesOf(contract.ProjectLead)
	}
	return contract.GenerationPolicy{Approvals: roles}
}
