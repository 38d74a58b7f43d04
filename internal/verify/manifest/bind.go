package manifest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// bind fills the manifest from a tree that the walker has seen.
func bind(root source.Value) *Manifest {
	project, environment := root.Get("project"), root.Get("environment")
	permissions, baseline := root.Get("permissions"), root.Get("baseline")
	return &Manifest{
		Version:     str(root.Get("version")),
		Project:     Project{str(project.Get("name")), str(project.Get("owner")), str(project.Get("repo"))},
		Agent:       agent(root.Get("agent")),
		Environment: Environment{str(environment.Get("target")), str(environment.Get("promotion_from")), str(environment.Get("promotion_to"))},
		Sources:     each(root.Get("tool_sources"), toolSource),

		OpenAI:    optional(root.Get("openai_api"), openAI),
		Anthropic: optional(root.Get("anthropic"), anthropic),
		ADK:       optional(root.Get("google_adk"), adk),
		LangChain: optional(root.Get("langchain"), framework),
		CrewAI:    optional(root.Get("crewai"), framework),
		Plugins:   optional(root.Get("codex_plugins"), plugins),
		N8N:       optional(root.Get("n8n"), n8n),

		Identities:   each(root.At("tool_identity", "bindings"), identity),
		Bindings:     bindings(root.Get("agent_bindings")),
		Surface:      surface(root.Get("action_surface")),
		Validation:   optional(root.Get("validation"), validation),
		Policies:     policies(root.Get("policies")),
		Permissions:  Permissions{strs(permissions.Get("scopes")), str(permissions.Get("credential_mode")), str(permissions.Get("notes"))},
		Risks:        risks(root.At("risk_overrides", "tools")),
		Checks:       checks(root.Get("checks")),
		Baseline:     Baseline{or(str(baseline.Get("integrity_mode")), "warn"), str(baseline.Get("audit_log"))},
		Organization: optional(root.Get("organization"), organization),
		Acks: each(root.Get("human_ack"), func(_ int, v source.Value) Ack {
			return Ack{str(v.Get("affected_surface")), str(v.Get("owner")), str(v.Get("reason")), str(v.Get("expires"))}
		}),
		CI:     ci(root.Get("ci")),
		Output: output(root.Get("output")),
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func agent(v source.Value) Agent {
	sdk := v.Get("sdk")
	return Agent{
		Name: str(v.Get("name")), Purpose: strs(v.Get("declared_purpose")), Prohibited: strs(v.Get("prohibited_actions")),
		Instructions: str(v.Get("instructions_preview")),
		SDK: SDK{
			Type: str(sdk.Get("type")), Language: str(sdk.Get("language")), Entrypoint: str(sdk.Get("entrypoint")), Object: str(sdk.Get("object")),
			StaticExtract: truth(sdk.Get("static_extract"), true),
		},
	}
}

func toolSource(i int, v source.Value) Source {
	return Source{
		Index: i, ID: str(v.Get("id")), Type: str(v.Get("type")), Path: str(v.Get("path")), Mode: str(v.Get("mode")), Trust: str(v.Get("trust")),
		Optional:  truth(v.Get("optional"), false),
		Authority: optional(v.Get("authority"), authority),
		Binding: optional(v.Get("binding"), func(v source.Value) SourceBinding {
			return SourceBinding{truth(v.Get("complete"), false), str(v.Get("reason"))}
		}),
		Pos: v.Pos,
	}
}

func authority(v source.Value) Authority {
	return Authority{str(v.Get("mode")), str(v.Get("auth_type")), str(v.Get("credential_mode")), str(v.Get("reason")), strs(v.Get("scopes"))}
}

func artifact(v source.Value) Artifact {
	v = entry(v, "path")
	return Artifact{
		Path: str(v.Get("path")), Optional: truth(v.Get("optional"), false), Name: str(v.Get("name")),
		Critical: strs(v.Get("downstream_critical_fields")), Plugin: str(v.Get("plugin")), Server: str(v.Get("server")), Pos: v.Pos,
	}
}

func files(v source.Value) []Artifact {
	return each(v, func(_ int, item source.Value) Artifact { return artifact(item) })
}

func openAI(v source.Value) OpenAI {
	return OpenAI{
		Prompts: files(v.Get("prompt_files")), Tools: files(v.Get("tools")), FunctionSchemas: files(v.Get("function_schemas")),
		ResponseFormats: files(v.Get("response_formats")), ModelConfig: optional(v.Get("model_config"), artifact),
		TestCases: files(v.Get("test_cases")), Traces: files(v.Get("trace_samples")), PolicyRules: files(v.Get("policy_rules")),
	}
}

func anthropic(v source.Value) Anthropic {
	return Anthropic{files(v.Get("prompt_files")), files(v.Get("tools")), files(v.Get("policy_rules"))}
}

func adk(v source.Value) ADK {
	return ADK{
		files(v.Get("python_entrypoints")), files(v.Get("agent_configs")), files(v.Get("eval_sets")), files(v.Get("tool_inventories")),
		files(v.Get("trace_samples")),
	}
}

func framework(v source.Value) Framework {
	return Framework{files(v.Get("python_entrypoints")), files(v.Get("tool_inventories"))}
}

func plugins(v source.Value) Plugins { return Plugins{files(v.Get("mcp_tool_inventories"))} }

func n8n(v source.Value) N8N {
	return N8N{
		files(v.Get("workflows")), files(v.Get("credential_stubs")), files(v.Get("variable_stubs")), files(v.Get("data_table_schemas")),
		files(v.Get("execution_samples")), files(v.Get("eval_sets")), files(v.Get("tool_inventories")),
	}
}

func selector(v source.Value, path ...string) Selector {
	v = entry(v, "tool")
	return Selector{
		Tool: str(v.Get("tool")), ToolID: str(v.Get("tool_id")), Provider: str(v.Get("provider")), SourceType: str(v.Get("source_type")),
		SourceID: str(v.Get("source_id")), Reason: str(v.Get("reason")), Path: path, Pos: v.Pos,
	}
}

func selectors(v source.Value, path ...string) []Selector {
	return each(v, func(i int, item source.Value) Selector {
		return selector(item, slices.Concat(path, []string{strconv.Itoa(i)})...)
	})
}

func identity(i int, v source.Value) Identity {
	at := []string{"tool_identity", "bindings", strconv.Itoa(i)}
	return Identity{
		ID: str(v.Get("id")), Provider: str(v.Get("provider")), Reason: str(v.Get("reason")),
		Primary: selector(v.Get("primary"), slices.Concat(at, []string{"primary"})...),
		Members: selectors(v.Get("members"), slices.Concat(at, []string{"members"})...), Pos: v.Pos,
	}
}

func bindings(v source.Value) Bindings {
	return Bindings{
		RootObject: str(v.At("root", "object")), RootSource: str(v.At("root", "source_id")),
		Declarations: each(v.Get("declarations"), func(i int, v source.Value) Binding {
			return Binding{
				Agent: str(v.Get("agent")), Tools: selectors(v.Get("tools"), "agent_bindings", "declarations", strconv.Itoa(i), "tools"),
				Handoffs: strs(v.Get("handoffs")), Reason: str(v.Get("reason")), Pos: v.Pos,
			}
		}),
	}
}

func surface(v source.Value) Surface {
	return Surface{truth(v.Get("require_explicit_actions"), false), each(v.Get("actions"), action), each(v.Get("policies"), policy)}
}

func action(i int, v source.Value) Action {
	s, e := v.Get("safeguards"), v.Get("evidence")
	a := Action{
		Index: i, Selector: selector(v, "action_surface", "actions", strconv.Itoa(i)),
		ID: str(v.Get("id")), Provider: str(v.Get("provider")), Operation: str(v.Get("operation")), Effect: str(v.Get("effect")),
		RiskTags: strs(v.Get("risk_tags")), Scopes: strs(v.Get("scopes")), Authority: optional(v.Get("authority"), authority),
		Approval: optional(v.Get("approval"), func(v source.Value) Approval {
			return Approval{maybe(v.Get("required")), str(v.Get("threshold"))}
		}),
		Safeguards: Safeguards{maybe(s.Get("idempotency")), maybe(s.Get("audit_log")), maybe(s.Get("rollback")), maybe(s.Get("dry_run"))},
		Evidence:   ActionEvidence{str(e.Get("owner")), str(e.Get("runbook")), str(e.Get("approval_ticket"))},
		Override: optional(v.Get("override"), func(v source.Value) Override {
			return Override{str(v.Get("evidence")), str(v.Get("reason"))}
		}),
		Pos: v.Pos,
	}
	// The provider of an action is its identity, not a demand on the tool (§4.8).
	a.Selector.Provider = ""
	if a.Authority != nil {
		a.Authority.Scopes = a.Scopes
	}
	return a
}

// aliases of the paths that policies require (§4.8).
var aliases = map[string]string{
	"approval.required": "approval_policy.required", "approval.threshold": "approval_policy.threshold", "scopes": "required_scopes",
}

func policy(_ int, v source.Value) Policy {
	match := v.Get("match")
	p := Policy{
		ID: str(v.Get("id")), Severity: str(v.Get("severity")), Block: truth(v.Get("block"), true), Message: str(v.Get("message")),
		Recommendation: str(v.Get("recommendation")), Pos: v.Pos,
		Match: Match{
			strs(match.Get("action_ids")), strs(match.Get("tool_ids")), strs(match.Get("tools")), strs(match.Get("effects")),
			strs(match.Get("risk_tags")), strs(match.Get("scopes")),
		},
	}
	for _, m := range v.Get("require").Members {
		p.Require = append(p.Require, Requirement{or(aliases[m.Key], m.Key), JSON(m.Value)})
	}
	return p
}

// JSON is a value as decoded JSON: nil, bool, string, json.Number, []any or
// map[string]any. A day in YAML is its text.
func JSON(v source.Value) any {
	switch v.Kind {
	case source.Bool:
		return v.Truth
	case source.Number:
		return json.Number(v.Text)
	case source.String, source.Date:
		return v.Text
	case source.List:
		all := make([]any, len(v.Items))
		for i, item := range v.Items {
			all[i] = JSON(item)
		}
		return all
	case source.Map:
		all := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			all[m.Key] = JSON(m.Value)
		}
		return all
	case source.Null:
	}
	return nil
}

func validation(v source.Value) Validation {
	required, evidence := v.Get("required_evidence"), v.Get("evidence")
	return Validation{
		Mode: str(v.Get("mode")), Posture: or(str(v.Get("target_review_posture")), postures[0]),
		ApprovalTrace:     truth(required.Get("approval_trace_required"), false),
		OverrideReason:    truth(required.Get("override_reason_required"), false),
		HighRiskExclusion: truth(required.Get("high_risk_auto_approval_exclusion_required"), false),
		ApprovalTraces:    files(evidence.Get("approval_traces")), OverrideLogs: files(evidence.Get("override_logs")),
		Exclusions: files(evidence.Get("high_risk_exclusions")), PromotionCriteria: files(evidence.Get("promotion_criteria")),
	}
}

func policies(v source.Value) Policies {
	of := func(key string) []Selector { return selectors(v.Get(key), "policies", key) }
	return Policies{of("require_approval_for_tools"), of("require_confirmation_for_tools"), of("require_idempotency_for_tools")}
}

func risks(v source.Value) []Risk {
	var all []Risk
	for _, m := range v.Members {
		r := m.Value
		all = append(all, Risk{
			Tool: m.Key, Tags: strs(r.Get("tags")), RemoveTags: strs(r.Get("remove_tags")), Owner: str(r.Get("owner")),
			Reason: str(r.Get("reason")), Confidence: or(str(r.Get("confidence")), "manual"), Pos: m.Pos,
		})
	}
	slices.SortFunc(all, func(a, b Risk) int { return strings.Compare(a.Tool, b.Tool) })
	return all
}

func checks(v source.Value) Checks {
	c := Checks{
		Ignore: each(v.Get("ignore"), func(i int, v source.Value) Ignore {
			return Ignore{i, str(v.Get("check_id")), str(v.Get("tool")), str(v.Get("owner")), str(v.Get("reason")), str(v.Get("expires")), v.Pos}
		}),
		Acknowledgements: each(v.Get("acknowledge_overrides"), func(_ int, v source.Value) Acknowledgement {
			return Acknowledgement{str(v.Get("check_id")), str(v.Get("reason")), str(v.Get("expires")), v.Pos}
		}),
		Packs: each(v.Get("policy_packs"), func(_ int, v source.Value) Pack {
			v = entry(v, "path")
			digest := strings.ToLower(strings.TrimPrefix(str(v.Get("sha256")), "sha256:"))
			return Pack{str(v.Get("id")), str(v.Get("path")), str(v.Get("source")), digest, truth(v.Get("optional"), false), v.Pos}
		}),
	}
	for _, m := range v.Get("severity_overrides").Members {
		o := entry(m.Value, "severity")
		c.Overrides = append(c.Overrides, SeverityOverride{m.Key, str(o.Get("severity")), str(o.Get("reason")), str(o.Get("expires")), m.Pos})
	}
	slices.SortFunc(c.Overrides, func(a, b SeverityOverride) int { return cmp.Compare(a.CheckID, b.CheckID) })
	return c
}

func organization(v source.Value) Organization {
	o := Organization{
		ID: str(v.Get("id")), Repo: str(v.Get("repo")), Service: str(v.Get("service")), Tier: str(v.Get("tier")), Registry: str(v.At("audit", "registry")),
		Exceptions: optional(v.Get("exception_policy"), func(v source.Value) ExceptionPolicy {
			days, _ := strconv.Atoi(str(v.Get("max_age_days"))) // 0 is no limit
			return ExceptionPolicy{
				truth(v.Get("require_owner"), false), truth(v.Get("require_reason"), false), truth(v.Get("require_expiry"), false), days,
			}
		}),
	}
	for _, m := range v.Get("teams").Members {
		o.Teams = append(o.Teams, Team{m.Key, strs(m.Value.Get("reviewers"))})
	}
	slices.SortFunc(o.Teams, func(a, b Team) int { return strings.Compare(a.Name, b.Name) })
	return o
}

func ci(v source.Value) CI {
	return CI{
		Mode: or(str(v.Get("mode")), "advisory"), FailOn: strs(v.Get("fail_on")), PRComment: truth(v.Get("pr_comment"), true),
		Annotations: truth(v.Get("annotations"), false), UploadArtifact: truth(v.Get("upload_artifact"), true),
	}
}

func output(v source.Value) Output {
	o := Output{
		Directory: or(str(v.Get("directory")), "agents-shipgate-reports"), Formats: strs(v.Get("formats")),
		Packet: truth(v.At("packet", "enabled"), true), PacketFormats: strs(v.At("packet", "formats")),
	}
	if o.Formats == nil {
		o.Formats = []string{"markdown", "json"}
	}
	if o.PacketFormats == nil {
		o.PacketFormats = []string{"md", "json", "html"}
	}
	return o
}
