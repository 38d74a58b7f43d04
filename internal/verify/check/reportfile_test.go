package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
)

func report(findings string) []byte {
	return []byte(`{"report_schema_version":"0.34","run_id":"r","project":{"name":"p"},"findings":[` + findings + `]}`)
}

const (
	open   = `{"fingerprint":"fp_a","check_id":"X","severity":"high","title":"t","tool_name":"reorder"}`
	rested = `{"fingerprint":"fp_b","check_id":"Y","severity":"low","support":{"support_hash":"h","policy_eligible":true}}`
	hushed = `{"fingerprint":"fp_c","check_id":"Z","severity":"low","suppressed":true}`
	rooted = `{"fingerprint":"fp_d","check_id":"SHIP-VERIFY-TRUST-ROOT-TOUCHED","category":"verify","severity":"medium"}`
	stale  = `{"fingerprint":"fp_e","check_id":"SHIP-BASELINE-ENTRY-STALE","category":"baseline","severity":"low"}`
)

func TestReportsAreReadBack(t *testing.T) {
	for version, ok := range map[string]bool{
		"0.12": true, "0.34": true, "0.100": true, "1.0": true, "0.11": false, "0.9": false, "": false, "x": false, "0": false, "0.-12": false, "-1.20": false,
	} {
		text := strings.Replace(string(report(open)), "0.34", version, 1)
		if _, err := check.ReadReport([]byte(text)); (err == nil) != ok {
			t.Errorf("version %q: %v", version, err)
		}
	}
	for name, text := range map[string]string{
		"no JSON": `{`, "a list": `[]`, "no findings": `{"report_schema_version":"0.34"}`, "findings of another kind": `{"report_schema_version":"0.34","findings":{}}`,
		"a key twice": `{"report_schema_version":"0.34","findings":[],"findings":[]}`,
		"a number":    string(report(`7`)), "no fingerprint": string(report(`{"check_id":"X","severity":"low"}`)),
		"no check": string(report(`{"fingerprint":"fp_a","severity":"low"}`)), "no severity": string(report(`{"fingerprint":"fp_a","check_id":"X"}`)),
	} {
		if _, err := check.ReadReport([]byte(text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// An error about a report names the place and never a value of it.
func TestErrorsOfReportsShowNoValue(t *testing.T) {
	_, err := check.ReadReport(report(`{"fingerprint":"fp_a","check_id":"X","severity":"low","source":"hunter2"}`))
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "findings/0") {
		t.Errorf("%v", err)
	}
}

// A report becomes a baseline that accepts what is active and can be accepted;
// against that baseline the same report has nothing new.
func TestAReportBecomesABaseline(t *testing.T) {
	r, err := check.ReadReport(report(strings.Join([]string{open, rested, hushed, rooted, stale, open}, ",")))
	if err != nil {
		t.Fatal(err)
	}
	b, left := r.Baseline("2026-01-01T00:00:00Z", check.Acceptance{Reason: "agreed"})
	if left != 2 || string(b.Project) != `{"name":"p"}` || b.RunID != "r" {
		t.Errorf("%d left out of %+v", left, b)
	}
	said := &check.Acceptance{RunID: "r", Reason: "agreed"}
	if d := cmp.Diff([]check.Entry{
		{Fingerprint: "fp_a", CheckID: "X", ToolName: "reorder", Severity: check.High, Title: "t", Provenance: said},
		{Fingerprint: "fp_b", CheckID: "Y", Severity: check.Low, SupportHash: "h", Provenance: said},
	}, b.Entries); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	c := r.Compare(b, checktest.Today)
	if len(c.Matched) != 3 || len(c.New) != 1 || c.New[0].CheckID != "SHIP-VERIFY-TRUST-ROOT-TOUCHED" || len(c.Resolved)+len(c.Expired) != 0 {
		t.Errorf("%+v", c)
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add(report(strings.Join([]string{open, rested, hushed}, ",")))
	f.Add([]byte(`{"report_schema_version":"0.12","findings":[],"release_decision":{"contribution_rules":[{"finding_id":"a"}]},"heuristics_filter":{"filtered_findings":[{}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := check.ReadReport(text)
		if err != nil {
			return
		}
		for i := range r.Findings {
			found := &r.Findings[i]
			if !json.Valid(found.Text) {
				t.Fatalf("%q is no JSON", found.Text)
			}
			if n := len(check.Explain(&found.Finding, check.ByID(found.CheckID), r.Counted(&found.Finding))); n < 3 || n > 5 {
				t.Fatalf("%d sentences", n)
			}
		}
		b, _ := r.Baseline("", check.Acceptance{})
		written, err := b.Write()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := check.ReadBaseline(written); err != nil {
			t.Fatalf("%q: %v", written, err)
		}
		r.Compare(b, checktest.Today)
	})
}
