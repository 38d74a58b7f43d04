// Package event holds the seven events that go on the bus, the envelope each
// travels in, and the audit record, which is no event: it is kept for everyone
// who acts, also when nothing came of it.
//
// The list is closed (docs/spec/contracts.md §3.1). A failure, a lock, a phase
// step is an audit record; only these seven are announced.
//
// An event is a value. Its id is a function of what happened, so a second
// delivery, or a second emission after a crash, carries the same id and a
// consumer that remembers ids acts once.
package event

// Type is the name of one of the seven events.
type Type string

// The seven, in the order in which a chain brings them forth.
const (
	IntentCreated      Type = "intent.created.v1"
	TaskSeedCreated    Type = "taskseed.created.v1"
	ExecutionCompleted Type = "taskseed.execution.completed.v1"
	AcceptanceCreated  Type = "acceptance.created.v1"
	GateCreated        Type = "publishgate.created.v1"
	GateDecided        Type = "publishgate.decision.recorded.v1"
	EvidenceCreated    Type = "evidence.created.v1"
)

type row struct {
	emitter string
	kind    string // of the contract that is the subject
	created bool   // data is the contract exactly as persisted
	causes  []Type // what may have led here
	after   []Type // what a consumer has always seen before, within one chain
}

var table = map[Type]row{
	IntentCreated:      {"orchestrator", "IntentContract", true, nil, nil},
	TaskSeedCreated:    {"orchestrator", "TaskSeed", true, []Type{IntentCreated}, []Type{IntentCreated}},
	ExecutionCompleted: {"executor", "TaskSeed", false, []Type{TaskSeedCreated, ExecutionCompleted}, []Type{TaskSeedCreated}},
	AcceptanceCreated:  {"validator", "Acceptance", true, []Type{ExecutionCompleted, AcceptanceCreated}, []Type{ExecutionCompleted}},
	GateCreated:        {"policy-engine", "PublishGate", true, []Type{AcceptanceCreated}, []Type{AcceptanceCreated}},
	GateDecided:        {"policy-engine", "PublishGate", false, []Type{GateCreated}, []Type{GateCreated}},
	EvidenceCreated:    {"executor", "Evidence", true, []Type{TaskSeedCreated}, []Type{TaskSeedCreated}},
}

// Types is the seven in chain order.
func Types() []Type {
	return []Type{
		IntentCreated, TaskSeedCreated, ExecutionCompleted, AcceptanceCreated, GateCreated, GateDecided, EvidenceCreated,
	}
}

// Valid says whether t is one of the seven. A consumer acknowledges and logs
// any other type; nobody may emit one.
func (t Type) Valid() bool { _, ok := table[t]; return ok }

// Kind is the kind of contract t is about.
func (t Type) Kind() string { return table[t].kind }

// Source is the CloudEvents source of t.
func (t Type) Source() string { return "/agent-protocols/" + table[t].emitter }

// Causes is the types whose events may have led to t; empty for the first.
func (t Type) Causes() []Type { return table[t].causes }

// CreatedType is the event that announces a contract of the given kind, "" for
// an unknown one.
func CreatedType(kind string) Type {
	for _, t := range Types() {
		if table[t].created && table[t].kind == kind {
			return t
		}
	}
	return ""
}

// Before says whether every consumer sees a before b when both belong to one
// chain (docs/spec/contracts.md §3.3). Evidence is in no order with what comes
// of a run but its TaskSeed; across chains nothing is promised.
func Before(a, b Type) bool {
	for _, earlier := range table[b].after {
		if a == earlier || Before(a, earlier) {
			return true
		}
	}
	return false
}
