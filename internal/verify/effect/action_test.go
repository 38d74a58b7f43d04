package effect_test

import (
	"errors"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

func TestAnActionNamesWhatItDoes(t *testing.T) {
	for _, c := range []struct {
		name     string
		tool     tool.Tool
		declared string
		want     string // provider, operation
	}{
		{"an operation", operation("GET", "/stock/{id}", "x"), "", "api GET /stock/{id}"},
		{"a path with slashes", operation("get", "//stock//{id}/", "x"), "", "api GET /stock/{id}"},
		{"the root path", operation("GET", "/", "x"), "", "api GET /"},
		{"a name", listed("Get  Stock!"), "", "kit get_stock"},
		{"a name in another script", listed("Größe 尺"), "", "kit größe_尺"},
		{"a name without any letter", listed("!!!"), "", "kit !!!"},
		{"a provider that the source names", listed("x", func(t *tool.Tool) { t.Provider = "Acme Corp." }), "", "acme_corp. x"},
		{"declared", listed("x"), "provider: Depot, operation: stock.lookup", "depot stock.lookup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := bound
			if c.declared != "" {
				text += "action_surface: {actions: [{tool: x, " + c.declared + "}]}\n"
			}
			s := resolve(t, text, reading(c.tool))
			a := s.Actions[0]
			same(t, "what", a.Provider+" "+a.Operation, c.want)
			object := `{"agent_id":"` + s.Graph.Root + `","operation":"` + a.Operation + `","provider":"` + a.Provider + `","tool_id":"` + a.Tool.ID + `"}`
			same(t, "id", a.ID, s.Graph.Root+":action_v2_"+digest(object))
		})
	}
}

func TestDeclaredIdsHold(t *testing.T) {
	s := resolve(t, bound+"action_surface: {actions: [{tool: x, id: stock.get}]}\n", reading(listed("x"), listed("y")))
	same(t, "id", action(t, s, "x").ID, "stock.get")
	if s.Actions[1].ID != "stock.get" || s.Action(the(t, s, "y").ID) != s.Actions[0] {
		t.Error("actions are sorted by id and found by tool")
	}
}

func TestDeclarationsThatMakeTwoActionsOneAreRefused(t *testing.T) {
	other := resolve(t, bound, reading(listed("x"), listed("y")))
	y := action(t, other, "y").ID
	for _, c := range []struct {
		name, declared string
		refused        string // path, "" for none
	}{
		{"an id that another action has", "{tool: x, id: '" + y + "'}", "action_surface.actions.0.id"},
		{"an operation that another action has", "{tool: x, operation: y}", "action_surface.actions.0.operation"},
		{"a provider that makes it another", "{tool: z, provider: kit}", "action_surface.actions.0.provider"},
		{"an operation of its own", "{tool: x, operation: w}", ""},
		{"one operation at two providers", "{tool: x, operation: y, provider: other}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reading(listed("x"), listed("y"), listed("z", in("spare")), listed("Z"))
			_, err := effect.Resolve(load(t, bound+"action_surface: {actions: ["+c.declared+"]}\n"), r)
			if c.refused == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refused, ok := errors.AsType[*effect.ConfigError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			same(t, "path", strings.Join(refused.Path, "."), c.refused)
			if refused.Pos.Line != 10 || !strings.HasPrefix(refused.Error(), "shipgate.yaml:10:") {
				t.Errorf("at %v: %s", refused.Pos, refused)
			}
		})
	}
	// Nobody declared these: their ids hold the tool, so they stay apart.
	if s := resolve(t, bound, reading(listed("a-b"), listed("A-B"))); len(s.Actions) != 2 || s.Actions[0].ID == s.Actions[1].ID {
		t.Errorf("%v", s.Actions)
	}
}

func TestTwoDeclarationsOfOneToolDeclareNothing(t *testing.T) {
	s := resolve(t, bound+`action_surface: {actions: [{tool: x, effect: read}, {tool: x, source_id: kit, effect: destructive}]}
`, reading(listed("x"), listed("y")))
	a := action(t, s, "x")
	if a.Declared != nil || !strings.Contains(kinds(a.Assessment.Issues), effect.AmbiguousSelector) || a.Assessment.IdentityEligible {
		t.Errorf("declared %v, issues %s", a.Declared, kinds(a.Assessment.Issues))
	}
	same(t, "the other tool", kinds(action(t, s, "y").Tool.Issues), "")
}

