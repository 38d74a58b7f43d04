package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
)

// report is the end of a run as its executor, or the service for it, tells it.
type report struct {
	outcome    phase.Outcome
	reason     string
	headCommit string
	evidence   map[string]any
	checks     []event.Check
	signals    risk.Signals
	facts      []risk.Fact
	files      []artifact.File
}

// RunComplete ends a run that succeeded, or that could not be done.
func (s *Service) RunComplete(ctx context.Context, by Caller, a CompleteArgs) (*Ended, error) {
	l, err := s.lookAtRun(ctx, a.Execution)
	if err != nil {
		return nil, err
	}
	return late(do(ctx, s, by, "run.complete", func(x *session) (*Ended, error) {
		if a.Outcome != phase.Succeeded && a.Outcome != phase.Blocked {
			return nil, malformed("/outcome", "a run that is completed has succeeded or is blocked")
		}
		signals, err := risk.ParseSignals(a.Signals)
		if err != nil {
			return nil, malformed("/riskSignals", "%v", err)
		}
		for _, f := range a.Facts {
			if err := f.Check(); err != nil {
				return nil, malformed("/facts", "%v", err)
			}
		}
		for i, f := range a.Files {
			if err := f.Check(); err != nil {
				return nil, malformed(fmt.Sprintf("/files/%d", i), "%v", err)
			}
		}
		return x.report(a.Execution, report{
			outcome: a.Outcome, headCommit: a.HeadCommit, evidence: a.Evidence, checks: a.Checks,
			signals: signals | risk.FromFacts(a.Facts), facts: a.Facts, files: a.Files,
		}, l)
	}))
}

// RunFail ends a run that failed.
func (s *Service) RunFail(ctx context.Context, by Caller, a FailArgs) (*Ended, error) {
	l, err := s.lookAtRun(ctx, a.Execution)
	if err != nil {
		return nil, err
	}
	return late(do(ctx, s, by, "run.fail", func(x *session) (*Ended, error) {
		return x.report(a.Execution, report{outcome: phase.Failed, reason: a.Reason, headCommit: a.HeadCommit, evidence: a.Evidence}, l)
	}))
}

// late gives the refusal of a result that came too late the id of the Evidence
// that was kept all the same.
func late(out *Ended, err error) (*Ended, error) {
	if l, ok := errors.AsType[*Late](err); ok {
		return nil, l
	}
	return out, err
}

func (s *Service) lookAtRun(ctx context.Context, id string) (look, error) {
	run, err := s.RunGet(ctx, id)
	if refusal.CodeOf(err) == missingCode {
		return look{}, nil
	}
	if err != nil {
		return look{}, err
	}
	return s.look(ctx, run.Chain, false)
}

// report takes the end of a run from its executor. What is wrong with its
// content leaves run and lock as they are, so that the call can be mended.
func (x *session) report(id string, r report, l look) (*Ended, error) {
	run, err := x.mine(id)
	if err != nil {
		return nil, err
	}
	if err := x.plainReport(r); err != nil {
		return nil, err
	}
	if err := x.over(run); err != nil {
		if refusal.CodeOf(err) == "" {
			return nil, err
		}
		return nil, x.tooLate(run, r, err)
	}
	x.run = run.ExecutionID
	// The Acceptance is made for a diff; what a later run must not change is
	// known before its Evidence is judged.
	boundary, err := x.boundary()
	if err != nil {
		return nil, err
	}
	level := x.w.withSignals(r.signals).level(boundary.result).Level
	classification, cause, stopped := x.copies(l, nil, stateOf(x.w.taskRow()))
	if stopped != nil && refusal.CodeOf(stopped) == "" {
		return nil, stopped
	}
	c, warnings, err := x.evidence(run, r, level, classification, contract.MergeResult{Status: contract.MergeNotApplicable})
	if err != nil {
		return nil, err
	}
	e := c.Document.(*contract.Evidence)
	if err := x.delivered(run, r, e); err != nil {
		return nil, err
	}
	end := ending{outcome: r.outcome, reason: r.reason, report: r, stale: classification}
	if stopped != nil && !r.outcome.Failure() {
		end.outcome, end.blockedFor = phase.Blocked, cause
	} else if r.outcome == phase.Blocked {
		end.blockedFor = contract.ExternalDependency
	}
	x.rec.Resolution = r.reason
	x.rec.OS, x.rec.Runtime, x.rec.ContainerImageDigest = e.Environment.OS, e.Environment.Runtime, e.Environment.ContainerImageDigest
	out, err := x.end(run, end, c)
	if err != nil {
		return nil, err
	}
	out.Warnings = warnings
	return out, nil
}

