package shipgate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// Every sample is verified as it is and with a change, and what comes out is
// handed on: the packet is valid and says what the verifier says.
func TestEverySampleIsHandedOn(t *testing.T) {
	t.Parallel()
	for _, name := range sampleNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSampleRepo(t, sampleFiles(t, name))
			env := shipgate.Env{Dir: r.dir, Environ: append(os.Environ(), quietGit(t.TempDir())...)}
			dir := filepath.Join(r.dir, "agents-shipgate-reports")
			check := func(args ...string) {
				t.Helper()
				if code, _, stderr := call(env, "", args); code != 0 {
					t.Fatalf("%v: exit code %d, %s", args, code, stderr)
				}
				verifier, err := os.ReadFile(filepath.Join(dir, "verifier.json"))
				if err != nil {
					t.Fatal(err)
				}
				if err := validHandoff(env, dir, verifier); err != nil {
					t.Errorf("%v: %v", args, err)
				}
			}
			config := manifestOf(t, r.dir)
			check("verify", "-c", config, "--preview", "--json")
			check("verify", "-c", config, "--json")
			if err := os.WriteFile(filepath.Join(r.dir, ".mcp.json"), []byte(`{"mcpServers": {"a": {"command": "npx"}}}`), 0o644); err != nil {
				t.Fatal(err)
			}
			check("verify", "-c", config, "--suggest-patches", "--json")
		})
	}
}

// manifestOf is the first manifest of a repository, relative to it.
func manifestOf(t *testing.T, dir string) string {
	t.Helper()
	found := ""
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if d.Name() == "shipgate.yaml" && found == "" {
			found = name
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no manifest: %v", err)
	}
	return found
}
