package patch

import (
	"bytes"
	"slices"

	"plimsoll.dev/internal/gate/source"
)

// A node is a value and the bytes that it is written in.
type node struct {
	kind  source.Kind // List, Map, or anything else for a scalar
	block bool        // a YAML collection that is written in lines
	quote byte        // '"', '\'' or 0 for a scalar; '|' for a block scalar
	alias bool
	bare  bool // a pair without braces in a flow list
	start int  // with anchor and tag
	end   int  // after the last byte that belongs to it; equal to start for an empty value
	items []item
}

// item is an entry of a collection.
type item struct {
	at    int // of its dash (block list), its key (map) or its value (flow list)
	name  string
	key   *node // nil in a list
	value *node
}

// document is a text with its tree, and the splices that were made in it.
type document struct {
	text    []byte
	format  Format
	root    *node // nil for a YAML text without a value
	eol     string
	splices []splice
}

// splice replaces the bytes from a up to b.
type splice struct {
	a, b int
	by   string
}

func open(text []byte, format Format) (*document, *Error) {
	d := &document{text: text, format: format, eol: "\n"}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		d.eol = "\r\n"
	}
	if format == JSON {
		r := jsonSpans{text: text}
		d.root = r.value()
		return d, nil
	}
	return d, d.openYAML()
}

func (d *document) splice(a, b int, by string) { d.splices = append(d.splices, splice{a, b, by}) }

// bytes is the text with the splices made. It answers false for splices that
// meet.
func (d *document) bytes() ([]byte, bool) {
	slices.SortStableFunc(d.splices, func(x, y splice) int {
		if x.a != y.a {
			return x.a - y.a
		}
		return x.b - y.b // what is written at a place comes before what is cut from it
	})
	var out []byte
	at := 0
	for _, s := range d.splices {
		if s.a < at || s.b < s.a || s.b > len(d.text) {
			return nil, false
		}
		out = append(append(out, d.text[at:s.a]...), s.by...)
		at = s.b
	}
	return append(out, d.text[at:]...), true
}

// find is the item with a name or an index, and its place; nil when it is not
// there.
func (n *node) find(step string) (*item, int) {
	if n.kind == source.List {
		if i, ok := index(step, len(n.items)); ok {
			return &n.items[i], i
		}
		return nil, 0
	}
	for i := range n.items {
		if n.items[i].name == step {
			return &n.items[i], i
		}
	}
	return nil, 0
}

// jsonSpans reads the spans of a JSON text that is known to be valid and not to
// nest deeper than the reader of package source lets it.
type jsonSpans struct {
	text []byte
	off  int
}

func (r *jsonSpans) space() byte {
	for r.off < len(r.text) && bytes.IndexByte([]byte(" \t\r\n"), r.text[r.off]) >= 0 {
		r.off++
	}
	if r.off < len(r.text) {
		return r.text[r.off]
	}
	return 0
}

func (r *jsonSpans) value() *node {
	n := &node{start: 0}
	first := r.space()
	n.start = r.off
	switch first {
	case '{', '[':
		n.kind = source.List
		if first == '{' {
			n.kind = source.Map
		}
		r.off++
		for c := r.space(); c != '}' && c != ']' && c != 0; c = r.space() {
			if c == ',' {
				r.off++
				continue
			}
			it := item{at: r.off}
			if n.kind == source.Map {
				it.key = r.value()
				name, _ := source.ParseJSON(r.text[it.key.start:it.key.end])
				it.name = name.Text
				if r.space() == ':' {
					r.off++
				}
			}
			it.value = r.value()
			n.items = append(n.items, it)
		}
		r.off++
	case '"':
		n.kind, n.quote = source.String, '"'
		for r.off++; r.off < len(r.text) && r.text[r.off] != '"'; r.off++ {
			if r.text[r.off] == '\\' {
				r.off++
			}
		}
		r.off++
	default:
		for r.off < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:]}"), r.text[r.off]) < 0 {
			r.off++
		}
	}
	n.end = min(r.off, len(r.text))
	return n
}
