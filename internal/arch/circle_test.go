package arch_test

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// circleOfTheReadme is the section about the circle, and everything else.
func circleOfTheReadme(t *testing.T) (section, others []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(text, []byte("\n## The circle\n"))
	section, after, ends := bytes.Cut(rest, []byte("\n## "))
	if !found || !ends {
		t.Fatal("the README has no section about the circle")
	}
	return section, bytes.Join([][]byte{before, after}, []byte("\n\n"))
}

// The README takes a newcomer from nothing to a confirmed decision in five
// commands, in an empty folder.
func TestTheCircleOfTheReadmeDecides(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	bin, dir, home := built(t), t.TempDir(), t.TempDir()
	command := func(line string) *exec.Cmd {
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home, "XDG_CONFIG_HOME="+home,
			"XDG_STATE_HOME="+home, "PLIMSOLL_LISTEN="+address, "PLIMSOLL_SERVER=", "PLIMSOLL_TOKEN=")
		return cmd
	}
	section, _ := circleOfTheReadme(t)
	lines := shellLinesOf(t, "README.md", section)
	if len(lines) != 5 {
		t.Errorf("it takes %d commands: %q", len(lines), lines)
	}
	for _, line := range lines {
		if served, ok := strings.CutSuffix(line, " &"); ok {
			serve(t, command("exec "+served))
			continue
		}
		if out, err := command(line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	out, err := command("plimsoll artifact list --type decision_draft --json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct {
			Artifact struct {
				Status string `json:"status"`
			} `json:"artifact"`
		}
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Items) != 1 || list.Items[0].Artifact.Status != "confirmed" {
		t.Errorf("%v: %s", err, out)
	}
}
