package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

const reorderID = checktest.Agent + ":action_v2_reorder"

// acting is one side with one tool whose action is edited.
func acting(t testing.TB, m *manifest.Manifest, edits ...checktest.ActionEdit) *effect.Surface {
	t.Helper()
	s := checktest.Surface(m, checktest.Tool("reorder"))
	checktest.Act(t, s, "reorder", edits...)
	return s
}

func stands(from string) effect.Control { return effect.Control{Known: true, Value: true, From: from} }

// controlled puts the named controls before an action.
func controlled(paths ...string) checktest.ActionEdit {
	return func(a *effect.Action) {
		for _, path := range paths {
			switch path {
			case "approval.required":
				a.Approval = stands("policy")
			case "confirmation.required":
				a.Confirmation = true
			case "safeguards.audit_log":
				a.AuditLog = stands("annotation")
			case "safeguards.rollback":
				a.Rollback = stands("annotation")
			case "safeguards.idempotency":
				a.Idempotency = stands("parameter")
			}
		}
	}
}

func missing(paths ...string) map[string]any {
	return map[string]any{"action_id": reorderID, "missing": paths}
}

func builtin(paths ...string) map[string]any {
	e := missing(paths...)
	e["policy_id"] = "builtin-high-impact-approval"
	return e
}

func TestEffectsOweControls(t *testing.T) {
	const (
		money   = "SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING"
		outside = "SHIP-ACTION-EXTERNAL-COMMUNICATION-AUDIT-MISSING"
		destroy = "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING"
		policy  = "SHIP-ACTION-POLICY-VIOLATION"
	)
	side := func(edits ...checktest.ActionEdit) *check.Subject {
		return checktest.Subject(acting(t, plain(), edits...))
	}
	try(t, []situation{
		{"no control", money, side(checktest.Does(effect.FinancialWrite)), missing("approval.required", "safeguards.audit_log", "safeguards.idempotency"), ""},
		{"one control", money, side(checktest.Does(effect.FinancialWrite), controlled("approval.required")), missing("safeguards.audit_log", "safeguards.idempotency"), ""},
		{"all controls", money, side(checktest.Does(effect.FinancialWrite), controlled("approval.required", "safeguards.audit_log", "safeguards.idempotency")), nil, ""},
		{"a write", money, side(checktest.Does(effect.Write)), nil, ""},
		{"an approval that is declared away", money, side(checktest.Does(effect.FinancialWrite), controlled("safeguards.audit_log", "safeguards.idempotency"), func(a *effect.Action) {
			a.Approval = effect.Control{Known: true, Declared: new(false)}
		}), missing("approval.required"), ""},

		{"no control", outside, side(checktest.Does(effect.ExternalCommunication)), missing("confirmation.required", "safeguards.audit_log"), ""},
		{"both controls", outside, side(checktest.Does(effect.ExternalCommunication), controlled("confirmation.required", "safeguards.audit_log")), nil, ""},
		{"approval instead", outside, side(checktest.Does(effect.ExternalCommunication), controlled("approval.required", "safeguards.audit_log")), missing("confirmation.required"), ""},

		{"no control", destroy, side(checktest.Does(effect.Destructive)), missing("approval.required", "confirmation.required", "safeguards.rollback"), ""},
		{"all controls", destroy, side(checktest.Does(effect.Destructive), controlled("approval.required", "confirmation.required", "safeguards.rollback")), nil, ""},

		{"production", policy, side(checktest.Does(effect.ProductionOperation)), builtin("approval.required"), check.Critical},
		{"code", policy, side(checktest.Does(effect.CodeExecution)), builtin("approval.required"), check.Critical},
		{"production with approval", policy, side(checktest.Does(effect.ProductionOperation), controlled("approval.required")), nil, ""},
		{"identity", policy, side(checktest.Does(effect.IdentityAccess)), nil, ""},
	})
}

