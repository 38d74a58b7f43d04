package gate_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// fixable is a rule that exists in tests only: an agent may repair what it finds
// (§7.6).
var fixable = rule.Rule{
	ID: "TEST-FIXABLE", CheckID: "SHIP-TEST-FIXABLE", Family: rule.HostFamily, Action: rule.Block, Risk: rule.High,
	Title: "A line that an agent may take out", Recommendation: "Take the line out.", AgentSafe: true,
	Kinds: []string{"fixable_line"},
	Check: func(p *rule.Pass) {
		for _, s := range p.Surfaces {
			if bytes.Contains(s.New.Bytes, []byte("take me out")) {
				p.Report(s.Path, 1, "fixable_line")
			}
		}
	},
}

func TestAnAgentRepairsWhatOnlyItsRulesBlock(t *testing.T) {
	checker := gate.Checker{Rules: append([]*rule.Rule{&fixable}, rule.Catalogue()...), Version: gate.ToolVersion}
	judge := func(c change) *gate.Result {
		t.Helper()
		r, err := checker.Check(c.input())
		if err != nil {
			t.Fatal(err)
		}
		sound(t, r)
		return r
	}
	const rerun = "shipgate check --agent cursor --workspace . --format agent-boundary-json"

	before := judge(change{files: files{codexConfig: added("# take me out\nmodel = \"m\"\n")}, actor: gate.ActorCursor})
	if before.Decision != rule.Block || before.Control.State() != agentAction || before.Control.NextAction().Kind != control.Repair {
		t.Fatalf("the repair route is not taken:\n%s", before.JSON())
	}
	if !before.Repair.SafeToAttempt || before.Repair.Actor != control.CodingAgent || before.Repair.Command != rerun ||
		!slices.Equal(before.Repair.Instructions, []string{"Take the line out.", rerun}) || len(before.Repair.ForbiddenShortcuts) != 4 {
		t.Errorf("repair %+v", before.Repair)
	}
	if before.Control.AllowedNextCommands()[0] != rerun || before.Control.Permissions() != (control.Permissions{}) {
		t.Errorf("commands %v, permissions %+v", before.Control.AllowedNextCommands(), before.Control.Permissions())
	}

	after := judge(change{files: files{codexConfig: added("model = \"m\"\n")}})
	if after.Control.State() != complete || after.Repair.SafeToAttempt {
		t.Errorf("the repaired change is %s", after.Control.State())
	}

	beside := judge(change{files: files{codexConfig: added("# take me out\n" + fullAccess)}})
	if beside.Control.State() != personStops || beside.Repair.SafeToAttempt {
		t.Errorf("with a person's row beside it the change is %s", beside.Control.State())
	}
}

func TestNoShippedRuleIsAgentSafe(t *testing.T) {
	for _, r := range rule.Catalogue() {
		if r.AgentSafe {
			t.Errorf("%s may be repaired by an agent", r.ID)
		}
	}
}

// TestSecretsStayOut puts a sentinel wherever a change can carry one.
func TestSecretsStayOut(t *testing.T) {
	const secret = "sk-live-sentinel"
	cases := map[string]change{
		"allow-rule argument": {files: files{settings: added(`{"permissions":{"allow":["Bash(curl -H ` + secret + `)"]}}`)}},
		"MCP header":          {files: files{".mcp.json": added(`{"mcpServers":{"t":{"url":"https://t.test/` + secret + `?k=` + secret + `","headers":{"Authorization":"` + secret + `"}}}}`)}},
		"MCP env and args":    {files: files{".mcp.json": added(`{"mcpServers":{"t":{"command":"npx","args":["` + secret + `"],"env":{"K":"` + secret + `"}}}}`)}},
		"malformed JSON":      {files: files{settings: added(`{"` + secret + `": `)}},
		"malformed TOML":      {files: files{codexConfig: added(`x = "` + secret + "\n")}},
		"malformed YAML":      {files: files{".github/workflows/x.yml": added("a: [" + secret + "\n")}},
		"malformed policy":    {files: files{unified: edited("id: a\n", "id: ["+secret+"\n")}},
		"hook command":        {files: files{".codex/hooks.json": added(`{"hooks":{"Stop":[{"type":"command","command":"x --token=` + secret + `"}]}}`)}},
		"a policy's words": {
			files:    files{settings: added(makeLint)},
			policies: map[string]string{unified: "rules:\n  - {id: HOST-PERMISSION-ALLOW-EXPANDED, title: 'Bearer " + secret + "', recommendation: 'API_TOKEN=" + secret + "'}\n"},
		},
		"a diagnostic": {more: func(in *gate.Input) {
			in.Diagnostics = append(in.Diagnostics, surface.Diagnostic{Level: "info", Code: "content_source", Message: "Bearer " + secret})
		}},
	}
	for name, c := range cases {
		r := check(t, c)
		for _, out := range [][]byte{r.JSON(), r.CodexJSON(), r.Text(false)} {
			if bytes.Contains(out, []byte(secret)) {
				t.Errorf("%s: the secret is printed\n%s", name, out)
			}
		}
	}
}

