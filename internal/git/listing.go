package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"plimsoll.dev/internal/gate/diff"
)

// entry is an index or tree entry.
type entry struct {
	mode string // six octal digits, "000000" when absent
	id   string
}

const absentMode = "000000"

func (e entry) present() bool { return e.mode != "" && e.mode != absentMode }
func (e entry) link() bool    { return e.mode == modeLink }
func (e entry) gitlink() bool { return e.mode == modeGitlink }
func (e entry) file() bool    { return strings.HasPrefix(e.mode, "100") }

const (
	modeFile    = "100644"
	modeLink    = "120000"
	modeGitlink = "160000"
	modeFolder  = "040000"
)

// change is one changed path as git status lists it, corrected by the own
// comparison (§2.2).
type change struct {
	path        string
	x, y        byte // HEAD→index, index→disk
	head, index entry
	unmerged    bool
	own         bool // y is the own comparison's word: Git saw no difference
}

// status is the outcome of process 1a.
type status struct {
	head      string // commit id, "" when HEAD is unborn
	changes   []change
	untracked []string // of process 1b; "/" at the end: a nested repository
}

var errMalformed = errors.New("its output is malformed")

// status runs process 1a.
func (r *runner) status(ctx context.Context) (*status, error) {
	st := &status{}
	err := r.stream(ctx, nil, func(in *bufio.Reader) error { return fields(in, st.add) },
		"status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-show-stash",
		"--untracked-files=no", "--no-renames", "--ignore-submodules=dirty")
	return st, err
}

// untracked runs process 1b: the names that are neither in the index nor
// ignored, of a nested repository the folder's with "/" at its end. keep says
// whether a name can matter.
func (r *runner) untracked(ctx context.Context, keep func(name string) bool) ([]string, error) {
	var out []string
	err := r.stream(ctx, nil, func(in *bufio.Reader) error {
		return fields(in, func(f []byte) (int, error) {
			name := string(f)
			if name == "" {
				return 0, errMalformed
			}
			if !keep(name) {
				return 0, nil
			}
			out = append(out, name)
			return len(name), nil
		})
	}, "ls-files", "--others", "--exclude-standard", "-z")
	return out, err
}

func (s *status) add(field []byte) (int, error) {
	if len(field) < 3 {
		return 0, errMalformed
	}
	switch field[0] {
	case '#':
		if oid, ok := bytes.CutPrefix(field, []byte("# branch.oid ")); ok && string(oid) != "(initial)" {
			s.head = string(oid)
		}
		return 0, nil
	case '1':
		// 1 XY sub mH mI mW hH hI path
		p := strings.SplitN(string(field), " ", 9)
		if len(p) != 9 || len(p[1]) != 2 || p[8] == "" {
			return 0, errMalformed
		}
		c := change{path: p[8], x: p[1][0], y: p[1][1], head: entry{p[3], p[6]}, index: entry{p[4], p[7]}}
		if c.x == 'D' && c.y == 'D' {
			// An intended addition over a path of HEAD that is gone from disk again: Git
			// shows the empty blob that stands for it, and no commit would have it.
			c.y, c.index = '.', entry{mode: absentMode, id: strings.Repeat("0", len(p[7]))}
		}
		s.changes = append(s.changes, c)
		return len(field), nil
	case 'u':
		// u XY sub m1 m2 m3 mW h1 h2 h3 path
		p := strings.SplitN(string(field), " ", 11)
		if len(p) != 11 || p[10] == "" {
			return 0, errMalformed
		}
		s.changes = append(s.changes, change{path: p[10], x: 'U', y: 'U', unmerged: true})
		return len(field), nil
	}
	return 0, errMalformed
}

// tracked is one line of process 1c: an index entry of a protected path.
type tracked struct {
	path  string
	tag   byte // of ls-files -v: H, S, M, lower case when assume-unchanged
	stage byte
	entry
}

