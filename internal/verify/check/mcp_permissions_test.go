package check_test

import (
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// classed sets the permission classes of a tool.
func classed(classes ...string) checktest.ToolEdit {
	return checktest.Edit(func(t *effect.Tool) { t.Classes = classes })
}

func TestWhatServersMayDo(t *testing.T) {
	auto := checktest.Annotation("mcp_approval_mode", "auto")
	running := func(mode, class string) map[string]any {
		return map[string]any{"source_id": "stock_mcp", "tool": "reorder", "approval_mode": mode, "classes": []string{class}}
	}
	handed := func(names ...string) checktest.ToolEdit {
		var list []any
		for _, n := range names {
			list = append(list, n)
		}
		return checktest.Annotation("mcp_env_secret_names", list)
	}
	bare := checktest.Edit(func(t *effect.Tool) { t.Input, t.Params = nil, nil })
	unknown := map[string]any{"source_id": "stock_mcp", "tool": "reorder"}
	try(t, []situation{
		{"names like secrets", "SHIP-MCP-ENV-SECRET-PASSTHROUGH", one(plain(), handed("ERP_API_KEY", "DB_PASSWORD")), map[string]any{
			"source_id": "stock_mcp", "env_secret_names": []string{"DB_PASSWORD", "ERP_API_KEY"},
		}, ""},
		{"none", "SHIP-MCP-ENV-SECRET-PASSTHROUGH", one(plain(), handed()), nil, ""},

		{"a writing tool", "SHIP-MCP-AUTO-APPROVE-SIDE-EFFECT", one(plain(), auto, classed("write")), running("auto", "write"), ""},
		{"a tool of which nothing is known", "SHIP-MCP-AUTO-APPROVE-SIDE-EFFECT", one(plain(), auto, classed("unknown")), running("auto", "unknown"), ""},
		{"a reading tool", "SHIP-MCP-AUTO-APPROVE-SIDE-EFFECT", one(plain(), auto, classed("read")), nil, ""},
		{"a writing tool that is asked about", "SHIP-MCP-AUTO-APPROVE-SIDE-EFFECT", one(plain(), checktest.Annotation("mcp_approval_mode", "prompt"), classed("write")), nil, ""},
		{"a tool of no server", "SHIP-MCP-AUTO-APPROVE-SIDE-EFFECT", one(plain(), auto, classed("write"), checktest.From("openapi", "api")), nil, ""},

		{"no schema", "SHIP-MCP-UNKNOWN-TOOL-SCHEMA", one(plain(), bare), unknown, ""},
		{"an empty schema", "SHIP-MCP-UNKNOWN-TOOL-SCHEMA", one(plain(), bare, checktest.Edit(func(t *effect.Tool) { t.Input = map[string]any{} })), unknown, ""},
		{"said to be unknown", "SHIP-MCP-UNKNOWN-TOOL-SCHEMA", one(plain(), checktest.Annotation("mcp_unknown_schema", true)), unknown, ""},
		{"a tool that takes nothing", "SHIP-MCP-UNKNOWN-TOOL-SCHEMA", one(plain()), nil, ""},
		{"a wildcard", "SHIP-MCP-UNKNOWN-TOOL-SCHEMA", one(plain(), bare, checktest.Annotation("wildcard_tools", true)), nil, ""},
		{"a tool of no server", "SHIP-MCP-UNKNOWN-TOOL-SCHEMA", one(plain(), bare, checktest.From("sdk_function", "code")), nil, ""},
	})
}

func TestSecretsAreReportedOnceAServer(t *testing.T) {
	handed := checktest.Annotation("mcp_env_secret_names", []any{"ERP_TOKEN"})
	s := checktest.Subject(checktest.Surface(
		plain(),
		checktest.Tool("a", handed, checktest.Annotation("mcp_server", "erp"), checktest.From("codex_config_mcp", "codex")),
		checktest.Tool("b", handed, checktest.Annotation("mcp_server", "erp"), checktest.From("codex_config_mcp", "codex")),
		checktest.Tool("c", handed, checktest.Annotation("mcp_server", "crm"), checktest.From("codex_config_mcp", "codex")),
	))
	if found := checktest.Run(t, "SHIP-MCP-ENV-SECRET-PASSTHROUGH", s); len(found) != 2 {
		t.Errorf("%d findings, want one a server: %+v", len(found), found)
	}
}

// promising is a side whose tool makes a promise and has claims.
func promising(t *testing.T, hint string, value bool, claims ...effect.Claim) *effect.Surface {
	t.Helper()
	s := checktest.Surface(plain(), checktest.Tool("reorder", checktest.Annotation(hint, value)))
	checktest.Act(t, s, "reorder", func(a *effect.Action) { a.Assessment.Claims = claims })
	return s
}

func TestPromisesAgainstEvidence(t *testing.T) {
	hinted := effect.Claim{
		ID: "claim_hint", Dimension: "effect", Value: "read", Basis: effect.TypedProviderFact, Eligible: true, Confidence: tool.High,
	}
	denied := func(hint, form string, claims ...string) map[string]any {
		return map[string]any{"tool": "reorder", "hint": hint, "contradicting_claims": claims, "form": form}
	}
	low := word(effect.Write)
	low.Confidence = tool.Low
	byPeople := protocol(effect.Destructive)
	byPeople.Basis = effect.ReviewedDeclaration
	was := func(claims ...effect.Claim) *effect.Surface { return promising(t, "readOnlyHint", false, claims...) }
	const id = "SHIP-MCP-ANNOTATION-CONTRADICTION"
	try(t, []situation{
		{"reads and deletes", id, checktest.Subject(promising(t, "readOnlyHint", true, hinted, protocol(effect.Destructive))), denied("readOnlyHint", "static", "destructive (protocol_structure)"), ""},
		{"reads and is said to write", id, checktest.Subject(promising(t, "readOnlyHint", true, hinted, word(effect.Write))), denied("readOnlyHint", "static", "write (inferred_keyword)"), ""},
		{"reads", id, checktest.Subject(promising(t, "readOnlyHint", true, hinted)), nil, ""},
		{"reads, and a guess", id, checktest.Subject(promising(t, "readOnlyHint", true, hinted, low)), nil, ""},
		{"reads, and people know better", id, checktest.Subject(promising(t, "readOnlyHint", true, hinted, byPeople)), nil, ""},
		{"promises nothing", id, checktest.Subject(promising(t, "readOnlyHint", false, protocol(effect.Destructive))), nil, ""},
		{"destroys nothing and deletes", id, checktest.Subject(promising(t, "destructiveHint", false, protocol(effect.Destructive))), denied("destructiveHint", "static", "destructive (protocol_structure)"), ""},
		{"destroys nothing and writes", id, checktest.Subject(promising(t, "destructiveHint", false, protocol(effect.Write))), nil, ""},

		{"a new promise", id, checktest.Change(was(protocol(effect.Write)), promising(t, "readOnlyHint", true, hinted)), denied("readOnlyHint", "delta", "write (protocol_structure)"), ""},
		{"an old promise", id, checktest.Change(promising(t, "readOnlyHint", true, hinted), promising(t, "readOnlyHint", true, hinted)), nil, ""},
		{"a new promise that the protocol keeps", id, checktest.Change(was(protocol(effect.Write)), promising(t, "readOnlyHint", true, hinted, protocol(effect.Read))), nil, ""},
		{"a new promise against words", id, checktest.Change(was(word(effect.Write)), promising(t, "readOnlyHint", true, hinted)), nil, ""},
	})
}

// Words against a promise are shown and decide nothing.
func TestWordsAgainstAPromiseAreShownAndDecideNothing(t *testing.T) {
	const id = "SHIP-MCP-ANNOTATION-CONTRADICTION"
	f := checktest.Fires(t, id, checktest.Subject(promising(t, "readOnlyHint", true, word(effect.Destructive))))
	if f.Support == nil || f.Support.PolicyEligible || f.Provenance != check.KeywordHeuristic || !check.ByID(id).PublishAlways {
		t.Errorf("%+v, %+v", f, f.Support)
	}
	f = checktest.Fires(t, id, checktest.Subject(promising(t, "readOnlyHint", true, protocol(effect.Destructive))))
	if f.Support == nil || !f.Support.PolicyEligible || f.Provenance != check.StaticDeclaration {
		t.Errorf("%+v, %+v", f, f.Support)
	}
}

func TestWhatAToolOfAServerGained(t *testing.T) {
	const id = "SHIP-MCP-PERMISSION-EXPANDED"
	side := func(edits ...checktest.ActionEdit) *effect.Surface { return acting(t, plain(), edits...) }
	effectOf := func(e effect.Effect) checktest.ActionEdit {
		return func(a *effect.Action) {
			a.Effect, a.RiskTags = e, []string{e.Tag()}
		}
	}
	approvalGone := map[string]any{"tool": "reorder", "direction": "broadened", "changes": []map[string]any{
		{"kind": "control_changed", "field": "controls.approval_required", "before": true, "after": nil},
	}}
	unclear := map[string]any{"tool": "reorder", "direction": "unknown", "changes": []map[string]any{
		{"kind": "authority_changed", "field": "authority.auth_type", "before": "oauth2", "after": "api_key"},
	}}
	code := func(e effect.Effect) *effect.Surface {
		s := checktest.Surface(plain(), checktest.Tool("reorder", checktest.From("sdk_function", "code")))
		checktest.Act(t, s, "reorder", effectOf(e))
		return s
	}
	try(t, []situation{
		{"a control less", id, checktest.Change(side(controlled("approval.required")), side()), approvalGone, ""},
		{"a control more", id, checktest.Change(side(), side(controlled("approval.required"))), nil, ""},
		{"other credentials", id, checktest.Change(side(), side(func(a *effect.Action) { a.AuthType = "api_key" })), unclear, ""},
		{"a milder effect", id, checktest.Change(side(effectOf(effect.Destructive)), side(effectOf(effect.Read))), nil, ""},
		{"better evidence", id, checktest.Change(side(), side(checktest.Does(effect.Read), func(a *effect.Action) { a.Assessment.EffectStatus = effect.EffectDeclared })), nil, ""},
		{"nothing", id, checktest.Change(side(), side()), nil, ""},
		{"no base", id, checktest.Subject(side()), nil, ""},
		{"a tool of no server", id, checktest.Change(code(effect.Read), code(effect.Destructive)), nil, ""},
	})
}

// A new word in a description is shown; a proof counts.
func TestWordsExpandNoPermission(t *testing.T) {
	base := acting(t, plain(), checktest.Does(effect.Write))
	deletes := func(c effect.Claim, control ...effect.Effect) *check.Subject {
		return checktest.Change(base, acting(t, plain(), checktest.Does(effect.Write), func(a *effect.Action) {
			a.Effect, a.RiskTags = effect.Destructive, []string{"destructive", "read_only"}
			a.Assessment.Claims = append(a.Assessment.Claims, c)
			a.Assessment.Control = append(a.Assessment.Control, control...)
		}))
	}
	const id = "SHIP-MCP-PERMISSION-EXPANDED"
	if f := checktest.Fires(t, id, deletes(word(effect.Destructive))); f.Support.PolicyEligible || f.Provenance != check.KeywordHeuristic {
		t.Errorf("words count: %+v", f.Support)
	}
	if f := checktest.Fires(t, id, deletes(protocol(effect.Destructive), effect.Destructive)); !f.Support.PolicyEligible {
		t.Errorf("proof does not count: %+v", f.Support)
	}
	gone := checktest.Change(acting(t, plain(), controlled("approval.required")), acting(t, plain()))
	if f := checktest.Fires(t, id, gone); !f.Support.PolicyEligible || f.Provenance != check.StaticDeclaration {
		t.Errorf("a control that is gone does not count: %+v", f.Support)
	}
}

func TestNewServers(t *testing.T) {
	const id = "SHIP-MCP-READONLY-SERVER-ADDED"
	m := func() *manifest.Manifest { return plain() }
	stock := func() *effect.Tool { return checktest.Tool("reorder") }
	crm := func(classes ...string) *effect.Tool {
		return checktest.Tool("lookup", classed(classes...), checktest.From("mcp", "crm"))
	}
	base := checktest.Surface(m(), stock())
	try(t, []situation{
		{"that read", id, checktest.Change(base, checktest.Surface(m(), stock(), crm("read"))), map[string]any{"source_id": "crm"}, ""},
		{"that write", id, checktest.Change(base, checktest.Surface(m(), stock(), crm("write"))), nil, ""},
		{"of which nothing is known", id, checktest.Change(base, checktest.Surface(m(), stock(), crm("unknown"))), nil, ""},
		{"that were there", id, checktest.Change(base, checktest.Surface(m(), stock())), nil, ""},
		{"without a base", id, checktest.Subject(checktest.Surface(m(), crm("read"))), nil, ""},
	})
}
