package script_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/script"
)

// Whatever a file holds, it is read or refused with a place inside of it, and
// every question about it has an answer.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"import { a as b } from './x'; const { c, d: [e = 1, ...g] } = b(`t${a}`), h: Map<string, A<B>>= new Map<K,V>();",
		"class A<T> extends B { @dec() private readonly x?: T = 1; constructor(public s: S) { this.y = s.t!.tool('n', { a: 1, ...b }, () => 1) } get z() { return /[/]/g } }",
		"for (const [k, v] of Object.entries({ a: 1 })) s.registerTool(k, v, async <T,>(x: T): Promise<void> => { return; });",
		"export default { a: [1,,2], 'b': -0x1F, [`c`]: x ? y : z ?? w } satisfies T; export * as q from 'm'; enum E { A = 'a' }",
		"a.b?.tool?.(x)['tool']<T>(1)!.tool(2); module.exports = function* f({a = {}}) {}; x = a < b, c > (d); `${`${1}`}`",
		"#!/x\n// \u2028\n<!-- a\n-->", "((((((", "}`${", "new.target; new ; new X<; @", "a=>b=>c=>d", "import x = require('y')",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		lines := strings.Count(string(src), "\n") + strings.Count(string(src), "\r") + 1
		file, err := script.Parse("x.ts", src)
		if err != nil {
			if err.Pos.Line < 1 || err.Pos.Line > lines || err.Pos.Column < 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		file.Modules()
		p := &script.Program{Load: func(from *script.File, _ string) *script.File { return from }}
		calls, err := file.Calls("tool", "registerTool", "a")
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			if call.Pos.Line < 1 || call.Pos.Line > lines {
				t.Fatalf("%+v", call)
			}
			n := script.Node{File: file, Expr: call}
			p.Reset()
			for _, arg := range call.Args {
				p.Text(n.At(arg))
				p.Props(n.At(arg))
				p.Items(n.At(arg))
				if r := p.Reduce(n.At(arg)); r.Kind() == script.Function && r.Expr.Fn != nil {
					r.File.Returns(r.Expr.Fn)
				}
			}
			for _, b := range file.Loops(call.At) {
				p.Items(script.Node{File: file, Expr: b.Init})
			}
		}
	})
}
