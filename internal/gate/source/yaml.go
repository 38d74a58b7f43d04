package source

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseYAML reads one YAML document. Scalars get their type as in YAML 1.2, so
// the bare key on is the text "on". A key that is no text becomes its text:
// true is "true", 1 is "1", nothing at all is "null". Aliases and merge keys
// are replaced by what they stand for. An empty text is Null.
//
// Refused, besides what the grammar refuses: a key twice, a second document, a
// key that is a collection, has an anchor or is an alias, and an alias inside
// of its own anchor. Tags never run anything: what a tag other than the core
// ones marks stays text, a list or a map.
func ParseYAML(text []byte) (Value, *ParseError) {
	if err := screen(YAMLParser, text); err != nil {
		return Value{}, err
	}
	c := newCursor(text)
	if ends := []byte("\r\n"); bytes.Count(text, ends[1:])+bytes.Count(text, ends[:1])-bytes.Count(text, ends) > maxLines {
		return Value{}, (&ParseError{Parser: YAMLParser, Pos: Position{Line: 1, Column: 1}}).because(TooMany)
	}
	if off := yamlRefusal(text); off >= 0 {
		return Value{}, &ParseError{Parser: YAMLParser, Pos: c.at(off), Reason: NotText}
	}
	r := &yamlReader{
		lines: yamlLines(text),
		end:   c.at(len(text)),
		open:  map[*yaml.Node]bool{},
		known: map[*yaml.Node]measured{},
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	first, err := decodeYAML(d)
	if errors.Is(err, io.EOF) {
		return Value{Kind: Null, Pos: Position{Line: 1, Column: 1}}, nil
	}
	if err != nil {
		return Value{}, r.syntax(err)
	}
	v, failure := r.value(first.Content[0], 0)
	if failure != nil {
		return Value{}, failure
	}
	switch second, err := decodeYAML(d); {
	case err == nil:
		return Value{}, r.fail(second).because(SecondDocument)
	case !errors.Is(err, io.EOF):
		return Value{}, r.syntax(err)
	}
	return v.Value, nil
}

var errBroken = errors.New("yaml: the parser gave up")

// decodeYAML reads the next document. The library reports states it holds for
// impossible by a panic; for a hostile text that is a parse failure like any.
func decodeYAML(d *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errBroken
		}
	}()
	doc = new(yaml.Node)
	err = d.Decode(doc)
	return doc, err
}

// maxLines bounds lines that hold nothing: the library takes 200 bytes for one
// with a comment.
const maxLines = 1_000_000

// maxTagDirectives bounds %TAG lines: the library compares each with all before.
const maxTagDirectives = 64

// yamlRefusal is the offset of the first character that YAML forbids, or of one
// %TAG line too many; -1 without either. The library refuses such a character
// too, but does not say where.
func yamlRefusal(text []byte) int {
	off := bytes.IndexFunc(text, func(c rune) bool {
		switch {
		case c == '\t', c == '\n', c == '\r', c == 0x85:
			return false
		case c < ' ', 0x7F <= c && c < 0xA0, c == 0xFFFE, c == 0xFFFF:
			return true
		}
		return false
	})
	if off >= 0 {
		return off
	}
	directive := []byte("\n%TAG")
	for rest, n := text, 0; ; n++ {
		i := bytes.Index(rest, directive)
		switch {
		case i < 0:
			return -1
		case n == maxTagDirectives:
			return len(text) - len(rest) + i + 1
		}
		rest = rest[i+1:]
	}
}

type yamlReader struct {
	lines []Position // where each line of the library begins
	end   Position   // of the text
	nodes int
	open  map[*yaml.Node]bool     // anchored nodes that are being read
	known map[*yaml.Node]measured // anchored nodes that have been read
}

// measured is a value and its size with aliases written out. An alias shares
// the value it stands for, so a bomb of aliases costs us nothing; its size is
// bounded for those who walk the result.
type measured struct {
	Value
	nodes  int
	height int
}

func (r *yamlReader) failAt(pos Position) *ParseError {
	return &ParseError{Parser: YAMLParser, Pos: pos}
}

func (r *yamlReader) fail(n *yaml.Node) *ParseError { return r.failAt(r.pos(n)) }

// pos is where n begins. A value that is not written, at the end of a text
// without a last line end, is on a line of the library's own.
func (r *yamlReader) pos(n *yaml.Node) Position {
	if n.Line > len(r.lines) {
		return r.end
	}
	start := r.lines[n.Line-1]
	return Position{Line: start.Line, Column: start.Column + n.Column - 1}
}

// yamlLines is where each line begins as the library counts them: it also ends
// a line at the three Unicode line separators, which editors and the rest of
// the gate do not.
func yamlLines(text []byte) []Position {
	lines := []Position{{Line: 1, Column: 1}}
	c := newCursor(text)
	for off, char := range string(text) {
		size := 1
		switch char {
		case '\r':
			if bytes.HasPrefix(text[off+1:], []byte("\n")) {
				continue
			}
		case '\n':
		case '\u0085':
			size = 2
		case '\u2028', '\u2029':
			size = 3
		default:
			continue
		}
		lines = append(lines, c.at(off+size))
	}
	return lines
}

