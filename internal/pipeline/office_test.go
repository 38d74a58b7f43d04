package pipeline_test

import (
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// The people of these tests, each under the one role they act in here.
var (
	asker     = by("user-001", contract.Requester)
	lead      = by("lead-001", contract.ProjectLead)
	security  = by("sec-001", contract.SecurityReviewer)
	releaser  = by("rel-001", contract.ReleaseManager)
	admin     = by("adm-001", contract.Admin)
	developer = by("dev-001", contract.Developer)
	other     = by("dev-002", contract.Developer)
	ci        = by("ci-001", contract.CIAgent)
	quality   = by("qa-001", contract.QA)
)

// office is a world with people in it.
type office struct{ *world }

func newOffice(t *testing.T, change func(*pipeline.Config)) office {
	t.Helper()
	return staff(newWorld(t, change))
}

// staff registers everybody.
func staff(w *world) office {
	w.Helper()
	for _, a := range []struct {
		who pipeline.Caller
		typ contract.ActorType
	}{
		{asker, contract.Human},
		{lead, contract.Human},
		{security, contract.Human},
		{releaser, contract.Human},
		{admin, contract.Human},
		{developer, contract.Agent},
		{other, contract.Agent},
		{ci, contract.Agent},
		{quality, contract.Human},
	} {
		w.people(pipeline.Actor{ID: a.who.Actor, Type: a.typ, Roles: contract.RolesOf(a.who.Role)})
	}
	return office{w}
}

// after moves the clock on and runs what fell due.
func (o office) after(d time.Duration) {
	o.Helper()
	o.at(o.clock().Add(d))
	o.drain()
}

// must ends the test on an error.
func must[T any](o office, v T, err error) T {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
	o.drain()
	return v
}

// refuses ends the test unless err is a refusal with this code.
func (o office) refuses(code refusal.Code, err error) {
	o.Helper()
	if got := refusal.CodeOf(err); got != code {
		o.Fatalf("answered %v, want %s", err, code)
	}
	o.drain()
}

// intent raises an intent and has it activated; the TaskSeed comes of itself.
func (o office) intent(capabilities ...string) {
	o.Helper()
	shown, err := o.IntentCreate(o.Context(), asker, pipeline.IntentArgs{
		Intent: "Add a login page", Priority: "medium", RequestedCapabilities: capabilities,
	})
	made := must(o, shown, err)
	o.vote(lead, made.Ref().ID, made.Ref().Version)
}

// vote approves an activation.
func (o office) vote(who pipeline.Caller, id contract.ID, version int64) {
	o.Helper()
	out, err := o.ActivationDecide(o.Context(), who, pipeline.ActivationArgs{ID: id, Version: version, Decision: contract.Approved})
	must(o, out, err)
}

// work is a run of a phase, from its claim to its end.
type job struct {
	who       pipeline.Caller
	phase     phase.Phase
	head      string
	diff      string        // hash of the change, "" for one of the head's own
	outcome   phase.Outcome // "" has succeeded
	failing   bool          // a criterion of the plan does not pass
	boundary  string        // the boundary result, "" for none
	signals   map[string]bool
	files     []artifact.File
	artifacts []phase.Proof
}

// run does a job whose claim and end must be taken.
func (o office) run(j job) *pipeline.Ended {
	o.Helper()
	c, err := o.claim(j.who, "TS-001", string(j.phase))
	if err != nil {
		o.Fatalf("claim %s: %v", j.phase, err)
	}
	o.after(time.Minute)
	out, err := o.end(j, c.Run.ExecutionID)
	return must(o, out, err)
}

// end ends the run of a job.
func (o office) end(j job, execution string) (*pipeline.Ended, error) {
	o.Helper()
	run := read(o.world, func(r pipeline.Reader) (*pipeline.Run, error) { return r.Run(execution) })
	chain := read(o.world, func(r pipeline.Reader) (*pipeline.Chain, error) { return r.Chain(run.Chain) })
	who := j.who
	who.LockToken = o.tokens[execution]
	if run.Alive() {
		o.deliver(j, execution)
	}
	head := j.head
	if head == "" {
		head = chain.HeadCommit
	}
	known := evidence(run.BaseCommit, head, j.diff, o.output(j), run.StartedAt, o.clock())
	if j.outcome == phase.Failed {
		return o.RunFail(o.Context(), who, pipeline.FailArgs{Execution: execution, Reason: "broken", Evidence: known})
	}
	args := pipeline.CompleteArgs{Execution: execution, Outcome: j.outcome, Evidence: known, Signals: j.signals, Files: j.files}
	if args.Outcome == "" {
		args.Outcome = phase.Succeeded
	}
	if j.phase == phase.Stabilize {
		args.Checks = []event.Check{{Criterion: "Add a login page", Passed: !j.failing, Detail: "12 tests"}}
	}
	return o.RunComplete(o.Context(), who, args)
}

func (o office) deliver(j job, execution string) {
	o.Helper()
	switch {
	case j.phase == phase.Build && j.outcome == phase.Failed:
		o.put(j.who, execution, phase.ErrorLog)
	case j.phase == phase.Build:
		o.put(j.who, execution, phase.BuildLog, phase.UnitTestResult)
	case j.phase == phase.Stabilize:
		o.put(j.who, execution, phase.IntegrationReport, phase.FailedTestLog)
	}
	o.put(j.who, execution, j.artifacts...)
	if j.boundary != "" {
		who := j.who
		who.LockToken = o.tokens[execution]
		put, err := o.ArtifactPut(o.Context(), who, pipeline.ArtifactArgs{
			Execution: execution, Kind: pipeline.ArtifactKind(phase.BoundaryResult), Bytes: []byte(j.boundary),
		})
		must(o, put, err)
	}
}

func (o office) output(j job) string {
	for _, kind := range j.artifacts {
		if kind == phase.ReleaseNote {
			note, err := o.NoteGet(o.Context(), "TS-001")
			return contract.Hash(must(o, note, err).Markdown)
		}
	}
	return ""
}

const (
	first  = "a1b2c3d"
	second = "b2c3d4e"
)

// toRefactor takes a medium chain as far as Refactor.
func (o office) toRefactor() {
	o.Helper()
	o.intent("read_repo", "write_repo")
	o.run(job{who: developer, phase: phase.Build, head: first})
	o.run(job{who: ci, phase: phase.Stabilize, head: first})
}

// toGate takes a high chain as far as its pending gate.
func (o office) toGate() {
	o.Helper()
	o.intent("read_repo", "write_repo", "network_access")
	o.judged()
}

// judged takes a high chain from its TaskSeed to its pending gate.
func (o office) judged() {
	o.Helper()
	o.vote(lead, "TS-001", 1)
	o.vote(security, "TS-001", 1)
	o.run(job{who: ci, phase: phase.Build, head: first})
	o.run(job{who: ci, phase: phase.Stabilize, head: first})
	o.vote(lead, "AC-001", 2)
	o.vote(security, "AC-001", 2)
}

// decide decides on the newest gate under its digest.
func (o office) decide(who pipeline.Caller, d contract.Decision) (*pipeline.GateResult, error) {
	o.Helper()
	g := o.newest("PG-001")
	return o.GateDecide(o.Context(), who, pipeline.GateArgs{ID: "PG-001", Version: g.Ref().Version, Decision: d, Digest: g.ApprovalDigest})
}

// newest is the highest version of a contract.
func (o office) newest(id contract.ID) *pipeline.Contract {
	o.Helper()
	rows := read(o.world, func(r pipeline.Reader) ([]*pipeline.Contract, error) { return r.Versions(id) })
	if len(rows) == 0 {
		o.Fatalf("%s is not there", id)
	}
	return rows[0]
}

// is says in short where a contract stands: state, cause and what it came to.
func (o office) is(id contract.ID) string {
	o.Helper()
	c := o.newest(id)
	text := string(c.Document.Head().State)
	if c.FreezeCause != "" {
		text += " " + string(c.FreezeCause)
	}
	switch d := c.Document.(type) {
	case *contract.Acceptance:
		text += " " + string(d.Status)
	case *contract.PublishGate:
		text += " " + string(d.RiskLevel) + " " + string(d.FinalDecision)
	}
	return text
}

// expect holds where contracts stand.
func (o office) expect(want map[contract.ID]string) {
	o.Helper()
	for id, w := range want {
		if got := o.is(id); got != w {
			o.Errorf("%s is %q, want %q", id, got, w)
		}
	}
}

func (o office) phase() string {
	o.Helper()
	return string(read(o.world, func(r pipeline.Reader) (*pipeline.Chain, error) { return r.Chain("IC-001") }).Phase)
}

// actions is how often each action was recorded, refusals apart.
func (o office) actions() map[string]int {
	o.Helper()
	n := map[string]int{}
	for _, line := range read(o.world, func(r pipeline.Reader) ([]pipeline.AuditLine, error) { return r.Audit(0, pipeline.AuditFilter{}, 0) }) {
		rec := decode[struct {
			Action  string
			Success bool
		}](o, line.Text)
		if rec.Success {
			n[rec.Action]++
		} else {
			n[rec.Action+" refused"]++
		}
	}
	return n
}
