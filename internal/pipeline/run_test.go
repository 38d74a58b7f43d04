package pipeline_test

import (
	"errors"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

func (o office) stored(execution string) *pipeline.Run {
	o.Helper()
	return read(o.world, func(r pipeline.Reader) (*pipeline.Run, error) { return r.Run(execution) })
}

func (o office) proof(run *pipeline.Run) *contract.Evidence {
	o.Helper()
	if run.Evidence == "" {
		o.Fatalf("%s has no Evidence", run.ExecutionID)
	}
	return o.newest(run.Evidence).Document.(*contract.Evidence)
}

func TestARunWithoutHeartbeatsIsLostAndItsEvidenceIsWritten(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	o.after(299 * time.Second)
	if !o.stored("exec-0001").Alive() {
		t.Fatal("the run is over before its lock")
	}
	o.after(time.Second)
	run := o.stored("exec-0001")
	if run.Alive() || run.Outcome != "failed" || run.Evidence != "" {
		t.Fatalf("at 300 s the run is %+v", run)
	}
	o.after(15 * time.Minute)
	run = o.stored("exec-0001")
	if run.Evidence != "" {
		t.Error("the Evidence was written before the limit of the run had passed")
	}
	o.after(time.Millisecond)
	e := o.proof(o.stored("exec-0001"))
	if e.MergeResult.Status != contract.MergeNotAttempted || *e.MergeResult.Reason != "lock.lost" || e.PolicyVerdict != contract.VerdictManual ||
		e.BaseCommit != e.HeadCommit || e.DiffHash != contract.EmptyDiffHash {
		t.Errorf("the Evidence of the lost run is %+v", e)
	}
	_, err = o.end(job{who: developer, phase: phase.Build, head: first}, "exec-0001")
	late, ok := errors.AsType[*pipeline.Late](err)
	if !ok || late.Evidence != e.ID || refusal.CodeOf(err) != refusal.LockLost {
		t.Errorf("a late result was answered %v", err)
	}
	out := o.run(job{who: developer, phase: phase.Build, head: first})
	if out.Completed == nil || out.Completed.Runs != 2 {
		t.Errorf("the series ended with %+v", out.Completed)
	}
}

func TestAHeartbeatKeepsARun(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	who := developer
	who.LockToken = c.Run.LockToken
	for range 9 {
		o.after(2 * time.Minute)
		beat, err := o.RunHeartbeat(o.Context(), who, "exec-0001")
		if must(o, beat, err).Stop {
			t.Fatal("told to stop")
		}
	}
	frozen, err := o.ContractFreeze(o.Context(), lead, pipeline.FreezeArgs{ID: "IC-001", Version: 1, Cause: contract.ManualCheck, Reason: "wait"})
	must(o, frozen, err)
	beat, err := o.RunHeartbeat(o.Context(), who, "exec-0001")
	if !must(o, beat, err).Stop {
		t.Error("the chain is frozen and the run was not told to stop")
	}
}

func TestARunOverItsLimitHasFailedAndItsEvidenceIsKept(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	who := developer
	who.LockToken = c.Run.LockToken
	for range 10 {
		o.after(2 * time.Minute)
		if beat, err := o.RunHeartbeat(o.Context(), who, "exec-0001"); err != nil {
			t.Fatal(beat, err)
		}
	}
	o.after(time.Millisecond)
	if run := o.stored("exec-0001"); run.Outcome != "timed_out" {
		t.Fatalf("a millisecond over the limit the run is %q", run.Outcome)
	}
	_, err = o.end(job{who: developer, phase: phase.Build, head: first}, "exec-0001")
	late, ok := errors.AsType[*pipeline.Late](err)
	if !ok || refusal.CodeOf(err) != refusal.PhaseTimeout {
		t.Fatalf("a result after the limit was answered %v", err)
	}
	if e := o.proof(o.stored("exec-0001")); e.ID != late.Evidence || e.HeadCommit != first || *e.MergeResult.Reason != "phase.timeout" {
		t.Errorf("the Evidence is %+v", e)
	}
	n := len(o.evidence())
	o.after(time.Hour)
	if got := len(o.evidence()); got != n {
		t.Errorf("%d Evidence came of a run that had its own", got-n)
	}
}

func (o office) evidence() []*pipeline.Shown {
	o.Helper()
	list, err := o.EvidenceList(o.Context(), pipeline.ContractFilter{}, pipeline.Page{})
	if err != nil {
		o.Fatal(err)
	}
	return list
}

func TestWorkGivenBackCountsAsAFailedRun(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	for n := range 4 {
		c, err := o.claim(developer, "TS-001", "Build")
		must(o, c, err)
		who := developer
		who.LockToken = c.Run.LockToken
		out, err := o.RunRelease(o.Context(), who, pipeline.ReleaseArgs{Execution: c.Run.ExecutionID, Reason: "not for me"})
		must(o, out, err)
		if last := n == 3; (out.Completed != nil) != last || out.RetryAllowed == last {
			t.Fatalf("release %d: %+v", n+1, out)
		}
		if e := o.proof(o.stored(c.Run.ExecutionID)); *e.MergeResult.Reason != "released" {
			t.Errorf("the Evidence says %q", *e.MergeResult.Reason)
		}
	}
	o.expect(map[contract.ID]string{"TS-001": "Frozen phase_exhausted", "AC-001": "Active failed"})
}

func TestAnAdminStopsSomebodysRun(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	_, err = o.RunRelease(o.Context(), other, pipeline.ReleaseArgs{Execution: "exec-0001", Reason: "mine now"})
	o.refuses(refusal.LockNotHolder, err)
	out, err := o.RunRelease(o.Context(), admin, pipeline.ReleaseArgs{Execution: "exec-0001", Reason: "it loops"})
	must(o, out, err)
	who := developer
	who.LockToken = c.Run.LockToken
	_, err = o.RunHeartbeat(o.Context(), who, "exec-0001")
	o.refuses(refusal.LockLost, err)
	if next, err := o.claim(other, "TS-001", "Build"); err != nil || next.Run.LockToken <= c.Run.LockToken {
		t.Errorf("the next run was answered %v with token %d", err, next.Run.LockToken)
	}
}

func TestAResultWithoutItsProofCanBeMended(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	who := developer
	who.LockToken = c.Run.LockToken
	complete := func(change func(map[string]any)) error {
		known := evidence("c0ffee0", first, "", "", o.clock(), o.clock())
		change(known)
		_, err := o.RunComplete(o.Context(), who, pipeline.CompleteArgs{Execution: "exec-0001", Outcome: phase.Succeeded, Evidence: known})
		return err
	}
	nothing := func(map[string]any) {}
	o.refuses(refusal.PhaseEvidenceMissing, complete(nothing))
	o.put(developer, "exec-0001", phase.BuildLog)
	failed := `{"tool":"go","command":["go","test"],"exitCode":1,"passed":11,"failed":1,"skipped":0,"startedAt":"2026-03-29T10:00:00Z","endedAt":"2026-03-29T10:00:01Z"}`
	put, err := o.ArtifactPut(o.Context(), who, pipeline.ArtifactArgs{Execution: "exec-0001", Kind: "unit_test_result", Bytes: []byte(failed)})
	must(o, put, err)
	o.refuses(refusal.PhaseGuardFailed, complete(nothing))
	o.refuses(refusal.ContractSchemaInvalid, complete(func(e map[string]any) { delete(e, "model") }))
	o.refuses(refusal.EvidenceHashFormat, complete(func(e map[string]any) { e["diffHash"] = "abc" }))
	o.refuses(refusal.RequestMalformed, complete(func(e map[string]any) { e["policyVerdict"] = "approved" }))
	o.refuses(refusal.EvidenceTimeOrder, complete(func(e map[string]any) { e["startTime"] = "2026-03-29T11:00:00Z" }))
	if !o.stored("exec-0001").Alive() {
		t.Error("a refusal for the content ended the run")
	}
	_, err = o.ArtifactPut(o.Context(), who, pipeline.ArtifactArgs{Execution: "exec-0001", Kind: "unit_test_result", Bytes: []byte(failed + " ")})
	o.refuses(refusal.ContractVersionConflict, err)
	again, err := o.ArtifactPut(o.Context(), who, pipeline.ArtifactArgs{Execution: "exec-0001", Kind: "unit_test_result", Bytes: []byte(failed)})
	if !must(o, again, err).Duplicate {
		t.Error("the same bytes again were no duplicate")
	}
	_, err = o.ArtifactPut(o.Context(), who, pipeline.ArtifactArgs{Execution: "exec-0001", Kind: "release_note", Bytes: []byte("x")})
	o.refuses(refusal.PhaseGuardFailed, err)
	who.LockToken--
	_, err = o.RunHeartbeat(o.Context(), who, "exec-0001")
	o.refuses(refusal.LockLost, err)
}

func TestARunThatOnlyTestsMayNotChangeTheWork(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	o.run(job{who: developer, phase: phase.Build, head: first})
	out := o.run(job{who: ci, phase: phase.Stabilize, head: second})
	if !out.RetryAllowed || o.stored("exec-0002").Outcome != "failed" {
		t.Errorf("a Stabilize run with another diff was answered %+v", out)
	}
	if got := o.phase(); got != "Stabilize" {
		t.Errorf("the chain is in %s", got)
	}
}

func TestABlockedRunWaitsForAPersonAndThenRunsAgain(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	o.run(job{who: developer, phase: phase.Build, head: first, outcome: phase.Blocked})
	o.expect(map[contract.ID]string{"TS-001": "Frozen external_dependency", "AC-001": "Active blocked"})
	resumed, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "TS-001", Version: 1, Resolution: "the registry is back"})
	must(o, resumed, err)
	o.run(job{who: developer, phase: phase.Build, head: first})
	if got := o.phase(); got != "Stabilize" {
		t.Errorf("the chain is in %s", got)
	}
}

