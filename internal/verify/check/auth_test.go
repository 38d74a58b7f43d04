package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// A situation is a subject and what one check has to say about it.
type situation struct {
	name     string
	check    string
	subject  *check.Subject
	evidence map[string]any // nil: the check is silent
	severity check.Severity // "" for the default
}

func try(t *testing.T, cases []situation) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.check+": "+c.name, func(t *testing.T) {
			if c.evidence == nil {
				checktest.Silent(t, c.check, c.subject)
				return
			}
			f := checktest.Fires(t, c.check, c.subject)
			if d := cmp.Diff(c.evidence, f.Evidence); d != "" {
				t.Errorf("evidence (-want +got):\n%s", d)
			}
			want := c.severity
			if want == "" {
				want = check.ByID(c.check).Severity
			}
			if f.Severity != want {
				t.Errorf("severity %s, want %s", f.Severity, want)
			}
			for _, key := range keysOf(f.Evidence) {
				if !contains(check.ByID(c.check).EvidenceFields, key) {
					t.Errorf("evidence %q is not in the check's evidence fields", key)
				}
			}
			if f.Source.Type == "" || f.Title == "" || f.Recommendation == "" || f.AgentID == "" {
				t.Errorf("the finding leaves something open: %+v", f)
			}
		})
	}
}

func keysOf(m map[string]any) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// one is a subject with one tool.
func one(m *manifest.Manifest, edits ...checktest.ToolEdit) *check.Subject {
	return checktest.Subject(checktest.Surface(m, checktest.Tool("reorder", edits...)))
}

var plain = checktest.Manifest

func TestScopes(t *testing.T) {
	reads := checktest.Scopes("stock:read")
	none := checktest.Scopes()
	try(t, []situation{
		{"a wildcard", "SHIP-AUTH-MANIFEST-BROAD-SCOPE", one(plain(checktest.Granted("stock:read", "stock:*"))), map[string]any{"scopes": []string{"stock:*"}}, ""},
		{"a word that holds admin", "SHIP-AUTH-MANIFEST-BROAD-SCOPE", one(plain(checktest.Granted("stock:read", "administration"))), map[string]any{"scopes": []string{"administration"}}, ""},
		{"narrow scopes", "SHIP-AUTH-MANIFEST-BROAD-SCOPE", one(plain(checktest.Granted("stock:read", "stock:write"))), nil, ""},

		{"admin", "SHIP-AUTH-TOOL-BROAD-SCOPE", one(plain(), checktest.Scopes("erp.admin", "erp.read")), map[string]any{"scopes": []string{"erp.admin"}}, ""},
		{"narrow", "SHIP-AUTH-TOOL-BROAD-SCOPE", one(plain(), checktest.Scopes("erp.read")), nil, ""},

		{"a write tool", "SHIP-AUTH-MISSING-SCOPE", one(plain(), none, checktest.Writes()), map[string]any{"risk_tags": []string{"write"}}, ""},
		{"sensitive data", "SHIP-AUTH-MISSING-SCOPE", one(plain(), none, checktest.Hint("sensitive_data_access", tool.Medium)), map[string]any{"risk_tags": []string{"sensitive_data_access"}}, ""},
		{"a write tool with a scope", "SHIP-AUTH-MISSING-SCOPE", one(plain(), reads, checktest.Writes()), nil, ""},
		{"a reading tool without one", "SHIP-AUTH-MISSING-SCOPE", one(plain(), none, checktest.ReadOnly()), nil, ""},
		{"a guess at sensitive data", "SHIP-AUTH-MISSING-SCOPE", one(plain(), none, checktest.Hint("sensitive_data_access", tool.Low)), nil, ""},

		{"nothing granted", "SHIP-AUTH-SCOPE-COVERAGE-MISSING", one(plain(checktest.Granted("orders:read")), checktest.Scopes("stock:read", "ORDERS:read")), map[string]any{
			"tool_scopes": []string{"stock:read", "ORDERS:read"}, "manifest_scopes": []string{"orders:read"}, "missing_scopes": []string{"stock:read"},
		}, ""},
		{"a prefix", "SHIP-AUTH-SCOPE-COVERAGE-MISSING", one(plain(checktest.Granted("stock:*")), reads), nil, ""},
		{"another prefix", "SHIP-AUTH-SCOPE-COVERAGE-MISSING", one(plain(checktest.Granted("stock:*")), checktest.Scopes("stocks:read")), map[string]any{
			"tool_scopes": []string{"stocks:read"}, "manifest_scopes": []string{"stock:*"}, "missing_scopes": []string{"stocks:read"},
		}, ""},
		{"no scopes at all", "SHIP-AUTH-SCOPE-COVERAGE-MISSING", one(plain(), none), nil, ""},
	})
}

