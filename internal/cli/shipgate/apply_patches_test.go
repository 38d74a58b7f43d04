package shipgate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// suggested is a directory with a manifest and a report that suggests edits.
type suggested struct {
	dir, manifest, report string
	text                  string
	patches               []map[string]any
}

const suggestedManifest = `version: "0.1"
# who we are
project: {name: bot}
permissions:
  scopes:
    - docs:read # for the search
checks:
  ignore:
    - check_id: SHIP-OLD
      reason: gone
    # the second one
    - check_id: SHIP-DOC
      reason: kept
    - check_id: SHIP-OLDER
      reason: gone too
`

func newSuggested(t *testing.T) *suggested {
	t.Helper()
	dir := t.TempDir()
	s := &suggested{dir: dir, manifest: filepath.Join(dir, "shipgate.yaml"), report: filepath.Join(dir, "report.json"), text: suggestedManifest}
	if err := os.WriteFile(s.manifest, []byte(s.text), 0o640); err != nil {
		t.Fatal(err)
	}
	return s
}

// patch adds one with everything that a patch needs.
func (s *suggested) patch(kind, pointer string, more map[string]any) {
	sum := sha256.Sum256([]byte(s.text))
	p := map[string]any{
		"kind": kind, "target_file": s.manifest, "pointer": pointer, "target_format": "yaml", "confidence": "high",
		"rationale": "it is stale", "target_sha256": hex.EncodeToString(sum[:]),
	}
	for key, v := range more {
		if v == nil {
			delete(p, key)
		} else {
			p[key] = v
		}
	}
	s.patches = append(s.patches, p)
}

// run writes the report and runs the command over it.
func (s *suggested) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	report := map[string]any{"manifest_dir": s.dir, "findings": []any{
		map[string]any{"check_id": "SHIP-A", "fingerprint": "fp_1", "title": "t", "suppressed": false, "patches": s.patches},
	}}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.report, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	env := shipgate.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problems, Dir: s.dir}
	code = shipgate.Main(append([]string{"apply-patches", "--from", "report.json"}, args...), env)
	return code, out.String(), problems.String()
}

func (s *suggested) now(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.manifest)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s *suggested) three() {
	s.patch("remove_pointer", "/checks/ignore/0", nil)
	s.patch("remove_pointer", "/checks/ignore/2", nil)
	s.patch("append_pointer", "/permissions/scopes", map[string]any{"value": "docs:write"})
	s.patch("append_pointer", "/permissions/scopes", map[string]any{"value": "docs:all", "confidence": "medium"})
	s.patches = append(s.patches, map[string]any{"kind": "manual", "instructions": "Ask\n\n--- a/the\x1b owner."})
}

func TestPatchesAreShownAndThenApplied(t *testing.T) {
	s := newSuggested(t)
	s.three()
	code, said, problems := s.run(t)
	if code != 0 || problems != "" || s.now(t) != s.text || !strings.Contains(said, "3 patches to 1 file; nothing was written, add --apply") {
		t.Fatalf("exit %d: %s", code, said)
	}
	if !strings.Contains(said, "1 patch left out") || !strings.Contains(said, "by hand, SHIP-A: Ask --- a/the owner.") {
		t.Errorf("said %q", said)
	}
	want := strings.Replace(s.text, "    - check_id: SHIP-OLD\n      reason: gone\n", "", 1)
	want = strings.Replace(want, "    - check_id: SHIP-OLDER\n      reason: gone too\n", "", 1)
	want = strings.Replace(want, "# for the search\n", "# for the search\n    - docs:write\n", 1)

	// What was shown is a diff that git can apply, and gives the same.
	if git, err := exec.LookPath("git"); err == nil {
		copied := t.TempDir()
		if err := os.WriteFile(filepath.Join(copied, "shipgate.yaml"), []byte(s.text), 0o600); err != nil {
			t.Fatal(err)
		}
		apply := exec.Command(git, "apply", "-")
		apply.Dir, apply.Stdin = copied, strings.NewReader(said)
		apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(copied))
		if out, err := apply.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, said)
		}
		if got, err := os.ReadFile(filepath.Join(copied, "shipgate.yaml")); err != nil || string(got) != want {
			t.Errorf("%v: git made\n%s", err, got)
		}
	}

	_, diff, _ := strings.Cut(said, "\n\n")
	code, said, _ = s.run(t, "--apply")
	if _, again, _ := strings.Cut(said, "\n\n"); code != 0 || again != diff || s.now(t) != want || !strings.Contains(said, "applied 3 patches to 1 file") {
		t.Errorf("exit %d: %s\n%s", code, said, s.now(t))
	}
	if info, err := os.Stat(s.manifest); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has other permissions: %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(s.dir, ".shipgate-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// The same report once more speaks of a file that is no longer there.
	code, out, problems := s.run(t, "--apply")
	if code != 3 || out != "" || s.now(t) != want || !strings.Contains(problems, "make the report again") {
		t.Errorf("exit %d: %s", code, problems)
	}
}

