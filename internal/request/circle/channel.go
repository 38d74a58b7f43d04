package circle

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Channel is a way that requests to one circle come in over. It exists from its
// first request on.
type Channel struct {
	ID       string // see ChannelID
	Circle   string
	Revision int64
	Kind     envelope.Origin
	Name     string // the channel's id in the envelope
	Member   string // whose way in it is; "" for an external channel
	Adapter  string // the actor that brings its requests; "" for an internal channel

	Suspended time.Time // zero while it is open
	Lifted    time.Time // when it was last lifted: breaches of before no longer count
	LiftedBy  string
	Created   time.Time
	Updated   time.Time
}

// ChannelID is the id of a channel, made of what tells channels apart. An
// internal channel is one member's own way in, so that nobody can shut out the
// others by misbehaving on a console they share; an external channel is the same
// for all who write over it, because behind it nobody is known.
func ChannelID(circle string, c envelope.Channel, member string) string {
	if c.Kind != envelope.Internal {
		member = ""
	}
	h := sha256.New()
	for _, part := range []string{circle, string(c.Kind), c.ID, member} {
		sum := sha256.Sum256([]byte(part)) // of fixed length, so that no two lists of parts are one text
		h.Write(sum[:])
	}
	return "ch-" + hex.EncodeToString(h.Sum(nil)[:12])
}

// OpenChannel is a channel nobody has used before. The adapter is the actor that
// brought the first request, "" where the member came in person.
func OpenChannel(circle string, c envelope.Channel, member, adapter string, now time.Time) Channel {
	ch := Channel{
		ID: ChannelID(circle, c, member), Circle: circle, Kind: c.Kind, Name: c.ID, Adapter: adapter, Created: now, Updated: now,
	}
	if c.Kind == envelope.Internal {
		ch.Member, ch.Adapter = member, ""
	}
	return ch
}

// Breach is one attempt that was refused (docs/spec/circle.md §8).
type Breach struct {
	Channel string
	Request string
	Member  string // who the request said it was of
	At      time.Time
}

// Open refuses a channel that is suspended.
func (c Channel) Open() error {
	if !c.Suspended.IsZero() {
		return problem.New(problem.ChannelSuspended, "the channel was suspended after breaches; a steward of the circle can lift it")
	}
	return nil
}

// Counts is the instant behind which a breach still counts at now.
func (c Channel) Counts(l constitution.Limits, now time.Time) time.Time {
	since := now.Add(-l.BreachWindow)
	if c.Lifted.After(since) {
		return c.Lifted
	}
	return since
}

// Breached is c after a breach at now. The breaches are those of the channel, the
// new one among them; so many within the window suspend it.
func (c Channel) Breached(breaches []Breach, l constitution.Limits, now time.Time) Channel {
	counted := 0
	since := c.Counts(l, now)
	for _, b := range breaches {
		if b.Channel == c.ID && b.At.After(since) && !b.At.After(now) {
			counted++
		}
	}
	c.Updated = now
	if c.Suspended.IsZero() && counted >= l.Breaches {
		c.Suspended = now
	}
	return c
}

// Lift opens a suspended channel again. A steward does, and not for themselves
// when another steward is there: whoever is shut out should not be who lets in.
func (c Channel) Lift(roll Roll, by Person, now time.Time) (Channel, error) {
	if err := roll.steward(by, "lift a channel", now); err != nil {
		return c, err
	}
	if c.Suspended.IsZero() {
		return c, problem.New(problem.ChannelActive, "the channel is not suspended")
	}
	if c.Member == by.ID && len(roll.With(Steward, now)) > 1 {
		return c, problem.New(problem.RoleRequired, "another steward of the circle has to lift your own channel")
	}
	c.Suspended, c.Lifted, c.LiftedBy, c.Updated = time.Time{}, now, by.ID, now
	return c, nil
}
