package decision_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/patch"
	"plimsoll.dev/internal/verify/tool"
)

const shop = `version: "0.1"
project: {name: shop}
agent: {name: clerk, declared_purpose: [look up and reorder stock]}
environment: {target: staging}
tool_sources:
  - {id: kit, type: mcp, path: kit.json}
  - {id: spare, type: mcp, path: spare.json}
  - {id: bot, type: openai_agents_sdk, path: bot.py}
`

const owned = shop + `agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [x], handoffs: [], reason: reviewed}
`

// seen is one tool of the list kit as its reader gives it.
func seen(name string, edits ...func(*tool.Tool)) tool.Tool {
	t := tool.Tool{
		Name: name, Confidence: tool.High, Annotations: map[string]any{}, Input: map[string]any{"type": "object"},
		Origin: tool.Origin{Type: "mcp", SourceID: "kit", Ref: "kit.json", Path: "kit.json", Pointer: "/tools/0"},
		Auth:   tool.Auth{Type: "oauth2", Scopes: []string{"stock:read"}},
	}
	for _, e := range edits {
		e(&t)
	}
	return t
}

func hint(key string, value any) func(*tool.Tool) {
	return func(t *tool.Tool) { t.Annotations[key] = value }
}

func acts(a tool.Auth) func(*tool.Tool) { return func(t *tool.Tool) { t.Auth = a } }

func from(source string) func(*tool.Tool) {
	return func(t *tool.Tool) {
		t.Origin.SourceID, t.Origin.Ref, t.Origin.Path = source, source+".json", source+".json"
	}
}

func agents(edges ...tool.Edge) *tool.Reading {
	at := tool.Origin{Type: "openai_agents_sdk", SourceID: "bot", Ref: "bot.py", Path: "bot.py", Location: "bot.py:3"}
	r := &tool.Reading{Agents: []tool.Agent{{Name: "clerk", Origin: at}}}
	for _, e := range edges {
		e.Agent, e.Origin = "clerk", at
		r.Edges = append(r.Edges, e)
	}
	return r
}

func with(r *tool.Reading, tools ...tool.Tool) *tool.Reading {
	r.Tools = append(r.Tools, tools...)
	return r
}

