package manifest

import (
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// PackFile is one policy pack (§4.9, last paragraph).
type PackFile struct {
	Path          string // as the manifest names it
	ID            string // checks.policy_packs[].id, or ""
	Name, Version string
	Rules         []PackRule
}

// PackRule is a check that a team wrote. All given predicates of Match must
// hold.
type PackRule struct {
	ID, Title, Description, Category string
	Severity                         string
	Block                            bool
	Confidence                       string
	Recommendation                   string
	Match                            PackMatch
	Pos                              source.Position
}

// PackMatch is the predicates of a rule. An empty list and a nil pointer are no
// predicate. A rule without any predicate matches every tool.
type PackMatch struct {
	RiskTags           []string // any of them, with confidence of at least medium
	SourceTypes        []string
	EnvironmentTargets []string

	MissingOwner, MissingAuthScopes                                            *bool
	MissingApprovalPolicy, MissingConfirmationPolicy, MissingIdempotencyPolicy *bool

	Parameters []ParameterPredicate // each must match at least one parameter
}

// ParameterPredicate describes a parameter of a tool. An empty list and a nil
// pointer are no demand.
type ParameterPredicate struct {
	Names, Types             []string
	MissingMaximum, Required *bool
}

var confidences = []string{"high", "medium", "low"}

func packShape() *shape {
	return object(
		may("name", text(), "what the pack is called"),
		may("version", &shape{kind: scalarShape}, ""),
		must("rules", list(object(
			must("id", line(), "unique; must not begin with SHIP-"),
			may("title", text(), ""),
			may("description", text(), ""),
			with("category", "policy_pack", line(), ""),
			must("severity", word(severities), ""),
			with("block", false, flag(), "an unmet rule blocks the release"),
			with("confidence", "medium", word(confidences), ""),
			must("recommendation", line(), "what to do about a finding"),
			may("match", object(
				may("risk_tags", lines(), "any of them, known at least at medium confidence"),
				may("source_types", lines(), ""),
				may("environment_targets", list(word(targets)), ""),
				may("missing_owner", flag(), ""),
				may("missing_auth_scopes", flag(), ""),
				may("missing_approval_policy", flag(), ""),
				may("missing_confirmation_policy", flag(), ""),
				may("missing_idempotency_policy", flag(), ""),
				may("parameters", list(object(
					may("names", lines(), ""),
					may("types", lines(), ""),
					may("missing_maximum", flag(), ""),
					may("required", flag(), ""),
				)), "each must match at least one parameter"),
			), "all given predicates must hold"),
		)), "checks of the team's own"),
	)
}

// reserved begins the ids of the built-in checks.
const reserved = "SHIP-"

// ParsePack reads a policy pack strictly. name is its path as the manifest has
// it; the error is an *Errors of class 3.
func ParsePack(name string, text []byte) (*PackFile, error) {
	f := &faults{}
	root, ok := parse(name, text, nil, f)
	if ok {
		w := walker{faults: f}
		w.value(root, packShape())
	}
	p := &PackFile{Path: name, Name: str(root.Get("name")), Version: str(root.Get("version")), Rules: each(root.Get("rules"), packRule)}
	first := map[string]int{}
	for i, r := range p.Rules {
		at := []string{"rules", strconv.Itoa(i), "id"}
		if strings.HasPrefix(strings.ToUpper(r.ID), reserved) {
			f.add(at, r.Pos, WrongValue, "must not begin with %s, which names built-in checks", reserved)
		}
		if j, ok := first[r.ID]; ok && r.ID != "" {
			f.add(at, r.Pos, Duplicate, "is the same id as entry %d", j)
		}
		if _, ok := first[r.ID]; !ok {
			first[r.ID] = i
		}
	}
	if err := f.errors(name, 3); err != nil {
		return nil, err
	}
	return p, nil
}

func packRule(_ int, v source.Value) PackRule {
	match := v.Get("match")
	return PackRule{
		ID: str(v.Get("id")), Title: str(v.Get("title")), Description: str(v.Get("description")), Category: or(str(v.Get("category")), "policy_pack"),
		Severity: str(v.Get("severity")), Block: truth(v.Get("block"), false), Confidence: or(str(v.Get("confidence")), "medium"),
		Recommendation: str(v.Get("recommendation")), Pos: v.Pos,
		Match: PackMatch{
			RiskTags: strs(match.Get("risk_tags")), SourceTypes: strs(match.Get("source_types")),
			EnvironmentTargets: strs(match.Get("environment_targets")),
			MissingOwner:       maybe(match.Get("missing_owner")), MissingAuthScopes: maybe(match.Get("missing_auth_scopes")),
			MissingApprovalPolicy:     maybe(match.Get("missing_approval_policy")),
			MissingConfirmationPolicy: maybe(match.Get("missing_confirmation_policy")),
			MissingIdempotencyPolicy:  maybe(match.Get("missing_idempotency_policy")),
			Parameters: each(match.Get("parameters"), func(_ int, v source.Value) ParameterPredicate {
				return ParameterPredicate{strs(v.Get("names")), strs(v.Get("types")), maybe(v.Get("missing_maximum")), maybe(v.Get("required"))}
			}),
		},
	}
}