// syntax is the library's error as a place. Its text may quote the file, so
// only the line is taken from it. Without a line it speaks of the first one,
// except for an unknown alias, which it does not place at all.
func (r *yamlReader) syntax(err error) *ParseError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(text, "unknown anchor") || errors.Is(err, errBroken) {
		return r.failAt(Position{})
	}
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, problem, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line = n
		}
		for _, p := range countedFromZero {
			if strings.HasPrefix(problem, p) {
				line++
			}
		}
	}
	line = min(max(line, 1), len(r.lines))
	return r.failAt(Position{Line: r.lines[line-1].Line, Column: 1})
}

// countedFromZero is how the errors begin whose line the library counts from
// zero: those of its parser. It counts those of its scanner from one.
var countedFromZero = []string{"did not find expected", "found undefined tag", "found duplicate %", "found incompatible"}

// value reads n, which stands depth levels below the root.
func (r *yamlReader) value(n *yaml.Node, depth int) (measured, *ParseError) {
	if depth > maxDepth {
		return measured{}, r.fail(n).because(TooDeep)
	}
	if n.Kind == yaml.AliasNode {
		return r.alias(n, depth)
	}
	if n.Anchor != "" {
		r.open[n] = true
	}
	if r.nodes++; r.nodes > maxNodes {
		return measured{}, r.fail(n).because(TooMany)
	}
	m := measured{Value: Value{Pos: r.pos(n)}, nodes: 1}
	var err *ParseError
	switch n.Kind {
	case yaml.SequenceNode:
		err = r.sequence(n, depth, &m)
	case yaml.MappingNode:
		err = r.mapping(n, depth, &m)
	default:
		var ok bool
		if m.Value, ok = yamlScalar(n); !ok {
			err = r.fail(n)
		}
		m.Pos = r.pos(n)
	}
	if n.Anchor != "" {
		delete(r.open, n)
		r.known[n] = m
	}
	return m, err
}

func (r *yamlReader) alias(n *yaml.Node, depth int) (measured, *ParseError) {
	m := r.known[n.Alias]
	r.nodes += m.nodes
	switch {
	case r.open[n.Alias]:
		return measured{}, r.fail(n).because(AliasInItself)
	case r.nodes > maxNodes:
		return measured{}, r.fail(n).because(TooMany)
	case depth+m.height > maxDepth:
		return measured{}, r.fail(n).because(TooDeep)
	}
	m.Pos = r.pos(n)
	return m, nil
}

func (m *measured) hold(child measured) {
	m.nodes += child.nodes
	m.height = max(m.height, child.height+1)
}

func (r *yamlReader) sequence(n *yaml.Node, depth int, m *measured) *ParseError {
	m.Kind = List
	for _, c := range n.Content {
		item, err := r.value(c, depth+1)
		if err != nil {
			return err
		}
		m.Items = append(m.Items, item.Value)
		m.hold(item)
	}
	return nil
}

// mapping reads the keys of n, then what its merge keys add. A key of n wins
// over a merged one, and an earlier merged one over a later.
func (r *yamlReader) mapping(n *yaml.Node, depth int, m *measured) *ParseError {
	var own members
	var merged []Value
	var truths [2]bool
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if isMerge(k) {
			sources, err := r.merged(n.Content[i+1], depth, m)
			if err != nil {
				return err
			}
			merged = append(merged, sources...)
			continue
		}
		key, ok := yamlKey(k)
		if !ok {
			return r.fail(k)
		}
		if own.has(key) || seenTruth(k, &truths) {
			return r.fail(k).because(DuplicateKey)
		}
		v, err := r.value(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		own.add(Member{Key: key, Pos: r.pos(k), Value: v.Value})
		m.hold(v)
	}
	for _, from := range merged {
		for _, member := range from.Members {
			if !own.has(member.Key) {
				own.add(member)
			}
		}
	}
	m.Value = own.value(m.Pos)
	return nil
}

// merged is the mappings that the value of a merge key names, in order.
func (r *yamlReader) merged(n *yaml.Node, depth int, m *measured) ([]Value, *ParseError) {
	v, err := r.value(n, depth+1)
	if err != nil {
		return nil, err
	}
	m.hold(v)
	list := []Value{v.Value}
	if v.Kind == List {
		list = v.Items
	}
	for _, from := range list {
		if from.Kind != Map {
			return nil, r.fail(n)
		}
	}
	return list, nil
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!merge" && n.Value == "<<" && n.Anchor == ""
}

// yamlKey is the text of a key.
func yamlKey(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" {
		return "", false
	}
	v, ok := yamlScalar(n)
	switch v.Kind {
	case Null:
		return "null", ok
	case Bool:
		return strconv.FormatBool(v.Truth), ok
	default:
		return v.Text, ok
	}
}

// seenTruth says whether n is, to a reader of YAML 1.1, a boolean key that
// stood there before under another name: to it, on and true are one key.
func seenTruth(n *yaml.Node, seen *[2]bool) bool {
	if n.Style != 0 {
		return false
	}
	var which int
	switch n.Value {
	case "true", "True", "TRUE", "on", "On", "ON", "yes", "Yes", "YES":
		which = 1
	case "false", "False", "FALSE", "off", "Off", "OFF", "no", "No", "NO":
	default:
		return false
	}
	before := seen[which]
	seen[which] = true
	return before
}
