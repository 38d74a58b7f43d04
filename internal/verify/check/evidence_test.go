package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// asking is a manifest that asks for all evidence about an approved tool.
func asking(edits ...checktest.ManifestEdit) *manifest.Manifest {
	all := append([]checktest.ManifestEdit{checktest.Approval("reorder"), func(m *manifest.Manifest) {
		m.Validation = &manifest.Validation{
			Mode: "human_in_the_loop", Posture: "limited_auto_approval",
			ApprovalTrace: true, OverrideReason: true, HighRiskExclusion: true,
		}
	}}, edits...)
	return plain(all...)
}

// shown is a subject with evidence; its one tool is high-risk and approved.
func shown(m *manifest.Manifest, e tool.Evidence) *check.Subject {
	s := one(m, checktest.Hint("destructive", tool.High))
	s.Reading.Evidence = e
	return s
}

func files(status string) []tool.EvidenceFile {
	return []tool.EvidenceFile{{Path: "evidence/a.json", Status: status}}
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// without is the evidence of a finding but where it was read from.
func withoutProvenance(f check.Finding) map[string]any {
	m := map[string]any{}
	for key, v := range f.Evidence {
		if key != "source_provenance" {
			m[key] = v
		}
	}
	return m
}

func TestEvidenceThatPeopleOwe(t *testing.T) {
	const (
		trace, override  = "SHIP-EVIDENCE-APPROVAL-TRACE-MISSING", "SHIP-EVIDENCE-OVERRIDE-REASON-MISSING"
		exclusion, hitl  = "SHIP-EVIDENCE-HIGH-RISK-EXCLUSION-MISSING", "SHIP-EVIDENCE-HITL-PROMOTION-CRITERIA-MISSING"
		all, none, empty = "loaded", "expected_but_absent", "loaded_with_warnings"
	)
	traced := func(status string, rows ...tool.TraceEvent) tool.Evidence {
		return tool.Evidence{Traces: tool.EvidenceFiles[tool.TraceEvent]{Files: files(status), Rows: rows}}
	}
	overridden := func(status string, rows ...tool.OverrideEvent) tool.Evidence {
		return tool.Evidence{Overrides: tool.EvidenceFiles[tool.OverrideEvent]{Files: files(status), Rows: rows}}
	}
	excluded := func(status string, rows ...tool.Exclusion) tool.Evidence {
		return tool.Evidence{Exclusions: tool.EvidenceFiles[tool.Exclusion]{Files: files(status), Rows: rows}}
	}
	criteria := func(status string, rows ...tool.Promotion) tool.Evidence {
		return tool.Evidence{Promotion: tool.EvidenceFiles[tool.Promotion]{Files: files(status), Rows: rows}}
	}
	met := tool.Promotion{ApprovalTrace: true, OverrideReason: true, HighRiskExclusion: true}
	half := tool.Promotion{ApprovalTrace: true}
	list := []string{"evidence/a.json"}
	nothing := []string{}
	traceSays := func(reason string, files, approved []string) map[string]any {
		return map[string]any{"tool_name": "reorder", "reason": reason, "trace_files": files, "approved_tools": approved}
	}
	for _, c := range []struct {
		name, check string
		manifest    *manifest.Manifest
		evidence    tool.Evidence
		want        map[string]any
	}{
		{"no file", trace, asking(), tool.Evidence{}, traceSays("file_missing", nothing, nothing)},
		{"an absent file", trace, asking(), traced(none), traceSays("file_missing", list, nothing)},
		{"an empty file", trace, asking(), traced(empty), traceSays("no_trace_events", list, nothing)},
		{"a refusal", trace, asking(), traced(all, tool.TraceEvent{Tool: "reorder", Approved: no()}, tool.TraceEvent{Tool: "other", Approved: yes()}), traceSays("approved_trace_missing", list, []string{"other"})},
		{"nothing said", trace, asking(), traced(all, tool.TraceEvent{Tool: "reorder"}), traceSays("approved_trace_missing", list, nothing)},
		{"an approval", trace, asking(), traced(all, tool.TraceEvent{Tool: "reorder", Approved: no()}, tool.TraceEvent{Tool: "reorder", Approved: yes()}), nil},
		{"a tool without approval policy", trace, asking(func(m *manifest.Manifest) { m.Policies.Approval = nil }), tool.Evidence{}, nil},
		{"not asked", trace, asking(func(m *manifest.Manifest) { m.Validation.ApprovalTrace = false }), tool.Evidence{}, nil},
		{"no validation", trace, plain(checktest.Approval("reorder")), tool.Evidence{}, nil},

		{"no file", override, asking(), tool.Evidence{}, map[string]any{"reason": "file_missing", "override_log_files": nothing, "events_missing_reason": nothing}},
		{"an empty log", override, asking(), overridden(all), map[string]any{"reason": "no_override_events", "override_log_files": list, "events_missing_reason": nothing}},
		{"no reason", override, asking(), overridden(all, tool.OverrideEvent{Reason: "r"}, tool.OverrideEvent{Location: "a:2"}), map[string]any{"reason": "reason_missing", "override_log_files": list, "events_missing_reason": []string{"a:2"}}},
		{"reasons", override, asking(), overridden(all, tool.OverrideEvent{Reason: "r"}), nil},
		{"not asked", override, asking(func(m *manifest.Manifest) { m.Validation.OverrideReason = false }), tool.Evidence{}, nil},

		{"no file", exclusion, asking(), tool.Evidence{}, map[string]any{"reason": "file_missing", "risk_tags": []string{"destructive"}, "excluded_tools": nothing}},
		{"another tool", exclusion, asking(), excluded(all, tool.Exclusion{Tool: "other"}), map[string]any{"reason": "tool_missing", "risk_tags": []string{"destructive"}, "excluded_tools": []string{"other"}}},
		{"the tool", exclusion, asking(), excluded(all, tool.Exclusion{Tool: "reorder"}), nil},
		{"not asked", exclusion, asking(func(m *manifest.Manifest) { m.Validation.HighRiskExclusion = false }), tool.Evidence{}, nil},

		{"no file", hitl, asking(), tool.Evidence{}, map[string]any{"reason": "file_missing", "manifest_flags_missing": nothing, "criteria_flags_missing": nothing}},
		{"half the criteria", hitl, asking(), criteria(all, half), map[string]any{"reason": "flags_missing", "manifest_flags_missing": nothing, "criteria_flags_missing": []string{"high_risk_auto_approval_exclusion_required", "override_reason_required"}}},
		{"half the manifest", hitl, asking(func(m *manifest.Manifest) { m.Validation.OverrideReason = false }), criteria(all, met), map[string]any{"reason": "flags_missing", "manifest_flags_missing": []string{"override_reason_required"}, "criteria_flags_missing": nothing}},
		{"two files, one half", hitl, asking(), criteria(all, met, half), map[string]any{"reason": "flags_missing", "manifest_flags_missing": nothing, "criteria_flags_missing": []string{"high_risk_auto_approval_exclusion_required", "override_reason_required"}}},
		{"all met", hitl, asking(), criteria(all, met), nil},
		{"recommendations only", hitl, asking(func(m *manifest.Manifest) { m.Validation.Posture = "recommendation_only" }), tool.Evidence{}, nil},
	} {
		t.Run(c.check+": "+c.name, func(t *testing.T) {
			s := shown(c.manifest, c.evidence)
			if c.want == nil {
				checktest.Silent(t, c.check, s)
				return
			}
			f := checktest.Fires(t, c.check, s)
			if d := cmp.Diff(c.want, withoutProvenance(f)); d != "" {
				t.Errorf("evidence (-want +got):\n%s", d)
			}
			rows, _ := f.Evidence["source_provenance"].([]any)
			if len(rows) == 0 {
				t.Fatal("it does not say which requirement asks")
			}
			if first, _ := rows[0].(map[string]any); first["status"] != "requirement_only" || first["type"] != "manifest_requirement" {
				t.Errorf("first row of the provenance: %v", first)
			}
		})
	}
}
