package check

import (
	"slices"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// required is the validation block when it asks for what flag reads.
func required(s *Subject, flag func(*manifest.Validation) bool) *manifest.Validation {
	if v := s.Manifest.Validation; v != nil && flag(v) {
		return v
	}
	return nil
}

func approvalTrace(s *Subject) []Finding {
	if required(s, func(v *manifest.Validation) bool { return v.ApprovalTrace }) == nil {
		return nil
	}
	traces := &s.Reading.Evidence.Traces
	shown := []string{}
	for _, row := range traces.Rows {
		if row.Approved != nil && *row.Approved {
			shown = append(shown, row.Tool)
		}
	}
	shown = unique(shown)
	var found []Finding
	for _, t := range s.Tools() {
		if !approved(s, t) || slices.Contains(shown, t.Name) {
			continue
		}
		f := about(t)
		f.Title = "No trace shows an approval of " + t.Name
		f.Provenance = RuntimeTrace
		f.Evidence = map[string]any{
			"tool_name": t.Name, "reason": reason(traces, "no_trace_events", "approved_trace_missing"), "trace_files": files(traces),
			"approved_tools": shown, "source_provenance": provenance(s, "approval_trace_required", "approval_trace", traces.Files),
		}
		found = append(found, f)
	}
	return found
}

func overrideReason(s *Subject) []Finding {
	if required(s, func(v *manifest.Validation) bool { return v.OverrideReason }) == nil {
		return nil
	}
	logs := &s.Reading.Evidence.Overrides
	unexplained := []string{}
	for _, row := range logs.Rows {
		if row.Reason == "" {
			unexplained = append(unexplained, row.Location)
		}
	}
	if readAny(logs) && len(logs.Rows) > 0 && len(unexplained) == 0 {
		return nil
	}
	f := inManifest(s.Manifest, "validation", "evidence", "override_logs")
	f.Title = "Overrides are not explained by a log"
	f.Evidence = map[string]any{
		"reason": reason(logs, "no_override_events", "reason_missing"), "override_log_files": files(logs),
		"events_missing_reason": unique(unexplained),
		"source_provenance":     provenance(s, "override_reason_required", "override_log", logs.Files),
	}
	return []Finding{f}
}

func highRiskExclusion(s *Subject) []Finding {
	if required(s, func(v *manifest.Validation) bool { return v.HighRiskExclusion }) == nil {
		return nil
	}
	lists := &s.Reading.Evidence.Exclusions
	excluded := []string{}
	for _, row := range lists.Rows {
		excluded = append(excluded, row.Tool)
	}
	excluded = unique(excluded)
	var found []Finding
	for _, t := range s.Tools() {
		if !t.HighRisk() || !approved(s, t) || slices.Contains(excluded, t.Name) {
			continue
		}
		f := about(t)
		f.Title = t.Name + " is not kept from automatic approval"
		f.Evidence = map[string]any{
			"reason": reason(lists, "tool_missing", "tool_missing"), "risk_tags": riskTags(t), "excluded_tools": excluded,
			"source_provenance": provenance(s, "high_risk_auto_approval_exclusion_required", "high_risk_exclusion", lists.Files),
		}
		found = append(found, f)
	}
	return found
}

func promotionCriteria(s *Subject) []Finding {
	v := required(s, func(v *manifest.Validation) bool { return v.Posture == "limited_auto_approval" })
	if v == nil {
		return nil
	}
	criteria := &s.Reading.Evidence.Promotion
	var all tool.Promotion
	for i, row := range criteria.Rows {
		if i == 0 {
			all = row
			continue
		}
		all.ApprovalTrace = all.ApprovalTrace && row.ApprovalTrace
		all.OverrideReason = all.OverrideReason && row.OverrideReason
		all.HighRiskExclusion = all.HighRiskExclusion && row.HighRiskExclusion
	}
	inManifestMissing := flags(v.ApprovalTrace, v.OverrideReason, v.HighRiskExclusion)
	inCriteria := flags(all.ApprovalTrace, all.OverrideReason, all.HighRiskExclusion)
	there := readAny(criteria) && len(criteria.Rows) > 0
	if there && len(inManifestMissing) == 0 && len(inCriteria) == 0 {
		return nil
	}
	why := "flags_missing"
	if !there {
		why, inCriteria = "file_missing", []string{}
	}
	f := inManifest(s.Manifest, "validation", "target_review_posture")
	f.Title = "The criteria for limited automatic approval are incomplete"
	f.Evidence = map[string]any{
		"reason": why, "manifest_flags_missing": inManifestMissing, "criteria_flags_missing": inCriteria,
		"source_provenance": provenance(s, "", "promotion_criteria", criteria.Files),
	}
	return []Finding{f}
}

// flags are the names of the requirements that are not set, sorted.
func flags(trace, why, exclusion bool) []string {
	missing := []string{}
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{trace, "approval_trace_required"},
		{exclusion, "high_risk_auto_approval_exclusion_required"},
		{why, "override_reason_required"},
	} {
		if !flag.set {
			missing = append(missing, flag.name)
		}
	}
	return missing
}

// readAny says whether one of the declared files could be read.
func readAny[T any](e *tool.EvidenceFiles[T]) bool {
	return slices.ContainsFunc(e.Files, func(f tool.EvidenceFile) bool {
		return f.Status == "loaded" || f.Status == "loaded_with_warnings"
	})
}

// reason says how evidence falls short: no file, no row, or not the right row.
func reason[T any](e *tool.EvidenceFiles[T], empty, wrong string) string {
	switch {
	case !readAny(e):
		return "file_missing"
	case len(e.Rows) == 0:
		return empty
	}
	return wrong
}

func files[T any](e *tool.EvidenceFiles[T]) []string {
	paths := []string{}
	for _, f := range e.Files {
		paths = append(paths, f.Path)
	}
	return unique(paths)
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// provenance says which requirement asks and what came of each file (§12.6).
// It never enters a fingerprint.
func provenance(s *Subject, flag, role string, list []tool.EvidenceFile) []any {
	keys := []string{"validation", "target_review_posture"}
	if flag != "" {
		keys = []string{"validation", "required_evidence", flag}
	}
	rows := []any{provenanceRow("manifest_requirement", s.Manifest.Name, s.Manifest.Name+"#"+Pointer(keys...), "requirement_only", "")}
	for _, f := range list {
		rows = append(rows, provenanceRow(role, f.Path, f.Path+"#", f.Status, f.Detail))
	}
	return rows
}

func provenanceRow(kind, ref, location, status, detail string) map[string]any {
	return map[string]any{"type": kind, "ref": ref, "location": location, "status": status, "detail": orNull(detail)}
}
