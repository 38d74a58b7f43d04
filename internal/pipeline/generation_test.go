package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// planner is a planner that works, fails, or takes its time.
type planner struct {
	o     func() office
	steps []string
	err   error
	takes time.Duration
	asked int
}

func (p *planner) Plan(context.Context, *contract.Intent) (string, []string, error) {
	p.asked++
	o := p.o()
	o.at(o.clock().Add(p.takes))
	return "", p.steps, p.err
}

func planned(t *testing.T) (office, *planner) {
	t.Helper()
	p := &planner{}
	o := newOffice(t, func(c *pipeline.Config) { c.Planner = p })
	p.o = func() office { return o }
	return o, p
}

func TestOneIntentVersionYieldsOneTaskSeedWhateverIsRedelivered(t *testing.T) {
	o, p := planned(t)
	p.steps = []string{"Write it", "Test it"}
	o.intent("read_repo")
	job := pipeline.Job{Kind: pipeline.JobGenerate, Chain: "IC-001", Args: []byte(`{"chain":"IC-001","id":"IC-001","version":1}`)}
	for range 3 {
		if err := o.Work(o.Context(), pipeline.Attempt{Job: job, Number: 1}); err != nil {
			t.Fatal(err)
		}
		o.drain()
	}
	tasks, err := o.TaskList(o.Context(), pipeline.ContractFilter{}, pipeline.Page{})
	if err != nil || len(tasks) != 1 {
		t.Fatalf("%d TaskSeeds, %v", len(tasks), err)
	}
	if got := tasks[0].Document.(*contract.TaskSeed).ExecutionPlan; !slices.Equal(got, p.steps) {
		t.Errorf("the plan is %q", got)
	}
}

func TestAGenerationIsTriedFourTimesAndThenTheSourceIsFrozen(t *testing.T) {
	o, p := planned(t)
	p.err = errors.New("the model has no answer")
	o.intent("read_repo")
	for _, wait := range []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second} {
		n := p.asked
		o.after(wait - time.Millisecond)
		if p.asked != n {
			t.Errorf("asked again before %s had passed", wait)
		}
		o.expect(map[contract.ID]string{"IC-001": "Active"})
		o.after(time.Millisecond)
		if p.asked != n+1 {
			t.Errorf("asked %d times, want %d", p.asked, n+1)
		}
	}
	o.expect(map[contract.ID]string{"IC-001": "Frozen generation_failed"})
	if got := o.actions()["generation.failed refused"]; got != 4 {
		t.Errorf("%d failures were recorded, want 4", got)
	}
	p.err = nil
	resumed, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "IC-001", Version: 1, Resolution: "another model"})
	must(o, resumed, err)
	o.expect(map[contract.ID]string{"IC-001": "Active", "TS-001": "Active"})
	if got := o.phase(); got != "Build" {
		t.Errorf("the chain is in %s", got)
	}
}

func TestAnAttemptThatTakesTooLongCountsAsFailed(t *testing.T) {
	o, p := planned(t)
	p.takes = 30*time.Second + time.Millisecond
	o.intent("read_repo")
	if tasks, _ := o.TaskList(o.Context(), pipeline.ContractFilter{}, pipeline.Page{}); len(tasks) != 0 {
		t.Fatal("a TaskSeed was kept that came after its time")
	}
	p.takes = 30 * time.Second
	o.after(30 * time.Second)
	o.expect(map[contract.ID]string{"TS-001": "Active"})
}

func TestOldCopiesStopAGenerationUntilSomebodyFetches(t *testing.T) {
	o := newOffice(t, nil)
	o.fetches = false
	o.intent("read_repo")
	o.expect(map[contract.ID]string{"IC-001": "Frozen hard_stale"})
	resume := func() error {
		_, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "IC-001", Version: 1, Resolution: "again"})
		return err
	}
	o.refuses(refusal.FreezeCauseNotCleared, resume())
	o.fetches = true
	o.refuses("", resume())
	o.expect(map[contract.ID]string{"IC-001": "Active", "TS-001": "Active"})
}

