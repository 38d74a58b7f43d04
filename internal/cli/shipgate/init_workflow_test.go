package shipgate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
)

// The workflow that init writes, step by step as a runner takes it, but for the
// two that fetch: the change that adopts the gate passes in advisory mode, with
// its report in the summary, and a runner without the gate fails and shows none.
func TestTheWorkflowOfInitRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	build(t, bin, "shipgate")
	path := bin + string(os.PathListSeparator) + os.Getenv("PATH")
	t.Setenv("PATH", path)
	base := append(os.Environ(), quietGit(dir)...)
	start := func(path string, more []string, name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(append(append([]string{}, base...), more...), "PATH="+path)
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	must := func(name string, args ...string) string {
		t.Helper()
		out, err := start(path, nil, name, args...)
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return out
	}
	must("git", "init", "-q", "-b", "main", ".")
	if err := os.WriteFile(filepath.Join(dir, "tools.json"), []byte(`{"tools": [{"name": "get_order", "inputSchema": {"type": "object"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	must("git", "add", "-A")
	must("git", "commit", "-q", "-m", "before")
	must("git", "checkout", "-q", "-b", "adopt")
	must("shipgate", "init", "--write", "--ci")
	must("git", "add", "-A")
	must("git", "commit", "-q", "-m", "adopt the gate")
	must("git", "checkout", "-q", "main")
	must("git", "commit", "-q", "--allow-empty", "-m", "meanwhile")
	must("git", "merge", "-q", "--no-ff", "-m", "as the forge merges", "adopt")

	text, err := os.ReadFile(filepath.Join(dir, ".github/workflows/agents-shipgate.yml"))
	if err != nil {
		t.Fatal(err)
	}
	workflow, bad := source.ParseYAML(text)
	if bad != nil {
		t.Fatal(bad)
	}
	summary := filepath.Join(t.TempDir(), "summary.md")
	env := []string{"BASE=HEAD^1", "GITHUB_STEP_SUMMARY=" + summary}
	steps := 0
	for _, step := range workflow.At("jobs", "verify", "steps").Items {
		run := step.Get("run").Str()
		if run == "" || strings.HasPrefix(run, "go install ") {
			continue
		}
		steps++
		if strings.HasPrefix(run, "shipgate ") {
			forged := filepath.Join(dir, "agents-shipgate-reports", "report.md")
			if err := os.MkdirAll(filepath.Dir(forged), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(forged, []byte("# passed"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := start("/usr/bin:/bin", env, bash, "-e", "-c", run); err == nil {
				t.Error("a runner without the gate passes")
			}
			for _, base := range []string{"", "gone"} {
				if _, err := start(path, append(env, "BASE="+base), bash, "-e", "-c", run); err == nil {
					t.Errorf("a runner whose base is %q passes", base)
				}
			}
			if shown, err := os.ReadFile(summary); err == nil {
				t.Errorf("a report that is not of this run is shown: %s", shown)
			}
		}
		if out, err := start(path, env, bash, "-e", "-c", run); err != nil {
			t.Errorf("%s: %v\n%s", step.Get("name").Str(), err, out)
		}
	}
	if steps != 1 {
		t.Errorf("%d steps were run", steps)
	}
	if report, err := os.ReadFile(summary); err != nil || !strings.Contains(string(report), "get_order") {
		t.Errorf("the summary is %q (%v)", report, err)
	}
}
