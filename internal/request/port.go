package request

import (
	"context"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
)

// Store keeps everything the circle is about, in the transactions of
// pipeline.Store: a consent, its audit record, the job that acts on it and the
// contract it leads to are kept together or not at all. Package store implements
// it on two databases; package storetest is what an implementation must pass.
//
// Errors carry a fault kind, as those of pipeline.Store do. NotFound: nothing has
// that id. Conflict: the row is not as the caller read it, or the id is taken.
// Unavailable: the database does not answer; the same call may succeed later.
type Store interface {
	// Update runs fn in one transaction. All that pipeline.Store.Update says
	// holds: fn may run more than once and touches nothing but the Tx.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn on one consistent state.
	View(ctx context.Context, fn func(Reader) error) error
}

// Reader is what can be asked of one consistent state. Inside Update whatever
// belongs to a request locks the request first: use cases on one request never
// overlap. Lists are never nil; a limit of 0 is no limit.
type Reader interface {
	reader
	// Contracts is the same transaction as the contracts see it: actors, events,
	// the audit log, contracts.
	Contracts() pipeline.Reader
}

type reader interface {
	// Now is the instant of the transaction, as pipeline.Reader has it.
	Now() time.Time

	CircleReader
	RequestReader
	ArtifactReader
	MemoryReader
	IdentityReader
}

// Tx is Reader and everything that can be changed. A change that names a Revision
// is refused with Conflict unless the row still has it; the value passed gets the
// revision after. A creation takes Revision 0.
type Tx interface {
	reader
	// Contracts is the same transaction as the contracts see it.
	Contracts() pipeline.Tx

	// Record appends to the one audit log; it is chained when Update returns.
	Record(r event.Record) error
	// Enqueue adds a job that exists if and only if the transaction commits.
	Enqueue(j pipeline.Job) error

	CircleWriter
	RequestWriter
	ArtifactWriter
	MemoryWriter
	IdentityWriter
}

// CircleFilter narrows a list of circles; a zero member demands nothing.
type CircleFilter struct {
	Member string // an actor who is a member now
	Clan   string
}

// ChannelFilter narrows a list of channels.
type ChannelFilter struct {
	Circles   []string
	Suspended *bool
}

// CircleReader reads circles, their members and their channels.
type CircleReader interface {
	// Circle is one circle.
	Circle(id string) (*circle.Circle, error)
	// Circles is a page of circles, newest change first, then by id.
	Circles(f CircleFilter, p pipeline.Page) ([]*circle.Circle, error)
	// Roll is every membership of a circle, also those that ended, by actor and
	// spell. Whoever changes it changes the circle: ChangeMembers is refused when
	// another was sooner.
	Roll(circle string) (circle.Roll, error)
	// Channel is one channel. Inside Update its row is locked, so that breaches
	// over it are counted one after the other.
	Channel(id string) (*circle.Channel, error)
	// Channels is a page of channels, newest change first, then by id.
	Channels(f ChannelFilter, p pipeline.Page) ([]*circle.Channel, error)
	// Breaches is the breaches over a channel after an instant, oldest first.
	Breaches(channel string, after time.Time) ([]circle.Breach, error)
}

// CircleWriter changes circles, their members and their channels.
type CircleWriter interface {
	// CreateCircle adds a circle with its first member.
	CreateCircle(c *circle.Circle, first circle.Member) error
	// UpdateCircle changes a circle, not its members.
	UpdateCircle(c *circle.Circle) error
	// ChangeMembers ends and begins memberships and raises the revision of the
	// circle. NotFound: the actor who would be a member is no human of the
	// registry, whatever the caller believed.
	ChangeMembers(c *circle.Circle, change circle.Change) error
	// CreateChannel adds a channel. One that another transaction has just added
	// makes Update run fn again, which then finds it.
	CreateChannel(c *circle.Channel) error
	// UpdateChannel changes a channel.
	UpdateChannel(c *circle.Channel) error
	// AddBreach records a breach. The same request over the same channel again
	// adds nothing: what runs twice counts once.
	AddBreach(b circle.Breach) error
}

// Filter narrows a list of requests.
type Filter struct {
	Circles  []string
	Members  []string
	Channels []string
	States   []RequestState
	// Made demands an artifact whose newest version has one of these statuses now.
	Made []artifact.Status
}

// RequestReader reads requests and the runs of their workers.
type RequestReader interface {
	// Request is one request.
	Request(id string) (*Request, error)
	// Requests is a page of requests, newest change first, then by id.
	Requests(f Filter, p pipeline.Page) ([]*Request, error)
	// Run is one run.
	Run(id string) (*Run, error)
	// Runs is the runs of a request, by step and attempt.
	Runs(request string) ([]*Run, error)
	// Results is what was written back to a request, oldest first.
	Results(request string) ([]Result, error)
}

