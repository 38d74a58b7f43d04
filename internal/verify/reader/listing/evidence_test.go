package listing_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/tool"
)

// validation is a manifest that names one file for each role.
func validation(optional bool) *manifest.Manifest {
	one := func(path string) []manifest.Artifact { return []manifest.Artifact{{Path: path, Optional: optional}} }
	return &manifest.Manifest{Validation: &manifest.Validation{
		ApprovalTraces: one("approval-traces.jsonl"), OverrideLogs: one("override-log.jsonl"),
		Exclusions: one("high-risk-exclusions.yaml"), PromotionCriteria: one("promotion-criteria.yaml"),
	}}
}

func TestTheEvidenceSample(t *testing.T) {
	e, warnings, err := listing.ReadEvidence(validation(false), os.DirFS("testdata/evidence"))
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	yes := true
	want := tool.Evidence{
		Traces: tool.EvidenceFiles[tool.TraceEvent]{
			Files: []tool.EvidenceFile{{Path: "approval-traces.jsonl", Status: "loaded"}},
			Rows:  []tool.TraceEvent{{Tool: "issue_refund", Approved: &yes, Success: &yes, Path: "approval-traces.jsonl", Pointer: "/0"}},
		},
		Overrides: tool.EvidenceFiles[tool.OverrideEvent]{
			Files: []tool.EvidenceFile{{Path: "override-log.jsonl", Status: "loaded"}},
			Rows: []tool.OverrideEvent{{
				Tool: "issue_refund", Action: "override", Reason: "support ops manager approved refund exception", Actor: "support-ops",
				Location: "override-log.jsonl#/0",
			}},
		},
		Exclusions: tool.EvidenceFiles[tool.Exclusion]{
			Files: []tool.EvidenceFile{{Path: "high-risk-exclusions.yaml", Status: "loaded"}},
			Rows: []tool.Exclusion{{
				Tool: "issue_refund", Reason: "financial refund actions remain manually approved", Owner: "support-ops",
				Location: "high-risk-exclusions.yaml#/high_risk_auto_approval_exclusions/0",
			}},
		},
		Promotion: tool.EvidenceFiles[tool.Promotion]{
			Files: []tool.EvidenceFile{{Path: "promotion-criteria.yaml", Status: "loaded"}},
			Rows: []tool.Promotion{{
				Posture: "limited_auto_approval", ApprovalTrace: true, OverrideReason: true, HighRiskExclusion: true, Location: "promotion-criteria.yaml#/",
			}},
		},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
}

func TestAnOverrideLogKeepsWhatLacksAReasonAndSaysWhatItPassedOver(t *testing.T) {
	log := `[{"tool_name":"a","action":"bypass"},
 {"tool_name":"a","action":"looked"},
 {"action":"override","reason":"x"},
 {"tool_name":"b","action":"auto_approve","reason":"r","timestamp":"t"}]`
	m := &manifest.Manifest{Validation: &manifest.Validation{OverrideLogs: []manifest.Artifact{{Path: "log.json"}}}}
	e, warnings, err := listing.ReadEvidence(m, fstest.MapFS{"log.json": {Data: []byte(log)}})
	if err != nil {
		t.Fatal(err)
	}
	want := []tool.OverrideEvent{
		{Tool: "a", Action: "bypass", Location: "log.json#/0"},
		{Tool: "b", Action: "auto_approve", Reason: "r", Timestamp: "t", Location: "log.json#/3"},
	}
	if diff := cmp.Diff(want, e.Overrides.Rows); diff != "" {
		t.Error(diff)
	}
	if f := e.Overrides.Files[0]; f.Status != "loaded_with_warnings" || len(warnings) != 1 || !strings.HasPrefix(warnings[0].Message, "2 rows") {
		t.Errorf("%+v, %+v", f, warnings)
	}
}

func TestEvidenceThatIsNotThereOrMalformed(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  fstest.MapFS
		line   int
		status string
	}{
		{"not there", fstest.MapFS{}, 0, "expected_but_absent"},
		{"broken line", fstest.MapFS{"approval-traces.jsonl": {Data: []byte("{}\n{\n")}}, 2, "source_load_failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := listing.ReadEvidence(validation(false), c.files); err == nil || err.Path != "approval-traces.jsonl" || err.Line != c.line {
				t.Errorf("required: %v", err)
			}
			e, warnings, err := listing.ReadEvidence(validation(true), c.files)
			if err != nil || e.Traces.Files[0].Status != c.status || len(warnings) < 4 {
				t.Errorf("optional: %v, %+v, %v", err, e.Traces, warnings)
			}
		})
	}
	bad := fstest.MapFS{"x.yaml": {Data: []byte("high_risk_auto_approval_exclusions:\n  - tol: a\n")}}
	m := &manifest.Manifest{Validation: &manifest.Validation{Exclusions: []manifest.Artifact{{Path: "x.yaml"}}}}
	if _, _, err := listing.ReadEvidence(m, bad); err == nil || err.Line != 2 || !strings.Contains(err.Detail, "and 1 more") && !strings.Contains(err.Detail, "tol") {
		t.Errorf("%v", err)
	}
}

func FuzzEvidence(f *testing.F) {
	for _, s := range []string{
		`{"tool_name":"a","approved":true}`, `[{"tool_name":"a","action":"override"}]`, "high_risk_auto_approval_exclusions:\n  - {tool: a}\n",
		"target_review_posture: limited_auto_approval\n", "{", "\xff", "a: &a [*a]",
	} {
		f.Add([]byte(s), ".jsonl")
		f.Add([]byte(s), ".yaml")
	}
	f.Fuzz(func(t *testing.T, text []byte, suffix string) {
		name := "e.yaml"
		if suffix == ".jsonl" {
			name = "e.jsonl"
		}
		tree := fstest.MapFS{name: {Data: text}}
		file := []manifest.Artifact{{Path: name}}
		for _, v := range []manifest.Validation{{ApprovalTraces: file}, {OverrideLogs: file}, {Exclusions: file}, {PromotionCriteria: file}} {
			e, _, err := listing.ReadEvidence(&manifest.Manifest{Validation: &v}, tree)
			if err != nil && (err.Path != name || err.Detail == "") {
				t.Fatalf("a failure without a place: %v", err)
			}
			for _, row := range e.Traces.Rows {
				if row.Tool == "" {
					t.Fatal("a trace of nothing")
				}
			}
		}
	})
}
