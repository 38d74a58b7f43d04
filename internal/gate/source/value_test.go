package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/source"
)

// show writes a value so that a test can say what it expects in one line:
// strings quoted, dates as <date>, members in file order, null as null.
func show(v source.Value) string {
	switch v.Kind {
	case source.Null, source.Number:
		if v.Kind == source.Null {
			return "null"
		}
		return v.Text
	case source.Bool:
		return fmt.Sprint(v.Truth)
	case source.String:
		return fmt.Sprintf("%q", v.Text)
	case source.Date:
		return "<" + v.Text + ">"
	case source.List:
		var items []string
		for _, e := range v.Items {
			items = append(items, show(e))
		}
		return "[" + strings.Join(items, " ") + "]"
	case source.Map:
		var ms []string
		for _, m := range v.Members {
			ms = append(ms, fmt.Sprintf("%s:%s", m.Key, show(m.Value)))
		}
		return "{" + strings.Join(ms, " ") + "}"
	}
	return "absent"
}

// places is every position in the value, in file order: keys as "key@line:column".
func places(v source.Value) string {
	var b strings.Builder
	var walk func(source.Value)
	walk = func(v source.Value) {
		fmt.Fprintf(&b, "%s@%d:%d ", v.Kind, v.Pos.Line, v.Pos.Column)
		for _, e := range v.Items {
			walk(e)
		}
		for _, m := range v.Members {
			fmt.Fprintf(&b, "%s@%d:%d ", m.Key, m.Pos.Line, m.Pos.Column)
			walk(m.Value)
		}
	}
	walk(v)
	return strings.TrimSpace(b.String())
}

// encode is the JSON spelling of a value that was read from JSON.
func encode(v source.Value) []byte {
	var plain func(source.Value) any
	plain = func(v source.Value) any {
		switch v.Kind {
		case source.Bool:
			return v.Truth
		case source.Number:
			return json.Number(v.Text)
		case source.List:
			list := []any{}
			for _, e := range v.Items {
				list = append(list, plain(e))
			}
			return list
		case source.Map:
			o := canonical.Object{}
			for _, m := range v.Members {
				o = append(o, canonical.Member{Key: m.Key, Value: plain(m.Value)})
			}
			return o
		case source.Null:
			return nil
		default:
			return v.Text
		}
	}
	return canonical.Compact.Append(nil, plain(v))
}

// at is a failure as "line:column", "?" where the place is not known.
func at(err *source.ParseError) string {
	switch {
	case err == nil:
		return "accepted"
	case err.Pos.Line == 0:
		return "?"
	}
	return fmt.Sprintf("%d:%d", err.Pos.Line, err.Pos.Column)
}

type parser func([]byte) (source.Value, *source.ParseError)

type acceptance struct{ name, text, want string }

func accepts(t *testing.T, parse parser, cases []acceptance) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := parse([]byte(c.text))
			if err != nil {
				t.Fatalf("refused at %s:\n%s", at(err), c.text)
			}
			if got := show(v); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// refuses runs cases whose want is the place of the failure.
func refuses(t *testing.T, parse parser, token string, cases []acceptance) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := parse([]byte(c.text))
			if got := at(err); got != c.want {
				t.Fatalf("got %s, want %s, in %q", got, c.want, c.text)
			}
			if err.Parser != token {
				t.Errorf("token %q, want %q", err.Parser, token)
			}
			if v.Present() {
				t.Errorf("a refused text still gave %s", show(v))
			}
		})
	}
}

