package shipgate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/verify/patch"
)

// newcomer is somebody who tries the gate in a repository of their own.
type newcomer struct {
	t        *testing.T
	dir      string
	commands int
	took     time.Duration
}

func (u *newcomer) git(stdin string, args ...string) string {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = u.dir, append(os.Environ(), quietGit(u.dir)...), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("git %s: %v\n%s\n%s", strings.Join(args, " "), err, out, stdin)
	}
	return string(out)
}

// run is one command of the gate, which must end well.
func (u *newcomer) run(args ...string) []byte {
	u.t.Helper()
	begin := time.Now()
	code, out, errs := call(shipgate.Env{Dir: u.dir, Environ: append(os.Environ(), quietGit(u.dir)...)}, "", args)
	u.took += time.Since(begin)
	u.commands++
	if code != 0 || len(errs) > 0 {
		u.t.Fatalf("shipgate %s: exit code %d\n%s\n%s", strings.Join(args, " "), code, errs, out)
	}
	return out
}

func (u *newcomer) json(into any, args ...string) []byte {
	u.t.Helper()
	out := u.run(args...)
	if err := json.Unmarshal(out, into); err != nil {
		u.t.Fatalf("%v\n%s", err, out)
	}
	return out
}

func (u *newcomer) write(files map[string]string) {
	u.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(u.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			u.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(files[name]), 0o600); err != nil {
			u.t.Fatal(err)
		}
	}
}

func (u *newcomer) manifest() string {
	u.t.Helper()
	text, err := os.ReadFile(filepath.Join(u.dir, "shipgate.yaml"))
	if err != nil {
		u.t.Fatal(err)
	}
	return string(text)
}

func (u *newcomer) commit(message string) {
	u.t.Helper()
	u.git("", "add", "-A")
	u.git("", "commit", "-q", "-m", message)
}

// newcomerResult is what a newcomer reads of results.
type newcomerResult struct {
	Decision string
	Control  struct {
		State          string
		VerifyRequired bool `json:"verify_required"`
	}
	Diagnostics []struct{ Code string }
	Release     struct {
		Decision string
		Reason   string
		Coverage struct {
			Gaps []sampleGap `json:"evidence_gaps"`
		} `json:"evidence_coverage"`
	} `json:"release_decision"`
}

type newcomerPlan struct {
	Written   bool
	Complete  bool
	Questions []struct {
		Key, Path, Why, Patch string
		Line                  int
	}
	Next []struct{ Command *string } `json:"next_actions"`
}

// A repository that nobody prepared gives the first release decision after three
// commands, in any family of readers (docs/spec/verification.md §18): a check
// that needs no setup, init and verify. Every gap names a key with a template
// that applies, or the place in the sources; every question of init has a patch,
// and together they apply. What was written goes away to the byte, and once the
// gate is adopted, a tool that is added does not go unseen.
func TestAFirstTimeUser(t *testing.T) {
	for _, kind := range unpreparedKinds {
		for i := range users {
			n := &users[i]
			t.Run(kind.kind+"/"+n.product, func(t *testing.T) {
				t.Parallel()
				u := &newcomer{t: t, dir: filepath.Join(t.TempDir(), n.product)}
				if err := os.Mkdir(u.dir, 0o700); err != nil {
					t.Fatal(err)
				}
				u.git("", "init", "-q", "-b", "main")
				files := kind.files(n)
				u.write(files)
				u.commit("before the gate")
				u.decides(n)
				u.leaves()
				u.answers(i == 1)
				u.adds(&kind, n, files)
			})
		}
	}
}

// decides is the three commands.
func (u *newcomer) decides(n *names) {
	t := u.t
	t.Helper()
	var checked, verified newcomerResult
	if out := u.json(&checked, "check", "--agent", "codex", "--workspace", ".", "--format", "agent-boundary-json"); valid(out) != nil ||
		checked.Decision != "allow" || checked.Control.State != "complete" {
		t.Errorf("check without a manifest: %s", out)
	}
	var plan newcomerPlan
	out := u.json(&plan, "init", "--write", "--json")
	if !plan.Written || !plan.Complete || len(plan.Questions) == 0 || len(plan.Questions) > 7 {
		t.Errorf("init: %s", out)
	}
	if !slices.ContainsFunc(plan.Next, func(a struct{ Command *string }) bool {
		return a.Command != nil && strings.HasPrefix(*a.Command, "shipgate verify")
	}) {
		t.Errorf("init does not name verify: %s", out)
	}
	out = u.json(&verified, "verify", "--json")
	r := &verified.Release
	if r.Decision != "insufficient_evidence" && r.Decision != "review_required" || r.Reason == "" || len(r.Coverage.Gaps) == 0 {
		t.Errorf("verify: %s", out)
	}
	if u.commands != 3 {
		t.Errorf("%d commands", u.commands)
	}
	t.Logf("%d commands in %s: %s, %d questions, %d gaps", u.commands, u.took.Round(time.Millisecond), r.Decision, len(plan.Questions), len(r.Coverage.Gaps))
	u.gaps(r.Coverage.Gaps)
}

