package listing_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/tool"
)

func artifacts(paths ...string) []manifest.Artifact {
	var out []manifest.Artifact
	for _, p := range paths {
		out = append(out, manifest.Artifact{Path: p})
	}
	return out
}

func TestTheOpenAISample(t *testing.T) {
	config := manifest.Artifact{Path: "openai-config.json"}
	r, err := listing.ReadOpenAI(&manifest.Manifest{OpenAI: &manifest.OpenAI{
		Tools:           artifacts("tools/openai-tools.json"),
		ResponseFormats: []manifest.Artifact{{Path: "schemas/refund_decision.schema.json", Critical: []string{"decision"}}},
		ModelConfig:     &config,
		TestCases:       artifacts("tests/openai-api-cases.json"),
		Traces:          artifacts("traces/sample.jsonl"),
		PolicyRules:     artifacts("policies/openai-api-policy.yaml"),
	}}, os.DirFS("testdata/simple_openai_api_agent"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "tools", shown(r), []string{
		`create_refund@/tools/0:3 amount:number payment_id:string! reason:string {"openaiStrict":false}`,
		`send_customer_email@/tools/1/function:30 customer_id:string! message:string! {"openaiStrict":true}`,
	})
	if o := r.Tools[0].Origin; o.Type != "openai_api" || o.SourceID != "openai_api" || o.Ref != "tools/openai-tools.json" {
		t.Errorf("%+v", o)
	}
	a := r.API
	if !a.OpenAI || a.Anthropic || a.TestCases != 1 || a.RetryPolicy == nil || !*a.RetryPolicy || a.Timeouts != nil {
		t.Errorf("%+v", a)
	}
	if len(a.Traces) != 1 || a.Traces[0].Tool != "create_refund" || *a.Traces[0].Approved || !*a.Traces[0].Confirmed {
		t.Errorf("%+v", a.Traces)
	}
	if f := a.ResponseFormats; len(f) != 1 || f[0].Name != "refund_decision" || f[0].Critical[0] != "decision" {
		t.Errorf("%+v", f)
	}
	if got := fmt.Sprint(a.Policy); got != "{[create_refund] [send_customer_email] [] [{send_customer_email [message_id status] [error_code message]}]}" {
		t.Error(got)
	}
	same(t, "warnings", codes(r), nil)
}

func TestTheAnthropicSample(t *testing.T) {
	r, err := listing.ReadAnthropic(&manifest.Manifest{Anthropic: &manifest.Anthropic{
		Tools: artifacts("tools/anthropic-tools.json"), PolicyRules: artifacts("policies/anthropic-policy.yaml"),
	}}, os.DirFS("testdata/simple_anthropic_agent"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "tools", shown(r), []string{
		`create_refund@/tools/0:3 amount:number payment_id:string! reason:string {"anthropicCacheControl":{"type":"ephemeral"}}`,
		`get_help_article@/tools/1:27 slug:string!`,
	})
	same(t, "warnings", codes(r), []string{"server_tool@/tools/2"})
	if fmt.Sprint(r.API.Policy.Approval) != "[create_refund]" || !r.API.Anthropic || r.API.OpenAI {
		t.Errorf("%+v", r.API)
	}
}

func openai(files fstest.MapFS, o manifest.OpenAI) (*tool.Reading, *tool.SourceError) {
	return listing.ReadOpenAI(&manifest.Manifest{OpenAI: &o}, files)
}

func TestFormsOfOpenAITools(t *testing.T) {
	text := `[
	 {"type":"function","name":"flat","parameters":{"properties":{"x":{"type":"integer"}}},"strict":true},
	 {"function":{"name":"nested","parameters":{"type":"object"}},"strict":false},
	 {"name":"bare"},
	 {"type":"web_search_preview"},
	 {"type":"mcp","server_label":"remote","allowed_tools":["x"]},
	 {"type":"custom","custom":{"name":"free"}},
	 {"type":"function"}, 7]`
	r, err := openai(tree("t.json", text), manifest.OpenAI{Tools: artifacts("t.json")})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "tools", shown(r), []string{
		`flat@/0:2 x:integer {"openaiStrict":true}`, `nested@/1/function:3 {"openaiStrict":false}`, "bare@/2:4", "free@/5/custom:7",
	})
	same(t, "warnings", codes(r), []string{"server_tool@/3", "server_tool@/4", "unnamed_tool@/6", "not_a_tool@/7"})
	if len(r.Dynamic) != 1 || r.Dynamic[0].Name != "remote" || !r.Dynamic[0].Filtered {
		t.Errorf("%+v", r.Dynamic)
	}
	if _, err := openai(tree("t.json", `{"functions":[]}`), manifest.OpenAI{Tools: artifacts("t.json")}); err == nil {
		t.Error("an object without tools is no list of tools")
	}
}

func TestFunctionSchemas(t *testing.T) {
	const pure = `{"type":"object","properties":{"name":{"type":"string"},"parameters":{"type":"object"}},"required":["name"]}`
	for _, c := range []struct {
		name, text, declared, want string
		warnings                   []string
	}{
		{"a pure schema, named", pure, "refund", "refund@:1 name:string! parameters:object", nil},
		{"a pure schema, named by its file", pure, "", "look_up@:1 name:string! parameters:object", []string{"unnamed_tool@"}},
		{"a function", `{"name":"f","parameters":{"properties":{"x":{}}},"strict":true}`, "", `f@:1 x: {"openaiStrict":true}`, nil},
		{"a function under another name", `{"name":"f","parameters":{"properties":{"x":{}}}}`, "g", "g@:1 x:", nil},
		{"a nested function", `{"type":"function","function":{"name":"f","parameters":{}}}`, "", "f@/function:1", nil},
		{"a list", `[{"name":"f"}]`, "", "f@/0:1", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			art := manifest.Artifact{Path: "s/look_up.schema.json", Name: c.declared}
			r, err := openai(tree("s/look_up.schema.json", c.text), manifest.OpenAI{FunctionSchemas: []manifest.Artifact{art}})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "tools", shown(r), []string{c.want})
			same(t, "warnings", codes(r), c.warnings)
		})
	}
}

