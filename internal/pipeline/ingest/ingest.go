// Package ingest takes Evidence in from JSON Lines, as the workflow-cookbook
// writes it, and says line by line what became of it (docs/spec/contracts.md
// §10).
//
// A line is not a contract until the layers behind have taken it: ingest has
// codes only for what stands before them and passes theirs on unchanged. A bad
// line never stops the next one. The package persists nothing: an accepted line
// comes with the text to persist.
package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/pipeline/refusal"
)

// MaxLine is the longest line in bytes, its end not counted.
const MaxLine = 1 << 20

// Status is what became of a line.
type Status string

// The statuses.
const (
	Accepted  Status = "accepted"
	Duplicate Status = "duplicate"
	Refused   Status = "refused"
	Deferred  Status = "deferred" // the last line is not finished; read it again later
	Skipped   Status = "skipped"  // a logger line without protocol context
)

// Line is the report of one line.
type Line struct {
	Line       int
	Status     Status
	ID         contract.ID
	Fault      *refusal.Refusal // of a line that is neither accepted nor a duplicate
	Warnings   []refusal.Code
	Normalised []string // pointers of members that were rewritten

	Evidence *contract.Evidence // of an accepted line
	Text     []byte             // what to persist, after normalisation
}

// Report is the report of a whole text.
type Report struct {
	Lines []Line
	// Read is how many bytes are dealt with; an unfinished last line begins
	// there and is read again.
	Read int
}

// Store is what ingestion looks up, in the transaction it persists in.
type Store interface {
	// Evidence is the stored text of an id.
	Evidence(contract.ID) ([]byte, bool)
	// Around is what an Evidence is judged beside; Persisted is filled in here.
	Around(*contract.Evidence) document.Around
}

// Read ingests a text. Lines of one text see each other: what an earlier line
// had accepted is a duplicate in a later one.
func Read(text []byte, store Store, now time.Time) Report {
	in := ingestion{store: store, now: now, accepted: map[contract.ID]any{}}
	report := Report{Lines: []Line{}}
	rest := bytes.TrimPrefix(text, []byte("\ufeff"))
	for n := 1; len(rest) > 0; n++ {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.Trim(line, " \t\r")) > 0 {
			l := in.line(line, ended)
			l.Line = n
			report.Lines = append(report.Lines, l)
			if l.Status == Deferred {
				break
			}
		}
		rest = after
	}
	report.Read = len(text) - len(rest)
	return report
}

type ingestion struct {
	store    Store
	now      time.Time
	accepted map[contract.ID]any
}

