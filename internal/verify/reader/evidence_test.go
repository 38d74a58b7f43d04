package reader_test

import (
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
)

func TestEvidenceIsReadBesideTheSources(t *testing.T) {
	m := &manifest.Manifest{Name: "shipgate.yaml", Validation: &manifest.Validation{
		OverrideLogs: []manifest.Artifact{{Path: "log.jsonl"}}, ApprovalTraces: []manifest.Artifact{{Path: "gone.jsonl", Optional: true}},
	}}
	tree := fstest.MapFS{"log.jsonl": {Data: []byte(`{"tool_name":"t","action":"override"}`)}}
	r, err := reader.Read(m, tree)
	if err != nil {
		t.Fatal(err)
	}
	if rows := r.Evidence.Overrides.Rows; len(rows) != 1 || rows[0].Tool != "t" || rows[0].Reason != "" {
		t.Errorf("%+v", rows)
	}
	if f := r.Evidence.Traces.Files; len(f) != 1 || f[0].Status != "expected_but_absent" || len(r.Warnings) != 1 {
		t.Errorf("%+v, %+v", f, r.Warnings)
	}
	m.Validation.ApprovalTraces[0].Optional = false
	if _, err := reader.Read(m, tree); err == nil || err.Path != "gone.jsonl" {
		t.Errorf("evidence that is not there: %v", err)
	}
}
