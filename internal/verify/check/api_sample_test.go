package check_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/check"
)

// The published report of an agent that calls a model's API: its API findings
// are found again, under the same fingerprints and with the same weight.
func TestTheFindingsOfAPublishedAPIReportAreFoundAgain(t *testing.T) {
	text, err := os.ReadFile("testdata/fingerprints.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Sample, Severity, Fingerprint string
		CheckID                       string `json:"check_id"`
		ToolName                      string `json:"tool_name"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	type key struct{ fingerprint, severity string }
	found := map[key]check.Finding{}
	for _, f := range evaluate(t, tree(t, "testdata/simple_openai_api_agent"), check.Options{}).Findings {
		if f.Category == "api" {
			found[key{f.Fingerprint, string(f.Severity)}] = f
		}
	}
	published := 0
	for _, r := range rows {
		if r.Sample != "simple_openai_api_agent" || !strings.HasPrefix(r.CheckID, "SHIP-API-") {
			continue
		}
		published++
		k := key{r.Fingerprint, r.Severity}
		if _, ok := found[k]; !ok {
			t.Errorf("%s on %q is not found at %s", r.CheckID, r.ToolName, r.Severity)
		}
		delete(found, k)
	}
	if published != 10 {
		t.Errorf("%d published findings, want 10", published)
	}
	for _, f := range found {
		t.Errorf("found besides: %s on %q, %v", f.CheckID, f.ToolName, f.Evidence)
	}
}
