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
	if plainToken(name) {
		return name
	}
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

// plainToken says whether a name has the form already, as most have.
func plainToken(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !lower(c) && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
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
func (t *Tool) action(h *hand, as Assessment, au authority) *Action {
	w := &t.under
	d := w.declared
	a := &Action{
		AgentID: w.root, Tool: t, Declared: d, Owner: t.Owner, Assessment: as, Effect: as.Conservative(),
		Provider: token(t.Provider), Operation: operation(t),
		Scopes: au.scopes, AuthType: au.authType, Mode: au.mode, Credential: au.credential,
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
	a.Inputs, a.RequiredInputs = t.inputs()
	if a.ID = declaredID(d); a.ID == "" {
		a.ID = a.inferredID(h)
	}
	a.hash(h)
	return a
}

// inputs are the names of what a tool takes and of what it demands, sorted; none
// when no schema is known.
func (t *Tool) inputs() (all, required []string) {
	if !t.SchemaKnown() {
		return []string{}, []string{}
	}
	all, required = make([]string, 0, len(t.Params)), make([]string, 0, len(t.Params))
	for i := range t.Params {
		all = append(all, t.Params[i].Name)
		if t.Params[i].Required {
			required = append(required, t.Params[i].Name)
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	return slices.Compact(all), slices.Compact(required)
}

func declaredID(d *manifest.Action) string {
	if d == nil {
		return ""
	}
	return d.ID
}

// inferredID holds the tool id, so no two actions of one side share it.
func (a *Action) inferredID(h *hand) string {
	h.start()
	h.string("agent_id", a.AgentID)
	h.string("operation", a.Operation)
	h.string("provider", a.Provider)
	h.string("tool_id", a.Tool.ID)
	h.close()
	return h.digest(a.AgentID + ":action_v2_")
}

// riskTags are the tags of hints, of the declaration, of the effect and of every
// effect that a control may rest on.
func riskTags(t *Tool, d *manifest.Action, a *Action) []string {
	tags := append(make([]string, 0, 4), a.Effect.Tag())
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
	slices.Sort(tags)
	return slices.Compact(tags)
}

// collide refuses declarations that make two actions one (§5.5): by their id, or
// by a provider and an operation that another action has.
func (x *resolver) collide() error {
	// What is inferred holds the id of its tool: two that nobody declared differ.
	if !slices.ContainsFunc(x.s.Actions, func(a *Action) bool { return declaredID(a.Declared) != "" || a.declaresWhat() }) {
		return nil
	}
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
func (a *Action) hash(h *hand) {
	h.text = canonical.UTF8.AppendString(h.text[:0], a.ID)
	a.IdentityHash = h.digest("")

	h.start()
	h.strings("input_fields", a.Inputs)
	h.strings("required_input_fields", a.RequiredInputs)
	h.close()
	a.SchemaHash = h.common()

	h.start()
	h.open("approval_policy")
	h.control("required", a.Approval)
	h.string("threshold", a.Threshold)
	h.close()
	h.flag("confirmation", a.Confirmation)
	h.open("evidence")
	h.string("approval_ticket", a.ApprovalTicket)
	h.string("owner", a.Owner)
	h.string("runbook", a.Runbook)
	h.close()
	h.open("safeguards")
	h.control("audit_log", a.AuditLog)
	h.control("dry_run", a.DryRun)
	h.control("idempotency", a.Idempotency)
	h.control("rollback", a.Rollback)
	h.close()
	h.close()
	a.PolicyHash = h.common()

	as := &a.Assessment
	control, kinds := make([]string, 0, 16), make([]string, 0, 16)
	for _, e := range as.Control {
		control = append(control, string(e))
	}
	for i := range as.Issues {
		kinds = append(kinds, as.Issues[i].Kind)
	}
	slices.Sort(kinds)
	h.start()
	h.open("assessment")
	h.string("authority_mode", as.AuthorityMode)
	h.string("authority_status", string(as.AuthorityStatus))
	h.strings("control_effects", control)
	h.string("effect_status", string(as.EffectStatus))
	h.strings("issues", slices.Compact(kinds))
	h.flag("pass_eligible", as.PassEligible)
	h.close()
	h.open("authority")
	h.string("auth_type", a.AuthType)
	h.string("credential_mode", a.Credential)
	h.close()
	h.string("effect", string(a.Effect))
	h.strings("risk_tags", a.RiskTags)
	h.strings("scopes", a.Scopes)
	h.close()
	a.RiskHash = h.common()
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
