package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// change is what an agent left behind.
type change struct {
	name       string
	path, text string
	says       string // a part of every answer
}

const (
	manifest = `version: "0.1"
project: {name: shop}
agent: {name: helper, declared_purpose: ["look up orders"]}
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools.json}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [{tool: get_order}], handoffs: [], reason: reviewed}
action_surface:
  actions:
    - {tool: get_order, effect: read, scopes: ["orders:read"], authority: {mode: scoped, auth_type: oauth2}}
permissions: {scopes: ["orders:read"]}
`
	tools = `{"tools": [
 {"name": "get_order", "description": "Look up one order by its number.",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
  "outputSchema": {"type": "object"}, "annotations": {%q: true}}
]}
`
)

// changes are judged by the check alone and by the verification that it owes.
var changes = []change{
	{"a server is new", ".mcp.json", `{"mcpServers":{"files":{"command":"npx","args":["files"]}}}` + "\n", "MCP server added"},
	{"verification is owed", "tools.json", fmt.Sprintf(tools, "destructiveHint"), "end your turn: "},
}

// minFiles is how many files a repository has at least.
const minFiles = 8

// generate makes a repository of n files with one commit that has a gate, and
// leaves a change in its working tree.
func generate(dir string, n int, c *change) error {
	files := map[string]string{
		"shipgate.yaml": manifest, "tools.json": fmt.Sprintf(tools, "readOnlyHint"), ".mcp.json": `{"mcpServers":{}}` + "\n",
		"AGENTS.md": "Run shipgate check before you finish.\n", ".claude/settings.json": `{"permissions":{"allow":["Bash(make lint)"]}}` + "\n",
		".codex/config.toml": "model = \"m\"\n", ".github/workflows/ci.yml": "on: [push]\njobs: {}\n", "docs/guide.md": "# Guide\n",
	}
	for i := range n - minFiles {
		files[fmt.Sprintf("pkg%02d/mod%03d/file%05d.go", i/1000%100, i/20, i)] = fmt.Sprintf("package file%d\n%s", i, strings.Repeat("// A line of code.\n", 20))
	}
	for path, text := range files {
		if err := write(dir, path, text); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"commit", "-q", "-m", "base"},
		{"update-ref", "refs/remotes/origin/main", "HEAD"},
		{"repack", "-a", "-d", "-q"}, // as a clone is
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, quietGit()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return write(dir, c.path, c.text)
}

func write(dir, path, text string) error {
	full := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, []byte(text), 0o644)
}

// quietGit is an environment in which git knows nothing of the person who runs
// this, and packs nothing in the background.
func quietGit() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=gc.auto", "GIT_CONFIG_VALUE_0=0", "GIT_AUTHOR_NAME=bench",
		"GIT_AUTHOR_EMAIL=bench@example.invalid", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.invalid")
}

// build makes a program as "make build" does.
func build(to, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-w", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return nil
}
