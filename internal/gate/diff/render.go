package diff

import (
	"bytes"
	"strconv"
	"strings"
)

// Render is the git-style text of a record: what subject_sha256 binds and the
// trigger tokens are searched in where git printed nothing. Counts are always
// written out, and there is no index line unless the record has one.
func Render(r *Record) []byte {
	var b bytes.Buffer
	from, to := r.OldName, r.NewName
	if from == "" {
		from = to
	}
	if to == "" {
		to = from
	}
	line := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
		b.WriteByte('\n')
	}
	line(recordStart, quote("a/"+from), " ", quote("b/"+to))
	switch {
	case r.New:
		line("new file mode ", r.NewMode)
	case r.Deleted:
		line("deleted file mode ", r.OldMode)
	case r.OldMode != r.NewMode:
		line("old mode ", r.OldMode)
		line("new mode ", r.NewMode)
	}
	if r.Renamed || r.Copied {
		verb := "rename"
		if r.Copied {
			verb = "copy"
		}
		line(verb, " from ", quote(from))
		line(verb, " to ", quote(to))
	}
	if r.Index != "" {
		mode := ""
		if r.OldMode == r.NewMode && r.OldMode != "" {
			mode = " " + r.OldMode
		}
		line("index ", r.Index, mode)
	}
	if r.Binary {
		line("Binary files ", sideName("a/", from, r.New), " and ", sideName("b/", to, r.Deleted), " differ")
	}
	if len(r.Hunks) == 0 {
		return b.Bytes()
	}
	line("--- ", tabbed(sideName("a/", from, r.New)))
	line("+++ ", tabbed(sideName("b/", to, r.Deleted)))
	for i := range r.Hunks {
		r.Hunks[i].render(&b)
	}
	return b.Bytes()
}

const noEOL = "\\ No newline at end of file\n"

func (h *Hunk) render(b *bytes.Buffer) {
	span := func(mark string, start, count int) {
		b.WriteString(mark)
		b.WriteString(strconv.Itoa(start))
		b.WriteByte(',')
		b.WriteString(strconv.Itoa(count))
	}
	span("@@ -", h.OldStart, h.OldCount)
	span(" +", h.NewStart, h.NewCount)
	b.WriteString(" @@\n")
	lastOld, lastNew := -1, -1
	for i, l := range h.Lines {
		if l.Op != '+' {
			lastOld = i
		}
		if l.Op != '-' {
			lastNew = i
		}
	}
	for i, l := range h.Lines {
		b.WriteByte(l.Op)
		b.Write(l.Text)
		b.WriteByte('\n')
		if h.NoEOLOld && i == lastOld || h.NoEOLNew && i == lastNew {
			b.WriteString(noEOL)
		}
	}
}

func sideName(prefix, name string, gone bool) string {
	if gone {
		return "/dev/null"
	}
	return quote(prefix + name)
}

// tabbed ends a name that holds a space with a TAB, as git does: the name on
// such a line ends there.
func tabbed(quoted string) string {
	if strings.IndexByte(quoted, ' ') >= 0 && quoted[0] != '"' {
		return quoted + "\t"
	}
	return quoted
}

// quote writes a name as git does with core.quotePath off: as it is, or
// C-quoted where it holds a control byte, a quotation mark or a backslash.
func quote(name string) string {
	plain := true
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < 0x20 || c == 0x7F || c == '"' || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	b := []byte{'"'}
	for i := 0; i < len(name); i++ {
		c := name[i]
		k := strings.IndexByte(escaped, c)
		switch {
		case k >= 0:
			b = append(b, '\\', escapes[k])
		case c < 0x20 || c == 0x7F:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
