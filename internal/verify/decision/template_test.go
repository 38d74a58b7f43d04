package decision_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/patch"
	"plimsoll.dev/internal/verify/tool"
)

const bare = `version: "0.1"
project: {name: stock}
agent:
  name: clerk
  declared_purpose: [look up and reorder stock]
  sdk: {type: openai_agents, object: clark}
environment: {target: staging}
tool_sources:
  - {id: stock_mcp, type: mcp, path: tools.json}
  - {id: old_mcp, type: mcp, path: old.json, optional: true}
`

const declared = bare + `agent_bindings:
  declarations:
    - agent: root
      complete: true
      tools: [place_order]
      handoffs: [packer]
      reason: reviewed
action_surface:
  actions:
    - {tool: get_stock, effect: read}
    - tool: place_order
      risk_tags: [financial_write]
tool_identity:
  bindings:
    - id: order
      provider: shop
      reason: the same call
      primary: {source_id: stock_mcp, tool: place_order}
      members: [{source_id: stock_mcp, tool: place_order}, {source_id: old_mcp, tool: order}]
policies:
  require_approval_for_tools: [place_ordr, {tool: twin, reason: money}]
`

// kinds is the 29 kinds of the schema, with what each may ask for.
var kinds = map[string]string{
	"missing_binding_evidence": "declare_agent_bindings", "partial_binding_evidence": "provide_complete_binding_graph",
	"conflicting_binding_evidence": "resolve_binding_conflict", "ambiguous_root_agent": "declare_agent_root",
	"unresolved_agent_binding": "declare_agent_bindings", "unresolved_bound_tool": "provide_static_binding_source",
	"incomplete_handoff_graph": "provide_complete_binding_graph", "invalid_binding_annotation": "resolve_binding_conflict",
	"incomplete_surface": "provide_complete_inventory", "missing_effect_evidence": "declare_action_effect",
	"inferred_effect_only": "declare_action_effect", "conflicting_effect_evidence": "resolve_semantic_conflict",
	"missing_authority_evidence": "declare_action_authority", "partial_authority_evidence": "declare_action_authority",
	"conflicting_authority_evidence": "resolve_semantic_conflict", "invalid_semantic_annotation": "declare_action_effect",
	"invalid_evidence_provenance": "regenerate_binding_artifact", "incomplete_tool_identity": "declare_source_identity",
	"conflicting_tool_identity": "resolve_tool_identity_conflict", "unresolved_tool_selector": "qualify_tool_selector",
	"ambiguous_tool_selector": "qualify_tool_selector", "ambiguous_legacy_tool_identity": "regenerate_identity_artifact",
	"invalid_tool_binding": "provide_tool_binding", "inferred_policy_applicability": "provide_policy_evidence",
	"mixed_policy_evidence": "review_policy_evidence", "unknown_policy_evidence": "provide_policy_evidence",
	"conflicting_policy_evidence": "resolve_policy_evidence_conflict",
	"low_confidence_tool":         "declare_tool_inventory", "source_warning": "provide_source",
}

// paths is where in the declared manifest an issue of a kind may have its
// cause; "" is nowhere.
var paths = map[string][]string{
	"unresolved_tool_selector":       {"", "policies/require_approval_for_tools/0", "policies/require_approval_for_tools/1", "action_surface/actions/1"},
	"ambiguous_tool_selector":        {"policies/require_approval_for_tools/0", "policies/require_approval_for_tools/1", "action_surface/actions/1"},
	"ambiguous_legacy_tool_identity": {"", "policies/require_approval_for_tools/1"},
	"conflicting_binding_evidence":   {"", "agent_bindings/declarations/0"},
	"unresolved_agent_binding":       {"", "agent_bindings/declarations/0/agent"},
	"incomplete_handoff_graph":       {"", "agent_bindings/declarations/0/handoffs/0"},
	"unresolved_bound_tool":          {"", "agent_bindings/declarations/0/tools/0"},
	"ambiguous_root_agent":           {"", "agent/sdk/object"},
	"invalid_tool_binding":           {"", "tool_identity/bindings/0"},
	"conflicting_tool_identity":      {"", "tool_identity/bindings/0"},
	"conflicting_effect_evidence":    {"", "action_surface/actions/1/effect"},
}

