package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline/event"
)

// audit compares the verification of an export with the hashes alone, computed
// one after the other.
func (b *report) audit(o options) error {
	const origin, texts = "plimsoll.bench/log", 1000
	private, public, err := auditlog.NewKey(rand.Reader, origin)
	if err != nil {
		return err
	}
	signer, err := auditlog.NewSigner(private)
	if err != nil {
		return err
	}
	keys, err := auditlog.Keys(public)
	if err != nil {
		return err
	}
	begin := time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)
	var lines [texts][]byte
	for i := range lines {
		lines[i] = event.Record{
			Timestamp: begin.Add(time.Duration(i) * time.Second).Format(time.RFC3339), Kind: "TaskSeed", ID: fmt.Sprintf("TS-%03d", i), Version: 1,
			ActorID: "ada", Role: "project_lead", Action: "contract.transition", Success: true, From: "Active", To: "Published",
			CorrelationID: "IC-001", OS: "Linux", Runtime: "go", ContainerImageDigest: "uncontainerized",
		}.Text()
	}
	var export bytes.Buffer
	h := event.Genesis(origin)
	w, err := auditlog.NewWriter(&export, signer, auditlog.Options{From: h, At: begin})
	if err != nil {
		return err
	}
	for n := range o.records {
		h = h.Append(lines[n%texts])
		if err := w.Add(event.Chained{Text: lines[n%texts], Link: h.Link}); err != nil {
			return err
		}
	}
	if err := w.Close(begin); err != nil {
		return err
	}
	var took []time.Duration
	var ratios []float64
	link := make([]byte, sha256.Size, 4096)
	for range o.rounds {
		began := time.Now()
		for n := range o.records {
			sum := sha256.Sum256(append(link, lines[n%texts]...))
			link = append(link[:0], sum[:]...)
		}
		hashing := time.Since(began)
		began = time.Now()
		got, err := auditlog.Verify(bytes.NewReader(export.Bytes()), keys)
		if err != nil || got.Records != int64(o.records) {
			return fmt.Errorf("verified %d of %d records: %w", got.Records, o.records, err)
		}
		took = append(took, time.Since(began))
		ratios = append(ratios, float64(took[len(took)-1])/float64(hashing))
	}
	b.say(middle(took) < 2*time.Second, fmt.Sprintf("%d records of the audit log are verified in", o.records), ms(middle(took)), "< 2 s")
	b.add("the same to the hashes alone, one after the other", two(middle(ratios)))
	return nil
}
