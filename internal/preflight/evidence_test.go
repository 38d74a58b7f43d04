package preflight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/preflight"
)

// owes is the table of docs/spec/verification.md §13.4: what each effect owes.
var owes = map[string]string{
	"read": "", "write": "",
	"external_communication": "confirmation",
	"identity_access":        "owner auth_scopes audit_log approval_policy",
	"privileged_data_access": "owner auth_scopes audit_log approval_policy",
	"financial_write":        "owner auth_scopes audit_log approval_policy idempotency confirmation",
	"destructive":            "owner auth_scopes audit_log approval_policy idempotency confirmation runbook rollback dry_run",
	"production_operation":   "owner auth_scopes audit_log approval_policy runbook rollback dry_run",
	"code_execution":         "owner auth_scopes audit_log approval_policy runbook rollback dry_run",
}

var severities = map[string]preflight.Severity{
	"owner": "high", "auth_scopes": "high", "audit_log": "high", "approval_policy": "critical", "idempotency": "critical",
	"confirmation": "high", "runbook": "high", "rollback": "high", "dry_run": "medium",
}

// gives is the member of a request that gives each piece of evidence.
var gives = map[string]func(*preflight.CapabilityRequest){
	"owner":           func(c *preflight.CapabilityRequest) { c.Owner = "team" },
	"auth_scopes":     func(c *preflight.CapabilityRequest) { c.Scopes = []string{"orders:write"} },
	"audit_log":       func(c *preflight.CapabilityRequest) { c.Controls.AuditLog = true },
	"approval_policy": func(c *preflight.CapabilityRequest) { c.Controls.Approval = true },
	"idempotency":     func(c *preflight.CapabilityRequest) { c.Controls.Idempotency = true },
	"confirmation":    func(c *preflight.CapabilityRequest) { c.Controls.Confirmation = true },
	"runbook":         func(c *preflight.CapabilityRequest) { c.Runbook = "docs/run.md" },
	"rollback":        func(c *preflight.CapabilityRequest) { c.Controls.Rollback = true },
	"dry_run":         func(c *preflight.CapabilityRequest) { c.Controls.DryRun = true },
}

func asking(effect string, given ...string) *preflight.Plan {
	c := preflight.CapabilityRequest{Tool: "tool", Provider: "shop", Operation: "POST /x", Effect: effect}
	for _, g := range given {
		gives[g](&c)
	}
	return &preflight.Plan{Capabilities: []preflight.CapabilityRequest{c}}
}

func TestEachEffectOwesItsEvidence(t *testing.T) {
	for effect, list := range owes {
		words := strings.Fields(list)
		r := evaluate(t, input(t, adopted(), asking(effect)))
		checkEvidence(t, effect+" with nothing", r, words, nil)
		r = evaluate(t, input(t, adopted(), asking(effect, words...)))
		checkEvidence(t, effect+" with all of it", r, words, words)
		if r.RequiresHumanReview {
			t.Errorf("%s with all of it is for a person: %+v", effect, r.Signals)
		}
		for i, w := range words {
			others := slices.Delete(slices.Clone(words), i, i+1)
			r = evaluate(t, input(t, adopted(), asking(effect, others...)))
			checkEvidence(t, effect+" without "+w, r, words, others)
		}
	}
}

func checkEvidence(t *testing.T, what string, r *preflight.Result, owed, given []string) {
	t.Helper()
	got := map[string]preflight.Evidence{}
	for _, e := range r.RequiredEvidence {
		got[strings.TrimPrefix(e.ID, "shop.tool.POST /x:")] = e
	}
	if len(got) != len(owed) {
		t.Errorf("%s: %+v, want %v", what, r.RequiredEvidence, owed)
	}
	for _, w := range owed {
		e, known := got[w]
		satisfied := slices.Contains(given, w)
		if !known || e.Satisfied != satisfied || e.Severity != severities[w] || e.Reason == "" || e.Recommendation == "" || e.Field == "" {
			t.Errorf("%s: %s is %+v", what, w, e)
		}
		signal := slices.ContainsFunc(r.Signals, func(s preflight.Signal) bool {
			return s.ID == "missing_evidence:"+e.ID && s.Kind == preflight.MissingEvidence && s.Severity == e.Severity && s.Actor == control.Human
		})
		if signal == satisfied {
			t.Errorf("%s: %s and its signal disagree", what, w)
		}
	}
	if len(given) < len(owed) && (!r.RequiresHumanReview || r.FirstNextAction.Kind != "gather_evidence") {
		t.Errorf("%s: %+v", what, r.FirstNextAction)
	}
}

