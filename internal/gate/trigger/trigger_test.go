package trigger_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/trigger"
)

func matched(r trigger.Result) []string {
	var out []string
	for _, m := range r.MatchedRules {
		out = append(out, m.ID)
	}
	return out
}

// example is a change that makes a row hold, or just does not.
type example struct {
	files string // separated by spaces
	text  string
}

func (e example) input() trigger.Input {
	in := trigger.Input{ChangedFiles: strings.Fields(e.files), Agent: "codex"}
	if e.text != "" {
		in.Text = [][]byte{[]byte(e.text)}
	}
	return in
}

// rows is one proof per row of the catalogue.
var rows = []struct {
	id    string
	fires []example
	near  []example
}{
	{
		"TRIGGER-MCP-EXPORT-CHANGED",
		[]example{{files: "exports/my-mcp-tools.json"}, {files: "MCP.JSON"}, {files: ".agents-shipgate/baseline.json"}},
		[]example{{files: "exports/mcp.yaml"}, {files: "mcp/tools.json"}, {files: "sub/.agents-shipgate/baseline.json"}, {files: ".agents-shipgate/sub/x.json"}},
	},
	{
		"TRIGGER-OPENAPI-SPEC-CHANGED",
		[]example{{files: "api/openapi.yaml"}, {files: "v2-OpenAPI.yml"}, {files: "x/openapi.v3.json"}, {files: "swagger.json"}, {files: "a/my-swagger-1.yml"}, {files: "swagger.yaml"}},
		[]example{{files: "openapi.md"}, {files: "openapi/api.yaml"}},
	},
	{
		"TRIGGER-STATIC-TOOL-INVENTORY-CHANGED",
		[]example{{files: "tools/my-openai-tools.json"}, {files: "tools/anthropic-tools.json"}, {files: "tools/x-anthropic-y-tools-z.json"}},
		[]example{{files: "sub/tools/openai-tools.json"}, {files: "tools/openai.json"}, {files: "tools/a/openai-tools.json"}},
	},
	{
		"TRIGGER-CODEX-BOUNDARY-CONFIG-CHANGED",
		[]example{{files: ".codex/config.toml"}, {files: "sub/.codex/hooks.json"}},
		[]example{{files: ".codex/notes.toml"}},
	},
	{
		"TRIGGER-CLAUDE-BOUNDARY-CONFIG-CHANGED",
		[]example{{files: ".claude/settings.json"}, {files: "sub/claude.md"}},
		[]example{{files: "sub/.claude/settings.json"}},
	},
	{
		"TRIGGER-CURSOR-BOUNDARY-CONFIG-CHANGED",
		[]example{{files: ".cursor/cli.json"}, {files: ".cursor/rules/a/b.mdc"}},
		[]example{{files: "sub/.cursor/cli.json"}},
	},
	{
		"TRIGGER-VSCODE-MCP-BOUNDARY-CHANGED",
		[]example{{files: ".vscode/mcp.json"}},
		[]example{{files: ".vscode/settings.json"}},
	},
	{
		"TRIGGER-SHARED-HOST-BOUNDARY-CHANGED",
		[]example{{files: "AGENTS.md"}, {files: ".github/workflows/ci.yml"}},
		[]example{{files: ".github/dependabot.yml"}},
	},
	{
		"TRIGGER-CODEX-PLUGIN-CHANGED",
		[]example{{files: ".codex-plugin/plugin.json"}, {files: "sub/.agents/plugins/marketplace.json"}, {files: "x/.app.json"}, {files: ".mcp.json"}, {files: "pack/SKILL.md"}},
		[]example{{files: ".agents/other.json"}, {files: "app.json"}, {files: "pack/SKILLS.md"}},
	},
	{
		"TRIGGER-N8N-WORKFLOW-CHANGED",
		[]example{{files: "flow.json", text: `+"type": "n8n-nodes-base.httpRequest"`}, {files: "x", text: "n8n-nodes-langchain.agent"}, {files: "x", text: "@n8n/n8n-nodes-langchain"}, {files: "a/my-n8n-flow.json"}, {files: "a/.n8n/x"}},
		[]example{{files: "flow.json", text: "n8n-nodes-based"}, {files: "n8n.yaml"}},
	},
	{
		"TRIGGER-CONDUCTOR-WORKFLOW-CHANGED",
		[]example{{files: "x", text: "CALL_MCP_TOOL"}, {files: "x", text: "LIST_MCP_TOOLS"}, {files: "x", text: "LLM_CHAT_COMPLETE"}, {files: "conductor/a/b.json"}, {files: "x/ai/examples/y.json"}},
		[]example{{files: "x", text: "call_mcp_tool"}, {files: "conductor.json"}},
	},
	{
		"TRIGGER-FUNCTION-TOOL-DECORATOR",
		[]example{{files: "a.py", text: "+@function_tool"}, {files: "a.py", text: "+@tool"}, {files: "a.py", text: "x = FunctionTool(f)"}},
		[]example{{files: "a.py", text: "+tool"}, {files: "a.py", text: "FunctionTool"}},
	},
	{
		"TRIGGER-GOOGLE-ADK-AGENT-TOOLS-CHANGED",
		[]example{{files: "a.py", text: "LlmAgent(\ntools=[x]"}, {files: "a.py", text: "from google.adk import x\nAgent(tools=[x]"}, {files: "a.py", text: "google-adk Agent(tools=["}},
		[]example{{files: "a.py", text: "Agent(tools=[x]"}, {files: "a.py", text: "LlmAgent("}, {files: "a.py", text: "google.adk tools=["}},
	},
	{
		"TRIGGER-PROMPTS-OR-POLICIES",
		[]example{{files: "prompts/a.txt"}, {files: "x/policies/y/z.md"}},
		[]example{{files: "prompts.txt"}, {files: "my-policies/a.txt"}},
	},
	{
		"TRIGGER-SHIPGATE-MANIFEST",
		[]example{{files: "shipgate.yaml"}, {files: "x/Shipgate.yaml"}},
		[]example{{files: "shipgate.yml"}},
	},
	{
		"TRIGGER-SHIPGATE-CI-WORKFLOW",
		[]example{{files: ".github/workflows/agents-shipgate.yml"}, {files: "ci.txt", text: "uses: ThreeMoonsLab/agents-shipgate@v1"}},
		[]example{{files: ".github/workflows/ci.yml"}, {files: "ci.txt", text: "agents-shipgate"}},
	},
	{
		"TRIGGER-FRAMEWORK-VERSION-BUMP",
		[]example{
			{files: "pyproject.toml", text: "openai-agents"},
			{files: "requirements-dev.txt", text: "langchain"},
			{files: "x/package.json", text: "crewai"},
			{files: "poetry.lock", text: "google-adk"},
			{files: "build.gradle", text: "conductor-oss"},
		},
		[]example{{files: "a.py", text: "langchain"}, {files: "pyproject.toml", text: "flask"}},
	},
	{
		"TRIGGER-DOCS-ONLY-NEGATIVE",
		[]example{{files: "README.md docs/a.md"}, {files: "tests/x.json"}, {files: "a/test/b.go"}, {files: "test_a.py a/b_test.py conftest.py"}},
		[]example{
			{files: ""},
			{files: "README.md a.go"},
			{files: "README.MD"},
			{files: "Tests/x.json"},
			{files: "AGENTS.md"},
			{files: "a/SKILL.md"},
			{files: "prompts/a.md"},
			{files: "policies/a.md"},
			{files: "tests/tools.json"},
			{files: "tests/mcp.json"},
			{files: "tests/.codex-plugin/x"},
			{files: "tests/Swagger.yaml"},
		},
	},
}

