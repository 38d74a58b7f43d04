package request

import (
	"context"
	"io/fs"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/request/worker"
)

// Service is the use cases of the circle, one method each (docs/spec/circle.md
// §10). Ask is the only one that leads to a worker.
//
// A method that writes is safe to run twice, puts everything it changes into one
// transaction, and leaves one audit record whether it was taken or refused. Who
// calls is a pipeline.Caller, as for the contracts: Actor is who the credential
// is of, Once the Idempotency-Key. A repeated write under the same key is the
// error *pipeline.Replayed.
//
// Refusals are *problem.Problem or problem.List, and *refusal.Refusal where the
// rules of the contracts speak (an unknown key, an actor who is not registered).
type Service struct {
	conf    Config
	triages triages
}

// Config is what the use cases need.
type Config struct {
	Store     Store
	Contracts Contracts
	Set       *constitution.Holder
	Screen    *screen.Screen
	Contents  artifact.Contents // the artifact schema
	Schema    func(t envelope.ArtifactType) []byte
	Engines   map[constitution.AgentID]worker.Engine

	// NewID makes an id nobody has: of a circle ("circle"), a consent ("consent"),
	// a factor ("factor") or a challenge ("chal").
	NewID func(prefix string) string

	// Files is the configuration to be read on a reload; nil refuses one.
	Files func() (fs.FS, error)

	Model   Model   // nil: the built-in engines do every job
	Prover  Prover  // nil: nobody can prove their identity anew
	Library Library // nil: references to documents find nothing
	Probes  Probes  // nil: nothing is measured
	// Violated is the id of the policy rule a piece of work breaks, "" for none;
	// nil is a policy without rules. It is the one of the contracts.
	Violated func(pipeline.Work) string
	// Repository is what the contracts work on; a confirmed decision about another
	// repository becomes no contract. "" is not said.
	Repository string

	// Orchestrator is the name the service acts under in the audit log.
	Orchestrator contract.ActorID
}

// Contracts is what the circle asks of the contracts (docs/spec/circle.md §9).
// pipeline.Service implements it.
type Contracts interface {
	// IntentCreateWithin is the use case intent.create inside a transaction that
	// is open: a Draft, whose creator is the caller.
	IntentCreateWithin(tx pipeline.Tx, by pipeline.Caller, a pipeline.IntentArgs) (*pipeline.Shown, error)
}

// Library reads the documents and diffs that requests refer to. It is asked
// outside of every transaction.
type Library interface {
	// Read is the document of a reference of kind document or diff. NotFound:
	// there is none. It never fetches a URL.
	Read(ctx context.Context, r envelope.Reference) (Paper, error)
}

// Paper is a document as a Library has it.
type Paper struct {
	Title string
	Text  []byte
	Level envelope.Level // who may see it
}

// Probes measures the service, outside of every transaction.
type Probes interface {
	Probe(ctx context.Context) []worker.Probe
}

// New is a service over a store.
func New(c Config) (*Service, error) {
	const op = "request.New"
	switch {
	case c.Store == nil || c.Contracts == nil:
		return nil, fault.E(op, fault.Invalid, "no store, or no contracts", nil)
	case c.Set == nil || c.Screen == nil || c.Contents == nil:
		return nil, fault.E(op, fault.Invalid, "no configuration, no screen or no schema", nil)
	case c.NewID == nil:
		return nil, fault.E(op, fault.Invalid, "no source of ids", nil)
	case c.Model != nil && c.Schema == nil:
		return nil, fault.E(op, fault.Invalid, "a model needs the schemas of what it drafts", nil)
	}
	for _, id := range constitution.Workers() {
		if c.Engines[id] == nil {
			return nil, fault.E(op, fault.Invalid, "the worker "+string(id)+" has no engine", nil)
		}
	}
	if c.Orchestrator == "" {
		c.Orchestrator = "orchestrator"
	}
	return &Service{conf: c}, nil
}
