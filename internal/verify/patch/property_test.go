package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/patch"
)

// written is a YAML text as a person might write it, with the comments in it and
// the place each belongs to: it may go when that place or one above it is edited.
type written struct {
	t        *rapid.T
	b        strings.Builder
	comments map[string]string // text to pointer
	eol      string
}

func (w *written) draw(what string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, what) }

// comment makes one up, sometimes. What it says looks like YAML.
func (w *written) comment(pointer string) string {
	if w.draw("comment", 3) > 0 {
		return ""
	}
	c := fmt.Sprintf("# c%d: [%s], 'x", len(w.comments), rapid.SampledFrom([]string{"a", "- b", "\"", "{", "é"}).Draw(w.t, "said"))
	w.comments[c] = pointer
	return c
}

func (w *written) lineComment(pointer string) {
	if c := w.comment(pointer); c != "" {
		w.b.WriteString(strings.Repeat(" ", 1+w.draw("gap", 3)) + c)
	}
	w.b.WriteString(w.eol)
}

func (w *written) ownLine(pointer string, indent int) {
	if w.draw("blank", 6) == 0 {
		w.b.WriteString(w.eol)
	}
	if c := w.comment(pointer); c != "" {
		w.b.WriteString(strings.Repeat(" ", indent) + c + w.eol)
	}
}

var texts = []string{"a", "two words", "it's", `say "x"`, "no", "1", "", "# no comment", "a: b", "- a", "é ü", "x#y", "{", "line\nbreak", "tools:*", " lead", "trail ", "*", "&a", "!t", "%", "@"}

// scalar writes a scalar in one of the styles that can hold it. lines says that
// it stands in lines, where its own may follow.
func (w *written) scalar(v any, indent int, lines bool) {
	s, ok := v.(string)
	if !ok {
		text, err := json.Marshal(v)
		if err != nil {
			w.t.Fatal(err)
		}
		w.b.Write(text)
		return
	}
	quoted, _ := json.Marshal(s)
	switch style := w.draw("style", 5); {
	case style == 0 && !strings.Contains(s, "\n"):
		w.b.WriteString("'" + strings.ReplaceAll(s, "'", "''") + "'")
	case style == 1 && slices.Contains([]string{"a", "two words", "it's", "x#y", "é ü", "tools:*"}, s):
		if lines && s == "two words" && w.draw("fold", 2) == 0 {
			s = "two" + w.eol + strings.Repeat(" ", indent+1) + "words"
		}
		w.b.WriteString(s)
	case style == 2 && lines && slices.Contains([]string{"a", "# no comment", "a: b", "- a", "line\nbreak", "*"}, s):
		pad := w.eol + strings.Repeat(" ", indent+2)
		w.b.WriteString("|-" + pad + strings.ReplaceAll(s, "\n", pad))
	default:
		w.b.Write(quoted)
	}
}

// value writes what stands after a colon or a dash, its line end included.
func (w *written) value(v any, pointer string, indent int, dash bool) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || w.draw("flow", 3) == 0 {
			w.b.WriteByte(' ')
			w.flow(v, pointer, indent)
			w.lineComment(pointer)
			return
		}
		if dash && w.draw("compact", 2) == 0 {
			w.b.WriteByte(' ')
			w.block(v, pointer, indent+2, true)
			return
		}
		w.lineComment(pointer)
		w.block(v, pointer, indent+1+w.draw("deeper", 3), false)
	case []any:
		if len(v) == 0 || w.draw("flow", 3) == 0 {
			w.b.WriteByte(' ')
			w.flow(v, pointer, indent)
			w.lineComment(pointer)
			return
		}
		if dash && w.draw("compact", 2) == 0 {
			w.b.WriteByte(' ')
			w.block(v, pointer, indent+2, true)
			return
		}
		w.lineComment(pointer)
		step := w.draw("deeper", 3)
		if dash || indent < 0 {
			step++
		}
		w.block(v, pointer, indent+step, false)
	case nil:
		if w.draw("null", 2) == 0 {
			w.b.WriteString(" null")
		}
		w.lineComment(pointer)
	default:
		w.b.WriteByte(' ')
		before := w.b.Len()
		w.scalar(v, indent, true)
		if strings.HasPrefix(w.b.String()[before:], "|") {
			w.b.WriteString(w.eol)
			return
		}
		w.lineComment(pointer)
	}
}

func (w *written) block(v any, pointer string, indent int, first bool) {
	lead := func() {
		if !first {
			w.ownLine(pointer, indent)
			w.b.WriteString(strings.Repeat(" ", indent))
		}
		first = false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keysOf(v) {
			lead()
			w.scalar(key, indent, false)
			w.b.WriteByte(':')
			w.value(v[key], pointer+patch.Pointer(key), indent, false)
		}
	case []any:
		for i, item := range v {
			lead()
			w.b.WriteByte('-')
			w.value(item, pointer+"/"+strconv.Itoa(i), indent, true)
		}
	}
}