func TestPatchesAsJSON(t *testing.T) {
	s := newSuggested(t)
	s.three()
	code, out, _ := s.run(t, "--json", "--confidence", "medium", "--kinds", "append_pointer,set_pointer")
	var r struct {
		Applied bool
		Files   []struct {
			Path    string
			Patches []struct{ Pointer string }
			Diff    string
		}
		Manual []struct{ Instructions string }
		Left   int `json:"not_chosen"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if r.Applied || len(r.Files) != 1 || r.Files[0].Path != "shipgate.yaml" || len(r.Files[0].Patches) != 2 || r.Left != 2 || len(r.Manual) != 1 {
		t.Errorf("%+v", r)
	}
}

// Whatever is wrong: nothing is written, and the code says what sort of fault it
// is.
func TestPatchesThatAreRefused(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "shipgate.yaml")
	if err := os.WriteFile(outside, []byte(suggestedManifest), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		code int
		said string
		bend func(*testing.T, *suggested)
	}{
		{"unknown kind", 2, "kind", func(_ *testing.T, s *suggested) { s.patch("replace", "/a", nil) }},
		{"no value", 2, "value is missing", func(_ *testing.T, s *suggested) { s.patch("set_pointer", "/a", nil) }},
		{"no digest", 2, "target_sha256", func(_ *testing.T, s *suggested) {
			s.patch("remove_pointer", "/checks/ignore/0", map[string]any{"target_sha256": nil})
		}},
		{"no pointer", 2, "pointer", func(_ *testing.T, s *suggested) { s.patch("remove_pointer", "checks", nil) }},
		{"the whole file", 2, "pointer", func(_ *testing.T, s *suggested) { s.patch("remove_pointer", "", nil) }},
		{"another member", 2, "member", func(_ *testing.T, s *suggested) {
			s.patch("remove_pointer", "/checks/ignore/0", map[string]any{"command": "x"})
		}},
		{"nothing there", 2, "no entry", func(_ *testing.T, s *suggested) { s.patch("remove_pointer", "/checks/ignore/9", nil) }},
		{"two values for one place", 2, "two values", func(_ *testing.T, s *suggested) {
			s.patch("set_pointer", "/ci/mode", map[string]any{"value": "strict"})
			s.patch("set_pointer", "/ci/mode", map[string]any{"value": "advisory"})
		}},
		{"another file", 3, "make the report again", func(_ *testing.T, s *suggested) {
			s.patch("remove_pointer", "/checks/ignore/0", map[string]any{"target_sha256": strings.Repeat("0", 64)})
		}},
		{"a file that is gone", 3, "cannot be found", func(_ *testing.T, s *suggested) {
			s.patch("remove_pointer", "/a", map[string]any{"target_file": filepath.Join(s.dir, "gone.yaml")})
		}},
		{"a directory", 3, "no regular file", func(t *testing.T, s *suggested) {
			t.Helper()
			sub := filepath.Join(s.dir, "sub")
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			s.patch("remove_pointer", "/a", map[string]any{"target_file": sub})
		}},
		{"outside", 5, "not in the manifest directory", func(_ *testing.T, s *suggested) {
			s.patch("remove_pointer", "/checks/ignore/0", map[string]any{"target_file": outside})
		}},
		{"outside by dots", 5, "not in the manifest directory", func(_ *testing.T, s *suggested) {
			s.patch("remove_pointer", "/checks/ignore/0", map[string]any{"target_file": filepath.Join(s.dir, "..", "x.yaml")})
		}},
		{"outside by a link", 5, "not in the manifest directory", func(t *testing.T, s *suggested) {
			t.Helper()
			link := filepath.Join(s.dir, "link.yaml")
			if err := os.Symlink(outside, link); err != nil {
				t.Skip(err)
			}
			s.patch("remove_pointer", "/checks/ignore/0", map[string]any{"target_file": link})
		}},
		{"the repository's own data", 5, "not in the manifest directory", func(t *testing.T, s *suggested) {
			t.Helper()
			hooks := filepath.Join(s.dir, ".git", "hooks")
			if err := os.MkdirAll(hooks, 0o700); err != nil {
				t.Fatal(err)
			}
			target := filepath.Join(hooks, "post-commit")
			if err := os.WriteFile(target, []byte(s.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s.patch("remove_pointer", "/checks/ignore/0", map[string]any{"target_file": target})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSuggested(t)
			s.patch("remove_pointer", "/checks/ignore/1", nil) // one that could be done
			c.bend(t, s)
			code, out, said := s.run(t, "--apply")
			if code != c.code || out != "" || !strings.Contains(said, c.said) {
				t.Errorf("exit %d, want %d: %s%s", code, c.code, out, said)
			}
			if s.now(t) != s.text {
				t.Error("something was written")
			}
			if now, err := os.ReadFile(outside); err != nil || string(now) != suggestedManifest {
				t.Errorf("something was written outside: %v", err)
			}
		})
	}
}

func TestAReportWithoutPatchesNeedsNoDirectory(t *testing.T) {
	s := newSuggested(t)
	s.dir = filepath.Join(s.dir, "elsewhere")
	if err := os.Mkdir(s.dir, fs.ModePerm); err != nil {
		t.Fatal(err)
	}
	s.report = filepath.Join(s.dir, "report.json")
	if code, out, said := s.run(t); code != 0 || said != "" || !strings.Contains(out, "no patch to apply") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}
