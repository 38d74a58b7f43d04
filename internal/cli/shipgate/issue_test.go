//go:build unix

package shipgate_test

import (
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inputCodes are the issue codes of docs/spec/boundary.md §11.2 that the change
// brings. boundary_input_unreadable is left to TestWhatMayNotBeReadStops, which
// takes another user, diff_input_unresolved to TestEveryFailureIsAResult.
var inputCodes = words(`
	boundary_diff_unparseable boundary_diff_shape_invalid boundary_diff_path_invalid boundary_diff_content_missing
	boundary_rename_out_requires_review boundary_rename_target_unresolved boundary_rename_target_oversized
	boundary_rename_target_unreadable boundary_path_not_diff_representable boundary_index_unmerged
	boundary_input_binary boundary_input_filtered boundary_input_oversized boundary_input_non_utf8
	boundary_input_symlink_or_external host_inventory_parse_failed host_inventory_unsupported content_source`)

// policyCodes are those that the policy in use brings. policy_conflict is the
// diagnostic over the two last.
var policyCodes = words(`
	policy_load_failed policy_missing policy_unknown_fields policy_safety_floor_downgrade
	unified_and_legacy_policy_coexist policy_rule_conflict`)

// supplied is a diff that somebody wrote, for a repository with these files.
func supplied(base files, text string) boundaryCase {
	c := given("diff", base, files{"docs/a.md": "a\n"}) // the branch is made and not used
	c.Diff.Text = &text
	return c
}

func moved(from, to string) string {
	return "diff --git a/" + from + " b/" + to + "\nsimilarity index 100%\nrename from " + from + "\nrename to " + to + "\n"
}

// Every code of the list can be had from a repository or a diff. Each stops
// the agent, is told with its path, and never counts as complete.
func TestEveryIssueCodeOccursAndStops(t *testing.T) {
	edited := func(base, head files) boundaryCase { return given("worktree", base, head) }
	with := func(c boundaryCase, change func(*boundaryCase)) boundaryCase {
		change(&c)
		return c
	}
	cases := []struct {
		code, path string // the path is "" where the row says it otherwise
		name       string
		c          boundaryCase
	}{
		{"boundary_diff_unparseable", "<diff>", "words", supplied(nil, "some words\n")},
		{"boundary_diff_shape_invalid", serversPath, "a new file with an old name", supplied(nil, "diff --git a/"+serversPath+" b/"+serversPath+"\nnew file mode 100644\n--- a/"+serversPath+"\n+++ b/"+serversPath+"\n@@ -0,0 +1 @@\n+{}\n")},
		{"boundary_diff_shape_invalid", "<diff>", "two records", supplied(files{"docs/b.md": "b\n"}, edit("docs/b.md", "b", "c")+edit("docs/b.md", "b", "d"))},
		{"boundary_diff_path_invalid", "../AGENTS.md", "above the root", supplied(nil, edit("../AGENTS.md", "a", "b"))},
		{"boundary_diff_content_missing", "AGENTS.md", "a mode alone", supplied(files{"AGENTS.md": "a\n"}, "diff --git a/AGENTS.md b/AGENTS.md\nold mode 100644\nnew mode 100755\n")},
		{"boundary_rename_out_requires_review", serversPath, "out of the boundary", supplied(files{serversPath: "{}\n"}, moved(serversPath, "docs/old.json"))},
		{"boundary_rename_target_unresolved", serversPath, "nothing there", supplied(nil, moved("docs/old.json", serversPath))},
		{"boundary_rename_target_oversized", serversPath, "too much there", supplied(files{serversPath: overMiB[:129<<10]}, moved("docs/old.json", serversPath))},
		{"boundary_rename_target_unreadable", serversPath, "no text there", supplied(files{serversPath: "{}\x00"}, moved("docs/old.json", serversPath))},
		{"boundary_path_not_diff_representable", "", "a line end in a name", edited(nil, files{".claude/commands/a\nb.md": "a\n"})},
		{"boundary_index_unmerged", "AGENTS.md", "a conflict", with(edited(files{"AGENTS.md": "a\n"}, files{"AGENTS.md": "b\n"}), func(c *boundaryCase) {
			c.History, c.Text["upstream"] = "conflict", files{"AGENTS.md": "c\n"}
		})},
		{"boundary_input_binary", settingsPath, "a NUL, tracked", edited(files{settingsPath: "{}\n"}, files{settingsPath: "{}\x00"})},
		{"boundary_input_binary", settingsPath, "a NUL, committed", given("committed", nil, files{settingsPath: "{}\x00"})},
		{"boundary_input_filtered", "CLAUDE.md", "a filter attribute", edited(files{".gitattributes": "*.md filter=mask\n", "CLAUDE.md": "a\n"}, files{"CLAUDE.md": "b\n"})},
		{"boundary_input_oversized", settingsPath, "untracked over 128 KiB", edited(nil, files{settingsPath: overMiB[:129<<10]})},
		{"boundary_input_oversized", settingsPath, "tracked over 1 MiB", edited(files{settingsPath: "{}\n"}, files{settingsPath: overMiB})},
		{"boundary_input_oversized", serversPath, "committed over 1 MiB", given("committed", nil, files{serversPath: overMiB})},
		{"boundary_input_non_utf8", "AGENTS.md", "Latin-1, staged", given("staged", nil, files{"AGENTS.md": "caf\xe9\n"})},
		{"boundary_input_non_utf8", "AGENTS.md", "Latin-1, bare diff", supplied(files{"AGENTS.md": "a\n"}, edit("AGENTS.md", "a", "caf\xe9"))},
		{"boundary_input_symlink_or_external", serversPath, "a link outside", with(edited(nil, nil), func(c *boundaryCase) {
			c.Links = map[string]map[string]string{"head": {serversPath: "/etc/mcp.json"}}
		})},
		{"boundary_input_symlink_or_external", ".claude", "a folder that becomes a link", with(given("committed", files{settingsPath: "{}\n", "kit/settings.json": "{}\n"}, nil), func(c *boundaryCase) {
			c.Delete, c.Links = []string{settingsPath}, map[string]map[string]string{"head": {".claude": "kit"}}
		})},
		{"host_inventory_parse_failed", "pkg/" + serversPath, "no JSON", edited(nil, files{"pkg/" + serversPath: "{"})},
		{"host_inventory_unsupported", settingsPath, "a policy helper", edited(nil, files{settingsPath: "{\"policyHelper\": \"x\"}\n"})},
		{"host_inventory_unsupported", codexPath, "a profile that is not there", edited(nil, files{codexPath: "profile = \"lab\"\n"})},
		{"content_source", "", "a diff of another file", supplied(files{settingsPath: "{\"a\": 1}\n"}, edit(settingsPath, "[]", "{}"))},
		{"content_source", "", "a diff of no file", supplied(nil, edit(settingsPath, "[]", "{}"))},
	}
	var mu sync.Mutex
	seen, ran := map[string]bool{}, 0
	t.Run("codes", func(t *testing.T) {
		for _, want := range cases {
			t.Run(want.code+", "+want.name, func(t *testing.T) {
				t.Parallel()
				want.c.Repeat = true
				r := want.c.run(t)
				mu.Lock()
				ran++
				for _, code := range r.Issues {
					seen[code] = true
				}
				mu.Unlock()
				if !slices.Contains(r.Issues, want.code) || !slices.IsSorted(r.Issues) || len(slices.Compact(slices.Clone(r.Issues))) != len(r.Issues) {
					t.Errorf("issues %v", r.Issues)
				}
				if r.InputCoverage != "partial" || r.Control.State != "human_review_required" || r.Decision != "require_review" && r.Decision != "block" {
					t.Errorf("%s, %s, input %s", r.Decision, r.Control.State, r.InputCoverage)
				}
				if want.path == "" {
					return
				}
				row := resultRow{ID: "BOUNDARY-INPUT-INCOMPLETE", Path: want.path, Evidence: evidence(`{"code":"` + want.code + `","kind":"boundary_input_unresolved"}`)}
				if !slices.ContainsFunc(r.Violations, func(v resultRow) bool { return v.String() == row.String() }) {
					t.Errorf("no row %s among %v", row, r.Violations)
				}
				if !slices.ContainsFunc(r.Diagnostics, func(d diagnostic) bool { return d.Code == want.code && d.Level == "error" }) {
					t.Errorf("no diagnostic %s among %v", want.code, r.Diagnostics)
				}
			})
		}
	})
	if ran < len(cases) {
		return
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(inputCodes)), slices.Sorted(maps.Keys(seen))); d != "" {
		t.Errorf("codes (-in §11.2 +seen):\n%s", d)
	}
}

