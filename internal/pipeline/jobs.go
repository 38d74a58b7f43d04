package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// The jobs. A job is a use case that the queue calls, at least once; it finds
// out in its own transaction whether there is anything left to do
// (docs/spec/contracts.md §3.5).
const (
	JobGenerate JobKind = "generate_taskseed"  // of an intent that became Active
	JobJudge    JobKind = "judge_execution"    // of the end of a series of runs
	JobRejudge  JobKind = "judge_again"        // of a verify artifact, or of a digest that changed
	JobGate     JobKind = "make_gate"          // of an Acceptance that passed
	JobPublish  JobKind = "publish"            // of low and medium work
	JobExpire   JobKind = "expire_gate"        // at the deadline
	JobOverrun  JobKind = "end_overdue_run"    // at the limit of a run
	JobLost     JobKind = "end_lost_run"       // when heartbeats stay away
	JobEvidence JobKind = "write_run_evidence" // for a run that delivered none
	JobSweep    JobKind = "sweep"              // retention; the server starts it
	JobPing     JobKind = "test_webhook"       // for the adapter that delivers
)

// JobKinds is the kinds that have a use case here, in the order above; JobPing
// is the adapter's.
func JobKinds() []JobKind {
	return []JobKind{
		JobGenerate, JobJudge, JobRejudge, JobGate, JobPublish, JobExpire, JobOverrun, JobLost, JobEvidence, JobSweep,
	}
}

// Retry is how long after each failed attempt of a job the next one may start,
// counted from the end of the failed one (§4.4, R-29).
func Retry() []time.Duration {
	var list []time.Duration
	for n := 2; n <= generation.Attempts; n++ {
		d, err := generation.Delay(n)
		if err != nil {
			break
		}
		list = append(list, d)
	}
	return list
}

// Work runs the use case of a job, whichever kind it is.
func (s *Service) Work(ctx context.Context, a Attempt) error {
	switch a.Kind {
	case JobGenerate:
		return s.RunGenerate(ctx, a)
	case JobJudge:
		return s.RunJudge(ctx, a)
	case JobRejudge:
		return s.RunRejudge(ctx, a)
	case JobGate:
		return s.RunGate(ctx, a)
	case JobPublish:
		return s.RunPublish(ctx, a)
	case JobExpire:
		return s.RunExpire(ctx, a)
	case JobOverrun:
		return s.RunOverrun(ctx, a)
	case JobLost:
		return s.RunLost(ctx, a)
	case JobEvidence:
		return s.RunEvidence(ctx, a)
	case JobSweep:
		return s.RunSweep(ctx, a)
	case JobPing, JobResult: // the adapter's, and the circle's
	}
	return fault.E("pipeline.Run", fault.Internal, "the job "+string(a.Kind)+" has no use case", nil)
}

// targetArgs names the contract a generator works from.
type targetArgs struct {
	Chain   contract.ID `json:"chain"`
	ID      contract.ID `json:"id"`
	Version int64       `json:"version"`
	// Key is what makes a second judgement of the same result another one.
	Key string `json:"key,omitempty"`
	// Contended counts the attempts that found a lock held (§12).
	Contended int `json:"contended,omitempty"`
}

func (a targetArgs) ref() Ref { return Ref{ID: a.ID, Version: a.Version} }

// runArgs names a run.
type runArgs struct {
	Chain     contract.ID `json:"chain"`
	Execution string      `json:"execution"`
	Contended int         `json:"contended,omitempty"`
}

func (x *session) enqueue(k JobKind, key string, chain contract.ID, args any, at time.Time) error {
	text, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("marshal the arguments of %s: %w", k, err)
	}
	return x.Enqueue(Job{Kind: k, Key: key, Chain: chain, Args: text, At: at})
}

func arguments[T any](a Attempt) (T, error) {
	var args T
	if err := json.Unmarshal(a.Args, &args); err != nil {
		return args, fault.E("pipeline.Run", fault.Invalid, "the arguments of "+string(a.Kind)+" do not read", err)
	}
	return args, nil
}

// step runs one transaction of a job, on one chain, in the name of the service.
func (s *Service) step(ctx context.Context, actor contract.Actor, action string, chain contract.ID, fn func(*session) error) error {
	return s.conf.Store.Update(ctx, func(tx Tx) error {
		x := s.begin(tx, Caller{Actor: actor.ID, Role: actor.Role}, action)
		x.actor, x.holds, x.quiet = actor, true, true
		if err := x.open(chain); err != nil {
			return err
		}
		Traced(ctx, x.w.chain.Correlation)
		if err := fn(x); err != nil {
			return err
		}
		if err := x.settle(); err != nil {
			return err
		}
		return x.close(x.kept)
	})
}

