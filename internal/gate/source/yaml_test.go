package source_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
)

func TestYAMLIsReadAsWritten(t *testing.T) {
	accepts(t, source.ParseYAML, []acceptance{
		{"an empty text", "", "null"},
		{"a comment alone", "# x\n", "null"},
		{"an empty document", "---\n", "null"},
		{"a document end", "a: 1\n...\n", "{a:1}"},
		{"every kind", "a: ~\nb: true\nc: x\nd: [1, 1.5]\ne:\n- f: {}\n", `{a:null b:true c:"x" d:[1 1.5] e:[{f:{}}]}`},
		{"a scalar at the root", "x y", `"x y"`},
		{"quoted scalars are text", `{a: "true", b: '1', c: "null", d: "\x41\u00e9"}`, `{a:"true" b:"1" c:"null" d:"Aé"}`},
		{"block scalars are text", "a: |\n  1\n  2\nb: >-\n  x\n  y\n", `{a:"1\n2\n" b:"x y"}`},
		{"words that YAML 1.1 took for booleans", "a: [on, off, yes, no, y, n]", `{a:["on" "off" "yes" "no" "y" "n"]}`},
		{"CRLF", "a: 1\r\nb:\r\n  - c\r\n", `{a:1 b:["c"]}`},
		{"a lone CR ends a line", "a: 1\rb: 2\r", "{a:1 b:2}"},
		{"a tab after a key", "a:\tx\n", `{a:"x"}`},
		{"JSON", `{"a": [1, {"b": null}]}`, "{a:[1 {b:null}]}"},
		{"an explicit key", "? a\n: b\n", `{a:"b"}`},
		{"a key without a value", "a:\nb:\n", "{a:null b:null}"},
	})
}

func TestYAMLKeysBecomeText(t *testing.T) {
	accepts(t, source.ParseYAML, []acceptance{
		{"the bare key on", "on: push", `{on:"push"}`},
		{"the quoted key on", `"on": push`, `{on:"push"}`},
		{"the boolean true", "true: push", `{true:"push"}`},
		{"a capital boolean", "True: push", `{true:"push"}`},
		{"a number", "1: a\n0x10: b\n1.50: c\n", `{1:"a" 16:"b" 1.5:"c"}`},
		{"null and nothing", "~: a", `{null:"a"}`},
		{"a date", "2024-01-02: a", `{2024-01-02:"a"}`},
		{"a tagged key", "!!str true: a\n!x y: b", `{true:"a" y:"b"}`},
	})
}

func TestYAMLNumbersHaveOneNormalForm(t *testing.T) {
	for _, c := range [][2]string{
		{"16", "16"},
		{"0x10", "16"},
		{"0o20", "16"},
		{"020", "16"},
		{"0b10000", "16"},
		{"1_6", "16"},
		{"+16", "16"},
		{"-0x10", "-16"},
		{"18446744073709551615", "18446744073709551615"},
		{"0xffffffffffffffff", "18446744073709551615"},
		{"1.0", "1.0"},
		{"1.", "1.0"},
		{".5", "0.5"},
		{"1e3", "1000.0"},
		{"123456789012345678901234567890", "123456789012345678901234567890"},
		{".inf", "inf"},
		{"-.INF", "-inf"},
		{".NaN", "nan"},
		{"!!float 1", "1.0"},
		{`!!int "16"`, "16"},
		{"1__", "1"},
		{"0x", `"0x"`},
		{"1.2.3", `"1.2.3"`},
		{"1e", `"1e"`},
		{"0o9", `"0o9"`},
		{".", `"."`},
	} {
		accepts(t, source.ParseYAML, []acceptance{{c[0], "a: " + c[0], "{a:" + c[1] + "}"}})
	}
	whole, err1 := source.ParseYAML([]byte("1"))
	float, err2 := source.ParseYAML([]byte("1.0"))
	if err1 != nil || err2 != nil || whole.Equal(float) {
		t.Error("the integer 1 equals the float 1.0")
	}
}

