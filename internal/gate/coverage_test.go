package gate_test

import (
	"slices"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/surface"
)

func TestCoverageSpeaksOfWhatTheChangeTouches(t *testing.T) {
	cases := []struct {
		name     string
		change   change
		coverage gate.Coverage
		want     map[surface.AdapterID]gate.Status // others are not applicable
		hosts    []string
	}{
		{"nothing touched", change{files: files{"src/a.go": added("package a\n")}}, gate.CoverageComplete, nil, []string{}},
		{
			"one host",
			change{files: files{settings: added(makeLint)}},
			gate.CoverageComplete,
			map[surface.AdapterID]gate.Status{surface.ClaudeCode: gate.StatusComplete},
			[]string{"claude-code"},
		},
		{
			"a shared file is every host's",
			change{files: files{"AGENTS.md": added("a\n")}},
			gate.CoverageComplete,
			map[surface.AdapterID]gate.Status{surface.Shared: gate.StatusComplete},
			[]string{"claude-code", "codex", "cursor"},
		},
		{
			"an experimental adapter",
			change{files: files{".vscode/mcp.json": added("{}")}},
			gate.CoverageComplete,
			map[surface.AdapterID]gate.Status{surface.VSCodeMCP: gate.StatusExperimental},
			[]string{"vscode"},
		},
		{
			"a parse failure makes its own adapter partial",
			change{files: files{settings: added("{"), codexConfig: added("model = \"m\"\n")}},
			gate.CoveragePartial,
			map[surface.AdapterID]gate.Status{surface.ClaudeCode: gate.StatusPartial, surface.Codex: gate.StatusComplete},
			[]string{"claude-code", "codex"},
		},
		{
			"an unknown key was read",
			change{files: files{settings: added(`{"futureGrant":true}`)}},
			gate.CoverageComplete,
			map[surface.AdapterID]gate.Status{surface.ClaudeCode: gate.StatusComplete},
			[]string{"claude-code"},
		},
		{
			"a workflow that is no mapping was not",
			change{files: files{".github/workflows/x.yml": added("- a\n")}},
			gate.CoveragePartial,
			map[surface.AdapterID]gate.Status{surface.Shared: gate.StatusPartial},
			[]string{"claude-code", "codex", "cursor"},
		},
		{
			"an issue makes every touched adapter partial",
			change{files: files{"sub/.mcp.json": added("{"), codexConfig: added("model = \"m\"\n")}},
			gate.CoveragePartial,
			map[surface.AdapterID]gate.Status{surface.ClaudeCode: gate.StatusPartial, surface.Codex: gate.StatusPartial},
			[]string{"claude-code", "codex"},
		},
		{
			"an issue with nothing touched", change{policies: map[string]string{unified: "x\n"}}, gate.CoveragePartial, nil, []string{},
		},
		{
			"a link point is in the way of every adapter below it",
			change{more: func(in *gate.Input) {
				in.ChangedFiles, in.LinkPoints = []string{".codex"}, []string{".codex"}
				issue("boundary_input_symlink_or_external", ".codex")(in)
			}},
			gate.CoveragePartial,
			map[surface.AdapterID]gate.Status{surface.Codex: gate.StatusPartial},
			[]string{"codex"},
		},
		{
			"a manifest under another name is shared",
			change{files: files{"gate.yml": edited(manifestText, manifestText+"x: 1\n")}, manifest: "gate.yml", adopted: true},
			gate.CoverageComplete,
			map[surface.AdapterID]gate.Status{surface.Shared: gate.StatusComplete},
			[]string{"claude-code", "codex", "cursor"},
		},
		{
			"so is the explicit policy",
			change{files: files{"p.yml": edited("rules: []\n", "rules: []\nid: x\n")}, explicit: "p.yml"},
			gate.CoverageComplete,
			map[surface.AdapterID]gate.Status{surface.Shared: gate.StatusComplete},
			[]string{"claude-code", "codex", "cursor"},
		},
		{
			"a path that is only reached through a link",
			change{files: files{"conf/mcp.json": added("{}")}, more: linked(".mcp.json", "conf/mcp.json", "conf/mcp.json", edited(`{"a":1}`, "{}"))},
			gate.CoverageComplete,
			map[surface.AdapterID]gate.Status{surface.ClaudeCode: gate.StatusComplete},
			[]string{"claude-code"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, c.change)
			if r.InputCoverage != c.coverage || !slices.Equal(r.AffectedHosts, c.hosts) {
				t.Errorf("coverage %s, hosts %v", r.InputCoverage, r.AffectedHosts)
			}
			for _, h := range r.HostCoverage {
				want := gate.StatusNotApplicable
				if s, ok := c.want[h.Adapter]; ok {
					want = s
				}
				if h.Status != want || (len(h.Paths) == 0) != (want == gate.StatusNotApplicable) {
					t.Errorf("%s is %s with paths %v, want %s", h.Adapter, h.Status, h.Paths, want)
				}
				if h.Status == gate.StatusPartial && !slices.Equal(h.Issues, r.Issues) || h.Status != gate.StatusPartial && len(h.Issues) > 0 {
					t.Errorf("%s has issues %v", h.Adapter, h.Issues)
				}
			}
		})
	}
}

func TestPathsUsedByThisRunAreListedAsShared(t *testing.T) {
	r := check(t, change{files: files{"p.yml": edited("rules: []\n", "rules: []\nid: x\n")}, explicit: "p.yml"})
	if got := status(t, r, surface.Shared).Paths; !slices.Equal(got, []string{"p.yml"}) {
		t.Errorf("paths %v", got)
	}
}
