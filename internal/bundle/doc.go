// Package bundle is the proof of a release as a folder of files, and the check
// of it without the service that made it (docs/spec/contracts.md §20.7).
//
//	manifest.dsse.json          every other file with its digest, the gate, what was agreed to, how far the log had come
//	contracts/<id>.v<n>.dsse.json  every version of every contract of the chain but Evidence
//	evidence/<id>.v<n>.dsse.json   the Evidence of its runs
//	audit.jsonl                 a sealed copy of the audit log, from its beginning
//
// The first three are in-toto statements (Statement v1) in DSSE envelopes, signed
// with the key of the audit log; the last is what package auditlog writes.
//
//	Make:    Make(Source, *auditlog.Signer) ([]File, error)
//	Check:   Verify(fs.FS, note.Verifiers) (Report, error)
//
// Verify trusts the keys it is given and nothing else: a bundle brings none. It
// reads every file once, follows no link, and bounds what it reads. What it knows
// of stores and of the service is the form of a bundle.
package bundle
