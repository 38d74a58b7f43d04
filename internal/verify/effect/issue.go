package effect

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// The kinds of issues that this package finds, from the 29 of §8.3. The others
// come from reading (low_confidence_tool, source_warning) and from policies.
const (
	IncompleteSurface        = "incomplete_surface"
	MissingEffect            = "missing_effect_evidence"
	InferredEffectOnly       = "inferred_effect_only"
	ConflictingEffect        = "conflicting_effect_evidence"
	MissingAuthority         = "missing_authority_evidence"
	PartialAuthority         = "partial_authority_evidence"
	ConflictingAuthority     = "conflicting_authority_evidence"
	InvalidAnnotation        = "invalid_semantic_annotation"
	ConflictingIdentity      = "conflicting_tool_identity"
	UnresolvedSelector       = "unresolved_tool_selector"
	AmbiguousSelector        = "ambiguous_tool_selector"
	AmbiguousLegacyName      = "ambiguous_legacy_tool_identity"
	InvalidBinding           = "invalid_tool_binding"
	MissingBinding           = "missing_binding_evidence"
	PartialBinding           = "partial_binding_evidence"
	ConflictingBinding       = "conflicting_binding_evidence"
	AmbiguousRoot            = "ambiguous_root_agent"
	UnresolvedAgent          = "unresolved_agent_binding"
	UnresolvedBoundTool      = "unresolved_bound_tool"
	IncompleteHandoffs       = "incomplete_handoff_graph"
	InvalidBindingAnnotation = "invalid_binding_annotation"
)

// about is an issue of one tool.
func about(t *Tool, kind, why string) Issue {
	return Issue{
		Kind: kind, Subject: t.Name, ToolID: t.ID, Why: why,
		SourceID: t.Origin.SourceID, SourceType: t.Origin.Type, SourceRef: t.Origin.Ref, At: t.Origin,
	}
}

// at is an issue of something that stands at an origin.
func at(o tool.Origin, kind, subject, why string) Issue {
	return Issue{Kind: kind, Subject: subject, Why: why, SourceID: o.SourceID, SourceType: o.Type, SourceRef: o.Ref, At: o}
}

// tidy sorts issues and drops repetitions: the same thing seen at several places
// is one issue, at the first of them.
func tidy(issues []Issue) []Issue {
	compare := func(a, b Issue) int {
		return cmp.Or(
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Agent, b.Agent),
			strings.Compare(a.ToolID, b.ToolID), strings.Compare(a.SourceID, b.SourceID), strings.Compare(a.SourceRef, b.SourceRef),
			slices.Compare(a.Path, b.Path), strings.Compare(a.Why, b.Why), slices.Compare(a.Candidates, b.Candidates),
		)
	}
	slices.SortFunc(issues, func(a, b Issue) int { return cmp.Or(compare(a, b), comparePlaces(&a.At, &b.At)) })
	return slices.CompactFunc(issues, func(a, b Issue) bool { return compare(a, b) == 0 })
}

// comparePlaces orders places, so that what is reported does not depend on the
// order in which files were read.
func comparePlaces(a, b *tool.Origin) int {
	if c := cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Start.Line, b.Start.Line)); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.Start.Column, b.Start.Column),
		strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Ref, b.Ref), strings.Compare(a.SourceID, b.SourceID),
		strings.Compare(a.Location, b.Location), strings.Compare(a.Type, b.Type), cmp.Compare(a.EndLine, b.EndLine),
	)
}

// sorted is a sorted copy without repetitions; never nil.
func sorted(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return slices.Compact(out)
}