func TestTheDeprecatedFormatIsTheSameEvaluation(t *testing.T) {
	r := check(t, change{files: files{codexConfig: added(fullAccess)}})
	old := decodeAny(t, r.CodexJSON())
	for _, gone := range []string{
		"actor", "input_mode", "scope", "input_coverage", "host_coverage", "affected_hosts", "policies", "policy_set_sha256", "issues",
		"violations", "pending_review", "static_analysis_only", "runtime_session_verified", "excluded_scopes",
	} {
		if _, there := old[gone]; there {
			t.Errorf("%s is still there", gone)
		}
	}
	ctl := old["control"].(map[string]any)
	if _, there := ctl["permissions"]; there || ctl["state"] != "human_review_required" || ctl["must_stop"] != true || ctl["stop_reason"] != "Codex sandbox switched off" {
		t.Errorf("control %v", ctl)
	}
	if old["schema_version"] != gate.CodexSchemaVersion || old["audit_id"] != r.CodexID() || !strings.HasPrefix(r.CodexID(), "codex_boundary_") {
		t.Errorf("ids %v, %v", old["schema_version"], old["audit_id"])
	}
	if policy := old["policy"].(map[string]any); policy["id"] != "agent-boundary" {
		t.Errorf("policy %v is not the aggregate", policy)
	}
	missing := decodeAny(t, gate.MissingInstall().CodexJSON())
	if missing["audit_id"] != "missing_install_pipx" {
		t.Errorf("the install result has the id %v", missing["audit_id"])
	}
}

func TestListsAreNeverNull(t *testing.T) {
	for _, r := range []*gate.Result{
		check(t, change{}), check(t, change{files: files{settings: added(wildcard)}}), gate.MissingInstall(),
		gate.ErrorResult(gate.ErrorInput{Actor: gate.ActorCodex, Mode: gate.Worktree, Failure: gate.NoRepository}),
	} {
		for name, v := range decodeAny(t, r.JSON()) {
			if v == nil {
				t.Errorf("%s is null", name)
			}
		}
	}
}

func TestAffectedFilesAndAdviceAreBounded(t *testing.T) {
	many := files{}
	for _, a := range "abcdefghijklmnopqrstuvwxyz" {
		many["prompts/"+string(a)+".md"] = added("a\n")
	}
	r := check(t, change{files: many})
	if len(r.AffectedFiles) != 20 || r.AffectedFiles[0].Path != "prompts/a.md" || len(r.SuggestedFixes) != 5 || len(r.Repair.Instructions) != 5 || len(r.PendingReview) != 26 {
		t.Errorf("%d files, %d fixes, %d instructions, %d pending", len(r.AffectedFiles), len(r.SuggestedFixes), len(r.Repair.Instructions), len(r.PendingReview))
	}
	r = check(t, change{files: files{codexConfig: added("model = \"m\"\n"), "a.md": added("a\n")}})
	if len(r.AffectedFiles) != 2 {
		t.Errorf("without rows the change itself is affected: %v", r.AffectedFiles)
	}
	r = check(t, change{adopted: true})
	if !slices.Equal(r.SuggestedFixes, r.Control.AllowedNextCommands()) || len(r.AgentRepairInstructions) != 0 || r.Repair.Actor != control.CodingAgent {
		t.Errorf("without rows the commands of the route are the fix: %v", r.SuggestedFixes)
	}
	r = check(t, change{files: files{"prompts/a.md": added("a\n")}, mode: gate.ProvidedDiff})
	if len(r.SuggestedFixes) != 1 || r.SuggestedFixes[0] != r.Control.Reason() || r.Summary != r.Control.Reason() {
		t.Errorf("a detached review only explains itself: %v", r.SuggestedFixes)
	}
}