// An effect that only words suggest owes nothing: it is a question.
func TestWordsOweNoControls(t *testing.T) {
	s := checktest.Subject(acting(t, plain(), func(a *effect.Action) {
		a.Effect = effect.FinancialWrite
		a.Assessment.Control = nil
		a.Assessment.EffectStatus = effect.EffectInferred
		a.Assessment.Claims = []effect.Claim{word(effect.FinancialWrite)}
	}))
	for _, id := range []string{"SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING", "SHIP-ACTION-POLICY-VIOLATION"} {
		checktest.Silent(t, id, s)
	}
	if gaps := check.PolicyGaps(s); len(gaps) != 1 || gaps[0].Kind != "inferred_policy_applicability" {
		t.Errorf("the gaps are %+v", gaps)
	}
}

func word(e effect.Effect) effect.Claim {
	return effect.Claim{
		ID: "claim_word_" + string(e), Dimension: "effect", Value: string(e), Basis: effect.InferredKeyword,
		Confidence: tool.Medium, Why: "a word",
	}
}

func protocol(e effect.Effect) effect.Claim {
	return effect.Claim{
		ID: "claim_protocol_" + string(e), Dimension: "effect", Value: string(e), Basis: effect.ProtocolStructure, Eligible: true,
		Confidence: tool.High, Why: "the method",
	}
}

// With evidence from several sides every effect of it owes its controls.
func TestEveryProvenEffectOwesItsControls(t *testing.T) {
	s := checktest.Subject(acting(t, plain(), func(a *effect.Action) {
		a.Effect = effect.Destructive
		a.Assessment.Control = []effect.Effect{effect.CodeExecution, effect.FinancialWrite, effect.Destructive}
	}))
	for _, id := range []string{
		"SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING", "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING", "SHIP-ACTION-POLICY-VIOLATION",
	} {
		f := checktest.Fires(t, id, s)
		if !f.BlocksRelease || f.Support == nil || !f.Support.BlockingEligible || !strings.HasPrefix(f.Support.Hash, "sha256:") {
			t.Errorf("%s does not block: %+v", id, f.Support)
		}
	}
}

// Adding a control never adds a finding, and with all of them there is none.
func TestControlsOnlyEverHelp(t *testing.T) {
	all := []string{"approval.required", "confirmation.required", "safeguards.audit_log", "safeguards.rollback", "safeguards.idempotency"}
	ids := []string{
		"SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING", "SHIP-ACTION-EXTERNAL-COMMUNICATION-AUDIT-MISSING",
		"SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING", "SHIP-ACTION-POLICY-VIOLATION",
	}
	lacking := func(t *rapid.T, effects []effect.Effect, paths []string) int {
		s := checktest.Surface(plain(), checktest.Tool("reorder"))
		s.Actions[0].Assessment.Control = effects
		controlled(paths...)(s.Actions[0])
		n := 0
		for _, id := range ids {
			for _, f := range check.ByID(id).Find(checktest.Subject(s)) {
				n += len(f.Evidence["missing"].([]string))
			}
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		effects := rapid.SliceOfNDistinct(rapid.SampledFrom(effect.Effects()), 0, 4, rapid.ID).Draw(t, "effects")
		have := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, 5, rapid.ID).Draw(t, "controls")
		more := append(slices.Clone(have), rapid.SampledFrom(all).Draw(t, "one more"))
		if fewer, before := lacking(t, effects, more), lacking(t, effects, have); fewer > before {
			t.Fatalf("with %q %d controls lack, with %q %d", have, before, more, fewer)
		}
		if n := lacking(t, effects, all); n != 0 {
			t.Fatalf("with every control %d lack", n)
		}
	})
}

