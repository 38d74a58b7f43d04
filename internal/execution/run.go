package execution

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/phase"
)

// emptyDiff is the hash of no change (docs/spec/contracts.md §9.1).
var emptyDiff = contract.Hash(nil)

// Run claims a task, runs the command on it and reports. What earlier runs left
// to report goes first. The end of ctx interrupts the command; the run is
// reported all the same. An error means that no run began.
func (r *Runner) Run(ctx context.Context, o Order) (*Result, error) {
	const op = "execution.Run"
	if len(o.Command) == 0 || o.Command[0] == "" {
		return nil, fault.E(op, fault.Invalid, "no command to run", nil)
	}
	if o.Task.Kind() != contract.KindTaskSeed {
		return nil, fault.E(op, fault.Invalid, fmt.Sprintf("%q is no id of a task", o.Task), nil)
	}
	repo, err := openRepository(ctx, r.conf.Repo, r.conf.Environ)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, err.Error(), nil)
	}
	if repo.root != "" && below(repo.root, r.conf.State) && !below(repo.common, r.conf.State) {
		return nil, fault.E(op, fault.Invalid, "the folder for runs lies in the working tree of the repository", nil)
	}
	if o.Base != "" {
		if o.Base, err = repo.commit(ctx, o.Base); err != nil {
			return nil, fault.E(op, fault.NotFound, err.Error(), nil).WithHint("name a commit, branch or tag of the repository, or leave the base out")
		}
	}
	if _, err := r.Recover(ctx); err != nil {
		return nil, err
	}
	f, err := r.folderFor(o, repo)
	if err != nil {
		return nil, fault.E(op, fault.Unavailable, "make a folder for the run: "+err.Error(), err)
	}
	defer func() { f.release() }()
	claim, err := r.claim(ctx, f, o)
	if err != nil {
		if !unanswered(err) {
			err = errors.Join(err, f.forget())
		}
		return nil, err
	}
	since := time.Now()
	r.note("claimed %s for %s as %s: run %s, copies %s", o.Task, claim.Phase, claim.Role, claim.ExecutionID, claim.Stale)

	// The account of a run is made whatever happens to the caller.
	account, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if r.conf.Hard != nil {
		go func() {
			select {
			case <-r.conf.Hard:
				time.AfterFunc(r.conf.Grace, cancel)
			case <-account.Done():
			}
		}()
	}
	p := r.beat(account, f.Ticket, claim.Heartbeat)
	defer p.end()
	w := &work{runner: r, folder: f, repo: repo, claim: claim, pulse: p, since: since}
	if err := w.do(ctx, account); err != nil {
		// The account could not be written down; the next start makes one.
		return nil, fault.E(op, fault.Unavailable, "write the account of run "+f.Run+": "+err.Error(), err)
	}
	return r.deliver(account, f, repo)
}

// note prints one line for who watches.
func (r *Runner) note(format string, args ...any) {
	fmt.Fprintf(r.conf.Notes, format+"\n", args...)
}

// folderFor is a new folder, or that of a claim of the same order whose answer
// never came: under its key the service gives the run it has already begun,
// where a new claim would find the lock held. That claim may have given the chain
// the base that it now has by itself.
func (r *Runner) folderFor(o Order, repo *repository) (*folder, error) {
	names, err := runs(r.conf.State)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := take(r.conf.State, name)
		if err != nil {
			continue
		}
		if f.Stage == claiming && f.Task == o.Task && f.Phase == o.Phase && (o.Base == "" || f.Asked == o.Base) {
			f.Command, f.Repo, f.Setting = o.Command, r.conf.Repo, r.conf.setting()
			return f, f.save()
		}
		f.release()
	}
	place := repo.root
	if place == "" {
		place = repo.common
	}
	return create(r.conf.State, journal{
		Stage: claiming, Run: r.conf.NewID(), Task: o.Task, Phase: o.Phase, Asked: o.Base, Command: o.Command,
		Repo: place, Since: r.conf.Now().UTC().Truncate(time.Millisecond), Setting: r.conf.setting(),
	})
}

