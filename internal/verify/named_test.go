package verify_test

import (
	"maps"
	"testing"

	"plimsoll.dev/internal/verify"
)

// A file is for people because a manifest names it, wherever it lies; its
// neighbour is a file.
func TestFilesThatDecideAreThoseThatAManifestNames(t *testing.T) {
	base := map[string]string{
		"shipgate.yaml": readOnly + `openai_api:
  tools: [api/tools.json]
  policy_rules: [{path: api/rules.yaml, optional: true}]
  trace_samples: [api/traces.jsonl]
anthropic:
  policy_rules: [api/more.yaml]
validation:
  mode: human_in_the_loop
  evidence:
    approval_traces: [seen/approvals.json]
    override_logs: [seen/overrides.json]
    high_risk_exclusions: [seen/exclusions.yaml]
    promotion_criteria: [seen/criteria.yaml]
checks: {policy_packs: [./packs/house.yaml]}
baseline: {audit_log: seen/log.jsonl}
`,
		"tools.json": getOrder, "api/tools.json": "[]", "api/rules.yaml": "approval_required: []\n", "api/traces.jsonl": "",
		"api/more.yaml": "approval_required: []\n", "seen/approvals.json": "[]", "seen/overrides.json": "[]",
		"seen/exclusions.yaml": "high_risk_auto_approval_exclusions: []\n", "seen/criteria.yaml": "target_review_posture: recommendation_only\n",
		"packs/house.yaml": "rules: []\n", "seen/log.jsonl": "", "seen/notes.json": "[]", "packs/other.yaml": "rules: []\n", "api/readme.md": "",
	}
	classes := map[string]string{
		"api/rules.yaml": "policy", "api/traces.jsonl": "policy", "api/more.yaml": "policy", "seen/approvals.json": "policy",
		"seen/overrides.json": "policy", "seen/exclusions.yaml": "policy", "seen/criteria.yaml": "policy", "packs/house.yaml": "policy",
		"seen/log.jsonl": "shipgate_state", "seen/notes.json": "", "packs/other.yaml": "", "api/readme.md": "",
	}
	for name, want := range classes {
		t.Run(name, func(t *testing.T) {
			head := maps.Clone(base)
			head[name] += "\n"
			for how, more := range map[string]func(*verify.Input){"at the root": nil, "below": below} {
				r := run(t, base, head, more)
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				got := ""
				for _, f := range r.Evaluation.Findings {
					if f.CheckID == "SHIP-VERIFY-TRUST-ROOT-TOUCHED" {
						got, _ = f.Evidence["trust_root_class"].(string)
					}
				}
				if got != want || r.TrustRootTouched != (want != "") {
					t.Errorf("%s it is of class %q, want %q", how, got, want)
				}
			}
		})
	}
}

// Who takes a file out of the manifest does not free its content: the base still
// names it.
func TestAFileThatTheBaseNamedIsForPeople(t *testing.T) {
	base := map[string]string{
		"shipgate.yaml": readOnly + "checks: {policy_packs: [house.yaml]}\n", "tools.json": getOrder, "house.yaml": "rules: []\n",
	}
	head := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	touched := map[string]bool{}
	for _, f := range run(t, base, head, nil).Evaluation.Findings {
		if path, ok := f.Evidence["changed_file"].(string); ok && f.CheckID == "SHIP-VERIFY-TRUST-ROOT-TOUCHED" {
			touched[path] = true
		}
	}
	if !touched["house.yaml"] || !touched["shipgate.yaml"] {
		t.Errorf("touched: %v", touched)
	}
}
