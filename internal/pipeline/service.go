package pipeline

import (
	"context"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/pipeline/state"
)

// Service is the use cases. Each operation of docs/spec/contracts.md §20.2 is
// one method, named after it: contract.freeze is ContractFreeze. Each job is one
// method of jobs.go.
//
// A method that writes is safe to run twice, puts everything it changes into
// one transaction, and leaves one audit record whether it was taken or refused.
type Service struct {
	conf Config
}

// Config is what the use cases need beside the store. New fills in what is zero.
type Config struct {
	Store Store

	// NewID makes an id nobody has: of a run ("exec"), a lock ("lock"), a token
	// ("tok"), a webhook ("wh") or an incident.
	NewID func(prefix string) string
	// Secret is 32 random bytes, for tokens and webhooks.
	Secret func() [32]byte
	// SecretIn says which kind of secret a text holds, "" for none; nil finds none.
	// It is asked about every text that somebody writes.
	SecretIn func(text string) (kind string)

	// Options is four eyes; Solo says that they are off because one person
	// works alone (rulings R9).
	Options approval.Options
	Solo    bool

	Profile        state.Profile
	Deadlines      approval.Deadlines
	MaxReturns     int
	AutomaticTests bool          // no manual check is included in Stabilize (§4.3)
	AuditRetention time.Duration // beyond the calendar year that is the least; 0 is none
	EventRetention time.Duration // how long the stream goes back; 0 is for ever
	// Seal says how far the records, which follow on from, may be given up now,
	// and signs that head; to is from when none may. nil gives no record up.
	Seal func(from event.Head, records []event.Chained, now time.Time) (to event.Head, note []byte, err error)

	// Orchestrator is the name the service itself acts under.
	Orchestrator contract.ActorID
	// Repository is what the chains of this service work on, as executors and
	// pipelines name it.
	Repository string

	Reference Reference // nil: the commits are what executors report
	Planner   Planner   // nil: the plan is the intent
	// Violated is the id of the policy rule a piece of work breaks, "" for none;
	// nil is a policy without rules.
	Violated func(Work) string
	// Address refuses the URL of a webhook that must not be called; nil takes all.
	Address func(url string) error
}

// Reference is the branch the chains work on. It is asked outside of every
// transaction.
type Reference interface {
	// Tip is the commit the branch is at now.
	Tip(ctx context.Context, repository string) (commit string, err error)
	// Fetch brings new copies and answers which commit they are of.
	Fetch(ctx context.Context, repository string) (commit string, err error)
}

// Planner makes steps out of an intent. It is asked outside of every transaction.
type Planner interface {
	Plan(ctx context.Context, intent *contract.Intent) (description string, steps []string, err error)
}

// Work is what a policy rule looks at.
type Work struct {
	Intent  *contract.Intent
	Task    *contract.TaskSeed
	Level   contract.Level
	Signals risk.Signals
}

// New is a service over a store.
func New(c Config) (*Service, error) {
	const op = "pipeline.New"
	switch {
	case c.Store == nil:
		return nil, fault.E(op, fault.Invalid, "no store", nil)
	case c.NewID == nil || c.Secret == nil:
		return nil, fault.E(op, fault.Invalid, "no source of ids and secrets", nil)
	case c.MaxReturns < 0:
		return nil, fault.E(op, fault.Invalid, "maxReturns is negative", nil)
	case c.Solo && c.Options != (approval.Options{}):
		return nil, fault.E(op, fault.Invalid, "solo turns four eyes off, and an option of it is on", nil)
	}
	if c.Profile == "" {
		c.Profile = state.Default
	}
	if c.Deadlines == (approval.Deadlines{}) {
		c.Deadlines = approval.DefaultDeadlines()
	}
	if c.Orchestrator == "" {
		c.Orchestrator = "orchestrator"
	}
	return &Service{conf: c}, nil
}

// DefaultConfig is the configuration of the product, without what only a
// process has: the store, ids and secrets.
func DefaultConfig() Config {
	return Config{
		Options: approval.FourEyes(), Deadlines: approval.DefaultDeadlines(), MaxReturns: phase.DefaultMaxReturns, AutomaticTests: true,
	}
}

// Caller is who asks for an operation, under which role, and what the request
// carried besides its arguments.
type Caller struct {
	Actor contract.ActorID
	Role  contract.Role // "" where the operation asks for none
	// Scopes is what the token in use allows; nil is a caller inside the process.
	Scopes []string

	Once      Once   // the Idempotency-Key, when the operation has one
	Match     string // the entity tag the caller saw; "" is not said
	LockToken int64  // the fencing token of a run or lock; 0 is none
}

// Once is an Idempotency-Key and the request it came with (§20.1). The zero
// Once is none. Render turns what the use case answers into the answer that is
// kept; it runs inside the transaction and calls nothing that waits.
type Once struct {
	Key        string
	Method     string
	Path       string
	BodyDigest string
	Render     func(result any) (Answer, error)
}

// Answer is an answer as it is kept under an Idempotency-Key.
type Answer struct {
	Status    int
	MediaType string
	Headers   []byte // canonical JSON
	Body      []byte
}

// Replayed is not a failure: the request was answered before, and this is the
// answer (§20.1).
type Replayed struct{ Request Request }

func (r *Replayed) Error() string { return "the request " + r.Request.Key + " was answered before" }
