package pipeline

import (
	"context"
	"errors"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
)

// session is one use case in one transaction: who acts, what the audit log will
// say of it, and what is still to be done before the commit.
type session struct {
	Tx
	s     *Service
	by    Caller
	actor contract.Actor // as the registry has them, under the role of by
	holds bool           // the actor has that role
	held  contract.RoleSet

	rec  event.Record // of the action itself; filled in as it goes
	more []event.Record
	w    *work  // of the chain concerned, when there is one
	run  string // the executionId whose lock the writes of this session hold

	because string // the event that led to the Acceptance version this session makes

	// kept is a refusal that belongs to the transaction: what was changed before
	// it stays (an overdue gate is expired, and the command that found it so is
	// refused).
	kept error
	// owes says that something was asked for that a refusal must not undo.
	owes bool
	// quiet says that nothing happened that anybody has to be told of.
	quiet bool
}

// do runs a use case of a caller. The action is audited as the operation's.
func do[T any](ctx context.Context, s *Service, by Caller, id string, fn func(*session) (T, error)) (T, error) {
	var result T
	var kept error
	var rec event.Record
	err := s.conf.Store.Update(ctx, func(tx Tx) error {
		result, kept = *new(T), nil
		x := s.begin(tx, by, operation.AuditAction(id))
		// What is known of the action when it is refused.
		defer func() {
			rec = x.filled(x.rec)
			Traced(ctx, rec.CorrelationID)
		}()
		if err := x.once(); err != nil {
			return err
		}
		if err := x.who(); err != nil {
			return err
		}
		made, err := fn(x)
		if err == nil {
			err = x.settle()
		}
		if err != nil {
			return err
		}
		if kept = x.kept; kept != nil {
			return x.close(kept)
		}
		result = made
		if err := x.close(nil); err != nil {
			return err
		}
		return x.remember(made)
	})
	if err == nil {
		return result, kept
	}
	var none T
	if _, replayed := errors.AsType[*Replayed](err); replayed || refusal.CodeOf(err) == "" {
		return none, service(err)
	}
	if fresh := s.refused(ctx, rec, err); fresh != nil {
		return none, fresh
	}
	return none, err
}

// act is do for a use case that answers nothing.
func act(ctx context.Context, s *Service, by Caller, id string, fn func(*session) error) error {
	_, err := do(ctx, s, by, id, func(x *session) (struct{}, error) { return struct{}{}, fn(x) })
	return err
}

// view runs a reading use case.
func view[T any](ctx context.Context, s *Service, fn func(Reader) (T, error)) (T, error) {
	var result T
	err := s.conf.Store.View(ctx, func(r Reader) (err error) {
		result, err = fn(r)
		return err
	})
	if err != nil {
		var none T
		return none, service(err)
	}
	if c, ok := any(result).(correlated); ok {
		Traced(ctx, c.correlation())
	}
	return result, nil
}

// seen is view for what not everybody may see: a role that may not is audited.
func seen[T any](ctx context.Context, s *Service, by Caller, id string, fn func(Reader) (T, error)) (T, error) {
	result, err := view(ctx, s, fn)
	if refusal.CodeOf(err) == refusal.RoleNotPermitted {
		err = s.Refuse(ctx, by, id, err)
	}
	return result, err
}

func (s *Service) begin(tx Tx, by Caller, action string) *session {
	return &session{
		Tx: tx, s: s, by: by, actor: contract.Actor{ID: by.Actor, Role: by.Role},
		rec: event.Record{
			Timestamp: contract.At(tx.Now()).String(), ActorID: string(by.Actor), Role: string(by.Role), Action: action,
			IdempotencyKey: by.Once.Key,
		},
	}
}

// who reads the actor from the registry: what a token said an hour ago does not
// count. A role they do not hold is refused here, except where the use case has
// its own code and place for that (§20.1).
func (x *session) who() error {
	a, err := x.Actor(x.by.Actor)
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return role.Refuse(x.by.Role, "act: "+string(x.by.Actor)+" is not registered")
	case err != nil:
		return err
	case !a.Active:
		return role.Refuse(x.by.Role, "act: "+string(x.by.Actor)+" is inactive")
	}
	x.actor.Type, x.held = a.Type, a.Roles
	x.holds = x.by.Role == "" || a.Roles.Has(x.by.Role)
	return nil
}

// holding refuses an actor that names a role they do not hold.
func (x *session) holding() error {
	if !x.holds {
		return role.Refuse(x.by.Role, "be taken by "+string(x.by.Actor))
	}
	return nil
}

