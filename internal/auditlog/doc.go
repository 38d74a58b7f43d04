// Package auditlog seals the audit log and checks copies of it offline
// (docs/spec/contracts.md §14, §20.5).
//
// The log is a hash chain (package event). A checkpoint is a signed note that
// says how far it has come: origin, number of records, link of the last one. An
// export is JSON lines: a signed checkpoint, records in the form in which they
// are hashed, more checkpoints, and a checkpoint that closes it. Whoever has the
// public key can check an export without the service:
//
//	Write:   NewWriter(io.Writer, Signer, Options) → Add(event.Chained) … Close(time)
//	Check:   Verify(io.Reader, note.Verifiers, known ...Checkpoint) (Report, error)
//	Sign:    Signer.Sign(Checkpoint) []byte,  Open([]byte, note.Verifiers) (Checkpoint, error)
//	Keys:    NewKey(io.Reader, origin) (private, public string, err error)
//	Keep:    Expired(from event.Head, records, now) (event.Head, error)
//
// What a copy alone cannot show is that it is old: a shorter log with a genuine
// closing checkpoint of its own time. Who remembers a later checkpoint hands it
// to Verify as known; then a copy that does not reach it is truncated, and one
// that goes another way is a fork.
package auditlog