func TestAContradictingResultIsNotEmitted(t *testing.T) {
	clean := func() *gate.Result { return check(t, change{}) }
	open := func() *gate.Result { return check(t, change{files: files{settings: added(makeLint)}}) }
	cases := map[string]*gate.Result{}
	put := func(name string, r *gate.Result, break_ func(*gate.Result)) { break_(r); cases[name] = r }
	put("another actor", clean(), func(r *gate.Result) { r.Actor = gate.ActorCursor })
	put("other violated rules", open(), func(r *gate.Result) { r.ViolatedRules = nil })
	put("complete with partial input", clean(), func(r *gate.Result) { r.InputCoverage = gate.CoveragePartial })
	put("complete with a partial adapter", clean(), func(r *gate.Result) { r.HostCoverage[0].Status = gate.StatusPartial })
	put("complete with an experimental adapter", clean(), func(r *gate.Result) { r.HostCoverage[3].Status = gate.StatusExperimental })
	put("complete with pending review", clean(), func(r *gate.Result) { r.PendingReview = []control.Pending{{}} })
	put("complete with a repair", clean(), func(r *gate.Result) { r.Repair.SafeToAttempt = true })
	put("publishing a block", open(), func(r *gate.Result) { r.Decision = rule.Block })
	put("publishing unread input", open(), func(r *gate.Result) { r.InputCoverage = gate.CoverageUnknown })
	put("other reviewers", open(), func(r *gate.Result) { r.RequiredReviewers = nil })
	for name, r := range cases {
		if r.Contradiction() == nil {
			t.Errorf("%s would be emitted", name)
		}
		if _, err := gate.Decode(r.JSON()); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s would be read: %v", name, err)
		}
	}
}

func TestARuleThatBreaksTheContractLeavesNoResult(t *testing.T) {
	// A catch-all that was lost would let an experimental path complete.
	var rules []*rule.Rule
	for _, r := range rule.Catalogue() {
		if r.Family != rule.GenericFamily {
			rules = append(rules, r)
		}
	}
	r, err := gate.Checker{Rules: rules}.Check(change{files: files{".vscode/mcp.json": added("{}")}}.input())
	if err == nil && r.Control.State() == complete {
		t.Errorf("an experimental path completed:\n%s", r.JSON())
	}
}

func TestDecodeRefusesWhatIsNoResult(t *testing.T) {
	good := string(check(t, change{files: files{settings: added(makeLint)}}).JSON())
	for name, text := range map[string]string{
		"nothing":              "",
		"no JSON":              "{",
		"two documents":        good + good,
		"the deprecated":       strings.Replace(good, gate.SchemaVersion, gate.CodexSchemaVersion, 1),
		"a merge permission":   strings.Replace(good, `"merge": false`, `"merge": true`, 1),
		"evidence that is new": strings.Replace(good, `"kind": "permission_allow_expanded"`, `"kind": "permission_allow_narrowed"`, 1),
		"a list as evidence":   `{"schema_version":"` + gate.SchemaVersion + `","violations":[{"evidence":[]}]}`,
	} {
		if _, err := gate.Decode([]byte(text)); fault.KindOf(err) != fault.Invalid || err == nil {
			t.Errorf("%s was read: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(gate.MissingInstall().JSON())
	r, err := gate.Check(change{files: files{settings: added(wildcard)}}.input())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.JSON())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := gate.Decode(data)
		if err != nil {
			return
		}
		again, err := gate.Decode(r.JSON())
		if err != nil || !bytes.Equal(again.JSON(), r.JSON()) {
			t.Fatalf("decode of encode is not stable: %v", err)
		}
		if p := r.Control.Permissions(); p.Merge && r.Control.State() != control.Complete {
			t.Fatal("a merge was allowed")
		}
		r.Text(false)
		r.CodexJSON()
	})
}
