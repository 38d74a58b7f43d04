package shipgate_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// answer is what a check or a verification says of a change, as far as the two
// can be compared.
type answer struct {
	Control struct {
		State       string
		Permissions map[string]bool
		NextAction  *struct{ Kind string } `json:"next_action"`
		MustStop    bool                   `json:"must_stop"`
	}
	PendingReview []any `json:"pending_review"`
	Violations    []struct{ Action string }
	Decision      string
	MergeVerdict  string `json:"merge_verdict"`
	CanMerge      bool   `json:"can_merge_without_human"`
	FixTask       *struct {
		Safe    bool  `json:"safe_to_attempt"`
		Patches []any `json:"patches"`
	} `json:"fix_task"`
}

// agreedManifest passes by itself; its tools are a list and an API.
const agreedManifest = `version: "0.1"
project: {name: shop}
agent: {name: helper, declared_purpose: ["look up orders"]}
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools/tools.json}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [{tool: get_order}], handoffs: [], reason: reviewed}
action_surface:
  actions:
    - {tool: get_order, effect: read, scopes: ["orders:read"], authority: {mode: scoped, auth_type: oauth2}}
permissions: {scopes: ["orders:read"]}
checks:
  ignore:
    - {check_id: SHIP-SCHEMA-FREEFORM-OUTPUT, tool: get_order, reason: text by design}
`

const agreedTools = `{"tools": [
 {"name": "get_order", "description": "Look up one order by its number.",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
  "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
]}
`

// edits are files of the repository, each with the texts it may have. "" is no
// file. The first text of each is the base.
var edits = []struct {
	path  string
	texts []string
}{
	{"shipgate.yaml", []string{
		agreedManifest,
		strings.Replace(agreedManifest, "    - {check_id: SHIP-SCHEMA-FREEFORM-OUTPUT, tool: get_order, reason: text by design}\n", "    []\n", 1),
		strings.Replace(agreedManifest, "effect: read", "effect: destructive", 1),
		strings.Replace(agreedManifest, "tool_sources:\n", "tool_sources:\n  - {id: more, type: mcp, path: tools/more.json}\n", 1),
		agreedManifest + "ci: {mode: strict}\n",
		strings.Replace(agreedManifest, "reason: text by design}", "reason: text by design}\n    - {check_id: SHIP-AUTH-MISSING-SCOPE, reason: no}\n    - {check_id: SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED, reason: no}", 1),
		"version: 3\n",
		"",
	}},
	{"tools/tools.json", []string{
		agreedTools,
		strings.Replace(agreedTools, `"readOnlyHint": true`, `"destructiveHint": true`, 1),
		strings.Replace(agreedTools, "by its number.", "by its number or date.", 1),
		strings.Replace(agreedTools, "{\"tools\": [\n", "{\"tools\": [\n {\"name\": \"delete_order\", \"description\": \"Delete one order for good.\", \"annotations\": {\"destructiveHint\": true}},\n", 1),
		"{", "",
	}},
	{"tools/more.json", []string{"", `{"tools": []}`, `[{"name": "send_mail", "description": "Send an email to a customer."}]`}},
	{".claude/settings.json", []string{
		`{"permissions": {"allow": ["Bash(npm test)"], "deny": ["Read(.env)"]}}`,
		`{"permissions": {"allow": ["Bash(npm test)", "Bash(git push)"], "deny": ["Read(.env)"]}}`,
		`{"permissions": {"allow": ["Bash(*)"]}}`, `{"permissions": {}}`, "{", "",
	}},
	{".mcp.json", []string{"", `{"mcpServers": {"files": {"command": "npx", "args": ["files"]}}}`, `{"mcpServers": {}}`}},
	{".codex/config.toml", []string{"model = \"o\"\n", "sandbox_mode = \"danger-full-access\"\n", "= 1\n"}},
	{".github/workflows/agents-shipgate.yml", []string{"on: pull_request\npermissions: {contents: read}\njobs: {}\n", "on: pull_request\npermissions: write-all\njobs: {}\n", ""}},
	{".github/workflows/ci.yml", []string{"on: push\njobs: {}\n", "on: pull_request_target\njobs: {}\n"}},
	{"AGENTS.md", []string{"Run shipgate check before you finish.\n", "Finish.\n", "Run shipgate check before you finish.\nBe brief.\n", ""}},
	{"policies/agents.yaml", []string{"version: 1\n", "version: 2\n", ""}},
	{"prompts/system.md", []string{"Help people.\n", "Help people a lot.\n"}},
	{"docs/readme.md", []string{"text\n", "more text\n", ""}},
	{"src/app.go", []string{"package app\n", "package app\n\nfunc F() {}\n"}},
}

// change is a random change over the base: what is written, what of it is
// staged, what is committed before.
type change struct {
	seed              uint64
	commits, worktree map[string]string
	staged            []string
	adopted           bool
}

