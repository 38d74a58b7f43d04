package delta_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
)

func TestWithoutABaseNothingIsCompared(t *testing.T) {
	d := delta.DiffActions(nil, surface(action("get_stock")))
	if d.Enabled || d.Note == "" || len(d.Rows) != 0 {
		t.Errorf("%+v", d)
	}
}

// rowsOf is "type severity" of every row between an action and the same action,
// edited.
func rowsOf(before, after []edit) []string {
	var list []string
	for _, r := range delta.DiffActions(surface(action("get_stock", before...)), surface(action("get_stock", after...))).Rows {
		list = append(list, string(r.Type)+" "+r.Severity)
	}
	return list
}

func TestEveryRowOfTheActionDifference(t *testing.T) {
	approved := set(func(a *effect.Action) { a.Approval = yes("policy") })
	for _, c := range []struct {
		name          string
		before, after []edit
		want          []string
	}{
		{"nothing", nil, nil, nil},
		{"a scope", nil, with(scoped("stock:read", "stock:write")), []string{"SCOPE_EXPANDED high"}},
		{"a broad scope", nil, with(scoped("stock:read", "stock:*")), []string{"SCOPE_EXPANDED critical"}},
		{"a scope less", nil, with(scoped()), nil},
		{"a stronger effect", with(does(effect.Write)), with(does(effect.Destructive), tagged("writes_data")), []string{"EFFECT_ESCALATED critical"}},
		{"a weaker effect", with(does(effect.Destructive)), with(does(effect.Write), tagged("destructive")), nil},
		{"another effect of the same rank", with(does(effect.FinancialWrite)), with(does(effect.CodeExecution), tagged("financial_write")), nil},
		{"a tag", nil, with(tagged("read_only", "network_access")), []string{"RISK_TAG_ADDED high"}},
		{"a critical tag", nil, with(tagged("read_only", "secret_access")), []string{"RISK_TAG_ADDED critical"}},
		{"the tag that promises", with(tagged("writes_data")), with(tagged("writes_data", "read_only")), nil},
		{"approval", approved, nil, []string{"APPROVAL_REMOVED critical"}},
		{"approval declared away", approved, set(func(a *effect.Action) { a.Approval = no() }), []string{"APPROVAL_REMOVED critical"}},
		{"approval gained", nil, approved, nil},
		{"approval never required", nil, set(func(a *effect.Action) { a.Approval = no() }), nil},
		{
			"two safeguards", set(func(a *effect.Action) { a.AuditLog, a.DryRun = yes("annotation"), yes("annotation") }), nil,
			[]string{"SAFEGUARD_REMOVED high", "SAFEGUARD_REMOVED high"},
		},
		{
			"rollback of something harmless", set(func(a *effect.Action) { a.Rollback = yes("annotation") }), nil,
			[]string{"SAFEGUARD_REMOVED high"},
		},
		{
			"rollback of something destructive",
			with(does(effect.Destructive), func(a *effect.Action) { a.Rollback = yes("annotation") }), with(does(effect.Destructive)),
			[]string{"SAFEGUARD_REMOVED critical"},
		},
		{"an input", nil, set(func(a *effect.Action) { a.Inputs = []string{"id", "note"} }), []string{"INPUT_SCHEMA_EXPANDED medium"}},
		{"a requirement", set(func(a *effect.Action) { a.RequiredInputs = nil }), nil, []string{"INPUT_SCHEMA_EXPANDED medium"}},
		{"an input less", nil, set(func(a *effect.Action) { a.Inputs, a.RequiredInputs = nil, nil }), nil},
		{"a hash alone", nil, set(func(a *effect.Action) { a.PolicyHash = "other" }), []string{"ACTION_MODIFIED medium"}},
		{
			"a hash beside what explains it", nil,
			with(scoped("stock:read", "stock:write"), func(a *effect.Action) { a.RiskHash = "other" }),
			[]string{"SCOPE_EXPANDED high"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rowsOf(c.before, c.after); !slices.Equal(got, c.want) {
				t.Errorf("the rows are %q, want %q", got, c.want)
			}
		})
	}
}