// A declaration of scopes, or that no authority is needed, answers the check.
func TestDeclaredAuthorityAnswersForATool(t *testing.T) {
	surface := checktest.Surface(plain(), checktest.Tool("reorder", checktest.Writes(), checktest.Scopes()))
	checktest.Fires(t, "SHIP-AUTH-MISSING-SCOPE", checktest.Subject(surface))
	a := checktest.Act(t, surface, "reorder")
	a.Scopes = []string{"orders:write"}
	checktest.Silent(t, "SHIP-AUTH-MISSING-SCOPE", checktest.Subject(surface))
	a.Scopes, a.Mode, a.Declared = nil, "none", &manifest.Action{}
	checktest.Silent(t, "SHIP-AUTH-MISSING-SCOPE", checktest.Subject(surface))
	a.Declared = nil // the source's own word is no declaration
	checktest.Fires(t, "SHIP-AUTH-MISSING-SCOPE", checktest.Subject(surface))
}

func TestControls(t *testing.T) {
	pays := checktest.Hint("financial_action", tool.High)
	tags := func(tags ...string) map[string]any { return map[string]any{"risk_tags": tags, "policy_match": nil} }
	try(t, []situation{
		{"money", "SHIP-POLICY-APPROVAL-MISSING", one(plain(), checktest.Writes(), pays), tags("financial_action", "write"), ""},
		{"code", "SHIP-POLICY-APPROVAL-MISSING", one(plain(), checktest.Hint("code_execution", tool.Medium)), tags("code_execution"), ""},
		{"money under approval", "SHIP-POLICY-APPROVAL-MISSING", one(plain(checktest.Approval("reorder")), checktest.Writes(), pays), nil, ""},
		{"another tool under approval", "SHIP-POLICY-APPROVAL-MISSING", one(plain(checktest.Approval("reorders")), checktest.Writes(), pays), tags("financial_action", "write"), ""},
		{"a lookup of money", "SHIP-POLICY-APPROVAL-MISSING", one(plain(), checktest.ReadOnly(), pays), nil, ""},
		{"a guess", "SHIP-POLICY-APPROVAL-MISSING", one(plain(), checktest.Writes(), checktest.Hint("financial_action", tool.Low)), nil, ""},
		{"mail needs no approval", "SHIP-POLICY-APPROVAL-MISSING", one(plain(), checktest.Hint("customer_communication", tool.High)), nil, ""},

		{"mail", "SHIP-POLICY-CONFIRMATION-MISSING", one(plain(), checktest.Hint("customer_communication", tool.High)), tags("customer_communication"), ""},
		{"mail under confirmation", "SHIP-POLICY-CONFIRMATION-MISSING", one(plain(checktest.Confirmation("reorder")), checktest.Hint("customer_communication", tool.High)), nil, ""},
		{"approval is no confirmation", "SHIP-POLICY-CONFIRMATION-MISSING", one(plain(checktest.Approval("reorder")), checktest.Hint("destructive", tool.High)), tags("destructive"), ""},
		{"money alone", "SHIP-POLICY-CONFIRMATION-MISSING", one(plain(), checktest.Writes(), pays), nil, ""},

		{"money", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(), checktest.Writes(), pays), map[string]any{"risk_tags": []string{"financial_action", "write"}, "retry_policy_known": false}, ""},
		{"money that is retried", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(), checktest.Writes(), pays, checktest.Annotation("retryPolicy", map[string]any{})), map[string]any{"risk_tags": []string{"financial_action", "write"}, "retry_policy_known": true}, check.Critical},
		{"with a policy", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(checktest.Idempotency("reorder")), checktest.Writes(), pays), nil, ""},
		{"with a hint", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(), checktest.Writes(), pays, checktest.Annotation("idempotentHint", true)), nil, ""},
		{"with a hint that is no boolean", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(), checktest.Writes(), pays, checktest.Annotation("idempotentHint", "true")), map[string]any{"risk_tags": []string{"financial_action", "write"}, "retry_policy_known": false}, ""},
		{"with a key", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(), checktest.Writes(), pays, checktest.Param(tool.Parameter{Name: "idempotency_key", Type: "string"})), nil, ""},
		{"a harmless write", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(), checktest.Writes()), nil, ""},
		{"money that nobody knows to be written", "SHIP-SIDEFX-IDEMPOTENCY-MISSING", one(plain(), pays), nil, ""},
	})
}