func TestYAMLTagsRunNothing(t *testing.T) {
	accepts(t, source.ParseYAML, []acceptance{
		{"binary stays as written", "a: !!binary aGk=", `{a:"aGk="}`},
		{"a local tag", "a: !vault x\nb: !t 1", `{a:"x" b:"1"}`},
		{"another language's object", `a: !!python/object/apply:os.system ["id"]`, `{a:["id"]}`},
		{"a tagged map", "a: !!set {x, y}", "{a:{x:null y:null}}"},
		{"text by tag", "a: !!str 1", `{a:"1"}`},
		{"null by tag", "a: !!null ''", "{a:null}"},
		{"a boolean by tag", "a: !!bool 'true'", "{a:true}"},
		{"a date", "a: 2024-01-02\nb: '2024-01-02'", `{a:<2024-01-02> b:"2024-01-02"}`},
	})
	refuses(t, source.ParseYAML, source.YAMLParser, []acceptance{
		{"a word tagged as an integer", "a: !!int x", "1:4"},
		{"a word tagged as a float", "a: !!float x", "1:4"},
		{"a word tagged as a boolean", "a: !!bool yes", "1:4"},
		{"a word tagged as null", "a: !!null x", "1:4"},
	})
}

func TestYAMLAliasesAndMergeKeys(t *testing.T) {
	accepts(t, source.ParseYAML, []acceptance{
		{"an alias", "a: &x [1]\nb: *x\nc: [*x, *x]\n", "{a:[1] b:[1] c:[[1] [1]]}"},
		{"an anchor that is given again", "a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "{a:1 b:1 c:2 d:2}"},
		{"own keys win, wherever the merge key stands", "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n", "{a:{p:1 q:2} b:{q:3 p:1}}"},
		{"the first of several wins", "a: &x {p: 1}\nb: &y {p: 2, q: 3}\nc: {<<: [*x, *y]}\n", "{a:{p:1} b:{p:2 q:3} c:{p:1 q:3}}"},
		{"a merge key twice", "a: &x {p: 1}\nb: &y {p: 2, q: 3}\nc: {<<: *x, <<: *y}\n", "{a:{p:1} b:{p:2 q:3} c:{p:1 q:3}}"},
		{"a merge of a merge", "a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y}\n", "{a:{p:1} b:{q:2 p:1} c:{q:2 p:1}}"},
		{"a mapping written in place", "a: {<<: {p: 1}, q: 2}", "{a:{q:2 p:1}}"},
		{"a quoted merge key is a key", `a: {"<<": 1}`, "{a:{<<:1}}"},
		{"a merge sign as a value", "a: <<", `{a:"<<"}`},
	})
	refuses(t, source.ParseYAML, source.YAMLParser, []acceptance{
		{"an alias without an anchor has no place", "a: 1\nb: *x\n", "?"},
		{"an alias in its own list", "a: &x [1, *x]", "1:11"},
		{"an alias in its own map", "a: &x\n  b: {c: *x}\n", "2:10"},
		{"a merge of itself", "a: &x\n  <<: *x\n", "2:7"},
		{"a merge of text", "a: {<<: x}", "1:9"},
		{"a merge of a list of lists", "a: {<<: [[x]]}", "1:9"},
		{"an anchor on a merge key", "a: {&x <<: {}}", "1:5"},
	})
}

func TestYAMLRefuses(t *testing.T) {
	refuses(t, source.ParseYAML, source.YAMLParser, []acceptance{
		{"a key twice, at the second", "a: 1\nb: 2\na: 3\n", "3:1"},
		{"a key twice after unescaping", "a: 1\n\"\\x61\": 2\n", "2:1"},
		{"a key twice in flow style", "x: {a: 1, b: 2, a: 3}", "1:17"},
		{"a key twice as number and text", "1: a\n'1': b\n", "2:1"},
		{"a key twice in two notations", "16: a\n0x10: b\n", "2:1"},
		{"a boolean key twice under YAML 1.1", "on: push\ntrue: pull_request_target\n", "2:1"},
		{"a false key twice under YAML 1.1", "no: a\noff: b\n", "2:1"},
		{"a second document", "a: 1\n---\nb: 2\n", "2:1"},
		{"an empty second document", "a: 1\n---\n", "2:1"},
		{"a second document after a document end", "a: 1\n...\n# x\n  \nb: 1\n", "5:1"},
		{"a broken second document", "a: 1\n---\n]\n", "3:1"},
		{"a map as a key", "{a: 1}: b", "1:1"},
		{"a list as a key", "? [a]\n: b\n", "1:3"},
		{"an anchor on a key", "&x a: b", "1:1"},
		{"an alias as a key", "a: &x y\n*x : b\n", "2:1"},
		{"a control character", "a: \x01", "1:4"},
		{"a C1 control character", "a: é\u0080", "1:5"},
		{"too many tag directives", strings.Repeat("\n%TAG !a! x", 70) + "\n---\na: 1", "66:1"},
		{"a tab as indentation", "a:\n\tb: 1\n", "2:1"},
		{"a key below a value", "a: 1\n  b: 2\n", "2:1"},
		{"a list item among keys", "a: 1\n- b\n", "2:1"},
		{"an open list, where it opens", "x: 1\na: [1,\n  2\n", "2:1"},
		{"an open string", "a: 'x\n", "2:1"},
		{"an unknown tag handle", "a: 1\nb: !foo!bar x\n", "2:1"},
		{"a reserved sign", "a: 1\nb: @x\n", "2:1"},
		{"two colons", "a: b: c", "1:1"},
		{"another version", "%YAML 3.0\n---\na: 1\n", "1:1"},
	})
}

func TestYAMLPositions(t *testing.T) {
	text := "é: &x\n  - \"🚢\": [1, ~]\r\n    b: |\n      t\nc: *x\nd: {<<: {e: 1}}\n"
	v, err := source.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list := "map@2:5 🚢@2:5 list@2:10 number@2:11 null@2:14 b@3:5 string@3:8"
	want := "map@1:1 é@1:1 list@1:4 " + list + " c@5:1 list@5:4 " + list + " d@6:1 map@6:4 e@6:10 number@6:13"
	if got := places(v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The library ends a line at U+0085, U+2028 and U+2029; nobody else here does.
func TestYAMLPositionsCountLinesAsTheRestOfTheGate(t *testing.T) {
	for _, sep := range []string{"\u0085", "\u2028", "\u2029"} {
		_, err := source.ParseYAML([]byte("a: '" + sep + " x'\nb: 1\nb: 2\n"))
		if got := at(err); got != "3:1" {
			t.Errorf("%q: got %s", sep, got)
		}
		_, err = source.ParseYAML([]byte("{a: 1," + sep + " a: 2}"))
		if got := at(err); got != "1:9" {
			t.Errorf("%q: got %s", sep, got)
		}
	}
}

func TestYAMLBoundsItsDepth(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := source.ParseYAML([]byte(nested(512))); err != nil {
		t.Errorf("512 lists in each other are refused at %s", at(err))
	}
	if _, err := source.ParseYAML([]byte(nested(514))); err == nil {
		t.Error("514 lists in each other are accepted")
	}
	// Shallow in the text, deep when the aliases are written out.
	var b strings.Builder
	fmt.Fprintf(&b, "a0: &a0 %s\n", nested(100))
	for i := 1; i < 6; i++ {
		fmt.Fprintf(&b, "a%d: &a%d %s*a%d%s\n", i, i, strings.Repeat("[", 100), i-1, strings.Repeat("]", 100))
	}
	if _, err := source.ParseYAML([]byte(b.String())); at(err) != "6:109" {
		t.Errorf("got %s", at(err))
	}
}

func TestYAMLBoundsWhatAliasesStandFor(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	if _, err := source.ParseYAML([]byte(b.String())); err == nil || err.Pos.Line != 6 {
		t.Errorf("got %s", at(err))
	}
}

func TestYAMLBoundsItsLines(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		text := "a: 1" + end + strings.Repeat(end, 999_999)
		if _, err := source.ParseYAML([]byte(text)); err != nil {
			t.Errorf("a million lines that end in %q: %v", end, err)
		}
		if _, err := source.ParseYAML([]byte(text + end)); err == nil || err.Reason != source.TooMany {
			t.Errorf("one more that ends in %q: %v", end, err)
		}
	}
}