// delivered asks for the artifacts of the step the run leads to (§7.1), for its
// tests, and that a run which changes nothing has changed nothing.
func (x *session) delivered(run *Run, r report, e *contract.Evidence) error {
	if r.outcome == phase.Blocked {
		return nil // it led nowhere
	}
	var wanted []phase.Proof
	success := r.outcome == phase.Succeeded
	switch p := phase.Phase(run.Phase); {
	case p == phase.Build && success:
		wanted = []phase.Proof{phase.BuildLog, phase.UnitTestResult}
	case p == phase.Build:
		wanted = []phase.Proof{phase.ErrorLog}
	case p == phase.Stabilize && success && x.w.met(r.checks):
		wanted = []phase.Proof{phase.IntegrationReport}
	case p == phase.Stabilize:
		wanted = []phase.Proof{phase.FailedTestLog}
	case p == phase.Publish && success:
		wanted = []phase.Proof{phase.ReleaseNote}
	}
	for _, kind := range wanted {
		b, err := x.bytes(run, kind)
		if err != nil {
			return err
		}
		if kind == phase.UnitTestResult {
			err = testsPassed(run, b)
		}
		if kind == phase.ReleaseNote {
			err = x.noteIntact(run, b, e.OutputHash)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// testsPassed is the guard of the step out of Build, asked while the call can
// still be mended.
func testsPassed(run *Run, report []byte) error {
	passed, err := artifact.TestsPassed(report)
	if err != nil {
		return err
	}
	return phase.Step(phase.Request{
		From: phase.Build, To: phase.Stabilize, Role: run.Role, Proofs: phase.Needed(phase.Build), UnitTestsPassed: passed,
	})
}

// bytes is a stored artifact of a run, intact, or phase.evidence_missing.
func (x *session) bytes(run *Run, kind phase.Proof) ([]byte, error) {
	a, err := x.Artifact(run.ExecutionID, ArtifactKind(kind))
	a, err = found(a, err, "the run %s has no %s", run.ExecutionID, kind)
	if refusal.CodeOf(err) == missingCode {
		return nil, absent(kind, run)
	}
	if err != nil {
		return nil, err
	}
	if !(artifact.Record{SHA256: a.SHA256, Size: a.Size}).Intact(a.Bytes) {
		return nil, absent(kind, run)
	}
	return a.Bytes, nil
}

func absent(kind phase.Proof, run *Run) error {
	return refusal.New(refusal.PhaseEvidenceMissing, "%s has delivered no %s", run.ExecutionID, kind)
}

// RunRelease gives work back: the run counts as failed. An admin stops
// somebody's run this way.
func (s *Service) RunRelease(ctx context.Context, by Caller, a ReleaseArgs) (*Ended, error) {
	return do(ctx, s, by, "run.release", func(x *session) (*Ended, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		run, err := x.mine(a.Execution)
		stops := refusal.CodeOf(err) == refusal.LockNotHolder && x.held.Has(contract.Admin) && (by.Role == contract.Admin || by.Role == "")
		if err != nil && !stops {
			return nil, err
		}
		if err := x.plain("/reason", a.Reason); err != nil {
			return nil, err
		}
		x.rec.Resolution = a.Reason
		switch {
		case stops && !run.Alive():
			return nil, ended(run)
		case !stops:
			if err := x.over(run); err != nil {
				return nil, x.keep(err)
			}
		}
		if stops {
			if err := x.preemptRun(run); err != nil {
				return nil, err
			}
		}
		x.run = run.ExecutionID
		c, err := x.ownEvidence(run, "released")
		if err != nil {
			return nil, err
		}
		return x.end(run, ending{outcome: phase.Failed, reason: "released"}, c)
	})
}

// preemptRun takes the lock of a run over without ending it: the caller does.
func (x *session) preemptRun(run *Run) error {
	was := x.run
	x.run = run.ExecutionID
	err := x.preempt(lock.Contract(run.TaskSeed.ID))
	x.run = was
	return err
}

// ending is how a run ended.
type ending struct {
	outcome    phase.Outcome
	blockedFor contract.Cause
	reason     string
	report     report
	stale      contract.Classification
}

// end ends a run: Evidence, result, the lock's release and, at the end of the
// series, the event and the step of the phase, in this one transaction (§4.5).
// c is nil when there is no Evidence yet.
func (x *session) end(run *Run, e ending, c *Contract) (*Ended, error) {
	w, p := x.w, phase.Phase(run.Phase)
	out := &Ended{}
	diff, head := "", run.BaseCommit
	if c != nil {
		d := c.Document.(*contract.Evidence)
		diff, head = d.DiffHash, d.HeadCommit
		run.BaseCommit = d.BaseCommit
	}
	changed := diff != w.diff()
	// A run that only tests or publishes and yet brings another diff has done
	// what it must not.
	if e.outcome == phase.Succeeded && changed && (p == phase.Stabilize || p == phase.Publish && run.Role != contract.PolicyEngine) {
		e.outcome, e.reason = phase.Failed, "the run changed the work"
	}
	d, err := run.details()
	if err != nil {
		return nil, err
	}
	d.Reason, d.Signals, d.Facts, d.Checks, d.Files = e.reason, e.report.signals, e.report.facts, e.report.checks, e.report.files
	if e.stale != "" {
		d.Stale = e.stale
	}
	run.EndedAt, run.Outcome, run.HeadCommit, run.DiffHash = x.Now(), string(e.outcome), head, diff
	if err := x.releaseRun(run); err != nil {
		return nil, err
	}
	x.rec.To = string(e.outcome)
	if c != nil {
		if err := x.store(run, c); err != nil {
			return nil, err
		}
		out.Evidence = c.Ref().ID
	}
	if t := w.taskRow(); t == nil || t.Ref() != run.TaskSeed {
		// Another version is under way: the run is history and moves nothing.
		run.setDetails(d)
		return out, x.UpdateRun(run)
	}
	w.examine = true
	w.d.Observed |= e.report.signals
	w.d.Union |= e.report.signals
	w.d.Facts = append(w.d.Facts, e.report.facts...)
	w.d.Floor = w.level(nil).Level
	if e.outcome.Failure() {
		w.chain.FailedRuns++
	}
	if !phase.Ended(p, e.outcome, int(w.chain.FailedRuns)) {
		run.setDetails(d)
		out.RetryAllowed = true
		return out, x.UpdateRun(run)
	}
	out.Completed = &Series{Outcome: e.outcome, Runs: w.d.Runs}
	if err := x.series(run, &d, e, changed); err != nil {
		return nil, err
	}
	run.setDetails(d)
	return out, x.UpdateRun(run)
}

// diff is the diff hash the chain has; before its first Build that of no diff.
func (w *work) diff() string {
	if w.chain.DiffHash == "" {
		return contract.EmptyDiffHash
	}
	return w.chain.DiffHash
}

// releaseRun gives the lock of a run back when it still has it.
func (x *session) releaseRun(run *Run) error {
	l, row, err := x.one(lock.Contract(run.TaskSeed.ID))
	if err != nil || string(row.Holder) != run.ExecutionID {
		return err
	}
	row.Holder = ""
	return x.put(l, row, "")
}

// endLost ends a run that lost its lock. It counts as failed; its Evidence may
// still come, and is written for it when it does not.
func (x *session) endLost(run *Run) error { return x.endFor(run, phase.Failed, "lock.lost") }

// endOverdue ends a run that is over its limit.
func (x *session) endOverdue(run *Run) error { return x.endFor(run, phase.TimedOut, "phase.timeout") }

func (x *session) endFor(run *Run, o phase.Outcome, reason string) error {
	_, err := x.endedBy(run, o, reason)
	return err
}

func (x *session) endedBy(run *Run, o phase.Outcome, reason string) (*Ended, error) {
	to := x.rec.To
	out, err := x.end(run, ending{outcome: o, reason: reason}, nil)
	if err != nil {
		return nil, err
	}
	x.rec.To = to
	if c := x.w.row(run.TaskSeed); c != nil {
		x.note(x.orchestrator(), "run.end", c, event.Record{Cause: run.ExecutionID, To: string(o), Resolution: reason})
	}
	// Its executor has until the limit to deliver what it has, and as long as a
	// lock lasts when the limit itself ended the run.
	at := run.Deadline.Add(time.Millisecond)
	switch {
	case run.Deadline.IsZero():
		at = x.Now()
	case at.Before(x.Now()) || o == phase.TimedOut:
		at = x.Now().Add(lock.TTL)
	}
	return out, x.enqueue(JobEvidence, run.ExecutionID, run.Chain, runArgs{Chain: run.Chain, Execution: run.ExecutionID}, at)
}
