//go:build linux

package shipgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Hostile input ends in an error or in a finding, with the place, in bounded
// memory, and is never a pass (docs/spec/verification.md §§1.1, 1.3). The built
// program runs in real repositories, so that what is measured is the whole of it.

const (
	maxMemory = 512 << 10 // KiB; of the child alone
	// maxWait is no measure of speed: a shared machine is slow, a hang is endless.
	maxWait = 90 * time.Second
)

const hostileHead = `version: "0.1"
project: {name: shop}
agent: {name: helper, declared_purpose: [look things up]}
environment: {target: local}
`

// A hostilePlace is one file that the gate reads, by the manifest that names it.
type hostilePlace struct {
	file, manifest, syntax string
}

func sourceOf(kind, file string) string {
	return hostileHead + "tool_sources:\n  - {id: kit, type: " + kind + ", path: " + file + "}\n"
}

func blockOf(text string) string { return hostileHead + text + "\n" }

var hostilePlaces = map[string]hostilePlace{
	"the manifest":          {"shipgate.yaml", "", "yaml"},
	"mcp JSON":              {"tools.json", sourceOf("mcp", "tools.json"), "json"},
	"mcp YAML":              {"tools.yaml", sourceOf("mcp", "tools.yaml"), "yaml"},
	"openapi YAML":          {"api.yaml", sourceOf("openapi", "api.yaml"), "yaml"},
	"openapi JSON":          {"api.json", sourceOf("openapi", "api.json"), "json"},
	"conductor":             {"flow.json", sourceOf("conductor", "flow.json"), "json"},
	"codex_config":          {"config.toml", sourceOf("codex_config", "config.toml"), "toml"},
	"codex_plugin":          {"plug/.codex-plugin/plugin.json", sourceOf("codex_plugin", "plug"), "json"},
	"mcp_server TypeScript": {"server.ts", sourceOf("mcp_server", "server.ts"), "ts"},
	"mcp_server Go":         {"server.go", sourceOf("mcp_server", "server.go"), "go"},
	"openai_agents_sdk":     {"agent.py", sourceOf("openai_agents_sdk", "agent.py"), "py"},
	"a folder of Python":    {"agents/main.py", sourceOf("openai_agents_sdk", "agents"), "py"},
	"google_adk":            {"agent.py", sourceOf("google_adk", "agent.py"), "py"},
	"langchain":             {"agent.py", sourceOf("langchain", "agent.py"), "py"},
	"crewai":                {"agent.py", sourceOf("crewai", "agent.py"), "py"},
	"n8n":                   {"flow.json", blockOf("n8n: {workflows: [flow.json]}"), "json"},
	"openai_api tools":      {"tools.json", blockOf("openai_api: {tools: [tools.json]}"), "json"},
	"openai_api traces":     {"traces.json", blockOf("openai_api: {traces: [traces.json]}"), "json"},
	"anthropic tools":       {"tools.json", blockOf("anthropic: {tools: [tools.json]}"), "json"},
	"anthropic rules":       {"rules.yaml", blockOf("anthropic: {policy_rules: [rules.yaml]}"), "yaml"},
	"adk agent config":      {"agent.yaml", blockOf("google_adk: {agent_configs: [agent.yaml]}"), "yaml"},
	"adk inventory":         {"tools.json", blockOf("google_adk: {tool_inventories: [tools.json]}"), "json"},
	"langchain inventory":   {"tools.json", blockOf("langchain: {tool_inventories: [tools.json]}"), "json"},
	"a policy pack":         {"pack.yaml", sourceOf("mcp", "none.json") + "checks: {policy_packs: [{id: team, path: pack.yaml}]}\n", "yaml"},
}

// hostileAll tries every text on every reader.
var hostileAll = flag.Bool("hostile-all", false, "try hostile texts of over 256 KiB that only a parser sees on every reader, not on one of each syntax")

