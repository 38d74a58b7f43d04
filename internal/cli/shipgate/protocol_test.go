package shipgate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/cli/shipgate"
)

const protocol = "../../../examples/agent-protocol/"

// golden compares got with a file, or rewrites the file when PLIMSOLL_GOLDEN=1.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("PLIMSOLL_GOLDEN") == "1" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// Each example change, made in a repository's working tree, has the result that
// lies beside it: one for each state an agent must know what to do about.
func TestExamplesOfTheProtocolAreWhatTheGatePrints(t *testing.T) {
	diffs, err := filepath.Glob(protocol + "diffs/*.diff")
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, diff := range diffs {
		name := strings.TrimSuffix(filepath.Base(diff), ".diff")
		t.Run(name, func(t *testing.T) {
			absolute, err := filepath.Abs(diff)
			if err != nil {
				t.Fatal(err)
			}
			dir := repository(t)
			environ := append(os.Environ(), quietGit(dir)...)
			cmd := exec.Command("git", "apply", absolute)
			cmd.Dir, cmd.Env = dir, environ
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git apply: %v\n%s", err, out)
			}
			code, stdout, stderr := call(shipgate.Env{Dir: dir, Environ: environ}, "",
				[]string{"check", "--agent", "codex", "--workspace", dir})
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			if err := valid(stdout); err != nil {
				t.Error(err)
			}
			golden(t, protocol+"expected/"+name+".json", bytes.ReplaceAll(stdout, []byte(dir), []byte("/repo")))
			var r struct{ Control struct{ State string } }
			if err := json.Unmarshal(stdout, &r); err != nil {
				t.Fatal(err)
			}
			states[r.Control.State] = name
		})
	}
	for _, state := range []string{"complete", "agent_action_required", "review_publishable", "human_review_required"} {
		if want := strings.ReplaceAll(state, "_", "-"); states[state] != want {
			t.Errorf("no example %s has the state %s", want, state)
		}
	}
}

func TestInstallFixturesAreWhatTheGatePrints(t *testing.T) {
	for _, name := range []string{"missing-install", "stale-install"} {
		code, stdout, stderr := call(shipgate.Env{Dir: t.TempDir()}, "", []string{"fixture", name})
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		if err := valid(stdout); err != nil {
			t.Error(err)
		}
		golden(t, protocol+"expected/"+name+".json", stdout)
	}
}

func TestPublishedSchemaIsTheOneWeTestAgainst(t *testing.T) {
	want, err := os.ReadFile(testdata + "agent-boundary-result-schema.v2.json")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := call(shipgate.Env{Dir: t.TempDir()}, "", []string{"schema", "result"})
	if code != 0 || !bytes.Equal(stdout, want) {
		t.Errorf("schema result is not the published schema, byte for byte")
	}
}
