//go:build unix

package shipgate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/rule"
)

// oneForEachRule is a change for each rule whose fixtures tell one by texts
// alone.
func oneForEachRule(t *testing.T) map[string]fixture {
	t.Helper()
	out := map[string]fixture{}
	for _, r := range rule.Catalogue() {
		names, err := filepath.Glob(filepath.Join(fixtureDir, r.ID, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if fixtureFacts[fixtureName(name)] != nil {
				continue
			}
			if f := readFixture(t, name); f.Mode == "worktree" && f.Args == nil && len(f.want) > 0 {
				out[fixtureName(name)] = f
				break
			}
		}
	}
	if len(out) < len(rule.Catalogue())-1 { // only unread input needs more than texts
		t.Fatalf("only %d changes for %d rules", len(out), len(rule.Catalogue()))
	}
	return out
}

// The same change is the same rows, left on disk, staged, committed or sent as
// a diff: the state differs only by what a bare diff may not do
// (docs/spec/boundary.md §7.3, rows 4 and 5).
func TestTheSameChangeIsTheSameRowsInEveryMode(t *testing.T) {
	for name, f := range oneForEachRule(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := sameForAgents(t, f.boundaryCase)
			if len(want.Violations) == 0 {
				t.Fatal("no rows")
			}
			modes := []string{"staged", "committed", "diff"}
			if strings.HasPrefix(name, "CODEX-POLICY-WEAKENED/") {
				modes[2] = "diff of what is there" // on disk the old policy would be the one in use
			}
			for _, mode := range modes {
				c := f.boundaryCase
				if c.Mode = mode; mode == "diff of what is there" {
					c.Mode, c.Diff.Checkout = "diff", "head"
				}
				got := c.run(t)
				if d := cmp.Diff(withoutSource(want.Violations), withoutSource(got.Violations)); d != "" {
					t.Errorf("%s, rows (-worktree +%s):\n%s", mode, mode, d)
				}
				if d := cmp.Diff(want.HostCoverage, got.HostCoverage); d != "" {
					t.Errorf("%s, coverage (-worktree +%s):\n%s", mode, mode, d)
				}
				if !slices.Equal(want.ChangedFiles, got.ChangedFiles) || want.Decision != got.Decision {
					t.Errorf("%s: %s over %v, worktree: %s over %v", mode, got.Decision, got.ChangedFiles, want.Decision, want.ChangedFiles)
				}
				state := want.Control.State
				if c.Mode == "diff" && state != "complete" {
					state = "human_review_required"
				}
				if got.Control.State != state {
					t.Errorf("%s: %s, worktree: %s", mode, got.Control.State, want.Control.State)
				}
			}
		})
	}
}

// withoutSource drops what one rule's evidence says of where a text was read.
func withoutSource(rows []resultRow) []resultRow {
	source := regexp.MustCompile(`"source":"(git|diff|workspace)_[a-z_]+"`)
	out := slices.Clone(rows)
	for i := range out {
		out[i].Evidence = evidence(source.ReplaceAllString(string(out[i].Evidence), `"source":""`))
	}
	return out
}

// --agent says who calls and moves nothing else (docs/spec/boundary.md §13.1).
func TestAgentsDifferInTheirNameAlone(t *testing.T) {
	missing := given("committed", files{}, files{"docs/a.md": "a\n"})
	missing.Args = []string{"--base", "nowhere", "--head", "HEAD"}
	for name, c := range map[string]boundaryCase{
		"a missing ref":   missing,
		"a clean change":  given("worktree", files{}, files{"docs/a.md": "a\n"}),
		"a bare diff":     given("diff", files{}, files{settingsPath: "{\"sandbox\":{}}\n"}),
		"a range":         given("committed", files{"shipgate.yaml": manifest}, files{"docs/a.md": "a\n"}),
		"no manifest yet": given("staged", files{}, files{capabilityPath: capability}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameForAgents(t, c)
		})
	}
}

// sameForAgents checks a change for the three callers and holds the answers
// against each other, member by member.
func sameForAgents(t *testing.T, c boundaryCase) *boundaryResult {
	t.Helper()
	s, err := buildCase(t, &c)
	if err != nil {
		t.Fatalf("the case itself is broken: %v", err)
	}
	document := func(r *boundaryResult) (d any) {
		if err := json.Unmarshal(r.text, &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	codex := s.check(t, "codex")
	for _, agent := range []string{"claude-code", "cursor"} {
		want := []string{"actor", "agent", "audit_id", "subject.agent"}
		got := differences("", document(codex), document(s.check(t, agent)))
		got = slices.DeleteFunc(got, checkCommand.MatchString)
		if !slices.Equal(got, want) {
			t.Errorf("%s differs in %v, want %v", agent, got, want)
		}
	}
	return codex
}

// checkCommand is where the trigger names the check that its caller runs.
var checkCommand = regexp.MustCompile(`^trigger\.(matched_rules\.\d+|next_action)\.command$`)

// differences are the places where two documents are not the same, sorted.
func differences(at string, a, b any) []string {
	join := func(member string) string {
		if at == "" {
			return member
		}
		return at + "." + member
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return []string{at}
		}
		members := maps.Clone(a)
		maps.Copy(members, b)
		var out []string
		for _, member := range slices.Sorted(maps.Keys(members)) {
			out = append(out, differences(join(member), a[member], b[member])...)
		}
		return out
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return []string{at}
		}
		var out []string
		for i := range a {
			out = append(out, differences(join(fmt.Sprint(i)), a[i], b[i])...)
		}
		return out
	}
	if a != b {
		return []string{at}
	}
	return nil
}
