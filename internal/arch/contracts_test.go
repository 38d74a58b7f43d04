package arch_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The commands of the README that need a service are run in their order, in a
// repository with one commit and against the service they start themselves. The
// chain they tell of must be released in the end.
func TestTheContractsOfTheReadmeAreReleased(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	bin, dir, home := built(t), t.TempDir(), t.TempDir()
	environ := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home, "XDG_CONFIG_HOME="+home,
		"XDG_STATE_HOME="+home, "PLIMSOLL_LISTEN="+address, "PLIMSOLL_SERVER=", "PLIMSOLL_TOKEN=")
	// In a file: a run passes no variable on that it does not know.
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = A\n\temail = a@example.invalid\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(line string) *exec.Cmd {
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", line)
		cmd.Dir, cmd.Env = dir, environ
		return cmd
	}
	if out, err := command("git init -q -b main . && echo words >README.md && git add README.md && git commit -q -m one").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// What the chain must show before the next line makes sense.
	after := map[string]string{
		"plimsoll intent approve IC-001": "TS-001", "plimsoll run TS-001 -- sh": "Stabilize", "plimsoll run TS-001 -- test": "Refactor",
		"plimsoll task review TS-001": "Published",
	}
	seen := 0
	_, others := circleOfTheReadme(t)
	for _, line := range shellLinesOf(t, "README.md", others) {
		if !strings.HasPrefix(line, "plimsoll ") {
			continue
		}
		if served, ok := strings.CutSuffix(line, " &"); ok {
			serve(t, command("exec "+served))
			continue
		}
		if out, err := command(line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		for prefix, want := range after {
			if !strings.HasPrefix(line, prefix) {
				continue
			}
			seen++
			deadline := time.Now().Add(time.Minute)
			for {
				out, err := command("plimsoll chain show IC-001").CombinedOutput()
				if err == nil && strings.Contains(string(out), want) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("after %s the chain does not show %s: %v\n%s", line, want, err, out)
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
	}
	if seen != len(after) {
		t.Errorf("the README shows %d of the %d steps to a release", seen, len(after))
	}
}

// serve starts a service and waits until it answers.
func serve(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "serving on ") {
		t.Fatalf("the service said %q: %v", line, err)
	}
}
