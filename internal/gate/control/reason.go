package control

import (
	"fmt"

	"plimsoll.dev/internal/gate/rule"
)

// The sentences of the routes. They are product copy: agents repeat them to
// people, so each says what is owed and never only what went wrong.
const (
	detached = "A detached diff cannot be verified; run the check on the worktree or with both refs."

	undeclaredReason = "A changed capability surface is not declared in the manifest."
	unadoptedReason  = "A capability surface changed and the repository has no manifest."
	declaredReason   = "A declared tool source changed; verification is owed."
	forcedReason     = "The repository has adopted the gate; verification is owed."

	whyRepair         = "Apply the repair, then run the same check again."
	whyDiscover       = "Detection names the surfaces that the manifest lacks."
	whyVerifyRange    = "Verification reads the head tree and names what the manifest lacks."
	whyConfigure      = "The preview shows what the gate would check here."
	whyVerifyGraded   = "Verification records the review this change owes."
	whyVerifyDeclared = "Verification decides about the changed tool source."
	whyVerifyForced   = "An adopted repository verifies every change."
)

// changes is "1 boundary change" or "3 boundary changes".
func changes(n int) string {
	if n == 1 {
		return "1 boundary change"
	}
	return fmt.Sprintf("%d boundary changes", n)
}

// verb is one or many, by n.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func (j *judged) blockReason() string {
	blocked := 0
	for i := range j.Rows {
		if j.Rows[i].Action == rule.Block {
			blocked++
		}
	}
	n := len(j.Rows)
	if blocked == n {
		return changes(n) + verb(n, " is", " are") + " blocked."
	}
	return fmt.Sprintf("%d of %s%s blocked.", blocked, changes(n), verb(blocked, " is", " are"))
}

func (j *judged) needs() string {
	n := len(j.Rows)
	return changes(n) + verb(n, " needs", " need")
}

func (j *judged) unreadReason() string {
	if len(j.Rows) == 0 {
		return unread
	}
	return j.needs() + " a person; part of the change cannot be judged."
}

const unread = "Part of the change could not be read."

func (j *judged) detachedReason() string {
	return j.needs() + " a person's decision; a detached diff cannot be published."
}

func (j *judged) publishReason() string { return j.needs() + " a person's decision before merge." }

func (j *judged) gradedReason() string {
	return j.needs() + " review on the pull request; run " + j.step() + " and report " +
		verb(len(j.Rows), "it.", "them.")
}

// step is the command of the route that a graded change takes.
func (j *judged) step() string {
	switch {
	case !j.Undeclared, j.Adopted && !j.Mode.DiscoveryReplayable():
		return "verify"
	case j.Adopted:
		return "detect"
	default:
		return "the preview"
	}
}

func (j *judged) completeReason() string {
	if n := len(j.Rows); n > 0 {
		return changes(n) + verb(n, " is", " are") + " noted; none needs action."
	}
	return "No recognised boundary change needs action."
}

// why is the title of the first row in result order, or the explanation.
func (j *judged) why() string {
	if len(j.Rows) > 0 {
		return j.Rows[0].Title
	}
	return unread
}
