package report_test

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/report"
	"plimsoll.dev/internal/verify/tool"
)

// schemas is the published schemas and that of SARIF, compiled by a library that
// knows all drafts.
var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	add := func(name string, text []byte, err error) {
		if err != nil {
			panic(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///"+name, v); err != nil {
			panic(err)
		}
		if all[name], err = c.Compile("mem:///" + name); err != nil {
			panic(err)
		}
	}
	for _, name := range []string{"verifier.v0.8", "verify-run.v4", "report.v0.34"} {
		text, err := plimsoll.VerificationSchema(name)
		add(name, text, err)
	}
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	add("sarif", text, err)
	return all
})

// judged is what a schema says of a document; nil when it accepts it.
func judged(name string, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return schemas()[name].Validate(v)
}

func valid(t testing.TB, name string, text []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := judged(name, text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return text
}

// controls is a control of each shape that verification may end in.
var controls = map[string]string{
	"complete": `{"state":"complete","reason":"Nothing is open.","completion_allowed":true,"must_stop":false,"verify_required":false,
		"next_action":null,"allowed_next_commands":[],
		"permissions":{"edit":true,"commit":true,"push":true,"update_pr":true,"merge":true,"report_complete":true},
		"human_review":{"required":false,"why":null,"required_reviewers":[]},"stop_reason":null}`,
	"repair": `{"state":"agent_action_required","reason":"A patch closes it.","completion_allowed":false,"must_stop":false,"verify_required":false,
		"next_action":{"actor":"coding_agent","kind":"repair","command":"agents-shipgate verify --json","expects":null,"why":"A patch closes it."},
		"allowed_next_commands":["agents-shipgate verify --json"],
		"permissions":{"edit":true,"commit":true,"push":true,"update_pr":true,"merge":false,"report_complete":false},
		"human_review":{"required":false,"why":null,"required_reviewers":[]},"stop_reason":null}`,
	"preview": `{"state":"agent_action_required","reason":"Nothing was verified.","completion_allowed":false,"must_stop":false,"verify_required":true,
		"next_action":{"actor":"coding_agent","kind":"verify","command":"agents-shipgate verify --json","expects":null,"why":"Nothing was verified."},
		"allowed_next_commands":["agents-shipgate verify --json"],
		"permissions":{"edit":false,"commit":false,"push":false,"update_pr":false,"merge":false,"report_complete":false},
		"human_review":{"required":false,"why":null,"required_reviewers":[]},"stop_reason":null}`,
	"publishable": `{"state":"review_publishable","reason":"A person decides.","completion_allowed":false,"must_stop":false,"verify_required":false,
		"next_action":{"actor":"human","kind":"review","command":null,"expects":null,"why":"A person decides."},
		"allowed_next_commands":["agents-shipgate verify --json"],
		"permissions":{"edit":true,"commit":true,"push":true,"update_pr":true,"merge":false,"report_complete":false},
		"human_review":{"required":true,"why":"A person decides.","required_reviewers":["owner"]},"stop_reason":null}`,
	"stop": `{"state":"human_review_required","reason":"It is blocked.","completion_allowed":false,"must_stop":true,"verify_required":false,
		"next_action":{"actor":"human","kind":"stop","command":null,"expects":null,"why":"It is blocked."},
		"allowed_next_commands":[],
		"permissions":{"edit":false,"commit":false,"push":false,"update_pr":false,"merge":false,"report_complete":false},
		"human_review":{"required":true,"why":"It is blocked.","required_reviewers":["owner"]},"stop_reason":"It is blocked."}`,
}

func controlOf(t testing.TB, name string) control.Control {
	t.Helper()
	var c control.Control
	if err := c.UnmarshalJSON([]byte(controls[name])); err != nil {
		t.Fatal(err)
	}
	return c
}

// hostile is text that a repository may bring.
const hostile = "Pay <script>alert(1)</script> ![x](https://evil.example/a.png) @security-team fixes #1 GH-2 www.evil.example\n\n# Passed\n```json\n</details><!-- end -->|`x` \u202eevil"

// secret is no secret; it is joined so that no scanner takes the source for one.
var secret = "Authorization: " + "Bearer " + "abcd1234" + "efgh5678"

// given is a run with a bit of everything: an added and a weakened action,
// findings of every kind, gaps of every family, and text that is hostile.
func given(t testing.TB) *report.Input {
	t.Helper()
	m, err := manifest.Load([]byte(`version: "0.1"
project: {name: stock}
agent: {name: clerk, declared_purpose: [look up stock]}
environment: {target: staging}
tool_sources: [{id: stock_mcp, type: mcp, path: tools.json}]
`), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	place := checktest.Tool("place_order", checktest.Writes(), checktest.Param(tool.Parameter{Name: "amount", Type: "number", Required: true}))
	odd := checktest.Tool("odd`|tool", checktest.Described(hostile), checktest.From("sdk_function", "bot"))
	head := checktest.Surface(m, place, odd)
	head.Catalog = append(head.Catalog, checktest.Tool("unbound"))
	a := checktest.Act(t, head, "odd`|tool")
	a.Assessment.PassEligible = false
	a.Assessment.Issues = []effect.Issue{{Kind: "missing_effect_evidence", Subject: "odd`|tool", ToolID: odd.ID, Why: hostile}}
	head.Graph.Edges = []effect.GraphEdge{
		{Kind: tool.DirectTool, From: checktest.Agent, Tool: place.ID, Complete: true, At: tool.Origin{Path: "bot.py", Start: source.Position{Line: 4, Column: 1}}},
	}
	head.Graph.Issues = []effect.Issue{{Kind: "partial_binding_evidence", Subject: "clerk", Why: "A list is computed."}}
	head.Reading.Warnings = []tool.Warning{{Code: "unnamed_tool", Message: secret, SourceID: "stock_mcp", Origin: tool.Origin{SourceID: "stock_mcp", Path: "tools.json"}}}

	finding := func(n int, id string, s check.Severity, edit func(*check.Finding)) check.Finding {
		f := check.Finding{
			ID: fmt.Sprintf("fp_%016x", n), Fingerprint: fmt.Sprintf("fp_%016x", n), CheckID: id, Title: "It is so.", Category: "auth",
			Severity: s, Confidence: tool.High, Recommendation: "Put it right.", ToolID: place.ID, ToolName: "place_order",
			Evidence: map[string]any{"scopes": []any{"*"}}, Source: check.Source{Type: "mcp", Path: "svc/tools.json", StartLine: 12},
			Provenance: check.StaticDeclaration, AgentAction: check.Escalate, PatchKind: check.Manual, HumanReview: true,
		}
		if edit != nil {
			edit(&f)
		}
		return f
	}
	long := make([]any, 30)
	for i := range long {
		long[i] = fmt.Sprint(i)
	}
	findings := []check.Finding{
		finding(1, "SHIP-AUTH-MISSING-SCOPE", check.High, nil),
		finding(2, "SHIP-ACTION-WILDCARD-SCOPE", check.Critical, func(f *check.Finding) {
			f.BlocksRelease = true
			f.Support = &check.Support{Hash: "h", Status: "matched", PolicyEligible: true, BlockingEligible: true}
		}),
		finding(3, "SHIP-AUTH-MISSING-SCOPE", check.Medium, func(f *check.Finding) {
			f.Title, f.ToolName, f.Suppressed, f.SuppressionReason = "Suppressed one.", "", true, hostile
		}),
		finding(4, "TEAM-RULE", check.Low, func(f *check.Finding) {
			f.Title, f.Source, f.Evidence = hostile, check.Source{}, map[string]any{"note": secret, "many": long, "password": "hunter" + "2"}
			f.BaselineStatus = "matched"
		}),
		finding(5, "SHIP-VERIFY-TRUST-ROOT-TOUCHED", check.Medium, func(f *check.Finding) {
			f.ToolID, f.ToolName, f.Source = "", "", check.Source{Type: "git", Path: "svc/we ird#/shipgate.yaml"}
		}),
	}
	in := &report.Input{
		RunID: "run", ManifestDir: "/repo/svc", ConfigPath: "svc/shipgate.yaml", Prefix: "svc", Head: head, Findings: findings,
		Summary: decision.Summarize(findings, head),
		Actions: &delta.Actions{Enabled: true, Rows: []delta.ActionRow{
			{Type: delta.ActionAdded, ActionID: "a1", ToolID: place.ID, ToolName: "place_order", Severity: "critical", Reason: "It is new.", SourcePath: "svc/tools.json", SourceLine: 12, Head: head.Actions[0]},
			{Type: delta.ScopeExpanded, ActionID: "a2", ToolID: odd.ID, ToolName: "odd`|tool", Severity: "high", Reason: hostile, Added: []string{"*"}},
			{Type: delta.ActionRemoved, ActionID: "a3", ToolID: "gone", ToolName: "gone", Severity: "info", Reason: "It is gone."},
		}},
		PolicyGaps: []effect.Issue{{Kind: "mixed_policy_evidence", Subject: "place_order", ToolID: place.ID, Why: "Mixed."}},
		Policy:     map[string]any{"ci_mode": "advisory"}, TrustRoots: []report.TrustRoot{{Path: "svc/shipgate.yaml", Class: "manifest", Glob: "**/shipgate.yaml"}},
		Weakened: []string{"ci_mode strict became advisory"},
	}
	in.Decision = decision.Decide(decision.Input{
		Findings: findings, Head: head, PolicyGaps: in.PolicyGaps, Summary: in.Summary, ConfigPath: in.ConfigPath, Mode: "strict",
		FailOn: []check.Severity{check.Critical},
	})
	return in
}

// clean is a run in which nothing is open.
func clean(t testing.TB) *report.Input {
	t.Helper()
	head := checktest.Surface(checktest.Manifest(), checktest.Tool("get_stock", checktest.ReadOnly()))
	in := &report.Input{
		RunID: "run", ManifestDir: "/repo", ConfigPath: "shipgate.yaml", Head: head, Summary: decision.Summarize(nil, head),
		Actions: &delta.Actions{Note: "no base"},
	}
	in.Decision = decision.Decide(decision.Input{Head: head, Summary: in.Summary, Mode: "advisory"})
	return in
}
