package pipeline

import (
	"context"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/pipeline/state"
)

// ContractList is a page of contracts of any kind.
func (s *Service) ContractList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	return view(ctx, s, func(r Reader) ([]*Shown, error) {
		list, err := r.Contracts(f, p)
		if err != nil {
			return nil, err
		}
		return s.show(r, list)
	})
}

// show is contracts with what is kept of their chains, which is asked for once.
func (s *Service) show(r Reader, list []*Contract) ([]*Shown, error) {
	shown := make([]*Shown, len(list))
	if len(list) == 0 {
		return shown, nil
	}
	ids := make([]contract.ID, len(list))
	for i, c := range list {
		ids[i] = c.Chain
	}
	slices.Sort(ids)
	chains, err := r.Chains(ChainFilter{IDs: slices.Compact(ids)}, Page{})
	if err != nil {
		return nil, err
	}
	works := map[contract.ID]*work{}
	for _, chain := range chains {
		if works[chain.ID], err = outline(&s.conf, chain); err != nil {
			return nil, err
		}
	}
	for i, c := range list {
		w := works[c.Chain]
		if w == nil {
			return nil, missing("%s is unknown", c.Chain)
		}
		shown[i] = w.shown(c)
	}
	return shown, nil
}

// ContractGet is a contract: the version of §1.2, or this one when version is
// not 0.
func (s *Service) ContractGet(ctx context.Context, id contract.ID, version int64) (*Shown, error) {
	return view(ctx, s, func(r Reader) (*Shown, error) {
		var c *Contract
		var err error
		if version == 0 {
			c, err = r.Contract(id)
		} else {
			c, err = r.ContractAt(Ref{ID: id, Version: version})
		}
		if c, err = found(c, err, "%s is unknown", id); err != nil {
			return nil, err
		}
		shown, err := s.show(r, []*Contract{c})
		if err != nil {
			return nil, err
		}
		return shown[0], nil
	})
}

// ContractVersions is every version of a contract, and the contents that were
// replaced in place.
func (s *Service) ContractVersions(ctx context.Context, id contract.ID) ([]*Shown, []Replaced, error) {
	var replaced []Replaced
	list, err := view(ctx, s, func(r Reader) ([]*Shown, error) {
		rows, err := r.Versions(id)
		if err == nil && len(rows) == 0 {
			return nil, missing("%s is unknown", id)
		}
		if rows, err = found(rows, err, "%s is unknown", id); err != nil {
			return nil, err
		}
		if replaced, err = r.History(id); err != nil {
			return nil, err
		}
		Traced(ctx, rows[0].Correlation)
		return s.show(r, rows)
	})
	return list, replaced, err
}

// ContractFreeze suspends a contract at a person's request.
func (s *Service) ContractFreeze(ctx context.Context, by Caller, a FreezeArgs) (*Shown, error) {
	return s.change(ctx, by, "contract.freeze", a.ID, a.Version, func(x *session, c *Contract) error {
		if err := x.plain("/reason", a.Reason); err != nil {
			return err
		}
		x.rec.Cause, x.rec.Resolution = string(a.Cause), a.Reason
		return x.move(c, state.Event{To: contract.Frozen, Actor: x.actor, Cause: a.Cause, Reason: a.Reason}, nil)
	})
}

// ContractRevoke invalidates a contract.
func (s *Service) ContractRevoke(ctx context.Context, by Caller, a RevokeArgs) (*Shown, error) {
	return s.change(ctx, by, "contract.revoke", a.ID, a.Version, func(x *session, c *Contract) error {
		if err := x.plain("/reason", a.Reason); err != nil {
			return err
		}
		x.rec.Ground, x.rec.Resolution = string(a.Ground), a.Reason
		return x.move(c, state.Event{To: contract.Revoked, Actor: x.actor, Ground: a.Ground, Reason: a.Reason}, nil)
	})
}

// ContractArchive archives a contract under a recorded operating rule, or
// because its retention is over.
func (s *Service) ContractArchive(ctx context.Context, by Caller, a ArchiveArgs) (*Shown, error) {
	return s.change(ctx, by, "contract.archive", a.ID, a.Version, func(x *session, c *Contract) error {
		if err := x.plain("/rule", a.Rule); err != nil {
			return err
		}
		x.rec.Ground = a.Rule
		return x.move(c, s.archiving(x.actor, c, a.Rule), nil)
	})
}

// archiving is the event that archives a contract.
func (s *Service) archiving(a contract.Actor, c *Contract, rule string) state.Event {
	kept := event.KeepUntil(c.Document.Head().UpdatedAt.Time()).Add(s.conf.AuditRetention)
	return state.Event{To: contract.Archived, Actor: a, KeepUntil: kept, OperatingRule: rule}
}

// change is a change of state at a person's request.
func (s *Service) change(ctx context.Context, by Caller, id string, of contract.ID, version int64, fn func(*session, *Contract) error) (*Shown, error) {
	return do(ctx, s, by, id, func(x *session) (*Shown, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		c, err := x.voted(of, version)
		if err != nil {
			return nil, err
		}
		if err := x.overdue(c); err != nil {
			return nil, x.keep(err)
		}
		x.rec.From = string(stateOf(c))
		// The table of transitions has the service's own changes too. Who asks is not
		// the service, whatever their role is called.
		if op, _ := operation.Find(id); !op.Roles.Has(by.Role) {
			x.actor.Role = ""
		}
		if err := fn(x, c); err != nil {
			if x.actor.Role == "" && refusal.CodeOf(err) == refusal.RoleNotPermitted {
				return nil, role.Refuse(by.Role, "ask for "+id)
			}
			return nil, err
		}
		x.rec.To = string(stateOf(c))
		return x.w.shown(c), nil
	})
}

