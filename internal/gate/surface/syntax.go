package surface

// SyntaxIssue is the issue of a file whose new text does not parse and that no
// rule reads (docs/spec/boundary.md §4.5), nil when there is none. For a policy
// file ask only if it is not the policy in use: loading that one has its own
// answer (§10.5).
func (s *Surface) SyntaxIssue() *Issue {
	if s.Role != RoleSyntax && s.Role != RolePolicy || s.NewDoc.Err == nil {
		return nil
	}
	return &Issue{
		Code:    "host_inventory_parse_failed",
		Path:    s.Path,
		Message: s.Path + " is malformed: " + s.NewDoc.Err.Error(),
	}
}
