package rule

import "plimsoll.dev/internal/gate/surface"

// CodexUnknownPermissionKey reports Codex settings that grant something of which
// no other rule knows how much: unknown keys that sound like a grant, an approval
// policy that stops asking, and a config that is gone (docs/spec/boundary.md
// §5.1).
var CodexUnknownPermissionKey = Rule{
	ID:             "CODEX-UNKNOWN-PERMISSION-KEY",
	CheckID:        "SHIP-CODEX-BOUNDARY-UNKNOWN-PERMISSION-KEY",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           Medium,
	Title:          "Codex permission setting with unknown effect",
	Recommendation: "Let a person confirm what this permission setting does.",
	Kinds: []string{
		"codex_config_deleted", "unknown_codex_grant_key", "approval_policy_widened", "unknown_permission_key",
		"unknown_permission_network_key",
	},
	Check: checkCodexUnknownPermissionKey,
}

func checkCodexUnknownPermissionKey(p *Pass) {
	for _, s := range p.Surfaces {
		if s.Role == surface.RoleCodexConfig && s.Deleted {
			p.Report(s.Path, 0, "codex_config_deleted")
			continue
		}
		before, after, ok := s.CodexConfig()
		if !ok {
			continue
		}
		for _, key := range gained(before.UnknownGrants, after.UnknownGrants) {
			p.Report(s.Path, key.Pos.Line, "unknown_codex_grant_key", With("key", key.Key))
		}
		switch approval := after.ApprovalPolicy; approval.Text {
		case "never", "on-failure":
			if approval.Text != before.ApprovalPolicy.Text {
				p.Report(s.Path, approval.Pos.Line, "approval_policy_widened", With("value", approval.Text))
			}
		}
		old := permissionsByProfile(before)
		for _, now := range after.Permissions {
			was := old[now.Profile]
			for _, key := range gained(was.Unknown, now.Unknown) {
				p.Report(s.Path, key.Pos.Line, "unknown_permission_key", With("profile", now.Profile), With("key", key.Key))
			}
			for _, key := range gained(was.UnknownNetwork, now.UnknownNetwork) {
				p.Report(s.Path, key.Pos.Line, "unknown_permission_network_key",
					With("profile", now.Profile), With("key", key.Key))
			}
		}
	}
}

// gained are the settings that are new or say something else; one that is gone
// grants nothing.
func gained(before, after []surface.Setting) []surface.Setting {
	var out []surface.Setting
	for _, s := range surface.ChangedSettings(before, after) {
		if s.Value.Present() {
			out = append(out, s)
		}
	}
	return out
}

func permissionsByProfile(c surface.CodexConfig) map[string]surface.CodexPermissions {
	out := make(map[string]surface.CodexPermissions, len(c.Permissions))
	for _, p := range c.Permissions {
		out[p.Profile] = p
	}
	return out
}
