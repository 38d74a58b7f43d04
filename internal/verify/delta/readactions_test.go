package delta_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
)

const reportedAction = `{"action_id": "a1", "agent_id": "root", "tool_id": "t1", "tool_name": "get_order", "provider": "shop", "operation": "get_order",
 "effect": "read", "risk_tags": ["read_only"], "required_scopes": ["orders:write", "orders:read"],
 "approval_policy": {"required": true, "threshold": null}, "confirmation_required": false,
 "safeguards": {"idempotency": null, "audit_log": false, "rollback": true, "dry_run": null},
 "input_fields": ["id"], "required_input_fields": [], "identity_hash": "i", "schema_hash": "s", "policy_hash": "p", "risk_hash": "r"}`

func reported(actions ...string) string {
	return `{"report_schema_version": "0.34", "action_surface_facts": {"actions": [` + strings.Join(actions, ",") + `]}}`
}

func TestActionsOfAReportAreReadBack(t *testing.T) {
	actions, err := delta.ReadActions([]byte(reported(reportedAction)))
	if err != nil || len(actions) != 1 {
		t.Fatalf("%v, %v", actions, err)
	}
	a := actions[0]
	if a.ID != "a1" || a.Tool.ID != "t1" || a.Tool.Name != "get_order" || a.Effect != effect.Read || a.Scopes[0] != "orders:read" {
		t.Errorf("%+v", a)
	}
	if !a.Approval.Known || !a.Approval.Value || a.Idempotency.Known || !a.AuditLog.Known || a.AuditLog.Value || !a.Rollback.Value {
		t.Errorf("controls: %+v", a)
	}
	if d := delta.DiffReported(actions, &effect.Surface{}); len(d.Rows) != 1 || d.Rows[0].Type != delta.ActionRemoved || d.Rows[0].SourcePath != "" {
		t.Errorf("%+v", d)
	}
	for _, version := range []string{"0.34", "0.35", "0.100"} {
		if _, err := delta.ReadActions([]byte(strings.Replace(reported(), "0.34", version, 1))); err != nil {
			t.Errorf("version %s: %v", version, err)
		}
	}
}

func TestAReportThatSaysNoActionsIsRefused(t *testing.T) {
	change := func(from, to string) string {
		text := strings.Replace(reported(reportedAction), from, to, 1)
		if text == reported(reportedAction) {
			t.Fatalf("%q does not stand there", from)
		}
		return text
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                 {"", "no JSON"},
		"half of it":              {reported(reportedAction)[:100], "no JSON"},
		"a list":                  {"[]", "no report.json of version 0.34"},
		"a key twice":             {change(`"agent_id": "root"`, `"agent_id": "root", "agent_id": "x"`), "no JSON at"},
		"an older version":        {change("0.34", "0.33"), "no report.json of version 0.34"},
		"a version that is none":  {change("0.34", "0.034"), "no report.json of version 0.34"},
		"another major version":   {change("0.34", "1.34"), "no report.json of version 0.34"},
		"no actions":              {`{"report_schema_version": "0.34", "action_surface_facts": {}}`, "no list"},
		"an action twice":         {reported(reportedAction, reportedAction), "twice"},
		"an action that is none":  {reported(`"a1"`), "itself"},
		"no id":                   {change(`"action_id": "a1"`, `"action_id": ""`), "action_id"},
		"a key in another case":   {change(`"action_id"`, `"ACTION_ID"`), "action_id"},
		"an unknown effect":       {change(`"effect": "read"`, `"effect": "harmless"`), "effect"},
		"a tag that is no text":   {change(`["read_only"]`, `[1]`), "risk_tags"},
		"a control that is text":  {change(`"rollback": true`, `"rollback": "yes"`), "rollback"},
		"no safeguards":           {change(`"safeguards": {`, `"guards": {`), "idempotency"},
		"an id that is no text":   {change(`"tool_id": "t1"`, `"tool_id": 1`), "tool_id"},
		"a hash that is left out": {change(`, "risk_hash": "r"`, ""), "risk_hash"},
	} {
		_, err := delta.ReadActions([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "harmless") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Whatever is read has one action an id, and compares.
func FuzzReadActions(f *testing.F) {
	for _, seed := range []string{reported(), reported(reportedAction), reported(reportedAction, reportedAction), "[]", `{"report_schema_version": "0.34"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		actions, err := delta.ReadActions(text)
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, a := range actions {
			if a.ID == "" || ids[a.ID] {
				t.Fatalf("the id %q is empty or there twice", a.ID)
			}
			ids[a.ID] = true
		}
		if d := delta.DiffReported(actions, &effect.Surface{}); !d.Enabled || len(d.Rows) != len(actions) {
			t.Fatalf("%d actions give %d rows", len(actions), len(d.Rows))
		}
		if d := delta.DiffReported(actions, &effect.Surface{Actions: actions}); len(d.Rows) != 0 {
			t.Fatalf("the same actions differ: %+v", d.Rows)
		}
	})
}
