package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// policyViolations are the broken policies of action_surface, the built-in one
// first.
func policyViolations(s *Subject) []Finding {
	found := breaches(s, policyViolation, map[string]any{"policy_id": BuiltinApproval})
	for i := range found {
		found[i].Severity = Critical
	}
	for i := range s.Manifest.Surface.Policies {
		p := &s.Manifest.Surface.Policies[i]
		for _, a := range s.Acting() {
			if f, ok := violation(s, p, a); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

// violation judges one action by one policy: only if every predicate is matched
// by evidence that a control may rest on is anything required of it.
func violation(s *Subject, p *manifest.Policy, a *effect.Action) (Finding, bool) {
	rows := predicates(p, a)
	if conjunction(rows...).Status != matched {
		return Finding{}, false
	}
	missing := []string{}
	for _, r := range p.Require {
		if !satisfied(a, r) {
			missing = append(missing, spoken(r.Path))
		}
	}
	if len(missing) == 0 {
		return Finding{}, false
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	for _, path := range missing {
		rows = append(rows, lacks(path))
	}
	f := declaredAt(s, a, ofAction(a, map[string]any{"policy_id": p.ID, "missing": missing}, conjunction(rows...)))
	f.BlocksRelease = f.BlocksRelease && p.Block
	f.Severity = Severity(p.Severity)
	f.Title = a.Tool.Name + " breaks the policy " + p.ID
	if p.Message != "" {
		f.Title += ": " + p.Message
	}
	f.Recommendation = p.Recommendation
	return f, true
}

// predicates are the given match keys of a policy, each a row. A policy without
// any speaks about every action.
func predicates(p *manifest.Policy, a *effect.Action) []Predicate {
	var rows []Predicate
	for _, plain := range []struct {
		name   string
		wanted []string
		have   string
	}{
		{"action_ids", p.Match.ActionIDs, a.ID},
		{"tool_ids", p.Match.ToolIDs, a.Tool.ID},
		{"tools", p.Match.Tools, a.Tool.Name},
	} {
		if len(plain.wanted) > 0 {
			rows = append(rows, predicate(plain.name, slices.Contains(plain.wanted, plain.have), plain.wanted, plain.have))
		}
	}
	if len(p.Match.Effects) > 0 {
		rows = append(rows, effectsPredicate(p.Match.Effects, a))
	}
	if len(p.Match.RiskTags) > 0 {
		rows = append(rows, tagsPredicate(p.Match.RiskTags, a))
	}
	if len(p.Match.Scopes) > 0 {
		rows = append(rows, scopesPredicate(p.Match.Scopes, a))
	}
	return rows
}

func effectsPredicate(wanted []string, a *effect.Action) Predicate {
	var values []effect.Effect
	for _, w := range wanted {
		values = append(values, effect.Effect(w))
	}
	proven := slices.ContainsFunc(values, a.Assessment.Eligible)
	return judged("effects", wanted, a, proven, effectClaims(a, values...), controlNames(a))
}

// tagsPredicate: a tag is proven where a person declared it or an eligible claim
// stands for its effect; a tag that only a hint gave is suspected.
func tagsPredicate(wanted []string, a *effect.Action) Predicate {
	declared := map[string]bool{}
	if a.Declared != nil {
		for _, tag := range a.Declared.RiskTags {
			declared[effect.RiskTag(tag)] = true
		}
	}
	for _, h := range a.Tool.Hints {
		if h.Source == "manual" {
			declared[effect.RiskTag(h.Tag)] = true
		}
	}
	var claims []effect.Claim
	proven, suspected := false, false
	for _, w := range wanted {
		tag := effect.RiskTag(w)
		proven = proven || declared[tag] || slices.ContainsFunc(a.Assessment.Control, func(e effect.Effect) bool { return e.Tag() == tag })
		suspected = suspected || !a.Assessment.Settled && slices.ContainsFunc(a.Tool.Hints, func(h tool.Hint) bool {
			return effect.RiskTag(h.Tag) == tag && h.Confidence.AtLeast(tool.Medium)
		})
		for _, e := range effect.Effects() {
			if e.Tag() == tag {
				claims = append(claims, effectClaims(a, e)...)
			}
		}
	}
	p := judged("risk_tags", wanted, a, proven, claims, a.RiskTags)
	if p.Status == notMatched && suspected {
		p.Status, p.PolicyEligible, p.Why = indeterminate, false, "only a hint gives the tag"
	}
	return p
}

// judged answers a predicate about effects: matched by proof; else conflicting
// where the evidence contradicts itself; else indeterminate where something
// weaker says so, or nobody knows; else not matched. A topic of low confidence
// says nothing, and once a person said why the declared effect stands words do
// not either (§6.2).
func judged(name string, wanted []string, a *effect.Action, proven bool, claims []effect.Claim, observed []string) Predicate {
	claims = slices.DeleteFunc(claims, func(c effect.Claim) bool {
		return !c.Eligible && (a.Assessment.Settled || !c.Confidence.AtLeast(tool.Medium))
	})
	p := claimed(name, wanted, observed, claims)
	p.Why = ""
	switch {
	case proven:
		p.PolicyEligible = true
	case a.Assessment.EffectStatus == effect.EffectConflicting:
		p.Status, p.PolicyEligible, p.Why = conflicting, false, "the evidence about the effect contradicts itself"
	case len(claims) > 0:
		p.Status, p.PolicyEligible, p.Why = indeterminate, false, "only evidence that no control may rest on fits"
	case unproven(a):
		p.Status, p.PolicyEligible, p.Why = indeterminate, false, "the effect is "+string(a.Assessment.EffectStatus)
	default:
		p.Status, p.PolicyEligible = notMatched, true
	}
	return p
}

func unproven(a *effect.Action) bool {
	switch a.Assessment.EffectStatus {
	case effect.EffectInferred, effect.EffectUnknown, effect.EffectProtocolDefault:
		return true
	case effect.EffectDeclared, effect.EffectStructural, effect.EffectConflicting:
	}
	return false
}

func controlNames(a *effect.Action) []string {
	names := []string{}
	for _, e := range a.Assessment.Control {
		names = append(names, string(e))
	}
	return names
}

func scopesPredicate(wanted []string, a *effect.Action) Predicate {
	holds := slices.ContainsFunc(a.Scopes, func(have string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return effect.Covers(w, have) })
	})
	p := predicate("scopes", holds, wanted, append([]string{}, a.Scopes...))
	if holds {
		return p
	}
	switch a.Assessment.AuthorityStatus {
	case effect.AuthorityPartial, effect.AuthorityUnknown:
		p.Status, p.PolicyEligible, p.Why = indeterminate, false, "the authority is "+string(a.Assessment.AuthorityStatus)
	case effect.AuthorityConflicting:
		p.Status, p.PolicyEligible, p.Why = conflicting, false, "the evidence about the authority contradicts itself"
	case effect.AuthorityDeclared, effect.AuthorityStructural:
	}
	return p
}

// satisfied says whether an action has a required value. A path that no action
// has counts as missing: a misspelt requirement is no satisfied one.
func satisfied(a *effect.Action, r manifest.Requirement) bool {
	have, ok := valueAt(a, r.Path)
	return ok && equalJSON(have, r.Value)
}

// valueAt is the value of an action at a dotted path, aliases included.
func valueAt(a *effect.Action, path string) (any, bool) {
	switch spoken(path) {
	case "approval.required", "safeguards.idempotency", "safeguards.audit_log", "safeguards.rollback", "safeguards.dry_run":
		for _, c := range controls(a) {
			if c.path == spoken(path) && c.control.Known {
				return c.control.Value, true
			}
		}
		return nil, true
	case "confirmation.required":
		return a.Confirmation, true
	case "approval.threshold":
		return orNull(a.Threshold), true
	case "evidence.owner":
		return orNull(a.Owner), true
	case "evidence.runbook":
		return orNull(a.Runbook), true
	case "evidence.approval_ticket":
		return orNull(a.ApprovalTicket), true
	case "scopes":
		return listOf(a.Scopes), true
	case "risk_tags":
		return listOf(a.RiskTags), true
	case "effect":
		return string(a.Effect), true
	case "provider":
		return a.Provider, true
	case "operation":
		return a.Operation, true
	case "authority.mode":
		return orNull(a.Mode), true
	case "authority.auth_type":
		return orNull(a.AuthType), true
	case "authority.credential_mode":
		return orNull(a.Credential), true
	}
	return nil, false
}

// spoken is a path as people write it: the aliases of §4.8, backwards.
func spoken(path string) string {
	if rest, ok := strings.CutPrefix(path, "approval_policy."); ok {
		return "approval." + rest
	}
	if path == "required_scopes" {
		return "scopes"
	}
	return path
}

func listOf(words []string) []any {
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return list
}

// equalJSON compares two JSON values; lists are sets, numbers are values.
func equalJSON(a, b any) bool {
	x, errX := spaced.append(nil, plainJSON(a))
	y, errY := spaced.append(nil, plainJSON(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// plainJSON makes of a whole number, however it is typed, one text.
func plainJSON(v any) any {
	switch v := v.(type) {
	case int:
		return json.Number(index(v))
	case []string:
		return listOf(v)
	}
	return v
}
