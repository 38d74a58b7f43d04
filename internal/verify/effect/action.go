package effect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// token is a name in the form that is compared: lower case, and one underscore
// for everything that is no letter, digit, dot, dash or underscore.
func token(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' || r == '_' {
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return b.String()
}

// operation is what a tool does in its provider's words (§5.5).
func operation(t *Tool) string {
	if method, path := t.Method(); method != "" {
		parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
		return method + " /" + strings.Join(parts, "/")
	}
	return cmp.Or(token(t.Name), t.Name)
}

// act takes the actions of the judged tools: one per reachable one.
func (x *resolver) act() error {
	s := x.s
	s.judged = true
	s.reached, s.Actions = make([]*Tool, 0, len(s.Catalog)), make([]*Action, 0, len(s.Catalog))
	for _, t := range s.Catalog {
		if t.acts != nil {
			s.reached, s.Actions = append(s.reached, t), append(s.Actions, t.acts)
		}
	}
	if err := x.collide(); err != nil {
		return err
	}
	slices.SortFunc(s.Actions, func(a, b *Action) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// action is the action of a tool that the root agent reaches.
func (t *Tool) action(as Assessment, au authority) *Action {
	w := &t.under
	d := w.declared
	a := &Action{
		AgentID: w.root, Tool: t, Declared: d, Owner: t.Owner, Assessment: as, Effect: as.Conservative(),
		Provider: token(t.Provider), Operation: operation(t),
		Scopes: sorted(au.scopes), AuthType: au.authType, Mode: au.mode, Credential: au.credential,
	}
	var approval *bool
	var guards manifest.Safeguards
	if d != nil {
		a.Provider, a.Operation = cmp.Or(token(d.Provider), a.Provider), cmp.Or(d.Operation, a.Operation)
		guards = d.Safeguards
		if d.Approval != nil {
			approval, a.Threshold = d.Approval.Required, d.Approval.Threshold
		}
		a.Owner = cmp.Or(d.Evidence.Owner, a.Owner)
		a.Runbook, a.ApprovalTicket = d.Evidence.Runbook, d.Evidence.ApprovalTicket
	}
	inherited, from := t.inheritedApproval()
	a.Approval = control(inherited, from, approval)
	inherited, from = t.inheritedIdempotency()
	a.Idempotency = control(inherited, from, guards.Idempotency)
	inherited, from = inheritedFlag(t, "audit_log", "auditLog")
	a.AuditLog = control(inherited, from, guards.AuditLog)
	inherited, from = inheritedFlag(t, "rollback")
	a.Rollback = control(inherited, from, guards.Rollback)
	inherited, from = inheritedFlag(t, "dry_run", "dryRun")
	a.DryRun = control(inherited, from, guards.DryRun)
	a.Confirmation = w.confirmation && a.Assessment.IdentityEligible

	a.RiskTags = riskTags(t, d, a)
	a.Inputs, a.RequiredInputs = []string{}, []string{}
	for name, required := range t.Interface {
		a.Inputs = append(a.Inputs, name)
		if required {
			a.RequiredInputs = append(a.RequiredInputs, name)
		}
	}
	slices.Sort(a.Inputs)
	slices.Sort(a.RequiredInputs)
	a.ID = cmp.Or(declaredID(d), a.inferredID())
	a.hash()
	return a
}

func declaredID(d *manifest.Action) string {
	if d == nil {
		return ""
	}
	return d.ID
}

// inferredID holds the tool id, so no two actions of one side share it.
func (a *Action) inferredID() string {
	return a.AgentID + ":action_v2_" + digest(canonical.UTF8, canonical.Object{
		{Key: "agent_id", Value: a.AgentID},
		{Key: "operation", Value: a.Operation},
		{Key: "provider", Value: a.Provider},
		{Key: "tool_id", Value: a.Tool.ID},
	})
}

// riskTags are the tags of hints, of the declaration, of the effect and of every
// effect that a control may rest on.
func riskTags(t *Tool, d *manifest.Action, a *Action) []string {
	tags := []string{a.Effect.Tag()}
	for _, h := range t.Hints {
		tags = append(tags, RiskTag(h.Tag))
	}
	if d != nil {
		for _, tag := range d.RiskTags {
			tags = append(tags, RiskTag(tag))
		}
	}
	for _, e := range a.Assessment.Control {
		tags = append(tags, e.Tag())
	}
	return sorted(tags)
}

// collide refuses declarations that make two actions one (§5.5): by their id, or
// by a provider and an operation that another action has.
func (x *resolver) collide() error {
	byID, byWhat := map[string]*Action{}, map[[2]string]*Action{}
	for _, a := range x.s.Actions {
		if other := byID[a.ID]; other != nil {
			return x.collision(a, other, "id", fmt.Sprintf("the action id %q belongs to two tools, %s and %s", a.ID, other.Tool.Name, a.Tool.Name))
		}
		byID[a.ID] = a
		what := [2]string{a.Provider, a.Operation}
		other := byWhat[what]
		if other != nil && (a.declaresWhat() || other.declaresWhat()) {
			return x.collision(a, other, "operation", fmt.Sprintf(
				"the provider %q and the operation %q belong to two tools, %s and %s", a.Provider, a.Operation, other.Tool.Name, a.Tool.Name,
			))
		}
		// A declared one stays in the table, so that any later one meets it.
		if other == nil || a.declaresWhat() {
			byWhat[what] = a
		}
	}
	return nil
}

func (a *Action) declaresWhat() bool {
	return a.Declared != nil && (a.Declared.Provider != "" || a.Declared.Operation != "")
}

func (x *resolver) collision(a, other *Action, key, msg string) error {
	d := a.Declared
	if d == nil || key == "id" && d.ID == "" || key != "id" && !a.declaresWhat() {
		d = other.Declared
	}
	err := &ConfigError{File: x.m.Name, Path: []string{"action_surface", "actions"}, Msg: msg}
	if d != nil {
		if key != "id" && d.Operation == "" {
			key = "provider"
		}
		err.Path = append(err.Path, fmt.Sprint(d.Index), key)
		err.Pos = d.Pos
		if pos := x.m.At(err.Path...); pos.Line > 0 {
			err.Pos = pos
		}
	}
	return err
}

// hash sets the four hashes of an action. They hold what is known, never where
// it stands.
func (a *Action) hash() {
	a.IdentityHash = digest(canonical.UTF8, a.ID)
	a.SchemaHash = digest(canonical.UTF8, canonical.Object{
		{Key: "input_fields", Value: a.Inputs},
		{Key: "required_input_fields", Value: a.RequiredInputs},
	})
	a.PolicyHash = digest(canonical.UTF8, canonical.Object{
		{Key: "approval_policy", Value: canonical.Object{{Key: "required", Value: a.Approval.json()}, {Key: "threshold", Value: a.Threshold}}},
		{Key: "confirmation", Value: a.Confirmation},
		{Key: "evidence", Value: canonical.Object{
			{Key: "approval_ticket", Value: a.ApprovalTicket}, {Key: "owner", Value: a.Owner}, {Key: "runbook", Value: a.Runbook},
		}},
		{Key: "safeguards", Value: canonical.Object{
			{Key: "audit_log", Value: a.AuditLog.json()},
			{Key: "dry_run", Value: a.DryRun.json()},
			{Key: "idempotency", Value: a.Idempotency.json()},
			{Key: "rollback", Value: a.Rollback.json()},
		}},
	})
	as := &a.Assessment
	control := make([]string, 0, len(as.Control))
	for _, e := range as.Control {
		control = append(control, string(e))
	}
	kinds := make([]string, 0, len(as.Issues))
	for _, i := range as.Issues {
		kinds = append(kinds, i.Kind)
	}
	a.RiskHash = digest(canonical.UTF8, canonical.Object{
		{Key: "assessment", Value: canonical.Object{
			{Key: "authority_mode", Value: as.AuthorityMode},
			{Key: "authority_status", Value: string(as.AuthorityStatus)},
			{Key: "control_effects", Value: control},
			{Key: "effect_status", Value: string(as.EffectStatus)},
			{Key: "issues", Value: sorted(kinds)},
			{Key: "pass_eligible", Value: as.PassEligible},
		}},
		{Key: "authority", Value: canonical.Object{{Key: "auth_type", Value: a.AuthType}, {Key: "credential_mode", Value: a.Credential}}},
		{Key: "effect", Value: string(a.Effect)},
		{Key: "risk_tags", Value: a.RiskTags},
		{Key: "scopes", Value: a.Scopes},
	})
}

func (c Control) json() any {
	if !c.Known {
		return nil
	}
	return c.Value
}

// unreadSources are the sources that their readers could not enumerate, with
// why.
func unreadSources(r *tool.Reading) map[string]string {
	unread := map[string]string{}
	for _, d := range r.Dynamic {
		if d.Resolved || d.Kind == "schema" && d.Name != "" {
			continue
		}
		why := "not all tools of its source could be listed (" + strings.ReplaceAll(cmp.Or(d.Reason, d.Kind), "_", " ") + ")"
		if have, ok := unread[d.Origin.SourceID]; !ok || why < have {
			unread[d.Origin.SourceID] = why
		}
	}
	return unread
}