// policyCase is one way in which a policy fails closed.
type policyCase struct {
	boundaryCase
	diagnostic string // "<code> <level>"
	issue      string
	row        string // "<rule> <path> <kind>"
	decision   string
	source     string // of the records that the file is for
}

// policyCases are the rows of docs/spec/boundary.md §10.5.
func policyCases() map[string]policyCase {
	const conf = "conf/p.yml"
	explicit := func(text string) boundaryCase {
		c := given("worktree", files{"docs/a.md": "a\n"}, files{"docs/a.md": "b\n"})
		if c.Args = []string{"--policy", conf}; text != "" {
			c.Text["base"][conf] = text
		}
		return c
	}
	workspace := func(policies files) boundaryCase {
		c := given("worktree", policies, files{"docs/a.md": "b\n"})
		return c
	}
	linked := explicit("")
	linked.Text["base"]["conf/real.yml"] = "id: p\n"
	linked.Links = map[string]map[string]string{"base": {conf: "real.yml"}}
	invalid := func(c boundaryCase, code, source string) policyCase {
		return policyCase{c, code + " error", code, "CODEX-CONFIG-PARSE-FAILED " + conf + " codex_boundary_policy_invalid", "require_review", source}
	}
	incomplete := func(text, code, source string) policyCase {
		return policyCase{
			workspace(files{unifiedPath: text}), code + " warning", code,
			"BOUNDARY-INPUT-INCOMPLETE " + unifiedPath + " boundary_coverage_incomplete", "require_review", source,
		}
	}
	conflict := func(c boundaryCase, diagnostic, issue, source string) policyCase {
		return policyCase{c, diagnostic + " error", issue, "CODEX-POLICY-WEAKENED " + unifiedPath + " boundary_policy_conflict", "block", source}
	}
	return map[string]policyCase{
		"an explicit policy that is missing":                  invalid(explicit(""), "policy_missing", "missing"),
		"an explicit policy behind a link":                    invalid(linked, "policy_load_failed", "invalid"),
		"an explicit policy that is no YAML":                  invalid(explicit("rules: [\n"), "policy_load_failed", "invalid"),
		"an explicit policy that is no mapping":               invalid(explicit("- id: HOST-HOOK-CHANGED\n"), "policy_load_failed", "invalid"),
		"an explicit policy with an unknown member":           invalid(explicit("rulez: []\n"), "policy_unknown_fields", "invalid"),
		"an explicit policy with an unknown member in a rule": invalid(explicit("rules:\n  - {id: HOST-HOOK-CHANGED, acton: block}\n"), "policy_unknown_fields", "invalid"),
		"an explicit policy with an action that is none":      invalid(explicit("rules:\n  - {id: HOST-HOOK-CHANGED, action: deny}\n"), "policy_unknown_fields", "invalid"),
		"an explicit policy with a risk that is none":         invalid(explicit("rules:\n  - {id: HOST-HOOK-CHANGED, risk_level: huge}\n"), "policy_unknown_fields", "invalid"),
		"an explicit policy with a rule without an id":        invalid(explicit("rules:\n  - action: block\n"), "policy_unknown_fields", "invalid"),
		"an explicit policy with a rule that nobody knows":    invalid(explicit("rules:\n  - {id: HOST-NO-SUCH-RULE, action: block}\n"), "policy_unknown_fields", "invalid"),
		"a workspace policy that is no YAML":                  incomplete("rules: [\n", "policy_load_failed", "invalid"),
		"a workspace policy that is no mapping":               incomplete("just words\n", "policy_load_failed", "invalid"),
		"a workspace policy with an unknown member":           incomplete("owner: me\n", "policy_unknown_fields", "workspace"),
		"a workspace policy with an unknown member in a rule": incomplete("rules:\n  - {id: HOST-HOOK-CHANGED, acton: block}\n", "policy_unknown_fields", "workspace"),
		"a unified policy beside a legacy one":                conflict(workspace(files{unifiedPath: "id: a\n", "policies/host-boundary.shipgate.yaml": "id: b\n"}), "policy_conflict", "unified_and_legacy_policy_coexist", "workspace"),
		"one rule twice with different members":               conflict(workspace(files{unifiedPath: "rules:\n  - {id: HOST-HOOK-CHANGED, action: block}\n  - {id: HOST-HOOK-CHANGED}\n"}), "policy_conflict", "policy_rule_conflict", "workspace"),
		"an action below the floor":                           conflict(workspace(files{unifiedPath: "rules:\n  - {id: HOST-HOOK-CHANGED, action: allow}\n"}), "policy_safety_floor_downgrade", "policy_safety_floor_downgrade", "workspace"),
		"a risk below the floor in an explicit policy":        conflict(explicit("rules:\n  - {id: HOST-HOOK-CHANGED, risk_level: low}\n"), "policy_safety_floor_downgrade", "policy_safety_floor_downgrade", "explicit"),
		"a policy that would allow what the change grants":    conflict(granting(workspace(files{unifiedPath: "rules:\n  - {id: HOST-PERMISSION-WILDCARD-ALLOW, action: allow}\n"})), "policy_safety_floor_downgrade", "policy_safety_floor_downgrade", "workspace"),
	}
}