// What a tag says counts like an effect, in every spelling that there is.
func TestTagsOweEvidenceToo(t *testing.T) {
	for tag, want := range map[string]string{
		"Financial_Action":       owes["financial_write"],
		"financial_write":        owes["financial_write"],
		"destructive":            owes["destructive"],
		"infrastructure_change":  owes["production_operation"],
		"production_ops":         owes["production_operation"],
		"code_execution":         owes["code_execution"],
		"sensitive_data_access":  owes["privileged_data_access"],
		"secret_access":          owes["privileged_data_access"],
		"external_write":         "owner auth_scopes audit_log approval_policy idempotency confirmation",
		"customer_communication": "owner auth_scopes audit_log approval_policy confirmation",
		"irreversible":           "owner auth_scopes audit_log approval_policy",
		"read_only":              "",
		"write":                  "",
		"customer_data":          "",
	} {
		p := parse(t, `{"capability_requests":[{"tool_name":"tool","provider":"shop","operation":"POST /x","effect":"write","risk_tags":["`+tag+`"," `+tag+`"]}]}`)
		checkEvidence(t, tag, evaluate(t, input(t, adopted(), p)), strings.Fields(want), nil)
	}
}

// An approval is a policy: neither a ticket nor a sum alone is one.
func TestNoTicketIsAnApprovalPolicy(t *testing.T) {
	for what, c := range map[string]preflight.CapabilityRequest{
		"a ticket":    {Ticket: "CHG-1"},
		"a threshold": {Controls: preflight.Controls{ApprovalThreshold: "100 EUR"}},
	} {
		c.Tool, c.Provider, c.Operation, c.Effect = "tool", "shop", "POST /x", "identity_access"
		r := evaluate(t, input(t, adopted(), &preflight.Plan{Capabilities: []preflight.CapabilityRequest{c}}))
		checkEvidence(t, what, r, strings.Fields(owes["identity_access"]), nil)
	}
}

// Requests of one name share their rows, and a row is satisfied by all or not.
func TestRequestsOfOneName(t *testing.T) {
	p := asking("identity_access", "owner", "auth_scopes", "audit_log", "approval_policy")
	p.Capabilities = append(p.Capabilities, asking("identity_access", "owner").Capabilities...)
	for range 2 {
		checkEvidence(t, "two", evaluate(t, input(t, adopted(), p)), strings.Fields(owes["identity_access"]), []string{"owner"})
		slices.Reverse(p.Capabilities)
	}
}

func TestBroadScopes(t *testing.T) {
	for scope, broad := range map[string]bool{"*": true, "orders:*": true, "admin": true, "repo:write-all": true, "orders:write": false, "read": false} {
		p := asking("read")
		p.Capabilities[0].Scopes = []string{scope}
		r := evaluate(t, input(t, adopted(), p))
		if r.RequiresHumanReview != broad {
			t.Errorf("%s: %+v", scope, r.Signals)
		}
		if broad && (r.Signals[0].Kind != preflight.LeastPrivilege || r.Signals[0].Severity != preflight.High || r.FirstNextAction.Kind != "review") {
			t.Errorf("%s: %+v", scope, r.Signals)
		}
	}
}

func TestManyBroadScopesAreOneSignal(t *testing.T) {
	p := asking("read")
	p.Capabilities[0].Scopes = []string{"g:*", "f:*", "e:*", "d:*", "c:*", "b:*", "a:*", "a:*", "read"}
	r := evaluate(t, input(t, adopted(), p))
	if r.PlanSummary.HumanSignals != 1 || r.Signals[0].Reason != "It asks for scopes that open more than one thing: a:*, b:*, c:*, d:*, e:* and 2 more." {
		t.Errorf("%+v", r.Signals)
	}
}

