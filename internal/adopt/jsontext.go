package adopt

import (
	"bytes"
	"encoding/json"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// part is one value of a JSON text by the offsets of its first byte and of the
// byte behind it. The children of an object begin at their keys.
type part struct {
	start, end int
	value      source.Value
	children   []child
}

// child is one member of an object or one item of a list.
type child struct {
	start int // of the key, or of the item
	key   string
	part  part
}

// parseParts reads a text in strict JSON whose root is an object. The second
// result says what is wrong with it.
func parseParts(text []byte) (part, string) {
	body, _ := source.TrimBOM(text)
	value, err := source.ParseJSON(body)
	if err != nil {
		return part{}, "it is no JSON that its host reads: " + err.Error()
	}
	if value.Kind != source.Map {
		return part{}, "it holds no JSON object"
	}
	s := &partReader{text: text, off: len(text) - len(body)}
	return s.part(value), ""
}

// partReader walks over a text that the strict parser has read.
type partReader struct {
	text []byte
	off  int
}

func (r *partReader) space() {
	for r.off < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.off]) >= 0 {
		r.off++
	}
}

func (r *partReader) str() {
	for r.off++; r.text[r.off] != '"'; r.off++ {
		if r.text[r.off] == '\\' {
			r.off++
		}
	}
	r.off++
}

func (r *partReader) part(v source.Value) part {
	r.space()
	p := part{start: r.off, value: v}
	switch v.Kind {
	case source.Map, source.List:
		n := len(v.Members) + len(v.Items)
		r.off++
		for i := range n {
			r.space()
			c := child{start: r.off}
			if v.Kind == source.Map {
				r.str()
				r.space()
				r.off++ // the colon
				c.key = v.Members[i].Key
				c.part = r.part(v.Members[i].Value)
			} else {
				c.part = r.part(v.Items[i])
			}
			p.children = append(p.children, c)
			r.space()
			r.off++ // a comma, or the end
		}
		if n == 0 {
			r.space()
			r.off++
		}
	case source.String:
		r.str()
	case source.Null, source.Bool, source.Number, source.Date:
		for r.off < len(r.text) && strings.IndexByte(" \t\r\n,]}", r.text[r.off]) < 0 {
			r.off++
		}
	}
	p.end = r.off
	return p
}

// get is the index of a member, -1 for none.
func (p *part) get(key string) int {
	for i := range p.children {
		if p.children[i].key == key {
			return i
		}
	}
	return -1
}

// addChild puts one more child behind the last one of a container: on a line of
// its own where the container has lines, else on its line. unit is one step of
// indentation.
func addChild(text []byte, p *part, unit, written string) []byte {
	at := p.start + 1
	comma := ""
	if n := len(p.children); n > 0 {
		at = p.children[n-1].part.end
		comma = ","
	}
	tail := text[at : p.end-1]
	if bytes.IndexByte(tail, '\n') < 0 {
		return join(text[:at], comma+" "+written, string(text[at:]))
	}
	indent := string(tail[bytes.LastIndexByte(tail, '\n')+1:]) + unit
	if n := len(p.children); n > 0 {
		if own, ok := indentOf(text, p.children[n-1].start); ok {
			indent = own
		}
	}
	return join(text[:at], comma+newline(tail)+indent+written, string(text[at:]))
}

// cutChildren takes the children from first to last out of a container, with
// what addChild put around them.
func cutChildren(text []byte, p *part, first, last int) []byte {
	from, to := p.start+1, p.children[last].part.end
	switch {
	case first > 0:
		from = p.children[first-1].part.end
	case last+1 < len(p.children):
		from, to = p.children[first].start, p.children[last+1].start
	}
	return join(text[:from], string(text[to:]))
}

// indentOf is the white space before off on its line; ok is false when there is
// more on the line.
func indentOf(text []byte, off int) (indent string, ok bool) {
	line := text[bytes.LastIndexByte(text[:off], '\n')+1 : off]
	return string(line), len(bytes.Trim(line, " \t")) == 0
}

// unitOf is one step of indentation of a text whose root is p.
func unitOf(text []byte, p *part) string {
	if len(p.children) > 0 {
		if indent, ok := indentOf(text, p.children[0].start); ok && indent != "" {
			return indent
		}
	}
	return "  "
}

// oneLine is a JSON value on one line, with the blanks that a person would put.
func oneLine(value []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, value, "", ""); err != nil {
		return string(value)
	}
	// In a valid text a line break is never part of a value.
	lines := strings.Split(b.String(), "\n")
	var out strings.Builder
	for i, line := range lines {
		out.WriteString(line)
		if strings.HasSuffix(line, ",") && i+1 < len(lines) {
			out.WriteByte(' ')
		}
	}
	return out.String()
}
