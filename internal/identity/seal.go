package identity

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll.dev/internal/fault"
)

// Key seals second factors. All nodes of a service have the same; who loses it
// loses the factors, and everybody enrols again.
type Key [32]byte

// keyText is how a key file begins, so that another file is not taken for one.
const keyText = "plimsoll-identity-key-1:"

// maxKeyFile bounds a key file.
const maxKeyFile = 1024

// OpenKey reads the key in a file. One that is not there is made, for its owner
// only; of two processes that make it at once both get the same. Invalid: the
// file is no key, or others may read it.
func OpenKey(path string) (Key, error) {
	const op = "identity.OpenKey"
	k, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	if _, err := rand.Read(k[:]); err != nil {
		return Key{}, fault.E(op, fault.Unavailable, "make the key of second factors", err)
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return Key{}, fault.E(op, fault.Unavailable, "make the folder of the key", err)
	}
	// A whole file appears under the name or none: a link fails where one is.
	f, err := os.CreateTemp(folder, ".identity-*")
	if err != nil {
		return Key{}, fault.E(op, fault.Unavailable, "make the key of second factors", err)
	}
	_, err = fmt.Fprintln(f, keyText+base64.StdEncoding.EncodeToString(k[:]))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return Key{}, fault.E(op, fault.Unavailable, "write the key of second factors", err)
	}
	return readKey(path)
}

func readKey(path string) (Key, error) {
	const op = "identity.OpenKey"
	f, err := os.Open(path)
	if err != nil {
		return Key{}, fault.E(op, fault.Unavailable, "read the key of second factors", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return Key{}, fault.E(op, fault.Unavailable, "read the key of second factors", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Key{}, fault.E(op, fault.Invalid, path+": others than its owner may read the key", nil).WithHint("chmod 600 %s", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return Key{}, fault.E(op, fault.Unavailable, "read the key of second factors", err)
	}
	var k Key
	encoded, ours := strings.CutPrefix(strings.TrimSpace(string(text)), keyText)
	b, err := base64.StdEncoding.DecodeString(encoded)
	if !ours || err != nil || len(b) != len(k) || Key(b) == (Key{}) {
		return Key{}, fault.E(op, fault.Invalid, path+": it is no key of second factors", nil)
	}
	return Key(b), nil
}

// derive is a key for one purpose.
func (k Key) derive(purpose string) []byte {
	b, err := hkdf.Key(sha256.New, k[:], nil, "plimsoll identity: "+purpose, 32)
	if err != nil {
		panic("identity: derive a key: " + err.Error()) // the length is our own
	}
	return b
}

// sealer shuts values with AES-256-GCM.
type sealer struct{ aead cipher.AEAD }

func newSealer(k Key) sealer {
	block, err := aes.NewCipher(k.derive("seal"))
	if err != nil {
		panic("identity: " + err.Error()) // the length is our own
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("identity: " + err.Error())
	}
	return sealer{aead}
}

// place is what a sealed value is bound to: it opens nowhere else.
func place(parts []string) []byte {
	b, err := json.Marshal(parts)
	if err != nil {
		panic("identity: " + err.Error())
	}
	return b
}

func (s sealer) shut(v any, at ...string) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fault.E("identity.seal", fault.Internal, "write what is sealed", nil)
	}
	return s.aead.Seal(nil, nil, b, place(at)), nil
}

func (s sealer) open(sealed []byte, v any, at ...string) error {
	b, err := s.aead.Open(nil, nil, sealed, place(at))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil { // it may quote what is inside
		return fault.E("identity.open", fault.Internal, "a second factor or challenge is not as it was sealed", nil).
			WithHint("was the key file of second factors replaced, or a row moved?")
	}
	return nil
}
