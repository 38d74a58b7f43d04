package report_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/report"
)

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func subject() report.GitSubject {
	return report.GitSubject{
		RepositoryID: "git:stock", SnapshotKind: report.CommittedTree, BaseRef: "origin/main", HeadRef: "HEAD",
		BaseCommit: report.Text(strings.Repeat("a", 40)), HeadCommit: report.Text(strings.Repeat("b", 40)), MergeBase: report.Text(strings.Repeat("a", 40)),
	}
}

func blob(path, c string) report.Blob {
	return report.Blob{Path: path, Source: "git_blob", SHA256: digestOf(c), Size: 3}
}

func inputs() report.InputSet {
	return report.InputSet{
		Config: blob("shipgate.yaml", "1"), ToolSources: []report.Blob{blob("b.json", "2"), blob("a.json", "3")}, Diff: blob("verification-input.diff", "4"),
		ChangedPaths: []string{"b.json", "a.json"}, Options: map[string]string{"ci_mode": "strict"}, EvaluationDate: "2026-06-15",
	}
}

func engine() report.Engine {
	return report.Engine{
		Package: "agents-shipgate", Version: "0.16.0", Distribution: digestOf("5"), AdapterSet: digestOf("6"), DependencySet: digestOf("7"),
		PluginSet: digestOf("8"), PolicyCatalog: digestOf("9"), Platform: "any", PythonImplementation: "none", PythonVersion: "0",
	}
}