// claim takes the run and writes down that it is ours, before anything is done.
func (r *Runner) claim(ctx context.Context, f *folder, o Order) (*Claim, error) {
	var c *Claim
	err := r.persist(ctx, func(ctx context.Context) error {
		var err error
		c, err = r.conf.Server.Claim(ctx, f.Run, ClaimRequest{Task: o.Task, Phase: o.Phase, BaseCommit: f.Asked})
		return err
	})
	if err != nil {
		return nil, err
	}
	f.Stage, f.Ticket = working, Ticket{c.ExecutionID, c.LockToken}
	f.Phase, f.Base, f.From = c.Phase, c.BaseCommit, c.HeadCommit
	f.Started = r.conf.Now().UTC().Truncate(time.Millisecond)
	f.InputHash = inputHash(c.Task, f.Command)
	if c.Task != nil {
		f.TaskVersion, f.Plan = c.Task.Version, c.Task.ExecutionPlan
	}
	return c, f.save()
}

// work is one run under way.
type work struct {
	*folder
	runner *Runner
	repo   *repository
	claim  *Claim
	pulse  *pulse
	since  time.Time // of the claim, with its monotonic reading
}

// do runs the command and writes the account. ctx is the caller's, account goes
// on without it. An error says that there is no account.
func (w *work) do(ctx, account context.Context) error {
	e, report, note := w.execute(ctx, account)
	if report.Blocked != "" && e.succeeded() {
		e.reason = report.Blocked
	}
	return w.account(account, w.repo, e, report, note)
}

// execute makes the worktree and runs the command in it. Whatever prevents that
// is how the run ended.
func (w *work) execute(ctx, account context.Context) (ending, Report, []byte) {
	fail := func(format string, args ...any) (ending, Report, []byte) {
		return ending{-1, fmt.Sprintf(format, args...)}, Report{}, nil
	}
	if err := w.prepare(account); err != nil {
		return fail("%v", err)
	}
	note, err := w.releaseNote(account)
	if err != nil {
		return fail("get the release note: %v", err)
	}
	if ctx.Err() != nil {
		return fail("interrupted before the command began")
	}
	mark := "PLIMSOLL_RUN=" + w.Run
	env := environment(w.runner.conf.Environ, w.runner.conf.Pass, mark,
		"PLIMSOLL_TASK="+string(w.Task), "PLIMSOLL_PHASE="+string(w.Phase), "PLIMSOLL_EXECUTION="+w.Ticket.ExecutionID,
		"PLIMSOLL_BASE_COMMIT="+w.Base, "PLIMSOLL_OUT="+w.path(outDir), "PWD="+w.Tree.Path)
	c, err := newCapture(w.path(logFile), w.runner.conf.Output, w.runner.conf.MaxOutput, secrets(w.runner.conf.Environ, w.runner.conf.Pass))
	if err != nil {
		return fail("open the log: %v", err)
	}
	e := spec{
		args: w.Command, dir: w.Tree.Path, env: env, mark: mark, limit: w.limit(), grace: w.runner.conf.Grace, capture: c,
		interrupt: ctx.Done(), hard: w.runner.conf.Hard, over: w.pulse.over,
	}.run()
	if err := c.close(); err != nil {
		return fail("write the log: %v", err)
	}
	report, err := readReport(w.path(outDir, reportFile))
	if err != nil {
		report = Report{}
		if e.succeeded() {
			e = ending{e.exit, "its report cannot be read: " + err.Error()}
		}
	}
	if e.succeeded() && report.Blocked == "" && report.Tests != nil && (w.Phase == phase.Build || w.Phase == phase.Stabilize) {
		if ok, err := artifact.TestsPassed(report.Tests); err != nil || !ok {
			e.reason = "its tests did not pass"
		}
	}
	if w.Phase == phase.Publish && e.succeeded() {
		if written, err := readBounded(w.path(outDir, noteFile), artifact.MaxSize); err != nil {
			e.reason = "its release note cannot be read: " + err.Error()
		} else if written != nil {
			note = written
		}
	}
	return e, report, note
}

