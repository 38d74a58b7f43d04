//go:build unix

package shipgate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/cli/shipgate"
)

// preflightResult is what the tests look at.
type preflightResult struct {
	Control struct {
		State      string
		Reason     string
		NextAction struct{ Command string } `json:"next_action"`
	}
	RequiresHumanReview bool    `json:"requires_human_review"`
	VerificationCommand *string `json:"verification_command"`
	Signals             []struct{ ID, Path, Reason string }
}

func preflightOf(t *testing.T, env shipgate.Env, stdin string, args ...string) *preflightResult {
	t.Helper()
	code, stdout, stderr := call(env, stdin, append([]string{"preflight", "--json"}, args...))
	if code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr)
	}
	if err := validPreflight(stdout); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	var r preflightResult
	if err := json.Unmarshal(stdout, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// A preflight never asks for less than check: of every case whose change check
// leaves to a person, so does the preflight of its plan, by the names alone.
func TestPreflightNeverAsksForLessThanCheck(t *testing.T) {
	for name, c := range loadCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := buildCase(t, &c)
			if errors.Is(err, errCannotBuild) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("the case itself is broken: %v", err)
			}
			args, environ := s.request("codex")
			env := shipgate.Env{Dir: s.cwd, Environ: environ}
			code, stdout, _ := s.ask("codex")
			if code != 0 || slices.Contains(args, "--policy") {
				t.Skip("the case is refused, or takes a policy that preflight does not")
			}
			var checked boundaryResult
			if err := json.Unmarshal(stdout, &checked); err != nil {
				t.Fatal(err)
			}
			asks := slices.Contains([]string{"require_review", "block"}, checked.Decision) && len(checked.Violations) > 0
			if !asks || len(checked.ChangedFiles) == 0 {
				t.Skip("check asks nobody")
			}
			plan, err := json.Marshal(map[string]any{"changed_files": checked.ChangedFiles})
			if err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := call(env, string(plan), []string{
				"preflight", "--json", "--workspace", s.workspace, "--config", flagOf(args, "config", "shipgate.yaml"), "--plan", "-",
			})
			var r preflightResult
			switch {
			case code != 0 && strings.Contains(string(stderr), "lies outside"):
			case code != 0:
				t.Fatalf("exit code %d: %s", code, stderr)
			case errors.Join(validPreflight(stdout), json.Unmarshal(stdout, &r)) != nil:
				t.Fatalf("%s", stdout)
			case !r.RequiresHumanReview:
				t.Errorf("check: %s\npreflight: %s", checked.Violations, r.Control.Reason)
			}
		})
	}
}

// The same for a supplied diff, row for row.
func TestPreflightOfADiffAsksForWhatCheckAsks(t *testing.T) {
	asked := 0
	for name, c := range loadCases(t) {
		if c.Mode != "diff" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, err := buildCase(t, &c)
			if errors.Is(err, errCannotBuild) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("the case itself is broken: %v", err)
			}
			args, environ := s.request("codex")
			env := shipgate.Env{Dir: s.cwd, Environ: environ}
			code, stdout, _ := s.ask("codex")
			at := slices.Index(args, "--diff")
			if code != 0 || at < 0 || slices.Contains(args, "--policy") {
				t.Skip("no diff that both take")
			}
			var checked boundaryResult
			if err := json.Unmarshal(stdout, &checked); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := call(env, string(s.stdin), []string{"preflight", "--json", "--workspace", s.workspace, "--diff", args[at+1]})
			if code != 0 {
				if checked.Control.State != "human_review_required" {
					t.Errorf("refused (%s), and check says %s", stderr, checked.Control.State)
				}
				return
			}
			var r preflightResult
			if err := errors.Join(validPreflight(stdout), json.Unmarshal(stdout, &r)); err != nil {
				t.Fatal(err)
			}
			if slices.Contains([]string{"require_review", "block"}, checked.Decision) {
				asked++
				if !r.RequiresHumanReview {
					t.Errorf("check: %s\npreflight: %s", checked.Violations, r.Control.Reason)
				}
			}
		})
	}
	if asked < 15 {
		t.Errorf("only %d cases asked for anything", asked)
	}
}

