package control

import "plimsoll.dev/internal/gate/rule"

// Advice is what a result says beside its control about mending the change.
type Advice struct {
	Repair         RepairPlan
	SuggestedFixes []string
	Instructions   []string // agent_repair_instructions
	Pending        []Pending
}

// RepairPlan is the member repair of a result (§7.6).
type RepairPlan struct {
	Actor              Actor    `json:"actor"`
	SafeToAttempt      bool     `json:"safe_to_attempt"`
	Instructions       []string `json:"instructions"`
	Command            string   `json:"command,omitempty"`
	ForbiddenShortcuts []string `json:"forbidden_shortcuts"`
}

// Pending is a row that still owes a person's review while the agent goes on.
type Pending struct {
	CheckID   string    `json:"check_id"`
	RuleID    string    `json:"rule_id"`
	Path      string    `json:"path,omitempty"`
	Risk      rule.Risk `json:"risk_level"`
	Title     string    `json:"title"`
	Reviewers []string  `json:"reviewers"`
	Note      string    `json:"note"`
}

const pendingNote = "A person still reviews this on the pull request."

// adviceRows is how many rows advice repeats (§7.6).
const adviceRows = 5

// ForbiddenShortcuts is what no caller may do to get through, on every result,
// followed by more that only some results name.
func ForbiddenShortcuts(more ...string) []string {
	return append([]string{
		"Do not hide the finding with checks.ignore in the manifest.",
		"Do not lower a severity or add a waiver to get through.",
		"Do not claim approval, idempotency or audit evidence the code does not show.",
		"Do not loosen the release policy, the CI gate or the agent instructions that judge this change.",
	}, more...)
}

// Advise is the advice that goes with Derive(f).
func Advise(f Facts) Advice {
	j := judge(&f)
	row := j.row()
	c := row.then(j)
	recommendations := make([]string, 0, adviceRows)
	for i := range f.Rows[:min(len(f.Rows), adviceRows)] {
		recommendations = append(recommendations, f.Rows[i].Recommendation)
	}

	a := Advice{
		Repair: RepairPlan{
			Actor: CodingAgent, Instructions: recommendations, ForbiddenShortcuts: ForbiddenShortcuts(),
		},
		SuggestedFixes: recommendations,
		Instructions:   []string{},
		Pending:        j.pending(c.State()),
	}
	if j.d == rule.RequireReview || j.d == rule.Block {
		a.Repair.Actor = Human
		a.Instructions = recommendations
	}
	switch {
	case row.number == "4":
		a.SuggestedFixes = []string{detached}
	case len(f.Rows) == 0:
		a.SuggestedFixes = c.AllowedNextCommands()
	}
	if c.next != nil && c.next.Kind == Repair {
		a.Repair.Actor, a.Repair.SafeToAttempt, a.Repair.Command = CodingAgent, true, c.next.Command
		a.Repair.Instructions = append(recommendations[:len(recommendations):len(recommendations)], c.next.Command)
	}
	return a
}

// pending lists the reviews an agent route leaves open. A graded row owes the
// reviewers a stop would have named.
func (j *judged) pending(s State) []Pending {
	list := []Pending{}
	if s != AgentActionRequired || j.d != rule.RequireReview {
		return list
	}
	for i := range j.Rows {
		r := &j.Rows[i]
		if r.Action != rule.RequireReview {
			continue
		}
		list = append(list, Pending{
			CheckID: r.CheckID, RuleID: r.RuleID, Path: r.Path, Risk: r.Risk, Title: r.Title,
			Reviewers: j.reviewers(), Note: pendingNote,
		})
	}
	return list
}
