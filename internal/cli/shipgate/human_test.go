package shipgate_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// decidedFiles is a repository in which everything that only people may decide
// has been decided. It passes.
var decidedFiles = map[string]string{
	"shipgate.yaml": `version: "0.1"
project: {name: shop, owner: orders}
agent:
  name: helper
  declared_purpose: ["look up orders", "refund orders"]
  prohibited_actions: ["wipe the warehouse"]
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools.json}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [{tool: get_order}, {tool: refund_order}], handoffs: [], reason: reviewed}
action_surface:
  actions:
    - {tool: get_order, effect: read, scopes: ["orders:read"], authority: {mode: scoped, auth_type: oauth2}}
    - tool: refund_order
      effect: financial_write
      scopes: ["orders:refund"]
      authority: {mode: scoped, auth_type: oauth2}
      approval: {required: true, threshold: "100 EUR"}
      safeguards: {idempotency: true, audit_log: true, rollback: true}
      evidence: {owner: orders, runbook: docs/refunds.md}
  policies:
    - id: money-needs-approval
      match: {effects: [financial_write]}
      require: {approval.required: true}
      severity: critical
      message: Refunds need an approver.
      recommendation: Declare approval on the action.
policies:
  require_approval_for_tools: [{tool: refund_order, reason: money}]
  require_confirmation_for_tools: [{tool: refund_order, reason: money}]
  require_idempotency_for_tools: [{tool: refund_order, reason: money}]
permissions: {scopes: ["orders:read", "orders:refund"]}
checks:
  policy_packs: [{id: house, path: packs/house.yaml}]
  severity_overrides: {SHIP-SCHEMA-FREEFORM-OUTPUT: medium}
validation:
  mode: human_in_the_loop
  evidence: {approval_traces: [evidence/approvals.json]}
ci: {mode: strict, fail_on: [critical]}
baseline: {integrity_mode: strict}
`,
	"tools.json": `{"tools": [
 {"name": "get_order", "description": "Look up one order by its number.",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
  "outputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}, "annotations": {"readOnlyHint": true}},
 {"name": "refund_order", "description": "Refund one order to the card that paid for it.", "owner": "orders",
  "inputSchema": {"type": "object", "required": ["id", "amount", "idempotency_key"], "properties":
   {"id": {"type": "string", "maxLength": 20}, "amount": {"type": "number", "maximum": 100}, "idempotency_key": {"type": "string", "maxLength": 40}}},
  "outputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}, "annotations": {"readOnlyHint": false}}
]}
`,
	"evidence/approvals.json": `[{"tool_name": "refund_order", "approved": true, "confirmed": true, "success": true}]
`,
	"packs/house.yaml": `name: house
version: 1
rules:
  - {id: HOUSE-1, title: No owner, severity: high, recommendation: Name an owner., match: {risk_tags: [financial_write], missing_owner: true}}
`,
}

// swap replaces one passage of one file.
type swap struct{ path, from, to string }

