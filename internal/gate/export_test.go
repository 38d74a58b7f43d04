package gate

import (
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/trigger"
)

// AuditFacts and LegacyFacts let the vectors of §9 feed the hash functions with
// members that no live run has.
type AuditFacts struct {
	Actor                      Actor
	Mode                       Mode
	Replayable                 bool
	Trigger                    trigger.Result
	Control                    control.Control
	Subject, LegacyID          string
	ChangedFiles, Fingerprints []string
	PolicySet                  string
}

// AuditID is the id of §9.4.
func AuditID(f AuditFacts) string {
	return auditID(&auditFacts{
		f.Actor, f.Mode, f.Replayable, f.Trigger, f.Control, f.Subject, f.LegacyID, f.ChangedFiles, f.Fingerprints, f.PolicySet,
	})
}

// LegacyFacts is the input of the id of §9.5.
type LegacyFacts struct {
	Mode                  Mode
	ChangedFiles          []string
	Records               []diff.Record
	Path, Source          string
	OldSHA, NewSHA        any
	RuleIDs, Fingerprints []string
}

// LegacyID is the id of §9.5 for the actor codex, policy version 1 and one
// evaluated file; none when Path is empty.
func LegacyID(f LegacyFacts) string {
	var files []evaluatedFile
	if f.Path != "" {
		files = []evaluatedFile{{f.Path, f.Source, f.OldSHA, f.NewSHA}}
	}
	return legacyID(&legacyFacts{
		agent: ActorCodex, mode: f.Mode, changedFiles: f.ChangedFiles, records: f.Records, evaluated: files,
		policyVersion: "1", ruleIDs: f.RuleIDs, fingerprints: f.Fingerprints,
	})
}

// CodexID is the audit id of the deprecated format.
func (r *Result) CodexID() string { return r.codexID }

// Canonical is the row as its order is taken over.
func (v *Violation) Canonical() canonical.Object { return v.canonical() }

// Contradiction is why a result would not be emitted.
func (r *Result) Contradiction() error { return r.contradiction() }
