package gate

import (
	"cmp"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// row is one entry of violations[] with what only the gate itself needs.
type row struct {
	violation Violation
	rule      *rule.Rule
	key       string // canonical text of the whole row: its order and its identity (§9.1)
}

// applyRules runs the rules and grades what they report. Masking comes before
// sorting and fingerprinting, so that no identity depends on a secret (§14).
func (r *run) applyRules(rules []*rule.Rule) {
	pass := rule.Pass{
		Surfaces:        r.surfaces,
		Issues:          r.issues,
		Codes:           r.codes,
		Diagnostics:     slices.DeleteFunc(slices.Clone(r.diagnostics), func(d surface.Diagnostic) bool { return d.Level == levelInfo }),
		PolicyConflicts: r.policy.Conflicts,
		PolicyInvalid:   r.policy.Invalid,
		Adoption:        r.in.Manifest.AdoptionProven,
		ProposalSafe:    cmp.Or(r.proposal, r.unignored),
	}
	findings := pass.Run(rules)
	rows := make([]row, len(findings))
	for i := range findings {
		rows[i] = r.grade(&findings[i])
	}
	// A stable sort keeps the place of the first report of equal rows.
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	r.rows = slices.CompactFunc(rows, func(a, b row) bool { return a.key == b.key })
}

func (r *run) grade(f *rule.Finding) row {
	g := r.policy.Grade(f.Rule)
	v := Violation{
		ID:             f.Rule.ID,
		CheckID:        f.Rule.CheckID,
		Action:         g.Action,
		RiskLevel:      g.Risk,
		Title:          redact.Text(cmp.Or(f.Title, g.Title)),
		Path:           f.Path,
		Evidence:       redact.Object(f.Evidence),
		Recommendation: redact.Text(cmp.Or(f.Recommendation, g.Recommendation)),
		Line:           f.Line,
	}
	return row{violation: v, rule: f.Rule, key: canonical.Spaced.String(v.canonical())}
}

// canonical is the row as its order is taken over, with null and {} where a row
// has no path and no evidence.
func (v *Violation) canonical() canonical.Object {
	return canonical.Object{
		{Key: "action", Value: string(v.Action)},
		{Key: "check_id", Value: v.CheckID},
		{Key: "evidence", Value: v.Evidence},
		{Key: "id", Value: v.ID},
		{Key: "path", Value: orNull(v.Path)},
		{Key: "recommendation", Value: v.Recommendation},
		{Key: "risk_level", Value: string(v.RiskLevel)},
		{Key: "title", Value: v.Title},
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
