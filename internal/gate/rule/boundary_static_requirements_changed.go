package rule

// BoundaryStaticRequirementsChanged fires for any change of the requirements
// that Codex enforces on a whole machine or project, a malformed text included.
var BoundaryStaticRequirementsChanged = Rule{
	ID:             "BOUNDARY-STATIC-REQUIREMENTS-CHANGED",
	CheckID:        "SHIP-AGENT-BOUNDARY-STATIC-REQUIREMENTS-CHANGED",
	Family:         GenericFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Enforced host requirements changed",
	Recommendation: "Let a person check the changed requirements.",
	Kinds:          []string{"static_requirements_changed"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			if s.Root(".codex/requirements.toml") && !p.Reported(s.Path) {
				p.Report(s.Path, 0, "static_requirements_changed")
			}
		}
	},
}
