package delta

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Limits of a report whose actions are read back.
const (
	MaxReport  = 64 << 20 // bytes
	maxActions = 100_000
)

// oldestActions is the oldest minor version of report.json whose actions are
// read: earlier ones hash other things.
const oldestActions = 34

// ReadActions reads the actions of an earlier report.json, version 0.34 or
// later, as far as DiffReported compares them (docs/spec/verification.md §9.1,
// --diff-from). They have no place: a report names none for an action. The error
// is a fault of kind Invalid and repeats nothing of the text.
func ReadActions(text []byte) ([]*effect.Action, error) {
	if len(text) > MaxReport {
		return nil, noReport(fmt.Sprintf("is over %d MiB", MaxReport>>20))
	}
	root, failed := source.ParseJSON(text)
	if failed != nil {
		return nil, noReport(fmt.Sprintf("is no JSON at %d:%d", failed.Pos.Line, failed.Pos.Column))
	}
	if !recent(root.Get("report_schema_version").Str()) {
		return nil, noReport(fmt.Sprintf("is no report.json of version 0.%d or later", oldestActions))
	}
	rows := root.At("action_surface_facts", "actions")
	if rows.Kind != source.List {
		return nil, noReport("has no list action_surface_facts.actions")
	}
	if len(rows.Items) > maxActions {
		return nil, noReport(fmt.Sprintf("has more than %d actions", maxActions))
	}
	actions := make([]*effect.Action, 0, len(rows.Items))
	seen := map[string]bool{}
	for _, item := range rows.Items {
		var r record
		a := r.action(item)
		if r.wrong != "" {
			return nil, noReport(fmt.Sprintf("has another shape in %s of the action at line %d", r.wrong, item.Pos.Line))
		}
		if seen[a.ID] {
			return nil, noReport(fmt.Sprintf("has an action twice: line %d", item.Pos.Line))
		}
		seen[a.ID] = true
		actions = append(actions, a)
	}
	return actions, nil
}

func noReport(detail string) error {
	return fault.E("delta.ReadActions", fault.Invalid, "the earlier report "+detail, nil).
		WithHint("Name a report.json that shipgate verify or scan wrote, in this version.")
}

// recent says whether a version is 0.34 or a later 0.N.
func recent(version string) bool {
	minor, ok := strings.CutPrefix(version, "0.")
	n, err := strconv.Atoi(minor)
	return ok && err == nil && n >= oldestActions && minor == strconv.Itoa(n)
}

// record reads one action; wrong is the first member that has another shape.
type record struct{ wrong string }

func (r *record) bad(key string) {
	if r.wrong == "" {
		r.wrong = key
	}
}

// word is a text; null where it may be unknown.
func (r *record) word(v source.Value, key string, nullable bool) string {
	m := v.Get(key)
	if m.Kind != source.String && (m.Kind != source.Null || !nullable) {
		r.bad(key)
	}
	return m.Str()
}

func (r *record) words(v source.Value, key string) []string {
	m := v.Get(key)
	if m.Kind != source.List {
		r.bad(key)
		return nil
	}
	out := make([]string, 0, len(m.Items))
	for _, item := range m.Items {
		if item.Kind != source.String {
			r.bad(key)
		}
		out = append(out, item.Text)
	}
	return sorted(out)
}

// control is true, false, or null for what nobody said.
func (r *record) control(v source.Value, key string) effect.Control {
	switch m := v.Get(key); m.Kind {
	case source.Bool:
		return effect.Control{Known: true, Value: m.Truth}
	case source.Null:
	default:
		r.bad(key)
	}
	return effect.Control{}
}

func (r *record) action(v source.Value) *effect.Action {
	if v.Kind != source.Map {
		r.bad("itself")
		return &effect.Action{}
	}
	approval, guards := v.Get("approval_policy"), v.Get("safeguards")
	a := &effect.Action{
		ID: r.word(v, "action_id", false), AgentID: r.word(v, "agent_id", false),
		Tool:     &effect.Tool{ID: r.word(v, "tool_id", false), Tool: tool.Tool{Name: r.word(v, "tool_name", false)}},
		Provider: r.word(v, "provider", false), Operation: r.word(v, "operation", false),
		Effect: effect.Effect(r.word(v, "effect", false)), RiskTags: r.words(v, "risk_tags"), Scopes: r.words(v, "required_scopes"),
		Approval: r.control(approval, "required"), Threshold: r.word(approval, "threshold", true),
		Idempotency: r.control(guards, "idempotency"), AuditLog: r.control(guards, "audit_log"),
		Rollback: r.control(guards, "rollback"), DryRun: r.control(guards, "dry_run"),
		Inputs: r.words(v, "input_fields"), RequiredInputs: r.words(v, "required_input_fields"),
		IdentityHash: r.word(v, "identity_hash", false), SchemaHash: r.word(v, "schema_hash", false),
		PolicyHash: r.word(v, "policy_hash", false), RiskHash: r.word(v, "risk_hash", false),
	}
	if a.ID == "" {
		r.bad("action_id")
	}
	if a.Effect != "" && effect.DeltaRank(a.Effect) < 0 {
		r.bad("effect")
	}
	return a
}