func TestRequestsToHosts(t *testing.T) {
	for _, c := range []struct{ surface, subject, access, class string }{
		{"permissions.allow", "Bash(*)", `{}`, "wildcard_allow"},
		{"permissions.allow", "Bash", `{}`, "wildcard_allow"},
		{"permissions", "x(y)", `{"rule":"mcp__git"}`, "wildcard_allow"},
		{"permissions", "x(y)", `{"allow":["Read(./a)","*"]}`, "wildcard_allow"},
		{"settings", "defaultMode", `{"mode":"acceptEdits"}`, "auto_approve_write"},
		{"config", "approval_policy", `{"approval_policy":"never"}`, "auto_approve_write"},
		{"mcp", "github", `{"alwaysAllow":["create_issue"]}`, "auto_approve_write"},
		{"settings", "servers", `{"enableAllProjectMcpServers":true}`, "auto_approve_write"},
		{"config", "sandbox_mode", `{"value":"danger-full-access"}`, "runtime_boundary"},
		{"config", "sandbox_workspace_write", `{"network_access":true}`, "runtime_boundary"},
		{"sandbox", "off", `{}`, "runtime_boundary"},
		{"settings", "defaultMode", `{"mode":"bypassPermissions"}`, "runtime_boundary"},
		{"settings", "more", `{"deep":{"additionalDirectories":["/"]}}`, "runtime_boundary"},

		{"permissions.allow", "Bash(npm test)", `{"rule":"Bash(npm test)"}`, "host_permission"},
		{"mcp", "github", `{"url":"https://example.invalid/mcp"}`, "host_permission"},
		{"config", "sandbox", `{"network_access":false}`, "host_permission"},
		{"hooks", "PreToolUse", `{"command":"lint"}`, "host_permission"},
	} {
		p := parse(t, fmt.Sprintf(`{"host_permission_requests":[{"host":"codex","surface":%q,"operation":"add","path":".codex/config.toml","subject":%q,"requested_access":%s}]}`,
			c.surface, c.subject, c.access))
		r := evaluate(t, input(t, adopted(), p))
		s := r.Signals[0]
		want := preflight.Critical
		if c.class == "host_permission" {
			want = preflight.High
		}
		if !strings.HasSuffix(s.ID, ":"+c.class) || s.Kind != preflight.LeastPrivilege || s.Severity != want || !r.RequiresHumanReview || *s.Path != ".codex/config.toml" {
			t.Errorf("%s %s %s: %+v", c.surface, c.subject, c.access, s)
		}
	}
}

// No value of a request that may be a secret is in the result.
func TestASecretIsNotRepeated(t *testing.T) {
	secret := "s3cr" + "etvalue0123456789"
	p := &preflight.Plan{
		Hosts: []preflight.HostRequest{{
			Host: "codex", Surface: "mcp", Operation: "add", Subject: "API_KEY=" + secret, Reason: secret,
			Access: []preflight.Access{{Key: "token", Text: secret}},
		}, {Host: "claude-code", Surface: "permissions.allow", Operation: "add", Subject: "Bash(curl -H 'Authorization: " + secret + "')"}},
		Capabilities: []preflight.CapabilityRequest{{
			Tool: "t", Provider: "https://u:" + secret + "@example.invalid", Operation: "--token=" + secret, Effect: "identity_access",
			Scopes: []string{"password=" + secret + ":*"},
		}},
	}
	r := evaluate(t, input(t, adopted(), p))
	if out := string(printed(t, r)) + string(r.Text(false)); strings.Contains(out, secret) {
		t.Error(out)
	}
}

// Words that only say that nobody knows yet, and texts in which nothing is seen,
// are no evidence.
func TestAWordThatNamesNothingIsNoEvidence(t *testing.T) {
	for _, nothing := range []string{"CHANGE_ME", "<change_me>", "TBD", "n/a", "None.", "-", "?", "[TO" + "DO]", "...", "\u3164", "*"} {
		plan := asking("destructive", strings.Fields(owes["destructive"])...)
		plan.Capabilities[0].Owner, plan.Capabilities[0].Runbook = nothing, nothing
		plan.Capabilities[0].Scopes = []string{"orders:write", nothing}
		r := evaluate(t, input(t, adopted(), plan))
		if !r.RequiresHumanReview {
			t.Errorf("%q goes on", nothing)
		}
		for _, e := range r.RequiredEvidence {
			name := strings.TrimPrefix(e.ID, "shop.tool.POST /x:")
			if want := name != "owner" && name != "runbook" && name != "auth_scopes"; e.Satisfied != want {
				t.Errorf("%q: %s is satisfied: %t", nothing, name, e.Satisfied)
			}
		}
	}
	plan := asking("destructive", strings.Fields(owes["destructive"])...)
	plan.Capabilities[0].Owner, plan.Capabilities[0].Runbook = "支付团队", "7"
	if r := evaluate(t, input(t, adopted(), plan)); r.RequiresHumanReview {
		t.Errorf("%+v", r.Signals)
	}
}
