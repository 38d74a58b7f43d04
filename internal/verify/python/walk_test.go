package python_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/python"
)

func TestTheWayThroughAModuleIsTheSameEveryTime(t *testing.T) {
	const part = `
class A(B):
    @tool(name="x")
    def f(self, a: int = 1, *, b=lambda q: q + 1):
        if a and b(a):
            return [c for c in (a, 2) if c]
        with open(a) as f, g():
            pass
x = {"k": f"{A.f!r:>{x}}", **y}
`
	for _, text := range []string{"", part, strings.Repeat(part, 1+(1<<20)/len(part))} {
		f, err := python.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		// Nothing below a call, or below the function that has one, is wanted.
		for _, stop := range []func(python.Node) bool{
			func(python.Node) bool { return false },
			func(n python.Node) bool { _, is := n.(*python.Call); return is },
			func(n python.Node) bool { _, is := n.(*python.Function); return is },
			func(python.Node) bool { return true },
		} {
			var want, got, again []string
			visit := func(list *[]string) func(python.Node) bool {
				return func(n python.Node) bool {
					*list = append(*list, fmt.Sprintf("%T %v", n, n.At()))
					return !stop(n)
				}
			}
			for _, s := range f.Body {
				python.Inspect(s, visit(&want))
			}
			f.Inspect(visit(&got))
			f.Inspect(visit(&again))
			if !slices.Equal(want, got) || !slices.Equal(want, again) {
				t.Errorf("%d bytes: %d nodes, then %d, then %d", len(text), len(want), len(got), len(again))
			}
			if len(text) > 0 && len(want) == 0 {
				t.Error("nothing was visited")
			}
		}
	}
}
