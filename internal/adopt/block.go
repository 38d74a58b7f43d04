package adopt

import (
	"bytes"
	"strconv"
	"strings"
)

// blockVersion is the version of the blocks that this program writes.
const blockVersion = 1

// syntax is how a file's language writes the two lines around a block.
type syntax struct{ before, after string }

var (
	markdown = syntax{"<!-- ", " -->"}
	hashes   = syntax{"# ", ""}
)

const (
	startWord = "agents-shipgate:start"
	endWord   = "agents-shipgate:end"
)

// wrap is body between its marker lines, every line ended by "\n".
func (s syntax) wrap(body string) string {
	return s.before + startWord + " v=" + strconv.Itoa(blockVersion) + s.after + "\n" + body + s.before + endWord + s.after + "\n"
}

// marker says whether a line is a marker: its word, and for a start its version.
// A line that begins as a marker and is none has the version -1.
func (s syntax) marker(line string) (word string, version int) {
	line = strings.Trim(line, " \t\r")
	for _, w := range []string{startWord, endWord} {
		rest, ok := strings.CutPrefix(line, s.before+w)
		if !ok || rest != "" && rest[0] != ' ' {
			continue
		}
		rest, ok = strings.CutSuffix(rest, s.after)
		if !ok {
			return w, -1
		}
		if rest == "" {
			return w, 0
		}
		digits, ok := strings.CutPrefix(rest, " v=")
		n, err := strconv.ParseUint(digits, 10, 16)
		if !ok || err != nil || w == endWord || digits[0] == '0' {
			return w, -1
		}
		return w, int(n)
	}
	return "", 0
}

// block is a managed block in a text, by the offsets of its first byte and of
// the byte behind its last line.
type block struct {
	start, end int
	version    int
	none       bool // there is no marker in the text
	unclear    string
}

// find looks for the block. A text whose markers do not make exactly one block
// is unclear, and nobody edits it.
func (s syntax) find(text []byte) block {
	b := block{none: true}
	starts, ends, off := 0, 0, 0
	fence, fenced := "", ""
	for line := range bytes.Lines(text) {
		trimmed := strings.TrimRight(string(line), "\r\n")
		word, version := s.marker(trimmed)
		switch {
		case word == "":
			if s == markdown && (starts == 0 || ends > 0) {
				fence = nextFence(fence, trimmed)
				if fenced != "" && fence == "" {
					b.unclear = "its markers stand inside a code fence"
				}
			}
		case version < 0:
			b.none, b.unclear = false, "it has a marker that this program does not write"
			return b
		case word == startWord:
			starts++
			b.start, b.version, b.none = off, version, false
			fenced = fence
		default:
			ends++
			b.end, b.none = off+len(line), false
			if starts == 0 {
				b.start = b.end
			}
		}
		off += len(line)
	}
	if !b.none && (starts != 1 || ends != 1 || b.start >= b.end) {
		b.unclear = "its markers are unpaired or repeated"
	}
	return b
}

// nextFence is the code fence that is open after a line of Markdown, "" for none.
func nextFence(open, line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		run := line[:len(line)-len(strings.TrimLeft(line, c))]
		if len(run) < 3 {
			continue
		}
		switch {
		case open == "":
			return run
		case strings.HasPrefix(run, open) && strings.TrimSpace(line[len(run):]) == "":
			return ""
		}
	}
	return open
}

// newline is the line break of a text: that of its last one.
func newline(text []byte) string {
	if i := bytes.LastIndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// firstNewline is the line break of the line that begins at off.
func firstNewline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func withBreaks(text, nl string) string {
	if nl == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", nl)
}

// plainBreaks is a text as it was before an editor or Git changed its line breaks.
func plainBreaks(text []byte) string { return strings.ReplaceAll(string(text), "\r\n", "\n") }

var byteOrderMark = []byte("\xEF\xBB\xBF")

// blank says whether a text holds nothing but a byte order mark.
func blank(text []byte) bool { return len(bytes.TrimPrefix(text, byteOrderMark)) == 0 }

// appendBlock puts a block behind a text so that cutBlock gives the very same
// text back. The form is the record of what was there: a blank line stands
// before the block, and the block ends without a line break where the text did.
// Only a file that was not there begins with its block.
func appendBlock(f found, wrapped string) []byte {
	if !f.exists {
		return []byte(wrapped)
	}
	nl := newline(f.text)
	wrapped = withBreaks(wrapped, nl)
	if blank(f.text) || bytes.HasSuffix(f.text, []byte("\n")) {
		return join(f.text, nl, wrapped)
	}
	return join(f.text, nl+nl, strings.TrimSuffix(wrapped, nl))
}

// cutBlock is the text without its block; remains is false when nothing but the
// block was in the file, which then was not there before.
func cutBlock(text []byte, b block) (rest []byte, remains bool) {
	before, cut, after := text[:b.start], text[b.start:b.end], text[b.end:]
	nl := firstNewline(cut)
	gap := 1 // line breaks that were put before the block
	if !bytes.HasSuffix(cut, []byte("\n")) {
		gap = 2
	}
	separated := false
	for ; gap > 0; gap-- {
		shorter, ok := bytes.CutSuffix(before, []byte(nl))
		// One that ends a line of somebody's stays, unless the whole end was ours.
		if !ok || gap == 1 && !blank(shorter) && bytes.HasSuffix(cut, []byte("\n")) && !bytes.HasSuffix(shorter, []byte("\n")) {
			break
		}
		before, separated = shorter, true
	}
	if !separated && blank(before) && len(after) == 0 {
		return nil, false
	}
	return join(before, string(after)), true
}

// swapBlock is the text with another block in the place of its own.
func swapBlock(text []byte, b block, wrapped string) []byte {
	old := text[b.start:b.end]
	wrapped = withBreaks(wrapped, firstNewline(old))
	if !bytes.HasSuffix(old, []byte("\n")) {
		wrapped = strings.TrimRight(wrapped, "\r\n")
	}
	return join(text[:b.start], wrapped, string(text[b.end:]))
}

// join is a new slice; it never writes behind the end of text.
func join(text []byte, more ...string) []byte {
	out := append([]byte{}, text...)
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}
