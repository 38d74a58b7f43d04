package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

const (
	settings     = ".claude/settings.json"
	wildcard     = `{"permissions":{"allow":["Bash(*)"]}}`
	makeLint     = `{"permissions":{"allow":["Bash(make lint)"]}}`
	codexConfig  = ".codex/config.toml"
	fullAccess   = "sandbox_mode = \"danger-full-access\"\n"
	gateWorkflow = ".github/workflows/agents-shipgate.yml"
	unified      = "policies/agent-boundary.shipgate.yaml"
	conductor    = `{"name":"pay","tasks":[{"type":"CALL_MCP_TOOL"}]}` + "\n"
	gateSteps    = "on: [pull_request]\npermissions: {contents: read}\njobs:\n  gate:\n    steps:\n      - run: agents-shipgate verify --ci-mode strict\n"
)

const manifestText = "version: 1\nproject: {name: p}\nagent: {name: a}\ntool_sources:\n  - id: one\n    type: mcp\n    path: tools/one.json\n"

const (
	complete    = control.Complete
	agentAction = control.AgentActionRequired
	publishable = control.ReviewPublishable
	personStops = control.HumanReviewRequired
)

// TestAcceptanceMatrix is §15, the rows that need no Git.
func TestAcceptanceMatrix(t *testing.T) {
	cases := []struct {
		name     string
		change   change
		decision rule.Action
		state    control.State
		rows     []string // every row as "ID kind path"; nil means not looked at
		kind     control.Kind
		code     string // a diagnostic or issue that must be there
	}{
		{name: "nothing", decision: rule.Allow, state: complete, rows: []string{}},
		{name: "nothing, adopted", change: change{adopted: true}, decision: rule.Allow, state: agentAction, kind: control.Verify, rows: []string{}},
		{name: "docs/a.md, adopted", change: change{files: files{"docs/a.md": added("a\n")}, adopted: true}, decision: rule.Allow, state: agentAction, kind: control.Verify},
		{name: "docs/a.md", change: change{files: files{"docs/a.md": added("a\n")}}, decision: rule.Allow, state: complete, rows: []string{}},
		{
			name: "settings allow Bash(*)", change: change{files: files{settings: added(wildcard)}}, decision: rule.Block, state: personStops, kind: control.Stop,
			rows: []string{"HOST-PERMISSION-WILDCARD-ALLOW permission_wildcard_allow " + settings},
		},
		{
			name: "same, manifest with checks.ignore for it", decision: rule.Block, state: personStops, kind: control.Stop,
			change: change{adopted: true, files: files{settings: added(wildcard), "shipgate.yaml": edited(manifestText, manifestText+"checks: {ignore: [HOST-PERMISSION-WILDCARD-ALLOW]}\n")}},
		},
		{
			name: "settings allow Bash(make lint)", change: change{files: files{settings: added(makeLint)}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"HOST-PERMISSION-ALLOW-EXPANDED permission_allow_expanded " + settings},
		},
		{
			name: "settings defaultMode acceptEdits", change: change{files: files{settings: added(`{"permissions":{"defaultMode":"acceptEdits"}}`)}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"HOST-PERMISSION-ALLOW-EXPANDED permission_mode_changed " + settings},
		},
		{
			name: "settings defaultMode bypassPermissions", change: change{files: files{settings: added(`{"permissions":{"defaultMode":"bypassPermissions"}}`)}}, decision: rule.Block, state: personStops,
			rows: []string{"HOST-PERMISSION-WILDCARD-ALLOW permission_mode_expanded " + settings},
		},
		{
			name: "settings permissions.additionalDirectories", change: change{files: files{settings: added(`{"permissions":{"additionalDirectories":["../x"]}}`)}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"HOST-PERMISSION-ALLOW-EXPANDED claude_permission_boundary_changed " + settings},
		},
		{
			name: "settings top-level enableAllProjectMcpServers", change: change{files: files{settings: added(`{"enableAllProjectMcpServers":true}`)}}, decision: rule.RequireReview, state: agentAction, kind: control.Verify,
			rows: []string{"HOST-CONFIG-PARSE-FAILED unknown_host_config_key " + settings},
		},
		{
			name: "settings model only", change: change{files: files{settings: added(`{"model":"m"}`)}}, decision: rule.RequireReview, state: agentAction, kind: control.Verify,
			rows: []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified " + settings},
		},
		{
			name: "settings deleted, held a deny", change: change{files: files{settings: deleted(`{"permissions":{"deny":["Read(.env)"]}}`)}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"HOST-PERMISSION-DENY-REMOVED permission_deny_removed " + settings},
		},
		{
			name: ".mcp.json header added to a known server", decision: rule.RequireReview, state: publishable,
			change: change{files: files{".mcp.json": edited(`{"mcpServers":{"t":{"url":"https://t.test"}}}`, `{"mcpServers":{"t":{"url":"https://t.test","headers":{"X-Api-Key":"sk-sentinel"}}}}`)}},
			rows:   []string{"HOST-MCP-SERVER-CHANGED mcp_server_changed .mcp.json"},
		},
		{
			name: "sub/.mcp.json", change: change{files: files{"sub/.mcp.json": added(`{"mcpServers":{"t":{"command":"x"}}}`)}}, decision: rule.RequireReview, state: agentAction, kind: control.Verify,
			rows: []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified sub/.mcp.json"},
		},
		{
			name: ".cursor/cli.json network", change: change{files: files{".cursor/cli.json": added(`{"network":true}`)}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"HOST-PERMISSION-ALLOW-EXPANDED cursor_network_boundary_changed .cursor/cli.json"},
		},
		{
			name: ".vscode/mcp.json", change: change{files: files{".vscode/mcp.json": added("{\"servers\":{}, /* none */}\n")}}, decision: rule.RequireReview, state: personStops, kind: control.Review,
			rows: []string{"BOUNDARY-EXPERIMENTAL-SURFACE-CHANGED experimental_boundary_surface_changed .vscode/mcp.json"},
		},
		{name: ".codex/config.toml model only", change: change{files: files{codexConfig: added("model = \"m\"\n")}}, decision: rule.Allow, state: complete, rows: []string{}},
		{
			name: "same approval_policy never", change: change{files: files{codexConfig: added("approval_policy = \"never\"\n")}}, decision: rule.RequireReview, state: agentAction, kind: control.Verify,
			rows: []string{"CODEX-UNKNOWN-PERMISSION-KEY approval_policy_widened " + codexConfig},
		},
		{
			name: "same danger-full-access", change: change{files: files{codexConfig: added(fullAccess)}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"CODEX-DANGER-FULL-ACCESS sandbox_mode " + codexConfig},
		},
		{
			name: "sub/.codex/config.toml same", change: change{files: files{"sub/.codex/config.toml": added(fullAccess)}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"CODEX-DANGER-FULL-ACCESS sandbox_mode sub/.codex/config.toml"},
		},
		{
			name:     "profile selected that sets danger-full-access",
			change:   change{files: files{codexConfig: added("profile = \"wide\"\n[profiles.wide]\nsandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n")}},
			decision: rule.RequireReview, state: publishable,
			rows: []string{"CODEX-DANGER-FULL-ACCESS sandbox_mode " + codexConfig, "CODEX-UNKNOWN-PERMISSION-KEY approval_policy_widened " + codexConfig},
		},
		{
			name: "auto-approved write_file", decision: rule.Block, state: personStops,
			change: change{files: files{codexConfig: added("[mcp_servers.files]\nenabled_tools = [\"write_file\"]\ndefault_tools_approval_mode = \"approve\"\n")}},
			rows:   []string{"CODEX-MCP-AUTO-APPROVE-WRITE mcp_default_auto_approve " + codexConfig},
		},
		{
			name: ".codex/requirements.toml", change: change{files: files{".codex/requirements.toml": added("a = 1\n")}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"BOUNDARY-STATIC-REQUIREMENTS-CHANGED static_requirements_changed .codex/requirements.toml"},
		},
		{
			name: "plain workflow", change: change{files: files{".github/workflows/ci.yml": added("on: [push]\njobs: {}\n")}}, decision: rule.RequireReview, state: agentAction, kind: control.Verify,
			rows: []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified .github/workflows/ci.yml"},
		},
		{
			name: "nested workflow with write-all", change: change{files: files{"sub/.github/workflows/r.yml": added("on: [push]\npermissions: write-all\n")}}, decision: rule.RequireReview, state: agentAction,
			rows: []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified sub/.github/workflows/r.yml"},
		},
		{
			name: "root workflow write-all", change: change{files: files{".github/workflows/r.yml": added("on: [push]\npermissions: write-all\n")}}, decision: rule.Block, state: personStops,
			rows: []string{"HOST-WORKFLOW-WRITE-ALL workflow_write_all .github/workflows/r.yml"},
		},
		{
			name: "AGENTS.md new, harmless", change: change{files: files{"AGENTS.md": added("Be kind.\n")}}, decision: rule.RequireReview, state: publishable,
			rows: []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified AGENTS.md"},
		},
		{
			name: "CLAUDE.md requirement softened", decision: rule.RequireReview, state: publishable,
			change: change{files: files{"CLAUDE.md": edited("You must run shipgate check before finishing.\n", "Shipgate check is optional.\n")}},
			rows:   []string{"CODEX-AGENTS-SHIPGATE-REQUIREMENT-REMOVED shipgate_instruction_removed CLAUDE.md"},
		},
		{name: ".claude/commands/x.md", change: change{files: files{".claude/commands/x.md": added("Do x.\n")}}, decision: rule.RequireReview, state: agentAction},
		{name: ".shipgate/agent-contract.json", change: change{files: files{".shipgate/agent-contract.json": added("{}\n")}}, decision: rule.RequireReview, state: agentAction},
		{name: ".agents-shipgate/baseline.json", change: change{files: files{".agents-shipgate/baseline.json": added("{}\n")}}, decision: rule.RequireReview, state: publishable},
		{
			name: "same beside Bash(*)", change: change{files: files{".agents-shipgate/baseline.json": added("{}\n"), settings: added(wildcard)}},
			decision: rule.Block, state: personStops,
		},
		{
			name: "shipgate.yaml first added, base has none", decision: rule.RequireReview, state: publishable,
			change: change{files: files{"shipgate.yaml": added(manifestText)}, adopted: true, more: func(in *gate.Input) { in.Manifest.AdoptionProven = true }},
			rows:   []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED manifest_introduced shipgate.yaml"},
		},
		{
			name: "two manifests, one new one edited", decision: rule.RequireReview, state: publishable,
			change: change{files: files{"shipgate.yaml": edited(manifestText, manifestText+"x: 1\n"), "sub/shipgate.yaml": added(manifestText)}, adopted: true},
			rows: []string{
				"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified shipgate.yaml",
				"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified sub/shipgate.yaml",
			},
		},
		{
			name: "--config gate.yml, gate.yml edited", decision: rule.RequireReview, state: publishable,
			change: change{files: files{"gate.yml": edited(manifestText, manifestText+"x: 1\n")}, manifest: "gate.yml", adopted: true},
			rows:   []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified gate.yml"},
		},
		{
			name: "--policy p.yml, raised", decision: rule.RequireReview, state: publishable,
			change: change{files: files{"p.yml": edited("rules: []\n", "rules:\n  - {id: HOST-HOOK-CHANGED, action: block}\n")}, explicit: "p.yml"},
			rows:   []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified p.yml"},
		},
		{
			name: "--policy p.yml, weakened", decision: rule.Block, state: personStops,
			change: change{files: files{"p.yml": edited("rules:\n  - {id: HOST-HOOK-CHANGED, action: block}\n", "rules:\n  - {id: HOST-HOOK-CHANGED, action: require_review}\n")}, explicit: "p.yml"},
			rows:   []string{"CODEX-POLICY-WEAKENED codex_boundary_policy_weakened p.yml"},
		},
		{
			name: "--policy p.yml, deleted", decision: rule.Block, state: personStops, code: "policy_missing",
			change: change{files: files{"p.yml": deleted("rules: []\n")}, explicit: "p.yml"},
			rows: []string{
				"CODEX-POLICY-WEAKENED codex_boundary_policy_weakened p.yml",
				"CODEX-CONFIG-PARSE-FAILED codex_boundary_policy_invalid p.yml",
			},
		},
		{
			name: "unified policy lowers rule 17, Bash(*)", decision: rule.Block, state: personStops, code: "policy_safety_floor_downgrade",
			change: change{files: files{settings: added(wildcard)}, policies: map[string]string{unified: "rules:\n  - {id: HOST-PERMISSION-WILDCARD-ALLOW, action: warn}\n"}},
			rows: []string{
				"CODEX-POLICY-WEAKENED boundary_policy_conflict " + unified,
				"HOST-PERMISSION-WILDCARD-ALLOW permission_wildcard_allow " + settings,
			},
		},
		{
			name: "conductor workflow", change: change{files: files{"workflows/conductor/pay.json": added(conductor)}}, decision: rule.Warn, state: agentAction,
			kind: control.Configure, code: "undeclared_capability_surface", rows: []string{},
		},
		{
			name: "same, adopted, worktree", change: change{files: files{"workflows/conductor/pay.json": added(conductor)}, adopted: true},
			decision: rule.Warn, state: agentAction, kind: control.Discover, code: "undeclared_capability_surface",
		},
		{
			name: "same, adopted, range", change: change{files: files{"workflows/conductor/pay.json": added(conductor)}, adopted: true, mode: gate.GitRange},
			decision: rule.Warn, state: agentAction, kind: control.Verify, code: "undeclared_capability_surface",
		},
		{
			name: "declared source changed, adopted", change: change{files: files{"tools/one.json": edited("{}", "[]")}, adopted: true, declared: []string{"tools/one.json"}},
			decision: rule.Warn, state: agentAction, kind: control.Verify, code: "capability_change_requires_verify", rows: []string{},
		},
		{
			name: "config.toml declared as a source, model only", change: change{files: files{codexConfig: added("model = \"m\"\n")}, adopted: true, declared: []string{codexConfig}},
			decision: rule.Warn, state: agentAction, kind: control.Verify, code: "capability_change_requires_verify", rows: []string{},
		},
		{
			name: "same, detached", change: change{files: files{codexConfig: added("model = \"m\"\n")}, adopted: true, declared: []string{codexConfig}, mode: gate.ProvidedDiff},
			decision: rule.Warn, state: personStops, kind: control.Review,
		},
		{name: "detached, harmless, not adopted", change: change{files: files{"docs/a.md": added("a\n")}, mode: gate.ProvidedDiff}, decision: rule.Allow, state: complete},
		{name: "detached danger-full-access", change: change{files: files{codexConfig: added(fullAccess)}, mode: gate.ProvidedDiff}, decision: rule.RequireReview, state: personStops, kind: control.Review},
		{
			name: "header-only record for settings, detached", decision: rule.RequireReview, state: personStops, code: "boundary_diff_content_missing",
			change: change{files: files{settings: edited("{}", "{}")}, mode: gate.ProvidedDiff, more: unresolvedBy("boundary_diff_content_missing")},
		},
		{
			name: "mode-only change of settings", decision: rule.RequireReview, state: agentAction, kind: control.Verify,
			change: change{files: files{settings: edited(wildcard, wildcard)}, more: func(in *gate.Input) { in.Changes[0].ModeOnly = true }},
			rows:   []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified " + settings},
		},
		{
			name: "Bash(*) staged, the disk shows the HEAD text again", decision: rule.Block, state: personStops,
			change: change{files: files{settings: edited("{}", "{}")}, more: staged(settings, "{}", wildcard)},
			rows:   []string{"HOST-PERMISSION-WILDCARD-ALLOW permission_wildcard_allow " + settings},
		},
		{
			name: "harmless edit staged, Bash(*) on disk", decision: rule.Block, state: personStops,
			change: change{files: files{settings: edited("{}", wildcard)}, more: staged(settings, "{}", `{"model":"m"}`)},
			rows:   []string{"HOST-PERMISSION-WILDCARD-ALLOW permission_wildcard_allow " + settings},
		},
		{
			name: "gate workflow rm --cached, still on disk", decision: rule.Block, state: personStops,
			change: change{files: files{gateWorkflow: edited(gateSteps, gateSteps)}, more: unstaged(gateWorkflow, gateSteps)},
			rows:   []string{"CODEX-CI-GATE-REMOVED shipgate_ci_gate_removed " + gateWorkflow},
		},
		{
			name: "CLAUDE.md links to AGENTS.md, which was edited", decision: rule.RequireReview, state: publishable,
			change: change{files: files{"AGENTS.md": edited("a\n", "b\n")}, more: linked("CLAUDE.md", "AGENTS.md", "AGENTS.md", edited("a\n", "b\n"))},
			rows: []string{
				"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_link CLAUDE.md",
				"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified AGENTS.md",
			},
		},
		{
			name: ".mcp.json links to conf/mcp.json, which gains a server", decision: rule.RequireReview, state: publishable,
			change: change{files: files{"conf/mcp.json": added(`{"mcpServers":{"t":{"command":"x"}}}`)}, more: linked(".mcp.json", "conf/mcp.json", "conf/mcp.json", edited("{}", `{"mcpServers":{"t":{"command":"x"}}}`))},
			rows: []string{
				"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_link .mcp.json",
				"HOST-MCP-SERVER-ADDED mcp_server_added .mcp.json",
			},
		},
		{
			name: "settings become a link to a file with the same text", decision: rule.RequireReview, state: agentAction, kind: control.Verify,
			change: change{files: files{}, more: linked(settings, "", "conf/settings.json", edited(makeLint, makeLint))},
			rows:   []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_link " + settings},
		},
		{
			name: "a link out of the repository", decision: rule.RequireReview, state: personStops, code: "boundary_input_symlink_or_external",
			change: change{files: files{".mcp.json": added("")}, more: unresolvedBy("boundary_input_symlink_or_external")},
		},
		{
			name: ".claude becomes a link", decision: rule.RequireReview, state: personStops, code: "boundary_input_symlink_or_external",
			change: change{more: func(in *gate.Input) {
				in.ChangedFiles, in.LinkPoints = []string{".claude"}, []string{".claude"}
				issue("boundary_input_symlink_or_external", ".claude")(in)
			}},
			rows: []string{"BOUNDARY-INPUT-INCOMPLETE boundary_input_unresolved .claude"},
		},
		{
			name: "duplicate key in settings", change: change{files: files{settings: added(`{"model":"a","model":"b"}`)}}, decision: rule.RequireReview, state: personStops,
			rows: []string{"HOST-CONFIG-PARSE-FAILED json_parse_failed " + settings},
		},
		{
			name: "conflict markers in config.toml", change: change{files: files{codexConfig: added("<<<<<<< HEAD\nmodel = \"a\"\n")}}, decision: rule.RequireReview, state: personStops,
			rows: []string{"CODEX-CONFIG-PARSE-FAILED toml_parse_failed " + codexConfig},
		},
		{
			name: "second document in a workflow", change: change{files: files{".github/workflows/ci.yml": added("on: [push]\n---\non: [push]\n")}}, decision: rule.RequireReview, state: personStops,
			rows: []string{"HOST-CONFIG-PARSE-FAILED workflow_yaml_parse_failed .github/workflows/ci.yml"},
		},
		{
			name: "array root in .mcp.json", change: change{files: files{".mcp.json": added("[]")}}, decision: rule.RequireReview, state: personStops,
			rows: []string{"HOST-CONFIG-PARSE-FAILED json_parse_failed .mcp.json"},
		},
		{
			name: "malformed nested .mcp.json", change: change{files: files{"sub/.mcp.json": added("{")}}, decision: rule.RequireReview, state: personStops,
			code: "host_inventory_parse_failed", rows: []string{"BOUNDARY-INPUT-INCOMPLETE boundary_input_unresolved sub/.mcp.json"},
		},
		{
			name: "byte order mark before Bash(*)", change: change{files: files{settings: added("\xEF\xBB\xBF" + wildcard)}}, decision: rule.Block, state: personStops,
			code: "byte_order_mark", rows: []string{"HOST-PERMISSION-WILDCARD-ALLOW permission_wildcard_allow " + settings},
		},
		{
			name: "unmerged AGENTS.md", change: change{files: files{"AGENTS.md": edited("a\n", "b\n")}, more: issue("boundary_index_unmerged", "AGENTS.md")},
			decision: rule.RequireReview, state: personStops, code: "boundary_index_unmerged",
		},
		{
			name: "text that is no diff", change: change{mode: gate.ProvidedDiff, more: issue("boundary_diff_unparseable", "<diff>")}, decision: rule.RequireReview, state: personStops,
			rows: []string{"BOUNDARY-INPUT-INCOMPLETE boundary_input_unresolved <diff>"},
		},
		{
			name: "new-file record, file exists with other bytes", decision: rule.RequireReview, state: personStops, code: "content_source",
			change: change{files: files{settings: added("{}")}, mode: gate.ProvidedDiff, more: unresolvedBy("new_file_workspace_mismatch")},
			rows:   []string{"HOST-CONFIG-PARSE-FAILED host_config_content_unresolved " + settings},
		},
		{
			name: "untracked settings file of 129 KiB", decision: rule.RequireReview, state: personStops, code: "boundary_input_oversized",
			change: change{files: files{settings: added("")}, more: unresolvedBy("boundary_input_oversized")},
		},
		{name: "rename into settings with a wildcard", change: change{files: files{"conf/s.json": deleted(wildcard), settings: added(wildcard)}}, decision: rule.Block, state: personStops},
		{
			name: "rename out of settings with a wildcard", decision: rule.RequireReview, state: personStops, code: "boundary_rename_out_requires_review",
			change: change{files: files{settings: deleted(wildcard), "conf/s.json": added(wildcard)}, more: issue("boundary_rename_out_requires_review", settings)},
		},
		{name: "malformed settings", change: change{files: files{settings: added("{")}}, decision: rule.RequireReview, state: personStops},
		{name: "malformed workflow", change: change{files: files{".github/workflows/x.yml": added("a: [\n")}}, decision: rule.RequireReview, state: personStops},
		{
			name: "untracked café/AGENTS.md, adopted", change: change{files: files{"café/AGENTS.md": added("a\n")}, adopted: true}, decision: rule.RequireReview, state: publishable,
			rows: []string{"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED protected_surface_unclassified café/AGENTS.md"},
		},
		{
			name: ".mcp.json with a filter attribute, edited", change: change{files: files{".mcp.json": edited("{}", "{}")}, more: unresolvedBy("boundary_input_filtered")},
			decision: rule.RequireReview, state: personStops, code: "boundary_input_filtered",
		},
		{
			name: "range, head policy raises 18 to block", decision: rule.Block, state: personStops,
			change: change{files: files{settings: added(makeLint)}, mode: gate.GitRange, policies: map[string]string{unified: "rules:\n  - {id: HOST-PERMISSION-ALLOW-EXPANDED, action: block}\n"}},
			rows:   []string{"HOST-PERMISSION-ALLOW-EXPANDED permission_allow_expanded " + settings},
		},
		{
			name: "workspace policy unreadable", decision: rule.RequireReview, state: personStops, code: "policy_load_failed",
			change: change{policies: map[string]string{unified: "just words\n"}},
			rows:   []string{"BOUNDARY-INPUT-INCOMPLETE boundary_coverage_incomplete " + unified},
		},
		{
			name: "policy edited and malformed", decision: rule.RequireReview, state: personStops, code: "policy_load_failed",
			change: change{files: files{unified: edited("rules: []\n", "rules: [\n")}},
		},
		{
			name: "profile that the file does not define", decision: rule.RequireReview, state: personStops, code: "host_inventory_unsupported",
			change: change{files: files{codexConfig: added("profile = \"elsewhere\"\n")}},
		},
		{
			name: "settings with policyHelper", decision: rule.RequireReview, state: personStops, code: "host_inventory_unsupported",
			change: change{files: files{settings: added(`{"policyHelper":{"path":"x"}}`)}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, c.change)
			if r.Decision != c.decision || r.Control.State() != c.state {
				t.Errorf("%s, %s; want %s, %s\n%s", r.Decision, r.Control.State(), c.decision, c.state, r.JSON())
			}
			if c.rows != nil && !slices.Equal(rows(r), c.rows) {
				t.Errorf("rows\n  %s\nwant\n  %s", strings.Join(rows(r), "\n  "), strings.Join(c.rows, "\n  "))
			}
			if c.kind != "" && (r.Control.NextAction() == nil || r.Control.NextAction().Kind != c.kind) {
				t.Errorf("next action %+v, want %s", r.Control.NextAction(), c.kind)
			}
			if c.code != "" && !slices.Contains(codes(r), c.code) {
				t.Errorf("diagnostics %v lack %s", codes(r), c.code)
			}
			if strings.Contains(string(r.JSON()), "sk-sentinel") {
				t.Error("a header value is printed")
			}
		})
	}
}

