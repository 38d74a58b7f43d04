package pipeline

import (
	"time"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/pipeline/state"
)

// This file is what goes into the operations and comes out of them
// (docs/spec/contracts.md §20.2, §20.3), in the order of the table there.

// Shown is a contract as an answer has it: the document and what is kept beside
// it (§20.1).
type Shown struct {
	*Contract
	Phase       Phase           // of the chain
	Outstanding []contract.Role // of a gate: required roles without an approval; [] otherwise
	Conflict    []Conflict      // updates of which a person must choose one (§13)
}

// Conflict is one of several contents of a contract under one version.
type Conflict struct {
	Digest string
	Text   []byte
}

// EditArgs is a merge patch of content members (§1.8). Patch is an object
// contract.Parse returned, without "version".
type EditArgs struct {
	ID      contract.ID
	Version int64
	Patch   map[string]any
}

// ActivationArgs is a decision on a Draft (§5). ContentDigest is that of the
// document the voter saw, "" when not said.
type ActivationArgs struct {
	ID            contract.ID
	Version       int64
	Decision      contract.Decision
	Reason        *string
	ContentDigest string
}

// ActivationResult is the entry of the ledger and what became of the contract.
type ActivationResult struct {
	Entry     Vote
	State     contract.State
	Duplicate bool
}

// FreezeArgs suspends a contract.
type FreezeArgs struct {
	ID      contract.ID
	Version int64
	Cause   contract.Cause
	Reason  string
}

// ResumeArgs resumes a Frozen contract.
type ResumeArgs struct {
	ID         contract.ID
	Version    int64
	Resolution string
}

// RevokeArgs invalidates a contract.
type RevokeArgs struct {
	ID      contract.ID
	Version int64
	Ground  contract.Ground
	Reason  string
}

// ArchiveArgs archives a contract. Rule is the recorded operating rule, "" for none.
type ArchiveArgs struct {
	ID      contract.ID
	Version int64
	Rule    string
}

// ResolveArgs chooses one of the contents of a conflict by its digest.
type ResolveArgs struct {
	ID      contract.ID
	Version int64
	Chosen  string
}

// IntentArgs is what an intent asks for. The values are those of the request:
// what the schema refuses is found here. Signals are the critical signals stated
// with the intent, which only callers inside the process can state (§6.2).
//
// Asked is the request that started the path; nil begins one of its own. Only
// IntentCreateWithin takes it: nobody outside names the path that something belongs
// to.
type IntentArgs struct {
	Intent                string
	Priority              string
	RequestedCapabilities []string
	Signals               map[string]bool
	Asked                 *Asked
}

// Asked is who asked for an intent through the circle, and the decision that was
// confirmed. Request is the correlation id of the path.
type Asked struct {
	Request  string           `json:"request"`
	Circle   string           `json:"circle"`
	Member   contract.ActorID `json:"member"`
	Artifact string           `json:"artifact"`
	SHA256   string           `json:"sha256"` // of its content
}

// ChainShown is a chain with all its contracts and runs.
type ChainShown struct {
	Chain     *Chain
	Intent    *Shown
	Contracts []*Shown
}

// ClaimArgs asks for a run. BaseCommit is what the executor starts from, "" to
// take the chain's.
type ClaimArgs struct {
	Task       contract.ID
	Phase      Phase
	BaseCommit string
}

// Claim is a run that has begun.
type Claim struct {
	Run         *Run
	LockedUntil time.Time
	Heartbeat   time.Duration
	HeadCommit  string // of the chain
	Stale       contract.Classification
	Task        *Shown
	Artifacts   []ArtifactKind // what will be asked for
}

// Beat is the answer to a heartbeat. Stop says that the run may only end.
type Beat struct {
	LockedUntil time.Time
	Stop        bool
}

// CompleteArgs ends a run that succeeded or could not be done. Evidence holds
// the members the executor knows, as contract.Parse returned them.
type CompleteArgs struct {
	Execution  string
	Outcome    phase.Outcome
	HeadCommit string
	Evidence   map[string]any
	Checks     []event.Check
	Signals    map[string]bool
	Facts      []risk.Fact
	// Files is what was not merely modified between the base and the head.
	Files []artifact.File
}

// FailArgs ends a run that failed.
type FailArgs struct {
	Execution  string
	Reason     string
	HeadCommit string
	Evidence   map[string]any
}

// ReleaseArgs gives work back.
type ReleaseArgs struct {
	Execution string
	Reason    string
}

// Ended is a run that has ended. Completed is the end of the series, nil when
// another run may follow.
type Ended struct {
	Evidence     contract.ID
	Completed    *Series
	RetryAllowed bool
	Warnings     []refusal.Code
}

// Series is how a series of runs ended.
type Series struct {
	Outcome phase.Outcome
	Runs    int64
}

// Late is the refusal of a result that came too late. Its Evidence is kept
// nevertheless (§4.5, §20.3).
type Late struct {
	Evidence contract.ID // "" when there was none that could be kept
	Err      error
}

