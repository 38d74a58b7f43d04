package patch

import (
	"bytes"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// way is the nodes from the root to a place, outermost first.
type way struct {
	parent *node // collection that holds it
	item   *item
	i      int
}

// walk follows steps as far as they lead. rest is what is not there.
func (d *document) walk(steps []string) (path []way, rest []string, err *Error) {
	n := d.root
	for k, step := range steps {
		if n != nil && n.alias {
			return nil, nil, refuse(Input, "%s leads through an alias, which stands for another place; edit it by hand", Pointer(steps...))
		}
		if n == nil || n.kind != source.List && n.kind != source.Map {
			return path, steps[k:], nil
		}
		it, i := n.find(step)
		if it == nil {
			return path, steps[k:], nil
		}
		path = append(path, way{n, it, i})
		n = it.value
	}
	if n != nil && n.alias {
		return nil, nil, refuse(Input, "%s is an alias, which stands for another place; edit it by hand", Pointer(steps...))
	}
	return path, nil, nil
}

// set writes a value at a place, and what is missing on the way to it.
func (d *document) set(steps []string, value source.Value) *Error {
	path, rest, err := d.walk(steps)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		last := path[len(path)-1]
		return d.replace(last, value)
	}
	for _, step := range slices.Backward(rest[1:]) {
		value = source.Value{Kind: source.Map, Members: []source.Member{{Key: step, Value: value}}}
	}
	member := source.Member{Key: rest[0], Value: value}
	if len(path) == 0 {
		if d.root == nil {
			return d.begin(member)
		}
		return d.addMember(d.root, member)
	}
	last := path[len(path)-1]
	if last.item.value.kind == source.Map {
		return d.addMember(last.item.value, member)
	}
	return d.replace(last, source.Value{Kind: source.Map, Members: []source.Member{member}})
}

// append writes a value at the end of a list, and the list where it is missing.
func (d *document) append(steps []string, value source.Value) *Error {
	path, rest, err := d.walk(steps)
	if err != nil {
		return err
	}
	list := d.root
	if len(path) > 0 {
		list = path[len(path)-1].item.value
	}
	if len(rest) > 0 || list == nil || list.kind != source.List {
		if len(steps) == 0 {
			return refuse(Input, "an empty file cannot be appended to")
		}
		return d.set(steps, source.Value{Kind: source.List, Items: []source.Value{value}})
	}
	if !list.block {
		return d.addFlow(list, d.flowText(value, d.siblingQuote(list), d.near(list)))
	}
	dash := column(d.text, list.items[0].at)
	lines := "-" + d.blockText(value, dash+2, true, d.siblingQuote(list))
	d.insertLines(list.end, strings.Repeat(" ", dash)+lines)
	return nil
}

// remove takes an entry away.
func (d *document) remove(steps []string) *Error {
	path, rest, err := d.walk(steps)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return refuse(Malformed, "there is no %q to remove", Pointer(steps...))
	}
	last := path[len(path)-1]
	switch {
	case last.parent.bare:
		return refuse(Input, "%s is a pair without braces; edit it by hand", Pointer(steps...))
	case !last.parent.block:
		d.removeFlow(last)
	case len(last.parent.items) == 1:
		d.removeOnly(path)
	default:
		d.removeBlock(last)
	}
	return nil
}

// end of an entry's own bytes.
func (d *document) entryEnd(w way) int {
	end := w.item.value.end
	if w.item.key != nil {
		end = max(end, d.afterKey(w.item.key.end))
	} else if w.parent.block {
		end = max(end, w.item.at+1)
	}
	return end
}

// afterKey is the offset after the colon that follows a key.
func (d *document) afterKey(off int) int {
	b := yamlSpans{text: d.text}
	return b.colon(off)
}

// removeBlock takes away the lines of an entry that is not the only one.
func (d *document) removeBlock(w way) {
	start, end := lineStart(d.text, w.item.at), lineEnd(d.text, d.entryEnd(w))
	if blankBytes(d.text[start:w.item.at]) {
		d.splice(start, nextLine(d.text, end), "")
		return
	}
	// It shares its line with what holds the collection: - a: 1. The next entry
	// moves up unless a comment stands between.
	next := w.parent.items[w.i+1].at
	if blankBytes(d.text[d.entryEnd(w):next]) {
		d.splice(w.item.at, next, "")
		return
	}
	d.splice(w.item.at, end, "")
}

// removeOnly takes away the last entry of a collection, which becomes an empty
// one on the line of what holds it.
func (d *document) removeOnly(path []way) {
	w := path[len(path)-1]
	empty := "{}"
	if w.parent.kind == source.List {
		empty = "[]"
	}
	start, end := lineStart(d.text, w.item.at), d.entryEnd(w)
	if !blankBytes(d.text[start:w.item.at]) { // - a: 1
		d.splice(w.item.at, end, empty)
		return
	}
	if len(path) == 1 { // the root
		d.splice(w.item.at, end, empty)
		return
	}
	holder := path[len(path)-2]
	after := holder.item.at + 1
	if holder.item.key != nil {
		after = d.afterKey(holder.item.key.end)
	}
	d.splice(after, after, " "+empty)
	d.splice(start, nextLine(d.text, lineEnd(d.text, end)), "")
}