// gapOf is the one gap that an issue of this kind makes on a side with this
// manifest.
func gapOf(t *testing.T, text, kind, path string) decision.Gap {
	t.Helper()
	m, err := manifest.Load([]byte(text), manifest.Options{})
	if err != nil {
		t.Fatalf("the manifest of the test: %v", err)
	}
	twin := checktest.Tool("twin", checktest.From("mcp", "old_mcp"))
	twin.ID = "tool_v2_twin_2"
	of := "mcp"
	if kind == "incomplete_surface" || kind == "low_confidence_tool" {
		of = "sdk_function" // a tool of a list is completed in the list
	}
	s := checktest.Surface(m, checktest.Tool("place_order", checktest.From(of, "stock_mcp")), checktest.Tool("twin"), twin)
	s.Graph.Nodes = append(s.Graph.Nodes, effect.Node{ID: "agent_v1:2", Name: "packer"})
	for i := range m.Surface.Actions {
		if a := &m.Surface.Actions[i]; a.Selector.Tool == "place_order" {
			checktest.Act(t, s, "place_order").Declared = a
		}
	}
	issue := effect.Issue{Kind: kind, Subject: "place_order", ToolID: "tool_v2_place_order", SourceType: "mcp", SourceRef: "tools.json", Why: "It is so."}
	if path != "" {
		issue.Path = strings.Split(path, "/")
	}
	if kind == "ambiguous_tool_selector" || kind == "ambiguous_legacy_tool_identity" {
		issue.Subject, issue.ToolID, issue.Candidates = "twin", "tool_v2_twin", []string{"old_mcp", "stock_mcp"}
	}
	if kind == "partial_authority_evidence" {
		issue.Key = "tool_sources[].authority"
	}
	if kind == "partial_binding_evidence" {
		s.Graph.Edges = []effect.GraphEdge{{Kind: tool.DirectTool, From: "agent_v1:2", Tool: issue.ToolID}}
	}
	in := decision.Input{Head: s, ConfigPath: "svc/shipgate.yaml"}
	switch kind {
	case "source_warning":
		s.Reading.Sources = append(s.Reading.Sources, tool.Source{ID: "old_mcp", Type: "mcp", Path: "old.json", State: tool.Missing})
	case "low_confidence_tool":
		for _, at := range s.Catalog {
			at.Confidence = tool.Low
			if at.Name == "twin" {
				s.Reach[at.ID] = effect.Unbound
			}
		}
	default:
		s.Graph.Issues = append(s.Graph.Issues, issue)
	}
	for _, g := range decision.Gaps(in) {
		if g.Kind == kind {
			return g
		}
	}
	t.Fatalf("no gap of kind %s", kind)
	return decision.Gap{}
}

func TestEveryGapAsksForOneKeyAndItsAnswerLoads(t *testing.T) {
	if len(kinds) != 29 {
		t.Fatalf("%d kinds, want 29", len(kinds))
	}
	for kind, action := range kinds {
		for _, text := range []string{bare, declared} {
			at := []string{""}
			if text == declared && paths[kind] != nil {
				at = paths[kind]
			}
			for _, path := range at {
				name := kind + "/bare"
				if text == declared {
					name = kind + "/declared " + path
				}
				t.Run(name, func(t *testing.T) {
					g := gapOf(t, text, kind, path)
					n := g.Next
					if n.Kind != action {
						t.Errorf("asks to %s, want %s", n.Kind, action)
					}
					if n.Path != "svc/shipgate.yaml" || n.Command != nil || !n.Human || n.Auto || n.PatchKind != check.Manual {
						t.Errorf("a gap is for a person and in the manifest: %+v", n)
					}
					lines := strings.Count(text, "\n")
					line := n.Template.Edits[0].Line
					if line < 1 || line > lines {
						t.Errorf("line %d of %d", line, lines)
					}
					if !strings.Contains(n.Expects, fmt.Sprintf("line %d", line)) || !strings.HasPrefix(n.Expects, "key ") {
						t.Errorf("expects names no key and line: %q", n.Expects)
					}
					answered(t, text, n)
				})
			}
		}
	}
}

// answered fails unless the template is refused as it is, and loads with each
// accepted value filled in.
func answered(t *testing.T, text string, n decision.Next) {
	t.Helper()
	load := func(edits []decision.Edit) error {
		_, err := manifest.Load(applied(t, text, edits), manifest.Options{})
		return err
	}
	err := load(n.Template.Edits)
	if err == nil || !strings.Contains(err.Error(), manifest.Review) {
		t.Errorf("unanswered, the manifest is not refused for it: %v", err)
	}
	accepted := n.Accepted
	if len(accepted) == 0 {
		accepted = []string{"some/answer.json"}
	}
	for _, v := range accepted {
		if err := load(filled(n.Template.EditsFor(v), n.Template.Key, v)); err != nil {
			t.Errorf("answered with %q: %v", v, err)
		}
	}
	for _, v := range n.Template.Variants {
		if !slices.Contains(n.Accepted, v.When) {
			t.Errorf("a variant for %q, which is not accepted", v.When)
		}
	}
}

// filled answers a template: v for its key, something for every other question.
func filled(edits []decision.Edit, key, v string) []decision.Edit {
	out := slices.Clone(edits)
	for i := range out {
		out[i].Value = fill(out[i].Value, out[i].Pointer[strings.LastIndexByte(out[i].Pointer, '/')+1:], key[strings.LastIndexByte(key, '.')+1:], v)
	}
	return out
}

func fill(value any, at, key, v string) any {
	switch value := value.(type) {
	case canonical.Object:
		out := slices.Clone(value)
		for i := range out {
			out[i].Value = fill(out[i].Value, out[i].Key, key, v)
		}
		return out
	case []any:
		if at == "handoffs" && key != "handoffs" {
			return []any{}
		}
		out := slices.Clone(value)
		for i := range out {
			out[i] = fill(out[i], at, key, v)
		}
		return out
	case string:
		if value != manifest.Review {
			return value
		}
		_, index := strconv.Atoi(at)
		switch {
		case at == key, index == nil && key == "tool":
			return v
		case at == "complete":
			return true
		case at == "type":
			return "mcp"
		}
		return "answer of a person"
	}
	return value
}

// applied is the manifest with the edits, made by the editor that applies
// patches: what is ready is ready for it.
func applied(t *testing.T, text string, edits []decision.Edit) []byte {
	t.Helper()
	var made []patch.Edit
	for _, e := range edits {
		raw, err := json.Marshal(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			t.Fatal(err)
		}
		made = append(made, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: value})
	}
	out, failed := patch.Apply([]byte(text), patch.YAML, made...)
	if failed != nil {
		t.Fatalf("%v\n%+v", failed, edits)
	}
	return out
}
