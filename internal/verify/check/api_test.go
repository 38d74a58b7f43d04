package check_test

import (
	"encoding/json"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// calling is a subject with one tool of the openai_api block and the rest of
// that block.
func calling(api tool.API, edits ...checktest.ToolEdit) *check.Subject {
	api.OpenAI = true
	s := one(plain(), append([]checktest.ToolEdit{checktest.From("openai_api", "openai_api")}, edits...)...)
	s.Reading.API = &api
	return s
}

// refunding makes a tool a high-risk write tool.
func refunding() checktest.ToolEdit {
	return checktest.Edit(func(t *effect.Tool) {
		checktest.Writes()(t)
		checktest.Hint("financial_action", tool.High)(t)
	})
}

// takes gives a tool a parameter schema.
func takes(t testing.TB, schema string) checktest.ToolEdit {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(schema), &v); err != nil {
		t.Fatal(err)
	}
	return checktest.Edit(func(t *effect.Tool) { t.Input, t.Params = v, tool.Parameters(v) })
}

func TestFunctionSchemas(t *testing.T) {
	strict := checktest.Annotation("openaiStrict", true)
	issues := func(list ...string) map[string]any { return map[string]any{"issues": list, "risk_tags": []string{}} }
	closed := takes(t, `{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string"}}}`)
	anthropic := checktest.From("anthropic_api", "anthropic")
	const id = "SHIP-API-FUNCTION-SCHEMA-STRICTNESS"
	try(t, []situation{
		{"strict and closed", id, calling(tool.API{}, strict, closed), nil, ""},
		{"not strict", id, calling(tool.API{}, closed), issues("missing_strict_true"), ""},
		{"not strict, where nobody can be", id, calling(tool.API{}, anthropic, closed), nil, ""},
		{"no schema", id, calling(tool.API{}, strict, checktest.Edit(func(t *effect.Tool) { t.Input = nil })), issues("missing_parameters_schema"), ""},
		{"no object", id, calling(tool.API{}, strict, takes(t, `{"type":"string"}`)), issues("parameters_schema_not_object"), ""},
		{"open", id, calling(tool.API{}, strict, takes(t, `{"type":"object","properties":{}}`)), issues("additional_properties_not_false"), ""},
		{"optional inputs", id, calling(tool.API{}, strict, takes(t, `{"type":"object","additionalProperties":false,"properties":{"b":{"type":"string"},"a":{"type":"string"}}}`)), issues("properties_missing_from_required:a,b"), ""},
		{"an unbounded amount and free text", id, calling(tool.API{}, strict, takes(t, `{"type":"object","additionalProperties":false,"required":["amount","message"],
			"properties":{"amount":{"type":"number"},"message":{"type":"string"}}}`)), issues("risky_field_unbounded:amount", "broad_free_text:message"), ""},
		{"a bounded amount and a choice", id, calling(tool.API{}, strict, takes(t, `{"type":"object","additionalProperties":false,"required":["amount","message"],
			"properties":{"amount":{"type":"number","maximum":10},"message":{"enum":["a"]}}}`)), nil, ""},
		{
			"of a tool that writes", id, calling(tool.API{}, closed, checktest.Writes()),
			map[string]any{"issues": []string{"missing_strict_true"}, "risk_tags": []string{"write"}},
			check.High,
		},
		{"of another source", id, calling(tool.API{}, checktest.From("mcp", "stock_mcp")), nil, ""},
	})
}

func TestResponseFormats(t *testing.T) {
	format := func(schema string, critical ...string) *check.Subject {
		var v any
		if err := json.Unmarshal([]byte(schema), &v); err != nil {
			t.Fatal(err)
		}
		return calling(tool.API{ResponseFormats: []tool.ResponseFormat{{Path: "answer.json", Schema: v, Critical: critical}}})
	}
	lacking := func(critical []string, list ...string) map[string]any {
		return map[string]any{"path": "answer.json", "issues": list, "downstream_critical_fields": append([]string{}, critical...)}
	}
	of := func(critical ...string) []string { return critical }
	const id = "SHIP-API-STRUCTURED-OUTPUT-READINESS"
	try(t, []situation{
		{"none", id, calling(tool.API{}), map[string]any{"path": nil, "issues": []string{}, "high_risk_tools": []string{}}, ""},
		{"none beside a high-risk tool", id, calling(tool.API{}, refunding()), map[string]any{"path": nil, "issues": []string{}, "high_risk_tools": []string{"reorder"}}, check.High},
		{"no API", id, one(plain()), nil, ""},
		{"no object", id, format(`{"type":"string"}`, "x"), lacking(of("x"), "response_schema_not_object"), ""},
		{
			"open, without a way out, without enums", id,
			format(`{"type":"object","additionalProperties":true,"properties":{"decision":{"type":"string"},"refund_amount":{"type":"number"}}}`, "decision", "refund_amount"),
			lacking(of("decision", "refund_amount"), "additional_properties_not_false", "missing_refusal_needs_review_or_error_field", "missing_enum:decision"), "",
		},
		{
			"without what matters", id,
			format(`{"type":"object","additionalProperties":false,"properties":{"needs_review":{"type":"boolean"},"status":{"type":"string"}}}`),
			lacking(nil, "missing_downstream_critical_fields", "missing_enum:status"), "",
		},
		{
			"without a field that matters", id,
			format(`{"type":"object","additionalProperties":false,"properties":{"error":{},"a":{}}}`, "a", "c", "b"),
			lacking(of("a", "c", "b"), "critical_fields_missing_from_schema:b,c"), "",
		},
		{
			"whole", id,
			format(`{"type":"object","additionalProperties":false,"properties":{"refusal":{},"decision":{"enum":["yes","no"]},"status":{"const":"x"}}}`, "decision"), nil, "",
		},
	})
}

