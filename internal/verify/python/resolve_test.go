package python_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/python"
)

// value is the value of the last assignment of a program.
func value(t *testing.T, text string) (*python.File, python.Expr) {
	t.Helper()
	f := parse(t, text)
	a, ok := f.Body[len(f.Body)-1].(*python.Assign)
	if !ok {
		t.Fatalf("the program ends without an assignment:\n%s", text)
	}
	return f, a.Value
}

func TestWhatANameMeans(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"an import":                  {"from agents import function_tool\nx = function_tool", []string{"agents.function_tool"}},
		"an import under another":    {"from agents import function_tool as ft\nx = ft", []string{"agents.function_tool"}},
		"a module":                   {"import a.b.c\nx = a.b.c.d", []string{"a.b.c.d"}},
		"a module under another":     {"import a.b as m\nx = m.c", []string{"a.b.c"}},
		"a relative import":          {"from ..a import b\nx = b.c", []string{"..a.b.c"}},
		"a relative module":          {"from . import a\nx = a.b", []string{".a.b"}},
		"a function of the file":     {"def f(): pass\nx = f", []string{"__main__.f"}},
		"a class of the file":        {"class A: pass\nx = A.b", []string{"__main__.A.b"}},
		"a name for a name":          {"from a import b\nc = d = b\nx = d.e", []string{"a.b.e"}},
		"a class with parameters":    {"from a import B\nx = B[int]", []string{"a.B"}},
		"a fallback":                 {"try: from a import b\nexcept E: from c import b\nx = b", []string{"a.b", "c.b"}},
		"one of two":                 {"from a import b, c\nx = b if d else c", []string{"a.b", "a.c"}},
		"a star":                     {"from a import *\nfrom .b import *\nx = c", []string{".b.c", "a.c"}},
		"nothing":                    {"x = y", nil},
		"a builtin":                  {"x = list", nil},
		"a call":                     {"from a import b\nx = b()", nil},
		"a long chain of names":      {"from a import b\nb0 = b\n" + chained(100) + "x = b100", []string{"a.b"}},
		"itself":                     {"a = b\nb = a\nx = a", nil},
		"a parameter hides":          {"from a import b\nx = lambda b: b", nil},
		"letters of another width":   {"from ａ import ｂ\nx = b", []string{"a.b"}},
		"a global of a function":     {"def f():\n global g\n from a import g\nx = g", []string{"a.g"}},
		"a name in a comprehension":  {"from a import b\nx = [b for b in c]", nil},
		"unpacking of equal lengths": {"from a import b, c\nd, e = b, c\nx = e", []string{"a.c"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, e := value(t, c.text)
			switch inner := e.(type) {
			case *python.Lambda:
				e = inner.Body
			case *python.Comprehension:
				e = inner.Item
			}
			got := f.Candidates(e)
			if len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("Candidates = %q, want %q", got, c.want)
			}
			one, ok := f.Resolve(e)
			if ok != (len(c.want) == 1) || ok && one != c.want[0] {
				t.Errorf("Resolve = %q, %t", one, ok)
			}
		})
	}
}

func chained(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "b%d = b%d\n", i+1, i)
	}
	return b.String()
}

func TestAClassDoesNotLendItsNamesToItsMethods(t *testing.T) {
	f := parse(t, "from a import b\nclass C:\n from c import b\n def m(self): return b\n x = b\n")
	c := f.Body[1].(*python.Class)
	method := c.Body[1].(*python.Function)
	if got, _ := f.Resolve(method.Body[0].(*python.Return).Value); got != "a.b" {
		t.Errorf("in a method: %q", got)
	}
	if got, _ := f.Resolve(c.Body[2].(*python.Assign).Value); got != "c.b" {
		t.Errorf("in the class: %q", got)
	}
}

func TestWhatIsLiteral(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	for text, want := range map[string]any{
		`x = "a" 'b'`:                            "ab",
		`x = "a" + "b" + f"c{'d'}"`:              "abcd",
		"A = 'a'\nB = f'{A}b'\nx = B + A":        "aba",
		"x = [1, -2.5, 0x10, True, None, 1_0]":   []any{n("1"), n("-2.5"), n("16"), true, nil, n("10")},
		"x = {'a': (1,), **{'b': {'c'}}}":        map[string]any{"a": []any{n("1")}, "b": []any{"c"}},
		"A = ['a']\nx = [*A, 'b'] + ['c']":       []any{"a", "b", "c"},
		"x = 1e3":                                n("1000"),
		"x = 00":                                 n("0"),
		"class C:\n  A = 1\nif y: B = 2\nx = []": []any{},
	} {
		t.Run(text, func(t *testing.T) {
			f, e := value(t, text)
			got, ok := f.Literal(e)
			if !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("Literal = %#v, %t, want %#v", got, ok, want)
			}
		})
	}
}

