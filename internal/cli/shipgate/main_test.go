package shipgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// closed is a stream that nobody reads any more.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

// bomb is a stream whose reader breaks an invariant of ours.
type bomb struct{}

func (bomb) Read([]byte) (int, error) { panic("broken invariant") }

func TestAResultThatCannotBeWrittenIsNoResult(t *testing.T) {
	var stderr bytes.Buffer
	env := shipgate.Env{Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: closed{}, Stderr: &stderr}
	if code := shipgate.Main([]string{"check"}, env); code != 4 || !strings.Contains(stderr.String(), "nobody reads") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

// Go ends a panicking process with 2, which callers read as a wrong command line.
func TestAPanicIsAnInternalFailure(t *testing.T) {
	dir := repository(t)
	var stdout, stderr bytes.Buffer
	env := shipgate.Env{Dir: dir, Stdin: bomb{}, Stdout: &stdout, Stderr: &stderr, Environ: []string{"CLAUDECODE=1"}}
	if code := shipgate.Main([]string{"check", "--diff", "-"}, env); code != 4 || stdout.Len() > 0 {
		t.Errorf("exit code %d with %q on stdout", code, stdout.String())
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	var said struct {
		Error    string
		ExitCode int `json:"exit_code"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &said); err != nil || said.Error != "internal_error" || said.ExitCode != 4 {
		t.Errorf("the last line is %q (%v)", lines[len(lines)-1], err)
	}
}

// An example in the help is a promise like one in the README.
func TestExamplesInTheHelpWork(t *testing.T) {
	dir := repository(t)
	adopted := change{adopted: true}
	shop, fresh := adopted.build(t), repository(t)
	for _, command := range []string{
		"", "check", "verify", "scan", "doctor", "explain", "list-checks", "fixture", "schema", "contract", "self-check", "audit", "init",
	} {
		env := shipgate.Env{Dir: dir, Environ: append(os.Environ(), quietGit(dir)...)}
		_, help, _ := call(env, "", append(strings.Fields(command), "--help"))
		_, rest, found := strings.Cut(string(help), "\nExamples:\n")
		if !found {
			t.Errorf("the help of %q shows no example", command)
			continue
		}
		block, _, _ := strings.Cut(rest, "\n\nAvailable")
		block, _, _ = strings.Cut(block, "\n\nFlags")
		ran := 0
		for line := range strings.SplitSeq(block, "\n") {
			line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "git diff |"))
			args, ok := strings.CutPrefix(line, "shipgate ")
			if !ok {
				continue
			}
			ran++
			env.Dir = dir
			switch verb, _, _ := strings.Cut(args, " "); verb {
			case "verify", "scan", "doctor":
				env.Dir = shop // what they read is declared in a manifest
			case "init":
				env.Dir = fresh
			}
			if code, stdout, stderr := call(env, "", strings.Fields(args)); code != 0 || len(stdout) == 0 {
				t.Errorf("%s: exit code %d, %s", line, code, stderr)
			}
		}
		if ran == 0 {
			t.Errorf("the help of %q shows no command", command)
		}
	}
}

// repository is a new repository with one empty commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, line := range []string{"init -q -b main", "commit -q --allow-empty -m base"} {
		cmd := exec.Command("git", words(line)...)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), quietGit(dir)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", line, err, out)
		}
	}
	return dir
}