// hostileLarge are the places that get every text in every run: one of each
// syntax, and every reader of code.
var hostileLarge = []string{"mcp JSON", "openapi YAML", "codex_config", "mcp_server TypeScript", "mcp_server Go", "openai_agents_sdk", "the manifest"}

// hostileMany are the texts that a parser hands on whole, as tools, operations or
// parameters: what a reader makes of them is its own, so each reader gets them.
var hostileMany = []string{"100,000 tools", "100,000 operations", "many parameters", "many tools", "many servers"}

// shared says that readers of one syntax share what such a text is about.
func shared(what, text string) bool {
	return len(text) > 4<<20 || len(text) > 256<<10 && !slices.Contains(hostileMany, what)
}

// outcome is how a run of the program ended.
type outcome struct {
	code           int
	stdout, stderr string
	memory         int64 // KiB at the most
	hung           bool
}

// attempt runs the program in dir until it ends, or is ended for not ending.
func attempt(t *testing.T, binary, dir string, args ...string) outcome {
	t.Helper()
	measure, err := programs["measure"]()
	if err != nil {
		t.Fatal(err)
	}
	peak := filepath.Join(t.TempDir(), "peak")
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(measure, append([]string{peak, binary}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), quietGit(dir)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var o outcome
	hang := time.AfterFunc(maxWait, func() { o.hung = true; _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	hang.Stop()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	o.code, o.stdout, o.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	if o.hung {
		return o
	}
	text, err := os.ReadFile(peak)
	if err != nil {
		t.Fatalf("nothing was measured: %v\n%s", err, o.stderr)
	}
	if _, err := fmt.Sscan(string(text), &o.memory); err != nil {
		t.Fatal(err)
	}
	return o
}

// survives holds what every run on hostile input owes.
func (o *outcome) survives(t *testing.T) {
	t.Helper()
	switch {
	case o.hung:
		t.Errorf("did not end in %s", maxWait)
	case o.memory > maxMemory:
		t.Errorf("took %d MiB", o.memory>>10)
	case o.code != 0 && o.code != 2 && o.code != 3:
		t.Errorf("exit code %d: %.500s", o.code, o.stderr)
	}
}

// named is the error with its place.
func (o *outcome) named(t *testing.T, codes []int, place string) {
	t.Helper()
	o.survives(t)
	if !slices.Contains(codes, o.code) || !strings.Contains(o.stderr, place) {
		t.Errorf("exit code %d, want one of %v with %s: %.500s", o.code, codes, place, o.stderr)
	}
}

// hostileRepo is a repository whose base is a manifest that names a file.
func hostileRepo(t *testing.T, manifest string) string {
	t.Helper()
	dir := repository(t)
	if manifest == "" {
		manifest = hostileHead
	}
	writeHostile(t, dir, "shipgate.yaml", manifest)
	writeHostile(t, dir, "none.json", "[]")
	for _, line := range []string{"add -A", "commit -q -m base"} {
		cmd := exec.Command("git", words(line)...)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), quietGit(dir)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", line, err, out)
		}
	}
	return dir
}

func writeHostile(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// leftDecision is the decision that a run left, "" without one.
func leftDecision(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "agents-shipgate-reports", "verifier.json"))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	var v struct {
		Decision string `json:"decision"`
		CanMerge bool   `json:"can_merge_without_human"`
	}
	if err := errors.Join(err, json.Unmarshal(text, &v)); err != nil {
		t.Fatal(err)
	}
	if v.CanMerge {
		return "mergeable"
	}
	return v.Decision
}

// judgeHostile verifies and holds the outcome: an error that names the file, or
// a decision that is no pass.
func judgeHostile(t *testing.T, binary, dir, file string) {
	t.Helper()
	o := attempt(t, binary, dir, "verify", "--base", "HEAD", "--today", "2026-11-30")
	o.survives(t)
	switch got := leftDecision(t, dir); {
	case o.code != 0 && !strings.Contains(o.stderr, filepath.Base(file)) && !strings.Contains(o.stderr, filepath.Dir(file)):
		t.Errorf("exit code %d does not say where: %.500s", o.code, o.stderr)
	case o.code != 0 && got != "":
		t.Errorf("exit code %d with the decision %s", o.code, got)
	case o.code == 0 && (got == "" || got == "passed" || got == "mergeable"):
		t.Errorf("exit code 0 with the decision %q", got)
	}
}

