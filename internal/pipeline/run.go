package pipeline

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
)

// The executor protocol (docs/spec/contracts.md §4.5, §20.3): claim, heartbeat,
// artifacts, and the end of a run, which is in report.go.

// runDetails is what is remembered of a run besides the columns of the store.
type runDetails struct {
	Reason  string                  `json:"reason,omitempty"`
	Signals risk.Signals            `json:"signals,omitempty"`
	Facts   []risk.Fact             `json:"facts,omitempty"`
	Checks  []event.Check           `json:"checks,omitempty"`
	Files   []artifact.File         `json:"files,omitempty"`
	Stale   contract.Classification `json:"stale,omitempty"`
	// What the end of a series came to, and what follows from it where that is
	// known before the Validator has spoken.
	Outcome     phase.Outcome      `json:"outcome,omitempty"`
	BlockedFor  contract.Cause     `json:"blocked_for,omitempty"`
	DiffChanged bool               `json:"diff_changed,omitempty"`
	Consequence *phase.Consequence `json:"consequence,omitempty"`
	// Completed is the event of the end of the series.
	Completed string `json:"completed,omitempty"`
}

func (r *Run) details() (runDetails, error) {
	var d runDetails
	if len(r.Details) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(r.Details, &d); err != nil {
		return d, fault.E("pipeline.Run", fault.Internal, "the details of run "+r.ExecutionID+" do not read", err)
	}
	return d, nil
}

func (r *Run) setDetails(d runDetails) {
	text, err := json.Marshal(d)
	if err != nil {
		panic("pipeline: the details of a run do not marshal: " + err.Error())
	}
	r.Details = text
}

// TaskClaim starts a run of the phase the chain is in.
func (s *Service) TaskClaim(ctx context.Context, by Caller, a ClaimArgs) (*Claim, error) {
	execution := s.conf.NewID("exec")
	l, err := s.lookAtTask(ctx, a.Task)
	if err != nil {
		return nil, err
	}
	return do(ctx, s, by, "task.claim", func(x *session) (*Claim, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		c, err := x.resolved(a.Task)
		if err != nil {
			return nil, err
		}
		if t := x.w.taskRow(); t != nil && t.Ref().ID == a.Task {
			c = t
		}
		x.about(c)
		return x.claim(c, execution, a, l)
	})
}

// lookAtTask is look for the chain of a task, which may be unknown: the use case
// says so.
func (s *Service) lookAtTask(ctx context.Context, id contract.ID) (look, error) {
	c, err := view(ctx, s, func(r Reader) (*Contract, error) { return r.Contract(id) })
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return look{}, nil
		}
		return look{}, err
	}
	return s.look(ctx, c.Chain, false)
}

// alive is the run of the chain that has not ended, nil for none.
func (x *session) alive() (*Run, error) {
	yes := true
	runs, err := x.Runs(RunFilter{Chains: []contract.ID{x.w.chain.ID}, Alive: &yes}, Page{Limit: 1})
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return runs[0], nil
}

func (x *session) claim(c *Contract, execution string, a ClaimArgs, l look) (*Claim, error) {
	if err := x.startable(c, a.Phase); err != nil {
		return nil, err
	}
	run, err := x.alive()
	if err != nil {
		return nil, err
	}
	if run != nil {
		// A run that is lost or over its limit is ended first, with all that comes
		// of it, and then everything is asked again from the top.
		if err := x.overtake(run); err != nil {
			return nil, err
		}
		if err := x.startable(c, a.Phase); err != nil {
			return nil, x.keep(err)
		}
	}
	// Asking how old the copies are may freeze: only when the run may start.
	classification, err := x.freshen(c, x.w.phase(), l)
	if err != nil {
		return nil, x.keep(err)
	}
	return x.start(c, execution, a, classification)
}

