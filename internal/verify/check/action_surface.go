package check

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
)

// actionSurface are the rows of §12.2: what an action may do against the
// controls that stand before it, and what a change took away from them. Each
// blocks by itself where its evidence allows.
var actionSurface = []*Check{
	{
		ID: "SHIP-ACTION-APPROVAL-REMOVED", Category: "action_surface", Severity: Critical, Floor: High, Tier: Core,
		Title:          "An action no longer needs approval",
		Description:    "Compares every action with the same action at the base and looks for an approval that was required there.",
		Rationale:      "An approval that disappears in a change is a decision that a person made and a diff unmade.",
		FiresWhen:      "approval.required was true at the base and is false or unknown now.",
		EvidenceFields: []string{"action_id", "change"},
		Recommendation: "Restore the approval; only the owner of the action may give it up.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: approvalRemoved,
	},
	{
		ID: "SHIP-ACTION-CONTROL-DOWNGRADE", Category: "action_surface", Severity: High, Tier: Core,
		Title:          "A declaration switches off a control that stands",
		Description:    "Compares what action_surface declares of a control with what a policy, an annotation or a parameter of the tool gives.",
		Rationale:      "A declaration is the last word on a control. If the last word is no while the tool says yes, somebody has to answer for it.",
		FiresWhen:      "A declared action sets a control to false that a policy, annotation or parameter gives as true.",
		EvidenceFields: []string{"action_id", "path", "inherited", "declared"},
		Recommendation: "Remove the false from the declaration, or have the owner of the action take back the policy it contradicts.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: controlDowngrade,
	},
	{
		ID: "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING", Category: "action_surface", Severity: Critical, Floor: High, Tier: Core,
		Title:          "A destructive action lacks a control",
		Description:    "Looks at actions that destroy, by evidence that a control may rest on, and at approval, rollback and confirmation.",
		Rationale:      "What is gone cannot be asked for again: somebody agrees first, the person affected is asked, and there is a way back.",
		FiresWhen:      "An action with the effect destructive lacks a required approval, a rollback, or a confirmation policy that names exactly this tool.",
		EvidenceFields: []string{"action_id", "missing"},
		Recommendation: "Declare the missing controls once they exist; only the owner of the action may assert them.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: obligationOf("SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING"),
	},
	{
		ID: "SHIP-ACTION-EFFECT-DOWNGRADE-DECLARED", Category: "action_surface", Severity: High, Tier: Core,
		Title:          "A declared effect is milder than the evidence",
		Description:    "Compares the declared effect of an action with what its protocol, its provider's hints and its scopes say.",
		Rationale:      "Every control hangs on the effect. A milder word for it takes all of them away at once.",
		FiresWhen:      "The evidence about the effect is in conflict, and the declared effect ranks below the strongest effect that something else proves.",
		EvidenceFields: []string{"action_id", "inferred_effect", "declared_effect"},
		Recommendation: "Declare the effect that the evidence shows, or correct the source; only the owner may say why the evidence is wrong.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: effectDowngrade,
	},
	{
		ID: "SHIP-ACTION-EFFECT-ESCALATED", Category: "action_surface", Severity: Critical, Floor: High, Tier: Core,
		Title:          "The effect of an action reaches further than before",
		Description:    "Compares the effect of every action with its effect at the base.",
		Rationale:      "The same name with a stronger effect is a new power that nobody was asked about.",
		FiresWhen:      "The effect ranks higher than at the base: read, privileged data, write, external communication, money, production, identity or code, destruction.",
		EvidenceFields: []string{"action_id", "change"},
		Recommendation: "Restore the effect, or have the owner review the action with its new effect and the controls it now needs.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: effectEscalated,
	},
	{
		ID: "SHIP-ACTION-EXTERNAL-COMMUNICATION-AUDIT-MISSING", Category: "action_surface", Severity: High, Tier: Core,
		Title:          "An action that writes to the outside lacks a control",
		Description:    "Looks at actions that send something to people or systems outside, by evidence that a control may rest on, and at audit log and confirmation.",
		Rationale:      "What was sent cannot be taken back; it can only be asked about before and looked up after.",
		FiresWhen:      "An action with the effect external_communication lacks an audit log, or a confirmation policy that names exactly this tool.",
		EvidenceFields: []string{"action_id", "missing"},
		Recommendation: "Declare the missing controls once they exist; only the owner of the action may assert them.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: obligationOf("SHIP-ACTION-EXTERNAL-COMMUNICATION-AUDIT-MISSING"),
	},
	{
		ID: "SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING", Category: "action_surface", Severity: Critical, Floor: High, Tier: Core,
		Title:          "An action that moves money lacks a control",
		Description:    "Looks at actions that move money, by evidence that a control may rest on, and at approval, audit log and idempotency.",
		Rationale:      "A payment made twice, by mistake or by persuasion, is found by whoever keeps the record; if nobody keeps one, by whoever lost the money.",
		FiresWhen:      "An action with the effect financial_write lacks a required approval, an audit log or idempotency.",
		EvidenceFields: []string{"action_id", "missing"},
		Recommendation: "Declare the missing controls once they exist; only the owner of the action may assert them.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: obligationOf("SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING"),
	},
	{
		ID: "SHIP-ACTION-POLICY-VIOLATION", Category: "action_surface", Severity: High, Floor: Medium, Dynamic: true, Tier: Core,
		Title:          "An action breaks a policy of its surface",
		Description:    "Evaluates the policies of action_surface, and the built-in one that asks approval for production operations and code execution.",
		Rationale:      "A policy that a team wrote down is a promise to somebody; this is where it is kept.",
		FiresWhen:      "Every given predicate of a policy is matched by evidence that a control may rest on, and a required value does not hold. A predicate that cannot be judged is a gap, not a finding.",
		EvidenceFields: []string{"policy_id", "action_id", "missing"},
		Recommendation: "Declare or restore the control that the policy asks for; only the owner of the action may assert it.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: policyViolations,
	},
	{
		ID: "SHIP-ACTION-SAFEGUARD-REMOVED", Category: "action_surface", Severity: High, Tier: Core,
		Title:          "An action lost a safeguard",
		Description:    "Compares idempotency, audit log, rollback and dry run of every action with the base.",
		Rationale:      "A safeguard is noticed on the day it is missing.",
		FiresWhen:      "A safeguard was true at the base and is false or unknown now. One finding a safeguard.",
		EvidenceFields: []string{"action_id", "change"},
		Recommendation: "Restore the safeguard; only the owner of the action may give it up.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: safeguardRemoved,
	},
	{
		ID: "SHIP-ACTION-UNDECLARED", Category: "action_surface", Severity: High, Tier: Core,
		Title:          "A tool has no declared action",
		Description:    "Where the manifest demands that every action is declared, looks for reachable tools without a declaration.",
		Rationale:      "A team that lists its actions wants to hear of the one that is not on the list.",
		FiresWhen:      "action_surface.require_explicit_actions is true and the root agent reaches a tool that no entry of action_surface.actions selects.",
		EvidenceFields: []string{"action_id", "tool_name"},
		Recommendation: "Have the owner declare the action, or take the tool away from the agent.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: undeclared,
	},
	{
		ID: "SHIP-ACTION-WILDCARD-SCOPE", Category: "action_surface", Severity: Critical, Floor: High, Tier: Core,
		Title:          "An action acts with a broad scope",
		Description:    "Looks at the scopes that each action needs, now and against the base.",
		Rationale:      "A wildcard is every scope that exists and every one that will.",
		FiresWhen:      "One of the scopes of an action is *, admin, write-all, or ends in :* or /*.",
		EvidenceFields: []string{"action_id", "scopes", "change"},
		Recommendation: "Ask for the narrow scopes that the action needs; only the owner may keep a broad one.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: wildcardScope,
	},
}

