package constitution

import (
	"slices"
	"time"

	"plimsoll.dev/internal/request/envelope"
)

// AgentID is the name of an agent: "Privacy-Sentinel".
type AgentID string

// The agents of docs/spec/circle.md §1: the constitution every prompt begins
// with, the only entry point, and the workers in the order of their priority.
const (
	Base         AgentID = "JOS-BASE"
	Orchestrator AgentID = "Spirit-Orchestrator"

	PrivacySentinel AgentID = "Privacy-Sentinel"
	GatePolicy      AgentID = "Gate-Policy"
	Process         AgentID = "Process"
	CoreGuardian    AgentID = "Core-Guardian"
	Identity        AgentID = "Identity"
	Bridge          AgentID = "Bridge"
	Gifts           AgentID = "Gifts"
	Sync            AgentID = "Sync"
	AuditLog        AgentID = "Audit-Log"
	InfraHealth     AgentID = "Infra-Health"
	ResearchScout   AgentID = "Research-Scout"
	RitualField     AgentID = "Ritual-Field"
	Memory          AgentID = "Memory"
)

// Class says which of the two slots of a request a worker runs in.
type Class string

// The classes.
const (
	Heavy      Class = "heavy"
	Supporting Class = "supporting"
)

// Valid says whether c is one of the two.
func (c Class) Valid() bool { return c == Heavy || c == Supporting }

// Engine says how a worker drafts when a model is configured.
type Engine string

// The engines.
const (
	Builtin Engine = "builtin" // never asks a model
	Model   Engine = "model"   // asks the configured model; without one, the built-in engine does the job
)

// Valid says whether e is one of the two.
func (e Engine) Valid() bool { return e == Builtin || e == Model }

// Locale is a language tag of BCP 47, as the registry writes it: "uk".
type Locale string

// Intent is what a request is about, as triage decides it.
type Intent string

// The intents of docs/spec/circle.md §6.2. The first five have a chain.
const (
	CircleDecision Intent = "circle_decision"
	ExternalAction Intent = "external_action"
	GiftExchange   Intent = "gift_exchange"
	OfflineMerge   Intent = "offline_merge"
	CoreChange     Intent = "core_change"
	Remember       Intent = "remember"
	Research       Intent = "research"
	Ritual         Intent = "ritual"
	Health         Intent = "infra_health"
	Identify       Intent = "identify"
	PrivacyCheck   Intent = "privacy_check"
	GateCheck      Intent = "gate_check"
	Unclear        Intent = "unclear" // no worker: the answer asks one question
)

// intents is every intent, in the order of the specification.
var intents = []Intent{
	CircleDecision, ExternalAction, GiftExchange, OfflineMerge, CoreChange,
	Remember, Research, Ritual, Health, Identify, PrivacyCheck, GateCheck, Unclear,
}

// Intents is every intent, in the order of docs/spec/circle.md §6.2.
func Intents() []Intent { return slices.Clone(intents) }

// Valid says whether i is one of the thirteen.
func (i Intent) Valid() bool { return slices.Contains(intents, i) }

// Registry is agents_registry.yaml, checked: who the agents are, what they may
// return, which intent wakes whom, and the limits (docs/spec/circle.md §2).
// Nobody changes a Registry once it is loaded.
type Registry struct {
	Version  string        // of the registry itself, "1.0.0"
	Locales  []Locale      // the languages every intent has triggers in
	Manager  Manager       // Spirit-Orchestrator
	Workers  []Worker      // the thirteen, by priority
	Intents  []IntentEntry // the thirteen, in the order of the file
	Chains   []Chain       // in the order of the file
	Ceilings []Ceiling     // one for each flag of §7, in the order of the envelope's flags
	Economy  Economy
	Limits   Limits
	Quorum   Quorum
}

// Manager is what the registry says about the orchestrator.
type Manager struct {
	Engine   Engine // whether a model may assist triage and summary
	Deadline time.Duration
	About    map[Locale]string
}

