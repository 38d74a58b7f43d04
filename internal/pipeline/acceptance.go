package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/pipeline/state"
)

// The Validator (docs/spec/contracts.md §4.1, §4.5, rulings R10). It judges the
// ends of series in their order, each once, and makes or revises the one
// Acceptance of the TaskSeed version.

// RunJudge judges the result of a series, after those before it.
func (s *Service) RunJudge(ctx context.Context, a Attempt) error {
	args, err := arguments[targetArgs](a)
	if err != nil {
		return err
	}
	g := generator{attempt: a, args: args, target: contract.KindAcceptance, actor: s.orchestrator()}
	return s.generate(ctx, g, func() error {
		received, err := s.now(ctx)
		if err != nil {
			return err
		}
		l, err := s.look(ctx, args.Chain, false)
		if err != nil {
			return err
		}
		for more := true; more; {
			err := s.step(ctx, g.actor, "contract.create", args.Chain, func(x *session) (err error) {
				more, err = x.judgeNext(args.Key, received, l)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// now is the service clock outside of a use case: when something was received.
func (s *Service) now(ctx context.Context) (time.Time, error) {
	return view(ctx, s, func(r Reader) (time.Time, error) { return r.Now(), nil })
}

// judgeNext judges the first result that waits, as long as execution is among
// those. more says that it still is.
func (x *session) judgeNext(execution string, received time.Time, l look) (more bool, err error) {
	w := x.w
	waits := false
	for _, d := range w.d.Due {
		waits = waits || d.Execution == execution
	}
	if !waits {
		return false, nil
	}
	first := w.d.Due[0]
	run, err := x.Run(first.Execution)
	if err != nil {
		return false, err
	}
	d, err := run.details()
	if err != nil {
		return false, err
	}
	task := w.row(run.TaskSeed)
	if s := stateOf(task); s != contract.Active {
		return false, refusal.New(refusal.GenerationSourceNotActive, "the TaskSeed is %s", s)
	}
	// What records a result as blocked uses nothing that could be old (§11).
	if _, cause, err := x.copies(l, nil, contract.Active); err != nil && d.Outcome != phase.Blocked {
		return false, x.freeze(task, cause)
	}
	if err := generation.InTime(contract.KindAcceptance, x.Now().Sub(received)); err != nil {
		return false, err
	}
	x.because = d.Completed
	j, err := x.judge(run, d)
	if err != nil {
		return false, err
	}
	key := generation.Key{
		Source: run.TaskSeed.ID, Version: run.TaskSeed.Version, Target: contract.KindAcceptance, Discriminator: run.ExecutionID,
	}
	if err := x.accept(run, j, x.orchestrator(), key.String()); err != nil {
		return false, err
	}
	w.d.Due = w.d.Due[1:]
	w.d.Judged = run.ExecutionID
	return first.Execution != execution, x.follow(run, j)
}

// judgement is what a result comes to.
type judgement struct {
	phase.Consequence
	details string
	checks  []phase.Check
	level   contract.Level
	heard   string // the verification it takes into account
}

func (j judgement) verdict() generation.Verdict {
	return generation.Verdict{Status: j.Acceptance, Details: j.details, Checks: j.checks, Level: j.level}
}

// judge judges a result by the criteria, by what the boundary result leaves of
// the verdict, and by the table of §4.5.
func (x *session) judge(run *Run, d runDetails) (judgement, error) {
	w := x.w
	f, err := x.boundary()
	if err != nil {
		return judgement{}, err
	}
	task := docOf[*contract.TaskSeed](w.row(run.TaskSeed))
	checks := checked(d.Checks)
	j := judgement{checks: checks, level: w.level(f.result).Level, heard: f.verifyID}
	admits, why := f.result.Admits()
	met := phase.Met(phase.Criteria(task.ExecutionPlan, checks), checks)
	if d.Consequence != nil {
		j.Consequence = *d.Consequence
	} else {
		j.Consequence = phase.Judge(phase.Result{
			Phase: phase.Phase(run.Phase), Outcome: d.Outcome, CriteriaMet: met, DiffChanged: d.DiffChanged, Admits: admits,
			BlockedFor: d.BlockedFor, Returns: int(w.chain.Returns), MaxReturns: x.s.conf.MaxReturns,
		})
	}
	j.details = summary(run, d, j.Acceptance, met, why)
	return j, nil
}

// summary is the details of an Acceptance: what was judged and why it came out
// as it did.
func summary(run *Run, d runDetails, status contract.Status, met bool, boundary string) string {
	what := fmt.Sprintf("%s run %s: %s", run.Phase, run.ExecutionID, d.Outcome)
	switch {
	case d.Outcome == phase.Blocked:
		what += ", " + string(d.BlockedFor)
	case d.Outcome.Failure() && d.Reason != "":
		what += ", " + d.Reason
	case status == contract.Pending:
		what += "; the verdict waits for Stabilize"
	case boundary != "":
		what += "; " + boundary
	case !met:
		var open []string
		for _, c := range d.Checks {
			if !c.Passed {
				open = append(open, c.Criterion)
			}
		}
		if len(open) == 0 {
			what += "; a criterion has no passing check"
		} else {
			what += "; not met: " + strings.Join(open, "; ")
		}
	case status == contract.Passed:
		what += "; every criterion has a passing check"
	}
	return what
}

// accept makes the Acceptance of a judgement, or revises the one there is in
// place.
func (x *session) accept(run *Run, j judgement, by contract.Actor, key string) error {
	w := x.w
	if j.Acceptance == "" {
		return nil
	}
	if _, done, err := x.Effect(key); err != nil || done {
		return err
	}
	w.d.Floor, w.d.Heard = j.level, j.heard
	old := w.made(contract.KindAcceptance, run.TaskSeed)
	var c *Contract
	var err error
	if old == nil {
		c, err = x.firstAcceptance(run, j, by)
	} else {
		c, err = x.reviseAcceptance(old, j, by)
	}
	if err != nil {
		return err
	}
	return x.AddEffect(Effect{Key: key, Result: c.Ref(), At: x.Now()})
}

func (x *session) firstAcceptance(run *Run, j judgement, by contract.Actor) (*Contract, error) {
	w := x.w
	row := w.row(run.TaskSeed)
	task := docOf[*contract.TaskSeed](row)
	ref, err := x.next(contract.KindAcceptance)
	if err != nil {
		return nil, err
	}
	a := generation.Accept(task, ref.ID, ref.Version, j.verdict(), x.Now())
	if faults := append(document.Alone(a), document.Acceptance(a, task, j.level)...); len(faults) > 0 {
		return nil, faults
	}
	c := &Contract{Document: a, Chain: w.chain.ID, Source: row.Ref()}
	err = x.create(by, c, state.Event{SystemGenerated: true, Source: task.State}, state.Snapshot{GenerationPolicy: a.GenerationPolicy}, nil)
	if err != nil {
		return nil, err
	}
	key := generation.Key{Source: row.Ref().ID, Version: row.Ref().Version, Target: contract.KindAcceptance}.String()
	x.note(by, "contract.create", c, event.Record{To: string(a.State), IdempotencyKey: key})
	return c, x.AddEffect(Effect{Key: key, Result: c.Ref(), At: x.Now()})
}

func (x *session) reviseAcceptance(c *Contract, j judgement, by contract.Actor) (*Contract, error) {
	w := x.w
	a := docOf[*contract.Acceptance](c)
	last := w.lastGateRow()
	write := merge.Write{
		Kind: contract.KindAcceptance, State: a.State, Change: merge.AcceptanceResult, Role: contract.Orchestrator,
		Stored: a.Version, Written: a.Version + 1,
	}
	if last != nil {
		write.Gate = last.Document.(*contract.PublishGate).FinalDecision
		var err error
		if write.DigestChanged, err = x.digestChanged(last); err != nil {
			return nil, err
		}
	}
	if err := merge.Edit(write); err != nil {
		return nil, err
	}
	if err := x.free(a.ID); err != nil {
		return nil, err
	}
	// The live gate of the version before must not be decided any more.
	if g := w.gateRow(); g != nil && stateOf(g).Live() {
		if err := x.regenerated(g); err != nil {
			return nil, err
		}
	}
	next := generation.Revise(a, w.task(), j.verdict(), x.Now())
	from := a.Version
	c.Document, c.Text = next, contract.Encode(next)
	if _, err := contract.Decode(c.Text); err != nil {
		return nil, err
	}
	if err := x.ReplaceContract(c, from); err != nil {
		return nil, err
	}
	if err := x.announce(c, event.AcceptanceCreated, nil); err != nil {
		return nil, err
	}
	x.note(by, "contract.edit", c, event.Record{From: string(a.Status), To: string(next.Status)})
	if next.State == contract.Active {
		w.examine = true
	}
	return c, nil
}

// follow carries out what a judgement brings: the steps out of Stabilize, which
// wait for it, and a freeze, in the transaction that persisted the Acceptance.
func (x *session) follow(run *Run, j judgement) error {
	w, task := x.w, x.w.row(run.TaskSeed)
	if phase.Phase(run.Phase) == phase.Stabilize && w.phase() == phase.Stabilize && j.To != "" {
		r := phase.Request{
			Role: run.Role, Proofs: phase.Needed(phase.Stabilize), Acceptance: j.Acceptance, Level: j.level,
		}
		if err := x.stepTo(task, j.To, contract.Actor{ID: run.Actor, Role: run.Role}, r); err != nil {
			return err
		}
	}
	if j.Owed && phase.Phase(run.Phase) == phase.Stabilize {
		x.owe(task, phase.Stabilize)
	}
	if j.Freeze == "" {
		return nil
	}
	return x.freeze(task, j.Freeze)
}

// AcceptanceReevaluate has the Validator judge the last judged result again. It
// is the way on after a gate that was rejected or expired (§4.5).
func (s *Service) AcceptanceReevaluate(ctx context.Context, by Caller, a ReevaluateArgs) (*Shown, error) {
	return do(ctx, s, by, "acceptance.reevaluate", func(x *session) (*Shown, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		may := contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer, contract.QA, contract.Admin)
		c, err := x.resolved(a.ID)
		if err != nil {
			return nil, err
		}
		if err := role.Permit(by.Role, may, "have an Acceptance judged again"); err != nil {
			return nil, err
		}
		if err := x.plain("/reason", a.Reason); err != nil {
			return nil, err
		}
		x.rec.Resolution = a.Reason
		if c != x.w.acceptanceRow() {
			return nil, refusal.New(refusal.ContractNotEditable, "%s is not what the chain is judged by now", a.ID)
		}
		if s := stateOf(c); s != contract.Draft && s != contract.Active {
			return nil, refusal.New(refusal.ContractNotEditable, "%s is %s", a.ID, s)
		}
		if s := stateOf(x.w.taskRow()); s != contract.Active {
			return nil, refusal.New(refusal.GenerationSourceNotActive, "the TaskSeed is %s", s)
		}
		if g := x.w.gate(); g != nil && g.FinalDecision == contract.DecisionApproved {
			return nil, refusal.New(refusal.ContractNotEditable, "%s is approved", g.ID)
		}
		err = x.rejudge(x.actor, "reevaluate/"+fmt.Sprint(c.Ref().Version))
		return x.w.shown(c), err
	})
}

// rejudge judges the last judged result again, with what is known now. The
// version rises even when nothing else changes.
func (x *session) rejudge(by contract.Actor, again string) error {
	w := x.w
	c := w.acceptanceRow()
	if c == nil || w.d.Judged == "" || len(w.d.Due) > 0 {
		return refusal.New(refusal.ContractNotEditable, "a result is being judged")
	}
	run, err := x.Run(w.d.Judged)
	if err != nil {
		return err
	}
	d, err := run.details()
	if err != nil {
		return err
	}
	x.because = createdEvent(contract.KindAcceptance, c.Ref())
	j, err := x.judge(run, d)
	if err != nil {
		return err
	}
	if phase.Phase(run.Phase) != phase.Stabilize || w.phase() != phase.Stabilize {
		// What followed from the result has followed when it was judged first.
		j.To, j.Freeze, j.Owed = "", "", false
	}
	key := generation.Key{Source: run.TaskSeed.ID, Version: run.TaskSeed.Version, Target: contract.KindAcceptance, Discriminator: again}
	if err := x.accept(run, j, by, key.String()); err != nil {
		return err
	}
	return x.follow(run, j)
}

// rejudgeLater asks for it in a transaction of its own. reason tells one asking
// from another.
func (x *session) rejudgeLater(reason string) error {
	task := x.w.taskRow()
	x.owes = true
	args := targetArgs{Chain: x.w.chain.ID, ID: task.Ref().ID, Version: task.Ref().Version, Key: reason}
	return x.enqueue(JobRejudge, fmt.Sprintf("%s:%d/%s", task.Ref().ID, task.Ref().Version, reason), x.w.chain.ID, args, time.Time{})
}

// RunRejudge judges the last result again because a verify artifact arrived, or
// because what people agreed to is no longer what the chain holds (R10, R14).
func (s *Service) RunRejudge(ctx context.Context, a Attempt) error {
	args, err := arguments[targetArgs](a)
	if err != nil {
		return err
	}
	g := generator{attempt: a, args: args, target: contract.KindAcceptance, actor: s.orchestrator()}
	return s.generate(ctx, g, func() error {
		return s.step(ctx, g.actor, "contract.create", args.Chain, func(x *session) error {
			w := x.w
			key := generation.Key{Source: args.ID, Version: args.Version, Target: contract.KindAcceptance, Discriminator: args.Key}
			if _, done, err := x.Effect(key.String()); err != nil || done {
				return err
			}
			if w.taskRow() == nil || w.taskRow().Ref() != args.ref() {
				return nil // another version is under way
			}
			if len(w.d.Due) > 0 {
				return nil // a newer result is judged with what is known now
			}
			if s := stateOf(w.taskRow()); s != contract.Active {
				return refusal.New(refusal.GenerationSourceNotActive, "the TaskSeed is %s", s)
			}
			// A verification that arrived between the end of a series and its judgement
			// is part of that judgement; people would be asked a second time for nothing.
			if f, err := x.boundary(); err != nil || f.verifyID == args.Key && w.d.Heard == args.Key {
				return err
			}
			return x.rejudge(g.actor, args.Key)
		})
	})
}

// createdEvent is the id of the event that announced a contract version.
func createdEvent(kind contract.Kind, ref Ref) string {
	return event.Created(event.Subject{Kind: string(kind), ID: string(ref.ID), Version: ref.Version}, event.Origin{}, nil).ID
}