func TestControlsAreMerged(t *testing.T) {
	type control = effect.Control
	show := func(c control) string {
		if !c.Known {
			return "unknown"
		}
		text := "false"
		if c.Value {
			text = "true"
		}
		text += " by " + c.From
		if c.Downgraded() {
			text += ", downgraded"
		}
		return text
	}
	approval := func(a *effect.Action) control { return a.Approval }
	idempotency := func(a *effect.Action) control { return a.Idempotency }
	audit := func(a *effect.Action) control { return a.AuditLog }
	dry := func(a *effect.Action) control { return a.DryRun }
	for _, c := range []struct {
		name     string
		policies string
		declared string
		edits    []edit
		control  func(*effect.Action) control
		want     string
	}{
		{"nobody says", "", "", nil, approval, "unknown"},
		{"a policy", "require_approval_for_tools: [x]", "", nil, approval, "true by policy"},
		{"a policy for another tool", "require_approval_for_tools: [y]", "", nil, approval, "unknown"},
		{"a declaration", "", "approval: {required: true}", nil, approval, "true by declaration"},
		{"a declaration against a policy", "require_approval_for_tools: [x]", "approval: {required: false}", nil, approval, "false by declaration, downgraded"},
		{"a declaration beside a policy", "require_approval_for_tools: [x]", "approval: {required: true}", nil, approval, "true by declaration"},
		{"a threshold says nothing of required", "", "approval: {threshold: 5 EUR}", nil, approval, "unknown"},
		{"idempotency by policy", "require_idempotency_for_tools: [x]", "", nil, idempotency, "true by policy"},
		{"by hint", "", "", []edit{note("idempotentHint", true)}, idempotency, "true by annotation"},
		{"by a hint that says no", "", "", []edit{note("idempotentHint", false)}, idempotency, "false by annotation"},
		{"by a hint in words", "", "", []edit{note("idempotentHint", "true")}, idempotency, "unknown"},
		{"by parameter", "", "", []edit{takes(tool.Parameter{Name: "idempotency_key"})}, idempotency, "true by parameter"},
		{"by header", "", "", []edit{takes(tool.Parameter{Name: "Idempotency-Key"})}, idempotency, "true by parameter"},
		{"by another parameter", "", "", []edit{takes(tool.Parameter{Name: "idempotency_keys"})}, idempotency, "unknown"},
		{"a parameter beside a hint that says no", "", "", []edit{note("idempotentHint", false), takes(tool.Parameter{Name: "idempotency_key"})}, idempotency, "true by parameter"},
		{"denied", "", "safeguards: {idempotency: false}", []edit{note("idempotentHint", true)}, idempotency, "false by declaration, downgraded"},
		{"denied where nothing gives it", "", "safeguards: {idempotency: false}", nil, idempotency, "false by declaration"},
		{"an audit log by annotation", "", "", []edit{note("auditLog", true)}, audit, "true by annotation"},
		{"in the other spelling", "", "", []edit{note("audit_log", true)}, audit, "true by annotation"},
		{"two spellings that disagree", "", "", []edit{note("audit_log", true), note("auditLog", false)}, audit, "false by annotation"},
		{"an annotation in words", "", "", []edit{note("auditLog", "true")}, audit, "unknown"},
		{"a dry run", "", "safeguards: {dry_run: true}", []edit{note("dryRun", false)}, dry, "true by declaration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := bound
			if c.policies != "" {
				text += "policies: {" + c.policies + "}\n"
			}
			if c.declared != "" {
				text += "action_surface: {actions: [{tool: x, " + c.declared + "}]}\n"
			}
			s := resolve(t, text, reading(listed("x", c.edits...), listed("y")))
			same(t, c.name, show(c.control(action(t, s, "x"))), c.want)
		})
	}
}

func TestAConfirmationCountsOnlyForAToolThatIsClear(t *testing.T) {
	s := resolve(t, bound+"policies: {require_confirmation_for_tools: [x]}\n", reading(listed("x"), listed("y")))
	if !action(t, s, "x").Confirmation || action(t, s, "y").Confirmation {
		t.Error("x is confirmed and y is not")
	}
	s = resolve(t, bound+"policies: {require_confirmation_for_tools: [x, {tool: x, source_id: kit}]}\n", reading(listed("x")))
	if action(t, s, "x").Confirmation {
		t.Error("two entries are about x: it is not clear which holds")
	}
}

func TestPeopleAndDocuments(t *testing.T) {
	owner := func(t *tool.Tool) { t.Owner = "the source" }
	s := resolve(t, bound+`action_surface: {actions: [{tool: x, approval: {required: true, threshold: 500 EUR}, evidence: {owner: logistics, runbook: docs/x.md, approval_ticket: OPS-1}}]}
`, reading(listed("x", owner), listed("y", owner)))
	x, y := action(t, s, "x"), action(t, s, "y")
	same(t, "x", strings.Join([]string{x.Owner, x.Runbook, x.ApprovalTicket, x.Threshold}, "|"), "logistics|docs/x.md|OPS-1|500 EUR")
	same(t, "y", y.Owner, "the source")
}

