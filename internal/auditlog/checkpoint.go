package auditlog

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"plimsoll.dev/internal/pipeline/event"
)

// Use says what a checkpoint was signed for. It is part of what is signed, so
// that one in the middle of an export cannot be passed off as its end.
type Use string

// The uses.
const (
	Stands Use = "stands" // how far the log had come
	Opens  Use = "opens"  // where an export begins
	Closes Use = "closes" // where an export ends
	Seals  Use = "seals"  // everything up to here was given up when its time had come
)

// Valid says whether u is one of the four.
func (u Use) Valid() bool {
	switch u {
	case Stands, Opens, Closes, Seals:
		return true
	}
	return false
}

// Checkpoint is how far a log had come at an instant.
type Checkpoint struct {
	Origin string
	Head   event.Head
	At     time.Time // by the clock of who signed, whole seconds
	Use    Use
}

// timeForm is the one spelling of an instant in a checkpoint.
const timeForm = "2006-01-02T15:04:05Z"

// Text is the checkpoint as it is signed: origin, number of records and link of
// the last as the signed checkpoints of transparency logs have them, then its
// instant and its use. The link is that of the chain and no Merkle root.
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Head.Count, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Head.Link[:]) + "\n" +
		c.At.UTC().Format(timeForm) + "\n" + string(c.Use) + "\n"
}

var errForm = errors.New("it is no checkpoint of an audit log")

// parseCheckpoint reads what Text wrote, in that spelling only.
func parseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 6 {
		return Checkpoint{}, errForm
	}
	c := Checkpoint{Origin: lines[0], Use: Use(lines[4])}
	count, err1 := strconv.ParseInt(lines[1], 10, 64)
	link, err2 := base64.StdEncoding.DecodeString(lines[2])
	at, err3 := time.Parse(timeForm, lines[3])
	if errors.Join(err1, err2, err3) != nil || count < 0 || copy(c.Head.Link[:], link) != len(c.Head.Link) || !c.Use.Valid() {
		return Checkpoint{}, errForm
	}
	c.Head.Count, c.At = count, at
	if c.Text() != text {
		return Checkpoint{}, errForm
	}
	return c, nil
}

// Signer signs the checkpoints of one log.
type Signer struct {
	origin string
	note   note.Signer
	keys   note.Verifiers
}

// NewKey makes the key pair of a log. The private half goes into the
// configuration of the service, the public one to whoever checks.
func NewKey(random io.Reader, origin string) (private, public string, err error) {
	if random == nil {
		random = rand.Reader
	}
	return note.GenerateKey(random, origin)
}

// NewSigner is the signer of a private key. The log's origin is the key's name.
func NewSigner(private string) (*Signer, error) {
	s, err := note.NewSigner(private)
	if err != nil {
		return nil, fmt.Errorf("read the key of the audit log: %w", err)
	}
	keys, err := publicHalf(s.Name(), private)
	if err != nil {
		return nil, fmt.Errorf("read the key of the audit log: %w", err)
	}
	return &Signer{s.Name(), s, keys}, nil
}

// publicHalf is what checks the signatures of a private key, which ends with an
// algorithm of one byte and the seed.
func publicHalf(name, private string) (note.Verifiers, error) {
	parts := strings.SplitN(private, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return nil, errors.New("it is no private key")
	}
	key, err := note.NewEd25519VerifierKey(name, ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	return Keys(key)
}

// Keys opens what this signer signed.
func (s *Signer) Keys() note.Verifiers { return s.keys }

// Origin is the name of the log.
func (s *Signer) Origin() string { return s.origin }

// Sign is a checkpoint as a signed note.
func (s *Signer) Sign(h event.Head, at time.Time, u Use) ([]byte, error) {
	c := Checkpoint{Origin: s.origin, Head: h, At: at.UTC().Truncate(time.Second), Use: u}
	if _, err := parseCheckpoint(c.Text()); err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: c.Text()}, s.note)
}

// Keys is the public keys of logs, as NewKey wrote them.
func Keys(public ...string) (note.Verifiers, error) {
	list := make([]note.Verifier, len(public))
	for i, key := range public {
		v, err := note.NewVerifier(strings.TrimSpace(key))
		if err != nil {
			return nil, fmt.Errorf("read public key %d: %w", i+1, err)
		}
		list[i] = v
	}
	return note.VerifierList(list...), nil
}

// Open is the checkpoint of a signed note. It must be signed by a key of its
// own origin, and be spelled as Sign does: a note that differs in one bit is not
// the same note.
func Open(text []byte, keys note.Verifiers) (Checkpoint, error) {
	n, err := note.Open(text, keys)
	if err != nil {
		return Checkpoint{}, err
	}
	c, err := parseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 {
		return Checkpoint{}, errors.New("a checkpoint has exactly one signature, by a known key")
	}
	if n.Sigs[0].Name != c.Origin {
		return Checkpoint{}, fmt.Errorf("the log %s is signed by %s", c.Origin, n.Sigs[0].Name)
	}
	sig := n.Sigs[0]
	raw, err := base64.StdEncoding.Strict().DecodeString(sig.Base64)
	if err != nil || !bytes.Equal(text, []byte(n.Text+"\n\u2014 "+sig.Name+" "+base64.StdEncoding.EncodeToString(raw)+"\n")) {
		return Checkpoint{}, errors.New("the signature is not spelled as it was written")
	}
	return c, nil
}
