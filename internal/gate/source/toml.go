package source

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// ParseTOML reads TOML 1.0. A number keeps its type: 1 is not 1.0, and 0x10 is
// 16. A date is RFC 3339 as written.
//
// The library's parser splits the text into expressions and knows where each
// one is; what they mean together (tomlTable) is ours, because the library's
// own check for duplicates searches every earlier key for each new one, and a
// megabyte of keys would take minutes. The library reads TOML 1.1, so what 1.1
// added is refused here.
func ParseTOML(text []byte) (Value, *ParseError) {
	if err := screen(TOMLParser, text); err != nil {
		return Value{}, err
	}
	// Clipped, because the library finds the place of a slice by its capacity.
	text = text[:len(text):len(text)]
	r := &tomlReader{text: text, cursor: newCursor(text)}
	r.parser.Reset(text)

	root := newTable(tableHeader, Position{Line: 1, Column: 1})
	current, base := root, 0
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		var err *ParseError
		if e.Kind == unstable.KeyValue {
			_, err = r.assign(current, e, base)
		} else {
			current, base, err = r.header(root, e)
		}
		if err != nil {
			return Value{}, err
		}
	}
	if err := r.parser.Error(); err != nil {
		return Value{}, r.syntax(err)
	}
	return root.value(), nil
}

type tomlReader struct {
	text   []byte
	parser unstable.Parser
	cursor cursor
	nodes  int
}

func (r *tomlReader) failAt(pos Position) *ParseError {
	return &ParseError{Parser: TOMLParser, Pos: pos}
}

// syntax is the library's error as a place; its text may quote the file.
func (r *tomlReader) syntax(err error) *ParseError {
	p, ok := errors.AsType[*unstable.ParserError](err)
	if !ok {
		return r.failAt(Position{})
	}
	return r.failAt(r.cursor.at(int(r.parser.Range(p.Highlight).Offset)))
}

// keyPart is one part of a dotted key.
type keyPart struct {
	name string
	pos  Position
}

// key is the parts of a dotted key and the offset after the last. base is the
// depth of the table it starts in.
func (r *tomlReader) key(it unstable.Iterator, base int) ([]keyPart, int, *ParseError) {
	var parts []keyPart
	end := 0
	for it.Next() {
		n := it.Node()
		pos := r.cursor.at(int(n.Raw.Offset))
		if base+len(parts) >= maxDepth || !oldEscapes(r.parser.Raw(n.Raw)) {
			return nil, 0, r.failAt(pos)
		}
		if r.nodes++; r.nodes > maxNodes {
			return nil, 0, r.failAt(pos)
		}
		parts = append(parts, keyPart{string(n.Data), pos})
		end = int(n.Raw.Offset + n.Raw.Length)
	}
	return parts, end, nil
}

// header opens the table of a [name] or [[name]] line and gives its depth.
func (r *tomlReader) header(root *tomlTable, e *unstable.Node) (*tomlTable, int, *ParseError) {
	parts, _, err := r.key(e.Key(), 0)
	if err != nil {
		return nil, 0, err
	}
	t := root
	for _, p := range parts[:len(parts)-1] {
		next, ok := t.enter(p)
		if !ok {
			return nil, 0, r.failAt(p.pos)
		}
		t = next
	}
	last := parts[len(parts)-1]
	open := t.open
	if e.Kind == unstable.ArrayTable {
		open = t.push
	}
	t, ok := open(last)
	if !ok {
		return nil, 0, r.failAt(last.pos)
	}
	return t, len(parts), nil
}

// assign stores one key = value in t, which is base deep, and answers with the
// offset after the value.
func (r *tomlReader) assign(t *tomlTable, e *unstable.Node, base int) (int, *ParseError) {
	parts, end, err := r.key(e.Key(), base)
	if err != nil {
		return 0, err
	}
	for _, p := range parts[:len(parts)-1] {
		next, ok := t.dotted(p)
		if !ok {
			return 0, r.failAt(p.pos)
		}
		t = next
	}
	last := parts[len(parts)-1]
	if !t.free(last.name) {
		return 0, r.failAt(last.pos)
	}
	end = r.blank(end) + len("=")
	v, end, err := r.value(e.Value(), r.blank(end), base+len(parts))
	if err != nil {
		return 0, err
	}
	t.set(last, v)
	return end, nil
}

