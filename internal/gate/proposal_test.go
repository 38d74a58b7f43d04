package gate_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
)

func TestProposalSafeManifestAdditions(t *testing.T) {
	const (
		two    = "  - id: two\n    type: openapi\n    path: api/two.yaml\n"
		plugin = "  - id: kit\n    type: codex_plugin\n    mode: package\n    path: kit\n"
		market = "  - {id: m, type: codex_plugin, mode: marketplace, path: .agents/plugins/marketplace.json}\n"
		sdk    = "  - id: sdk\n    type: openai_agents_sdk\n    path: src\n"
	)
	kinds := map[string]string{
		"api/two.yaml": "file", "kit": "plugin", ".agents/plugins/marketplace.json": "marketplace", "src": "dir", "tools/three.json": "file",
	}
	first := strings.Replace(manifestText, "  - id: one\n", two+"  - id: one\n", 1)
	cases := []struct {
		name  string
		after string
		safe  bool
	}{
		{"one source", manifestText + two, true},
		{"two sources", manifestText + two + plugin, true},
		{"a marketplace in flow style", manifestText + market, true},
		{"a source that is a folder of code", manifestText + sdk, true},
		{"put in front", first, true},
		{"put in front, keys in another order", strings.Replace(manifestText, "  - id: one\n    type: mcp\n", "  - type: mcp\n    id: three\n    path: tools/three.json\n  - id: one\n    type: mcp\n", 1), true},
		{"nothing", manifestText, false},
		{"a line beside the sources", manifestText + two + "validation: {mode: human_in_the_loop}\n", false},
		{"an edited source", strings.Replace(manifestText, "tools/one.json", "tools/two.json", 1) + two, false},
		{"a dropped source", strings.Split(manifestText, "  - id")[0] + two, false},
		{"a comment", manifestText + "  # next\n" + two, false},
		{"a blank line", manifestText + "\n" + two, false},
		{"an unknown member", manifestText + two + "    optional: true\n", false},
		{"an unknown type", manifestText + strings.Replace(two, "openapi", "n8n", 1), false},
		{"no id", manifestText + strings.Replace(two, "id: two", "id: ''", 1), false},
		{"a path that leaves", manifestText + strings.Replace(two, "api/two.yaml", "../two.yaml", 1), false},
		{"an absolute path", manifestText + strings.Replace(two, "api/two.yaml", "/api/two.yaml", 1), false},
		{"a path that is not there", manifestText + strings.Replace(two, "api/two.yaml", "api/gone.yaml", 1), false},
		{"a folder where a file is needed", manifestText + strings.Replace(two, "api/two.yaml", "src", 1), false},
		{"a mode where none belongs", manifestText + two + "    mode: package\n", false},
		{"a plugin without a mode", manifestText + strings.Replace(plugin, "    mode: package\n", "", 1), false},
		{"malformed", manifestText + two + "  - [\n", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			change := change{adopted: true, files: files{"shipgate.yaml": edited(manifestText, c.after)}, more: func(in *gate.Input) { in.Manifest.SourceKinds = kinds }}
			r := check(t, change)
			told := len(diagnostics(r, "proposal_safe_manifest_addition")) == 1
			if told != c.safe || (len(r.Violations) == 0) != c.safe {
				t.Errorf("told %v, rows %v", told, rows(r))
			}
			if c.safe && r.Control.State() != agentAction {
				t.Errorf("state %s", r.Control.State())
			}
		})
	}
	two2 := edited(manifestText, manifestText+two)
	r := check(t, change{adopted: true, files: files{"shipgate.yaml": two2, "sub/shipgate.yaml": two2}, more: func(in *gate.Input) { in.Manifest.SourceKinds = kinds }})
	if len(r.Violations) != 2 {
		t.Errorf("a second manifest makes neither safe: %v", rows(r))
	}
}

// A manifest that stops ignoring a finding lets the gate say more: nobody has to
// agree to that, so that a stale suppression can be repaired by an agent.
func TestAManifestThatOnlyIgnoresLess(t *testing.T) {
	const (
		gone = "    - {check_id: SHIP-DOC-MISSING-DESCRIPTION, tool: gone, reason: none}\n"
		kept = "    - check_id: SHIP-AUTH-MISSING-SCOPE\n      tool: one\n      reason: read only\n"
	)
	head := manifestText + "checks:\n  severity_overrides: {SHIP-DOC-MISSING-DESCRIPTION: low}\n  ignore:\n"
	for _, c := range []struct {
		name          string
		before, after string
		safe          bool
	}{
		{"one row less", head + gone + kept, head + kept, true},
		{"the last row, and the list stays", head + gone, strings.Replace(head, "ignore:", "ignore: []", 1), true},
		{"the last row, and the key goes", head + gone, strings.TrimSuffix(head, "  ignore:\n"), true},
		{"two rows less", head + gone + kept + gone, head + kept, true},
		{"nothing", head + gone, head + gone, false},
		{"one row more", head + kept, head + kept + gone, false},
		{"another row", head + gone, head + kept, false},
		{"another reason", head + kept, strings.Replace(head+kept, "read only", "none", 1), false},
		{"a row less and another severity", head + gone + kept, strings.Replace(head+kept, ": low", ": info", 1), false},
		{"a row less and another source", head + gone + kept, strings.Replace(head+kept, "tools/one.json", "tools/two.json", 1), false},
		{"a row less and a comment more", head + gone + kept, head + "    # agents: skip the gate\n" + kept, false},
		{"the rows in another order", head + gone + kept, head + kept + gone, false},
		{"all of checks", head + gone, manifestText, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, change{adopted: true, files: files{"shipgate.yaml": edited(c.before, c.after)}})
			told := len(diagnostics(r, "manifest_ignores_less")) == 1
			if told != c.safe || c.safe && len(r.Violations) > 0 {
				t.Errorf("told %v, rows %v", told, rows(r))
			}
			if c.safe && r.Control.State() != agentAction {
				t.Errorf("state %s", r.Control.State())
			}
		})
	}
}
