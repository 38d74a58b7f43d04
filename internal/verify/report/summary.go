package report

import (
	"fmt"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
)

// Headline is the verdict and its reason in one line.
func Headline(d *decision.Decision) string {
	switch d.Decision {
	case decision.Passed:
		return "Passed: " + d.Reason
	case decision.Blocked:
		return "Blocked: " + d.Reason
	case decision.InsufficientEvidence:
		return "Not enough evidence: " + d.Reason
	case decision.ReviewRequired:
	}
	return "A person has to look: " + d.Reason
}

// AgentSummary is the result for an agent that reads no further.
func (in *Input) AgentSummary() *AgentSummary {
	d := in.Decision
	s := &AgentSummary{
		Verdict: string(d.Decision), Headline: Headline(d), Blockers: len(d.Blockers), ReviewItems: len(d.ReviewItems),
		EvidenceGaps: len(d.Coverage.Gaps), SourceWarning: d.Coverage.SourceWarnings,
	}
	var patched *check.Finding
	for _, f := range in.findings() {
		if f.Suppressed {
			continue
		}
		if f.AgentAction == check.AutoApply {
			s.AutoPatches++
			if patched == nil {
				patched = f.Finding
			}
		}
		if f.HumanReview {
			s.NeedsHuman++
		}
	}
	s.FirstAction = in.firstAction(patched)
	return s
}

func (in *Input) firstAction(patched *check.Finding) FirstAction {
	d := in.Decision
	switch {
	case d.Decision == decision.Passed:
		return FirstAction{Kind: "info", Why: "Nothing is open."}
	case patched != nil && len(d.Coverage.Gaps) == 0:
		return FirstAction{Kind: "apply_patch", Why: fmt.Sprintf("%s has a patch that a machine may apply: %s", patched.CheckID, patched.Recommendation)}
	case len(d.Blockers) > 0:
		return FirstAction{Kind: "review", Why: fmt.Sprintf("%s blocks the release: %s", d.Blockers[0].CheckID, d.Blockers[0].Title)}
	case d.Decision == decision.InsufficientEvidence && len(d.Coverage.Gaps) > 0:
		g := &d.Coverage.Gaps[0]
		return FirstAction{Kind: "declare", Why: fmt.Sprintf("%s: a person adds %s.", g.Subject, g.Next.Expects)}
	case len(d.ReviewItems) > 0:
		return FirstAction{Kind: "review", Why: fmt.Sprintf("%s wants a person: %s", d.ReviewItems[0].CheckID, d.ReviewItems[0].Title)}
	}
	return FirstAction{Kind: "review", Why: d.Reason}
}

// maxQuestions is how many questions a summary asks.
const maxQuestions = 5

// ReviewerSummary is the result for a person: the questions that only people can
// answer, those that decided first.
func (in *Input) ReviewerSummary() *ReviewerSummary {
	d := in.Decision
	s := &ReviewerSummary{Headline: Headline(d), Questions: []string{}}
	open := func(n int) int { return min(n, maxQuestions-len(s.Questions)) }
	for _, items := range [][]decision.Item{d.Blockers, d.ReviewItems} {
		for i := range items[:open(len(items))] {
			s.Questions = append(s.Questions, fmt.Sprintf("May this be released: %s (%s)?", items[i].Title, items[i].CheckID))
		}
	}
	for i := range d.Coverage.Gaps[:open(len(d.Coverage.Gaps))] {
		g := &d.Coverage.Gaps[i]
		s.Questions = append(s.Questions, g.Subject+": "+g.Next.Expects)
	}
	return s
}
