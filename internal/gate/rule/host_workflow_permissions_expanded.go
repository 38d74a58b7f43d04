package rule

import "plimsoll.dev/internal/gate/surface"

// HostWorkflowPermissionsExpanded fires for each scope that a workflow token may
// write now and could not before.
var HostWorkflowPermissionsExpanded = Rule{
	ID:             "HOST-WORKFLOW-PERMISSIONS-EXPANDED",
	CheckID:        "SHIP-HOST-BOUNDARY-WORKFLOW-PERMISSIONS-EXPANDED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Workflow token gained a write scope",
	Recommendation: "Let a person accept the new write scope.",
	Kinds:          []string{"workflow_permissions_expanded"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			before, after, ok := s.Workflow()
			if !ok {
				continue
			}
			for _, g := range surface.ScopesGained(&before, &after) {
				var old any
				if g.Old != "" {
					old = g.Old
				}
				p.Report(s.Path, g.Pos.Line, "workflow_permissions_expanded",
					With("job", g.Job), With("scope", g.Scope), With("old", old), With("new", surface.LevelWrite))
			}
		}
	},
}