// Defects that no format may let through, with a body each format accepts.
func TestEveryFormatRefuses(t *testing.T) {
	formats := []struct {
		token string
		parse parser
		body  string
	}{
		{source.JSONParser, source.ParseJSON, "{\n}\n"},
		{source.JSONParser, source.ParseJSONC, "{ // note\n}\n"},
		{source.TOMLParser, source.ParseTOML, "a = 1\n\n"},
		{source.YAMLParser, source.ParseYAML, "a: 1\n\n"},
	}
	for _, f := range formats {
		if _, err := f.parse([]byte(f.body)); err != nil {
			t.Fatalf("%s refuses its own body at %s", f.token, at(err))
		}
		refuses(t, f.parse, f.token, []acceptance{
			{"a conflict marker with a branch name", f.body + "<<<<<<< HEAD\n", "3:1"},
			{"a bare conflict marker at the end of the text", f.body + ">>>>>>>", "3:1"},
			{"a conflict marker before CRLF", ">>>>>>>\r\n" + f.body, "1:1"},
			{"a conflict marker after a lone CR", f.body + "\r<<<<<<< x", "4:1"},
			{"bytes that are not UTF-8", f.body + "\xff", "3:1"},
			{"half a character at the end", f.body + "é\xc3", "3:2"},
			{"an encoded surrogate", f.body + "\xed\xa0\x80", "3:1"},
			{"NUL", f.body + "\x00", "3:1"},
			{"a byte order mark that is left over", "\ufeff" + f.body, "1:1"},
		})
	}
}

func TestLinesThatOnlyLookLikeConflictMarkers(t *testing.T) {
	accepts(t, source.ParseYAML, []acceptance{
		{"eight signs", "a: |2\n  <<<<<<<<\nb: 1\n", `{a:"<<<<<<<<\n" b:1}`},
		{"indented", "a: |2\n  <<<<<<< HEAD\n", `{a:"<<<<<<< HEAD\n"}`},
		{"six signs", "a: |\n <<<<<<\n", `{a:"<<<<<<\n"}`},
	})
	accepts(t, source.ParseTOML, []acceptance{
		{"a word after the signs", "a = '''\n<<<<<<<HEAD\n'''\n", `{a:"<<<<<<<HEAD\n"}`},
		{"the middle marker alone", "a = '''\n=======\n'''\n", `{a:"=======\n"}`},
	})
}

func TestAFailureSaysWhereAndNeverWhat(t *testing.T) {
	const sentinel = "s3cr3t-sentinel"
	for name, c := range map[string]struct {
		parse parser
		texts []string
	}{
		"json": {source.ParseJSON, []string{`{"` + sentinel + `": 1, "` + sentinel + `": 2}`, `{"a": ` + sentinel, `{"a": "` + sentinel, sentinel}},
		"toml": {source.ParseTOML, []string{`a = ` + sentinel, "a = '" + sentinel, "[" + sentinel + "]\n[" + sentinel + "]", `"` + sentinel + `" = 2020-99-99`}},
		"yaml": {source.ParseYAML, []string{"a: *" + sentinel, "a: '" + sentinel, sentinel + ": 1\n" + sentinel + ": 2", "a: !!int " + sentinel, "a: @" + sentinel, "a: b: " + sentinel, "a: !" + sentinel + "!x y"}},
	} {
		for _, text := range c.texts {
			_, err := c.parse([]byte(text))
			if err == nil {
				t.Errorf("%s accepts %q", name, text)
				continue
			}
			shown := err.Error() + canonical.Compact.String(err.Evidence())
			if strings.Contains(shown, "s3cr3t") {
				t.Errorf("%s: %q gives away %q", name, text, shown)
			}
		}
	}
}

func TestEvidenceOfAFailure(t *testing.T) {
	known := &source.ParseError{Parser: source.TOMLParser, Pos: source.Position{Line: 3, Column: 7}}
	if got := canonical.Compact.String(known.Evidence()); got != `{"column":7,"line":3,"parser":"TOMLDecodeError"}` {
		t.Errorf("known place: %s", got)
	}
	if got := known.Error(); got != "TOMLDecodeError at line 3, column 7" {
		t.Errorf("known place: %s", got)
	}
	unknown := &source.ParseError{Parser: source.YAMLParser}
	if got := canonical.Compact.String(unknown.Evidence()); got != `{"parser":"YAMLError"}` {
		t.Errorf("unknown place: %s", got)
	}
	if got := unknown.Error(); got != "YAMLError" {
		t.Errorf("unknown place: %s", got)
	}
}