func TestAResultIsJudgedOnceWhateverIsRedelivered(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	o.run(job{who: developer, phase: phase.Build, head: first})
	work := pipeline.Job{Kind: pipeline.JobJudge, Chain: "IC-001", Args: []byte(`{"chain":"IC-001","id":"TS-001","version":1,"key":"exec-0001"}`)}
	if err := o.Work(o.Context(), pipeline.Attempt{Job: work, Number: 1}); err != nil {
		t.Fatal(err)
	}
	if v := o.newest("AC-001").Ref().Version; v != 1 {
		t.Errorf("the Acceptance has version %d", v)
	}
}

func TestResultsWaitWhileTheTaskIsFrozenAndAreJudgedWhenItGoesOn(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	if _, err := o.end(job{who: developer, phase: phase.Build, head: first}, "exec-0001"); err != nil {
		t.Fatal(err)
	}
	// Frozen between the end of the run and its judgement.
	frozen, err := o.ContractFreeze(o.Context(), security, pipeline.FreezeArgs{ID: "TS-001", Version: 1, Cause: contract.ManualCheck, Reason: "wait"})
	must(o, frozen, err)
	if list, _ := o.ContractList(o.Context(), pipeline.ContractFilter{Kinds: []contract.Kind{contract.KindAcceptance}}, pipeline.Page{}); len(list) != 0 {
		t.Fatal("an Acceptance was made from a frozen TaskSeed")
	}
	resumed, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "TS-001", Version: 1, Resolution: "looked at"})
	must(o, resumed, err)
	o.expect(map[contract.ID]string{"AC-001": "Active pending"})
}

func TestALockOnTheTaskPutsItsPublicationOff(t *testing.T) {
	o := newOffice(t, nil)
	o.toRefactor()
	o.run(job{who: developer, phase: phase.Refactor, head: first})
	held, err := o.LockAcquire(o.Context(), developer, pipeline.AcquireArgs{Keys: []string{"contract:TS-001"}})
	locked := must(o, held, err)
	r, err := o.ReviewRecord(o.Context(), lead, pipeline.ReviewArgs{Task: "TS-001", Verdict: "approved", HeadCommit: first})
	must(o, r, err)
	o.expect(map[contract.ID]string{"TS-001": "Active"})
	o.refuses("", o.LockRelease(o.Context(), developer, locked.LockID))
	o.after(15 * time.Second)
	o.expect(map[contract.ID]string{"TS-001": "Published"})
	status, err := o.GateStatus(o.Context(), pipeline.GateStatusArgs{HeadCommit: first})
	if s := must(o, status, err); !s.Publishable || !s.DigestCurrent {
		t.Errorf("what was published is shown as %+v", s)
	}
}

func TestAHeldLockPutsAGeneratorOffAndThenFreezes(t *testing.T) {
	o := newOffice(t, nil)
	o.toRefactor()
	held, err := o.LockAcquire(o.Context(), developer, pipeline.AcquireArgs{Keys: []string{"contract:AC-001"}})
	locked := must(o, held, err)
	o.run(job{who: developer, phase: phase.Refactor, head: second})
	for range 3 {
		o.expect(map[contract.ID]string{"AC-001": "Active passed"})
		beat, err := o.LockHeartbeat(o.Context(), developer, locked.LockID)
		must(o, beat, err)
		o.after(60 * time.Second)
	}
	o.expect(map[contract.ID]string{"AC-001": "Frozen lock_exhausted passed"})
	if err := o.LockRelease(o.Context(), developer, locked.LockID); refusal.CodeOf(err) != refusal.LockLost {
		t.Errorf("the freeze did not take the lock over: %v", err)
	}
	resumed, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "AC-001", Version: 2, Resolution: "released"})
	must(o, resumed, err)
	o.expect(map[contract.ID]string{"AC-001": "Active pending"})
}