// A gap that its own answer does not close is a dead end. Here each is answered
// as its template asks, in the order in which the gaps are listed, until none is
// left.
func TestAnsweringWhatAGapAsksClosesIt(t *testing.T) {
	read := hint("readOnlyHint", true)
	for _, c := range []struct {
		name     string
		manifest string
		reading  *tool.Reading
		answers  map[string]any // by the last part of the key
		steps    int            // the most answers that it may take
		grows    []tool.Tool    // what the inventory lists that an answer adds
	}{
		{
			"a list that cannot be read, of a framework with inventories", shop,
			&tool.Reading{
				Agents: agents().Agents,
				Tools:  []tool.Tool{seen("x", read)},
				Edges:  agents(tool.Edge{Kind: tool.DirectTool, To: "x", ToSource: "kit", Complete: true}).Edges,
				Dynamic: []tool.Dynamic{{
					Framework: "langchain", Kind: "tool_list", Reason: "comprehension", Agent: "clerk", Origin: agents().Agents[0].Origin,
				}},
			},
			map[string]any{"tools": []any{"x", "y"}, "handoffs": []any{}, "tool_inventories": "inventory.json"},
			2,
			[]tool.Tool{seen("y", read, func(t *tool.Tool) {
				t.Origin.Type, t.Origin.SourceID = "langchain_inventory", "langchain:inventory.json"
			})},
		},
		{
			"a list and no agent", shop, &tool.Reading{Tools: []tool.Tool{seen("x", read)}},
			map[string]any{"tools": []any{"x"}, "handoffs": []any{}},
			1, nil,
		},
		{
			"an agent whose tools nothing shows", shop, with(agents(), seen("x", read)),
			map[string]any{"tools": []any{"x"}, "handoffs": []any{}},
			1, nil,
		},
		{
			"a tool of another source", shop, with(agents(tool.Edge{Kind: tool.DirectTool, To: "x", Complete: true}), seen("x", read)),
			map[string]any{"tools": []any{"x"}, "handoffs": []any{}},
			1, nil,
		},
		{
			"a list that was not read in full", shop,
			with(agents(tool.Edge{Kind: tool.DirectTool, To: "x", ToSource: "kit"}), seen("x", read)),
			map[string]any{"tools": []any{"x"}, "handoffs": []any{}},
			1, nil,
		},
		{
			"a declaration that is not what the code shows", strings.Replace(owned, "[x]", "[y]", 1),
			with(agents(tool.Edge{Kind: tool.DirectTool, To: "x", ToSource: "kit", Complete: true}), seen("x", read), seen("y", read)),
			map[string]any{"tools": []any{"x"}, "handoffs": []any{}},
			1, nil,
		},
		{
			"nothing says what it does", owned, &tool.Reading{Tools: []tool.Tool{seen("x")}},
			map[string]any{"effect": "write"},
			1, nil,
		},
		{
			"only words say what it does", owned, &tool.Reading{Tools: []tool.Tool{seen("remove_x")}},
			map[string]any{"effect": "destructive", "tool": "remove_x"},
			2, nil,
		},
		{
			"words beyond what is proven", owned, &tool.Reading{Tools: []tool.Tool{seen("x", read, func(t *tool.Tool) { t.Description = "Shows what to delete." })}},
			map[string]any{"effect": "read"},
			2, nil,
		},
		{
			"a name that is an order, which people say it does", strings.Replace(owned, "[x]", "[wipe_disk]", 1),
			&tool.Reading{Tools: []tool.Tool{seen("wipe_disk", read)}},
			map[string]any{"effect": "destructive"},
			2, nil,
		},
		{
			"a name that is an order, and only reads", strings.Replace(owned, "[x]", "[shop.issueRefund]", 1),
			&tool.Reading{Tools: []tool.Tool{seen("shop.issueRefund", read)}},
			map[string]any{"effect": "read"},
			2, nil,
		},
		{
			"a name that is an order to write", strings.Replace(owned, "[x]", "[create_bin]", 1),
			&tool.Reading{Tools: []tool.Tool{seen("create_bin", read)}},
			map[string]any{"effect": "read"},
			2, nil,
		},
		{
			"evidence that contradicts itself", owned, &tool.Reading{Tools: []tool.Tool{seen("x", read, hint("destructiveHint", true))}},
			map[string]any{"effect": "destructive"},
			1, nil,
		},
		{
			"a declaration below the proof", owned + "action_surface: {actions: [{tool: x, effect: read}]}\n",
			&tool.Reading{Tools: []tool.Tool{seen("x", acts(tool.Auth{Type: "oauth2", Scopes: []string{"stock:write"}}))}},
			map[string]any{"effect": "read"},
			1, nil,
		},
		{
			"an annotation that is no boolean", owned, &tool.Reading{Tools: []tool.Tool{seen("x", hint("readOnlyHint", "yes"))}},
			map[string]any{"effect": "read"},
			1, nil,
		},
		{
			"nothing says what it acts with", owned, &tool.Reading{Tools: []tool.Tool{seen("x", read, acts(tool.Auth{}))}},
			map[string]any{"mode": "scoped", "auth_type": "oauth2", "scopes": []any{"stock:read"}},
			1, nil,
		},
		{
			"a scope without any type", owned, &tool.Reading{Tools: []tool.Tool{seen("x", read, acts(tool.Auth{Scopes: []string{"stock:read"}}))}},
			map[string]any{"mode": "scoped", "auth_type": "oauth2", "scopes": []any{"stock:read"}},
			1, nil,
		},
		{
			"ways to act that differ", owned, &tool.Reading{Tools: []tool.Tool{seen("x", read, acts(tool.Auth{Type: "apiKey", Scopes: []string{"stock:read"}, Differ: true}))}},
			map[string]any{"mode": "scoped", "auth_type": "oauth2", "scopes": []any{"stock:read"}},
			1, nil,
		},
		{
			"a declaration that leaves a scope out", owned + "action_surface: {actions: [{tool: x, scopes: [other], authority: {mode: scoped, auth_type: oauth2}}]}\n",
			&tool.Reading{Tools: []tool.Tool{seen("x", read)}},
			map[string]any{"mode": "scoped", "auth_type": "oauth2", "scopes": []any{"stock:read"}},
			1, nil,
		},
		{
			"a policy for a tool that there is not", owned + "policies: {require_approval_for_tools: [xx]}\n", &tool.Reading{Tools: []tool.Tool{seen("x", read)}},
			map[string]any{"tool": "x"},
			1, nil,
		},
		{
			"a policy for two tools", owned[:strings.Index(owned, "agent_bindings")] + `agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [{tool: x, source_id: kit}, {tool: x, source_id: spare}], handoffs: [], reason: reviewed}
policies: {require_approval_for_tools: [x]}
`, &tool.Reading{Tools: []tool.Tool{seen("x", read), seen("x", read, from("spare"))}},
			map[string]any{"source_id": "kit"},
			1, nil,
		},
		{
			"a binding that names a tool which is not there", owned + `tool_identity:
  bindings:
    - {id: b, provider: p, reason: r, primary: {source_id: kit, tool: x}, members: [{source_id: kit, tool: x}, {source_id: spare, tool: z}]}
`, &tool.Reading{Tools: []tool.Tool{seen("x", read), seen("y", read, from("spare"))}},
			map[string]any{"source_id": "spare", "tool": "y"},
			1, nil,
		},
		{
			"an override that clears two tools", owned[:strings.Index(owned, "agent_bindings")] + `agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [{tool: x, source_id: kit}, {tool: x, source_id: spare}], handoffs: [], reason: reviewed}
risk_overrides: {tools: {x: {tags: [read_only], reason: a lookup}}}
`, &tool.Reading{Tools: []tool.Tool{seen("x", read), seen("x", read, from("spare"))}},
			map[string]any{"effect": "read"},
			2, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.manifest
			for step := 0; ; step++ {
				m, err := manifest.Load([]byte(text), manifest.Options{Name: "shipgate.yaml"})
				if err != nil {
					t.Fatalf("after %d answers the manifest is refused: %v\n%s", step, err, text)
				}
				r := *c.reading
				if m.LangChain != nil {
					r.Tools = append(slices.Clone(r.Tools), c.grows...)
				}
				s, err := effect.Resolve(m, &r)
				if err != nil {
					t.Fatalf("after %d answers: %v\n%s", step, err, text)
				}
				subject := &check.Subject{Surface: s, Diff: &delta.Actions{}, Today: "2026-06-01"}
				gaps := decision.Gaps(decision.Input{Head: s, PolicyGaps: check.PolicyGaps(subject)})
				if len(gaps) == 0 {
					if step == 0 {
						t.Fatal("there is no gap to close")
					}
					return
				}
				if step == c.steps {
					t.Fatalf("after %d answers there is still %s of %s: %s\n%s", step, gaps[0].Kind, gaps[0].Subject, gaps[0].Why, text)
				}
				text = answer(t, text, gaps[0], c.answers)
			}
		})
	}
}