func TestResponseFormatsOutOfTheirEnvelopes(t *testing.T) {
	for name, text := range map[string]string{
		"pure":        `{"type":"object","properties":{"a":{}}}`,
		"json_schema": `{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object","properties":{"a":{}}}}}`,
		"format":      `{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{"a":{}}}}}`,
	} {
		r, err := openai(tree("answer.json", text), manifest.OpenAI{ResponseFormats: artifacts("answer.json")})
		if err != nil {
			t.Fatal(name, err)
		}
		f := r.API.ResponseFormats[0]
		if schema, _ := f.Schema.(map[string]any); f.Name != "answer" || schema["type"] != "object" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestTracesInEveryForm(t *testing.T) {
	row := `{"tool_name":"t","approved":true}`
	for file, text := range map[string]string{
		"a.jsonl": row + "\n\n" + row + "\n", "a.json": "[" + row + "," + row + "]", "b.json": `{"traces":[` + row + "," + row + `]}`,
		"a.yaml": "- tool_name: t\n  approved: true\n- {tool_name: t, approved: true}\n",
	} {
		r, err := openai(tree(file, text), manifest.OpenAI{Traces: artifacts(file)})
		if err != nil {
			t.Fatal(file, err)
		}
		if len(r.API.Traces) != 2 || !*r.API.Traces[1].Approved || r.API.Traces[1].Success != nil {
			t.Errorf("%s: %+v", file, r.API.Traces)
		}
	}
	r, err := openai(tree("a.json", `[{"tool":"t"},7,{"tool_name":"t","success":"yes"}]`), manifest.OpenAI{Traces: artifacts("a.json")})
	if err != nil || len(r.API.Traces) != 1 {
		t.Fatal(err, r)
	}
	same(t, "warnings", codes(r), []string{"unsupported_trace_row@/0", "unsupported_trace_row@/1", "unsupported_trace_row@/2/success"})
	if _, err := openai(tree("a.jsonl", "{}\n{\"a\":\n"), manifest.OpenAI{Traces: artifacts("a.jsonl")}); err == nil || err.Line != 2 {
		t.Errorf("a broken line passed: %v", err)
	}
}

func TestPolicyRuleFilesAreReadStrictly(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a misspelt control", "approvals_required: [a]\n", "unknown key"},
		{"not a list", "approval_required: create_refund\n", "is not a list"},
		{"not a name", "confirmation_required: [1]\n", "not a name"},
		{"a misspelt field", "tool_output_schemas: {t: {success_field: []}}\n", "unknown key"},
		{"a list of rules", "[]", "not an object"},
	} {
		_, err := openai(tree("p.yaml", c.text), manifest.OpenAI{PolicyRules: artifacts("p.yaml")})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	_, err := listing.ReadAnthropic(&manifest.Manifest{Anthropic: &manifest.Anthropic{PolicyRules: artifacts("p.yaml")}}, tree("p.yaml", "retry_policy: {max: 2}\n"))
	if err == nil {
		t.Error("the anthropic block has no retry policy")
	}
	r, err := openai(tree("p.yaml", "retry_policy: {}\ntimeouts: {request: 5}\nidempotency_required: [a]\n"), manifest.OpenAI{PolicyRules: artifacts("p.yaml")})
	if err != nil || r.API.RetryPolicy == nil || *r.API.RetryPolicy || !*r.API.Timeouts || len(r.API.Policy.Idempotency) != 1 {
		t.Errorf("%v %+v", err, r)
	}
}

func TestAnthropicNames(t *testing.T) {
	text := `[{"name":"ok_1-x"},{"name":"dotted.name"},{"name":"` + strings.Repeat("n", 65) + `"},{"type":"custom","name":"c"},{"type":"mcp_toolset","mcp_server_name":"s"}]`
	r, err := listing.ReadAnthropic(&manifest.Manifest{Anthropic: &manifest.Anthropic{Tools: artifacts("t.json")}}, tree("t.json", text))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "warnings", codes(r), []string{"invalid_name@/1/name", "invalid_name@/2/name", "server_tool@/4"})
	if len(r.Tools) != 4 || len(r.Dynamic) != 1 || r.Dynamic[0].Name != "s" {
		t.Errorf("%v %+v", shown(r), r.Dynamic)
	}
}

func TestOptionalArtifactsOfABlock(t *testing.T) {
	o := manifest.OpenAI{
		Prompts: []manifest.Artifact{{Path: "gone.md", Optional: true}, {Path: "here.md"}},
		Tools:   []manifest.Artifact{{Path: "broken.json", Optional: true}},
	}
	r, err := openai(fstest.MapFS{"here.md": {Data: []byte("\ufeffBe kind.")}, "broken.json": {Data: []byte("{")}}, o)
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, s := range r.Sources {
		states = append(states, s.Type+" "+s.Path+" "+string(s.State))
	}
	same(t, "sources", states, []string{"openai_api.prompt_files gone.md missing", "openai_api.prompt_files here.md loaded", "openai_api.tools broken.json failed"})
	if r.API.Prompts[0].Text != "Be kind." {
		t.Errorf("%+v", r.API.Prompts)
	}
	o.Tools[0].Optional = false
	if _, err := openai(fstest.MapFS{"here.md": {}, "broken.json": {Data: []byte("{")}}, o); err == nil || err.SourceID != "openai_api" {
		t.Errorf("%v", err)
	}
	if r, err := listing.ReadOpenAI(&manifest.Manifest{}, fstest.MapFS{}); r != nil || err != nil {
		t.Error("no block, no reading")
	}
}
