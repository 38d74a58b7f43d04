package manifest

import "sync"

// Vocabularies of §§4.2–4.9.
var (
	targets    = []string{"local", "staging", "production_like", "production", "template"}
	severities = []string{"info", "low", "medium", "high", "critical"}
	modes      = []string{"none", "scoped", "unscoped", "ambient"}
	postures   = []string{"recommendation_only", "limited_auto_approval"}
	effects    = []string{
		"read", "write", "destructive", "external_communication", "financial_write", "production_operation",
		"privileged_data_access", "code_execution", "identity_access",
	}
	riskTags = []string{
		"read_only", "write", "writes_data", "destructive", "external_write", "external_communication", "customer_communication",
		"financial_action", "financial_write", "external_side_effect", "infrastructure_change", "production_operation",
		"production_ops", "sensitive_data_access", "privileged_data_access", "privileged_data", "code_execution",
		"identity_access", "network_access", "filesystem_write", "customer_data", "secret_access", "irreversible",
	}
	sourceTypes = []string{
		"mcp", "openapi", "openai_agents_sdk", "google_adk", "langchain", "crewai", "codex_config", "codex_plugin", "conductor", "mcp_server",
	}
	// perScan are source types whose files a block of their own names.
	perScan = map[string]string{
		"n8n":           "belongs to the block n8n, not to tool_sources",
		"openai_api":    "belongs to the block openai_api, not to tool_sources",
		"anthropic_api": "belongs to the block anthropic, not to tool_sources",
	}
)

// SourceTypes is every type a row of tool_sources may have.
func SourceTypes() []string { return append([]string(nil), sourceTypes...) }

// Words for shapes.
func text() *shape                      { return &shape{kind: textShape} }
func line() *shape                      { return &shape{kind: textShape, form: filled} }
func day() *shape                       { return &shape{kind: textShape, form: dated} }
func word(words []string) *shape        { return &shape{kind: textShape, words: words} }
func flag() *shape                      { return &shape{kind: flagShape} }
func list(item *shape) *shape           { return &shape{kind: listShape, item: item} }
func dict(item *shape) *shape           { return &shape{kind: dictShape, item: item} }
func object(fields ...field) *shape     { return &shape{kind: objectShape, fields: fields} }
func lines() *shape                     { return list(line()) }
func (s *shape) called(n string) *shape { s.name = n; return s }
func (s *shape) or(key string) *shape   { s.short = key; return s }
func (s *shape) min(n int) *shape       { s.least = n; return s }
func (s *shape) needs(k ...string) *shape {
	s.anyOf = k
	return s
}

func must(key string, s *shape, help string) field {
	return field{key: key, must: true, shape: s, help: help}
}
func may(key string, s *shape, help string) field { return field{key: key, shape: s, help: help} }
func with(key string, fixed any, s *shape, help string) field {
	return field{key: key, fixed: fixed, shape: s, help: help}
}

// table is the whole of shipgate.yaml (§4.2).
var table = sync.OnceValue(func() *shape {
	return object(
		must("version", word([]string{Version}), `the version of this format: the text "`+Version+`"`),
		must("project", object(
			must("name", line(), "what the repository is called"),
			may("owner", text(), "who answers for it"),
			may("repo", text(), "where it lies"),
		), "the repository"),
		must("agent", agentShape(), "the agent and its purpose"),
		must("environment", object(
			must("target", word(targets), "where the agent runs"),
			may("promotion_from", text(), "where a release comes from"),
			may("promotion_to", text(), "where a release goes"),
		), "where the agent runs"),
		may("tool_sources", list(sourceShape()), "where the agent's tools are written down"),
		may("openai_api", openAIShape(), "files of an agent on the OpenAI API"),
		may("anthropic", object(
			may("prompt_files", list(promptShape()), "prompts"),
			may("tools", artifacts(), "lists of tools"),
			may("policy_rules", artifacts(), "policy rule files"),
		), "files of an agent on the Anthropic API"),
		may("google_adk", object(
			may("python_entrypoints", artifacts(), "programs"),
			may("agent_configs", artifacts(), "declarative agents"),
			may("eval_sets", artifacts(), "evaluations"),
			may("tool_inventories", artifacts(), "lists of tools"),
			may("trace_samples", artifacts(), "recorded runs"),
		), "files of a Google ADK agent"),
		may("langchain", frameworkShape(), "files of a LangChain agent"),
		may("crewai", frameworkShape(), "files of a CrewAI crew"),
		may("codex_plugins", object(
			may("mcp_tool_inventories", list(artifactShape(
				must("plugin", line(), "the plugin that brings the server"),
				must("server", line(), "the server whose tools are listed"),
			).called("pluginInventory")), "lists of tools of plugins' servers"),
		), "what Codex plugins bring"),
		may("n8n", object(
			may("workflows", artifacts(), "workflow exports"),
			may("credential_stubs", artifacts(), "credentials without secrets"),
			may("variable_stubs", artifacts(), "variables without values"),
			may("data_table_schemas", artifacts(), "schemas of data tables"),
			may("execution_samples", artifacts(), "recorded runs"),
			may("eval_sets", artifacts(), "evaluations"),
			may("tool_inventories", artifacts(), "lists of tools"),
		), "files of an n8n agent"),
		may("tool_identity", object(may("bindings", list(identityShape()), "one entry a capability")), "observations that are one capability"),
		may("agent_bindings", bindingsShape(), "which agent has which tools"),
		may("action_surface", surfaceShape(), "what the agent's actions do and which controls stand"),
		may("validation", validationShape(), "how people validate the agent"),
		may("policies", object(
			may("require_approval_for_tools", list(selectorShape()), "a person agrees before each call"),
			may("require_confirmation_for_tools", list(selectorShape()), "the user confirms before each call"),
			may("require_idempotency_for_tools", list(selectorShape()), "a repeated call changes nothing more"),
		), "tools that must be controlled"),
		may("permissions", object(
			may("scopes", lines(), "every scope that the agent is granted"),
			may("credential_mode", text(), "whose credentials are used"),
			may("notes", text(), ""),
		), "what the whole agent is granted"),
		may("risk_overrides", object(
			may("tools", dict(riskShape()), "by tool name"),
		), "risk tags that people set or take away"),
		may("checks", checksShape(), "suppressions, severities and policy packs"),
		may("baseline", object(
			with("integrity_mode", "warn", word([]string{"off", "warn", "strict"}), "what a baseline means that its log does not know"),
			may("audit_log", line(), "the log of baselines"),
		), "accepted findings"),
		may("organization", organizationShape(), "teams, and what every exception must carry"),
		may("human_ack", list(object(
			must("affected_surface", line(), "policy, ci_gate, baseline_or_waiver, agent_instructions, or a path"),
			must("owner", line(), "who knows of it"),
			must("reason", line(), "why"),
			may("expires", day(), "the last day it holds"),
		)), "what people said they know of; it is reported and takes nothing away"),
		may("ci", object(
			with("mode", "advisory", word([]string{"advisory", "strict"}), "whether a bad verdict fails the job"),
			may("fail_on", list(word(severities)), "severities that fail the job in strict mode"),
			with("pr_comment", true, flag(), ""),
			with("annotations", false, flag(), ""),
			with("upload_artifact", true, flag(), ""),
		), "what continuous integration does"),
		may("output", object(
			with("directory", "agents-shipgate-reports", line(), "where artifacts go"),
			with("formats", []string{"markdown", "json"}, list(word([]string{"markdown", "json", "sarif"})), ""),
			may("packet", object(
				with("enabled", true, flag(), ""),
				with("formats", []string{"md", "json", "html"}, list(word([]string{"md", "json", "html", "pdf"})), ""),
			), "the evidence packet"),
		), "artifacts"),
	)
})

