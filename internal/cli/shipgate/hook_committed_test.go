package shipgate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/adopt/hook"
)

// An agent that commits its work before it stops is judged as one that does not:
// the base of the change is what the remote has, not the last commit.
func TestWhatIsCommittedIsJudgedToo(t *testing.T) {
	cases := map[string]struct {
		change change
		told   string // "" where the agent may go
	}{
		"a server":                           {change{commits: map[string]string{".mcp.json": newServer}}, "MCP server added"},
		"a server, taken back again":         {change{commits: map[string]string{".mcp.json": newServer}, worktree: map[string]string{".mcp.json": ""}}, "asks for a person"},
		"the manifest goes, with a server":   {change{adopted: true, commits: map[string]string{"shipgate.yaml": "", ".mcp.json": newServer}}, "shipgate.yaml"},
		"an ordinary file":                   {change{commits: map[string]string{"notes.txt": "a\n"}}, ""},
		"nothing, and the tree has a server": {change{worktree: map[string]string{".mcp.json": newServer}}, "MCP server added"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newAgent(t, hook.ClaudeCode, c.change.build(t)).stop(t, false)
			if c.told == "" && !got.passes() || c.told != "" && (!got.blocks() || !strings.Contains(got.sentence(), c.told)) {
				t.Errorf("%+v, want %q", got, c.told)
			}
		})
	}
}

// A remote branch of another history is no base, and no reason to let go.
func TestABaseOfAnotherHistoryIsNoPass(t *testing.T) {
	t.Parallel()
	c := change{commits: map[string]string{"notes.txt": "a\n"}}
	a := newAgent(t, hook.ClaudeCode, c.build(t))
	cmd := exec.Command("git", "commit-tree", "-m", "elsewhere", "HEAD^{tree}")
	cmd.Dir, cmd.Env = a.dir, append(cmd.Environ(), quietGit(t.TempDir())...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, ".git", "refs", "remotes", "origin", "main"), out, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := a.stop(t, false); !got.blocks() {
		t.Errorf("%+v", got)
	}
}

// A repository that is made over files of another one hides none of them; one
// beside them is a place of its own.
func TestARepositoryWithinHidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		at     string
		hidden bool
	}{"over files of the outer one": {"src", true}, "where the outer one has none": {"made/inner", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := change{worktree: map[string]string{".mcp.json": newServer}}
			outer := w.build(t)
			inner := filepath.Join(outer, filepath.FromSlash(c.at))
			if err := os.MkdirAll(inner, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "mine"}} {
				cmd := exec.Command("git", args...)
				cmd.Dir, cmd.Env = inner, append(cmd.Environ(), quietGit(t.TempDir())...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			got := newAgent(t, hook.Codex, inner).stop(t, false)
			if seen := got.blocks() && strings.Contains(got.sentence(), "MCP server added"); seen != c.hidden {
				t.Errorf("%+v", got)
			}
		})
	}
}