// unresolvedBy makes the one change of an input unreadable.
func unresolvedBy(code string) func(*gate.Input) {
	return func(in *gate.Input) {
		s := &in.Changes[0]
		s.Old.Unresolved, s.New.Unresolved = code, code
		if strings.HasPrefix(code, "boundary_") {
			issue(code, s.Path)(in)
		} else {
			s.Source = surface.Token(code)
		}
	}
}

// staged adds the index after-state of a split path.
func staged(path, before, after string) func(*gate.Input) {
	return func(in *gate.Input) {
		c := sideChange(path, edited(before, after), gate.Worktree)
		c.Source = surface.GitIndex
		in.Changes = append(in.Changes, c)
		in.Records = append(in.Records, record(path, edited(before, after)))
		in.IndexText = []byte("index\n")
		// A disk side that equals HEAD is no change of its own.
		in.Changes = slices.DeleteFunc(in.Changes, func(c surface.Change) bool {
			return c.Source == surface.GitWorktree && string(c.Old.Bytes) == string(c.New.Bytes)
		})
	}
}

// unstaged removes path from the index and leaves it on disk.
func unstaged(path, text string) func(*gate.Input) {
	return func(in *gate.Input) {
		c := sideChange(path, deleted(text), gate.Worktree)
		c.Source = surface.GitIndex
		in.Changes = []surface.Change{c}
		in.IndexText = []byte("index\n")
	}
}

