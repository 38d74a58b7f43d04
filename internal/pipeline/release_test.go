package pipeline_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// toPublish takes a high chain as far as Publish, approved.
func (o office) toPublish() {
	o.Helper()
	o.toGate()
	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	o.run(job{who: ci, phase: phase.Refactor, head: first})
	for _, who := range []pipeline.Caller{lead, security} {
		r, err := o.ReviewRecord(o.Context(), who, pipeline.ReviewArgs{Task: "TS-001", Verdict: "approved", HeadCommit: first})
		must(o, r, err)
	}
}

func TestTheReleaseNoteIsTheChainAsData(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo", "network_access")
	_, err := o.NoteGet(o.Context(), "TS-001")
	o.refuses(refusal.GateMissing, err)
	o.judged()
	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	o.run(job{who: ci, phase: phase.Refactor, head: first, boundary: checked("complete", "", `{"check_id":"X-1","action":"require_review","risk_level":"high"}`)})
	shown, err := o.NoteGet(o.Context(), "TS-001")
	note := must(o, shown, err)
	for _, want := range []string{
		"# Release note: IC-001 version 1", "> Add a login page", "- capability network\\_access", "- boundary X-1", "- modified main.go",
		"- project_lead lead-001 approved", "- passed: Add a login page (12 tests)", "- EV-001", "Written by policy-engine",
		"- Correlation: IC-001", "- undeclared irreversiblePublish", "## Boundary\n\n- result ", "- X-1 require\\_review high",
		"## Runs\n\n- Build exec-0001: succeeded, ", ", tools go, exit 0, evidence EV-001", "boundary agent\\_boundary\\_1, evidence EV-003",
	} {
		if !strings.Contains(string(note.Markdown), want) {
			t.Errorf("the note does not say %q:\n%s", want, note.Markdown)
		}
	}
	text, err := json.Marshal(note.Data)
	if read, failed := artifact.ReadNote(text); err != nil || failed != nil || string(read.Markdown()) != string(note.Markdown) {
		t.Errorf("the data does not read: %v %v", err, failed)
	}
	for _, a := range note.Data.Approvals {
		if a.Digest == nil || a.HeadCommit != first || a.BaseCommit == "" {
			t.Errorf("%s agreed to %v, %s..%s", a.ActorID, a.Digest, a.BaseCommit, a.HeadCommit)
		}
	}
}

// The boundary result names the changed files and not how they have changed;
// that is what the run says, and it names no file of its own.
func TestTheReleaseNoteSaysHowEachFileHasChanged(t *testing.T) {
	o := newOffice(t, nil)
	o.toRefactor()
	named := strings.Replace(checked("complete", ""), `["main.go"]`, `["main.go","new.go","old.go"]`, 1)
	refactor := job{who: developer, phase: phase.Refactor, head: first, boundary: named, files: []artifact.File{{Change: "created", Path: "new.go"}}}
	claimed, err := o.claim(developer, "TS-001", "Refactor")
	run := must(o, claimed, err).Run
	_, err = o.end(refactor, run.ExecutionID)
	o.refuses(refusal.RequestMalformed, err)
	refactor.boundary = ""
	refactor.files = []artifact.File{{Change: "added", Path: "new.go"}, {Change: "deleted", Path: "old.go"}, {Change: "added", Path: "elsewhere.go"}}
	out, err := o.end(refactor, run.ExecutionID)
	must(o, out, err)
	shown, err := o.NoteGet(o.Context(), "TS-001")
	note := string(must(o, shown, err).Markdown)
	if want := "## Changed files\n\n- modified main.go\n- added new.go\n- deleted old.go\n\n"; !strings.Contains(note, want) {
		t.Errorf("the note does not say\n%s\nbut\n%s", want, note)
	}
}

func TestAPersonMayAddNotesAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		change func(string) string
		code   refusal.Code
	}{
		"a section of their own": {func(s string) string { return s + "\n## Notes\n\nThank you.\n" }, ""},
		"another approval":       {func(s string) string { return strings.Replace(s, "lead-001", "lead-002", 1) }, refusal.PhaseEvidenceMissing},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, nil)
			o.toPublish()
			claimed, err := o.claim(releaser, "TS-001", "Publish")
			run := must(o, claimed, err).Run
			shown, err := o.NoteGet(o.Context(), "TS-001")
			text := []byte(c.change(string(must(o, shown, err).Markdown)))
			who := releaser
			who.LockToken = run.LockToken
			put, err := o.ArtifactPut(o.Context(), who, pipeline.ArtifactArgs{Execution: run.ExecutionID, Kind: "release_note", Bytes: text})
			must(o, put, err)
			_, err = o.RunComplete(o.Context(), who, pipeline.CompleteArgs{
				Execution: run.ExecutionID, Outcome: phase.Succeeded,
				Evidence: evidence(run.BaseCommit, first, "", contract.Hash(text), o.clock(), o.clock()),
			})
			o.refuses(c.code, err)
			if c.code != "" {
				return
			}
			// From then on the note is the one that was published, with what was added.
			shown, err = o.NoteGet(o.Context(), "TS-001")
			if got := must(o, shown, err).Markdown; !bytes.Equal(got, text) {
				t.Errorf("the note is now\n%s", got)
			}
		})
	}
}