// startable is everything that is asked before a run starts but its copies and
// its lock (§4.5).
func (x *session) startable(c *Contract, p Phase) error {
	w := x.w
	task, ok := c.Document.(*contract.TaskSeed)
	if !ok {
		return missing("%s is no TaskSeed", c.Ref().ID)
	}
	boundary, err := x.boundary()
	if err != nil {
		return err
	}
	request := phase.Claim{
		Phase: phase.Phase(p), Chain: w.phase(), TaskSeed: task.State, Intent: stateOf(w.intentRow()),
		Role: x.by.Role, Deputy: x.by.Role == contract.Admin, Capabilities: task.CapabilitiesSnapshot,
		Level: w.gateLevel(boundary.result), Automatic: x.s.conf.AutomaticTests, Gate: w.publication(),
	}
	if c != w.taskRow() {
		request.TaskSeed = contract.Superseded // another version is under way
	}
	if err := phase.Start(request); err != nil {
		return err
	}
	if slices.ContainsFunc(w.d.Due, func(d due) bool { return d.Hold }) {
		return refusal.New(refusal.PhaseGuardFailed, "the last result is being judged")
	}
	return nil
}

// keep lets a refusal stand beside what the session has done before it: a run
// that was ended, a contract that was frozen, a judgement that was asked for.
func (x *session) keep(err error) error {
	if len(x.more) == 0 && !x.owes || refusal.CodeOf(err) == "" {
		return err
	}
	x.kept = err
	return nil
}

// overtake ends a run that is in the way of another when it is lost or over its
// limit, and refuses the other when it is not.
func (x *session) overtake(run *Run) error {
	key := lock.Contract(run.TaskSeed.ID)
	_, row, err := x.one(key)
	if err != nil {
		return err
	}
	now := x.Now()
	switch {
	case string(row.Holder) != run.ExecutionID || !row.Held(now):
		return x.endLost(run)
	case phase.Overrun(phase.Phase(run.Phase), now.Sub(run.StartedAt)) != nil:
		return x.endOverdue(run)
	case lock.Breakable(now.Sub(row.Beat)):
		x.note(x.actor, "lock.break", nil, event.Record{Cause: string(key), From: run.ExecutionID})
		return x.endLost(run)
	}
	return row.Free("", now)
}

// freshen evaluates the copies before a run starts. Before a publication the
// approval digest is computed again: a change of it means that the work is
// judged again, and that people are asked again (R14).
func (x *session) freshen(c *Contract, p phase.Phase, l look) (contract.Classification, error) {
	var digest *bool
	since := ""
	if p == phase.Publish {
		var err error
		if since, err = x.since(x.w.gateRow()); err != nil {
			return "", err
		}
		changed := since != ""
		digest = &changed
	}
	classification, cause, err := x.copies(l, digest, stateOf(c))
	if err == nil {
		return classification, nil
	}
	if since != "" {
		err = refusal.New(refusal.StaleHard, "the approval of %s is void: %s", x.w.gateRow().Ref().ID, since)
		return classification, unless(err, x.rejudgeLater("digest/"+x.w.gateRow().ApprovalDigest))
	}
	if cause != "" {
		if e := x.freeze(c, cause); e != nil {
			return classification, e
		}
	}
	return classification, err
}

// start begins the run: its lock, its row and its timers.
func (x *session) start(c *Contract, execution string, a ClaimArgs, classification contract.Classification) (*Claim, error) {
	w, now := x.w, x.Now()
	row, err := x.take(lock.Contract(c.Ref().ID), execution, x.by.Actor)
	if err != nil {
		return nil, err
	}
	base := a.BaseCommit
	if base == "" {
		base = w.chain.BaseCommit
	}
	if w.chain.BaseCommit == "" && w.phase() == phase.Build {
		w.chain.BaseCommit, w.chain.HeadCommit = base, base
	}
	if w.d.Runs == 0 {
		w.d.Series++
		w.d.Union, w.d.Facts = 0, nil
	}
	w.d.Runs++
	run := &Run{
		ExecutionID: execution, Chain: w.chain.ID, TaskSeed: c.Ref(), Phase: w.chain.Phase, Role: x.by.Role, Actor: x.by.Actor,
		Series: w.d.Series, Attempt: w.d.Runs, LockToken: row.Token, BaseCommit: base, StartedAt: now,
	}
	if limit, ok := w.phase().Limit(); ok {
		run.Deadline = now.Add(limit)
	}
	run.setDetails(runDetails{Stale: classification})
	if err := x.CreateRun(run); err != nil {
		return nil, err
	}
	if err := x.timers(run, row.Until()); err != nil {
		return nil, err
	}
	x.rec.Cause = execution
	return &Claim{
		Run: run, LockedUntil: row.Until(), Heartbeat: lock.Heartbeat, HeadCommit: w.chain.HeadCommit, Stale: classification,
		Task: w.shown(c), Artifacts: asked(w.phase()),
	}, nil
}