// linked adds path as a link that is read at its targets ("" where it is none).
func linked(path, oldTarget, newTarget string, texts edit) func(*gate.Input) {
	return func(in *gate.Input) {
		c := sideChange(path, texts, gate.Worktree)
		c.Link = &surface.Link{}
		if oldTarget != "" {
			c.Link.Old = &oldTarget
		}
		if newTarget != "" {
			c.Link.New = &newTarget
		}
		c.Listed = false
		in.Changes = append(in.Changes, c)
	}
}

func TestNothingAroundABlockSoftensIt(t *testing.T) {
	alone := check(t, change{files: files{settings: added(wildcard)}})
	many := files{settings: added(wildcard)}
	for i := range 100 {
		many[fmt.Sprintf("src/f%03d.go", i)] = added("package f\n")
	}
	crowd := check(t, change{files: many})
	if !slices.Equal(rows(alone), rows(crowd)) {
		t.Errorf("rows changed: %v", rows(crowd))
	}
	for _, actor := range []gate.Actor{gate.ActorCodex, gate.ActorClaude, gate.ActorCursor} {
		r := check(t, change{files: files{settings: added(wildcard)}, actor: actor})
		if r.Control.State() != personStops || !slices.Equal(rows(alone), rows(r)) {
			t.Errorf("%s is judged in another way", actor)
		}
	}
}

func TestTheOrderOfChangesDecidesNothing(t *testing.T) {
	c := change{files: files{
		settings: added(wildcard), ".mcp.json": added(`{"mcpServers":{"t":{"command":"x"}}}`), codexConfig: added(fullAccess), "AGENTS.md": added("a\n"),
	}}
	want := string(check(t, c).JSON())
	c.more = func(in *gate.Input) { slices.Reverse(in.Changes) }
	if got := string(check(t, c).JSON()); got != want {
		t.Error("another order of changes gives another result")
	}
}
