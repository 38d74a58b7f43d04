package python_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/python"
)

type odd struct {
	text    string
	since   int // minor version
	refused bool
}

// oddCases are the paragraphs of testdata/odd.txt.
func oddCases(t testing.TB) []odd {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "odd.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []odd
	for _, paragraph := range strings.Split(string(text), "\n\n")[1:] {
		var c odd
		for line := range strings.Lines(paragraph) {
			line = strings.TrimRight(line, "\n")
			body, isBody := strings.CutPrefix(line, "|")
			switch {
			case isBody:
				c.text += strings.TrimPrefix(body, " ") + "\n"
			case line == "refused":
				c.refused = true
			default:
				if _, err := fmt.Sscanf(line, "3.%d", &c.since); err != nil {
					t.Fatalf("testdata/odd.txt: %q", line)
				}
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func TestOddProgramsAreReadAsPythonReadsThem(t *testing.T) {
	o := findOracle(t)
	cases := oddCases(t)
	if len(cases) < 200 {
		t.Fatalf("only %d cases", len(cases))
	}
	dir := t.TempDir()
	var files []string
	for i, c := range cases {
		files = append(files, filepath.Join(dir, fmt.Sprintf("%04d.py", i)))
		if err := os.WriteFile(files[i], []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digests := strings.Fields(o.ask(t, files, true))
	compared := 0
	for i, c := range cases {
		if c.since > o.minor {
			continue
		}
		ours := o.ours([]byte(c.text))
		if c.refused != (ours == "refused\n") {
			_, err := python.Parse([]byte(c.text))
			t.Errorf("refused by us: %t, by the table: %t (%v)\n%s", !c.refused, c.refused, err, c.text)
			continue
		}
		if c.refused {
			continue // Python refuses some of them later, when it compiles
		}
		compared++
		sum := sha256.Sum256([]byte(ours))
		if hex.EncodeToString(sum[:]) != digests[i] {
			t.Errorf("%s\n%s", firstDifference(ours, o.ask(t, files[i:i+1], false)), c.text)
		}
	}
	t.Logf("compared %d programs with Python 3.%d", compared, o.minor)
}

// maker makes programs by chance, of every form of expression.
type maker struct{ *rand.Rand }

func (m maker) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m maker) expr(depth int) string {
	if depth == 0 {
		return m.pick("a", "b.c", "1", "2.5", `"s"`, "b'y'", "None", "True", "...", "[]", "{}", "()", "0x1f", `f"{x}"`, "3j", "'é'")
	}
	e := func() string { return m.expr(depth - 1) }
	switch m.IntN(22) {
	case 0:
		return e() + m.pick(" + ", "-", " * ", " / ", "//", "%", " @ ", "**", "<<", " >> ", "&", " | ", "^") + e()
	case 1:
		return e() + m.pick(" < ", " > ", " == ", " != ", " in ", " not in ", " is ", " is not ", "<=", ">=") + e()
	case 2:
		return e() + m.pick(" and ", " or ") + e()
	case 3:
		return m.pick("not ", "-", "+", "~") + e()
	case 4:
		return "(" + e() + ")"
	case 5:
		return "(" + e() + ", " + e() + m.pick("", ",") + ")"
	case 6:
		return "[" + e() + ", *" + m.atom(depth) + "]"
	case 7:
		return "{" + e() + ": " + e() + ", **" + m.atom(depth) + "}"
	case 8:
		return "{" + e() + ", " + e() + "}"
	case 9:
		return "(" + e() + " if " + e() + " else " + e() + ")"
	case 10:
		return "(lambda x, y=" + e() + ", *z: " + e() + ")"
	case 11:
		return m.atom(depth) + "(" + e() + ", *" + m.atom(depth) + ", k=" + e() + ", **" + m.atom(depth) + ")"
	case 12:
		return m.atom(depth) + "[" + e() + ":" + m.pick("", e()) + m.pick("", ":"+e()) + ", " + e() + "]"
	case 13:
		return m.atom(depth) + "." + m.pick("p", "q")
	case 14:
		return m.pick("[", "(", "{") + "" // completed below
	case 15:
		return "[" + e() + " for x, y in " + m.atom(depth) + " if (" + e() + ")]"
	case 16:
		return "{" + e() + ": " + e() + " for x in " + m.atom(depth) + "}"
	case 17:
		return "(" + e() + " for x in " + m.atom(depth) + " for y in " + m.atom(depth) + ")"
	case 18:
		return `f"a{` + m.atom(0) + m.pick("", "!r", ":>5", ":{w}", "=") + `}{{b"` + m.pick("", ` 'c'`, ` f'{d}'`)
	case 19:
		return "(w := " + e() + ")"
	case 20:
		return "f(" + e() + " for x in " + m.atom(depth) + ")"
	}
	return m.pick("r", "R", "u", "", "b", "rB") + m.pick(`"`, `'`, `"""`, `'''`) // completed below
}

func (m maker) atom(depth int) string {
	if depth < 2 || m.IntN(2) == 0 {
		return m.pick("a", "b.c", "d[0]", "(e)")
	}
	return "(" + m.complete(m.expr(depth-1)) + ")"
}

// complete closes what expr leaves open.
func (m maker) complete(e string) string {
	for _, open := range []string{"[", "(", "{"} {
		if e == open {
			return map[string]string{"[": "[]", "(": "()", "{": "{}"}[e]
		}
	}
	return e
}

func TestProgramsMadeByChanceAreReadAsPythonReadsThem(t *testing.T) {
	o := findOracle(t)
	m := maker{rand.New(rand.NewPCG(20, 26))}
	dir := t.TempDir()
	var texts, files, one []string
	for range 200 {
		var b strings.Builder
		for range 20 {
			line := m.complete(m.expr(1 + m.IntN(3)))
			fmt.Fprintf(&b, "%s%s\n", m.pick("", "x = ", "x: int = ", "x += ", "return_(", "assert "), line)
		}
		texts = append(texts, b.String())
	}
	// A line that Python refuses tells nothing about the others: lines are
	// compared one by one.
	for i, line := range strings.Split(strings.Join(texts, ""), "\n") {
		one = append(one, line+"\n")
		files = append(files, filepath.Join(dir, fmt.Sprintf("%05d.py", i)))
		if err := os.WriteFile(files[i], []byte(one[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digests := strings.Fields(o.ask(t, files, true))
	read, refused := 0, 0
	for i, text := range one {
		ours := o.ours([]byte(text))
		sum := sha256.Sum256([]byte(ours))
		if hex.EncodeToString(sum[:]) != digests[i] {
			_, err := python.Parse([]byte(text))
			t.Errorf("%s (%v)\n%s", firstDifference(ours, o.ask(t, files[i:i+1], false)), err, text)
		}
		if ours == "refused\n" {
			refused++
		} else {
			read++
		}
	}
	t.Logf("%d read and %d refused alike by Python 3.%d", read, refused, o.minor)
	if read < 1000 || refused < 100 {
		t.Error("too few of a kind")
	}
}
