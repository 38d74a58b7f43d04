package auditlog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Envelope is what a DSSE envelope holds, once its signature is known to be good
// (docs/spec/contracts.md §20.7). Signer is the name of the key: the origin of the
// log of the service that signed.
type Envelope struct {
	Signer  string
	Type    string // of the payload, a media type
	Payload []byte
}

// sealed is an envelope as it is written.
type sealed struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// Envelope signs a payload as a DSSE envelope: one line of JSON. What is signed
// begins with "DSSEv1 " and a length, and a checkpoint with the name of a log,
// which has no space in it: one can never be taken for the other.
func (s *Signer) Envelope(mediaType string, payload []byte) ([]byte, error) {
	sig, err := s.note.Sign(preAuth(mediaType, payload))
	if err != nil {
		return nil, fmt.Errorf("sign an envelope: %w", err)
	}
	return writeEnvelope(sealed{
		PayloadType: mediaType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{KeyID: keyID(s.note.Name(), s.note.KeyHash()), Sig: base64.StdEncoding.EncodeToString(sig)}},
	})
}

// OpenEnvelope is the content of an envelope with exactly one signature, by one
// of the keys, spelled as Envelope spells it: a text that differs in one bit is
// not the same envelope. The caller bounds the length of text.
func OpenEnvelope(text []byte, keys note.Verifiers) (Envelope, error) {
	var e sealed
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Envelope{}, errors.New("it is no signed envelope")
	}
	if again, err := writeEnvelope(e); err != nil || !bytes.Equal(again, text) {
		return Envelope{}, errors.New("it is no envelope as one is written")
	}
	if len(e.Signatures) != 1 {
		return Envelope{}, fmt.Errorf("it has %d signatures instead of one", len(e.Signatures))
	}
	payload, err := unspell(e.Payload)
	if err != nil {
		return Envelope{}, errors.New("its payload is not spelled as it was written")
	}
	sig, err := unspell(e.Signatures[0].Sig)
	if err != nil {
		return Envelope{}, errors.New("its signature is not spelled as it was written")
	}
	name, hash, err := parseKeyID(e.Signatures[0].KeyID)
	if err != nil {
		return Envelope{}, err
	}
	key, err := keys.Verifier(name, hash)
	if err != nil {
		return Envelope{}, fmt.Errorf("it is signed by %q, whose key was not given", e.Signatures[0].KeyID)
	}
	if !key.Verify(preAuth(e.PayloadType, payload), sig) {
		return Envelope{}, fmt.Errorf("the signature of %s does not hold", name)
	}
	return Envelope{Signer: name, Type: e.PayloadType, Payload: payload}, nil
}

// preAuth is the text that DSSE signs.
func preAuth(mediaType string, payload []byte) []byte {
	b := make([]byte, 0, len(mediaType)+len(payload)+64)
	b = fmt.Appendf(b, "DSSEv1 %d %s %d ", len(mediaType), mediaType, len(payload))
	return append(b, payload...)
}

func writeEnvelope(e sealed) ([]byte, error) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	err := w.Encode(e)
	return b.Bytes(), err
}

// unspell is strict base64 in the one spelling.
func unspell(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && base64.StdEncoding.EncodeToString(raw) != text {
		err = errForm // the decoder passes over line ends
	}
	return raw, err
}

// keyID names a key as the public key itself begins.
func keyID(name string, hash uint32) string { return fmt.Sprintf("%s+%08x", name, hash) }

func parseKeyID(id string) (name string, hash uint32, err error) {
	name, digits, ok := strings.Cut(id, "+")
	n, err := strconv.ParseUint(digits, 16, 32)
	if !ok || err != nil || keyID(name, uint32(n)) != id {
		return "", 0, errors.New("it does not name the key it is signed with")
	}
	return name, uint32(n), nil
}
