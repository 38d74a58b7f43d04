package check_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// loaded reads a manifest; text is what stands behind its first lines.
func loaded(t *testing.T, text string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Load([]byte(`version: "0.1"
project: {name: stock}
agent: {name: clerk, declared_purpose: [reorder stock]}
environment: {target: staging}
tool_sources: [{id: stock_mcp, type: mcp, path: tools.json}]
`+text), manifest.Options{Today: checktest.Today})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEntriesOfTheManifestThatMeanNothing(t *testing.T) {
	const suppression, policy, risk = "SHIP-MANIFEST-STALE-SUPPRESSION", "SHIP-MANIFEST-STALE-POLICY", "SHIP-MANIFEST-STALE-RISK-OVERRIDE"
	ignoring := func(id, tool string) string {
		return "checks: {ignore: [{check_id: " + id + ", reason: by design" + tool + "}]}"
	}
	for _, c := range []struct {
		name, check, manifest string
		evidence              map[string]any
		repair                string // pointer of the patch, "" for none
	}{
		{"a check that does not exist", suppression, ignoring("SHIP-NO-SUCH-CHECK", ""), map[string]any{
			"check_id": "SHIP-NO-SUCH-CHECK", "tool": nil, "issues": []string{"unknown_check_id"},
		}, "/checks/ignore/0"},
		{"a tool that does not exist", suppression, ignoring("SHIP-SCHEMA-MISSING-BOUNDS", ", tool: gone"), map[string]any{
			"check_id": "SHIP-SCHEMA-MISSING-BOUNDS", "tool": "gone", "issues": []string{"missing_tool"},
		}, "/checks/ignore/0"},
		{"a check of ours", suppression, ignoring("SHIP-SCHEMA-MISSING-BOUNDS", ", tool: reorder"), nil, ""},
		{"a check of the boundary", suppression, ignoring("SHIP-HOST-BOUNDARY-HOOK-CHANGED", ""), nil, ""},
		{"a check of the change", suppression, ignoring("SHIP-VERIFY-TRUST-ROOT-TOUCHED", ""), nil, ""},

		{"an approval", policy, "policies: {require_approval_for_tools: [reorder, gone]}", map[string]any{
			"policy": "require_approval_for_tools", "tool": "gone",
		}, "/policies/require_approval_for_tools/1"},
		{"a confirmation", policy, "policies: {require_confirmation_for_tools: [{tool: gone}]}", map[string]any{
			"policy": "require_confirmation_for_tools", "tool": "gone",
		}, "/policies/require_confirmation_for_tools/0"},
		{"an idempotency policy", policy, "policies: {require_idempotency_for_tools: [gone]}", map[string]any{
			"policy": "require_idempotency_for_tools", "tool": "gone",
		}, "/policies/require_idempotency_for_tools/0"},
		{"a tool that is there", policy, "policies: {require_approval_for_tools: [reorder]}", nil, ""},

		{"a risk", risk, "risk_overrides: {tools: {gone/away: {tags: [write], reason: r}}}", map[string]any{"tool": "gone/away"}, "/risk_overrides/tools/gone~1away"},
		{"a risk of a tool that is there", risk, "risk_overrides: {tools: {reorder: {tags: [write], reason: r}}}", nil, ""},
	} {
		t.Run(c.check+": "+c.name, func(t *testing.T) {
			s := one(loaded(t, c.manifest))
			if c.evidence == nil {
				checktest.Silent(t, c.check, s)
				return
			}
			f := checktest.Fires(t, c.check, s)
			if d := cmp.Diff(c.evidence, f.Evidence); d != "" {
				t.Errorf("evidence (-want +got):\n%s", d)
			}
			if f.Source.StartLine != 6 || f.Source.Type != "manifest" {
				t.Errorf("it points at %+v, want line 6 of the manifest", f.Source)
			}
			if f.Repair == nil || f.Repair.Kind != check.RemovePointer || f.Repair.Pointer != c.repair || f.Repair.Confidence != tool.High {
				t.Errorf("repair %+v, want the removal of %s", f.Repair, c.repair)
			}

			// A source that was not read in full may hold the name: then no
			// machine takes the entry away. A check id is known without sources.
			for name, edit := range map[string]func(*tool.Reading){
				"a missing source": func(r *tool.Reading) { r.Sources = append(r.Sources, tool.Source{ID: "b", State: tool.Missing}) },
				"a dynamic list":   func(r *tool.Reading) { r.Dynamic = append(r.Dynamic, tool.Dynamic{Framework: "crewai"}) },
			} {
				f := checktest.Fires(t, c.check, with(one(loaded(t, c.manifest)), edit))
				known := slices.Contains(issues(f), "unknown_check_id")
				if (f.Repair != nil) != known {
					t.Errorf("with %s: repair %+v", name, f.Repair)
				}
			}
		})
	}
}

func issues(f check.Finding) []string {
	list, _ := f.Evidence["issues"].([]string)
	return list
}

// Of two equal entries no machine knows which one was meant.
func TestEqualEntriesAreLeftToPeople(t *testing.T) {
	m := loaded(t, "policies: {require_approval_for_tools: [gone, {tool: gone, reason: again}]}")
	for _, f := range checktest.Run(t, "SHIP-MANIFEST-STALE-POLICY", one(m)) {
		if f.Repair != nil {
			t.Errorf("repair %+v", f.Repair)
		}
	}
}

// A rule of a policy pack may be suppressed like a check, and while a pack
// could not be read any rule may be in it.
func TestRulesOfPolicyPacksAreKnown(t *testing.T) {
	const id = "SHIP-MANIFEST-STALE-SUPPRESSION"
	text := "checks: {ignore: [{check_id: TEAM-1, reason: r}], policy_packs: [{id: team, path: pack.yaml, optional: true}]}"
	s := one(loaded(t, text))
	checktest.Silent(t, id, s)
	s.Packs = []*manifest.PackFile{{Rules: []manifest.PackRule{{ID: "TEAM-1"}}}}
	checktest.Silent(t, id, s)
	s.Packs = []*manifest.PackFile{{Rules: []manifest.PackRule{{ID: "TEAM-2"}}}}
	checktest.Fires(t, id, s)
}

// A tool that nobody is bound to yet may be what a scope is for.
func TestAScopeIsNotUnusedWhileTheGraphIsOpen(t *testing.T) {
	const id = "SHIP-MANIFEST-UNUSED-SCOPE"
	s := one(plain(checktest.Granted("stock:read")))
	s.Reach[s.Catalog[0].ID] = effect.Unbound
	checktest.Fires(t, id, s)
	s.Graph.Eligible = false
	checktest.Silent(t, id, s)
}

func TestGrantsAndOwners(t *testing.T) {
	near, risky := checktest.Target("production_like"), checktest.Hint("destructive", tool.High)
	owned := func(m *manifest.Manifest) { m.Risks = []manifest.Risk{{Tool: "reorder", Owner: "ops"}} }
	try(t, []situation{
		{"a scope without a use", "SHIP-MANIFEST-UNUSED-SCOPE", one(plain(checktest.Granted("orders:read"))), map[string]any{
			"scope": "orders:read", "tool_scopes": []string{"stock:read"},
		}, ""},
		{"a broad scope without a use", "SHIP-MANIFEST-UNUSED-SCOPE", one(plain(checktest.Granted("orders:*"))), map[string]any{
			"scope": "orders:*", "tool_scopes": []string{"stock:read"},
		}, check.High},
		{"a broad scope with a use", "SHIP-MANIFEST-UNUSED-SCOPE", one(plain(checktest.Granted("stock:*"))), nil, ""},

		{"no owner", "SHIP-MANIFEST-HIGH-RISK-OWNER-MISSING", one(plain(near), risky, checktest.Owned("")), map[string]any{
			"environment": "production_like", "risk_tags": []string{"destructive"},
		}, ""},
		{"an owner at the source", "SHIP-MANIFEST-HIGH-RISK-OWNER-MISSING", one(plain(near), risky), nil, ""},
		{"an owner in the manifest", "SHIP-MANIFEST-HIGH-RISK-OWNER-MISSING", one(plain(near, owned), risky, checktest.Owned("")), nil, ""},
		{"on staging", "SHIP-MANIFEST-HIGH-RISK-OWNER-MISSING", one(plain(), risky, checktest.Owned("")), nil, ""},
		{"a harmless tool", "SHIP-MANIFEST-HIGH-RISK-OWNER-MISSING", one(plain(near), checktest.Writes(), checktest.Owned("")), nil, ""},
	})
}
