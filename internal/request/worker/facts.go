package worker

import (
	"slices"
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
)

// Facts is what the orchestrator fetched for a task through its ports, each as it
// was read at Task.Now. What a worker does not need is zero: see Needs.
type Facts struct {
	Set *constitution.Set // the configuration in force: registry, limits, the texts every member may read

	Circle circle.Circle
	Roll   circle.Roll

	// Documents is what the references of the request name, in their order, each
	// as far as the member who asks may see it.
	Documents []Document
	// Referred is the artifacts among them, whole.
	Referred []artifact.Artifact
	// Ledger is the consents on record about Task.Earlier and Referred.
	Ledger []artifact.Consent
	// Gifts is the circle's confirmed gifts that the member may see, newest first.
	Gifts []artifact.Artifact

	Notes  []memory.Note // found by the words of the request, best first
	Probes []Probe

	Gate     *Gate
	Identity *Identity
	Breach   *Breach
	Doings   []Doing // of this request so far, oldest first
}

// Document is what a reference names.
type Document struct {
	Reference envelope.Reference
	Found     bool // false: there is none, or the member may not see it
	Source    artifact.Source
	Title     string
	Text      string // secrets redacted; "" for what is never fetched: a url
	Findings  []Finding
}

// Probe is one measurement of the service.
type Probe struct {
	Name   string // store, queue, model, disk, lag
	State  string // ok, degraded, down, unknown
	Detail string
	Value  int64
	Limit  int64  // from which value on it is no longer ok; 0 when there is none
	Unit   string // bytes, count, milliseconds, seconds, percent; "" without a value
}

// Gate is what Gate-Policy judges by, beside the request.
type Gate struct {
	// Boundaries is the boundary results of the diffs that are referenced.
	Boundaries []Boundary
	// Violated is the id of the rule of the operator's policy that work breaks, ""
	// for none; nil is a policy without rules.
	Violated func(level contract.Level, asks capability.Set, signals risk.Signals) string
}

// Boundary is one boundary result.
type Boundary struct {
	Reference envelope.Reference
	AuditID   string
	SHA256    string // of the result
	Result    risk.Boundary
}

// Identity is what is known of the member who asks.
type Identity struct {
	Action  envelope.Action // what the step-up is for
	Factors []Factor        // that count
	// Answered is a challenge the member has answered for this request, which
	// still counts; nil when there is none.
	Answered *Challenge
	// Prepared is a challenge that is opened when the draft names it; nil when the
	// member has no factor to answer with.
	Prepared *Challenge
}

// Factor is a second proof of identity, without what is secret of it.
type Factor struct {
	ID   string
	Kind string // totp, webauthn
	Name string
}

// Challenge asks for a proof of identity.
type Challenge struct {
	ID         string
	Kind       string
	ExpiresAt  time.Time
	AnsweredAt time.Time // zero until it was answered
	WebAuthn   *WebAuthn // what a browser needs
}

// WebAuthn is the public half of a WebAuthn challenge.
type WebAuthn struct {
	Challenge        string // base64url
	RelyingParty     string
	Credentials      []string // base64url
	UserVerification string   // required, preferred
}

// Breach is what Audit-Log reports: the redacted evidence of what stopped a
// request.
type Breach struct {
	Condition envelope.Condition // secrets_detected or policy_breach_detected
	Hits      []Hit
	Channel   envelope.Channel
	InWindow  int // breaches of the channel within the window, this one among them
	Suspended bool
}

// Hit is one finding with the masked words around it.
type Hit struct {
	Finding
	Masked string // nothing of a secret is in it
}

// Doing is one thing that was done for the request, as the audit log has it.
type Doing struct {
	Action  string // a dotted verb
	Actor   string
	Kind    string // of the subject: request, run, artifact, ...
	ID      string
	SHA256  string // of an artifact's content
	Outcome string // done, refused, stopped, blocked, failed
	At      time.Time
}

// Need is one thing a worker's job needs to be told.
type Need int

// The needs. The text, participants and references of the envelope are among
// them: a worker gets the envelope reduced to its job (docs/spec/circle.md §6.5).
const (
	NeedText Need = iota
	NeedParticipants
	NeedDocuments
	NeedRoll
	NeedLedger
	NeedGifts
	NeedNotes
	NeedProbes
	NeedGate
	NeedIdentity
	NeedBreach
	NeedDoings
)

var needs = map[constitution.AgentID][]Need{
	constitution.PrivacySentinel: {NeedText, NeedParticipants, NeedDocuments, NeedRoll},
	constitution.GatePolicy:      {NeedText, NeedDocuments, NeedGate},
	constitution.Process:         {NeedText, NeedParticipants, NeedDocuments, NeedRoll, NeedLedger},
	constitution.CoreGuardian:    {NeedText, NeedDocuments, NeedRoll},
	constitution.Identity:        {NeedRoll, NeedIdentity},
	constitution.Bridge:          {NeedText, NeedParticipants, NeedDocuments},
	constitution.Gifts:           {NeedText, NeedParticipants, NeedDocuments, NeedRoll, NeedGifts},
	constitution.Sync:            {NeedText, NeedDocuments, NeedNotes},
	constitution.AuditLog:        {NeedBreach, NeedDoings},
	constitution.InfraHealth:     {NeedProbes},
	constitution.ResearchScout:   {NeedText, NeedDocuments, NeedNotes},
	constitution.RitualField:     {NeedText, NeedParticipants, NeedRoll, NeedNotes},
	constitution.Memory:          {NeedText, NeedParticipants, NeedRoll, NeedNotes},
}

// Needs says whether a worker's job needs to be told something.
func Needs(id constitution.AgentID, n Need) bool { return slices.Contains(needs[id], n) }