func planned(t testing.TB) *report.Plan {
	t.Helper()
	p, err := report.NewPlan(subject(), inputs(), engine())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unit(p *report.Plan) report.UnitResult {
	return report.NewUnitResult(report.UnitResult{
		TaskID: p.Tasks[0].TaskID, Findings: []report.UnitFinding{{ID: "fp_1", Fingerprint: "fp_1", CheckID: "X", Severity: "low"}}, ToolInventory: []string{"b", "a"},
	})
}

func ran(t testing.TB, state, decided, verdict string) (*report.VerifyRun, error) {
	t.Helper()
	p := planned(t)
	o := report.Outcome{
		Execution: "succeeded", Applicability: "verified", Decision: report.Text(decided), MergeVerdict: verdict, CanMerge: verdict == "mergeable",
		BaseStatus: "succeeded", Control: controlOf(t, state),
	}
	return report.NewVerifyRun(p, digestOf("c"), []report.UnitResult{unit(p)}, o, map[string]report.ArtifactRef{"report_json": {Path: "report.json"}})
}

func TestTheRunKeepsItsSchema(t *testing.T) {
	for state, is := range map[string][2]string{
		"complete": {"passed", "mergeable"}, "repair": {"review_required", "human_review_required"},
		"publishable": {"insufficient_evidence", "insufficient_evidence"}, "stop": {"blocked", "blocked"},
	} {
		t.Run(state, func(t *testing.T) {
			r, err := ran(t, state, is[0], is[1])
			if err != nil {
				t.Fatal(err)
			}
			text, err := r.JSON()
			valid(t, "verify-run.v4", text, err)
			if _, err := report.ReadVerifyRun(text); err != nil {
				t.Errorf("what was written is not read: %v", err)
			}
			if r.RunID != r.RequestID {
				t.Error("the run's id is the request's")
			}
		})
	}
}

// A run names results that were given an id for what they hold.
func TestAResultUnderAnotherIDIsRefused(t *testing.T) {
	p := planned(t)
	o := report.Outcome{
		Execution: "succeeded", Applicability: "verified", Decision: "blocked", MergeVerdict: "blocked", BaseStatus: "succeeded", Control: controlOf(t, "stop"),
	}
	other, elsewhere := unit(p), unit(p)
	other.UnitResultID = digestOf("d")
	elsewhere.TaskID = digestOf("e")
	for name, u := range map[string]report.UnitResult{
		"an id of its own": {UnitResultID: digestOf("d"), TaskID: p.Tasks[0].TaskID}, "another id": other, "another task": elsewhere, "no id": {TaskID: p.Tasks[0].TaskID},
	} {
		if _, err := report.NewVerifyRun(p, digestOf("c"), []report.UnitResult{u}, o, nil); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if _, err := report.NewVerifyRun(p, digestOf("c"), []report.UnitResult{unit(p)}, o, nil); err != nil {
		t.Error(err)
	}
}

func TestAnOutcomeThatContradictsItselfIsRefused(t *testing.T) {
	for _, c := range [][3]string{
		{"complete", "review_required", "human_review_required"},
		{"complete", "blocked", "mergeable"},
		{"publishable", "blocked", "blocked"},
		{"repair", "blocked", "blocked"},
		{"stop", "passed", "mergeable"},
		{"publishable", "", "unknown"},
	} {
		if _, err := ran(t, c[0], c[1], c[2]); err == nil {
			t.Errorf("%v was printed", c)
		}
	}
}

func TestATamperedRunIsNotRead(t *testing.T) {
	r, err := ran(t, "stop", "blocked", "blocked")
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for old, changed := range map[string]string{
		`"decision": "blocked"`: `"decision": "review_required"`, `"ci_mode": "strict"`: `"ci_mode": "advisory"`, `"head_ref": "HEAD"`: `"head_ref": "other"`,
		`"version": "0.16.0"`: `"version": "0.15.0"`, `"evaluation_date": "2026-06-15"`: `"evaluation_date": "2027-06-15"`,
		`"runtime_sha256": "sha256:cc`: `"runtime_sha256": "sha256:dd`,
	} {
		if !strings.Contains(string(text), old) {
			t.Fatalf("no %s in %s", old, text)
		}
		if _, err := report.ReadVerifyRun([]byte(strings.Replace(string(text), old, changed, 1))); err == nil {
			t.Errorf("%s was read", changed)
		}
	}
}

func TestARunAndAVerifierThatDifferAreRefused(t *testing.T) {
	in := clean(t)
	v := verifierOf(t, in)
	r, err := ran(t, "complete", "passed", "mergeable")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Agrees(v); err != nil {
		t.Errorf("they agree: %v", err)
	}
	v.BaseStatus = "scan_failed"
	if r.Agrees(v) == nil {
		t.Error("another base status")
	}
	v.BaseStatus, v.RequestID = "succeeded", report.Text(digestOf("f"))
	if r.Agrees(v) == nil {
		t.Error("another request")
	}
}

func TestUnnamedInputsAreRefused(t *testing.T) {
	for name, edit := range map[string]func(*report.GitSubject, *report.InputSet, *report.Engine){
		"a short commit":      func(g *report.GitSubject, _ *report.InputSet, _ *report.Engine) { g.HeadCommit = "abc" },
		"an unknown snapshot": func(g *report.GitSubject, _ *report.InputSet, _ *report.Engine) { g.SnapshotKind = "x" },
		"a tree with an overlay": func(g *report.GitSubject, _ *report.InputSet, _ *report.Engine) {
			g.WorktreeOverlay = report.Text(digestOf("1"))
		},
		"an overlay without one": func(g *report.GitSubject, _ *report.InputSet, _ *report.Engine) {
			g.SnapshotKind = report.WorktreeOverlay
		},
		"a blob without digest": func(_ *report.GitSubject, s *report.InputSet, _ *report.Engine) { s.Config.SHA256 = "" },
		"a blob from nowhere":   func(_ *report.GitSubject, s *report.InputSet, _ *report.Engine) { s.Diff.Source = "x" },
		"a baseline":            func(_ *report.GitSubject, s *report.InputSet, _ *report.Engine) { s.Baseline = &report.Blob{Path: "b"} },
		"an engine":             func(_ *report.GitSubject, _ *report.InputSet, e *report.Engine) { e.PluginSet = "none" },
	} {
		g, s, e := subject(), inputs(), engine()
		edit(&g, &s, &e)
		if _, err := report.NewPlan(g, s, e); err == nil {
			t.Errorf("%s was planned", name)
		}
	}
}

// Same content, same ids; another content, another id.
func TestIdsAreDigestsOfTheirContent(t *testing.T) {
	text := rapid.StringMatching(`[a-zé"\\<]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		s := inputs()
		s.ToolSources, s.ChangedPaths = nil, nil
		for _, c := range rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9a-f]`), 0, 5, rapid.ID).Draw(t, "sources") {
			s.ToolSources = append(s.ToolSources, report.Blob{Path: text.Draw(t, "path") + c, Source: "worktree", SHA256: digestOf(c), Size: 1})
			s.ChangedPaths = append(s.ChangedPaths, c)
		}
		id := s.ID()

		same := s
		same.ToolSources, same.ChangedPaths = rapid.Permutation(s.ToolSources).Draw(t, "sources again"), slices.Concat(s.ChangedPaths, s.ChangedPaths)
		same.InputSetID = "ignored"
		if same.ID() != id {
			t.Fatal("the order of a set shows in its id")
		}
		other := s
		other.Options = map[string]string{"ci_mode": text.Draw(t, "mode") + "!"}
		if other.ID() == id {
			t.Fatal("another option has the same id")
		}
		g, h := subject(), subject()
		h.BaseRef = report.Text(text.Draw(t, "ref"))
		if (report.SubjectID(g) == report.SubjectID(h)) != (g == h) {
			t.Fatal("a subject's id is not its content's")
		}
		units := rapid.SliceOfN(rapid.StringMatching(`[a-f]{2}`), 1, 4).Draw(t, "units")
		d := report.DecisionID(id, units, "passed", "mergeable", true)
		if d != report.DecisionID(id, rapid.Permutation(units).Draw(t, "units again"), "passed", "mergeable", true) {
			t.Fatal("the order of unit results shows")
		}
		if d == report.DecisionID(id, units, "blocked", "blocked", false) || d == report.DecisionID(d, units, "passed", "mergeable", true) {
			t.Fatal("another decision has the same id")
		}
		r := report.Receipt{RequestID: id, DecisionID: d, UnitResultIDs: units}
		again := r
		again.AttemptID = "another attempt"
		if report.NewReceipt(r).ReceiptID != report.NewReceipt(again).ReceiptID {
			t.Fatal("an attempt shows in the receipt's id")
		}
		again.ArtifactSetID = "other"
		if report.NewReceipt(r).ReceiptID == report.NewReceipt(again).ReceiptID {
			t.Fatal("another artifact set has the same receipt")
		}
	})
}

