package rule

import "plimsoll.dev/internal/gate/surface"

// BoundaryExperimentalSurfaceChanged fires for a file of an experimental adapter
// that no other rule has a word about. It runs before the catch-all, which would
// else hide it (docs/spec/boundary.md OP-16).
var BoundaryExperimentalSurfaceChanged = Rule{
	ID:             "BOUNDARY-EXPERIMENTAL-SURFACE-CHANGED",
	CheckID:        "SHIP-AGENT-BOUNDARY-EXPERIMENTAL-SURFACE-CHANGED",
	Family:         GenericFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "File of an experimental host adapter changed",
	Recommendation: "Let a person look at it; the adapter is not trusted yet.",
	Kinds:          []string{"experimental_boundary_surface_changed"},
	Check: func(p *Pass) {
		spoken := p.spokenFor()
		for _, s := range p.Surfaces {
			if surface.IsExperimental(s.Path) && !spoken[s.Path] {
				spoken[s.Path] = true
				p.Report(s.Path, 0, "experimental_boundary_surface_changed")
			}
		}
	},
}
