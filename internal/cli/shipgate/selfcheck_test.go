package shipgate_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev"
	"plimsoll.dev/internal/cli/shipgate"
)

// sampleOutcome is what expected.json says of one sample of self-check.
type sampleOutcome struct {
	Decision string              `json:"decision"`
	Tools    []string            `json:"tools"`
	Analysed []string            `json:"analysed"`
	Checks   []string            `json:"checks"`
	Gaps     map[string][]string `json:"gaps"`
}

// What self-check compares with is what the program says of each sample in an
// ordinary repository, made by git.
func TestSelfCheckComparesWithWhatASampleIs(t *testing.T) {
	files, err := plimsoll.SelfCheckSamples()
	if err != nil {
		t.Fatal(err)
	}
	folders, err := fs.Glob(files, "*/shipgate.yaml")
	if err != nil || len(folders) != 5 {
		t.Fatalf("%d samples, %v", len(folders), err)
	}
	got := map[string]sampleOutcome{}
	for _, manifest := range folders {
		name := filepath.Dir(manifest)
		sample, err := fs.Sub(files, name)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		env := shipgate.Env{Dir: dir, Environ: append(os.Environ(), quietGit(t.TempDir())...)}
		if err := os.CopyFS(dir, sample); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"init -q -b main", "add -A", "commit -q -m one"} {
			cmd := exec.Command("git", words(line)...)
			cmd.Dir, cmd.Env = dir, env.Environ
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v\n%s", line, err, out)
			}
		}
		code, stdout, stderr := call(env, "", []string{"scan", "--json"})
		if code != 0 {
			t.Fatalf("%s: exit code %d, %s", name, code, stderr)
		}
		got[name] = outcomeOf(t, stdout)
	}
	const golden = "../../../examples/self-check/expected.json"
	if os.Getenv("PLIMSOLL_GOLDEN") == "1" {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]sampleOutcome
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("make golden prints another expected.json:\n%s", diff)
	}
}

func outcomeOf(t *testing.T, report []byte) sampleOutcome {
	t.Helper()
	var r struct {
		Catalog   []struct{ Name string } `json:"tool_catalog"`
		Inventory []struct{ Name string } `json:"tool_inventory"`
		Findings  []struct {
			CheckID string `json:"check_id"`
		}
		Release struct {
			Decision string
			Coverage struct {
				Gaps []struct{ Kind, Subject string } `json:"evidence_gaps"`
			} `json:"evidence_coverage"`
		} `json:"release_decision"`
	}
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatal(err)
	}
	o := sampleOutcome{Decision: r.Release.Decision, Tools: []string{}, Analysed: []string{}, Checks: []string{}, Gaps: map[string][]string{}}
	for _, tool := range r.Catalog {
		o.Tools = append(o.Tools, tool.Name)
	}
	for _, tool := range r.Inventory {
		o.Analysed = append(o.Analysed, tool.Name)
	}
	for _, f := range r.Findings {
		o.Checks = append(o.Checks, f.CheckID)
	}
	slices.Sort(o.Checks)
	o.Checks = slices.Compact(o.Checks)
	for _, g := range r.Release.Coverage.Gaps {
		o.Gaps[g.Kind] = append(o.Gaps[g.Kind], g.Subject)
	}
	return o
}

