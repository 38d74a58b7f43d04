package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
)

// BaselineVersion is the version of baseline files that we write; we read it
// and the three before it (§2).
const BaselineVersion = "0.5"

var baselineVersions = []string{"0.2", "0.3", "0.4", BaselineVersion}

// Limits of one baseline file: bytes and entries.
const (
	MaxBaseline        = 16 << 20
	maxBaselineEntries = 100_000
)

// Baseline is a file of findings that people accepted (§7.5). It never covers
// evidence gaps, the verify category, or mandatory controls.
type Baseline struct {
	Version   string          `json:"schema_version"`
	Project   json.RawMessage `json:"project"` // as the report has it
	Agent     json.RawMessage `json:"agent"`
	CreatedAt string          `json:"created_at"` // RFC 3339, kept while nothing else changes
	RunID     string          `json:"source_report_run_id"`
	Entries   []Entry         `json:"findings"`
	Facts     json.RawMessage `json:"tool_surface_facts"`
	Notes     []string        `json:"notes"`
}

// Entry is one accepted finding.
type Entry struct {
	Fingerprint string      `json:"fingerprint"`
	CheckID     string      `json:"check_id"`
	ToolName    string      `json:"tool_name"`
	Severity    Severity    `json:"severity"`
	Title       string      `json:"title"`
	SupportHash string      `json:"support_hash,omitempty"`
	Provenance  *Acceptance `json:"provenance,omitempty"`
}

// Acceptance says when, until when and why an entry was accepted.
type Acceptance struct {
	RunID   string `json:"run_id,omitempty"`
	Expires string `json:"expires,omitempty"` // YYYY-MM-DD
	Reason  string `json:"reason,omitempty"`
}

// expiry is the last day of an entry, "" for ever.
func (e *Entry) expiry() string {
	if e.Provenance == nil {
		return ""
	}
	return e.Provenance.Expires
}

// baselineFile is what is read: a null tool name is no name.
type baselineFile struct {
	Version   string          `json:"schema_version"`
	Project   json.RawMessage `json:"project"`
	Agent     json.RawMessage `json:"agent"`
	CreatedAt string          `json:"created_at"`
	RunID     *string         `json:"source_report_run_id"`
	Entries   []struct {
		Fingerprint string      `json:"fingerprint"`
		CheckID     string      `json:"check_id"`
		ToolName    *string     `json:"tool_name"`
		Severity    Severity    `json:"severity"`
		Title       string      `json:"title"`
		SupportHash *string     `json:"support_hash"`
		Provenance  *Acceptance `json:"provenance"`
	} `json:"findings"`
	Facts json.RawMessage `json:"tool_surface_facts"`
	Notes []string        `json:"notes"`
}

