package effect_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/reader"
)

// Every kind of source and block, as its reader gives it: no tool is refused for
// its identity, and every one ends in the catalog under its own source.
func TestWhatTheReadersGiveHasAnIdentity(t *testing.T) {
	const text = `version: "0.1"
project: {name: depot}
agent: {name: bot, declared_purpose: ["look up stock"], sdk: {object: bot}}
environment: {target: local}
tool_sources:
  - {id: kit, type: mcp, path: kit.json}
  - {id: wild, type: mcp, path: wild.json}
  - {id: api, type: openapi, path: api.yaml}
  - {id: code, type: openai_agents_sdk, path: bot.py}
  - {id: chain, type: langchain, path: chain.py}
  - {id: crew, type: crewai, path: crew.py}
  - {id: adk, type: google_adk, path: adk.py}
  - {id: codex, type: codex_config, path: codex}
openai_api: {tools: [openai.json]}
anthropic: {tools: [anthropic.json]}
langchain: {tool_inventories: [inventory.json]}
crewai: {tool_inventories: [inventory.json]}
google_adk: {tool_inventories: [inventory.json]}
n8n: {workflows: [flow.json], tool_inventories: [inventory.json]}
`
	const list = `{"tools": [{"name": "get_stock", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]}`
	tree := fstest.MapFS{}
	for name, content := range map[string]string{
		"kit.json": list, "inventory.json": list, "wild.json": `{"wildcard": true}`,
		"api.yaml":       "openapi: 3.0.0\npaths: {/stock: {get: {operationId: stock}, delete: {operationId: clear}}}\n",
		"bot.py":         "from agents import Agent, function_tool\n\n@function_tool\ndef get_stock(item: str) -> str:\n    \"\"\"Stock.\"\"\"\n    return item\n\nbot = Agent(name=\"bot\", tools=[get_stock])\n",
		"chain.py":       "from langchain_core.tools import tool\nfrom langchain.agents import create_agent\n\n@tool\ndef get_bin(item: str) -> str:\n    \"\"\"Bin.\"\"\"\n    return item\n\nagent = create_agent(\"m\", tools=[get_bin])\n",
		"crew.py":        "from crewai import Agent\nfrom crewai.tools import tool\n\n@tool(\"get_crate\")\ndef get_crate(item: str) -> str:\n    \"\"\"Crate.\"\"\"\n    return item\n\nclerk = Agent(role=\"clerk\", tools=[get_crate])\n",
		"adk.py":         "from google.adk.agents import Agent\n\ndef get_shelf(item: str) -> str:\n    \"\"\"Shelf.\"\"\"\n    return item\n\nroot_agent = Agent(name=\"shelf\", tools=[get_shelf])\n",
		"openai.json":    `[{"type": "function", "function": {"name": "get_box", "parameters": {"type": "object"}}}]`,
		"anthropic.json": `[{"name": "get_sack", "input_schema": {"type": "object"}}]`,
		"flow.json": `{"name": "f", "active": true, "nodes": [{"id": "1", "name": "Agent", "type": "@n8n/n8n-nodes-langchain.agent", "typeVersion": 1, "parameters": {}},
			{"id": "2", "name": "Fetch", "type": "@n8n/n8n-nodes-langchain.toolHttpRequest", "typeVersion": 1, "parameters": {"url": "https://x.example/a", "toolDescription": "Fetch it"}}],
			"connections": {"Fetch": {"ai_tool": [[{"node": "Agent", "type": "ai_tool", "index": 0}]]}}}`,
		"codex/.codex/config.toml": "[mcp_servers.files]\ncommand = \"x\"\nenabled_tools = [\"read\"]\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	m := load(t, text)
	r, failed := reader.Read(m, tree)
	if failed != nil {
		t.Fatal(failed)
	}
	s, err := effect.Resolve(m, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Catalog) != len(r.Tools) {
		t.Errorf("%d tools were read and %d are in the catalog", len(r.Tools), len(s.Catalog))
	}
	var missing []string
	for _, want := range []string{
		"mcp", "openapi", "sdk_function", "langchain_function", "crewai_function", "google_adk_function", "codex_config_mcp", "openai_api",
		"anthropic_api", "langchain_inventory", "crewai_inventory", "google_adk_inventory", "n8n_inventory", "n8n_http_tool",
	} {
		if !slices.ContainsFunc(s.Catalog, func(c *effect.Tool) bool { return c.Origin.Type == want }) {
			missing = append(missing, want)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no tool of the types %s: %v", strings.Join(missing, ", "), r.Sources)
	}
	// The agent of the code is the root, and what it holds is what it may do.
	same(t, "reached", reached(s), "get_stock")
	same(t, "source", s.Actions[0].Tool.Origin.SourceID, "code")
}

// The example of §4.10, with sources that are as it says: it passes in every
// dimension, although the code of the bot is not there.
func TestTheExampleOfTheSpecificationIsFullyKnown(t *testing.T) {
	const text = `version: "0.1"
project: {name: warehouse-bot, owner: logistics}
agent:
  name: stock-assistant
  declared_purpose: ["look up stock", "reorder within budget"]
  prohibited_actions: ["delete warehouse records without approval"]
  sdk: {type: openai_agents, language: python, entrypoint: app/bot.py, object: stock_agent}
environment: {target: production_like, promotion_from: staging, promotion_to: production}
tool_sources:
  - {id: stock_api, type: openapi, path: api/stock.yaml}
  - {id: erp_mcp, type: mcp, path: mcp/erp-tools.json}
  - {id: bot_code, type: openai_agents_sdk, path: app/bot.py, optional: true}
agent_bindings:
  root: {object: stock_agent, source_id: bot_code}
  declarations:
    - agent: root
      complete: true
      tools: [{tool: get_stock}, {tool: place_order}]
      handoffs: []
      reason: reviewed 2026-01, see bot.py lines 10-40
action_surface:
  require_explicit_actions: true
  actions:
    - {tool: get_stock, effect: read, authority: {mode: scoped, auth_type: oauth2}, scopes: [stock:read]}
    - tool: place_order
      effect: financial_write
      risk_tags: [financial_write, external_side_effect]
      scopes: [orders:write]
      authority: {mode: scoped, auth_type: oauth2, credential_mode: service_account}
      approval: {required: true, threshold: "500 EUR"}
      safeguards: {idempotency: true, audit_log: true}
      evidence: {owner: logistics, runbook: docs/orders.md}
  policies:
    - id: money-needs-approval
      match: {effects: [financial_write]}
      require: {approval.required: true}
      severity: critical
      message: Orders need an approver.
      recommendation: Declare approval on the action.
policies:
  require_approval_for_tools: [{tool: place_order, reason: money leaves the company}]
  require_idempotency_for_tools: [place_order]
permissions: {scopes: ["stock:read", "orders:write"], credential_mode: service_account}
risk_overrides:
  tools: {get_stock: {tags: [read_only], owner: logistics, reason: pure lookup}}
checks:
  ignore:
    - {check_id: SHIP-SCHEMA-FREEFORM-OUTPUT, tool: get_stock, reason: text answer by design, expires: 2027-01-31}
  severity_overrides: {SHIP-INVENTORY-TOOL-SURFACE-TOO-LARGE: low}
baseline: {integrity_mode: strict}
ci: {mode: strict, fail_on: [critical, high]}
output: {formats: [markdown, json, sarif]}
`
	tree := fstest.MapFS{
		"api/stock.yaml": {Data: []byte(`openapi: 3.1.0
info: {title: stock, version: "1"}
components: {securitySchemes: {login: {type: oauth2}}}
security: [{login: ["stock:read"]}]
paths:
  /stock/{item}:
    get: {operationId: get_stock, summary: Stock of one item., parameters: [{name: item, in: path, required: true, schema: {type: string}}]}
`)},
		"mcp/erp-tools.json": {Data: []byte(`{"tools": [{"name": "place_order", "description": "Orders an item.",
			"inputSchema": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}}]}`)},
	}
	m := load(t, text)
	r, failed := reader.Read(m, tree)
	if failed != nil {
		t.Fatal(failed)
	}
	s, err := effect.Resolve(m, r)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "root", rootName(s), "stock_agent")
	same(t, "reached", reached(s), "get_stock place_order")
	same(t, "graph", s.Graph.Status+" "+kinds(s.Graph.Issues), "declared ")
	stock, order := action(t, s, "get_stock"), action(t, s, "place_order")
	for _, a := range []*effect.Action{stock, order} {
		if !a.Assessment.PassEligible {
			t.Errorf("%s does not pass: %v", a.Tool.Name, a.Assessment.Issues)
		}
	}
	same(t, "stock", string(stock.Effect)+" "+stock.Operation+" "+strings.Join(stock.Scopes, " "), "read GET /stock/{item} stock:read")
	same(t, "order", string(order.Effect)+" "+order.Operation+" "+strings.Join(order.Scopes, " "), "financial_write place_order orders:write")
	if !order.Approval.Value || !order.Idempotency.Value || !order.AuditLog.Value || order.Rollback.Known || order.Threshold != "500 EUR" {
		t.Errorf("controls of place_order: %+v", order)
	}
}