// ContractResume resumes a Frozen contract, and what its cause had stopped
// (§2.4, R-53).
func (s *Service) ContractResume(ctx context.Context, by Caller, a ResumeArgs) (*Shown, error) {
	l, err := s.lookAgain(ctx, a.ID, a.Version)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, by, "contract.resume", a.ID, a.Version, func(x *session, c *Contract) error {
		if err := x.plain("/resolution", a.Resolution); err != nil {
			return err
		}
		cause := c.FreezeCause
		x.rec.Cause, x.rec.Resolution = string(cause), a.Resolution
		e := x.activation(c)
		e.Actor, e.Resolution = x.actor, a.Resolution
		var err error
		if e.CauseCleared, err = x.cleared(c, l); err != nil {
			return err
		}
		votes, err := x.Votes(a.ID)
		if err != nil {
			return err
		}
		e.Votes = ballots(votes)
		if g, ok := c.Document.(*contract.PublishGate); ok {
			e.Policy = state.Answered(approval.Reopenable(g, x.Now()))
		}
		if err := x.move(c, e, nil); err != nil {
			return err
		}
		return x.restart(c, cause)
	})
}

// lookAgain fetches when a contract is to be resumed that froze for old copies:
// the cause is gone when a refetch succeeds now.
func (s *Service) lookAgain(ctx context.Context, id contract.ID, version int64) (look, error) {
	c, err := view(ctx, s, func(r Reader) (*Contract, error) { return r.ContractAt(Ref{ID: id, Version: version}) })
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return look{}, nil
		}
		return look{}, err
	}
	return s.look(ctx, c.Chain, c.FreezeCause == contract.HardStale)
}

// cleared says whether the cause of a freeze is gone. Most causes are gone when
// the person says so.
func (x *session) cleared(c *Contract, l look) (bool, error) {
	switch c.FreezeCause {
	case contract.LockExhausted:
		_, row, err := x.one(lock.Contract(c.Ref().ID))
		return !row.Held(x.Now()) || lock.Breakable(x.Now().Sub(row.Beat)), err
	case contract.HardStale:
		return x.refetched(l), nil
	case contract.ManualCheck:
		return len(x.w.d.Conflicts[c.Ref().ID]) == 0, nil
	case contract.GenerationFailed, contract.ExternalDependency, contract.PolicyViolation, contract.GateRejected,
		contract.GateExpired, contract.PhaseExhausted, "":
	}
	return true, nil
}

// restart starts again what the cause had stopped, in the transaction of the
// resumption. Everything else is found by looking at the chain anew.
func (x *session) restart(c *Contract, cause contract.Cause) error {
	w := x.w
	w.examine, w.resumed = true, true
	if _, ok := c.Document.(*contract.TaskSeed); !ok || c != w.taskRow() {
		return nil
	}
	switch cause {
	case contract.HardStale:
		w.chain.FailedRuns, w.d.Runs = 0, 0
	case contract.PhaseExhausted:
		w.chain.FailedRuns, w.d.Runs, w.chain.Returns = 0, 0, 0
		return x.unwind(c)
	case contract.GenerationFailed, contract.LockExhausted, contract.ExternalDependency, contract.PolicyViolation,
		contract.ManualCheck, contract.GateRejected, contract.GateExpired:
	}
	return nil
}

// unwind takes the steps that waited for a person: in Build by way of Plan, and
// a return to Build that was held back (§7).
func (x *session) unwind(c *Contract) error {
	w := x.w
	lead := contract.Actor{ID: x.by.Actor, Role: x.by.Role}
	if w.d.Owed {
		w.d.Owed = false
		r := phase.Request{Role: contract.ProjectLead, Proofs: phase.Needed(w.phase()), Acceptance: contract.Failed, DiffChanged: true}
		if w.phase() == phase.Stabilize {
			r.Role = contract.CIAgent
		}
		if err := x.stepTo(c, phase.Build, lead, r); err != nil {
			return err
		}
		// The person has looked: the return does not count.
		w.chain.Returns = 0
		return nil
	}
	if w.phase() != phase.Build {
		return nil
	}
	back := phase.Request{Role: contract.CIAgent, Proofs: phase.Needed(phase.Build), Person: true, FailedRuns: exhausted(phase.Build)}
	if err := x.stepTo(c, phase.Plan, lead, back); err != nil {
		return err
	}
	return x.stepTo(c, phase.Build, x.orchestrator(), phase.Request{
		Role: contract.Orchestrator, Proofs: []phase.Proof{phase.TaskSeedProof}, Intent: contract.Active,
	})
}

// exhausted is the number of failed runs that uses up the retries of a phase.
func exhausted(p phase.Phase) int {
	n := 1
	for {
		if _, err := phase.Retry(p, n); err != nil {
			return n
		}
		n++
	}
}
