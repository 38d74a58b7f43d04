// Package artifact is what a worker returns and what becomes of it: its status
// and who may move it, its content by digest, where it comes from and who may see
// it, and the consents that stand between it and an effect (docs/spec/circle.md
// §§5, 7).
//
// Everything is a value. A function that changes an artifact answers the changed
// copy; what it was stays as it was.
package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Artifact is one version of what a worker returned. A version's content never
// changes; a change is the next version.
type Artifact struct {
	ID       string
	Version  int64 // counted from 1
	Revision int64 // of the stored row; 0 before it is stored
	Circle   string
	Owner    string // the member whose request it came of

	Type          envelope.ArtifactType
	Visibility    envelope.Level // who may see it now
	Status        Status
	Reason        Event // why it fell back to draft; "" when it did not
	Content       []byte
	ContentSHA256 string // lower-case hex, over Content
	Provenance    Provenance

	// What consent is about (docs/spec/circle.md §7).
	Flags     []envelope.Flag // after triage and every check
	Concerns  []string        // members whose personal data is in the content
	Scope     Scope           // what a confirmation would let happen
	ConsentBy time.Time       // silence until then is no consent; zero when none is asked for
	WaitsFor  string          // the artifact whose consents it waits for; "" for its own

	Blocks      []envelope.Condition // it has no effect while there is one
	ConfirmedBy string
	ConfirmedAt time.Time
	ContractID  string // the contract a confirmed decision became (§9)
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Has says whether the artifact carries a flag.
func (a *Artifact) Has(f envelope.Flag) bool { return slices.Contains(a.Flags, f) }

// MaxContent is the longest content, in bytes.
const MaxContent = 1 << 20

// Contents checks a content against what its type may say. Schema is one.
type Contents interface {
	// Check is every fault of a content that contract.Parse read, with pointers
	// that begin at the content itself.
	Check(t envelope.ArtifactType, content any) problem.List
}

// Making is what an artifact is made of. Origin is the request's own: an answer
// to an external request is external even when it has no sources.
type Making struct {
	ID      string
	Circle  string
	Owner   string
	Type    envelope.ArtifactType
	Target  envelope.Level // who should see it; refused when a source's level is lower
	Status  Status
	Content []byte // JSON

	Origin     envelope.Origin
	Provenance Provenance // its own Origin is not read

	Flags     []envelope.Flag
	Concerns  []string
	Scope     Scope
	ConsentBy time.Time
	WaitsFor  string
	Blocks    []envelope.Condition
	Now       time.Time
}

// Make is the first version of an artifact. The error is a problem.List with
// every fault at once: a content its schema refuses, a level wider than a
// source's, a status no artifact begins with.
//
// The origin is computed here: external when the request, a source or the engine
// is. What a model says counts as external, wherever the model runs: it repeats
// whatever it has read.
func Make(m Making, contents Contents) (Artifact, error) {
	a := Artifact{
		ID: m.ID, Version: 1, Circle: m.Circle, Owner: m.Owner, Type: m.Type, Visibility: m.Target, Status: m.Status,
		Flags: slices.Clone(m.Flags), Concerns: slices.Clone(m.Concerns), Scope: m.Scope, ConsentBy: m.ConsentBy, WaitsFor: m.WaitsFor,
		CreatedAt: m.Now, UpdatedAt: m.Now,
	}
	for _, c := range envelope.Conditions() { // in the order in which several act
		if slices.Contains(m.Blocks, c) {
			a.Blocks = append(a.Blocks, c)
		}
	}
	a.Provenance = m.Provenance
	a.Provenance.Sources = slices.Clone(m.Provenance.Sources)
	var faults problem.List
	if !m.Type.Valid() {
		faults = append(faults, problem.At(problem.FieldInvalid, "/type", "there is no such artifact type"))
	}
	if !m.Status.Initial() {
		faults = append(faults, problem.At(problem.TransitionForbidden, "/status", "an artifact begins as draft, needs_confirmation or waiting_for_consent"))
	}
	faults = append(faults, a.bound(m.Origin)...)
	if m.Type.Valid() {
		faults = append(faults, a.fill(m.Content, contents)...)
	}
	return a, faults.Err()
}

// bound sets the origin, and refuses a level that a source does not allow.
func (a *Artifact) bound(request envelope.Origin) problem.List {
	origin, level := Bounds(a.Provenance.Sources)
	origin = origin.Join(request)
	if a.Provenance.Engine != constitution.Builtin {
		origin = envelope.External
	}
	a.Provenance.Origin = origin
	if !a.Visibility.Valid() || a.Visibility.Wider(level) {
		return problem.List{problem.At(problem.VisibilityTooWide, "/visibility_level", "the level is wider than that of a source")}
	}
	return nil
}

// fill sets the content and its digest.
func (a *Artifact) fill(text []byte, contents Contents) problem.List {
	if len(text) > MaxContent {
		return problem.List{problem.At(problem.ContentInvalid, "/content", "the content has %d bytes, at most %d are kept", len(text), MaxContent)}
	}
	v, err := contract.Parse(text)
	if err != nil { // which may quote the text
		return problem.List{problem.At(problem.ContentInvalid, "/content", "the content is no JSON, or holds a member twice")}
	}
	faults := contents.Check(a.Type, v)
	for i, f := range faults {
		faults[i] = problem.At(problem.ContentInvalid, "/content"+f.Path, "%s", f.Message)
	}
	if len(faults) > 0 {
		return faults
	}
	a.Content = contract.CanonicalValue(v)
	a.ContentSHA256 = Digest(a.Content)
	return nil
}

// Digest is the lower-case hex SHA-256 of a content in canonical JSON.
func Digest(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Revise is the next version of an artifact with another content. It starts as a
// draft, whatever the version before was, and as widely seen at most. It is made
// from the version before as well, so its origin and level cannot be better; no
// consent to that version counts for it.
func (a *Artifact) Revise(m Making, contents Contents) (Artifact, error) {
	m.ID, m.Circle, m.Owner, m.Type, m.Status = a.ID, a.Circle, a.Owner, a.Type, Draft
	m.Origin = m.Origin.Join(a.Provenance.Origin)
	if m.Target.Wider(a.Visibility) {
		return Artifact{}, problem.List{problem.At(problem.VisibilityTooWide, "/visibility_level", "the level is wider than that of the version before")}
	}
	next, err := Make(m, contents)
	if err != nil {
		return Artifact{}, err
	}
	next.Version, next.CreatedAt = a.Version+1, m.Now
	return next, nil
}

// AsSource is the artifact as something another is made from.
func (a *Artifact) AsSource() Source {
	return Source{Kind: FromArtifact, ID: a.ID, SHA256: a.ContentSHA256, Visibility: a.Visibility, Origin: a.Provenance.Origin}
}
