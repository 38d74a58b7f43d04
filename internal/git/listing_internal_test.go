package git

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/surface"
)

// The few pathspecs of the index listing find every path that the check
// protects, in any spelling and at any depth: what they leave out is never
// compared with the disk.
func TestTheIndexListingFindsEveryProtectedPath(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	run := func(stdin string, args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = root, strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
	run("", "init", "-q")
	words := []string{
		".claude", "settings.json", "settings.local.json", "commands", "agents", "skills", "SKILL.md", "CLAUDE.md", "AGENTS.md", "AGENTS.override.md",
		".codex", "config.toml", "hooks.json", "rules", "x.rules", ".codex-plugin", "plugin.json", ".agents", ".app.json", ".mcp.json", "mcp.json",
		".cursor", "cli.json", "style.mdc", ".vscode", ".github", "workflows", "ci.yml", "agents-shipgate.yaml", "shipgate.yaml", ".shipgate",
		"agent-contract.json", ".agents-shipgate", "policies", "agent-boundary.shipgate.yaml", "prompts", "a.md", "src", "main.go", attributesFile,
	}
	r := rand.New(rand.NewPCG(1, 2))
	chosen, folders := map[string]bool{}, map[string]bool{}
	var index strings.Builder
	for range 6000 {
		parts := make([]string, 1+r.IntN(4))
		for i := range parts {
			parts[i] = words[r.IntN(len(words))]
			if r.IntN(8) == 0 {
				parts[i] = strings.ToUpper(parts[i])
			}
		}
		p := strings.Join(parts, "/")
		if folders[p] {
			continue // an index has no file and folder of one name
		}
		conflict := false
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			conflict = conflict || chosen[d]
		}
		if conflict {
			continue
		}
		chosen[p] = true
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			folders[d] = true
		}
		fmt.Fprintf(&index, "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t%s\x00", p)
	}
	run(index.String(), "update-index", "-z", "--index-info")

	w := &worktreeChange{acquisition: &acquisition{manifest: defaultManifest, in: &gate.Input{}}}
	list, err := newRunner(root, os.Environ(), nil).tracked(t.Context(), w.protectedSpecs(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, e := range list {
		listed[e.path] = true
	}
	needed := 0
	for p := range chosen {
		if !surface.IsBoundary(p) && !surface.IsLinkPoint(p) && path.Base(p) != attributesFile {
			continue
		}
		needed++
		if !listed[p] {
			t.Errorf("%s is protected and not listed", p)
		}
	}
	if needed < 500 || len(listed) == len(chosen) {
		t.Errorf("%d of %d paths are protected, %d are listed: this proves little", needed, len(chosen), len(listed))
	}
}
