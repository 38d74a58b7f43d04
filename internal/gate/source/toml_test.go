package source_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
)

func TestTOMLIsReadAsWritten(t *testing.T) {
	accepts(t, source.ParseTOML, []acceptance{
		{"an empty text", "", "{}"},
		{"comments and CRLF", "# x\r\na = 1 # y\r\n", "{a:1}"},
		{"strings", "a = \"x\\n\\u00e9\\U0001F6A2\"\nb = 'C:\\x'\nc = \"\"\"\nl1\nl2 \\\n   on\"\"\"\nd = '''\n'q' ''''", `{a:"x\né🚢" b:"C:\\x" c:"l1\nl2 on" d:"'q' '"}`},
		{"an escaped backslash before e and x", `a = "\\e\\x41"`, `{a:"\\e\\x41"}`},
		{"booleans", "a = true\nb = false", "{a:true b:false}"},
		{"dotted and quoted keys", "a.\"b.c\" . 'd' = 1\n\"é\" = 2\n1.2 = 3", "{a:{b.c:{d:1}} é:2 1:{2:3}}"},
		{"an empty key", `"" = 1`, "{:1}"},
		{"tables", "[a]\nx = 1\n[a.b]\ny = 2\n[c.d]\n[c]\nz = 3", "{a:{x:1 b:{y:2}} c:{d:{} z:3}}"},
		{"a table below one that a dotted key made", "[fruit]\napple.color = 1\n[fruit.apple.texture]\nsmooth = true", "{fruit:{apple:{color:1 texture:{smooth:true}}}}"},
		{"arrays of tables", "[[a]]\nx = 1\n[a.b]\ny = 2\n[[a]]\n[[a.c]]\nz = 3\n[[a.c]]", "{a:[{x:1 b:{y:2}} {c:[{z:3} {}]}]}"},
		{"inline tables", "a = {x = 1, y.z = \"s\" , w = {}}\nb = {}", `{a:{x:1 y:{z:"s"} w:{}} b:{}}`},
		{"lists over many lines", "a = [ # one\n 1, # two\n [2, [ ],], # three\n\r\n {b = [3,\n4]} ]", "{a:[1 [2 []] {b:[3 4]}]}"},
		{"a list in an inline table may break the line", "a = {b = [\n1\n], c = '''\nx'''}", `{a:{b:[1] c:"x"}}`},
		{"brackets and commas inside strings", `a = ["],", '#', {b = "}"}, 1]`, `{a:["]," "#" {b:"}"} 1]}`},
	})
}

func TestTOMLNumbersHaveOneNormalForm(t *testing.T) {
	for _, c := range [][2]string{
		{"16", "16"},
		{"0x10", "16"},
		{"0o20", "16"},
		{"0b1_0000", "16"},
		{"+1_6", "16"},
		{"-0", "0"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"0x7fffffffffffffff", "9223372036854775807"},
		{"1.0", "1.0"},
		{"10e-1", "1.0"},
		{"1e0", "1.0"},
		{"-0.0", "0.0"},
		{"1_0.2_5", "10.25"},
		{"1E50", "1e50"},
		{"inf", "inf"},
		{"+inf", "inf"},
		{"-inf", "-inf"},
		{"nan", "nan"},
		{"-nan", "nan"},
		{"+nan", "nan"},
	} {
		accepts(t, source.ParseTOML, []acceptance{{c[0], "a = " + c[0], "{a:" + c[1] + "}"}})
	}
	whole, err1 := source.ParseTOML([]byte("a = 1"))
	float, err2 := source.ParseTOML([]byte("a = 1.0"))
	if err1 != nil || err2 != nil || whole.Equal(float) {
		t.Error("the integer 1 equals the float 1.0")
	}
}

func TestTOMLDatesAreRFC3339(t *testing.T) {
	for _, c := range [][2]string{
		{"1979-05-27T07:32:00Z", "1979-05-27T07:32:00Z"},
		{"1979-05-27 07:32:00z", "1979-05-27T07:32:00Z"},
		{"1979-05-27t00:32:00.999999-07:00", "1979-05-27T00:32:00.999999-07:00"},
		{"1979-05-27T07:32:00", "1979-05-27T07:32:00"},
		{"1979-05-27", "1979-05-27"},
		{"07:32:00.5", "07:32:00.5"},
		{"2000-02-29", "2000-02-29"},
		{"2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z"},
	} {
		accepts(t, source.ParseTOML, []acceptance{{c[0], "a = " + c[0] + " # x", "{a:<" + c[1] + ">}"}})
	}
	for _, text := range []string{
		"1979-13-01", "1979-00-01", "1979-04-31", "1979-04-00", "2001-02-29", "1900-02-29", "1979-5-27", "1979-05-27T",
		"1979-05-27T7:32:00Z", "1979-05-27T24:00:00Z", "1979-05-27T07:60:00", "1979-05-27T07:32:61", "1979-05-27T07:32",
		"07:32", "07:32:00.", "07:32:00Z", "1979-05-27T07:32:00.Z", "1979-05-27T07:32:00+7", "1979-05-27T07:32:00+24:00",
		"1979-05-27T07:32:00+07:60", "1979-05-27Z", "1979-05-27  07:32:00", "1979-05-27T07:32:00ZZ",
	} {
		t.Run(text, func(t *testing.T) {
			if v, err := source.ParseTOML([]byte("a = " + text)); err == nil {
				t.Errorf("accepted as %s", show(v))
			}
		})
	}
}

