package check_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
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

// A publishedRow is one finding of a published report.
type publishedRow struct {
	Sample, Severity, Confidence, Fingerprint string
	CheckID                                   string `json:"check_id"`
	ToolName                                  string `json:"tool_name"`
}

// published is what was published of a sample; the findings of API blocks are
// held in api_sample_test.go.
func published(t *testing.T, sample string) []publishedRow {
	t.Helper()
	text, err := os.ReadFile("testdata/fingerprints.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []publishedRow
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(rows, func(r publishedRow) bool { return r.Sample != sample || strings.HasPrefix(r.CheckID, "SHIP-API-") })
}

// Two published reports name these findings. They are found again, under
// the same fingerprints and with the same weight. What is found besides are
// controls that the older reports did not know; what is not found any more is
// named here with its reason.
func TestTheFindingsOfPublishedReportsAreFoundAgain(t *testing.T) {
	for _, c := range []struct {
		sample  string
		want    int
		dropped map[string]string // check and tool: why it is not found
	}{
		{"support_refund_agent", 18, nil},
		{"simple_openai_api_agent", 10, map[string]string{
			"SHIP-SCOPE-PROHIBITED-TOOL-PRESENT create_refund":       "the block's policy file puts the named approval before it",
			"SHIP-SCOPE-PROHIBITED-TOOL-PRESENT send_customer_email": "the block's policy file puts the named confirmation before it",
		}},
	} {
		t.Run(c.sample, func(t *testing.T) {
			found := map[string]check.Finding{}
			for _, f := range evaluate(t, tree(t, "testdata/"+c.sample), check.Options{}).Findings {
				found[f.Fingerprint] = f
			}
			rows := published(t, c.sample)
			if len(rows) != c.want {
				t.Errorf("%d published findings, want %d", len(rows), c.want)
			}
			for _, r := range rows {
				f, ok := found[r.Fingerprint]
				_, known := c.dropped[r.CheckID+" "+r.ToolName]
				if ok == known {
					t.Errorf("%s on %q: found %t", r.CheckID, r.ToolName, ok)
				}
				if ok && (string(f.Severity) != r.Severity || string(f.Confidence) != r.Confidence) {
					t.Errorf("%s on %q weighs %s at %s, published was %s at %s", r.CheckID, r.ToolName, f.Severity, f.Confidence, r.Severity, r.Confidence)
				}
				delete(found, r.Fingerprint)
			}
			for _, f := range found {
				if f.Category != "action_surface" && f.Category != "api" {
					t.Errorf("found besides: %s on %q, %v", f.CheckID, f.ToolName, f.Evidence)
				}
			}
		})
	}
}