func TestANewActionWeighsWhatItCanDo(t *testing.T) {
	for _, c := range []struct {
		edits []edit
		want  string
	}{
		{nil, "info"},
		{with(does(effect.Write)), "medium"},
		{with(does(effect.PrivilegedDataAccess)), "medium"},
		{with(does(effect.ExternalCommunication)), "high"},
		{with(does(effect.ProductionOperation)), "critical"},
		{with(tagged("read_only", "secret_access")), "critical"},
	} {
		d := delta.DiffActions(surface(), surface(action("get_stock", c.edits...)))
		if len(d.Rows) != 1 || d.Rows[0].Type != delta.ActionAdded || d.Rows[0].Severity != c.want || d.Rows[0].Base != nil {
			t.Errorf("%+v, want severity %s", d.Rows, c.want)
		}
	}
}

// What nobody said is not said to be so.
func TestANewActionOfWhichNothingIsKnownSaysSo(t *testing.T) {
	for status, want := range map[effect.EffectStatus]string{
		effect.EffectUnknown:  "The agent gained an action. Nobody has said what it does; write is assumed.",
		effect.EffectDeclared: "The agent gained an action whose effect is write.",
	} {
		after := action("put_stock", does(effect.Write), func(a *effect.Action) { a.Assessment.EffectStatus = status })
		d := delta.DiffActions(surface(), surface(after))
		if len(d.Rows) != 1 || d.Rows[0].Reason != want {
			t.Errorf("%s: %+v", status, d.Rows)
		}
	}
}

func TestARenameIsOneRemovedAndOneAdded(t *testing.T) {
	d := delta.DiffActions(surface(action("get_stock")), surface(action("get_stocks")))
	var got []string
	for _, r := range d.Rows {
		got = append(got, fmt.Sprintf("%s %s %s", r.Type, r.ToolName, r.Severity))
	}
	if !slices.Equal(got, []string{"ACTION_REMOVED get_stock info", "ACTION_ADDED get_stocks info"}) {
		t.Errorf("%q", got)
	}
}

func TestARowCarriesWhatChangedAndKeepsItsPlaceOutOfTheEvidence(t *testing.T) {
	d := delta.DiffActions(surface(action("get_stock", scoped("a:read", "b:read"))), surface(action("get_stock", scoped("b:read", "c:*"))))
	r := d.Rows[0]
	if !slices.Equal(r.Added, []string{"c:*"}) || !slices.Equal(r.Removed, []string{"a:read"}) || r.SourcePath != "tools.json" {
		t.Errorf("%+v", r)
	}
	change := r.Change()
	if fmt.Sprint(change["added"]) != "[c:*]" || change["type"] != "SCOPE_EXPANDED" {
		t.Errorf("%v", change)
	}
	for key := range change {
		if slices.Contains([]string{"source_path", "source_start_line", "severity"}, key) {
			t.Errorf("%s would enter the fingerprint", key)
		}
	}
}

func TestAnActionSurfaceDoesNotDifferFromItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySurface(t)
		if d := delta.DiffActions(s, s); !d.Enabled || len(d.Rows) != 0 {
			t.Fatalf("%+v", d.Rows)
		}
	})
}

// What is added on the way there is removed on the way back, and nothing that
// grew one way grew the other way too, unless both sides have something of
// their own.
func TestActionRowsAreMirrored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := anySurface(t), anySurface(t)
		names := func(d *delta.Actions, kind delta.ActionChange) []string {
			var list []string
			for _, r := range d.Rows {
				if r.Type == kind {
					list = append(list, r.ActionID)
				}
			}
			return list
		}
		there, back := delta.DiffActions(base, head), delta.DiffActions(head, base)
		if !slices.Equal(names(there, delta.ActionAdded), names(back, delta.ActionRemoved)) {
			t.Fatalf("added %q, removed on the way back %q", names(there, delta.ActionAdded), names(back, delta.ActionRemoved))
		}
		for _, kind := range []delta.ActionChange{delta.EffectEscalated, delta.ApprovalRemoved} {
			for _, id := range names(there, kind) {
				if slices.Contains(names(back, kind), id) {
					t.Fatalf("%s of %s both ways", kind, id)
				}
			}
		}
		if !slices.IsSortedFunc(there.Rows, func(a, b delta.ActionRow) int { return strings.Compare(a.ActionID, b.ActionID) }) {
			t.Fatal("the rows are in no order")
		}
	})
}
