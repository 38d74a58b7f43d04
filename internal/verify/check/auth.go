package check

import (
	"slices"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// authChecks are the rows of §12.4: what a tool is allowed to reach, whether it
// belongs to the agent's purpose, and which controls stand before it.
var authChecks = []*Check{
	{
		ID: "SHIP-AUTH-MANIFEST-BROAD-SCOPE", Category: "auth", Severity: High, Floor: Medium, Tier: Core,
		Title:          "The manifest grants the agent a broad scope",
		Description:    "Looks at permissions.scopes for entries that open more than one thing: a wildcard, admin, or write-all.",
		Rationale:      "What the whole agent is granted is the most that any tool can do by accident or by persuasion. A wildcard has no such limit.",
		FiresWhen:      "A scope is * or admin, ends in :* or /*, or contains admin, write-all or write_all.",
		EvidenceFields: []string{"scopes"},
		Recommendation: "List the narrow scopes that the tools need instead of the broad ones.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: manifestBroadScope,
	},
	{
		ID: "SHIP-AUTH-TOOL-BROAD-SCOPE", Category: "auth", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool asks for a broad scope",
		Description:    "Looks at the scopes that a tool's own source asks for.",
		Rationale:      "A tool with a wildcard credential can do what its description does not mention.",
		FiresWhen:      "One of the tool's scopes is broad, by the same test as for the manifest.",
		EvidenceFields: []string{"scopes"},
		Recommendation: "Narrow the tool's scopes to the operations it performs.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: toolBroadScope,
	},
	{
		ID: "SHIP-AUTH-MISSING-SCOPE", Category: "auth", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool that writes or reads sensitive data names no scope",
		Description:    "Looks at tools that change something or touch sensitive data and say nothing about the authority they act with.",
		Rationale:      "Without a scope nobody can say whether the credential behind the tool is narrow or opens everything.",
		FiresWhen:      "A write tool, or one about sensitive data, has no scopes in its source and none declared for its action, and its action is not declared to need no authority.",
		EvidenceFields: []string{"risk_tags"},
		Recommendation: "Declare the scopes that the tool needs, at its source or in action_surface.actions.",
		HumanReview:    true, PatchKind: Manual, PublishAlways: true, Run: missingScope,
	},
	{
		ID: "SHIP-AUTH-SCOPE-COVERAGE-MISSING", Category: "auth", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool needs a scope that the manifest does not grant",
		Description:    "Compares the scopes of each tool with permissions.scopes.",
		Rationale:      "Either the agent will fail at the first call, or it works because its real credential is wider than what was declared.",
		FiresWhen:      "A scope of a tool is covered by no scope of the manifest: equal without regard to case, *, or a prefix with :*.",
		EvidenceFields: []string{"tool_scopes", "manifest_scopes", "missing_scopes"},
		Recommendation: "Grant the scope in permissions.scopes if the agent should have it, or narrow what the tool asks for.",
		HumanReview:    true, PatchKind: AppendPointer, Run: scopeCoverage,
	},
	{
		ID: "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", Category: "scope", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool can do what the manifest prohibits",
		Description:    "Compares the prohibited actions of the agent with the tools it reaches.",
		Rationale:      "A prohibition in words beside a tool that does it is a wish. The tool is what the agent will find.",
		FiresWhen:      "A tool that is not read-only shares two words with a prohibited action, or is about mail where mail is prohibited, about refunds where refunds are, or destructive where cancelling is; and the control that the prohibition asks for does not stand.",
		EvidenceFields: []string{"prohibited_action", "risk_tags"},
		Recommendation: "Take the tool away from the agent, put the named control before it, or correct the prohibition.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, PublishAlways: true, Run: prohibitedTool,
	},
	{
		ID: "SHIP-SCOPE-TOOL-OUTSIDE-PURPOSE", Category: "scope", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool writes although the agent's purpose is to read",
		Description:    "Compares the declared purpose of the agent with the tools it reaches.",
		Rationale:      "A purpose is what reviewers and users rely on. A tool beyond it is power that nobody asked for.",
		FiresWhen:      "The purpose speaks of reading and not of writing, and a tool writes.",
		EvidenceFields: []string{"declared_purpose", "risk_tags"},
		Recommendation: "Take the tool away from the agent, or say in agent.declared_purpose what it is for.",
		HumanReview:    true, PatchKind: Manual, PublishAlways: true, Run: outsidePurpose,
	},
	{
		ID: "SHIP-POLICY-APPROVAL-MISSING", Category: "policy", Severity: Critical, Floor: High, Tier: Core,
		Title:          "A high-impact tool has no approval policy",
		Description:    "Looks at tools that move money, destroy, change infrastructure or run code, and at who must agree before they run.",
		Rationale:      "What cannot be taken back should not happen because a model chose it once.",
		FiresWhen:      "A tool that is not read-only carries one of those tags with at least medium confidence, and no approval policy or declaration covers it.",
		EvidenceFields: []string{"risk_tags", "policy_match"},
		Recommendation: "A person declares in policies.require_approval_for_tools who agrees to this tool, or takes it out of the release.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, PublishAlways: true, Run: approvalMissing,
	},
	{
		ID: "SHIP-POLICY-CONFIRMATION-MISSING", Category: "policy", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool with effects outside has no confirmation policy",
		Description:    "Looks at tools that destroy something, write to other systems or speak to customers, and at whether the user is asked first.",
		Rationale:      "The person in whose name a message leaves or a record disappears should have seen it before.",
		FiresWhen:      "A tool that is not read-only carries one of those tags with at least medium confidence, and no confirmation policy names it.",
		EvidenceFields: []string{"risk_tags", "policy_match"},
		Recommendation: "A person declares a confirmation in policies.require_confirmation_for_tools, or takes the tool out of the release.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, PublishAlways: true, Run: confirmationMissing,
	},
	{
		ID: "SHIP-SIDEFX-IDEMPOTENCY-MISSING", Category: "side_effects", Severity: High, Floor: Medium, Dynamic: true, Tier: Core,
		Title:          "A tool may do its work twice",
		Description:    "Looks at writing tools that move money, destroy or reach other systems, and for what makes a repeated call harmless.",
		Rationale:      "Agents and networks retry. Without a key or a promise, a retry is a second payment.",
		FiresWhen:      "Such a tool has no idempotency policy or declaration, no idempotentHint: true and no parameter idempotency_key. Critical when a retry policy is known.",
		EvidenceFields: []string{"risk_tags", "retry_policy_known"},
		Recommendation: "Add an idempotency key, the annotation idempotentHint, or a declared idempotency policy that is true.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, PublishAlways: true, Run: idempotencyMissing,
	},
}

func manifestBroadScope(s *Subject) []Finding {
	broad := broadOf(s.Manifest.Permissions.Scopes)
	if len(broad) == 0 {
		return nil
	}
	f := inManifest(s.Manifest, "permissions", "scopes")
	f.Title = "The manifest declares broad permission scopes"
	f.Evidence = map[string]any{"scopes": broad}
	return []Finding{f}
}

func toolBroadScope(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if broad := broadOf(t.Auth.Scopes); len(broad) > 0 {
			f := about(t)
			f.Title = t.Name + " asks for a broad scope"
			f.Evidence = map[string]any{"scopes": broad}
			found = append(found, f)
		}
	}
	return found
}

