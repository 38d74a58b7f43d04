package control

import (
	"slices"

	"plimsoll.dev/internal/gate/rule"
)

// Mode is the value of input_mode (docs/spec/boundary.md §1).
type Mode string

// The input modes.
const (
	Worktree     Mode = "worktree"
	GitRange     Mode = "git_range"
	ProvidedDiff Mode = "provided_diff"
)

// Replayable says whether verify can rebuild the subject from the checkout or
// from two refs.
func (m Mode) Replayable() bool { return m == Worktree || m == GitRange }

// DiscoveryReplayable says whether detection, which looks at the checkout,
// looks at the tree that was judged.
func (m Mode) DiscoveryReplayable() bool { return m != GitRange }

// Row is what the route needs to know of one row of violations[].
type Row struct {
	RuleID, CheckID string
	Action          rule.Action
	Risk            rule.Risk
	Title, Path     string
	Recommendation  string
	Kind            string // of the evidence
	GovernsGate     bool   // by its recorded class or the class of its path (§4.2)
	Experimental    bool   // on a path of an experimental adapter
	AgentSafe       bool   // its rule may be repaired by an agent (§7.6)
}

// Facts is everything the route depends on.
type Facts struct {
	Mode    Mode
	Subject Subject
	Agent   string // for the rerun command
	Rows    []Row  // in result order (§9.1)
	// Covered: input_coverage is complete and every adapter is complete or not
	// applicable.
	Covered bool
	// Undeclared and Declared are the two capability gaps (§6.3, §6.4).
	Undeclared, Declared bool
	// Adopted: the manifest exists in the subject. Forced: the trigger catalog
	// forces a run, which adoption does.
	Adopted, Forced bool
}

// Decision is the highest action over all rows; a capability gap turns allow
// into warn (§7.1).
func (f *Facts) Decision() rule.Action {
	d := rule.Allow
	for i := range f.Rows {
		if d.Less(f.Rows[i].Action) {
			d = f.Rows[i].Action
		}
	}
	if d == rule.Allow && (f.Undeclared || f.Declared) {
		return rule.Warn
	}
	return d
}

// RiskLevel is the highest risk over all rows.
func (f *Facts) RiskLevel() rule.Risk {
	risk := rule.None
	for i := range f.Rows {
		if risk.Less(f.Rows[i].Risk) {
			risk = f.Rows[i].Risk
		}
	}
	return risk
}

const (
	inputIncomplete    = "BOUNDARY-INPUT-INCOMPLETE"
	requirementRemoved = "CODEX-AGENTS-SHIPGATE-REQUIREMENT-REMOVED"
	codexParseFailed   = "CODEX-CONFIG-PARSE-FAILED"
	hostParseFailed    = "HOST-CONFIG-PARSE-FAILED"
	unknownKey         = "unknown_host_config_key"
)

// unread says that the row stands for content that was not read.
func (r *Row) unread() bool {
	switch r.RuleID {
	case inputIncomplete:
		return true
	case codexParseFailed, hostParseFailed:
		return r.Kind != unknownKey
	}
	return false
}

// graded says whether the row alone may be left to review on the pull request.
func (r *Row) graded() bool {
	switch {
	case r.Action == rule.Block, r.Risk == rule.Critical,
		r.Action == rule.RequireReview && r.Risk != rule.Low && r.Risk != rule.Medium,
		r.RuleID == requirementRemoved, r.unread(), r.GovernsGate, r.Experimental:
		return false
	}
	return true
}

// Graded holds when there are rows and all of them are of the graded band (§7.2).
func (f *Facts) Graded() bool {
	return len(f.Rows) > 0 && !slices.ContainsFunc(f.Rows, func(r Row) bool { return !r.graded() })
}

// EvidenceBacked holds when every row rests on content that was read by a
// trusted adapter. Severity does not matter (§7.2).
func (f *Facts) EvidenceBacked() bool {
	return !slices.ContainsFunc(f.Rows, func(r Row) bool { return r.unread() || r.Experimental })
}

// Publishable holds when verification can show a person the same evidence.
func (f *Facts) Publishable() bool {
	return f.Mode.Replayable() && f.EvidenceBacked() && f.Covered
}

// agentSafe holds when every row may be repaired by an agent; one row for a
// person takes the route away.
func (f *Facts) agentSafe() bool {
	return len(f.Rows) > 0 && !slices.ContainsFunc(f.Rows, func(r Row) bool { return !r.AgentSafe })
}

// reviewers is who looks at human rows (§7.5).
func (f *Facts) reviewers() []string {
	list := []string{"agent-platform"}
	if f.Decision() == rule.Block || f.RiskLevel() == rule.Critical {
		list = append(list, "security")
	}
	return list
}

// owes says whether verification is owed for a reason other than rows.
func (f *Facts) owes() bool { return f.Undeclared || f.Declared || f.Forced }
