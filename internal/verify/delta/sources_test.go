package delta_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
)

const depot = `version: "0.1"
project: {name: depot}
agent: {name: clerk, declared_purpose: [keep the stock], sdk: {object: clerk}}
environment: {target: staging}
tool_sources:
  - {id: stock, type: mcp, path: stock.json, binding: {complete: true, reason: reviewed}}
  - {id: code, type: openai_agents_sdk, path: bot.py}
  - {id: orders, type: openapi, path: orders.yaml, binding: {complete: true, reason: reviewed}}
`

const stock = `{"tools": [
 {"name": "get_stock", "description": "Says how much of an article is in stock.", "annotations": {"readOnlyHint": true},
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}, "auth": {"type": "oauth2", "scopes": ["stock:read"]}},
 {"name": "drop_stock", "description": "Takes an article off the list.", "annotations": {"destructiveHint": true},
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}
]}`

const bot = `from agents import Agent, function_tool

@function_tool
def note(text: str) -> str:
    """Writes a note into the shift book."""
    return text

clerk = Agent(name="clerk", tools=[note])
`

const orders = `openapi: 3.1.0
info: {title: orders, version: "1"}
paths:
  /orders/{id}:
    get: {operationId: get_order, summary: Reads one order, responses: {"200": {description: ok}}}
    delete: {operationId: cancel_order, summary: Cancels one order, responses: {"204": {description: ok}}}
`

// depotSide is a side that was really read.
func depotSide(t *testing.T, files map[string]string) *effect.Surface {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range map[string]string{"shipgate.yaml": depot, "stock.json": stock, "bot.py": bot, "orders.yaml": orders} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m, err := manifest.Load(tree["shipgate.yaml"].Data, manifest.Options{Today: "2026-06-15"})
	if err != nil {
		t.Fatal(err)
	}
	reading, failed := reader.Read(m, tree)
	if failed != nil {
		t.Fatal(failed)
	}
	s, err := effect.Resolve(m, reading)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRealSourcesAreCompared(t *testing.T) {
	base := locked(t, depotSide(t, nil))
	if n := len(base.Capabilities); n != 5 {
		t.Fatalf("%d capabilities, want 5", n)
	}
	replaced := func(text, old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	tools := strings.Split(strings.TrimSuffix(strings.TrimPrefix(stock, "{\"tools\": [\n"), "\n]}"), ",\n {")
	for _, c := range []struct {
		name  string
		files map[string]string
		same  bool // in what agents can do
		want  string
	}{
		{"a comment in code", map[string]string{"bot.py": "# a comment\n\n" + bot}, true, ""},
		{"a comment in the manifest", map[string]string{"shipgate.yaml": "# a comment\n" + depot}, true, ""},
		{"a list that moved", map[string]string{
			"shipgate.yaml": replaced(depot, "path: stock.json", "path: lists/stock.json"), "lists/stock.json": stock,
		}, true, ""},
		{"a list in another order", map[string]string{"stock.json": "{\"tools\": [\n {" + tools[1] + ",\n" + tools[0] + "\n]}"}, true, ""},
		{"a tool that nobody has", map[string]string{
			"shipgate.yaml": replaced(depot, "tool_sources:\n", "tool_sources:\n  - {id: more, type: mcp, path: more.json}\n"), "more.json": `{"tools": [{"name": "x"}]}`,
		}, true, ""},

		{"a scope", map[string]string{"stock.json": replaced(stock, `"stock:read"`, `"stock:read", "stock:*"`)}, false, "get_stock broadened"},
		{"an input", map[string]string{"stock.json": replaced(stock, `{"id": {"type": "string"}}`, `{"id": {"type": "string"}, "force": {"type": "boolean"}}`)}, false, "get_stock broadened"},
		{"an input of a function", map[string]string{"bot.py": replaced(bot, "text: str", "text: str, author: str = ''")}, false, "note broadened"},
		{"a hint that is gone", map[string]string{"stock.json": replaced(stock, `"readOnlyHint": true`, `"title": "x"`)}, false, "get_stock broadened"},
		{"a hint that is new", map[string]string{"stock.json": replaced(stock, `"destructiveHint": true`, `"readOnlyHint": true`)}, false, "drop_stock narrowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			head := locked(t, depotSide(t, c.files))
			if same := base.Hashes.Semantic == head.Hashes.Semantic; same != c.same {
				t.Errorf("the digest of what agents can do is the same: %v, want %v", same, c.same)
			}
			d := compared(t, base, head)
			var got []string
			for _, row := range append(d.Changed, d.Reidentified...) {
				got = append(got, row.ToolName+" "+string(row.Direction))
			}
			if strings.Join(got, ", ") != c.want || len(d.Added)+len(d.Removed) != 0 {
				t.Errorf("%q, want %q:\n%s", got, c.want, d.Markdown())
			}
		})
	}
}

// Code that moves changes who a tool is, by design (§5.4: a function is known by
// its file); nothing is lost on the way.
func TestCodeThatMovesIsRemovedAndAdded(t *testing.T) {
	base := locked(t, depotSide(t, nil))
	head := locked(t, depotSide(t, map[string]string{"shipgate.yaml": strings.Replace(depot, "path: bot.py", "path: app/bot.py", 1), "app/bot.py": bot}))
	d := compared(t, base, head)
	if len(d.Added) != 1 || len(d.Removed) != 1 || d.Added[0].Identity.ToolName != "note" || d.Removed[0].Identity.ToolName != "note" {
		t.Errorf("%s", d.Markdown())
	}
}

func TestActionsOfRealSources(t *testing.T) {
	base := depotSide(t, nil)
	head := depotSide(t, map[string]string{"orders.yaml": strings.Replace(orders, "    get: {", "    post: {", 1)})
	var got []string
	for _, r := range delta.DiffActions(base, head).Rows {
		got = append(got, string(r.Type)+" "+r.ToolName)
	}
	// Another method is another operation.
	for _, want := range []string{"ACTION_ADDED get_order", "ACTION_REMOVED get_order"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("no %s among %q", want, got)
		}
	}
	if len(got) != 2 {
		t.Errorf("%q", got)
	}
}