func broadOf(scopes []string) []string {
	var broad []string
	for _, scope := range scopes {
		if effect.BroadScope(scope) {
			broad = append(broad, scope)
		}
	}
	return broad
}

func missingScope(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		sensitive := t.HasHint("sensitive_data_access", tool.Medium)
		if len(scopesOf(s, t)) > 0 || !sensitive && !t.WriteTool() {
			continue
		}
		if a := s.ActionOf(t); a != nil && a.Declared != nil && a.Mode == "none" {
			continue
		}
		f := about(t)
		f.Title = t.Name + " lacks declared auth scopes"
		f.Confidence = tool.Medium
		f.Evidence = map[string]any{"risk_tags": riskTags(t)}
		f.Support, f.Provenance = restsOn(s, t, "sensitive_data_access", "write", "destructive", "external_write")
		found = append(found, f)
	}
	return found
}

// scopesOf is what a tool needs: what its source says, else what is declared.
func scopesOf(s *Subject, t *effect.Tool) []string {
	if a := s.ActionOf(t); a != nil && len(a.Scopes) > 0 {
		return a.Scopes
	}
	return t.Auth.Scopes
}

// riskTags are the tags that findings show: those that are not mere guesses.
func riskTags(t *effect.Tool) []string { return t.Tags(tool.Medium) }

