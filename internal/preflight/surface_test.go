package preflight_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/preflight"
)

// kindsOf are the kinds that a result says one planned path touches, each with
// its scope, sorted.
func kindsOf(r *preflight.Result, path string) []string {
	list := []string{}
	for _, t := range r.Touches {
		if t.Path == path {
			list = append(list, t.Kind+" "+string(t.ScopeType))
		}
	}
	slices.Sort(list)
	return list
}

func TestEachSurfaceIsTouchedAndItsNeighbourIsNot(t *testing.T) {
	for path, want := range map[string]string{
		".codex/config.toml":                     "agent_instructions whole_file, codex_config whole_file",
		"svc/.codex/config.json":                 "agent_instructions whole_file, codex_config whole_file",
		".codex/hooks.json":                      "agent_instructions whole_file, codex_hooks whole_file",
		".codex/hooks/pre.sh":                    "agent_instructions whole_file, codex_hooks whole_file",
		".codex/requirements.toml":               "agent_instructions whole_file",
		"kit/.codex-plugin/plugin.json":          "codex_plugin capability_surface",
		"kit/.codex-plugin/icon.png":             "codex_plugin capability_surface",
		"shipgate.yaml":                          "manifest key_level",
		"svc/ShipGate.YAML":                      "manifest key_level",
		".agents-shipgate/baseline.json":         "shipgate_state key_level",
		"policies/agent-boundary.shipgate.yaml":  "policy whole_file",
		"svc/policies/x.txt":                     "policy whole_file",
		"svc/prompts/system.md":                  "prompts capability_surface",
		".github/workflows/agents-shipgate.yml":  "ci_gate whole_file",
		".github/workflows/agents-shipgate.yaml": "ci_gate whole_file",
		"AGENTS.md":                              "agent_instructions whole_file",
		"docs/agents.md":                         "agent_instructions whole_file",
		"CLAUDE.md":                              "agent_instructions whole_file",
		".claude/settings.json":                  "agent_instructions whole_file",
		"svc/.cursor/rules/a.mdc":                "agent_instructions whole_file",
		".agents/skills/x/SKILL.md":              "agent_instructions whole_file",
		".mcp.json":                              "tool_surface_decl capability_surface",
		".cursor/mcp.json":                       "tool_surface_decl capability_surface",
		".vscode/mcp.json":                       "tool_surface_decl capability_surface",
		"kit/.app.json":                          "tool_surface_decl capability_surface",
		"kit/SKILL.md":                           "tool_surface_decl capability_surface",
		".cursor/cli.json":                       "host_boundary whole_file",
		".cursor/hooks.json":                     "host_boundary whole_file",
		".shipgate/agent-contract.json":          "host_boundary whole_file",
		".github/workflows/test.yml":             "host_boundary whole_file",
		"svc/.github/workflows/test.yaml":        "host_boundary whole_file",
		"rules/house.yaml":                       "policy whole_file",
		"logs/accepted.jsonl":                    "shipgate_state key_level",
		"./src/../AGENTS.md":                     "agent_instructions whole_file",
		`svc\.claude\settings.json`:              "agent_instructions whole_file",
		"/shop/AGENTS.md":                        "agent_instructions whole_file",
		".claude":                                "agent_instructions whole_file",
		".github":                                "host_boundary whole_file",
		".":                                      "agent_instructions whole_file, host_boundary whole_file, manifest key_level, policy whole_file",

		"codex/config.toml":                 "",
		"hooks/pre.sh":                      "",
		"plugin.json":                       "",
		"shipgate.yml":                      "",
		"my-shipgate.yaml":                  "",
		"agents-shipgate/baseline.json":     "",
		"policy/x.yaml":                     "",
		"prompt/system.md":                  "",
		".github/workflows.yml":             "",
		".github/workflows/deep/test.yml":   "",
		".github/actions/x/action.yml":      "",
		"AGENTS.md.bak":                     "",
		"MY_AGENTS.md":                      "",
		"claude/settings.json":              "",
		".cursor/settings.json":             "",
		"mcp.json":                          "",
		"svc/.cursor/cli.json":              "",
		"svc/.shipgate/agent-contract.json": "",
		"rules/other.yaml":                  "",
		"src/app.py":                        "",
		"src":                               "",
		"README.md":                         "",
	} {
		r := evaluate(t, input(t, adopted(), touching(path)))
		name := r.ChangedFiles[0]
		if got := strings.Join(kindsOf(r, name), ", "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		if (want != "") != r.RequiresHumanReview || (want != "") != (r.Control.State() == control.HumanReviewRequired) {
			t.Errorf("%s: %s", path, r.Control.State())
		}
		for i := range r.Touches {
			wanted := preflight.High
			if r.Touches[i].ScopeType == preflight.WholeFile {
				wanted = preflight.Critical
			}
			id := "protected_surface_touch:" + r.Touches[i].Kind + ":" + name
			if !slices.ContainsFunc(r.Signals, func(s preflight.Signal) bool {
				return s.ID == id && s.Severity == wanted && s.Actor == control.Human && *s.Path == name
			}) {
				t.Errorf("%s: there is no signal %s that is %s", path, id, wanted)
			}
		}
	}
}

// The configured manifest is protected whatever it is called.
func TestAManifestOfAnotherName(t *testing.T) {
	files := adopted()
	files["svc/gate.yml"] = text(manifest)
	in := input(t, files, touching("svc/gate.yml"))
	in.Config, in.Manifest = "gate.yml", "svc/gate.yml"
	if got := kindsOf(evaluate(t, in), "svc/gate.yml"); !slices.Equal(got, []string{"manifest key_level"}) {
		t.Error(got)
	}
	in.Plan = touching("svc/rules/house.yaml") // named relative to the manifest's folder
	if got := kindsOf(evaluate(t, in), "svc/rules/house.yaml"); !slices.Equal(got, []string{"policy whole_file"}) {
		t.Error(got)
	}
}

// A plan that was made in a folder may name files from there.
func TestAPathCountsFromTheWorkspaceToo(t *testing.T) {
	files := adopted()
	files["svc/gate.yml"] = text(manifest)
	files["svc/conf/a.txt"] = text("x")
	files["svc/.claude"] = link("conf")
	in := input(t, files, touching("rules/house.yaml", "gate.yml", "conf/a.txt", "src/app.py"))
	in.Config, in.Manifest, in.Below = "gate.yml", "svc/gate.yml", "svc"
	r := evaluate(t, in)
	for path, want := range map[string]string{
		"rules/house.yaml": "policy whole_file", "gate.yml": "manifest key_level", "conf/a.txt": "agent_instructions whole_file", "src/app.py": "",
	} {
		if got := strings.Join(kindsOf(r, path), ", "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestAPathOutsideIsRefused(t *testing.T) {
	for _, path := range []string{"../AGENTS.md", "a/../../b", "..", `..\b`, "/etc/passwd", "/shopping/a", `C:\a`, "c:/a"} {
		if _, err := preflight.Evaluate(input(t, adopted(), touching("a", path))); err == nil || !strings.Contains(err.Error(), "changed_files[1]: lies outside") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What lies in Git's own folder decides which hooks run and what a base is, and no
// check of a change ever sees it.
func TestAPathOfGitsOwnIsRefused(t *testing.T) {
	for _, path := range []string{".git/hooks/pre-commit", ".git", "sub/.GIT/config", `a\.git\config`, "git~1/config", "/shop/.git/refs/remotes/origin/main", "./x/../.git/index"} {
		if _, err := preflight.Evaluate(input(t, adopted(), touching("a", path))); err == nil || !strings.Contains(err.Error(), "changed_files[1]: lies in Git's own folder") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A link gives a protected file another name, and another file a protected name.
func TestLinksHideNothing(t *testing.T) {
	for _, c := range []struct {
		files fstest.MapFS
		path  string
		want  string
	}{
		{fstest.MapFS{"CLAUDE.md": link("docs/agents.txt"), "docs/agents.txt": text("x")}, "docs/agents.txt", "agent_instructions"},
		{fstest.MapFS{".claude": link("kit"), "kit/settings.json": text("{}")}, "kit/settings.json", "agent_instructions"},
		{fstest.MapFS{".claude": link("kit"), "kit/settings.json": text("{}")}, "kit/new.json", "agent_instructions"},
		{fstest.MapFS{".github": link("ci"), "ci/workflows/a.yml": text("on: push")}, "ci/workflows/b.yml", "host_boundary"},
		{fstest.MapFS{".claude/skills": link("../skills"), "skills/x/SKILL.md": text("x")}, "skills/x/run.sh", "agent_instructions"},
		{fstest.MapFS{"CLAUDE.md": link("a"), "a": link("b"), "b": text("x")}, "b", "agent_instructions"},
		{fstest.MapFS{"in": link(".claude"), ".claude/settings.json": text("{}")}, "in/settings.json", "agent_instructions"},
		{fstest.MapFS{"notes.txt": link("AGENTS.md"), "AGENTS.md": text("x")}, "notes.txt", "agent_instructions"},
		{fstest.MapFS{".codex": link("."), "config.toml": text("x")}, "config.toml", "codex_config"},
		{fstest.MapFS{".claude": link("kit"), "kit/settings.json": text("{}")}, "kit", "agent_instructions"},

		{fstest.MapFS{"CLAUDE.md": link("docs/agents.txt"), "docs/agents.txt": text("x")}, "docs/other.txt", ""},
		{fstest.MapFS{".claude": link("kit"), "kit/settings.json": text("{}")}, "kits/settings.json", ""},
		{fstest.MapFS{".claude": link("../kit")}, "kit/settings.json", ""},
		{fstest.MapFS{".claude": link("/kit")}, "kit/settings.json", ""},
		{fstest.MapFS{"a": link("b"), "b": link("a")}, "a/x", ""},
		{fstest.MapFS{"docs": link("text"), "text/a.md": text("x")}, "text/a.md", ""},
	} {
		r := evaluate(t, input(t, c.files, touching(c.path)))
		if found := slices.ContainsFunc(r.Touches, func(x preflight.Touch) bool { return x.Kind == c.want }); found != (c.want != "") || c.want == "" && len(r.Touches) > 0 {
			t.Errorf("%s: %+v, want %q", c.path, r.Touches, c.want)
		}
	}
}

func TestSkippedFoldersAreNotListedAndCountAllTheSame(t *testing.T) {
	files := adopted()
	for _, dir := range []string{"node_modules/x", ".venv", "build", "dist", "target", "agents-shipgate-reports", ".git"} {
		files[dir+"/AGENTS.md"] = text("x")
	}
	r := evaluate(t, input(t, files, touching("node_modules/x/AGENTS.md")))
	if len(r.Touches) != 1 {
		t.Errorf("%+v", r.Touches)
	}
	for _, s := range r.ProtectedSurfaces {
		for _, p := range s.PresentPaths {
			if p != "AGENTS.md" && strings.HasSuffix(p, "AGENTS.md") {
				t.Errorf("%s is listed", p)
			}
		}
	}
}

func TestSurfacesSayWhatIsThere(t *testing.T) {
	r := evaluate(t, input(t, adopted(), touching()))
	var order []string
	for _, s := range r.ProtectedSurfaces {
		if len(order) == 0 || order[len(order)-1] != s.Kind {
			order = append(order, s.Kind)
		}
		if s.Present != (len(s.PresentPaths) > 0) || !s.HumanReview || s.Description == "" {
			t.Errorf("%+v", s)
		}
		switch s.Pattern {
		case "**/AGENTS.md", "**/shipgate.yaml", "rules/house.yaml", "**/.github/workflows/*.yml":
			if len(s.PresentPaths) != 1 {
				t.Errorf("%+v", s)
			}
		default:
			if s.Present {
				t.Errorf("%+v", s)
			}
		}
	}
	want := []string{
		"codex_config", "codex_hooks", "codex_plugin", "manifest", "shipgate_state", "policy", "prompts", "ci_gate",
		"agent_instructions", "codex_plugin", "tool_surface_decl", "host_boundary",
	}
	if !slices.Equal(order, want) {
		t.Errorf("%v", order)
	}
	for _, pattern := range []string{
		"**/AGENTS.md", "**/policies/**", "**/.github/workflows/agents-shipgate.yml", ".cursor/hooks.json", "**/.codex/config.json", "**/.codex/hooks/**",
	} {
		if !slices.Contains(r.ForbiddenFileEdits, pattern) {
			t.Errorf("%s may be edited", pattern)
		}
	}
}