func TestPromptsAgainstTools(t *testing.T) {
	said := func(text string, edits ...checktest.ToolEdit) *check.Subject {
		return calling(tool.API{Prompts: []tool.Prompt{{Path: "prompt.md", Text: text}}}, edits...)
	}
	tools := map[string]any{"tools": []string{"reorder"}}
	const id = "SHIP-API-PROMPT-TOOL-SCOPE-MISMATCH"
	try(t, []situation{
		{"reading only, beside a tool that writes", id, said("You are READ-\nONLY... you are read-only. Ask for approval.", checktest.Writes()), tools, ""},
		{"over a line break", id, said("This assistant is read\n   only. Ask for confirmation.", checktest.Writes()), tools, ""},
		{"reading only, beside a tool that reads", id, said("You are read-only. Ask for approval.", checktest.ReadOnly()), nil, ""},
		{"of controls, beside a risky tool", id, said("Ask for approval before a refund.", refunding()), nil, ""},
		{"of no control, beside a risky tool", id, said("Be kind.", refunding()), tools, check.Medium},
		{"of no control, beside a plain write", id, said("Be kind.", checktest.Writes()), nil, ""},
		{"nothing", id, calling(tool.API{}, refunding()), nil, ""},
		{"beside tools of another source", id, said("Be kind.", refunding(), checktest.From("mcp", "stock_mcp")), nil, ""},
	})
	f := checktest.Fires(t, id, said("Be kind.", refunding()))
	if f.Provenance != check.KeywordHeuristic {
		t.Errorf("words in a prompt pass for %s", f.Provenance)
	}
	if found := checktest.Run(t, id, said("You are read-only.", refunding())); len(found) != 2 {
		t.Errorf("%d findings, want 2: %+v", len(found), found)
	}
}

