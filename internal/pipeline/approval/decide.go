package approval

import (
	"slices"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
)

// Trigger is what changed a gate's decision.
type Trigger string

// The triggers; "" is nothing.
const (
	ByApproval  Trigger = "approval"
	ByRejection Trigger = "rejection"
	ByExpiry    Trigger = "expiry"
)

// Terms is what a decision on a gate is measured by: the approval digest of
// this gate version, who raised the intent, and the four-eyes options. Since
// says what is no longer as the gate asks about it, "" for nothing: nobody can
// agree to that any more.
type Terms struct {
	Digest  string
	Since   string
	Creator contract.ActorID
	Options Options
}

// Ballot is one decision as it arrives.
type Ballot struct {
	Voter    Voter
	Decision contract.Decision
	Reason   *string
	Digest   string // of what the voter saw; "" when they sent none
}

// Outcome is what became of a gate. Gate is a changed copy, its state as
// before; Then is the change of state that belongs to it, nil for none.
//
// An overdue gate is expired by whatever command reaches it first: Trigger is
// then ByExpiry and the command itself is refused, so that an Outcome and an
// error come together and both must be kept (docs/spec/contracts.md §6.5).
type Outcome struct {
	Gate         *contract.PublishGate
	Trigger      Trigger
	Entry        *contract.Approval
	Duplicate    bool
	Reversed     bool // the actor rejects after having approved under this role
	SelfApproved bool
	Then         *Move
	Cause        contract.Cause // why the gate is frozen from now on, "" when unchanged
	FreezeChain  contract.Cause
	Moved        bool // refused: the gate asks about what is no longer there
}

// Outstanding is the required roles that have no approval entry yet.
func Outstanding(g *contract.PublishGate) contract.RoleSet {
	missing := g.RequiredApprovals
	for _, e := range g.Approvals {
		if e.Decision == contract.Approved {
			missing = missing.Minus(contract.RolesOf(e.Role))
		}
	}
	return missing
}

// Decide records one decision, or says why not, in the order of checks of
// docs/spec/contracts.md §6.4.
func Decide(g *contract.PublishGate, t Terms, b Ballot, now time.Time) (Outcome, error) {
	for _, e := range g.Approvals {
		if e.Role == b.Voter.Role && e.ActorID == b.Voter.ID && e.Decision == b.Decision {
			return Outcome{Gate: g, Duplicate: true}, nil
		}
	}
	if out, err := open(g, now); err != nil {
		return out, err
	}
	if err := b.Voter.Holds(); err != nil {
		return Outcome{Gate: g}, err
	}
	emergency := b.Voter.Role == contract.Admin && b.Decision == contract.Rejected
	if !g.RequiredApprovals.Has(b.Voter.Role) && !emergency {
		return Outcome{Gate: g}, refusal.New(refusal.GateRoleNotRequired, "%s asks for %s", g.ID, g.RequiredApprovals)
	}
	if err := b.Voter.Human(); err != nil {
		return Outcome{Gate: g}, err
	}
	self, err := t.Options.Check(b.Voter, b.Decision, t.Creator, g.Approvals)
	if err != nil {
		return Outcome{Gate: g}, err
	}
	if b.Digest == "" || b.Digest != t.Digest {
		return Outcome{Gate: g}, refusal.New(refusal.GateDigestMismatch, "the decision does not name the approval digest of %s version %d", g.ID, g.Version)
	}
	if t.Since != "" && b.Decision == contract.Approved {
		return Outcome{Gate: g, Moved: true}, refusal.New(refusal.GateDigestMismatch, "%s version %d asks about what is no longer there: %s", g.ID, g.Version, t.Since)
	}
	if g.Action == contract.Hold && b.Decision == contract.Approved {
		return Outcome{Gate: g}, refusal.New(refusal.GateOnHold, "%s is on hold", g.ID)
	}
	return record(g, b, self, now), nil
}