func TestTheChainHangsTogether(t *testing.T) {
	p, q := planned(t), planned(t)
	if p.RequestID != q.RequestID {
		t.Error("two plans of the same inputs differ")
	}
	s := inputs()
	s.EvaluationDate = "2026-06-16"
	other, err := report.NewPlan(subject(), s, engine())
	if err != nil {
		t.Fatal(err)
	}
	if other.RequestID == p.RequestID || other.Subject.SubjectID != p.Subject.SubjectID || other.Engine.EngineRequirementID != p.Engine.EngineRequirementID {
		t.Error("another date is another request about the same subject by the same engine")
	}
	m := report.NewArtifactManifest([]report.ArtifactFile{{Path: "b", SHA256: digestOf("1")}, {Path: "a", SHA256: digestOf("2")}})
	n := report.NewArtifactManifest([]report.ArtifactFile{{Path: "a", SHA256: digestOf("2")}, {Path: "b", SHA256: digestOf("1")}})
	if m.ArtifactSetID != n.ArtifactSetID || m.Artifacts[0].Path != "a" {
		t.Error("the order of artifacts shows")
	}
}

// A unit result is evidence: the same evidence has the same id whatever is
// decided about it.
func TestAUnitResultHoldsNoDecision(t *testing.T) {
	text, err := unit(planned(t)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				switch k {
				case "decision", "decision_id", "merge_verdict", "can_merge_without_human", "release_decision", "control", "blocks_release":
					t.Errorf("a unit result holds %s", k)
				}
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(o)
}

func FuzzReadVerifyRun(f *testing.F) {
	r, err := ran(f, "stop", "blocked", "blocked")
	if err != nil {
		f.Fatal(err)
	}
	text, err := r.JSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := report.ReadVerifyRun(text)
		if err == nil && r.Check() != nil {
			t.Error("a run was read that does not hold")
		}
	})
}
