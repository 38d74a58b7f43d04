package risk

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/pipeline/contract"
)

// Boundary is what the gate said of a change, cut down to what the Policy
// Engine and the Validator read: the control state, the route it gives the
// agent, its rows, and the outcome of the fresh verify artifact for the same
// commits ("" while there is none).
type Boundary struct {
	ControlState string
	RouteKind    string
	Rows         []Row
	Verify       string
}

// Row is one row of a boundary result.
type Row struct {
	RuleID   string
	Decision string
	Level    contract.Level
}

type raise struct {
	what  string
	level contract.Level
}

// raises is what raises the level, rows sorted by rule id before the two states
// that do (rulings R10).
func (b *Boundary) raises() []raise {
	var list []raise
	for _, r := range b.Rows {
		switch {
		case r.Decision == "block" || r.Level == contract.Critical:
			list = append(list, raise{r.RuleID, contract.Critical})
		case r.Decision == "require_review" && r.Level == contract.High:
			list = append(list, raise{r.RuleID, contract.High})
		}
	}
	slices.SortStableFunc(list, func(a, b raise) int { return strings.Compare(a.what, b.what) })
	if b.ControlState == "review_publishable" {
		list = append(list, raise{"review_publishable", contract.High})
	}
	if b.owesVerify() && b.Verify == "review_required" {
		list = append(list, raise{"verify_review_required", contract.High})
	}
	return list
}

func (b *Boundary) owesVerify() bool {
	return b.ControlState == "agent_action_required" && b.RouteKind == "verify"
}

// Admits is what the boundary result leaves of a verdict: Passed when the
// criteria may decide, else Blocked or Failed with the reason. Only the control
// state counts, not the rows; a state or outcome from outside the protocol
// blocks, because nobody has judged the change then.
func (b *Boundary) Admits() (status contract.Status, reason string) {
	if b == nil {
		return contract.Passed, ""
	}
	switch b.ControlState {
	case "complete", "review_publishable":
		return contract.Passed, ""
	case "human_review_required":
		return contract.Blocked, "the boundary result asks for a person"
	case "agent_action_required":
		if b.RouteKind != "verify" {
			return contract.Failed, "the boundary result asks the agent to " + b.RouteKind
		}
	default:
		return contract.Blocked, "the boundary result has the unknown state " + b.ControlState
	}
	switch b.Verify {
	case "passed", "review_required":
		return contract.Passed, ""
	case "":
		return contract.Blocked, "verification owed"
	}
	return contract.Blocked, "verification came to " + b.Verify
}