// tracked lists the index entries that match the pathspecs and that keep wants;
// without pathspecs it goes through the whole index.
func (r *runner) tracked(ctx context.Context, pathspecs []string, keep func(path string) bool) ([]tracked, error) {
	var out []tracked
	err := r.stream(ctx, nil, func(in *bufio.Reader) error {
		return fields(in, func(f []byte) (int, error) {
			t, ok := parseTracked(f)
			if !ok {
				return 0, errMalformed
			}
			if !keep(t.path) {
				return 0, nil
			}
			out = append(out, t)
			return len(f), nil
		})
	}, append([]string{"ls-files", "-s", "-v", "-z", "--"}, pathspecs...)...)
	return out, err
}

// parseTracked reads "H 100644 <id> 0\t<path>".
func parseTracked(field []byte) (t tracked, ok bool) {
	head, name, ok := strings.Cut(string(field), "\t")
	f := strings.Split(head, " ")
	if !ok || name == "" || len(f) != 4 || len(f[0]) != 1 || len(f[3]) != 1 {
		return tracked{}, false
	}
	return tracked{path: name, tag: f[0][0], stage: f[3][0], entry: entry{f[1], f[2]}}, true
}

// rawEntry is one line of a raw listing.
type rawEntry struct {
	old, new         entry
	status           byte
	oldName, newName string // equal unless renamed or copied
}

// patch is the parsed output of one diff.
type patch struct {
	entries []rawEntry
	records []diff.Record
	texts   [][]byte // the text of each record
}

// diff runs git diff with the fixed options and reads listing and patch.
func (r *runner) diff(ctx context.Context, args ...string) (*patch, error) {
	var p *patch
	err := r.stream(ctx, nil, func(in *bufio.Reader) error {
		var err error
		p, err = readPatch(in)
		return err
	}, append([]string{"diff"}, args...)...)
	return p, err
}

func readPatch(in *bufio.Reader) (*patch, error) {
	p := &patch{}
	kept := 0
	for {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		if c == 0 {
			break
		}
		if c != ':' {
			return nil, errMalformed
		}
		e, n, err := readRaw(in)
		if err != nil {
			return nil, err
		}
		if kept += n; kept > listingBound {
			return nil, errTooLong
		}
		p.entries = append(p.entries, e)
	}
	body, err := readDiff(in)
	if err != nil {
		return nil, err
	}
	return p, p.match(splitRecords(body))
}

func readRaw(in *bufio.Reader) (rawEntry, int, error) {
	head, err := readField(in)
	if err != nil {
		return rawEntry{}, 0, err
	}
	f := strings.Split(head, " ")
	if len(f) != 5 || f[4] == "" {
		return rawEntry{}, 0, errMalformed
	}
	e := rawEntry{old: entry{f[0], f[2]}, new: entry{f[1], f[3]}, status: f[4][0]}
	if e.oldName, err = readField(in); err != nil {
		return rawEntry{}, 0, err
	}
	e.newName = e.oldName
	if e.status == 'R' || e.status == 'C' {
		if e.newName, err = readField(in); err != nil {
			return rawEntry{}, 0, err
		}
	}
	return e, len(head) + len(e.oldName) + len(e.newName), nil
}

func readField(in *bufio.Reader) (string, error) {
	var b []byte
	for {
		part, err := in.ReadSlice(0)
		b = append(b, part...)
		if len(b) > entryBound {
			return "", errTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return "", io.ErrUnexpectedEOF
		}
		return string(b[:len(b)-1]), nil
	}
}

