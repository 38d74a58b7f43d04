package arch_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// shellLines are the commands of a document's sh blocks, without comments.
func shellLines(t *testing.T, document string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	return shellLinesOf(t, document, text)
}

func shellLinesOf(t *testing.T, document string, text []byte) []string {
	t.Helper()
	var lines []string
	for _, block := range shellBlock.FindAllSubmatch(text, -1) {
		for line := range strings.SplitSeq(string(block[1]), "\n") {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s shows no command", document)
	}
	return lines
}

// A command in a document is a promise. make targets must exist; everything
// else is run in its order, with the built program, in a repository with the
// manifest and the tool of the README and one grant that nobody committed. Where
// the README starts there is no manifest yet.
func TestCommandsInDocumentsWork(t *testing.T) {
	bin, repository, fresh := built(t, gatePrograms...), sample(t), sample(t)
	forget(t, fresh, "shipgate.yaml", ".claude")
	cache := t.TempDir() // hooks remember there what they said
	begin := startSection(t)
	for _, document := range []string{"README.md", "CONTRIBUTING.md"} {
		for _, line := range shellLines(t, document) {
			if strings.HasPrefix(line, "plimsoll ") {
				continue // the tests of the contracts and of the circle run them in their order
			}
			dir := repository
			if document == "README.md" && slices.Contains(begin, line) {
				dir = fresh
			}
			t.Run(document+"/"+line, func(t *testing.T) {
				cmd := exec.Command("bash", "-euo", "pipefail", "-c", line)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
					"AGENTS_SHIPGATE_AGENT_MODE=off", "HOME="+cache, "XDG_CACHE_HOME="+cache)
				if target, ok := strings.CutPrefix(line, "make "); ok {
					cmd = exec.Command("make", append([]string{"--dry-run"}, strings.Fields(target)...)...)
					cmd.Dir = root
				}
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s", err, stderr.Bytes())
				}
				if stdout.Len() == 0 || stderr.Len() > 0 {
					t.Errorf("printed %d bytes and said %q", stdout.Len(), stderr.Bytes())
				}
			})
		}
	}
}

// startSection is the commands with which the README prepares a repository.
func startSection(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(text, []byte("\n## Start with your agent\n"))
	section, _, ended := bytes.Cut(rest, []byte("\n### "))
	if !found || !ended {
		t.Fatal("the README does not say how to start")
	}
	return shellLinesOf(t, "README.md", section)
}

