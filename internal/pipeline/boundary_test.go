package pipeline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

func decode[T any](o office, text []byte) T {
	o.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		o.Fatal(err)
	}
	return v
}

// checked is a boundary result as far as the Validator reads it.
func checked(state, kind string, rows ...string) string {
	return `{"schema_version":"shipgate.agent_boundary_result/v2","audit_id":"agent_boundary_1","policy_set_sha256":"ab","changed_files":["main.go"],` +
		`"control":{"state":"` + state + `","next_action":{"kind":"` + kind + `"}},"violations":[` + strings.Join(rows, ",") + `]}`
}

func verified(decision string) []byte {
	return []byte(`{"decision":"` + decision + `","decision_id":"sha256:1","subject":{"base_commit_sha":"c0ffee0","head_commit_sha":"a1b2c3d"}}`)
}

// Rulings R10: the Acceptance follows the control state of the boundary result
// for exactly the diff that was built, and its rows only raise the level.
func TestTheAcceptanceFollowsTheControlState(t *testing.T) {
	for _, c := range []struct {
		name, result string
		acceptance   string
		phase        string
		gate         string
	}{
		{"complete", checked("complete", ""), "Active passed", "Refactor", "Published medium approved"},
		{"review_publishable", checked("review_publishable", "review"), "Active passed", "Refactor", "Active high pending"},
		{
			"a blocking row raises to critical and nothing more", checked("complete", "", `{"check_id":"X","action":"block","risk_level":"low"}`),
			"Active passed", "Refactor", "Active critical pending",
		},
		{"human_review_required", checked("human_review_required", "stop"), "Active blocked", "Stabilize", ""},
		{"verification owed", checked("agent_action_required", "verify"), "Active blocked", "Stabilize", ""},
		{"another route", checked("agent_action_required", "repair"), "Active failed", "Build", ""},
		{"a result that does not read", `{}`, "Active blocked", "Stabilize", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOffice(t, nil)
			o.intent("read_repo", "write_repo")
			o.run(job{who: developer, phase: phase.Build, head: first, boundary: checked("complete", "")})
			o.run(job{who: ci, phase: phase.Stabilize, head: first, boundary: c.result})
			o.expect(map[contract.ID]string{"AC-001": c.acceptance, "TS-001": "Active"})
			if got := o.phase(); got != c.phase {
				t.Errorf("the chain is in %s, want %s", got, c.phase)
			}
			if c.gate != "" {
				o.expect(map[contract.ID]string{"PG-001": c.gate})
			}
		})
	}
}

func TestAVerifyArtifactLiftsABlockAndAsksAgain(t *testing.T) {
	for _, c := range []struct {
		decision, acceptance, phase, gate string
	}{
		{"passed", "Active passed", "Refactor", "Published medium approved"},
		{"review_required", "Active passed", "Refactor", "Active high pending"},
		{"insufficient_evidence", "Active blocked", "Stabilize", ""},
		{"blocked", "Active blocked", "Stabilize", ""},
	} {
		t.Run(c.decision, func(t *testing.T) {
			o := newOffice(t, nil)
			o.intent("read_repo", "write_repo")
			o.run(job{who: developer, phase: phase.Build, head: first})
			o.run(job{who: ci, phase: phase.Stabilize, head: first, boundary: checked("agent_action_required", "verify")})
			if d := o.newest("AC-001").Document.(*contract.Acceptance); !strings.Contains(d.Details, "verification owed") {
				t.Errorf("the details say %q", d.Details)
			}
			args := pipeline.VerifyArgs{Task: "TS-001", BaseCommit: "c0ffee0", HeadCommit: first, Artifact: verified(c.decision)}
			put, err := o.VerifyRecord(o.Context(), ci, args)
			must(o, put, err)
			o.expect(map[contract.ID]string{"AC-001": c.acceptance})
			if got := o.phase(); got != c.phase {
				t.Errorf("the chain is in %s, want %s", got, c.phase)
			}
			if c.gate != "" {
				o.expect(map[contract.ID]string{"PG-001": c.gate})
			}
			version := o.newest("AC-001").Ref().Version
			again, err := o.VerifyRecord(o.Context(), ci, args)
			if !must(o, again, err).Duplicate || o.newest("AC-001").Ref().Version != version {
				t.Error("the same artifact judged the Acceptance once more")
			}
		})
	}
}

func TestAVerifyArtifactSpeaksForTheCommitsOfTheChainOnly(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	o.run(job{who: developer, phase: phase.Build, head: first})
	o.run(job{who: ci, phase: phase.Stabilize, head: first, boundary: checked("agent_action_required", "verify")})
	args := pipeline.VerifyArgs{Task: "TS-001", BaseCommit: "c0ffee0", HeadCommit: second, Artifact: verified("passed")}
	_, err := o.VerifyRecord(o.Context(), ci, args)
	o.refuses(refusal.PhaseGuardFailed, err)
	args.HeadCommit, args.Artifact = first, []byte(strings.ReplaceAll(string(verified("passed")), first, second))
	_, err = o.VerifyRecord(o.Context(), ci, args)
	o.refuses(refusal.PhaseGuardFailed, err)
	args.Artifact = verified("passed")
	_, err = o.VerifyRecord(o.Context(), other, args)
	o.refuses(refusal.RoleNotPermitted, err)
	o.expect(map[contract.ID]string{"AC-001": "Active blocked"})
}

// Rulings R14: what people agreed to names the boundary audit and the verify
// decision; another of either voids the agreement.
func TestAChangeOfWhatWasAgreedToAsksEverybodyAgain(t *testing.T) {
	o := newOffice(t, nil)
	o.toGate()
	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	o.expect(map[contract.ID]string{"PG-001": "Published high approved"})
	old := o.newest("PG-001").ApprovalDigest
	o.run(job{who: ci, phase: phase.Refactor, head: first, boundary: checked("review_publishable", "review")})
	for _, who := range []pipeline.Caller{lead, security} {
		r, err := o.ReviewRecord(o.Context(), who, pipeline.ReviewArgs{Task: "TS-001", Verdict: "approved", HeadCommit: first})
		must(o, r, err)
	}
	if got := o.phase(); got != "Publish" {
		t.Fatalf("the chain is in %s", got)
	}
	_, err := o.claim(releaser, "TS-001", "Publish")
	o.refuses(refusal.StaleHard, err)
	o.expect(map[contract.ID]string{"AC-001": "Active passed", "PG-001": "Active high pending"})
	g := o.newest("PG-001")
	if g.Ref().Version != 2 || g.ApprovalDigest == old {
		t.Errorf("the gate is version %d with digest %s", g.Ref().Version, g.ApprovalDigest)
	}
	if _, err = o.claim(releaser, "TS-001", "Publish"); refusal.CodeOf(err) != refusal.GateNotApproved {
		t.Errorf("an old agreement opened the publication: %v", err)
	}
	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	o.run(job{who: releaser, phase: phase.Publish, head: first, artifacts: []phase.Proof{phase.ReleaseNote}})
	o.expect(map[contract.ID]string{"IC-001": "Published", "TS-001": "Published", "AC-001": "Published passed"})
}