// Where only the source can say it, the gap points there and offers no key: one
// that is filled in and changes nothing is worse than none.
func TestWhatOnlyTheSourceCanSayIsAskedThere(t *testing.T) {
	loose := agents()
	loose.Tools = []tool.Tool{seen("x", hint("readOnlyHint", true))}
	loose.Dynamic = []tool.Dynamic{{Framework: "openai_agents_sdk", Kind: "tool_list", Reason: "runtime_call", Agent: "clerk", Origin: loose.Agents[0].Origin}}
	for _, c := range []struct {
		name, kind, path string
		reading          *tool.Reading
	}{
		{"a list of a framework without inventories", "partial_binding_evidence", "bot.py", loose},
		{
			"an annotation that is no list", "invalid_binding_annotation", "kit.json",
			&tool.Reading{Tools: []tool.Tool{seen("x", hint("readOnlyHint", true), hint("agent_bindings", 7))}},
		},
		{
			"an annotation that names nobody", "unresolved_agent_binding", "kit.json",
			with(agents(), seen("x", hint("readOnlyHint", true), hint("agent_bindings", []any{"nobody"}))),
		},
		{
			"credentials that are none and some", "conflicting_authority_evidence", "kit.json",
			&tool.Reading{Tools: []tool.Tool{seen("x", hint("readOnlyHint", true), acts(tool.Auth{Type: "none", Scopes: []string{"a"}}))}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := manifest.Load([]byte(owned), manifest.Options{Name: "shipgate.yaml"})
			if err != nil {
				t.Fatal(err)
			}
			s, err := effect.Resolve(m, c.reading)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, g := range decision.Gaps(decision.Input{Head: s}) {
				if g.Kind != c.kind {
					continue
				}
				found = true
				if g.Next.Template != nil || g.Next.Path != c.path || !strings.Contains(g.Next.Expects, c.path) {
					t.Errorf("asks %s: %q, template %v", g.Next.Path, g.Next.Expects, g.Next.Template)
				}
			}
			if !found {
				t.Errorf("no gap of kind %s: %v", c.kind, s.Graph.Issues)
			}
		})
	}
}

// answer fills the template of a gap in and applies it.
func answer(t *testing.T, text string, g decision.Gap, answers map[string]any) string {
	t.Helper()
	if g.Next.Template == nil {
		t.Fatalf("%s of %s asks for no key: %s", g.Kind, g.Subject, g.Next.Expects)
	}
	key := g.Next.Template.Key
	value, _ := answers[key[strings.LastIndexByte(key, '.')+1:]].(string)
	var edits []patch.Edit
	for _, e := range g.Next.Template.EditsFor(value) {
		last := e.Pointer[strings.LastIndexByte(e.Pointer, '/')+1:]
		if strings.Trim(last, "0123456789") == "" {
			last = key
		}
		raw, err := json.Marshal(reply(e.Value, last, answers))
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(raw, &plain); err != nil {
			t.Fatal(err)
		}
		edits = append(edits, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: plain})
	}
	out, failed := patch.Apply([]byte(text), patch.YAML, edits...)
	if failed != nil {
		t.Fatalf("%v\n%+v\n%s", failed, edits, text)
	}
	return string(out)
}

// reply answers every question of a value; at is the key that the value has.
func reply(value any, at string, answers map[string]any) any {
	switch v := value.(type) {
	case canonical.Object:
		out := canonical.Object{}
		for _, m := range v {
			out = append(out, canonical.Member{Key: m.Key, Value: reply(m.Value, m.Key, answers)})
		}
		return out
	case []any:
		if said, ok := answers[at].([]any); ok {
			return said
		}
		out := []any{}
		for _, item := range v {
			out = append(out, reply(item, at, answers))
		}
		return out
	case string:
		if v != manifest.Review {
			return v
		}
		if said, ok := answers[at]; ok {
			return said
		}
		if at == "complete" {
			return true
		}
		return "an answer"
	}
	return value
}