// forget takes files out of a repository and commits that.
func forget(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, args := range [][]string{
		append([]string{"rm", "-rfq"}, names...),
		{"-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "-q", "--allow-empty", "-m", "forget"},
		{"update-ref", "refs/remotes/origin/main", "HEAD"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// What make try shows must be what its headings say.
func TestTryShowsAPassAReviewAndABlock(t *testing.T) {
	out, err := exec.Command("bash", filepath.Join(root, "examples/try/run"), filepath.Join(built(t, gatePrograms...), "shipgate")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	scenes := strings.Split(string(out), "\n── ")[1:]
	for i, want := range []struct{ title, says string }{
		{"pass ", "\ncomplete "}, {"review ", "\nreview publishable "}, {"block ", "\nhuman review required "},
	} {
		if i >= len(scenes) || !strings.HasPrefix(scenes[i], want.title) || !strings.Contains(scenes[i], want.says) {
			t.Fatalf("scene %d is not a %sthat says%s:\n%s", i+1, want.title, want.says, out)
		}
	}
}

// The targets that the README and CI stand on.
func TestMakefileHasItsTargets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"setup", "build", "install", "dist", "check", "bench", "cases", "fuzz", "golden", "try"} {
		if !regexp.MustCompile(`(?m)^` + target + `:`).Match(text) {
			t.Errorf("the Makefile has no target %s", target)
		}
	}
	const order = "\ncheck: format vet lint arch test e2e drift "
	if !bytes.Contains(text, []byte(order)) {
		t.Errorf("make check is not %q: CI and the documents say so", strings.TrimSpace(order))
	}
}

// What the README tells to write for each agent is there afterwards; the
// instructions differ in what the agent and its host are called and in nothing
// else, speak of every state, and begin as the README shows.
func TestTheReadmePreparesEveryAgent(t *testing.T) {
	bin, dir := built(t, gatePrograms...), sample(t)
	forget(t, dir, "shipgate.yaml", ".claude")
	written := 0
	for _, line := range startSection(t) {
		if !strings.HasPrefix(line, "shipgate init --write") {
			continue
		}
		written++
		cmd := exec.Command("bash", "-euc", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "AGENTS_SHIPGATE_AGENT_MODE=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	agents := []struct{ name, instructions, hooks string }{
		{"codex", "AGENTS.md", ".codex/hooks.json"},
		{"claude-code", "CLAUDE.md", ".claude/settings.json"},
		{"cursor", ".cursor/rules/agents-shipgate.mdc", ".cursor/hooks.json"},
	}
	if written != len(agents) {
		t.Fatalf("the README prepares %d agents, want %d", written, len(agents))
	}
	begins := strings.TrimRight(readmeBlock(t, "markdown", "## Agent boundary"), "\n")
	common := ""
	for _, a := range agents {
		if !strings.Contains(read(a.hooks), " hook "+a.name) {
			t.Errorf("%s does not call the gate", a.hooks)
		}
		_, body, found := strings.Cut(read(a.instructions), begins)
		if !found {
			t.Fatalf("%s does not begin as the README shows:\n%s", a.instructions, begins)
		}
		body, _, _ = strings.Cut(body, "\n<!-- agents-shipgate:end -->")
		body = strings.TrimRight(body, "\n")
		if !strings.Contains(body, "--agent "+a.name+" ") {
			t.Errorf("%s does not name %s", a.instructions, a.name)
		}
		body = strings.ReplaceAll(strings.ReplaceAll(body, "--agent "+a.name, "--agent NAME"), `"`+a.name+`"`, `"NAME"`)
		if common == "" {
			common = body
		}
		if body != common {
			t.Errorf("the instructions in %s differ from the first", a.instructions)
		}
	}
	for _, state := range []string{
		"`complete`", "`agent_action_required`", "`review_publishable`", "`human_review_required`", "cannot be started",
	} {
		if !strings.Contains(common, state) {
			t.Errorf("the instructions do not say what to do about %s", state)
		}
	}
}

// What the README tells hosts to start answers with the five tools, and what it
// says of files is JSON.
func TestTheReadmeConnectsHostsToTheTools(t *testing.T) {
	bin, dir := built(t, gatePrograms...), sample(t)
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	var servers []server
	for _, begins := range []string{`{"mcpServers"`, `{"servers"`} {
		var file map[string]map[string]server
		if err := json.Unmarshal([]byte(readmeBlock(t, "json", begins)), &file); err != nil {
			t.Fatal(err)
		}
		for _, named := range file {
			servers = append(servers, named["shipgate"])
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(readmeBlock(t, "text", "claude mcp add")), "\n") {
		_, command, _ := strings.Cut(line, " -- ")
		words := strings.Fields(command)
		if len(words) < 2 {
			t.Fatalf("%q starts nothing", line)
		}
		servers = append(servers, server{words[0], words[1:]})
	}
	if len(servers) != 4 {
		t.Fatalf("the README has %d ways to start the tools, want 4", len(servers))
	}
	const asked = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`
	for _, s := range servers {
		if s.Command != "shipgate" {
			t.Errorf("the README starts %q", s.Command)
		}
		args := slices.Clone(s.Args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "${workspaceFolder}", dir)
		}
		cmd := exec.Command(filepath.Join(bin, "shipgate"), args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(asked)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		for _, tool := range []string{"check", "preflight", "explain", "capabilities", "handoff"} {
			if !bytes.Contains(out, []byte(`"name":"shipgate.`+tool+`"`)) {
				t.Errorf("%v does not offer shipgate.%s:\n%s", s, tool, out)
			}
		}
	}
}

// gatePrograms are what the sections on the gate need.
var gatePrograms = []string{"./cmd/shipgate", "./cmd/agents-shipgate", "./cmd/shipgate-mcp"}

// built is a folder with the named programs, or with all.
func built(t *testing.T, programs ...string) string {
	t.Helper()
	if len(programs) == 0 {
		programs = []string{"./cmd/..."}
	}
	bin := t.TempDir()
	cmd := exec.Command("go", append([]string{"build", "-o", bin + string(filepath.Separator)}, programs...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// Somebody who does what the README tells sees what the README shows.
func TestTheReadmeShowsWhatVerifySays(t *testing.T) {
	bin, dir := built(t, gatePrograms...), sample(t)
	change := func(name, old, with string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(text, []byte(old)) != 1 {
			t.Fatalf("%s of the README does not hold %q once", name, old)
		}
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Replace(text, []byte(old), []byte(with), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func() string {
		cmd := exec.Command(filepath.Join(bin, "shipgate"), "verify")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "AGENTS_SHIPGATE_AGENT_MODE=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	forget(t, dir, ".claude")
	if out := run(); !strings.HasPrefix(out, "mergeable ") {
		t.Errorf("the manifest of the README does not pass:\n%s", out)
	}
	change("shipgate.yaml", "tools: [get_parcel]", "tools: [get_parcel, cancel_parcel]")
	change("tools.json", "\"owner\": \"logistics\"}\n]", `"owner": "logistics"},
  {"name": "cancel_parcel", "description": "Takes a parcel back for good.", "annotations": {"destructiveHint": true},
   "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
   "auth": {"type": "oauth2", "scopes": ["parcels:cancel"]}, "owner": "logistics"}
]`)
	if out, shown := run(), readmeBlock(t, "text", "blocked  "); !strings.HasPrefix(out, shown) {
		t.Errorf("the README shows\n%s\nand verify says\n%s", shown, out)
	}
}

// readmeBlock is the one block of a language in the README that begins so.
func readmeBlock(t *testing.T, language, begins string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1) {
		if bytes.HasPrefix(block[1], []byte(begins)) {
			return string(block[1])
		}
	}
	t.Fatalf("the README has no block of %s that begins with %q", language, begins)
	return ""
}

// sample is a repository with a remote branch and one uncommitted grant. It has
// the manifest and the tool of the README, and the examples of verification.
func sample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shipgate.yaml": readmeBlock(t, "yaml", "version: "), "tools.json": readmeBlock(t, "json", "["),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const examples = "examples/verification"
	if err := os.CopyFS(filepath.Join(dir, examples), os.DirFS(filepath.Join(root, examples))); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"git init -q -b main .",
		"echo words >README.md && git add -A && git -c user.name=A -c user.email=a@example.invalid commit -q -m one",
		"git update-ref refs/remotes/origin/main HEAD",
		`mkdir .claude && echo '{"permissions": {"allow": ["Bash(make lint)"]}}' >.claude/settings.json && git add -A`,
	} {
		cmd := exec.Command("bash", "-euc", line)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return dir
}

var testName = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)`")

// A document that names a test promises that somebody tries what it says.
func TestTestsNamedInDocumentsExist(t *testing.T) {
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)\(`)
	named := map[string]string{}
	walk(t, func(path string, text []byte) {
		switch {
		case strings.HasSuffix(path, "_test.go"):
			for _, m := range declaration.FindAllSubmatch(text, -1) {
				declared[string(m[1])] = true
			}
		case strings.HasSuffix(path, ".md") && !strings.HasPrefix(path, "docs/spec/"):
			for _, m := range testName.FindAllSubmatch(text, -1) {
				named[string(m[1])] = path
			}
		}
	})
	for name, path := range named {
		if !declared[name] {
			t.Errorf("%s names %s, and there is no such test", path, name)
		}
	}
	if len(named) < 50 {
		t.Errorf("the documents name %d tests", len(named))
	}
}
