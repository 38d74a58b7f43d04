package rule

import "plimsoll.dev/internal/gate/surface"

// BoundaryProtectedSurfaceUnclassified is the catch-all: a protected file that
// changed, and that no other rule explains, still needs a person. A link is
// never explained by the rows of its text alone (docs/spec/boundary.md §5.3,
// ruling R3).
var BoundaryProtectedSurfaceUnclassified = Rule{
	ID:             "BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED",
	CheckID:        "SHIP-AGENT-BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED",
	Family:         GenericFamily,
	Action:         RequireReview,
	Risk:           Medium,
	Title:          "Protected file changed in a way no rule explains",
	Recommendation: "Let a person look at this protected file.",
	Kinds:          []string{"protected_surface_unclassified", "manifest_introduced", "protected_surface_link"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			if s.Link != nil && !refusedLink(s) {
				p.Report(s.Path, 0, "protected_surface_link", s.Link.Evidence()...)
			}
		}
		spoken := p.spokenFor()
		for _, s := range p.Surfaces {
			if s.Class != "" && !spoken[s.Path] && !evaluated(p, s) {
				spoken[s.Path] = true
				reportUnclassified(p, s)
			}
		}
	},
}

// The adoption wording (§5.3): the same row, said of the file that brings the
// gate itself.
const (
	adoptionTitle          = "This change introduces the gate's manifest"
	adoptionRecommendation = "Let a person merge the adoption."
)

func reportUnclassified(p *Pass, s *surface.Surface) {
	f := Finding{Path: s.Path, Evidence: Evidence("protected_surface_unclassified")}
	if p.Adoption && (s.Manifest || s.Class == surface.ClassManifest) && !s.Old.Present && s.New.Present {
		f.Evidence = Evidence("manifest_introduced")
		f.Title, f.Recommendation = adoptionTitle, adoptionRecommendation
	}
	// What the path tells by itself is not repeated; what only this run's
	// arguments tell would be lost.
	if surface.ClassOf(s.Path) == "" {
		f.Evidence = append(f.Evidence, With("trust_root_class", string(s.Class)))
	}
	p.ReportWith(f)
}

// refusedLink says whether a side of a link could not be followed. Row 27 says
// so, and there is no target to show (§2.7).
func refusedLink(s *surface.Surface) bool {
	const refused = "boundary_input_symlink_or_external"
	return s.Old.Unresolved == refused || s.New.Unresolved == refused
}

// evaluated says whether rules have judged all of the surface, so that no row
// means there is nothing to say: only the root Codex configuration is read so
// completely, and a manifest that gains nothing but well-formed tool sources. No
// rule speaks of hooks that a configuration loses.
func evaluated(p *Pass, s *surface.Surface) bool {
	if s.Path == p.ProposalSafe && p.ProposalSafe != "" {
		return true
	}
	if before, after, ok := s.CodexConfig(); ok && after.LosesHooks(&before) {
		return false
	}
	return s.Root(".codex/config.toml") && s.Old.Unresolved == "" && s.New.Unresolved == "" &&
		!s.ModeOnly && s.Link == nil
}

// spokenFor is the set of paths on which a row stands, or will stand: what could
// not be read gets its row from BOUNDARY-INPUT-INCOMPLETE, which runs last.
func (p *Pass) spokenFor() map[string]bool {
	paths := make(map[string]bool, len(p.findings)+len(p.Issues))
	for i := range p.findings {
		paths[p.findings[i].Path] = true
	}
	for i := range p.Issues {
		paths[p.Issues[i].Path] = true
	}
	return paths
}
