//go:build unix

package shipgate_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The texts that these tables are about.
const (
	manifest       = "version: 1\nproject: shop\nagent: clerk\ntool_sources:\n- {id: prices, type: mcp, path: tools/prices.json}\n"
	sourcePath     = "tools/prices.json"
	capabilityPath = "workflows/conductor/pay.json"
	capability     = "{\"type\": \"CALL_MCP_TOOL\"}\n"
	grant          = "{\"permissions\": {\"allow\": [\"Bash(*)\"]}}\n"
	server         = "{\"mcpServers\": {\"tickets\": {\"command\": \"tix\"}}}\n"
	danger         = "sandbox_mode = \"danger-full-access\"\n"
	rulePath       = ".cursor/rules/style.mdc"
)

// TestEachRowOfTheControlTable has a repository for each row of
// docs/spec/boundary.md §7.3 (the repair row needs a rule that no release has;
// internal/gate shows it) and for the one route of §12.3 that is an agent's.
// The command strings are those of §7.4, the permissions those of its first
// table.
func TestEachRowOfTheControlTable(t *testing.T) {
	adopted := files{"shipgate.yaml": manifest, sourcePath: "{}\n", "docs/a.md": "a\n"}
	const (
		verify    = "agents-shipgate verify --workspace <W> --config shipgate.yaml --json"
		inRange   = "agents-shipgate verify --workspace <W> --config shipgate.yaml --base main --head HEAD --json"
		preview   = "agents-shipgate verify --workspace <W> --config shipgate.yaml --preview --json"
		detect    = "shipgate detect --workspace <W> --json"
		human     = "human_review_required"
		agent     = "agent_action_required"
		published = "review_publishable"
		platform  = "agent-platform"
		both      = "agent-platform security"
	)
	refs := []string{"--base", "nowhere", "--head", "HEAD"}
	cases := []struct {
		row, name  string
		mode       string
		base, head files
		args       []string
		decision   string
		state      string
		kind       string // "" for none
		command    string
		verify     bool
		reviewers  string
	}{
		{row: "1", name: "a block", head: files{settingsPath: grant}, decision: "block", state: human, kind: "stop", reviewers: both},
		{row: "1", name: "a block, staged", mode: "staged", head: files{settingsPath: grant}, decision: "block", state: human, kind: "stop", reviewers: both},
		{row: "1", name: "a block in a bare diff", mode: "diff", head: files{settingsPath: grant}, decision: "block", state: human, kind: "stop", reviewers: both},
		{row: "1", name: "a block that owes verification", base: adopted, head: files{settingsPath: grant}, decision: "block", state: human, kind: "stop", verify: true, reviewers: both},
		{row: "1", name: "a block beside an undeclared capability", head: files{settingsPath: grant, capabilityPath: capability}, decision: "block", state: human, kind: "stop", verify: true, reviewers: both},
		{row: "2", name: "unread input", head: files{serversPath: "{"}, decision: "require_review", state: human, kind: "review", reviewers: platform},
		{row: "2", name: "an experimental path", head: files{".vscode/mcp.json": "{}\n"}, decision: "require_review", state: human, kind: "review", reviewers: platform},
		{row: "2", name: "unread input beside a critical row", mode: "committed", head: files{serversPath: "{", codexPath: danger}, decision: "require_review", state: human, kind: "review", reviewers: both},
		{row: "2", name: "unread input beside a declared change", base: adopted, head: files{serversPath: "{", sourcePath: "{ }\n"}, decision: "require_review", state: human, kind: "review", verify: true, reviewers: platform},
		{row: "4", name: "a bare diff with a graded row", mode: "diff", head: files{rulePath: "Be brief.\n"}, decision: "require_review", state: human, kind: "review", verify: true},
		{row: "4", name: "a bare diff in an adopted repository", mode: "diff", base: adopted, head: files{"docs/a.md": "b\n"}, decision: "allow", state: human, kind: "review", verify: true},
		{row: "4", name: "a bare diff of a declared source", mode: "diff", base: adopted, head: files{sourcePath: "{ }\n"}, decision: "warn", state: human, kind: "review", verify: true},
		{row: "4", name: "a bare diff with an undeclared capability", mode: "diff", head: files{capabilityPath: capability}, decision: "warn", state: human, kind: "review", verify: true},
		{row: "5", name: "a bare diff with a high row", mode: "diff", head: files{serversPath: server}, decision: "require_review", state: human, kind: "review", reviewers: platform},
		{row: "5", name: "a bare diff with a critical row", mode: "diff", head: files{codexPath: danger}, decision: "require_review", state: human, kind: "review", reviewers: both},
		{row: "6", name: "a high row", head: files{serversPath: server}, decision: "require_review", state: published, kind: "review", command: verify, reviewers: platform},
		{row: "6", name: "a critical row in an adopted range", mode: "committed", base: adopted, head: files{codexPath: danger}, decision: "require_review", state: published, kind: "review", command: inRange, verify: true, reviewers: both},
		{row: "6", name: "a medium row that governs the gate", base: files{"AGENTS.md": "a\n"}, head: files{"AGENTS.md": "b\n"}, decision: "require_review", state: published, kind: "review", command: verify, reviewers: platform},
		{row: "6", name: "a high row beside an undeclared capability", head: files{serversPath: server, capabilityPath: capability}, decision: "require_review", state: published, kind: "review", command: verify, verify: true, reviewers: platform},
		{row: "7", name: "an undeclared capability, adopted", base: adopted, head: files{capabilityPath: capability}, decision: "warn", state: agent, kind: "discover", command: detect, verify: true},
		{row: "7", name: "the same beside a declared change and a graded row", base: adopted, head: files{capabilityPath: capability, sourcePath: "{ }\n", rulePath: "Be brief.\n"}, decision: "require_review", state: agent, kind: "discover", command: detect, verify: true},
		{row: "7a", name: "an undeclared capability in an adopted range", mode: "committed", base: adopted, head: files{capabilityPath: capability}, decision: "warn", state: agent, kind: "verify", command: inRange, verify: true},
		{row: "8", name: "an undeclared capability without a manifest", head: files{capabilityPath: capability}, decision: "warn", state: agent, kind: "configure", command: preview, verify: true},
		{row: "9", name: "a graded row", head: files{rulePath: "Be brief.\n"}, decision: "require_review", state: agent, kind: "verify", command: verify, verify: true},
		{row: "9", name: "graded rows in a range", mode: "committed", head: files{rulePath: "Be brief.\n", settingsPath: "{\"futureGrant\": 1}\n"}, decision: "require_review", state: agent, kind: "verify", command: inRange, verify: true},
		{row: "10", name: "a declared source", base: adopted, head: files{sourcePath: "{ }\n"}, decision: "warn", state: agent, kind: "verify", command: verify, verify: true},
		{row: "10", name: "anything in an adopted repository", base: adopted, head: files{"docs/a.md": "b\n"}, decision: "allow", state: agent, kind: "verify", command: verify, verify: true},
		{row: "10", name: "anything in an adopted range", mode: "committed", base: adopted, head: files{"docs/a.md": "b\n"}, decision: "allow", state: agent, kind: "verify", command: inRange, verify: true},
		{row: "11", name: "a clean change", head: files{"docs/a.md": "a\n"}, decision: "allow", state: "complete"},
		{row: "11", name: "a clean range", mode: "committed", head: files{"docs/a.md": "a\n"}, decision: "allow", state: "complete"},
		{row: "11", name: "a clean bare diff", mode: "diff", head: files{"docs/a.md": "a\n"}, decision: "allow", state: "complete"},
		{row: "11", name: "an evaluated file without a row", base: files{codexPath: "model = \"a\"\n"}, head: files{codexPath: "model = \"b\"\n"}, decision: "allow", state: "complete"},
		{row: "refs", name: "refs that are not there", mode: "committed", head: files{"docs/a.md": "a\n"}, args: refs, decision: "block", state: agent, kind: "fetch_base"},
	}
	var mu sync.Mutex
	rows, kinds := map[string]bool{}, map[string]bool{}
	t.Run("rows", func(t *testing.T) {
		for _, want := range cases {
			t.Run(want.row+" "+want.name, func(t *testing.T) {
				t.Parallel()
				if want.mode == "" {
					want.mode = "worktree"
				}
				c := given(want.mode, want.base, want.head)
				c.Args = want.args
				s, err := buildCase(t, &c)
				if err != nil {
					t.Fatalf("the case itself is broken: %v", err)
				}
				r := s.check(t, "codex")
				got, action := &r.Control, &r.Control.NextAction
				mu.Lock()
				rows[want.row], kinds[action.Kind] = true, true
				mu.Unlock()
				command := strings.ReplaceAll(want.command, "<W>", s.workspace)
				var allowed []string
				if command != "" {
					allowed = []string{command}
				}
				if r.Decision != want.decision || got.State != want.state || action.Kind != want.kind || got.VerifyRequired != want.verify {
					t.Errorf("%s, %s, %q, verify %t", r.Decision, got.State, action.Kind, got.VerifyRequired)
				}
				if d := cmp.Diff(allowed, slices.Clip(append([]string(nil), got.AllowedNextCommands...))); d != "" {
					t.Errorf("commands (-want +got):\n%s", d)
				}
				if want.state == "agent_action_required" && action.Command != command {
					t.Errorf("the command is %q, want %q", action.Command, command)
				}
				if want.state != "agent_action_required" && action.Command != "" {
					t.Errorf("a person is told to run %q", action.Command)
				}
				if reviewers := strings.Join(got.HumanReview.RequiredReviewers, " "); reviewers != want.reviewers {
					t.Errorf("reviewers %q, want %q", reviewers, want.reviewers)
				}
				granted := "none"
				switch {
				case want.state == "complete":
					granted = "all"
				case want.state == "review_publishable", want.state == "agent_action_required" && want.kind != "fetch_base":
					granted = "publish"
				}
				if d := cmp.Diff(permissions(granted), got.Permissions); d != "" {
					t.Errorf("permissions (-want +got):\n%s", d)
				}
				if got.Reason == "" || action.Kind != "" && action.Why == "" {
					t.Error("no reason is given")
				}
				if graded := want.state == "agent_action_required" && want.decision == "require_review"; graded != (len(r.PendingReview) > 0) {
					t.Errorf("%d reviews are pending", len(r.PendingReview))
				}
			})
		}
	})
	if t.Failed() || len(rows) == 0 {
		return
	}
	if d := cmp.Diff(words("1 10 11 2 4 5 6 7 7a 8 9 refs"), slices.Sorted(maps.Keys(rows))); d != "" {
		t.Errorf("rows (-want +seen):\n%s", d)
	}
	delete(kinds, "")
	if d := cmp.Diff(words("configure discover fetch_base review stop verify"), slices.Sorted(maps.Keys(kinds))); d != "" {
		t.Errorf("next actions (-want +seen):\n%s", d)
	}
}

// permissions is the vector of §7.4.
func permissions(granted string) map[string]bool {
	vector := map[string]bool{}
	for _, name := range words("edit commit push update_pr") {
		vector[name] = granted != "none"
	}
	for _, name := range words("merge report_complete") {
		vector[name] = granted == "all"
	}
	return vector
}