// ofAction is a finding about an action. It blocks as far as its support lets
// it; without support it rests on what is written down.
func ofAction(a *effect.Action, evidence map[string]any, support *Support) Finding {
	f := about(a.Tool)
	f.AgentID = a.AgentID
	f.Evidence = map[string]any{"action_id": a.ID}
	for key, value := range evidence {
		f.Evidence[key] = value
	}
	f.BlocksRelease = support == nil || support.BlockingEligible
	if f.Support = support; support != nil {
		f.Confidence = support.Confidence
	}
	return f
}

// declaredAt points a finding at the declaration of its action, if there is one.
func declaredAt(s *Subject, a *effect.Action, f Finding) Finding {
	if a.Declared != nil {
		f.Source = inManifest(s.Manifest, "action_surface", "actions", index(a.Declared.Index)).Source
	}
	return f
}

// changesOf are the findings about rows of the action difference of one type.
func changesOf(s *Subject, kind delta.ActionChange, title func(*delta.ActionRow) string) []Finding {
	var found []Finding
	for i := range s.Diff.Rows {
		r := &s.Diff.Rows[i]
		if r.Type != kind || r.Head == nil {
			continue
		}
		f := ofAction(r.Head, map[string]any{"change": r.Change()}, nil)
		f.Title = title(r)
		found = append(found, f)
	}
	return found
}