func drawChange(seed uint64) change {
	r := rand.New(rand.NewPCG(seed, 7))
	c := change{seed: seed, commits: map[string]string{}, worktree: map[string]string{}, adopted: r.IntN(5) > 0}
	n := r.IntN(4)
	if seed%10 == 0 {
		n = 0
	}
	for range n {
		e := edits[r.IntN(len(edits))]
		text := e.texts[r.IntN(len(e.texts))]
		if r.IntN(3) == 0 {
			c.commits[e.path] = text
		} else {
			c.worktree[e.path] = text
			if r.IntN(3) == 0 {
				c.staged = append(c.staged, e.path)
			}
		}
	}
	return c
}

// build makes the repository of a change and returns its folder.
func (c *change) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), quietGit(dir)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(path, text string) {
		at := filepath.Join(dir, filepath.FromSlash(path))
		if text == "" {
			if err := os.RemoveAll(at); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	for _, e := range edits {
		if c.adopted || e.path != "shipgate.yaml" {
			put(e.path, e.texts[0])
		}
	}
	git("add", "-A")
	git("commit", "-q", "-m", "base")
	git("update-ref", "refs/remotes/origin/main", "HEAD")
	for path, text := range c.commits {
		put(path, text)
	}
	git("add", "-A")
	git("commit", "-q", "--allow-empty", "-m", "work")
	for path, text := range c.worktree {
		put(path, text)
	}
	for _, path := range c.staged {
		git("update-index", "--add", "--remove", "--", path)
	}
	return dir
}

func ask(t *testing.T, dir string, args ...string) answer {
	t.Helper()
	env := shipgate.Env{Dir: dir, Environ: append(os.Environ(), quietGit(dir)...)}
	_, out, errs := call(env, "", args)
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", args, err, out, errs)
	}
	return a
}

// permitted says whether an answer lets the agent do something.
func (a *answer) permitted(what string) bool { return a.Control.Permissions[what] }

// disagreement is why two answers about one change cannot both stand.
func disagreement(check, verify answer) string {
	asks := len(check.PendingReview) > 0
	for _, v := range check.Violations {
		asks = asks || v.Action == "require_review" || v.Action == "block"
	}
	blocks := slices.ContainsFunc(check.Violations, func(v struct{ Action string }) bool { return v.Action == "block" })
	switch {
	case check.Control.State == "complete" && verify.MergeVerdict == "blocked":
		return "check is complete and verify blocks"
	case asks && (verify.CanMerge || verify.MergeVerdict == "mergeable" || verify.permitted("merge")):
		return "check leaves a review open and verify merges"
	case blocks && (verify.permitted("push") || verify.Decision != "" && verify.Decision != "blocked"):
		return "check blocks and verify does not"
	case check.Control.MustStop && verify.permitted("push"):
		return "check stops and verify publishes"
	case check.Control.State != "complete" && check.Control.NextAction.Kind == "verify" && verify.Control.State == "complete" && verify.Decision != "passed":
		return "what was owed is complete without a decision"
	}
	return ""
}

// changes is how many changes are drawn; make slow draws more.
var changes = flag.Uint64("changes", 24, "how many changes to draw for check, verify and the commands that they name")

// Whatever changes, staged, committed or lying about: verify never lets through
// what check does not, and blocks nothing that check calls complete.
func TestCheckAndVerifyNeverDisagree(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range *changes {
		c := drawChange(seed)
		dir := c.build(t)
		worktree := ask(t, dir, "check")
		check := worktree
		verify := ask(t, dir, "verify", "--json", "--today", "2026-11-30")
		seen[check.Control.State+" / "+verify.MergeVerdict]++
		if why := disagreement(check, verify); why != "" {
			t.Errorf("change %d of the working tree: %s\n%+v\ncheck  %+v\nverify %+v", seed, why, c, check.Control, verify)
		}
		check = ask(t, dir, "check", "--base", "origin/main", "--head", "HEAD")
		verify = ask(t, dir, "verify", "--base", "origin/main", "--head", "HEAD", "--json", "--today", "2026-11-30")
		if why := disagreement(check, verify); why != "" {
			t.Errorf("change %d as a range: %s\n%+v\ncheck  %+v\nverify %+v", seed, why, c, check.Control, verify)
		}
		// To have verified changes nothing that check says: what it owes completes
		// through the artifact alone.
		if again := ask(t, dir, "check"); again.Control.State != worktree.Control.State {
			t.Errorf("change %d: after a verification the check says %s, not %s", seed, again.Control.State, worktree.Control.State)
		}
	}
	t.Log(fmt.Sprint(seen))
	for _, want := range []string{"agent_action_required / mergeable", "review_publishable / human_review_required", "human_review_required / blocked"} {
		if seen[want] == 0 {
			t.Errorf("no change is %q: %v", want, seen)
		}
	}
}
