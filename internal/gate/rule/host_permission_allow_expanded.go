package rule

import "plimsoll.dev/internal/gate/surface"

// HostPermissionAllowExpanded fires when a host may do something more, or when
// a setting that bounds it is another one now. Direction of such a setting is
// not judged: any change of it needs a person.
var HostPermissionAllowExpanded = Rule{
	ID:             "HOST-PERMISSION-ALLOW-EXPANDED",
	CheckID:        "SHIP-HOST-BOUNDARY-PERMISSION-ALLOW-EXPANDED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Host permissions grew",
	Recommendation: "Let a person accept the new permission.",
	Kinds: []string{
		"permission_allow_expanded", "permission_mode_changed", "claude_permission_boundary_changed",
		"claude_sandbox_changed", "claude_plugins_changed", "cursor_permission_boundary_changed",
		"cursor_network_boundary_changed", "cursor_permission_allow_expanded",
	},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			if before, after, ok := s.ClaudeSettings(); ok {
				claudeExpanded(p, s, &before, &after)
			}
			if before, after, ok := s.CursorCLI(); ok {
				cursorExpanded(p, s, &before, &after)
			}
		}
	},
}

func claudeExpanded(p *Pass, s *surface.Surface, before, after *surface.ClaudeSettings) {
	gained := surface.PermissionsGained(before.Allow, after.Allow)
	reportAllowed(p, s, "permission_allow_expanded", gained, false)
	if mode, ok := surface.ModeGained(before, after); ok && !mode.Unasked {
		p.Report(s.Path, mode.Pos.Line, "permission_mode_changed", With("mode", mode.Name))
	}
	for _, key := range surface.ChangedSettings(before.OtherPermissions, after.OtherPermissions) {
		p.Report(s.Path, key.Pos.Line, "claude_permission_boundary_changed", With("key", key.Key))
	}
	if after.Sandbox.Changed(before.Sandbox) {
		p.Report(s.Path, after.Sandbox.Pos.Line, "claude_sandbox_changed")
	}
	if after.Plugins.Changed(before.Plugins) {
		p.Report(s.Path, after.Plugins.Pos.Line, "claude_plugins_changed")
	}
}

func cursorExpanded(p *Pass, s *surface.Surface, before, after *surface.CursorCLI) {
	gained := surface.PermissionsGained(before.Allow, after.Allow)
	reportAllowed(p, s, "cursor_permission_allow_expanded", gained, false)
	for _, key := range surface.ChangedSettings(before.OtherPermissions, after.OtherPermissions) {
		p.Report(s.Path, key.Pos.Line, "cursor_permission_boundary_changed", With("key", key.Key))
	}
	if after.Network.Changed(before.Network) {
		p.Report(s.Path, after.Network.Pos.Line, "cursor_network_boundary_changed")
	}
}
