package decision

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/check"
)

// Declarations is suggested-declarations.yaml: what the gaps ask for, merged so
// that each target stands once (§8.3). New entries are a fragment of the
// manifest; what belongs into entries that are already there is named in
// comments, with its line. Nil without a gap; a comment alone when no
// declaration answers.
func Declarations(gaps []Gap) []byte {
	s := suggestion{comments: map[string]string{}, entries: map[string]int{}, lists: map[string][]any{}, spoken: map[string]string{}}
	for i := range gaps {
		s.add(&gaps[i])
	}
	for _, pointer := range s.order {
		s.tree = put(s.tree, steps(pointer), s.lists[pointer])
	}
	if len(gaps) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("# What would close the gaps of evidence. Every " + review + " is a question to a person who knows the answer;\n")
	b.WriteString("# the gate refuses a manifest in which one is left. Nothing here is in force.\n")
	if s.file == "" {
		b.WriteString("#\n# No declaration closes these gaps: each names the place in the sources that does.\n")
		return []byte(b.String())
	}
	fmt.Fprintf(&b, "# Target: %s\n", oneLine(s.file))
	if len(s.sets) > 0 {
		b.WriteString("#\n# In entries that are already there:\n")
		for _, line := range slices.Sorted(maps.Keys(s.sets)) {
			b.WriteString("#   " + line + "\n")
		}
	}
	w := block{out: append(make([]byte, 0, b.Len()+entrySize*len(gaps)), b.String()...), comments: s.comments}
	w.object(s.tree, 0)
	return w.out
}

// entrySize is about how long the answer to a gap is.
const entrySize = 320

// suggestion is the merged answers.
type suggestion struct {
	file     string
	tree     object
	comments map[string]string // by dotted path, list items by index
	sets     map[string]bool   // lines of the comment
	entries  map[string]int    // by pointer and target: the place in the list
	lists    map[string][]any  // by pointer: the entries, put into the tree at the end
	order    []string          // pointers of lists, as they came

	spoken   map[string]string // pointers as comments name them
	accepted []string          // by the last gap; the next one's are the same as a rule
	choices  string            // of these
	key      []byte
}

func (s *suggestion) add(g *Gap) {
	t := g.Next.Template
	if t == nil {
		return
	}
	s.file = t.File
	for i := range t.Edits {
		e := &t.Edits[i]
		if e.Kind == check.SetPointer && e.Pointer != "/agent_bindings/root" {
			if s.sets == nil {
				s.sets = map[string]bool{}
			}
			s.sets[oneLine(fmt.Sprintf("%s (line %d): %s%s", dotted(e.Pointer), e.Line, canonical.UTF8.String(e.Value), offered(g, e)))] = true
			continue
		}
		if e.Kind == check.SetPointer {
			s.tree = put(s.tree, steps(e.Pointer), e.Value)
			s.comments[e.key(t.Key)] = s.offer(g.Next.Accepted)
			continue
		}
		index := s.append(e.Pointer, e.Value)
		path, ok := s.spoken[e.Pointer]
		if !ok {
			path = dotted(e.Pointer)
			s.spoken[e.Pointer] = path
		}
		s.comments[path+"["+strconv.Itoa(index)+"]."+t.Key] = s.offer(g.Next.Accepted)
	}
}

// offer is choices, which most gaps of a kind have in common.
func (s *suggestion) offer(accepted []string) string {
	if !slices.Equal(accepted, s.accepted) {
		s.accepted, s.choices = accepted, choices(accepted)
	}
	return s.choices
}

// offered is the accepted values beside the edit that they are for.
func offered(g *Gap, e *Edit) string {
	last := e.Pointer[strings.LastIndexByte(e.Pointer, '/')+1:]
	if first, _, _ := strings.Cut(g.Next.Template.Key, "."); first != last {
		return ""
	}
	return choices(g.Next.Accepted)
}

// fewNames is how many accepted values a comment spells out.
const fewNames = 12

func choices(accepted []string) string {
	if len(accepted) == 0 {
		return ""
	}
	shown := accepted[:min(len(accepted), fewNames)]
	more := ""
	if n := len(accepted) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return " # one of: " + oneLine(strings.Join(shown, ", ")) + more
}

// oneLine keeps names of the repository inside of the comment they stand in.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// put sets a value in a tree of objects; the first one at a place stays.
func put(o object, path []string, value any) object {
	i := slices.IndexFunc(o, func(m canonical.Member) bool { return m.Key == path[0] })
	if len(path) == 1 {
		if i < 0 {
			return append(o, canonical.Member{Key: path[0], Value: value})
		}
		return o
	}
	if i < 0 {
		o, i = append(o, canonical.Member{Key: path[0], Value: object{}}), len(o)
	}
	inner, _ := o[i].Value.(object)
	o[i].Value = put(inner, path[1:], value)
	return o
}

