package effect_test

import (
	"testing"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Every row of §6.1, with the near miss beside it.
func TestHintsComeFromStructureAndFromWords(t *testing.T) {
	openAI := func(name string, edits ...edit) tool.Tool { return made("openai_api", "kit", name, edits...) }
	for _, c := range []struct {
		name string
		tool tool.Tool
		want string
	}{
		{"a read-only hint", listed("stock", note("readOnlyHint", true)), "read_only/readOnlyHint/high"},
		{"a read-only hint that says no", listed("stock", note("readOnlyHint", false)), ""},
		{"a read-only hint in words", listed("stock", note("readOnlyHint", "true")), ""},
		{"a destructive hint", listed("stock", note("destructiveHint", true)), "destructive/destructiveHint/high write/destructiveHint/high"},
		{"GET", operation("GET", "/stock", "stock"), "read_only/http_method/high"},
		{"GET beside a destructive word", operation("GET", "/stock", "stock", saying("what to delete next")), "destructive/keyword/medium"},
		{"GET beside a word that is only nearly one", operation("GET", "/stock", "stock", saying("what was deleted")), "read_only/http_method/high"},
		{"POST", operation("POST", "/stock", "stock"), "write/http_method/high"},
		{"DELETE", operation("DELETE", "/stock", "stock"), "destructive/http_method/high write/http_method/high"},
		{"a method in a listing proves nothing", listed("stock", note("httpMethod", "GET")), ""},
		{"a reading word in a definition of a function", openAI("list_stock"), "read_only/keyword/medium"},
		{"a reading word of an MCP tool", listed("list_stock"), ""},
		{"a writing word in a definition of a function", openAI("update_stock"), "write/keyword/medium"},
		{"a writing word of an MCP tool", listed("update_stock"), ""},
		{"a destructive word counts everywhere", listed("remove_stock"), "destructive/keyword/medium"},
		{"letters run on over digits and dashes", openAI("v2-list9stock"), "read_only/keyword/medium"},
		{"a longer word is another word", openAI("listing"), ""},
		{"a preview in code", function("delete_preview", saying("Deletes nothing.")), "read_only/preview/high"},
		{"a preview elsewhere", openAI("delete_preview"), "destructive/keyword/medium read_only/keyword/medium write/keyword/medium"},
		{"money without any write", listed("refund_status"), "financial_action/keyword/low"},
		{
			"money that is only read", listed("refund_status", note("readOnlyHint", true)),
			"financial_action/keyword/low read_only/readOnlyHint/high",
		},
		{
			"money that is written", operation("POST", "/payouts", "pay_invoice"),
			"financial_action/keyword/high write/http_method/high",
		},
		{"money in a scope", listed("pay", scopes("payments:view")), "financial_action/scope_keyword/low"},
		{"money in a scope that writes", listed("pay", scopes("payments:write")), "financial_action/scope_keyword/high"},
		{"a message", listed("last_message"), "customer_communication/keyword/medium"},
		{
			"a message that is only read", listed("last_message", note("readOnlyHint", true)),
			"customer_communication/keyword/low read_only/readOnlyHint/high",
		},
		{
			"a message that is written", operation("POST", "/messages", "message"),
			"customer_communication/keyword/high write/http_method/high",
		},
		{
			"a message to a customer", listed("customer_email"),
			"customer_communication/keyword/medium external_write/keyword/medium",
		},
		{
			"a customer's message that is only read", listed("customer_email", note("readOnlyHint", true)),
			"customer_communication/keyword/low read_only/readOnlyHint/high",
		},
		{"a customer without a message", listed("customer"), ""},
		{"personal data", listed("person", saying("Shows PII.")), "sensitive_data_access/keyword/medium"},
		{"code", listed("run_python"), "code_execution/keyword/medium"},
		{"infrastructure", listed("scale", saying("Scales a Kubernetes deployment")), "infrastructure_change/keyword/medium"},
		{"deployment is not deploy", listed("scale", saying("Scales a deployment")), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := resolve(t, header, reading(c.tool))
			same(t, c.tool.Name, hints(s.Catalog[0]), c.want)
		})
	}
}

