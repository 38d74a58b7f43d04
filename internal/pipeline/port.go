package pipeline

import (
	"context"
	"errors"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// Store keeps everything the contracts are about. Package store implements it
// on two databases; package storetest is what an implementation must pass, and
// a method without a test there is no part of the port.
//
// Errors carry a fault kind. NotFound: nothing has that id. Conflict: the row
// is not as the caller read it, or the id is taken. Unavailable: the database
// does not answer, or refused to go on; the same call may succeed later.
type Store interface {
	// Update runs fn in one transaction. Everything fn does through Tx, jobs
	// included, is kept or none of it is: an error of fn keeps nothing and is
	// returned as it is.
	//
	// fn may run more than once, when the database asks for a repetition, so
	// it sets what it hands out anew each time. Inside fn touch only the Tx:
	// SQLite has one writer, and a second Update would wait for the first. A
	// transaction that does nothing for a second is ended and its next
	// statement is Unavailable: no call to a model, to git or to the network
	// has a place in it.
	Update(ctx context.Context, fn func(Tx) error) error

	// View runs fn on one consistent state of the store. It never waits for a
	// writer and never makes one wait.
	View(ctx context.Context, fn func(Reader) error) error
}

// ErrLeaseLost is in the chain of an error when other nodes have declared this
// one dead. Its jobs run elsewhere: the process must end.
var ErrLeaseLost = errors.New("the node was declared dead")

// Reader is what can be asked of one consistent state. Inside Update a read of
// a contract, or of anything else that belongs to a chain, locks the chain
// first: whoever comes second waits and then reads what the first wrote. Use
// cases on one chain therefore never overlap, and those on two chains never
// wait for each other.
//
// Lists are never nil. A limit of 0 is no limit.
type Reader interface {
	// Now is the instant of the transaction, read once when it begins: UTC, cut
	// to whole milliseconds (docs/spec/contracts.md §0). With several nodes it
	// is the clock of the database.
	Now() time.Time

	// Contract resolves a reference without a version: the highest version in
	// Active, Frozen or Published, failing that the highest (§1.2, R-02).
	Contract(id contract.ID) (*Contract, error)
	// ContractAt is exactly this version; a content that was replaced in place
	// is found under History only.
	ContractAt(ref Ref) (*Contract, error)
	// Versions is every row of an id, highest version first.
	Versions(id contract.ID) ([]*Contract, error)
	// History is the contents of an id that were replaced in place, highest
	// version first (§1.8).
	History(id contract.ID) ([]Replaced, error)
	// MadeFrom is the contracts of a kind that were made from this version of
	// their source, highest version first.
	MadeFrom(kind contract.Kind, source Ref) ([]*Contract, error)
	// OfChain is every row of a chain, in chain order, then by id and version.
	OfChain(chain contract.ID) ([]*Contract, error)
	// Contracts is a page of contracts, each as Contract resolves it, newest
	// first by the time of the last change, then by id.
	Contracts(f ContractFilter, p Page) ([]*Contract, error)

	// Chain is what the Orchestrator keeps beside the contracts of an intent.
	Chain(id contract.ID) (*Chain, error)
	// Chains is a page of chains, newest first by the time of the last change,
	// then by id.
	Chains(f ChainFilter, p Page) ([]*Chain, error)

	// Votes is the activation ledger of a contract, in order, all versions (§5).
	Votes(id contract.ID) ([]Vote, error)
	// Ledgers is the votes of several contracts, of each as Votes has them; one
	// without a vote has no entry.
	Ledgers(ids ...contract.ID) (map[contract.ID][]Vote, error)
	// Consents is the decisions on a gate with what each agreed to, in order,
	// all versions (§6.4, R14).
	Consents(gate contract.ID) ([]Consent, error)

	// Run is one attempt of an executor.
	Run(executionID string) (*Run, error)
	// Runs is a page of runs, newest first by their start, then by id.
	Runs(f RunFilter, p Page) ([]*Run, error)

	// Artifact is a phase artifact with its bytes (§7.1).
	Artifact(executionID string, kind ArtifactKind) (*Artifact, error)
	// Artifacts is the artifacts of a chain without their bytes, oldest first.
	Artifacts(chain contract.ID) ([]Artifact, error)
	// Reviews is the reviews of these TaskSeed versions, those of a chain oldest
	// first.
	Reviews(tasks ...Ref) ([]Review, error)

	// Locks is the rows of these keys in ascending order of the keys, one for
	// each key; a key that was never held has Token 0. Inside Update the rows
	// are locked, all or none of them (§12).
	Locks(keys ...string) ([]Lock, error)
	// Holding is the keys a holder has or had, ascending, each with the token
	// it was given last: what tells a former holder from a stranger.
	Holding(holder string) ([]Hold, error)
	// LockList is a page of the locks that somebody holds, by key.
	LockList(f LockFilter, p Page) ([]Lock, error)

	// Effect is what came of a job or a generation that is done, by its
	// idempotency key (§4.4, §3.5); ok is false when it is not.
	Effect(key string) (e Effect, ok bool, err error)
	// Request is what came of a write under an Idempotency-Key (§20.1); ok is
	// false when there is none. Inside Update a second transaction under the
	// same key waits for the first, or gets Conflict while it is under way.
	Request(actor contract.ActorID, key string) (r Request, ok bool, err error)

	// Event is one event by its id.
	Event(id string) (*Event, error)
	// Events is the events behind a position in ascending order.
	Events(after int64, f EventFilter, limit int) ([]Event, error)
	// EventRange is the first position that is kept and the last one given
	// out; (1, 0) when nothing has happened yet.
	EventRange() (first, last int64, err error)

	// AuditHead is how far the log has come.
	AuditHead() (event.Head, error)
	// Seal is where the log begins, and the signed note that vouches for what was
	// given up before; at its origin there is no note.
	Seal() (head event.Head, note []byte, err error)
	// Audit is the records behind a position in ascending order.
	Audit(after int64, f AuditFilter, limit int) ([]AuditLine, error)
	// AuditBack is the records before a position in descending order, those
	// behind floor only: what a search costs that finds little.
	AuditBack(before, floor int64, f AuditFilter, limit int) ([]AuditLine, error)

	// Actor is one actor of the registry, also an inactive one.
	Actor(id contract.ActorID) (*Actor, error)
	// Actors is a page of the registry, newest change first, then by id.
	Actors(p Page) ([]*Actor, error)
	// Admins is the ids of the active human admins, ascending. Inside Update
	// their rows are locked, so that two of them cannot dismiss each other.
	Admins() ([]contract.ActorID, error)
	// TokenByHash is the token with this digest, also an expired or revoked one.
	TokenByHash(hash [32]byte) (*Token, error)
	// Token is one token by its id.
	Token(id string) (*Token, error)
	// Tokens is a page of the tokens of an actor, of all when it is empty,
	// newest first by creation, then by id.
	Tokens(actor contract.ActorID, p Page) ([]*Token, error)

	// Webhook is one subscriber.
	Webhook(id string) (*Webhook, error)
	// Webhooks is a page of subscribers, newest change first, then by id.
	Webhooks(p Page) ([]*Webhook, error)
	// Deliveries is the deliveries to a webhook, newest event first, behind a
	// position; 0 is the start.
	Deliveries(f DeliveryFilter, behind int64, limit int) ([]Delivery, error)
	// Due is the deliveries to a webhook that may be tried at this instant, by
	// position: pending, their time come, and nothing of the same chain
	// pending before them (§3.3).
	Due(webhook string, limit int) ([]Delivery, error)
}

// Tx is Reader and everything that can be changed. It is the one large port.
//
// A change that names a Revision is refused with Conflict unless the row still
// has it; the value passed gets the revision after. A creation takes Revision 0.
type Tx interface {
	Reader

	// NextID takes the next id of a kind that nothing has. It is lost when the
	// transaction is: gaps are allowed, repeats are not (§1.2, R-30).
	NextID(kind contract.Kind) (contract.ID, error)
	// CreateContract adds a row (id, version). The chain must exist; for an
	// intent that is its own chain.
	CreateContract(c *Contract) error
	// UpdateContract changes a row and leaves its version: a state, a decision.
	UpdateContract(c *Contract) error
	// ReplaceContract makes the row (id, from) the row (id, c's version) and
	// keeps the former content as history (§1.8).
	ReplaceContract(c *Contract, from int64) error

	// CreateChain adds a chain; it comes before its intent.
	CreateChain(c *Chain) error
	// UpdateChain changes what is kept beside the contracts of a chain.
	UpdateChain(c *Chain) error

	// AddVote appends to the activation ledger.
	AddVote(id contract.ID, v Vote) error
	// AddConsent appends a decision on a gate.
	AddConsent(gate contract.ID, c Consent) error

	// CreateRun adds a run.
	CreateRun(r *Run) error
	// UpdateRun changes a run, for example ends it.
	UpdateRun(r *Run) error

	// AddArtifact keeps a phase artifact. The same kind of the same run again
	// is Conflict, whatever the bytes: artifacts never change.
	AddArtifact(a Artifact) error
	// AddReview appends a review.
	AddReview(r Review) error

	// PutLock writes the row of a key; the key's row must have been read with
	// Locks in this transaction. A token below the stored one is Conflict.
	PutLock(l Lock) error
	// Fence refuses the transaction with Conflict unless token is the live
	// token of key. The row stays locked to the end, so one call guards every
	// write (§12).
	Fence(key string, token int64) error

	// AddEffect records a job or a generation as done. A key that is there
	// already makes Update run fn again, which then finds it.
	AddEffect(e Effect) error
	// AddRequest records the answer to a write under an Idempotency-Key.
	AddRequest(r Request) error

	// Emit puts an event on the bus; it has its position when Update returns. An
	// id that is there already is Conflict then.
	Emit(e event.Envelope) error
	// Record appends to the audit log; it is chained when Update returns.
	Record(r event.Record) error
	// Enqueue adds a job that exists if and only if the transaction commits. A
	// key that the queue knows for this kind, in whatever state, also one that
	// was given up, adds nothing; it forgets keys some days after their end.
	Enqueue(j Job) error

	// CreateActor adds an actor; an id is never used twice.
	CreateActor(a *Actor) error
	// UpdateActor changes an actor.
	UpdateActor(a *Actor) error
	// CreateToken adds a token.
	CreateToken(t Token) error
	// RevokeToken ends a token at this instant; one that ended before keeps its end.
	RevokeToken(id string) error

	// CreateWebhook adds a subscriber, which gets the events behind its Cursor.
	CreateWebhook(w *Webhook) error
	// UpdateWebhook changes a subscriber.
	UpdateWebhook(w *Webhook) error
	// DeleteWebhook removes a subscriber and its deliveries.
	DeleteWebhook(id string, revision int64) error
	// Plan makes pending deliveries of at most limit events behind a webhook's
	// cursor and moves the cursor; it answers how many events it looked at.
	Plan(webhook string, limit int) (int, error)
	// Rewind forgets the deliveries behind a position and plans them again.
	Rewind(webhook string, after int64) error
	// UpdateDelivery records an attempt.
	UpdateDelivery(d Delivery) error

	// Prune removes at most limit rows that are no longer kept: requests
	// (§20.1), completed deliveries and ended tokens of before that instant. It
	// touches no contract, no event and no record, and answers how many.
	Prune(before time.Time, limit int) (int, error)
	// GiveUpEvents removes the oldest events, at most limit of them, that are of
	// before that instant and that no webhook has still to get. It answers how
	// many. What it leaves has no gap, and each chain counts on.
	GiveUpEvents(before time.Time, limit int) (int, error)
	// GiveUpRecords removes the audit records up to a head, for which note
	// vouches. A head the log does not go through, or one that was sealed
	// before, is Conflict.
	GiveUpRecords(to event.Head, note []byte) error
}
