package diff

// Line is one line of a hunk, without its line end.
type Line struct {
	Op   byte // ' ', '+' or '-'
	Text []byte
}

// Hunk is one block of a record. The counts are those of its header; Complete
// says whether its lines add up to them (docs/spec/boundary.md §3.1).
type Hunk struct {
	OldStart, OldCount int
	NewStart, NewCount int
	Lines              []Line
	// NoEOLOld and NoEOLNew: a "\ No newline at end of file" marker followed
	// the last line of that side.
	NoEOLOld, NoEOLNew bool
}

// Record is one file of a diff. OldName is empty for a new file, NewName for a
// deleted one; names are repository-relative without a/ and b/.
type Record struct {
	OldName, NewName   string
	OldMode, NewMode   string // six octal digits, "" when the record does not say
	New, Deleted       bool
	Renamed, Copied    bool
	Binary             bool // "Binary files … differ" or a GIT binary patch
	HasHunks           bool
	Hunks              []Hunk
	InvalidName        bool // a name that is malformed or that the headers disagree on
	ShapeOld, ShapeNew bool // a new record that names an old side; a deleted one that names a new side
}

// Path is the new name, else the old one.
func (r *Record) Path() string {
	if r.NewName != "" {
		return r.NewName
	}
	return r.OldName
}
