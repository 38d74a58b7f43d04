package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"time"

	"plimsoll.dev/internal/canonical"
)

// Record is one line of the audit log: one action of anybody, accepted or
// refused, system roles included (docs/spec/contracts.md §14). The log is
// append-only, and each record is chained to the one before it.
//
// An empty text is absent, but for the members every record has.
type Record struct {
	Timestamp string
	Kind      string // the contract concerned
	ID        string
	Version   int64
	ActorID   string
	Role      string
	Action    string // a dotted verb, for example "gate.decide"
	Success   bool

	ErrorCode    string // set exactly when Success is false
	ErrorMessage string

	Decision *Entry

	OS                   string // the environment in short
	Runtime              string
	ContainerImageDigest string

	From           string
	To             string
	Cause          string
	Ground         string
	Resolution     string
	IdempotencyKey string
	CorrelationID  string
	IntentID       string // of the chain, where the correlation id is not its own
	Digest         string // the approval digest a decision was made for
	BaseCommit     string // recorded with the digest and no part of it
	HeadCommit     string
	SelfApproved   bool // accepted only because the four-eyes options are off

	// From the chain, when the contract itself has none: what the log is
	// searched by.
	TaskSeedID    string
	RiskLevel     string
	FinalDecision string
}

// Text is the record as it is stored, exported and hashed: one line of
// canonical JSON.
func (r Record) Text() []byte {
	o := canonical.Object{
		{Key: "timestamp", Value: r.Timestamp},
		{Key: "kind", Value: r.Kind},
		{Key: "id", Value: r.ID},
		{Key: "version", Value: r.Version},
		{Key: "actorId", Value: r.ActorID},
		{Key: "role", Value: r.Role},
		{Key: "action", Value: r.Action},
		{Key: "success", Value: r.Success},
	}
	if !r.Success {
		o = append(o, canonical.Member{Key: "error", Value: canonical.Object{
			{Key: "code", Value: r.ErrorCode}, {Key: "message", Value: r.ErrorMessage},
		}})
	}
	if d := r.Decision; d != nil {
		entry := canonical.Object{
			{Key: "role", Value: d.Role},
			{Key: "actorId", Value: d.ActorID},
			{Key: "decision", Value: d.Decision},
			{Key: "decidedAt", Value: d.DecidedAt},
		}
		if d.Reason != nil {
			entry = append(entry, canonical.Member{Key: "reason", Value: *d.Reason})
		}
		o = append(o, canonical.Member{Key: "approvalDecision", Value: entry})
	}
	if r.OS+r.Runtime+r.ContainerImageDigest != "" {
		o = append(o, canonical.Member{Key: "environment", Value: canonical.Object{
			{Key: "os", Value: r.OS},
			{Key: "runtime", Value: r.Runtime},
			{Key: "containerImageDigest", Value: r.ContainerImageDigest},
		}})
	}
	for _, m := range []struct{ key, value string }{
		{"from", r.From},
		{"to", r.To},
		{"cause", r.Cause},
		{"ground", r.Ground},
		{"resolution", r.Resolution},
		{"idempotencyKey", r.IdempotencyKey},
		{"correlationId", r.CorrelationID},
		{"intentId", r.IntentID},
		{"approvalDigest", r.Digest},
		{"baseCommit", r.BaseCommit},
		{"headCommit", r.HeadCommit},
		{"taskSeedId", r.TaskSeedID},
		{"riskLevel", r.RiskLevel},
		{"finalDecision", r.FinalDecision},
	} {
		if m.value != "" {
			o = append(o, canonical.Member{Key: m.key, Value: m.value})
		}
	}
	if r.SelfApproved {
		o = append(o, canonical.Member{Key: "self_approved", Value: true})
	}
	return canonical.UTF8.Append(nil, o)
}

// KeepUntil is the first instant at which a record of time t may be given up:
// one calendar year later.
func KeepUntil(t time.Time) time.Time { return t.AddDate(1, 0, 0) }

// Link is the hash that chains a record to all before it.
type Link [sha256.Size]byte

// String is the link in lower-case hex.
func (l Link) String() string { return hex.EncodeToString(l[:]) }

// Head is how far a log has come: the number of its records and the link of the
// last. Two logs with the same Head hold the same records.
type Head struct {
	Count int64
	Link  Link
}

// Genesis is the head of an empty log. The origin names the log, so that the
// records of one cannot be passed off as those of another.
func Genesis(origin string) Head {
	return Head{Link: sha256.Sum256(append([]byte("plimsoll audit log\n"), origin...))}
}

// Append is the head after one more record. The link before is of fixed length
// and comes first, so no two histories share the bytes that are hashed.
func (h Head) Append(text []byte) Head {
	sum := sha256.New()
	sum.Write(h.Link[:])
	sum.Write(text)
	return Head{Count: h.Count + 1, Link: Link(sum.Sum(nil))}
}

// Chained is a record as the log stores it: its text and its link.
type Chained struct {
	Text []byte
	Link Link
}

// Verify follows the records from one head and gives the head they lead to. The
// error names the first record that was edited, left out, added or moved; with
// two checkpoints, the earlier as from, the caller compares the result with the
// later.
func Verify(from Head, records iter.Seq[Chained]) (Head, error) {
	h := from
	for r := range records {
		next := h.Append(r.Text)
		if !bytes.Equal(next.Link[:], r.Link[:]) {
			return h, fmt.Errorf("audit record %d does not follow from the %d before it", next.Count, h.Count)
		}
		h = next
	}
	return h, nil
}
