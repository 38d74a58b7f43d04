package execution

import (
	"context"
	"os"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// deliver hands the account of a run to the service and clears up. Everything
// it needs is in the folder, and every call has a key of its own, so it may be
// repeated from the start however far it came.
func (r *Runner) deliver(ctx context.Context, f *folder, repo *repository) (*Result, error) {
	res := f.result()
	lost, err := r.put(ctx, f, res)
	if err == nil {
		if f.Gone {
			// What the run has is delivered through fail (docs/spec/contracts.md §20.3).
			r.fail(f, res, "the run was lost: "+lost.Error())
		}
		err = r.end(ctx, f, res)
	}
	if err == nil {
		err = r.verify(ctx, f, repo, res)
	}
	if err != nil { // nobody answers, or nobody may ask
		res.Status, res.Err = Spooled, err
		r.note("run %s is kept for delivery: %s", f.Ticket.ExecutionID, short(err.Error()))
		return res, nil
	}
	return res, r.clear(ctx, f, repo, res)
}

// put delivers the artifacts. lost is the answer that the run is no longer
// ours; what the service refuses for its content makes the run a failed one.
func (r *Runner) put(ctx context.Context, f *folder, res *Result) (lost, silence error) {
	if f.Gone {
		return refusal.New(refusal.LockLost, "the run was lost while it worked"), nil
	}
	for i := 0; i < len(f.Artifacts); i++ {
		kind := f.Artifacts[i]
		b, err := os.ReadFile(f.path(spoolDir, string(kind)))
		if err != nil {
			r.fail(f, res, "the artifact "+string(kind)+" is gone: "+err.Error())
			continue
		}
		err = r.persist(ctx, func(ctx context.Context) error {
			return r.conf.Server.Put(ctx, f.Ticket, f.Run+"-"+string(kind), kind, b)
		})
		switch {
		case err == nil:
		case givenUp(err):
			return err, nil
		case unanswered(err) || barred(err):
			return nil, err
		case kind == phase.ChangeDiff: // one that does not know it does without
			r.note("the service does not take the diff of run %s: %s", f.Run, short(err.Error()))
		default:
			r.fail(f, res, "the service refuses the artifact "+string(kind)+": "+err.Error())
		}
	}
	return nil, nil
}

// fail turns a success that cannot be delivered into a failure, which needs the
// log under another name.
func (r *Runner) fail(f *folder, res *Result, why string) {
	if f.End.Outcome == phase.Failed {
		return
	}
	f.End.Outcome, f.End.Reason = phase.Failed, redact.Text(why)
	f.End.Checks, f.End.Signals, f.End.Facts, f.End.Files = nil, nil, nil, nil
	res.Outcome, res.Reason = f.End.Outcome, f.End.Reason
	defer func() {
		if err := f.save(); err != nil {
			r.note("write the journal of run %s: %v", f.Run, err)
		}
	}()
	kind := phase.ErrorLog
	switch f.Phase {
	case phase.Stabilize:
		kind = phase.FailedTestLog
	case phase.Build:
	case phase.Plan, phase.Refactor, phase.Publish, phase.Published:
		return
	}
	if log, err := os.ReadFile(f.path(logFile)); err == nil {
		if err := f.spool(kind, append(log, (f.End.Reason+"\n")...)); err != nil {
			r.note("keep the log of run %s: %v", f.Run, err)
		}
	}
}

// end reports the end. A success the service refuses is reported as a failure:
// the refusal leaves the run and its lock as they are (docs/spec/contracts.md §20.3).
//
// It is called with the outcome as it was even when an artifact found the run
// gone: the runner may have died behind the answer to this very call, and the
// same key gives that answer again.
func (r *Runner) end(ctx context.Context, f *folder, res *Result) error {
	for {
		e := *f.End
		key := f.Run + "-" + string(e.Outcome)
		var ended Ended
		err := r.persist(ctx, func(ctx context.Context) error {
			var err error
			ended, err = r.conf.Server.End(ctx, f.Ticket, key, e)
			return err
		})
		switch {
		case err == nil:
			res.Status, res.Ended, res.Evidence = Delivered, ended, ended.Evidence
			return nil
		case givenUp(err):
			res.Status, res.Evidence, res.Err = Lost, ended.Evidence, err
			if res.Outcome != phase.Failed {
				res.Outcome, res.Reason = phase.Failed, "the run was lost: "+err.Error()
			}
			return nil
		case unanswered(err) || barred(err):
			return err
		case e.Outcome != phase.Failed:
			r.fail(f, res, "the service refuses the result: "+err.Error())
			if _, err := r.put(ctx, f, res); err != nil {
				return err
			}
		default:
			res.Status, res.Err = Refused, err
			return nil
		}
	}
}

// clear removes what a run no longer needs. The worktree of a run that did not
// succeed stays, and so does one with something that is nowhere else.
func (r *Runner) clear(ctx context.Context, f *folder, repo *repository, res *Result) error {
	const op = "execution.clear"
	f.Status, f.Reason, f.Evidence = res.Status, res.Reason, res.Evidence
	if res.Status == Delivered && res.Outcome == phase.Succeeded && !f.Left || f.Tree == nil && res.Status != Refused {
		if f.Tree != nil && repo != nil {
			if err := repo.remove(ctx, f.Tree); err != nil {
				r.note("remove the worktree of run %s: %v", f.Run, err)
			}
		}
		res.Worktree = ""
		if err := f.forget(); err != nil {
			return fault.E(op, fault.Unavailable, "remove the folder of run "+f.Run, err)
		}
		return nil
	}
	f.Stage = kept
	if res.Status == Refused {
		f.Stage = refused
	}
	if err := f.save(); err != nil {
		return fault.E(op, fault.Unavailable, "write the journal of run "+f.Run, err)
	}
	if f.Tree != nil {
		r.note("the worktree is kept: %s", f.Tree.Path)
	}
	return nil
}

// result is what the journal says of a run.
func (f *folder) result() *Result {
	res := &Result{
		Run: f.Run, Task: f.Task, Phase: f.Phase, ExecutionID: f.Ticket.ExecutionID, BaseCommit: f.Base, DiffHash: f.DiffHash,
		ExitCode: f.ExitCode, Control: f.Control, Route: f.Route,
	}
	if f.End != nil {
		res.Outcome, res.Reason, res.HeadCommit = f.End.Outcome, f.End.Reason, f.End.HeadCommit
	}
	if f.Tree != nil {
		res.Branch, res.Worktree = f.Tree.Branch, f.Tree.Path
	}
	return res
}
