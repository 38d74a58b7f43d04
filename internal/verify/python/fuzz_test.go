package python_test

import (
	"bytes"
	"testing"

	"plimsoll.dev/internal/verify/python"
)

// FuzzParse holds that no text makes the reader fail otherwise than with an
// error, that places lie in the text, and that names and
// literals of what was read can be asked for.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "x = 1\n", "def f(a, *b, c=1, **d) -> int:\n  return a\n", "f'{a!r:>{b}}' 'c'", "match x:\n  case [a, *_]: pass\n",
		"@a.b(c)\nasync def f(): await x\n", "with (a as b, c): pass", "x = [*a for b in c]", "\ufeff# coding: utf-8\n'é'", "a\\\n.b",
		"if a:\n\tb\n        c\n", "f'''{\na=}'''", "lambda *, a: (yield)", "x = '\\N{BULLET}\\x41'", "type X[T] = T", "try: a\nexcept* b: c",
		"a = b\nb = a\n", "tools = [a]\ntools.append(b)\n", "from . import *\nx = y.z\n", "{**a, 'b': c}", "(a := 1)", "x: int\n", "ｄｅｆ = 1",
	} {
		f.Add([]byte(text))
	}
	for _, c := range oddCases(f) {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := python.Parse(text)
		if err != nil {
			e, ok := err.(*python.SyntaxError) //nolint:errorlint // the concrete type is the contract of Parse
			if !ok || e.Pos.Line < 1 || e.Pos.Line > lines(text) || e.Detail == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		for _, s := range file.Body {
			inside(t, text, s)
		}
		file.Inspect(func(n python.Node) bool {
			e, ok := n.(python.Expr)
			if !ok {
				return true
			}
			file.Candidates(e)
			file.Value(e)
			if _, ok := python.Literal(e); ok {
				if _, again := file.Literal(e); !again {
					t.Errorf("a literal is none with the constants of the file at %v", e.At())
				}
			}
			return true
		})
	})
}

func lines(text []byte) int {
	n := bytes.Count(text, []byte("\n")) + 1
	for i, b := range text {
		if b == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			n++
		}
	}
	return n
}

// inside checks the places of a statement and of all below it.
func inside(t *testing.T, text []byte, s python.Stmt) {
	t.Helper()
	most := lines(text)
	python.Inspect(s, func(n python.Node) bool {
		r := n.At()
		if r.Start.Line < 1 || r.Start.Column < 1 || r.End.Before(r.Start) || r.End.Line > most {
			t.Fatalf("%T at %v of %d lines", n, r, most)
		}
		return true
	})
}
