package check

import (
	"slices"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// The answers of a predicate (§7.2).
const (
	matched       = "matched"
	notMatched    = "not_matched"
	indeterminate = "indeterminate"
	conflicting   = "conflicting"
)

// conjunction is the support of a rule all of whose predicates must hold: it is
// as weak as its weakest predicate. Only a support in which everything is
// matched by evidence that a control may rest on can block (§11.4).
func conjunction(rows ...Predicate) *Support {
	s := &Support{
		Status: matched, Confidence: tool.High, Predicates: rows, Bases: []effect.Basis{}, ClaimIDs: []string{}, PolicyEligible: true,
	}
	hashed := make([]any, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		s.PolicyEligible = s.PolicyEligible && r.PolicyEligible
		s.Status = worse(s.Status, r.Status)
		if !r.Confidence.AtLeast(s.Confidence) {
			s.Confidence = r.Confidence
		}
		s.Bases = append(s.Bases, r.Bases...)
		s.ClaimIDs = append(s.ClaimIDs, r.ClaimIDs...)
		hashed = append(hashed, map[string]any{
			"predicate": r.Predicate, "status": r.Status, "expected": settled(r.Expected), "observed": settled(r.Observed),
			"policy_eligible": r.PolicyEligible,
		})
	}
	s.BlockingEligible = s.PolicyEligible && s.Status == matched
	slices.Sort(s.Bases)
	s.Bases = slices.Compact(s.Bases)
	slices.Sort(s.ClaimIDs)
	s.ClaimIDs = slices.Compact(s.ClaimIDs)
	s.Hash = supportHash(hashed)
	return s
}

// supportHash is the hash of the rows of a support, whose values have all been settled.
func supportHash(rows []any) string {
	text, _ := compact.append(nil, rows)
	return "sha256:" + HashOf(text)
}

// settled is a value that can be hashed. Predicates hold words, flags and lists of
// words, all of which can.
func settled(v any) any {
	if _, err := compact.append(nil, v); err != nil {
		return nil
	}
	return v
}

var statusRank = []string{matched, indeterminate, conflicting, notMatched}

// worse is the answer of two predicates together.
func worse(a, b string) string {
	return statusRank[max(slices.Index(statusRank, a), slices.Index(statusRank, b))]
}

// predicate is a row about plain facts: names, ids, what somebody wrote down.
func predicate(name string, holds bool, expected, observed any) Predicate {
	p := Predicate{
		Predicate: name, Status: notMatched, Expected: expected, Observed: observed, Confidence: tool.High,
		Bases: []effect.Basis{}, ClaimIDs: []string{}, PolicyEligible: true,
	}
	if holds {
		p.Status = matched
	}
	return p
}

// claimed is a row that rests on effect or authority claims: those given.
func claimed(name string, expected, observed any, claims []effect.Claim) Predicate {
	p := Predicate{
		Predicate: name, Status: matched, Expected: expected, Observed: observed, Confidence: tool.Low,
		Bases: []effect.Basis{}, ClaimIDs: []string{},
	}
	for _, c := range claims {
		p.PolicyEligible = p.PolicyEligible || c.Eligible
		if c.Confidence.AtLeast(p.Confidence) {
			p.Confidence = c.Confidence
		}
		p.Bases = append(p.Bases, c.Basis)
		if c.ID != "" {
			p.ClaimIDs = append(p.ClaimIDs, c.ID)
		}
	}
	slices.Sort(p.Bases)
	p.Bases = slices.Compact(p.Bases)
	slices.Sort(p.ClaimIDs)
	p.ClaimIDs = slices.Compact(p.ClaimIDs)
	if !p.PolicyEligible {
		p.Why = "only words say so: that asks, it does not decide"
	}
	return p
}

// effectClaims are the claims about the effect of an action that say one of the
// given values.
func effectClaims(a *effect.Action, values ...effect.Effect) []effect.Claim {
	var list []effect.Claim
	for _, c := range a.Assessment.Claims {
		if c.Dimension == effect.EffectDimension && slices.Contains(values, effect.Effect(c.Value)) {
			list = append(list, c)
		}
	}
	return list
}

// hasEffect is the predicate that an action has an effect as a control sees it.
// The set of control effects holds eligible evidence only.
func hasEffect(a *effect.Action, e effect.Effect) Predicate {
	p := claimed("effect", string(e), string(e), eligible(effectClaims(a, e)))
	p.PolicyEligible, p.Why = true, ""
	if len(p.Bases) == 0 {
		p.Confidence = tool.High
	}
	return p
}

func eligible(claims []effect.Claim) []effect.Claim {
	var list []effect.Claim
	for _, c := range claims {
		if c.Eligible {
			list = append(list, c)
		}
	}
	return list
}

// lacks is the predicate that a control which is asked for does not stand.
func lacks(path string) Predicate { return predicate(path, true, true, "missing") }
