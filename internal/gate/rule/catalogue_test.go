package rule_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/rule"
)

const (
	authoredRules = "../../../testdata/boundary/authored/rules.json"
	ruleDocs      = "../../../docs/rules"
)

// snake is the name of the file that holds a rule.
func snake(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "_")) + ".go" }

func TestEveryRuleFileIsListedAndEveryListedRuleHasItsFile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	var want []string
	for _, r := range rule.Catalogue() {
		want = append(want, snake(r.ID))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("rule files (-catalogue +folder):\n%s", diff)
	}
}

func TestTheCatalogueIsTheAgreedCopy(t *testing.T) {
	t.Parallel()
	type copied struct {
		Family         rule.Family `json:"family"`
		ID             string      `json:"id"`
		CheckID        string      `json:"check_id"`
		Action         rule.Action `json:"action"`
		Risk           rule.Risk   `json:"risk_level"`
		Title          string      `json:"title"`
		Recommendation string      `json:"recommendation"`
	}
	text, err := os.ReadFile(authoredRules)
	if err != nil {
		t.Fatal(err)
	}
	var authored struct{ Rules []copied }
	if err := json.Unmarshal(text, &authored); err != nil {
		t.Fatal(err)
	}
	var got []copied
	for _, r := range rule.Catalogue() {
		got = append(got, copied{r.Family, r.ID, r.CheckID, r.Action, r.Risk, r.Title, r.Recommendation})
	}
	// The copy is numbered as in the specification; the generic rules run in
	// another order.
	byID := func(a, b copied) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(got, byID)
	slices.SortFunc(authored.Rules, byID)
	if diff := cmp.Diff(authored.Rules, got); diff != "" {
		t.Errorf("catalogue (-authored +got):\n%s", diff)
	}
}

// The vectors of docs/spec/boundary.md §9.3 for the shipped rules: a changed
// word in a title changes the policy digest of every user.
func TestThePolicyDigestsOfTheShippedRules(t *testing.T) {
	t.Parallel()
	record := func(family rule.Family, id string) canonical.Object {
		var rules []canonical.Object
		for _, r := range rule.Catalogue() {
			if r.Family == family {
				rules = append(rules, canonical.Object{
					{Key: "id", Value: r.ID},
					{Key: "check_id", Value: r.CheckID},
					{Key: "title", Value: r.Title},
					{Key: "action", Value: string(r.Action)},
					{Key: "risk_level", Value: string(r.Risk)},
					{Key: "recommendation", Value: r.Recommendation},
				})
			}
		}
		slices.SortFunc(rules, func(a, b canonical.Object) int {
			return strings.Compare(a.Get("id").(string), b.Get("id").(string))
		})
		return canonical.Object{{Key: "id", Value: id}, {Key: "version", Value: "1"}, {Key: "rules", Value: rules}}
	}
	codex := record(rule.CodexFamily, "codex-boundary")
	host := record(rule.HostFamily, "host-boundary")
	for _, v := range []struct{ name, got, want string }{
		{"codex record", canonical.Spaced.SHA256(codex), "ec73c5c66f348262cb033eefd725c133afbedee13e09fe1da3639730efb774ef"},
		{"host record", canonical.Spaced.SHA256(host), "acd3874119b4bf7c561c005235f9249fb5ee3dada8bf0ac0f281043b1d902ef5"},
		{"set", canonical.Compact.SHA256([]canonical.Object{codex, host}), "8c1b58ecd96ec9b43c73dceb60c3a8a56cb679698253d90ca9278f3a8a2e221e"},
	} {
		if v.got != v.want {
			t.Errorf("digest of the %s is %s, want %s", v.name, v.got, v.want)
		}
	}
}