// decisions are changes that only a person may make, by kind
// (docs/spec/verification.md §3.1).
var decisions = []struct {
	kind, name string
	swaps      []swap
	blocked    bool // the change is also wrong in itself
}{
	{"approval", "a declared approval goes", []swap{{"shipgate.yaml", "[{tool: refund_order, reason: money}]\n  require_confirmation", "[]\n  require_confirmation"}}, false},
	{"approval", "an action needs none any more", []swap{{"shipgate.yaml", `approval: {required: true, threshold: "100 EUR"}`, "approval: {required: false}"}}, true},
	{"approval", "another tool is approved", []swap{{"shipgate.yaml", "require_approval_for_tools: [", "require_approval_for_tools: [{tool: get_order, reason: asked}, "}}, false},
	{"approval", "a higher threshold", []swap{{"shipgate.yaml", "100 EUR", "9000 EUR"}}, false},
	{"approval", "an approval goes while a stale waiver comes", []swap{
		{"shipgate.yaml", `approval: {required: true, threshold: "100 EUR"}`, "approval: {required: false}"}, stale,
	}, true},
	{"confirmation", "a declared confirmation goes", []swap{{"shipgate.yaml", "require_confirmation_for_tools: [{tool: refund_order, reason: money}]", "require_confirmation_for_tools: []"}}, false},
	{"confirmation", "another tool is confirmed", []swap{{"shipgate.yaml", "require_confirmation_for_tools: [", "require_confirmation_for_tools: [{tool: get_order, reason: asked}, "}}, false},
	{"idempotency", "a declared idempotency goes", []swap{{"shipgate.yaml", "require_idempotency_for_tools: [{tool: refund_order, reason: money}]", "require_idempotency_for_tools: []"}}, false},
	{"idempotency", "another tool is idempotent", []swap{{"shipgate.yaml", "require_idempotency_for_tools: [", "require_idempotency_for_tools: [{tool: get_order, reason: asked}, "}}, false},
	{"idempotency", "a safeguard goes", []swap{{"shipgate.yaml", "{idempotency: true, ", "{"}}, false},
	{"broad scope", "every scope for the agent", []swap{{"shipgate.yaml", `permissions: {scopes: ["orders:read", "orders:refund"]}`, `permissions: {scopes: ["*"]}`}}, false},
	{"broad scope", "every scope for an action", []swap{{"shipgate.yaml", `scopes: ["orders:refund"]`, `scopes: ["*"]`}}, true},
	{"broad scope", "one scope more", []swap{{"shipgate.yaml", `scopes: ["orders:read"], authority`, `scopes: ["orders:read", "orders:write"], authority`}}, true},
	{"prohibited action", "a prohibition goes", []swap{{"shipgate.yaml", `prohibited_actions: ["wipe the warehouse"]`, "prohibited_actions: []"}}, false},
	{"prohibited action", "a prohibition says less", []swap{{"shipgate.yaml", "wipe the warehouse", "wipe the warehouse without approval"}}, false},
	{"waiver", "one check for one tool", []swap{{"shipgate.yaml", "checks:\n", "checks:\n  ignore: [{check_id: SHIP-AUTH-MISSING-SCOPE, tool: get_order, reason: later}]\n"}}, false},
	{"waiver", "one that is needed beside one that is stale", []swap{{"shipgate.yaml", "checks:\n", "checks:\n  ignore: [{check_id: SHIP-AUTH-MISSING-SCOPE, tool: get_order, reason: later}, {check_id: SHIP-AUTH-MISSING-SCOPE, tool: gone, reason: later}]\n"}}, false},
	{"waiver", "a person is said to have agreed", []swap{{"shipgate.yaml", "checks:\n", "human_ack: [{affected_surface: policy, owner: orders, reason: fine}]\nchecks:\n"}}, false},
	{"suppression", "one check altogether", []swap{{"shipgate.yaml", "checks:\n", "checks:\n  ignore: [{check_id: SHIP-AUTH-MISSING-SCOPE, reason: later}]\n"}}, false},
	{"baseline", "a first baseline", []swap{{".agents-shipgate/baseline.json", "", `{"schema_version": "0.5", "project": {"name": "shop"}, "findings": [{"fingerprint": "fp_000000000000000a", "check_id": "SHIP-AUTH-MISSING-SCOPE", "severity": "high", "title": "x"}]}`}}, false},
	{"baseline", "nobody looks whether it was edited", []swap{{"shipgate.yaml", "integrity_mode: strict", "integrity_mode: off"}}, false},
	{"severity downgrade", "a check weighs less", []swap{{"shipgate.yaml", "severity_overrides: {SHIP-SCHEMA-FREEFORM-OUTPUT: medium}", "severity_overrides: {SHIP-SCHEMA-FREEFORM-OUTPUT: low}"}}, false},
	{"policy pack", "a rule goes", []swap{{"packs/house.yaml", "\n  - {id: HOUSE-1, title: No owner, severity: high, recommendation: Name an owner., match: {risk_tags: [financial_write], missing_owner: true}}", " []"}}, false},
	{"policy pack", "a rule weighs less", []swap{{"packs/house.yaml", "severity: high", "severity: info"}}, false},
	{"policy pack", "the manifest names none", []swap{{"shipgate.yaml", "policy_packs: [{id: house, path: packs/house.yaml}]", "policy_packs: []"}}, false},
	{"policy pack", "another pack", []swap{{"shipgate.yaml", "path: packs/house.yaml", "path: packs/lax.yaml"}, {"packs/lax.yaml", "", "rules: []\n"}}, false},
	{"trace evidence", "a trace is added", []swap{{"evidence/approvals.json", "[{", `[{"tool_name": "get_order", "approved": true}, {`}}, false},
	{"trace evidence", "a trace says otherwise", []swap{{"evidence/approvals.json", `"approved": true`, `"approved": false`}}, false},
	{"trace evidence", "other traces", []swap{{"shipgate.yaml", "evidence/approvals.json", "evidence/others.json"}, {"evidence/others.json", "", "[]\n"}}, false},
	{"release policy", "advice instead of a gate", []swap{{"shipgate.yaml", "mode: strict, fail_on", "mode: advisory, fail_on"}}, false},
	{"release policy", "fewer severities fail", []swap{{"shipgate.yaml", "fail_on: [critical]", "fail_on: []"}}, false},
	{"release policy", "a policy goes", []swap{{"shipgate.yaml", "      require: {approval.required: true}\n      severity: critical", "      require: {approval.required: true}\n      severity: low"}}, false},
	{"release policy", "a tool goes to production", []swap{{"shipgate.yaml", "{target: staging}", "{target: production}"}}, false},
}

