package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/manifest"
)

func TestAPack(t *testing.T) {
	text := `name: money
version: 1.2
rules:
  - id: bounded-refunds
    severity: high
    recommendation: Add a maximum.
    match:
      risk_tags: [financial_action]
      source_types: [mcp]
      environment_targets: [production]
      missing_owner: true
      missing_auth_scopes: false
      missing_approval_policy: true
      missing_confirmation_policy: true
      missing_idempotency_policy: true
      parameters:
        - {names: [amount], types: [number], missing_maximum: true, required: false}
  - {id: b, title: T, description: D, category: c, severity: low, block: true, confidence: high, recommendation: R}
`
	p, err := manifest.ParsePack("packs/money.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	want := &manifest.PackFile{Path: "packs/money.yaml", Name: "money", Version: "1.2", Rules: []manifest.PackRule{
		{
			ID: "bounded-refunds", Category: "policy_pack", Severity: "high", Confidence: "medium", Recommendation: "Add a maximum.",
			Match: manifest.PackMatch{
				RiskTags: []string{"financial_action"}, SourceTypes: []string{"mcp"}, EnvironmentTargets: []string{"production"},
				MissingOwner: &yes, MissingAuthScopes: &no, MissingApprovalPolicy: &yes, MissingConfirmationPolicy: &yes, MissingIdempotencyPolicy: &yes,
				Parameters: []manifest.ParameterPredicate{{Names: []string{"amount"}, Types: []string{"number"}, MissingMaximum: &yes, Required: &no}},
			},
		},
		{ID: "b", Title: "T", Description: "D", Category: "c", Severity: "low", Block: true, Confidence: "high", Recommendation: "R"},
	}}
	if diff := cmp.Diff(want, p, loose); diff != "" {
		t.Error(diff)
	}
}

func TestPacksThatAreRefused(t *testing.T) {
	rule := func(rest string) string { return "rules: [{id: a, severity: low, recommendation: r" + rest + "}]\n" }
	for _, c := range []struct{ text, want string }{
		{rule(""), ""},
		{"name: x\n", "p.yaml:1:1: rules: is required"},
		{rule(", severty: low"), `p.yaml:1:51: rules.0.severty: is no key that is known here; did you mean "severity"?`},
		{"rules: [{id: ship-X, severity: low, recommendation: r}]\n", "rules.0.id: must not begin with SHIP-"},
		{"rules: [{id: a, severity: low, recommendation: r}, {id: a, severity: low, recommendation: r}]\n", "rules.1.id: is the same id as entry 0"},
		{"rules: [{id: a}]\n", "rules.0.recommendation: is required"},
		{rule(", match: {parameters: [{name: x}]}"), `did you mean "names"?`},
		{rule(", match: {missing_owner: yes}"), "must be true or false: yes is a text here"},
		{rule(", description: <REVIEW_REQUIRED>"), "a person must replace"},
		{"[]", "p.yaml:1:1: the file is a list"},
	} {
		_, err := manifest.ParsePack("p.yaml", []byte(c.text))
		var faults *manifest.Errors
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		case err != nil && (!errors.As(err, &faults) || faults.ExitCode() != 3):
			t.Errorf("%s: %v is of another class", c.text, err)
		}
	}
}

func TestEvidenceFilesAreStrict(t *testing.T) {
	rows, err := manifest.ParseExclusions("x.yaml", []byte("high_risk_auto_approval_exclusions: [{tool: t, owner: o}]"))
	if err != nil || len(rows) != 1 || rows[0].Tool != "t" || rows[0].Owner != "o" || rows[0].Pos.Line != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	p, err := manifest.ParsePromotion("x.yaml", []byte("required_evidence: {override_reason_required: true}"))
	if err != nil || *p != (manifest.Promotion{OverrideReason: true}) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := manifest.ParsePromotion("x.yaml", []byte("required_evidence: {override_reason: true}")); err == nil {
		t.Error("a flag that does not exist was taken")
	}
	if _, err := manifest.ParseExclusions("x.yaml", []byte("exclusions: []")); err == nil {
		t.Error("a file without exclusions was taken")
	}
}

// Whatever the bytes: the reading ends in a manifest or in problems with a place
// in the file, and what loads says the same again.
func FuzzManifest(f *testing.F) {
	for _, pattern := range []string{"testdata/samples/*.yaml", "testdata/refused/*.yaml", "testdata/every_key.yaml"} {
		for _, text := range glob(f, pattern) {
			f.Add(text)
		}
	}
	f.Add([]byte(least))
	f.Add([]byte(`{"version":"0.1","tool_sources":[{}],"checks":{"severity_overrides":{"A":{}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		opt := manifest.Options{Today: "2026-12-01", KnownCheck: func(string) (string, string, bool) { return "high", "medium", true }}
		m, err := manifest.Load(text, opt)
		if err == nil {
			again, err := manifest.Load(text, opt)
			if err != nil || !cmp.Equal(m, again, loose) || m.Version != "0.1" || m.Project.Name == "" || strings.Contains(m.Agent.Name, manifest.Review) {
				t.Fatalf("%v: %+v", err, m)
			}
			return
		}
		hold(t, text, err, 2)
	})
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("rules: [{id: a, severity: low, recommendation: r, match: {parameters: [{names: [x]}]}}]"))
	f.Add([]byte("high_risk_auto_approval_exclusions: [{tool: t}]"))
	f.Add([]byte("required_evidence: {override_reason_required: true}\ntarget_review_posture: recommendation_only"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := manifest.ParsePack("p", text); err != nil {
			hold(t, text, err, 3)
		}
		if _, err := manifest.ParseExclusions("p", text); err != nil {
			hold(t, text, err, 3)
		}
		if _, err := manifest.ParsePromotion("p", text); err != nil {
			hold(t, text, err, 3)
		}
	})
}

func hold(t *testing.T, text []byte, err error, class int) {
	t.Helper()
	var faults *manifest.Errors
	if !errors.As(err, &faults) || faults.Class != class || len(faults.Problems) == 0 || len(faults.Problems) > 201 {
		t.Fatalf("%v", err)
	}
	lines := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n") + 1
	for _, p := range faults.Problems {
		if p.Message == "" || p.Code == "" || p.Pos.Line < 0 || p.Pos.Line > lines || strings.ContainsAny(p.Path, "\n\x1b") {
			t.Fatalf("%+v of a file of %d lines", p, lines)
		}
	}
	if strings.Count(err.Error(), "\n") != len(faults.Problems)-1 {
		t.Fatalf("%d problems in other lines: %q", len(faults.Problems), err)
	}
}
