package check_test

import (
	"fmt"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// The time a tool takes does not grow with the number of tools.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := plain(checktest.Prohibited("delete warehouse records"), checktest.Granted("stock:read"), func(m *manifest.Manifest) {
				m.Sources = []manifest.Source{{ID: "stock_mcp", Type: "mcp", Path: "tools.json", Binding: &manifest.SourceBinding{Complete: true}}}
			})
			r := &tool.Reading{Sources: []tool.Source{{ID: "stock_mcp", Type: "mcp", State: tool.Loaded, Tools: n}}}
			for i := range n {
				r.Tools = append(r.Tools, checktest.Tool(fmt.Sprintf("send_payment%04d", i), checktest.Scopes(fmt.Sprintf("s%d:write", i)),
					checktest.Annotation("destructiveHint", true), checktest.Param(tool.Parameter{Name: "amount", Type: "number"})).Tool)
			}
			surface, err := effect.Resolve(m, r)
			if err != nil {
				b.Fatal(err)
			}
			s := checktest.Subject(surface)
			found := 0
			for b.Loop() {
				e, err := check.Evaluate(s, check.Options{})
				if err != nil {
					b.Fatal(err)
				}
				found = len(e.Findings)
			}
			if found < n {
				b.Fatalf("%d findings of %d tools", found, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/tool")
		})
	}
}