func TestGenericRulesRunLastAndTheSummaryAfterAllOthers(t *testing.T) {
	t.Parallel()
	var generic []string
	for _, r := range rule.Catalogue() {
		switch {
		case r.Family == rule.GenericFamily:
			generic = append(generic, r.ID)
		case len(generic) > 0:
			t.Errorf("%s runs after %s, which must see its findings", r.ID, generic[len(generic)-1])
		}
	}
	want := []string{
		"BOUNDARY-EXPERIMENTAL-SURFACE-CHANGED", "BOUNDARY-STATIC-REQUIREMENTS-CHANGED",
		"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED", "BOUNDARY-INPUT-INCOMPLETE",
	}
	if diff := cmp.Diff(want, generic); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestARuleIsFoundByItsIDAndByItsCheckID(t *testing.T) {
	t.Parallel()
	for _, r := range rule.Catalogue() {
		for _, id := range []string{r.ID, r.CheckID} {
			if got, ok := rule.ByID(id); !ok || got != r {
				t.Errorf("ByID(%q) = %v, %v", id, got, ok)
			}
		}
	}
	for _, id := range []string{"", "host-hook-changed", "HOST-HOOK"} {
		if got, ok := rule.ByID(id); ok {
			t.Errorf("ByID(%q) found %s", id, got.ID)
		}
	}
}

func TestEveryRuleIsWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rule.Catalogue() {
		if seen[r.ID] || seen[r.CheckID] {
			t.Errorf("%s: id or check id is used twice", r.ID)
		}
		seen[r.ID], seen[r.CheckID] = true, true
		if len(r.Title) > 60 || strings.HasSuffix(r.Title, ".") || r.Title == "" {
			t.Errorf("%s: title %q is longer than 60 bytes, empty or ends in a full stop", r.ID, r.Title)
		}
		if !strings.HasSuffix(r.Recommendation, ".") {
			t.Errorf("%s: recommendation %q is no sentence", r.ID, r.Recommendation)
		}
		if !r.Action.Valid() || !r.Risk.Valid() || r.Check == nil || len(r.Kinds) == 0 {
			t.Errorf("%s: action, risk, check or kinds are missing", r.ID)
		}
		if r.AgentSafe {
			t.Errorf("%s: no shipped rule is left to an agent", r.ID)
		}
	}
}

// Every kind of evidence has a fixture in the folder of its rule, and every
// rule a near miss. A kind that no rule declares cannot be reported.
func TestEveryKindFiresAndEveryRuleHasANearMiss(t *testing.T) {
	t.Parallel()
	for _, r := range rule.Catalogue() {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			fired, silent := map[string]bool{}, false
			for _, name := range fixtureFiles(t, r.ID) {
				spoke := false
				for _, f := range readFixture(t, name).run() {
					if f.Rule == r {
						fired[f.Kind()], spoke = true, true
					}
				}
				silent = silent || !spoke
			}
			for _, kind := range r.Kinds {
				if !fired[kind] {
					t.Errorf("no fixture fires %s", kind)
				}
				delete(fired, kind)
			}
			for kind := range fired {
				t.Errorf("%s is reported and not declared", kind)
			}
			if !silent {
				t.Errorf("no fixture is a near miss")
			}
		})
	}
}

// A page is for a person who met the rule for the first time. Its examples are
// the change of a fixture, word for word, so that no page can be wrong about
// what fires.
func TestEveryRuleHasAPageWhoseExamplesAreFixtures(t *testing.T) {
	t.Parallel()
	for _, r := range rule.Catalogue() {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(ruleDocs, r.ID+".md"))
			if err != nil {
				t.Fatal(err)
			}
			page := string(text)
			for _, must := range append([]string{"# " + r.ID + "\n", r.CheckID, r.Title, r.Recommendation}, r.Kinds...) {
				if !strings.Contains(page, must) {
					t.Errorf("the page does not say %q", must)
				}
			}
			var fires, silent int
			for _, example := range examples(page) {
				switch spoke, ok := exampleFires(t, r, example); {
				case !ok:
					t.Errorf("no fixture of the rule has this example:\n%s", example)
				case spoke:
					fires++
				default:
					silent++
				}
			}
			if fires == 0 || silent == 0 {
				t.Errorf("the page has %d examples that fire and %d that do not", fires, silent)
			}
		})
	}
	pages, err := filepath.Glob(filepath.Join(ruleDocs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		id := strings.TrimSuffix(filepath.Base(page), ".md")
		if strings.HasPrefix(id, "SHIP-") {
			continue // of a check of verification
		}
		if r, ok := rule.ByID(id); id != "README" && (!ok || r.ID != id) {
			t.Errorf("%s is the page of no rule", page)
		}
	}
}

// examples are the fenced blocks of a page that are marked as txtar.
func examples(page string) []string {
	var out []string
	for _, block := range strings.Split(page, "\n```txtar\n")[1:] {
		body, _, _ := strings.Cut(block, "\n```")
		out = append(out, body+"\n")
	}
	return out
}

func exampleFires(t *testing.T, r *rule.Rule, example string) (fires, found bool) {
	t.Helper()
	for _, name := range fixtureFiles(t, r.ID) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		archive.Comment = nil
		if string(txtar.Format(archive)) == example {
			return slices.ContainsFunc(readFixture(t, name).run(), func(f rule.Finding) bool { return f.Rule == r }), true
		}
	}
	return false, false
}
