package decision

import (
	"fmt"
	"maps"
	"slices"
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
	s := suggestion{comments: map[string]string{}, entries: map[string]int{}, lists: map[string][]any{}}
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
	writeObject(&b, s.tree, "", "", s.comments)
	return []byte(b.String())
}

// suggestion is the merged answers.
type suggestion struct {
	file     string
	tree     object
	comments map[string]string // by dotted path, list items by index
	sets     map[string]bool   // lines of the comment
	entries  map[string]int    // by pointer and target: the place in the list
	lists    map[string][]any  // by pointer: the entries, put into the tree at the end
	order    []string          // pointers of lists, as they came
}

func (s *suggestion) add(g *Gap) {
	t := g.Next.Template
	if t == nil {
		return
	}
	s.file = t.File
	for _, e := range t.Edits {
		path := steps(e.Pointer)
		if e.Kind == check.SetPointer && e.Pointer != "/agent_bindings/root" {
			if s.sets == nil {
				s.sets = map[string]bool{}
			}
			s.sets[oneLine(fmt.Sprintf("%s (line %d): %s%s", dotted(e.Pointer), e.Line, canonical.UTF8.String(e.Value), offered(g, &e)))] = true
			continue
		}
		if e.Kind == check.SetPointer {
			s.tree = put(s.tree, path, e.Value)
			s.comments[e.key(t.Key)] = choices(g.Next.Accepted)
			continue
		}
		index := s.append(e.Pointer, e.Value)
		s.comments[fmt.Sprintf("%s[%d].%s", dotted(e.Pointer), index, t.Key)] = choices(g.Next.Accepted)
	}
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
	key := pointer + "\x00" + target(value)
	if n, ok := s.entries[key]; ok {
		s.lists[pointer][n] = merge(s.lists[pointer][n], value)
		return n
	}
	if s.lists[pointer] == nil {
		s.order = append(s.order, pointer)
	}
	n := len(s.lists[pointer])
	s.entries[key] = n
	s.lists[pointer] = append(s.lists[pointer], value)
	return n
}

// target is what an entry is about: the members that select, else all of it.
func target(v any) string {
	o, ok := v.(object)
	if !ok {
		return canonical.UTF8.String(v)
	}
	var selects object
	for _, m := range o {
		switch m.Key {
		case "tool", "tool_id", "source_id", "agent":
			selects = append(selects, m)
		}
	}
	if len(selects) == 0 {
		return canonical.UTF8.String(o)
	}
	return canonical.UTF8.String(selects)
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

// writeObject prints an object as a block of YAML.
func writeObject(b *strings.Builder, o object, indent, path string, comments map[string]string) {
	for n, m := range o {
		if n > 0 || indent == "" || !strings.HasSuffix(b.String(), "- ") {
			b.WriteString(indent)
		}
		at := m.Key
		if path != "" {
			at = path + "." + m.Key
		}
		b.WriteString(scalar(m.Key) + ":")
		writeValue(b, m.Value, indent+"  ", at, comments)
	}
}

func writeValue(b *strings.Builder, v any, indent, path string, comments map[string]string) {
	switch v := v.(type) {
	case object:
		b.WriteString(comments[path] + "\n")
		writeObject(b, v, indent, path, comments)
	case []any:
		if !slices.ContainsFunc(v, func(e any) bool { _, nested := e.(object); return nested }) {
			texts := make([]string, len(v))
			for i, e := range v {
				texts[i] = scalar(e)
			}
			b.WriteString(" [" + strings.Join(texts, ", ") + "]" + comments[path] + "\n")
			return
		}
		b.WriteString(comments[path] + "\n")
		for i, e := range v {
			b.WriteString(indent + "- ")
			at := fmt.Sprintf("%s[%d]", path, i)
			if o, ok := e.(object); ok {
				writeObject(b, o, indent+"  ", at, comments)
			} else {
				b.WriteString(scalar(e) + "\n")
			}
		}
	default:
		b.WriteString(" " + scalar(v) + comments[path] + "\n")
	}
}

// scalar is a value on one line. A JSON string is a YAML string too; only plain
// words stand without quotes.
func scalar(v any) string {
	s, ok := v.(string)
	if !ok {
		return canonical.Compact.String(v)
	}
	if s == review || plainWord(s) {
		if s == review {
			return canonical.Compact.String(s)
		}
		return s
	}
	return canonical.Compact.String(s)
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
