package request

import (
	"context"
	"errors"
	"slices"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/request/worker"
)

// A step is three parts: it is claimed in one transaction, done outside of any,
// and what came of it is kept in another, together with the job of the next. A
// process that dies in between leaves a claim behind, and the job, which runs
// again: the engine answers what it would have answered, under the same ids, and
// only the first answer is kept (docs/spec/circle.md §11.10).

// What a run failed of, besides a condition of docs/spec/circle.md §8.
const (
	FaultDeadline = "run.deadline"  // it took longer than the registry allows
	FaultEngine   = "run.engine"    // its engine gave up
	FaultService  = "run.service"   // the service could not serve it
	FaultTooMany  = "run.artifacts" // the request has as many artifacts as it may have
)

// busy is how long a step waits for a free slot of its request.
const busy = 20 * time.Millisecond

// claim is a run that a job has taken.
type claim struct {
	args   stepArgs
	run    *Run
	worker constitution.Worker
	prompt constitution.Prompt
	task   *worker.Task
	papers papers
	asked  *prepared // a challenge that is opened when the draft names it
}

// runStep does one worker's turn.
func (s *Service) runStep(ctx context.Context, a pipeline.Attempt) error {
	args, err := arguments[stepArgs](a)
	if err != nil {
		return err
	}
	c, err := s.claim(ctx, args)
	if err != nil || c == nil {
		return s.lost(ctx, a, args, err)
	}
	timed, cancel := context.WithTimeout(ctx, c.worker.Deadline)
	defer cancel()
	result, failed := s.work(timed, c)
	if ctx.Err() != nil { // the process stops: the job runs again
		return context.Cause(ctx)
	}
	what := ""
	switch {
	case errors.Is(timed.Err(), context.DeadlineExceeded):
		what = FaultDeadline
	case failed == nil:
	case fault.KindOf(failed) == fault.Unavailable:
		return s.lost(ctx, a, args, failed)
	case breaksContract(failed):
		what = string(envelope.OutputNotAllowed)
	default:
		what = FaultEngine
	}
	err = s.own(ctx, "run.end", func(x *session) error { return x.ended(c, result, what) })
	return s.lost(ctx, a, args, err)
}

// lost ends a run that the service cannot serve, in the last attempt of its job:
// nobody waits for ever.
func (s *Service) lost(ctx context.Context, a pipeline.Attempt, args stepArgs, err error) error {
	if err == nil || !a.Last || fault.KindOf(err) == fault.Unavailable {
		return err
	}
	if _, again := errors.AsType[*pipeline.Again](err); again {
		return err
	}
	gone := s.own(ctx, "run.end", func(x *session) error {
		f, err := x.running(args.Request)
		if err != nil || f == nil {
			return err
		}
		run, err := f.claimed(args, true)
		if err != nil || run == nil || run.State != RunAlive {
			return err
		}
		if err := f.failed(run, FaultService); err != nil {
			return err
		}
		return f.advance()
	})
	return errors.Join(err, gone)
}

// claim takes the run of a step, once: a job that runs again finds it taken, by
// itself. nil means that there is nothing left to do.
func (s *Service) claim(ctx context.Context, args stepArgs) (*claim, error) {
	var c *claim
	err := s.own(ctx, "run.start", func(x *session) error {
		c = nil
		f, err := x.running(args.Request)
		if err != nil || f == nil {
			return err
		}
		run, err := f.claimed(args, false)
		if err != nil || run == nil || run.State != RunAlive {
			return err
		}
		w, prompt, err := f.worker(args.Step)
		if err != nil {
			return err
		}
		c = &claim{args: args, run: run, worker: w, prompt: prompt}
		c.task = f.task(c)
		return nil
	})
	return c, err
}

func (f *flow) worker(step int) (w constitution.Worker, p constitution.Prompt, err error) {
	id := f.plan.Steps[step].Worker
	w, ok := f.set.Registry().Worker(id)
	if !ok {
		return w, p, fault.E("request.step", fault.Internal, "there is no worker "+string(id), nil)
	}
	p, err = f.set.Assemble(id)
	return w, p, err
}

