package constitution

import (
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// reader reads one YAML file and notes everything that is wrong with it.
type reader struct {
	*notes
	path   string
	before int // lines of the file before the YAML begins
	lines  int // of the YAML
}

func (r *reader) wrong(n *yaml.Node, format string, args ...any) {
	r.add(r.path, r.line(n), format, args...)
}

// line is where a node begins in its file.
func (r *reader) line(n *yaml.Node) int { return r.before + n.Line }

// root is the value of a YAML text of one document; nil when it does not parse,
// which is noted.
func (r *reader) root(text []byte) *yaml.Node {
	r.lines = bytes.Count(text, []byte("\n")) + 1
	if at := directive(text); at > 0 {
		r.add(r.path, r.before+at, "holds a directive; take the line away")
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	doc, err := decodeYAML(d)
	if errors.Is(err, io.EOF) {
		r.add(r.path, r.before+1, "is empty")
		return nil
	}
	if err != nil {
		r.syntax(err, text)
		return nil
	}
	if next, err := decodeYAML(d); !errors.Is(err, io.EOF) {
		if err != nil {
			r.syntax(err, text)
		} else {
			r.wrong(next, "holds a second document")
		}
		return nil
	}
	return doc.Content[0]
}

// directive is the first line that begins like a directive of YAML, 0 without
// one. Nothing of ours needs them, and the library compares each with all before.
func directive(text []byte) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("%")) {
			return i + 1
		}
	}
	return 0
}

var errBroken = errors.New("yaml: the text cannot be read")

// decodeYAML reads the next document. The library reports states it holds for
// impossible by a panic; for a hostile text that is a failure like any.
func decodeYAML(d *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errBroken
		}
	}()
	doc = new(yaml.Node)
	err = d.Decode(doc)
	if err == nil && len(doc.Content) != 1 {
		err = errBroken
	}
	return doc, err
}

// countedFromZero is how the errors begin whose line the library counts from
// zero: those of its parser. It counts those of its scanner from one.
var countedFromZero = []string{"did not find expected", "found undefined tag", "found duplicate %", "found incompatible"}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+): (.*)`) })

// syntax notes an error of the library, which names its line in its text only.
func (r *reader) syntax(err error, text []byte) {
	line, msg := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line, msg = n, m[2]
		}
		if slices.ContainsFunc(countedFromZero, func(p string) bool { return strings.HasPrefix(msg, p) }) {
			line++
		}
	}
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok { // the library does not place it
		name, _, _ = strings.Cut(name, "'")
		line = bytes.Count(text[:max(bytes.Index(text, []byte("*"+name)), 0)], []byte("\n")) + 1
	}
	// What is missing at the end, the library places below it.
	line = min(line, r.lines)
	r.add(r.path, r.before+line, "is not YAML: %s", clip(msg))
}

// plain says whether a node is what it looks like: no alias, no anchor, no tag
// of its own. What stands for something else is read twice in two ways.
func (r *reader) plain(n *yaml.Node, what string) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		r.wrong(n, "%s is an alias; write it out", what)
		return false
	case n.Anchor != "":
		r.wrong(n, "%s has an anchor; nothing may point at it", what)
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.wrong(n, "%s has a tag; take it away", what)
		return false
	}
	return true
}

// fields is the members of a mapping by their keys. Unknown and repeated keys
// and missing ones are noted; a key that starts with "?" may be missing.
func (r *reader) fields(n *yaml.Node, what string, keys ...string) map[string]*yaml.Node {
	found := map[string]*yaml.Node{}
	if !r.plain(n, what) {
		return found
	}
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "%s is not a mapping", what)
		return found
	}
	known := make([]string, len(keys))
	for i, k := range keys {
		known[i] = strings.TrimPrefix(k, "?")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := key.Value
		switch {
		case key.Kind != yaml.ScalarNode || !r.plain(key, "a key"):
			r.wrong(key, "%s has a key that is not a plain text", what)
		case found[name] != nil:
			r.wrong(key, "%s has the key %q twice; the first is on line %d", what, name, r.line(found[name]))
		case slices.Contains(known, name):
			found[name] = value
		case assembles(name):
			r.wrong(key, "%s has the key %q: nothing may add to, replace or reorder the parts of a prompt", what, name)
		default:
			r.wrong(key, "%s has an unknown key %q", what, clip(name))
		}
	}
	for _, k := range keys {
		if found[k] == nil && !strings.HasPrefix(k, "?") {
			r.wrong(n, "%s has no %s", what, k)
		}
	}
	return found
}

// entries is the members of a mapping whose keys are free, in their order.
func (r *reader) entries(n *yaml.Node, what string) (keys, values []*yaml.Node) {
	if n == nil || !r.plain(n, what) {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "%s is not a mapping", what)
		return nil, nil
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || !r.plain(key, "a key"):
			r.wrong(key, "%s has a key that is not a plain text", what)
		case seen[key.Value] > 0:
			r.wrong(key, "%s has the key %q twice; the first is on line %d", what, clip(key.Value), seen[key.Value])
		default:
			seen[key.Value] = r.line(key)
			keys, values = append(keys, key), append(values, n.Content[i+1])
		}
	}
	return keys, values
}

// items is the elements of a list; noted when there are none.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	switch {
	case n == nil || !r.plain(n, what):
		return nil
	case n.Kind != yaml.SequenceNode:
		r.wrong(n, "%s is not a list", what)
		return nil
	case len(n.Content) == 0:
		r.wrong(n, "%s: the list is empty", what)
	}
	return n.Content
}

// text is a scalar as it is written; "" when it is none, which is noted.
func (r *reader) text(n *yaml.Node, what string) string {
	switch {
	case n == nil || !r.plain(n, what):
		return ""
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		r.wrong(n, "%s is not a text", what)
		return ""
	case strings.TrimSpace(n.Value) == "":
		r.wrong(n, "%s is empty", what)
		return ""
	}
	return n.Value
}

// number is a whole number from 1 to limit; 0 when it is none, which is noted.
func (r *reader) number(n *yaml.Node, what string, limit int) int {
	if n == nil || !r.plain(n, what) {
		return 0
	}
	value, err := strconv.Atoi(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil:
		r.wrong(n, "%s is not a whole number", what)
		return 0
	case value < 1:
		r.wrong(n, "%s is %d; it must be at least 1", what, value)
		return 0
	case value > limit && limit < math.MaxInt:
		r.wrong(n, "%s is %d; it must be at most %d", what, value, limit)
		return 0
	}
	return value
}

// flag is true or false.
func (r *reader) flag(n *yaml.Node, what string) bool {
	if n == nil || !r.plain(n, what) {
		return false
	}
	if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
		r.wrong(n, "%s is neither true nor false", what)
	}
	return n.Value == "true"
}

// clip keeps a name from outside short.
func clip(name string) string {
	if len(name) <= 64 {
		return name
	}
	cut := 64
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "…"
}
