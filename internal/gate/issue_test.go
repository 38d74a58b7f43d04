package gate_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
)

func diagnostics(r *gate.Result, code string) []gate.Diagnostic {
	var list []gate.Diagnostic
	for _, d := range r.Diagnostics {
		if d.Code == code {
			list = append(list, d)
		}
	}
	return list
}

func TestAnIssueIsOneRowOneCodeAndOneDiagnostic(t *testing.T) {
	r := check(t, change{files: files{settings: added("{}")}, more: func(in *gate.Input) {
		unresolvedBy("boundary_input_binary")(in)
		issue("boundary_input_binary", settings)(in)
	}})
	n := 0
	for _, row := range rows(r) {
		if row == "BOUNDARY-INPUT-INCOMPLETE boundary_input_unresolved "+settings {
			n++
		}
	}
	d := diagnostics(r, "boundary_input_binary")
	if n != 1 || !slices.Equal(r.Issues, []string{"boundary_input_binary"}) || len(d) != 1 || d[0].Level != "error" || d[0].Path != settings {
		t.Errorf("%d rows, issues %v, diagnostics %v", n, r.Issues, d)
	}
	if len(diagnostics(r, "content_source")) > 0 {
		t.Error("a side that Git could not show is not content that could not be rebuilt")
	}
}

func TestASideThatIsNotKnownIsAnIssueByItself(t *testing.T) {
	r := check(t, change{files: files{settings: added("{}")}, more: func(in *gate.Input) {
		in.Changes[0].New.Unresolved = "boundary_input_oversized"
	}})
	if !slices.Equal(r.Issues, []string{"boundary_input_oversized"}) || r.Control.State() != personStops {
		t.Errorf("issues %v, state %s", r.Issues, r.Control.State())
	}
}

func TestContentSourcesNameTheAfterState(t *testing.T) {
	r := check(t, change{files: files{codexConfig: added("model = \"m\"\n"), settings: edited("{}", wildcard)}, more: staged(settings, "{}", `{"model":"m"}`)})
	var got []string
	for _, d := range diagnostics(r, "content_source") {
		got = append(got, d.Level+" "+d.Path+" "+d.Message)
	}
	want := []string{
		"info .claude/settings.json Both sides of the file were read (git_index).",
		"info .claude/settings.json Both sides of the file were read (git_worktree).",
		"info .codex/config.toml Both sides of the file were read (git_worktree).",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

func TestContentThatCouldNotBeRebuiltIsAWarningAndAnIssue(t *testing.T) {
	r := check(t, change{files: files{codexConfig: added(fullAccess)}, mode: gate.ProvidedDiff, more: unresolvedBy("diff_workspace_mismatch")})
	d := diagnostics(r, "content_source")
	if len(d) != 1 || d[0].Level != "warning" || !strings.Contains(d[0].Message, "diff_workspace_mismatch") || !slices.Equal(r.Issues, []string{"content_source"}) {
		t.Errorf("diagnostics %v, issues %v", d, r.Issues)
	}
	if !slices.Contains(rows(r), "CODEX-CONFIG-PARSE-FAILED codex_config_content_unresolved "+codexConfig) {
		t.Errorf("rows %v", rows(r))
	}
}

func TestAMalformedPolicyThatIsNotInUseIsAFileLikeAnyOther(t *testing.T) {
	other := "policies/other.shipgate.yaml"
	r := check(t, change{files: files{other: added("a: [\n")}})
	if !slices.Equal(r.Issues, []string{"host_inventory_parse_failed"}) {
		t.Errorf("issues %v", r.Issues)
	}
	r = check(t, change{files: files{unified: edited("rules: []\n", "a: [\n")}})
	if !slices.Equal(r.Issues, []string{"policy_load_failed"}) {
		t.Errorf("the policy in use has the issues %v", r.Issues)
	}
}

func TestDiagnosticsAreSortedAndUnique(t *testing.T) {
	r := check(t, change{files: files{settings: added("\xEF\xBB\xBF{}"), ".mcp.json": added("\xEF\xBB\xBF{}")}, more: func(in *gate.Input) {
		in.Diagnostics = append(in.Diagnostics, in.Diagnostics...)
	}})
	d := diagnostics(r, "byte_order_mark")
	if len(d) != 2 || d[0].Path != settings || d[1].Path != ".mcp.json" || d[0].Level != "info" {
		t.Errorf("%v", d)
	}
	if r = check(t, change{files: files{".codex/hooks.json": added("\xEF\xBB\xBF{}")}}); len(diagnostics(r, "byte_order_mark")) > 0 || r.Control.State() != personStops {
		t.Errorf("the Codex hooks reader refuses the mark: %v", rows(r))
	}
}
