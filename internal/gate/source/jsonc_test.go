package source_test

import (
	"testing"

	"plimsoll.dev/internal/gate/source"
)

func TestJSONWithCommentsIsReadAsVSCodeReadsIt(t *testing.T) {
	accepts(t, source.ParseJSONC, []acceptance{
		{"comments wherever space may stand", "// a\n{ /* b */ \"k\" /**/ : // c\n /* d\n */ 1 /* e */ } // f", "{k:1}"},
		{"a comma before } and ]", `{"a": [1, 2,], "b": {"c": 1,},}`, "{a:[1 2] b:{c:1}}"},
		{"a comma and comments before ]", "[1, // one\n /* two */ ]", "[1]"},
		{"comment signs inside strings", `{"a": "// no", "/* b */": "*/"}`, `{a:"// no" /* b */:"*/"}`},
		{"a line comment that ends at CR", "[1 // x\r, 2]", "[1 2]"},
		{"a line comment at the end of the text", "1 //", "1"},
		{"a star run", "/***/ 1 /* // * / */", "1"},
		{"no comments at all", `{"a": 1}`, "{a:1}"},
	})
}

func TestJSONWithCommentsRefuses(t *testing.T) {
	refuses(t, source.ParseJSONC, source.JSONParser, []acceptance{
		{"a key twice, around a comment", "{\"a\": 1, // was 0\n \"a\": 2}", "2:2"},
		{"an open block comment", "{} /* x", "1:4"},
		{"a block comment that only opens", "/*/ 1", "1:1"},
		{"a lone slash", "{} / 1", "1:4"},
		{"a comma alone", "[,]", "1:2"},
		{"two commas", "[1,,]", "1:4"},
		{"a comma alone in an object", "{,}", "1:2"},
		{"a comma after the value", "{},", "1:3"},
		{"a comment alone", "// nothing", "1:11"},
		{"a hash comment", "{} # x", "1:4"},
		// To some readers the comment ends here and a key follows.
		{"a line separator in a line comment", "{ // x\u2028 \"a\": 1\n }", "1:7"},
		{"a paragraph separator in a line comment", "{ // x\u2029 \"a\": 1\n }", "1:7"},
	})
}

func TestJSONWithCommentsPositions(t *testing.T) {
	v, err := source.ParseJSONC([]byte("// é\n{ /* é\n é */ \"a\": /**/ [1,],\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := places(v), "map@2:1 a@3:7 list@3:17 number@3:18"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
