package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
)

// verifierOf is the verifier of a run whose decision is that of in.
func verifierOf(t testing.TB, in *report.Input) *report.Verifier {
	t.Helper()
	state, verdict := "publishable", "human_review_required"
	var fix *report.FixTask
	switch in.Decision.Decision {
	case decision.Passed:
		state, verdict = "complete", "mergeable"
	case decision.Blocked:
		state, verdict = "stop", "blocked"
	case decision.InsufficientEvidence:
		verdict = "insufficient_evidence"
	case decision.ReviewRequired:
	}
	if verdict != "mergeable" {
		fix = &report.FixTask{
			Actor: control.Human, Instructions: []string{"Look: " + hostile, secret}, Command: "agents-shipgate verify --json",
			Patches: []report.FixTaskPatch{{CheckID: "X", Patch: json.RawMessage(`{"kind":"manual","instructions":"` + secret + `"}`)}},
		}
	}
	c := report.ChangeOf(in)
	review := c.Review()
	review.TrustRootTouched = len(in.TrustRoots) > 0
	v, err := report.NewVerifier(report.Verifier{
		Workspace: ".", Config: in.ConfigPath, Mode: "advisory", BaseRef: "origin/main", BaseStatus: "succeeded", HeadStatus: "succeeded",
		Execution: "succeeded", Applicability: "verified", Decision: report.Text(in.Decision.Decision), MergeVerdict: verdict,
		CanMerge: verdict == "mergeable", ReleaseDecision: in.Decision, FixTask: fix, Control: controlOf(t, state),
		DiffStatus: report.DiffStatus{Completeness: "complete"}, ChangedFiles: []string{"svc/tools.json"}, CapabilityReview: review,
		AgentSummary: in.AgentSummary(), ForbiddenEdits: []string{"**/policies/**"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheVerifierKeepsItsSchema(t *testing.T) {
	for name, in := range map[string]*report.Input{"a bit of everything": given(t), "clean": clean(t)} {
		t.Run(name, func(t *testing.T) {
			text, err := verifierOf(t, in).JSON()
			valid(t, "verifier.v0.8", text, err)
			if _, err := report.ReadVerifier(text); err != nil {
				t.Errorf("what was written is not read: %v", err)
			}
		})
	}
}

func TestTheExamplesAreReadOrRefusedAsTheyAreMeant(t *testing.T) {
	accepted, err := filepath.Glob("testdata/examples/*.json")
	if err != nil {
		t.Fatal(err)
	}
	refused, err := filepath.Glob("testdata/examples/invalid/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(accepted) != 5 || len(refused) != 3 {
		t.Fatalf("%d and %d examples, want 5 and 3", len(accepted), len(refused))
	}
	for _, path := range slices.Concat(accepted, refused) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = report.ReadVerifier(text)
			bySchema := judged("verifier.v0.8", text)
			meant := slices.Contains(accepted, path)
			if (err == nil) != meant || (bySchema == nil) != meant {
				t.Errorf("meant to be accepted: %v; read: %v; by the schema: %v", meant, err, bySchema)
			}
		})
	}
}

func TestAVerifierWithoutWhatIsRequiredIsRefused(t *testing.T) {
	text, err := verifierOf(t, clean(t)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"workspace", "config", "diff_status", "control", "authorization"} {
		var o map[string]json.RawMessage
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		delete(o, key)
		without, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report.ReadVerifier(without); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("without %s: %v", key, err)
		}
	}
	for _, text := range []string{"", "[]", "{", "null", `"x"`} {
		if _, err := report.ReadVerifier([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// Two artifacts are made of one verifier at the same time: making one changes
// nothing of it.
func TestAVerifierIsMadeOfACopy(t *testing.T) {
	v, _ := sketch{decision: "passed"}.verifier()
	v = controlled(t, v, "complete")
	v.CapabilityReview.TopChanges = []report.TopChange{{ID: "chg_1", Bucket: "added", Impact: "informational"}}
	made, err := report.NewVerifier(v)
	if err != nil {
		t.Fatal(err)
	}
	if v.CapabilityReview.TopChanges[0].RelatedFindings != nil || made.CapabilityReview.TopChanges[0].RelatedFindings == nil {
		t.Error("the lists of the one it was made of were completed")
	}
}

// A sketch is what a verifier that makes sense is put together from.
type sketch struct {
	decision, execution, state string
	fix, agent                 bool
}

// The parts of a sketch; what has no decision has an execution that says why.
var (
	sketchDecisions  = []string{"", "passed", "review_required", "insufficient_evidence", "blocked"}
	sketchExecutions = []string{"not_run", "skipped", "failed"}
	sketchStates     = []string{"repair", "preview", "publishable", "stop"}
)

// verifier is the verifier of the sketch, and the name of its control.
func (s sketch) verifier() (report.Verifier, string) {
	v := report.Verifier{
		Workspace: ".", Config: "shipgate.yaml", Mode: "advisory", BaseStatus: "succeeded",
		Execution: "succeeded", Applicability: "verified", Decision: report.Text(s.decision),
		DiffStatus: report.DiffStatus{Completeness: "complete"},
	}
	switch s.decision {
	case "":
		v.Execution = s.execution
		v.Applicability = map[string]string{"not_run": "not_evaluated", "skipped": "not_applicable", "failed": "failed"}[v.Execution]
		v.MergeVerdict = map[string]string{"skipped": "mergeable"}[v.Execution]
	case "passed":
		v.MergeVerdict = "mergeable"
	case "review_required":
		v.MergeVerdict = "human_review_required"
	default:
		v.MergeVerdict = s.decision
	}
	if v.MergeVerdict == "" {
		v.MergeVerdict = "unknown"
	}
	v.CanMerge = v.MergeVerdict == "mergeable"
	if s.decision != "" {
		v.ReleaseDecision = decisionOf(decision.Verdict(s.decision))
	}
	if !v.CanMerge && s.fix {
		v.FixTask = &report.FixTask{Actor: control.Human, Command: "verify"}
		if s.agent {
			v.FixTask.Actor, v.FixTask.Safe = control.CodingAgent, true
		}
	}
	v.HeadStatus = v.Execution
	if v.CanMerge {
		return v, "complete"
	}
	return v, s.state
}

// controlled is v with the control of that name.
func controlled(t rapid.TB, v report.Verifier, state string) report.Verifier {
	if err := v.Control.UnmarshalJSON([]byte(controls[state])); err != nil {
		t.Fatal(err)
	}
	return v
}

// verifiers are verifiers put together without regard for sense, half of them
// from one that makes sense.
func verifiers() *rapid.Generator[report.Verifier] {
	return rapid.Custom(func(t *rapid.T) report.Verifier {
		pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
		flag := func(label string) bool { return rapid.Bool().Draw(t, label) }
		v, state := sketch{
			decision: pick("decision", sketchDecisions...), execution: pick("execution", sketchExecutions...),
			state: pick("state", sketchStates...), fix: flag("fix"), agent: flag("agent"),
		}.verifier()

		// And now up to two things that may not fit.
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			switch rapid.IntRange(0, 14).Draw(t, "change") {
			case 0:
				v.Execution = pick("execution", "not_run", "succeeded", "skipped", "failed", "odd")
			case 1:
				v.HeadStatus = v.Execution
			case 2:
				v.Applicability = pick("applicability", "not_evaluated", "verified", "not_applicable", "failed")
			case 3:
				v.MergeVerdict = pick("verdict", "mergeable", "human_review_required", "insufficient_evidence", "blocked", "unknown")
			case 4:
				v.CanMerge = !v.CanMerge
			case 5:
				state = pick("other state", append(sketchStates, "complete")...)
			case 6:
				v.DiffStatus = report.DiffStatus{
					Completeness: pick("diff", "complete", "partial", "unavailable"), Reason: report.Text(pick("reason", "", "refs_missing", "git_failed")),
					FetchRepairable: flag("fetch"),
				}
			case 7:
				v.CapabilityReview.TrustRootTouched = true
			case 8:
				v.CapabilityReview.PolicyWeakened = true
			case 9:
				v.ReleaseDecision = decisionOf(decision.Verdict(pick("release decision", "passed", "review_required", "blocked")))
			case 10:
				v.ReleaseDecision = nil
			case 11:
				if v.ReleaseDecision != nil {
					v.ReleaseDecision.ReviewItems = []decision.Item{{CheckID: "X", Severity: check.Low, Title: "t", CapabilityRefs: []string{}, TraceRefs: []string{}}}
				}
			case 12:
				if v.ReleaseDecision != nil {
					v.ReleaseDecision.Coverage.ReviewRecommended = true
				}
			case 13:
				v.FixTask = &report.FixTask{Actor: control.Actor(pick("actor", "human", "coding_agent")), Safe: flag("safe"), Command: report.Text(pick("command", "", "verify"))}
			case 14:
				v.Authorization = report.Authorization{SchemaVersion: report.AuthorizationVersion, Status: pick("status", "accepted", "rejected", "not_applicable")}
				if flag("whole") {
					id := report.Text("sha256:" + strings.Repeat("0", 64))
					v.Authorization.ID, v.Authorization.RequestID, v.Authorization.TrustPolicyID, v.Authorization.KeyID, v.Authorization.OperationID = id, id, id, id, id
					v.Authorization.Provider, v.Authorization.Principal, v.Authorization.Command, v.Authorization.IssuedAt, v.Authorization.ExpiresAt = "p", "p", "c", "i", "e"
				}
			}
		}
		return controlled(t, v, state)
	})
}

// decisionOf is a decision with nothing open.
func decisionOf(v decision.Verdict) *decision.Decision {
	d := decision.Decide(decision.Input{Mode: "advisory"})
	d.Decision = v
	return d
}

// printed makes the verifier of v and holds it to the schema. What cannot be
// made is told with whether the schema refuses it too.
func printed(t rapid.TB, v report.Verifier) (made *report.Verifier, ok, both bool) {
	made, err := report.NewVerifier(v)
	if err == nil {
		text, err := made.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := judged("verifier.v0.8", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return made, true, false
	}
	v.SchemaVersion, v.StaticOnly, v.Disclaimer = report.VerifierVersion, true, decision.Disclaimer
	text, err := v.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return made, false, judged("verifier.v0.8", text) != nil
}

// What is made keeps the schema, conditionals included.
func TestNoContradictionIsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { printed(t, verifiers().Draw(t, "verifier")) })
}

// Of every sketch, and not by the luck of a draw: each state of control is made
// by some, and of what is refused, some the schema refuses too.
func TestEveryStateIsPrintedAndRefusedSomewhere(t *testing.T) {
	both, states := 0, map[control.State]int{}
	for _, d := range sketchDecisions {
		for _, e := range sketchExecutions {
			for _, s := range sketchStates {
				for _, who := range []struct{ fix, agent bool }{{}, {fix: true}, {fix: true, agent: true}} {
					v, state := sketch{decision: d, execution: e, state: s, fix: who.fix, agent: who.agent}.verifier()
					got, ok, refused := printed(t, controlled(t, v, state))
					if ok {
						states[got.Control.State()]++
					}
					if refused {
						both++
					}
				}
			}
		}
	}
	if both == 0 || len(states) != 4 {
		t.Errorf("made in states %v, %d refused by both", states, both)
	}
}

// What the schema refuses is refused; the reader is never more generous.
func TestTheReaderIsNoMoreGenerousThanTheSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := verifiers().Draw(t, "verifier")
		v.SchemaVersion, v.StaticOnly, v.Disclaimer = report.VerifierVersion, true, decision.Disclaimer
		text, err := v.JSON()
		if err != nil {
			t.Fatal(err)
		}
		read, err := report.ReadVerifier(text)
		if err != nil {
			return
		}
		again, err := read.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := judged("verifier.v0.8", again); err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
	})
}

func FuzzReadVerifier(f *testing.F) {
	paths, _ := filepath.Glob("testdata/examples/*/*.json")
	more, _ := filepath.Glob("testdata/examples/*.json")
	for _, p := range append(paths, more...) {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := report.ReadVerifier(text)
		if err != nil {
			return
		}
		if v.CanMerge != (v.Control.State() == control.Complete) {
			t.Error("a contradiction was read")
		}
	})
}