// Words are all that these sources offer; the others have a protocol, or nothing
// that is theirs.
func TestWordsOfWhatAToolDoesCountWhereNothingElseSaysIt(t *testing.T) {
	for kind, want := range map[string]bool{
		"openai_api": true, "anthropic_api": true, "sdk_function": true, "langchain_tool": true, "langchain_structured_tool": true,
		"langchain_inventory": true, "crewai_function": true, "crewai_class_tool": true, "n8n_ai_tool": true, "n8n_inventory": true,
		"mcp": false, "openapi": false, "crewai_prebuilt_tool": false, "crewai_inventory": false, "google_adk_function": false,
		"mcp_server_code": false, "codex_config_mcp": false, "conductor_mcp_tool": false,
	} {
		got := resolve(t, header, reading(made(kind, "kit", "update_stock"))).Catalog[0]
		if got.HasHint("write", tool.Medium) != want {
			t.Errorf("%s: %q", kind, hints(got))
		}
	}
}

func TestPeopleAddAndTakeTags(t *testing.T) {
	const text = header + `
risk_overrides:
  tools:
    refund_status: {tags: [read_only], remove_tags: [financial_action], owner: payments, reason: a lookup}
    pay: {tags: [financial_action, external_write], reason: real money}
`
	s := resolve(t, text, reading(
		made("openai_api", "kit", "refund_status"), made("openai_api", "kit", "pay"), made("openai_api", "kit", "refund"),
	))
	lookup, pay, other := the(t, s, "refund_status"), the(t, s, "pay"), the(t, s, "refund")
	same(t, "refund_status", hints(lookup), "read_only/keyword/medium read_only/manual/high write/keyword/medium")
	same(t, "pay", hints(pay), "external_write/manual/high financial_action/manual/high")
	same(t, "refund, which no override names", hints(other), "financial_action/keyword/high write/keyword/medium")
	same(t, "owner", lookup.Owner, "payments")
}

// A new source must not bring a tool that an old entry clears.
func TestAnOverrideOfAnAmbiguousNameTakesNothingAway(t *testing.T) {
	const text = bound + `
risk_overrides: {tools: {refund_status: {tags: [read_only, customer_data], remove_tags: [financial_action], reason: a lookup}}}
`
	s := resolve(t, text, reading(
		made("openai_api", "kit", "refund_status"), made("openai_api", "spare", "refund_status"),
	))
	for _, c := range s.Catalog {
		same(t, c.Origin.SourceID, hints(c), "customer_data/manual/high financial_action/keyword/high read_only/keyword/medium write/keyword/medium")
		same(t, c.Origin.SourceID, kinds(c.Issues), effect.AmbiguousLegacyName)
	}
	const adds = bound + `
risk_overrides: {tools: {refund_status: {tags: [customer_data], reason: it names people}}}
`
	s = resolve(t, adds, reading(made("openai_api", "kit", "refund_status"), made("openai_api", "spare", "refund_status")))
	for _, c := range s.Catalog {
		same(t, c.Origin.SourceID+", additions only", kinds(c.Issues), "")
	}
}

func TestReadOnlyWriteAndHighRiskTools(t *testing.T) {
	for _, c := range []struct {
		name                     string
		tool                     tool.Tool
		readOnly, write, highTop bool
	}{
		{"a read-only hint wins", operation("DELETE", "/x", "x", note("readOnlyHint", true)), true, false, false},
		{"a GET", operation("GET", "/x", "x"), true, false, false},
		{"a GET about secrets", operation("GET", "/x", "x", saying("secrets")), true, false, false},
		{"words that read are not enough", made("openai_api", "kit", "list_x"), false, false, false},
		{"a POST", operation("POST", "/x", "x"), false, true, false},
		{"a DELETE", operation("DELETE", "/x", "x"), false, true, true},
		{"a word of money and nothing that writes", listed("refund"), false, false, false},
		{"a shell", listed("shell"), false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolve(t, header, reading(c.tool)).Catalog[0]
			if got.EffectivelyReadOnly() != c.readOnly || got.WriteTool() != c.write || got.HighRisk() != c.highTop {
				t.Errorf("read-only %t, write %t, high-risk %t: %s", got.EffectivelyReadOnly(), got.WriteTool(), got.HighRisk(), hints(got))
			}
		})
	}
}

func TestHasHintAsksHowSure(t *testing.T) {
	got := resolve(t, header, reading(listed("refund_status"))).Catalog[0]
	if !got.HasHint("financial_action", tool.Low) || got.HasHint("financial_action", tool.Medium) || got.HasHint("write", tool.Low) {
		t.Error(hints(got))
	}
}
