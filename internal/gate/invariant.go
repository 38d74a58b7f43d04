package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
)

// check refuses a result that contradicts itself (§8): no answer is better than
// one that lets an agent go on for the wrong reason.
func (r *Result) check() error {
	if err := r.contradiction(); err != nil {
		return fault.E("gate.Check", fault.Internal, "result contradicts itself", err)
	}
	return nil
}

func (r *Result) contradiction() error {
	uncovered := slices.ContainsFunc(r.HostCoverage, HostCoverage.uncovered)
	covered := r.InputCoverage == CoverageComplete && !uncovered
	switch {
	case r.Actor != r.Agent:
		return fmt.Errorf("actor %s and agent %s differ", r.Actor, r.Agent)
	case !sameRows(r.Violations, r.ViolatedRules):
		return errors.New("violations and violated_rules differ")
	case r.Control.State() == control.Complete &&
		(!covered || len(r.PendingReview) > 0 || r.Repair.SafeToAttempt):
		return errors.New("complete with incomplete coverage, pending review or a repair")
	case r.Control.State() != control.Complete && r.Control.Permissions().UpdatePR && (r.Decision == rule.Block || !covered):
		return errors.New("permission to publish with a block or incomplete coverage")
	}
	_, _, reviewers := r.Control.HumanReview()
	if !slices.Equal(reviewers, r.RequiredReviewers) {
		return errors.New("required_reviewers differ from those of the control")
	}
	return nil
}

func sameRows(a, b []Violation) bool {
	return slices.EqualFunc(a, b, func(x, y Violation) bool {
		left, err1 := json.Marshal(x)
		right, err2 := json.Marshal(y)
		return err1 == nil && err2 == nil && string(left) == string(right)
	})
}