// value reads the value that starts at offset at and answers with the offset
// after it. The library keeps no place for lists, so the reader keeps its own.
func (r *tomlReader) value(n *unstable.Node, at, depth int) (Value, int, *ParseError) {
	pos := r.cursor.at(at)
	if r.nodes++; r.nodes > maxNodes || depth > maxDepth {
		return Value{}, 0, r.failAt(pos)
	}
	v := Value{Pos: pos}
	ok := true
	switch n.Kind {
	case unstable.Array:
		return r.list(n, at, depth)
	case unstable.InlineTable:
		return r.inlineTable(n, at, depth)
	case unstable.String:
		v.Kind, v.Text, ok = String, string(n.Data), oldEscapes(r.parser.Raw(n.Raw))
	case unstable.Bool:
		v.Kind, v.Truth = Bool, n.Data[0] == 't'
	case unstable.Integer:
		v.Kind = Number
		v.Text, ok = integer(string(n.Data))
	case unstable.Float:
		v.Kind = Number
		v.Text, ok = tomlFloat(string(n.Data))
	default:
		v.Kind = Date
		v.Text, ok = tomlDate(string(n.Data))
	}
	if !ok {
		return Value{}, 0, r.failAt(pos)
	}
	return v, at + int(n.Raw.Length), nil
}

func (r *tomlReader) list(n *unstable.Node, at, depth int) (Value, int, *ParseError) {
	v := Value{Kind: List, Pos: r.cursor.at(at)}
	end := r.filler(at + len("["))
	for it := n.Children(); it.Next(); {
		item, after, err := r.value(it.Node(), end, depth+1)
		if err != nil {
			return Value{}, 0, err
		}
		v.Items = append(v.Items, item)
		end = r.filler(after)
	}
	return v, end + len("]"), nil
}

// inlineTable reads { a = 1, b = 2 }, on one line and without a comma at the
// end: TOML 1.0 allows neither.
func (r *tomlReader) inlineTable(n *unstable.Node, at, depth int) (Value, int, *ParseError) {
	t := newTable(tableHeader, r.cursor.at(at))
	end := r.blank(at + len("{"))
	for it := n.Children(); it.Next(); {
		if int(it.Node().Raw.Offset) != end {
			return Value{}, 0, r.failAt(r.cursor.at(end))
		}
		after, err := r.assign(t, it.Node(), depth)
		if err != nil {
			return Value{}, 0, err
		}
		end = r.blank(after)
		if r.text[end] == ',' && !it.IsLast() {
			end = r.blank(end + 1)
		}
	}
	if r.text[end] != '}' {
		return Value{}, 0, r.failAt(r.cursor.at(end))
	}
	return t.value(), end + len("}"), nil
}

// blank is the offset of the first byte from at on that is no blank.
func (r *tomlReader) blank(at int) int {
	for at < len(r.text) && (r.text[at] == ' ' || r.text[at] == '\t') {
		at++
	}
	return at
}

// filler is the offset of the first byte from at on that is not between two
// items of a list.
func (r *tomlReader) filler(at int) int {
	for at < len(r.text) {
		switch r.text[at] {
		case ' ', '\t', '\r', '\n', ',':
			at++
		case '#':
			end := bytes.IndexByte(r.text[at:], '\n')
			if end < 0 {
				return len(r.text)
			}
			at += end
		default:
			return at
		}
	}
	return at
}

// oldEscapes says whether a string or key token holds no escape that TOML 1.1
// added (\e and \xHH).
func oldEscapes(token []byte) bool {
	if !bytes.HasPrefix(token, []byte(`"`)) {
		return true
	}
	for {
		i := bytes.IndexByte(token, '\\')
		if i < 0 || i+1 >= len(token) {
			return true
		}
		if c := token[i+1]; c == 'e' || c == 'x' {
			return false
		}
		token = token[i+2:]
	}
}

func tomlFloat(text string) (string, bool) {
	sign, rest := cutSign(text)
	switch rest {
	case "nan":
		return rest, true
	case "inf":
		return sign + rest, true
	}
	return float(strings.ReplaceAll(text, "_", ""))
}
