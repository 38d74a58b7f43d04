//go:build unix

package shipgate_test

import (
	"bytes"
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
)

// The other tests run the program in process. This one starts it on a part of
// the boundary cases, those with an exit code of their own among them, and asks
// for the same bytes on both streams and the same exit code.
func TestTheBuiltProgramAnswersAsInProcess(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	cases := map[string]boundaryCase{}
	all := loadCases(t)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%12 == 0 || all[name].Expect.Exit != 0 {
			cases[name] = all[name]
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := buildCase(t, &c)
			if errors.Is(err, errCannotBuild) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("the case itself is broken: %v", err)
			}
			code, stdout, stderr := s.ask(c.Agents[0])
			gotCode, gotOut, gotErr := s.start(t, binary, c.Agents[0], nil)
			if gotCode != code || !bytes.Equal(gotOut, stdout) || !bytes.Equal(gotErr, stderr) {
				t.Errorf("exit code %d and %s%s\nin process %d and %s%s", gotCode, gotOut, gotErr, code, stdout, stderr)
			}
		})
	}
}

// What may not be read stops the agent: a file of the change is an issue, the
// diff itself leaves an error result. Whoever runs the tests may read
// everything, perhaps; the program is then started for somebody else.
func TestWhatMayNotBeReadStops(t *testing.T) {
	dir := t.TempDir()
	binary := build(t, dir, "shipgate")
	var somebody *syscall.Credential
	if os.Geteuid() == 0 {
		somebody = &syscall.Credential{Uid: 65534, Gid: 65534}
		for path := dir; path != filepath.Dir(path) && path != os.TempDir(); path = filepath.Dir(path) {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []struct{ name, mode, issue, coverage string }{
		{"an untracked file", "worktree", "boundary_input_unreadable", "partial"},
		{"the diff", "diff", "diff_input_unresolved", "unknown"},
	} {
		t.Run(want.name, func(t *testing.T) {
			c := given(want.mode, files{"docs/a.md": "a\n"}, files{serversPath: server})
			s, err := buildCase(t, &c)
			if err != nil {
				t.Fatalf("the case itself is broken: %v", err)
			}
			locked := s.path(serversPath)
			if want.mode == "diff" {
				locked = s.args[len(s.args)-1]
			}
			if err := os.Chmod(locked, 0); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(s.top, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Dir(s.top), 0o755); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := s.start(t, binary, "codex", somebody)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			r, problems := readResult(stdout, "codex", want.mode)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if !slices.Equal(r.Issues, []string{want.issue}) || r.InputCoverage != want.coverage || r.Control.State != "human_review_required" {
				t.Errorf("%s, input %s, issues %v, %v", r.Control.State, r.InputCoverage, r.Issues, r.Diagnostics)
			}
		})
	}
}

// start runs the built program, for somebody if that is not nil.
func (s *scene) start(t *testing.T, binary, agent string, somebody *syscall.Credential) (code int, stdout, stderr []byte) {
	t.Helper()
	args, environ := s.request(agent)
	cmd := exec.Command(binary, args...)
	// A shell says where it is; a working directory behind a link is its name.
	cmd.Dir, cmd.Env = s.cwd, append(environ, "PWD="+s.cwd)
	if somebody != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: somebody}
	}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(s.stdin), &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.Bytes(), errs.Bytes()
	}
	if err != nil {
		t.Fatal(fmt.Errorf("start %s: %w", strings.Join(args, " "), err))
	}
	return 0, out.Bytes(), errs.Bytes()
}