func TestRiskTagsOfAnAction(t *testing.T) {
	for _, c := range []struct {
		name     string
		tool     tool.Tool
		declared string
		want     string
	}{
		{"low confidence included", listed("x", saying("refund"), note("readOnlyHint", true)), "", "financial_write read_only"},
		{"mapped", operation("POST", "/x", "x", saying("email the customer")), "", "external_communication writes_data"},
		{"declared", listed("x"), "effect: read, risk_tags: [infrastructure_change, irreversible]", "irreversible production_ops read_only"},
		{"every effect that a control may rest on", operation("DELETE", "/x", "x"), "effect: financial_write", "destructive financial_write writes_data"},
		{"the default", listed("x"), "", "writes_data"},
	} {
		text := bound
		if c.declared != "" {
			text += "action_surface: {actions: [{tool: x, " + c.declared + "}]}\n"
		}
		same(t, c.name, strings.Join(action(t, resolve(t, text, reading(c.tool)), "x").RiskTags, " "), c.want)
	}
}

func TestTheViewOfSideEffects(t *testing.T) {
	for _, c := range []struct {
		effect effect.Effect
		tags   string
		want   effect.View
	}{
		{effect.Read, "read_only", effect.View{Reversibility: "reversible"}},
		{effect.Read, "read_only writes_data", effect.View{Reversibility: "unknown", ExternallyVisible: true}},
		{effect.Write, "writes_data", effect.View{Reversibility: "unknown", ExternallyVisible: true}},
		{effect.Destructive, "", effect.View{Reversibility: "irreversible", ExternallyVisible: true}},
		{effect.Write, "irreversible", effect.View{Reversibility: "irreversible"}},
		{effect.FinancialWrite, "", effect.View{Reversibility: "unknown", ExternallyVisible: true, Financial: true}},
		{effect.ExternalCommunication, "", effect.View{Reversibility: "unknown", ExternallyVisible: true}},
		{effect.PrivilegedDataAccess, "", effect.View{Reversibility: "unknown", SensitiveData: true}},
		{effect.Read, "read_only secret_access", effect.View{Reversibility: "reversible", SensitiveData: true}},
		{effect.CodeExecution, "", effect.View{Reversibility: "unknown", CodeExecution: true}},
		{effect.Read, "code_execution", effect.View{Reversibility: "unknown", CodeExecution: true}},
	} {
		a := effect.Action{Effect: c.effect, RiskTags: strings.Fields(c.tags)}
		if got := a.View(); got != c.want {
			t.Errorf("%s %q: %+v, want %+v", c.effect, c.tags, got, c.want)
		}
	}
	known := effect.Action{Idempotency: effect.Control{Known: true, Value: true}}
	denied := effect.Action{Idempotency: effect.Control{Known: true}}
	if !known.View().IdempotencyKnown || denied.View().IdempotencyKnown {
		t.Error("idempotency is known or not known, never known to be absent")
	}
}

func TestInputsAreSortedNames(t *testing.T) {
	a := action(t, resolve(t, bound, reading(listed("x", takes(
		tool.Parameter{Name: "zone"}, tool.Parameter{Name: "bin", Required: true}, tool.Parameter{Name: "amount", Required: true},
	)))), "x")
	same(t, "inputs", strings.Join(a.Inputs, " ")+"|"+strings.Join(a.RequiredInputs, " "), "amount bin zone|amount bin")
}

// Each hash moves with its own part and with no other.
func TestHashesTellWhichPartMoved(t *testing.T) {
	base := func(edits ...edit) *effect.Action {
		return action(t, resolve(t, bound, reading(listed("x", append([]edit{note("readOnlyHint", true)}, edits...)...))), "x")
	}
	a := base()
	for _, c := range []struct {
		name string
		b    *effect.Action
		want string
	}{
		{"nothing", base(), ""},
		{"a description without any word", base(saying("Bins.")), ""},
		{"an input", base(takes(tool.Parameter{Name: "n"})), "schema"},
		{"a safeguard", base(note("auditLog", true)), "policy"},
		{"a scope", base(scopes("stock:list")), "risk"},
		{"an effect", base(note("destructiveHint", true)), "risk"},
		{"an owner", base(func(t *tool.Tool) { t.Owner = "me" }), "policy"},
	} {
		var moved []string
		for _, h := range []struct{ name, a, b string }{
			{"identity", a.IdentityHash, c.b.IdentityHash},
			{"schema", a.SchemaHash, c.b.SchemaHash},
			{"policy", a.PolicyHash, c.b.PolicyHash},
			{"risk", a.RiskHash, c.b.RiskHash},
		} {
			if h.a != h.b {
				moved = append(moved, h.name)
			}
		}
		same(t, c.name, strings.Join(moved, " "), c.want)
	}
}
