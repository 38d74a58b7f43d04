package source_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/gate/source"
)

const mebibyte = 1 << 20

func fill(unit string) string { return strings.Repeat(unit, mebibyte/len(unit)) }

// numbered repeats a format with a running number up to a mebibyte.
func numbered(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < mebibyte; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// A megabyte of bad will, in every shape that costs a careless reader the
// square of its length or its stack. Each takes well under a second; a reader
// that goes quadratic takes minutes.
func TestHostileTextsCostNoMoreThanTheirLength(t *testing.T) {
	const patience = 20 * time.Second
	for _, c := range []struct {
		name  string
		parse parser
		text  string
	}{
		{"json: keys", source.ParseJSON, "{" + numbered(`"k%d":1,`) + `"z":1}`},
		{"json: keys on one line, positions far to the right", source.ParseJSON, "{" + numbered(`"é%d":[],`) + `"z":1}`},
		{"json: open lists", source.ParseJSON, fill("[")},
		{"json: items", source.ParseJSON, "[" + fill("1,") + "1]"},
		{"json: open strings", source.ParseJSON, "[" + fill(`"\u0061\ud800`)},
		{"json: digits", source.ParseJSON, fill("1")},
		{"json: an exponent", source.ParseJSON, "1e" + fill("9")},
		{"json: zeros", source.ParseJSON, "0." + fill("0") + "1"},
		{"json: bytes that are not UTF-8", source.ParseJSON, fill("a") + "\xff"},
		{"json: lines that might be markers", source.ParseJSON, fill("<<<<<<<<\n")},
		{"jsonc: comments", source.ParseJSONC, fill("/**/")},
		{"jsonc: comment openings", source.ParseJSONC, fill("/*")},
		{"jsonc: line comments", source.ParseJSONC, fill("//\n")},
		{"toml: keys", source.ParseTOML, numbered("k%d=1\n")},
		{"toml: headers", source.ParseTOML, numbered("[h%d]\n")},
		{"toml: arrays of tables", source.ParseTOML, fill("[[a]]\n")},
		{"toml: keys of one dotted table", source.ParseTOML, numbered("a.b%d=1\n")},
		{"toml: an inline table on one line", source.ParseTOML, "a={" + numbered("k%d=1,") + "z=1}"},
		{"toml: long dotted keys", source.ParseTOML, numbered("a." + strings.Repeat("b.", 500) + "k%d=1\n")},
		{"toml: a dotted key", source.ParseTOML, fill("a.") + "a=1"},
		{"toml: open lists", source.ParseTOML, "a=" + fill("[")},
		{"toml: open inline tables", source.ParseTOML, fill("a={")},
		{"toml: a commented list", source.ParseTOML, "a=[" + fill("#\n1,") + "]"},
		{"toml: escapes", source.ParseTOML, `a="` + fill(`\\`) + `"`},
		{"yaml: keys", source.ParseYAML, numbered("k%d: 1\n")},
		{"yaml: open lists", source.ParseYAML, fill("[")},
		{"yaml: dashes", source.ParseYAML, fill("- ")},
		{"yaml: question marks", source.ParseYAML, fill("? ")},
		{"yaml: colons", source.ParseYAML, fill("a: ")},
		{"yaml: comments", source.ParseYAML, fill("# a\n\n") + "a: 1"},
		{"yaml: commented items", source.ParseYAML, fill("# a\n- b # c\n")},
		{"yaml: flow keys", source.ParseYAML, "[" + fill(`"a":1,`) + "]"},
		{"yaml: anchors", source.ParseYAML, numbered("- &a%d b\n")},
		{"yaml: aliases", source.ParseYAML, "- &a b\n" + fill("- *a\n")},
		{"yaml: merges of a large map", source.ParseYAML, "- &a {" + strings.Repeat("x: 1, ", 1) + numbered("k%d: 1,\n")[:mebibyte/2] + "}\n" + fill("- <<: *a\n")[:mebibyte/4]},
		{"yaml: documents", source.ParseYAML, fill("---\n")},
		{"yaml: tag directives", source.ParseYAML, numbered("%%TAG !a%d! tag:x,\n") + "---\na"},
		{"yaml: a folded string", source.ParseYAML, `a: "` + fill("x\n ") + `"`},
		{"yaml: line separators", source.ParseYAML, "a: '" + fill("\u2028") + "'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			c.parse([]byte(c.text))
			if took := time.Since(start); took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestComparingLargeMapsCostsNoMoreThanTheirLength(t *testing.T) {
	text := numbered(`"k%d":1,`)
	a := mustJSON(t, "{"+text+`"z":1}`)
	b := mustJSON(t, `{"z":1,`+strings.TrimSuffix(text, ",")+"}")
	start := time.Now()
	if !a.Equal(b) {
		t.Error("not equal")
	}
	byHand := source.Value{Kind: source.Map, Members: b.Members}
	if !a.Equal(byHand) || !byHand.Equal(a) {
		t.Error("not equal to its copy")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