func (w *written) flow(v any, pointer string, indent int) {
	lines := w.draw("lines", 3) == 0
	space := func() {
		switch {
		case lines:
			if c := w.comment(pointer); c != "" {
				w.b.WriteString(" " + c)
			}
			w.b.WriteString(w.eol + strings.Repeat(" ", max(indent, 0)+2))
		case w.draw("space", 2) == 0:
			w.b.WriteByte(' ')
		}
	}
	open := "["
	var n int
	var each func(i int)
	switch v := v.(type) {
	case map[string]any:
		keys := keysOf(v)
		open, n = "{", len(keys)
		each = func(i int) {
			quoted, _ := json.Marshal(keys[i])
			w.b.Write(quoted)
			w.b.WriteString(": ")
			w.flow(v[keys[i]], pointer+patch.Pointer(keys[i]), indent)
		}
	case []any:
		n = len(v)
		each = func(i int) { w.flow(v[i], pointer+"/"+strconv.Itoa(i), indent) }
	case string:
		w.scalar(v, indent, false)
		return
	default:
		w.scalar(v, indent, false)
		return
	}
	w.b.WriteString(open)
	for i := range n {
		if i > 0 {
			w.b.WriteByte(',')
		}
		space()
		each(i)
	}
	if n > 0 && w.draw("comma", 4) == 0 {
		w.b.WriteByte(',')
	}
	if n > 0 {
		space()
	}
	w.b.WriteString(map[string]string{"[": "]", "{": "}"}[open])
}

func keysOf(m map[string]any) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func values(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			kind = 2 + kind%4
		}
		switch kind {
		case 0:
			keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c/d", "e~f", "two words", "é", "no", "1", "it's"}), 0, 4, rapid.ID[string]).Draw(t, "keys")
			m := map[string]any{}
			for _, key := range keys {
				m[key] = values(depth-1).Draw(t, "member")
			}
			return m
		case 1:
			return rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "items")
		case 2:
			return rapid.SampledFrom([]any{nil, true, false, json.Number("1"), json.Number("-20"), json.Number("0.5")}).Draw(t, "literal")
		}
		return rapid.SampledFrom(texts).Draw(t, "text")
	})
}

// change makes an edit on a decoded value; ok is false where it cannot be meant.
func change(v any, steps []string, kind check.PatchKind, value any) (out any, ok bool) {
	if len(steps) == 0 {
		if kind != check.AppendPointer {
			return value, true
		}
		if v == nil {
			return []any{value}, true
		}
		list, ok := v.([]any)
		return append(slices.Clone(list), value), ok
	}
	step := steps[0]
	switch v := v.(type) {
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v) || step != strconv.Itoa(i) {
			return nil, false
		}
		if len(steps) == 1 && kind == check.RemovePointer {
			return append(slices.Clone(v[:i]), v[i+1:]...), true
		}
		inner, ok := change(v[i], steps[1:], kind, value)
		out := slices.Clone(v)
		out[i] = inner
		return out, ok
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			out[key] = e
		}
		have, there := v[step]
		if kind == check.RemovePointer && !there {
			return nil, false
		}
		if len(steps) == 1 && kind == check.RemovePointer {
			delete(out, step)
			return out, true
		}
		inner, ok := change(have, steps[1:], kind, value)
		out[step] = inner
		return out, ok
	case nil:
		if kind == check.RemovePointer {
			return nil, false
		}
		inner, ok := change(nil, steps[1:], kind, value)
		return map[string]any{step: inner}, ok
	}
	return nil, false
}

// places is every pointer into a value, and some that lead nowhere.
func placesOf(v any, at string, all *[]string) {
	*all = append(*all, at)
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keysOf(v) {
			placesOf(v[key], at+patch.Pointer(key), all)
		}
		*all = append(*all, at+"/new", at+"/new/er")
	case []any:
		for i, item := range v {
			placesOf(item, at+"/"+strconv.Itoa(i), all)
		}
		*all = append(*all, at+"/99", at+"/-", at+"/00")
	}
}