func TestWhatHighRiskToolsOwe(t *testing.T) {
	risky := map[string]any{"high_risk_tools": []string{"reorder"}}
	declared, absent := new(true), new(false)
	fields := func(success, failure []string) tool.API {
		return tool.API{Policy: tool.APIPolicy{Outputs: []tool.OutputFields{{Tool: "reorder", Success: success, Failure: failure}}}}
	}
	outputs := func(names ...string) map[string]any {
		return map[string]any{"tool_output_schemas": append([]string{}, names...)}
	}
	retried := map[string]any{"retry_policy": true, "risk_tags": []string{"financial_action", "write"}}
	harmless := checktest.Writes()
	try(t, []situation{
		{"not declared", "SHIP-API-RETRY-POLICY-MISSING", calling(tool.API{}, refunding()), risky, ""},
		{"a config that does not say", "SHIP-API-RETRY-POLICY-MISSING", calling(tool.API{RetryPolicy: absent}, refunding()), risky, ""},
		{"declared", "SHIP-API-RETRY-POLICY-MISSING", calling(tool.API{RetryPolicy: declared}, refunding()), nil, ""},
		{"nothing risky", "SHIP-API-RETRY-POLICY-MISSING", calling(tool.API{}, harmless), nil, ""},
		{"risky elsewhere", "SHIP-API-RETRY-POLICY-MISSING", calling(tool.API{}, refunding(), checktest.From("anthropic_api", "anthropic")), nil, ""},

		{"not declared", "SHIP-API-TIMEOUT-MISSING", calling(tool.API{}, refunding()), risky, ""},
		{"declared", "SHIP-API-TIMEOUT-MISSING", calling(tool.API{Timeouts: declared}, refunding()), nil, ""},

		{"none", "SHIP-API-TEST-CASES-MISSING", calling(tool.API{}, refunding()), risky, ""},
		{"one", "SHIP-API-TEST-CASES-MISSING", calling(tool.API{TestCases: 1}, refunding()), nil, ""},

		{"not declared", "SHIP-API-TOOL-OUTPUT-SCHEMA-MISSING", calling(tool.API{}, refunding()), outputs(), ""},
		{"success alone", "SHIP-API-TOOL-OUTPUT-SCHEMA-MISSING", calling(fields([]string{"id"}, nil), refunding()), outputs("reorder"), ""},
		{"both", "SHIP-API-TOOL-OUTPUT-SCHEMA-MISSING", calling(fields([]string{"id"}, []string{"error"}), refunding()), nil, ""},
		{"nothing risky", "SHIP-API-TOOL-OUTPUT-SCHEMA-MISSING", calling(tool.API{}, harmless), nil, ""},

		{"retried", "SHIP-API-RETRY-WITHOUT-IDEMPOTENCY", calling(tool.API{RetryPolicy: declared}, refunding()), retried, ""},
		{
			"retried so often", "SHIP-API-RETRY-WITHOUT-IDEMPOTENCY",
			calling(tool.API{RetryPolicy: declared, Retry: map[string]any{"max_attempts": json.Number("2"), "via": "a place"}}, refunding()),
			map[string]any{"retry_policy": map[string]any{"max_attempts": json.Number("2")}, "risk_tags": []string{"financial_action", "write"}},
			"",
		},
		{"not retried", "SHIP-API-RETRY-WITHOUT-IDEMPOTENCY", calling(tool.API{RetryPolicy: absent}, refunding()), nil, ""},
		{"harmless", "SHIP-API-RETRY-WITHOUT-IDEMPOTENCY", calling(tool.API{RetryPolicy: declared}, harmless), nil, ""},
		{
			"idempotent", "SHIP-API-RETRY-WITHOUT-IDEMPOTENCY",
			calling(tool.API{RetryPolicy: declared, Policy: tool.APIPolicy{Idempotency: []string{"reorder"}}}, refunding()), nil, "",
		},
	})
}

func TestRecordingsAgainstControls(t *testing.T) {
	recorded := func(policy tool.APIPolicy, events ...tool.TraceEvent) *check.Subject {
		for i := range events {
			events[i].Path = "trace.jsonl"
		}
		return calling(tool.API{Policy: policy, Traces: events})
	}
	approval := tool.APIPolicy{Approval: []string{"reorder"}}
	confirmation := tool.APIPolicy{Confirmation: []string{"reorder"}}
	ran := map[string]any{"tool_name": "reorder", "approved": false}
	try(t, []situation{
		{"without it", "SHIP-API-TRACE-APPROVAL-MISSING", recorded(approval, tool.TraceEvent{Tool: "reorder", Approved: new(false)}), ran, ""},
		{"twice without it", "SHIP-API-TRACE-APPROVAL-MISSING", recorded(approval, tool.TraceEvent{Tool: "reorder", Approved: new(false)}, tool.TraceEvent{Tool: "reorder", Approved: new(false)}), ran, ""},
		{"with it", "SHIP-API-TRACE-APPROVAL-MISSING", recorded(approval, tool.TraceEvent{Tool: "reorder", Approved: new(true)}), nil, ""},
		{"not said", "SHIP-API-TRACE-APPROVAL-MISSING", recorded(approval, tool.TraceEvent{Tool: "reorder"}), nil, ""},
		{"not needed", "SHIP-API-TRACE-APPROVAL-MISSING", recorded(confirmation, tool.TraceEvent{Tool: "reorder", Approved: new(false)}), nil, ""},
		{"without it", "SHIP-API-TRACE-CONFIRMATION-MISSING", recorded(confirmation, tool.TraceEvent{Tool: "reorder", Confirmed: new(false)}), map[string]any{"tool_name": "reorder", "confirmed": false}, ""},
		{"not needed", "SHIP-API-TRACE-CONFIRMATION-MISSING", recorded(approval, tool.TraceEvent{Tool: "reorder", Confirmed: new(false)}), nil, ""},
	})
	f := checktest.Fires(t, "SHIP-API-TRACE-APPROVAL-MISSING", recorded(approval, tool.TraceEvent{Tool: "reorder", Approved: new(false)}))
	if f.Provenance != check.RuntimeTrace || f.Source.Path != "trace.jsonl" {
		t.Errorf("%+v", f)
	}
}

// The old name is a name only.
func TestTheOldNameIsNeverReported(t *testing.T) {
	s := calling(tool.API{}, refunding())
	for _, c := range check.Catalogue() {
		for _, f := range c.Find(s) {
			if f.CheckID == check.OperationalReadiness {
				t.Errorf("%+v", f)
			}
		}
	}
}