func granting(c boundaryCase) boundaryCase {
	c.Text["head"][settingsPath] = grant
	return c
}

func TestPoliciesFailClosed(t *testing.T) {
	shown := map[string]bool{}
	for name, want := range policyCases() {
		shown[want.issue] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := want.run(t)
			if !slices.Equal(r.Issues, []string{want.issue}) || r.InputCoverage != "partial" {
				t.Errorf("input %s, issues %v, want %s", r.InputCoverage, r.Issues, want.issue)
			}
			if r.Decision != want.decision || r.Control.State != "human_review_required" {
				t.Errorf("%s, %s; want %s", r.Decision, r.Control.State, want.decision)
			}
			if !slices.ContainsFunc(r.Diagnostics, func(d diagnostic) bool { return d.Code+" "+d.Level == want.diagnostic }) {
				t.Errorf("no diagnostic %s among %v", want.diagnostic, r.Diagnostics)
			}
			if !slices.ContainsFunc(r.Violations, func(v resultRow) bool { return v.ID+" "+v.Path+" "+v.Evidence.kind() == want.row }) {
				t.Errorf("no row %s among %v", want.row, r.Violations)
			}
			for _, p := range r.Policies {
				if p.Source != want.source {
					t.Errorf("the record %s is %s, want %s", p.ID, p.Source, want.source)
				}
			}
			_, granted := want.Text["head"][settingsPath]
			stays := slices.ContainsFunc(r.Violations, func(v resultRow) bool { return v.ID == "HOST-PERMISSION-WILDCARD-ALLOW" })
			if granted && !stays {
				t.Error("the policy has taken the row away that it would rather not see")
			}
		})
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(policyCodes)), slices.Sorted(maps.Keys(shown))); d != "" {
		t.Errorf("codes (-in §11.2 +shown):\n%s", d)
	}
}

