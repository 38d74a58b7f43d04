package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// session is one use case in one transaction: who acts, and what the audit log
// will say of it.
type session struct {
	Tx
	s     *Service
	by    pipeline.Caller
	actor *pipeline.Actor // as the registry has them; nil for the service itself

	rec  event.Record // of the action itself; filled in as it goes
	more []event.Record

	// kept is a refusal that belongs to the transaction: what was changed before
	// it stays, for example an attempt that counts.
	kept error
	// quiet says that nothing happened that anybody has to be told of.
	quiet bool
}

// do runs a use case of a caller. The action is audited.
func do[T any](ctx context.Context, s *Service, by pipeline.Caller, action string, fn func(*session) (T, error)) (T, error) {
	var result, none T
	var kept error
	var rec event.Record
	err := s.conf.Store.Update(ctx, func(tx Tx) error {
		result, kept = none, nil
		x := s.begin(tx, by, action)
		defer func() {
			rec = x.rec
			pipeline.Traced(ctx, rec.CorrelationID)
		}()
		if err := x.once(); err != nil {
			return err
		}
		if err := x.who(); err != nil {
			return err
		}
		made, err := fn(x)
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
	if _, replayed := errors.AsType[*pipeline.Replayed](err); replayed || code(err) == "" {
		return none, err
	}
	if fresh := s.refused(ctx, rec, err); fresh != nil {
		return none, fresh
	}
	return none, err
}

// view runs a reading use case of a caller.
func view[T any](ctx context.Context, s *Service, by pipeline.Caller, fn func(Reader, *pipeline.Actor) (T, error)) (T, error) {
	var result, none T
	err := s.conf.Store.View(ctx, func(r Reader) error {
		a, err := active(r.Contracts(), by.Actor)
		if err != nil {
			return err
		}
		result, err = fn(r, a)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

func (s *Service) begin(tx Tx, by pipeline.Caller, action string) *session {
	return &session{
		Tx: tx, s: s, by: by,
		rec: event.Record{
			Timestamp: contract.At(tx.Now()).String(), ActorID: string(by.Actor), Role: string(by.Role), Action: action,
			IdempotencyKey: by.Once.Key,
		},
	}
}

// own runs a use case of the service itself: a job's.
func (s *Service) own(ctx context.Context, action string, fn func(*session) error) error {
	return s.conf.Store.Update(ctx, func(tx Tx) error {
		x := s.begin(tx, pipeline.Caller{Actor: s.conf.Orchestrator, Role: contract.Orchestrator}, action)
		x.quiet = true
		if err := fn(x); err != nil {
			return err
		}
		return x.close(nil)
	})
}

// active is the actor as the registry has them now: what a token said an hour ago
// does not count.
func active(r interface {
	Actor(id contract.ActorID) (*pipeline.Actor, error)
}, id contract.ActorID,
) (*pipeline.Actor, error) {
	a, err := r.Actor(id)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return nil, refusal.New(refusal.RoleNotPermitted, "%s is not registered", id)
	case err != nil:
		return nil, err
	case !a.Active:
		return nil, refusal.New(refusal.RoleNotPermitted, "%s is inactive", id)
	}
	return a, nil
}

func (x *session) who() (err error) {
	x.actor, err = active(x.Contracts(), x.by.Actor)
	return err
}

// person is the caller as the circle knows people.
func (x *session) person() circle.Person { return person(x.actor) }

func person(a *pipeline.Actor) circle.Person {
	return circle.Person{ID: string(a.ID), Human: a.Type == contract.Human, Active: a.Active}
}

// once answers a request that was answered before with the first answer.
func (x *session) once() error {
	o := x.by.Once
	if o.Key == "" {
		return nil
	}
	known, ok, err := x.Contracts().Request(x.by.Actor, o.Key)
	switch {
	case err != nil && fault.KindOf(err) == fault.Conflict:
		return refusal.New(refusal.RequestInProgress, "the first request under %s is under way", o.Key)
	case err != nil || !ok:
		return err
	case known.Method != o.Method || known.Path != o.Path || known.Role != x.by.Role || known.BodyDigest != o.BodyDigest:
		return refusal.New(refusal.RequestIDConflict, "the key %s belongs to another request", o.Key)
	}
	return &pipeline.Replayed{Request: known}
}

// remember keeps the answer in the transaction of the effect.
func (x *session) remember(result any) error {
	o := x.by.Once
	if o.Key == "" {
		return nil
	}
	answer := pipeline.Answer{}
	if o.Render != nil {
		var err error
		if answer, err = o.Render(result); err != nil {
			return fmt.Errorf("render the answer: %w", err)
		}
	}
	return x.Contracts().AddRequest(pipeline.Request{
		Actor: x.by.Actor, Key: o.Key, Method: o.Method, Path: o.Path, Role: x.by.Role, BodyDigest: o.BodyDigest,
		Status: answer.Status, MediaType: answer.MediaType, Headers: answer.Headers, Answer: answer.Body, At: x.Now(),
	})
}

// close writes the records: of the action first, then of what followed from it.
func (x *session) close(refused error) error {
	if !x.quiet || refused != nil {
		x.rec.Success = refused == nil
		if refused != nil {
			x.rec.ErrorCode, x.rec.ErrorMessage = code(refused), refused.Error()
		}
		if err := x.Record(x.rec); err != nil {
			return err
		}
	}
	for _, r := range x.more {
		if err := x.Record(r); err != nil {
			return err
		}
	}
	return nil
}

// refused records a refusal in a transaction of its own: the one it was made in
// is gone.
func (s *Service) refused(ctx context.Context, r event.Record, refused error) error {
	return s.conf.Store.Update(ctx, func(tx Tx) error {
		r.Timestamp = contract.At(tx.Now()).String()
		r.Success, r.ErrorCode, r.ErrorMessage = false, code(refused), refused.Error()
		return tx.Record(r)
	})
}

// code is what a refusal is audited under, "" for a fault of the service.
func code(err error) string {
	if c := problem.CodeOf(err); c != "" {
		return string(c)
	}
	return string(refusal.CodeOf(err))
}

// The kinds of subject the audit log knows besides contracts.
const (
	ofRequest   = "request"
	ofRun       = "run"
	ofArtifact  = "artifact"
	ofConsent   = "consent"
	ofCircle    = "circle"
	ofChannel   = "channel"
	ofConfig    = "config"
	ofChallenge = "challenge"
	ofFactor    = "factor"
)

// about says what the action concerns.
func (x *session) about(kind, id, correlation string) {
	x.rec.Kind, x.rec.ID, x.rec.CorrelationID = kind, id, correlation
}

// note adds a record of what the service did by itself in the course of the
// action.
func (x *session) note(action string, r event.Record) {
	r.Timestamp, r.ActorID, r.Role = x.rec.Timestamp, string(x.s.conf.Orchestrator), string(contract.Orchestrator)
	r.Action, r.Success = action, r.ErrorCode == ""
	if r.CorrelationID == "" {
		r.CorrelationID = x.rec.CorrelationID
	}
	x.more = append(x.more, r)
}

// provenance is how the audit log shows where something came from
// (docs/spec/circle.md §5).
func provenance(o envelope.Origin) string { return "provenance=" + string(o) }

// The jobs of the circle.
const (
	JobStep   pipeline.JobKind = "circle_step"   // a worker's turn
	JobSettle pipeline.JobKind = "circle_settle" // of an artifact, when a consent or the time for one runs out
	JobSend   pipeline.JobKind = "circle_send"   // of a confirmed draft; for the adapter that delivers
)

// JobKinds is the kinds that have a use case here.
func JobKinds() []pipeline.JobKind {
	return []pipeline.JobKind{JobStep, JobSettle, pipeline.JobResult}
}

// Work runs the use case of a job, whichever kind it is.
func (s *Service) Work(ctx context.Context, a pipeline.Attempt) error {
	if a.Kind == pipeline.JobResult {
		return s.runResult(ctx, a)
	}
	pipeline.Traced(ctx, string(a.Chain)) // of a job of the circle's own, the request
	if a.Kind == JobStep {
		return s.runStep(ctx, a)
	}
	if a.Kind == JobSettle {
		return s.runSettle(ctx, a)
	}
	return fault.E("request.Work", fault.Internal, "the job "+string(a.Kind)+" has no use case", nil)
}

func (x *session) enqueue(k pipeline.JobKind, key, about string, args any, at time.Time) error {
	text, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("marshal the arguments of %s: %w", k, err)
	}
	return x.Enqueue(pipeline.Job{Kind: k, Key: key, Chain: contract.ID(about), Args: text, At: at})
}

func arguments[T any](a pipeline.Attempt) (T, error) {
	var args T
	if err := json.Unmarshal(a.Args, &args); err != nil {
		return args, fault.E("request.Work", fault.Invalid, "the arguments of "+string(a.Kind)+" do not read", err)
	}
	return args, nil
}

func tag(id string, revision int64) string { return fmt.Sprintf("%s.%d", id, revision) }

// matches holds the entity tag the caller saw against the current one.
func (x *session) matches(tag string) error {
	if x.by.Match != "" && x.by.Match != tag {
		return refusal.New(refusal.RequestPreconditionFailed, "the current entity tag is %q", tag)
	}
	return nil
}
