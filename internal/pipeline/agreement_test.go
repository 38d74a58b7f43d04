package pipeline_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// What people agree to, and what becomes of it when the work moves (R14).

var owedVerify = checked("agent_action_required", "verify")

// agreed takes a high chain that owes verification to an approved gate.
func (o office) agreed() {
	o.Helper()
	o.asked()
	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	o.expect(map[contract.ID]string{"PG-001": "Published high approved"})
}

// asked takes it to its pending gate.
func (o office) asked() {
	o.Helper()
	o.intent("read_repo", "write_repo", "network_access")
	o.vote(lead, "TS-001", 1)
	o.vote(security, "TS-001", 1)
	o.run(job{who: ci, phase: phase.Build, head: first, boundary: owedVerify})
	o.run(job{who: ci, phase: phase.Stabilize, head: first, boundary: owedVerify})
	put, err := o.VerifyRecord(o.Context(), ci, pipeline.VerifyArgs{Task: "TS-001", BaseCommit: "c0ffee0", HeadCommit: first, Artifact: verified("passed")})
	must(o, put, err)
	version := o.newest("AC-001").Ref().Version
	o.vote(lead, "AC-001", version)
	o.vote(security, "AC-001", version)
	o.expect(map[contract.ID]string{"PG-001": "Active high pending"})
}

// reviewed ends Refactor with a run and its reviews.
func (o office) reviewed(j job) {
	o.Helper()
	j.who, j.phase = ci, phase.Refactor
	o.run(j)
	for _, who := range []pipeline.Caller{lead, security} {
		r, err := o.ReviewRecord(o.Context(), who, pipeline.ReviewArgs{Task: "TS-001", Verdict: "approved", HeadCommit: j.head})
		must(o, r, err)
	}
	if got := o.phase(); got != "Publish" {
		o.Fatalf("the chain is in %s", got)
	}
}

// refusedBecause is how often an action was refused with this in its record.
func (o office) refusedBecause(action string, code refusal.Code, words string) int {
	o.Helper()
	n := 0
	for _, line := range read(o.world, func(r pipeline.Reader) ([]pipeline.AuditLine, error) { return r.Audit(0, pipeline.AuditFilter{}, 0) }) {
		rec := decode[struct {
			Action  string
			Success bool
			Error   *struct{ Code, Message string }
		}](o, line.Text)
		if rec.Action == action && !rec.Success && rec.Error != nil && rec.Error.Code == string(code) && strings.Contains(rec.Error.Message, words) {
			n++
		}
	}
	return n
}

func TestAnotherCommitWithTheSameBytesKeepsTheApproval(t *testing.T) {
	o := newOffice(t, nil)
	o.agreed()
	digest, same := o.newest("PG-001").ApprovalDigest, contract.Hash([]byte(first))
	// A merge queue moves the branch and makes a commit of its own.
	o.tip = "d00dad0"
	o.reviewed(job{head: second, diff: same, boundary: owedVerify})
	s, err := o.GateStatus(o.Context(), pipeline.GateStatusArgs{HeadCommit: second})
	if got := must(o, s, err); got.Standing != pipeline.StandingPassed || !got.Publishable || got.ApprovalDigest != digest {
		t.Errorf("the same bytes under another commit are shown as %+v", got)
	}
	o.run(job{who: releaser, phase: phase.Publish, head: second, diff: same, artifacts: []phase.Proof{phase.ReleaseNote}})
	o.expect(map[contract.ID]string{"IC-001": "Published", "PG-001": "Published high approved"})
	if v := o.newest("PG-001").Ref().Version; v != 1 {
		t.Errorf("people were asked %d times", v)
	}
}

func TestAnApprovalDiesWithWhatItWasOf(t *testing.T) {
	for name, c := range map[string]struct {
		boundary string
		words    string
	}{
		"another boundary result": {strings.Replace(owedVerify, "agent_boundary_1", "agent_boundary_2", 1), "the boundary result is another one"},
		"another set of policies": {strings.Replace(owedVerify, `"policy_set_sha256":"ab"`, `"policy_set_sha256":"cd"`, 1), "the set of policies is another one"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, nil)
			o.agreed()
			o.reviewed(job{head: first, boundary: c.boundary})
			_, err := o.claim(releaser, "TS-001", "Publish")
			o.refuses(refusal.StaleHard, err)
			if !strings.Contains(err.Error(), c.words) {
				t.Errorf("the reason is %q", err)
			}
			if n := o.refusedBecause("run.start", refusal.StaleHard, c.words); n != 1 {
				t.Errorf("the log has the refusal %d times", n)
			}
			o.askedAnew()
		})
	}
	t.Run("another verify result", func(t *testing.T) {
		o := newOffice(t, nil)
		o.agreed()
		o.reviewed(job{head: first, boundary: owedVerify})
		other := []byte(strings.Replace(string(verified("passed")), "sha256:1", "sha256:2", 1))
		put, err := o.VerifyRecord(o.Context(), ci, pipeline.VerifyArgs{Task: "TS-001", BaseCommit: "c0ffee0", HeadCommit: first, Artifact: other})
		must(o, put, err)
		o.askedAnew()
	})
	for name, head := range map[string]string{"one changed byte": second, "a base that changes the diff": "e5f6a7b"} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, nil)
			o.agreed()
			o.run(job{who: ci, phase: phase.Refactor, head: head, boundary: owedVerify})
			s, err := o.GateStatus(o.Context(), pipeline.GateStatusArgs{HeadCommit: head})
			if got := must(o, s, err); got.Publishable || got.Standing != pipeline.StandingStale {
				t.Errorf("other bytes are shown as %+v", got)
			}
			if got := o.phase(); got != "Build" {
				t.Fatalf("the chain is in %s", got)
			}
			_, err = o.claim(releaser, "TS-001", "Publish")
			if refusal.CodeOf(err) == "" {
				t.Errorf("an old agreement opened the publication: %v", err)
			}
			o.run(job{who: ci, phase: phase.Build, head: head, boundary: checked("complete", "")})
			o.run(job{who: ci, phase: phase.Stabilize, head: head, boundary: checked("complete", "")})
			o.askedAnew()
		})
	}
}

