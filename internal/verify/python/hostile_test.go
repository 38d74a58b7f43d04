package python_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/verify/python"
)

func TestHostileTextsEndSoon(t *testing.T) {
	const n = 100_000
	for name, text := range map[string]string{
		"brackets":            strings.Repeat("(", n),
		"brackets that close": strings.Repeat("[", n) + strings.Repeat("]", n),
		"signs":               "x = " + strings.Repeat("-", n) + "1",
		"not":                 "x = " + strings.Repeat("not ", n) + "1",
		"lambda":              "x = " + strings.Repeat("lambda:", n) + "1",
		"conditions":          "x = " + strings.Repeat("a if b else ", n) + "1",
		"powers":              "x = " + strings.Repeat("a**", n) + "1",
		"sums":                "x = " + strings.Repeat("a+", n) + "1",
		"attributes":          "x = a" + strings.Repeat(".a", n),
		"calls":               "x = a" + strings.Repeat("()", n),
		"walruses":            "x = (" + strings.Repeat("a:=", n) + "1)",
		"awaits":              "x = " + strings.Repeat("await ", n) + "a",
		"stars":               "x = " + strings.Repeat("*", n) + "a",
		"comparisons":         "x = " + strings.Repeat("a<", n) + "a",
		"elif":                "if a: b\n" + strings.Repeat("elif a: b\n", n),
		"decorators":          strings.Repeat("@a\n", n) + "def f(): pass",
		"handlers":            "try: a\n" + strings.Repeat("except a: b\n", n),
		"assignments":         strings.Repeat("a=", n) + "1",
		"statements":          strings.Repeat("a;", n),
		"strings":             "x = " + strings.Repeat("'a' ", n),
		"quotes":              strings.Repeat("'", n) + "a",
		"triple quotes":       strings.Repeat(`"""`, n),
		"fields":              `x = f"` + strings.Repeat("{a}", n) + `"`,
		"fields in fields":    "x = " + strings.Repeat(`f"{`, n),
		"formats in formats":  `x = f"` + strings.Repeat("{a:", n),
		"open braces":         `x = f"` + strings.Repeat("{", n),
		"backslashes":         `x = "` + strings.Repeat(`\`, n) + `"`,
		"continuations":       strings.Repeat("\\\n", n),
		"with and brackets":   strings.Repeat("with (a, (b), [c]): pass\n", n/10),
		"match":               strings.Repeat("match(a)\n", n),
		"cases":               "match a:\n" + strings.Repeat(" case a: b\n", n),
		"patterns":            "match a:\n case " + strings.Repeat("[", n),
		"alternatives":        "match a:\n case " + strings.Repeat("1|", n) + "1: a",
		"indents":             indents(n / 100),
		"columns":             "x = '" + strings.Repeat("é", n) + "'; y = 1",
		"digits":              "x = " + strings.Repeat("9", n),
		"hex digits":          "x = 0x" + strings.Repeat("f", n),
		"scopes":              strings.Repeat("def f():\n global a\n a = a\n", n/10),
		"imports":             strings.Repeat("from a import a as b\n", n/2),
		"names for names":     chain(n / 4),
		"lines":               strings.Repeat("\n", n*10),
		"comments":            strings.Repeat("#\n", n*4),
		"NUL":                 "x = 1\x00",
		"not UTF-8":           "x = '\xff'",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			f, err := python.Parse([]byte(text))
			if err == nil {
				f.Inspect(func(n python.Node) bool {
					if e, ok := n.(*python.Name); ok && e.Start.Line > len(text)/8 {
						f.Candidates(e)
						f.Literal(e)
					}
					return true
				})
			}
			if spent := time.Since(start); spent > 30*time.Second {
				t.Errorf("took %s (%v)", spent, err)
			}
		})
	}
}

func indents(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "if a:\n")
	}
	return b.String()
}

func chain(n int) string {
	var b strings.Builder
	b.WriteString("from m import v0\n")
	for i := range n {
		b.WriteString("v" + strings.Repeat("1", i%50) + " = v" + strings.Repeat("1", (i+1)%50) + ".a\n")
	}
	return b.String()
}

func TestConstantsThatDoubleAreNoLiterals(t *testing.T) {
	text := "a0 = 'x' * 1\nb0 = 'xxxxxxxxxxxxxxxx'\n"
	for i := range 60 {
		text += strings.ReplaceAll(strings.ReplaceAll("bN = bM + bM\nlN = [bM, bM]\n", "N", itoa(i+1)), "M", itoa(i))
	}
	f := parse(t, text+"end = b60\n")
	last := f.Body[len(f.Body)-1].(*python.Assign)
	if v, ok := f.Literal(last.Value); ok {
		t.Errorf("a text of %d bytes", len(v.(string)))
	}
}

func itoa(i int) string { return strconv.Itoa(i) }