func TestControlsThatAChangeTookAway(t *testing.T) {
	change := func(before, after []checktest.ActionEdit) *check.Subject {
		base, head := acting(t, plain(), before...), acting(t, plain(), after...)
		return checktest.Change(base, head, delta.DiffActions(base, head).Rows...)
	}
	list := func(edits ...checktest.ActionEdit) []checktest.ActionEdit { return edits }
	row := func(kind, reason string, more map[string]any) map[string]any {
		c := map[string]any{"type": kind, "reason": reason, "before": true, "after": nil}
		for key, value := range more {
			c[key] = value
		}
		return map[string]any{"action_id": reorderID, "change": c}
	}
	try(t, []situation{
		{"lost", "SHIP-ACTION-APPROVAL-REMOVED", change(list(controlled("approval.required")), nil), row("APPROVAL_REMOVED", "The action needs no approval any more.", nil), ""},
		{"gained", "SHIP-ACTION-APPROVAL-REMOVED", change(nil, list(controlled("approval.required"))), nil, ""},
		{"kept", "SHIP-ACTION-APPROVAL-REMOVED", change(list(controlled("approval.required")), list(controlled("approval.required"))), nil, ""},
		{"lost", "SHIP-ACTION-SAFEGUARD-REMOVED", change(list(controlled("safeguards.rollback")), nil), row("SAFEGUARD_REMOVED", "The action lost the safeguard rollback.", map[string]any{"safeguard": "rollback"}), ""},
		{"gained", "SHIP-ACTION-SAFEGUARD-REMOVED", change(nil, list(controlled("safeguards.rollback"))), nil, ""},
		{"further", "SHIP-ACTION-EFFECT-ESCALATED", change(list(checktest.Does(effect.Write)), list(checktest.Does(effect.Destructive))), row("EFFECT_ESCALATED", "The effect of the action reaches further.", map[string]any{"before": "write", "after": "destructive"}), ""},
		{"back", "SHIP-ACTION-EFFECT-ESCALATED", change(list(checktest.Does(effect.Destructive)), list(checktest.Does(effect.Write))), nil, ""},
		{"sideways", "SHIP-ACTION-EFFECT-ESCALATED", change(list(checktest.Does(effect.CodeExecution)), list(checktest.Does(effect.FinancialWrite))), nil, ""},
	})
	for _, id := range []string{"SHIP-ACTION-APPROVAL-REMOVED", "SHIP-ACTION-SAFEGUARD-REMOVED", "SHIP-ACTION-EFFECT-ESCALATED"} {
		checktest.Silent(t, id, checktest.Subject(acting(t, plain())))
	}
}

// A description that mentions deleting raises a question; it does not stop a
// release.
func TestAnEffectThatOnlyWordsEscalateBlocksNothing(t *testing.T) {
	base := acting(t, plain(), checktest.Does(effect.Write))
	head := acting(t, plain(), func(a *effect.Action) {
		a.Effect = effect.Destructive
		a.Assessment.Claims = []effect.Claim{word(effect.Destructive)}
	})
	f := checktest.Fires(t, "SHIP-ACTION-EFFECT-ESCALATED", checktest.Change(base, head, delta.DiffActions(base, head).Rows...))
	if f.BlocksRelease || f.Support == nil || f.Support.PolicyEligible || f.Provenance != check.KeywordHeuristic {
		t.Errorf("it blocks: %+v, %+v", f, f.Support)
	}
}

