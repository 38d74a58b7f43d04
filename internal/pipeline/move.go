package pipeline

import (
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/state"
)

// This file carries changes of state out: package state says what may become
// what, and here it is written, announced and audited.

// snapshot is a contract as the table of states sees it.
func snapshot(c *Contract) state.Snapshot {
	h := c.Document.Head()
	s := state.Snapshot{
		Kind: h.Kind, State: h.State, Version: h.Version, UpdatedAt: h.UpdatedAt, FrozenFrom: c.FrozenFrom, Cause: c.FreezeCause,
	}
	switch d := c.Document.(type) {
	case *contract.Intent:
		s.Creator = d.Creator
	case *contract.TaskSeed:
		s.GenerationPolicy = d.GenerationPolicy
	case *contract.Acceptance:
		s.GenerationPolicy = d.GenerationPolicy
	case *contract.PublishGate:
		s.Level, s.FinalDecision = d.RiskLevel, d.FinalDecision
	}
	return s
}

// move changes the state of c as the table allows, in the name of e.Actor. The
// caller audits it: as its own action, or with moved.
func (x *session) move(c *Contract, e state.Event, verdict *event.Verdict) error {
	e.Profile = x.s.conf.Profile
	next, effects, err := state.Next(snapshot(c), e, x.Now())
	if err != nil {
		return err
	}
	return x.carry(c, next, effects, verdict)
}

// carry writes what a change of state came to, with all that belongs to it.
func (x *session) carry(c *Contract, next state.Snapshot, effects []state.Effect, verdict *event.Verdict) error {
	preempts := false
	for _, e := range effects {
		preempts = preempts || e.Do == state.Preempt
	}
	if preempts {
		if err := x.preempt(lock.Contract(c.Ref().ID)); err != nil {
			return err
		}
	} else if err := x.free(c.Ref().ID); err != nil {
		return err
	}
	b := c.Document.Head()
	b.State, b.UpdatedAt = next.State, next.UpdatedAt
	c.Document = c.Document.With(b)
	c.FrozenFrom, c.FreezeCause = next.FrozenFrom, next.Cause
	if err := x.write(c); err != nil {
		return err
	}
	if err := x.tell(c); err != nil {
		return err
	}
	for _, e := range effects {
		switch e.Do {
		case state.Announce:
			if err := x.announce(c, e.Event, verdict); err != nil {
				return err
			}
		case state.Supersede:
			if err := x.supersede(c); err != nil {
				return err
			}
		case state.Examine:
			x.w.examine = true
		case state.Preempt: // done before the write
		}
	}
	return nil
}

// moved is move for what follows from an action by itself, with its record.
func (x *session) moved(c *Contract, e state.Event) error {
	from := stateOf(c)
	if err := x.move(c, e, nil); err != nil {
		return err
	}
	x.note(e.Actor, "contract.transition", c, event.Record{
		From: string(from), To: string(e.To), Cause: string(e.Cause), Ground: string(e.Ground), Resolution: e.Resolution,
	})
	return nil
}

// write stores a document that was changed and keeps its version.
func (x *session) write(c *Contract) error {
	c.Text = contract.Encode(c.Document)
	return x.UpdateContract(c)
}

// supersede ends the Published predecessors of a contract that was published
// (§1.8, §6.7).
func (x *session) supersede(c *Contract) error {
	for _, old := range x.w.versions(c.Ref().ID) {
		if old.Ref().Version >= c.Ref().Version || stateOf(old) != contract.Published {
			continue
		}
		err := x.moved(old, state.Event{
			To: contract.Superseded, Actor: x.orchestrator(),
			Successor: &state.Version{Number: c.Ref().Version, State: stateOf(c)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// create stores a contract that is new and announces it, in the name of a.
func (x *session) create(a contract.Actor, c *Contract, e state.Event, snap state.Snapshot, verdict *event.Verdict) error {
	h := c.Document.Head()
	snap.Kind, snap.Version = h.Kind, h.Version
	e.To, e.Actor, e.Profile = h.State, a, x.s.conf.Profile
	_, effects, err := state.Next(snap, e, x.Now())
	if err != nil {
		return err
	}
	if c.Text == nil {
		c.Text = contract.Encode(c.Document)
	}
	if _, err := contract.Decode(c.Text); err != nil {
		return err
	}
	if err := x.CreateContract(c); err != nil {
		return err
	}
	x.w.add(c)
	for _, eff := range effects {
		switch eff.Do {
		case state.Announce:
			if err := x.announce(c, eff.Event, verdict); err != nil {
				return err
			}
		case state.Supersede:
			if err := x.supersede(c); err != nil {
				return err
			}
		case state.Examine:
			x.w.examine = true
		case state.Preempt: // nobody holds what is new
		}
	}
	return nil
}

// announce puts an event about c on the bus.
func (x *session) announce(c *Contract, t event.Type, verdict *event.Verdict) error {
	h := c.Document.Head()
	subject := event.Subject{Kind: string(h.Kind), ID: string(h.ID), Version: h.Version}
	at := h.UpdatedAt
	if t == event.EvidenceCreated {
		at = h.CreatedAt
	}
	origin := event.Origin{Chain: string(c.Chain), Correlation: c.Correlation, Cause: x.cause(c, t), At: at.String()}
	if t != event.GateDecided {
		return x.Emit(event.Created(subject, origin, c.Text))
	}
	if verdict == nil {
		// A person froze the gate under the cause of an expiry: nothing was decided.
		return nil
	}
	g := c.Document.(*contract.PublishGate)
	v := *verdict
	v.EntityID, v.FinalDecision, v.State = string(g.EntityID), string(g.FinalDecision), string(g.State)
	for _, r := range outstanding(g) {
		v.Outstanding = append(v.Outstanding, string(r))
	}
	return x.Emit(event.Decided(subject, origin, v))
}

// cause is the event that led to one about c (§3.2).
func (x *session) cause(c *Contract, t event.Type) string {
	created := func(kind contract.Kind, ref Ref) string {
		return event.Created(event.Subject{Kind: string(kind), ID: string(ref.ID), Version: ref.Version}, event.Origin{}, nil).ID
	}
	switch t {
	case event.TaskSeedCreated:
		return created(contract.KindIntent, c.Source)
	case event.EvidenceCreated:
		return created(contract.KindTaskSeed, c.Source)
	case event.GateCreated:
		return created(contract.KindAcceptance, c.Source)
	case event.GateDecided:
		return created(contract.KindPublishGate, c.Ref())
	case event.AcceptanceCreated:
		return x.because
	case event.IntentCreated, event.ExecutionCompleted:
	}
	return ""
}

// outstanding is the required roles without an approval entry.
func outstanding(g *contract.PublishGate) []contract.Role { return approval.Outstanding(g).List() }

// freezeChain freezes what of the chain under way is Active: an end of the gate
// that people have to look at (§6.7, R-36).
func (x *session) freezeChain(cause contract.Cause) error {
	for _, c := range []*Contract{x.w.acceptanceRow(), x.w.taskRow(), x.w.intentRow()} {
		if err := x.freeze(c, cause); err != nil {
			return err
		}
	}
	return nil
}

// freeze suspends an Active contract for a cause the service found.
func (x *session) freeze(c *Contract, cause contract.Cause) error {
	if stateOf(c) != contract.Active {
		return nil
	}
	return x.moved(c, state.Event{To: contract.Frozen, Actor: x.orchestrator(), Cause: cause})
}
