package decision_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

func TestAnInventoryIsAskedForUnderTheKeyOfItsFramework(t *testing.T) {
	for framework, pointer := range map[string]string{
		"google_adk": "/google_adk/tool_inventories", "langchain": "/langchain/tool_inventories", "crewai": "/crewai/tool_inventories",
		"n8n": "/n8n/tool_inventories", "codex_plugin": "/codex_plugins/mcp_tool_inventories",
		"openai_agents_sdk": "/tool_sources", "mcp_server": "/tool_sources",
	} {
		t.Run(framework, func(t *testing.T) {
			m, err := manifest.Load([]byte(bare), manifest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := checktest.Surface(m, checktest.Tool("place_order"))
			for range 5 {
				s.Reading.Dynamic = append(s.Reading.Dynamic, tool.Dynamic{
					Framework: framework, Kind: "tool_list", Reason: "runtime_call", Name: "secret_stash",
					Origin: tool.Origin{SourceID: "stock_mcp", Type: "sdk_function", Path: "bot.py", Start: source.Position{Line: 7, Column: 1}},
				})
			}
			d := decision.Decide(decision.Input{Head: s})
			if d.Coverage.SourceWarnings != 1 || len(d.Coverage.Gaps) != 1 || d.Decision != decision.ReviewRequired {
				t.Fatalf("five symbols of one source are one group: %+v", d.Coverage)
			}
			g := d.Coverage.Gaps[0]
			if g.Next.Kind != "declare_tool_inventory" || g.Next.Template.Edits[0].Pointer != pointer {
				t.Errorf("asks at %s to %s", g.Next.Template.Edits[0].Pointer, g.Next.Kind)
			}
			if !strings.Contains(g.Why, "5 places") || !strings.Contains(g.Why, "bot.py:7") {
				t.Errorf("why: %s", g.Why)
			}
			answered(t, bare, g.Next)

			var inventory struct {
				Inventories []struct {
					Key     *string `json:"manifest_key"`
					Content struct{ Tools []struct{ Name string } }
				}
			}
			if err := json.Unmarshal(decision.Inventory(s), &inventory); err != nil {
				t.Fatal(err)
			}
			if len(inventory.Inventories) != 1 || len(inventory.Inventories[0].Content.Tools) != 1 || inventory.Inventories[0].Content.Tools[0].Name != "secret_stash" {
				t.Errorf("suggested: %+v", inventory)
			}
			if key := inventory.Inventories[0].Key; (key == nil) != (pointer == "/tool_sources") {
				t.Errorf("key %v for %s", key, framework)
			}
		})
	}
}

func TestAResolvedListIsNoWarning(t *testing.T) {
	s := checktest.Surface(checktest.Manifest(), checktest.Tool("a"))
	s.Reading.Dynamic = []tool.Dynamic{{Framework: "google_adk", Kind: "toolset", Name: "x", Resolved: true}}
	if d := decision.Decide(decision.Input{Head: s}); d.Decision != decision.Passed {
		t.Errorf("decided %s: %s", d.Decision, d.Reason)
	}
	if text := string(decision.Inventory(s)); !strings.Contains(text, `"inventories": []`) {
		t.Errorf("suggested %s", text)
	}
}

func TestASourceThatWasNotReadIsNamedAndNeverPasses(t *testing.T) {
	for state, action := range map[tool.State]string{tool.Missing: "path", tool.Failed: "path", tool.Unsupported: "type"} {
		m, err := manifest.Load([]byte(bare), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := checktest.Surface(m, checktest.Tool("a"))
		s.Reading.Sources = append(s.Reading.Sources, tool.Source{ID: "old_mcp", Type: "mcp", Path: "old.json", State: state})
		d := decision.Decide(decision.Input{Head: s})
		if d.Decision != decision.InsufficientEvidence || !strings.Contains(d.Reason, "old_mcp") {
			t.Errorf("%s: decided %s: %s", state, d.Decision, d.Reason)
		}
		next := d.Coverage.Gaps[0].Next
		if next.Kind != "provide_source" || next.Template.Key != action {
			t.Errorf("%s: asks for %s of %s", state, next.Template.Key, next.Kind)
		}
		answered(t, bare, next)
	}
}

func TestAToolOfAListIsCompletedInTheList(t *testing.T) {
	s := checktest.Surface(checktest.Manifest(), checktest.Tool("a"))
	a := checktest.Act(t, s, "a")
	a.Assessment.PassEligible = false
	a.Assessment.Issues = []effect.Issue{{
		Kind: "incomplete_surface", Subject: "a", ToolID: a.Tool.ID, SourceType: "mcp", SourceRef: "tools.json", Why: "No input schema.",
	}}
	g := decision.Decide(decision.Input{Head: s, ConfigPath: "shipgate.yaml"}).Coverage.Gaps[0]
	if text := string(decision.Declarations([]decision.Gap{g})); !strings.Contains(text, "No declaration closes") {
		t.Errorf("suggested %s", text)
	}
	if g.Next.Path != "tools.json" || !strings.Contains(g.Next.Expects, "tools.json#/tools/0") || g.Next.Template != nil {
		t.Errorf("asks %+v", g.Next)
	}
}

func TestTheSuggestionsAreOneFragmentThatLoadsWhenAnswered(t *testing.T) {
	var gaps []decision.Gap
	for _, kind := range []string{
		"missing_effect_evidence", "missing_authority_evidence", "missing_binding_evidence", "ambiguous_root_agent", "incomplete_surface",
		"partial_binding_evidence",
	} {
		gaps = append(gaps, gapOf(t, bare, kind, ""))
	}
	text := string(decision.Declarations(gaps))
	if n := strings.Count(text, "- tool: place_order\n"); n != 1 {
		t.Errorf("place_order stands %d times:\n%s", n, text)
	}
	if n := strings.Count(text, "agent: root"); n != 1 {
		t.Errorf("root stands %d times:\n%s", n, text)
	}
	rest := strings.Replace(bare, "tool_sources:\n", "", 1)
	rows := rest[strings.Index(rest, "  - {id"):]
	rest = strings.Replace(rest, rows, "", 1)
	merged := rest + strings.Replace(text, "tool_sources:\n", "tool_sources:\n"+rows, 1)

	if _, err := manifest.Load([]byte(merged), manifest.Options{}); err == nil || !strings.Contains(err.Error(), manifest.Review) {
		t.Errorf("unanswered, the manifest is not refused for it: %v\n%s", err, merged)
	}
	for ask, answer := range map[string]string{
		`mode: "<REVIEW_REQUIRED>"`: "mode: scoped", `effect: "<REVIEW_REQUIRED>"`: "effect: write", `complete: "<REVIEW_REQUIRED>"`: "complete: true",
		`tools: ["<REVIEW_REQUIRED>"]`: "tools: [place_order]", `handoffs: ["<REVIEW_REQUIRED>"]`: "handoffs: []",
	} {
		merged = strings.ReplaceAll(merged, ask, answer)
	}
	merged = strings.ReplaceAll(merged, `"<REVIEW_REQUIRED>"`, "answer")
	if _, err := manifest.Load([]byte(merged), manifest.Options{}); err != nil {
		t.Errorf("answered, it does not load: %v\n%s", err, merged)
	}
}

func TestNamesOfTheRepositoryStayInsideOfTheirComment(t *testing.T) {
	m := checktest.Manifest()
	s := checktest.Surface(m, checktest.Tool("x\nci: {mode: advisory}\u2028#"), checktest.Tool("plain"))
	s.Graph.Eligible = false
	s.Graph.Issues = []effect.Issue{{Kind: "missing_binding_evidence", Subject: "root", Why: "None."}}
	text := decision.Declarations(decision.Gaps(decision.Input{Head: s, ConfigPath: "a\nb: c/shipgate.yaml"}))
	v, err := source.ParseYAML(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(v.Members) != 1 || v.Members[0].Key != "agent_bindings" {
		t.Errorf("a name became a key:\n%s", text)
	}
}

func TestNothingAskedIsNothingSuggested(t *testing.T) {
	if text := decision.Declarations(nil); text != nil {
		t.Errorf("suggested %s", text)
	}
}

func TestAGapSaysWhoBroughtItInAndTheVerdictStays(t *testing.T) {
	c := caseCoverage{BindingGaps: 2}
	base := caseCoverage{BindingGaps: 1}
	baseGaps := decision.Gaps(decision.Input{Head: base.side()})
	alone := decision.Decide(decision.Input{Head: c.side()})
	beside := decision.Decide(decision.Input{Head: c.side(), BaseGaps: &baseGaps})

	if alone.Decision != beside.Decision || alone.Reason != beside.Reason {
		t.Errorf("%s became %s", alone.Decision, beside.Decision)
	}
	for i, want := range []string{decision.Inherited, decision.Introduced} {
		if g := beside.Coverage.Gaps[i]; !strings.HasSuffix(g.Why, want) {
			t.Errorf("%s: %q, want it to end with %q", g.Subject, g.Why, want)
		}
		if strings.Contains(alone.Coverage.Gaps[i].Why, "change") {
			t.Errorf("without a base nobody is named: %q", alone.Coverage.Gaps[i].Why)
		}
	}
}

func TestGapsComeInTheOrderOfTheirFamilies(t *testing.T) {
	c := caseCoverage{BindingGaps: 1, SemanticGaps: 1, SourceWarnings: 4}
	d := decision.Decide(decision.Input{Head: c.side(), PolicyGaps: []effect.Issue{{Kind: "mixed_policy_evidence", Subject: "a", Why: "Mixed."}}})
	var order []string
	for _, g := range d.Coverage.Gaps {
		order = append(order, g.Kind)
	}
	want := "partial_binding_evidence missing_effect_evidence mixed_policy_evidence source_warning source_warning source_warning source_warning"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnUnknownKindOfIssueIsNotDropped(t *testing.T) {
	s := checktest.Surface(checktest.Manifest(), checktest.Tool("a"))
	s.Graph.Issues = []effect.Issue{{Kind: "something_new", Subject: "a", Why: "New."}}
	d := decision.Decide(decision.Input{Head: s})
	if d.Decision != decision.InsufficientEvidence || len(d.Coverage.Gaps) != 1 || !strings.Contains(d.Coverage.Gaps[0].Why, "something_new") {
		t.Errorf("decided %s with %+v", d.Decision, d.Coverage.Gaps)
	}
}

func TestAnActionThatMayNotPassAndSaysNoReasonIsAGap(t *testing.T) {
	s := checktest.Surface(checktest.Manifest(), checktest.Tool("a"))
	checktest.Act(t, s, "a").Assessment.PassEligible = false
	if d := decision.Decide(decision.Input{Head: s}); d.Decision != decision.InsufficientEvidence {
		t.Errorf("decided %s", d.Decision)
	}
	s = checktest.Surface(checktest.Manifest(), checktest.Tool("a"))
	s.Graph.Eligible = false
	if d := decision.Decide(decision.Input{Head: s}); d.Decision != decision.InsufficientEvidence {
		t.Errorf("decided %s", d.Decision)
	}
}

func TestTheSameInputIsTheSameBytes(t *testing.T) {
	c := caseCoverage{BindingGaps: 2, SemanticGaps: 2, SourceWarnings: 3}
	first := decision.Declarations(decision.Gaps(decision.Input{Head: c.side()}))
	for range 20 {
		if !bytes.Equal(first, decision.Declarations(decision.Gaps(decision.Input{Head: c.side()}))) {
			t.Fatal("two runs differ")
		}
	}
}
