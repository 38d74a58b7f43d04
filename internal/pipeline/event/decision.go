package event

import "plimsoll.dev/internal/canonical"

// Trigger is what recorded a gate's decision.
type Trigger string

// The triggers.
const (
	ByApproval  Trigger = "approval"
	ByRejection Trigger = "rejection"
	ByAuto      Trigger = "auto"   // the Policy Engine, when the gate was made
	ByExpiry    Trigger = "expiry" // the deadline passed
)

// Entry is the approval entry that was recorded.
type Entry struct {
	Role      string
	ActorID   string
	Decision  string
	DecidedAt string
	Reason    *string
}

// Verdict is the data of GateDecided. Entry is nil for an expiry. Reversed says
// that the actor who now rejects had approved before: the same role and actor
// then decide twice, and the second event needs an id of its own.
type Verdict struct {
	EntityID      string
	Trigger       Trigger
	Entry         *Entry
	FinalDecision string
	State         string
	Outstanding   []string // required roles without an entry, in canonical order
	Reversed      bool
}

// Decided announces a decision on a gate: each approval and rejection, the
// automatic decision, and the expiry.
func Decided(s Subject, o Origin, v Verdict) Envelope {
	data := canonical.Object{
		{Key: "publishGateId", Value: s.ID},
		{Key: "publishGateVersion", Value: s.Version},
		{Key: "entityId", Value: v.EntityID},
		{Key: "trigger", Value: string(v.Trigger)},
		{Key: "finalDecision", Value: v.FinalDecision},
		{Key: "state", Value: v.State},
		{Key: "outstandingRoles", Value: append([]string{}, v.Outstanding...)},
	}
	discriminator := string(v.Trigger)
	if e := v.Entry; e != nil {
		entry := canonical.Object{
			{Key: "role", Value: e.Role},
			{Key: "actorId", Value: e.ActorID},
			{Key: "decision", Value: e.Decision},
			{Key: "decidedAt", Value: e.DecidedAt},
		}
		if e.Reason != nil {
			entry = append(entry, canonical.Member{Key: "reason", Value: *e.Reason})
		}
		data = append(data, canonical.Member{Key: "decision", Value: entry})
		if v.Trigger != ByAuto {
			discriminator = e.Role + "/" + e.ActorID
			if v.Reversed {
				discriminator += "/rejected"
			}
		}
	}
	return signal(GateDecided, s, o, discriminator, data)
}