var placeInSources = regexp.MustCompile(`^[^\s:]+([: #].*)?$`)

// gaps holds that each gap has a way out that works.
func (u *newcomer) gaps(gaps []sampleGap) {
	u.t.Helper()
	text := u.manifest()
	lines := strings.Count(text, "\n")
	for i := range gaps {
		g := &gaps[i]
		template := g.Next.Template
		if g.Why == "" || g.Next.Expects == "" || g.Next.Path == "" {
			u.t.Errorf("%s of %s: %+v", g.Kind, g.Subject, g)
		}
		if template == nil {
			if !placeInSources.MatchString(g.Next.Path) {
				u.t.Errorf("%s of %s has no template and names no place: %+v", g.Kind, g.Subject, g.Next)
			}
			continue
		}
		var edits []patch.Edit
		for _, e := range template.Edits {
			edits = append(edits, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: e.Value})
			if e.Line < 1 || e.Line > lines {
				u.t.Errorf("%s of %s edits line %d of %d", g.Kind, g.Subject, e.Line, lines)
			}
		}
		if after, err := patch.Apply([]byte(text), patch.YAML, edits...); err != nil || string(after) == text || len(edits) == 0 {
			u.t.Errorf("%s of %s: %v\n%+v", g.Kind, g.Subject, err, edits)
		}
	}
}

// leaves is somebody who wants none of it.
func (u *newcomer) leaves() {
	u.t.Helper()
	if err := os.RemoveAll(filepath.Join(u.dir, "agents-shipgate-reports")); err != nil {
		u.t.Fatal(err)
	}
	u.run("init", "--remove", "--write")
	if left := u.git("", "status", "--porcelain", "--ignored"); left != "" {
		u.t.Errorf("left behind: %s", left)
	}
}

// answers is somebody who answers what init asks, with all of its patches, some
// from the last one on.
func (u *newcomer) answers(backwards bool) {
	t := u.t
	t.Helper()
	var plan newcomerPlan
	u.json(&plan, "init", "--write", "--json")
	u.commit("adopt the gate")
	asked := plan.Questions
	if backwards {
		slices.Reverse(asked)
	}
	for i := range asked {
		u.git(asked[i].Patch, "apply", "-")
	}
	text := u.manifest()
	for _, q := range asked {
		if _, list, found := strings.Cut(q.Why, "One of: "); found {
			one, _, _ := strings.Cut(strings.TrimSuffix(list, "."), ", ")
			text = strings.Replace(text, "object: CHANGE_ME", fmt.Sprintf("object: %q", one), 1)
		}
	}
	text = strings.NewReplacer("effect: CHANGE_ME", "effect: write", "mode: CHANGE_ME", "mode: none", "CHANGE_ME", "as the team knows it").Replace(text)
	u.write(map[string]string{"shipgate.yaml": text})
	var verified newcomerResult
	out := u.json(&verified, "verify", "--json")
	for _, g := range verified.Release.Coverage.Gaps {
		switch g.Kind {
		case "missing_effect_evidence", "missing_authority_evidence", "ambiguous_root_agent":
			t.Errorf("what was answered is asked again: %s of %s", g.Kind, g.Subject)
		}
	}
	if verified.Release.Decision == "" {
		t.Errorf("%s", out)
	}
	u.git("", "checkout", "-q", "--", "shipgate.yaml")
}

// adds is the change that has to be seen.
func (u *newcomer) adds(kind *unprepared, n *names, files map[string]string) {
	t := u.t
	t.Helper()
	u.git("", "checkout", "-q", "-b", "more")
	before := maps.Clone(files)
	kind.bad(n, files)
	maps.DeleteFunc(files, func(name, text string) bool { return before[name] == text })
	u.write(files)
	var checked, verified newcomerResult
	out := u.json(&checked, "check", "--agent", "codex", "--workspace", ".", "--format", "agent-boundary-json")
	if checked.Control.State == "complete" || !checked.Control.VerifyRequired {
		t.Errorf("check owes no verification: %s", out)
	}
	for _, d := range checked.Diagnostics {
		if d.Code == "undeclared_capability_surface" {
			t.Errorf("what the manifest names counts as undeclared: %s", out)
		}
	}
	u.commit("one more tool")
	u.json(&verified, "verify", "--base", "main", "--head", "HEAD", "--json")
	if d := verified.Release.Decision; d == "" || d == "passed" {
		t.Errorf("%s was decided %q", n.bad, d)
	}
	report, err := os.ReadFile(filepath.Join(u.dir, "agents-shipgate-reports", "report.json"))
	if err != nil || !strings.Contains(string(report), n.bad) {
		t.Errorf("%s is not named: %v\n%s", n.bad, err, report)
	}
}