func (l *Late) Error() string { return l.Err.Error() }

func (l *Late) Unwrap() error { return l.Err }

// ArtifactArgs delivers an artifact of a run.
type ArtifactArgs struct {
	Execution string
	Kind      ArtifactKind
	Bytes     []byte
}

// ArtifactPut is an artifact that is stored.
type ArtifactPut struct {
	Artifact  Artifact // without its bytes
	Duplicate bool
}

// OperationArgs asks whether a capability may be used on a task.
type OperationArgs struct {
	Task       contract.ID
	Capability string
	Detail     string
}

// ReviewArgs is a verdict on the work in Refactor (§7). Blocking is empty exactly
// when the verdict is approved.
type ReviewArgs struct {
	Task       contract.ID
	Verdict    string
	Blocking   []Blocking
	HeadCommit string
}

// Blocking is one thing that has to change. Line is 0 when none is named.
type Blocking struct {
	Text string
	Path string
	Line int64
}

// VerifyArgs delivers a verify artifact (R10).
type VerifyArgs struct {
	Task       contract.ID
	BaseCommit string
	HeadCommit string
	Artifact   []byte
}

// NoteShown is the release note as data and rendered.
type NoteShown struct {
	Data     *artifact.Note
	Markdown []byte
}

// ReevaluateArgs asks the Validator to judge the last result again.
type ReevaluateArgs struct {
	ID     contract.ID
	Reason string
}

// GateStatusArgs is what a pipeline knows: the repository, and a commit or a diff.
type GateStatusArgs struct {
	Repository string
	HeadCommit string
	DiffHash   string
}

// Standing is the answer to a pipeline in one word (docs/spec/contracts.md §20.2).
type Standing string

// The standings. Only passed lets anything go; that no gate was ever made is no
// standing but ref.not_found.
const (
	StandingPassed   Standing = "passed"  // approved for exactly these bytes, and published
	StandingWaiting  Standing = "waiting" // people still decide, or the gate is on hold
	StandingRejected Standing = "rejected"
	StandingExpired  Standing = "expired"
	StandingStale    Standing = "stale" // the gate is about other bytes than those asked about
)

// GateStatus is what CI asks for. Publishable says that the gate is approved for
// exactly these bytes.
type GateStatus struct {
	Standing       Standing
	ID             contract.ID
	Version        int64
	Correlation    string
	FinalDecision  contract.FinalDecision
	Action         contract.Action
	ApprovalDigest string
	DigestCurrent  bool
	Publishable    bool
}

// GateArgs decides on a gate. Digest is the approval digest the voter saw.
type GateArgs struct {
	ID       contract.ID
	Version  int64
	Decision contract.Decision
	Digest   string
	Reason   *string
}

// GateResult is what became of a gate.
type GateResult struct {
	FinalDecision contract.FinalDecision
	State         contract.State
	Outstanding   []contract.Role
	Duplicate     bool
}

// HoldArgs puts a gate on hold, or takes the hold off.
type HoldArgs struct {
	ID      contract.ID
	Version int64
	Reason  string
}

// IngestResult is the report of an ingestion (§10.2).
type IngestResult struct {
	Report  ingest.Report
	Summary ingest.Summary
}

// AcquireArgs takes locks, all or none (§12).
type AcquireArgs struct{ Keys []string }

// Acquired is locks that are held under one lock id. Tokens has one for each
// key; keys are ascending. Again says that the caller held them already.
type Acquired struct {
	LockID      string
	Keys        []string
	Tokens      []int64
	LockedUntil time.Time
	Again       bool
}

// WebhookArgs describes a subscriber. In an edit nil is unchanged.
type WebhookArgs struct {
	ID       string
	URL      *string
	Types    *[]event.Type
	Subjects *[]contract.ID
	Enabled  *bool
}

// Secret is a webhook or token with the secret that is shown once.
type Secret[T any] struct {
	Of     T
	Secret string
}

// ReplayArgs plans deliveries again from behind a position.
type ReplayArgs struct {
	ID    string
	After int64
}

// ActorArgs describes an actor of the registry. Roles are names: an unknown one
// is role.unknown.
type ActorArgs struct {
	ID    contract.ActorID
	Type  contract.ActorType
	Roles []string
	Name  string
}

// ActorEdit changes an actor; nil is unchanged.
type ActorEdit struct {
	ID     contract.ActorID
	Roles  *[]string
	Active *bool
	Name   *string
}

// TokenArgs asks for a token. Actor is "" for the caller's own.
type TokenArgs struct {
	Actor     contract.ActorID
	Scopes    []string
	ExpiresAt time.Time
	Name      string
}

// Identity is who a token belongs to.
type Identity struct {
	Actor *Actor
	Token Token
}

// Settings is the effective configuration, without secrets.
type Settings struct {
	Profile        state.Profile
	Options        approval.Options
	Solo           bool
	Deadlines      approval.Deadlines
	MaxReturns     int
	AutomaticTests bool
	AuditRetention time.Duration
	EventRetention time.Duration
}