func agentShape() *shape {
	return object(
		must("name", line(), "what the agent is called"),
		may("declared_purpose", lines(), "what it is for"),
		may("prohibited_actions", lines(), "what it must never do"),
		may("instructions_preview", text(), "its instructions, or the beginning of them"),
		may("sdk", object(
			may("type", text(), ""),
			may("language", text(), ""),
			may("entrypoint", text(), "the file that starts the agent"),
			may("object", text(), "the variable of the root agent"),
			with("static_extract", true, flag(), ""),
			with("deep_import", false, flag(), "accepted and ignored: nothing is imported"),
		), "where the agent's own code is"),
	)
}

func sourceShape() *shape {
	return object(
		must("id", line(), "unique"),
		must("type", &shape{kind: textShape, words: sourceTypes, wrong: perScan}, "what is read"),
		may("path", line(), "relative to this file; required for all types but openai_agents_sdk"),
		may("mode", text(), "codex_plugin: package or marketplace"),
		may("trust", text(), ""),
		with("optional", false, flag(), "a failure to read it is a warning"),
		may("authority", object(
			must("mode", word(modes), "with what the tools may act"),
			may("auth_type", text(), ""),
			may("credential_mode", text(), ""),
			may("scopes", lines(), ""),
			may("reason", text(), ""),
		).called("sourceAuthority"), "what all tools of the source act with"),
		may("binding", object(
			must("complete", flag(), "true: all tools of the source belong to the root agent"),
			must("reason", line(), "how a person knows"),
		), "that the source is the root agent's"),
	).called("source")
}

// artifactShape is a file: "path" or {path, optional} and more keys.
func artifactShape(more ...field) *shape {
	return object(append([]field{
		must("path", line(), "relative to this file"),
		with("optional", false, flag(), "a failure to read it is a warning"),
	}, more...)...).or("path")
}

func artifacts() *shape { return list(artifactShape().called("artifact")) }

func promptShape() *shape {
	return artifactShape().called("artifact")
}

func frameworkShape() *shape {
	return object(
		may("python_entrypoints", artifacts(), "programs"),
		may("tool_inventories", artifacts(), "lists of tools"),
	).called("framework")
}

func openAIShape() *shape {
	named := func() *shape {
		return list(artifactShape(
			may("name", text(), ""),
			may("downstream_critical_fields", lines(), "fields that later steps rely on"),
		).called("namedArtifact"))
	}
	return object(
		may("prompt_files", list(promptShape()), "prompts"),
		may("tools", artifacts(), "lists of tools"),
		may("function_schemas", named(), "schemas of functions"),
		may("response_formats", named(), "schemas of answers"),
		may("model_config", artifactShape().called("artifact"), "the model's configuration"),
		may("test_cases", artifacts(), "test cases"),
		may("trace_samples", artifacts(), "recorded runs"),
		may("policy_rules", artifacts(), "policy rule files"),
	)
}
