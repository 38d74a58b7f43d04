package pipeline_test

import (
	"errors"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// A result is judged once for what is known of it, whatever a node that dies
// leaves undone: an answer that nobody got, a job that runs again, or one that
// comes late.

// built takes a chain that owes verification to the claim of Stabilize.
func (o office) built() (execution string, j job) {
	o.Helper()
	o.intent("read_repo", "write_repo", "network_access")
	o.vote(lead, "TS-001", 1)
	o.vote(security, "TS-001", 1)
	o.run(job{who: ci, phase: phase.Build, head: first, boundary: owedVerify})
	c, err := o.claim(ci, "TS-001", "Stabilize")
	if err != nil {
		o.Fatal(err)
	}
	j = job{who: ci, phase: phase.Stabilize, head: first, boundary: owedVerify}
	o.deliver(j, c.Run.ExecutionID)
	return c.Run.ExecutionID, j
}

// verifies records a verification; what follows waits in the line.
func (o office) verifies(key, id string) error {
	o.Helper()
	who := ci
	who.Once = once(key)
	text := `{"decision":"passed","decision_id":"sha256:` + id + `","subject":{"base_commit_sha":"c0ffee0","head_commit_sha":"` + first + `"}}`
	_, err := o.VerifyRecord(o.Context(), who, pipeline.VerifyArgs{Task: "TS-001", BaseCommit: "c0ffee0", HeadCommit: first, Artifact: []byte(text)})
	return err
}

func once(key string) pipeline.Once {
	return pipeline.Once{
		Key: key, Method: "POST", Path: "/v1/" + key, BodyDigest: contract.Hash([]byte(key)),
		Render: func(any) (pipeline.Answer, error) { return pipeline.Answer{Status: 200, Body: []byte("{}")}, nil },
	}
}

// The pending Acceptance of Build is version 1. A verification that arrives before
// the result is judged is part of that judgement: version 2. One that arrives
// after it is a judgement of its own, for the one before said that it was missing.
func TestAVerificationIsJudgedOnceWheneverItArrives(t *testing.T) {
	for name, c := range map[string]struct {
		late, twice bool
		version     int64
	}{
		"before the result is judged":         {version: 2},
		"before it, with jobs that run twice": {version: 2, twice: true},
		"after it":                            {version: 3, late: true},
		"after it, with jobs that run twice":  {version: 3, late: true, twice: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, nil)
			o.twice = c.twice
			execution, j := o.built()
			if _, err := o.end(j, execution); err != nil {
				t.Fatal(err)
			}
			if c.late {
				o.drain()
			}
			if err := o.verifies("v", "1"); err != nil {
				t.Fatal(err)
			}
			o.drain()
			o.asksOnce(c.version)
		})
	}
}

// asksOnce holds that the Acceptance passed with this version, and that people are
// asked by the first version of its gate.
func (o office) asksOnce(version int64) {
	o.Helper()
	a := o.newest("AC-001")
	if got := a.Document.(*contract.Acceptance); got.Version != version || got.Status != contract.Passed {
		o.Fatalf("the result was judged to version %d, %s; want version %d, passed", got.Version, got.Status, version)
	}
	o.vote(lead, "AC-001", version)
	o.vote(security, "AC-001", version)
	o.expect(map[contract.ID]string{"PG-001": "Active high pending"})
	if v := o.newest("PG-001").Ref().Version; v != 1 {
		o.Errorf("people are asked by version %d", v)
	}
}

// A node that is killed after it committed and before it answered leaves a client
// that asks again, and a job that runs again.
func TestAnAnswerThatWasLostJudgesNothingTwice(t *testing.T) {
	o := newOffice(t, nil)
	o.twice = true
	execution, j := o.built()
	end := func(key string) error {
		who := ci
		who.LockToken, who.Once = o.tokens[execution], once(key)
		_, err := o.RunComplete(o.Context(), who, pipeline.CompleteArgs{
			Execution: execution, Outcome: phase.Succeeded, Evidence: evidence("c0ffee0", j.head, "", "", start, o.clock()),
			Checks: []event.Check{{Criterion: "Add a login page", Passed: true, Detail: "12 tests"}},
		})
		return err
	}
	if err := end("complete"); err != nil {
		t.Fatal(err)
	}
	again := func(when string) {
		t.Helper()
		if _, replayed := errors.AsType[*pipeline.Replayed](end("complete")); !replayed {
			t.Errorf("%s, the same end under the same key was not replayed", when)
		}
		if err := end(when); refusal.CodeOf(err) == "" {
			t.Errorf("%s, the same end under another key was answered %v", when, err)
		}
	}
	again("before it is judged")
	for _, v := range []struct {
		key      string
		replayed bool
	}{{"v", false}, {"v", true}, {"w", false}} {
		if _, replayed := errors.AsType[*pipeline.Replayed](o.verifies(v.key, "1")); replayed != v.replayed {
			t.Errorf("the verification under %s was replayed: %t", v.key, replayed)
		}
	}
	o.drain()
	again("after it")
	o.drain()
	o.asksOnce(2)
	n := 0
	for _, e := range read(o.world, func(r pipeline.Reader) ([]pipeline.AuditLine, error) { return r.Audit(0, pipeline.AuditFilter{}, 0) }) {
		rec := decode[struct{ Action, ID, From, To string }](o, e.Text)
		if rec.Action == "contract.edit" && rec.From == "pending" && rec.To == "passed" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the log has the judgement %d times", n)
	}
}
