package risk

import "fmt"

// Signal is a circumstance that makes work critical whatever it may do
// (docs/spec/contracts.md §6.2).
type Signal string

// The six signals.
const (
	ProductionDataChange       Signal = "productionDataChange"
	ProductionEnvironmentWrite Signal = "productionEnvironmentWrite"
	CustomerDataWrite          Signal = "customerDataWrite"
	SecretExternalTransmission Signal = "secretExternalTransmission"
	LegalOrContractConcern     Signal = "legalOrContractConcern"
	IrreversiblePublish        Signal = "irreversiblePublish"
)

var signalOrder = [...]Signal{
	ProductionDataChange, ProductionEnvironmentWrite, CustomerDataWrite,
	SecretExternalTransmission, LegalOrContractConcern, IrreversiblePublish,
}

// Names of the upstream project for the same things.
var synonyms = map[string]Signal{
	"productionDataAccess":       ProductionDataChange,
	"externalSecretTransmission": SecretExternalTransmission,
	"legalConcern":               LegalOrContractConcern,
	"rollbackImpossible":         IrreversiblePublish,
}

// Signals is a set of signals; the zero value is none.
type Signals uint8

// SignalsOf is the set of the given signals. An unknown one panics: names from
// outside go through ParseSignals.
func SignalsOf(list ...Signal) Signals {
	var s Signals
	for _, name := range list {
		b := name.bit()
		if b == 0 {
			panic("risk: unknown signal " + string(name))
		}
		s |= b
	}
	return s
}

func (n Signal) bit() Signals {
	for i, known := range signalOrder {
		if n == known {
			return 1 << i
		}
	}
	return 0
}

// ParseSignals reads signals as they travel: by name, upstream's names too,
// absent and false alike. An unknown name is an error even when it is false: a
// misspelt signal must not pass for one that was answered.
func ParseSignals(named map[string]bool) (Signals, error) {
	var s Signals
	for name, set := range named {
		signal, renamed := synonyms[name]
		if !renamed {
			signal = Signal(name)
		}
		if signal.bit() == 0 {
			return 0, fmt.Errorf("unknown risk signal %q", name)
		}
		if set {
			s |= signal.bit()
		}
	}
	return s, nil
}

// Has says whether n is in s.
func (s Signals) Has(n Signal) bool { return n.bit() != 0 && s&n.bit() != 0 }

// List is the signals of s in the order of the specification, never nil.
func (s Signals) List() []Signal {
	list := []Signal{}
	for i, n := range signalOrder {
		if s&(1<<i) != 0 {
			list = append(list, n)
		}
	}
	return list
}

// Status is how a signal came to be known, for those who decide at a gate.
type Status string

// The statuses. Observed outranks declared; an undeclared signal counts as
// false, and the gate says so (rulings R10).
const (
	Declared   Status = "declared"
	Observed   Status = "observed"
	Undeclared Status = "undeclared"
)

// SignalStatus is one signal with its status.
type SignalStatus struct {
	Signal Signal `json:"signal"`
	Status Status `json:"status"`
}

// Statuses is every signal with its status, in order.
func Statuses(declared, observed Signals) []SignalStatus {
	list := make([]SignalStatus, len(signalOrder))
	for i, n := range signalOrder {
		status := Undeclared
		switch {
		case observed.Has(n):
			status = Observed
		case declared.Has(n):
			status = Declared
		}
		list[i] = SignalStatus{n, status}
	}
	return list
}
