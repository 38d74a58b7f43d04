package pipeline

import (
	"context"
	"fmt"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// This file is where the rules of a request meet the use cases: its key, its
// precondition, and what it names (docs/spec/contracts.md §20.1).

// Known is the answer that is kept under the caller's Idempotency-Key, nil when
// there is none; another request under the same key is refused. A surface asks
// before it reads the body; the use case asks again.
func (s *Service) Known(ctx context.Context, by Caller) (*Request, error) {
	return view(ctx, s, func(r Reader) (*Request, error) {
		known, ok, err := r.Request(by.Actor, by.Once.Key)
		if err != nil || !ok {
			return nil, err
		}
		if err := same(known, by); err != nil {
			return nil, err
		}
		return &known, nil
	})
}

// once answers a request that was answered before with the first answer.
func (x *session) once() error {
	if x.by.Once.Key == "" {
		return nil
	}
	known, ok, err := x.Request(x.by.Actor, x.by.Once.Key)
	switch {
	case err != nil && fault.KindOf(err) == fault.Conflict:
		return refusal.New(refusal.RequestInProgress, "the first request under %s is under way", x.by.Once.Key)
	case err != nil:
		return err
	case !ok:
		return nil
	}
	if err := same(known, x.by); err != nil {
		return err
	}
	return &Replayed{Request: known}
}

func same(known Request, by Caller) error {
	if known.Method != by.Once.Method || known.Path != by.Once.Path || known.Role != by.Role || known.BodyDigest != by.Once.BodyDigest {
		return refusal.New(refusal.RequestIDConflict, "the key %s belongs to another request", known.Key)
	}
	return nil
}

// remember keeps the answer in the transaction of the effect.
func (x *session) remember(result any) error {
	o := x.by.Once
	if o.Key == "" {
		return nil
	}
	answer := Answer{}
	if o.Render != nil {
		var err error
		if answer, err = o.Render(result); err != nil {
			return fmt.Errorf("render the answer: %w", err)
		}
	}
	return x.AddRequest(Request{
		Actor: x.by.Actor, Key: o.Key, Method: o.Method, Path: o.Path, Role: x.by.Role, BodyDigest: o.BodyDigest,
		Status: answer.Status, MediaType: answer.MediaType, Headers: answer.Headers, Answer: answer.Body, At: x.Now(),
	})
}

// malformed refuses an argument that its type admits and the operation does not.
func malformed(path, format string, args ...any) error {
	return refusal.At(refusal.RequestMalformed, path, format, args...)
}

// Tag is the entity tag of a contract.
func (c *Contract) Tag() string {
	r := c.Ref()
	return fmt.Sprintf("%s.%d.%d", r.ID, r.Version, c.Revision)
}

// Tag is the entity tag of an actor.
func (a *Actor) Tag() string { return fmt.Sprintf("%s.%d", a.ID, a.Revision) }

// Tag is the entity tag of a webhook.
func (w *Webhook) Tag() string { return fmt.Sprintf("%s.%d", w.ID, w.Revision) }

// matches holds the entity tag the caller saw against the current one.
func (x *session) matches(tag string) error {
	if x.by.Match != "" && x.by.Match != tag {
		return refusal.New(refusal.RequestPreconditionFailed, "the current entity tag is %q", tag)
	}
	return nil
}

// found turns the store's "not found" into the refusal of a reference.
func found[T any](v T, err error, what string, args ...any) (T, error) {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		var none T
		return none, missing(what, args...)
	}
	return v, err
}

// exactly is the version of a contract that a command names, and its chain.
func (x *session) exactly(id contract.ID, version int64) (*Contract, error) {
	c, err := x.ContractAt(Ref{ID: id, Version: version})
	if c, err = found(c, err, "%s version %d is unknown", id, version); err != nil {
		x.rec.ID, x.rec.Kind, x.rec.Version = string(id), string(id.Kind()), version
		return nil, err
	}
	return x.addressed(c)
}

// resolved is the version of a contract that its bare id names, and its chain.
func (x *session) resolved(id contract.ID) (*Contract, error) {
	c, err := x.Contract(id)
	if c, err = found(c, err, "%s is unknown", id); err != nil {
		x.rec.ID, x.rec.Kind = string(id), string(id.Kind())
		return nil, err
	}
	return x.addressed(c)
}

func (x *session) addressed(c *Contract) (*Contract, error) {
	x.about(c)
	if err := x.open(c.Chain); err != nil {
		return nil, err
	}
	if err := x.matches(c.Tag()); err != nil {
		return nil, err
	}
	return x.w.row(c.Ref()), nil
}

// service gives a fault of the store the code it is answered with.
func service(err error) error {
	if err == nil || refusal.CodeOf(err) != "" {
		return err
	}
	if fault.KindOf(err) == fault.Unavailable {
		return fmt.Errorf("%w: %w", refusal.New(refusal.StoreUnavailable, "the store does not answer"), err)
	}
	return err
}