func scopeCoverage(s *Subject) []Finding {
	granted, tools := s.Manifest.Permissions.Scopes, s.Tools()
	var found []Finding
	for i, t := range tools {
		needed := scopesOf(s, t)
		var missing []string
		for _, scope := range needed {
			if !slices.ContainsFunc(granted, func(g string) bool { return effect.Covers(g, scope) }) {
				missing = append(missing, scope)
			}
		}
		if len(missing) == 0 {
			continue
		}
		f := about(t)
		f.Title = t.Name + " requires scopes not declared in the manifest"
		f.Evidence = map[string]any{"tool_scopes": needed, "manifest_scopes": granted, "missing_scopes": missing}
		f.Repair = grantScope(s, missing)
		found = add(found, f, len(tools)-i)
	}
	return found
}

// grantScope proposes to grant what is missing: to grant is a decision, so it
// is never more than a proposal. One patch holds one value; with several
// missing scopes words are clearer than the first of several edits. There is
// nothing to append to where the list itself is missing.
func grantScope(s *Subject, missing []string) *Patch {
	if len(missing) != 1 || s.Manifest.At("permissions", "scopes").Line == 0 || effect.BroadScope(missing[0]) {
		return nil
	}
	return &Patch{
		Kind: AppendPointer, Pointer: "/permissions/scopes", Value: missing[0], Confidence: tool.Medium,
		Rationale: "The tool asks for this scope and no granted scope covers it.",
	}
}

func approvalMissing(s *Subject) []Finding {
	return uncontrolled(s, " lacks a declared approval policy", approved,
		"financial_action", "destructive", "infrastructure_change", "code_execution")
}

func confirmationMissing(s *Subject) []Finding {
	return uncontrolled(s, " lacks a declared confirmation policy", confirmed,
		"destructive", "external_write", "customer_communication")
}

// uncontrolled finds tools that carry one of the tags and lack a control.
func uncontrolled(s *Subject, title string, controlled func(*Subject, *effect.Tool) bool, tags ...string) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if t.EffectivelyReadOnly() || !hasAny(t, tags...) || controlled(s, t) {
			continue
		}
		f := about(t)
		f.Title = t.Name + title
		f.Evidence = map[string]any{"risk_tags": riskTags(t), "policy_match": nil}
		f.Support, f.Provenance = restsOn(s, t, tags...)
		found = append(found, f)
	}
	return found
}

func hasAny(t *effect.Tool, tags ...string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool { return t.HasHint(tag, tool.Medium) })
}

func idempotencyMissing(s *Subject) []Finding {
	tags := []string{"financial_action", "destructive", "external_write"}
	var found []Finding
	for _, t := range s.Tools() {
		if !t.WriteTool() || !hasAny(t, tags...) || idempotent(s, t) {
			continue
		}
		f := about(t)
		f.Title = t.Name + " lacks idempotency evidence"
		retried := t.Annotations["retryPolicy"] != nil
		if f.Confidence = tool.Medium; retried {
			f.Severity, f.Confidence = Critical, tool.High
		}
		f.Evidence = map[string]any{"risk_tags": riskTags(t), "retry_policy_known": retried}
		f.Support, f.Provenance = restsOn(s, t, tags...)
		found = append(found, f)
	}
	return found
}

// approved says whether somebody must agree before the tool runs: a policy or a
// declaration of the manifest, or a policy rule file of the API block that the
// tool comes from. A declared false is no approval.
func approved(s *Subject, t *effect.Tool) bool {
	if a := s.ActionOf(t); a != nil && a.Approval.Known {
		return a.Approval.Value
	}
	return s.Reading.API != nil && ofAPI(t) && slices.Contains(s.Reading.API.Policy.Approval, t.Name)
}

// confirmed says whether the user is asked before the tool runs.
func confirmed(s *Subject, t *effect.Tool) bool {
	if a := s.ActionOf(t); a != nil && a.Confirmation {
		return true
	}
	return s.Reading.API != nil && ofAPI(t) && slices.Contains(s.Reading.API.Policy.Confirmation, t.Name)
}

// idempotent says whether a second call does nothing more: by policy,
// annotation, parameter or declaration.
func idempotent(s *Subject, t *effect.Tool) bool {
	if a := s.ActionOf(t); a != nil && a.Idempotency.Known {
		return a.Idempotency.Value
	}
	return s.Reading.API != nil && ofAPI(t) && slices.Contains(s.Reading.API.Policy.Idempotency, t.Name)
}

// ofAPI says whether the rule files of an API block speak about the tool: they
// name tools by name and mean those of their own block.
func ofAPI(t *effect.Tool) bool {
	return t.Origin.Type == "openai_api" || t.Origin.Type == "anthropic_api"
}