func approvalRemoved(s *Subject) []Finding {
	return changesOf(s, delta.ApprovalRemoved, func(r *delta.ActionRow) string { return r.ToolName + " no longer needs approval" })
}

func safeguardRemoved(s *Subject) []Finding {
	return changesOf(s, delta.SafeguardRemoved, func(r *delta.ActionRow) string { return r.ToolName + " lost the safeguard " + r.Safeguard })
}

// effectEscalated rests on what the head proves: an effect that only words have
// raised is a question, which its support says.
func effectEscalated(s *Subject) []Finding {
	found := changesOf(s, delta.EffectEscalated, func(r *delta.ActionRow) string { return r.ToolName + " reaches further than before" })
	rows := rowsOf(s, delta.EffectEscalated)
	for i := range found {
		before, head := rows[i].Base.Effect, rows[i].Head
		var claims []effect.Claim
		for _, c := range head.Assessment.Claims {
			if c.Dimension == effect.EffectDimension && effect.DeltaRank(effect.Effect(c.Value)) > effect.DeltaRank(before) {
				claims = append(claims, c)
			}
		}
		f := &found[i]
		f.Support = conjunction(claimed("effect_escalated", "at most "+string(before), string(head.Effect), claims))
		f.BlocksRelease, f.Confidence = f.Support.BlockingEligible, f.Support.Confidence
		if !f.Support.PolicyEligible && onlyWords(claims) {
			f.Provenance = KeywordHeuristic
		}
	}
	return found
}

func rowsOf(s *Subject, kind delta.ActionChange) []*delta.ActionRow {
	var rows []*delta.ActionRow
	for i := range s.Diff.Rows {
		if r := &s.Diff.Rows[i]; r.Type == kind && r.Head != nil {
			rows = append(rows, r)
		}
	}
	return rows
}

func onlyWords(claims []effect.Claim) bool {
	return len(claims) > 0 && !slices.ContainsFunc(claims, func(c effect.Claim) bool { return !c.Basis.Inferred() })
}

func controlDowngrade(s *Subject) []Finding {
	var found []Finding
	for _, a := range s.Acting() {
		for _, c := range controls(a) {
			if !c.control.Downgraded() {
				continue
			}
			f := declaredAt(s, a, ofAction(a, map[string]any{"path": c.path, "inherited": true, "declared": false}, nil))
			f.Title = a.Tool.Name + " declares " + c.path + " away"
			found = append(found, f)
		}
	}
	return found
}

type namedControl struct {
	path    string
	control effect.Control
}

