package shipgate_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// ids are the identities of one verification (docs/spec/verification.md §10.3).
type ids struct {
	Request  string `json:"request_id"`
	Subject  string `json:"subject_id"`
	Inputs   string `json:"input_set_id"`
	Engine   string `json:"engine_requirement_id"`
	Executor string `json:"executor_id"`
	Decision string `json:"decision_id"`
}

// verified is what a verification wrote, by file name, and its identities.
func verified(t *testing.T, dir string, environ []string, args ...string) (map[string][]byte, ids) {
	t.Helper()
	env := shipgate.Env{Dir: dir, Environ: slices.Concat(os.Environ(), quietGit(dir), environ)}
	code, _, errs := call(env, "", append([]string{"verify", "--json"}, args...))
	if code != 0 && code != 20 {
		t.Fatalf("verify %v ends with %d: %s", args, code, errs)
	}
	files, err := artifactsIn(filepath.Join(dir, "agents-shipgate-reports"))
	if err != nil {
		t.Fatal(err)
	}
	var of ids
	if err := json.Unmarshal(files["verifier.json"], &of); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{
		"request": of.Request, "subject": of.Subject, "inputs": of.Inputs, "engine": of.Engine, "executor": of.Executor, "decision": of.Decision,
	} {
		if len(id) != len("sha256:")+64 || !strings.HasPrefix(id, "sha256:") {
			t.Fatalf("the %s has the id %q", name, id)
		}
	}
	return files, of
}