func (in *ingestion) line(text []byte, ended bool) Line {
	switch {
	case len(text) > MaxLine:
		return refused(refusal.New(refusal.IngestLineTooLarge, "the line has %d bytes", len(text)))
	case !ended && unfinished(text):
		return Line{Status: Deferred, Fault: refusal.New(refusal.IngestLineIncomplete, "the last line is not finished")}
	case !utf8.Valid(text):
		return refused(refusal.New(refusal.IngestEncoding, "the line is not UTF-8"))
	}
	v, err := contract.Parse(text)
	if err != nil {
		return unreadable(err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return refused(refusal.New(refusal.IngestNotObject, "the line is no object"))
	}
	kind, kinded := object["kind"]
	if _, logged := object["event"]; logged && !kinded {
		return Line{Status: Skipped, Fault: refusal.New(refusal.IngestNoContext, "a log line without protocol context")}
	}
	if kinded && kind != string(contract.KindEvidence) {
		return refused(refusal.New(refusal.IngestKindNotAccepted, "Evidence is taken in, and nothing else"))
	}
	return in.evidence(object)
}

// unfinished says whether a last line without an end is no JSON yet. A writer
// may be cut off in the middle of a character, so bytes that are not UTF-8 wait
// too.
func unfinished(text []byte) bool {
	for cut := 1; cut <= min(utf8.UTFMax-1, len(text)); cut++ {
		if tail := text[len(text)-cut:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			return true
		}
	}
	return utf8.Valid(text) && !json.Valid(text)
}

// unreadable sorts out why a line is no JSON to us. A lone surrogate is JSON by
// the letter and has no canonical text; its code is that of the application
// layer.
func unreadable(err error) Line {
	bad, _ := errors.AsType[*contract.TextError](err)
	switch bad.Flaw {
	case contract.DuplicateKey:
		return refused(refusal.At(refusal.IngestDuplicateKey, bad.Path, "%v", bad))
	case contract.BadUnicode:
		return refused(bad.Refusal())
	case contract.Malformed, contract.Truncated, contract.NotFinite:
	}
	return refused(refusal.New(refusal.IngestLineMalformed, "%v", bad))
}

func (in *ingestion) evidence(object map[string]any) Line {
	id, _ := object["id"].(string)
	l := Line{ID: contract.ID(id)}
	if faults := contract.Validate(contract.KindEvidence, object); len(faults) > 0 {
		return l.refused(faults[0])
	}
	normalised := normalise(object)
	if stored, known := in.stored(l.ID); known {
		if err := merge.Evidence(stored, object); err != nil {
			return l.refused(err)
		}
		l.Status = Duplicate
		return l
	}
	d, err := contract.DecodeValue(object)
	if err != nil {
		return l.refused(err)
	}
	if faults := document.Alone(d); len(faults) > 0 {
		return l.refused(faults)
	}
	e := d.(*contract.Evidence)
	around := in.store.Around(e)
	around.Persisted = in.now
	faults, warnings := document.Evidence(e, around)
	if len(faults) > 0 {
		return l.refused(faults)
	}
	in.accepted[l.ID] = object
	l.Status, l.Warnings, l.Normalised = Accepted, warnings, normalised
	l.Evidence, l.Text = e, contract.CanonicalValue(object)
	return l
}

func (in *ingestion) stored(id contract.ID) (any, bool) {
	if v, ok := in.accepted[id]; ok {
		return v, true
	}
	text, ok := in.store.Evidence(id)
	if !ok {
		return nil, false
	}
	v, err := contract.Parse(text)
	return v, err == nil
}

// normalise rewrites the hash the producer gives an absent diff, where base and
// head are one commit, to the one value that stands for no diff everywhere
// . The test for duplicates comes after it, so that the same line twice is
// a duplicate.
func normalise(object map[string]any) []string {
	base, _ := object["baseCommit"].(string)
	head, _ := object["headCommit"].(string)
	if !document.SameCommit(base, head) || object["diffHash"] != contract.EmptyStringHash {
		return nil
	}
	object["diffHash"] = contract.EmptyDiffHash
	return []string{"/diffHash"}
}

func refused(err error) Line { return Line{}.refused(err) }

func (l Line) refused(err error) Line {
	l.Status = Refused
	l.Fault, _ = errors.AsType[*refusal.Refusal](err)
	return l
}

// Summary is what a whole report comes to.
type Summary struct {
	Accepted int
	Refused  int
	Actors   []contract.ActorID       // distinct, in order of first appearance
	Verdicts []contract.PolicyVerdict // likewise
}

// Summary counts the report.
func (r Report) Summary() Summary {
	s := Summary{Actors: []contract.ActorID{}, Verdicts: []contract.PolicyVerdict{}}
	for _, l := range r.Lines {
		switch l.Status {
		case Accepted:
			s.Accepted++
			s.Actors = distinct(s.Actors, l.Evidence.Actor)
			s.Verdicts = distinct(s.Verdicts, l.Evidence.PolicyVerdict)
		case Refused:
			s.Refused++
		case Duplicate, Deferred, Skipped:
		}
	}
	return s
}

func distinct[T comparable](list []T, e T) []T {
	for _, known := range list {
		if known == e {
			return list
		}
	}
	return append(list, e)
}
