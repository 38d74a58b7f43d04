package delta

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
)

// NoBase is the note of a difference without base facts.
const NoBase = "There are no base facts to compare with, so no change of an action can be shown."

// criticalTags are the tags whose appearance alone is critical (§11.4).
var criticalTags = []string{"code_execution", "destructive", "financial_write", "identity_access", "production_ops", "secret_access"}

// DiffActions compares the actions of two sides by id: a rename is one removed
// action and one added (docs/spec/verification.md §11.4). Without a base it is
// not enabled and says so. Rows are in the order of ids, and of one action in
// the order of the types above.
func DiffActions(base, head *effect.Surface) *Actions {
	if base == nil || head == nil {
		return &Actions{Note: NoBase}
	}
	return diffActions(base.Actions, head.Actions)
}

// DiffReported is DiffActions with the actions of an earlier report for a base.
func DiffReported(base []*effect.Action, head *effect.Surface) *Actions {
	return diffActions(base, head.Actions)
}

func diffActions(base, head []*effect.Action) *Actions {
	base, head = apart(base, head, func(*effect.Action) bool { return true })
	before, after := byActionID(base), byActionID(head)
	var ids []string
	for id := range before {
		ids = append(ids, id)
	}
	for id := range after {
		if before[id] == nil {
			ids = append(ids, id)
		}
	}
	d := &Actions{Enabled: true}
	for _, id := range sorted(ids) {
		switch b, h := before[id], after[id]; {
		case b == nil:
			d.Rows = append(d.Rows, addedAction(h))
		case h == nil:
			d.Rows = append(d.Rows, removedAction(b))
		default:
			d.Rows = append(d.Rows, changedAction(b, h)...)
		}
	}
	return d
}

// apart is the actions of each side that the other has not as the very same one, of
// which same holds.
func apart(base, head []*effect.Action, same func(*effect.Action) bool) (ofBase, ofHead []*effect.Action) {
	known := make(map[*effect.Action]bool, len(base))
	for _, a := range base {
		known[a] = true
	}
	for _, a := range head {
		if known[a] && same(a) {
			known[a] = false
		} else {
			ofHead = append(ofHead, a)
		}
	}
	for _, a := range base {
		if known[a] {
			ofBase = append(ofBase, a)
		}
	}
	return ofBase, ofHead
}

func byActionID(actions []*effect.Action) map[string]*effect.Action {
	m := make(map[string]*effect.Action, len(actions))
	for _, a := range actions {
		m[a.ID] = a
	}
	return m
}

func row(kind ActionChange, base, head *effect.Action) ActionRow {
	a := head
	if a == nil {
		a = base
	}
	o := a.Tool.Origin
	return ActionRow{
		Type: kind, ActionID: a.ID, ToolID: a.Tool.ID, AgentID: a.AgentID, ToolName: a.Tool.Name, Operation: a.Operation,
		SourcePath: o.Path, SourceLine: o.Start.Line, Base: base, Head: head,
	}
}

func addedAction(h *effect.Action) ActionRow {
	r := row(ActionAdded, nil, h)
	reason := "The agent gained an action whose effect is " + spaced(h.Effect) + "."
	if h.Assessment.EffectStatus == effect.EffectUnknown {
		reason = "The agent gained an action. Nobody has said what it does; " + spaced(h.Effect) + " is assumed."
	}
	r.Severity, r.Reason, r.After = addedSeverity(h), reason, brief(h)
	return r
}

func addedSeverity(a *effect.Action) string {
	has := func(tag string) bool { return slices.Contains(a.RiskTags, tag) }
	switch {
	case slices.ContainsFunc(criticalTags, has):
		return "critical"
	case has("external_communication"):
		return "high"
	case has("writes_data") || a.Effect != effect.Read:
		return "medium"
	}
	return "info"
}

func removedAction(b *effect.Action) ActionRow {
	r := row(ActionRemoved, b, nil)
	r.Severity, r.Reason, r.Before = "info", "The agent lost an action whose effect was "+spaced(b.Effect)+".", brief(b)
	return r
}

func spaced(e effect.Effect) string { return strings.ReplaceAll(string(e), "_", " ") }

// brief is what a person needs to know of an action that stands alone.
func brief(a *effect.Action) map[string]any {
	return map[string]any{
		"effect": string(a.Effect), "risk_tags": list(sorted(a.RiskTags)), "required_scopes": list(sorted(a.Scopes)),
	}
}

