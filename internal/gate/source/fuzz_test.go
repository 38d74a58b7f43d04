package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"plimsoll.dev/internal/gate/source"
)

// read parses a text and holds the result to what is true of every parser: a
// value equals itself, keys are unique, and every position lies in the text.
func read(t *testing.T, parse parser, text []byte) (source.Value, *source.ParseError) {
	t.Helper()
	v, err := parse(text)
	inside := linesOf(text)
	if err != nil {
		if err.Pos != (source.Position{}) && !inside(err.Pos) {
			t.Fatalf("failure at %s, outside of %q", at(err), text)
		}
		return v, err
	}
	if !v.Equal(v) {
		t.Fatalf("%s is not equal to itself", show(v))
	}
	var walk func(source.Value)
	walk = func(v source.Value) {
		if !v.Present() || !inside(v.Pos) {
			t.Fatalf("%s at %d:%d, outside of %q", v.Kind, v.Pos.Line, v.Pos.Column, text)
		}
		for _, e := range v.Items {
			walk(e)
		}
		keys := map[string]bool{}
		for _, m := range v.Members {
			if keys[m.Key] || !inside(m.Pos) {
				t.Fatalf("key %q twice or at %d:%d, outside of %q", m.Key, m.Pos.Line, m.Pos.Column, text)
			}
			keys[m.Key] = true
			if !v.Get(m.Key).Equal(m.Value) {
				t.Fatalf("Get(%q) gives another value", m.Key)
			}
			walk(m.Value)
		}
	}
	walk(v)
	return v, nil
}

// linesOf says of a position whether it lies in the text, its end included.
func linesOf(text []byte) func(source.Position) bool {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n")
	return func(p source.Position) bool {
		return p.Line >= 1 && p.Line <= len(lines) && p.Column >= 1 && p.Column <= 2+utf8.RuneCountInString(lines[p.Line-1])
	}
}

// marked says whether a line of the text is a conflict marker.
func marked(text []byte) bool {
	for _, line := range strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' || c == '\r' }) {
		for _, m := range []string{"<<<<<<<", ">>>>>>>"} {
			if line == m || strings.HasPrefix(line, m+" ") {
				return true
			}
		}
	}
	return false
}

// nests says whether brackets may nest too deep for us; others go deeper.
func nests(text []byte) bool {
	return bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 500
}

// repeats says whether a JSON text, which the standard library accepts, has a
// key twice in one object.
func repeats(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	var open []map[string]bool // nil for a list
	key := false
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok && key {
			keys := open[len(open)-1]
			if keys[s] {
				return true
			}
			keys[s] = true
			key = false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

func checkJSON(t *testing.T, text []byte) {
	t.Helper()
	v, err := read(t, source.ParseJSON, text)
	if want := json.Valid(text) && utf8.Valid(text) && !marked(text) && !repeats(text); !nests(text) && (err == nil) != want {
		t.Fatalf("%q: %s, want accepted=%v", text, at(err), want)
	}
	if err != nil {
		return
	}
	again, err := source.ParseJSON(encode(v))
	if err != nil || !again.Equal(v) {
		t.Fatalf("%q: its canonical form %s reads as %s, %s", text, encode(v), show(again), at(err))
	}
	if relaxed, err := source.ParseJSONC(text); err != nil || !relaxed.Equal(v) {
		t.Fatalf("%q: with comments allowed it reads as %s, %s", text, show(relaxed), at(err))
	}
	var want any
	if err := json.Unmarshal(text, &want); err == nil && !reflect.DeepEqual(plain(v), want) {
		t.Fatalf("%q reads as %s, the standard library has %v", text, show(v), want)
	}
}

// plain is the value as encoding/json and go-toml decode into an any. Dates
// stay text.
func plain(v source.Value) any {
	switch v.Kind {
	case source.Bool:
		return v.Truth
	case source.Number:
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return err
		}
		return f
	case source.List:
		list := []any{}
		for _, e := range v.Items {
			list = append(list, plain(e))
		}
		return list
	case source.Map:
		m := map[string]any{}
		for _, e := range v.Members {
			m[e.Key] = plain(e.Value)
		}
		return m
	case source.Null:
		return nil
	default:
		return v.Text
	}
}

var jsonSeeds = []string{
	`{}`, `{"a": [null, true, false, -0.5e+3, "x\u00e9\ud83d\udea2\ud800", {}, []]}`, `{"a":1,"\u0061":2}`, `[1,]`, `[1 2]`, `"`, "\"\xff\"",
	"<<<<<<< x\n{}", " \t\r\n1", `01`, `1e`, `-`, `1E400`, `{"a":{"a":{"a":1}}}`, "[\"\\ud83d\\u0041\"]", `nul`, "\ufeff{}", `{"a":1}{"b":2}`, "1\x00",
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkJSON(t, text) })
}

