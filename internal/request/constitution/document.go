package constitution

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"unicode"
	"unicode/utf8"
)

// Version is the version of a prompt file, as its front matter has it: "1.0.0".
type Version string

// maxDocumentBytes bounds a prompt file; maxRegistryBytes the registry.
const (
	maxDocumentBytes = 64 << 10
	maxRegistryBytes = 1 << 20
)

// document is a prompt file: its front matter, and the body that prompts are
// made of.
type document struct {
	path    string
	version Version
	body    string
	first   int // the line of the file on which the body begins
}

func (d document) sha256() string { return digest([]byte(d.body)) }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// normalised is text with every line end as "\n".
func normalised(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// readable notes what makes a text unfit to be read by people and programs
// alike: bytes that are not UTF-8, and characters that nobody sees.
func (n *notes) readable(path string, text []byte) bool {
	line, before := 1, rune(0)
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == utf8.RuneError && size < 2:
			n.add(path, line, "is not UTF-8")
			return false
		case invisible(before, c):
			n.add(path, line, "holds the character U+%04X, which cannot be seen", c)
			return false
		case c == '\n':
			line++
		}
		before = c
		i += size
	}
	return true
}

// invisible says whether c, after the character before, changes what a program
// reads and not what a person sees. A separator of lines that is not "\n" would
// give a text two numberings. The joiners belong to the spelling of words
// east of Hebrew; elsewhere they have none.
func invisible(before, c rune) bool {
	switch c {
	case '\t', '\n', '\r':
		return false
	case 0x200C, 0x200D:
		return before < 0x0590
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// parseDocument reads a prompt file. What is wrong is noted.
func parseDocument(n *notes, path string, id AgentID, text []byte) (document, bool) {
	before := len(n.list)
	d := document{path: path}
	text = normalised(text)
	rest, opened := bytes.CutPrefix(text, []byte("---\n"))
	front, body, closed := bytes.Cut(rest, []byte("\n---\n"))
	switch {
	case !n.readable(path, text):
		return d, false
	case !opened:
		n.add(path, 1, "has no front matter: the first line must be ---")
		return d, false
	case !closed:
		n.add(path, 1, "has a front matter without an end: a line of --- must follow it")
		return d, false
	}
	r := &reader{notes: n, path: path, before: 1}
	if root := r.root(front); root != nil {
		f := r.fields(root, "the front matter", "id", "version")
		if got := r.text(f["id"], "the id"); got != "" && got != string(id) {
			r.wrong(f["id"], "the prompt of %s says that it is of %q", id, clip(got))
		}
		d.version = Version(r.version(f["version"], "the version"))
	}
	d.first = bytes.Count(front, []byte("\n")) + 4
	d.body = string(bytes.TrimRight(body, "\n"))
	if len(bytes.TrimSpace(body)) == 0 {
		n.add(path, d.first, "has nothing below its front matter")
	}
	return d, len(n.list) == before
}
