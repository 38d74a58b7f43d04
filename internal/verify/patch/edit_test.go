package patch_test

import (
	"encoding/json"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/patch"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Each row is a text, an edit and the text that comes of it, byte by byte.
func TestEdits(t *testing.T) {
	for _, c := range []struct{ name, kind, pointer, value, before, after string }{
		{
			"append to a list in lines", "append", "/permissions/scopes", `"refunds:write"`,
			"permissions: # granted\n  scopes:\n    # reading\n    - docs:read # why\n  notes: x\n",
			"permissions: # granted\n  scopes:\n    # reading\n    - docs:read # why\n    - refunds:write\n  notes: x\n",
		},
		{"append as the neighbours are quoted", "append", "/a", `"it's: x"`, "a:\n- 'b'\n", "a:\n- 'b'\n- 'it''s: x'\n"},
		{"append in double quotes", "append", "/a", `"c"`, "a: [\"b\"]\n", "a: [\"b\", \"c\"]\n"},
		{"append to an empty list", "append", "/a", `"c"`, "a: [] # none\n", "a: [c] # none\n"},
		{"append to a key without value", "append", "/a", `"c"`, "a: # none\nb: 1\n", "a: # none\n  - c\nb: 1\n"},
		{"append where nothing is", "append", "/p/scopes", `"c"`, "b: 1", "b: 1\np:\n  scopes:\n    - c"},
		{"append to a file of comments", "append", "/a", `1`, "# only this\n", "# only this\na:\n  - 1\n"},
		{"append a map", "append", "/l", `{"check_id":"A","reason":"b c","n":null}`, "l:\n  - x: 1\n", "l:\n  - x: 1\n  - check_id: A\n    \"n\": null\n    reason: b c\n"},
		{"append to brackets over lines", "append", "/l", `"c"`, "l: [\n  a, # first\n  b # second\n]\n", "l: [\n  a, # first\n  b,\n  c # second\n]\n"},
		{"append after a comma at the end", "append", "/l", `"c"`, "l: [a, b,]\n", "l: [a, b, c,]\n"},
		{"append with CRLF", "append", "/l", `"c"`, "l:\r\n  - a\r\nm: 1\r\n", "l:\r\n  - a\r\n  - c\r\nm: 1\r\n"},
		{"append after a block scalar", "append", "/l", `"c"`, "l:\n  - |\n    # text\n    more\n\n# next\nm: 1\n", "l:\n  - |\n    # text\n    more\n  - c\n\n# next\nm: 1\n"},

		{"set a scalar", "set", "/ci/mode", `"strict"`, "ci: {mode: advisory, x: 1} # c\n", "ci: {mode: strict, x: 1} # c\n"},
		{"set keeps the quotes", "set", "/a", `"c"`, "a: 'b' # c\n", "a: 'c' # c\n"},
		{"set what looks like something else", "set", "/a", `"no"`, "a: b\n", "a: \"no\"\n"},
		{"set a new key", "set", "/a/c", `true`, "a:\n  b: 1 # one\n\n# next\nd: 2\n", "a:\n  b: 1 # one\n  c: true\n\n# next\nd: 2\n"},
		{"set over lines", "set", "/a", `"x"`, "a: # why\n  - 1\n  - 2\nb: 1\n", "a: x # why\nb: 1\n"},
		{"set a map for a scalar", "set", "/a", `{"b":[1,{"c":2}],"d":{}}`, "a: 1 # why\nz: 1\n", "a: # why\n  b:\n    - 1\n    - c: 2\n  d: {}\nz: 1\n"},
		{"set a map for a map", "set", "/a", `{"b":1}`, "a:\n  c: 1\n  d: 2 # x\nz: 1\n", "a:\n  b: 1\nz: 1\n"},
		{"set an entry", "set", "/l/1", `{"b":1}`, "l:\n  - a\n  - c\n", "l:\n  - a\n  - b: 1\n"},
		{"set a multi-line text", "set", "/a", `"x"`, "a: one\n  two\n\n  three # c\nb: 1\n", "a: x # c\nb: 1\n"},
		{"set a value in a compact map", "set", "/l/0/a", `2`, "l:\n- a: 1\n  b: 1\n", "l:\n- a: 2\n  b: 1\n"},
		{"set with a byte order mark", "set", "/a", `2`, "\ufeffa: 1\n", "\ufeffa: 2\n"},
		{"set what is there already", "set", "/a", `2`, "a:   2\n", "a:   2\n"},

		{"remove an entry", "remove", "/l/0", ``, "l:\n  # about a\n  - a # x\n  - b\n", "l:\n  # about a\n  - b\n"},
		{"remove the last one", "remove", "/a/l/0", ``, "a:\n  l: # list\n    # about a\n    - a\n  m: 1\n", "a:\n  l: [] # list\n    # about a\n  m: 1\n"},
		{
			"remove a map entry", "remove", "/checks/ignore/1", ``,
			"checks:\n  ignore:\n    - check_id: A\n      reason: |\n        # text\n    # second\n    - check_id: B\n      reason: b\n    - check_id: C\n",
			"checks:\n  ignore:\n    - check_id: A\n      reason: |\n        # text\n    # second\n    - check_id: C\n",
		},
		{"remove the first key of an entry", "remove", "/l/0/a", ``, "l:\n  - a: 1\n    b: 2\n", "l:\n  - b: 2\n"},
		{"remove it with a comment after it", "remove", "/l/0/a", ``, "l:\n  - a: 1 # x\n    # about b\n    b: 2\n", "l:\n  - \n    # about b\n    b: 2\n"},
		{"remove the only key of an entry", "remove", "/l/0/a", ``, "l:\n  - a: 1 # x\n  - c\n", "l:\n  - {} # x\n  - c\n"},
		{"remove from brackets", "remove", "/l/0", ``, "l: [a, b]\n", "l: [b]\n"},
		{"remove the end of brackets", "remove", "/l/1", ``, "l: [ a, b ]\n", "l: [ a ]\n"},
		{"remove all from brackets", "remove", "/l/b", ``, "l: { b: 1 }\n", "l: {}\n"},
		{"remove a key of a map", "remove", "/risk_overrides/tools/x.y~1z", ``, "risk_overrides:\n  tools:\n    x.y/z:\n      reason: r\n    b: {reason: r}\n", "risk_overrides:\n  tools:\n    b: {reason: r}\n"},
		{"remove the only key of the file", "remove", "/a", ``, "# c\na: 1\n", "# c\n{}\n"},
		{"remove at the end without a line break", "remove", "/b", ``, "a: 1\nb: 2", "a: 1\n"},
		{"remove from wide characters", "remove", "/é/0", ``, "é: [ü, \"ß\"] # ö\n", "é: [\"ß\"] # ö\n"},
	} {
		t.Run(c.name, func(t *testing.T) { edited(t, patch.YAML, c.kind, c.pointer, c.value, c.before, c.after) })
	}
	for _, c := range []struct{ name, kind, pointer, value, before, after string }{
		{"append in one line", "append", "/a", `"c"`, `{"a": ["b"], "z": 1.0}`, `{"a": ["b", "c"], "z": 1.0}`},
		{"append in lines", "append", "/a", `{"x":[1],"y":{}}`, "{\n\t\"a\": [\n\t\t1\n\t]\n}\n", "{\n\t\"a\": [\n\t\t1,\n\t\t{\n\t\t\t\"x\": [\n\t\t\t\t1\n\t\t\t],\n\t\t\t\"y\": {}\n\t\t}\n\t]\n}\n"},
		{"append to nothing", "append", "/b/c", `1`, `{"a":1}`, `{"a":1, "b": {"c": [1]}}`},
		{"append over null", "append", "/a", `1`, `{"a": null}`, `{"a": [1]}`},
		{"set", "set", "/a/0", `"<&>"`, `{"a":[ 1 ,2]}`, `{"a":[ "<&>" ,2]}`},
		{"set an escaped key", "set", "/a~1\"", `2`, `{"a\u002f\"": 1}`, `{"a\u002f\"": 2}`},
		{"remove in lines", "remove", "/a/0", ``, "{\"a\": [\n  1,\n  2\n]}", "{\"a\": [\n  2\n]}"},
		{"remove the last in lines", "remove", "/b", ``, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1\n}\n"},
		{"remove the only one", "remove", "/a", ``, "{\n  \"a\": 1\n}\n", "{}\n"},
	} {
		t.Run("json: "+c.name, func(t *testing.T) { edited(t, patch.JSON, c.kind, c.pointer, c.value, c.before, c.after) })
	}
}

func edited(t *testing.T, f patch.Format, kind, pointer, value, before, after string) {
	t.Helper()
	e := patch.Edit{Kind: check.PatchKind(kind + "_pointer"), Pointer: pointer}
	if value != "" {
		e.Value = decode(t, value)
	}
	got, err := patch.Apply([]byte(before), f, e)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != after {
		t.Errorf("%q\nbecame %q\n  want %q", before, got, after)
	}
}