func TestWhatIsNotLiteral(t *testing.T) {
	for _, text := range []string{
		"x = y", "x = f()", "x = b'a'", `x = "\N{BULLET}"`, "x = 1 + 2", "x = 1j", "x = 1e999", "x = f'{y}'", "x = f'{1!r}'", "x = ...",
		"x = {1: 2}", "x = [y]", "x = not True", "x = -'a'", "x = [a for a in b]",
		"A = 1\nA = 2\nx = A",
		"if y: A = 1\nx = A",
		"A = 1\ndef f():\n global A\n A = 2\nx = A",
		"A = []\nA.append(1)\nx = A",
		"A = {}\nA['a'] = 1\nx = A",
		"A = []\nA += [1]\nx = A",
		"A = []\ndel A[0]\nx = A",
		"for A in 'ab': pass\nx = A",
		"A = A\nx = A",
		"x = " + "9999999999" + "9999999999e9999",
	} {
		t.Run(text, func(t *testing.T) {
			f, e := value(t, text)
			if got, ok := f.Literal(e); ok {
				t.Errorf("Literal = %#v", got)
			}
		})
	}
}

func TestACharacterByNameIsKeptOpaque(t *testing.T) {
	_, e := value(t, `x = "a\N{BULLET}b" f"\N{LATIN SMALL LETTER A}{y}" rf"\N{z}"`)
	s := e.(*python.FString)
	if first := s.Parts[0].(*python.Str); first.Value != "a\ufffdb\ufffd" || !first.Opaque {
		t.Errorf("%+v", first)
	}
	if raw := s.Parts[2].(*python.Str); raw.Value != `\N` || raw.Opaque {
		t.Errorf("%+v", raw)
	}
}

func TestEncodings(t *testing.T) {
	for text, ok := range map[string]bool{
		"\ufeffx = 'é'":                                      true,
		"# -*- coding: utf-8 -*-\nx = 'é'":                   true,
		"#!/usr/bin/python\n# vim: set fileencoding=UTF_8 :": true,
		"# coding=ascii\nx = 1":                              true,
		"# coding=ascii\nx = 'é'":                            false,
		"# coding: latin-1":                                  false,
		"\n# coding: cp1252\n":                               false,
		"x = 1\n# coding: latin-1\n":                         true,
		"\n\n# coding: latin-1\n":                            true,
		"\ufeff# coding: utf8\n":                             false,
		"\ufeff# coding: utf-8\n":                            true,
		"x = '\xe9'":                                         false,
		"x = 1\r\ny = '''a\r\nb'''\rz = 2":                   true,
		"# encoding: utf-8-sig\n":                            true,
		"# decoding latin-1 and coding: shift_jis":           false,
	} {
		if _, err := python.Parse([]byte(text)); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAPlaceIsALineAndACharacter(t *testing.T) {
	f := parse(t, "é = '日本'; y = 1\r\nz = (\r  2)\n")
	for i, want := range []python.Range{
		{Start: python.Pos{Line: 1, Column: 1}, End: python.Pos{Line: 1, Column: 9}},
		{Start: python.Pos{Line: 1, Column: 11}, End: python.Pos{Line: 1, Column: 16}},
		{Start: python.Pos{Line: 2, Column: 1}, End: python.Pos{Line: 3, Column: 5}},
	} {
		if got := f.Body[i].At(); got != want {
			t.Errorf("statement %d at %v, want %v", i, got, want)
		}
	}
	if got := f.Source(f.Body[0].(*python.Assign).Value.At()); got != "'日本'" {
		t.Errorf("Source = %q", got)
	}
}

func TestASyntaxErrorHasItsPlace(t *testing.T) {
	for text, line := range map[string]int{
		"x = 1\ny = (\n":        2,
		"x = 1\nif x:\ny = 2\n": 3,
		"x = 1\n\n  y = 2\n":    3,
		"x = '''a\nb\n":         1,
		"def f(a, a b): pass":   1,
		"x = [\n1,\n2 3]":       3,
	} {
		_, err := python.Parse([]byte(text))
		e, ok := err.(*python.SyntaxError) //nolint:errorlint // the concrete type is the contract of Parse
		if !ok || e.Pos.Line != line {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
}