// controls are the controls of an action by the paths that findings use.
func controls(a *effect.Action) []namedControl {
	return []namedControl{
		{"approval.required", a.Approval},
		{"safeguards.idempotency", a.Idempotency},
		{"safeguards.audit_log", a.AuditLog},
		{"safeguards.rollback", a.Rollback},
		{"safeguards.dry_run", a.DryRun},
	}
}

func effectDowngrade(s *Subject) []Finding {
	var found []Finding
	for _, a := range s.Acting() {
		if a.Assessment.EffectStatus != effect.EffectConflicting || a.Declared == nil || a.Declared.Effect == "" {
			continue
		}
		declared := effect.Effect(a.Declared.Effect)
		strongest, ok := elsewhere(a)
		if !ok || effect.DeltaRank(declared) >= effect.DeltaRank(effect.Effect(strongest.Value)) {
			continue
		}
		f := declaredAt(s, a, ofAction(a, map[string]any{
			"inferred_effect": strongest.Value, "declared_effect": string(declared),
		}, conjunction(claimed("declared_effect", strongest.Value, string(declared), []effect.Claim{strongest}))))
		f.Title = a.Tool.Name + " is declared " + string(declared) + " and proves " + strongest.Value
		found = append(found, f)
	}
	return found
}

// elsewhere is the strongest claim about the effect that is no declaration and
// that a control may rest on.
func elsewhere(a *effect.Action) (strongest effect.Claim, ok bool) {
	for _, c := range a.Assessment.Claims {
		if c.Dimension != effect.EffectDimension || c.Basis == effect.ReviewedDeclaration || !c.Eligible {
			continue
		}
		if !ok || effect.DeltaRank(effect.Effect(c.Value)) > effect.DeltaRank(effect.Effect(strongest.Value)) {
			strongest, ok = c, true
		}
	}
	return strongest, ok
}

func undeclared(s *Subject) []Finding {
	if !s.Manifest.Surface.RequireExplicit {
		return nil
	}
	var found []Finding
	for _, a := range s.Acting() {
		if a.Declared != nil {
			continue
		}
		f := ofAction(a, map[string]any{"tool_name": a.Tool.Name}, nil)
		f.Title = a.Tool.Name + " has no declared action"
		found = append(found, f)
	}
	return found
}

// wildcardScope is one finding an action, whether it holds a broad scope or has
// just gained one.
func wildcardScope(s *Subject) []Finding {
	gained := map[string]map[string]any{}
	for _, r := range rowsOf(s, delta.ScopeExpanded) {
		if slices.ContainsFunc(r.Added, effect.BroadScope) {
			gained[r.ActionID] = r.Change()
		}
	}
	var found []Finding
	for _, a := range s.Acting() {
		broad := broadOf(a.Scopes)
		if len(broad) == 0 {
			continue
		}
		slices.Sort(broad)
		var change any
		if c, ok := gained[a.ID]; ok {
			change = c
		}
		support := conjunction(scopePredicate(a, broad))
		f := declaredAt(s, a, ofAction(a, map[string]any{"scopes": broad, "change": change}, support))
		f.Title = a.Tool.Name + " acts with the broad scope " + strings.Join(broad, ", ")
		if change != nil {
			f.Title = a.Tool.Name + " gained the broad scope " + strings.Join(broad, ", ")
		}
		found = append(found, f)
	}
	return found
}

// scopePredicate: a scope is read off the source or declared by a person; either
// way it is there.
func scopePredicate(a *effect.Action, broad []string) Predicate {
	p := predicate("required_scopes", true, "no broad scope", broad)
	basis := effect.StructuralScope
	if a.Declared != nil && a.Declared.Scopes != nil {
		basis = effect.ReviewedDeclaration
	}
	p.Bases = []effect.Basis{basis}
	for _, c := range a.Assessment.Claims {
		if c.Dimension == effect.AuthorityDimension && c.ID != "" {
			p.ClaimIDs = append(p.ClaimIDs, c.ID)
		}
	}
	slices.Sort(p.ClaimIDs)
	return p
}