// append adds an entry to a list, or completes the entry for the same target
// that is there already, and says which.
func (s *suggestion) append(pointer string, value any) int {
	s.key = appendTarget(append(append(s.key[:0], pointer...), 0), value)
	if n, ok := s.entries[string(s.key)]; ok {
		s.lists[pointer][n] = merge(s.lists[pointer][n], value)
		return n
	}
	if s.lists[pointer] == nil {
		s.order = append(s.order, pointer)
	}
	n := len(s.lists[pointer])
	s.entries[string(s.key)] = n
	s.lists[pointer] = append(s.lists[pointer], value)
	return n
}

// appendTarget is what an entry is about: the members that select, else all of it.
func appendTarget(dst []byte, v any) []byte {
	o, ok := v.(object)
	if !ok {
		return canonical.UTF8.Append(dst, v)
	}
	var selects object
	for _, m := range o {
		switch m.Key {
		case "tool", "tool_id", "source_id", "agent":
			selects = append(selects, m)
		}
	}
	if len(selects) == 0 {
		selects = o
	}
	return canonical.UTF8.Append(dst, selects)
}

func merge(have, more any) any {
	a, okA := have.(object)
	b, okB := more.(object)
	if !okA || !okB {
		return have
	}
	out := slices.Clone(a)
	for _, m := range b {
		if !slices.ContainsFunc(out, func(o canonical.Member) bool { return o.Key == m.Key }) {
			out = append(out, m)
		}
	}
	return out
}

// block writes a tree as a block of YAML.
type block struct {
	out      []byte
	path     []byte // dotted, of what is written
	comments map[string]string
}

func (b *block) put(s string) { b.out = append(b.out, s...) }

func (b *block) indent(depth int) {
	for range depth {
		b.put("  ")
	}
}

func (b *block) object(o object, depth int) {
	for n, m := range o {
		if n > 0 || depth == 0 || !bytes.HasSuffix(b.out, []byte("- ")) {
			b.indent(depth)
		}
		from := len(b.path)
		if from > 0 {
			b.path = append(b.path, '.')
		}
		b.path = append(b.path, m.Key...)
		b.out = append(appendScalar(b.out, m.Key), ':')
		b.value(m.Value, depth+1)
		b.path = b.path[:from]
	}
}

func (b *block) value(v any, depth int) {
	comment := b.comments[string(b.path)]
	switch v := v.(type) {
	case object:
		b.put(comment + "\n")
		b.object(v, depth)
	case []any:
		if !slices.ContainsFunc(v, func(e any) bool { _, nested := e.(object); return nested }) {
			b.put(" [")
			for i, e := range v {
				if i > 0 {
					b.put(", ")
				}
				b.out = appendScalar(b.out, e)
			}
			b.put("]" + comment + "\n")
			return
		}
		b.put(comment + "\n")
		from := len(b.path)
		for i, e := range v {
			b.indent(depth)
			b.put("- ")
			b.path = append(strconv.AppendInt(append(b.path, '['), int64(i), 10), ']')
			if o, ok := e.(object); ok {
				b.object(o, depth+1)
			} else {
				b.out = append(appendScalar(b.out, e), '\n')
			}
			b.path = b.path[:from]
		}
	default:
		b.put(" ")
		b.out = appendScalar(b.out, v)
		b.put(comment + "\n")
	}
}

// appendScalar is a value on one line. A JSON string is a YAML string too; only
// plain words stand without quotes.
func appendScalar(dst []byte, v any) []byte {
	if s, ok := v.(string); ok && plainWord(s) {
		return append(dst, s...)
	}
	return canonical.Compact.Append(dst, v)
}

func plainWord(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-')) {
			return false
		}
	}
	return true
}

// inventoryKey is the manifest key for a framework's inventories; nil when the
// framework has none and a source of type mcp stands for one.
func inventoryKey(framework string) *string {
	for _, f := range inventories {
		if strings.HasPrefix(framework, f.prefix) {
			key := f.block + ".tool_inventories"
			return &key
		}
	}
	if strings.HasPrefix(framework, "codex_plugin") {
		key := "codex_plugins.mcp_tool_inventories"
		return &key
	}
	return nil
}

// pretty is JSON as artifacts have it: two blanks, declared order, one newline
// at the end. The values are made of types that always have a JSON form.
func pretty(v any) []byte {
	text, err := canonical.Document(v)
	if err != nil {
		panic("decision: " + err.Error())
	}
	return text
}
