package check_test

import (
	"encoding/json"
	"os"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
)

// tree is a subject read from a folder, as a run reads it.
func tree(t *testing.T, dir string) *check.Subject {
	t.Helper()
	text, err := os.ReadFile(dir + "/shipgate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Load(text, manifest.Options{Today: checktest.Today, KnownCheck: check.Known, CheckIDs: check.IDs()})
	if err != nil {
		t.Fatal(err)
	}
	reading, failed := reader.Read(m, os.DirFS(dir))
	if failed != nil {
		t.Fatal(failed)
	}
	surface, err := effect.Resolve(m, reading)
	if err != nil {
		t.Fatal(err)
	}
	return checktest.Subject(surface)
}

// A published report of a sample names eighteen findings. All are found again,
// under the same fingerprints and with the same weight; what is found besides
// are controls that the older report did not know.
func TestTheFindingsOfAPublishedReportAreFoundAgain(t *testing.T) {
	text, err := os.ReadFile("testdata/fingerprints.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Sample, Severity, Confidence, Fingerprint string
		CheckID                                   string `json:"check_id"`
		ToolName                                  string `json:"tool_name"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	found := map[string]check.Finding{}
	for _, f := range evaluate(t, tree(t, "testdata/support_refund_agent"), check.Options{}).Findings {
		found[f.Fingerprint] = f
	}
	published := 0
	for _, r := range rows {
		if r.Sample != "support_refund_agent" {
			continue
		}
		published++
		f, ok := found[r.Fingerprint]
		if !ok {
			t.Errorf("%s on %q is not found", r.CheckID, r.ToolName)
			continue
		}
		if string(f.Severity) != r.Severity || string(f.Confidence) != r.Confidence {
			t.Errorf("%s on %q weighs %s at %s, published was %s at %s", r.CheckID, r.ToolName, f.Severity, f.Confidence, r.Severity, r.Confidence)
		}
		delete(found, r.Fingerprint)
	}
	if published != 18 {
		t.Errorf("%d published findings, want 18", published)
	}
	for _, f := range found {
		if f.Category != "action_surface" {
			t.Errorf("found besides: %s on %q, %v", f.CheckID, f.ToolName, f.Evidence)
		}
	}
}
