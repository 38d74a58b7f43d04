package auditlog_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"golang.org/x/mod/sumdb/note"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/auditlog"
)

// envelopeKeys is a signer with its public key as text.
func envelopeKeys(t testing.TB, origin string) (*auditlog.Signer, note.Verifiers, string) {
	t.Helper()
	private, public, err := auditlog.NewKey(nil, origin)
	if err != nil {
		t.Fatal(err)
	}
	s, err := auditlog.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	v, err := auditlog.Keys(public)
	if err != nil {
		t.Fatal(err)
	}
	return s, v, public
}

// foreign is our public key as the library of the DSSE specification asks for
// one: it knows nothing of us.
type foreign struct {
	id  string
	key ed25519.PublicKey
}

func (f foreign) KeyID() (string, error)   { return f.id, nil }
func (f foreign) Public() crypto.PublicKey { return f.key }
func (f foreign) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(f.key, data, sig) {
		return errors.New("the signature does not hold")
	}
	return nil
}

// What we sign is what others verify.
func TestOthersReadOurEnvelopes(t *testing.T) {
	s, v, public := envelopeKeys(t, "test.example/log")
	parts := strings.SplitN(public, "+", 3)
	raw, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	reader, err := dsse.NewEnvelopeVerifier(foreign{parts[0] + "+" + parts[1], ed25519.PublicKey(raw[1:])})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		media := rapid.StringMatching(`[a-z]{1,9}/[a-z.+]{1,30}`).Draw(t, "type")
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		text, err := s.Envelope(media, payload)
		if err != nil {
			t.Fatal(err)
		}
		got, err := auditlog.OpenEnvelope(text, v)
		if err != nil || got.Signer != s.Origin() || got.Type != media || !bytes.Equal(got.Payload, payload) {
			t.Fatalf("we read %+v, %v", got, err)
		}
		var e dsse.Envelope
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		accepted, body, err := reader.VerifyAndDecode(context.Background(), &e)
		if err != nil || len(accepted) != 1 || !bytes.Equal(body, payload) || e.PayloadType != media {
			t.Fatalf("the library reads %q, %v", body, err)
		}
	})
}

// Every flipped bit, every byte that is taken out, put in or cut off is found.
func TestAnEnvelopeHasOneSpelling(t *testing.T) {
	s, v, _ := envelopeKeys(t, "test.example/log")
	good, err := s.Envelope("application/x", []byte(`{"a":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	refused := func(what string, text []byte) {
		tried++
		if e, err := auditlog.OpenEnvelope(text, v); err == nil {
			t.Errorf("%s: it reads as %+v:\n%s", what, e, text)
		}
	}
	for i := range good {
		for bit := range 8 {
			flipped := bytes.Clone(good)
			flipped[i] ^= 1 << bit
			refused("flip", flipped)
		}
		refused("cut", good[:i])
		refused("delete", append(bytes.Clone(good[:i]), good[i+1:]...))
		for _, c := range []byte(" \n\t0A=\"") {
			if inserted := append(append(bytes.Clone(good[:i]), c), good[i:]...); !bytes.Equal(inserted, good) {
				refused("insert", inserted)
			}
		}
	}
	refused("twice", append(bytes.Clone(good), good...))
	other, _, _ := envelopeKeys(t, "test.example/log")
	again, err := other.Envelope("application/x", []byte(`{"a":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	refused("another key of the same name", again)
	if tried < 3000 {
		t.Errorf("only %d texts were tried", tried)
	}
}

// A checkpoint is no envelope and an envelope no checkpoint, though one key signs
// both.
func TestTheTwoUsesOfTheKeyAreApart(t *testing.T) {
	for _, origin := range []string{"DSSEv1 2 x", "a b", "DSSEv1 ", ""} {
		private, _, err := auditlog.NewKey(nil, origin)
		if err != nil {
			continue
		}
		if _, err := auditlog.NewSigner(private); err == nil {
			t.Errorf("a log may be called %q, and its checkpoints begin as what DSSE signs", origin)
		}
	}
}

func FuzzOpenEnvelope(f *testing.F) {
	s, v, _ := envelopeKeys(f, "test.example/log")
	good, err := s.Envelope("application/x", []byte(`{}`))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		string(good), "", "{}", `{"payloadType":"x","payload":"","signatures":[]}`,
		`{"payloadType":"x","payload":"","signatures":[{"keyid":"a+00000000","sig":""}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := auditlog.OpenEnvelope(text, v); err == nil && !bytes.Equal(text, good) {
			t.Errorf("somebody without the key signed %q", text)
		}
	})
}
