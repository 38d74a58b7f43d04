// Package checkpoint is the signed note that says how far an audit log has come
// (docs/spec/contracts.md §20.5).
//
// It has the form of the notes of transparency logs: the origin of the log, the
// number of its records and the link of the last one, and below a blank line one
// Ed25519 signature. Two notes and the records between them prove, without
// anybody being asked, that the earlier log is the beginning of the later one.
package checkpoint

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/pipeline/event"
)

// Checkpoint is what a note says.
type Checkpoint struct {
	Origin string
	event.Head
}

// Text is the part of a note that is signed.
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Count, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Link[:]) + "\n"
}

// parse reads the signed part. Further lines are extensions, which are none of
// ours and therefore refused.
func parse(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" || !validName(lines[0]) {
		return Checkpoint{}, errors.New("checkpoint: it does not hold an origin, a number and a hash")
	}
	count, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || count < 0 || strconv.FormatInt(count, 10) != lines[1] {
		return Checkpoint{}, errors.New("checkpoint: the second line is no number of records")
	}
	link, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(link) != sha256.Size {
		return Checkpoint{}, errors.New("checkpoint: the third line is no hash")
	}
	c := Checkpoint{Origin: lines[0]}
	c.Count, c.Link = count, event.Link(link)
	return c, nil
}

// Signer signs notes. NewSigner makes it.
type Signer struct {
	name string
	key  ed25519.PrivateKey
}

// NewSigner signs under a name, for example the origin of the log, with the key
// that seed makes.
func NewSigner(name string, seed [ed25519.SeedSize]byte) (*Signer, error) {
	if !validName(name) {
		return nil, fmt.Errorf("checkpoint: %q is no name of a key: it must not be empty nor hold blanks or a plus", name)
	}
	return &Signer{name, ed25519.NewKeyFromSeed(seed[:])}, nil
}

// Sign is the note of c.
func (s *Signer) Sign(c Checkpoint) []byte {
	text := c.Text()
	signature := ed25519.Sign(s.key, []byte(text))
	public := s.key.Public().(ed25519.PublicKey)
	id := binary.BigEndian.AppendUint32(nil, keyID(s.name, public))
	return []byte(text + "\n" + mark + s.name + " " + base64.StdEncoding.EncodeToString(append(id, signature...)) + "\n")
}

// Verifier is the public half as text: what a reader of notes is given.
func (s *Signer) Verifier() string {
	public := s.key.Public().(ed25519.PublicKey)
	return fmt.Sprintf("%s+%08x+%s", s.name, keyID(s.name, public), base64.StdEncoding.EncodeToString(append([]byte{algorithm}, public...)))
}

const (
	mark      = "— "
	algorithm = 1 // Ed25519, as notes number it
)

func keyID(name string, public ed25519.PublicKey) uint32 {
	sum := sha256.New()
	sum.Write([]byte(name + "\n"))
	sum.Write([]byte{algorithm})
	sum.Write(public)
	return binary.BigEndian.Uint32(sum.Sum(nil))
}

func validName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '+' || r == 0x7f || r == '\u2028' })
}

// Verifier checks notes of one key.
type Verifier struct {
	name   string
	id     uint32
	public ed25519.PublicKey
}

// ParseVerifier reads what Signer.Verifier writes.
func ParseVerifier(text string) (*Verifier, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), "+")
	id, key, _ := strings.Cut(rest, "+")
	raw, err1 := hex.DecodeString(id)
	public, err2 := base64.StdEncoding.DecodeString(key)
	if err1 != nil || err2 != nil || len(raw) != 4 || len(public) != 1+ed25519.PublicKeySize || public[0] != algorithm || !validName(name) {
		return nil, errors.New("checkpoint: this is no verifier key like name+1a2b3c4d+AQ...")
	}
	v := &Verifier{name, binary.BigEndian.Uint32(raw), public[1:]}
	if keyID(name, v.public) != v.id {
		return nil, errors.New("checkpoint: the verifier key does not belong to its name")
	}
	return v, nil
}

// Open is what a note says, if this key signed it. Other signatures beside it
// are those of witnesses and say nothing here.
func (v *Verifier) Open(note []byte) (Checkpoint, error) {
	text, signatures, ok := strings.Cut(string(note), "\n\n")
	if !ok {
		return Checkpoint{}, errors.New("checkpoint: the note has no signature")
	}
	text += "\n"
	for line := range strings.Lines(signatures) {
		name, encoded, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(line, mark), "\n"), " ")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if !strings.HasPrefix(line, mark) || err != nil || len(signature) < 4 {
			return Checkpoint{}, errors.New("checkpoint: a signature of the note is malformed")
		}
		if name != v.name || binary.BigEndian.Uint32(signature) != v.id {
			continue
		}
		if !ed25519.Verify(v.public, []byte(text), signature[4:]) {
			return Checkpoint{}, errors.New("checkpoint: the signature does not fit the note")
		}
		return parse(text)
	}
	return Checkpoint{}, fmt.Errorf("checkpoint: %s did not sign the note", v.name)
}