func TestHostileTextIsNeverAPass(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	for name, place := range hostilePlaces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := hostileRepo(t, place.manifest)
			baits := maps.Clone(hostileTexts[place.syntax])
			maps.Copy(baits, hostileTexts["any"])
			for _, what := range slices.Sorted(maps.Keys(baits)) {
				t.Run(what, func(t *testing.T) {
					text := baits[what]()
					if shared(what, text) && !*hostileAll && !slices.Contains(hostileLarge, name) {
						t.Skip("a large text; readers of one syntax share its parser (-hostile-all)")
					}
					writeHostile(t, dir, place.file, text)
					judgeHostile(t, binary, dir, place.file)
				})
			}
		})
	}
}

// A file that is no file: nothing is opened that never ends, nothing is read that
// lies outside.
func TestWhatIsNoFileIsNeverRead(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	secret := filepath.Join(t.TempDir(), "outside.txt")
	if err := os.WriteFile(secret, []byte(`[{"name":"kept_outside"}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	shapes := map[string]func(at string) error{
		"nothing":                func(string) error { return nil },
		"a folder":               func(at string) error { return os.Mkdir(at, 0o755) },
		"a pipe":                 func(at string) error { return mkfifo(at) },
		"a link to itself":       func(at string) error { return os.Symlink(filepath.Base(at), at) },
		"a link to its folder":   func(at string) error { return os.Symlink(".", at) },
		"a link out":             func(at string) error { return os.Symlink(secret, at) },
		"a link to a device":     func(at string) error { return os.Symlink("/dev/zero", at) },
		"a link that climbs":     func(at string) error { return os.Symlink("../../../../../../../../etc/hostname", at) },
		"a link to the database": func(at string) error { return os.Symlink(strings.Repeat("../", 8)+"proc/self/mem", at) },
	}
	for name, place := range hostilePlaces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := hostileRepo(t, place.manifest)
			at := filepath.Join(dir, filepath.FromSlash(place.file))
			for _, what := range slices.Sorted(maps.Keys(shapes)) {
				t.Run(what, func(t *testing.T) {
					if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755), shapes[what](at)); err != nil {
						t.Fatal(err)
					}
					judgeHostile(t, binary, dir, place.file)
					reports, err := filepath.Glob(filepath.Join(dir, "agents-shipgate-reports", "*"))
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range reports {
						if text, err := os.ReadFile(r); err != nil || bytes.Contains(text, []byte("kept_outside")) {
							t.Errorf("%s holds what lies outside (%v)", filepath.Base(r), err)
						}
					}
				})
			}
		})
	}
}

func TestPathsThatLeaveAreRefused(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	for _, path := range []string{
		`"../tools.json"`, `"a/../../tools.json"`, `"/etc/hostname"`, `".."`, `"..\\tools.json"`, `"a\0b"`, `"file:///etc/hostname"`,
		`"a\nb.json"`, `"C:\\tools.json"`, `"."`, `""`, `"` + strings.Repeat("a/", 40_000) + `"`, `"` + strings.Repeat("a", 300) + `"`,
	} {
		t.Run(fmt.Sprintf("%.24s", path), func(t *testing.T) {
			t.Parallel()
			dir := hostileRepo(t, sourceOf("mcp", path))
			o := attempt(t, binary, dir, "verify", "--base", "HEAD", "--today", "2026-11-30")
			o.survives(t)
			if got := leftDecision(t, dir); o.code == 0 || got != "" {
				t.Errorf("exit code %d, decision %q", o.code, got)
			}
		})
	}
}

func mkfifo(at string) error { return syscall.Mkfifo(at, 0o644) }
