package rule_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// A person is led to the line that grants. What is gone has no line.
func TestAFindingPointsAtTheLineThatGrants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, before, after string
		want                []string // "<RULE-ID> <line>"
	}{
		{
			".claude/settings.json",
			`{"permissions":{"deny":["Read(.env)"]},"hooks":{"Start":[]}}`,
			"{\n\"permissions\": {\n\"allow\": [\n\"Bash(ls)\",\n\"Bash\"],\n\"defaultMode\": \"plan\"},\n\"hooks\": {\n\"Stop\": []},\n\"future\": 1}",
			[]string{
				"HOST-CONFIG-PARSE-FAILED 9", "HOST-HOOK-CHANGED 8", "HOST-PERMISSION-ALLOW-EXPANDED 4",
				"HOST-PERMISSION-ALLOW-EXPANDED 6", "HOST-PERMISSION-DENY-REMOVED 0", "HOST-PERMISSION-WILDCARD-ALLOW 5",
			},
		},
		{
			".claude/settings.json", `{"hooks":{}}`, "{\n\"hooks\": {\n\"Stop\": []}}", []string{"HOST-HOOK-CHANGED 3"},
		},
		{
			".claude/settings.json", `{"hooks":{"Stop":[]}}`, "{\n\"hooks\": {}}", []string{"HOST-HOOK-CHANGED 2"},
		},
		{
			".mcp.json", `{"mcpServers":{"a":{}}}`, "{\n\"mcpServers\": {\n\"a\": {\"url\": \"x\"},\n\"b\": {}}}",
			[]string{"HOST-MCP-SERVER-ADDED 4", "HOST-MCP-SERVER-CHANGED 3"},
		},
		{
			".github/workflows/ci.yml", "on: push",
			"on:\n  push:\n  pull_request_target:\npermissions:\n  contents: write\njobs:\n  a:\n    permissions: write-all\n",
			[]string{
				"HOST-WORKFLOW-PERMISSIONS-EXPANDED 5", "HOST-WORKFLOW-PULL-REQUEST-TARGET-ADDED 3", "HOST-WORKFLOW-WRITE-ALL 8",
			},
		},
		{".mcp.json", `{}`, "{\n", []string{"HOST-CONFIG-PARSE-FAILED 2"}},
	} {
		var got []string
		for _, f := range judge(c.path, c.before, c.after) {
			got = append(got, fmt.Sprintf("%s %d", f.Rule.ID, f.Line))
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
	}
}

// Only the wording differs where a change is proven to bring the gate in; the
// rule, and so the route, is the same.
func TestTheAdoptionIsSaidInItsOwnWords(t *testing.T) {
	t.Parallel()
	p := rule.Pass{Adoption: true}
	for _, path := range []string{"shipgate.yaml", "AGENTS.md"} {
		p.Surfaces = append(p.Surfaces, surface.Read(&surface.Change{
			Path: path, Listed: true, New: surface.Side{Present: true, Bytes: []byte("version: 1\n")},
		}))
	}
	words := map[string][2]string{}
	for _, f := range p.Run(rule.Catalogue()) {
		if f.Rule != &rule.BoundaryProtectedSurfaceUnclassified || len(f.Title) > 60 {
			t.Errorf("finding of %s with title %q", f.Rule.ID, f.Title)
		}
		words[f.Path] = [2]string{f.Title, f.Recommendation}
	}
	want := map[string][2]string{
		"AGENTS.md":     {},
		"shipgate.yaml": {"This change introduces the gate's manifest", "Let a person merge the adoption."},
	}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Errorf("titles and recommendations (-want +got):\n%s", diff)
	}
}

// Index and disk are two changes of one path; a path that nobody understands is
// still one thing to look at.
func TestAPathWithTwoAfterStatesHasOneCatchAllRow(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"CLAUDE.md", ".vscode/mcp.json", ".codex/requirements.toml"} {
		var p rule.Pass
		for _, after := range []string{"{ }", "{  }"} {
			p.Surfaces = append(p.Surfaces, surface.Read(&surface.Change{
				Path: path, Listed: true,
				Old: surface.Side{Present: true, Bytes: []byte("{}")}, New: surface.Side{Present: true, Bytes: []byte(after)},
			}))
		}
		if findings := p.Run(rule.Catalogue()); len(findings) != 1 {
			t.Errorf("%s: %v", path, lines(findings))
		}
	}
}

// The catch-all trusts no other rule to have spoken: a text that is not known
// was not evaluated, on either side.
func TestAnUnreadCodexConfigurationIsNotEvaluated(t *testing.T) {
	t.Parallel()
	read, unread := surface.Side{Present: true}, surface.Side{Present: true, Unresolved: "workspace_file_missing"}
	for _, c := range []struct {
		before, after surface.Side
		rows          int
	}{{read, read, 0}, {unread, read, 1}, {read, unread, 1}} {
		p := rule.Pass{Surfaces: []*surface.Surface{surface.Read(&surface.Change{
			Path: ".codex/config.toml", Listed: true, Old: c.before, New: c.after,
		})}}
		if got := p.Run([]*rule.Rule{&rule.BoundaryProtectedSurfaceUnclassified}); len(got) != c.rows {
			t.Errorf("from %+v to %+v: %d rows, want %d", c.before, c.after, len(got), c.rows)
		}
	}
}

func TestTheSummaryIsLeftOutOnlyBesideARowThatNamesWhatIsUnread(t *testing.T) {
	t.Parallel()
	for kind, named := range map[string]bool{
		"boundary_input_unresolved": true, "boundary_policy_conflict": true, "codex_boundary_policy_invalid": true,
		"host_config_content_unresolved": true, "codex_config_content_unresolved": true,
		"json_parse_failed": true, "toml_parse_failed": true, "unknown_host_config_key": true,
		"old_json_parse_failed": false, "workflow_yaml_parse_failed": false, "workflow_not_a_mapping": false,
		"hooks_json_parse_failed": false, "protected_surface_unclassified": false,
	} {
		other := rule.Rule{ID: "OTHER", Check: func(p *rule.Pass) { p.Report("a", 0, kind) }}
		p := rule.Pass{Codes: []string{"content_source"}}
		findings := p.Run([]*rule.Rule{&other, &rule.BoundaryInputIncomplete})
		if got := len(findings) == 1; got != named {
			t.Errorf("beside %s: %v", kind, lines(findings))
		}
	}
	if p := (rule.Pass{}); len(p.Run([]*rule.Rule{&rule.BoundaryInputIncomplete})) > 0 {
		t.Error("a summary of nothing")
	}
}
