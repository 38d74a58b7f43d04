package rule_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// The changes of the protocol's own examples (testdata/boundary/agent-protocol/diffs)
// keep the fingerprints that are published for them (docs/spec/boundary.md §9.2).
func TestTheProtocolExamplesKeepTheirFingerprints(t *testing.T) {
	t.Parallel()
	text := func(lines ...string) surface.Side {
		return surface.Side{Present: true, Bytes: []byte(strings.Join(lines, "\n") + "\n")}
	}
	policy := func(action string) []string {
		return []string{
			"id: codex-boundary", `version: "1"`, "rules:", "  - id: CODEX-MCP-AUTO-APPROVE-WRITE",
			"    action: " + action, "    risk_level: critical", "    recommendation: Do not auto-approve write/destructive MCP tools.",
		}
	}
	missing := surface.Side{Present: true, Unresolved: "workspace_file_missing"}
	const policyPath = "policies/codex-boundary.shipgate.yaml"
	for _, c := range []struct {
		name, fingerprint string
		change            surface.Change
	}{
		{"repair-before", "fp_71c94cd92ba68747", surface.Change{
			Path: codexConfigPath,
			New: text(`model = "gpt-5"`, "", "[mcp_servers.filesystem]", `command = "mcp-filesystem"`,
				`enabled_tools = ["write_file"]`, `default_tools_approval_mode = "approve"`),
		}},
		{"repair-after", "", surface.Change{
			Path: codexConfigPath,
			New: text(`model = "gpt-5"`, "", "[mcp_servers.filesystem]", `command = "mcp-filesystem"`,
				`enabled_tools = ["write_file"]`, `default_tools_approval_mode = "ask"`),
		}},
		{"policy-bypass", "fp_dfa43032b18bd8a6", surface.Change{Path: policyPath, Old: text(policy("block")...), Deleted: true}},
		{"block-stop", "fp_db9eb20807fcce76", surface.Change{
			Path: policyPath, Old: missing, New: missing,
			OldHunkLines: policy("block"), NewHunkLines: policy("require_review"),
		}},
		{"block-stop with both sides at hand", "fp_db9eb20807fcce76", surface.Change{
			Path: policyPath, Old: text(policy("block")...), New: text(policy("require_review")...),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := rule.Pass{Surfaces: []*surface.Surface{surface.Read(&c.change)}}
			got := ""
			for _, f := range p.Run(rule.Catalogue()) {
				if f.Rule.Family == rule.CodexFamily {
					got += "fp_" + canonical.Spaced.SHA256(canonical.Object{
						{Key: "action", Value: string(f.Rule.Action)},
						{Key: "check_id", Value: f.Rule.CheckID},
						{Key: "evidence", Value: f.Evidence},
						{Key: "path", Value: f.Path},
						{Key: "risk_level", Value: string(f.Rule.Risk)},
					})[:16]
				}
			}
			if got != c.fingerprint {
				t.Errorf("fingerprint %q, want %q", got, c.fingerprint)
			}
		})
	}
}
