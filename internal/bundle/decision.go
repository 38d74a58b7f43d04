package bundle

import (
	"plimsoll.dev/internal/pipeline/contract"
)

// decisions holds the entries of the gate against those of the log, and against
// what each of them was made for.
func (c *checker) decisions() error {
	path := c.entries[c.m.Gate].Path
	if err := c.consents(path); err != nil {
		return err
	}
	state, made := "", false
	next, self := 0, 0
	for _, r := range c.records {
		if r.ref() != c.m.Gate || !r.Success || r.Position > c.point.Head.Count {
			continue
		}
		if r.Action == "contract.create" {
			made = true
			if r.Digest != c.m.Digest || r.RiskLevel != c.gate.RiskLevel || r.BaseCommit != c.m.Commits.Base || r.HeadCommit != c.m.Commits.Head {
				return bad(Contradicted, r.name(), "the gate was made for another digest, risk or commit")
			}
		}
		if r.To != "" {
			state = r.To
		}
		if r.Action != "gate.decide" {
			continue
		}
		if r.Decision == nil {
			return bad(Contradicted, r.name(), "it is a decision that says nothing")
		}
		if next < len(c.gate.Approvals) && r.Decision.is(c.gate.Approvals[next]) {
			if r.Role != contract.PolicyEngine && r.Digest != c.m.Digest {
				return bad(Contradicted, r.name(), "%s agreed to another digest", r.ActorID)
			}
			if r.SelfApproved {
				self++
			}
			next++
			continue
		}
		if !c.repeats(r, next) {
			return bad(Contradicted, r.name(), "the gate does not have the decision of %s %s", r.Role, r.ActorID)
		}
	}
	switch {
	case !made:
		return bad(Contradicted, path, "the log does not know that the gate was made")
	case next < len(c.gate.Approvals):
		a := c.gate.Approvals[next]
		return bad(Contradicted, path, "the log does not know the decision of %s %s", a.Role, a.ActorID)
	case state != string(c.gate.State):
		return bad(Contradicted, path, "the gate is %s, and %s by the log", c.gate.State, state)
	}
	alone := "none of them on work of their own"
	if self > 0 {
		alone = "self-approved where the four-eyes options are off"
	}
	c.said("decisions", "%d in the gate, the same in the log, in the same order, for this digest; %s", next, alone)
	if c.report.Younger > 0 {
		c.said("younger", "%d records about these contracts are younger than the bundle", c.report.Younger)
	}
	return nil
}

// is says whether a decision of the log is an entry of the gate.
func (d *decided) is(a contract.Approval) bool {
	return d.Role == a.Role && d.ActorID == a.ActorID && d.Decision == a.Decision && d.DecidedAt == a.DecidedAt.String() && sameText(d.Reason, a.Reason)
}

// repeats says whether a decision was taken a second time: that changes nothing,
// and is in the log all the same (docs/spec/contracts.md §6.4).
func (c *checker) repeats(r record, next int) bool {
	for _, a := range c.gate.Approvals[:next] {
		if a.Role == r.Decision.Role && a.ActorID == r.Decision.ActorID && a.Decision == r.Decision.Decision {
			return true
		}
	}
	return false
}

// consents holds the decisions the manifest names against the entries of people.
func (c *checker) consents(path string) error {
	next := 0
	for _, a := range c.gate.Approvals {
		if a.Role == contract.PolicyEngine {
			continue
		}
		if next == len(c.m.Decisions) {
			return bad(Missing, ManifestName, "it does not name what %s %s agreed to", a.Role, a.ActorID)
		}
		m := c.m.Decisions[next]
		if d := (decided{m.Role, m.ActorID, m.Decision, m.DecidedAt, m.Reason}); !d.is(a) {
			return bad(Contradicted, path, "the decision of %s %s is another in the manifest", a.Role, a.ActorID)
		}
		if m.Digest != c.m.Digest {
			return bad(Contradicted, path, "%s %s agreed to another digest", a.Role, a.ActorID)
		}
		next++
	}
	if next < len(c.m.Decisions) {
		return bad(Added, ManifestName, "it names a decision that the gate does not have")
	}
	return nil
}

func sameText(a, b *string) bool { return text0(a) == text0(b) && (a == nil) == (b == nil) }
