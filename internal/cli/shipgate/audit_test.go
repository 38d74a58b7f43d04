package shipgate_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// A variable that moves a host's folder moves where its files are looked for; the
// folder itself is named by the variable, never by its path.
func TestAuditFollowsTheFoldersOfTheUser(t *testing.T) {
	work, home, moved := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(dir, name, text string) {
		t.Helper()
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(home, ".codex/config.toml", `approval_policy = "untrusted"`)
	put(moved, "config.toml", `approval_policy = "never"`)
	audit := func(environ ...string) []byte {
		t.Helper()
		env := shipgate.Env{Dir: work, Environ: append([]string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH")}, environ...)}
		code, stdout, stderr := call(env, "", []string{"audit", "--host", "--scope", "local_static", "--json"})
		if code != 0 || bytes.Contains(stdout, []byte(home)) || bytes.Contains(stdout, []byte(moved)) || bytes.Contains(stdout, []byte(work)) {
			t.Fatalf("exit code %d, %s\n%s", code, stderr, stdout)
		}
		return stdout
	}
	if out := audit(); !bytes.Contains(out, []byte(`"value": "untrusted"`)) || !bytes.Contains(out, []byte(`"~/.codex/config.toml"`)) {
		t.Errorf("at home: %s", out)
	}
	if out := audit("CODEX_HOME=" + moved); !bytes.Contains(out, []byte(`"value": "never"`)) || bytes.Contains(out, []byte("untrusted")) ||
		!bytes.Contains(out, []byte(`"$CODEX_HOME/hooks.json"`)) {
		t.Errorf("moved: %s", out)
	}
}
