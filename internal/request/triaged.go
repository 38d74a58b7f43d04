package request

import (
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
)

// Triage decides what a request is about (docs/spec/circle.md §6.2). It is
// deterministic: the same set, envelope and report always have the same answer.
type Triage func(set *constitution.Set, e *envelope.Envelope, report *screen.Report) Triaged

// Triaged is what triage decided, with the evidence for each decision.
type Triaged struct {
	Intent  constitution.Intent    `json:"intent"`
	Flags   []envelope.Flag        `json:"flags"` // the envelope's and what was added
	Consent envelope.ConsentStatus `json:"consent"`
	Locale  string                 `json:"locale"`
	// Stops is what triage finds that stops or blocks, in the order in which
	// several act. That a consent is owed is found out when there is something to
	// consent to, and is not among them.
	Stops    []envelope.Condition `json:"stops"`
	Evidence []Evidence           `json:"evidence"`
}

// Evidence is why triage decided something: a rule and, where it stands in the
// text, a place. Nothing of the text is in it.
type Evidence struct {
	Of    string `json:"of"`    // intent, sensitivity, visibility, consent, stop
	Value string `json:"value"` // what was decided
	Rule  string `json:"rule"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}
