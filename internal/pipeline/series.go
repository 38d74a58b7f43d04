package pipeline

import (
	"fmt"
	"maps"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
)

// This file is the end of a series of runs: its event, the step of the phase
// where that does not wait for the Validator, and what is asked of the Validator
// (docs/spec/contracts.md §4.5).

func (x *session) series(run *Run, d *runDetails, e ending, changed bool) error {
	w, p := x.w, phase.Phase(run.Phase)
	task := w.row(run.TaskSeed)
	if err := x.complete(run, d, e); err != nil {
		return err
	}
	d.Outcome, d.BlockedFor, d.DiffChanged = e.outcome, e.blockedFor, changed
	result := phase.Result{
		Phase: p, Outcome: e.outcome, DiffChanged: changed, BlockedFor: e.blockedFor,
		Returns: int(w.chain.Returns), MaxReturns: x.s.conf.MaxReturns,
	}
	w.d.Runs, w.chain.FailedRuns = 0, 0
	if p == phase.Stabilize {
		if e.outcome == phase.Succeeded {
			w.chain.HeadCommit = run.HeadCommit // another commit with the same diff
		}
		return x.await(run, true)
	}
	c := phase.Judge(result)
	d.Consequence = &c
	if e.outcome == phase.Succeeded {
		w.chain.HeadCommit = run.HeadCommit
		switch p {
		case phase.Build:
			w.chain.BaseCommit, w.chain.DiffHash = run.BaseCommit, run.DiffHash
		case phase.Refactor:
			w.chain.DiffHash = run.DiffHash
		case phase.Plan, phase.Stabilize, phase.Publish, phase.Published:
		}
		if changed {
			w.d.Refactored = ""
		}
	}
	if c.Owed {
		x.owe(task, p)
	}
	if c.To != "" {
		r := phase.Request{
			Role: run.Role, UnitTestsPassed: true, DiffChanged: changed,
			Proofs: phase.Needed(p), Level: w.level(nil).Level,
		}
		if err := x.stepTo(task, c.To, contract.Actor{ID: run.Actor, Role: run.Role}, r); err != nil {
			return err
		}
	}
	if c.Acceptance != "" {
		return x.await(run, c.Freeze != "")
	}
	if c.Freeze != "" {
		return x.freeze(task, c.Freeze)
	}
	switch p {
	case phase.Refactor:
		w.d.Refactored = run.Role
	case phase.Publish:
		return x.publishChain(run)
	case phase.Plan, phase.Build, phase.Stabilize, phase.Published:
	}
	return nil
}

// owe records that a return to Build was held back.
func (x *session) owe(task *Contract, from phase.Phase) {
	x.w.d.Owed = true
	_, err := phase.Return(int(x.w.chain.Returns), x.s.conf.MaxReturns)
	x.note(x.orchestrator(), "phase.step", task, event.Record{
		From: string(from), To: string(phase.Build), ErrorCode: string(refusal.CodeOf(err)), ErrorMessage: err.Error(),
	})
}

// await puts the result in line for the Validator.
func (x *session) await(run *Run, hold bool) error {
	x.w.d.Due = append(x.w.d.Due, due{Execution: run.ExecutionID, Hold: hold})
	return x.judgeLater(run.ExecutionID, "")
}

func (x *session) judgeLater(execution, again string) error {
	task := x.w.taskRow()
	key := execution + "/validator"
	if again != "" {
		key += "/" + again
	}
	args := targetArgs{Chain: x.w.chain.ID, ID: task.Ref().ID, Version: task.Ref().Version, Key: execution}
	return x.enqueue(JobJudge, key, x.w.chain.ID, args, time.Time{})
}

// complete announces the end of the series.
func (x *session) complete(run *Run, d *runDetails, e ending) error {
	w := x.w
	cause := w.d.Completed
	if cause == "" {
		cause = x.cause(&Contract{Source: run.TaskSeed}, event.EvidenceCreated)
	}
	head := run.HeadCommit
	if head == "" {
		head = run.BaseCommit
	}
	signals := map[string]bool{}
	for _, s := range w.d.Union.List() {
		signals[string(s)] = true
	}
	var facts []canonical.Object
	for _, f := range w.d.Facts {
		facts = append(facts, fact(f))
	}
	done := event.Completed(
		event.Subject{Kind: string(contract.KindTaskSeed), ID: string(run.TaskSeed.ID), Version: run.TaskSeed.Version},
		event.Origin{Chain: string(w.chain.ID), Correlation: w.chain.Correlation, Cause: cause, At: x.at().String()},
		event.Execution{
			ID: run.ExecutionID, Phase: string(run.Phase), Outcome: string(e.outcome), ActorID: string(run.Actor), Role: string(run.Role),
			StartTime: contract.At(run.StartedAt).String(), EndTime: contract.At(run.EndedAt).String(),
			BaseCommit: run.BaseCommit, HeadCommit: head, Runs: int(w.d.Runs), Signals: maps.Clone(signals), Facts: facts, Checks: d.Checks,
		})
	w.d.Completed, d.Completed = done.ID, done.ID
	return x.Emit(done)
}

// fact is a fact as the event has it: members that do not apply are absent.
func fact(f risk.Fact) canonical.Object {
	o := canonical.Object{{Key: "action", Value: f.Action}}
	for _, m := range []struct{ key, value string }{
		{"environment", f.Environment},
		{"resource", f.Resource},
		{"dataClass", f.DataClass},
		{"boundary", f.Boundary},
		{"category", f.Category},
		{"certainty", f.Certainty},
	} {
		if m.value != "" {
			o = append(o, canonical.Member{Key: m.key, Value: m.value})
		}
	}
	if f.Reversible != nil {
		o = append(o, canonical.Member{Key: "reversible", Value: *f.Reversible})
	}
	return o
}

// evidenceKey is the idempotency key of the Evidence of a run.
func evidenceKey(run *Run) string {
	return fmt.Sprintf("%s:%d:%s:%s", run.TaskSeed.ID, run.TaskSeed.Version, contract.KindEvidence, run.ExecutionID)
}

// withSignals is the work as it is with what a run observed.
func (w *work) withSignals(s risk.Signals) *work {
	c := *w
	c.d.Observed |= s
	return &c
}

// met says whether the checks of a result meet the criteria of the plan and
// those the result adds.
func (w *work) met(checks []event.Check) bool {
	list := checked(checks)
	return phase.Met(phase.Criteria(w.task().ExecutionPlan, list), list)
}

func checked(checks []event.Check) []phase.Check {
	list := make([]phase.Check, len(checks))
	for i, c := range checks {
		list[i] = phase.Check{Criterion: c.Criterion, Passed: c.Passed}
	}
	return list
}