// timers asks for what ends a run that does not end itself.
func (x *session) timers(run *Run, until time.Time) error {
	args := runArgs{Chain: run.Chain, Execution: run.ExecutionID}
	if err := x.enqueue(JobLost, run.ExecutionID+"/"+later(until), run.Chain, args, until); err != nil {
		return err
	}
	if run.Deadline.IsZero() {
		return nil
	}
	return x.enqueue(JobOverrun, run.ExecutionID, run.Chain, args, run.Deadline.Add(time.Millisecond))
}

// asked is the artifacts that the steps out of a phase ask for.
func asked(p phase.Phase) []ArtifactKind {
	list := []ArtifactKind{}
	for _, proof := range phase.Needed(p) {
		// A contract is no artifact, and a review result is written by the service
		// when a review is recorded.
		if artifact.MediaType(proof) != "" && proof != phase.ReviewResult {
			list = append(list, ArtifactKind(proof))
		}
	}
	return list
}

// RunList is a page of runs.
func (s *Service) RunList(ctx context.Context, f RunFilter, p Page) ([]*Run, error) {
	return view(ctx, s, func(r Reader) ([]*Run, error) { return r.Runs(f, p) })
}

// RunGet is one run.
func (s *Service) RunGet(ctx context.Context, id string) (*Run, error) {
	return view(ctx, s, func(r Reader) (*Run, error) {
		run, err := r.Run(id)
		return found(run, err, "the run %s is unknown", id)
	})
}

// mine is a run addressed by its own actor, with its chain.
func (x *session) mine(id string) (*Run, error) {
	run, err := x.Run(id)
	if run, err = found(run, err, "the run %s is unknown", id); err != nil {
		return nil, err
	}
	x.rec.Cause = id
	if err := x.open(run.Chain); err != nil {
		return nil, err
	}
	if c := x.w.row(run.TaskSeed); c != nil {
		x.about(c)
	}
	// Read again under the lock of the chain: another may have ended it meanwhile.
	if run, err = x.Run(id); err != nil {
		return nil, err
	}
	if run.Actor != x.by.Actor {
		return run, refusal.New(refusal.LockNotHolder, "%s is the run of %s", id, run.Actor)
	}
	return run, nil
}

// over says why a run takes nothing any more, nil when it goes on. What the
// clock says of it is carried out: the session ends it.
func (x *session) over(run *Run) error {
	if x.by.LockToken != run.LockToken {
		return refusal.New(refusal.LockLost, "token %d is not that of %s", x.by.LockToken, run.ExecutionID)
	}
	if !run.Alive() {
		return ended(run)
	}
	_, row, err := x.one(lock.Contract(run.TaskSeed.ID))
	if err != nil {
		return err
	}
	now := x.Now()
	if string(row.Holder) != run.ExecutionID {
		if err := x.endLost(run); err != nil {
			return err
		}
		return refusal.New(refusal.LockLost, "%s has lost its lock", run.ExecutionID)
	}
	if err := row.Fence(run.LockToken, now); err != nil {
		return unless(err, x.endLost(run))
	}
	if err := phase.Overrun(phase.Phase(run.Phase), now.Sub(run.StartedAt)); err != nil {
		return unless(err, x.endOverdue(run))
	}
	return nil
}

