package effect_test

import (
	"testing"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// An edge that names another source is followed there, and only there.
func TestAnEdgeMayLeadIntoAnotherSource(t *testing.T) {
	from := func(id string) tool.Origin { return tool.Origin{Type: "n8n_ai_tool", SourceID: id, Ref: id, Path: id} }
	reading := func(target string) *tool.Reading {
		return &tool.Reading{
			Tools: []tool.Tool{
				{Name: "pay", Origin: from("b"), Confidence: tool.High}, {Name: "pay", Origin: from("c"), Confidence: tool.High},
			},
			Agents: []tool.Agent{{Name: "Desk", Origin: from("a")}, {Name: "Agent", Origin: from("b")}, {Name: "Agent", Origin: from("c")}},
			Edges: []tool.Edge{
				{Kind: tool.Subagent, Agent: "Desk", To: "Agent", ToSource: target, Complete: true, Origin: from("a")},
				{Kind: tool.Toolset, Agent: "Agent", To: "pay", Complete: true, Origin: from("b")},
				{Kind: tool.Subagent, Agent: "Desk", To: "Agent", ToSource: "c", Complete: true, Origin: from("a")},
				{Kind: tool.Toolset, Agent: "Desk", To: "pay", ToSource: "c", Complete: true, Origin: from("a")},
			},
		}
	}
	for target, want := range map[string]int{"b": 2, "": 1} {
		s, err := effect.Resolve(&manifest.Manifest{Agent: manifest.Agent{SDK: manifest.SDK{Object: "Desk"}}}, reading(target))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Actions) != want {
			t.Errorf("through %q: %d tools are reached, want %d; issues %+v", target, len(s.Actions), want, s.Graph.Issues)
		}
		if unresolved := target == ""; unresolved == (len(s.Graph.Issues) == 0) {
			t.Errorf("through %q: issues are %+v", target, s.Graph.Issues)
		}
	}
}
