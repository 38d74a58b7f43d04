package check

import (
	"strings"

	"plimsoll.dev/internal/gate/rule"
)

// boundaryChecks are the rows of §12.8: one a boundary rule, in the rules' own
// order. The rules are listed once, in package rule; `check` evaluates them
// from the diff, so that no row has a Run.
func boundaryChecks() []*Check {
	var rows []*Check
	for _, r := range rule.Catalogue() {
		category := "host_boundary"
		if r.Family == rule.CodexFamily {
			category = "codex_boundary"
		}
		rows = append(rows, &Check{
			ID: r.CheckID, RuleID: r.ID, Category: category, Severity: Severity(r.Risk), Floor: boundaryFloor(r), Tier: Core,
			Title: r.Title, Description: "Looks in the files of coding-agent hosts that a change touches. " + r.Title + ".",
			Rationale:      "What a coding agent may do on its host is decided by such files. A change to them is a change of the agent's power, made by the agent or beside it.",
			FiresWhen:      "The diff shows one of these kinds: " + strings.Join(r.Kinds, ", ") + ".",
			EvidenceFields: []string{"kind", "path"},
			Recommendation: r.Recommendation,
			HumanReview:    !r.AgentSafe, PatchKind: Manual, HumanAlways: !r.AgentSafe,
		})
	}
	return rows
}

// boundaryFloor is the floor column of §12.8.
func boundaryFloor(r *rule.Rule) Severity {
	switch r {
	case &rule.CodexMCPAutoApproveWrite, &rule.CodexCIGateRemoved, &rule.CodexPolicyWeakened:
		return Critical
	}
	if r.Risk == rule.Critical {
		return High
	}
	return Medium
}
