package effect_test

import (
	"fmt"
	"testing"
	"time"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// fleet is n tools in n/4 files of one agent per file, with a declaration and a
// policy for every tenth tool.
func fleet(t testing.TB, n int) (*manifest.Manifest, *tool.Reading) {
	t.Helper()
	m := load(t, header)
	m.Bindings.RootObject = "agent0"
	r := &tool.Reading{}
	for i := range n {
		file := fmt.Sprintf("src/part%d.py", i/4)
		name := fmt.Sprintf("update_stock_%d", i)
		agent := fmt.Sprintf("agent%d", i/4)
		at := tool.Origin{Type: "openai_agents_sdk", SourceID: "bot", Ref: "src", Path: file, Location: file + ":3"}
		r.Tools = append(r.Tools, made("sdk_function", "bot", name, saying("Update the stock of one bin and send a message to the customer."),
			takes(tool.Parameter{Name: "bin", Type: "string", Required: true}), func(t *tool.Tool) { t.Origin = at; t.Origin.Type = "sdk_function" }))
		if i%4 == 0 {
			r.Agents = append(r.Agents, tool.Agent{Name: agent, Origin: at})
			if i > 0 {
				r.Edges = append(r.Edges, tool.Edge{Kind: tool.Handoff, Agent: fmt.Sprintf("agent%d", i/8), To: agent, Complete: true, Origin: at})
			}
		}
		r.Edges = append(r.Edges, tool.Edge{Kind: tool.DirectTool, Agent: agent, To: name, Complete: true, Origin: at})
		if i%10 == 0 {
			sel := manifest.Selector{Tool: name, Path: []string{"action_surface", "actions", fmt.Sprint(i / 10)}}
			m.Surface.Actions = append(m.Surface.Actions, manifest.Action{Index: i / 10, Selector: sel, Effect: "external_communication"})
			m.Policies.Approval = append(m.Policies.Approval, sel)
		}
	}
	return m, r
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, r := fleet(b, n)
			b.ReportAllocs()
			for b.Loop() {
				s, err := effect.Resolve(m, r)
				if err != nil || len(s.Actions) != n {
					b.Fatal(err, len(s.Actions))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/tool")
		})
	}
}

// A loop over all tools for each tool shows as ten times the time per tool.
// Both sizes are taken side by side, and the fairest of some rounds counts: the
// machine has other work.
func TestTheTimePerToolDoesNotGrow(t *testing.T) {
	const small, large = 200, 2000
	measure := func(m *manifest.Manifest, r *tool.Reading, n int) float64 {
		start := time.Now()
		s, err := effect.Resolve(m, r)
		if err != nil || len(s.Actions) != n {
			t.Fatalf("%v, %d actions of %d", err, len(s.Actions), n)
		}
		return float64(time.Since(start)) / float64(n)
	}
	fewM, few := fleet(t, small)
	manyM, many := fleet(t, large)
	best := 1e9
	for range 4 {
		one := max(measure(fewM, few, small), measure(fewM, few, small))
		best = min(best, measure(manyM, many, large)/one)
	}
	if best > 5 {
		t.Errorf("the time per tool of %d is %.1f times that of %d", large, best, small)
	}
}

// Names that all tools share, and entries that fit all of them, are the worst
// case of every index: their time grows with their number, not with its square,
// which would make the ratio of a tool 8.
func TestToolsThatShareOneNameAreResolvedInTime(t *testing.T) {
	const small, large = 400, 3200
	best := 1e9
	for range 4 {
		one := max(sharing(t, small), sharing(t, small))
		best = min(best, sharing(t, large)/one)
	}
	if best > 5 {
		t.Errorf("the time per tool of %d is %.1f times that of %d", large, best, small)
	}
}

// sharing resolves n tools of one name and returns the time for each.
func sharing(t *testing.T, n int) float64 {
	t.Helper()
	r := &tool.Reading{}
	m := load(t, header)
	for i := range n {
		r.Tools = append(r.Tools, listed("run", in(fmt.Sprintf("source%d", i))))
	}
	m.Policies.Approval = []manifest.Selector{{Tool: "run", Path: []string{"policies", "require_approval_for_tools", "0"}}}
	m.Risks = []manifest.Risk{{Tool: "run", RemoveTags: []string{"write"}}}
	start := time.Now()
	s, err := effect.Resolve(m, r)
	if err != nil || len(s.Catalog) != n || len(s.Catalog[0].Issues) != 2 {
		t.Fatalf("%v, %d tools", err, len(s.Catalog))
	}
	for i := range n {
		path := []string{"policies", "require_approval_for_tools", fmt.Sprint(i)}
		m.Policies.Approval = append(m.Policies.Approval, manifest.Selector{Tool: "run", Path: path}, manifest.Selector{Tool: fmt.Sprint("gone", i), Path: path})
		r.Edges = append(r.Edges, tool.Edge{Kind: tool.DirectTool, Agent: "a", To: "run", Complete: true, Origin: code(i)})
	}
	if _, err := effect.Resolve(m, r); err != nil {
		t.Fatal(err)
	}
	return float64(time.Since(start)) / float64(n)
}
