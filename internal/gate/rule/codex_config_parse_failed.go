package rule

import "plimsoll.dev/internal/gate/surface"

// CodexConfigParseFailed reports a Codex file whose text is not known or does
// not parse, and an explicit policy that cannot be used
// (docs/spec/boundary.md §4.5, §5.1, §10.5). No other rule compares such a file.
var CodexConfigParseFailed = Rule{
	ID:             "CODEX-CONFIG-PARSE-FAILED",
	CheckID:        "SHIP-CODEX-BOUNDARY-CONFIG-PARSE-FAILED",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           Medium,
	Title:          "Codex configuration or boundary policy is not readable",
	Recommendation: "Repair the file, or let a person read the change.",
	Kinds: []string{
		"codex_config_content_unresolved", "toml_parse_failed", "old_toml_parse_failed",
		"hooks_json_content_unresolved", "hooks_json_parse_failed", "old_hooks_json_parse_failed",
		"codex_boundary_policy_invalid",
	},
	Check: checkCodexConfigParseFailed,
}

func checkCodexConfigParseFailed(p *Pass) {
	for _, s := range p.Surfaces {
		switch s.Role {
		case surface.RoleCodexConfig:
			// A deleted config has a row of its own, whatever it held.
			if !s.Deleted {
				reportUnread(p, s, "codex_config_content_unresolved", "toml_parse_failed")
			}
		case surface.RoleCodexHooks:
			reportUnread(p, s, "hooks_json_content_unresolved", "hooks_json_parse_failed")
		case surface.RoleClaudeSettings, surface.RoleMCPServers, surface.RoleCursorCLI, surface.RoleCursorHooks, surface.RoleWorkflow,
			surface.RolePolicy, surface.RoleSyntax, surface.RoleText:
		}
	}
	if bad := p.PolicyInvalid; bad != nil {
		p.Report(bad.Path, 0, "codex_boundary_policy_invalid", With("code", bad.Code), With("message", bad.Message))
	}
}