func TestEveryRowFiresAndHasANearMiss(t *testing.T) {
	for _, row := range rows {
		t.Run(row.id, func(t *testing.T) {
			for _, e := range row.fires {
				if got := matched(trigger.Evaluate(e.input())); !slices.Contains(got, row.id) {
					t.Errorf("%+v: only %v", e, got)
				}
			}
			for _, e := range row.near {
				if got := matched(trigger.Evaluate(e.input())); slices.Contains(got, row.id) {
					t.Errorf("%+v: fires", e)
				}
			}
		})
	}
	proven := []string{"TRIGGER-EXISTING-MANIFEST-PRESENT"} // has a test of its own
	for _, row := range rows {
		proven = append(proven, row.id)
	}
	for _, e := range trigger.Catalogue() {
		if !slices.Contains(proven, e.ID) {
			t.Errorf("%s has no proof", e.ID)
		}
		if !e.Action.Valid() || !e.Class.Valid() || e.Rationale == "" {
			t.Errorf("%s is not well formed: %+v", e.ID, e)
		}
	}
	if len(proven) != len(trigger.Catalogue()) {
		t.Errorf("%d proofs for %d rows", len(proven), len(trigger.Catalogue()))
	}
}

func TestTheCatalogueIsInTheOrderOfTheSpecification(t *testing.T) {
	var got []string
	for _, e := range trigger.Catalogue() {
		got = append(got, e.ID+" "+string(e.Class)+" "+string(e.Action))
	}
	want := []string{
		"TRIGGER-MCP-EXPORT-CHANGED capability run_shipgate",
		"TRIGGER-OPENAPI-SPEC-CHANGED capability run_shipgate",
		"TRIGGER-STATIC-TOOL-INVENTORY-CHANGED capability run_shipgate",
		"TRIGGER-CODEX-BOUNDARY-CONFIG-CHANGED host_boundary run_shipgate",
		"TRIGGER-CLAUDE-BOUNDARY-CONFIG-CHANGED host_boundary run_shipgate",
		"TRIGGER-CURSOR-BOUNDARY-CONFIG-CHANGED host_boundary run_shipgate",
		"TRIGGER-VSCODE-MCP-BOUNDARY-CHANGED host_boundary run_shipgate",
		"TRIGGER-SHARED-HOST-BOUNDARY-CHANGED host_boundary run_shipgate",
		"TRIGGER-CODEX-PLUGIN-CHANGED capability run_shipgate",
		"TRIGGER-N8N-WORKFLOW-CHANGED capability run_shipgate",
		"TRIGGER-CONDUCTOR-WORKFLOW-CHANGED capability run_shipgate",
		"TRIGGER-FUNCTION-TOOL-DECORATOR capability run_shipgate",
		"TRIGGER-GOOGLE-ADK-AGENT-TOOLS-CHANGED capability run_shipgate",
		"TRIGGER-PROMPTS-OR-POLICIES governance run_shipgate",
		"TRIGGER-SHIPGATE-MANIFEST governance run_shipgate",
		"TRIGGER-SHIPGATE-CI-WORKFLOW governance run_shipgate",
		"TRIGGER-EXISTING-MANIFEST-PRESENT adoption force_run",
		"TRIGGER-FRAMEWORK-VERSION-BUMP dependency dry_run",
		"TRIGGER-DOCS-ONLY-NEGATIVE negative skip_shipgate",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// outcome is what the precedence decides.
type outcome struct {
	should, run, skip, force, dry bool
	reason                        trigger.SkipReason
	next                          bool
}

func TestForceBeatsSkipBeatsRunBeatsDryRun(t *testing.T) {
	const docs, decorated = "docs/a.md", "+@tool"
	for _, c := range []struct {
		name string
		in   trigger.Input
		want outcome
	}{
		{"nothing", trigger.Input{}, outcome{reason: trigger.NoMatch}},
		{"no row", trigger.Input{ChangedFiles: []string{"a.go"}}, outcome{reason: trigger.NoMatch}},
		{"a manifest and nothing else", trigger.Input{ManifestPresent: true}, outcome{should: true, run: true, force: true, next: true}},
		{"a manifest and documents", trigger.Input{ManifestPresent: true, ChangedFiles: []string{docs}}, outcome{should: true, run: true, force: true, next: true}},
		{"documents that show a tool", trigger.Input{ChangedFiles: []string{docs}, Text: [][]byte{[]byte(decorated)}}, outcome{skip: true, reason: trigger.SkipRule}},
		{"code that shows a tool", trigger.Input{ChangedFiles: []string{"a.py"}, Text: [][]byte{[]byte(decorated)}}, outcome{should: true, run: true, next: true}},
		{
			"a new framework version",
			trigger.Input{ChangedFiles: []string{"pyproject.toml"}, Text: [][]byte{[]byte("langchain")}},
			outcome{dry: true, reason: trigger.DryRunOnly, next: true},
		},
		{
			"a new framework version beside a tool",
			trigger.Input{ChangedFiles: []string{"pyproject.toml", "a.py"}, Text: [][]byte{[]byte("langchain\n@tool")}},
			outcome{should: true, run: true, next: true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := trigger.Evaluate(c.in)
			got := outcome{should: r.ShouldRun, run: r.RunShipgate, skip: r.Skip, force: r.ForceRun, dry: r.DryRunRecommended, next: r.NextAction != nil}
			if r.SkipReason != nil {
				got.reason = *r.SkipReason
				if !got.reason.Valid() {
					t.Errorf("reason %q", got.reason)
				}
			}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if r.StopConditionsFired || r.StopConditionsEvaluated {
				t.Error("the stop block cannot hold")
			}
		})
	}
}

func TestTokensAreSearchedInEveryTextAndNamedOnce(t *testing.T) {
	r := trigger.Evaluate(trigger.Input{
		ChangedFiles: []string{"flow-n8n.json", "a.py"},
		Text:         [][]byte{[]byte("tools=[x] \xff\xfe"), []byte("LlmAgent( @tool n8n-nodes-base.x google.adk")},
	})
	want := []string{"n8n-nodes-base.", "@tool", "tools=[", "LlmAgent(", "google.adk", "Agent("}
	if d := cmp.Diff(want, r.DiffTokens); d != "" {
		t.Error(d)
	}
	if r := trigger.Evaluate(trigger.Input{Text: [][]byte{[]byte("tools=[ google.adk")}}); len(r.DiffTokens) > 0 {
		t.Errorf("tokens of a row that does not hold: %v", r.DiffTokens)
	}
}

// The samples print this object in full.
func TestTheObjectIsPrintedAsInTheSamples(t *testing.T) {
	for sample, in := range map[string]trigger.Input{
		"complete":           {ChangedFiles: []string{".codex/config.toml"}, Agent: "codex"},
		"graded":             {ChangedFiles: []string{".codex/config.toml"}, Agent: "codex"},
		"review-publishable": {ChangedFiles: []string{".codex/config.toml"}, Agent: "codex"},
		"block":              {ChangedFiles: []string{".claude/settings.json"}, Agent: "claude-code"},
	} {
		text, err := os.ReadFile(filepath.Join("../../../testdata/boundary/authored", sample+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var want struct{ Trigger json.RawMessage }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("  ", "  ")
		if err := e.Encode(trigger.Evaluate(in)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want.Trigger), strings.TrimSpace(b.String())); d != "" {
			t.Errorf("%s: %s", sample, d)
		}
	}
}

func TestNothingIsPrintedAsNullThatIsAList(t *testing.T) {
	text, err := json.Marshal(trigger.Evaluate(trigger.Input{}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema_version":"0.3","should_run":false,"run_shipgate":false,"skip":false,"force_run":false,` +
		`"dry_run_recommended":false,"skip_reason":"no_match","stop_conditions_fired":false,` +
		`"stop_conditions_evaluated":false,"rationale":"0 rule(s) matched.","matched_rules":[],"changed_files":[],` +
		`"diff_tokens":[],"next_action":null}`
	if d := cmp.Diff(want, string(text)); d != "" {
		t.Error(d)
	}
}

func BenchmarkTokensOfALargeDiff(b *testing.B) {
	text := bytes.Repeat([]byte("+ some line of code, tools are = [ not ] here, Agents neither\n"), 1<<19)
	in := trigger.Input{ChangedFiles: []string{"a.go"}, Text: [][]byte{text}}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		trigger.Evaluate(in)
	}
}