// open refuses what is decided, overdue or not under way; it is how every
// command on a gate begins (§6.4 steps 2 to 4, §6.6).
func open(g *contract.PublishGate, now time.Time) (Outcome, error) {
	if g.FinalDecision != contract.DecisionPending {
		return Outcome{Gate: g}, final(g)
	}
	if Overdue(g, now) {
		return expire(g, now), expired(g)
	}
	if g.State != contract.Active {
		return Outcome{Gate: g}, refusal.New(refusal.GateNotActive, "%s is %s", g.ID, g.State)
	}
	return Outcome{Gate: g}, nil
}

func record(g *contract.PublishGate, b Ballot, self bool, now time.Time) Outcome {
	c := *g
	entry := contract.Approval{
		Role: b.Voter.Role, ActorID: b.Voter.ID, Decision: b.Decision, DecidedAt: contract.At(now), Reason: b.Reason,
	}
	c.Approvals = append(slices.Clone(g.Approvals), entry)
	c.UpdatedAt = entry.DecidedAt
	out := Outcome{Gate: &c, Trigger: ByApproval, Entry: &entry, SelfApproved: self}
	if b.Decision == contract.Rejected {
		out.Trigger = ByRejection
		out.Reversed = slices.ContainsFunc(g.Approvals, func(e contract.Approval) bool {
			return e.Role == entry.Role && e.ActorID == entry.ActorID
		})
		c.FinalDecision = contract.DecisionRejected
		out.Then = &Move{To: contract.Revoked, Ground: contract.ManualStop, Reason: "rejected by " + string(entry.Role)}
		out.FreezeChain = contract.GateRejected
	} else if Outstanding(&c).Empty() {
		c.FinalDecision = contract.DecisionApproved
		out.Then = &Move{To: contract.Published}
	}
	return out
}

// Overdue says whether the deadline of a pending gate has passed. The deadline
// itself is inside; freezing and holding do not stop the clock.
func Overdue(g *contract.PublishGate, now time.Time) bool {
	return g.FinalDecision == contract.DecisionPending && !g.ApprovalDeadline.IsZero() && now.After(g.ApprovalDeadline.Time())
}

// Expire is the timer: it expires an overdue gate and does nothing else.
func Expire(g *contract.PublishGate, now time.Time) Outcome {
	if !Overdue(g, now) {
		return Outcome{Gate: g}
	}
	return expire(g, now)
}

func expire(g *contract.PublishGate, now time.Time) Outcome {
	c := *g
	c.FinalDecision, c.UpdatedAt = contract.DecisionExpired, contract.At(now)
	out := Outcome{Gate: &c, Trigger: ByExpiry, Cause: contract.GateExpired, FreezeChain: contract.GateExpired}
	if g.State == contract.Active {
		out.Then = &Move{To: contract.Frozen, Cause: contract.GateExpired}
	}
	return out
}

func expired(g *contract.PublishGate) error {
	return refusal.New(refusal.GateExpired, "the deadline of %s was %s", g.ID, g.ApprovalDeadline)
}

// SetHold puts a pending gate on hold: by a required role or an admin. What is
// set already is a success without effect.
func SetHold(g *contract.PublishGate, a contract.Actor, now time.Time) (Outcome, error) {
	return act(g, a, g.RequiredApprovals.Union(contract.RolesOf(contract.Admin)), contract.Hold, now)
}

// Release takes a hold off: by the project lead or an admin.
func Release(g *contract.PublishGate, a contract.Actor, now time.Time) (Outcome, error) {
	return act(g, a, contract.RolesOf(contract.ProjectLead, contract.Admin), contract.Publish, now)
}

func act(g *contract.PublishGate, a contract.Actor, may contract.RoleSet, to contract.Action, now time.Time) (Outcome, error) {
	if out, err := open(g, now); err != nil {
		return out, err
	}
	if err := role.Permit(a.Role, may, "change the action of "+string(g.ID)); err != nil {
		return Outcome{Gate: g}, err
	}
	if g.Action == to {
		return Outcome{Gate: g, Duplicate: true}, nil
	}
	c := *g
	c.Action, c.UpdatedAt = to, contract.At(now)
	return Outcome{Gate: &c}, nil
}
