package decision_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// open orders decisions by what they leave to people: a gap and a review both
// need a person, so neither is better than the other.
var open = map[decision.Verdict]int{
	decision.Passed: 0, decision.ReviewRequired: 1, decision.InsufficientEvidence: 1, decision.Blocked: 2,
}

var severities = []check.Severity{check.Critical, check.High, check.Medium, check.Low, check.Info}

func findings() *rapid.Generator[check.Finding] {
	return rapid.Custom(func(t *rapid.T) check.Finding {
		n := rapid.Uint64().Draw(t, "id")
		f := check.Finding{
			ID: fmt.Sprintf("fp_%016x", n), Fingerprint: fmt.Sprintf("fp_%016x", n), Title: "found",
			CheckID: rapid.SampledFrom([]string{
				"SHIP-AUTH-MISSING-SCOPE", "SHIP-ACTION-WILDCARD-SCOPE", "SHIP-ACTION-POLICY-VIOLATION", "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
			}).Draw(t, "check"),
			Severity:       rapid.SampledFrom(severities).Draw(t, "severity"),
			HumanReview:    rapid.Bool().Draw(t, "human"),
			BlocksRelease:  rapid.Bool().Draw(t, "blocks"),
			Suppressed:     rapid.Bool().Draw(t, "suppressed"),
			BaselineStatus: rapid.SampledFrom([]string{"", "new", "matched"}).Draw(t, "baseline"),
			ToolID:         rapid.SampledFrom([]string{"", "tool_v2_tool_0", "tool_v2_unbound"}).Draw(t, "tool"),
			Evidence:       map[string]any{"policy_id": rapid.SampledFrom([]string{"own", "builtin-high-impact-approval"}).Draw(t, "policy")},
		}
		if rapid.Bool().Draw(t, "supported") {
			f.Support = &check.Support{Hash: "h", Status: "matched", Confidence: tool.High, PolicyEligible: rapid.Bool().Draw(t, "eligible")}
		}
		return f
	})
}

func inputs() *rapid.Generator[decision.Input] {
	return rapid.Custom(func(t *rapid.T) decision.Input {
		few := rapid.IntRange(0, 2)
		n := rapid.IntRange(1, 5).Draw(t, "tools")
		c := caseCoverage{
			Tools: &n, BindingGaps: few.Draw(t, "binding"), SemanticGaps: few.Draw(t, "semantic"), Concerns: few.Draw(t, "concerns"),
			LowConfidence: few.Draw(t, "low"), SourceWarnings: rapid.IntRange(0, 5).Draw(t, "warnings"), ProvideSource: rapid.Bool().Draw(t, "missing"),
		}
		in := decision.Input{
			Head: c.side(), Findings: rapid.SliceOfN(findings(), 0, 4).Draw(t, "findings"),
			Mode:    rapid.SampledFrom([]string{"advisory", "strict"}).Draw(t, "mode"),
			FailOn:  rapid.SliceOfDistinct(rapid.SampledFrom(severities), rapid.ID).Draw(t, "fail on"),
			NewOnly: rapid.Bool().Draw(t, "new only"),
		}
		for i := range few.Draw(t, "policy gaps") {
			in.PolicyGaps = append(in.PolicyGaps, effect.Issue{
				Kind: "mixed_policy_evidence", Subject: "tool_0", ToolID: "tool_v2_tool_0", Why: fmt.Sprintf("Policy %d.", i),
			})
		}
		in.Summary = decision.Summarize(in.Findings, in.Head)
		return in
	})
}

func TestOneMoreFindingNeverImprovesTheDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		before := decision.Decide(in)

		in.Findings = append(slices.Clone(in.Findings), findings().Draw(t, "one more"))
		in.Summary = decision.Summarize(in.Findings, in.Head)
		after := decision.Decide(in)

		if open[after.Decision] < open[before.Decision] {
			t.Fatalf("%s became %s", before.Decision, after.Decision)
		}
		if before.FailPolicy.WouldFail && !after.FailPolicy.WouldFail {
			t.Fatal("the run failed and now does not")
		}
	})
}

func TestTheOrderOfFindingsDoesNotShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		in.Findings = slices.CompactFunc(in.Findings, func(a, b check.Finding) bool { return a.ID == b.ID })
		before := printed(t, decision.Decide(in))

		in.Findings = rapid.Permutation(in.Findings).Draw(t, "permuted")
		if after := printed(t, decision.Decide(in)); after != before {
			t.Fatalf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

func TestSuppressingAMandatoryControlNeverPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		f := findings().Draw(t, "control")
		if !check.Mandatory(&f) || f.Support != nil && !f.Support.PolicyEligible {
			return
		}
		f.Suppressed = true
		f.BaselineStatus = rapid.SampledFrom([]string{"new", "matched"}).Draw(t, "baseline")
		in.Findings = append(in.Findings, f)
		if d := decision.Decide(in); d.Decision != decision.Blocked {
			t.Fatalf("decided %s", d.Decision)
		}
	})
}

func TestPassedMeansThatNothingIsOpen(t *testing.T) {
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		if rapid.Bool().Draw(t, "quiet") {
			clean := caseCoverage{}
			in.Head, in.PolicyGaps = clean.side(), nil
			in.Summary = decision.Summarize(in.Findings, in.Head)
		}
		d := decision.Decide(in)
		if d.Decision != decision.Passed {
			return
		}
		passed++
		c := &d.Coverage
		// A severity that fails a build fails it for accepted findings too, unless
		// only new ones count (§8.4): these alone may fail what has passed.
		accepted := slices.ContainsFunc(in.Findings, func(f check.Finding) bool { return f.BaselineStatus == "matched" })
		if len(d.Blockers)+len(d.ReviewItems)+len(c.Gaps)+c.SourceWarnings+c.Semantic.Concerns > 0 || c.ReviewRecommended || d.FailPolicy.WouldFail && !accepted {
			t.Fatalf("passed, and open: %s", printed(t, d))
		}
	})
	if passed == 0 {
		t.Fatal("no generated input passed")
	}
}

func TestEveryFindingHasOneContribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		d := decision.Decide(in)
		if len(d.Contributions) != len(in.Findings) {
			t.Fatalf("%d contributions of %d findings", len(d.Contributions), len(in.Findings))
		}
		blockers := 0
		for _, c := range d.Contributions {
			if c.Category == decision.Blocker {
				blockers++
			}
		}
		if blockers != len(d.Blockers) || (blockers > 0) != (d.Decision == decision.Blocked) {
			t.Fatalf("%d blockers, decided %s", blockers, d.Decision)
		}
	})
}

func printed(t interface {
	Helper()
	Fatal(args ...any)
}, d *decision.Decision,
) string {
	t.Helper()
	text, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