// askedAnew holds that a new gate version asks everybody, and that nothing of the
// earlier one counts.
func (o office) askedAnew() {
	o.Helper()
	o.expect(map[contract.ID]string{"AC-001": "Active passed", "PG-001": "Active high pending"})
	g := o.newest("PG-001")
	if g.Ref().Version != 2 || len(g.Document.(*contract.PublishGate).Approvals) != 0 {
		o.Errorf("the gate is %+v", g.Document)
	}
	// Whoever still has the earlier version before them is told about that one.
	for version, another := range map[int64]bool{1: true, 2: false} {
		since, err := o.GateSince(o.Context(), pipeline.Ref{ID: "PG-001", Version: version})
		if err != nil || len(since) > 0 != another {
			o.Errorf("of version %d is another by now: %v, %v", version, since, err)
		}
	}
	_, err := o.claim(releaser, "TS-001", "Publish")
	if code := refusal.CodeOf(err); code != refusal.GateNotApproved && code != refusal.PhaseGuardFailed {
		o.Errorf("before anybody agreed anew, the publication was answered %v", err)
	}
}

// Nobody can agree to what is no longer there, even before it is published.
func TestAPendingGateIsNotApprovedOnceItsSubjectMoved(t *testing.T) {
	o := newOffice(t, nil)
	o.asked()
	o.run(job{who: ci, phase: phase.Refactor, head: first, boundary: strings.Replace(owedVerify, "agent_boundary_1", "agent_boundary_2", 1)})
	_, err := o.decide(lead, contract.Approved)
	o.refuses(refusal.GateDigestMismatch, err)
	if n := o.refusedBecause("gate.decide", refusal.GateDigestMismatch, "the boundary result is another one"); n != 1 {
		t.Errorf("the log has the refusal %d times: %v", n, err)
	}
	o.askedAnew()
	out, err := o.decide(lead, contract.Approved)
	must(o, out, err)
}

func TestAnApprovalIsUsedOnceByItsOwnGate(t *testing.T) {
	o := newOffice(t, nil)
	o.asked()
	o.reviewed(job{head: first, boundary: owedVerify})

	_, err := o.claim(releaser, "TS-001", "Publish")
	o.refuses(refusal.GateNotApproved, err) // early

	g := o.newest("PG-001")
	covers := decode[struct{ DiffHash, AcceptanceID, BoundaryAuditID, VerifyDecisionID, PolicySetDigest string }](o, g.Covers)
	foreign := approval.Subject{
		GateID: "PG-002", GateVersion: 1, AcceptanceID: "AC-002", AcceptanceVersion: 2, DiffHash: covers.DiffHash,
		BoundaryAuditID: covers.BoundaryAuditID, VerifyDecisionID: covers.VerifyDecisionID, PolicySetDigest: covers.PolicySetDigest,
	}
	for _, digest := range []string{foreign.Digest(), contract.Hash([]byte("forged")), strings.ToUpper(g.ApprovalDigest), ""} {
		_, err := o.GateDecide(o.Context(), lead, pipeline.GateArgs{ID: "PG-001", Version: 1, Decision: contract.Approved, Digest: digest})
		o.refuses(refusal.GateDigestMismatch, err)
	}
	if n := o.refusedBecause("gate.decide", refusal.GateDigestMismatch, ""); n != 4 {
		t.Errorf("the log has %d of four refusals", n)
	}
	if n := o.refusedBecause("run.start", refusal.GateNotApproved, ""); n != 1 {
		t.Errorf("the log has the early use %d times", n)
	}

	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	o.run(job{who: releaser, phase: phase.Publish, head: first, artifacts: []phase.Proof{phase.ReleaseNote}})
	o.expect(map[contract.ID]string{"IC-001": "Published"})
	before := o.actions()["run.start refused"]
	if _, err = o.claim(releaser, "TS-001", "Publish"); refusal.CodeOf(err) == "" {
		t.Errorf("a second publication was answered %v", err)
	}
	if n := o.actions()["run.start refused"]; n != before+1 {
		t.Errorf("the log has %d refusals of a second use", n-before)
	}
}