// Every command that a result prints runs as it is printed.
func TestPreflightCommandsRunAsPrinted(t *testing.T) {
	root := t.TempDir()
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), quietGit(root)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	git(root, "init", "-q", "-b", "main")
	write("src/app.py", "print(1)\n")
	write("it's here/tools.json", `{"tools":[{"name":"find_order","description":"Finds one order of the shop by its number.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}},"annotations":{"readOnlyHint":true}}]}`)
	write("it's here/gate file.yaml", "version: \"0.1\"\nproject: {name: shop}\nagent: {name: helper, declared_purpose: [look up orders]}\nenvironment: {target: staging}\ntool_sources:\n  - {id: shop, type: mcp, path: tools.json}\n")
	git(root, "add", "-A")
	git(root, "commit", "-q", "-m", "a step")
	env := shipgate.Env{Dir: root, Environ: append(os.Environ(), quietGit(root)...)}
	for _, args := range [][]string{{}, {"--workspace", "it's here", "--config", "gate file.yaml"}} {
		r := preflightOf(t, env, "", append(args, "--changed-files", "src/app.py")...)
		if r.VerificationCommand == nil || *r.VerificationCommand != r.Control.NextAction.Command {
			t.Fatalf("%v: %+v", args, r)
		}
		out, err := exec.Command("sh", "-c", `agents-shipgate() { for w; do printf '%s\0' "$w"; done; }; `+*r.VerificationCommand).Output()
		if err != nil {
			// A name with a dash is no function for every shell.
			out, err = exec.Command("sh", "-c", `gate() { for w; do printf '%s\0' "$w"; done; }; `+strings.Replace(*r.VerificationCommand, "agents-shipgate", "gate", 1)).Output()
		}
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if code, _, stderr := call(env, "", words); code != 0 {
			t.Errorf("%q: exit code %d: %s", words, code, stderr)
		}
	}
}

// A caller in the same process hands over what it has instead of files.
func TestPreflightTakesWhatACallerHandsOver(t *testing.T) {
	dir := t.TempDir()
	env := shipgate.Env{Dir: dir}
	_, base, _ := call(env, "", []string{"preflight", "--json"})
	env.Given = map[string][]byte{
		"a": []byte("src/app.py\nAGENTS.md"), "b": base,
		"c": []byte(`{"tool_name":"t","provider":"p","operation":"o","effect":"destructive"}`), "d": []byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
	}
	code, stdout, stderr := call(env, "", []string{"preflight", "--json", "--changed-files=a", "--base-preflight=b", "--capability-request=c", "--diff=d"})
	if code != 0 {
		t.Fatalf("%s", stderr)
	}
	var r struct {
		Files []string `json:"changed_files"`
		Drift *struct {
			Changed bool
		} `json:"trust_root_graph_diff"`
		Summary map[string]any `json:"plan_summary"`
	}
	if err := errors.Join(validPreflight(stdout), json.Unmarshal(stdout, &r)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Files, []string{"AGENTS.md", "src/app.py", "x"}) || r.Drift == nil || r.Drift.Changed || r.Summary["capability_request_count"] != 1.0 {
		t.Errorf("%s", stdout)
	}
}

// A workspace may be made to hurt: nothing waits, nothing is read from outside.
func TestPreflightOfAHostileWorkspace(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, ".git"), 0o755), os.Mkdir(filepath.Join(dir, "closed"), 0), os.Mkdir(filepath.Join(dir, "prompts"), 0o755),
		syscall.Mkfifo(filepath.Join(dir, "AGENTS.md"), 0o644), syscall.Mkfifo(filepath.Join(dir, "shipgate.yaml"), 0o644),
		os.Symlink("AGENTS.md", filepath.Join(dir, "CLAUDE.md")), os.Symlink(outside, filepath.Join(dir, ".mcp.json")),
		os.Symlink(".", filepath.Join(dir, ".codex")), os.Symlink("loop", filepath.Join(dir, "loop")),
		os.Symlink("../prompts", filepath.Join(dir, "prompts", "again")),
	); err != nil {
		t.Fatal(err)
	}
	r := preflightOf(t, shipgate.Env{Dir: dir}, "", "--changed-files", "src/app.py,loop/x,prompts/again/again/x")
	if !r.RequiresHumanReview {
		t.Error(r.Control.Reason)
	}
	code, stdout, stderr := call(shipgate.Env{Dir: dir}, "", []string{"preflight", "--json"})
	if sum := sha256.Sum256([]byte("outside")); code != 0 || bytes.Contains(stdout, []byte(hex.EncodeToString(sum[:]))) {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
}

// The examples of the help are run as a shell would.
func TestPreflightExamplesWork(t *testing.T) {
	dir := repository(t)
	env := shipgate.Env{Dir: dir, Environ: append(os.Environ(), quietGit(dir)...)}
	_, before, _ := call(env, "", []string{"preflight", "--json"})
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "plan.json"), []byte(`{"changed_files":["src/app.py"]}`), 0o644),
		os.WriteFile(filepath.Join(dir, "before.json"), before, 0o644),
	); err != nil {
		t.Fatal(err)
	}
	_, help, _ := call(env, "", []string{"preflight", "--help"})
	_, rest, _ := strings.Cut(string(help), "\nExamples:\n")
	block, _, _ := strings.Cut(rest, "\n\nFlags")
	ran := 0
	for line := range strings.SplitSeq(block, "\n") {
		feed, command, piped := strings.Cut(strings.TrimSpace(line), " | ")
		if !piped {
			feed, command = "true", feed
		}
		cmd := exec.Command("sh", "-c", feed)
		cmd.Dir, cmd.Env = dir, env.Environ
		stdin, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", feed, err)
		}
		if code, stdout, stderr := call(env, string(stdin), strings.Fields(command)[1:]); code != 0 || len(stdout) == 0 {
			t.Errorf("%s: exit code %d: %s", line, code, stderr)
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("only %d examples in %q", ran, block)
	}
}

