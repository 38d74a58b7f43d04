package diff

import "bytes"

// FileState is what lies in the workspace at the path of a record.
type FileState string

// The states. Outside: the path leaves the workspace. Unsafe: a link, an alias
// or no regular file. ReadFailed: it is there and could not be read.
const (
	FileMissing    FileState = "missing"
	FileRead       FileState = "read"
	FileOutside    FileState = "outside"
	FileUnsafe     FileState = "unsafe"
	FileReadFailed FileState = "read_failed"
)

// Valid says whether s is one of the five.
func (s FileState) Valid() bool {
	switch s {
	case FileMissing, FileRead, FileOutside, FileUnsafe, FileReadFailed:
		return true
	}
	return false
}

// WorkspaceFile is the file at the path of a record, as the strict reader left
// it. Bytes are set when State is FileRead.
type WorkspaceFile struct {
	State FileState
	Bytes []byte
}

// The source tokens of docs/spec/boundary.md §3.3 for a detached diff.
const (
	SourceNewFile     = "diff_new_file"
	SourceDeletedFile = "diff_deleted_file"
	SourceRenamedFile = "workspace_renamed_file"
	SourceHead        = "workspace_already_contains_diff_head"
	SourceBase        = "diff_applied_to_workspace_base"

	UnresolvedNewFile      = "new_file_workspace_mismatch"
	UnresolvedDeletedFile  = "deleted_file_workspace_mismatch"
	UnresolvedRename       = "renamed_file_unresolved"
	UnresolvedRenameFailed = "renamed_file_read_failed"
	UnresolvedOutside      = "path_outside_workspace"
	UnresolvedMissing      = "workspace_file_missing"
	UnresolvedReadFailed   = "workspace_read_failed"
	UnresolvedMismatch     = "diff_workspace_mismatch"
)

// Resolution is both sides of a record. A side that is not present is known to
// be empty; when Unresolved, neither side is known and Source says why.
type Resolution struct {
	Old, New               []byte
	OldPresent, NewPresent bool
	Source                 string
	Unresolved             bool
}

func unresolved(token string) Resolution { return Resolution{Source: token, Unresolved: true} }

// Reconstruct finds both sides of a record of a detached diff with the help of
// the file in the workspace, which may hold the base or the head
// (docs/spec/boundary.md §3.3). Texts come back with LF line ends, so that they
// do not depend on which of the two it holds.
func Reconstruct(r *Record, ws WorkspaceFile) Resolution {
	switch {
	case r.New && !r.Deleted:
		return newFile(r, ws)
	case r.Deleted && !r.New:
		return deletedFile(r, ws)
	case r.Moves():
		return movedFile(r, ws)
	}
	return editedFile(r, ws)
}

func newFile(r *Record, ws WorkspaceFile) Resolution {
	if r.Binary || !r.Complete() {
		return unresolved(UnresolvedMismatch)
	}
	text := sideText(r, '+')
	if ws.State != FileMissing && !(ws.State == FileRead && bytes.Equal(normal(ws.Bytes), text)) {
		return unresolved(UnresolvedNewFile)
	}
	return Resolution{New: text, NewPresent: true, Source: SourceNewFile}
}

func deletedFile(r *Record, ws WorkspaceFile) Resolution {
	if r.Binary || !r.Complete() {
		return unresolved(UnresolvedMismatch)
	}
	text := sideText(r, '-')
	if ws.State != FileMissing && !(ws.State == FileRead && bytes.Equal(normal(ws.Bytes), text)) {
		return unresolved(UnresolvedDeletedFile)
	}
	return Resolution{Old: text, OldPresent: true, Source: SourceDeletedFile}
}

// movedFile takes the file at the new name for the head, but only when the
// lines that the record shows are there: a harmless file of that name must not
// stand in for another text.
func movedFile(r *Record, ws WorkspaceFile) Resolution {
	switch ws.State {
	case FileRead:
	case FileReadFailed:
		return unresolved(UnresolvedRenameFailed)
	case FileMissing, FileOutside, FileUnsafe:
		return unresolved(UnresolvedRename)
	}
	head := split(ws.Bytes)
	if _, ok := head.apply(r.Hunks, '+'); !ok || r.Binary {
		return unresolved(UnresolvedRename)
	}
	return Resolution{New: head.bytes(), NewPresent: true, Source: SourceRenamedFile}
}

