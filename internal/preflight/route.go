package preflight

import (
	"errors"
	"fmt"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify"
)

// command is what the commands of a result repeat of the call.
type command struct{ workspace, config string }

func (e *evaluation) command() command { return command{e.in.Workspace, e.in.Config} }

// verify is the verification of the workspace. Without a manifest there is
// nothing to verify yet: its preview says what to do first.
func (c command) verify(adopted bool) string {
	v := verify.Command{Workspace: c.workspace, Config: c.config}
	if !adopted {
		return v.Preview()
	}
	return v.String()
}

// doctor is the command that says what is wrong with a manifest.
func (c command) doctor() string {
	s := "agents-shipgate doctor"
	if c.workspace != "." {
		s += " --workspace " + control.Quote(c.workspace)
	}
	return s + " --config " + control.Quote(c.config) + " --json"
}

// route is the control: a person's signal stops, everything else leads to a
// verification. Nothing is ever complete here.
func (e *evaluation) route(r *Result) error {
	outcome := control.Outcome{Owed: true}
	var first *Signal
	human, gather := 0, true
	for i := range r.Signals {
		if s := &r.Signals[i]; s.Actor == control.Human {
			if first == nil {
				first = s
			}
			human++
			gather = gather && s.Kind == MissingEvidence
		}
	}
	if first != nil {
		r.RequiresHumanReview = true
		outcome.Reason = reasonFor(human)
		outcome.Person = &control.Person{Why: first.Reason, Reviewers: reviewers(r.Signals)}
		r.FirstNextAction = NextAction{Kind: "review", Actor: control.Human, Why: first.Reason}
		if gather {
			r.FirstNextAction.Kind = "gather_evidence"
		}
		// A command beside a stop would read as a way on.
		for i := range r.Signals {
			r.Signals[i].RelatedCommand = nil
		}
	} else {
		verification := e.command().verify(e.adopted)
		why := "Nothing protected is touched: make the planned change, then verify it."
		switch {
		case e.in.Plan.Empty():
			why = "Nothing was planned; only a verification can complete the task."
		case !e.adopted:
			why = "Nothing protected is touched: make the planned change. There is no manifest to verify it by; the preview says what to do first."
		}
		outcome.Reason = why
		outcome.Route = &control.Action{Kind: control.Verify, Command: verification, Why: why}
		r.VerificationCommand = &verification
		r.FirstNextAction = NextAction{Kind: "verify", Actor: control.CodingAgent, Command: &verification, Why: why}
	}
	c, err := control.Conclude(outcome)
	if err != nil {
		return fmt.Errorf("preflight: %w", err)
	}
	r.Control, r.AllowedNextCommands = c, c.AllowedNextCommands()
	return nil
}

func reasonFor(signals int) string {
	if signals == 1 {
		return "The plan needs a person's decision before the change is made."
	}
	return fmt.Sprintf("The plan needs a person's decision on %d points before the change is made.", signals)
}

// reviewers is who looks at a plan, as check names them (docs/spec/boundary.md §7.5).
func reviewers(list []Signal) []string {
	out := []string{"agent-platform"}
	for i := range list {
		if list[i].Severity == Critical && list[i].Actor == control.Human {
			return append(out, "security")
		}
	}
	return out
}

var errContradicted = errors.New("preflight: the members of the result contradict each other")

// check is the invariants of the schema (§13.2).
func (r *Result) check() error {
	person := r.Control.State() == control.HumanReviewRequired
	permissions := r.Control.Permissions()
	switch {
	case person != r.RequiresHumanReview, person != (r.FirstNextAction.Actor == control.Human),
		person && (len(r.AllowedNextCommands) > 0 || r.FirstNextAction.Command != nil || r.VerificationCommand != nil),
		!person && r.Control.State() != control.AgentActionRequired,
		permissions != control.Permissions{},
		r.TrustRootGraphHash != r.TrustRootGraph.Hash,
		r.PlanSummary.HumanSignals > 0 != person:
		return errContradicted
	}
	return nil
}