// A machine on which the gate cannot do its work is told so, part by part.
func TestSelfCheckWithoutGitIsNotReady(t *testing.T) {
	env := shipgate.Env{Dir: t.TempDir(), Environ: []string{"PATH=" + t.TempDir()}}
	code, stdout, stderr := call(env, "", []string{"self-check", "--json"})
	if code != 4 || !bytes.Contains(stderr, []byte("not ready")) {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var report struct {
		FixturesRun map[string]string `json:"fixtures_run"`
		CLISurface  map[string]string `json:"cli_surface"`
		Ready       bool
	}
	if err := json.Unmarshal(stdout, &report); err != nil {
		t.Fatal(err)
	}
	if report.Ready || report.FixturesRun["complete"] != "ok" || report.CLISurface["contract"] != "ok" {
		t.Errorf("what needs no git does not stand: %+v", report)
	}
	for _, said := range []string{report.FixturesRun["clean_read_only_agent"], report.CLISurface["verify"], report.CLISurface["doctor"]} {
		if !strings.HasPrefix(said, "error: ") {
			t.Errorf("what needs git says %q", said)
		}
	}
}

// A damaged installation is told from a sound one, by the part that is damaged.
func TestSelfCheckTellsABrokenInstallation(t *testing.T) {
	type report struct {
		Available bool              `json:"fixtures_available"`
		Fixtures  map[string]string `json:"fixtures_run"`
		Legacy    string            `json:"legacy_agent_result_v1"`
		Ready     bool
	}
	examples, err := plimsoll.AgentProtocol()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := plimsoll.SelfCheckSamples()
	if err != nil {
		t.Fatal(err)
	}
	// checked is the report of a program that carries what edit makes of it.
	checked := func(t *testing.T, edit func(examples, samples fstest.MapFS)) (int, report) {
		t.Helper()
		e, s := copied(t, examples), copied(t, samples)
		edit(e, s)
		env := shipgate.Env{Dir: t.TempDir(), Environ: append(os.Environ(), quietGit(t.TempDir())...), Examples: e, Samples: s}
		code, stdout, stderr := call(env, "", []string{"self-check", "--json"})
		var r report
		if err := json.Unmarshal(stdout, &r); err != nil {
			t.Fatalf("%v\n%s%s", err, stdout, stderr)
		}
		return code, r
	}
	if code, r := checked(t, func(fstest.MapFS, fstest.MapFS) {}); code != 0 || !r.Ready || !r.Available || r.Legacy != "ok" {
		t.Fatalf("a sound one: exit code %d, %+v", code, r)
	}
	for name, c := range map[string]struct {
		edit  func(examples, samples fstest.MapFS)
		wrong func(report) string
	}{
		"an example is gone": {
			func(e, _ fstest.MapFS) { delete(e, "diffs/complete.diff") },
			func(r report) string { return r.Fixtures["complete"] },
		},
		"an example is another": {
			func(e, _ fstest.MapFS) { e["diffs/complete.diff"] = e["diffs/human-review-required.diff"] },
			func(r report) string { return r.Fixtures["complete"] },
		},
		"an expectation is half there": {
			func(e, _ fstest.MapFS) {
				e["expected/complete.json"].Data = e["expected/complete.json"].Data[:40]
			},
			func(r report) string { return r.Fixtures["complete"] },
		},
		"a sample is gone": {
			func(_, s fstest.MapFS) { delete(s, "google_adk_agent/shipgate.yaml") },
			func(r report) string { return r.Fixtures["google_adk_agent"] },
		},
		"an older result is damaged": {
			func(e, _ fstest.MapFS) { e["legacy/repair-after.json"] = e["legacy/damaged-completion.json"] },
			func(r report) string { return r.Legacy },
		},
		"a damaged result is not damaged": {
			func(e, _ fstest.MapFS) { e["legacy/damaged-publication.json"] = e["legacy/block-stop.json"] },
			func(r report) string { return r.Legacy },
		},
		"no older result is left": {
			func(e, _ fstest.MapFS) { e["legacy/expected.json"].Data = []byte("{}") },
			func(r report) string { return r.Legacy },
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, r := checked(t, c.edit)
			if code != 4 || r.Ready || !strings.HasPrefix(c.wrong(r), "error: ") {
				t.Errorf("exit code %d, %q, ready %v", code, c.wrong(r), r.Ready)
			}
			if gone := strings.HasSuffix(name, "is gone"); r.Available == gone {
				t.Errorf("fixtures_available is %v", r.Available)
			}
		})
	}
}

func copied(t *testing.T, files fs.FS) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		out[name] = &fstest.MapFile{Data: text, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
