package delta

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"plimsoll.dev/internal/canonical"
)

// hasher takes the short hashes of many facts without a new buffer for each.
type hasher struct{ text []byte }

var hashers = sync.Pool{New: func() any { return new(hasher) }}

// short is the first 16 hex digits of SHA-256 over v with sorted keys, default
// separators and lists sorted by their own JSON (docs/spec/verification.md
// §11.1): the order in which a file lists something is no difference. v is made
// of this package's types: each has a JSON form, and no list is nil.
func (h *hasher) short(v any) string {
	sum := h.sum(canonical.Spaced.AppendUnordered(h.text[:0], v))
	return hex.EncodeToString(sum[:8])
}

// whole is the SHA-256 of compact sorted JSON in hex.
func (h *hasher) whole(v any) string {
	sum := h.sum(canonical.UTF8.AppendOf(h.text[:0], v))
	return hex.EncodeToString(sum[:])
}

func (h *hasher) sum(text []byte, err error) [sha256.Size]byte {
	if err != nil {
		panic("delta: a fact without a JSON form: " + err.Error())
	}
	h.text = text
	return sha256.Sum256(text)
}

func short(v any) string {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	return h.short(v)
}

func setHash(v any) string {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	return h.whole(v)
}
