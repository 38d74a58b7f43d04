package surface_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

var ignorePlaces = cmpopts.IgnoreFields(surface.PolicyRule{}, "Pos")

func TestTheRuleListOfAPolicy(t *testing.T) {
	t.Parallel()
	hook := surface.PolicyRule{ID: "HOST-HOOK-CHANGED", Action: "block", Risk: "critical"}
	for _, c := range []struct {
		name, text string
		want       []surface.PolicyRule
	}{
		{
			"a mapping with rules", "id: acme\nrules:\n  - id: HOST-HOOK-CHANGED\n    action: block\n    risk_level: critical\n",
			[]surface.PolicyRule{hook},
		},
		{"a bare list", "- {id: HOST-HOOK-CHANGED, action: block, risk_level: critical}\n", []surface.PolicyRule{hook}},
		{"one mapping with an id", "id: HOST-HOOK-CHANGED\naction: block\nrisk_level: critical\n", []surface.PolicyRule{hook}},
		{"rules that are no list", "id: acme\nrules: block\n", nil},
		{"an empty list", "id: acme\nrules: []\n", nil},
		{"entries without an id", "- action: block\n- {id: 7}\n- text\n", nil},
		{"values that are no text", "- {id: A, action: 1, risk_level: [high]}\n", []surface.PolicyRule{{ID: "A"}}},
		{"a text", "rules\n", nil},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, _ := source.ParseYAML([]byte(c.text))
			if diff := cmp.Diff(c.want, surface.PolicyRulesOf(doc), ignorePlaces); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRulesInLooseLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []surface.PolicyRule
	}{
		{
			"from the head of the file", "id: acme\nversion: \"1\"\nrules:\n  - id: A\n    action: block   # strict\n    risk_level: 'high'\n",
			[]surface.PolicyRule{{ID: "acme"}, {ID: "A", Action: "block", Risk: "high"}},
		},
		{
			"from the middle of an entry", "    risk_level: high\n  - action: warn\n    id: B\n  - id: C\n",
			[]surface.PolicyRule{{Risk: "high"}, {ID: "B", Action: "warn"}, {ID: "C"}},
		},
		{"flow mappings", "  - {id: A, action: block}\n  - {\"id\": B, \"risk_level\": low }\n", []surface.PolicyRule{{ID: "A", Action: "block"}, {ID: "B", Risk: "low"}}},
		{"values of entries whose dash is not shown", "action: block\naction: warn\n", []surface.PolicyRule{{Action: "block"}, {Action: "warn"}}},
		{"a comma in prose opens nothing", "- id: A\n  recommendation: ask first, action: allow\n", []surface.PolicyRule{{ID: "A"}}},
		{"nothing of a policy", "name: acme\n# action: block\n\n-\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := surface.PolicyRulesInLines(strings.Split(c.text, "\n"))
			if diff := cmp.Diff(c.want, got, ignorePlaces); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHunksSpeakForAPolicyThatIsNotKnown(t *testing.T) {
	t.Parallel()
	unknown := surface.Side{Present: true, Unresolved: "workspace_file_missing"}
	c := &surface.Change{
		Path: "policies/codex-boundary.shipgate.yaml", Old: unknown, New: unknown,
		Removed:      changed("    action: block"),
		Added:        changed("    action: require_review"),
		OldHunkLines: []string{"  - id: A", "    action: block", "    risk_level: critical"},
		NewHunkLines: []string{"  - id: A", "    action: require_review", "    risk_level: critical"},
	}
	check := func(want, wantNew surface.PolicyRule) {
		t.Helper()
		before, after, ok := surface.Read(c).PolicyRules()
		if !ok {
			t.Fatal("the hunks are not read")
		}
		if diff := cmp.Diff([][]surface.PolicyRule{{want}, {wantNew}}, [][]surface.PolicyRule{before, after}, ignorePlaces); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
	}
	check(surface.PolicyRule{ID: "A", Action: "block", Risk: "critical"}, surface.PolicyRule{ID: "A", Action: "require_review", Risk: "critical"})

	// Changed lines alone still show which way a value went.
	c.OldHunkLines, c.NewHunkLines = nil, nil
	check(surface.PolicyRule{Action: "block"}, surface.PolicyRule{Action: "require_review"})

	// One known side cannot be compared with a part of the other.
	c.Old = surface.Side{Present: true, Bytes: []byte("- {id: B, action: block}\n")}
	check(surface.PolicyRule{Action: "block"}, surface.PolicyRule{Action: "require_review"})
}

func TestAPolicyThatDoesNotParseIsNotCompared(t *testing.T) {
	t.Parallel()
	good := surface.Side{Present: true, Bytes: []byte("rules: []\n")}
	bad := surface.Side{Present: true, Bytes: []byte("rules: [\n")}
	for _, c := range []*surface.Change{
		{Path: "policies/a.shipgate.yaml", Old: good, New: bad},
		{Path: "policies/a.shipgate.yaml", Old: bad, New: good},
		{Path: "conf/gate", Policy: true, Old: good, New: bad},
		// An explicit policy at a path that means something else as well.
		{Path: ".github/workflows/gate.yml", Policy: true, Old: good, New: bad},
		{Path: ".claude/settings.json", Policy: true, Old: good, New: bad},
	} {
		s := surface.Read(c)
		if _, _, ok := s.PolicyRules(); ok || !s.IsPolicy() {
			t.Errorf("%s: compared %v, policy %v", c.Path, ok, s.IsPolicy())
		}
	}
	s := surface.Read(&surface.Change{
		Path: ".claude/settings.json", Policy: true, New: good,
		Old: surface.Side{Present: true, Bytes: []byte("- {id: A, action: block}\n")},
	})
	before, after, ok := s.PolicyRules()
	if !ok || len(before) != 1 || len(after) != 0 {
		t.Errorf("an explicit policy under a settings name reads as %v, %v, %v", before, after, ok)
	}
}