func TestDeclarationsAgainstEvidence(t *testing.T) {
	declared := func(e effect.Effect, status effect.EffectStatus, others ...effect.Claim) *check.Subject {
		return checktest.Subject(acting(t, plain(), func(a *effect.Action) {
			a.Declared = &manifest.Action{Effect: string(e)}
			a.Assessment.EffectStatus = status
			a.Assessment.Claims = append([]effect.Claim{{
				ID: "claim_declared", Dimension: "effect", Value: string(e), Basis: effect.ReviewedDeclaration, Eligible: true, Confidence: tool.High,
			}}, others...)
		}))
	}
	downgraded := func(c effect.Control) *check.Subject {
		return checktest.Subject(acting(t, plain(), func(a *effect.Action) { a.Idempotency = c }))
	}
	try(t, []situation{
		{
			"milder than the method", "SHIP-ACTION-EFFECT-DOWNGRADE-DECLARED", declared(effect.Read, effect.EffectConflicting, protocol(effect.Destructive)),
			map[string]any{"action_id": reorderID, "inferred_effect": "destructive", "declared_effect": "read"},
			"",
		},
		{"no conflict", "SHIP-ACTION-EFFECT-DOWNGRADE-DECLARED", declared(effect.Read, effect.EffectDeclared, protocol(effect.Destructive)), nil, ""},
		{"stronger than the method", "SHIP-ACTION-EFFECT-DOWNGRADE-DECLARED", declared(effect.Destructive, effect.EffectConflicting, protocol(effect.Write)), nil, ""},
		{"milder than words", "SHIP-ACTION-EFFECT-DOWNGRADE-DECLARED", declared(effect.Read, effect.EffectConflicting, word(effect.Destructive)), nil, ""},

		{
			"declared away", "SHIP-ACTION-CONTROL-DOWNGRADE", downgraded(effect.Control{Known: true, Inherited: new(true), Declared: new(false)}),
			map[string]any{"action_id": reorderID, "path": "safeguards.idempotency", "inherited": true, "declared": false},
			"",
		},
		{"absent and declared so", "SHIP-ACTION-CONTROL-DOWNGRADE", downgraded(effect.Control{Known: true, Declared: new(false)}), nil, ""},
		{"given and declared so", "SHIP-ACTION-CONTROL-DOWNGRADE", downgraded(effect.Control{Known: true, Value: true, Inherited: new(true), Declared: new(true)}), nil, ""},
	})
}

func TestUndeclaredActions(t *testing.T) {
	demanding := func() *manifest.Manifest {
		return plain(func(m *manifest.Manifest) { m.Surface.RequireExplicit = true })
	}
	declared := func(a *effect.Action) { a.Declared = &manifest.Action{} }
	try(t, []situation{
		{"not declared", "SHIP-ACTION-UNDECLARED", checktest.Subject(acting(t, demanding())), map[string]any{"action_id": reorderID, "tool_name": "reorder"}, ""},
		{"declared", "SHIP-ACTION-UNDECLARED", checktest.Subject(acting(t, demanding(), declared)), nil, ""},
		{"nobody demands it", "SHIP-ACTION-UNDECLARED", checktest.Subject(acting(t, plain())), nil, ""},
	})
}

func TestBroadScopesOfActions(t *testing.T) {
	scoped := func(scopes ...string) checktest.ActionEdit { return func(a *effect.Action) { a.Scopes = scopes } }
	base, head := acting(t, plain()), acting(t, plain(), scoped("stock:*", "stock:read"))
	try(t, []situation{
		{
			"held", "SHIP-ACTION-WILDCARD-SCOPE", checktest.Subject(head),
			map[string]any{"action_id": reorderID, "scopes": []string{"stock:*"}, "change": nil},
			"",
		},
		{
			"gained", "SHIP-ACTION-WILDCARD-SCOPE", checktest.Change(base, head, delta.DiffActions(base, head).Rows...),
			map[string]any{"action_id": reorderID, "scopes": []string{"stock:*"}, "change": map[string]any{
				"type": "SCOPE_EXPANDED", "reason": "The action asks for more scopes.",
				"before": []any{"stock:read"}, "after": []any{"stock:*", "stock:read"}, "added": []any{"stock:*"},
			}},
			"",
		},
		{"narrow", "SHIP-ACTION-WILDCARD-SCOPE", checktest.Subject(acting(t, plain(), scoped("stock:read", "stock:write"))), nil, ""},
	})
	if f := checktest.Fires(t, "SHIP-ACTION-WILDCARD-SCOPE", checktest.Subject(head)); !f.BlocksRelease || !f.Support.BlockingEligible {
		t.Errorf("a broad scope does not block: %+v", f.Support)
	}
}

