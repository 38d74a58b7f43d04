package canonical

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"sync"
)

// Doc is the text of a document in parts: what several documents repeat is in
// memory once. The zero Doc is empty.
type Doc struct{ parts [][]byte }

// Text is a document of these bytes.
func Text(text []byte) Doc { return Doc{[][]byte{text}} }

// Bytes is the whole text.
func (d Doc) Bytes() []byte { return slices.Concat(d.parts...) }

// Len is how many bytes the text has.
func (d Doc) Len() int {
	n := 0
	for _, p := range d.parts {
		n += len(p)
	}
	return n
}

// SHA256 is the digest of the text in lower-case hex.
func (d Doc) SHA256() string {
	h := sha256.New()
	for _, p := range d.parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeSize is how much is written at once: small parts are put together.
const writeSize = 256 << 10

var gathers = sync.Pool{New: func() any {
	b := make([]byte, 0, writeSize)
	return &b
}}

// WriteTo writes the text, as io.WriterTo has it.
func (d Doc) WriteTo(w io.Writer) (n int64, err error) {
	buffer := gathers.Get().(*[]byte)
	defer gathers.Put(buffer)
	together := (*buffer)[:0]
	write := func(text []byte) {
		if err == nil && len(text) > 0 {
			var more int
			more, err = w.Write(text)
			n += int64(more)
		}
	}
	for _, p := range d.parts {
		if len(together)+len(p) > writeSize {
			write(together)
			together = together[:0]
		}
		if len(p) > writeSize {
			write(p)
			continue
		}
		together = append(together, p...)
	}
	write(together)
	return n, err
}
