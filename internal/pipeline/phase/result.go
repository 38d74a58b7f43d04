package phase

import (
	"slices"

	"plimsoll.dev/internal/pipeline/contract"
)

// Result is the end of a series of runs, as it is judged.
type Result struct {
	Phase       Phase
	Outcome     Outcome
	CriteriaMet bool            // every criterion of the plan and of the result has a passing check
	DiffChanged bool            // the diff hash is not the one the Acceptance was made for
	Admits      contract.Status // what the boundary result leaves of the verdict (risk.Boundary.Admits)
	BlockedFor  contract.Cause  // why a Blocked outcome could not be done

	Returns, MaxReturns int
}

// Consequence is what a Result brings about. Acceptance is the status of the
// version that is created or revised, "" when it is not touched. To is the
// phase the chain moves to, "" when it stays. Freeze is the cause for which the
// TaskSeed is frozen, in the transaction that persists the Acceptance. Owed says
// that a return to Build was held back.
//
// A success in Refactor leads on when the reviews are in, and one in Publish
// publishes: both are steps of their own, so To is "" for them.
type Consequence struct {
	Acceptance contract.Status
	To         Phase
	Freeze     contract.Cause
	Owed       bool
}

// Judge is the table of docs/spec/contracts.md §4.5.
//
// An Acceptance that the boundary result blocks (rulings R10) neither moves nor
// freezes the chain: a fresh verify artifact, which needs an Active TaskSeed,
// or a person lifts it.
func Judge(r Result) Consequence {
	if r.Outcome == Blocked {
		c := Consequence{Freeze: r.BlockedFor}
		if r.Phase == Build || r.Phase == Stabilize {
			c.Acceptance = contract.Blocked
		}
		return c
	}
	switch r.Phase {
	case Build:
		if r.Outcome.Failure() {
			return Consequence{Acceptance: contract.Failed, Freeze: contract.PhaseExhausted}
		}
		return Consequence{Acceptance: contract.Pending, To: Stabilize}
	case Stabilize:
		return r.verdict()
	case Refactor:
		if r.Outcome.Failure() {
			return Consequence{Freeze: contract.PhaseExhausted}
		}
		if r.DiffChanged {
			return r.back(contract.Pending)
		}
	case Publish:
		if r.Outcome.Failure() {
			return Consequence{Freeze: contract.PhaseExhausted}
		}
	case Plan, Published:
	}
	return Consequence{}
}

func (r Result) verdict() Consequence {
	switch {
	case r.Outcome.Failure():
		return r.back(contract.Failed)
	case r.Admits == contract.Blocked:
		return Consequence{Acceptance: contract.Blocked}
	case r.Admits == contract.Failed || !r.CriteriaMet:
		return r.back(contract.Failed)
	}
	return Consequence{Acceptance: contract.Passed, To: Refactor}
}

// back returns to Build as long as the bound allows it.
func (r Result) back(status contract.Status) Consequence {
	if _, err := Return(r.Returns, r.MaxReturns); err != nil {
		return Consequence{Acceptance: status, Freeze: contract.PhaseExhausted, Owed: true}
	}
	return Consequence{Acceptance: status, To: Build}
}

// Check is how one criterion fared.
type Check struct {
	Criterion string
	Passed    bool
}

// Criteria is the criteria an Acceptance has: those of the plan, one per step
// and in order, or those of the version before, then those the result adds. Nobody chooses what the own work is
// measured by, so a result never drops one.
func Criteria(plan []string, checks []Check) []string {
	criteria := slices.Clone(plan)
	for _, c := range checks {
		if !slices.Contains(criteria, c.Criterion) {
			criteria = append(criteria, c.Criterion)
		}
	}
	return criteria
}

// Met says whether every criterion has a passing check and none a failing one.
func Met(criteria []string, checks []Check) bool {
	passed := map[string]bool{}
	for _, c := range checks {
		if !c.Passed {
			return false
		}
		passed[c.Criterion] = true
	}
	for _, text := range criteria {
		if !passed[text] {
			return false
		}
	}
	return len(criteria) > 0
}
