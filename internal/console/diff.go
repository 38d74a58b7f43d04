package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/pipeline/artifact"
)

// How a change_diff (docs/spec/contracts.md §7.1) is read. It comes from whoever
// ran the work: what does not read as git writes it is shown as it is.

// diff is a change as a page shows it.
type diff struct {
	Files    []*diffFile
	Withheld int              // lines that say that a secret is masked in them
	Omitted  artifact.Omitted // all that was left out
	Added    int
	Removed  int
	Rows     int
}

// diffFile is what became of one file.
type diffFile struct {
	N        int // its place, from 1
	Path     string
	From     string // what it was called before, "" when it was not renamed
	Change   string // one of artifact's, or "" when only its mode changed
	Binary   bool
	Omitted  artifact.Omitted
	Added    int
	Removed  int
	Rows     []diffRow
	Findings []spot // at no line of it
	Found    int    // all findings in it
	First    int    // of its rows among those of the whole change, from 0
	text     bool   // it has the header of a text file
}

// The kinds of rows are the classes of their looks.
const (
	rowHunk = "hunk"
	rowAdd  = "add"
	rowDel  = "del"
	rowSame = "same"
	rowNote = "note"
)

// diffRow is one line, as it was delivered until it is to be shown.
type diffRow struct {
	Kind     string
	Old, New int // line numbers, 0 for none
	Text     string
	Cut      int // characters beyond what is shown
	Withheld bool
	Findings []spot
}

// lineMost is the most characters of a line that are shown.
const lineMost = 400

// Sign is what stands before a line.
func (r diffRow) Sign() string {
	switch r.Kind {
	case rowAdd:
		return "+"
	case rowDel:
		return "−"
	}
	return " "
}

// readDiff reads a change_diff.
func readDiff(text string) *diff {
	d := &diff{}
	var f *diffFile
	var old, now int
	body, withheld := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "diff --git ") {
			f = &diffFile{N: len(d.Files) + 1, Change: artifact.Modified}
			f.Path = gitPath(line)
			d.Files = append(d.Files, f)
			body = false
			continue
		}
		if line == artifact.DiffWithheld {
			withheld = true
			continue
		}
		if o, ok := artifact.ReadOmitted(line); ok {
			d.Omitted.Lines, d.Omitted.Bytes = d.Omitted.Lines+o.Lines, d.Omitted.Bytes+o.Bytes
			if f != nil {
				f.Omitted, f.Binary = o, !f.text
				f = nil // what is behind it would be of no file
			}
			continue
		}
		if f == nil {
			continue
		}
		if !body && !strings.HasPrefix(line, "@@ ") {
			if strings.HasPrefix(line, "GIT binary patch") {
				f.Binary, f = true, nil
				continue
			}
			f.header(line)
			continue
		}
		row := diffRow{Withheld: withheld}
		withheld = false
		switch {
		case strings.HasPrefix(line, "@@ "):
			body = true
			row.Kind, row.Text = rowHunk, line
			old, now = hunk(line)
		case line == "":
			continue
		default:
			row.Text = line[1:]
			switch line[0] {
			case '+':
				row.Kind, row.New = rowAdd, now
				now++
				f.Added++
			case '-':
				row.Kind, row.Old = rowDel, old
				old++
				f.Removed++
			case ' ':
				row.Kind, row.Old, row.New = rowSame, old, now
				old, now = old+1, now+1
			case '\\':
				row.Kind, row.Text = rowNote, strings.TrimSpace(line[1:])
			default:
				row.Kind, row.Text = rowNote, line
			}
		}
		if row.Withheld {
			d.Withheld++
		}
		f.Rows = append(f.Rows, row)
	}
	for _, f := range d.Files {
		d.Added, d.Removed = d.Added+f.Added, d.Removed+f.Removed
		f.First, d.Rows = d.Rows, d.Rows+len(f.Rows)
	}
	return d
}

