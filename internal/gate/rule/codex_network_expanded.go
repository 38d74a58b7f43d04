package rule

// CodexNetworkExpanded reports network access that Codex newly has: for its
// workspace sandbox, or all of it for a permission profile
// (docs/spec/boundary.md §5.1).
var CodexNetworkExpanded = Rule{
	ID:             "CODEX-NETWORK-EXPANDED",
	CheckID:        "SHIP-CODEX-BOUNDARY-NETWORK-EXPANDED",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Codex gained network access",
	Recommendation: "Let a person accept the wider network reach.",
	Kinds:          []string{"workspace_write_network_access", "network_mode_full"},
	Check:          checkCodexNetworkExpanded,
}

func checkCodexNetworkExpanded(p *Pass) {
	for _, s := range p.Surfaces {
		before, after, ok := s.CodexConfig()
		if !ok {
			continue
		}
		if now := after.WorkspaceNetwork; now.On && !before.WorkspaceNetwork.On {
			p.Report(s.Path, now.Pos.Line, "workspace_write_network_access", With("value", true))
		}
		old := permissionsByProfile(before)
		for _, now := range after.Permissions {
			if now.NetworkMode.Text == "full" && old[now.Profile].NetworkMode.Text != "full" {
				p.Report(s.Path, now.NetworkMode.Pos.Line, "network_mode_full", With("profile", now.Profile))
			}
		}
	}
}