func TestRevokingAnIntentStartsTheChainAnewWithoutTheOldRuns(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	revoked, err := o.ContractRevoke(o.Context(), admin, pipeline.RevokeArgs{ID: "IC-001", Version: 1, Ground: contract.ManualStop, Reason: "wrong"})
	must(o, revoked, err)
	shown, err := o.IntentRevise(o.Context(), asker, "IC-001", pipeline.IntentArgs{
		Intent: "Add a login page", Priority: "low", RequestedCapabilities: []string{"read_repo", "write_repo"},
	})
	must(o, shown, err)
	o.vote(lead, "IC-001", 2)
	if old := read(o.world, func(r pipeline.Reader) (*pipeline.Contract, error) {
		return r.ContractAt(pipeline.Ref{ID: "TS-001", Version: 1})
	}); old.Document.Head().State != contract.Revoked {
		t.Errorf("the TaskSeed of the round before is %s", old.Document.Head().State)
	}
	if o.stored("exec-0001").Alive() {
		t.Error("the run of the round before goes on")
	}
	out := o.run(job{who: developer, phase: phase.Build, head: first})
	if out.Completed == nil || out.Completed.Runs != 1 {
		t.Errorf("the first series of the new round ended with %+v", out)
	}
	o.expect(map[contract.ID]string{"TS-001": "Active", "AC-001": "Active pending"})
}