// Worker is one of the thirteen.
type Worker struct {
	ID       AgentID
	Priority int // 1 runs first
	Class    Class
	Engine   Engine
	Outputs  []envelope.ArtifactType // what it may return, and nothing else
	Deadline time.Duration           // of one run
	About    map[Locale]string       // its job in a sentence
}

// May says whether the worker may return an artifact of this type.
func (w Worker) May(t envelope.ArtifactType) bool { return slices.Contains(w.Outputs, t) }

// IntentEntry says what a request of an intent looks like and who serves it:
// the chain, or the workers, or nobody when the answer is a question.
type IntentEntry struct {
	ID       Intent
	Chain    string    // "" when there is none
	Workers  []AgentID // in the order of their priority; empty when there is a chain
	Outputs  []envelope.ArtifactType
	Actions  []envelope.Action
	Triggers map[Locale][]Trigger
	Question map[Locale]string // what to ask; only unclear has one
}

// Trigger is a phrase that points at an intent: the terms that all stand in one
// sentence, in any order. The text is in lower case and normalised.
type Trigger struct {
	Text  string // as the registry has it: "decid* whether"
	Terms []Term
	Line  int // of the registry, for evidence
}

// Term is one word of a trigger, or the beginning of one.
type Term struct {
	Text string
	Stem bool // any word that begins with Text
}

// Chain is the plan of an intent: its steps, in their order.
type Chain struct {
	ID    string
	Steps []Step
}

// Step is one worker's turn in a chain.
type Step struct {
	Worker   AgentID
	Outputs  []envelope.ArtifactType // what this turn is for; a part of the worker's own
	When     *Condition              // nil: always
	Required bool                    // the chain stops when a supporting worker fails here; it always does for a heavy one
	Beside   bool                    // may run at the same time as the step before it
}

// Due says whether the step has a turn: it has no condition, or the facts meet
// it. An error is a condition that asks a content for what it does not hold.
func (s Step) Due(f Facts) (bool, error) {
	if s.When == nil {
		return true, nil
	}
	return s.When.Met(f)
}

// Ceiling is the widest level a flag lets an outcome have
// (docs/spec/circle.md §7). A level of "" is no level at all: the request stops.
type Ceiling struct {
	Flag        envelope.Flag
	Without     envelope.Level // with no consent on record
	WithConsent envelope.Level // with the consent of each person concerned
}

// Economy is how many workers of one request may run at the same time.
type Economy struct{ Heavy, Supporting int }

// Limits bounds what one request may cost, and how long things stay open.
type Limits struct {
	Regenerations int           // after a worker's first answer broke its contract
	Steps         int           // of one plan
	Artifacts     int           // of one request
	Breaches      int           // from one channel, within BreachWindow, that suspend it
	BreachWindow  time.Duration // see Breaches
	Consent       time.Duration // after which a consent that was asked for counts as not given
	StepUp        time.Duration // how long an identity challenge may be answered
}

// Quorum is how many of a circle's council must consent to a core change:
// Numerator of Denominator of them, rounded up, and at least Members.
type Quorum struct{ Members, Numerator, Denominator int }

// Needed is how many of council members must consent.
func (q Quorum) Needed(council int) int {
	return max(q.Members, (council*q.Numerator+q.Denominator-1)/q.Denominator)
}

// Worker is the worker of this name.
func (r *Registry) Worker(id AgentID) (Worker, bool) {
	for _, w := range r.Workers {
		if w.ID == id {
			return w, true
		}
	}
	return Worker{}, false
}

// Intent is the entry of an intent.
func (r *Registry) Intent(id Intent) (IntentEntry, bool) {
	for _, e := range r.Intents {
		if e.ID == id {
			return e, true
		}
	}
	return IntentEntry{}, false
}

// Chain is the chain of this name.
func (r *Registry) Chain(id string) (Chain, bool) {
	for _, c := range r.Chains {
		if c.ID == id {
			return c, true
		}
	}
	return Chain{}, false
}

// Ceiling is the ceiling of a flag; false for a flag that has none.
func (r *Registry) Ceiling(f envelope.Flag) (Ceiling, bool) {
	for _, c := range r.Ceilings {
		if c.Flag == f {
			return c, true
		}
	}
	return Ceiling{}, false
}
