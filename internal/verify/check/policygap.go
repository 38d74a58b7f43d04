package check

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
)

// ControlApplicability names the built-in policy whose application is open while
// words alone say more than what is proven (§6.2).
const ControlApplicability = "builtin-effect-control-applicability"

// The kinds of policy gaps (§8.3).
const (
	inferredPolicy    = "inferred_policy_applicability"
	mixedPolicy       = "mixed_policy_evidence"
	unknownPolicy     = "unknown_policy_evidence"
	conflictingPolicy = "conflicting_policy_evidence"
)

// PolicyGaps are the questions that keep policies from being judged, the
// built-in one first, then those of action_surface in their order; of one policy
// in the order of the actions. A gap is never a finding: nobody is accused on
// the strength of a word (§§6.2, 11.4).
func PolicyGaps(s *Subject) []effect.Issue {
	gaps := []effect.Issue{}
	for _, a := range s.Acting() {
		if gap, ok := applicability(a); ok {
			gaps = append(gaps, gap)
		}
	}
	for i := range s.Manifest.Surface.Policies {
		for _, a := range s.Acting() {
			if gap, ok := openPolicy(&s.Manifest.Surface.Policies[i], a); ok {
				gaps = append(gaps, gap)
			}
		}
	}
	return gaps
}

// applicability: a claim that no control may rest on is stronger than every one
// that it may, and its effect carries obligations. A person who declared the
// effect and said why it stands has answered; a topic of low confidence asks
// nothing.
func applicability(a *effect.Action) (effect.Issue, bool) {
	var suspected []string
	for _, c := range a.Assessment.Unproven() {
		if obliged(effect.Effect(c.Value)) {
			suspected = append(suspected, c.Value)
		}
	}
	if len(suspected) == 0 {
		return effect.Issue{}, false
	}
	slices.Sort(suspected)
	suspected = slices.Compact(suspected)
	kind := inferredPolicy
	if len(a.Assessment.Control) > 0 {
		kind = mixedPolicy
	}
	return gapOf(a, kind, ControlApplicability, suspected,
		"Words suggest "+strings.Join(suspected, ", ")+", which asks for controls; nothing that a control may rest on says so or denies it"), true
}

// openPolicy is the gap of a policy that would speak about the action if a
// predicate could be judged.
func openPolicy(p *manifest.Policy, a *effect.Action) (effect.Issue, bool) {
	rows := predicates(p, a)
	status := conjunction(rows...).Status
	if status != indeterminate && status != conflicting {
		return effect.Issue{}, false
	}
	var open []string
	var effects []string
	words, authority := false, false
	for i := range rows {
		r := &rows[i]
		if r.Status != indeterminate && r.Status != conflicting {
			continue
		}
		open = append(open, r.Predicate+" ("+r.Why+")")
		words = words || slices.ContainsFunc(r.Bases, effect.Basis.Inferred)
		authority = authority || r.Predicate == "scopes"
		if wanted, ok := r.Expected.([]string); ok && r.Predicate == "effects" {
			effects = append(effects, wanted...)
		}
	}
	kind := unknownPolicy
	switch {
	case status == conflicting:
		kind = conflictingPolicy
	case words && len(a.Assessment.Control) > 0:
		kind = mixedPolicy
	case words || a.Assessment.EffectStatus == effect.EffectInferred && !authority:
		kind = inferredPolicy
	}
	slices.Sort(effects)
	return gapOf(a, kind, p.ID, slices.Compact(effects), "It cannot be told whether the policy applies: "+strings.Join(open, "; ")), true
}

func gapOf(a *effect.Action, kind, policy string, candidates []string, why string) effect.Issue {
	o := a.Tool.Origin
	i := effect.Issue{
		Kind: kind, Subject: a.Tool.Name, ToolID: a.Tool.ID, SourceID: o.SourceID, SourceType: o.Type, SourceRef: o.Ref,
		Why: "Policy " + policy + ": " + why + ".", Key: "action_surface.actions[].effect", Candidates: candidates,
	}
	if a.Declared != nil {
		i.Path = []string{"action_surface", "actions", index(a.Declared.Index)}
		if a.Declared.Effect != "" {
			i.Key = "action_surface.actions[].override"
		}
	}
	return i
}
