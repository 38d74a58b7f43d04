package decision

import (
	"fmt"
	"slices"

	"plimsoll.dev/internal/verify/check"
)

// conclude is the table of §8.2; the first condition that holds decides.
func (d *Decision) conclude(c contributions, degraded string) {
	g := &d.Coverage
	switch {
	case len(d.Blockers) > 0:
		first := d.Blockers[0]
		d.say(ByBlocker, Blocked, fmt.Sprintf("%s, %s first: %s", count(len(d.Blockers), "finding blocks", "findings block"), first.CheckID, ended(first.Title)))
	case c.high != "":
		d.say(ByHighReview, ReviewRequired, fmt.Sprintf("A new finding of high severity on a tool the agent reaches needs a person: %s.", c.high))
	case g.Binding.Gaps > 0:
		d.say(ByBindingGap, InsufficientEvidence, d.gapReason(bindingGap, "which tools the agent reaches"))
	case g.Semantic.Gaps > 0:
		d.say(BySemanticGap, InsufficientEvidence, d.gapReason(semanticGap, "what the tools do or with whose authority"))
	case g.PolicyGaps > 0:
		d.say(ByPolicyGap, InsufficientEvidence, d.gapReason(policyGap, "whether a policy applies"))
	case degraded != "":
		d.say(ByExtraction, InsufficientEvidence, degraded)
	case len(d.ReviewItems) > 0:
		d.say(ByReview, ReviewRequired, fmt.Sprintf("%s a person, %s first.",
			count(len(d.ReviewItems), "finding needs", "findings need"), d.ReviewItems[0].CheckID))
	case g.Semantic.Concerns > 0:
		d.say(ByReview, ReviewRequired, fmt.Sprintf("%s with authority that is not limited by scopes: a person decides.",
			count(g.Semantic.Concerns, "action works", "actions work")))
	case g.SourceWarnings > 0:
		d.say(ByReview, ReviewRequired, g.warnedReason())
	case g.ReviewRecommended:
		d.say(ByReview, ReviewRequired, recommended)
	default:
		d.say(ByNothing, Passed, "Every reachable tool is known, and nothing is open.")
	}
}

// warnedReason is what the warnings ask a person; what the change adds beside the
// declared agents is named before what was merely not understood.
func (c *Coverage) warnedReason() string {
	switch {
	case slices.Contains(c.besides, UndeclaredSource):
		return "The change adds what looks like tools or agents and no source reads: a person declares it or looks at it."
	case slices.Contains(c.besides, UnboundNewTool):
		return "The change adds a tool to a server whose other tools the agent has: a person says who has it."
	}
	return fmt.Sprintf("%s not understood in full: a person looks at what was left out.", count(c.SourceWarnings, "source was", "sources were"))
}

const recommended = "A tool was read with less than high confidence, or a severe finding rests on evidence that decides nothing: a person looks at it."

func (d *Decision) say(by Condition, verdict Verdict, reason string) {
	d.by, d.Decision, d.Reason = by, verdict, reason
}

// gapReason names the first gap of a family and what it leaves unknown.
func (d *Decision) gapReason(family gapFamily, unknown string) string {
	of := 0
	first := ""
	for i := range d.Coverage.Gaps {
		if g := &d.Coverage.Gaps[i]; families[g.Kind] == family {
			if of++; first == "" {
				first = fmt.Sprintf("%s (%s)", g.Subject, g.Kind)
			}
		}
	}
	if of == 1 {
		return fmt.Sprintf("One gap leaves open %s: %s.", unknown, first)
	}
	return fmt.Sprintf("%d gaps leave open %s, %s first.", of, unknown, first)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "One " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// failPolicy is §8.4. Advisory never fails. A finding that no control may rest
// on does not fail a run either: it could otherwise pass and fail at once.
func failPolicy(in *Input, d *Decision) FailPolicy {
	p := FailPolicy{Mode: in.Mode, FailOn: list(in.FailOn), NewOnly: in.NewOnly}
	if in.Mode != "strict" {
		return p
	}
	listed := slices.ContainsFunc(in.Findings, func(f check.Finding) bool {
		active := !f.Suppressed && !unsupported(&f) && (!in.NewOnly || f.BaselineStatus != matched)
		return active && slices.Contains(in.FailOn, f.Severity)
	})
	g := &d.Coverage
	p.WouldFail = listed || len(d.Blockers) > 0 || d.Decision == InsufficientEvidence ||
		g.Binding.Gaps > 0 || g.Semantic.Gaps > 0 || g.PolicyGaps > 0
	if p.WouldFail {
		p.ExitCode = ExitFailed
	}
	return p
}

// ExitFailed is the exit code of a strict run that failed (§1.1).
const ExitFailed = 20