func FuzzParseJSONC(f *testing.F) {
	for _, s := range append([]string{"// x\n{/**/}", "[1,]", "{\"a\":1,}", "[,]", "1//\r", "{//\u2028}", "/*/ 1", "1 /", "/*\x00*/1", "{\"a\"/**/:/**/1/**/,/**/}"}, jsonSeeds...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := read(t, source.ParseJSONC, text)
		if bytes.IndexByte(text, 0) >= 0 { // no text, which the oracle passes over in a comment
			if err == nil {
				t.Fatalf("%q reads as %s", text, show(v))
			}
			return
		}
		if nests(text) || bytes.ContainsAny(text, "\r") || marked(text) || !utf8.Valid(text) {
			return // the oracle ends a line comment at LF alone
		}
		// The oracle wants the last line comment ended, too.
		standard, oracle := hujson.Standardize(append(bytes.Clone(text), '\n'))
		if oracle != nil {
			if err == nil {
				t.Fatalf("%q reads as %s, the oracle says %v", text, show(v), oracle)
			}
			return
		}
		strict, strictErr := source.ParseJSON(standard)
		if (err == nil) != (strictErr == nil) || !strict.Equal(v) {
			t.Fatalf("%q reads as %s, %s; without comments as %s, %s", text, show(v), at(err), show(strict), at(strictErr))
		}
	})
}

func FuzzParseTOML(f *testing.F) {
	for _, s := range []string{
		"", "a = 1\nb.c = [1, 2.5, 'x', \"\\u00e9\"]\n[t]\nd = {e = 1979-05-27T07:32:00Z}\n[[l]]\n[[l]]\nf = \"\"\"x\"\"\"", "a = 1\na = 2", "[a]\n[a]",
		"[a.b]\n[a]\nb.c=1", "a = {b = 1,}", "a = \"\\e\"", "a = 07:32", "a = 0x1_0", "a = [\n#\n]", "[[a]]\n[a.b]\n[[a.c]]", "a = '''\n'''", "a = 1 # x\r\n", "a.b = 1\n[a]", "a={b.c=1,b.d=2}",
		"a = +inf\nb = -nan", "a = 2000-02-30", "<<<<<<<", "\"\" = ''", "a = \"\"\"\\\n  x\"\"\"\"\"", "[[a]]\n[[a.b]]\nc = 1\n[[a]]\n[[a.b]]\nc = 2",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := read(t, source.ParseTOML, text)
		var want map[string]any
		oracle := toml.Unmarshal(text, &want)
		if err != nil {
			return // we are stricter: TOML 1.0, markers, bounds
		}
		if oracle != nil && !leapSecond(v) {
			t.Fatalf("%q reads as %s, the oracle says %v", text, show(v), oracle)
		}
		if oracle == nil && !same(plain(v), want) {
			t.Fatalf("%q reads as %s, the oracle has %v", text, show(v), want)
		}
	})
}

// leapSecond says whether a date in v has the second 60, which the oracle's
// dates cannot hold.
func leapSecond(v source.Value) bool {
	if v.Kind == source.Date && strings.Contains(v.Text, ":60") {
		return true
	}
	for _, e := range v.Items {
		if leapSecond(e) {
			return true
		}
	}
	for _, m := range v.Members {
		if leapSecond(m.Value) {
			return true
		}
	}
	return false
}

// same compares what plain made of a TOML file with what the oracle made of it.
func same(ours, theirs any) bool {
	switch theirs := theirs.(type) {
	case map[string]any:
		m, ok := ours.(map[string]any)
		if !ok || len(m) != len(theirs) {
			return false
		}
		for k, e := range theirs {
			if o, ok := m[k]; !ok || !same(o, e) {
				return false
			}
		}
		return true
	case []any:
		list, ok := ours.([]any)
		if !ok || len(list) != len(theirs) {
			return false
		}
		for i := range list {
			if !same(list[i], theirs[i]) {
				return false
			}
		}
		return true
	case int64:
		return ours == float64(theirs)
	case float64:
		f, ok := ours.(float64)
		return ok && (f == theirs || math.IsNaN(f) && math.IsNaN(theirs))
	case time.Time, toml.LocalDate, toml.LocalDateTime, toml.LocalTime:
		s, ok := ours.(string)
		return ok && s != ""
	}
	return ours == theirs
}

func FuzzParseYAML(f *testing.F) {
	for _, s := range []string{
		"", "a: 1", "on: push\ntrue: x", "- &a [1]\n- *a", "a: &a {b: *a}", "<<: {a: 1}\nb: 2", "{<<: [{a: 1}, {a: 2}]}", "---\n---\n", "a: |\n x\n", "? a\n? b", "%TAG ! x\n---\n!y z",
		"a: !!binary aGk=", "!!int x", "a: 0x10", "a: .inf", "a:\tb", "\ta: b", "a: 'x\u2028'\nb: @", "&x : y", "*x : y", "{a: 1, a: 2}", "a\r\nb", "- - - a\n  - b\n", "# x\n\n# y\na: # z\n  - b\n", "a: >-\n x\n\n y\n",
		"? - a\n: - b\n", "\"\\ud800\": x", "[a: b, c]", "a: 2001-01-01", "~: 1\nnull: 2",
	} {
		f.Add([]byte(s))
	}
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := read(t, source.ParseYAML, text)
		if err != nil {
			return // we are stricter
		}
		var any yaml.Node
		if oracle := yaml.Unmarshal(text, &any); oracle != nil {
			t.Fatalf("%q reads as %s, the oracle says %v", text, show(v), oracle)
		}
		if strict, err := source.ParseJSON(text); err == nil && !bytes.ContainsAny(text, "\\eE.0\u0085\u2028\u2029\t") && !strict.Equal(v) {
			t.Fatalf("%q reads as %s, as JSON as %s", text, show(v), show(strict))
		}
	})
}
