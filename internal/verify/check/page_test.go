package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/tool"
)

// The pages of the checks are printed from the catalogue; those of the boundary
// are written by hand and held by other tests.
func TestPagesAreWhatTheCatalogueSays(t *testing.T) {
	for _, c := range check.Catalogue() {
		if c.RuleID != "" {
			continue
		}
		file := filepath.Join("../../../docs/rules", c.Page()+".md")
		if os.Getenv("PLIMSOLL_GOLDEN") == "1" {
			if err := os.WriteFile(file, c.Markdown(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s has no page: make golden writes it", c.ID)
			continue
		}
		if d := cmp.Diff(string(c.Markdown()), string(have)); d != "" {
			t.Errorf("%s (-want +have):\n%s", file, d)
		}
	}
}

func TestExplanations(t *testing.T) {
	e := evaluate(t, paying(plain()), check.Options{})
	f := of(e, "SHIP-POLICY-APPROVAL-MISSING")
	want := []string{
		"SHIP-POLICY-APPROVAL-MISSING: Looks at tools that move money, destroy, change infrastructure or run code, and at who must agree before they run.",
		`It fired on the tool "reorder", at tools.json#/tools/0.`,
		`Evidence: policy_match is null; risk_tags is "financial_action", "write".`,
		"It blocks the release while it is there.",
		"A coding agent may not close it: it asks a person and stops.",
	}
	if d := cmp.Diff(want, check.Explain(f, check.ByID(f.CheckID), check.Contribution{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	counted := check.Explain(f, check.ByID(f.CheckID), check.Contribution{Category: "review_item", Rule: "severity_baseline_accepted"})
	if counted[3] != "It asks for a person's review before the release (severity_baseline_accepted)." {
		t.Errorf("%q", counted[3])
	}

	f.Suppressed, f.AgentAction = true, check.Informational
	quiet := check.Explain(f, check.ByID(f.CheckID), check.Contribution{})
	if quiet[3] != "It is suppressed, so it does not count in the release decision." || quiet[4] != "Nothing is asked of a coding agent." {
		t.Errorf("%q", quiet[3:])
	}

	team := &check.Finding{CheckID: "TEAM-1", Title: "no owner", Severity: check.Low, AgentAction: check.Propose}
	if d := cmp.Diff([]string{
		`TEAM-1 is no check of the catalogue: a rule of the team's own says "no owner".`, "It fired on the whole.",
		"By itself it neither blocks nor asks for review.", "A coding agent may propose the patch that comes with it; a person decides.",
	}, check.Explain(team, nil, check.Contribution{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Lists and texts without end are cut, and the text says so.
func TestExplanationsAreShort(t *testing.T) {
	s := one(plain(checktest.Granted("x:*", "a:*", "b:*", "c:*", "d:*", "e:*", "f:"+strings.Repeat("é", 500)+":*")), checktest.Hint("write", tool.High))
	f := of(evaluate(t, s, check.Options{}), "SHIP-AUTH-MANIFEST-BROAD-SCOPE")
	text := strings.Join(check.Explain(f, check.ByID(f.CheckID), check.Contribution{}), " ")
	if !strings.Contains(text, "and 2 more") || len(text) > 1000 || strings.ContainsRune(text, '\ufffd') {
		t.Errorf("%q", text)
	}
}