// rewrite changes one passage of a file of a repository.
func rewrite(t *testing.T, dir string, s swap) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(s.path))
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), s.from) != 1 {
		t.Fatalf("%q stands %d times in %s", s.from, strings.Count(string(text), s.from), s.path)
	}
	if err := os.WriteFile(at, []byte(strings.Replace(string(text), s.from, s.to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// clones are two clones of one repository, far from each other, in which the
// same was done.
func clones(t *testing.T, origin string, work func(dir string)) (one, other string) {
	t.Helper()
	top := t.TempDir()
	one, other = filepath.Join(top, "a"), filepath.Join(top, "some where", "else", "b")
	for _, dir := range []string{one, other} {
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		gitIn(t, origin, "clone", "-q", origin, dir)
		work(dir)
	}
	return one, other
}

// stale is a waiver that waives nothing: its repair is a patch.
var stale = swap{"shipgate.yaml", "checks:\n", "checks:\n  ignore: [{check_id: SHIP-DOC-MISSING-DESCRIPTION, tool: gone, reason: short}]\n"}

// placed are the artifacts that differ between two places: report.json names the
// manifest's folder for those who apply patches (docs/spec/verification.md §1),
// and three files hold its digest. Of the ids, those of the set of artifacts and
// of the receipt follow.
var placed = []string{"report.json", "verify-run.json", "verification-artifacts.json", "verification-receipt.json"}

func TestTwoClonesVerifyToTheSameBytes(t *testing.T) {
	t.Parallel()
	worse := decided(t, nil)
	repairable := decided(t, []swap{stale})
	gitIn(t, repairable, "commit", "-q", "-a", "-m", "base")
	change := func(dir string) {
		rewrite(t, dir, swap{"shipgate.yaml", "{idempotency: true, audit_log: true, rollback: true}", "{audit_log: true, rollback: true}"})
		rewrite(t, dir, stale)
		rewrite(t, dir, swap{"tools.json", `"maximum": 100`, `"maximum": 1000`})
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-q", "-m", "work")
		rewrite(t, dir, swap{"tools.json", "Refund one order", "Refund an order"})
	}
	for _, c := range []struct {
		origin string
		work   func(string)
		args   []string
	}{
		{worse, change, words("--today 2026-11-30 --suggest-patches")},
		{worse, change, words("--today 2026-11-30 --base origin/main --head HEAD --ci-mode advisory")},
		{repairable, func(string) {}, words("--today 2026-11-30 --suggest-patches")},
	} {
		args := c.args
		one, other := clones(t, c.origin, c.work)
		a, of := verified(t, one, []string{"TZ=UTC"}, args...)
		b, again := verified(t, other, []string{"TZ=Asia/Tokyo", "LANG=tr_TR.UTF-8", "USER=somebody"}, args...)
		if of != again {
			t.Errorf("%v: the ids are\n%+v\n%+v", args, of, again)
		}
		if names := slices.Sorted(maps.Keys(b)); !slices.Equal(slices.Sorted(maps.Keys(a)), names) {
			t.Errorf("%v: the files are %v", args, names)
		}
		for name, text := range a {
			if !slices.Contains(placed, name) && !bytes.Equal(text, b[name]) {
				t.Errorf("%v: %s differs", args, name)
			}
			if name != "report.json" && (bytes.Contains(text, []byte(one)) || bytes.Contains(b[name], []byte(other))) {
				t.Errorf("%v: %s names a folder of the machine", args, name)
			}
		}
		if want := bytes.ReplaceAll(b["report.json"], []byte(filepath.ToSlash(other)), []byte(filepath.ToSlash(one))); !bytes.Equal(a["report.json"], want) {
			t.Errorf("%v: report.json differs in more than its folder", args)
		}
		if patched := bytes.Contains(a["verifier.json"], []byte(`"target_file":"shipgate.yaml"`)); patched != (c.origin == repairable) {
			t.Errorf("%v: verifier.json has patches: %t", args, patched)
		}
		if bytes.Equal(a["report.json"], b["report.json"]) {
			t.Errorf("%v: report.json does not say where its patches apply", args)
		}
		// The run differs in that one digest and in nothing else.
		run, second := lines(a["verify-run.json"]), lines(b["verify-run.json"])
		if differ := differing(run, second); len(differ) != 1 || !strings.Contains(differ[0], `"sha256": "sha256:`) {
			t.Errorf("%v: verify-run.json differs in %q", args, differ)
		}
	}
}

func lines(text []byte) []string { return strings.Split(string(text), "\n") }

// differing are the lines of a that b has otherwise at the same place.
func differing(a, b []string) []string {
	if len(a) != len(b) {
		return a
	}
	var out []string
	for i := range a {
		if a[i] != b[i] {
			out = append(out, a[i])
		}
	}
	return out
}

// Everything that the judgement rests on is among the inputs, and what it does
// not rest on is not.
func TestInputsThatDifferHaveAnotherID(t *testing.T) {
	t.Parallel()
	const today = "2026-11-30"
	dir := decided(t, []swap{
		{"accepted.json", "", `{"schema_version": "0.5", "project": {"name": "shop"}, "findings": []}`},
		{"packs/extra.yaml", "", "name: extra\nrules: []\n"},
	})
	usual := []string{"--today", today}
	_, before := verified(t, dir, nil, usual...)
	seen := map[string]string{before.Inputs: "the run as it is"}
	differ := func(how string, of ids) {
		t.Helper()
		if other, known := seen[of.Inputs]; known {
			t.Errorf("%s has the inputs of %s", how, other)
		}
		seen[of.Inputs] = how
		if of.Request == before.Request || of.Decision == before.Decision || of.Engine != before.Engine || of.Executor != before.Executor {
			t.Errorf("%s: %+v, before %+v", how, of, before)
		}
	}
	for _, args := range [][]string{
		{"--today", "2026-12-01"},
		{"--today", today, "--ci-mode", "advisory"},
		{"--today", today, "--fail-on", "high"},
		{"--today", today, "--fail-on", "high,medium"},
		{"--today", today, "--no-heuristics"},
		{"--today", today, "--suggest-patches"},
		{"--today", today, "--baseline", "accepted.json"},
		{"--today", today, "--baseline", "accepted.json", "--baseline-mode", "new-findings"},
		{"--today", today, "--policy-pack", "packs/extra.yaml"},
	} {
		_, of := verified(t, dir, nil, args...)
		differ(strings.Join(args, " "), of)
		if of.Subject != before.Subject {
			t.Errorf("%v: the subject is another", args)
		}
	}
	for _, args := range [][]string{
		usual,
		{"--today", today, "--verbose"},
		{"--today", today, "--pr-comment-style", "findings"},
		{"--today", today, "--no-plugins"},
		{"--today", today, "-c", "shipgate.yaml"},
	} {
		if _, of := verified(t, dir, nil, args...); of != before {
			t.Errorf("%v: %+v, before %+v", args, of, before)
		}
	}

	// One byte of a source, of a pack, of the accepted findings, of a file that
	// has nothing to do with tools.
	for _, s := range []swap{
		{"tools.json", "Look up one order", "Look up  one order"},
		{"packs/house.yaml", "version: 1", "version: 2"},
		{"evidence/approvals.json", `"success": true`, `"success": false`},
		{"shipgate.yaml", "wipe the warehouse", "wipe the warehouses"},
	} {
		rewrite(t, dir, s)
		_, of := verified(t, dir, nil, usual...)
		differ(s.path, of)
		if of.Subject == before.Subject {
			t.Errorf("%s: the subject is the same", s.path)
		}
		rewrite(t, dir, swap{s.path, s.to, s.from})
		if _, of := verified(t, dir, nil, usual...); of != before {
			t.Errorf("%s: put back, the ids are others", s.path)
		}
	}
	kept := filepath.Join(t.TempDir(), "kept.json") // not part of the change
	with := []string{"--today", today, "--baseline", kept}
	var inputs []string
	for _, project := range []string{"shop", "shops"} {
		text := `{"schema_version": "0.5", "project": {"name": "` + project + `"}, "findings": []}`
		if err := os.WriteFile(kept, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, of := verified(t, dir, nil, with...)
		inputs = append(inputs, of.Inputs)
	}
	if inputs[0] == inputs[1] {
		t.Error("another baseline has the same inputs")
	}
}

// The plan names every file that was read, each in its place.
func TestThePlanNamesWhatWasRead(t *testing.T) {
	t.Parallel()
	dir := decided(t, []swap{{"packs/extra.yaml", "", "name: extra\nrules: []\n"}})
	files, _ := verified(t, dir, nil, "--today", "2026-11-30", "--policy-pack", "packs/extra.yaml")
	type blob struct{ Path string }
	var plan struct {
		Inputs struct {
			Config  blob
			Sources []blob `json:"tool_sources"`
			Packs   []blob `json:"policy_packs"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal(files["verification-plan.json"], &plan); err != nil {
		t.Fatal(err)
	}
	in := plan.Inputs
	if in.Config.Path != "shipgate.yaml" || !slices.Equal(in.Sources, []blob{{"evidence/approvals.json"}, {"tools.json"}}) ||
		!slices.Equal(in.Packs, []blob{{"packs/extra.yaml"}, {"packs/house.yaml"}}) {
		t.Errorf("%+v", in)
	}
}
