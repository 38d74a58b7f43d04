//go:build linux

package shipgatemcp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// still are the tools that start no process (docs/spec/verification.md §20).
func still(tool string) bool {
	return tool == "shipgate.check" || tool == "shipgate.explain" || tool == "shipgate.handoff"
}

// Three tools answer the same where no program can be found, and none of the
// others starts anything but git.
func TestCheckExplainAndHandoffStartNothing(t *testing.T) {
	dir := repository(t, "python-agent")
	questions := twins(t, dir)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	trap := t.TempDir()
	marks := filepath.Join(trap, "marks")
	put(t, trap, "bin/git", fmt.Sprintf("#!/bin/sh\necho git >> %s\nexec %s \"$@\"\n", marks, git))
	if err := os.Chmod(filepath.Join(trap, "bin", "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := make([]string, len(questions))
	s := client(t, dir, "", nil)
	for i, q := range questions {
		want[i], _ = called(t, s, q.tool, q.asked)
	}
	for _, path := range []string{"", filepath.Join(trap, "bin")} {
		cmd := server()
		cmd.Env = environ("PATH=" + path)
		s := client(t, dir, "", cmd)
		for i, q := range questions {
			if !still(q.tool) {
				continue
			}
			if text, failed := called(t, s, q.tool, q.asked); failed || text != want[i] {
				t.Errorf("PATH=%s: %s: %.300s", path, q.tool, text)
			}
			if _, err := os.Stat(marks); err == nil {
				t.Fatalf("%s %v started git", q.tool, q.asked)
			}
		}
		if path == "" {
			// Without git there is no lock, and no half of one.
			if text, failed := called(t, s, "shipgate.capabilities", nil); !failed || strings.Contains(text, "\n") {
				t.Errorf("%.300s", text)
			}
			continue
		}
		if text, failed := called(t, s, "shipgate.capabilities", nil); failed {
			t.Errorf("%.300s", text)
		}
		if _, err := os.Stat(marks); err != nil {
			t.Error("the trap does not work: capabilities reads the repository with git")
		}
	}
}

var (
	starts  = regexp.MustCompile(`\b(execve|execveat|fork|vfork)\(`)
	cloned  = regexp.MustCompile(`\bclone3?\(`)
	sockets = regexp.MustCompile(`\b(socket|socketpair|connect|bind|listen|accept4?|sendto|recvfrom)\(`)
)

// The system itself is asked what the program does: it opens no socket, and the
// three tools start nothing.
func TestTheSystemSeesNoSocketAndNoProcess(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	dir := repository(t, "openapi-service")
	questions := twins(t, dir)
	for _, quiet := range []bool{true, false} {
		trace := filepath.Join(t.TempDir(), "trace")
		probe := exec.Command(strace, "-f", "-qq", "-o", trace, "-e", "trace=network,process", program("shipgate-mcp"), "--version")
		if out, err := probe.CombinedOutput(); err != nil {
			t.Skipf("processes may not be traced here: %v %s", err, out)
		}
		cmd := exec.Command(strace, "-f", "-qq", "-o", trace, "-e", "trace=network,process", program("shipgate-mcp"))
		asked := map[string]int{}
		t.Run(fmt.Sprint("quiet ", quiet), func(t *testing.T) {
			s := client(t, dir, "", cmd)
			for _, q := range questions {
				if still(q.tool) || !quiet {
					if text, failed := called(t, s, q.tool, q.asked); failed {
						t.Errorf("%s: %.300s", q.tool, text)
					}
					asked[q.tool]++
				}
			}
		}) // the session ends here
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		began := 0
		for line := range strings.Lines(string(text)) {
			switch {
			case sockets.MatchString(line):
				t.Errorf("the network: %s", line)
			case starts.MatchString(line):
				if began++; began > 1 && (quiet || !strings.Contains(line, `/git"`)) {
					t.Errorf("a process: %s", line)
				}
			case cloned.MatchString(line) && quiet && !strings.Contains(line, "CLONE_THREAD"):
				t.Errorf("a process: %s", line)
			}
		}
		if began == 0 || quiet && (len(asked) != 3 || began != 1) || !quiet && (len(asked) != 5 || began < 2) {
			t.Errorf("the trace shows %d starts for %v", began, asked)
		}
	}
}