func TestAPublicationThatIsLostFreezesAndMayBeRunOnceMore(t *testing.T) {
	o := newOffice(t, nil)
	o.toPublish()
	_, err := o.claim(ci, "TS-001", "Publish")
	o.refuses(refusal.PhaseActorNotPermitted, err)
	claimed, err := o.claim(releaser, "TS-001", "Publish")
	must(o, claimed, err)
	o.after(300 * time.Second)
	o.expect(map[contract.ID]string{"TS-001": "Frozen phase_exhausted", "AC-001": "Active passed", "PG-001": "Published high approved"})
	if o.stored("exec-0004").Evidence == "" {
		t.Error("a run without a limit is over and has no Evidence")
	}
	resumed, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "TS-001", Version: 1, Resolution: "again"})
	must(o, resumed, err)
	o.run(job{who: releaser, phase: phase.Publish, head: first, artifacts: []phase.Proof{phase.ReleaseNote}})
	if got := o.phase(); got != "Published" {
		t.Errorf("the chain is in %s", got)
	}
}

// The step to Publish waits for a Refactor run that goes on: it may change what
// was reviewed.
func TestTheStepToPublishWaitsForARunThatGoesOn(t *testing.T) {
	o := newOffice(t, nil)
	o.toRefactor()
	o.run(job{who: developer, phase: phase.Refactor, head: first})
	claimed, err := o.claim(developer, "TS-001", "Refactor")
	must(o, claimed, err)
	r, err := o.ReviewRecord(o.Context(), lead, pipeline.ReviewArgs{Task: "TS-001", Verdict: "approved", HeadCommit: first})
	must(o, r, err)
	if got := o.phase(); got != "Refactor" {
		t.Fatalf("the chain is in %s", got)
	}
	out, err := o.end(job{who: developer, phase: phase.Refactor, head: first}, "exec-0004")
	must(o, out, err)
	if got := o.phase(); got != "Published" {
		t.Errorf("the chain is in %s", got)
	}
}

func TestUnderTheStrictProfileNothingIsResumed(t *testing.T) {
	o := newOffice(t, func(c *pipeline.Config) { c.Profile = state.Strict })
	o.intent("read_repo")
	frozen, err := o.ContractFreeze(o.Context(), lead, pipeline.FreezeArgs{ID: "TS-001", Version: 1, Cause: contract.ManualCheck, Reason: "wait"})
	must(o, frozen, err)
	_, err = o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "TS-001", Version: 1, Resolution: "go on"})
	o.refuses(refusal.ContractTransitionForbidden, err)
}

func TestOfManyClaimsAtOnceOneIsTaken(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		o := staff(newWorldAt(t, at, nil))
		o.intent("read_repo", "write_repo")
		var wait sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wait.Go(func() {
				who := developer
				if i%2 == 1 {
					who = other
				}
				_, results[i] = o.TaskClaim(o.Context(), who, pipeline.ClaimArgs{Task: "TS-001", Phase: "Build"})
			})
		}
		wait.Wait()
		taken := 0
		for _, err := range results {
			if err == nil {
				taken++
			} else if refusal.CodeOf(err) != refusal.LockHeld {
				t.Errorf("a claim was answered %v", err)
			}
		}
		if taken != 1 {
			t.Errorf("%d claims were taken", taken)
		}
	})
}

func TestOfManyDecisionsAtOnceEachIsRecordedOnce(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		o := staff(newWorldAt(t, at, nil))
		o.toGate()
		g := o.newest("PG-001")
		var wait sync.WaitGroup
		results := make([]*pipeline.GateResult, 12)
		for i := range results {
			wait.Go(func() {
				who := []pipeline.Caller{lead, security}[i%2]
				results[i], _ = o.GateDecide(o.Context(), who, pipeline.GateArgs{
					ID: "PG-001", Version: 1, Decision: contract.Approved, Digest: g.ApprovalDigest,
				})
			})
		}
		wait.Wait()
		o.drain()
		recorded := 0
		for i, r := range results {
			if r == nil {
				t.Fatalf("decision %d was refused", i)
			}
			if !r.Duplicate {
				recorded++
			}
		}
		if n := len(o.newest("PG-001").Document.(*contract.PublishGate).Approvals); n != 2 || recorded != 2 {
			t.Errorf("%d entries, %d recorded", n, recorded)
		}
		o.expect(map[contract.ID]string{"PG-001": "Published high approved"})
	})
}

func TestAListShowsTheChainOfEachContract(t *testing.T) {
	o := newOffice(t, nil)
	o.toGate()
	list, err := o.ContractList(o.Context(), pipeline.ContractFilter{WaitingFor: []contract.Role{contract.SecurityReviewer}}, pipeline.Page{})
	if gates := must(o, list, err); len(gates) != 1 || gates[0].Phase != "Refactor" || len(gates[0].Outstanding) != 2 {
		t.Errorf("waiting for the reviewer: %+v", gates)
	}
	shown, err := o.ChainGet(o.Context(), "IC-001")
	if c := must(o, shown, err); c.Intent.Ref().ID != "IC-001" || len(c.Contracts) != 6 {
		t.Errorf("the chain is shown with %d contracts", len(c.Contracts))
	}
	runs, err := o.RunList(o.Context(), pipeline.RunFilter{TaskSeeds: []contract.ID{"TS-001"}}, pipeline.Page{})
	if r := must(o, runs, err); len(r) != 2 || r[0].Phase != "Stabilize" {
		t.Errorf("the runs are %+v", r)
	}
	artifacts, err := o.ArtifactList(o.Context(), "exec-0001")
	if a := must(o, artifacts, err); len(a) != 2 || a[0].Bytes != nil {
		t.Errorf("the artifacts of the run are %+v", a)
	}
	a, err := o.ArtifactGet(o.Context(), "exec-0001", "build_log")
	if got := must(o, a, err); string(got.Bytes) != "ok\n" {
		t.Errorf("the log is %q", got.Bytes)
	}
}
