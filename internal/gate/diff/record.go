// Package diff reads the text of a change: which files it names, which lines
// leave and which arrive, and what of it cannot be trusted.
//
// Texts are bytes (docs/spec/boundary.md §3.1, ruling R16). A record keeps
// slices of the text it was parsed from; do not write to that text afterwards.
// Nothing here decides anything: defects are reported by Issues, contents that
// cannot be proven come back unresolved from Reconstruct.
package diff

import (
	"bytes"
	"unicode/utf8"
)

// InvalidPath stands for a name that is malformed, or that the headers of one
// record disagree on.
const InvalidPath = "<invalid-path>"

// Line is one line of a hunk, without its line end. The text of a file that
// mixes lone carriage returns into its lines keeps them.
type Line struct {
	Op   byte // ' ', '+' or '-'
	Text []byte
}

// Hunk is one block of a record. The counts are those of its header; Complete
// says whether its lines add up to them (docs/spec/boundary.md §3.1). A header
// that starts with "@@" and is none leaves a hunk whose numbers are all -1.
type Hunk struct {
	OldStart, OldCount int
	NewStart, NewCount int
	Lines              []Line
	// NoEOLOld and NoEOLNew: a "\ No newline at end of file" marker followed
	// the last line of that side.
	NoEOLOld, NoEOLNew bool
}

// Complete says whether the hunk holds as many lines as its header promises.
func (h *Hunk) Complete() bool {
	olds, news := 0, 0
	for _, l := range h.Lines {
		if l.Op != '+' {
			olds++
		}
		if l.Op != '-' {
			news++
		}
	}
	return olds == h.OldCount && news == h.NewCount
}

// Record is one file of a diff. OldName is empty for a new file, NewName for a
// deleted one; names are repository-relative without a/ and b/.
type Record struct {
	OldName, NewName   string
	OldMode, NewMode   string // six octal digits, "" when the record does not say
	Index              string // the index line without its mode: "<old id>..<new id>"
	New, Deleted       bool
	Renamed, Copied    bool
	Binary             bool // "Binary files … differ" or a GIT binary patch
	HasHunks           bool
	Hunks              []Hunk
	InvalidName        bool // a name that is malformed or that the headers disagree on
	ShapeOld, ShapeNew bool // a new record that names an old side; a deleted one that names a new side

	badOld, badNew bool // which name made InvalidName true
}

// Path is the new name, else the old one.
func (r *Record) Path() string {
	if r.NewName != "" {
		return r.NewName
	}
	return r.OldName
}

// Moves says whether the file has another name after the change: a rename or
// a copy.
func (r *Record) Moves() bool {
	return !r.New && !r.Deleted && r.OldName != "" && r.NewName != "" && r.OldName != r.NewName
}

// Complete says whether every hunk of the record is.
func (r *Record) Complete() bool {
	for i := range r.Hunks {
		if !r.Hunks[i].Complete() {
			return false
		}
	}
	return true
}

// Added is the added lines in record order, decoded lossily (ruling R16) and
// split at lone carriage returns too.
func (r *Record) Added() []string { return r.changed('+') }

// Removed is the removed lines, like Added.
func (r *Record) Removed() []string { return r.changed('-') }

func (r *Record) changed(op byte) []string {
	var out []string
	for i := range r.Hunks {
		for _, l := range r.Hunks[i].Lines {
			if l.Op != op {
				continue
			}
			text := trimCR(l.Text)
			for {
				part, rest, more := bytes.Cut(text, []byte{'\r'})
				out = append(out, lossy(part))
				if !more {
					break
				}
				text = rest
			}
		}
	}
	return out
}

// lossy decodes bytes as UTF-8; each byte that belongs to no valid sequence
// becomes one U+FFFD.
func lossy(text []byte) string {
	if utf8.Valid(text) {
		return string(text) // nearly always; a diff may have millions of lines
	}
	return string([]rune(string(text)))
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
