package source_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
)

func TestJSONIsReadAsWritten(t *testing.T) {
	accepts(t, source.ParseJSON, []acceptance{
		{"every kind", `{"a": [null, true, false, 1, "x", {}, []]}`, `{a:[null true false 1 "x" {} []]}`},
		{"a scalar at the root", " \r\n\t7 ", "7"},
		{"members in file order", `{"b": 1, "a": 2, "c": 3}`, "{b:1 a:2 c:3}"},
		{"an empty key", `{"": 1}`, "{:1}"},
		{"escapes", `"\"\\\/\b\f\n\r\t\u0041\u00e9"`, `"\"\\/\b\f\n\r\tAé"`},
		{"a surrogate pair", `"\ud83d\udea2"`, `"🚢"`},
		{"text outside ASCII", `"é🚢"`, `"é🚢"`},
		{"a lone high surrogate", `"\ud83dx"`, `"�x"`},
		{"a lone low surrogate", `"\udea2"`, `"�"`},
		{"a high surrogate before another escape", `"\ud83d\u0041"`, `"�A"`},
		{"two high surrogates and a low one", `"\ud83d\ud83d\udea2"`, `"�🚢"`},
		{"DEL", "\"\x7f\"", `"\x7f"`},
	})
}

func TestJSONNumbersHaveOneNormalForm(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1e1", "100E-2"},
		{"0", "-0", "0.0", "0e99999999999999999999", "-0.0e5"},
		{"100", "1e2", "1.00E+2"},
		{"-1.5", "-15e-1", "-0.0015e3"},
		{"0.001", "1e-3", "1.0e-3"},
		{"1e-7", "0.0000001", "0.1e-6"},
		{"1e50", "10e49", "1" + strings.Repeat("0", 50)},
		{"1.25e50", "125e48"},
		{"12345678901234567890123", "12345678901234567890123.0"},
	} {
		for _, text := range same {
			if got := mustJSON(t, text).Text; got != same[0] {
				t.Errorf("%s reads as %s, want %s", text, got, same[0])
			}
		}
	}
	for _, pair := range [][2]string{
		{"0.1", "0.1000000000000000055511151231257827"}, // one float, two numbers
		{"9007199254740993", "9007199254740992"},
		{"1", "-1"},
		{"1e400", "1e401"},
		{"1e99999999999", "1e99999999998"},
	} {
		if mustJSON(t, pair[0]).Equal(mustJSON(t, pair[1])) {
			t.Errorf("%s equals %s", pair[0], pair[1])
		}
	}
}

func TestJSONPositions(t *testing.T) {
	text := "{\n  \"é\": [1,\r\n\t{\"b\": null}],\r  \"c\" : \"🚢\", \"d\":2\n}"
	v, err := source.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := "map@1:1 é@2:3 list@2:8 number@2:9 map@3:2 b@3:3 null@3:8 c@4:3 string@4:9 d@4:14 number@4:18"
	if got := places(v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJSONRefuses(t *testing.T) {
	refuses(t, source.ParseJSON, source.JSONParser, []acceptance{
		{"an empty text", "", "1:1"},
		{"space alone", " \n ", "2:2"},
		{"a key twice, at the second", "{\n \"a\": 1,\n \"a\": 2}", "3:2"},
		{"a key twice after unescaping", `{"allow": 1, "\u0061llow": 2}`, "1:14"},
		{"a key twice deep inside", `[{"x": {"a": 1, "b": 2, "a": 3}}]`, "1:25"},
		{"two lone surrogates, which read alike", `{"\ud800": 1, "\udfff": 2}`, "1:15"},
		{"an empty key twice", `{"": 1, "": 2}`, "1:9"},
		{"data after the value", `{} {}`, "1:4"},
		{"a comment", "{} // x", "1:4"},
		{"a comma before }", `{"a": 1,}`, "1:9"},
		{"a comma before ]", `[1,]`, "1:4"},
		{"a comma alone", `[,]`, "1:2"},
		{"a missing comma", `[1 2]`, "1:4"},
		{"a missing colon", `{"a" 1}`, "1:6"},
		{"a key without quotes", `{a: 1}`, "1:2"},
		{"a number as a key", `{1: 1}`, "1:2"},
		{"single quotes", `['a']`, "1:2"},
		{"an open object", `{"a": 1`, "1:8"},
		{"an open list", "[1,\n", "2:1"},
		{"an open string", `"abc`, "1:5"},
		{"a line end in a string", "\"a\nb\"", "1:3"},
		{"a tab in a string", "\"a\tb\"", "1:3"},
		{"an unknown escape", `"\x41"`, "1:3"},
		{"a short \\u escape", `"\u12"`, "1:6"},
		{"a bad \\u after a surrogate", `"\ud83d\u12g4"`, "1:12"},
		{"a leading zero", `01`, "1:2"},
		{"a plus sign", `+1`, "1:1"},
		{"a bare minus", `-`, "1:2"},
		{"a point without digits", `1.`, "1:3"},
		{"a point at the start", `.5`, "1:1"},
		{"an exponent without digits", `1e+`, "1:4"},
		{"a hexadecimal number", `0x10`, "1:2"},
		{"NaN", `NaN`, "1:1"},
		{"a capital literal", `True`, "1:1"},
		{"a literal cut short", `nul`, "1:1"},
		{"a literal with a tail", `nullx`, "1:5"},
		{"a no-break space", "\u00a01", "1:1"},
		{"513 lists in each other", strings.Repeat("[", 513) + strings.Repeat("]", 513), "1:513"},
	})
	if _, err := source.ParseJSON([]byte(strings.Repeat("[", 512) + strings.Repeat("]", 512))); err != nil {
		t.Errorf("512 lists in each other are refused at %s", at(err))
	}
}

func TestJSONFindsADuplicateAmongManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "\"k%d\": 1,\n", i)
	}
	_, err := source.ParseJSON([]byte(b.String() + `"k4321": 2}`))
	if got := at(err); got != "5002:1" {
		t.Errorf("got %s", got)
	}
}