// TestEveryFailureIsAResult has each failure of docs/spec/boundary.md §1 that
// leaves a result (§12.3): a person's, or the agent's where fetching can help.
func TestEveryFailureIsAResult(t *testing.T) {
	clean := func(mode string) boundaryCase {
		return given(mode, files{settingsPath: "{}\n"}, files{settingsPath: grant})
	}
	in := func(mode, history string, args ...string) boundaryCase {
		c := clean(mode)
		c.History, c.Args = history, args
		return c
	}
	refs := words("--base main --head change")
	file := func(s *scene) string { return s.args[len(s.args)-1] }
	huge := func(s *scene) error { return os.Truncate(file(s), 32<<20+1) }
	cases := map[string]struct {
		c       boundaryCase
		after   func(*scene) error
		expects string // "" for a person
	}{
		"the diff is missing": {c: clean("diff"), after: func(s *scene) error { return os.Remove(file(s)) }},
		"the diff is a link": {c: clean("diff"), after: func(s *scene) error {
			if err := os.Rename(file(s), file(s)+".real"); err != nil {
				return err
			}
			return os.Symlink(file(s)+".real", file(s))
		}},
		"the diff is hard-linked":    {c: clean("diff"), after: func(s *scene) error { return os.Link(file(s), file(s)+".too") }},
		"the diff is a folder":       {c: clean("diff"), after: func(s *scene) error { s.args[len(s.args)-1] = s.home(); return nil }},
		"the diff is over 32 MiB":    {c: clean("diff"), after: huge},
		"stdin is over 32 MiB":       {c: clean("diff"), after: func(s *scene) error { s.args[len(s.args)-1], s.stdin = "-", make([]byte, 32<<20+1); return nil }},
		"there is no repository":     {c: in("worktree", "none")},
		"there is no commit":         {c: in("worktree", "unborn")},
		"refs, and no repository":    {c: in("worktree", "none", refs...), expects: "main and change"},
		"the base is missing":        {c: in("committed", "linear", "--base", "nowhere", "--head", "change"), expects: "nowhere and change"},
		"the head is missing":        {c: in("committed", "linear", "--base", "main", "--head", "no where"), expects: "main and no where"},
		"a ref that is no commit":    {c: in("committed", "linear", "--base", "main^{tree}", "--head", "change"), expects: "main^{tree} and change"},
		"a shallow clone":            {c: in("committed", "shallow-both"), expects: "origin/main and HEAD, with their common history"},
		"no common history":          {c: in("committed", "linear", "--base", "main", "--head", "other"), after: func(s *scene) error { return s.steps(words("checkout -q --orphan other"), words("commit -q -m other")) }},
		"a partial clone, two refs":  {c: in("committed", "linear", refs...), after: partial, expects: "main and change, with their objects"},
		"a partial clone, worktree":  {c: in("committed", "linear", refs...), after: func(s *scene) error { s.args, s.c.Mode = nil, "worktree"; return partial(s) }},
		"a damaged object":           {c: forged("worktree")},
		"a damaged object, two refs": {c: forged("committed")},
		"an extension of git's that nobody knows": {c: clean("worktree"), after: func(s *scene) error {
			return s.steps(words("config extensions.ferry yes"), words("config core.repositoryformatversion 1"))
		}},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want.c.Changes, want.c.Repeat = "any", want.c.Mode != "diff"
			s, err := buildCase(t, &want.c)
			if err == nil && want.after != nil {
				err = want.after(s)
			}
			if err != nil {
				t.Fatalf("the case itself is broken: %v", err)
			}
			if slices.Contains(s.args, "--base") {
				want.c.Mode = "committed" // even where there is nothing to commit to
			}
			r := s.check(t, "codex")
			if !slices.Equal(r.Issues, words("diff_input_unresolved")) || r.Decision != "block" || r.InputCoverage != "unknown" {
				t.Errorf("%s, input %s, issues %v", r.Decision, r.InputCoverage, r.Issues)
			}
			if len(r.Violations)+len(r.ChangedFiles)+len(r.HostCoverage) > 0 {
				t.Error("something is said of a change that was not read")
			}
			state, kind := "human_review_required", "review"
			if want.expects != "" {
				state, kind = "agent_action_required", "fetch_base"
			}
			if action := r.Control.NextAction; r.Control.State != state || action.Kind != kind || action.Expects != want.expects {
				t.Errorf("%s, %s, expects %q", r.Control.State, action.Kind, action.Expects)
			}
		})
	}
}

// partial makes the scene a clone that has no blobs.
func partial(s *scene) error {
	clone := s.dir + "-partial"
	err := s.steps(
		words("config uploadpack.allowFilter true"),
		words("clone -q --no-checkout --filter=blob:none --branch change", "file://"+s.dir, clone),
	)
	if err != nil {
		return err
	}
	s.dir, s.workspace = clone, clone
	return s.steps(words("branch main origin/main"))
}

// forged is a change of a file whose committed object is not what its name says.
func forged(mode string) boundaryCase {
	c := given(mode, files{settingsPath: "{}\n"}, files{settingsPath: grant})
	c.Forge = map[string]string{"main:" + settingsPath: grant}
	return c
}
