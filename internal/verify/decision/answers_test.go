package decision_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
)

// sideOf reads a small repository as a run does.
func sideOf(t *testing.T, text string, files map[string]string) *effect.Surface {
	t.Helper()
	m, err := manifest.Load([]byte(text), manifest.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	tree := fstest.MapFS{}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	r, failed := reader.Read(m, tree)
	if failed != nil {
		t.Fatal(failed)
	}
	s, err := effect.Resolve(m, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A person who answers what each gap asks, with the first value that it offers,
// and does nothing else, comes to an end.
func TestAnswersComeToAnEnd(t *testing.T) {
	const tools = `{"tools": [
		{"name": "get_stock", "description": "Stock of one item.", "inputSchema": {"type": "object", "properties": {}}},
		{"name": "place_order", "description": "Orders items.", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
		 "annotations": {"readOnlyHint": true}}
	]}`
	const twins = `{"tools": [{"name": "get_stock", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": true}}]}`
	const head = "version: \"0.1\"\nproject: {name: stock}\nagent: {name: clerk, declared_purpose: [look up stock]}\nenvironment: {target: staging}\n"
	const bot = `from agents import Agent, function_tool

@function_tool
def get_stock(item: str) -> str:
    """Stock of one item."""
    return item

a = Agent(name="a", tools=[get_stock])
b = Agent(name="b", tools=[get_stock])
`
	for _, c := range []struct {
		name, manifest string
		files          map[string]string
		first          string // kind of the gap that is asked about first
	}{
		{
			"nothing is declared", head + "tool_sources:\n  - {id: mcp, type: mcp, path: tools.json}\n",
			map[string]string{"tools.json": tools},
			"ambiguous_root_agent",
		},
		{
			"a control names a tool that is not there",
			head + "tool_sources: [{id: mcp, type: mcp, path: tools.json}]\npolicies:\n  require_approval_for_tools:\n    - place_ordr\n",
			map[string]string{"tools.json": tools},
			"ambiguous_root_agent",
		},
		{
			"two sources have the name that a control names",
			head + "tool_sources:\n  - {id: mcp, type: mcp, path: tools.json}\n  - {id: old, type: mcp, path: old.json}\npolicies: {require_approval_for_tools: [get_stock]}\n",
			map[string]string{"tools.json": tools, "old.json": twins},
			"ambiguous_root_agent",
		},
		{
			"two agents, neither called",
			head + "tool_sources: [{id: bot, type: openai_agents_sdk, path: bot.py}]\n",
			map[string]string{"bot.py": bot},
			"ambiguous_root_agent",
		},
		{
			"a source whose authority and binding are declared",
			head + "tool_sources: [{id: mcp, type: mcp, path: tools.json, authority: {mode: scoped, auth_type: oauth2, scopes: ['stock:read']}, " +
				"binding: {complete: true, reason: reviewed}}]\n",
			map[string]string{"tools.json": tools},
			"missing_effect_evidence",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.manifest
			for step := 0; ; step++ {
				gaps := decision.Gaps(decision.Input{Head: sideOf(t, text, c.files)})
				if step == 0 && (len(gaps) == 0 || gaps[0].Kind != c.first) {
					t.Fatalf("asked about first: %+v", gaps)
				}
				i := slices.IndexFunc(gaps, func(g decision.Gap) bool { return g.Next.Template != nil && len(g.Next.Accepted) > 0 })
				if i < 0 {
					return
				}
				if step == 20 {
					t.Fatalf("no end; still open: %+v\n%s", gaps[i], text)
				}
				n := gaps[i].Next
				text = string(applied(t, text, filled(n.Template.EditsFor(n.Accepted[0]), n.Template.Key, n.Accepted[0])))
			}
		})
	}
}