// A declaration that switches approval off is no approval.
func TestAnApprovalThatIsDeclaredFalseIsMissing(t *testing.T) {
	surface := checktest.Surface(plain(), checktest.Tool("reorder", checktest.Writes(), checktest.Hint("financial_action", tool.High)))
	a := checktest.Act(t, surface, "reorder")
	a.Approval = effect.Control{Known: true, Value: true}
	checktest.Silent(t, "SHIP-POLICY-APPROVAL-MISSING", checktest.Subject(surface))
	a.Approval.Value = false
	checktest.Fires(t, "SHIP-POLICY-APPROVAL-MISSING", checktest.Subject(surface))
}

// The rule files of an API block speak for the tools of the block and for no
// others.
func TestRuleFilesControlTheToolsOfTheirBlock(t *testing.T) {
	for sourceType, wanted := range map[string]int{"openai_api": 0, "anthropic_api": 0, "mcp": 1} {
		surface := checktest.Surface(plain(), checktest.Tool("reorder", checktest.From(sourceType, "api"),
			checktest.Writes(), checktest.Hint("financial_action", tool.High), checktest.Hint("destructive", tool.High)))
		surface.Reading.API = &tool.API{Policy: tool.APIPolicy{
			Approval: []string{"reorder"}, Confirmation: []string{"reorder"}, Idempotency: []string{"reorder"},
		}}
		for _, id := range []string{"SHIP-POLICY-APPROVAL-MISSING", "SHIP-POLICY-CONFIRMATION-MISSING", "SHIP-SIDEFX-IDEMPOTENCY-MISSING"} {
			if n := len(checktest.Run(t, id, checktest.Subject(surface))); n != wanted {
				t.Errorf("%s on a tool of %s: %d findings, want %d", id, sourceType, n, wanted)
			}
		}
	}
}

// Words ask and do not decide: a finding that rests on nothing else says so,
// and one eligible claim of the same effect is enough.
func TestWordsAloneCarryNoWeight(t *testing.T) {
	surface := checktest.Surface(plain(), checktest.Tool("reorder", checktest.Writes(), checktest.Word("financial_action", tool.High)))
	f := checktest.Fires(t, "SHIP-POLICY-APPROVAL-MISSING", checktest.Subject(surface))
	if f.Provenance != check.KeywordHeuristic || f.Support == nil || f.Support.PolicyEligible || f.Support.BlockingEligible {
		t.Errorf("words: %s, %+v", f.Provenance, f.Support)
	}
	checktest.Act(t, surface, "reorder", checktest.Does(effect.FinancialWrite))
	g := checktest.Fires(t, "SHIP-POLICY-APPROVAL-MISSING", checktest.Subject(surface))
	if g.Provenance != check.StaticDeclaration || !g.Support.PolicyEligible || !cmp.Equal(g.Support.ClaimIDs, []string{"claim_financial_write"}) {
		t.Errorf("a declared effect beside words: %s, %+v", g.Provenance, g.Support)
	}
	if f.Support.Hash == g.Support.Hash {
		t.Error("two kinds of support have one hash")
	}
}

