package auditlog_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline/event"
)

var errEnd = io.EOF

// A million records are verified in less than two seconds. The ratio is to the
// hashes alone, computed one after the other in the same run: a machine that is
// busy slows both.
func BenchmarkVerifyMillion(b *testing.B) {
	const million, texts = 1_000_000, 1000
	s, v := keys(b, 1)
	var lines [texts][]byte
	for i := range lines {
		lines[i] = record(i+1, "")
	}
	var copied bytes.Buffer
	w, err := auditlog.NewWriter(&copied, s, auditlog.Options{From: event.Genesis(origin), At: start})
	if err != nil {
		b.Fatal(err)
	}
	h := event.Genesis(origin)
	for n := range million {
		h = h.Append(lines[n%texts])
		if err := w.Add(event.Chained{Text: lines[n%texts], Link: h.Link}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(start); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(copied.Len()))
	var verifying, hashing time.Duration
	link := make([]byte, sha256.Size, 4096)
	for b.Loop() {
		began := time.Now()
		for n := range million {
			sum := sha256.Sum256(append(link, lines[n%texts]...))
			link = append(link[:0], sum[:]...)
		}
		hashing += time.Since(began)
		began = time.Now()
		got, err := auditlog.Verify(bytes.NewReader(copied.Bytes()), v)
		if err != nil || got.Records != million {
			b.Fatal(got, err)
		}
		verifying += time.Since(began)
	}
	b.ReportMetric(verifying.Seconds()/float64(b.N), "s/million")
	b.ReportMetric(verifying.Seconds()/hashing.Seconds(), "of-hashing")
}
