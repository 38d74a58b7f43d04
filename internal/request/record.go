package request

import (
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// Request is a request as it is kept. Its id is the envelope's: the idempotency
// key of everything that is done for it, and the correlation id of every record
// about it.
type Request struct {
	ID       string
	Revision int64
	Circle   string
	Member   string // who asks, as it was authenticated
	Channel  string // circle.ChannelID
	Origin   envelope.Origin
	Target   envelope.Level

	SHA256   string // envelope.SHA256 of what was received: "same id, same bytes"
	Envelope []byte // the envelope; where a secret was found, with the text redacted
	Config   string // config_sha256 of the set it is served under
	Triage   []byte // JSON
	Plan     []byte // JSON

	State     RequestState
	Status    artifact.Status // of the package; "" while it runs
	Stops     []envelope.Condition
	Package   []byte // the answer, JSON; nil while it runs
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // zero while it runs
}

// RequestState says whether a request has its answer.
type RequestState string

// The states of a request.
const (
	Running RequestState = "running"
	Ended   RequestState = "ended"
)

// Run is the runtime record of one worker's turn, built-in engines included
// (docs/spec/circle.md §3).
type Run struct {
	ID       string
	Revision int64
	Request  string
	Step     int64 // of the plan, from 1
	Attempt  int64 // of the step, from 1: a regeneration is the next
	Worker   constitution.AgentID
	Engine   constitution.Engine
	Model    string // "" when no model was asked

	ConstitutionVersion   string
	SubagentPromptVersion string
	PromptSHA256          string // of the assembled bytes
	Origin                envelope.Origin

	State     RunState
	Fault     string   // the code of what went wrong; "" when nothing did
	Artifacts []string // their ids, in the order they were returned
	StartedAt time.Time
	Deadline  time.Time
	EndedAt   time.Time // zero while it runs
}

// RunState says how a run stands.
type RunState string

// The states of a run.
const (
	RunAlive  RunState = "running"
	RunDone   RunState = "done"
	RunFailed RunState = "failed"
)

// Result is the end of a contract that was made for a request, as it was written
// back to it (docs/spec/circle.md §9).
type Result struct {
	Request       string
	Contract      contract.ID
	Version       int64
	State         contract.State // Published, Revoked or Archived
	FinalDecision contract.FinalDecision
	HeadCommit    string
	NoteRun       string // the run whose release note it is; "" for none
	NoteSHA256    string
	At            time.Time
}

// Factor is a second proof of identity that an actor has enrolled.
type Factor struct {
	ID          string
	Revision    int64
	Actor       string
	Kind        FactorKind
	Name        string // what its owner calls it
	Material    []byte // sealed by whoever enrolled it; the store cannot read it
	Counter     int64  // the last time step or signature count that was used: none counts twice
	CreatedAt   time.Time
	ConfirmedAt time.Time // zero until it has answered once
	RevokedAt   time.Time // zero while it counts
}

// FactorKind says how a factor proves identity.
type FactorKind string

// The kinds of factor.
const (
	TOTP     FactorKind = "totp"
	WebAuthn FactorKind = "webauthn"
)

// Challenge asks an actor to prove their identity anew, for one action of one
// request.
type Challenge struct {
	ID         string
	Revision   int64
	Actor      string
	Circle     string
	Request    string // "" when a factor is being enrolled
	Action     envelope.Action
	Kind       FactorKind
	Material   []byte // what the answer is checked against
	Attempts   int64
	CreatedAt  time.Time
	ExpiresAt  time.Time
	AnsweredAt time.Time // zero until it was answered rightly
	Factor     string    // the factor that answered it
}