// changedAction is every row that two sides of one action give.
func changedAction(b, h *effect.Action) []ActionRow {
	var rows []ActionRow
	add := func(kind ActionChange, severity, reason string, before, after any) *ActionRow {
		r := row(kind, b, h)
		r.Severity, r.Reason, r.Before, r.After = severity, reason, before, after
		rows = append(rows, r)
		return &rows[len(rows)-1]
	}
	if added := without(h.Scopes, b.Scopes); len(added) > 0 {
		severity := "high"
		if slices.ContainsFunc(added, effect.BroadScope) {
			severity = "critical"
		}
		r := add(ScopeExpanded, severity, "The action asks for more scopes.", list(sorted(b.Scopes)), list(sorted(h.Scopes)))
		r.Added, r.Removed = added, without(b.Scopes, h.Scopes)
	}
	if effect.DeltaRank(h.Effect) > effect.DeltaRank(b.Effect) {
		add(EffectEscalated, "critical", "The effect of the action reaches further.", string(b.Effect), string(h.Effect))
	}
	if added := warnings(without(h.RiskTags, b.RiskTags)); len(added) > 0 {
		severity := "high"
		if slices.ContainsFunc(added, func(tag string) bool { return slices.Contains(criticalTags, tag) }) {
			severity = "critical"
		}
		r := add(RiskTagAdded, severity, "The action gained risk tags.", list(sorted(b.RiskTags)), list(sorted(h.RiskTags)))
		r.Added, r.Removed = added, without(b.RiskTags, h.RiskTags)
	}
	if lost(b.Approval, h.Approval) {
		add(ApprovalRemoved, "critical", "The action needs no approval any more.", optional(held(b.Approval)), optional(held(h.Approval)))
	}
	for _, g := range []struct {
		name          string
		before, after effect.Control
	}{
		{"idempotency", b.Idempotency, h.Idempotency},
		{"audit_log", b.AuditLog, h.AuditLog},
		{"rollback", b.Rollback, h.Rollback},
		{"dry_run", b.DryRun, h.DryRun},
	} {
		if !lost(g.before, g.after) {
			continue
		}
		severity := "high"
		if g.name == "rollback" && destructive(h) {
			severity = "critical"
		}
		r := add(SafeguardRemoved, severity, "The action lost the safeguard "+g.name+".", optional(held(g.before)), optional(held(g.after)))
		r.Safeguard = g.name
	}
	fields := without(h.Inputs, b.Inputs)
	required := without(h.RequiredInputs, b.RequiredInputs)
	if len(fields)+len(required) > 0 {
		r := add(InputSchemaExpanded, "medium", "The action takes or demands more inputs.", schemaOf(b), schemaOf(h))
		r.Added = sorted(slices.Concat(fields, required))
		r.Removed = sorted(slices.Concat(without(b.Inputs, h.Inputs), without(b.RequiredInputs, h.RequiredInputs)))
	}
	if len(rows) == 0 && (b.SchemaHash != h.SchemaHash || b.PolicyHash != h.PolicyHash || b.RiskHash != h.RiskHash || b.IdentityHash != h.IdentityHash) {
		add(ActionModified, "medium", "The action differs in a way that none of the other rows names.", hashesOf(b), hashesOf(h))
	}
	return rows
}

// warnings leaves out read_only, the one tag that promises less.
func warnings(tags []string) []string {
	return slices.DeleteFunc(tags, func(tag string) bool { return tag == "read_only" })
}

// lost: required, and then not required or not known.
func lost(before, after effect.Control) bool {
	return before.Known && before.Value && (!after.Known || !after.Value)
}

func destructive(a *effect.Action) bool {
	return a.Effect == effect.Destructive || a.Assessment.Eligible(effect.Destructive)
}

func schemaOf(a *effect.Action) map[string]any {
	return map[string]any{inputFields: list(sorted(a.Inputs)), requiredFields: list(sorted(a.RequiredInputs))}
}

func hashesOf(a *effect.Action) map[string]any {
	return map[string]any{
		"identity_hash": a.IdentityHash, "policy_hash": a.PolicyHash, "risk_hash": a.RiskHash, "schema_hash": a.SchemaHash,
	}
}

// Change is the row as the evidence of a finding. The place is left out: it
// never enters a fingerprint.
func (r *ActionRow) Change() map[string]any {
	change := map[string]any{"type": string(r.Type), "reason": r.Reason, "before": r.Before, "after": r.After}
	if r.Safeguard != "" {
		change["safeguard"] = r.Safeguard
	}
	if len(r.Added) > 0 {
		change["added"] = list(r.Added)
	}
	if len(r.Removed) > 0 {
		change["removed"] = list(r.Removed)
	}
	return change
}
