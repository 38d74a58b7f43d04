package patch

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"plimsoll.dev/internal/gate/source"
)

// openYAML builds the tree of a YAML text that is known to hold one document.
func (d *document) openYAML() (failed *Error) {
	defer func() {
		// The library panics in states it holds for impossible.
		if recover() != nil {
			failed = refuse(Input, "the file cannot be edited in place")
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(d.text, &doc); err != nil {
		return refuse(Input, "the file cannot be read")
	}
	if len(doc.Content) == 0 {
		return nil
	}
	b := yamlSpans{text: d.text, lines: lineStarts(d.text)}
	d.root = b.node(doc.Content[0], -1, false)
	return nil
}

// lineStarts is where each line begins as the library counts lines: it also ends
// one at the three Unicode line separators.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for off := 0; off < len(text); {
		r, size := utf8.DecodeRune(text[off:])
		off += size
		switch r {
		case '\r':
			if off < len(text) && text[off] == '\n' {
				continue
			}
		case '\n', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		starts = append(starts, off)
	}
	return starts
}

// yamlSpans turns places of the library's nodes into spans. The library knows
// where a node begins; where it ends follows from what it holds.
type yamlSpans struct {
	text  []byte
	lines []int

	// The last place that was asked for: nodes come in the order of the text, so
	// that all places of a long line together cost one pass over it.
	line, col, off int
}

func (b *yamlSpans) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(b.lines) {
		return len(b.text)
	}
	if b.line != n.Line || b.col > n.Column {
		b.line, b.col, b.off = n.Line, 1, b.lines[n.Line-1]
	}
	for ; b.col < n.Column && b.off < len(b.text); b.col++ {
		_, size := utf8.DecodeRune(b.text[b.off:])
		b.off += size
	}
	return b.off
}

// node is the span of n. indent is the column of the block collection around
// it, -1 at the root.
func (b *yamlSpans) node(n *yaml.Node, indent int, flow bool) *node {
	out := &node{start: b.offset(n)}
	body := b.properties(out.start)
	switch n.Kind {
	case yaml.AliasNode:
		out.alias, out.kind = true, source.String
		out.end = body + len("*") + len(n.Value)
	case yaml.SequenceNode:
		out.kind = source.List
		if flow || n.Style&yaml.FlowStyle != 0 {
			b.flow(n, out, body)
			return out
		}
		out.block = true
		b.sequence(n, out, body)
	case yaml.MappingNode:
		out.kind = source.Map
		if flow || n.Style&yaml.FlowStyle != 0 {
			b.flow(n, out, body)
			return out
		}
		out.block = true
		b.mapping(n, out, indent)
	default:
		out.kind = source.String
		if n.Tag == "!!null" {
			out.kind = source.Null
		}
		b.scalar(n, out, body, indent)
	}
	return out
}

// properties is the offset after the anchor and the tag that begin at off.
func (b *yamlSpans) properties(off int) int {
	for off < len(b.text) && (b.text[off] == '&' || b.text[off] == '!') {
		at := off
		for at < len(b.text) && bytes.IndexByte([]byte(" \t\r\n,[]{}"), b.text[at]) < 0 {
			at++
		}
		off = b.blank(at)
	}
	return off
}

// blank is the offset after spaces, line ends and comments.
func (b *yamlSpans) blank(off int) int {
	for off < len(b.text) {
		switch c := b.text[off]; {
		case c == ' ', c == '\t', c == '\r', c == '\n':
			off++
		case c == '#' && (off == 0 || bytes.IndexByte([]byte(" \t\r\n"), b.text[off-1]) >= 0):
			off = lineEnd(b.text, off)
		default:
			return off
		}
	}
	return off
}

func (b *yamlSpans) column(off int) int {
	return utf8.RuneCount(b.text[lineStart(b.text, off):off])
}

// flow reads a collection in brackets, or a pair without braces in a list.
func (b *yamlSpans) flow(n *yaml.Node, out *node, body int) {
	off := body + 1
	pairs := n.Kind == yaml.MappingNode
	for i := 0; i < len(n.Content); i++ {
		var it item
		if pairs {
			it.key = b.node(n.Content[i], 0, true)
			it.name = b.name(n.Content[i], it.key)
			i++
		}
		it.value = b.node(n.Content[i], 0, true)
		it.at, off = it.value.start, it.value.end
		if pairs {
			it.at, off = it.key.start, max(it.key.end, it.value.end)
		}
		out.items = append(out.items, it)
	}
	if body >= len(b.text) || b.text[body] != '[' && b.text[body] != '{' {
		out.bare, out.end = true, off
		return
	}
	for off = b.blank(off); off < len(b.text) && (b.text[off] == ',' || b.text[off] == ':'); {
		off = b.blank(off + 1)
	}
	out.end = min(off+1, len(b.text))
}

