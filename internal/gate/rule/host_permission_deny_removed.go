package rule

import "plimsoll.dev/internal/gate/surface"

// HostPermissionDenyRemoved fires for a deny rule that the old side has and the
// new side has not.
var HostPermissionDenyRemoved = Rule{
	ID:             "HOST-PERMISSION-DENY-REMOVED",
	CheckID:        "SHIP-HOST-BOUNDARY-PERMISSION-DENY-REMOVED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "A deny rule is gone",
	Recommendation: "Let a person confirm that the deny rule may go.",
	Kinds:          []string{"permission_deny_removed", "cursor_permission_deny_removed"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			if before, after, ok := s.ClaudeSettings(); ok {
				reportDenyRemoved(p, s, "permission_deny_removed", before.Deny, after.Deny)
			}
			if before, after, ok := s.CursorCLI(); ok {
				reportDenyRemoved(p, s, "cursor_permission_deny_removed", before.Deny, after.Deny)
			}
		}
	},
}

func reportDenyRemoved(p *Pass, s *surface.Surface, kind string, before, after []surface.PermissionRule) {
	for _, r := range surface.PermissionsGained(after, before) {
		p.Report(s.Path, 0, kind, With("rule", r.Masked()))
	}
}
