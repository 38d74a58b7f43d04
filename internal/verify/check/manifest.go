package check

import (
	"slices"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// manifestChecks are the rows of §12.6: entries of the manifest that mean
// nothing any more, the baseline's own state, and evidence that people owe.
// It is a function because one of them asks the catalogue which checks exist.
func manifestChecks() []*Check {
	return []*Check{
		{
			ID: "SHIP-MANIFEST-STALE-SUPPRESSION", Category: "manifest", Severity: Medium, Tier: Hygiene,
			Title:          "A suppression names something that does not exist",
			Description:    "Looks at checks.ignore for entries that can suppress nothing.",
			Rationale:      "A dead entry reads like a decision. The day somebody gives a tool that name, it becomes one.",
			FiresWhen:      "An entry names a check that is neither in the catalogue nor in a policy pack, or a tool that no source has.",
			EvidenceFields: []string{"check_id", "tool", "issues"},
			Recommendation: "Remove the entry, or correct the name.",
			Autofix:        true, PatchKind: RemovePointer, Run: staleSuppression,
		},
		{
			ID: "SHIP-MANIFEST-STALE-POLICY", Category: "manifest", Severity: Medium, Tier: Hygiene,
			Title:          "A policy names a tool that does not exist",
			Description:    "Looks at the approval, confirmation and idempotency policies for tools that no source has.",
			Rationale:      "A control on a name that is gone protects nothing, and the tool that took its place has none.",
			FiresWhen:      "An entry of a policy names a tool that is not in the catalogue of tools.",
			EvidenceFields: []string{"policy", "tool"},
			Recommendation: "Correct the name, or remove the entry when the tool is really gone.",
			Autofix:        true, PatchKind: RemovePointer, Run: stalePolicy,
		},
		{
			ID: "SHIP-MANIFEST-STALE-RISK-OVERRIDE", Category: "manifest", Severity: Medium, Tier: Hygiene,
			Title:          "A risk override names a tool that does not exist",
			Description:    "Looks at risk_overrides.tools for names that no source has.",
			Rationale:      "What people said about the risk of a tool no longer reaches the tool.",
			FiresWhen:      "A name under risk_overrides.tools is not in the catalogue of tools.",
			EvidenceFields: []string{"tool"},
			Recommendation: "Correct the name, or remove the entry when the tool is really gone.",
			Autofix:        true, PatchKind: RemovePointer, Run: staleRisk,
		},
		{
			ID: "SHIP-MANIFEST-UNUSED-SCOPE", Category: "manifest", Severity: Medium, Tier: Hygiene,
			Title:          "The manifest grants a scope that no tool needs",
			Description:    "Compares permissions.scopes with the scopes of the reachable tools.",
			Rationale:      "A grant without a use is power that is only noticed when it is misused.",
			FiresWhen:      "A scope of the manifest covers no scope of any reachable tool; of any tool while it is open which are reachable. High when the scope is broad.",
			EvidenceFields: []string{"scope", "tool_scopes"},
			Recommendation: "Remove the scope, or say at the tool that it needs it.",
			HumanReview:    true, PatchKind: Manual, Run: unusedScope,
		},
		{
			ID: "SHIP-MANIFEST-HIGH-RISK-OWNER-MISSING", Category: "manifest", Severity: High, Tier: Hygiene,
			Title:          "A high-risk tool near production has no owner",
			Description:    "Looks for who answers for each high-risk tool.",
			Rationale:      "When such a tool goes wrong somebody must be called, and somebody must have agreed to be.",
			FiresWhen:      "The target is production or like it, and a high-risk tool has no owner at its source, in risk_overrides or in its action.",
			EvidenceFields: []string{"environment", "risk_tags"},
			Recommendation: "Name an owner in risk_overrides.tools or in the action's evidence.",
			HumanReview:    true, PatchKind: Manual, Run: ownerMissing,
		},
		{
			ID: entryExpired, Category: "baseline", Severity: High, Tier: Lifecycle,
			Title:          "An acceptance in the baseline has expired",
			Description:    "Looks at the dates until which findings were accepted.",
			Rationale:      "Accepted until a day means looked at again on that day. From then on the entry accepts nothing.",
			FiresWhen:      "An entry's expires lies before the evaluation date.",
			EvidenceFields: []string{"fingerprint", "expires"},
			Recommendation: "Close the finding, or have a person accept it again with a new date.",
			HumanReview:    true, PatchKind: Manual,
		},
		{
			ID: entryStale, Category: "baseline", Severity: Low, Tier: Lifecycle,
			Title:          "An entry of the baseline matches nothing",
			Description:    "Looks for accepted findings that are no longer found.",
			Rationale:      "An old acceptance would accept the same finding again, without anybody looking.",
			FiresWhen:      "No active finding has the entry's fingerprint.",
			EvidenceFields: []string{"fingerprint"},
			Recommendation: "Save the baseline again, so that the entry goes.",
			HumanReview:    true, PatchKind: Manual,
		},
		{
			ID: integrityMismatch, Category: "baseline", Severity: Critical, Tier: Lifecycle,
			Title:          "The baseline is not the file that was saved",
			Description:    "Compares the baseline with the hash that its audit log holds.",
			Rationale:      "A baseline decides what nobody looks at again. Edited by hand it can accept anything.",
			FiresWhen:      "The file's hash is not the one of its last save, or the log's own chain is broken. Medium where baseline.integrity_mode is warn; silent where it is off.",
			EvidenceFields: []string{"expected", "actual"},
			Recommendation: "Restore the saved file, or have a person save it again.",
			HumanReview:    true, PatchKind: Manual,
		},
		{
			ID: "SHIP-EVIDENCE-APPROVAL-TRACE-MISSING", Category: "evidence", Severity: High, Tier: Evidence,
			Title:          "No trace shows that a tool was approved",
			Description:    "Looks in the approval traces for each tool that must be approved.",
			Rationale:      "A policy says what should happen. A trace shows that it did.",
			FiresWhen:      "validation asks for traces, and a tool under approval has none with approved: true.",
			EvidenceFields: []string{"tool_name", "reason", "trace_files", "approved_tools", "source_provenance"},
			Recommendation: "Record a run in which the tool was approved, and name the file under validation.evidence.approval_traces.",
			HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: approvalTrace,
		},
		{
			ID: "SHIP-EVIDENCE-OVERRIDE-REASON-MISSING", Category: "evidence", Severity: High, Tier: Evidence,
			Title:          "Overrides are not explained",
			Description:    "Looks in the override logs for a reason with each event.",
			Rationale:      "An override without a reason cannot be told from a mistake.",
			FiresWhen:      "validation asks for reasons, and the logs are absent, empty, or hold an event without one.",
			EvidenceFields: []string{"reason", "override_log_files", "events_missing_reason", "source_provenance"},
			Recommendation: "Provide the override logs, with a reason for every event.",
			HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: overrideReason,
		},
		{
			ID: "SHIP-EVIDENCE-HIGH-RISK-EXCLUSION-MISSING", Category: "evidence", Severity: High, Tier: Evidence,
			Title:          "A high-risk tool is not kept from automatic approval",
			Description:    "Looks in the list of exclusions for each high-risk tool that must be approved.",
			Rationale:      "Automatic approval is made for what is harmless. Money and deletion have to be named as out of it.",
			FiresWhen:      "validation asks for exclusions, and such a tool is not in the list.",
			EvidenceFields: []string{"reason", "risk_tags", "excluded_tools", "source_provenance"},
			Recommendation: "Add the tool with an owner and a reason to the exclusions.",
			HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: highRiskExclusion,
		},
		{
			ID: "SHIP-EVIDENCE-HITL-PROMOTION-CRITERIA-MISSING", Category: "evidence", Severity: High, Tier: Evidence,
			Title:          "The criteria for limited automatic approval are incomplete",
			Description:    "Looks at what must be fulfilled before approvals may be automatic.",
			Rationale:      "To take the person out is a decision of its own, with conditions that were agreed to before.",
			FiresWhen:      "The posture is limited_auto_approval, and the criteria file is absent or one of the three requirements is not set in it or in the manifest.",
			EvidenceFields: []string{"reason", "manifest_flags_missing", "criteria_flags_missing", "source_provenance"},
			Recommendation: "Agree on the criteria with all three requirements set, in the manifest and in the file.",
			HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: promotionCriteria,
		},
	}
}

// toolNames says by name and by id which tools there are, reachable or not.
func toolNames(s *Subject) (names, ids map[string]bool) {
	names, ids = map[string]bool{}, map[string]bool{}
	for _, t := range s.Catalog {
		names[t.Name], ids[t.ID] = true, true
	}
	return names, ids
}

// enumerated says whether every declared source was read in full: only then is
// a name that was not found really gone, and its entry safe to remove by
// machine.
func enumerated(s *Subject) bool {
	return len(s.Reading.Dynamic) == 0 &&
		!slices.ContainsFunc(s.Reading.Sources, func(src tool.Source) bool { return src.State != tool.Loaded }) &&
		!slices.ContainsFunc(s.Catalog, wildcard)
}

func removal(keys ...string) *Patch {
	return &Patch{
		Kind: RemovePointer, Pointer: Pointer(keys...), Confidence: tool.High,
		Rationale: "The entry names something that does not exist, so removing it changes no verdict.",
	}
}

func staleSuppression(s *Subject) []Finding {
	if len(s.Manifest.Checks.Ignore) == 0 {
		return nil
	}
	names, _ := toolNames(s)
	same := map[[2]string]int{}
	for _, w := range s.Manifest.Checks.Ignore {
		same[[2]string{w.CheckID, w.Tool}]++
	}
	var found []Finding
	for _, w := range s.Manifest.Checks.Ignore {
		issues := []string{}
		if !s.knows(w.CheckID) {
			issues = append(issues, "unknown_check_id")
		}
		if w.Tool != "" && !names[w.Tool] {
			issues = append(issues, "missing_tool")
		}
		if len(issues) == 0 {
			continue
		}
		f := inManifest(s.Manifest, "checks", "ignore", index(w.Index))
		f.Title = "The suppression of " + w.CheckID + " can suppress nothing"
		f.Evidence = map[string]any{"check_id": w.CheckID, "tool": orNull(w.Tool), "issues": issues}
		if same[[2]string{w.CheckID, w.Tool}] == 1 && (issues[0] == "unknown_check_id" || enumerated(s)) {
			f.Repair = removal("checks", "ignore", index(w.Index))
		}
		found = append(found, f)
	}
	return found
}

func stalePolicy(s *Subject) []Finding {
	if p := &s.Manifest.Policies; len(p.Approval)+len(p.Confirmation)+len(p.Idempotency) == 0 {
		return nil
	}
	names, ids := toolNames(s)
	var found []Finding
	for _, policy := range []struct {
		key  string
		list []manifest.Selector
	}{
		{"require_approval_for_tools", s.Manifest.Policies.Approval},
		{"require_confirmation_for_tools", s.Manifest.Policies.Confirmation},
		{"require_idempotency_for_tools", s.Manifest.Policies.Idempotency},
	} {
		same := map[string]int{}
		for _, sel := range policy.list {
			same[selected(sel)]++
		}
		for i, sel := range policy.list {
			if names[sel.Tool] || ids[sel.ToolID] {
				continue
			}
			f := inManifest(s.Manifest, "policies", policy.key, index(i))
			f.Title = "The policy " + policy.key + " names a tool that does not exist"
			f.Evidence = map[string]any{"policy": policy.key, "tool": selected(sel)}
			if same[selected(sel)] == 1 && enumerated(s) {
				f.Repair = removal("policies", policy.key, index(i))
			}
			found = append(found, f)
		}
	}
	return found
}

func selected(sel manifest.Selector) string {
	if sel.Tool != "" {
		return sel.Tool
	}
	return sel.ToolID
}

func staleRisk(s *Subject) []Finding {
	if len(s.Manifest.Risks) == 0 {
		return nil
	}
	names, _ := toolNames(s)
	var found []Finding
	for _, r := range s.Manifest.Risks {
		if names[r.Tool] {
			continue
		}
		f := inManifest(s.Manifest, "risk_overrides", "tools", r.Tool)
		f.Title = "A risk override names a tool that does not exist"
		f.Evidence = map[string]any{"tool": r.Tool}
		if enumerated(s) {
			f.Repair = removal("risk_overrides", "tools", r.Tool)
		}
		found = append(found, f)
	}
	return found
}

func unusedScope(s *Subject) []Finding {
	if len(s.Manifest.Permissions.Scopes) == 0 {
		return nil
	}
	// While it is open which tools the agent reaches, any of them may need it.
	tools := s.Catalog
	if s.Graph.Eligible {
		tools = s.Tools()
	}
	needed := []string{}
	for _, t := range tools {
		needed = append(needed, scopesOf(s, t)...)
	}
	slices.Sort(needed)
	needed = slices.Compact(needed)
	var found []Finding
	for i, scope := range s.Manifest.Permissions.Scopes {
		if slices.ContainsFunc(needed, func(n string) bool { return effect.Covers(scope, n) }) {
			continue
		}
		f := inManifest(s.Manifest, "permissions", "scopes", index(i))
		f.Title = "Manifest declares unused permission scope " + scope
		f.Confidence = tool.Medium
		if effect.BroadScope(scope) {
			f.Severity = High
		}
		f.Evidence = map[string]any{"scope": scope, "tool_scopes": needed}
		found = append(found, f)
	}
	return found
}

func ownerMissing(s *Subject) []Finding {
	if !s.Manifest.Environment.Production() {
		return nil
	}
	owners := map[string]string{}
	for _, r := range s.Manifest.Risks {
		owners[r.Tool] = r.Owner
	}
	var found []Finding
	for _, t := range s.Tools() {
		if !t.HighRisk() || t.Owner != "" || owners[t.Name] != "" {
			continue
		}
		if a := s.ActionOf(t); a != nil && a.Owner != "" {
			continue
		}
		f := about(t)
		f.Title = t.Name + " is high-risk but has no owner"
		f.Evidence = map[string]any{"environment": s.Manifest.Environment.Target, "risk_tags": riskTags(t)}
		found = append(found, f)
	}
	return found
}