// ended is what a call on an own run that is over is told.
func ended(run *Run) error {
	if phase.Outcome(run.Outcome) == phase.TimedOut {
		return phase.Overrun(phase.Phase(run.Phase), run.EndedAt.Sub(run.StartedAt)+time.Nanosecond)
	}
	return refusal.New(refusal.LockLost, "%s is over", run.ExecutionID)
}

// unless is the refusal, unless carrying out what belongs to it went wrong.
func unless(refused, err error) error {
	if err != nil {
		return err
	}
	return refused
}

// RunHeartbeat keeps a run alive.
func (s *Service) RunHeartbeat(ctx context.Context, by Caller, id string) (*Beat, error) {
	return do(ctx, s, by, "run.heartbeat", func(x *session) (*Beat, error) {
		run, err := x.mine(id)
		if err != nil {
			return nil, err
		}
		if err := x.over(run); err != nil {
			return nil, x.keep(err)
		}
		l, row, err := x.one(lock.Contract(run.TaskSeed.ID))
		if err != nil {
			return nil, err
		}
		next, err := row.Renew(lock.Holder(id), true, x.Now())
		if err != nil {
			return nil, err
		}
		if err := x.put(l, next, run.Actor); err != nil {
			return nil, err
		}
		// The timer of the lock goes on by itself: it looks, and asks again.
		w := x.w
		stop := stateOf(w.intentRow()) != contract.Active || stateOf(w.taskRow()) != contract.Active
		if g := w.gate(); g != nil && run.Phase == Phase(phase.Publish) {
			stop = stop || g.FinalDecision != contract.DecisionApproved
		}
		return &Beat{LockedUntil: next.Until(), Stop: stop}, nil
	})
}

// RunLost ends a run whose heartbeats stayed away (§12).
func (s *Service) RunLost(ctx context.Context, a Attempt) error {
	return s.timer(ctx, a, func(x *session, run *Run) error {
		_, row, err := x.one(lock.Contract(run.TaskSeed.ID))
		if err != nil {
			return err
		}
		if string(row.Holder) == run.ExecutionID && row.Held(x.Now()) {
			return x.enqueue(JobLost, run.ExecutionID+"/"+later(row.Until()), run.Chain,
				runArgs{Chain: run.Chain, Execution: run.ExecutionID}, row.Until())
		}
		return x.endLost(run)
	})
}

// RunOverrun ends a run that is over its limit.
func (s *Service) RunOverrun(ctx context.Context, a Attempt) error {
	return s.timer(ctx, a, func(x *session, run *Run) error {
		if phase.Overrun(phase.Phase(run.Phase), x.Now().Sub(run.StartedAt)) == nil {
			return nil
		}
		return x.endOverdue(run)
	})
}

// timer runs a timer on a run that is still alive, and does nothing otherwise.
func (s *Service) timer(ctx context.Context, a Attempt, fn func(*session, *Run) error) error {
	args, err := arguments[runArgs](a)
	if err != nil {
		return err
	}
	return again(s.step(ctx, s.orchestrator(), "run.end", args.Chain, func(x *session) error {
		run, err := x.Run(args.Execution)
		if err != nil || !run.Alive() {
			return err
		}
		return fn(x, run)
	}))
}

// again turns a fault of the store into a repetition that does not count (§3.5).
func again(err error) error {
	if err != nil && fault.KindOf(err) == fault.Unavailable {
		return &Again{After: time.Second, Err: err}
	}
	return err
}

// OperationRequest says whether a capability may be used on a task now (§8).
func (s *Service) OperationRequest(ctx context.Context, by Caller, a OperationArgs) error {
	return act(ctx, s, by, "operation.request", func(x *session) error {
		if err := x.holding(); err != nil {
			return err
		}
		c, err := x.resolved(a.Task)
		if err != nil {
			return err
		}
		task, ok := c.Document.(*contract.TaskSeed)
		if !ok {
			return missing("%s is no TaskSeed", a.Task)
		}
		if err := x.plain("/detail", a.Detail); err != nil {
			return err
		}
		x.rec.Cause, x.rec.Resolution = a.Capability, a.Detail
		return operate(x.w, task, by.Role, a.Capability)
	})
}
