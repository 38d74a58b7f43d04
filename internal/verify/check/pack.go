package check

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// knows says whether a check id names a check of the catalogue or a rule of a
// policy pack. A pack that could not be read may hold any rule, so that no id
// outside of ours is unknown then.
func (s *Subject) knows(id string) bool {
	if ByID(id) != nil {
		return true
	}
	if strings.HasPrefix(id, "SHIP-") {
		return false
	}
	for _, pack := range s.Packs {
		for i := range pack.Rules {
			if pack.Rules[i].ID == id {
				return true
			}
		}
	}
	return len(s.Packs) < len(s.Manifest.Checks.Packs)
}

// packFindings evaluates a team's own rules (§4.9): a rule fires on each
// reachable tool for which all its predicates hold.
func packFindings(s *Subject, pack *manifest.PackFile) []Finding {
	var found []Finding
	for i := range pack.Rules {
		rule := &pack.Rules[i]
		if targets := rule.Match.EnvironmentTargets; len(targets) > 0 && !slices.Contains(targets, s.Manifest.Environment.Target) {
			continue
		}
		for _, t := range s.Tools() {
			params, ok := packMatches(s, t, &rule.Match)
			if !ok {
				continue
			}
			f := about(t)
			f.CheckID, f.Category = rule.ID, rule.Category
			f.Title = t.Name + ": " + firstOf(rule.Title, rule.Description, rule.ID)
			f.Severity, f.Confidence = Severity(rule.Severity), tool.Confidence(rule.Confidence)
			f.Recommendation, f.AgentID, f.Provenance = rule.Recommendation, s.Graph.Root, PolicyPack
			f.Evidence = map[string]any{
				"policy_pack": firstOf(pack.ID, pack.Name, pack.Path), "pack_version": orNull(pack.Version),
				"risk_tags": riskTags(t), "parameters": params,
			}
			f.BlocksRelease = rule.Block
			if len(rule.Match.RiskTags) > 0 {
				// A rule may ask to block; words alone cannot grant it.
				f.Support, _ = restsOn(s, t, rule.Match.RiskTags...)
				f.BlocksRelease = rule.Block && f.Support != nil && f.Support.BlockingEligible
			}
			found = append(found, f)
		}
	}
	return found
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// packMatches says whether all given predicates hold, and which parameters they
// matched.
func packMatches(s *Subject, t *effect.Tool, m *manifest.PackMatch) ([]string, bool) {
	if len(m.RiskTags) > 0 && !hasAny(t, m.RiskTags...) ||
		len(m.SourceTypes) > 0 && !slices.Contains(m.SourceTypes, t.Origin.Type) {
		return nil, false
	}
	for _, p := range []struct {
		wanted  *bool
		missing bool
	}{
		{m.MissingOwner, t.Owner == ""},
		{m.MissingAuthScopes, len(scopesOf(s, t)) == 0},
		{m.MissingApprovalPolicy, !approved(s, t)},
		{m.MissingConfirmationPolicy, !confirmed(s, t)},
		{m.MissingIdempotencyPolicy, !idempotent(s, t)},
	} {
		if p.wanted != nil && *p.wanted != p.missing {
			return nil, false
		}
	}
	params := []string{}
	for i := range m.Parameters {
		before := len(params)
		for _, p := range t.Params {
			if parameterMatches(p, &m.Parameters[i]) {
				params = append(params, p.Name)
			}
		}
		if len(params) == before {
			return nil, false
		}
	}
	return unique(params), true
}

func parameterMatches(p tool.Parameter, want *manifest.ParameterPredicate) bool {
	types := strings.Split(p.Type, "|")
	switch {
	case len(want.Names) > 0 && !slices.Contains(want.Names, p.Name):
	case len(want.Types) > 0 && !slices.ContainsFunc(want.Types, func(k string) bool { return slices.Contains(types, k) }):
	case want.MissingMaximum != nil && *want.MissingMaximum != (p.Maximum == ""):
	case want.Required != nil && *want.Required != p.Required:
	default:
		return true
	}
	return false
}