func TestPurpose(t *testing.T) {
	prohibit := checktest.Prohibited
	said := func(action string, tags ...string) map[string]any {
		if tags == nil {
			tags = []string{}
		}
		return map[string]any{"prohibited_action": action, "risk_tags": tags}
	}
	records := checktest.Described("Deletes warehouse records that are older than a year.")
	try(t, []situation{
		{"two shared words", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("touch warehouse records")), records), said("touch warehouse records"), ""},
		{"one shared word", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("touch records")), records), nil, ""},
		{"two stop words", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("a and the")), checktest.Described("the thing and a thing, from here to there")), nil, ""},
		{"a reading tool", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("touch warehouse records")), records, checktest.ReadOnly()), nil, ""},
		{"mail", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("external email")), checktest.Hint("customer_communication", tool.High)), said("external email", "customer_communication"), ""},
		{"a refund", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("refund")), checktest.Writes(), checktest.Hint("financial_action", tool.High)), said("refund", "financial_action", "write"), ""},
		{"a refund that nothing writes", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("refund")), checktest.Hint("financial_action", tool.High)), nil, ""},
		{"cancelling", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("cancel an order")), checktest.Hint("destructive", tool.High)), said("cancel an order", "destructive"), ""},
		{"under the named control", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("touch warehouse records without approval"), checktest.Approval("reorder")), records), nil, ""},
		{"under another control", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("touch warehouse records without approval"), checktest.Confirmation("reorder")), records), said("touch warehouse records without approval"), ""},
		{"under one of two named controls", "SHIP-SCOPE-PROHIBITED-TOOL-PRESENT", one(plain(prohibit("touch warehouse records without approval and confirmation"), checktest.Approval("reorder")), records), said("touch warehouse records without approval and confirmation"), ""},

		{"reading only", "SHIP-SCOPE-TOOL-OUTSIDE-PURPOSE", one(plain(checktest.Purpose("read-only lookups")), checktest.Writes()), map[string]any{"declared_purpose": []string{"read-only lookups"}, "risk_tags": []string{"write"}}, ""},
		{"reading and writing", "SHIP-SCOPE-TOOL-OUTSIDE-PURPOSE", one(plain(checktest.Purpose("answer questions", "update orders")), checktest.Writes()), nil, ""},
		{"neither", "SHIP-SCOPE-TOOL-OUTSIDE-PURPOSE", one(plain(checktest.Purpose("help the warehouse")), checktest.Writes()), nil, ""},
		{"a reading tool", "SHIP-SCOPE-TOOL-OUTSIDE-PURPOSE", one(plain(checktest.Purpose("answer questions")), checktest.ReadOnly()), nil, ""},
	})
}

// What the root agent does not reach is no capability, and no check speaks of
// it.
func TestUnreachableToolsAreNotJudged(t *testing.T) {
	head := checktest.Surface(plain(), checktest.Tool("reorder", checktest.Writes(), checktest.Scopes("*"), checktest.Described(""),
		checktest.Hint("financial_action", tool.High), checktest.Hint("destructive", tool.High)))
	for id := range head.Reach {
		head.Reach[id] = effect.Unbound
	}
	s := checktest.Subject(head)
	for _, c := range check.Catalogue() {
		for _, f := range c.Find(s) {
			if f.ToolID != "" {
				t.Errorf("%s speaks of a tool that nobody reaches: %s", c.ID, f.Title)
			}
		}
	}
}