// ReadBaseline reads a baseline file of version 0.2 to 0.5. Keys that we do not
// know are passed over; a key twice, a finding without a fingerprint or another
// version is refused.
func ReadBaseline(text []byte) (*Baseline, error) {
	refuse := func(msg string, err error) (*Baseline, error) {
		return nil, fault.E("check.ReadBaseline", fault.Invalid, "baseline: "+msg, err)
	}
	if len(text) > MaxBaseline {
		return refuse(fmt.Sprintf("is over %d MiB", MaxBaseline>>20), nil)
	}
	root, failed := source.ParseJSON(text)
	if failed != nil {
		return refuse(fmt.Sprintf("is no JSON at %d:%d", failed.Pos.Line, failed.Pos.Column), nil)
	}
	if root.Kind != source.Map {
		return refuse("is no object", nil)
	}
	var f baselineFile
	if err := json.Unmarshal(text, &f); err != nil {
		return refuse("has another shape", shapeOnly(err))
	}
	if !slices.Contains(baselineVersions, f.Version) {
		return refuse(fmt.Sprintf("has schema_version %.20q; we read %s", f.Version, strings.Join(baselineVersions, ", ")), nil)
	}
	if len(f.Entries) > maxBaselineEntries {
		return refuse(fmt.Sprintf("holds over %d findings", maxBaselineEntries), nil)
	}
	b := &Baseline{
		Version: f.Version, Project: f.Project, Agent: f.Agent, CreatedAt: f.CreatedAt, RunID: deref(f.RunID),
		Entries: []Entry{}, Facts: f.Facts, Notes: f.Notes,
	}
	seen := map[string]bool{}
	for i, e := range f.Entries {
		switch {
		case e.Fingerprint == "" || e.CheckID == "":
			return refuse(fmt.Sprintf("findings/%d has no fingerprint or no check_id", i), nil)
		case e.Severity != "" && e.Severity.Rank() < 0:
			return refuse(fmt.Sprintf("findings/%d has an unknown severity", i), nil)
		case e.Provenance != nil && e.Provenance.Expires != "" && !isDate(e.Provenance.Expires):
			return refuse(fmt.Sprintf("findings/%d: provenance.expires is no date (YYYY-MM-DD)", i), nil)
		}
		entry := Entry{
			Fingerprint: e.Fingerprint, CheckID: e.CheckID, ToolName: deref(e.ToolName), Severity: e.Severity, Title: e.Title,
			SupportHash: deref(e.SupportHash), Provenance: e.Provenance,
		}
		if key := entry.Fingerprint + "\x00" + entry.SupportHash; !seen[key] {
			seen[key] = true
			b.Entries = append(b.Entries, entry)
		}
	}
	return b, nil
}

// shapeOnly keeps the place of a decoding error and drops the value.
func shapeOnly(err error) error {
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is no %s", typed.Field, typed.Type)
	}
	return nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func isDate(s string) bool { return !expired(s, "0000-00-00") }

// Write prints the file as version 0.5: entries by fingerprint, two spaces of
// indent, a final line end.
func (b *Baseline) Write() ([]byte, error) {
	c := *b
	c.Version = BaselineVersion
	c.Entries = slices.Clone(b.Entries)
	if c.Entries == nil {
		c.Entries = []Entry{}
	}
	slices.SortFunc(c.Entries, func(x, y Entry) int {
		return strings.Compare(x.Fingerprint+"\x00"+x.SupportHash, y.Fingerprint+"\x00"+y.SupportHash)
	})
	if c.Notes == nil {
		c.Notes = []string{}
	}
	for _, raw := range []*json.RawMessage{&c.Project, &c.Agent, &c.Facts} {
		if len(*raw) == 0 {
			*raw = json.RawMessage("null")
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return nil, fault.E("check.Baseline.Write", fault.Invalid, "baseline: cannot be written", err)
	}
	return out.Bytes(), nil
}

// Keep carries over what a new baseline has in common with the one it
// replaces: what was said about an entry that stays, and the time when nothing
// else changed. What expired before today is accepted anew only by a new word
// about it.
func (b *Baseline) Keep(old *Baseline, today string) error {
	before := map[string]*Acceptance{}
	for i := range old.Entries {
		before[entryKey(old.Entries[i].Fingerprint, old.Entries[i].SupportHash)] = old.Entries[i].Provenance
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		kept := before[entryKey(e.Fingerprint, e.SupportHash)]
		if kept == nil {
			continue
		}
		said := e.Provenance != nil && (e.Provenance.Reason != "" || e.Provenance.Expires != "")
		if !said || !expired(kept.Expires, today) {
			e.Provenance = kept
		}
	}
	if len(b.Notes) == 0 {
		b.Notes = old.Notes
	}
	was, now := *old, *b
	was.CreatedAt, now.CreatedAt = "", ""
	first, err := was.Write()
	if err != nil {
		return err
	}
	after, err := now.Write()
	if err != nil {
		return err
	}
	if bytes.Equal(first, after) {
		b.CreatedAt = old.CreatedAt
	}
	return nil
}
