package decision_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// cases is testdata/release-decision-cases.json: §8 as a table. A missing key
// is false, 0 or empty; tool_count is 1 when it is missing.
type cases struct {
	Cases []struct {
		Name  string
		Input struct {
			Findings []caseFinding
			FailOn   []check.Severity `json:"fail_on"`
			Coverage caseCoverage
		}
		Contributions []struct{ Category, Rule string }
		Decision      decision.Verdict
	}
}

type caseFinding struct {
	CheckID        string `json:"check_id"`
	Severity       check.Severity
	ToolReachable  bool   `json:"tool_reachable"`
	HumanReview    bool   `json:"requires_human_review"`
	BaselineStatus string `json:"baseline_status"`
	Blocks         bool   `json:"blocks_release"`
	Suppressed     bool
	PolicyID       string `json:"policy_id"`
	PolicyEligible *bool  `json:"support_policy_eligible"`
}

type caseCoverage struct {
	BindingGaps    int  `json:"binding_gaps"`
	SemanticGaps   int  `json:"semantic_gaps"`
	PolicyGaps     int  `json:"policy_gaps"`
	Concerns       int  `json:"review_concerns"`
	LowConfidence  int  `json:"low_confidence_tools"`
	Tools          *int `json:"tool_count"`
	SourceWarnings int  `json:"source_warnings"`
	ProvideSource  bool `json:"provide_source_gap"`
	Recommended    bool `json:"human_review_recommended"`
}

// side is a surface that has just this coverage.
func (c *caseCoverage) side() *effect.Surface {
	n := 1
	if c.Tools != nil {
		n = *c.Tools
	}
	var tools []*effect.Tool
	for i := range n {
		confidence := tool.High
		if i < c.LowConfidence {
			confidence = tool.Low
		}
		tools = append(tools, checktest.Tool(fmt.Sprintf("tool_%d", i), checktest.Parsed(confidence)))
	}
	s := checktest.Surface(checktest.Manifest(), tools...)
	s.Catalog = append(s.Catalog, checktest.Tool("unbound"))
	for i := range c.BindingGaps {
		s.Graph.Eligible = false
		s.Graph.Issues = append(s.Graph.Issues, effect.Issue{Kind: "partial_binding_evidence", Subject: fmt.Sprintf("agent_%d", i), Why: "A list is computed."})
	}
	a := &s.Actions[0].Assessment
	for i := range c.SemanticGaps {
		a.PassEligible = false
		a.Issues = append(a.Issues, effect.Issue{
			Kind: "missing_effect_evidence", Subject: "tool_0", ToolID: "tool_v2_tool_0", Why: fmt.Sprintf("Reason %d.", i),
		})
	}
	if c.Concerns > 0 {
		a.PassEligible, a.AuthorityMode = false, "ambient"
		a.Issues = append(a.Issues, effect.Issue{
			Kind: "missing_authority_evidence", Subject: "tool_0", ToolID: "tool_v2_tool_0", Why: "Ambient.", Concern: true,
		})
	}
	for i := range c.SourceWarnings {
		code := "unnamed_tool"
		if c.ProvideSource {
			code = "missing_optional_source"
		}
		s.Reading.Warnings = append(s.Reading.Warnings, tool.Warning{Code: code, Message: "something", SourceID: fmt.Sprintf("source_%d", i)})
	}
	return s
}

func (f *caseFinding) finding(i int) check.Finding {
	out := check.Finding{
		ID: fmt.Sprintf("fp_%016x", i), Fingerprint: fmt.Sprintf("fp_%016x", i), CheckID: f.CheckID, Title: "found", Severity: f.Severity,
		HumanReview: f.HumanReview, BaselineStatus: f.BaselineStatus, BlocksRelease: f.Blocks, Suppressed: f.Suppressed,
		ToolID: "tool_v2_unbound", Evidence: map[string]any{},
	}
	if f.ToolReachable {
		out.ToolID = "tool_v2_tool_0"
	}
	if f.PolicyID != "" {
		out.Evidence["policy_id"] = f.PolicyID
	}
	if f.PolicyEligible != nil {
		out.Support = &check.Support{Hash: "h", Status: "matched", Confidence: tool.Medium, PolicyEligible: *f.PolicyEligible}
	}
	return out
}

func TestTheCasesOfSection8(t *testing.T) {
	raw, err := os.ReadFile("testdata/release-decision-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all cases
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) != 33 {
		t.Fatalf("%d cases, want 33", len(all.Cases))
	}
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in := decision.Input{
				Head: c.Input.Coverage.side(), FailOn: c.Input.FailOn, Mode: "advisory",
				Summary: decision.Summary{Evidence: "static", ReviewRecommended: c.Input.Coverage.Recommended},
			}
			for i := range c.Input.Findings {
				in.Findings = append(in.Findings, c.Input.Findings[i].finding(i))
			}
			for i := range c.Input.Coverage.PolicyGaps {
				in.PolicyGaps = append(in.PolicyGaps, effect.Issue{
					Kind: "unknown_policy_evidence", Subject: "tool_0", ToolID: "tool_v2_tool_0", Why: fmt.Sprintf("Policy %d.", i),
				})
			}

			d := decision.Decide(in)

			if d.Decision != c.Decision {
				t.Errorf("decided %s (%s), want %s", d.Decision, d.Reason, c.Decision)
			}
			var got []struct{ Category, Rule string }
			for _, row := range d.Contributions {
				got = append(got, struct{ Category, Rule string }{string(row.Category), string(row.Rule)})
			}
			if !slices.Equal(got, c.Contributions) {
				t.Errorf("contributions %v, want %v", got, c.Contributions)
			}
			if d.Reason == "" {
				t.Error("no reason")
			}
		})
	}
}