// A policy of the team: what it matches, what it asks for, what it says.
func TestPoliciesOfTheSurface(t *testing.T) {
	owned := manifest.Policy{
		ID: "money-needs-approval", Match: manifest.Match{Effects: []string{"financial_write"}},
		Require:  []manifest.Requirement{{Path: "approval_policy.required", Value: true}},
		Severity: "high", Block: true, Message: "Orders need an approver.", Recommendation: "Ask finance.",
	}
	judged := func(p manifest.Policy, edits ...checktest.ActionEdit) *check.Subject {
		return checktest.Subject(acting(t, plain(func(m *manifest.Manifest) { m.Surface.Policies = []manifest.Policy{p} }), edits...))
	}
	changed := func(edit func(*manifest.Policy)) manifest.Policy {
		p := owned
		edit(&p)
		return p
	}
	matching := func(m manifest.Match) manifest.Policy { return changed(func(p *manifest.Policy) { p.Match = m }) }
	requiring := func(path string, value any) manifest.Policy {
		return changed(func(p *manifest.Policy) { p.Require = []manifest.Requirement{{Path: path, Value: value}} })
	}
	money := checktest.Does(effect.FinancialWrite)
	paid := func(edits ...checktest.ActionEdit) checktest.ActionEdit {
		return func(a *effect.Action) {
			money(a)
			for _, edit := range edits {
				edit(a)
			}
		}
	}
	broken := func(paths ...string) map[string]any {
		e := missing(paths...)
		e["policy_id"] = owned.ID
		return e
	}
	const id = "SHIP-ACTION-POLICY-VIOLATION"
	try(t, []situation{
		{"not met", id, judged(owned, money), broken("approval.required"), ""},
		{"met", id, judged(owned, paid(controlled("approval.required"))), nil, ""},
		{"another effect", id, judged(owned, checktest.Does(effect.Write)), nil, ""},
		{"of lower severity", id, judged(changed(func(p *manifest.Policy) { p.Severity = "medium" }), money), broken("approval.required"), check.Medium},

		{"by name", id, judged(matching(manifest.Match{Tools: []string{"reorder"}})), broken("approval.required"), ""},
		{"by another name", id, judged(matching(manifest.Match{Tools: []string{"refund"}})), nil, ""},
		{"by id", id, judged(matching(manifest.Match{ToolIDs: []string{"tool_v2_reorder"}})), broken("approval.required"), ""},
		{"by action id", id, judged(matching(manifest.Match{ActionIDs: []string{reorderID}})), broken("approval.required"), ""},
		{"by another action id", id, judged(matching(manifest.Match{ActionIDs: []string{"x"}})), nil, ""},
		{"by scope", id, judged(matching(manifest.Match{Scopes: []string{"stock:*"}})), broken("approval.required"), ""},
		{"by another scope", id, judged(matching(manifest.Match{Scopes: []string{"orders:write"}})), nil, ""},
		{"by the tag of a proven effect", id, judged(matching(manifest.Match{RiskTags: []string{"financial_action"}}), money), broken("approval.required"), ""},
		{"by a declared tag", id, judged(matching(manifest.Match{RiskTags: []string{"customer_data"}}), func(a *effect.Action) {
			a.Declared = &manifest.Action{RiskTags: []string{"customer_data"}}
		}), broken("approval.required"), ""},
		{"by name and another effect", id, judged(matching(manifest.Match{Tools: []string{"reorder"}, Effects: []string{"destructive"}}), money), nil, ""},
		{"without predicates", id, judged(matching(manifest.Match{})), broken("approval.required"), ""},

		{"a text", id, judged(requiring("evidence.runbook", "docs/orders.md"), money), broken("evidence.runbook"), ""},
		{"the text", id, judged(requiring("evidence.owner", "logistics"), money), nil, ""},
		{"a list, in any order", id, judged(requiring("required_scopes", []any{"b", "a"}), paid(func(a *effect.Action) { a.Scopes = []string{"a", "b"} })), nil, ""},
		{"another list", id, judged(requiring("required_scopes", []any{"a"}), money), broken("scopes"), ""},
		{"a path that no action has", id, judged(requiring("safeguards.audit", true), money), broken("safeguards.audit"), ""},
		{"a threshold", id, judged(requiring("approval_policy.threshold", "500 EUR"), paid(func(a *effect.Action) { a.Threshold = "500 EUR" })), nil, ""},
		{"confirmation", id, judged(requiring("confirmation.required", true), money), broken("confirmation.required"), ""},
		{"that a control is absent", id, judged(requiring("safeguards.dry_run", false), money), broken("safeguards.dry_run"), ""},
	})

	f := checktest.Fires(t, id, judged(owned, money))
	if !f.BlocksRelease || f.Title != "reorder breaks the policy money-needs-approval: Orders need an approver." || f.Recommendation != "Ask finance." {
		t.Errorf("%+v", f)
	}
	if f := checktest.Fires(t, id, judged(changed(func(p *manifest.Policy) { p.Block = false }), money)); f.BlocksRelease {
		t.Error("a policy that does not block blocks")
	}
}

