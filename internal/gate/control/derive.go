package control

import "plimsoll.dev/internal/gate/rule"

// Derive is the control of a judged change: the first row of the table that
// holds (§7.3).
func Derive(f Facts) Control {
	j := judge(&f)
	return j.row().then(j)
}

// judged is Facts with the predicates of the table worked out once. The letters
// are those of §7.3.
type judged struct {
	*Facts
	d      rule.Action
	g      bool // D is require_review and the graded band holds
	backed bool
}

func judge(f *Facts) *judged {
	d := f.Decision()
	return &judged{Facts: f, d: d, g: d == rule.RequireReview && f.Graded(), backed: f.EvidenceBacked()}
}

func (j *judged) row() *derivation {
	for i := range table {
		if table[i].when(j) {
			return &table[i]
		}
	}
	panic("control: the last row of the table holds always")
}

// derivation is one row of the table.
type derivation struct {
	number string
	when   func(*judged) bool
	then   func(*judged) Control
}

// table is §7.3, in order; the first row that holds wins. People's rows stand
// before agent routes, so that no capability gap can turn a stop into a task.
var table = []derivation{
	{
		// Between rows 1 and 2 in the spec; it stands first because it is the
		// exception to row 1. A block may not be published, so the route gives no
		// permission but the named command.
		number: "repair",
		when: func(j *judged) bool {
			return j.d == rule.Block && j.agentSafe() && j.Mode.Replayable() && j.backed && j.Covered
		},
		then: func(j *judged) Control {
			return agent(j.blockReason(), Action{Kind: Repair, Command: RerunCommand(j.Agent), Why: whyRepair}, false, j.owes())
		},
	},
	{
		number: "1",
		when:   func(j *judged) bool { return j.d == rule.Block },
		then: func(j *judged) Control {
			return human(j.blockReason(), Stop, j.why(), j.owes(), j.reviewers())
		},
	},
	{
		// An incomplete input always has a row that asks for review. Should that
		// ever fail, incomplete coverage stops the change by itself.
		number: "2",
		when: func(j *judged) bool {
			return j.d == rule.RequireReview && !j.backed || !j.Covered
		},
		then: func(j *judged) Control {
			return human(j.unreadReason(), Review, j.why(), j.owes(), j.reviewers())
		},
	},
	{
		number: "4",
		when:   func(j *judged) bool { return !j.Mode.Replayable() && (j.owes() || j.g) },
		then:   func(*judged) Control { return human(detached, Review, detached, true, nil) },
	},
	{
		number: "5",
		when: func(j *judged) bool {
			return j.d == rule.RequireReview && !j.g && !j.Mode.Replayable()
		},
		then: func(j *judged) Control {
			return human(j.detachedReason(), Review, j.why(), j.owes(), j.reviewers())
		},
	},
	{
		number: "6",
		when:   func(j *judged) bool { return j.d == rule.RequireReview && !j.g },
		then: func(j *judged) Control {
			return publish(j.publishReason(), j.why(), VerifyCommand(j.Subject), j.owes(), j.reviewers())
		},
	},
	{
		number: "7",
		when:   func(j *judged) bool { return j.Undeclared && j.Adopted && j.Mode.DiscoveryReplayable() },
		then: func(j *judged) Control {
			return j.route(undeclaredReason, Action{Kind: Discover, Command: DetectCommand(j.Subject), Why: whyDiscover})
		},
	},
	{
		// Detection would look at another tree than the range's (OP-27).
		number: "7a",
		when:   func(j *judged) bool { return j.Undeclared && j.Adopted },
		then: func(j *judged) Control {
			return j.route(undeclaredReason, Action{Kind: Verify, Command: VerifyCommand(j.Subject), Why: whyVerifyRange})
		},
	},
	{
		number: "8",
		when:   func(j *judged) bool { return j.Undeclared },
		then: func(j *judged) Control {
			return j.route(unadoptedReason, Action{Kind: Configure, Command: PreviewCommand(j.Subject), Why: whyConfigure})
		},
	},
	{
		number: "9",
		when:   func(j *judged) bool { return j.g },
		then: func(j *judged) Control {
			return j.route("", Action{Kind: Verify, Command: VerifyCommand(j.Subject), Why: whyVerifyGraded})
		},
	},
	{
		number: "10",
		when:   func(j *judged) bool { return j.Declared || j.Forced },
		then: func(j *judged) Control {
			reason, why := forcedReason, whyVerifyForced
			if j.Declared {
				reason, why = declaredReason, whyVerifyDeclared
			}
			return j.route(reason, Action{Kind: Verify, Command: VerifyCommand(j.Subject), Why: why})
		},
	},
	{
		number: "11",
		when:   func(*judged) bool { return true },
		then:   func(j *judged) Control { return complete(j.completeReason()) },
	},
}

// route is an agent's next step on a subject that may be published. Rows that
// still owe a review come first in the reason.
func (j *judged) route(reason string, next Action) Control {
	if j.g {
		reason = j.gradedReason()
	}
	return agent(reason, next, j.Publishable(), true)
}
