package request

import (
	"sync"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/triage"
)

// Triaged is what triage decided, with the evidence for each decision, as it is
// kept with the request.
type Triaged struct {
	Intent  constitution.Intent    `json:"intent"`
	Flags   []envelope.Flag        `json:"flags"` // the envelope's and what was added
	Consent envelope.ConsentStatus `json:"consent"`
	Locale  string                 `json:"locale"`
	Guarded bool                   `json:"guarded,omitempty"` // the Privacy-Sentinel comes first
	// Stops is what stops or blocks the request before anything has run, in the
	// order in which several act. That a consent is owed is found out when there
	// is something to consent to, and is not among them.
	Stops    []envelope.Condition `json:"stops"`
	Evidence []Evidence           `json:"evidence"`
}

// Evidence is why triage decided something: a rule and, where it stands in the
// text, a place. Nothing of the text is in it.
type Evidence struct {
	Of    string `json:"of"`    // origin, intent, sensitivity, visibility, consent, stop
	Value string `json:"value"` // what was decided
	Rule  string `json:"rule"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

func decided(r *triage.Result) Triaged {
	t := Triaged{
		Intent: r.Intent, Flags: r.Flags, Consent: r.Consent, Locale: string(r.Locale), Guarded: r.Guarded, Stops: r.Stops, Evidence: make([]Evidence, len(r.Evidence)),
	}
	if t.Flags == nil {
		t.Flags = []envelope.Flag{}
	}
	for i, e := range r.Evidence {
		t.Evidence[i] = Evidence{string(e.Of), e.Value, e.Rule, e.Span.Start, e.Span.End}
	}
	return t
}

// triages keeps the triage of the configuration in use: to compile its triggers
// takes longer than to decide by them. It is safe for concurrent use.
type triages struct {
	mu  sync.Mutex // guards of and use
	of  *constitution.Set
	use *triage.Triage
}

func (t *triages) by(set *constitution.Set) (*triage.Triage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of != set {
		made, err := triage.New(set.Registry())
		if err != nil {
			return nil, err
		}
		t.of, t.use = set, made
	}
	return t.use, nil
}