// name is the text of a key as package source reads it.
func (b *yamlSpans) name(n *yaml.Node, key *node) string {
	switch n.Tag {
	case "!!str":
		return n.Value
	case "!!merge":
		return "\x00<<" // no pointer leads through a merge
	case "!!int":
		if i, err := strconv.Atoi(n.Value); err == nil && strconv.Itoa(i) == n.Value {
			return n.Value // already as it reads
		}
	}
	doc, err := source.ParseYAML(append([]byte("? "), b.text[key.start:key.end]...))
	if err != nil || len(doc.Members) != 1 {
		return n.Value
	}
	return doc.Members[0].Key
}

// sequence reads a list of dashes.
func (b *yamlSpans) sequence(n *yaml.Node, out *node, body int) {
	off := body
	for _, c := range n.Content {
		dash := b.blank(off)
		value := b.node(c, b.column(dash), false)
		out.items = append(out.items, item{at: dash, value: value})
		off = max(value.end, dash+1)
		out.end = off
	}
}

// mapping reads a map in lines.
func (b *yamlSpans) mapping(n *yaml.Node, out *node, indent int) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := b.node(n.Content[i], indent, false)
		value := b.node(n.Content[i+1], b.column(key.start), false)
		out.items = append(out.items, item{at: key.start, name: b.name(n.Content[i], key), key: key, value: value})
		out.end = max(value.end, b.colon(key.end))
	}
}

// colon is the offset after the colon that follows a key.
func (b *yamlSpans) colon(off int) int {
	for off < len(b.text) && (b.text[off] == ' ' || b.text[off] == '\t') {
		off++
	}
	if off < len(b.text) && b.text[off] == ':' {
		return off + 1
	}
	return off
}

func (b *yamlSpans) scalar(n *yaml.Node, out *node, body, indent int) {
	text := b.text
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		out.quote = '"'
		at := body + 1
		for at < len(text) && text[at] != '"' {
			if text[at] == '\\' {
				at++
			}
			at++
		}
		out.end = min(at+1, len(text))
	case n.Style&yaml.SingleQuotedStyle != 0:
		out.quote = '\''
		at := body + 1
		for at < len(text) && (text[at] != '\'' || at+1 < len(text) && text[at+1] == '\'') {
			if text[at] == '\'' {
				at++
			}
			at++
		}
		out.end = min(at+1, len(text))
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		out.quote = '|'
		out.end = b.blockScalar(body, indent)
	default:
		b.plain(n, out, body)
	}
}

// plain finds the end of a plain scalar by its words: folding changes only the
// space between them.
func (b *yamlSpans) plain(n *yaml.Node, out *node, body int) {
	out.end = body
	if n.Value == "" { // only its properties are written, if anything is
		written := b.text[out.start:body]
		if i := bytes.IndexAny(written, "\r\n"); i >= 0 {
			written = written[:i]
		}
		out.end = out.start + len(bytes.TrimRight(written, " \t"))
		return
	}
	at := body
	for word := range strings.FieldsSeq(n.Value) {
		for at < len(b.text) && !bytes.HasPrefix(b.text[at:], []byte(word)) {
			at++
		}
		at += len(word)
	}
	out.end = min(at, len(b.text))
}

// blockScalar is the end of a literal or folded scalar whose header is at off.
func (b *yamlSpans) blockScalar(off, indent int) int {
	header := b.text[off:lineEnd(b.text, off)]
	if i := bytes.IndexByte(header, '#'); i >= 0 {
		header = header[:i]
	}
	end, width := lineEnd(b.text, off), 0
	if i := bytes.IndexAny(header, "123456789"); i >= 0 {
		width = max(indent, 0) + int(header[i]-'0')
	}
	keep := bytes.IndexByte(header, '+') >= 0
	for at := nextLine(b.text, end); at < len(b.text); at = nextLine(b.text, lineEnd(b.text, at)) {
		line := b.text[at:lineEnd(b.text, at)]
		own := len(line) - len(bytes.TrimLeft(line, " "))
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			if keep {
				end = lineEnd(b.text, at)
			}
			continue
		case width == 0 && own > indent:
			width = own
		case width == 0 || own < width:
			return end
		}
		end = lineEnd(b.text, at)
	}
	return end
}

// lineStart, lineEnd (before the line break) and nextLine (after it) work on the
// line breaks of editors.
func lineStart(text []byte, off int) int {
	return bytes.LastIndexByte(text[:off], '\n') + 1
}

func lineEnd(text []byte, off int) int {
	i := bytes.IndexByte(text[off:], '\n')
	if i < 0 {
		return len(text)
	}
	if i > 0 && text[off+i-1] == '\r' {
		i--
	}
	return off + i
}

func nextLine(text []byte, end int) int {
	if end < len(text) && text[end] == '\r' {
		end++
	}
	if end < len(text) && text[end] == '\n' {
		end++
	}
	return end
}
