package check

import (
	"encoding/json"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// apiChecks are the rows of §12.7 about agents that call a model's API with
// tools of their own: the openai_api and anthropic blocks.
var apiChecks = []*Check{
	{
		ID: "SHIP-API-FUNCTION-SCHEMA-STRICTNESS", Category: "api", Severity: Medium, Floor: Medium, Dynamic: true, Tier: Adapter,
		Title:          "A function schema is not strict enough",
		Description:    "Looks at the parameter schema of every function that is handed to a model's API.",
		Rationale:      "What the schema lets through, the model will one day send.",
		FiresWhen:      "The schema is missing, no object, not strict (OpenAI), open to further properties, leaves properties optional, leaves a number about amounts unbounded or a text about what to do open. High for tools that write or are high-risk.",
		EvidenceFields: []string{"issues", "risk_tags"},
		Recommendation: "Close the schema: strict mode, additionalProperties false, every property required, bounds on amounts, enums or structure instead of free text.",
		HumanReview:    true, PatchKind: Manual, Run: schemaStrictness,
	},
	{
		ID: "SHIP-API-STRUCTURED-OUTPUT-READINESS", Category: "api", Severity: Medium, Floor: Medium, Dynamic: true, Tier: Adapter,
		Title:          "The model's answer has no firm shape",
		Description:    "Looks at the response formats that the openai_api block names.",
		Rationale:      "Whatever reads the answer decides by it. An answer without a shape is decided by luck, one without a way to say no is always a yes.",
		FiresWhen:      "No response format is given (high beside high-risk tools), or one is no closed object, does not name or hold the fields that matter downstream, has no field to refuse, ask for review or report an error, or leaves decision or status without an enum.",
		EvidenceFields: []string{"path", "issues", "high_risk_tools", "downstream_critical_fields"},
		Recommendation: "Give a closed response schema with the fields that matter, enums for decisions and a way to refuse.",
		HumanReview:    true, PatchKind: Manual, Run: structuredOutput,
	},
	{
		ID: "SHIP-API-PROMPT-TOOL-SCOPE-MISMATCH", Category: "api", Severity: High, Floor: Medium, Dynamic: true, Tier: Adapter,
		Title:          "The prompt and the tools say different things",
		Description:    "Compares the prompt files of the block with its tools.",
		Rationale:      "A prompt that forbids what a tool offers is a rule without a lock; a prompt that never mentions approval will not ask for it.",
		FiresWhen:      "A prompt says read-only or advice only while write tools exist (high), or there are high-risk tools and the prompts speak neither of approval nor of confirmation (medium).",
		EvidenceFields: []string{"tools"},
		Recommendation: "Take the tools away or correct the prompt; name the approval and the confirmation that the tools need.",
		HumanReview:    true, PatchKind: Manual, Run: promptMismatch,
	},
	undeclaredItem("SHIP-API-RETRY-POLICY-MISSING", "retry policy", "retry metadata",
		"Without a declared retry policy nobody can say how often a call with an effect is repeated.",
		"Declare retry_policy in the model configuration or the policy rules.",
		func(api *tool.API) bool { return api.RetryPolicy != nil && *api.RetryPolicy }),
	undeclaredItem("SHIP-API-TIMEOUT-MISSING", "timeout", "timeout metadata",
		"A call without a time limit leaves the agent, and whoever waits for it, not knowing whether it happened.",
		"Declare timeouts in the model configuration or the policy rules.",
		func(api *tool.API) bool { return api.Timeouts != nil && *api.Timeouts }),
	undeclaredItem("SHIP-API-TEST-CASES-MISSING", "test case", "test cases",
		"A tool that can hurt should have been tried on cases that somebody chose.",
		"Name test cases for the high-risk tools under openai_api.test_cases.",
		func(api *tool.API) bool { return api.TestCases > 0 }),
	{
		ID: "SHIP-API-TOOL-OUTPUT-SCHEMA-MISSING", Category: "api", Severity: Medium, Tier: Adapter,
		Title:          "A high-risk tool does not say how success and failure look",
		Description:    "Looks in the policy rules for the success and failure fields of every high-risk OpenAI tool.",
		Rationale:      "A model that cannot tell a failed call from a successful one reports success.",
		FiresWhen:      "tool_output_schemas does not name both the success fields and the failure fields of the tool.",
		EvidenceFields: []string{"tool_output_schemas"},
		Recommendation: "Declare success_fields and failure_fields of the tool under tool_output_schemas.",
		HumanReview:    true, PatchKind: Manual, Run: outputFields,
	},
	{
		ID: "SHIP-API-RETRY-WITHOUT-IDEMPOTENCY", Category: "api", Severity: High, Tier: Adapter,
		Title:          "A tool with effects may be repeated without protection",
		Description:    "Looks at declared retry policies beside tools that write and can hurt.",
		Rationale:      "A retry after a lost answer does it twice, unless the other side can tell.",
		FiresWhen:      "A retry policy is declared and a high-risk write tool has no idempotency by policy, annotation, parameter or declaration.",
		EvidenceFields: []string{"retry_policy", "risk_tags"},
		Recommendation: "Give the tool an idempotency key, or do not retry it.",
		HumanReview:    true, PatchKind: Manual, Run: retryWithoutIdempotency,
	},
	{
		ID: "SHIP-API-TRACE-APPROVAL-MISSING", Category: "api", Severity: Medium, Tier: Adapter,
		Title:          "A recorded call ran without its approval",
		Description:    "Looks at recorded calls of tools that need approval.",
		Rationale:      "A control that a recording shows being passed over does not stand, whatever is declared.",
		FiresWhen:      "A trace says approved: false for a tool that an approval policy covers.",
		EvidenceFields: []string{"tool_name", "approved"},
		Recommendation: "Find out why the call ran. Do not edit the recording: record a new run with the control in place.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: traceApproval,
	},
	{
		ID: "SHIP-API-TRACE-CONFIRMATION-MISSING", Category: "api", Severity: Medium, Tier: Adapter,
		Title:          "A recorded call ran without its confirmation",
		Description:    "Looks at recorded calls of tools that need the user's confirmation.",
		Rationale:      "A control that a recording shows being passed over does not stand, whatever is declared.",
		FiresWhen:      "A trace says confirmed: false for a tool that a confirmation policy covers.",
		EvidenceFields: []string{"tool_name", "confirmed"},
		Recommendation: "Find out why the call ran. Do not edit the recording: record a new run with the control in place.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: traceConfirmation,
	},
	{
		ID: OperationalReadiness, Category: "api", Severity: Medium, Tier: Adapter,
		Title:          "Old name for the checks of retries, time limits, test cases, outputs and traces",
		Description:    "Stands in suppressions, severity overrides and baselines for the checks that took its place.",
		Rationale:      "What somebody accepted under the old name stays accepted.",
		FiresWhen:      "Never: it is a name only.",
		EvidenceFields: []string{"legacy_check_id"},
		Recommendation: "Use the names of the checks that took its place.",
		HumanReview:    true, PatchKind: Manual,
	},
}

// undeclaredItem is a check that high-risk OpenAI tools stand beside something
// that is not declared.
func undeclaredItem(id, what, lack, why, advice string, declared func(*tool.API) bool) *Check {
	return &Check{
		ID: id, Category: "api", Severity: Medium, Tier: Adapter,
		Title:          "No " + what + " is declared beside high-risk tools",
		Description:    "Looks for a declared " + what + " where the openai_api block offers high-risk tools.",
		Rationale:      why,
		FiresWhen:      "The block offers high-risk tools and no " + what + " is declared.",
		EvidenceFields: []string{"high_risk_tools"},
		Recommendation: advice,
		HumanReview:    true, PatchKind: Manual,
		Run: func(s *Subject) []Finding {
			api := s.Reading.API
			if api == nil || declared(api) {
				return nil
			}
			risky := namesOf(s, func(t *effect.Tool) bool { return ofOpenAI(t) && t.HighRisk() })
			if len(risky) == 0 {
				return nil
			}
			f := inManifest(s.Manifest, "openai_api")
			f.Title, f.Confidence = "The OpenAI flow lacks "+lack, tool.Medium
			f.Evidence = map[string]any{"high_risk_tools": risky}
			return []Finding{f}
		},
	}
}

func ofOpenAI(t *effect.Tool) bool { return t.Origin.Type == "openai_api" }

// namesOf are the names of the reachable tools that fit, sorted.
func namesOf(s *Subject, fits func(*effect.Tool) bool) []string {
	names := []string{}
	for _, t := range s.Tools() {
		if fits(t) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func schemaStrictness(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if !ofAPI(t) {
			continue
		}
		issues := strictnessIssues(t)
		if len(issues) == 0 {
			continue
		}
		f := about(t)
		f.Title = t.Name + " has a function schema that is not strict enough"
		if t.WriteTool() || t.HighRisk() {
			f.Severity = High
		}
		f.Evidence = map[string]any{"issues": issues, "risk_tags": riskTags(t)}
		found = append(found, f)
	}
	return found
}

func strictnessIssues(t *effect.Tool) []string {
	var issues []string
	schema, isMap := t.Input.(map[string]any)
	if t.Input == nil || isMap && len(schema) == 0 {
		return append(notStrict(t), "missing_parameters_schema")
	}
	issues = notStrict(t)
	if schema["type"] != "object" {
		return append(issues, "parameters_schema_not_object")
	}
	if schema["additionalProperties"] != false {
		issues = append(issues, "additional_properties_not_false")
	}
	var optional, unbounded, free []string
	for _, p := range t.Params {
		if !p.Required {
			optional = append(optional, p.Name)
		}
		name := strings.ToLower(p.Name)
		if slices.Contains(boundNames, name) && p.Maximum == "" && len(p.Enum) == 0 && numeric(p.Type) {
			unbounded = append(unbounded, "risky_field_unbounded:"+p.Name)
		}
		if slices.Contains(freeNames, name) && len(p.Enum) == 0 && anything(p.Type) {
			free = append(free, "broad_free_text:"+p.Name)
		}
	}
	if len(optional) > 0 {
		issues = append(issues, "properties_missing_from_required:"+strings.Join(sorted(optional), ","))
	}
	return slices.Concat(issues, sorted(unbounded), sorted(free))
}

func notStrict(t *effect.Tool) []string {
	if strict, _ := t.Flag("openaiStrict"); ofOpenAI(t) && !strict {
		return []string{"missing_strict_true"}
	}
	return nil
}

func structuredOutput(s *Subject) []Finding {
	api := s.Reading.API
	if api == nil || !api.OpenAI {
		return nil
	}
	risky := namesOf(s, func(t *effect.Tool) bool { return ofOpenAI(t) && t.HighRisk() })
	if len(api.ResponseFormats) == 0 {
		f := inManifest(s.Manifest, "openai_api")
		f.Title, f.Confidence = "The OpenAI flow has no response format", tool.Medium
		if len(risky) > 0 {
			f.Severity = High
		}
		f.Evidence = map[string]any{"path": nil, "issues": []string{}, "high_risk_tools": risky}
		return []Finding{f}
	}
	var found []Finding
	for i := range api.ResponseFormats {
		format := &api.ResponseFormats[i]
		issues := formatIssues(format)
		if len(issues) == 0 {
			continue
		}
		f := Finding{Source: Source{Type: "openai_api", Ref: format.Path, Path: format.Path}}
		f.Title, f.Confidence = "The response format "+format.Path+" is under-specified", tool.Medium
		f.Evidence = map[string]any{
			"path": format.Path, "issues": issues, "downstream_critical_fields": append([]string{}, format.Critical...),
		}
		found = append(found, f)
	}
	return found
}

// wayOut are names of fields by which an answer can be something else than a
// decision.
var wayOut = []string{"error", "errors", "error_code", "error_message", "needs_human_review", "needs_review", "refusal", "refused"}

func formatIssues(format *tool.ResponseFormat) []string {
	schema, _ := format.Schema.(map[string]any)
	if schema["type"] != "object" {
		return []string{"response_schema_not_object"}
	}
	properties, _ := schema["properties"].(map[string]any)
	var issues, missing []string
	if schema["additionalProperties"] != false {
		issues = append(issues, "additional_properties_not_false")
	}
	if len(format.Critical) == 0 {
		issues = append(issues, "missing_downstream_critical_fields")
	}
	for _, name := range format.Critical {
		if _, ok := properties[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		issues = append(issues, "critical_fields_missing_from_schema:"+strings.Join(sorted(missing), ","))
	}
	if !slices.ContainsFunc(wayOut, func(name string) bool { _, ok := properties[name]; return ok }) {
		issues = append(issues, "missing_refusal_needs_review_or_error_field")
	}
	for _, name := range []string{"decision", "status"} {
		property, ok := properties[name].(map[string]any)
		if ok && !closedChoice(property) {
			issues = append(issues, "missing_enum:"+name)
		}
	}
	return issues
}

// closedChoice says whether a schema allows listed values only.
func closedChoice(schema map[string]any) bool {
	list, _ := schema["enum"].([]any)
	_, constant := schema["const"]
	return len(list) > 0 || constant || schema["type"] == "boolean"
}

// What prompts say, in lower case and with single blanks.
var (
	adviceOnly = []string{
		"read-only", "read only", "readonly", "advise-only", "advise only", "advice only", "only advise", "advisory only",
		"advisory-only", "only give advice", "do not take any action", "do not take action", "never take action",
	}
	approvalWords     = []string{"approv"}
	confirmationWords = []string{"confirm"}
)

func promptMismatch(s *Subject) []Finding {
	api := s.Reading.API
	if api == nil || len(api.Prompts) == 0 {
		return nil
	}
	var found []Finding
	acting := namesOf(s, func(t *effect.Tool) bool { return ofAPI(t) && (t.WriteTool() || t.HighRisk()) })
	writing := slices.ContainsFunc(s.Tools(), func(t *effect.Tool) bool { return ofAPI(t) && t.WriteTool() })
	asks := false
	for _, p := range api.Prompts {
		text := strings.Join(strings.Fields(strings.ToLower(p.Text)), " ")
		asks = asks || mentions(text, approvalWords) || mentions(text, confirmationWords)
		if writing && mentions(text, adviceOnly) {
			f := inPrompt(p)
			f.Title = "The prompt says read-only or advice only while tools write"
			f.Evidence = map[string]any{"tools": acting}
			found = append(found, f)
		}
	}
	risky := namesOf(s, func(t *effect.Tool) bool { return ofAPI(t) && t.HighRisk() })
	if !asks && len(risky) > 0 {
		f := inPrompt(api.Prompts[0])
		f.Title = "The prompt speaks neither of approval nor of confirmation beside high-risk tools"
		f.Severity, f.Confidence = Medium, tool.Medium
		f.Evidence = map[string]any{"tools": risky}
		found = append(found, f)
	}
	return found
}

func inPrompt(p tool.Prompt) Finding {
	return Finding{Source: Source{Type: "prompt", Ref: p.Path, Path: p.Path}, Provenance: KeywordHeuristic}
}

func mentions(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}

func outputFields(s *Subject) []Finding {
	if s.Reading.API == nil {
		return nil
	}
	declared := []string{}
	whole := map[string]bool{}
	for _, o := range s.Reading.API.Policy.Outputs {
		declared = append(declared, o.Tool)
		whole[o.Tool] = len(o.Success) > 0 && len(o.Failure) > 0
	}
	var found []Finding
	for _, t := range s.Tools() {
		if !ofOpenAI(t) || !t.HighRisk() || whole[t.Name] {
			continue
		}
		f := about(t)
		f.Title, f.Confidence = t.Name+" does not say how success and failure look", tool.Medium
		f.Evidence = map[string]any{"tool_output_schemas": sorted(declared)}
		found = append(found, f)
	}
	return found
}

func retryWithoutIdempotency(s *Subject) []Finding {
	api := s.Reading.API
	if api == nil || api.RetryPolicy == nil || !*api.RetryPolicy {
		return nil
	}
	var found []Finding
	for _, t := range s.Tools() {
		if !ofOpenAI(t) || !t.WriteTool() || !t.HighRisk() || idempotent(s, t) {
			continue
		}
		f := about(t)
		f.Title = t.Name + " may be repeated without idempotency evidence"
		f.Evidence = map[string]any{"retry_policy": retryOf(api), "risk_tags": riskTags(t)}
		found = append(found, f)
	}
	return found
}

// retryOf is the declared retry policy as far as it is numbers and flags: other
// values are nobody's business here.
func retryOf(api *tool.API) any {
	switch v := api.Retry.(type) {
	case json.Number:
		return v
	case map[string]any:
		said := map[string]any{}
		for key, value := range v {
			switch value.(type) {
			case json.Number, bool:
				said[key] = value
			}
		}
		if len(said) > 0 {
			return said
		}
	}
	return true
}

func traceApproval(s *Subject) []Finding {
	return traced(s, "approved", "approval",
		func(e *tool.TraceEvent) *bool { return e.Approved },
		func(p *tool.APIPolicy) []string { return p.Approval }, approved)
}

func traceConfirmation(s *Subject) []Finding {
	return traced(s, "confirmed", "confirmation",
		func(e *tool.TraceEvent) *bool { return e.Confirmed },
		func(p *tool.APIPolicy) []string { return p.Confirmation }, confirmed)
}

// traced finds recorded calls that say false of a control their tool has, once a
// tool. What a recording does not say is not held against it.
func traced(
	s *Subject, field, control string, said func(*tool.TraceEvent) *bool,
	named func(*tool.APIPolicy) []string, controlled func(*Subject, *effect.Tool) bool,
) []Finding {
	if s.Reading.API == nil {
		return nil
	}
	covered := map[string]bool{}
	for _, name := range named(&s.Reading.API.Policy) {
		covered[name] = true
	}
	for _, t := range s.Tools() {
		if controlled(s, t) {
			covered[t.Name] = true
		}
	}
	var found []Finding
	seen := map[string]bool{}
	for i := range s.Reading.API.Traces {
		e := &s.Reading.API.Traces[i]
		if value := said(e); value == nil || *value || !covered[e.Tool] || seen[e.Tool] {
			continue
		}
		seen[e.Tool] = true
		f := Finding{
			Title: "A recording shows " + e.Tool + " without " + control, Provenance: RuntimeTrace,
			Source:   Source{Type: "trace", Ref: e.Path, Path: e.Path, Pointer: e.Pointer},
			Evidence: map[string]any{"tool_name": e.Tool, field: false},
		}
		found = append(found, f)
	}
	return found
}
