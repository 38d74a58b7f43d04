package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"plimsoll.dev/internal/pipeline/contract"
)

// The names of a bundle.
const (
	ManifestName = "manifest.dsse.json"
	LogName      = "audit.jsonl"

	contractsDir = "contracts"
	evidenceDir  = "evidence"
)

// The types of in-toto and our own.
const (
	PayloadType   = "application/vnd.in-toto+json"
	StatementType = "https://in-toto.io/Statement/v1"
	ManifestType  = "https://plimsoll.dev/bundle/v1"
	ContractType  = "https://plimsoll.dev/contract/v1"
	EvidenceType  = "https://plimsoll.dev/evidence/v1"
)

// Statement is an in-toto statement. Predicate is kept as the text it is.
type Statement struct {
	Type          string          `json:"_type"`
	Subject       []Subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// Subject is what a statement is about, by its digests.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Manifest is the predicate of the manifest: what the bundle holds, and what it
// is the proof of.
type Manifest struct {
	MadeAt    string          `json:"madeAt"`
	IntentID  contract.ID     `json:"intentId"`
	Gate      Reference       `json:"gate"`
	Digest    string          `json:"approvalDigest"`
	Covers    json.RawMessage `json:"covers"`   // the canonical JSON the digest is of (R14)
	Released  string          `json:"released"` // the commit
	Commits   Commits         `json:"commits"`  // as they were when the gate was made
	Decisions []Decision      `json:"decisions"`
	Files     []Entry         `json:"files"` // in the order in which they are checked
	Replaced  []Replaced      `json:"replaced"`
	Log       Log             `json:"log"`
}

// Reference names a version of a contract.
type Reference struct {
	ID      contract.ID `json:"id"`
	Version int64       `json:"version"`
}

func (r Reference) String() string { return fmt.Sprintf("%s version %d", r.ID, r.Version) }

// Commits is a range.
type Commits struct {
	Base string `json:"base"`
	Head string `json:"head"`
}

// Decision is what somebody agreed to, and when.
type Decision struct {
	Role         contract.Role     `json:"role"`
	ActorID      contract.ActorID  `json:"actorId"`
	Decision     contract.Decision `json:"decision"`
	DecidedAt    string            `json:"decidedAt"`
	Reason       *string           `json:"reason,omitempty"`
	Digest       string            `json:"approvalDigest"`
	SelfApproved bool              `json:"selfApproved,omitempty"`
}

// Entry is one file of the bundle. Source is the version the contract was made
// from, nil for an intent.
type Entry struct {
	Path        string        `json:"path"`
	SHA256      string        `json:"sha256"` // hex, of the whole file
	Kind        contract.Kind `json:"kind"`
	Contract    Reference     `json:"contract"`
	Source      *Reference    `json:"source,omitempty"`
	ExecutionID string        `json:"executionId,omitempty"`
}

// Replaced is a content that was replaced in place: it is named, and no contract.
type Replaced struct {
	Contract Reference `json:"contract"`
	Digest   string    `json:"digest"` // of the text as it was stored
	At       string    `json:"at"`
}

// Log is where the audit log was. Records is the positions of the records about
// the contracts of the bundle, ascending.
type Log struct {
	Checkpoint string  `json:"checkpoint"`
	Records    []int64 `json:"records"`
}

// Bounds of reading. A contract is bounded by the request it comes from; no chain
// known has a tenth of these.
const (
	maxEnvelope = 16 << 20
	maxFiles    = 20_000
	maxRecords  = 1_000_000
	maxKept     = 256 << 20 // bytes of records about the contracts
)

var (
	fileName = regexp.MustCompile(`^(?:contracts/(?:IC|TS|AC|PG)|evidence/EV)-[0-9]{3,64}\.v[1-9][0-9]{0,15}\.dsse\.json$`)
	hexSHA   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	hexGit   = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

// KnownName says whether a bundle may have a file of this path.
func KnownName(path string) bool {
	return path == ManifestName || path == LogName || fileName.MatchString(path)
}

// nameOf is where the statement of a contract lies.
func nameOf(kind contract.Kind, r Reference) string {
	dir := contractsDir
	if kind == contract.KindEvidence {
		dir = evidenceDir
	}
	return fmt.Sprintf("%s/%s.v%d.dsse.json", dir, r.ID, r.Version)
}

// subjects is what every statement of a bundle is about: the commit that was
// released, the bytes of the change, and the agreement. What has no digest that
// in-toto knows is left out; the agreement always has one.
func subjects(released, diffHash, approvalDigest string) []Subject {
	list := []Subject{}
	if hexGit.MatchString(released) {
		list = append(list, Subject{Name: "commit", Digest: map[string]string{"gitCommit": released}})
	}
	for _, s := range []struct{ name, hash string }{{"diff", diffHash}, {"approval", approvalDigest}} {
		if contract.WellFormedHash(s.hash) {
			list = append(list, Subject{Name: s.name, Digest: map[string]string{"sha256": strings.TrimPrefix(s.hash, "sha256:")}})
		}
	}
	return list
}

// encode is v as JSON without a line end. Text inside is left as it is.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	err := w.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// write is a statement as it is signed. The predicate is put in as it is: JSON
// that is encoded again would lose the spelling it was stored in.
func (s Statement) write() ([]byte, error) {
	subject, err := encode(s.Subject)
	if err != nil {
		return nil, err
	}
	b := []byte(`{"_type":"` + s.Type + `","subject":`)
	b = append(append(b, subject...), `,"predicateType":"`+s.PredicateType+`","predicate":`...)
	return append(append(b, s.Predicate...), '}'), nil
}

// strict reads exactly one JSON value into v, with no member v does not know.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}