// RequestWriter changes requests and the runs of their workers.
type RequestWriter interface {
	// CreateRequest adds a request. An id that is taken is Conflict: whoever
	// wants to know by what reads it.
	CreateRequest(r *Request) error
	// UpdateRequest changes what becomes of a request, never what was asked.
	UpdateRequest(r *Request) error
	// CreateRun adds a run; its step and attempt are taken once.
	CreateRun(r *Run) error
	// UpdateRun changes how a run stands, for example ends it, and who it turned
	// out to have asked.
	UpdateRun(r *Run) error
	// AddResult writes back to a request how a contract ended. The same end of the
	// same version again is Conflict.
	AddResult(r Result) error
}

// ArtifactFilter narrows a list of artifacts.
type ArtifactFilter struct {
	Circles  []string
	Requests []string
	Owners   []string
	Types    []envelope.ArtifactType
	Statuses []artifact.Status
}

// ConsentFilter narrows a list of consents.
type ConsentFilter struct {
	Circles   []string
	Members   []string
	Artifacts []string
	Decisions []artifact.Decision
}

// ArtifactReader reads artifacts and the consent ledger.
type ArtifactReader interface {
	// Artifact is the newest version of an artifact.
	Artifact(id string) (*artifact.Artifact, error)
	// ArtifactAt is exactly this version.
	ArtifactAt(id string, version int64) (*artifact.Artifact, error)
	// Artifacts is a page of newest versions, newest change first, then by id.
	Artifacts(f ArtifactFilter, p pipeline.Page) ([]*artifact.Artifact, error)
	// ArtifactsOf is the newest versions of a request's artifacts, oldest first.
	ArtifactsOf(request string) ([]*artifact.Artifact, error)
	// Overdue is the ids of artifacts whose deadline for consents has passed,
	// longest first. It locks nothing: read each again before you move it.
	Overdue(limit int) ([]string, error)
	// Ledger is every consent about these artifacts, all versions, those about
	// one in order.
	Ledger(artifacts ...string) ([]artifact.Consent, error)
	// Consent is one record of the ledger.
	Consent(id string) (*artifact.Consent, error)
	// Consents is a page of the ledger, newest decision first, then by id.
	Consents(f ConsentFilter, p pipeline.Page) ([]*artifact.Consent, error)
}

// ArtifactWriter changes artifacts and the consent ledger.
type ArtifactWriter interface {
	// CreateArtifact adds an artifact, or the next version of one; the version
	// before it must be the newest.
	CreateArtifact(a *artifact.Artifact) error
	// UpdateArtifact changes what becomes of a version. Its content, digest,
	// origin and level never change, whatever is passed.
	UpdateArtifact(a *artifact.Artifact) error
	// DropArtifacts removes what a request has returned so far, but what somebody
	// has confirmed: of a request that is stopped no draft is kept. The ledger
	// stays.
	DropArtifacts(request string) error
	// AddConsent appends to the ledger.
	AddConsent(c *artifact.Consent) error
	// RevokeConsent records that a consent was taken back; nothing else of it
	// changes. One that is not granted is Conflict.
	RevokeConsent(c *artifact.Consent) error
}

// MemoryReader finds what the circle remembers.
type MemoryReader interface {
	// Note is one note, if the viewer may see it; else NotFound.
	Note(id string, v memory.Viewer) (*memory.Note, error)
	// Search is at most limit notes that have words of the query and that the
	// viewer may see, best first.
	Search(q memory.Query, kinds []memory.Kind, v memory.Viewer, limit int) ([]memory.Note, error)
}

// MemoryWriter keeps and forgets notes.
type MemoryWriter interface {
	// Keep adds a note, or puts another in the place of the one with its id, if
	// that is of the same circle and owner; else Conflict.
	Keep(n memory.Note) error
	// Forget removes a note.
	Forget(id string) error
}

// IdentityReader reads second factors and what they are asked.
type IdentityReader interface {
	// Factor is one factor, also a revoked one. Inside Update its row is locked:
	// a counter that was used counts for nobody else.
	Factor(id string) (*Factor, error)
	// Factors is the factors of an actor, also revoked ones, oldest first.
	Factors(actor string) ([]*Factor, error)
	// Challenge is one challenge. Inside Update its row is locked.
	Challenge(id string) (*Challenge, error)
}

// IdentityWriter changes second factors and what they are asked.
type IdentityWriter interface {
	// CreateFactor adds a factor.
	CreateFactor(f *Factor) error
	// UpdateFactor changes a factor; its counter never goes back.
	UpdateFactor(f *Factor) error
	// CreateChallenge adds a challenge.
	CreateChallenge(c *Challenge) error
	// UpdateChallenge records an attempt or the answer.
	UpdateChallenge(c *Challenge) error
}