func editedFile(r *Record, ws WorkspaceFile) Resolution {
	switch ws.State {
	case FileRead:
	case FileMissing:
		return unresolved(UnresolvedMissing)
	case FileOutside:
		return unresolved(UnresolvedOutside)
	case FileUnsafe, FileReadFailed:
		return unresolved(UnresolvedReadFailed)
	}
	if !r.HasHunks || r.Binary {
		return unresolved(UnresolvedMismatch)
	}
	here := split(ws.Bytes)
	resolved := func(before, after lines, source string) Resolution {
		return Resolution{
			Old: before.bytes(), OldPresent: true, New: after.bytes(), NewPresent: true, Source: source,
		}
	}
	// A hunk that only adds can apply to a file that holds its lines already,
	// so the head is tried first.
	if onlyAdds(r) {
		if base, ok := here.apply(r.Hunks, '+'); ok {
			return resolved(base, here, SourceHead)
		}
	}
	if head, ok := here.apply(r.Hunks, '-'); ok {
		return resolved(here, head, SourceBase)
	}
	if base, ok := here.apply(r.Hunks, '+'); ok {
		return resolved(base, here, SourceHead)
	}
	return unresolved(UnresolvedMismatch)
}

// onlyAdds says whether some hunk adds lines and removes none.
func onlyAdds(r *Record) bool {
	for i := range r.Hunks {
		adds, removes := false, false
		for _, l := range r.Hunks[i].Lines {
			adds = adds || l.Op == '+'
			removes = removes || l.Op == '-'
		}
		if adds && !removes {
			return true
		}
	}
	return false
}

// lines is a text taken apart, without line ends.
type lines struct {
	list [][]byte
	ends bool // the last line has a line end
}

func split(text []byte) lines {
	list, ends := fileLines(unifyEnds(text))
	for i := range list {
		list[i] = trimCR(list[i])
	}
	return lines{list: list, ends: ends}
}

func (l lines) bytes() []byte {
	if len(l.list) == 0 {
		return []byte{}
	}
	text := bytes.Join(l.list, []byte{'\n'})
	if l.ends {
		text = append(text, '\n')
	}
	return text
}

func normal(text []byte) []byte { return split(text).bytes() }

// apply replaces in each hunk the lines marked gone ('-' forwards, '+' in
// reverse) by those of the other side, at the very place that the header
// names. The final line end stays as it is.
func (l lines) apply(hunks []Hunk, gone byte) (lines, bool) {
	out := make([][]byte, 0, len(l.list))
	pos := 0
	for i := range hunks {
		h := &hunks[i]
		start, count := h.OldStart, h.OldCount
		if gone == '+' {
			start, count = h.NewStart, h.NewCount
		}
		if count > 0 {
			// A hunk without lines on this side stands after the named line.
			start--
		}
		if !h.Complete() || start < pos || start+count > len(l.list) {
			return lines{}, false
		}
		out = append(out, l.list[pos:start]...)
		pos = start
		for _, line := range h.Lines {
			text := trimCR(line.Text)
			if line.Op == ' ' || line.Op == gone {
				if !bytes.Equal(l.list[pos], text) {
					return lines{}, false
				}
				pos++
			}
			if line.Op != gone {
				out = append(out, text)
			}
		}
	}
	out = append(out, l.list[pos:]...)
	return lines{list: out, ends: l.ends}, true
}

// sideText is one side of a record that shows the whole file: its context
// lines and those marked op.
func sideText(r *Record, op byte) []byte {
	text := lines{ends: true}
	for i := range r.Hunks {
		h := &r.Hunks[i]
		for _, line := range h.Lines {
			if line.Op == ' ' || line.Op == op {
				text.list = append(text.list, trimCR(line.Text))
			}
		}
		if op == '+' {
			text.ends = !h.NoEOLNew
		} else {
			text.ends = !h.NoEOLOld
		}
	}
	return text.bytes()
}
