package report_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
)

// shapes are verifiers that make sense, one for each way a run may end.
func shapes(t testing.TB) map[string]report.Verifier {
	t.Helper()
	shape := func(state, execution, applicability, decided, verdict string) report.Verifier {
		v := report.Verifier{
			SchemaVersion: report.VerifierVersion, Workspace: ".", Config: "shipgate.yaml", Mode: "advisory", HeadRef: "HEAD", BaseStatus: "succeeded",
			Execution: execution, HeadStatus: execution, Applicability: applicability, Decision: report.Text(decided), MergeVerdict: verdict,
			CanMerge: verdict == "mergeable", Control: controlOf(t, state), DiffStatus: report.DiffStatus{Completeness: "complete"},
			Authorization: report.NotRequested(), StaticOnly: true, Disclaimer: decision.Disclaimer,
		}
		if decided != "" {
			v.ReleaseDecision = decisionOf(decision.Verdict(decided))
		}
		return v
	}
	authorized := shape("repair", "succeeded", "verified", "review_required", "human_review_required")
	id := report.Text("sha256:" + strings.Repeat("0", 64))
	authorized.Authorization = report.Authorization{
		SchemaVersion: report.AuthorizationVersion, Status: "accepted", ID: id, RequestID: id, TrustPolicyID: id, KeyID: id, Provider: "p",
		Principal: "p", OperationID: id, Command: "c", IssuedAt: "i", ExpiresAt: "e", ReasonCodes: []string{},
	}
	repair := shape("repair", "succeeded", "verified", "review_required", "human_review_required")
	repair.FixTask = &report.FixTask{Actor: control.CodingAgent, Safe: true, Command: "verify"}
	return map[string]report.Verifier{
		"passed":      shape("complete", "succeeded", "verified", "passed", "mergeable"),
		"skipped":     shape("complete", "skipped", "not_applicable", "", "mergeable"),
		"publishable": shape("publishable", "succeeded", "verified", "insufficient_evidence", "insufficient_evidence"),
		"repair":      repair,
		"authorized":  authorized,
		"blocked":     shape("stop", "succeeded", "verified", "blocked", "blocked"),
		"failed":      shape("stop", "failed", "failed", "", "unknown"),
		"preview":     shape("preview", "not_run", "not_evaluated", "", "unknown"),
	}
}

func TestEachWayARunEndsIsPrinted(t *testing.T) {
	for name, v := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			if err := judged("verifier.v0.8", bare(t, &v)); err != nil {
				t.Fatalf("the schema refuses it: %v", err)
			}
			made, err := report.NewVerifier(v)
			if err != nil {
				t.Fatal(err)
			}
			text, err := made.JSON()
			valid(t, "verifier.v0.8", text, err)
		})
	}
}

// bare is a verifier as it stands, printed without the lists that nobody
// completed: a schema is asked about contradictions alone.
func bare(t testing.TB, v *report.Verifier) []byte {
	t.Helper()
	text, err := v.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"changed_files", "forbidden_actions", "forbidden_file_edits", "artifacts", "base_notes"} {
		if o[key] == nil {
			delete(o, key)
		}
	}
	for _, inner := range []string{"capability_review", "trigger", "fix_task"} {
		if m, ok := o[inner].(map[string]any); ok {
			maps.DeleteFunc(m, func(_ string, e any) bool { return e == nil })
		}
	}
	text, err = json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// One thing changed, and both the schema and the maker refuse.
