package check

import (
	"slices"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// restsOn says what a finding about a tool's risk tags rests on: the hints of
// at least medium confidence whose tag is one of tags. Words alone raise a
// question and decide nothing (§§6.2, 8.1 rule 0), so that a finding which has
// nothing else says so in its support.
func restsOn(s *Subject, t *effect.Tool, tags ...string) (*Support, Provenance) {
	var rows []Predicate
	proven := false
	for _, tag := range tags {
		if row, ok := tagPredicate(s, t, tag); ok {
			rows = append(rows, row)
			proven = proven || row.PolicyEligible
		}
	}
	if len(rows) == 0 {
		return nil, about(t).Provenance
	}
	provenance := about(t).Provenance
	if !proven {
		provenance = KeywordHeuristic
	}
	return newSupport(rows), provenance
}

func tagPredicate(s *Subject, t *effect.Tool, tag string) (Predicate, bool) {
	row := Predicate{
		Predicate: "risk_tag", Status: "matched", Expected: tag, Observed: tag,
		Confidence: tool.Low, Bases: []effect.Basis{}, ClaimIDs: []string{},
	}
	found := false
	for _, h := range t.Hints {
		if h.Tag != tag || !h.Confidence.AtLeast(tool.Medium) {
			continue
		}
		found = true
		if h.Confidence.AtLeast(row.Confidence) {
			row.Confidence = h.Confidence
		}
		row.PolicyEligible = row.PolicyEligible || !effect.InferredHint(h)
	}
	if !found {
		return row, false
	}
	claimed, known := effect.TagEffect(tag)
	if a := s.ActionOf(t); a != nil && known {
		for _, c := range a.Assessment.Claims {
			if c.Dimension != "effect" || c.Value != string(claimed) {
				continue
			}
			row.ClaimIDs = append(row.ClaimIDs, c.ID)
			row.Bases = append(row.Bases, c.Basis)
			row.PolicyEligible = row.PolicyEligible || c.Eligible
		}
	}
	slices.Sort(row.ClaimIDs)
	row.ClaimIDs = slices.Compact(row.ClaimIDs)
	if len(row.Bases) == 0 {
		row.Bases = append(row.Bases, effect.InferredKeyword)
		if row.PolicyEligible {
			row.Bases[0] = effect.ProtocolStructure
		}
	}
	slices.Sort(row.Bases)
	row.Bases = slices.Compact(row.Bases)
	if !row.PolicyEligible {
		row.Why = "only words say " + tag + ": that asks, it does not decide"
	}
	return row, true
}

// newSupport joins predicate rows: one that a control may rest on is enough.
func newSupport(rows []Predicate) *Support {
	s := &Support{Status: "matched", Confidence: tool.Low, Predicates: rows, Bases: []effect.Basis{}, ClaimIDs: []string{}}
	var hashed []any
	for _, r := range rows {
		s.PolicyEligible = s.PolicyEligible || r.PolicyEligible
		s.Bases = append(s.Bases, r.Bases...)
		s.ClaimIDs = append(s.ClaimIDs, r.ClaimIDs...)
		if r.Confidence.AtLeast(s.Confidence) {
			s.Confidence = r.Confidence
		}
		expected, _ := r.Expected.(string)
		hashed = append(hashed, map[string]any{
			"predicate": r.Predicate, "expected": expected, "status": r.Status, "policy_eligible": r.PolicyEligible,
		})
	}
	s.BlockingEligible = s.PolicyEligible
	slices.Sort(s.Bases)
	s.Bases = slices.Compact(s.Bases)
	slices.Sort(s.ClaimIDs)
	s.ClaimIDs = slices.Compact(s.ClaimIDs)
	s.Hash = supportHash(hashed)
	return s
}