func TestTrimBOM(t *testing.T) {
	for _, c := range []struct {
		text, want string
		had        bool
	}{{"\ufeff{}", "{}", true}, {"{}", "{}", false}, {"", "", false}, {"\ufeff\ufeff", "\ufeff", true}} {
		got, had := source.TrimBOM([]byte(c.text))
		if string(got) != c.want || had != c.had {
			t.Errorf("%q: got %q, %v", c.text, got, had)
		}
	}
}

func TestEqual(t *testing.T) {
	const base = `{"a": [1, "x", true, null], "b": {"c": 1.5}}`
	for _, c := range []struct {
		name, other string
		want        bool
	}{
		{"itself", base, true},
		{"keys in another order and other space", `{"b":{"c":1.50},"a":[1.0,"\u0078",true,null]}`, true},
		{"items in another order", `{"a": ["x", 1, true, null], "b": {"c": 1.5}}`, false},
		{"a number that became a string", `{"a": ["1", "x", true, null], "b": {"c": 1.5}}`, false},
		{"a null that became absent", `{"a": [1, "x", true], "b": {"c": 1.5}}`, false},
		{"one key more", `{"a": [1, "x", true, null], "b": {"c": 1.5, "d": null}}`, false},
		{"another key with the same value", `{"a": [1, "x", true, null], "b": {"d": 1.5}}`, false},
		{"another truth", `{"a": [1, "x", false, null], "b": {"c": 1.5}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, o := mustJSON(t, base), mustJSON(t, c.other)
			if v.Equal(o) != c.want || o.Equal(v) != c.want {
				t.Errorf("got %v", !c.want)
			}
		})
	}
	if !(source.Value{}).Equal(source.Value{}) || (source.Value{}).Equal(source.Value{Kind: source.Null}) {
		t.Error("two absent values are equal; absent is not null")
	}
}

func TestAccessorsOnWhatIsThereAndWhatIsNot(t *testing.T) {
	v := mustJSON(t, `{"a": {"b": {"c": "deep"}}, "on": true, "off": false, "list": ["x", 1, "y"], "null": null}`)
	if got := v.At("a", "b", "c").Str(); got != "deep" {
		t.Errorf("At: %q", got)
	}
	if v.At("a", "nope", "c").Present() || v.Get("nope").Present() || !v.Get("null").Present() {
		t.Error("an explicit null is present, a missing key is not")
	}
	if !v.Get("on").True() || v.Get("off").True() || v.Get("list").True() {
		t.Error("True is for the boolean alone")
	}
	if got := v.Get("list").Strings(); len(got) != 2 || got[1].Text != "y" {
		t.Errorf("Strings: %v", got)
	}
	if got := v.Get("list").Str(); got != "" {
		t.Errorf("Str of a list: %q", got)
	}
}

func TestAMapLargeEnoughForAnIndexAnswersLikeASmallOne(t *testing.T) {
	var b bytes.Buffer
	const n = 1000
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, `"k%d": %d, `, i, i)
	}
	b.WriteString(`"last": 0}`)
	v := mustJSON(t, b.String())
	for i := range n {
		if got := v.Get(fmt.Sprintf("k%d", i)).Text; got != fmt.Sprint(i) {
			t.Fatalf("k%d is %q", i, got)
		}
	}
	if v.Get("k1000").Present() {
		t.Error("a missing key is present")
	}
	// A value put together by hand from a parsed one has no use for its index.
	v.Members = v.Members[:n/2]
	if v.Get("k999").Present() || v.Get("k1").Text != "1" {
		t.Error("a stale index was used")
	}
}

func mustJSON(t *testing.T, text string) source.Value {
	t.Helper()
	v, err := source.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}