func TestTheFourConditionals(t *testing.T) {
	type edit func(*report.Verifier)
	item := decision.Item{CheckID: "X", Severity: check.Low, Title: "t", CapabilityRefs: []string{}, TraceRefs: []string{}}
	state := func(name string) edit {
		c := controlOf(t, name)
		return func(v *report.Verifier) { v.Control = c }
	}
	grant := shapes(t)["authorized"].Authorization
	for _, c := range []struct {
		shape, name string
		edit        edit
	}{
		{"passed", "a trust root was touched", func(v *report.Verifier) { v.CapabilityReview.TrustRootTouched = true }},
		{"passed", "a policy was weakened", func(v *report.Verifier) { v.CapabilityReview.PolicyWeakened = true }},
		{"passed", "there is a fix task", func(v *report.Verifier) { v.FixTask = &report.FixTask{Actor: control.Human} }},
		{"passed", "there is a blocker", func(v *report.Verifier) { v.ReleaseDecision.Blockers = []decision.Item{item} }},
		{"passed", "there is a review item", func(v *report.Verifier) { v.ReleaseDecision.ReviewItems = []decision.Item{item} }},
		{"passed", "there is a gap", func(v *report.Verifier) {
			v.ReleaseDecision.Coverage.Gaps = decision.Decide(decision.Input{Head: rapidGap()}).Coverage.Gaps
		}},
		{"passed", "a review is recommended", func(v *report.Verifier) { v.ReleaseDecision.Coverage.ReviewRecommended = true }},
		{"passed", "it is not mergeable", func(v *report.Verifier) { v.MergeVerdict = "human_review_required" }},
		{"passed", "it failed", func(v *report.Verifier) { v.Execution = "failed" }},
		{"passed", "control is not complete", state("publishable")},
		{"passed", "nothing was decided", func(v *report.Verifier) { v.ReleaseDecision = nil }},

		{"skipped", "it was decided", func(v *report.Verifier) { v.Decision = "review_required" }},
		{"skipped", "it did not run", func(v *report.Verifier) { v.Execution, v.HeadStatus = "not_run", "not_run" }},
		{"skipped", "control is not complete", state("stop")},
		{"blocked", "control is complete", state("complete")},
		{"publishable", "it may be merged", func(v *report.Verifier) { v.CanMerge = true }},

		{"publishable", "it is blocked", func(v *report.Verifier) {
			v.Decision, v.MergeVerdict, v.ReleaseDecision = "blocked", "blocked", decisionOf(decision.Blocked)
		}},
		{"publishable", "the diff is partial", func(v *report.Verifier) {
			v.DiffStatus = report.DiffStatus{Completeness: "partial", Reason: "body_limit_exceeded"}
		}},
		{"publishable", "it failed", func(v *report.Verifier) { v.Execution, v.HeadStatus = "failed", "failed" }},
		{"publishable", "nothing was decided", func(v *report.Verifier) { v.ReleaseDecision, v.Decision = nil, "" }},
		{"repair", "it is blocked", func(v *report.Verifier) {
			v.Decision, v.MergeVerdict, v.ReleaseDecision = "blocked", "blocked", decisionOf(decision.Blocked)
		}},

		{"authorized", "a field is missing", func(v *report.Verifier) { v.Authorization.Principal = "" }},
		{"authorized", "it has reasons", func(v *report.Verifier) { v.Authorization.ReasonCodes = []string{"x"} }},
		{"authorized", "it is for a person", state("publishable")},
		{"authorized", "it is for another step", state("preview")},
		{"authorized", "there is a fix task", func(v *report.Verifier) { v.FixTask = &report.FixTask{Actor: control.Human} }},
		{"authorized", "evidence is missing", func(v *report.Verifier) {
			v.Decision, v.MergeVerdict, v.ReleaseDecision = "insufficient_evidence", "insufficient_evidence", decisionOf(decision.InsufficientEvidence)
		}},
		{"passed", "there is a grant", func(v *report.Verifier) { v.Authorization = grant }},
	} {
		t.Run(c.shape+", and "+c.name, func(t *testing.T) {
			v := shapes(t)[c.shape]
			c.edit(&v)
			if _, err := report.NewVerifier(v); err == nil {
				t.Error("it was printed")
			}
			text := bare(t, &v)
			if judged("verifier.v0.8", text) == nil {
				t.Errorf("the schema takes it:\n%s", text)
			}
			if _, err := report.ReadVerifier(text); err == nil {
				t.Error("it was read")
			}
		})
	}
}
