package artifact

import (
	"slices"

	"plimsoll.dev/internal/request/problem"
)

// Status is where an artifact stands (docs/spec/circle.md §5).
type Status string

// The statuses. The orchestrator returns the first three; only an explicit
// confirmation by a person makes the last.
const (
	Draft             Status = "draft"
	NeedsConfirmation Status = "needs_confirmation"
	WaitingForConsent Status = "waiting_for_consent"
	Confirmed         Status = "confirmed"
)

var statuses = []Status{Draft, NeedsConfirmation, WaitingForConsent, Confirmed}

// Statuses is every status, in the order of docs/spec/circle.md §5.
func Statuses() []Status { return slices.Clone(statuses) }

// Valid says whether s is one of the four.
func (s Status) Valid() bool { return slices.Contains(statuses, s) }

// Initial says whether an artifact may begin with s: a confirmed one cannot.
func (s Status) Initial() bool { return s.Valid() && s != Confirmed }

// Event is what moves an artifact from one status to another.
type Event string

// The events.
const (
	Adopt          Event = "adopt"   // a member asks to adopt a draft
	Decline        Event = "decline" // a member says no
	Confirm        Event = "confirm" // a member confirms exactly these bytes
	ConsentsGiven  Event = "all_consents_granted"
	ConsentRefused Event = "consent_refused"
	ConsentRevoked Event = "consent_revoked"
	ConsentExpired Event = "consent_expired" // the deadline passed: silence is no consent
)

// transitions is the whole table of docs/spec/circle.md §5. What is not here is
// forbidden.
var transitions = []struct {
	from Status
	on   Event
	to   Status
}{
	{Draft, Adopt, NeedsConfirmation},
	{WaitingForConsent, ConsentsGiven, NeedsConfirmation},
	{WaitingForConsent, ConsentRefused, Draft},
	{WaitingForConsent, ConsentRevoked, Draft},
	{WaitingForConsent, ConsentExpired, Draft},
	{NeedsConfirmation, Decline, Draft},
	{NeedsConfirmation, Confirm, Confirmed},
}

// After is the status after an event; problem.TransitionForbidden where the table
// has none.
func (s Status) After(e Event) (Status, error) {
	for _, t := range transitions {
		if t.from == s && t.on == e {
			return t.to, nil
		}
	}
	return s, problem.New(problem.TransitionForbidden, "an artifact that is %q cannot %s", s, e.verb())
}

// Between is the events that lead from one status to another, none where that is
// forbidden.
func Between(from, to Status) []Event {
	list := []Event{}
	for _, t := range transitions {
		if t.from == from && t.to == to {
			list = append(list, t.on)
		}
	}
	return list
}

func (e Event) verb() string {
	switch e {
	case Adopt:
		return "be adopted"
	case Decline:
		return "be declined"
	case Confirm:
		return "be confirmed"
	case ConsentsGiven, ConsentRefused, ConsentRevoked, ConsentExpired:
		return "be moved by a consent"
	}
	return "be moved"
}

// Demanding is the status of a package: the most demanding of its artifacts'
// statuses, draft when there is none (docs/spec/circle.md §6.6). A confirmed
// artifact demands nothing: the answer to a request is never confirmed.
func Demanding(of ...Status) Status {
	for _, s := range []Status{WaitingForConsent, NeedsConfirmation} {
		if slices.Contains(of, s) {
			return s
		}
	}
	return Draft
}
