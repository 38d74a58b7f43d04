package effect

// riskTag is the spelling of a tag in an action (§5.5, "Tag map"). A tag that is
// not here keeps its spelling.
var riskTag = map[string]string{
	"write":                  "writes_data",
	"external_write":         "external_communication",
	"customer_communication": "external_communication",
	"external_side_effect":   "external_communication",
	"financial_action":       "financial_write",
	"infrastructure_change":  "production_ops",
	"production_operation":   "production_ops",
	"sensitive_data_access":  "privileged_data",
	"privileged_data_access": "privileged_data",
}

// RiskTag is a hint's or a declaration's tag as actions spell it.
func RiskTag(tag string) string {
	if mapped, ok := riskTag[tag]; ok {
		return mapped
	}
	return tag
}

// effectTag is the tag of an effect where they are spelt differently.
var effectTag = map[Effect]string{
	Read: "read_only", Write: "writes_data", ProductionOperation: "production_ops", PrivilegedDataAccess: "privileged_data",
}

// Tag is the risk tag of the effect (§5.5).
func (e Effect) Tag() string {
	if tag, ok := effectTag[e]; ok {
		return tag
	}
	return string(e)
}

// tagEffect reads the two tables backwards: which effect a tag claims. Tags that
// name a circumstance and no effect (customer_data, irreversible,
// network_access) are not here.
var tagEffect = map[string]Effect{
	"read_only": Read, "writes_data": Write, "filesystem_write": Write, "destructive": Destructive,
	"external_communication": ExternalCommunication, "financial_write": FinancialWrite,
	"production_ops": ProductionOperation, "privileged_data": PrivilegedDataAccess, "secret_access": PrivilegedDataAccess,
	"code_execution": CodeExecution, "identity_access": IdentityAccess,
}

// TagEffect is the effect that a tag in any spelling claims, and whether it
// claims one.
func TagEffect(tag string) (Effect, bool) {
	e, ok := tagEffect[RiskTag(tag)]
	return e, ok
}

// View is the side-effect view of the action (§5.5).
func (a *Action) View() View {
	tags := make(map[string]bool, len(a.RiskTags))
	for _, tag := range a.RiskTags {
		tags[tag] = true
	}
	v := View{
		ExternallyVisible: tags["external_communication"] || tags["writes_data"] ||
			a.Effect == Destructive || a.Effect == FinancialWrite || a.Effect == ExternalCommunication,
		SensitiveData:    tags["privileged_data"] || tags["secret_access"] || a.Effect == PrivilegedDataAccess,
		Financial:        tags["financial_write"] || a.Effect == FinancialWrite,
		CodeExecution:    tags["code_execution"] || a.Effect == CodeExecution,
		IdempotencyKnown: a.Idempotency.Known && a.Idempotency.Value,
		Reversibility:    "unknown",
	}
	switch {
	case tags["destructive"] || tags["irreversible"] || a.Effect == Destructive:
		v.Reversibility = "irreversible"
	case tags["read_only"] && !tags["writes_data"]:
		v.Reversibility = "reversible"
	}
	return v
}