// voter is the actor as one who decides.
func (x *session) voter() approval.Voter { return approval.Voter{Actor: x.actor, HoldsRole: x.holds} }

// orchestrator is the actor for what follows from an action by itself.
func (x *session) orchestrator() contract.Actor { return x.s.orchestrator() }

func (s *Service) orchestrator() contract.Actor {
	return contract.Actor{ID: s.conf.Orchestrator, Role: contract.Orchestrator, Type: contract.System}
}

func policyEngine() contract.Actor {
	return contract.Actor{ID: contract.PolicyEngineActor, Role: contract.PolicyEngine, Type: contract.System}
}

// about names the contract the action concerns.
func (x *session) about(c *Contract) {
	h := c.Document.Head()
	x.rec.Kind, x.rec.ID, x.rec.Version = string(h.Kind), string(h.ID), h.Version
	x.rec.CorrelationID, x.rec.IntentID = path(c.Correlation, c.Chain)
}

// path is how a record names what it belongs to: the correlation id and, where
// that is not the intent's own, the intent. What is not stored yet has none; the
// chain of the session says it.
func path(correlation string, chain contract.ID) (id, intent string) {
	if correlation == "" || correlation == string(chain) {
		return correlation, ""
	}
	return correlation, string(chain)
}

// note adds a record of what the service did by itself in the course of the
// action.
func (x *session) note(a contract.Actor, action string, c *Contract, r event.Record) {
	r.Timestamp, r.ActorID, r.Role, r.Action, r.Success = x.rec.Timestamp, string(a.ID), string(a.Role), action, r.ErrorCode == ""
	if c != nil {
		h := c.Document.Head()
		r.Kind, r.ID, r.Version = string(h.Kind), string(h.ID), h.Version
		r.CorrelationID, r.IntentID = path(c.Correlation, c.Chain)
	}
	x.more = append(x.more, r)
}

// filled is r with what the log is searched by, from the chain where the
// contract itself has none (§14).
func (x *session) filled(r event.Record) event.Record {
	if x.w == nil {
		return r
	}
	if r.CorrelationID == "" {
		r.CorrelationID, r.IntentID = path(x.w.chain.Correlation, x.w.chain.ID)
	}
	if t := x.w.task(); t != nil && r.TaskSeedID == "" {
		r.TaskSeedID = string(t.ID)
	}
	if g := x.w.gate(); g != nil && r.RiskLevel == "" {
		r.RiskLevel, r.FinalDecision = string(g.RiskLevel), string(g.FinalDecision)
	} else if r.RiskLevel == "" && x.w.intent() != nil {
		r.RiskLevel = string(x.w.level(nil).Level)
	}
	return r
}

// close writes the records: of the action first, then of what followed from it.
func (x *session) close(refused error) error {
	if x.quiet && refused == nil && len(x.more) == 0 {
		return nil
	}
	if !x.quiet || refused != nil {
		r := x.filled(x.rec)
		r.Success = refused == nil
		if refused != nil {
			r.ErrorCode, r.ErrorMessage = string(refusal.CodeOf(refused)), refused.Error()
		}
		if err := x.Record(r); err != nil {
			return err
		}
	}
	for _, r := range x.more {
		if err := x.Record(x.filled(r)); err != nil {
			return err
		}
	}
	return nil
}

// refused records a refusal in a transaction of its own: the one it was made in
// is gone.
func (s *Service) refused(ctx context.Context, r event.Record, refused error) error {
	err := s.conf.Store.Update(ctx, func(tx Tx) error {
		r.Timestamp = contract.At(tx.Now()).String()
		r.Success, r.ErrorCode, r.ErrorMessage = false, string(refusal.CodeOf(refused)), refused.Error()
		return tx.Record(r)
	})
	return service(err)
}

// Refuse audits a refusal that was made before the use case, for example of a
// scope, and gives it back (§20.1).
func (s *Service) Refuse(ctx context.Context, by Caller, id string, refused error) error {
	r := event.Record{ActorID: string(by.Actor), Role: string(by.Role), Action: operation.AuditAction(id), IdempotencyKey: by.Once.Key}
	if err := s.refused(ctx, r, refused); err != nil {
		return err
	}
	return refused
}

// settle does what the use case left to be done when everything else is known.
func (x *session) settle() error {
	if x.w == nil {
		return nil
	}
	if x.w.examine {
		if err := x.examine(); err != nil {
			return err
		}
	}
	return x.save()
}

// at is the instant of the transaction as documents have it.
func (x *session) at() contract.Timestamp { return contract.At(x.Now()) }

// later is an instant as a job's key has it.
func later(t time.Time) string { return t.UTC().Format("20060102T150405.000") }