// splitRecords cuts a patch body, which it overwrites, at its record headers.
// No content line can look like one, since content carries a prefix character.
// What precedes the first header and what git says of unmerged paths is no part
// of any record. The text after the second @@ of a hunk header depends on the
// repository's diff drivers and is dropped (§2.3).
func splitRecords(body []byte) [][]byte {
	var out [][]byte
	start, kept := -1, 0 // of the current record, and of what is written back
	for rest := body; len(rest) > 0; {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		switch {
		case bytes.HasPrefix(line, []byte("diff --git ")):
			if start >= 0 {
				out = append(out, body[start:kept:kept])
			}
			start = kept
		case start < 0 || bytes.HasPrefix(line, []byte("* Unmerged path ")):
			continue
		}
		if n := headerEnd(line); n < len(line) {
			kept += copy(body[kept:], line[:n])
			line = []byte{'\n'}
		}
		kept += copy(body[kept:], line)
	}
	if start >= 0 {
		out = append(out, body[start:kept:kept])
	}
	return out
}

// headerEnd is where a hunk header ends, or the length of any other line.
func headerEnd(line []byte) int {
	if bytes.HasPrefix(line, []byte("@@ ")) {
		if end := bytes.Index(line[3:], []byte(" @@")); end >= 0 {
			return 3 + end + 3
		}
	}
	return len(line)
}

// match gives every record the names and modes of its listing entry: a header
// can be ambiguous, the listing cannot. An entry without a record is unmerged,
// or only stat-dirty, and is dropped.
func (p *patch) match(texts [][]byte) error {
	var kept []rawEntry
	next := 0
	for _, e := range p.entries {
		n := 1
		if e.status == 'T' {
			n = 2
		}
		took := 0
		for ; took < n && next < len(texts); took++ {
			records := diff.Parse(texts[next])
			if len(records) != 1 || !e.names(&records[0], took, n) {
				break
			}
			p.records = append(p.records, records[0])
			p.texts = append(p.texts, texts[next])
			next++
		}
		switch {
		case took > 0:
			kept = append(kept, e)
		case e.status != 'U' && !e.statDirty():
			return fmt.Errorf("%w: no record for a listed path", errMalformed)
		}
	}
	if next != len(texts) {
		return fmt.Errorf("%w: a record without a listed path", errMalformed)
	}
	p.entries = kept
	return nil
}

// statDirty says whether git listed a file of the working tree by its time
// stamp alone: the id of the new side is not known yet.
func (e *rawEntry) statDirty() bool {
	return e.status == 'M' && e.old.mode == e.new.mode && strings.Trim(e.new.id, "0") == ""
}

// names says whether rec can be the entry's record number i of n and writes
// the entry's names and modes into it.
func (e *rawEntry) names(rec *diff.Record, i, n int) bool {
	if !rec.InvalidName && rec.Path() != e.newName && rec.Path() != e.oldName {
		return false
	}
	// A new value, so that nothing is left of a name the header spelled badly.
	*rec = diff.Record{
		OldName: e.oldName, NewName: e.newName, OldMode: e.old.mode, NewMode: e.new.mode,
		New: rec.New, Deleted: rec.Deleted, Renamed: rec.Renamed, Copied: rec.Copied,
		Binary: rec.Binary, HasHunks: rec.HasHunks, Hunks: rec.Hunks,
	}
	switch {
	case e.status == 'A', n == 2 && i == 1:
		rec.OldName, rec.OldMode = "", ""
	case e.status == 'D', n == 2 && i == 0:
		rec.NewName, rec.NewMode = "", ""
	}
	return true
}

// literal and icaseGlobs are pathspecs that mean exactly what they say.
func literal(path string) string { return ":(top,literal)" + path }

// anywhere are pathspecs whose star stands for folders, too.
func anywhere(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = ":(top,icase)" + p
	}
	return out
}

func icaseGlobs(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = ":(top,icase,glob)" + p
	}
	return out
}

// argumentRoom is how many bytes of paths one command line may carry, which is
// 32 KiB with everything else on Windows; past it a listing runs over the whole
// tree instead (§2.1).
const argumentRoom = 24 << 10

// literals are pathspecs for paths, or none when they do not fit.
func literals(paths []string) []string {
	total := 0
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		l := literal(p)
		if total += len(l) + 1; total > argumentRoom {
			return nil
		}
		out = append(out, l)
	}
	return out
}
