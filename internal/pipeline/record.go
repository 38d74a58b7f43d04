package pipeline

import (
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// Ref names one version of a contract. The zero Ref is none.
type Ref struct {
	ID      contract.ID
	Version int64
}

// Contract is a document and what the store keeps beside it: the schemas have
// no member for it (docs/spec/contracts.md §1.8, §2.4, R-57).
type Contract struct {
	Document contract.Document
	Text     []byte      // the JSON text as it was accepted, or contract.Encode of the document
	Revision int64       // of the row; every write raises it by one
	Chain    contract.ID // the id of the intent
	Source   Ref         // the version it was made from; zero for an intent

	Correlation string // of the chain; the store knows it

	FrozenFrom  contract.State // the state it was frozen out of; "" unless it may be resumed
	FreezeCause contract.Cause // "" unless Frozen

	ExecutionID string // of the run an Evidence is of

	// A gate's agreement (R14): the digest people agree to, the canonical JSON
	// of what it covers, the commits beside it, and each critical signal as
	// declared, observed or undeclared (R10), as canonical JSON.
	ApprovalDigest string
	Covers         []byte
	BaseCommit     string
	HeadCommit     string
	Signals        []byte
}

// Ref names the version c is.
func (c *Contract) Ref() Ref {
	h := c.Document.Head()
	return Ref{ID: h.ID, Version: h.Version}
}

// Replaced is a content that was replaced in place. It is no contract: it has
// no state and cannot be referenced.
type Replaced struct {
	Ref  Ref
	Text []byte
	At   time.Time
}

// ContractFilter selects contracts. The members are joined by "and", the values
// of one member by "or"; an empty member selects everything (§20.1).
type ContractFilter struct {
	Kinds           []contract.Kind
	IDs             []contract.ID
	States          []contract.State
	Chains          []contract.ID // intentId
	Correlations    []string
	TaskSeeds       []contract.ID // the TaskSeed itself, and what was made from it
	Statuses        []contract.Status
	Levels          []contract.Level
	FinalDecisions  []contract.FinalDecision
	FreezeCauses    []contract.Cause
	Creators        []contract.ActorID
	OwnerRoles      []contract.Role
	Phases          []Phase // of the chain
	WaitingFor      []contract.Role
	DueBefore       time.Time // of a pending gate's deadline
	Claimable       bool      // Active TaskSeeds of an Active intent with no run alive
	Asking          bool      // Drafts and what is Frozen, also a version that its id does not resolve to
	ExecutionIDs    []string
	Actors          []contract.ActorID // of an Evidence
	Verdicts        []contract.PolicyVerdict
	Classifications []contract.Classification
	HeadCommits     []string // of the gate's agreement
	UpdatedSince    time.Time
	UpdatedBefore   time.Time
}

// Page is a part of a list that is ordered by a time, newest first, and then by
// an id. Behind is where the page before it ended; the zero Mark is the start.
type Page struct {
	Behind Mark
	Limit  int
}

// Mark is the place of an item in such a list.
type Mark struct {
	At time.Time
	ID string
}

// Phase is where a chain is (§7). Its transitions are the table of package
// phase.
type Phase string

// Chain is one intent with everything derived from it, as the Orchestrator
// keeps it. Details is the canonical JSON of what only the use cases read.
//
// Correlation is the correlation id of the path: the id of the request that
// started it or, where nobody asked through the circle, ID. It is fixed when the
// chain is made, and everything of the chain carries it.
type Chain struct {
	ID          contract.ID // of the intent
	Correlation string
	Revision    int64
	Version     int64 // of the intent that is under way
	Phase       Phase // "" until the intent is Active
	Repository  string
	BaseCommit  string
	HeadCommit  string // of the last successful Build or Refactor run
	DiffHash    string
	FailedRuns  int64 // of the series under way
	Returns     int64 // to Build, since a person last looked
	FetchedAt   time.Time
	Details     []byte
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// ChainFilter selects chains, as ContractFilter does contracts. States are
// those of the intent, Levels those of the gate.
type ChainFilter struct {
	IDs           []contract.ID
	Phases        []Phase
	States        []contract.State
	Levels        []contract.Level
	Creators      []contract.ActorID
	Repositories  []string
	HeadCommits   []string
	DiffHashes    []string
	Correlations  []string
	UpdatedSince  time.Time
	UpdatedBefore time.Time
}

// Vote is an entry of the activation ledger (§5).
type Vote struct {
	contract.Vote
	SelfApproved bool // taken only because the four-eyes options are off (R9)
}

// Consent is a decision on a version of a gate with what it agreed to (R14).
type Consent struct {
	GateVersion int64
	contract.Approval
	Digest       string
	BaseCommit   string
	HeadCommit   string
	SelfApproved bool
}

// Run is one attempt of an executor at a phase's work (§4.5). Details is the
// canonical JSON of what only the use cases read: reason, signals, facts,
// checks.
type Run struct {
	ExecutionID string
	Revision    int64
	Chain       contract.ID
	Correlation string // of the chain; the store knows it
	TaskSeed    Ref
	Phase       Phase
	Role        contract.Role
	Actor       contract.ActorID
	Series      int64 // of the chain, from 1
	Attempt     int64 // of the series, from 1
	LockToken   int64
	BaseCommit  string
	HeadCommit  string
	DiffHash    string
	StartedAt   time.Time
	Deadline    time.Time // zero when the phase sets none
	EndedAt     time.Time // zero while it is alive
	Outcome     string    // "" while it is alive
	Evidence    contract.ID
	Details     []byte
}

// Alive says whether the run has not ended.
func (r *Run) Alive() bool { return r.EndedAt.IsZero() }

// RunFilter selects runs.
type RunFilter struct {
	Chains       []contract.ID
	Correlations []string
	TaskSeeds    []contract.ID
	Phases       []Phase
	Actors       []contract.ActorID
	Outcomes     []string
	HeadCommits  []string
	Alive        *bool
}

// ArtifactKind is one of the phase artifacts of §7.1.
type ArtifactKind string

// Artifact is a phase artifact. ExecutionID is empty for a review result, which
// belongs to no run and is kept with its Review.
type Artifact struct {
	ExecutionID string
	Kind        ArtifactKind
	Chain       contract.ID
	Correlation string // of the chain; the store knows it
	Task        Ref
	Phase       Phase
	SHA256      string // "sha256:" and 64 hex digits of Bytes
	Size        int64
	MediaType   string
	Bytes       []byte // nil in a list
	At          time.Time
}

// Review is a verdict of a person on the work (§7).
type Review struct {
	Chain      contract.ID
	Task       Ref
	Reviewer   contract.ActorID
	Role       contract.Role
	Verdict    string
	HeadCommit string
	DiffHash   string
	Text       []byte // the stored review result, canonical JSON
	At         time.Time
}

// Lock is the row of a key. It stays after a release, so that the token grows
// for ever (§12).
type Lock struct {
	Key         string
	Token       int64            // grows with each acquisition; 0 when never held
	Holder      string           // an executionId or a lock id; "" when nobody holds it
	Actor       contract.ActorID // of the holder
	AcquiredAt  time.Time
	HeartbeatAt time.Time
}

// Hold says that a holder has, or had, a key.
type Hold struct {
	Key   string
	Token int64 // the last one it was given
	Actor contract.ActorID
	At    time.Time // when it was given
}

// LockFilter selects locks that are held.
type LockFilter struct {
	Keys     []string
	Holders  []string
	Prefixes []string  // what keys begin with
	Since    time.Time // only those whose holder was heard of then or later
}

// Effect is the result of something that is done at most once. Result names the
// contract it made, Detail is whatever else a repetition must answer with.
type Effect struct {
	Key    string
	Result Ref
	Detail []byte
	At     time.Time
}

// Request is a write that was answered under an Idempotency-Key (§20.1).
type Request struct {
	Actor      contract.ActorID
	Key        string
	Method     string
	Path       string
	Role       contract.Role
	BodyDigest string
	Status     int
	MediaType  string
	Headers    []byte // canonical JSON of the headers that are part of the answer
	Answer     []byte
	At         time.Time
}

// Event is an event with its places: Position counts over all chains, Sequence
// in its own. Both are without gaps, and what follows from a change comes after
// it (§3.3, §20.4). A Position of 0 is not given yet; it is when Update returns.
type Event struct {
	Position int64
	Sequence int64
	event.Envelope
}

// EventFilter selects events.
type EventFilter struct {
	Types    []event.Type
	Subjects []contract.ID
	Chains   []contract.ID

	Correlations []string
}

// AuditLine is a record of the log as it was hashed.
type AuditLine struct {
	Position int64
	event.Chained
}

// AuditFilter selects records by the keys of §14 and the path they are of. Since and Before bound the
// time; a day is both.
type AuditFilter struct {
	Contracts      []contract.ID
	TaskSeeds      []contract.ID
	Actors         []contract.ActorID
	Roles          []contract.Role
	Actions        []string
	Levels         []contract.Level
	FinalDecisions []contract.FinalDecision
	Correlations   []string
	Mentions       string // in the text of a record; no index knows it
	Since          time.Time
	Before         time.Time
}

// Actor is an entry of the registry. Actors are made inactive, never deleted.
type Actor struct {
	ID        contract.ActorID
	Revision  int64
	Type      contract.ActorType
	Roles     contract.RoleSet
	Name      string
	Active    bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Token is a credential of an actor. The secret itself is shown once and never
// stored.
type Token struct {
	ID        string
	Actor     contract.ActorID
	Hash      [32]byte // SHA-256 of the secret
	Scopes    []string
	Name      string
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt time.Time // zero while it is not
}

// Webhook is a subscriber (§20.4). OldSecret signs too until OldSecretUntil.
type Webhook struct {
	ID             string
	Revision       int64
	URL            string
	Secret         []byte
	OldSecret      []byte
	OldSecretUntil time.Time
	Types          []event.Type  // empty: all
	Subjects       []contract.ID // empty: all
	Enabled        bool
	Cursor         int64 // the last position that deliveries were planned for
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// DeliveryStatus is what became of a delivery.
type DeliveryStatus string

// The delivery statuses.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
)

// Delivery is one event on its way to one webhook.
type Delivery struct {
	Webhook     string
	Position    int64
	EventID     string
	Chain       contract.ID
	Status      DeliveryStatus
	Attempts    int64
	NextAt      time.Time // when it may be tried; zero when delivered
	LastStatus  int       // of the last answer; 0 when there was none
	LastError   string
	DeliveredAt time.Time
}

// DeliveryFilter selects deliveries.
type DeliveryFilter struct {
	Webhook  string
	Statuses []DeliveryStatus
}

// JobKind names what a job does. The server's table says which use case it
// calls and how it is repeated.
type JobKind string

// Job is a use case to be called later, at least once. Key makes it unique
// among the jobs of its kind; a job without one is added every time. Chain is
// for people who look at the queue. Args is JSON, read by the use case alone.
type Job struct {
	Kind  JobKind
	Key   string
	Chain contract.ID
	Args  []byte
	At    time.Time // the earliest start; zero is at once
}

// Attempt is a job as a use case gets it. Number counts the attempts that
// ended with a failure that counts, and this one; Last says that no other
// follows, so that what is owed on exhaustion is done by this one (§4.4).
type Attempt struct {
	Job
	Number int
	Last   bool
}

// Again asks the queue to repeat a job without counting the attempt: the fault
// was the service's, or what the job waits for is not there yet (§3.5).
type Again struct {
	After time.Duration
	Err   error // why
}

func (a *Again) Error() string {
	if a.Err == nil {
		return "again after " + a.After.String()
	}
	return a.Err.Error() + ": again after " + a.After.String()
}

func (a *Again) Unwrap() error { return a.Err }
