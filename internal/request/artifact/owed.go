package artifact

import (
	"slices"
	"time"

	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// Cause is why an artifact is critical.
type Cause string

// The causes (docs/spec/circle.md §7).
const (
	Export     Cause = "export"      // an export or another external action
	CoreChange Cause = "core_change" // a change of a trust root
	Raised     Cause = "visibility"  // it would be seen beyond the circle
	Flagged    Cause = "flagged"     // critical, health or minors
)

// Critical is why an artifact needs consent before it has an effect; empty when
// it does not. What only its owner will see needs none for its flags: nobody else
// is told (§7, "the member's own").
func (a *Artifact) Critical() []Cause {
	causes := []Cause{}
	if a.export() {
		causes = append(causes, Export)
	}
	if a.coreChange() {
		causes = append(causes, CoreChange)
	}
	if a.seen().Wider(envelope.Circle) {
		causes = append(causes, Raised)
	}
	if a.Has(envelope.Critical) || a.seen() != envelope.Private && (a.Has(envelope.Health) || a.Has(envelope.Minors)) {
		causes = append(causes, Flagged)
	}
	return causes
}

// seen is the widest level the artifact would have.
func (a *Artifact) seen() envelope.Level {
	if a.Scope.Visibility.Wider(a.Visibility) {
		return a.Scope.Visibility
	}
	return a.Visibility
}

func (a *Artifact) export() bool {
	return a.Type == envelope.BridgeDraft || a.Has(envelope.ExternalAction) || a.Scope.Action == envelope.ExportDraft
}

func (a *Artifact) coreChange() bool {
	return a.Type == envelope.CoreChangeProposal || a.Has(envelope.CoreChange) || a.Scope.Action == envelope.CoreChangeDraft
}

// Why says why somebody is asked.
type Why string

// The reasons to ask somebody.
const (
	Requester    Why = "requester"
	PersonalData Why = "personal_data" // their own is in the content
	OfCouncil    Why = "council"
)

// Owed is one person whose consent is owed.
type Owed struct {
	Member string
	Why    Why
}

// Demand is whose consents an artifact needs.
type Demand struct {
	Of      []Owed   // each of these
	Council []string // and Needed of these, ascending; empty when no quorum is needed
	Needed  int
	StepUp  bool // who grants has proved their identity anew: it would leave the circle
}

// Demand is whose consents are owed now (docs/spec/circle.md §7): of a critical
// artifact the member's who asked and everybody's whose personal data is in it,
// and for a core change a quorum of the council as it is now. Of no other
// artifact any is.
func (a *Artifact) Demand(c *circle.Circle, roll circle.Roll, q constitution.Quorum, now time.Time) Demand {
	d := Demand{Of: []Owed{}, Council: []string{}}
	if len(a.Critical()) == 0 {
		return d
	}
	d.StepUp = a.export()
	d.Of = append(d.Of, Owed{a.Owner, Requester})
	for _, m := range a.Concerns {
		if !slices.ContainsFunc(d.Of, func(o Owed) bool { return o.Member == m }) {
			d.Of = append(d.Of, Owed{m, PersonalData})
		}
	}
	if a.coreChange() {
		d.Council = roll.With(circle.Council, now)
		d.Needed = c.Needed(len(d.Council), q)
	}
	return d
}

// Empty says whether nobody's consent is owed.
func (d Demand) Empty() bool { return len(d.Of) == 0 && d.Needed == 0 }

// of says whether a member is asked, and whether with a proof of identity.
func (d Demand) of(member string) (stepUp, owed bool) {
	owed = slices.ContainsFunc(d.Of, func(o Owed) bool { return o.Member == member }) || slices.Contains(d.Council, member)
	return d.StepUp, owed
}

// Line is what the ledger says for one person.
type Line struct {
	Owed
	Answer  Answer
	Consent string // the record's id; "" while they are silent
}

// Standing is a demand held against the ledger at an instant.
type Standing struct {
	Of      []Line
	Council []Line
	Needed  int
	Overdue bool // the deadline has passed
}

// Stand holds a demand against the ledger. A consent counts for exactly this
// content, from somebody who was a member when they gave it; for the quorum, from
// somebody who was of the council then and is now.
func (a *Artifact) Stand(d Demand, ledger []Consent, roll circle.Roll, now time.Time) Standing {
	s := Standing{Of: []Line{}, Council: []Line{}, Needed: d.Needed, Overdue: a.overdue(now)}
	line := func(o Owed) Line {
		c, ok := latest(ledger, a, o.Member)
		if !ok {
			return Line{o, Pending, ""}
		}
		answer := c.answer(a, d.StepUp, roll, now)
		if o.Why == OfCouncil {
			if m, _ := roll.At(o.Member, c.DecidedAt); !m.Has(circle.Council) && answer == AnswerGranted {
				answer = Pending
			}
		}
		return Line{o, answer, c.ID}
	}
	for _, o := range d.Of {
		s.Of = append(s.Of, line(o))
	}
	for _, m := range d.Council {
		s.Council = append(s.Council, line(Owed{m, OfCouncil}))
	}
	return s
}

func (a *Artifact) overdue(now time.Time) bool {
	return !a.ConsentBy.IsZero() && !now.Before(a.ConsentBy)
}

// Outcome is what a standing comes to.
type Outcome string

// The outcomes.
const (
	AllGranted Outcome = "granted" // also when nobody's consent is owed
	Waiting    Outcome = "waiting"
	SomeoneNo  Outcome = "refused"
	TakenBack  Outcome = "revoked"
	RanOut     Outcome = "expired"
)

// Outcome is what the standing comes to. One refusal of somebody whose consent is
// owed is enough; of the council, as many as leave no quorum. Silence until the
// deadline is no consent.
func (s Standing) Outcome() Outcome {
	count := func(lines []Line, a Answer) (n int) {
		for _, l := range lines {
			if l.Answer == a {
				n++
			}
		}
		return n
	}
	granted := count(s.Council, AnswerGranted)
	if count(s.Of, AnswerGranted) == len(s.Of) && granted >= s.Needed {
		return AllGranted
	}
	for _, no := range []struct {
		answer Answer
		comes  Outcome
	}{{AnswerRefused, SomeoneNo}, {AnswerRevoked, TakenBack}, {AnswerExpired, RanOut}} {
		if count(s.Of, no.answer) > 0 {
			return no.comes
		}
	}
	if lost := count(s.Council, AnswerRefused) + count(s.Council, AnswerRevoked); s.Needed > 0 && len(s.Council) > 0 && len(s.Council)-lost < s.Needed {
		return SomeoneNo
	}
	if s.Overdue {
		return RanOut
	}
	return Waiting
}

// Settle is what an artifact becomes when consents move it; false when they do
// not. It never becomes confirmed.
func (a Artifact) Settle(s Standing, now time.Time) (Artifact, bool) {
	if a.Status != WaitingForConsent {
		return a, false
	}
	var e Event
	switch s.Outcome() {
	case AllGranted:
		e = ConsentsGiven
	case SomeoneNo:
		e = ConsentRefused
	case TakenBack:
		e = ConsentRevoked
	case RanOut:
		e = ConsentExpired
	case Waiting:
		return a, false
	}
	after, err := a.moved(e, now)
	if err != nil {
		return a, false
	}
	if e == ConsentsGiven {
		after.Blocks = slices.DeleteFunc(slices.Clone(a.Blocks), func(c envelope.Condition) bool { return c == envelope.ConsentOwed })
	}
	return after, true
}
