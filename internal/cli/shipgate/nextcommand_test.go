//go:build unix

package shipgate_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/gate/control"
)

// told is every command that an answer tells somebody to run.
func told(t *testing.T, out []byte) []string {
	t.Helper()
	var a struct {
		Control struct {
			NextAction *struct{ Command *string } `json:"next_action"`
			Allowed    []string                   `json:"allowed_next_commands"`
		}
		FixTask *struct {
			Verification *string `json:"verification_command"`
		} `json:"fix_task"`
		First *struct{ Command *string } `json:"first_next_action"`
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list := a.Control.Allowed
	add := func(command *string) {
		if command != nil && *command != "" {
			list = append(list, *command)
		}
	}
	if a.Control.NextAction != nil {
		add(a.Control.NextAction.Command)
	}
	if a.FixTask != nil {
		add(a.FixTask.Verification)
	}
	if a.First != nil {
		add(a.First.Command)
	}
	return list
}

var commitID = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// A command that an answer names is a promise: an agent copies it, and a shell
// runs it as it stands, whatever the folder is called.
func TestEveryCommandOfAnAnswerRunsAsPrinted(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	build(t, bin, "shipgate")
	build(t, bin, "agents-shipgate")
	kinds := map[string]int{}
	for seed := range *changes {
		c := drawChange(seed)
		dir := c.build(t)
		if seed%4 == 1 { // a folder that a careless command line would take apart
			odd := filepath.Join(t.TempDir(), "it's $HOME; a folder")
			if err := os.Rename(dir, odd); err != nil {
				t.Fatal(err)
			}
			dir = odd
		}
		env := shipgate.Env{Dir: dir, Environ: append(os.Environ(), quietGit(dir)...)}
		workspace := "."
		if seed%4 == 1 {
			env.Dir, workspace = t.TempDir(), dir
		}
		done := map[string]bool{}
		for _, args := range [][]string{
			{"check", "--workspace", workspace},
			{"check", "--workspace", workspace, "--base", "origin/main", "--head", "HEAD"},
			{"check", "--workspace", workspace, "--agent", "cursor"},
			{"verify", "--workspace", workspace, "--json", "--today", "2026-11-30"},
			{"verify", "--workspace", workspace, "--base", "origin/main", "--head", "HEAD", "--json", "--today", "2026-11-30"},
			{"verify", "--workspace", workspace, "--preview", "--json", "--today", "2026-11-30"},
		} {
			_, out, errs := call(env, "", args)
			if len(out) == 0 {
				t.Fatalf("%v: %s", args, errs)
			}
			for _, command := range told(t, out) {
				shape := asIs(command, dir)
				if done[command] || kinds[shape] > 6 {
					continue
				}
				done[command] = true
				kinds[shape]++
				runAsPrinted(t, env, bin, c, args, command)
			}
		}
	}
	for _, want := range []string{"agents-shipgate verify --workspace ", "agents-shipgate verify --base ", " --preview ", "agents-shipgate init "} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), func(shape string) bool { return strings.Contains(shape, want) }) {
			t.Errorf("no answer told anybody to run %q; there were %v", want, kinds)
		}
	}
}

// asIs is the command with its folder taken out, so that commands of one kind
// are run a few times only.
func asIs(command, dir string) string {
	return strings.ReplaceAll(commitID.ReplaceAllString(command, "ID"), control.Quote(dir), "DIR")
}

func runAsPrinted(t *testing.T, env shipgate.Env, bin string, c change, asked []string, command string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = env.Dir
	cmd.Env = append(append([]string{}, env.Environ...), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	code := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		code = failed.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	// A change may take the manifest or a source away; verify says so with an exit
	// code of its own, and still answers.
	missing := (code == 2 || code == 3) && (strings.Contains(errs.String(), "manifest") || strings.Contains(errs.String(), "source"))
	if code != 0 && !missing || !json.Valid(out) {
		t.Errorf("%v of change %d %+v\nsaid: %s\nwhich ended with %d: %s%s", asked, c.seed, c.worktree, command, code, out, errs.String())
	}
}
