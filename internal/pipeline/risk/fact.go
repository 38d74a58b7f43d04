package risk

import "fmt"

// Fact is one thing that happened in a run, recorded by what it did and to
// what. Members that do not apply are empty; Reversible is nil when nobody
// knows.
type Fact struct {
	Action      string `json:"action"`
	Environment string `json:"environment,omitempty"`
	Resource    string `json:"resource,omitempty"`
	DataClass   string `json:"dataClass,omitempty"`
	Boundary    string `json:"boundary,omitempty"`
	Reversible  *bool  `json:"reversible,omitempty"`
	Category    string `json:"category,omitempty"`
	Certainty   string `json:"certainty,omitempty"`
}

// Check names the first member of f that has a value outside its list. A fact
// with such a member could hide a signal, so it is not evaluated at all.
func (f Fact) Check() error {
	for _, m := range []struct {
		name, value string
		required    bool
		allowed     []string
	}{
		{"action", f.Action, true, []string{"read", "write", "delete", "transmit", "publish", "finding"}},
		{"environment", f.Environment, false, []string{"development", "staging", "production"}},
		{"resource", f.Resource, false, []string{"data", "config", "code"}},
		{"dataClass", f.DataClass, false, []string{"public", "internal", "customer", "secret"}},
		{"boundary", f.Boundary, false, []string{"internal", "external"}},
		{"category", f.Category, false, []string{"licence", "privacy", "export", "contract"}},
		{"certainty", f.Certainty, f.Action == "finding", []string{"possible", "confirmed", "cleared"}},
	} {
		ok := m.value == "" && !m.required
		for _, a := range m.allowed {
			ok = ok || m.value == a
		}
		if !ok {
			return fmt.Errorf("fact: %s %q is none of %q", m.name, m.value, m.allowed)
		}
	}
	return nil
}

// Signals is the signals that f sets. Reading is never one of them.
func (f Fact) Signals() Signals {
	var s Signals
	changes := f.Action == "write" || f.Action == "delete"
	if changes && f.Environment == "production" {
		s |= ProductionEnvironmentWrite.bit()
		if f.Resource == "data" {
			s |= ProductionDataChange.bit()
		}
	}
	if changes && f.DataClass == "customer" {
		s |= CustomerDataWrite.bit()
	}
	if f.Action == "transmit" && f.DataClass == "secret" && f.Boundary == "external" {
		s |= SecretExternalTransmission.bit()
	}
	if f.Action == "finding" && f.Certainty != "cleared" {
		s |= LegalOrContractConcern.bit()
	}
	if f.Action == "publish" && (f.Reversible == nil || !*f.Reversible) {
		s |= IrreversiblePublish.bit()
	}
	return s
}

// FromFacts is the signals of all facts together.
func FromFacts(facts []Fact) Signals {
	var s Signals
	for _, f := range facts {
		s |= f.Signals()
	}
	return s
}
