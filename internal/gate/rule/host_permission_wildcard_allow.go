package rule

import "plimsoll.dev/internal/gate/surface"

// HostPermissionWildcardAllow fires when a whole tool, or everything, needs no
// prompt any more.
var HostPermissionWildcardAllow = Rule{
	ID:             "HOST-PERMISSION-WILDCARD-ALLOW",
	CheckID:        "SHIP-HOST-BOUNDARY-PERMISSION-WILDCARD-ALLOW",
	Family:         HostFamily,
	Action:         Block,
	Risk:           Critical,
	Title:          "A whole tool is allowed without prompts",
	Recommendation: "Allow single commands, not the whole tool.",
	Kinds: []string{
		"permission_wildcard_allow", "permission_mode_expanded", "cursor_permission_allow_expanded",
	},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			if before, after, ok := s.ClaudeSettings(); ok {
				gained := surface.PermissionsGained(before.Allow, after.Allow)
				reportAllowed(p, s, "permission_wildcard_allow", gained, true)
				if mode, ok := surface.ModeGained(&before, &after); ok && mode.Unasked {
					p.Report(s.Path, mode.Pos.Line, "permission_mode_expanded", With("mode", mode.Name))
				}
			}
			if before, after, ok := s.CursorCLI(); ok {
				gained := surface.PermissionsGained(before.Allow, after.Allow)
				reportAllowed(p, s, "cursor_permission_allow_expanded", gained, true)
			}
		}
	},
}

// reportAllowed reports the gained rules of one width: wildcards belong to
// HOST-PERMISSION-WILDCARD-ALLOW, all others to HOST-PERMISSION-ALLOW-EXPANDED.
func reportAllowed(p *Pass, s *surface.Surface, kind string, gained []surface.PermissionRule, wildcard bool) {
	for _, r := range gained {
		if r.Wildcard() == wildcard {
			p.Report(s.Path, r.Pos.Line, kind, With("rule", r.Masked()))
		}
	}
}