// Whatever is written how: an edit that can be meant gives the wanted value, and
// every comment that does not belong to the edited place is still there, in its
// order.
func TestAnEditChangesItsPlaceAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := values(3).Draw(t, "root")
		root, ok := drawn.(map[string]any)
		if !ok || len(root) == 0 {
			root = map[string]any{"a": drawn}
		}
		w := &written{t: t, comments: map[string]string{}, eol: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")}
		w.block(root, "", 0, false)
		w.ownLine("", 0)
		before := w.b.String()
		if rapid.Bool().Draw(t, "unended") {
			before = strings.TrimRight(before, "\r\n")
		}
		if v, err := source.ParseYAML([]byte(before)); err != nil || !reflect.DeepEqual(manifest.JSON(v), any(root)) {
			t.Fatalf("the text of the test is not what it means: %v\n%s", err, before)
		}
		var places []string
		placesOf(root, "", &places)
		e := patch.Edit{
			Kind:    rapid.SampledFrom([]check.PatchKind{check.SetPointer, check.AppendPointer, check.RemovePointer}).Draw(t, "kind"),
			Pointer: rapid.SampledFrom(places[1:]).Draw(t, "pointer"),
		}
		if e.Kind != check.RemovePointer {
			e.Value = values(2).Draw(t, "value")
		}
		steps, _ := patch.Steps(e.Pointer)
		want, meant := change(root, steps, e.Kind, e.Value)
		after, err := patch.Apply([]byte(before), patch.YAML, e)
		switch {
		case !meant:
			if err == nil || err.Class != patch.Malformed {
				t.Fatalf("%s %s was applied: %v\n%s", e.Kind, e.Pointer, err, after)
			}
			return
		case err != nil:
			t.Fatalf("%s %s: %v\n%s", e.Kind, e.Pointer, err, before)
		}
		got, failed := source.ParseYAML(after)
		if failed != nil || !reflect.DeepEqual(manifest.JSON(got), want) {
			t.Fatalf("%s %s\n%s\nbecame\n%s", e.Kind, e.Pointer, before, after)
		}
		last := 0
		for i := range len(w.comments) {
			for c, at := range w.comments {
				if !strings.HasPrefix(c, fmt.Sprintf("# c%d:", i)) || at == e.Pointer || strings.HasPrefix(at, e.Pointer+"/") {
					continue
				}
				n := strings.Index(string(after[last:]), c)
				if n < 0 {
					t.Fatalf("%s %s lost %q\n%s\nbecame\n%s", e.Kind, e.Pointer, c, before, after)
				}
				last += n
			}
		}
	})
}

func TestAnEditOfJSONChangesItsPlaceAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := values(3).Draw(t, "root")
		text, err := json.Marshal(root)
		if err == nil && rapid.Bool().Draw(t, "lines") {
			text, err = json.MarshalIndent(root, "", rapid.SampledFrom([]string{" ", "\t", "    "}).Draw(t, "unit"))
		}
		if err != nil {
			t.Fatal(err)
		}
		var places []string
		placesOf(root, "", &places)
		e := patch.Edit{
			Kind:    rapid.SampledFrom([]check.PatchKind{check.SetPointer, check.AppendPointer, check.RemovePointer}).Draw(t, "kind"),
			Pointer: rapid.SampledFrom(places).Draw(t, "pointer"), Value: values(2).Draw(t, "value"),
		}
		steps, _ := patch.Steps(e.Pointer)
		want, meant := change(root, steps, e.Kind, e.Value)
		after, failed := patch.Apply(text, patch.JSON, e)
		if failed != nil {
			if meant && e.Pointer != "" && root != nil {
				t.Fatalf("%s %s: %v\n%s", e.Kind, e.Pointer, failed, text)
			}
			return
		}
		v, parsed := source.ParseJSON(after)
		if !meant || parsed != nil || !reflect.DeepEqual(manifest.JSON(v), want) {
			t.Fatalf("%s %s\n%s\nbecame\n%s", e.Kind, e.Pointer, text, after)
		}
	})
}

// Whatever the bytes: an edit ends, and what it makes reads as what was meant or
// is refused.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		"a: 1\n", "a: &x [1]\nb: *x\n", "? a\n: b\n", "- - a\n  - b\n", "{a, b: c}", "[a: b]", "a: |2\n   x\n", "a: >+\n x\n\n", "<<: {a: 1}\nb: 2\n", "--- !t\na: b\n...\n",
		`{"a":{"b":[1,{"c":null}]}}`, "a:\u2028b: 1", "\"a\\\n b\": c", "a: !!str\nb:\n- &y\n- z", "a: 'x\n\n y'", "\ufeffa: b", "a: b\r c\r\nd: e",
	} {
		f.Add([]byte(s), "/a", `"v"`, 0, true)
		f.Add([]byte(s), "/0/a", `{"k":["v"]}`, 1, false)
		f.Add([]byte(s), "/b/0", `[]`, 2, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, pointer, value string, kind int, yaml bool) {
		if len(text) > 1<<16 || len(value) > 1<<12 {
			return
		}
		e := patch.Edit{Kind: []check.PatchKind{check.SetPointer, check.AppendPointer, check.RemovePointer}[((kind%3)+3)%3], Pointer: pointer}
		if json.Unmarshal([]byte(value), &e.Value) != nil {
			return
		}
		format, parse := patch.JSON, source.ParseJSON
		if yaml {
			format, parse = patch.YAML, source.ParseYAML
		}
		after, err := patch.Apply(text, format, e)
		if err != nil {
			var as *patch.Error
			if !errors.As(error(err), &as) || as.Msg == "" || after != nil {
				t.Fatalf("%v with %q", err, after)
			}
			return
		}
		body, _ := source.TrimBOM(after)
		if _, err := parse(body); err != nil {
			t.Fatalf("%q became %q", text, after)
		}
	})
}
