package rule

import "slices"

// BoundaryInputIncomplete says that the change could not be read in full. It
// runs last, because its summary row is only needed when no other row already
// tells what was not read (docs/spec/boundary.md §5.3).
var BoundaryInputIncomplete = Rule{
	ID:             "BOUNDARY-INPUT-INCOMPLETE",
	CheckID:        "SHIP-AGENT-BOUNDARY-INPUT-INCOMPLETE",
	Family:         GenericFamily,
	Action:         RequireReview,
	Risk:           Medium,
	Title:          "The change could not be read in full",
	Recommendation: "Supply the complete change and run the check again.",
	Kinds:          []string{"boundary_input_unresolved", "boundary_coverage_incomplete"},
	Check: func(p *Pass) {
		for _, issue := range p.Issues {
			p.Report(issue.Path, 0, "boundary_input_unresolved", With("code", issue.Code))
		}
		if len(p.Codes) == 0 || slices.ContainsFunc(p.findings, namesUnread) {
			return
		}
		path := ""
		if len(p.Diagnostics) > 0 {
			path = p.Diagnostics[0].Path
		}
		p.Report(path, 0, "boundary_coverage_incomplete", With("issues", slices.Clone(p.Codes)))
	},
}

// namesUnread says whether a row already names an input that was not read.
func namesUnread(f Finding) bool {
	switch f.Kind() {
	case "boundary_input_unresolved", "boundary_policy_conflict", "codex_boundary_policy_invalid",
		"host_config_content_unresolved", "codex_config_content_unresolved",
		"json_parse_failed", "toml_parse_failed", "unknown_host_config_key":
		return true
	}
	return false
}
