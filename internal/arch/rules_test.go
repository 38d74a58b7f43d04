package arch_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/verify/check"
)

// ruleID matches the ids of rules and checks, whole; ids of the trigger
// catalogue, which begin otherwise, hold some of the same words.
var ruleID = regexp.MustCompile(`(?m)(?:^|[^-A-Z])((?:SHIP-)?(?:(?:AGENT|CODEX|HOST)-)?(?:BOUNDARY|CODEX|HOST)-[A-Z]+(?:-[A-Z]+)+)\b`)

// There is one list of rules. An id that stands anywhere else, in code, in a
// page or in an example, is one of that list.
func TestEveryRuleIDIsInTheCatalogue(t *testing.T) {
	known := map[string]bool{}
	for _, r := range rule.Catalogue() {
		known[r.ID], known[r.CheckID] = true, true
	}
	others := map[string]bool{} // checks of verification; they are named by the same words
	for _, id := range check.IDs() {
		others[id] = !known[id]
	}
	seen := map[string]bool{}
	walk(t, func(file string, text []byte) {
		if strings.HasPrefix(file, "docs/spec/") || strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, m := range ruleID.FindAllSubmatch(text, -1) {
			id := string(m[1])
			seen[id] = true
			if !known[id] && !others[id] {
				t.Errorf("%s speaks of %s, and no rule or check has that id", file, id)
			}
		}
	})
	for id := range known {
		if !seen[id] {
			t.Errorf("%s is in the catalogue and stands nowhere in the tree: is the pattern of this test too narrow?", id)
		}
	}
}

func TestEveryRulePageBelongsToARule(t *testing.T) {
	pages := map[string]bool{}
	walk(t, func(file string, _ []byte) {
		if strings.HasPrefix(file, "docs/rules/") {
			pages[strings.TrimSuffix(path.Base(file), ".md")] = true
		}
	})
	for _, r := range rule.Catalogue() {
		if !pages[r.ID] {
			t.Errorf("%s has no page in docs/rules", r.ID)
		}
		delete(pages, r.ID)
	}
	for _, c := range check.Catalogue() {
		delete(pages, c.Page())
	}
	for page := range pages {
		t.Errorf("docs/rules/%s.md belongs to no rule and no check", page)
	}
}