// plannedDiff is a random diff over files of a workspace: edits, additions,
// deletions, moves and changes of a mode, some of them wrong.
func plannedDiff(t *rapid.T, files map[string]string) string {
	names := append(slices.Sorted(maps.Keys(files)), ".mcp.json", "docs/CLAUDE.md", "src/new.py", ".github/workflows/a.yml", "linked/settings.json")
	texts := []string{
		"a\n", "Ask first.\n", `{"permissions": {"allow": ["Bash(*)"]}}` + "\n", `{"permissions": {"deny": ["Read(./x)"]}}` + "\n",
		"sandbox_mode = \"danger-full-access\"\n", plannedFiles["shipgate.yaml"] + "  - {id: more, type: mcp, path: more.json}\n", "{", "",
	}
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(t, "records") {
		name := rapid.SampledFrom(names).Draw(t, "name")
		old, there := files[name]
		text := rapid.SampledFrom(texts).Draw(t, "text")
		to := name
		if rapid.IntRange(0, 9).Draw(t, "moves") == 0 {
			to = rapid.SampledFrom(names).Draw(t, "to")
		}
		b.WriteString("diff --git a/" + name + " b/" + to + "\n")
		left, right := "a/"+name, "b/"+to
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case !there:
			b.WriteString("new file mode 100644\n")
			left, old = "/dev/null", ""
		case kind == 0:
			b.WriteString("deleted file mode 100644\n")
			right, text = "/dev/null", ""
		case kind == 1:
			b.WriteString("old mode 100644\nnew mode 100755\n")
			continue
		case to != name:
			b.WriteString("rename from " + name + "\nrename to " + to + "\n")
		}
		was, is := strings.SplitAfter(strings.TrimSuffix(old, "\n"), "\n"), strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		if old == "" {
			was = nil
		}
		if text == "" {
			is = nil
		}
		from, upto := min(1, len(was)), min(1, len(is))
		b.WriteString("--- " + left + "\n+++ " + right + "\n")
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from, len(was), upto, len(is))
		for _, l := range was {
			b.WriteString("-" + strings.TrimSuffix(l, "\n") + "\n")
		}
		for _, l := range is {
			b.WriteString("+" + strings.TrimSuffix(l, "\n") + "\n")
		}
	}
	return b.String()
}

var plannedFiles = map[string]string{
	"shipgate.yaml": "version: \"0.1\"\nproject: {name: shop}\nagent: {name: helper, declared_purpose: [look up orders]}\nenvironment: {target: staging}\ntool_sources:\n  - {id: shop, type: mcp, path: tools.json}\n",
	"tools.json":    "{\"tools\": []}\n", "more.json": "{\"tools\": []}\n", "src/app.py": "print(1)\n", "AGENTS.md": "Ask first.\n",
	".claude/settings.json": "{\"permissions\": {\"deny\": [\"Read(./x)\"]}}\n", ".codex/config.toml": "model = \"x\"\n",
	"policies/agent-boundary.shipgate.yaml": "version: 1\n", "real/settings.json": "{}\n", "docs/agents.txt": "Ask.\n",
}

func TestPreflightOfRandomDiffsAsksForWhatCheckAsks(t *testing.T) {
	dir := t.TempDir()
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	for name, text := range plannedFiles {
		at := filepath.Join(dir, filepath.FromSlash(name))
		must(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644))
	}
	must(os.Symlink("docs/agents.txt", filepath.Join(dir, "CLAUDE.md")), os.Symlink("real", filepath.Join(dir, "linked")))
	env := shipgate.Env{Dir: dir}
	asked, passed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := plannedDiff(rt, plannedFiles)
		code, stdout, stderr := call(env, text, []string{"check", "--agent", "codex", "--diff", "-"})
		var checked boundaryResult
		if err := json.Unmarshal(stdout, &checked); code != 0 || err != nil {
			rt.Fatalf("check: %d %s %v", code, stderr, err)
		}
		code, stdout, stderr = call(env, text, []string{"preflight", "--json", "--diff", "-"})
		var r preflightResult
		if err := errors.Join(validPreflight(stdout), json.Unmarshal(stdout, &r)); code != 0 || err != nil {
			rt.Fatalf("preflight: %d %s %v", code, stderr, err)
		}
		if slices.Contains([]string{"require_review", "block"}, checked.Decision) {
			asked++
			if !r.RequiresHumanReview {
				// The one change that preflight knows more of: what lies at the
				// paths of added sources (docs/decisions/0080, D6).
				for _, v := range checked.Violations {
					if v.Path != "shipgate.yaml" || v.Evidence.kind() != "protected_surface_unclassified" {
						rt.Fatalf("check: %s\npreflight: %s\n%s", checked.Violations, r.Control.Reason, text)
					}
				}
			}
		} else if !r.RequiresHumanReview {
			passed++
		}
	})
	if asked == 0 || passed == 0 {
		t.Errorf("%d were asked for and %d passed: these diffs try nothing", asked, passed)
	}
}
