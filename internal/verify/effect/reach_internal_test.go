package effect

import (
	"testing"

	"plimsoll.dev/internal/verify/tool"
)

// Artifacts list edges in this order: agent, kind, tool, the agent handed to; what
// is complete before what is not, what code shows before what somebody declares,
// and the first place first.
func TestEdgesHaveOneOrder(t *testing.T) {
	edge := func(change func(*GraphEdge)) GraphEdge {
		e := GraphEdge{Kind: tool.DirectTool, From: "a", Tool: "t", Complete: true}
		change(&e)
		return e
	}
	want := []GraphEdge{
		edge(func(*GraphEdge) {}),
		edge(func(e *GraphEdge) { e.At.Path = "z.py" }),
		edge(func(e *GraphEdge) { e.Declared = true }),
		edge(func(e *GraphEdge) { e.Complete = false }),
		edge(func(e *GraphEdge) { e.Complete, e.Declared = false, true }),
		edge(func(e *GraphEdge) { e.To = "b" }),
		edge(func(e *GraphEdge) { e.Tool = "u" }),
		edge(func(e *GraphEdge) { e.Kind = "zeta" }),
		edge(func(e *GraphEdge) { e.From = "b" }),
	}
	for i := range want {
		for j := range want {
			got := compareEdges(&want[i], &want[j])
			if (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("edge %d against edge %d is %d", i, j, got)
			}
		}
	}
}