func TestTOMLPositions(t *testing.T) {
	text := "\"é\" = [ # x\n  1, [\"🚢\", {k.l = 2}], ]\r\n[t.u]\nv = 2020-01-01\n[[w]]\n[[w]]\nx = 'y'\n"
	v, err := source.ParseTOML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := "map@1:1 é@1:1 list@1:7 number@2:3 list@2:6 string@2:7 map@2:12 k@2:13 map@2:13 l@2:15 number@2:19 " +
		"t@3:2 map@3:2 u@3:4 map@3:4 v@4:1 date@4:5 w@5:3 list@5:3 map@5:3 map@6:3 x@7:1 string@7:5"
	if got := places(v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTOMLRefuses(t *testing.T) {
	refuses(t, source.ParseTOML, source.TOMLParser, []acceptance{
		{"a key twice, at the second", "a = 1\nb = 2\na = 3", "3:1"},
		{"a key twice after unescaping", "a = 1\n\"\\u0061\" = 2", "2:1"},
		{"a key twice in an inline table", "x = {a = 1, 'a' = 2}", "1:13"},
		{"a dotted key over a value", "a = 1\na.b = 2", "2:1"},
		{"a dotted key twice", "a.b = 1\na.b = 2", "2:3"},
		{"a table twice", "[a]\n[b]\n[ a ]", "3:3"},
		{"a table over a value", "a = 1\n[a]", "2:2"},
		{"a table below a value", "a = 1\n[a.b]", "2:2"},
		{"a table over a dotted key's", "a.b = 1\n[a]", "2:2"},
		{"a table over an inline table", "a = {}\n[a]", "2:2"},
		{"a table below an inline table", "a = {b = {}}\n[a.b.c]", "2:2"},
		{"a dotted key into an inline table", "a = {}\na.b = 1", "2:1"},
		{"a dotted key into a table with a header", "[a.b]\n[a]\nb.c = 1", "3:1"},
		{"a dotted key into an implied table", "[a.b.c]\n[a]\nb.d = 1", "3:1"},
		{"a table over an array of tables", "[[a]]\n[a]", "2:2"},
		{"an array of tables over a table", "[a]\n[[a]]", "2:3"},
		{"an array of tables over an implied table", "[a.b]\n[[a]]", "2:3"},
		{"an array of tables over a list", "a = [{}]\n[[a]]", "2:3"},
		{"an array of tables below a list", "a = [{}]\n[[a.b]]", "2:3"},
		{"text without a value", "a", "1:1"},
		{"no value", "a = \n", "1:5"},
		{"a bare word", "a = yes", "1:5"},
		{"two values", "a = 1 2", "1:7"},
		{"an open string", "a = \"x\nb = 1", "1:7"},
		{"an open list, at the last byte", "a = [1,\n", "1:8"},
		{"an open header", "[a\nb = 1", "1:3"},
		{"a surrogate escape", `a = "\ud800"`, "1:6"},
		{"a leading zero", "a = 01", "1:5"},
		{"an integer beyond 64 bits", "a = 9223372036854775808", "1:5"},
		{"a carriage return alone", "a = 1\rb = 2", "1:6"},
		{"a control character in a comment", "# \x01", "1:3"},
	})
}

// What TOML 1.1 added: the library reads it, hosts that read 1.0 do not.
func TestTOMLRefusesTheNextVersion(t *testing.T) {
	refuses(t, source.ParseTOML, source.TOMLParser, []acceptance{
		{"a comma at the end of an inline table", "a = {b = 1,}", "1:11"},
		{"a line end at the start of an inline table", "a = {\nb = 1}", "1:6"},
		{"a line end after a comma", "a = {b = 1,\nc = 2}", "1:12"},
		{"a line end at the end of an inline table", "a = {b = 1\n}", "1:11"},
		{"a comment in an inline table", "a = {b = 1, # x\nc = 2}", "1:13"},
		{"an empty inline table over two lines", "a = {\n}", "1:6"},
		{"\\e", `a = "\e"`, "1:5"},
		{"\\x in a key", `"\x41" = 1`, "1:1"},
		{"\\x in a long string", "a = \"\"\"\n\\x41\"\"\"", "1:5"},
		{"a time without seconds", "a = 07:32", "1:5"},
	})
}

func TestTOMLBoundsItsDepth(t *testing.T) {
	for _, c := range []struct {
		name string
		text func(n int) string
	}{
		{"lists", func(n int) string { return "a = " + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) }},
		{"dotted keys", func(n int) string { return strings.Repeat("a.", n-1) + "a = 1" }},
		{"headers", func(n int) string { return "[" + strings.Repeat("a.", n-1) + "a]" }},
		{"inline tables", func(n int) string { return strings.Repeat("a={", n-1) + "a=1" + strings.Repeat("}", n-1) }},
	} {
		if _, err := source.ParseTOML([]byte(c.text(512))); err != nil {
			t.Errorf("512 %s are refused at %s", c.name, at(err))
		}
		if _, err := source.ParseTOML([]byte(c.text(514))); err == nil {
			t.Errorf("514 %s are accepted", c.name)
		}
	}
	if _, err := source.ParseTOML([]byte("[" + strings.Repeat("a.", 300) + "a]\n" + strings.Repeat("b.", 300) + "b = 1")); err == nil {
		t.Error("a deep key in a deep table is accepted")
	}
}
