package document

import (
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Snapshot is what approvalsSnapshot of an Evidence created at t must say: the
// human entries of the gate up to then, nil for none (docs/spec/contracts.md
// §9.2). Activation approvals are no part of it.
func Snapshot(gate *contract.PublishGate, t contract.Timestamp) []contract.Approval {
	if gate == nil {
		return nil
	}
	var human []contract.Approval
	for _, e := range gate.Approvals {
		if e.Role != contract.PolicyEngine && !e.DecidedAt.After(t) {
			human = append(human, e)
		}
	}
	return human
}

func (c *evidenceCheck) snapshot() {
	const path = "/approvalsSnapshot"
	want, got := Snapshot(c.a.Gate, c.e.CreatedAt), c.e.ApprovalsSnapshot
	switch {
	case len(want) > 0 && got == nil:
		c.add(refusal.EvidenceApprovalsSnapshotMissing, path, "people had decided by then")
	case len(want) == 0 && got != nil:
		c.add(refusal.EvidenceApprovalsSnapshotUnexpected, path, "nobody had decided by then")
	case !sameEntries(want, got):
		c.add(refusal.EvidenceApprovalsSnapshotMismatch, path, "the gate has other entries")
	}
}

// sameEntries compares entry by entry in order; the instant of a decision
// counts, not its spelling, and an absent reason is not an empty one.
func sameEntries(a, b []contract.Approval) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		y := b[i]
		if x.Role != y.Role || x.ActorID != y.ActorID || x.Decision != y.Decision || !x.DecidedAt.Equal(y.DecidedAt) ||
			(x.Reason == nil) != (y.Reason == nil) || x.Reason != nil && *x.Reason != *y.Reason {
			return false
		}
	}
	return true
}

func (c *evidenceCheck) verdict() {
	gate := c.a.Gate
	approved := gate != nil && gate.FinalDecision == contract.DecisionApproved
	human := gate != nil && gate.RiskLevel.Human() || c.a.Level.Human()
	switch c.e.PolicyVerdict {
	case contract.VerdictApproved:
		if human && !approved {
			c.add(refusal.EvidencePolicyVerdictMismatch, "/policyVerdict", "no gate has approved this work")
		}
	case contract.VerdictRejected:
		if approved {
			c.add(refusal.EvidencePolicyVerdictMismatch, "/policyVerdict", "%s is approved", gate.ID)
		}
	case contract.VerdictManual: // always possible
	}
}

// Verdict is the policyVerdict the service writes. gate is the gate of the
// current Acceptance version, nil before there is one: that of an earlier
// version no longer speaks for the work.
func Verdict(level contract.Level, violation bool, gate *contract.PublishGate) contract.PolicyVerdict {
	if gate != nil {
		switch gate.FinalDecision {
		case contract.DecisionApproved:
			return contract.VerdictApproved
		case contract.DecisionRejected:
			return contract.VerdictRejected
		case contract.DecisionPending, contract.DecisionExpired:
		}
		return contract.VerdictManual
	}
	switch {
	case violation:
		return contract.VerdictRejected
	case level.Human():
		return contract.VerdictManual
	}
	return contract.VerdictApproved
}