func TestAStrictRunFailsForWhatIsOpen(t *testing.T) {
	low := check.Finding{ID: "fp_1", CheckID: "X-1", Severity: check.Low, Title: "found"}
	accepted := check.Finding{ID: "fp_2", CheckID: "X-2", Severity: check.High, BaselineStatus: "matched", Title: "found"}
	weak := check.Finding{ID: "fp_3", CheckID: "X-3", Severity: check.Critical, Title: "found", Support: &check.Support{}}
	for _, c := range []struct {
		name     string
		mode     string
		failOn   []check.Severity
		newOnly  bool
		findings []check.Finding
		coverage caseCoverage
		want     int
	}{
		{"clean", "strict", []check.Severity{check.Critical}, false, nil, caseCoverage{}, 0},
		{"a listed severity", "strict", []check.Severity{check.Low}, false, []check.Finding{low}, caseCoverage{}, 20},
		{"advisory never fails", "advisory", []check.Severity{check.Low}, false, []check.Finding{low}, caseCoverage{BindingGaps: 1}, 0},
		{"an accepted finding of a listed severity", "strict", []check.Severity{check.High}, false, []check.Finding{accepted}, caseCoverage{}, 20},
		{"the same, looking at new ones only", "strict", []check.Severity{check.High}, true, []check.Finding{accepted}, caseCoverage{}, 0},
		{"evidence that decides nothing", "strict", []check.Severity{check.Critical}, false, []check.Finding{weak}, caseCoverage{}, 0},
		{"a binding gap", "strict", nil, false, nil, caseCoverage{BindingGaps: 1}, 20},
		{"a semantic gap", "strict", nil, false, nil, caseCoverage{SemanticGaps: 1}, 20},
		{"too many warnings", "strict", nil, false, nil, caseCoverage{SourceWarnings: 4}, 20},
		{"a few warnings", "strict", nil, false, nil, caseCoverage{SourceWarnings: 1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decision.Decide(decision.Input{
				Head: c.coverage.side(), Findings: c.findings, Mode: c.mode, FailOn: c.failOn, NewOnly: c.newOnly,
			})
			if d.FailPolicy.ExitCode != c.want || d.FailPolicy.WouldFail != (c.want != 0) {
				t.Errorf("exit %d, would fail %v, want %d", d.FailPolicy.ExitCode, d.FailPolicy.WouldFail, c.want)
			}
		})
	}
}

func TestWhatFails(t *testing.T) {
	flag, declared := []check.Severity{check.Low, check.High, check.Low}, []check.Severity{check.Medium}
	for _, c := range []struct {
		flag, declared []check.Severity
		mode           string
		want           []check.Severity
	}{
		{flag, declared, "advisory", []check.Severity{check.High, check.Low}},
		{nil, declared, "strict", []check.Severity{check.Medium}},
		{nil, []check.Severity{}, "strict", []check.Severity{}},
		{nil, nil, "strict", []check.Severity{check.Critical}},
		{nil, nil, "advisory", []check.Severity{}},
	} {
		if got := decision.FailOn(c.flag, c.declared, c.mode); !slices.Equal(got, c.want) || got == nil {
			t.Errorf("FailOn(%v, %v, %s) = %v, want %v", c.flag, c.declared, c.mode, got, c.want)
		}
	}
}

func TestASummaryCountsWhatIsActive(t *testing.T) {
	low := checktest.Surface(checktest.Manifest(), checktest.Tool("a", checktest.Parsed(tool.Medium)))
	high := checktest.Surface(checktest.Manifest(), checktest.Tool("a"))
	sdk := checktest.Surface(checktest.Manifest(), checktest.Tool("a", checktest.From("sdk_function", "code")))
	of := func(s check.Severity, suppressed bool) check.Finding {
		return check.Finding{Severity: s, Suppressed: suppressed}
	}
	for _, c := range []struct {
		name             string
		findings         []check.Finding
		side             *effect.Surface
		status, evidence string
		recommended      bool
	}{
		{"clean", nil, high, "no_release_blockers_detected", "static", false},
		{"a function of an SDK", nil, sdk, "no_release_blockers_detected", "mixed", false},
		{"a tool below high", nil, low, "human_review_recommended", "mixed", true},
		{"a low finding", []check.Finding{of(check.Low, false)}, low, "warnings_detected", "mixed", false},
		{"a high finding", []check.Finding{of(check.High, false)}, high, "warnings_detected", "static", true},
		{"a critical finding", []check.Finding{of(check.Critical, false)}, high, "release_blockers_detected", "static", true},
		{"a suppressed critical finding", []check.Finding{of(check.Critical, true)}, high, "no_release_blockers_detected", "static", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := decision.Summarize(c.findings, c.side)
			if s.Status != c.status || s.Evidence != c.evidence || s.ReviewRecommended != c.recommended {
				t.Errorf("got %+v", s)
			}
		})
	}
}
