package handoff_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"plimsoll.dev"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/handoff"
	"plimsoll.dev/internal/verify/report"
)

// published is the schema of this contract, upstream the one of a later contract,
// which admits everything that ours does.
var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	ours, err := plimsoll.VerificationSchema("agent-handoff.v7")
	if err != nil {
		panic(err)
	}
	later, err := os.ReadFile("testdata/agent-handoff-schema.v7.json")
	if err != nil {
		panic(err)
	}
	all := map[string]*jsonschema.Schema{}
	for name, text := range map[string][]byte{"published": ours, "upstream": later} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err = errors.Join(err, c.AddResource("mem:///"+name, v)); err != nil {
			panic(err)
		}
		all[name] = c.MustCompile("mem:///" + name)
	}
	return all
})

func judged(text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return errors.Join(schemas()["published"].Validate(v), schemas()["upstream"].Validate(v))
}

// packet is a packet as it is printed, held against both schemas.
func packet(t testing.TB, in handoff.Input) (*handoff.Handoff, []byte) {
	t.Helper()
	in.Tool = handoff.Tool{Name: "agents-shipgate", Version: "0.16.0"}
	h, err := handoff.Project(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := h.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := judged(text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h, text
}

func example(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "report", "testdata", "examples", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var verifiers = []string{"agent_repair", "blocked", "passed", "preview", "review_required"}

// A packet holds what the example of its verifier holds. The examples were
// written by hand, so what they leave out is not compared.
func TestThePacketsAreThoseOfTheExamples(t *testing.T) {
	for _, name := range verifiers {
		t.Run(name, func(t *testing.T) {
			_, text := packet(t, handoff.Input{Verifier: example(t, "verifier."+name+".json")})
			want, err := os.ReadFile("testdata/examples/handoff." + name + ".json")
			if errors.Is(err, os.ErrNotExist) && name == "agent_repair" {
				return // it has no packet among the examples
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := judged(want); err != nil {
				t.Fatal(err)
			}
			var a, b any
			if err := errors.Join(json.Unmarshal(want, &a), json.Unmarshal(text, &b)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(a, within(a, b)); diff != "" {
				t.Errorf("the example and the packet differ:\n%s", diff)
			}
		})
	}
}

// within is b with the members of a alone.
func within(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		out := map[string]any{}
		for key := range a {
			if v, ok := b[key]; ok {
				out[key] = within(a[key], v)
			}
		}
		return out
	case []any:
		list, _ := b.([]any)
		out := make([]any, len(list))
		for i := range list {
			if out[i] = list[i]; i < len(a) {
				out[i] = within(a[i], list[i])
			}
		}
		return out
	}
	return b
}

func TestAVerifierThatContradictsItselfIsRefused(t *testing.T) {
	for _, name := range []string{"passed_with_trust_root", "publishable_while_blocked", "publishable_with_unread_diff"} {
		refused(t, handoff.Input{Verifier: example(t, "invalid/verifier."+name+".json")}, "verifier.json", "", "cannot be used")
	}
}

// refused is a projection that must end in a refusal about a member.
func refused(t testing.TB, in handoff.Input, artifact, field, says string) {
	t.Helper()
	h, err := handoff.Project(in)
	r, ok := errors.AsType[*handoff.Refusal](err)
	if !ok || h != nil || r.Artifact != artifact || r.Field != field || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want a refusal of %s about %q that says %q", err, artifact, field, says)
	}
}

func TestATextThatTwoReadersReadDifferentlyIsRefused(t *testing.T) {
	good := string(example(t, "verifier.passed.json"))
	for name, c := range map[string]struct{ text, says string }{
		"nothing":               {"", "JSONDecodeError"},
		"a list":                {"[]", "no JSON object"},
		"half":                  {good[:len(good)/2], "JSONDecodeError"},
		"two":                   {good + good, "JSONDecodeError"},
		"a key twice":           {strings.Replace(good, `"workspace": "."`, `"workspace": ".", "workspace": ".."`, 1), "JSONDecodeError"},
		"a key in another case": {strings.Replace(good, `"workspace": "."`, `"workspace": ".", "Workspace": ".."`, 1), "only in case"},
		"no control":            {strings.Replace(good, `"control": {`, `"controls": {`, 1), "control is missing"},
		"deep":                  {strings.Repeat(`{"a":`, 100_000), "JSONDecodeError"},
		"too large":             {good + strings.Repeat(" ", handoff.MaxVerifier), "it is over 32 MiB"},
	} {
		if c.text == good {
			t.Fatalf("%s: the sample does not have what is replaced", name)
		}
		t.Run(name, func(t *testing.T) { refused(t, handoff.Input{Verifier: []byte(c.text)}, "verifier.json", "", c.says) })
	}
}

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }

// record is the record of the run that a verifier is of, with a report.
func record(t testing.TB, verifier, reportText []byte) *report.VerifyRun {
	t.Helper()
	v, err := report.ReadVerifier(verifier)
	if err != nil {
		t.Fatal(err)
	}
	blob := func(path, c string) report.Blob {
		return report.Blob{Path: path, Source: "git_blob", SHA256: digestOf(c), Size: 3}
	}
	baseline := blob("baseline.json", "3")
	plan, err := report.NewPlan(
		report.GitSubject{
			RepositoryID: "git:stock", SnapshotKind: report.CommittedTree, BaseRef: "origin/main", HeadRef: "HEAD",
			BaseCommit: report.Text(strings.Repeat("a", 40)), HeadCommit: report.Text(strings.Repeat("b", 40)), MergeBase: report.Text(strings.Repeat("a", 40)),
		},
		report.InputSet{
			Config: blob("shipgate.yaml", "1"), Diff: blob("verification-input.diff", "2"), Baseline: &baseline,
			PolicyPacks: []report.Blob{blob("pack.yaml", "4")}, EvaluationDate: "2026-06-15",
		},
		report.Engine{
			Package: "agents-shipgate", Version: "0.16.0", Distribution: digestOf("5"), AdapterSet: digestOf("6"), DependencySet: digestOf("7"),
			PluginSet: digestOf("8"), PolicyCatalog: digestOf("9"), Platform: "any", PythonImplementation: "none", PythonVersion: "0",
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(reportText)
	run, err := report.NewVerifyRun(plan, digestOf("c"), []report.UnitResult{report.NewUnitResult(report.UnitResult{TaskID: plan.Tasks[0].TaskID})},
		report.OutcomeOf(v, 0), map[string]report.ArtifactRef{
			"report_json": {Path: "report.json", SHA256: report.Text("sha256:" + hex.EncodeToString(sum[:]))}, "report_markdown": {Path: "report.md"},
		})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func printed(t testing.TB, run *report.VerifyRun) []byte {
	t.Helper()
	text, err := run.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheRecordOfTheRunIsQuoted(t *testing.T) {
	verifier, reportText := example(t, "verifier.blocked.json"), []byte(`{"release_decision": {"decision": "blocked"}}`)
	run := record(t, verifier, reportText)
	h, _ := packet(t, handoff.Input{Verifier: verifier, Report: reportText, Run: printed(t, run)})
	want := handoff.Reproducibility{
		RequestID: report.Text(run.RequestID), RunID: report.Text(run.RunID), SubjectID: report.Text(run.Plan.Subject.SubjectID),
		InputSetID: report.Text(run.Plan.Inputs.InputSetID), EngineRequirementID: report.Text(run.Plan.Engine.EngineRequirementID),
		ExecutorID: report.Text(run.Executor.ExecutorID), DecisionID: report.Text(run.DecisionID),
		ConfigSHA256: report.Text(digestOf("1")), BaselineSHA256: report.Text(digestOf("3")),
		PolicyPacks:    []handoff.PolicyPack{{Path: "pack.yaml", SHA256: digestOf("4")}},
		ArtifactSHA256: map[string]string{"report_json": string(run.Artifacts["report_json"].SHA256)},
	}
	if diff := cmp.Diff(want, h.Reproducibility); diff != "" {
		t.Error(diff)
	}
	alone, _ := packet(t, handoff.Input{Verifier: verifier})
	if r := alone.Reproducibility; r.RequestID != "" || r.ConfigSHA256 != "" || len(r.ArtifactSHA256) > 0 {
		t.Errorf("without a record it says %+v", r)
	}
}

// Every member that §15 names is compared, and the refusal has both values.
func TestArtifactsOfTwoRunsAreRefused(t *testing.T) {
	verifier, reportText := example(t, "verifier.review_required.json"), []byte(`{"run_id": "r", "release_decision": {"decision": "review_required"}}`)
	for field, c := range map[string]struct {
		edit func(o *report.Outcome)
		says string
	}{
		"execution":     {func(o *report.Outcome) { o.Execution = "failed"; o.Control = stop(t) }, "execution is failed, verifier.json says succeeded"},
		"applicability": {func(o *report.Outcome) { o.Applicability = "not_applicable" }, "is not_applicable, verifier.json says verified"},
		"decision":      {func(o *report.Outcome) { o.Decision = "insufficient_evidence" }, "is insufficient_evidence, verifier.json says review_required"},
		"merge_verdict": {func(o *report.Outcome) { o.MergeVerdict = "insufficient_evidence" }, "is insufficient_evidence, verifier.json says human_review_required"},
		"base_status":   {func(o *report.Outcome) { o.BaseStatus = "scan_failed" }, "is scan_failed, verifier.json says succeeded"},
		"control.state": {func(o *report.Outcome) { o.Control = stop(t) }, "is human_review_required, verifier.json says review_publishable"},
		"control": {func(o *report.Outcome) {
			o.Control = control.NeedsPerson("another reason", "why")
			o.Control = other(t)
		}, `"reason":"Something else.`},
		"decision and no verdict": {func(o *report.Outcome) { o.Decision = ""; o.Control = stop(t) }, "is null, verifier.json says review_required"},
	} {
		t.Run(field, func(t *testing.T) {
			run := record(t, verifier, reportText)
			c.edit(&run.Outcome)
			run.DecisionID = report.DecisionID(run.RequestID, run.UnitResultIDs, string(run.Outcome.Decision), run.Outcome.MergeVerdict, run.Outcome.CanMerge)
			name, _, _ := strings.Cut(field, " ")
			refused(t, handoff.Input{Verifier: verifier, Run: printed(t, run)}, "verify-run.json", name, c.says)
		})
	}
	t.Run("can_merge_without_human", func(t *testing.T) {
		// A record that may merge is complete, so more than one member differs: the
		// first is named.
		passed := example(t, "verifier.passed.json")
		refused(t, handoff.Input{Verifier: verifier, Run: printed(t, record(t, passed, nil))}, "verify-run.json", "decision", "is passed, verifier.json says review_required")
	})
	t.Run("ids", func(t *testing.T) {
		run := record(t, verifier, reportText)
		for _, key := range []string{"request_id", "subject_id", "input_set_id", "engine_requirement_id", "executor_id", "decision_id"} {
			var v map[string]any
			if err := json.Unmarshal(verifier, &v); err != nil {
				t.Fatal(err)
			}
			v[key] = digestOf("d")
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			refused(t, handoff.Input{Verifier: text, Run: printed(t, run)}, "verify-run.json", key, "verifier.json says "+digestOf("d"))
		}
	})
	t.Run("report", func(t *testing.T) {
		run := printed(t, record(t, verifier, reportText))
		refused(t, handoff.Input{Verifier: verifier, Report: []byte(`{"release_decision": {"decision": "passed"}}`)}, "report.json", "release_decision.decision",
			"is passed, verifier.json says review_required")
		refused(t, handoff.Input{Verifier: verifier, Report: []byte(`{"release_decision": {}}`)}, "report.json", "", "no release decision")
		refused(t, handoff.Input{Verifier: verifier, Report: []byte(`{`)}, "report.json", "", "JSONDecodeError")
		refused(t, handoff.Input{Verifier: verifier, Report: append(slices.Clone(reportText), '\n'), Run: run}, "report.json", "", "its digest is sha256:")
		packet(t, handoff.Input{Verifier: verifier, Report: reportText, Run: run})
	})
	t.Run("a record of another version", func(t *testing.T) {
		text := bytes.Replace(printed(t, record(t, verifier, reportText)), []byte("verify_run/v4"), []byte("verify_run/v3"), 1)
		refused(t, handoff.Input{Verifier: verifier, Run: text}, "verify-run.json", "", "cannot be used")
	})
	t.Run("an edited record", func(t *testing.T) {
		text := bytes.Replace(printed(t, record(t, verifier, reportText)), []byte(`"pack.yaml"`), []byte(`"park.yaml"`), 1)
		refused(t, handoff.Input{Verifier: verifier, Run: text}, "verify-run.json", "", "input_set_id is not the digest of its content")
	})
}

func decoded(t testing.TB, text string) control.Control {
	t.Helper()
	var c control.Control
	if err := c.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return c
}

func stop(t testing.TB) control.Control {
	t.Helper()
	return control.NeedsPerson("It stops.", "A person looks.")
}

func other(t testing.TB) control.Control {
	t.Helper()
	return decoded(t, `{"state":"review_publishable","reason":"Something else.","completion_allowed":false,"must_stop":false,"verify_required":false,
		"next_action":{"actor":"human","kind":"review","command":null,"expects":null,"why":"A person decides."},"allowed_next_commands":[],
		"permissions":{"edit":true,"commit":true,"push":true,"update_pr":true,"merge":false,"report_complete":false},
		"human_review":{"required":true,"why":"A person decides.","required_reviewers":[]},"stop_reason":null}`)
}

// edited is the agent_repair example with an action of a later contract.
func edited(t testing.TB, change func(control, next map[string]any)) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(example(t, "verifier.agent_repair.json"), &v); err != nil {
		t.Fatal(err)
	}
	c := v["control"].(map[string]any)
	next := map[string]any{
		"actor": "coding_agent", "kind": "edit", "command": nil, "path": "shipgate.yaml:4", "expects": "a path that is there", "why": "A source is missing.",
	}
	c["next_action"], c["allowed_next_commands"] = next, []any{}
	if change != nil {
		change(c, next)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The edit action of later contracts is a repair here: the state stays, and the
// command is the one that verifies the edit.
func TestAnEditIsWorkOfTheAgent(t *testing.T) {
	h, _ := packet(t, handoff.Input{Verifier: edited(t, nil)})
	next := h.Control.NextAction()
	const command = "agents-shipgate verify --base origin/main --head HEAD --json"
	if h.Control.State() != control.AgentActionRequired || next.Kind != control.Repair || next.Command != command ||
		next.Why != "A source is missing. Edit shipgate.yaml:4: a path that is there" || !slices.Equal(h.Control.AllowedNextCommands(), []string{command}) {
		t.Errorf("%+v, %v", next, h.Control.AllowedNextCommands())
	}
	verifier := example(t, "verifier.agent_repair.json")
	run := record(t, verifier, nil)
	var text map[string]any
	if err := json.Unmarshal(printed(t, run), &text); err != nil {
		t.Fatal(err)
	}
	var foreign map[string]any
	if err := json.Unmarshal(edited(t, nil), &foreign); err != nil {
		t.Fatal(err)
	}
	text["outcome"].(map[string]any)["control"] = foreign["control"]
	same, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	packet(t, handoff.Input{Verifier: edited(t, nil), Run: same})
	refused(t, handoff.Input{Verifier: verifier, Run: same}, "verify-run.json", "control", "Edit shipgate.yaml:4")
	for name, change := range map[string]func(c, next map[string]any){
		"for a person":     func(_, next map[string]any) { next["actor"] = "human" },
		"in another state": func(c, _ map[string]any) { c["state"] = "complete" },
		"with a command":   func(_, next map[string]any) { next["command"] = "rm" },
		"without a path":   func(_, next map[string]any) { next["path"] = "" },
		"without an end":   func(_, next map[string]any) { delete(next, "expects") },
		"with more":        func(_, next map[string]any) { next["more"] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, handoff.Input{Verifier: edited(t, change)}, "verifier.json", "", "edit action has the wrong members")
		})
	}
}

// A verdict that this contract does not know is never a pass.
func TestAForeignDecisionIsTakenAsItIs(t *testing.T) {
	text := bytes.ReplaceAll(example(t, "verifier.review_required.json"), []byte(`"review_required"`), []byte(`"needs_quorum"`))
	h, _ := packet(t, handoff.Input{Verifier: text})
	if h.Gate.Decision != "needs_quorum" || h.Gate.MergeVerdict != "human_review_required" || h.Gate.CanMerge {
		t.Errorf("%+v", h.Gate)
	}
}

func TestTheRemediationIsInOrder(t *testing.T) {
	var v map[string]any
	if err := json.Unmarshal(example(t, "verifier.agent_repair.json"), &v); err != nil {
		t.Fatal(err)
	}
	repair := func(id string) map[string]any {
		return map[string]any{"id": id, "actor": "coding_agent", "kind": "edit_manifest", "reason": "Because.", "command": nil, "target": "shipgate.yaml", "check_id": "X", "finding_id": nil}
	}
	task := v["fix_task"].(map[string]any)
	task["allowed_repairs"], task["forbidden_repairs"] = []any{repair("a"), repair("b")}, []any{repair("c")}
	task["patches"] = []any{
		map[string]any{"check_id": "X", "finding_id": "f", "patch": map[string]any{"kind": "remove_pointer", "target_file": "shipgate.yaml", "rationale": "It is stale."}},
		map[string]any{"check_id": "Y", "finding_id": nil, "patch": map[string]any{"other": 1}},
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := packet(t, handoff.Input{Verifier: text})
	var got []string
	for _, s := range h.Remediation {
		got = append(got, strings.Join([]string{s.Safety, string(s.ID), s.Kind, s.Reason, string(s.Target), string(s.CheckID)}, "|"))
	}
	want := []string{
		"allowed|a|edit_manifest|Because.|shipgate.yaml|X", "allowed|b|edit_manifest|Because.|shipgate.yaml|X",
		"forbidden|c|edit_manifest|Because.|shipgate.yaml|X", "patch|patch_1|remove_pointer|It is stale.|shipgate.yaml|X",
		"patch|patch_2|patch|A suggested edit.||Y",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// However one verifier is edited, it is refused or its packet says what it says.
func TestAPacketNeverSaysMoreThanItsVerifier(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var v map[string]any
		if err := json.Unmarshal(example(t, "verifier."+rapid.SampledFrom(verifiers).Draw(rt, "one")+".json"), &v); err != nil {
			rt.Fatal(err)
		}
		var w map[string]any
		if err := json.Unmarshal(example(t, "verifier."+rapid.SampledFrom(verifiers).Draw(rt, "other")+".json"), &w); err != nil {
			rt.Fatal(err)
		}
		for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{
			"control", "decision", "release_decision", "merge_verdict", "can_merge_without_human", "fix_task", "execution", "head_status",
			"applicability", "capability_review", "diff_status", "mode", "base_ref",
		}), 0, 13).Draw(rt, "members") {
			v[key] = w[key]
		}
		text, err := json.Marshal(v)
		if err != nil {
			rt.Fatal(err)
		}
		h, err := handoff.Project(handoff.Input{Verifier: text})
		if err != nil {
			return
		}
		out, err := h.JSON()
		if err == nil {
			err = judged(out)
		}
		if err != nil {
			rt.Fatalf("%v\n%s", err, out)
		}
		if h.Gate.CanMerge != (v["can_merge_without_human"] == true) || h.Control.CompletionAllowed() != h.Gate.CanMerge ||
			h.Gate.MergeVerdict == "blocked" && h.Control.Permissions().UpdatePR {
			rt.Fatalf("%s", out)
		}
	})
}

func FuzzProject(f *testing.F) {
	for _, name := range verifiers {
		text := example(f, "verifier."+name+".json")
		if name != "preview" {
			f.Add(text, []byte(`{"release_decision": {"decision": "blocked"}}`), printed(f, record(f, text, nil)))
			continue
		}
		f.Add(text, []byte("{}"), []byte("{}"))
	}
	f.Add(edited(f, nil), []byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, verifier, reportText, run []byte) {
		in := handoff.Input{Verifier: verifier, Report: reportText, Run: run}
		h, err := handoff.Project(in)
		if err != nil {
			if _, ok := errors.AsType[*handoff.Refusal](err); !ok {
				t.Fatal(err)
			}
			return
		}
		text, err := h.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := handoff.Project(in)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := again.JSON(); err != nil || !bytes.Equal(text, other) {
			t.Fatalf("%v: another packet of the same run", err)
		}
		if h.Gate.CanMerge != (h.Control.State() == control.Complete) {
			t.Fatalf("%s", text)
		}
	})
}