// claimed is the run of a step, which is made when there is none. nil means that
// the step has no turn. Whoever only wants to end it takes no slot.
func (f *flow) claimed(args stepArgs, ending bool) (*Run, error) {
	x := f.x
	if args.Step < 0 || args.Step >= len(f.plan.Steps) || f.plan.Steps[args.Step].Skipped != "" {
		return nil, nil
	}
	id := runID(f.r.ID, int64(args.Step+1), args.Attempt)
	w, prompt, err := f.worker(args.Step)
	if err != nil {
		return nil, err
	}
	for _, r := range f.runs {
		if r.ID != id {
			continue
		}
		if r.State == RunAlive && !ending { // its process died: its time begins anew
			r.Deadline = x.Now().Add(w.Deadline)
			return r, x.UpdateRun(r)
		}
		return r, nil
	}
	if last := f.last(args.Step); last != nil && last.Attempt >= args.Attempt {
		return nil, nil
	}
	if !ending && !f.free(w.Class) {
		return nil, &pipeline.Again{After: busy}
	}
	r := &Run{
		ID: id, Request: f.r.ID, Step: int64(args.Step + 1), Attempt: args.Attempt, Worker: w.ID, Engine: constitution.Builtin,
		ConstitutionVersion: string(prompt.ConstitutionVersion()), SubagentPromptVersion: string(prompt.SubagentVersion()),
		PromptSHA256: prompt.SHA256(), Origin: f.r.Origin, State: RunAlive, Artifacts: []string{},
		StartedAt: x.Now(), Deadline: x.Now().Add(w.Deadline),
	}
	if x.s.conf.Model != nil && w.Engine == constitution.Model && f.plan.Steps[args.Step].HandOver == "" {
		r.Engine, r.Model = constitution.Model, x.s.conf.Model.Name()
	}
	if err := x.CreateRun(r); err != nil {
		return nil, err
	}
	f.runs = append(f.runs, r)
	x.note("run.start", event.Record{Kind: ofRun, ID: r.ID, Cause: provenance(r.Origin), To: string(w.ID), Digest: r.PromptSHA256})
	return r, nil
}

// free says whether a worker of a class may begin: at most one heavy and one
// supporting run at the same time, by default (docs/spec/circle.md §6.4).
func (f *flow) free(c constitution.Class) bool {
	limit := f.set.Registry().Economy.Heavy
	if c == constitution.Supporting {
		limit = f.set.Registry().Economy.Supporting
	}
	for _, r := range f.runs {
		if r.State == RunAlive && f.plan.Steps[r.Step-1].Class == c {
			limit--
		}
	}
	return limit > 0
}

// ended keeps what came of a run, and begins what comes next. What is the fault
// it failed of, "" when it did not.
func (x *session) ended(c *claim, result worker.Result, what string) error {
	f, err := x.running(c.args.Request)
	if err != nil || f == nil {
		return err
	}
	i := slices.IndexFunc(f.runs, func(r *Run) bool { return r.ID == c.run.ID })
	if i < 0 || f.runs[i].State != RunAlive {
		return nil // somebody was quicker
	}
	run := f.runs[i]
	run.Engine, run.Model = c.run.Engine, c.run.Model
	if first := f.r.Stops; len(first) > 0 && first[0].Stops() && f.plan.Steps[c.args.Step].HandOver == "" {
		what = string(first[0]) // the request was stopped while this ran: nothing is kept
	}
	if what == "" {
		made, condition := f.make(c, result)
		switch {
		case condition.Stops():
			if err := f.failed(run, string(condition)); err != nil {
				return err
			}
			if err := f.halt(condition); err != nil {
				return err
			}
			return f.advance()
		case condition == envelope.OutputNotAllowed:
			what = string(condition)
		case condition != "":
			if err := f.failed(run, string(condition)); err != nil {
				return err
			}
			if err := f.block(condition); err != nil {
				return err
			}
			return f.advance()
		case len(f.artifacts)+len(made) > f.set.Registry().Limits.Artifacts:
			what = FaultTooMany
		default:
			return f.done(c, run, made)
		}
	}
	if err := f.failed(run, what); err != nil {
		return err
	}
	if what == string(envelope.OutputNotAllowed) && f.standing(c.args.Step) == broken {
		f.stop(envelope.OutputNotAllowed)
	}
	return f.advance()
}

// failed ends a run without anything to keep.
func (f *flow) failed(run *Run, what string) error {
	run.State, run.Fault, run.EndedAt = RunFailed, what, f.x.Now()
	f.x.note("run.end", event.Record{
		Kind: ofRun, ID: run.ID, To: string(run.Worker), ErrorCode: what, ErrorMessage: "the run failed", Cause: provenance(run.Origin), Digest: run.PromptSHA256,
	})
	return f.x.UpdateRun(run)
}

// breaksContract says whether an answer was none of those that were asked for.
func breaksContract(err error) bool {
	if _, ok := errors.AsType[problem.List](err); ok {
		return true
	}
	return fault.KindOf(err) == fault.Invalid
}