// header takes a line between the name of a file and its content.
func (f *diffFile) header(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "new":
		f.Change = artifact.Added
	case "deleted":
		f.Change = artifact.Deleted
	case "rename":
		f.Change = artifact.Renamed
		if from, ok := strings.CutPrefix(rest, "from "); ok {
			f.From = unquoted(from)
		} else if to, ok := strings.CutPrefix(rest, "to "); ok {
			f.Path = unquoted(to)
		}
	case "---", "+++":
		f.text = true
		if name := unquoted(strings.TrimSuffix(rest, "\t")); name != "/dev/null" && len(name) > 2 {
			f.Path = name[2:]
		}
	}
}

// gitPath is the path of the line a file begins with. Where both names are the
// same, which a file without further headers has, they are of one length.
func gitPath(line string) string {
	rest := strings.TrimPrefix(line, "diff --git ")
	if half := len(rest) / 2; len(rest)%2 == 1 && rest[half] == ' ' {
		if name := unquoted(rest[half+1:]); len(name) > 2 {
			return name[2:]
		}
	}
	return rest
}

// unquoted is a name as git prints it: in quotes when it has unusual bytes.
func unquoted(name string) string {
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}

// hunk is the first lines of a hunk, before and after.
func hunk(line string) (old, now int) {
	words := strings.SplitN(line, " ", 4)
	if len(words) < 3 {
		return 0, 0
	}
	first := func(word, sign string) int {
		number, _, _ := strings.Cut(strings.TrimPrefix(word, sign), ",")
		n, _ := strconv.Atoi(number) // 0 for what git does not write
		return n
	}
	return first(words[1], "-"), first(words[2], "+")
}

// shown is a line as it can be read: whole characters, none of them one that
// hides others or turns them around, and not too many. cut is how many are left
// out.
func shown(line string) (text string, cut int) {
	var b strings.Builder
	n := 0
	for i := 0; i < len(line); n++ {
		r, size := utf8.DecodeRuneInString(line[i:])
		if n >= lineMost {
			return b.String(), utf8.RuneCountInString(line[i:])
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", line[i])
		case r == '\n', r == '\r', unseen(r):
			b.WriteString(numbered(r))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String(), 0
}

// place puts findings at their lines: at the one a finding names or, where it
// names none, at the first added line with what the finding is about. A finding in
// no file of the change is left over.
func (d *diff) place(list []spot) (rest []spot) {
	at := map[string]*diffFile{}
	for _, f := range d.Files {
		at[f.Path] = f
	}
next:
	for _, one := range list {
		f := at[one.Path]
		if f == nil {
			rest = append(rest, one)
			continue
		}
		f.Found++
		for i := range f.Rows {
			row := &f.Rows[i]
			if row.Kind != rowAdd && row.Kind != rowSame {
				continue
			}
			if one.Line > 0 && int64(row.New) == one.Line || one.Line == 0 && row.Kind == rowAdd && mentions(row.Text, one.about) {
				row.Findings = append(row.Findings, one)
				continue next
			}
		}
		f.Findings = append(f.Findings, one)
	}
	return rest
}

// mentions says whether a line has one of these words.
func mentions(line string, words []string) bool {
	for _, w := range words {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

// part is the rows [from, from+most) of the change as they can be shown, in files
// that have only these. masked is how many of them hold what may be a secret and
// did not say so: whoever delivered them may not have masked anything.
func (d *diff) part(from, most int) (list []*diffFile, masked int) {
	for _, f := range d.Files {
		begin, end := max(from-f.First, 0), min(from+most-f.First, len(f.Rows))
		inside := f.First >= from && f.First < from+most // also of a file without rows
		if begin >= end && !(inside && len(f.Rows) == 0) {
			continue
		}
		one := *f
		if begin < end {
			one.Rows = slices.Clone(f.Rows[begin:end])
		}
		for i := range one.Rows {
			row := &one.Rows[i]
			if text := redact.Source(row.Text); text != row.Text {
				if row.Text = text; !row.Withheld {
					row.Withheld, masked = true, masked+1
				}
			}
			row.Text, row.Cut = shown(row.Text)
		}
		if begin > 0 {
			one.Findings = nil // they stand where the file begins
		}
		list = append(list, &one)
	}
	return list, masked
}
