package script_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/verify/script"
)

// A file that is made to be slow ends in a reading or in a refusal, in a time
// that grows with its size.
func TestHostileFilesEnd(t *testing.T) {
	nested := func(open, inner, closing string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	for name, text := range map[string]string{
		"a long chain":                  "x" + strings.Repeat(".tool(1)", 12_000),
		"calls inside of calls":         strings.Repeat(nested("x.tool(", "1", ")", 250)+";", 40),
		"a chain of arrow functions":    strings.Repeat("a=>", 20_000) + "1",
		"a chain of comparisons":        "x = a" + strings.Repeat("<a", 20_000),
		"many classes with fields":      strings.Repeat("class A { b = 1; m() { this.b = 2 } }\n", 4_000),
		"many bindings of one name":     strings.Repeat("{ let a = 1; a = 2 }\n", 6_000),
		"many loops":                    strings.Repeat("for (const a of b) a.tool(a);", 4_000),
		"maps of maps":                  "x" + strings.Repeat(".map(a => a)", 8_000),
		"a deep object":                 "x.tool(" + nested("{a:", "1", "}", 290) + ")",
		"too deep":                      nested("(", "1", ")", 400),
		"a long union":                  "const a: " + strings.Repeat("A | ", 20_000) + "B = 1",
		"a long conditional":            "x.tool(" + strings.Repeat("a ? b : ", 10_000) + "c)",
		"templates":                     "x.tool(" + nested("`${", "1", "}`", 200) + ")" + strings.Repeat("`a${b}c`;", 10_000),
		"slashes and open classes":      "x = " + strings.Repeat("a/[b,", 100) + strings.Repeat("a/[b],", 40_000),
		"optional types":                strings.Repeat("a ? (b) : c => d;", 8_000),
		"a name that stands for itself": "const a = a + a, b = [...b, ...b], c = { ...c, ...c }; x.tool(a, b, c)",
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			file, err := script.Parse("x.ts", []byte(text))
			if err == nil {
				p := &script.Program{Load: func(*script.File, string) *script.File { return nil }}
				calls, _ := file.Calls("tool")
				for _, call := range calls {
					p.Reset()
					for _, arg := range call.Args {
						n := script.Node{File: file, Expr: arg}
						p.Text(n)
						p.Props(n)
						p.Items(n)
					}
				}
			}
			took := time.Since(begun)
			t.Logf("%v, %v", took, err)
			if took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
