package rule

// CodexDangerFullAccess reports a config that newly runs Codex without its
// sandbox, by mode or by the built-in profile of that name
// (docs/spec/boundary.md §5.1).
var CodexDangerFullAccess = Rule{
	ID:             "CODEX-DANGER-FULL-ACCESS",
	CheckID:        "SHIP-CODEX-BOUNDARY-DANGER-FULL-ACCESS",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           Critical,
	Title:          "Codex sandbox switched off",
	Recommendation: "Choose a narrower profile, or let a person accept full access.",
	Kinds:          []string{"sandbox_mode", "default_permissions"},
	Check:          checkCodexDangerFullAccess,
}

func checkCodexDangerFullAccess(p *Pass) {
	const mode, profile = "danger-full-access", ":danger-full-access"
	for _, s := range p.Surfaces {
		before, after, ok := s.CodexConfig()
		if !ok {
			continue
		}
		if now := after.SandboxMode; now.Text == mode && before.SandboxMode.Text != mode {
			p.Report(s.Path, now.Pos.Line, "sandbox_mode", With("value", now.Text))
		}
		if now := after.DefaultPermissions; now.Text == profile && before.DefaultPermissions.Text != profile {
			p.Report(s.Path, now.Pos.Line, "default_permissions", With("value", now.Text))
		}
	}
}
