package check_test

import (
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// read is a subject with one tool of a type and an edited reading.
func read(m *manifest.Manifest, sourceType string, edit func(*tool.Reading), edits ...checktest.ToolEdit) *check.Subject {
	return with(one(m, append([]checktest.ToolEdit{checktest.From(sourceType, "code")}, edits...)...), edit)
}

func dynamic(d tool.Dynamic) func(*tool.Reading) {
	if d.Origin.Type == "" {
		d.Origin = tool.Origin{Type: d.Framework, Ref: "app.py", Path: "app.py", Location: "app.py:3"}
	}
	return func(r *tool.Reading) { r.Dynamic = append(r.Dynamic, d) }
}

func nothing(*tool.Reading) {}

func live() *manifest.Manifest { return plain(checktest.Target("production")) }

var (
	undescribed = checktest.Described("  ")
	unspecified = checktest.Edit(func(t *effect.Tool) { t.Input, t.Params, t.Signature = nil, nil, "" })
	function    = checktest.Edit(func(t *effect.Tool) { t.Input, t.Params, t.Signature = nil, nil, "now() -> str" })
)

func record(kind string, more map[string]any) map[string]any {
	o := map[string]any{"kind": kind, "source_ref": "app.py", "agent_name": nil, "resolved": false, "dynamic": true, "filtered": false}
	for key, value := range more {
		o[key] = value
	}
	return o
}

func TestADK(t *testing.T) {
	const adk = "google_adk"
	set := tool.Dynamic{Framework: adk, Kind: "toolset", Agent: "root", Reason: "runtime_call"}
	mcp := tool.Dynamic{Framework: adk, Kind: "mcp_toolset", Agent: "root", Inventory: "tools.json"}
	filtered, resolved := mcp, set
	filtered.Filtered, resolved.Resolved = true, true
	risky := []checktest.ToolEdit{checktest.Writes(), checktest.Hint("financial_action", tool.High)}
	lacking := func(list ...string) map[string]any {
		return map[string]any{"missing": list, "source_type": "google_adk_function"}
	}
	state := func(a tool.ADK) func(*tool.Reading) { return func(r *tool.Reading) { r.ADK = &a } }
	both := func(edits ...func(*tool.Reading)) func(*tool.Reading) {
		return func(r *tool.Reading) {
			for _, edit := range edits {
				edit(r)
			}
		}
	}
	unfiltered := map[string]any{"source_ref": "app.py", "agent_name": "root", "inventory_path": "tools.json"}
	try(t, []situation{
		{"a toolset", "SHIP-ADK-DYNAMIC-TOOLSET-NOT-ENUMERABLE", read(plain(), "google_adk_function", dynamic(set)), map[string]any{
			"toolset": record("toolset", map[string]any{"agent_name": "root", "reason": "runtime_call"}), "explicit_inventory": false,
		}, ""},
		{"a resolved toolset", "SHIP-ADK-DYNAMIC-TOOLSET-NOT-ENUMERABLE", read(plain(), "google_adk_function", dynamic(resolved)), nil, ""},
		{"beside an inventory", "SHIP-ADK-DYNAMIC-TOOLSET-NOT-ENUMERABLE", read(plain(), "google_adk_function", both(dynamic(set), state(tool.ADK{Inventory: true}))), nil, ""},
		{"beside a listing", "SHIP-ADK-DYNAMIC-TOOLSET-NOT-ENUMERABLE", read(plain(), "openapi", dynamic(set)), nil, ""},
		{"of another framework", "SHIP-ADK-DYNAMIC-TOOLSET-NOT-ENUMERABLE", read(plain(), "langchain_tool", dynamic(tool.Dynamic{Framework: "langchain"})), nil, ""},

		{"without a filter", "SHIP-ADK-MCP-TOOLSET-UNFILTERED", read(live(), "google_adk_function", dynamic(mcp)), unfiltered, check.High},
		{"without a filter, below production", "SHIP-ADK-MCP-TOOLSET-UNFILTERED", read(plain(), "google_adk_function", dynamic(mcp)), unfiltered, check.Medium},
		{"with a filter", "SHIP-ADK-MCP-TOOLSET-UNFILTERED", read(live(), "google_adk_function", dynamic(filtered)), nil, ""},
		{"of no server", "SHIP-ADK-MCP-TOOLSET-UNFILTERED", read(live(), "google_adk_function", dynamic(set)), nil, ""},

		{"nothing said", "SHIP-ADK-FUNCTION-TOOL-METADATA-MISSING", read(plain(), "google_adk_function", nothing, undescribed, unspecified), lacking("description", "parameters"), ""},
		{"no description", "SHIP-ADK-FUNCTION-TOOL-METADATA-MISSING", read(plain(), "google_adk_function", nothing, undescribed), lacking("description"), ""},
		{"a function that takes nothing", "SHIP-ADK-FUNCTION-TOOL-METADATA-MISSING", read(plain(), "google_adk_function", nothing, function), nil, ""},
		{"an inventory's tool", "SHIP-ADK-FUNCTION-TOOL-METADATA-MISSING", read(plain(), "google_adk_inventory", nothing, undescribed), nil, ""},

		{"without anything", "SHIP-ADK-LONGRUNNING-CONTRACT-MISSING", read(plain(), "google_adk_function", nothing, checktest.Annotation("long_running", true)), map[string]any{"output_schema": nil}, ""},
		{"with a status", "SHIP-ADK-LONGRUNNING-CONTRACT-MISSING", read(plain(), "google_adk_function", nothing, checktest.Annotation("long_running", true),
			checktest.Output(map[string]any{"type": "object", "properties": map[string]any{"status": map[string]any{}}})), nil, ""},
		{"with an id", "SHIP-ADK-LONGRUNNING-CONTRACT-MISSING", read(plain(), "google_adk_function", nothing, checktest.Annotation("long_running", true),
			checktest.Output(map[string]any{"properties": map[string]any{"jobId": map[string]any{}}})), nil, ""},
		{"with a text", "SHIP-ADK-LONGRUNNING-CONTRACT-MISSING", read(plain(), "google_adk_function", nothing, checktest.Annotation("long_running", true),
			checktest.Output(map[string]any{"type": "string"})), map[string]any{"output_schema": map[string]any{"type": "string"}}, ""},
		{"not long", "SHIP-ADK-LONGRUNNING-CONTRACT-MISSING", read(plain(), "google_adk_function", nothing), nil, ""},

		{"no callback", "SHIP-ADK-GUARDRAIL-EVIDENCE-MISSING", read(plain(), "google_adk_function", nothing, risky...), map[string]any{"tools": []string{"reorder"}}, ""},
		{"a callback", "SHIP-ADK-GUARDRAIL-EVIDENCE-MISSING", read(plain(), "google_adk_function", state(tool.ADK{Callbacks: 1}), risky...), nil, ""},
		{"no risk", "SHIP-ADK-GUARDRAIL-EVIDENCE-MISSING", read(plain(), "google_adk_function", nothing), nil, ""},

		{"none", "SHIP-ADK-EVAL-COVERAGE-MISSING", read(live(), "google_adk_function", state(tool.ADK{Agents: 2})), map[string]any{"agent_count": 2, "eval_file_count": 0}, ""},
		{"one", "SHIP-ADK-EVAL-COVERAGE-MISSING", read(live(), "google_adk_function", state(tool.ADK{Agents: 2, EvalFiles: 1})), nil, ""},
		{"below production", "SHIP-ADK-EVAL-COVERAGE-MISSING", read(plain(), "google_adk_function", state(tool.ADK{Agents: 2})), nil, ""},
	})
}

func TestLangChainCrewAIAndConductor(t *testing.T) {
	for _, fw := range []struct{ name, id, tool, inventory string }{
		{"langchain", "SHIP-LANGCHAIN", "langchain_tool", "langchain_inventory"},
		{"crewai", "SHIP-CREWAI", "crewai_function", "crewai_inventory"},
	} {
		surface := tool.Dynamic{Framework: fw.name, Kind: "tool_list", Reason: "comprehension", Name: "tools"}
		resolved := surface
		resolved.Resolved = true
		id, meta := fw.id+"-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", fw.id+"-FUNCTION-TOOL-METADATA-MISSING"
		try(t, []situation{
			{"a computed list", id, read(plain(), fw.tool, dynamic(surface)), map[string]any{
				"surface": record("tool_list", map[string]any{"reason": "comprehension", "name": "tools"}), "explicit_inventory": false,
			}, ""},
			{"a resolved list", id, read(plain(), fw.tool, dynamic(resolved)), nil, ""},
			{"beside an inventory", id, read(plain(), fw.inventory, dynamic(surface)), nil, ""},
			{"of another framework", id, read(plain(), fw.tool, dynamic(tool.Dynamic{Framework: "n8n", Kind: "name"})), nil, ""},

			{"nothing said", meta, read(plain(), fw.tool, nothing, undescribed, unspecified), map[string]any{
				"missing": []string{"description", "parameters"}, "source_type": fw.tool,
			}, ""},
			{"an inventory's tool", meta, read(plain(), fw.inventory, nothing, undescribed), nil, ""},
			{"a described function", meta, read(plain(), fw.tool, nothing, function), nil, ""},
		})
	}
	fork := tool.Dynamic{Framework: "conductor", Kind: "task", Reason: "FORK_JOIN_DYNAMIC"}
	const id = "SHIP-CONDUCTOR-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE"
	try(t, []situation{
		{"a dynamic fork", id, read(plain(), "conductor", dynamic(fork)), map[string]any{
			"surface": record("task", map[string]any{"reason": "FORK_JOIN_DYNAMIC"}),
		}, ""},
		{"none", id, read(plain(), "conductor", nothing), nil, ""},
	})
}

func TestN8N(t *testing.T) {
	named := tool.Dynamic{Framework: "n8n", Kind: "name", Reason: "expression", Node: "node-1"}
	all := tool.Dynamic{Framework: "n8n", Kind: "mcp_client", Name: "Shop", Selection: "all", Node: "node-2"}
	except, selected := all, all
	except.Selection, selected.Selection = "all_except", "selected"
	state := func(n tool.N8N) func(*tool.Reading) { return func(r *tool.Reading) { r.N8N = &n } }
	taking := func(mode string) map[string]any {
		return map[string]any{"source_ref": "app.py", "node_id": "node-2", "selection_mode": mode, "explicit_inventory": false}
	}
	credentials := map[string]any{"credential_ref_count": 3, "credential_stub_file_count": 0}
	try(t, []situation{
		{"a name", "SHIP-N8N-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", read(plain(), "n8n_ai_tool", dynamic(named)), map[string]any{
			"surface": record("name", map[string]any{"reason": "expression"}), "explicit_inventory": false,
		}, ""},
		{"beside an inventory", "SHIP-N8N-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", read(plain(), "n8n_inventory", dynamic(named)), nil, ""},
		{"a client that takes all", "SHIP-N8N-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", read(plain(), "n8n_ai_tool", dynamic(all)), nil, ""},

		{"all", "SHIP-N8N-MCP-CLIENT-TOOLSET-UNFILTERED", read(live(), "n8n_ai_tool", dynamic(all)), taking("all"), check.High},
		{"all but some", "SHIP-N8N-MCP-CLIENT-TOOLSET-UNFILTERED", read(plain(), "n8n_ai_tool", dynamic(except)), taking("all_except"), check.Medium},
		{"some", "SHIP-N8N-MCP-CLIENT-TOOLSET-UNFILTERED", read(live(), "n8n_ai_tool", dynamic(selected)), nil, ""},
		{"beside an inventory", "SHIP-N8N-MCP-CLIENT-TOOLSET-UNFILTERED", read(live(), "n8n_inventory", dynamic(all)), nil, ""},

		{"nothing said", "SHIP-N8N-AI-TOOL-METADATA-MISSING", read(plain(), "n8n_code_tool", nothing, undescribed, unspecified), map[string]any{
			"missing": []string{"description", "parameters"}, "source_type": "n8n_code_tool",
		}, ""},
		{"a client's tool", "SHIP-N8N-AI-TOOL-METADATA-MISSING", read(plain(), "n8n_mcp_client_tool", nothing, undescribed), nil, ""},

		{"none", "SHIP-N8N-CREDENTIAL-EVIDENCE-MISSING", read(live(), "n8n_ai_tool", state(tool.N8N{CredentialRefs: 3})), credentials, ""},
		{"a stub", "SHIP-N8N-CREDENTIAL-EVIDENCE-MISSING", read(live(), "n8n_ai_tool", state(tool.N8N{CredentialRefs: 3, CredentialStubs: 1})), nil, ""},
		{"below production", "SHIP-N8N-CREDENTIAL-EVIDENCE-MISSING", read(plain(), "n8n_ai_tool", state(tool.N8N{CredentialRefs: 3})), nil, ""},

		{"none", "SHIP-N8N-EVAL-COVERAGE-MISSING", read(live(), "n8n_ai_tool", state(tool.N8N{Workflows: 2, AIAgents: 1})), map[string]any{
			"workflow_count": 2, "ai_agent_count": 1, "eval_file_count": 0,
		}, ""},
		{"one", "SHIP-N8N-EVAL-COVERAGE-MISSING", read(live(), "n8n_ai_tool", state(tool.N8N{Workflows: 2, EvalFiles: 1})), nil, ""},
		{"below production", "SHIP-N8N-EVAL-COVERAGE-MISSING", read(plain(), "n8n_ai_tool", state(tool.N8N{Workflows: 2})), nil, ""},
	})
}

func TestPlugins(t *testing.T) {
	plugin := func(edit func(*tool.Plugin)) *check.Subject {
		return with(one(plain()), func(r *tool.Reading) {
			p := tool.Plugin{
				SourceID: "kit", Name: "shop", Root: "plugins/shop", ManifestPath: "plugins/shop/.codex-plugin/plugin.json",
				Components: []tool.Component{{Kind: "skills", Path: "skills"}},
				Skills:     []tool.Skill{{Name: "restock", Path: "plugins/shop/skills/restock/SKILL.md"}},
				Servers:    []tool.PluginServer{{Name: "erp", Path: "plugins/shop/.mcp.json", Inventory: "erp.json"}},
				Apps:       []tool.PluginApp{{Name: "crm", ConnectorID: "c-1", Path: "plugins/shop/.app.json", Local: true}},
			}
			edit(&p)
			r.Plugins = []tool.Plugin{p}
		})
	}
	market := func(missing ...string) *check.Subject {
		return with(one(plain()), func(r *tool.Reading) {
			r.Markets = []tool.Marketplace{{SourceID: "market", Path: "marketplace.json", Entries: []tool.MarketEntry{{Plugin: "shop", Missing: missing}}}}
		})
	}
	for _, c := range []struct {
		id   string
		edit func(*tool.Plugin)
		want map[string]any
	}{
		{"SHIP-CODEX-PLUGIN-METADATA-MISSING", func(p *tool.Plugin) { p.Name, p.Issues = "", []string{"missing_version", "missing_name"} }, map[string]any{
			"plugin": nil, "source_id": "kit", "manifest_path": "plugins/shop/.codex-plugin/plugin.json", "issues": []string{"missing_name", "missing_version"},
		}},
		{"SHIP-CODEX-PLUGIN-COMPONENT-PATH-MISSING", func(p *tool.Plugin) { p.Components[0].Reason = "missing" }, map[string]any{
			"plugin": "shop", "component": "skills", "path": "skills", "reason": "missing",
		}},
		{"SHIP-CODEX-PLUGIN-COMPONENT-PATH-MISSING", func(p *tool.Plugin) { p.Components[0].Reason = "outside" }, map[string]any{
			"plugin": "shop", "component": "skills", "path": "skills", "reason": "outside",
		}},
		{"SHIP-CODEX-PLUGIN-SKILL-METADATA-MISSING", func(p *tool.Plugin) { p.Skills[0].MissingFields = []string{"description"} }, map[string]any{
			"plugin": "shop", "skill": "restock", "path": "plugins/shop/skills/restock/SKILL.md", "missing_fields": []string{"description"}, "duplicate": false,
		}},
		{"SHIP-CODEX-PLUGIN-SKILL-METADATA-MISSING", func(p *tool.Plugin) { p.Skills[0].Duplicate = true }, map[string]any{
			"plugin": "shop", "skill": "restock", "path": "plugins/shop/skills/restock/SKILL.md", "missing_fields": []string{}, "duplicate": true,
		}},
		{"SHIP-CODEX-PLUGIN-MCP-SERVER-NOT-ENUMERABLE", func(p *tool.Plugin) { p.Servers[0].Inventory = "" }, map[string]any{
			"plugin": "shop", "server": "erp", "path": "plugins/shop/.mcp.json", "inventory_path": nil,
		}},
		{"SHIP-CODEX-PLUGIN-APP-SURFACE-NOT-ENUMERABLE", func(p *tool.Plugin) { p.Apps[0].Local = false }, map[string]any{
			"plugin": "shop", "app": "crm", "connector_id": "c-1", "path": "plugins/shop/.app.json",
		}},
	} {
		try(t, []situation{
			{"lacking", c.id, plugin(c.edit), c.want, ""},
			{"whole", c.id, plugin(func(*tool.Plugin) {}), nil, ""},
		})
	}
	const id = "SHIP-CODEX-PLUGIN-MARKETPLACE-POLICY-MISSING"
	try(t, []situation{
		{"lacking", id, market("policy.installation", "category"), map[string]any{
			"marketplace": "marketplace.json", "plugin": "shop", "missing": []string{"category", "policy.installation"},
		}, ""},
		{"whole", id, market(), nil, ""},
	})
}