func guess(e effect.Effect) effect.Claim {
	c := word(e)
	c.Confidence = tool.Low
	return c
}

// hinted gives the tool of an action a hint.
func hinted(sure tool.Confidence) checktest.ActionEdit {
	return func(a *effect.Action) { checktest.Hint("secret_access", sure)(a.Tool) }
}

func TestWhatCannotBeJudgedIsAGap(t *testing.T) {
	policy := func(m manifest.Match) *manifest.Manifest {
		return plain(func(mf *manifest.Manifest) {
			mf.Surface.Policies = []manifest.Policy{{ID: "p", Match: m, Require: []manifest.Requirement{{Path: "approval_policy.required", Value: true}}, Severity: "high"}}
		})
	}
	assessed := func(status effect.EffectStatus, control []effect.Effect, claims ...effect.Claim) checktest.ActionEdit {
		return func(a *effect.Action) {
			a.Assessment.EffectStatus, a.Assessment.Control, a.Assessment.Claims = status, control, claims
		}
	}
	write := []effect.Effect{effect.Write}
	money := manifest.Match{Effects: []string{"financial_write"}}
	for _, c := range []struct {
		name   string
		match  manifest.Match
		action checktest.ActionEdit
		want   []string
	}{
		{"proven otherwise", money, assessed(effect.EffectStructural, write, protocol(effect.Write)), nil},
		{"words only", money, assessed(effect.EffectInferred, nil, word(effect.FinancialWrite)), []string{"inferred_policy_applicability", "inferred_policy_applicability"}},
		{"words beside proof", money, assessed(effect.EffectStructural, write, protocol(effect.Write), word(effect.FinancialWrite)), []string{"mixed_policy_evidence", "mixed_policy_evidence"}},
		{"words about something else", money, assessed(effect.EffectInferred, nil, word(effect.Write)), []string{"inferred_policy_applicability"}},
		{"nobody knows", money, assessed(effect.EffectUnknown, nil), []string{"unknown_policy_evidence"}},
		{"the default of the protocol", money, assessed(effect.EffectProtocolDefault, nil), []string{"unknown_policy_evidence"}},
		{"a contradiction", money, assessed(effect.EffectConflicting, []effect.Effect{effect.Read, effect.Write}), []string{"conflicting_policy_evidence"}},
		{"a contradiction with proof", money, assessed(effect.EffectConflicting, []effect.Effect{effect.Read, effect.FinancialWrite}), nil},
		{"a tag from a hint", manifest.Match{RiskTags: []string{"secret_access"}}, hinted(tool.Medium), []string{"unknown_policy_evidence"}},
		{"a tag from a guess", manifest.Match{RiskTags: []string{"secret_access"}}, hinted(tool.Low), nil},
		{"a tag from a hint that a person answered", manifest.Match{RiskTags: []string{"secret_access"}}, func(a *effect.Action) {
			hinted(tool.Medium)(a)
			a.Assessment.Settled = true
		}, nil},
		{"a guess beside proof", money, assessed(effect.EffectStructural, write, protocol(effect.Write), guess(effect.FinancialWrite)), nil},
		{"a tag from nowhere", manifest.Match{RiskTags: []string{"secret_access"}}, func(*effect.Action) {}, nil},
		{"scopes that nobody knows", manifest.Match{Scopes: []string{"orders:write"}}, func(a *effect.Action) {
			a.Assessment.AuthorityStatus = effect.AuthorityUnknown
		}, []string{"unknown_policy_evidence"}},
		{"scopes in contradiction", manifest.Match{Scopes: []string{"orders:write"}}, func(a *effect.Action) {
			a.Assessment.AuthorityStatus = effect.AuthorityConflicting
		}, []string{"conflicting_policy_evidence"}},
		{"another tool", manifest.Match{Tools: []string{"refund"}, Effects: []string{"financial_write"}}, assessed(effect.EffectUnknown, nil), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := checktest.Subject(acting(t, policy(c.match), c.action))
			var got []string
			for _, gap := range check.PolicyGaps(s) {
				got = append(got, gap.Kind)
				if gap.Subject != "reorder" || gap.ToolID == "" || gap.Why == "" || gap.SourceID != "stock_mcp" {
					t.Errorf("the gap leaves something open: %+v", gap)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(c.want) > 0 {
				checktest.Silent(t, "SHIP-ACTION-POLICY-VIOLATION", s)
			}
		})
	}
}

func TestAnswersCloseTheBuiltInGap(t *testing.T) {
	suspected := func(edit checktest.ActionEdit) *check.Subject {
		return checktest.Subject(acting(t, plain(), checktest.Does(effect.Read), func(a *effect.Action) {
			a.Declared = &manifest.Action{Index: 2, Effect: "read"}
			a.Assessment.Claims = append(a.Assessment.Claims, word(effect.Destructive), word(effect.Write))
			edit(a)
		}))
	}
	gaps := check.PolicyGaps(suspected(func(*effect.Action) {}))
	if len(gaps) != 1 || gaps[0].Kind != "mixed_policy_evidence" || !slices.Equal(gaps[0].Candidates, []string{"destructive"}) ||
		!slices.Equal(gaps[0].Path, []string{"action_surface", "actions", "2"}) || !strings.Contains(gaps[0].Why, "builtin-effect-control-applicability") {
		t.Fatalf("%+v", gaps)
	}
	if gaps := check.PolicyGaps(suspected(func(a *effect.Action) { a.Assessment.Settled = true })); len(gaps) != 0 {
		t.Errorf("a settled question is asked again: %+v", gaps)
	}
	// What is as strong as the proof asks for nothing more than the proof does.
	if gaps := check.PolicyGaps(suspected(func(a *effect.Action) {
		a.Assessment.Control = []effect.Effect{effect.Destructive}
	})); len(gaps) != 0 {
		t.Errorf("%+v", gaps)
	}
	// Words about a plain write ask for no control, so that nothing hangs on them.
	if gaps := check.PolicyGaps(suspected(func(a *effect.Action) {
		a.Assessment.Claims = []effect.Claim{word(effect.Write)}
	})); len(gaps) != 0 {
		t.Errorf("%+v", gaps)
	}
}

// A finding about a tool names the capability that the lock has for it.
func TestFindingsNameTheirCapability(t *testing.T) {
	head := acting(t, plain(), checktest.Does(effect.FinancialWrite))
	f := of(evaluate(t, checktest.Subject(head), check.Options{}), "SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING")
	if want := delta.Facts(head)[0].ID; f == nil || !slices.Equal(f.CapabilityRefs, []string{want}) {
		t.Errorf("%+v, want a reference to %s", f, want)
	}
}
