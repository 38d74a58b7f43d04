package diff

import (
	"bytes"
	"math"
)

const recordStart = "diff --git "

// Parse reads the records of a git-style unified diff. It never fails: a text
// that is none has no records, and what is wrong with a record is marked on it
// (docs/spec/boundary.md §3.1).
//
// Lines end at LF or CRLF, or at CR in a text without any LF. A lone CR inside
// a line of a text with LFs is content: to take it for a line end would let a
// file cut its own hunk short and hide what follows.
func Parse(text []byte) []Record {
	p := parser{}
	for rest := unifyEnds(text); len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		switch {
		case p.content(line):
		case bytes.HasPrefix(line, []byte(recordStart)):
			p.close()
			if p.lines == nil {
				// One array for the lines of all hunks and one for the
				// records: nothing is copied while they grow.
				p.lines = make([]Line, 0, bytes.Count(rest, []byte{'\n'})+1)
				p.records = make([]Record, 0, bytes.Count(rest, []byte("\n"+recordStart))+1)
			}
			p.open = true
			p.record = Record{}
			p.names = names{header: splitHeader(line[len(recordStart):])}
		case p.open:
			p.meta(line)
		}
	}
	p.close()
	return p.records
}

// unifyEnds turns CR into LF in a text that has no LF.
func unifyEnds(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
		return bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'})
	}
	return text
}

// cutLine takes the first line off text, without its line end.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte{'\n'})
	return trimCR(line), rest
}

type parser struct {
	records []Record
	lines   []Line

	open   bool
	record Record
	names  names
	body   bool // a side line or a hunk was seen: the extended header is over

	inHunk           bool // the last line belonged to the last hunk
	first            int  // its first line in lines
	oldOwed, newOwed int
}

// content takes a line of the current hunk.
func (p *parser) content(line []byte) bool {
	if !p.inHunk {
		return false
	}
	h := &p.record.Hunks[len(p.record.Hunks)-1]
	var op byte
	if len(line) > 0 {
		op = line[0]
	}
	switch {
	case op == '\\':
		// The marker consumes nothing, and may follow the last owed line.
		if n := len(p.lines); n > p.first {
			h.NoEOLOld = h.NoEOLOld || p.lines[n-1].Op != '+'
			h.NoEOLNew = h.NoEOLNew || p.lines[n-1].Op != '-'
		}
		return true
	case p.oldOwed <= 0 && p.newOwed <= 0:
	case op == ' ', op == '+', op == '-':
		p.lines = append(p.lines, Line{Op: op, Text: line[1:]})
		if op != '+' {
			p.oldOwed--
		}
		if op != '-' {
			p.newOwed--
		}
		return true
	}
	p.closeHunk()
	return false
}

func (p *parser) closeHunk() {
	if p.inHunk {
		n := len(p.lines)
		p.record.Hunks[len(p.record.Hunks)-1].Lines = p.lines[p.first:n:n]
		p.inHunk = false
	}
}

func (p *parser) close() {
	if !p.open {
		return
	}
	p.closeHunk()
	p.names.settle(&p.record)
	p.records = append(p.records, p.record)
	p.open, p.body = false, false
}

// meta takes a line of a record that is no hunk content. The two sides count
// wherever they stand, because git would take a pair of them after the last
// hunk for another file; the extended header ends where the body begins.
func (p *parser) meta(line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte("--- ")):
		p.names.old.see(line[4:])
		p.body = true
	case bytes.HasPrefix(line, []byte("+++ ")):
		p.names.new.see(line[4:])
		p.body = true
	case bytes.HasPrefix(line, []byte("@@")):
		p.hunk(line)
		p.body = true
	case !p.body:
		p.extended(line)
	}
}

func (p *parser) extended(line []byte) {
	r := &p.record
	key, value, ok := cutKey(line)
	if !ok {
		return
	}
	switch key {
	case "old mode ":
		r.OldMode = mode(value)
	case "new mode ":
		r.NewMode = mode(value)
	case "new file mode ":
		r.New, r.NewMode = true, mode(value)
	case "deleted file mode ":
		r.Deleted, r.OldMode = true, mode(value)
	case "rename from ":
		r.Renamed = true
		p.names.from.see(value)
	case "rename to ":
		r.Renamed = true
		p.names.to.see(value)
	case "copy from ":
		r.Copied = true
		p.names.from.see(value)
	case "copy to ":
		r.Copied = true
		p.names.to.see(value)
	case "index ":
		r.Index = string(value)
		if i := bytes.LastIndexByte(value, ' '); i >= 0 && mode(value[i+1:]) != "" {
			r.Index = string(value[:i])
			// The mode of both sides, where it did not change.
			r.OldMode, r.NewMode = mode(value[i+1:]), mode(value[i+1:])
		}
	case "Binary files ":
		r.Binary = r.Binary || bytes.HasSuffix(value, []byte(" differ"))
	case "GIT binary patch":
		r.Binary = true
	}
}

var extendedKeys = [...]string{
	"old mode ", "new mode ", "new file mode ", "deleted file mode ", "rename from ", "rename to ",
	"copy from ", "copy to ", "index ", "Binary files ", "GIT binary patch",
}

func cutKey(line []byte) (key string, value []byte, ok bool) {
	for _, k := range extendedKeys {
		if len(line) >= len(k) && string(line[:len(k)]) == k {
			return k, line[len(k):], true
		}
	}
	return "", nil, false
}

// mode is value if it is six octal digits, else "".
func mode(value []byte) string {
	if len(value) != 6 {
		return ""
	}
	for _, c := range value {
		if c < '0' || c > '7' {
			return ""
		}
	}
	return string(value)
}

func (p *parser) hunk(line []byte) {
	h, ok := hunkHeader(line)
	if !ok {
		h = Hunk{OldStart: -1, OldCount: -1, NewStart: -1, NewCount: -1}
	}
	p.record.Hunks = append(p.record.Hunks, h)
	p.record.HasHunks = true
	p.inHunk = true
	p.first, p.oldOwed, p.newOwed = len(p.lines), h.OldCount, h.NewCount
}

// hunkHeader reads "@@ -a[,b] +c[,d] @@", whatever follows.
func hunkHeader(line []byte) (Hunk, bool) {
	h := Hunk{OldCount: 1, NewCount: 1}
	rest, ok := bytes.CutPrefix(line, []byte("@@ -"))
	if !ok {
		return h, false
	}
	if rest, ok = numbers(rest, &h.OldStart, &h.OldCount); !ok {
		return h, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(" +")); !ok {
		return h, false
	}
	if rest, ok = numbers(rest, &h.NewStart, &h.NewCount); !ok {
		return h, false
	}
	return h, bytes.HasPrefix(rest, []byte(" @@"))
}

// numbers reads "start[,count]".
func numbers(text []byte, start, count *int) (rest []byte, ok bool) {
	rest, ok = number(text, start)
	if ok && len(rest) > 0 && rest[0] == ',' {
		rest, ok = number(rest[1:], count)
	}
	return rest, ok
}

// number reads digits. A number too large for any file stays too large, so
// that its hunk can never be complete.
func number(text []byte, n *int) (rest []byte, ok bool) {
	i, v := 0, 0
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		v = min(v*10+int(text[i]-'0'), (math.MaxInt32-9)/10)
	}
	*n = v
	return text[i:], i > 0
}
