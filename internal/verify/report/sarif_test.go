package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/report"
)

type sarif struct {
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Rules []struct{ ID string }
			}
		}
		Results []struct {
			RuleID       string
			RuleIndex    int
			Level        string
			Fingerprints map[string]string
			Locations    []struct {
				Physical struct {
					Artifact struct{ URI string } `json:"artifactLocation"`
					Region   *struct{ StartLine int }
				} `json:"physicalLocation"`
			}
			Properties struct{ Evidence map[string]any }
		}
	}
}

func TestSARIFKeepsTheStandard(t *testing.T) {
	for name, in := range map[string]*report.Input{"a bit of everything": given(t), "clean": clean(t)} {
		t.Run(name, func(t *testing.T) {
			text, err := printedSARIF(in, "0.16.0")
			valid(t, "sarif", text, err)
			var log sarif
			if err := json.Unmarshal(text, &log); err != nil {
				t.Fatal(err)
			}
			if len(log.Runs) != 1 || log.Version != "2.1.0" {
				t.Fatalf("%d runs of version %s", len(log.Runs), log.Version)
			}
			run := log.Runs[0]
			for _, r := range run.Results {
				if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
					t.Errorf("rule %d is not %s", r.RuleIndex, r.RuleID)
				}
				if len(r.Locations) != 1 || !strings.HasPrefix(r.Fingerprints["agentsShipgateFingerprint"], "fp_") {
					t.Errorf("%s: %d places, fingerprints %v", r.RuleID, len(r.Locations), r.Fingerprints)
				}
			}
		})
	}
}

func TestSARIFShowsActiveFindingsWithTheirPlaces(t *testing.T) {
	text, err := printedSARIF(given(t), "1")
	if err != nil {
		t.Fatal(err)
	}
	var log sarif
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range log.Runs[0].Results {
		line := 0
		if region := r.Locations[0].Physical.Region; region != nil {
			line = region.StartLine
		}
		got = append(got, fmt.Sprintf("%s %s %s:%d", r.Level, r.RuleID, r.Locations[0].Physical.Artifact.URI, line))
		if many, ok := r.Properties.Evidence["many"].([]any); ok && (len(many) != 21 || many[20] != "… and 10 more") {
			t.Errorf("a long list is summarised: %v", many)
		}
	}
	want := []string{
		"error SHIP-ACTION-WILDCARD-SCOPE svc/tools.json:12",
		"error SHIP-AUTH-MISSING-SCOPE svc/tools.json:12",
		"warning SHIP-VERIFY-TRUST-ROOT-TOUCHED svc/we%20ird%23/shipgate.yaml:0",
		"note TEAM-RULE svc/shipgate.yaml:0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSARIFSummarisesLongText(t *testing.T) {
	in := given(t)
	in.Findings = []check.Finding{{
		ID: "fp_1", Fingerprint: "fp_1", CheckID: "X", Title: "t", Severity: check.Low,
		Evidence: map[string]any{"deep": map[string]any{"text": strings.Repeat("é", 1500)}, "none": []string(nil), "some": []any{"a", []any(nil)}},
	}}
	text, err := printedSARIF(in, "1")
	valid(t, "sarif", text, err)
	if n := strings.Count(string(text), "é"); n != 1000 || !strings.Contains(string(text), "and 500 more characters") {
		t.Errorf("%d characters of 1500 are shown", n)
	}
	if !strings.Contains(string(text), `"none":[],"some":["a",[]]`) {
		t.Error("a list that is not there is shown as an empty one")
	}
}

func printedSARIF(in *report.Input, version string) ([]byte, error) {
	doc, err := report.SARIF(in, version)
	return doc.Bytes(), err
}