// removeFlow takes away an entry in brackets, with one comma.
func (d *document) removeFlow(w way) {
	items := w.parent.items
	end := d.entryEnd(w)
	comma := d.comma(end)
	if w.i > 0 && w.i+1 == len(items) {
		// The last one takes the comma before it along, unless a comment stands
		// between: then that comma stays at the end, which is YAML.
		from := d.entryEnd(way{parent: w.parent, item: &items[w.i-1], i: w.i - 1})
		if blankBytes(bytes.Replace(d.text[from:w.item.at], []byte(","), nil, 1)) {
			d.splice(from, end, "")
			return
		}
	}
	if len(items) == 1 {
		open, shut := bytes.IndexAny(d.text[w.parent.start:], "[{")+w.parent.start+1, w.parent.end-1
		if blankBytes(d.text[open:w.item.at]) && blankBytes(bytes.Replace(d.text[end:shut], []byte(","), nil, 1)) {
			d.splice(open, shut, "")
			return
		}
	}
	switch {
	case comma < 0:
		d.splice(w.item.at, end, "")
	case !blankBytes(d.text[end:comma]): // a comment before the comma
		d.splice(w.item.at, end, "")
		d.splice(comma, comma+1, "")
	case w.i+1 < len(items) && blankBytes(d.text[comma+1:items[w.i+1].at]):
		d.splice(w.item.at, items[w.i+1].at, "")
	default:
		d.splice(w.item.at, comma+1, "")
	}
}

// comma is the offset of the comma after an entry, -1 without one.
func (d *document) comma(off int) int {
	b := yamlSpans{text: d.text}
	if off = b.blank(off); off < len(d.text) && d.text[off] == ',' {
		return off
	}
	return -1
}

// replace writes another value in the place of one.
func (d *document) replace(w way, value source.Value) *Error {
	old := w.item.value
	if w.parent.bare {
		return refuse(Input, "a pair without braces cannot be edited in place; edit it by hand")
	}
	scalar := value.Kind != source.List && value.Kind != source.Map || len(value.Items)+len(value.Members) == 0
	if !w.parent.block {
		written := d.flowText(value, old.quote, d.near(w.parent))
		if old.start == old.end && w.item.key != nil { // {a} or {a: }
			after := d.afterKey(w.item.key.end)
			lead := " "
			if after == w.item.key.end || d.text[after-1] != ':' {
				lead = ": "
			}
			d.splice(after, max(after, old.end), lead+written)
			return nil
		}
		d.splice(old.start, old.end, written)
		return nil
	}
	after, indent := w.item.at+1, column(d.text, w.item.at)+2
	if w.item.key != nil {
		after = d.afterKey(w.item.key.end)
	}
	sameLine := lineStart(d.text, old.start) == lineStart(d.text, after)
	switch {
	case sameLine && old.end > old.start && !old.block && (scalar || old.kind == source.List || old.kind == source.Map):
		d.splice(old.start, old.end, d.flowText(value, old.quote, nil))
	case sameLine && old.block: // - a: 1
		d.splice(after, old.end, d.blockText(value, indent, true, 0))
	case scalar:
		d.cut(after, old)
		d.splice(after, after, " "+d.flowText(value, old.quote, nil))
	default:
		d.cut(after, old)
		list := w.item.key == nil
		if list && blankBytes(d.text[after:lineEnd(d.text, after)]) || list && sameLine && blankBytes(d.text[max(old.end, after):lineEnd(d.text, max(old.end, after))]) {
			d.splice(after, after, d.blockText(value, indent, true, 0))
			return nil
		}
		written := d.blockText(value, indent, false, 0)
		d.splice(d.lineRest(after, old), d.lineRest(after, old), written)
	}
	return nil
}

// cut takes the bytes of an old value away and leaves the comment on the line of
// its key.
func (d *document) cut(after int, old *node) {
	if old.end <= after {
		return
	}
	if lineStart(d.text, old.start) == lineStart(d.text, after) {
		d.splice(after, old.end, "")
		return
	}
	d.splice(lineEnd(d.text, after), lineEnd(d.text, old.end), "")
}

// lineRest is where the lines of a new value begin: after the comment on the
// line of the key.
func (d *document) lineRest(after int, old *node) int {
	if old.end > after && lineStart(d.text, old.start) == lineStart(d.text, after) {
		return lineEnd(d.text, old.end)
	}
	return lineEnd(d.text, after)
}

// addMember writes a new key at the end of a map.
func (d *document) addMember(n *node, m source.Member) *Error {
	if n.kind != source.Map || n.alias || n.bare {
		return refuse(Input, "the place above is no map that can be edited")
	}
	if !n.block {
		return d.addFlow(n, d.flowText(source.Value{Kind: source.String, Text: m.Key}, d.keyQuote(n), nil)+": "+d.flowText(m.Value, 0, d.near(n)))
	}
	col := column(d.text, n.items[0].at)
	key := d.flowText(source.Value{Kind: source.String, Text: m.Key}, d.keyQuote(n), nil)
	d.insertLines(n.end, strings.Repeat(" ", col)+key+":"+d.blockText(m.Value, col+2, false, 0))
	return nil
}

// begin writes the first key of a file that holds nothing but comments.
func (d *document) begin(m source.Member) *Error {
	key := d.flowText(source.Value{Kind: source.String, Text: m.Key}, 0, nil)
	d.insertLines(len(d.text), key+":"+d.blockText(m.Value, 2, false, 0))
	return nil
}

// insertLines writes whole lines after the line that holds the byte before off.
func (d *document) insertLines(off int, lines string) {
	end := lineEnd(d.text, off)
	at := nextLine(d.text, end)
	if at == end && end > 0 && !bytes.HasSuffix(d.text, []byte("\n")) { // no line break at the end of the text
		d.splice(at, at, d.eol+lines)
		return
	}
	d.splice(at, at, lines+d.eol)
}

func blankBytes(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// column is how many characters stand before off on its line.
func column(text []byte, off int) int {
	b := yamlSpans{text: text}
	return b.column(off)
}