// prepare makes the worktree where the chain stands.
func (w *work) prepare(ctx context.Context) error {
	if w.Base == "" {
		head, err := w.repo.commit(ctx, "HEAD")
		if err != nil {
			return err
		}
		w.Base = head
	}
	if w.From == "" {
		w.From = w.Base
	}
	for _, commit := range slices.Compact([]string{w.Base, w.From}) {
		if _, err := w.repo.commit(ctx, commit); err != nil {
			return fmt.Errorf("%w; fetch it and run the task again", err)
		}
	}
	branch := "plimsoll/" + string(w.Task) + "/" + w.Run
	t, err := w.repo.add(ctx, w.path(treeDir), branch, w.From)
	if err != nil {
		return err
	}
	w.Tree = t
	w.runner.note("working in %s on branch %s", t.Path, branch)
	return w.save()
}

// releaseNote is the note of a Publish run, where the command finds it and may
// append to it (docs/spec/contracts.md §7.1).
func (w *work) releaseNote(ctx context.Context) ([]byte, error) {
	if w.Phase != phase.Publish {
		return nil, nil
	}
	var note []byte
	err := w.runner.persist(ctx, func(ctx context.Context) error {
		var err error
		note, err = w.runner.conf.Server.Note(ctx, w.Task)
		return err
	})
	if err != nil {
		return nil, err
	}
	return note, os.WriteFile(w.path(outDir, noteFile), note, 0o600)
}

// reserve is what is kept of the phase's limit for the report: one that comes
// after the limit is refused.
const reserve = 30 * time.Second

// limit is how long the command may take, 0 for ever. What the service says is
// counted from its own clock: it gave the lock TTL from its now.
func (w *work) limit() time.Duration {
	limit, ok := w.Phase.Limit()
	if !w.claim.Deadline.IsZero() && !w.claim.LockedUntil.IsZero() {
		limit, ok = w.claim.Deadline.Sub(w.claim.LockedUntil.Add(-lock.TTL)), true
	}
	if ok {
		limit = max(limit-min(reserve, limit/10)-time.Since(w.since), time.Millisecond)
	}
	if own := w.runner.conf.Limit; own > 0 && (!ok || own < limit) {
		return own
	}
	return limit
}

// account writes down how the run ended, with everything the service will ask
// for. After it the folder alone is enough to deliver.
func (w *work) account(ctx context.Context, repo *repository, e ending, report Report, note []byte) error {
	w.Gone = w.pulse.gone() != nil
	return w.runner.account(ctx, w.folder, repo, e, report, note, w.runner.conf.Now())
}