// generator is what the attempt of a generator needs to know for the case that
// it fails: what it makes out of what, and how it is asked for again.
type generator struct {
	attempt Attempt
	args    targetArgs
	target  contract.Kind
	actor   contract.Actor
}

// generate runs one attempt of a generator and does what its failure asks for
// (§4.4): a fault of the service is repeated without counting, a held lock waits
// its own turns, what may succeed later fails, and the last failure freezes.
func (s *Service) generate(ctx context.Context, g generator, attempt func() error) error {
	err := attempt()
	if err == nil {
		return nil
	}
	code := refusal.CodeOf(err)
	var bad *refusal.Refusal
	switch {
	case fault.KindOf(err) == fault.Unavailable:
		return &Again{After: time.Second, Err: err}
	case code == refusal.LockHeld:
		return s.contended(ctx, g, err)
	case !errors.As(err, &bad):
		err = generation.Internal(err)
		code = refusal.CodeOf(err)
	}
	if !generation.Retried(code) {
		return s.failed(ctx, g, err, "")
	}
	if !g.attempt.Last {
		if err := s.failed(ctx, g, err, ""); err != nil {
			return err
		}
		return err
	}
	return s.failed(ctx, g, err, contract.GenerationFailed)
}

// failed records a failed attempt, and freezes what an exhausted generation
// freezes: the target where it is under way, else the source.
func (s *Service) failed(ctx context.Context, g generator, cause error, freeze contract.Cause) error {
	return s.step(ctx, g.actor, "generation.failed", g.args.Chain, func(x *session) error {
		source := x.w.row(g.args.ref())
		if g.target == contract.KindEvidence {
			source = x.w.taskRow() // of a publication, which is asked for by its gate
		}
		if source == nil {
			return nil
		}
		key := generation.Key{Source: g.args.ID, Version: g.args.Version, Target: g.target}
		x.note(g.actor, "generation.failed", source, event.Record{
			ErrorCode: string(refusal.CodeOf(cause)), ErrorMessage: fmt.Sprintf("attempt %d: %v", g.attempt.Number, cause),
			IdempotencyKey: key.String(), Cause: string(freeze),
		})
		if freeze == "" {
			return nil
		}
		frozen := source
		if target := x.w.made(g.target, source.Ref()); target != nil && generation.FreezesTarget(stateOf(target)) {
			frozen = target
		}
		// The TaskSeed whose result cannot be judged waits for a person even when
		// there is an Acceptance to freeze (§4.5). The result stays in line: the
		// resumption asks for it again.
		if hold := len(x.w.d.Due) > 0 && x.w.d.Due[0].Hold; g.target == contract.KindAcceptance && hold && frozen != source {
			if err := x.freeze(source, contract.GenerationFailed); err != nil {
				return err
			}
		}
		if stateOf(frozen) == contract.Draft {
			return x.moved(frozen, state.Event{To: contract.Frozen, Actor: x.orchestrator(), Cause: contract.GenerationFailed})
		}
		return x.freeze(frozen, contract.GenerationFailed)
	})
}

// contended puts an attempt that found a lock held off, and freezes when its
// turns are used up (§12). The contract frozen is the one that was to be
// written.
func (s *Service) contended(ctx context.Context, g generator, cause error) error {
	return s.step(ctx, g.actor, "lock.exhausted", g.args.Chain, func(x *session) error {
		source := x.w.row(g.args.ref())
		if source == nil {
			return nil
		}
		again := g.args
		again.Contended++
		wait, err := lock.Delay(again.Contended + 1)
		if err == nil {
			key := fmt.Sprintf("%s/%d", g.attempt.Key, again.Contended)
			return x.enqueue(g.attempt.Kind, key, g.args.Chain, again, x.Now().Add(wait))
		}
		x.note(g.actor, "lock.exhausted", source, event.Record{ErrorCode: string(refusal.CodeOf(err)), ErrorMessage: cause.Error()})
		// Frozen is what could not be written, and waits for a person.
		for _, c := range []*Contract{x.w.acceptanceRow(), x.w.taskRow(), x.w.intentRow()} {
			if c == nil || lock.Exhausted(stateOf(c)) == "" {
				continue
			}
			switch err := x.free(c.Ref().ID); {
			case refusal.CodeOf(err) == refusal.LockHeld:
				return x.freeze(c, contract.LockExhausted)
			case err != nil:
				return err
			}
		}
		return nil
	})
}
