//go:build unix

package shipgate_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll.dev/internal/gate/rule"
)

const fixtureDir = "../../gate/rule/testdata"

// TestEveryRuleSpeaksThroughTheCommand makes a repository of each rule fixture:
// the old side is committed, the new side lies on disk. The check must print
// the rows that the fixture wants of the rules it names, and no others of them;
// over all of them every evidence kind of every rule is seen.
func TestEveryRuleSpeaksThroughTheCommand(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtureDir, "*", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 240 {
		t.Fatalf("only %d fixtures in %s", len(files), fixtureDir)
	}
	var mu sync.Mutex
	seen, ran := map[string]bool{}, 0
	t.Run("fixtures", func(t *testing.T) {
		for _, file := range files {
			name := fixtureName(file)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := readFixture(t, file)
				r := f.run(t)
				var got []string
				mu.Lock()
				ran++
				for _, row := range r.Violations {
					seen[row.ID+" "+row.Evidence.kind()] = true
					if f.named[row.ID] {
						got = append(got, row.String())
					}
				}
				mu.Unlock()
				slices.Sort(got)
				if d := cmp.Diff(f.want, got); d != "" {
					t.Errorf("rows (-want +got):\n%s\nall: %v", d, r.Violations)
				}
			})
		}
	})
	if ran < len(files) {
		return // only some were asked for, or some have failed already
	}
	want := map[string]bool{}
	for _, r := range rule.Catalogue() {
		for _, kind := range r.Kinds {
			want[r.ID+" "+kind] = true
		}
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(seen))); d != "" {
		t.Errorf("evidence kinds (-in the catalogue +printed):\n%s", d)
	}
}

// fixtureName is the rule and the name of a fixture.
func fixtureName(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), fixtureDir+"/"), ".txtar")
}

// fixture is a change and the rows that the named rules have for it, sorted.
type fixture struct {
	boundaryCase
	named map[string]bool
	want  []string
}

// wants adds a row: a rule, a path and the evidence as JSON.
func (f *fixture) wants(id, path, object string) error {
	var e evidence
	if err := e.UnmarshalJSON([]byte(object)); err != nil {
		return fmt.Errorf("evidence of %s: %w", id, err)
	}
	if path == "-" {
		path = ""
	}
	f.named[id] = true
	f.want = append(f.want, resultRow{ID: id, Path: path, Evidence: e}.String())
	slices.Sort(f.want)
	f.want = slices.Compact(f.want)
	return nil
}

// readFixture turns a fixture of internal/gate/rule into a repository; the form
// is told in fixture_test.go there. What a flag says there must be so here: by
// an argument, or by what fixtureFacts adds.
func readFixture(t *testing.T, name string) fixture {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sides := map[string]files{"old": {}, "new": {}, "index": {}}
	for _, file := range archive.Files {
		side, path, _ := strings.Cut(file.Name, "/")
		if sides[side] == nil {
			t.Fatalf("%s: file %q", name, file.Name)
		}
		sides[side][path] = string(file.Data)
	}
	f := fixture{boundaryCase: given("worktree", sides["old"], sides["new"]), named: map[string]bool{}}
	f.Changes = "any"
	kept := map[string]bool{} // paths that stay although new/ lacks them
	missing := false
	for line := range strings.SplitSeq(string(archive.Comment), "\n") {
		word, rest, _ := strings.Cut(line, ":")
		fields := append(strings.Fields(rest), "", "", "", "")
		switch word {
		case "silent":
			for _, id := range strings.Fields(rest) {
				f.named[id] = true
			}
		case "want":
			_, object, _ := strings.Cut(strings.TrimSpace(rest), fields[1]+" ")
			if err := f.wants(fields[0], fields[1], object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		case "flag":
			missing = missing || !f.flag(fields, kept)
		}
	}
	for path := range sides["old"] {
		_, edited := sides["new"][path]
		_, staged := sides["index"][path]
		switch {
		case edited || kept[path]:
		case staged:
			f.WorktreeDelete = append(f.WorktreeDelete, path)
		default:
			f.Delete = append(f.Delete, path)
		}
	}
	if len(sides["index"]) > 0 {
		// What is staged comes first, what the disk shows instead lies over it.
		f.Mode, f.Text["worktree"] = "staged", files{}
		for path, text := range sides["index"] {
			if disk, ok := f.Text["head"][path]; ok {
				f.Text["worktree"][path] = disk
			}
			f.Text["head"][path] = text
		}
	}
	if fact := fixtureFacts[fixtureName(name)]; fact != nil {
		fact(&f)
	} else if missing {
		t.Fatalf("%s has a flag that nothing in its repository makes true", name)
	}
	return f
}

// flag makes one fact true by the arguments or in the index, if it can.
func (f *fixture) flag(fields []string, kept map[string]bool) bool {
	path := fields[1]
	switch fields[0] {
	case "deleted", "adoption": // the files say so
	case "manifest":
		f.Args = append(f.Args, "--config", path)
	case "policy":
		f.Args = append(f.Args, "--policy", path)
	case "mode-only":
		// An unstaged chmod is no change (docs/spec/boundary.md §2.2).
		f.Mode, kept[path] = "staged", true
		f.Modes = map[string]map[string]string{"head": {path: "755"}}
	default:
		return false
	}
	return true
}

// files maps a path to its text.
type files = map[string]string

// given is a case from the texts before and after.
func given(mode string, base, head files) boundaryCase {
	return boundaryCase{
		Mode: mode, Agents: []string{"codex"}, History: "linear", Changes: "some",
		Text: map[string]map[string]string{"base": maps.Clone(base), "head": maps.Clone(head)},
		dir:  "testdata/nothing is stored",
	}
}

// run builds the case and checks it, twice. The test fails where the check
// breaks a promise that holds for every result.
func (c boundaryCase) run(t *testing.T) *boundaryResult {
	t.Helper()
	s, err := buildCase(t, &c)
	if err != nil {
		t.Fatalf("the case itself is broken: %v", err)
	}
	return s.check(t, c.Agents[0])
}

// check checks the repository as it stands.
func (s *scene) check(t *testing.T, agent string) *boundaryResult {
	t.Helper()
	before, err := digest(s.top)
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := s.ask(agent)
	if code != 0 || len(stderr) > 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	r, problems := readResult(stdout, agent, s.c.Mode)
	if s.c.Repeat {
		if _, again, _ := s.ask(agent); !bytes.Equal(again, stdout) {
			problems = append(problems, "a second run printed something else")
		}
	}
	for _, p := range append(problems, s.untouched(before)...) {
		t.Error(p)
	}
	if r == nil {
		t.FailNow()
	}
	return r
}
