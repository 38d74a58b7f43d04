package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// scenario is one change of a generated repository.
type scenario struct {
	name   string
	change func(dir string, files int) error
	ranged bool // the change is committed and judged as a range
}

const settings = `{"permissions":{"allow":["Bash(make lint)"]%s}}` + "\n"

var scenarios = []scenario{
	{name: "none", change: func(string, int) error { return nil }},
	{name: "docs", change: func(dir string, _ int) error { return write(dir, "docs/guide.md", "# Guide\n\nMore words.\n") }},
	{name: "boundary", change: func(dir string, _ int) error {
		return write(dir, ".claude/settings.json", fmt.Sprintf(settings, `,"deny":["Read(.env)"]`))
	}},
	{name: "200 files", change: func(dir string, files int) error {
		for i := range min(200, files) {
			if err := write(dir, sourcePath(i), "package changed\n"); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "committed range", ranged: true, change: func(dir string, _ int) error {
		if err := write(dir, ".claude/settings.json", fmt.Sprintf(settings, `,"deny":["Read(.env)"]`)); err != nil {
			return err
		}
		for i := range 20 {
			if err := write(dir, sourcePath(i), "package changed\n"); err != nil {
				return err
			}
		}
		return git(dir, "commit", "-q", "-a", "-m", "change")
	}},
}

const baseTag = "base"

// sourcePath spreads files over folders of twenty, three deep.
func sourcePath(i int) string {
	return fmt.Sprintf("pkg%02d/mod%03d/file%05d.go", i/1000%100, i/20, i)
}

// generate makes a repository of about n files with one commit, the usual
// agent configuration among them.
func generate(dir string, n int) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := git(dir, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	for p, text := range map[string]string{
		"AGENTS.md": "# Agents\n\nRun `shipgate check` before you finish.\n", "CLAUDE.md": "See AGENTS.md.\n",
		".claude/settings.json": fmt.Sprintf(settings, ""), ".mcp.json": `{"mcpServers":{}}` + "\n",
		".codex/config.toml": "model = \"m\"\n", ".github/workflows/ci.yml": "on: [push]\njobs: {}\n", "docs/guide.md": "# Guide\n",
		".cursor/rules/style.mdc": "Be brief.\n", ".gitattributes": "*.png binary\n",
	} {
		if err := write(dir, p, text); err != nil {
			return err
		}
	}
	for i := range n - 9 {
		if err := write(dir, sourcePath(i), fmt.Sprintf("package file%d\n%s", i, strings.Repeat("// A line of code.\n", 20))); err != nil {
			return err
		}
	}
	if err := git(dir, "add", "-A"); err != nil {
		return err
	}
	if err := git(dir, "commit", "-q", "-m", "base"); err != nil {
		return err
	}
	if err := git(dir, "tag", baseTag); err != nil {
		return err
	}
	// A clone is packed, and nothing packs it in the background while it is measured.
	return git(dir, "repack", "-a", "-d", "-q")
}

func write(dir, path, text string) error {
	full := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, []byte(text), 0o644)
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=gc.auto", "GIT_CONFIG_VALUE_0=0", "GIT_AUTHOR_NAME=bench",
		"GIT_AUTHOR_EMAIL=bench@example.invalid", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.invalid")
	return cmd
}

func git(dir string, args ...string) error {
	if out, err := gitCommand(dir, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

func gitVersion() string {
	out, err := exec.Command("git", "--version").Output()
	if err != nil {
		return "git of unknown version"
	}
	return strings.TrimSpace(string(out))
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
