package source_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
)

// A shape writes a text of about n bytes.
type shape func(n int) string

// fill repeats a unit between a beginning and an end.
func fill(begin, unit, end string) shape {
	return func(n int) string { return begin + strings.Repeat(unit, n/len(unit)) + end }
}

// numbered is fill with a running number in the unit.
func numbered(begin, unit, end string) shape {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(begin)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, unit, i)
		}
		return b.String() + end
	}
}

// linear runs work on a text of the largest size a parser meets. No clock is
// asked: the square of half a megabyte would take longer than a test run may.
func linear(text shape, work func(string)) { work(text(1 << 19)) }

// Bad will in every shape that costs a careless reader the square of its length
// or its stack.
func TestHostileTextsCostNoMoreThanTheirLength(t *testing.T) {
	for _, c := range []struct {
		name  string
		parse parser
		text  shape
	}{
		{"json: keys", source.ParseJSON, numbered("{", `"k%d":1,`, `"z":1}`)},
		{"json: keys on one line, positions far to the right", source.ParseJSON, numbered("{", `"é%d":[],`, `"z":1}`)},
		{"json: open lists", source.ParseJSON, fill("", "[", "")},
		{"json: items", source.ParseJSON, fill("[", "1,", "1]")},
		{"json: an open string of escapes", source.ParseJSON, fill("[\"", `\u0061\ud800`, "")},
		{"json: digits", source.ParseJSON, fill("1", "1", "")},
		{"json: an exponent", source.ParseJSON, fill("1e", "9", "")},
		{"json: zeros", source.ParseJSON, fill("0.", "0", "1")},
		{"json: bytes that are not UTF-8", source.ParseJSON, fill("", "a", "\xff")},
		{"json: lines that might be markers", source.ParseJSON, fill("", "<<<<<<<<\n", "")},
		{"jsonc: comments", source.ParseJSONC, fill("", "/**/", "1")},
		{"jsonc: comment openings", source.ParseJSONC, fill("", "/*", "")},
		{"jsonc: line comments", source.ParseJSONC, fill("", "//\n", "1")},
		{"toml: keys", source.ParseTOML, numbered("", "k%d=1\n", "")},
		{"toml: headers", source.ParseTOML, numbered("", "[h%d]\n", "")},
		{"toml: arrays of tables", source.ParseTOML, fill("", "[[a]]\n", "")},
		{"toml: keys of one dotted table", source.ParseTOML, numbered("", "a.b%d=1\n", "")},
		{"toml: an inline table on one line", source.ParseTOML, numbered("a={", "k%d=1,", "z=1}")},
		{"toml: long dotted keys", source.ParseTOML, numbered("", "a."+strings.Repeat("b.", 500)+"k%d=1\n", "")},
		{"toml: a dotted key", source.ParseTOML, fill("", "a.", "a=1")},
		{"toml: open lists", source.ParseTOML, fill("a=", "[", "")},
		{"toml: open inline tables", source.ParseTOML, fill("", "a={", "")},
		{"toml: a commented list", source.ParseTOML, fill("a=[", "#\n1,", "]")},
		{"toml: escapes", source.ParseTOML, fill(`a="`, `\\`, `"`)},
		{"yaml: keys", source.ParseYAML, numbered("", "k%d: 1\n", "")},
		{"yaml: open lists", source.ParseYAML, fill("", "[", "")},
		{"yaml: dashes", source.ParseYAML, fill("", "- ", "")},
		{"yaml: question marks", source.ParseYAML, fill("", "? ", "")},
		{"yaml: colons", source.ParseYAML, fill("", "a: ", "")},
		{"yaml: comments", source.ParseYAML, fill("", "# a\n\n", "a: 1")},
		{"yaml: commented items", source.ParseYAML, fill("", "# a\n- b # c\n", "")},
		{"yaml: flow keys", source.ParseYAML, fill("[", `"a":1,`, "]")},
		{"yaml: anchors", source.ParseYAML, numbered("", "- &a%d b\n", "")},
		{"yaml: aliases", source.ParseYAML, fill("- &a b\n", "- *a\n", "")},
		{"yaml: merges of a large map", source.ParseYAML, func(n int) string {
			return numbered("- &a {", "k%d: 1, ", "}\n")(n/2) + fill("", "- <<: *a\n", "")(n/2)
		}},
		{"yaml: documents", source.ParseYAML, fill("", "---\n", "")},
		{"yaml: tag directives", source.ParseYAML, numbered("", "%%TAG !a%d! tag:x,\n", "---\na")},
		{"yaml: a folded string", source.ParseYAML, fill(`a: "`, "x\n ", `"`)},
		{"yaml: line separators", source.ParseYAML, fill("a: '", "\u2028", "'")},
	} {
		t.Run(c.name, func(t *testing.T) {
			linear(c.text, func(s string) {
				if v, err := c.parse([]byte(s)); err == nil && !v.Present() {
					t.Error("neither a value nor a failure")
				}
			})
		})
	}
}

func TestComparingLargeMapsCostsNoMoreThanTheirLength(t *testing.T) {
	linear(numbered(`{"z": 1`, `,"k%d": 1`, "}"), func(s string) {
		a := mustJSON(t, s)
		backwards := source.Value{Kind: source.Map}
		for i := range a.Members {
			backwards.Members = append(backwards.Members, a.Members[len(a.Members)-1-i])
		}
		if !a.Equal(backwards) || !backwards.Equal(a) {
			t.Error("two orders of one map are not equal")
		}
	})
}
