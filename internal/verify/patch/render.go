package patch

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// layout is how a flow collection is laid out in lines; nil for one line.
type layout struct {
	indent string // of its entries
	unit   string // one step deeper
}

// near is the layout of a collection in brackets that is written in lines.
func (d *document) near(n *node) *layout {
	if n.block || len(n.items) == 0 {
		return nil
	}
	first := n.items[0].at
	at := lineStart(d.text, first)
	if at <= n.start || !blankBytes(d.text[at:first]) {
		return nil
	}
	indent := string(d.text[at:first])
	outer := d.text[lineStart(d.text, n.start):]
	outer = outer[:len(outer)-len(bytes.TrimLeft(outer, " \t"))]
	unit := strings.TrimPrefix(indent, string(outer))
	if unit == "" {
		unit = "  "
	}
	return &layout{indent, unit}
}

// addFlow writes an entry at the end of a collection in brackets.
func (d *document) addFlow(n *node, written string) *Error {
	if n.bare || n.end-1 <= n.start {
		return refuse(Input, "a pair without braces cannot be edited in place; edit it by hand")
	}
	closing := n.end - 1
	if len(n.items) == 0 {
		open := bytes.IndexAny(d.text[n.start:n.end], "[{") + n.start + 1
		if blankBytes(d.text[open:closing]) {
			d.splice(open, closing, written)
		} else {
			d.splice(closing, closing, written) // after a comment
		}
		return nil
	}
	i := len(n.items) - 1
	end := d.entryEnd(way{parent: n, item: &n.items[i], i: i})
	lead := ", "
	if l := d.near(n); l != nil {
		lead = "," + d.eol + l.indent
	}
	if comma := d.comma(end); comma >= 0 {
		end = comma + 1 // YAML lets a comma stand at the end
		lead = strings.TrimPrefix(lead, ",")
		written += ","
	}
	d.splice(end, end, lead+written)
	return nil
}

// siblingQuote is how the last scalar of a list is quoted.
func (d *document) siblingQuote(n *node) byte {
	for _, it := range slices.Backward(n.items) {
		if it.value.kind == source.String && !it.value.alias && it.value.quote != '|' {
			return it.value.quote
		}
	}
	return 0
}

// keyQuote is how the keys of a map are quoted.
func (d *document) keyQuote(n *node) byte {
	if len(n.items) == 0 {
		return 0
	}
	return n.items[len(n.items)-1].key.quote
}

// flowText is a value in one line, or in the lines of a layout. YAML in brackets
// stays short: one entry, one line.
func (d *document) flowText(v source.Value, quote byte, l *layout) string {
	if d.format == YAML {
		l = nil
	}
	var b strings.Builder
	d.writeFlow(&b, v, quote, l)
	return b.String()
}

func (d *document) writeFlow(b *strings.Builder, v source.Value, quote byte, l *layout) {
	brackets := "[]"
	switch v.Kind {
	case source.Map:
		brackets = "{}"
	case source.List:
	default:
		b.WriteString(d.scalarText(v, quote))
		return
	}
	n := len(v.Items) + len(v.Members)
	b.WriteByte(brackets[0])
	var inner *layout
	if l != nil {
		inner = &layout{l.indent + l.unit, l.unit}
	}
	for i := range n {
		switch {
		case l != nil && i == 0:
			b.WriteString(d.eol + inner.indent)
		case l != nil:
			b.WriteString("," + d.eol + inner.indent)
		case i > 0:
			b.WriteString(", ")
		}
		if v.Kind == source.Map {
			b.WriteString(d.scalarText(source.Value{Kind: source.String, Text: v.Members[i].Key}, 0) + ": ")
			d.writeFlow(b, v.Members[i].Value, 0, inner)
			continue
		}
		d.writeFlow(b, v.Items[i], quote, inner)
	}
	if l != nil && n > 0 {
		b.WriteString(d.eol + l.indent)
	}
	b.WriteByte(brackets[1])
}

// blockText is a value as it stands after a colon or a dash, with its space or
// its line break before it. indent is the column of its entries; compact lets the
// first entry stand on the line of the dash.
func (d *document) blockText(v source.Value, indent int, compact bool, quote byte) string {
	if len(v.Items)+len(v.Members) == 0 {
		return " " + d.flowText(v, quote, nil)
	}
	var b strings.Builder
	pad := strings.Repeat(" ", indent)
	lead := func(i int) {
		if i == 0 && compact {
			b.WriteByte(' ')
			return
		}
		b.WriteString(d.eol + pad)
	}
	for i, m := range v.Members {
		lead(i)
		b.WriteString(d.scalarText(source.Value{Kind: source.String, Text: m.Key}, 0) + ":" + d.blockText(m.Value, indent+2, false, 0))
	}
	for i, item := range v.Items {
		lead(i)
		b.WriteString("-" + d.blockText(item, indent+2, true, quote))
	}
	return b.String()
}

// scalarText is a scalar, quoted as its neighbours are where that is possible.
func (d *document) scalarText(v source.Value, quote byte) string {
	switch v.Kind {
	case source.Null:
		return "null"
	case source.Bool:
		if v.Truth {
			return "true"
		}
		return "false"
	case source.Number, source.Date:
		return v.Text
	default:
	}
	if d.format == YAML {
		if quote == '\'' && printable(v.Text) {
			return "'" + strings.ReplaceAll(v.Text, "'", "''") + "'"
		}
		if quote != '"' && plain(v.Text) {
			return v.Text
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Text); err != nil {
		return `""` // a Go string always encodes
	}
	return strings.NewReplacer("\u0085", `\u0085`, "\ufeff", `\ufeff`, "\u007f", `\u007f`).Replace(strings.TrimSuffix(b.String(), "\n"))
}

// printable says whether a text can stand between single quotes on one line.
func printable(text string) bool {
	for _, r := range text {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == 0xfffe || r == 0xffff {
			return false
		}
	}
	return true
}

// words that some reader of YAML takes for something else than a text.
var reservedWords = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// plain says whether a text can be written without quotes and is a text to every
// reader of YAML, in lines and in brackets.
func plain(text string) bool {
	if text == "" || slices.Contains(reservedWords, strings.ToLower(text)) {
		return false
	}
	letter := func(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
	if !letter(text[0]) {
		return false
	}
	for i := 1; i < len(text); i++ {
		c, last := text[i], i == len(text)-1
		switch {
		case letter(c), '0' <= c && c <= '9', strings.IndexByte("./@*+-", c) >= 0:
		case c == ':' && !last && text[i+1] != ' ':
		case c == ' ' && !last && text[i+1] != ' ':
		default:
			return false
		}
	}
	return true
}
