package policy_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// catalogue is the product copy of the 27 rules.
func catalogue(tb testing.TB) []*rule.Rule {
	tb.Helper()
	text, err := os.ReadFile("../../../testdata/boundary/authored/rules.json")
	if err != nil {
		tb.Fatal(err)
	}
	var file struct {
		Rules []struct {
			Family         rule.Family
			ID             string
			CheckID        string `json:"check_id"`
			Action         rule.Action
			Risk           rule.Risk `json:"risk_level"`
			Title          string
			Recommendation string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		tb.Fatal(err)
	}
	var list []*rule.Rule
	for _, r := range file.Rules {
		list = append(list, &rule.Rule{
			ID: r.ID, CheckID: r.CheckID, Family: r.Family, Action: r.Action, Risk: r.Risk,
			Title: r.Title, Recommendation: r.Recommendation,
		})
	}
	return list
}

func find(tb testing.TB, list []*rule.Rule, id string) *rule.Rule {
	tb.Helper()
	for _, r := range list {
		if r.ID == id {
			return r
		}
	}
	tb.Fatalf("no rule %s", id)
	return nil
}

func text(lines ...string) policy.File {
	return policy.File{Found: true, Bytes: []byte(strings.Join(lines, "\n") + "\n")}
}

func workspace(path string, f policy.File) policy.Files {
	return policy.Files{Workspace: map[string]policy.File{path: f}}
}

func explicit(f policy.File) policy.Files {
	return policy.Files{Explicit: &f, ExplicitPath: "conf/p.yml"}
}

func raise(id, action string) policy.File {
	return text("rules:", "  - id: "+id, "    action: "+action)
}

const (
	builtInSet   = "8c1b58ecd96ec9b43c73dceb60c3a8a56cb679698253d90ca9278f3a8a2e221e"
	builtInCodex = "ec73c5c66f348262cb033eefd725c133afbedee13e09fe1da3639730efb774ef"
	builtInHost  = "acd3874119b4bf7c561c005235f9249fb5ee3dada8bf0ac0f281043b1d902ef5"
)

func TestDiscoveryTakesTheFirstSource(t *testing.T) {
	none := []string{"packaged_default:agent-boundary"}
	everywhere := policy.Files{
		Explicit: &policy.File{Found: true, Bytes: []byte("id: given\nversion: \"7\"\n")}, ExplicitPath: "conf/p.yml",
		Workspace: map[string]policy.File{policy.Unified: text("id: unified"), policy.LegacyHost: text("id: host")},
	}
	legacy := policy.Files{Workspace: map[string]policy.File{
		policy.LegacyCodex: text("id: c", "version: 2"), policy.LegacyHost: text("id: h"),
	}}
	cases := []struct {
		name        string
		files       policy.Files
		codex, host policy.Record
		source      policy.Source
		discovery   []string
	}{
		{
			"nothing: the built-in defaults",
			policy.Files{},
			policy.Record{ID: "codex-boundary", Version: "1", Source: policy.PackagedDefault, Discovery: none},
			policy.Record{ID: "host-boundary", Version: "1", Source: policy.PackagedDefault, Discovery: none},
			policy.PackagedDefault, none,
		},
		{
			"--policy before everything", everywhere,
			policy.Record{ID: "given", Version: "7", Source: policy.Explicit, Path: "conf/p.yml", Discovery: []string{"explicit:conf/p.yml"}},
			policy.Record{ID: "given", Version: "7", Source: policy.Explicit, Path: "conf/p.yml", Discovery: []string{"explicit:conf/p.yml"}},
			policy.Explicit,
			[]string{"explicit:conf/p.yml"},
		},
		{
			"the unified file for both families", workspace(policy.Unified, text("id: acme", "name: Acme", `version: "3"`)),
			policy.Record{ID: "acme", Version: "3", Source: policy.Workspace, Path: policy.Unified, Discovery: []string{"workspace:" + policy.Unified}},
			policy.Record{ID: "acme", Version: "3", Source: policy.Workspace, Path: policy.Unified, Discovery: []string{"workspace:" + policy.Unified}},
			policy.Workspace,
			[]string{"workspace:" + policy.Unified},
		},
		{
			"a legacy file for its own family only", workspace(policy.LegacyHost, text("version: '2'")),
			policy.Record{ID: "codex-boundary", Version: "1", Source: policy.PackagedDefault, Discovery: none},
			policy.Record{ID: "host-boundary", Version: "2", Source: policy.Workspace, Path: policy.LegacyHost, Discovery: []string{"workspace:" + policy.LegacyHost, "legacy_policy_compatibility"}},
			policy.Workspace,
			[]string{"legacy_policy_compatibility", "packaged_default:agent-boundary", "workspace:" + policy.LegacyHost},
		},
		{
			"both legacy files", legacy,
			policy.Record{ID: "c", Version: "2", Source: policy.Workspace, Path: policy.LegacyCodex, Discovery: []string{"workspace:" + policy.LegacyCodex, "legacy_policy_compatibility"}},
			policy.Record{ID: "h", Version: "1", Source: policy.Workspace, Path: policy.LegacyHost, Discovery: []string{"workspace:" + policy.LegacyHost, "legacy_policy_compatibility"}},
			policy.Workspace,
			[]string{"legacy_policy_compatibility", "workspace:" + policy.LegacyCodex, "workspace:" + policy.LegacyHost},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := policy.Load(c.files, catalogue(t))
			got := slices.Clone(e.Records)
			for i := range got {
				got[i].Snapshot = ""
			}
			if diff := cmp.Diff([]policy.Record{c.codex, c.host}, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			a := e.Aggregate()
			if a.ID != "agent-boundary" || a.Version != "1" || a.Source != c.source || a.Snapshot != e.Set || a.Path != "" {
				t.Errorf("aggregate %+v", a)
			}
			if diff := cmp.Diff(c.discovery, a.Discovery); diff != "" {
				t.Errorf("discovery (-want +got):\n%s", diff)
			}
			if e.Version() != c.codex.Version {
				t.Errorf("policy_version is %s", e.Version())
			}
			if len(e.Codes)+len(e.Diagnostics)+len(e.Conflicts) > 0 || e.Invalid != nil {
				t.Errorf("a good policy leaves %v, %v", e.Codes, e.Diagnostics)
			}
		})
	}
}

func TestDigestsAreThoseOfTheSpecification(t *testing.T) {
	e := policy.Load(policy.Files{}, catalogue(t))
	if e.Set != builtInSet || e.Records[0].Snapshot != builtInCodex || e.Records[1].Snapshot != builtInHost {
		t.Errorf("product copy: set %s, records %s, %s", e.Set, e.Records[0].Snapshot, e.Records[1].Snapshot)
	}
	one := []*rule.Rule{{
		ID: "CODEX-CI-GATE-REMOVED", CheckID: "SHIP-CODEX-BOUNDARY-CI-GATE-REMOVED", Family: rule.CodexFamily,
		Action: rule.Block, Risk: rule.Critical, Title: "t", Recommendation: "r",
	}}
	e = policy.Load(policy.Files{}, one)
	if e.Set != "a5dc4c39355144f41debe2c7415c136a3fa6e3e8af1e0b3c19f0f377c8ae2f5b" ||
		e.Records[0].Snapshot != "b44377417fe8be221cdf8f086b82e84b162a9e16a0f7377286a8cc039bf59be2" ||
		e.Records[1].Snapshot != "59550e972d312196f482ea286a02292ce467da0d208da390c1a9e990cef5f696" {
		t.Errorf("one rule: set %s, records %s, %s", e.Set, e.Records[0].Snapshot, e.Records[1].Snapshot)
	}
}

func TestAPolicyRaisesWhatItNames(t *testing.T) {
	list := catalogue(t)
	files := workspace(policy.Unified, text(
		"# comment", "id: acme-agent-boundary", "name: Acme coding-agent boundary", `version: "3"`, "rules:",
		"  - id: HOST-MCP-SERVER-ADDED        # we refuse new servers outright",
		"    action: block", "    risk_level: critical",
		"    recommendation: Ask the platform team to register the server first.",
		"  - id: CODEX-SKILL-COMMAND-CHANGED", "    risk_level: high",
		"  - id: HOST-HOOK-CHANGED", "    check_id: SHIP-HOST-BOUNDARY-HOOK-CHANGED",
		"  - id: BOUNDARY-INPUT-INCOMPLETE", "    action: block",
	))
	e := policy.Load(files, list)
	if len(e.Codes) > 0 {
		t.Fatalf("codes %v, %v", e.Codes, e.Diagnostics)
	}
	added := find(t, list, "HOST-MCP-SERVER-ADDED")
	want := policy.Grade{Action: rule.Block, Risk: rule.Critical, Title: added.Title, Recommendation: "Ask the platform team to register the server first."}
	if got := e.Grade(added); got != want {
		t.Errorf("raised rule: %+v", got)
	}
	if got := e.Grade(find(t, list, "CODEX-SKILL-COMMAND-CHANGED")); got.Risk != rule.High || got.Action != rule.RequireReview {
		t.Errorf("raised risk: %+v", got)
	}
	for _, id := range []string{"HOST-HOOK-CHANGED", "BOUNDARY-INPUT-INCOMPLETE", "HOST-MCP-SERVER-CHANGED"} {
		r := find(t, list, id)
		if got := e.Grade(r); got != (policy.Grade{Action: r.Action, Risk: r.Risk, Title: r.Title, Recommendation: r.Recommendation}) {
			t.Errorf("%s is %+v, want its built-in grade", id, got)
		}
	}
	if e.Records[0].Snapshot == builtInCodex || e.Records[1].Snapshot == builtInHost || e.Set == builtInSet {
		t.Error("a raised policy has the digest of the built-in one")
	}
}

func TestFailClosedCases(t *testing.T) {
	broken := policy.File{Found: true, Bytes: []byte("rules: [\n")}
	both := workspace(policy.Unified, text("id: a"))
	both.Workspace[policy.LegacyCodex] = text("id: b")
	bigger := policy.File{Found: true, Bytes: []byte("# " + strings.Repeat("x", policy.MaxBytes))}
	cases := []struct {
		name      string
		files     policy.Files
		code      string // of the diagnostic
		level     string
		issue     string // "" when it is the code
		invalid   bool
		conflict  bool
		source    policy.Source // of the record that the file is for
		remaining bool          // the grades that can be used are used
	}{
		{name: "explicit file missing", files: explicit(policy.File{}), code: "policy_missing", level: "error", invalid: true, source: policy.Missing},
		{name: "explicit file unreadable", files: explicit(policy.File{Found: true, Err: "The policy file is a link."}), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file behind a link that is not read", files: explicit(policy.File{Err: "The policy file is a link."}), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file no YAML", files: explicit(broken), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file empty", files: explicit(text("")), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file a list", files: explicit(text("- id: HOST-HOOK-CHANGED")), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file no UTF-8", files: explicit(policy.File{Found: true, Bytes: []byte("id: \xff\n")}), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file too large", files: explicit(bigger), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file with a key given twice", files: explicit(text("id: a", "id: b")), code: "policy_load_failed", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit file with an unknown member", files: explicit(text("rulez: []")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rule with an unknown member", files: explicit(text("rules:", "  - id: HOST-HOOK-CHANGED", "    acton: block")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rule with an invalid action", files: explicit(raise("HOST-HOOK-CHANGED", "deny")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rule with an invalid risk", files: explicit(text("rules:", "  - id: HOST-HOOK-CHANGED", "    risk_level: 9")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rule without an id", files: explicit(text("rules:", "  - action: block")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rule that does not exist", files: explicit(raise("HOST-NO-SUCH-RULE", "block")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rule with another check id", files: explicit(text("rules:", "  - id: HOST-HOOK-CHANGED", "    check_id: MINE")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rules that are no list", files: explicit(text("rules: {}")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit rule that is no mapping", files: explicit(text("rules: [HOST-HOOK-CHANGED]")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "explicit title that says nothing", files: explicit(text("rules:", "  - id: HOST-HOOK-CHANGED", "    title: ' '")), code: "policy_unknown_fields", level: "error", invalid: true, source: policy.Invalid},
		{name: "workspace file unreadable", files: workspace(policy.Unified, policy.File{Found: true, Err: "The policy file cannot be read."}), code: "policy_load_failed", level: "warning", source: policy.Invalid},
		{name: "workspace file no mapping", files: workspace(policy.Unified, text("just words")), code: "policy_load_failed", level: "warning", source: policy.Invalid},
		{name: "workspace file with an unknown member", files: workspace(policy.Unified, text("owner: me", "rules:", "  - id: HOST-HOOK-CHANGED", "    action: block")), code: "policy_unknown_fields", level: "warning", source: policy.Workspace, remaining: true},
		{name: "workspace file with an invalid value beside a good one", files: workspace(policy.Unified, text("rules:", "  - id: HOST-HOOK-CHANGED", "    action: block", "    risk_level: huge")), code: "policy_unknown_fields", level: "warning", source: policy.Workspace, remaining: true},
		{name: "legacy file that names a rule of the other family", files: workspace(policy.LegacyCodex, raise("HOST-HOOK-CHANGED", "block")), code: "policy_unknown_fields", level: "warning", source: policy.Workspace},
		{name: "unified and legacy file together", files: both, code: "policy_conflict", level: "error", issue: "unified_and_legacy_policy_coexist", conflict: true, source: policy.Workspace},
		{
			name: "one rule twice with different members", code: "policy_conflict", level: "error", issue: "policy_rule_conflict", conflict: true, source: policy.Workspace, remaining: true,
			files: workspace(policy.Unified, text("rules:", "  - {id: HOST-HOOK-CHANGED, action: block}", "  - {id: HOST-HOOK-CHANGED, action: require_review}")),
		},
		{
			name: "the stricter of two entries counts in any order", code: "policy_conflict", level: "error", issue: "policy_rule_conflict", conflict: true, source: policy.Workspace, remaining: true,
			files: workspace(policy.Unified, text("rules:", "  - {id: HOST-HOOK-CHANGED, action: require_review}", "  - {id: HOST-HOOK-CHANGED, action: block}")),
		},
		{name: "action below the floor", files: workspace(policy.Unified, raise("HOST-HOOK-CHANGED", "warn")), code: "policy_safety_floor_downgrade", level: "error", conflict: true, source: policy.Workspace},
		{name: "risk below the floor", files: explicit(text("rules:", "  - {id: HOST-HOOK-CHANGED, action: block, risk_level: low}")), code: "policy_safety_floor_downgrade", level: "error", conflict: true, source: policy.Explicit, remaining: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			list := catalogue(t)
			e := policy.Load(c.files, list)
			if len(e.Diagnostics) != 1 || e.Diagnostics[0].Code != c.code || e.Diagnostics[0].Level != c.level || e.Diagnostics[0].Message == "" {
				t.Errorf("diagnostics %+v", e.Diagnostics)
			}
			issue := c.issue
			if issue == "" {
				issue = c.code
			}
			if !slices.Equal(e.Codes, []string{issue}) {
				t.Errorf("codes %v, want %s", e.Codes, issue)
			}
			if (len(e.Conflicts) == 1) != c.conflict || c.conflict && e.Conflicts[0] != issue {
				t.Errorf("conflicts %v", e.Conflicts)
			}
			if (e.Invalid != nil) != c.invalid {
				t.Fatalf("invalid %+v", e.Invalid)
			}
			if c.invalid && *e.Invalid != (rule.PolicyInvalid{Path: "conf/p.yml", Code: c.code, Message: e.Diagnostics[0].Message}) {
				t.Errorf("invalid %+v", e.Invalid)
			}
			if e.Records[0].Source != c.source {
				t.Errorf("source %s, want %s", e.Records[0].Source, c.source)
			}
			if got := e.Grade(find(t, list, "HOST-HOOK-CHANGED")).Action == rule.Block; got != c.remaining {
				t.Errorf("the raised action is used: %v", got)
			}
			neverBelowTheFloor(t, &e, list)
		})
	}
}

func neverBelowTheFloor(tb testing.TB, e *policy.Effective, list []*rule.Rule) {
	tb.Helper()
	for _, r := range list {
		g := e.Grade(r)
		if g.Action.Less(r.Action) || g.Risk.Less(r.Risk) || g.Title == "" || g.Recommendation == "" {
			tb.Errorf("%s fell to %+v", r.ID, g)
		}
	}
}

func TestEqualDuplicatesCollapse(t *testing.T) {
	e := policy.Load(workspace(policy.Unified, text("rules:",
		"  - {id: HOST-HOOK-CHANGED, action: block}", "  - {action: block, id: HOST-HOOK-CHANGED}")), catalogue(t))
	if len(e.Codes) > 0 {
		t.Errorf("codes %v", e.Codes)
	}
}

func TestADiagnosticNamesThePlaceAndNotTheText(t *testing.T) {
	const secret = "sk-live-sentinel"
	for _, f := range []policy.File{
		text("rules:", "  - id: HOST-HOOK-CHANGED", "    "+secret+": 1"),
		text(`x: "` + secret),
		text("rules:", "  - id: "+secret),
	} {
		for _, files := range []policy.Files{explicit(f), workspace(policy.Unified, f)} {
			e := policy.Load(files, catalogue(t))
			if len(e.Diagnostics) == 0 || strings.Contains(e.Diagnostics[0].Message, secret) {
				t.Errorf("diagnostics %+v", e.Diagnostics)
			}
		}
	}
	e := policy.Load(explicit(text("id: a", "rules:", "  - id: HOST-HOOK-CHANGED", "    acton: block", "    riskk: low")), catalogue(t))
	want := []surface.Diagnostic{{
		Level: "error", Code: "policy_unknown_fields", Path: "conf/p.yml",
		Message: "The policy has a member that the format does not know at line 4, column 5 (and 1 more).",
	}}
	if diff := cmp.Diff(want, e.Diagnostics); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

func TestAByteOrderMarkIsReportedAndReadPast(t *testing.T) {
	list := catalogue(t)
	f := raise("HOST-HOOK-CHANGED", "block")
	f.Bytes = append([]byte("\xEF\xBB\xBF"), f.Bytes...)
	e := policy.Load(workspace(policy.Unified, f), list)
	if !slices.Equal(e.Marked, []string{policy.Unified}) || e.Grade(find(t, list, "HOST-HOOK-CHANGED")).Action != rule.Block {
		t.Errorf("marked %v, codes %v", e.Marked, e.Codes)
	}
}
