package rule

import (
	"cmp"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/surface"
)

// CodexPolicyWeakened reports a boundary policy that asks for less than before,
// is gone, or contradicts itself (docs/spec/boundary.md §5.1 "Policy files",
// §10.5). It compares what the files say, whichever policy is in force.
var CodexPolicyWeakened = Rule{
	ID:             "CODEX-POLICY-WEAKENED",
	CheckID:        "SHIP-CODEX-BOUNDARY-POLICY-WEAKENED",
	Family:         CodexFamily,
	Action:         Block,
	Risk:           Critical,
	Title:          "Boundary policy made weaker or contradictory",
	Recommendation: "Restore the stricter policy; loosening it is a person's decision.",
	Kinds:          []string{"codex_boundary_policy_weakened", "boundary_policy_conflict"},
	Check:          checkCodexPolicyWeakened,
}

// conflictPath is where every policy conflict is reported, whichever files
// disagree.
const conflictPath = "policies/agent-boundary.shipgate.yaml"

// maxWeakened is how many weakened rules one finding names.
const maxWeakened = 5

func checkCodexPolicyWeakened(p *Pass) {
	for _, s := range p.Surfaces {
		if s.IsPolicy() {
			checkPolicyFile(p, s)
		}
	}
	if len(p.PolicyConflicts) > 0 {
		issues := slices.Clone(p.PolicyConflicts)
		slices.Sort(issues)
		p.Report(conflictPath, 0, "boundary_policy_conflict", With("issues", slices.Compact(issues)))
	}
}

func checkPolicyFile(p *Pass, s *surface.Surface) {
	if s.Deleted {
		p.Report(s.Path, 0, "codex_boundary_policy_weakened",
			With("deleted", true), With("weakened_action", false), With("weakened_risk", false))
		return
	}
	before, after, ok := s.PolicyRules()
	if !ok {
		return
	}
	losses := policyLosses(before, after)
	if len(losses) == 0 {
		return
	}
	var action, risk bool
	line := 0
	entries := make([]canonical.Object, 0, maxWeakened)
	for i := range losses {
		l := &losses[i]
		// Over all rules, so that no order hides a weakening (OP-11).
		action, risk = action || l.action, risk || l.risk
		if line == 0 && !l.removed {
			line = l.now.line
		}
		if len(entries) < maxWeakened {
			entries = append(entries, l.entry())
		}
	}
	p.Report(s.Path, line, "codex_boundary_policy_weakened",
		With("deleted", false), With("weakened_action", action), With("weakened_risk", risk),
		With("weakened_rules", entries))
}

// stance is what a policy file asks for in one rule; a value that is missing or
// means nothing is empty and asks for nothing.
type stance struct {
	action Action
	risk   Risk
	line   int
}

// loss is one rule that a policy file asks less for than before.
type loss struct {
	id           string
	removed      bool
	action, risk bool
	old, now     stance
}

func (l *loss) entry() canonical.Object {
	o := canonical.Object{With("id", l.id)}
	if l.removed {
		o = append(o, With("removed", true))
	}
	return append(o,
		With("old_action", orNull(l.old.action)), With("new_action", orNull(l.now.action)),
		With("old_risk_level", orNull(l.old.risk)), With("new_risk_level", orNull(l.now.risk)))
}

func orNull[T ~string](value T) any {
	if value == "" {
		return nil
	}
	return string(value)
}

// policyLosses compares two rule lists, in the order of the ids. To drop a valid
// value is to lower it: the entry no longer says what it said.
func policyLosses(before, after []surface.PolicyRule) []loss {
	olds, news := stances(before), stances(after)
	var out []loss
	for id, old := range olds {
		now, kept := news[id]
		l := loss{
			id: id, removed: !kept, old: old, now: now,
			action: old.action.Valid() && now.action.Less(old.action),
			risk:   old.risk.Valid() && now.risk.Less(old.risk),
		}
		if l.action || l.risk {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b loss) int { return cmp.Compare(a.id, b.id) })
	return out
}

// stances is the rules by id. Of a rule that is listed twice the weaker values
// count, on both sides alike: a second, weaker entry is a weakening, the order
// of two entries is none.
func stances(rules []surface.PolicyRule) map[string]stance {
	out := make(map[string]stance, len(rules))
	for _, r := range rules {
		s := stance{line: r.Pos.Line}
		if a := Action(r.Action); a.Valid() {
			s.action = a
		}
		if k := Risk(r.Risk); k.Valid() {
			s.risk = k
		}
		if was, twice := out[r.ID]; twice {
			s = stance{action: weaker(was.action, s.action), risk: weaker(was.risk, s.risk), line: was.line}
		}
		out[r.ID] = s
	}
	return out
}

func weaker[T interface{ Less(T) bool }](a, b T) T {
	if b.Less(a) {
		return b
	}
	return a
}
