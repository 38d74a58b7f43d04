package execution

import (
	"context"
	"time"

	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/risk"
)

// Server is the executor protocol of docs/spec/contracts.md §20.3, as the
// service speaks it.
//
// What the service refuses comes back as a *refusal.Refusal (or wrapped around
// one), so that refusal.CodeOf finds the code. Any other error means that
// nobody knows whether the call arrived: it is made again, under the same key.
type Server interface {
	// Claim is task.claim under an Idempotency-Key: the same key gives the same run.
	Claim(ctx context.Context, key string, c ClaimRequest) (*Claim, error)
	// Heartbeat is run.heartbeat.
	Heartbeat(ctx context.Context, run Ticket) (Beat, error)
	// Put is artifact.put.
	Put(ctx context.Context, run Ticket, key string, kind phase.Proof, b []byte) error
	// End is run.complete when Outcome is succeeded or blocked, run.fail when it
	// is failed. Beside lock.lost and phase.timeout Ended.Evidence is set when
	// the service has kept the Evidence.
	End(ctx context.Context, run Ticket, key string, e End) (Ended, error)
	// Verify is verify.record under an Idempotency-Key, once the run has ended.
	Verify(ctx context.Context, key string, v VerifyRequest) error
	// Note is note.get as Markdown.
	Note(ctx context.Context, task contract.ID) ([]byte, error)
}

// ClaimRequest asks for a run.
type ClaimRequest struct {
	Task       contract.ID
	Phase      phase.Phase
	BaseCommit string // "" is left out
}

// Claim is a run that has begun.
type Claim struct {
	ExecutionID string
	LockToken   int64
	LockedUntil time.Time     // by the clock of the service
	Heartbeat   time.Duration // 0 is that of §20.3
	Deadline    time.Time     // runDeadline, by the clock of the service; zero in Publish
	Phase       phase.Phase
	Role        contract.Role
	BaseCommit  string
	HeadCommit  string // of the chain; "" before its first run
	Stale       contract.Classification
	Task        *contract.TaskSeed
}

// Ticket is what every later call of a run carries.
type Ticket struct {
	ExecutionID string `json:"executionId"`
	LockToken   int64  `json:"lockToken"`
}

// Beat is the answer to a heartbeat. Stop says that the run may only end.
type Beat struct {
	LockedUntil time.Time
	Stop        bool
}

// End is the end of a run. Evidence is a JSON object with the members of §1.7
// that the executor knows; Checks, Signals, Facts and Files go with complete only.
type End struct {
	Outcome    phase.Outcome   `json:"outcome"`
	Reason     string          `json:"reason,omitempty"`
	HeadCommit string          `json:"headCommit"`
	Evidence   []byte          `json:"evidence"`
	Checks     []Check         `json:"checks,omitempty"`
	Signals    map[string]bool `json:"riskSignals,omitempty"`
	Facts      []risk.Fact     `json:"facts,omitempty"`
	// Files is what was not merely modified between the base and the head.
	Files []artifact.File `json:"files,omitempty"`
}

// Check is how one criterion fared.
type Check struct {
	Criterion string `json:"criterion"`
	Passed    bool   `json:"passed"`
	Detail    string `json:"detail"`
}

// Ended is a run that has ended. Completed says that the series is over, with
// Outcome and Runs; otherwise RetryAllowed.
type Ended struct {
	Evidence     contract.ID
	Completed    bool
	Outcome      phase.Outcome
	Runs         int64
	RetryAllowed bool
}