// decided makes the repository, with what git says of it after the change.
func decided(t *testing.T, swaps []swap) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range decidedFiles {
		write(name, text)
	}
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "base")
	gitIn(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	files := maps.Clone(decidedFiles)
	for _, s := range swaps {
		if s.from != "" && strings.Count(files[s.path], s.from) != 1 {
			t.Fatalf("%q stands %d times in %s", s.from, strings.Count(files[s.path], s.from), s.path)
		}
		files[s.path] = strings.Replace(files[s.path], s.from, s.to, 1)
		write(s.path, files[s.path])
	}
	return dir
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(cmd.Environ(), quietGit(dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// forAPerson is why an answer does not leave a decision to a person.
func forAPerson(a *answer, blocked bool) string {
	want := "review_publishable"
	if blocked {
		want = "human_review_required"
	}
	switch {
	case a.Control.NextAction != nil && a.Control.NextAction.Kind == "repair":
		return "an agent is sent to repair it"
	case a.FixTask == nil || a.FixTask.Safe || len(a.FixTask.Patches) > 0:
		return "an agent is told to fix it"
	case a.Control.State == "complete" || a.CanMerge || a.permitted("merge") || a.permitted("report_complete"):
		return "it may be merged"
	case a.Control.State != want:
		return "the state is not " + want
	case blocked && a.permitted("push"):
		return "a blocked change may be published"
	case (a.Decision == "blocked") != blocked:
		return "the decision is another"
	}
	return ""
}

// What only people may decide is never repaired by an agent and never complete,
// with suggested edits or without, in the working tree or committed.
func TestWhatOnlyPeopleMayDecide(t *testing.T) {
	t.Parallel()
	if a := ask(t, decided(t, nil), "verify", "--json", "--today", "2026-11-30"); a.Control.State != "complete" {
		t.Fatalf("the repository does not pass as it is: %+v", a)
	}
	kinds := map[string]bool{}
	for _, d := range decisions {
		kinds[d.kind] = true
		t.Run(d.kind+"/"+d.name, func(t *testing.T) {
			t.Parallel()
			dir := decided(t, d.swaps)
			try := func(how string, blocked bool, args ...string) {
				t.Helper()
				a := ask(t, dir, append(words("verify --json --today 2026-11-30 --out reports"), args...)...)
				if why := forAPerson(&a, blocked); why != "" {
					t.Errorf("%s: %s\n%+v", how, why, a)
				}
			}
			try("in the working tree", d.blocked)
			try("with suggested edits", d.blocked, "--suggest-patches")
			try("advisory", d.blocked, "--ci-mode", "advisory", "--no-heuristics")
			gitIn(t, dir, "rm", "-r", "-q", "--cached", "--ignore-unmatch", "reports")
			if err := os.RemoveAll(filepath.Join(dir, "reports")); err != nil {
				t.Fatal(err)
			}
			gitIn(t, dir, "add", "-A")
			gitIn(t, dir, "commit", "-q", "-m", "decided")
			try("committed", d.blocked, "--base", "origin/main", "--head", "HEAD", "--suggest-patches")
			// A change that cannot be bound to a base is nobody's to publish.
			gitIn(t, dir, "checkout", "-q", "--orphan", "apart")
			gitIn(t, dir, "commit", "-q", "-m", "apart")
			a := ask(t, dir, words("verify --json --today 2026-11-30 --out reports --base origin/main --head HEAD --suggest-patches")...)
			if a.Control.State != "human_review_required" || a.CanMerge || a.permitted("push") {
				t.Errorf("unbound: %+v", a)
			}
		})
	}
	for _, kind := range []string{
		"approval", "confirmation", "idempotency", "broad scope", "prohibited action", "waiver", "baseline", "suppression",
		"severity downgrade", "policy pack", "trace evidence", "release policy",
	} {
		if !kinds[kind] {
			t.Errorf("no change is about %s", kind)
		}
	}
}

// A change that decides nothing needs nobody.
func TestWhatDecidesNothingIsComplete(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]swap{
		"a text of a tool":          {"tools.json", "Refund one order", "Refund an order"},
		"a smaller limit":           {"tools.json", `"maximum": 100`, `"maximum": 50`},
		"a file beside the pack":    {"packs/notes.md", "", "Why the house asks.\n"},
		"a file beside the traces":  {"evidence/notes.md", "", "Who was asked.\n"},
		"a program of the project":  {"src/app.go", "", "package app\n"},
		"a list that nobody reads":  {"other.json", "", `{"tools": [{"name": "wipe"}]}`},
		"the order of the tool set": {"tools.json", `"required": ["id", "amount", "idempotency_key"]`, `"required": ["amount", "id", "idempotency_key"]`},
	} {
		if a := ask(t, decided(t, []swap{s}), words("verify --json --today 2026-11-30 --suggest-patches")...); a.Control.State != "complete" || !a.CanMerge || a.FixTask != nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
