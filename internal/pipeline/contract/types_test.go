package contract_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
)

// enumerations is every enumeration of the schemas by the name of its member.
// One member name has one enumeration, but for those of roles, which differ by
// who may stand where.
func enumerations(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if list, ok := v["enum"].([]any); ok {
				for _, e := range list {
					if text := e.(string); !slices.Contains(found[name], text) {
						found[name] = append(found[name], text)
					}
				}
			}
			for key, e := range v {
				switch key {
				case "items", "allOf", "then", "if":
					walk(name, e)
				case "properties", "$defs":
					for member, schema := range e.(map[string]any) {
						walk(member, schema)
					}
				}
			}
		case []any:
			for _, e := range v {
				walk(name, e)
			}
		}
	}
	for _, k := range contract.Kinds() {
		walk("", parse(t, contract.SchemaText(k)))
	}
	return found
}

// A value the schema admits is one the types know.
func TestTheTypesKnowWhatTheSchemasAdmit(t *testing.T) {
	valid := map[string]func(string) bool{
		"capability":                    func(s string) bool { return capability.Capability(s).Valid() },
		"requestedCapabilitiesSnapshot": func(s string) bool { return capability.Capability(s).Valid() },
		"priority":                      func(s string) bool { return contract.Priority(s).Valid() },
		"ownerRole":                     func(s string) bool { return contract.Role(s).Valid() },
		"requiredActivationApprovals":   func(s string) bool { return contract.Role(s).Valid() },
		"requiredApprovals":             func(s string) bool { return contract.Role(s).Valid() },
		"role":                          func(s string) bool { return contract.Role(s).Valid() },
		"decision":                      func(s string) bool { return contract.Decision(s).Valid() },
		"action":                        func(s string) bool { return contract.Action(s).Valid() },
		"riskLevel":                     func(s string) bool { return contract.Level(s).Valid() },
		"finalDecision":                 func(s string) bool { return contract.FinalDecision(s).Valid() },
		"classification":                func(s string) bool { return contract.Classification(s).Valid() },
		"policyVerdict":                 func(s string) bool { return contract.PolicyVerdict(s).Valid() },
		// Acceptance.status and mergeResult.status share a name.
		"status": func(s string) bool { return contract.Status(s).Valid() || contract.MergeStatus(s).Valid() },
	}
	sizes := map[string]int{
		"capability": 6, "priority": 4, "decision": 2, "action": 3, "riskLevel": 4, "finalDecision": 4, "classification": 3,
		"policyVerdict": 3, "status": 8, "role": 5,
	}
	for name, values := range enumerations(t) {
		check, known := valid[name]
		if !known {
			t.Errorf("%s has an enumeration and no type: %q", name, values)
			continue
		}
		for _, v := range values {
			if !check(v) {
				t.Errorf("%s: %q is not known", name, v)
			}
		}
		if want, ok := sizes[name]; ok && len(values) != want {
			t.Errorf("%s has %d values, want %d", name, len(values), want)
		}
		if check("") || check("Approved") {
			t.Errorf("%s takes anything", name)
		}
	}
}

func TestWhatAContractIsMadeFrom(t *testing.T) {
	for _, name := range []string{"intent", "taskseed", "acceptance", "publishgate-high", "evidence"} {
		d := sample(t, name)
		if got := d.Source().Kind(); got != d.Head().Kind.Source() {
			t.Errorf("%s is made from a %q, want %q", name, got, d.Head().Kind.Source())
		}
		moved := d.Head()
		moved.State = contract.Archived
		if changed := d.With(moved); changed.Head() != moved || d.Head().State == contract.Archived {
			t.Errorf("%s: With gives a copy with another head", name)
		}
	}
}

func TestStatesAndCauses(t *testing.T) {
	for _, s := range contract.States() {
		if s.Check() != nil || s.Live() != (s == contract.Active || s == contract.Frozen) {
			t.Errorf("%s", s)
		}
	}
	if contract.State("Done").Check() == nil || contract.Cause("because").Valid() || len(contract.Causes()) != 9 || contract.Ground("whim").Valid() {
		t.Error("a word from outside is taken")
	}
	if contract.ActorType("robot").Valid() || !contract.System.Valid() {
		t.Error("actor types")
	}
}

func TestLevelsAreOrdered(t *testing.T) {
	level := rapid.SampledFrom(append(contract.Levels(), ""))
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := level.Draw(t, "a"), level.Draw(t, "b"), level.Draw(t, "c")
		if a.Max(b) != b.Max(a) || a.Max(b).Max(c) != a.Max(b.Max(c)) || a.Max(a) != a || a.Max("") != a {
			t.Fatal("Max is no maximum")
		}
		if a.Max(b).Below(a) || a.Below(b) && b.Below(a) {
			t.Fatal("Below is no order")
		}
		if a.Human() && !a.Max(b).Human() {
			t.Fatal("a higher level asks fewer people")
		}
	})
}

func TestRoleSetAlgebra(t *testing.T) {
	set := rapid.Custom(func(t *rapid.T) contract.RoleSet {
		return contract.RoleSet(rapid.Uint16Range(0, 1<<10-1).Draw(t, "bits"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := set.Draw(t, "a"), set.Draw(t, "b")
		u := a.Union(b)
		if u != b.Union(a) || !u.Contains(a) || a.Minus(b).Meets(b) || a.Minus(b).Union(b) != u || a.Contains(b) != b.Minus(a).Empty() {
			t.Fatal("no algebra of sets")
		}
		if contract.RolesOf(a.List()...) != a || len(a.List()) != a.Len() {
			t.Fatal("list")
		}
		for _, r := range contract.Roles() {
			if u.Has(r) != (a.Has(r) || b.Has(r)) {
				t.Fatal("has")
			}
		}
	})
}

func sample(t *testing.T, name string) contract.Document {
	t.Helper()
	text, err := examples(name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := contract.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
