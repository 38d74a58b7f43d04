package effect_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

func claimed(a *effect.Action) string {
	var list []string
	for _, c := range a.Assessment.Claims {
		if c.Dimension != effect.EffectDimension {
			continue
		}
		text := c.Value + "/" + string(c.Basis)
		if c.Eligible {
			text += "!"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func control(a *effect.Action) string {
	var list []string
	for _, e := range a.Assessment.Control {
		list = append(list, string(e))
	}
	return strings.Join(list, " ")
}

// The rows of §§6.2 and 6.3: what is claimed, what holds, and what is open.
func TestEffects(t *testing.T) {
	openAI := func(edits ...edit) tool.Tool { return made("openai_api", "kit", "x", edits...) }
	for _, c := range []struct {
		name     string
		tool     tool.Tool
		declared string // of action_surface.actions[0] beside tool
		risk     string // of risk_overrides.tools.x
		claims   string
		effect   effect.Effect
		control  string
		status   effect.EffectStatus
		issues   string
	}{
		{
			name: "a GET", tool: operation("GET", "/x", "x"),
			claims: "read/protocol_structure!", effect: effect.Read, control: "read", status: effect.EffectStructural,
		},
		{
			name: "a HEAD and an OPTIONS read, a TRACE says nothing", tool: operation("TRACE", "/x", "x"),
			claims: "", effect: effect.Write, status: effect.EffectUnknown, issues: effect.MissingEffect,
		},
		{
			name: "a PUT", tool: operation("PUT", "/x", "x"),
			claims: "write/protocol_structure!", effect: effect.Write, control: "write", status: effect.EffectStructural,
		},
		{
			name: "a DELETE", tool: operation("DELETE", "/x", "x"),
			claims: "destructive/protocol_structure!", effect: effect.Destructive, control: "destructive", status: effect.EffectStructural,
		},
		{
			name: "a read-only hint", tool: listed("x", note("readOnlyHint", true)),
			claims: "read/typed_provider_fact!", effect: effect.Read, control: "read", status: effect.EffectStructural,
		},
		{
			name: "two hints that contradict", tool: listed("x", note("readOnlyHint", true), note("destructiveHint", true)),
			claims: "destructive/typed_provider_fact! read/typed_provider_fact!", effect: effect.Destructive, control: "read destructive",
			status: effect.EffectConflicting, issues: effect.ConflictingEffect,
		},
		{
			name: "a read-only hint on a POST", tool: operation("POST", "/x", "x", note("readOnlyHint", true)),
			claims: "write/protocol_structure! read/typed_provider_fact!", effect: effect.Write, control: "read write",
			status: effect.EffectConflicting, issues: effect.ConflictingEffect,
		},
		{
			name: "a permission class", tool: listed("x", note("permission_class", "financial")),
			claims: "financial_write/typed_provider_fact!", effect: effect.FinancialWrite, control: "financial_write", status: effect.EffectStructural,
		},
		{
			name: "permission classes as a list", tool: listed("x", note("shipgate_permission_classes", []any{"external", "production"})),
			claims: "external_communication/typed_provider_fact! production_operation/typed_provider_fact!",
			effect: effect.ExternalCommunication, control: "production_operation external_communication", status: effect.EffectStructural,
		},
		{
			name: "a permission class that is none", tool: listed("x", note("permission_class", "harmless"), note("readOnlyHint", true)),
			claims: "read/typed_provider_fact!", effect: effect.Read, control: "read", status: effect.EffectStructural, issues: effect.InvalidAnnotation,
		},
		{
			name: "the class unknown claims nothing", tool: listed("x", note("permission_class", "unknown")),
			claims: "write/protocol_default", effect: effect.Write, status: effect.EffectProtocolDefault, issues: effect.MissingEffect,
		},
		{
			name: "a scope that writes", tool: listed("x", scopes("bins:write")),
			claims: "write/structural_scope!", effect: effect.Write, control: "write", status: effect.EffectStructural,
		},
		{
			name: "a scope that deletes", tool: listed("x", scopes("bins:delete")),
			claims: "destructive/structural_scope!", effect: effect.Destructive, control: "destructive", status: effect.EffectStructural,
		},
		{
			name: "a scope that rewrites nothing", tool: listed("x", scopes("bins:rewritten", "undelete:x")),
			claims: "write/protocol_default", effect: effect.Write, status: effect.EffectProtocolDefault, issues: effect.MissingEffect,
		},
		{
			name: "an MCP tool that says nothing", tool: listed("x"),
			claims: "write/protocol_default", effect: effect.Write, status: effect.EffectProtocolDefault, issues: effect.MissingEffect,
		},
		{
			name: "another tool that says nothing", tool: openAI(),
			claims: "", effect: effect.Write, status: effect.EffectUnknown, issues: effect.MissingEffect,
		},
		{
			name: "readOnlyHint false leaves the default", tool: listed("x", note("readOnlyHint", false)),
			claims: "write/protocol_default", effect: effect.Write, status: effect.EffectProtocolDefault, issues: effect.MissingEffect,
		},
		{
			name: "a hint that is no boolean", tool: listed("x", note("readOnlyHint", "yes"), note("destructiveHint", true)),
			claims: "destructive/typed_provider_fact!", effect: effect.Destructive, control: "destructive",
			status: effect.EffectStructural, issues: effect.InvalidAnnotation,
		},
		{
			name: "a hint that is no boolean is not needed beside a declaration", tool: listed("x", note("readOnlyHint", "yes")), declared: "effect: read",
			claims: "read/reviewed_declaration!", effect: effect.Read, control: "read", status: effect.EffectDeclared,
		},
		{
			name: "words alone", tool: openAI(saying("Delete a bin.")),
			claims: "destructive/inferred_keyword write/inferred_keyword", effect: effect.Destructive, status: effect.EffectInferred,
			issues: effect.InferredEffectOnly,
		},
		{
			name: "words beyond the proof", tool: operation("PUT", "/x", "x", saying("Remove a bin.")),
			claims: "destructive/inferred_keyword write/protocol_structure!", effect: effect.Destructive, control: "write",
			status: effect.EffectStructural, issues: effect.InferredEffectOnly,
		},
		{
			name: "a topic beside a proof", tool: listed("x", saying("The refund status."), note("readOnlyHint", true)),
			claims: "financial_write/inferred_keyword read/typed_provider_fact!", effect: effect.Read, control: "read", status: effect.EffectStructural,
		},
		{
			name: "a topic without any proof", tool: listed("x", saying("The refund status.")),
			claims: "financial_write/inferred_keyword", effect: effect.FinancialWrite, status: effect.EffectInferred, issues: effect.InferredEffectOnly,
		},
		{
			name: "a declaration", tool: listed("x"), declared: "effect: external_communication",
			claims: "external_communication/reviewed_declaration!", effect: effect.ExternalCommunication,
			control: "external_communication", status: effect.EffectDeclared,
		},
		{
			name: "a declaration above the proof", tool: operation("GET", "/x", "x"), declared: "effect: privileged_data_access",
			claims: "privileged_data_access/reviewed_declaration! read/protocol_structure!", effect: effect.PrivilegedDataAccess,
			control: "read privileged_data_access", status: effect.EffectDeclared,
		},
		{
			name: "a declaration below the proof", tool: operation("DELETE", "/x", "x"), declared: "effect: read",
			claims: "destructive/protocol_structure! read/reviewed_declaration!", effect: effect.Destructive, control: "read destructive",
			status: effect.EffectConflicting, issues: effect.ConflictingEffect,
		},
		{
			name: "a declaration below the proof that says why", tool: operation("POST", "/x", "x"),
			declared: "effect: read, override: {evidence: docs/search.md, reason: a search with a long query}",
			claims:   "write/protocol_structure! read/reviewed_declaration!", effect: effect.Write, control: "read write", status: effect.EffectDeclared,
		},
		{
			name: "a declaration below words", tool: listed("x", saying("Delete drafts.")), declared: "effect: write",
			claims: "destructive/inferred_keyword write/reviewed_declaration!", effect: effect.Destructive, control: "write", status: effect.EffectDeclared,
		},
		{
			name: "declared tags", tool: listed("x"), declared: "risk_tags: [financial_action, customer_data]",
			claims: "financial_write/reviewed_declaration!", effect: effect.FinancialWrite, control: "financial_write", status: effect.EffectDeclared,
		},
		{
			name: "tags beyond the declared effect add controls", tool: listed("x"), declared: "effect: write, risk_tags: [financial_write]",
			claims: "financial_write/reviewed_declaration! write/reviewed_declaration!", effect: effect.FinancialWrite,
			control: "write financial_write", status: effect.EffectDeclared,
		},
		{
			name: "tags of an override", tool: listed("x"), risk: "tags: [code_execution]",
			claims: "code_execution/reviewed_declaration!", effect: effect.CodeExecution, control: "code_execution", status: effect.EffectDeclared,
		},
		{
			name: "an override that says read_only of a POST", tool: operation("POST", "/x", "x"), risk: "tags: [read_only], remove_tags: [write]",
			claims: "write/protocol_structure! read/reviewed_declaration!", effect: effect.Write, control: "read write",
			status: effect.EffectConflicting, issues: effect.ConflictingEffect,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := bound
			if c.declared != "" {
				text += "action_surface: {actions: [{tool: x, " + c.declared + "}]}\n"
			}
			if c.risk != "" {
				text += "risk_overrides: {tools: {x: {" + c.risk + ", reason: reviewed}}}\n"
			}
			a := action(t, resolve(t, text, reading(c.tool)), "x")
			same(t, "claims", claimed(a), c.claims)
			same(t, "effect", string(a.Effect), string(c.effect))
			same(t, "control effects", control(a), c.control)
			same(t, "status", string(a.Assessment.EffectStatus), string(c.status))
			same(t, "issues", kinds(a.Assessment.Issues), c.issues)
			if a.Assessment.PassEligible != (c.issues == "") {
				t.Errorf("pass-eligible %t with the issues %q", a.Assessment.PassEligible, c.issues)
			}
			for _, i := range a.Assessment.Issues {
				if i.Subject != "x" || i.ToolID != a.Tool.ID || i.SourceType == "" || i.SourceRef == "" || i.Why == "" {
					t.Errorf("an issue that does not say what it is about: %+v", i)
				}
			}
		})
	}
}

func TestWordsThatAreStrongerThanProofStayOpen(t *testing.T) {
	for _, c := range []struct {
		name, declared string
		tool           tool.Tool
		open           string
	}{
		{"a proven write and words of deletion", "", operation("PUT", "/x", "x", saying("Remove a bin.")), "destructive"},
		{"weaker words", "", operation("DELETE", "/x", "x", saying("Send a message.")), ""},
		{"a topic of low confidence", "", listed("x", saying("refund"), note("readOnlyHint", true)), ""},
		{"a declaration does not close it by itself", "effect: write", listed("x", saying("Remove a bin.")), "destructive"},
		{"one that says why does", "effect: write, override: {evidence: e, reason: r}", listed("x", saying("Remove a bin.")), ""},
		{"nor does a tag", "risk_tags: [write]", listed("x", saying("Remove a bin.")), "destructive"},
		{"the default of a protocol is no suspicion", "", listed("x"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := bound
			if c.declared != "" {
				text += "action_surface: {actions: [{tool: x, " + c.declared + "}]}\n"
			}
			a := action(t, resolve(t, text, reading(c.tool)), "x")
			var open []string
			for _, claim := range a.Assessment.Unproven() {
				open = append(open, claim.Value)
				if claim.Eligible {
					t.Errorf("%s is proof", claim.ID)
				}
			}
			same(t, "open", strings.Join(open, " "), c.open)
		})
	}
}

// Where a line moves, the evidence is the same.
func TestAClaimKeepsItsIdWhenItsPlaceMoves(t *testing.T) {
	at := func(line string) *effect.Action {
		return action(t, resolve(t, bound, reading(listed("x", note("readOnlyHint", true), func(t *tool.Tool) { t.Origin.Pointer = line }))), "x")
	}
	a, b := at("/tools/0"), at("/tools/7")
	if a.Assessment.Claims[0].ID != b.Assessment.Claims[0].ID || !strings.HasPrefix(a.Assessment.Claims[0].ID, "claim_") || len(a.Assessment.Claims[0].ID) != 22 {
		t.Errorf("%s, %s", a.Assessment.Claims[0].ID, b.Assessment.Claims[0].ID)
	}
	if a.RiskHash != b.RiskHash || a.SchemaHash != b.SchemaHash || a.PolicyHash != b.PolicyHash || a.IdentityHash != b.IdentityHash {
		t.Error("a hash holds a place")
	}
}

func TestASurfaceIsSeenInFullOrSaidNotToBe(t *testing.T) {
	read := note("readOnlyHint", true)
	nothing := func(t *tool.Tool) { t.Input = nil }
	for _, c := range []struct {
		name string
		tool tool.Tool
		full bool
	}{
		{"a listing", listed("x", read), true},
		{"parsed code", function("x", read), false},
		{"no confidence at all", listed("x", read, func(t *tool.Tool) { t.Confidence = "" }), false},
		{"a wildcard", listed("x", read, note("wildcard_tools", true)), false},
		{"a wildcard of a host", listed("x", read, note("mcp_wildcard_tools", true)), false},
		{"no schema", listed("x", read, nothing), false},
		{"an empty schema", listed("x", read, func(t *tool.Tool) { t.Input = map[string]any{} }), false},
		{"a schema that its reader calls unknown", listed("x", read, note("mcp_unknown_schema", true)), false},
		{"parameters without a schema", listed("x", read, nothing, takes(tool.Parameter{Name: "n"})), true},
		{"an operation without inputs", operation("GET", "/x", "x", nothing), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := action(t, resolve(t, bound, reading(c.tool)), "x")
			if a.Assessment.SurfaceComplete != c.full || (kinds(a.Assessment.Issues) == effect.IncompleteSurface) == c.full {
				t.Errorf("complete %t: %v", a.Assessment.SurfaceComplete, a.Assessment.Issues)
			}
		})
	}
}

func TestASourceThatCouldNotBeEnumeratedCoversItsTools(t *testing.T) {
	dynamic := func(d tool.Dynamic) string {
		r := reading(listed("x", note("readOnlyHint", true)), listed("y", note("readOnlyHint", true), in("spare")))
		r.Dynamic = []tool.Dynamic{d}
		s := resolve(t, bound, r)
		return kinds(action(t, s, "x").Assessment.Issues) + "|" + kinds(action(t, s, "y").Assessment.Issues)
	}
	kit := tool.Origin{SourceID: "kit"}
	same(t, "a list that was not read", dynamic(tool.Dynamic{Kind: "toolset", Reason: "runtime_call", Origin: kit}), effect.IncompleteSurface+"|")
	same(t, "one that an inventory stands for", dynamic(tool.Dynamic{Kind: "toolset", Resolved: true, Origin: kit}), "|")
}
