package source

import (
	"bytes"
	"unicode/utf8"
)

// Bounds of every parser. Callers bound the bytes; these bound what a few bytes
// can be blown up to: recursion, and (YAML only) aliases of aliases.
const (
	maxDepth = 512
	maxNodes = 500_000
)

// A cursor turns byte offsets into positions. It walks forward with the parser
// that asks, so that all positions of a text together cost one pass; asking for
// an earlier offset is right but starts again.
//
// A line ends at LF, CRLF or CR, as everywhere in the gate
// (docs/spec/boundary.md §3.3); a column counts characters.
type cursor struct {
	text []byte
	off  int
	pos  Position
}

func newCursor(text []byte) cursor {
	return cursor{text: text, pos: Position{Line: 1, Column: 1}}
}

func (c *cursor) at(off int) Position {
	if off < c.off {
		*c = newCursor(c.text)
	}
	for ; c.off < off; c.off++ {
		switch b := c.text[c.off]; {
		case b == '\n', b == '\r' && !bytes.HasPrefix(c.text[c.off+1:], []byte("\n")):
			c.pos = Position{Line: c.pos.Line + 1, Column: 1}
		case utf8.RuneStart(b):
			c.pos.Column++
		}
	}
	return c.pos
}

// refusal is the offset of the first thing no format allows, -1 without one: a
// conflict marker (docs/spec/boundary.md §4.5), bytes that are not UTF-8, NUL,
// or a byte order mark that TrimBOM left behind (a second one).
func refusal(text []byte) int {
	if i := conflictMarker(text); i >= 0 {
		return i
	}
	if bytes.HasPrefix(text, bom) {
		return 0
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return i
	}
	if utf8.Valid(text) {
		return -1
	}
	off := 0
	for {
		r, size := utf8.DecodeRune(text[off:])
		if r == utf8.RuneError && size == 1 {
			return off
		}
		off += size
	}
}

// conflictMarker is the offset of the first line that starts with seven < or
// seven > and ends there or goes on with a space; -1 without one.
func conflictMarker(text []byte) int {
	const size = 7
	for off := 0; off < len(text); {
		line := text[off:]
		for _, sign := range []string{"<<<<<<<", ">>>>>>>"} {
			if bytes.HasPrefix(line, []byte(sign)) && (len(line) == size || bytes.IndexByte([]byte(" \r\n"), line[size]) >= 0) {
				return off
			}
		}
		end := bytes.IndexAny(line, "\r\n")
		if end < 0 {
			break
		}
		off += end + 1
	}
	return -1
}

// screen is the failure of a text that refusal refuses; nil for any other.
func screen(parser string, text []byte) *ParseError {
	off := refusal(text)
	if off < 0 {
		return nil
	}
	c := newCursor(text)
	err := &ParseError{Parser: parser, Pos: c.at(off), Reason: NotText}
	if off == conflictMarker(text) {
		err.Reason = Conflict
	}
	return err
}

// members collects the members of one map while it is read.
type members struct {
	list  []Member
	index map[string]int
}

func (m *members) has(key string) bool {
	if m.index != nil {
		_, ok := m.index[key]
		return ok
	}
	for i := range m.list {
		if m.list[i].Key == key {
			return true
		}
	}
	return false
}

// add appends a member whose key is not there yet.
func (m *members) add(member Member) {
	m.list = append(m.list, member)
	if m.index == nil {
		m.index = Value{Members: m.list}.indexed().index
		return
	}
	m.index[member.Key] = len(m.list) - 1
}

func (m *members) value(pos Position) Value {
	return Value{Kind: Map, Members: m.list, index: m.index, Pos: pos}
}
