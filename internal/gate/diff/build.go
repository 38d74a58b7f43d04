package diff

import "bytes"

// NewFile is the record of a file that no diff shows: one hunk that adds every
// line, none for an empty file (docs/spec/boundary.md §2.2). Its lines keep
// their carriage returns, so that Render prints the very bytes of the file.
func NewFile(path, mode string, content []byte) Record {
	r := Record{NewName: path, NewMode: mode, New: true}
	r.setHunk(nil, content)
	return r
}

// Replace is the record of a file whose old lines all leave and whose new
// lines all arrive, in one hunk. The modes are those of the two sides.
func Replace(path, oldMode, newMode string, before, after []byte) Record {
	r := Record{OldName: path, NewName: path, OldMode: oldMode, NewMode: newMode}
	r.setHunk(before, after)
	return r
}

// Delete is the record of a file whose lines all leave.
func Delete(path, mode string, before []byte) Record {
	r := Record{OldName: path, OldMode: mode, Deleted: true}
	r.setHunk(before, nil)
	return r
}

func (r *Record) setHunk(before, after []byte) {
	olds, oldEnds := fileLines(before)
	news, newEnds := fileLines(after)
	if len(olds)+len(news) == 0 {
		return
	}
	h := Hunk{
		OldStart: min(1, len(olds)), OldCount: len(olds),
		NewStart: min(1, len(news)), NewCount: len(news),
		Lines:    make([]Line, 0, len(olds)+len(news)),
		NoEOLOld: !oldEnds, NoEOLNew: !newEnds,
	}
	for _, l := range olds {
		h.Lines = append(h.Lines, Line{Op: '-', Text: l})
	}
	for _, l := range news {
		h.Lines = append(h.Lines, Line{Op: '+', Text: l})
	}
	r.HasHunks, r.Hunks = true, []Hunk{h}
}

// fileLines splits a text at LF and says whether it ends with one. An empty
// text has no lines and lacks no line end.
func fileLines(text []byte) (lines [][]byte, ends bool) {
	if len(text) == 0 {
		return nil, true
	}
	body, ends := bytes.CutSuffix(text, []byte{'\n'})
	return bytes.Split(body, []byte{'\n'}), ends
}
