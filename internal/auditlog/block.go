package auditlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"plimsoll.dev/internal/pipeline/event"
)

// block is a run of whole lines, checked apart from the others: every record
// brings its link, so whether one follows from the one before it is known
// without those before that.
type block struct {
	data  *[]byte
	links bool // somebody will look one up
	done  chan struct{}
	parts []part
	lines int64
}

// part is a checkpoint, a run of records that follow from each other, or what
// ends the good part of a block.
type part struct {
	line int64 // of its beginning, counted from 1 in the block

	note []byte

	from      int64 // position of the first record
	first     []byte
	firstLink event.Link
	last      event.Head
	links     []event.Link // of all records, if asked for

	kind Kind
	bad  string
}

// check reads the lines up to the first that is wrong.
func (b *block) check() {
	var scratch []byte
	var open *part
	for rest := *b.data; len(rest) > 0; {
		b.lines++
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		rest = after
		if !whole {
			b.stop(Truncated, "the line is cut off")
			return
		}
		if quoted, ok := bytes.CutPrefix(line, []byte(checkpointOpen)); ok {
			text, ok := unquote(quoted)
			if !ok {
				b.stop(Malformed, "the line is no checkpoint as one is written")
				return
			}
			b.parts = append(b.parts, part{line: b.lines, note: text})
			open = nil
			continue
		}
		position, link, text, ok := readRecord(line)
		if !ok {
			b.stop(Malformed, "the line is no record as one is written")
			return
		}
		if open == nil {
			b.parts = append(b.parts, part{line: b.lines, from: position, first: text, firstLink: link})
			open = &b.parts[len(b.parts)-1]
		} else {
			switch want := open.last.Count + 1; {
			case position > want:
				b.stop(Missing, "another record stands in its place")
				return
			case position < want:
				b.stop(Repeated, "an earlier record stands in its place")
				return
			}
			scratch = append(append(scratch[:0], open.last.Link[:]...), text...)
			if sha256.Sum256(scratch) != link {
				b.stop(Changed, doesNotFollow)
				return
			}
		}
		open.last = event.Head{Count: position, Link: link}
		if b.links {
			open.links = append(open.links, link)
		}
	}
}

func (b *block) stop(k Kind, why string) {
	b.parts = append(b.parts, part{line: b.lines, kind: k, bad: why})
}

func follows(before event.Link, text []byte, link event.Link) bool {
	return event.Head{Link: before}.Append(text).Link == link
}

// unquote is the note of a checkpoint line, spelled as a Writer spells it.
func unquote(quoted []byte) ([]byte, bool) {
	quoted, ok := bytes.CutSuffix(quoted, []byte("}"))
	if !ok {
		return nil, false
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil, false
	}
	again, err := json.Marshal(text)
	return []byte(text), err == nil && bytes.Equal(again, quoted)
}

// readRecord takes a record line apart. There is one spelling; the text is a
// part of the line.
func readRecord(line []byte) (position int64, link event.Link, text []byte, ok bool) {
	const hexLen = 2 * sha256.Size
	if len(line) < len(linkOpen)+hexLen || string(line[:len(linkOpen)]) != linkOpen {
		return 0, link, nil, false
	}
	digits, rest := line[len(linkOpen):len(linkOpen)+hexLen], line[len(linkOpen)+hexLen:]
	for _, c := range digits {
		if c >= 'A' && c <= 'F' {
			return 0, link, nil, false
		}
	}
	if _, err := hex.Decode(link[:], digits); err != nil {
		return 0, link, nil, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(positionOpen)); !ok {
		return 0, link, nil, false
	}
	n := 0
	for n < len(rest) && n < 18 && rest[n] >= '0' && rest[n] <= '9' {
		position = position*10 + int64(rest[n]-'0')
		n++
	}
	if n == 0 || rest[0] == '0' {
		return 0, link, nil, false
	}
	if rest, ok = bytes.CutPrefix(rest[n:], []byte(recordOpen)); !ok || len(rest) < 3 || rest[0] != '{' || rest[len(rest)-1] != '}' {
		return 0, link, nil, false
	}
	return position, link, rest[:len(rest)-1], true
}
