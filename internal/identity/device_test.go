package identity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"
)

// device is a security key as a browser on origin speaks with it.
type device struct {
	t      *testing.T
	origin string
	rp     string
	id     []byte
	key    *ecdsa.PrivateKey
	count  uint32
}

func newDevice(t *testing.T, origin, rp, id string) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &device{t: t, origin: origin, rp: rp, id: []byte(id), key: key}
}

var b64 = base64.RawURLEncoding

func (d *device) clientData(kind, challenge string) []byte {
	b, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": d.origin, "crossOrigin": false})
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

func (d *device) authData(flags byte) []byte {
	rp := sha256.Sum256([]byte(d.rp))
	b := append(rp[:], flags)
	return binary.BigEndian.AppendUint32(b, d.count)
}

// cborBytes is a byte string of CBOR shorter than 65,536 bytes.
func cborBytes(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0x59}, uint16(len(b))), b...)
}

func cborText(s string) []byte { return append([]byte{0x60 + byte(len(s))}, s...) }

// create answers the options of an enrolment.
func (d *device) create(options []byte) []byte {
	var o struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &o); err != nil || o.Challenge == "" {
		d.t.Fatalf("options %s: %v", options, err)
	}
	point, err := d.key.PublicKey.Bytes()
	if err != nil {
		d.t.Fatal(err)
	}
	cose := append([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21}, cborBytes(point[1:33])...)
	cose = append(append(cose, 0x22), cborBytes(point[33:])...)
	data := append(d.authData(0x41), make([]byte, 16)...) // present, with a key; no model is told
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(d.id))), d.id...)
	data = append(data, cose...)
	object := append([]byte{0xa3}, cborText("fmt")...)
	object = append(append(object, cborText("none")...), cborText("attStmt")...)
	object = append(append(append(object, 0xa0), cborText("authData")...), cborBytes(data)...)
	return d.credential(map[string]any{
		"clientDataJSON": b64.EncodeToString(d.clientData("webauthn.create", o.Challenge)), "attestationObject": b64.EncodeToString(object),
	})
}

// get answers a challenge.
func (d *device) get(challenge string) []byte {
	d.count++
	client, data := d.clientData("webauthn.get", challenge), d.authData(0x01)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(data, hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, digest[:])
	if err != nil {
		d.t.Fatal(err)
	}
	return d.credential(map[string]any{
		"clientDataJSON": b64.EncodeToString(client), "authenticatorData": b64.EncodeToString(d.authData(0x01)),
		"signature": b64.EncodeToString(signature),
	})
}

func (d *device) credential(response map[string]any) []byte {
	b, err := json.Marshal(map[string]any{
		"id": b64.EncodeToString(d.id), "rawId": b64.EncodeToString(d.id), "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}
