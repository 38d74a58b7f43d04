package check

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
)

// obligation is what an effect demands of every action that has it, with or
// without a base (§11.4).
type obligation struct {
	effect effect.Effect
	check  string
	needs  []string
}

const policyViolation = "SHIP-ACTION-POLICY-VIOLATION"

// obligations are the built-in ones.
var obligations = []obligation{
	{effect.FinancialWrite, "SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING", []string{"approval.required", "safeguards.audit_log", "safeguards.idempotency"}},
	{effect.ExternalCommunication, "SHIP-ACTION-EXTERNAL-COMMUNICATION-AUDIT-MISSING", []string{"confirmation.required", "safeguards.audit_log"}},
	{effect.Destructive, "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING", []string{"approval.required", "confirmation.required", "safeguards.rollback"}},
	{effect.ProductionOperation, policyViolation, []string{"approval.required"}},
	{effect.CodeExecution, policyViolation, []string{"approval.required"}},
}

// obliged says whether an effect carries a built-in obligation.
func obliged(e effect.Effect) bool {
	return slices.ContainsFunc(obligations, func(o obligation) bool { return o.effect == e })
}

// stands says whether the control at a path holds for an action. Confirmation
// counts only by a policy whose selector names exactly this tool.
func stands(a *effect.Action, path string) bool {
	if path == "confirmation.required" {
		return a.Confirmation
	}
	for _, c := range controls(a) {
		if c.path == path {
			return c.control.Known && c.control.Value
		}
	}
	return false
}

// unmet is what an action lacks of what one check asks for, and the effects that
// ask for it.
func unmet(a *effect.Action, check string) (missing []string, because []effect.Effect) {
	for _, o := range obligations {
		if o.check != check || !a.Assessment.Eligible(o.effect) {
			continue
		}
		lacking := 0
		for _, path := range o.needs {
			if !stands(a, path) {
				missing = append(missing, path)
				lacking++
			}
		}
		if lacking > 0 {
			because = append(because, o.effect)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing), because
}

func obligationOf(check string) func(*Subject) []Finding {
	return func(s *Subject) []Finding { return breaches(s, check, nil) }
}

// breaches are the findings of one check about the built-in obligations.
func breaches(s *Subject, check string, more map[string]any) []Finding {
	var found []Finding
	for _, a := range s.Acting() {
		missing, because := unmet(a, check)
		if len(missing) == 0 {
			continue
		}
		var rows []Predicate
		for _, e := range because {
			rows = append(rows, hasEffect(a, e))
		}
		for _, path := range missing {
			rows = append(rows, lacks(path))
		}
		evidence := map[string]any{"missing": missing}
		for key, value := range more {
			evidence[key] = value
		}
		f := declaredAt(s, a, ofAction(a, evidence, conjunction(rows...)))
		f.Title = a.Tool.Name + " (" + effectNames(because) + ") lacks " + strings.Join(missing, ", ")
		found = append(found, f)
	}
	return found
}

func effectNames(list []effect.Effect) string {
	var names []string
	for _, e := range list {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}