// account is the account of a run by its folder, for the runner that did the
// work and for one that finds what another left.
func (r *Runner) account(ctx context.Context, f *folder, repo *repository, e ending, report Report, note []byte, at time.Time) error {
	at = at.UTC().Truncate(time.Millisecond)
	head, diffHash, files := f.Base, emptyDiff, []artifact.File(nil)
	change := newChange(secrets(r.conf.Environ, r.conf.Pass))
	fail := func(err error) {
		if e.reason == "" {
			e = ending{-1, err.Error()}
		}
	}
	if f.Tree != nil && repo != nil {
		s, err := repo.settle(ctx, f.Tree, f.Phase == phase.Build || f.Phase == phase.Refactor, f.leftMessage())
		if err != nil {
			f.Left = true
			fail(fmt.Errorf("find what the command did: %w", err))
		} else if hash, err := repo.diffHash(ctx, f.Base, s.head, change); err != nil {
			fail(err)
		} else if files, err = repo.files(ctx, f.Base, s.head); err != nil {
			fail(err)
		} else {
			head, diffHash, f.Left = s.head, hash, s.left
			if s.added > 0 {
				r.note("committed %d changed paths that the command had left", s.added)
			}
		}
	}
	log, err := readBounded(f.path(logFile), artifact.MaxSize)
	if err != nil {
		fail(fmt.Errorf("read the log: %w", err))
	}
	blocked := report.Blocked != "" && e.exit == 0
	checks := report.checks(f.Phase, f.Plan, f.Command, e)
	var v verdict
	if e.succeeded() && f.Phase != phase.Publish {
		if v, err = r.judge(ctx, repo, f.Tree, f.Base, head); err != nil {
			fail(fmt.Errorf("the gate came to no result: %w", err))
		}
	}
	outcome := phase.Succeeded
	switch {
	case blocked:
		outcome = phase.Blocked
	case !e.succeeded():
		outcome = phase.Failed
	}
	reason := redact.Text(e.reason)
	if outcome == phase.Failed && len(log) == 0 {
		log = []byte(reason + "\n")
	}
	for _, a := range f.artifacts(outcome, checks, log, report.testReport(f.Command, e, f.Started, at), note, v.text) {
		if err := f.spool(a.kind, a.bytes); err != nil {
			return err
		}
	}
	if diff := change.text(); diffHash != emptyDiff && f.Phase != phase.Publish {
		if err := f.spool(phase.ChangeDiff, diff); err != nil {
			return err
		}
	}
	lockfile := ingest.LockfileHash(nil)
	if repo != nil {
		lockfile = repo.lockfileHash(ctx, head)
	}
	output := contract.Hash(log)
	if f.Phase == phase.Publish && outcome == phase.Succeeded {
		output = contract.Hash(note)
	}
	f.End = &End{
		Outcome: outcome, Reason: reason, HeadCommit: head,
		Evidence: f.evidence(head, diffHash, output, lockfile, report.Tools, at),
	}
	if outcome != phase.Failed {
		f.End.Checks, f.End.Signals, f.End.Facts, f.End.Files = checks, report.Signals, report.Facts, files
	}
	f.Stage, f.DiffHash, f.ExitCode, f.Control, f.Route = delivering, diffHash, e.exit, v.control, v.route
	return f.save()
}

func (f *folder) leftMessage() string {
	return fmt.Sprintf("Keep what %s left uncommitted in %s\n\nRun: %s\n", f.Task, f.Phase, f.Ticket.ExecutionID)
}

type delivery struct {
	kind  phase.Proof
	bytes []byte
}

// artifacts is what docs/spec/contracts.md §7.1 asks of a phase for this outcome.
func (f *folder) artifacts(o phase.Outcome, checks []Check, log, tests, note, boundary []byte) []delivery {
	var list []delivery
	add := func(k phase.Proof, b []byte) {
		if b != nil {
			list = append(list, delivery{k, b})
		}
	}
	if log == nil {
		log = []byte{}
	}
	switch f.Phase {
	case phase.Build:
		if o == phase.Failed {
			add(phase.ErrorLog, log)
			break
		}
		add(phase.BuildLog, log)
		if o == phase.Succeeded {
			add(phase.UnitTestResult, tests)
		}
	case phase.Stabilize:
		if o != phase.Blocked {
			add(phase.IntegrationReport, tests)
		}
		if o != phase.Succeeded || failing(checks) {
			add(phase.FailedTestLog, log)
		}
	case phase.Publish:
		if o == phase.Succeeded {
			add(phase.ReleaseNote, note)
		}
	case phase.Plan, phase.Refactor, phase.Published:
	}
	add(phase.BoundaryResult, boundary)
	return list
}

// persist makes a call until the service answers or patience is used up.
func (r *Runner) persist(ctx context.Context, call func(context.Context) error) error {
	var spent time.Duration
	for wait := time.Second; ; wait *= 2 {
		err := call(ctx)
		if err == nil || !unanswered(err) || spent >= r.conf.Patience {
			return err
		}
		wait = min(wait, r.conf.Patience-spent)
		spent += wait
		if r.conf.Pause(ctx, wait) != nil {
			return err
		}
	}
}

// short is the first line of a text.
func short(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
