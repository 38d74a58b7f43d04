package effect_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// code is an origin in the code of the bot.
func code(line int) tool.Origin {
	return tool.Origin{
		Type: "openai_agents_sdk", SourceID: "bot", Ref: "bot.py", Path: "bot.py",
		Start: source.Position{Line: line, Column: 1}, Location: "bot.py",
	}
}

// drawn is a reading of code: agents by name, and edges as "agent -> tool",
// "agent => agent", each with "?" at the end where its list was not read in full.
func drawn(agents string, edges ...string) *tool.Reading {
	r := &tool.Reading{}
	for i, name := range strings.Fields(agents) {
		r.Agents = append(r.Agents, tool.Agent{Name: name, Origin: code(i + 1)})
	}
	seen := map[string]bool{}
	for i, e := range edges {
		text, complete := strings.CutSuffix(e, "?")
		kind := tool.DirectTool
		from, to, ok := strings.Cut(text, " -> ")
		if !ok {
			kind = tool.Handoff
			from, to, _ = strings.Cut(text, " => ")
		}
		r.Edges = append(r.Edges, tool.Edge{Kind: kind, Agent: from, To: to, Complete: !complete, Origin: code(100 + i)})
		if kind == tool.DirectTool && !seen[to] && !strings.HasPrefix(to, "no_") {
			seen[to] = true
			r.Tools = append(r.Tools, function(to, note("readOnlyHint", true)))
		}
	}
	return r
}

func declaring(rows ...string) string {
	text := header + "agent_bindings:\n"
	var declarations []string
	for _, row := range rows {
		if root, ok := strings.CutPrefix(row, "root "); ok {
			text += "  root: " + root + "\n"
			continue
		}
		agent, rest, _ := strings.Cut(row, ": ")
		set, handoffs, _ := strings.Cut(rest, " => ")
		declarations = append(declarations, "    - {agent: "+agent+", complete: true, reason: reviewed, tools: ["+set+"], handoffs: ["+handoffs+"]}")
	}
	if len(declarations) > 0 {
		text += "  declarations:\n" + strings.Join(declarations, "\n") + "\n"
	}
	return text
}

func rootName(s *effect.Surface) string {
	for _, n := range s.Graph.Nodes {
		if n.ID == s.Graph.Root {
			return n.Name
		}
	}
	return ""
}

// reached are the reachable tools, and those that are only possible with "?".
func reached(s *effect.Surface) string {
	var list []string
	for _, c := range s.Catalog {
		switch s.Reach[c.ID] {
		case effect.Reachable:
			list = append(list, c.Name)
		case effect.Possible:
			list = append(list, c.Name+"?")
		}
	}
	return strings.Join(list, " ")
}

func TestWhoMayCallWhat(t *testing.T) {
	withSDK := func(object string) string {
		return strings.Replace(header, "agent: {name: stock-assistant,", "agent: {name: stock-assistant, sdk: {object: "+object+"},", 1)
	}
	for _, c := range []struct {
		name     string
		manifest string
		reading  *tool.Reading
		root     string
		reached  string
		status   string
		issues   string
	}{
		// The root (§6.4, five rules in their order).
		{"the only agent", header, drawn("bot", "bot -> get"), "bot", "get", "structural", ""},
		{"the one that nobody hands over to", header, drawn("desk bot", "bot => desk", "desk -> get"), "bot", "get", "structural", ""},
		{"two agents", header, drawn("desk bot", "desk -> get"), "", "", "unknown", effect.AmbiguousRoot},
		{"two agents that hand over to each other", header, drawn("a b", "a => b", "b => a"), "", "", "unknown", effect.AmbiguousRoot},
		{"an agent that hands over to itself", header, drawn("a", "a => a", "a -> get"), "a", "get", "structural", ""},
		{"sdk.object", withSDK("desk"), drawn("desk bot", "desk -> get", "bot -> put"), "desk", "get", "structural", ""},
		{"sdk.object that no source shows", withSDK("clerk"), drawn("desk bot", "desk -> get"), "", "", "unknown", effect.AmbiguousRoot},
		{
			"agent_bindings.root before sdk.object", strings.Replace(declaring("root {object: bot, source_id: bot}"), "stock-assistant,", "stock-assistant, sdk: {object: desk},", 1),
			drawn("desk bot", "desk -> get", "bot -> put"), "bot", "put", "structural", "",
		},
		{"agent_bindings.root that fits nothing", declaring("root {object: clerk}"), drawn("desk bot", "desk -> get"), "", "", "unknown", effect.AmbiguousRoot},
		{"agent_bindings.root in a source without it", declaring("root {object: bot, source_id: kit}"), drawn("bot", "bot -> get"), "", "", "unknown", effect.AmbiguousRoot},
		{"one declaration is about the root", declaring("desk: get"), drawn("desk bot", "desk -> get"), "desk", "get", "declared", ""},
		{"root means the only agent", declaring("root: get"), drawn("bot", "bot -> get"), "bot", "get", "declared", ""},
		{"root means an agent of its own where there are several", declaring("root: get"), drawn("desk bot", "desk -> get"), "root", "get", "declared", ""},
		{"root means the selected root", declaring("root {object: desk}", "root: get"), drawn("desk bot", "desk -> get"), "desk", "get", "declared", ""},
		{"a declaration about nobody", declaring("clerk: get"), drawn("desk", "desk -> get"), "", "", "partial", effect.UnresolvedAgent},

		// No agent in any source.
		{"tools and no agent", header, reading(listed("get")), "", "", "unknown", effect.AmbiguousRoot},
		{"a declaration brings its agent", declaring("root: get"), reading(listed("get"), listed("put")), "root", "get", "declared", ""},
		{"or an agent by name", declaring("clerk: get"), reading(listed("get"), listed("put")), "clerk", "get", "declared", ""},
		{"declared agents hand over", declaring("root: get => clerk", "clerk: put"), reading(listed("get"), listed("put")), "root", "get put", "declared", ""},
		{"a root by name that only the manifest knows", declaring("root {object: bot}"), reading(listed("get")), "bot", "", "unknown", effect.MissingBinding},
		{"with its declaration", declaring("root {object: bot}", "root: get"), reading(listed("get")), "bot", "get", "declared", ""},
		{"whole sources", bound, reading(listed("get"), listed("put", in("spare"))), "root", "get put", "declared", ""},
		{"nothing at all", header, reading(), "", "", "structural", ""},

		// Reachability.
		{"over two handoffs", header, drawn("a b c", "a => b", "b => c", "c -> get"), "a", "get", "structural", ""},
		{"not over a missing one", declaring("root {object: a}"), drawn("a b", "a -> get", "b -> put"), "a", "get", "structural", ""},
		{"a list that was not read in full", header, drawn("a", "a -> get?", "a -> put"), "a", "get? put", "partial", effect.PartialBinding},
		{
			"a handoff list that was not read in full", header, drawn("a b", "a => b?", "b -> get"), "a", "get?", "partial",
			effect.IncompleteHandoffs + " " + effect.PartialBinding,
		},
		{"both ways: the complete one holds", header, drawn("a b", "a => b", "a -> get?", "b -> get"), "a", "get", "structural", ""},
		{"an incomplete list of an agent that is not reached", declaring("root {object: a}"), drawn("a b", "a -> get", "b -> put?"), "a", "get", "structural", ""},
		{"a tool that no source lists", header, drawn("a", "a -> no_such"), "a", "", "partial", effect.UnresolvedBoundTool},
		{"a handoff to nobody", header, drawn("a", "a => ghost", "a -> get"), "a", "get", "partial", effect.IncompleteHandoffs},
		{"an agent without tools, and tools", header, mixed(drawn("a"), listed("get")), "a", "", "unknown", effect.MissingBinding},
		{"an agent with tools, and others", header, mixed(drawn("a", "a -> get"), listed("put")), "a", "get", "structural", ""},

		// Declarations against what the source shows.
		{"a declaration that agrees", declaring("a: get, put"), drawn("a", "a -> get", "a -> put"), "a", "get put", "declared", ""},
		{"one that lists less", declaring("a: get"), drawn("a", "a -> get", "a -> put"), "a", "get put", "conflicting", effect.ConflictingBinding},
		{"one that lists more", declaring("a: get, put"), mixed(drawn("a", "a -> get"), listed("put")), "a", "get put", "conflicting", effect.ConflictingBinding},
		{"one that lists more than an incomplete list", declaring("a: get, put"), mixed(drawn("a", "a -> get?"), listed("put")), "a", "get put", "declared", ""},
		{"one that denies what an incomplete list names", declaring("a: put"), mixed(drawn("a", "a -> get?"), listed("put")), "a", "get? put", "conflicting", effect.ConflictingBinding + " " + effect.PartialBinding},
		{"one that denies a handoff", declaring("a: get"), drawn("a b", "a -> get", "a => b"), "a", "get", "conflicting", effect.ConflictingBinding},
		{"one that agrees on handoffs", declaring("a: get => b"), drawn("a b", "a -> get", "a => b"), "a", "get", "declared", ""},
		{"one about an agent that shows nothing", declaring("a: get"), mixed(drawn("a"), listed("get")), "a", "get", "declared", ""},
		{"one that names a tool of another source", declaring("a: no_such"), mixed(drawn("a", "a -> no_such"), listed("no_such")), "a", "no_such", "declared", ""},
		{"one that names no tool", declaring("a: get, nope"), drawn("a", "a -> get"), "a", "get", "partial", effect.UnresolvedBoundTool},
		{"one that names an agent that there is not", declaring("a: get => nobody"), drawn("a", "a -> get"), "a", "get", "partial", effect.IncompleteHandoffs},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := resolve(t, c.manifest, c.reading)
			same(t, "root", rootName(s), c.root)
			same(t, "reached", reached(s), c.reached)
			same(t, "issues", kinds(s.Graph.Issues), c.issues)
			same(t, "status", s.Graph.Status, c.status)
			if want := c.issues == "" && c.status != "unknown"; s.Graph.Eligible != want {
				t.Errorf("eligible %t with %v", s.Graph.Eligible, s.Graph.Issues)
			}
			for _, i := range s.Graph.Issues {
				if i.Subject == "" || i.Why == "" || (i.Key == "") != i.InSource {
					t.Errorf("an issue without a subject, a reason or the key that settles it: %+v", i)
				}
			}
		})
	}
}

func mixed(r *tool.Reading, tools ...tool.Tool) *tool.Reading {
	r.Tools = append(r.Tools, tools...)
	return r
}

func TestAnIssueOfTheRootNamesTheAgents(t *testing.T) {
	s := resolve(t, header, drawn("desk bot", "desk -> get"))
	same(t, "candidates", strings.Join(s.Graph.Issues[0].Candidates, " "), "bot desk")
	same(t, "key", s.Graph.Issues[0].Key, "agent_bindings.root.object")
	s = resolve(t, header, reading(listed("get"), listed("put")))
	same(t, "candidates without any agent", strings.Join(s.Graph.Issues[0].Candidates, " "), "get put")
	same(t, "key without any agent", s.Graph.Issues[0].Key, "agent_bindings.declarations")
}

func TestOneMissingToolIsOneIssueHoweverOftenItIsNamed(t *testing.T) {
	s := resolve(t, header, drawn("a", "a -> no_such", "a -> no_such", "a -> no_other"))
	if len(s.Graph.Issues) != 2 || s.Graph.Issues[1].At.Start.Line != 100 {
		t.Errorf("%+v", s.Graph.Issues)
	}
}

func TestOneNameInTwoSourcesIsTwoAgents(t *testing.T) {
	r := drawn("bot", "bot -> get")
	r.Agents = append(r.Agents, tool.Agent{Name: "bot", Origin: tool.Origin{Type: "n8n", SourceID: "flow", Ref: "flow.json"}})
	s := resolve(t, declaring("root {object: bot}"), r)
	if len(s.Graph.Nodes) != 2 || kinds(s.Graph.Issues) != effect.AmbiguousRoot {
		t.Errorf("%v %v", s.Graph.Nodes, s.Graph.Issues)
	}
	s = resolve(t, declaring("root {object: bot, source_id: bot}"), r)
	same(t, "qualified", reached(s), "get")
}

func TestNodeIdsAreShortDigests(t *testing.T) {
	s := resolve(t, header, drawn("bot", "bot -> get"))
	same(t, "in a source", s.Graph.Root, "agent_v1:"+digest(`{"name":"bot","source_id":"bot","source_ref":null}`)[:24])
	s = resolve(t, declaring("root: get"), reading(listed("get")))
	same(t, "in the manifest", s.Graph.Root, "agent_v1:"+digest(`{"name":"root","source_id":null,"source_ref":"manifest"}`)[:24])
}

func TestListsThatCannotBeReadKeepTheGraphPartial(t *testing.T) {
	dynamic := func(text string, lists []tool.Dynamic, more []tool.Tool) *effect.Surface {
		r := mixed(drawn("a", "a -> get"), more...)
		for _, d := range lists {
			d.Origin = code(50)
			r.Dynamic = append(r.Dynamic, d)
		}
		return resolve(t, text, r)
	}
	list := tool.Dynamic{Framework: "langchain", Kind: "tool_list", Reason: "comprehension", Agent: "a"}
	loose := tool.Dynamic{Framework: "mcp_server", Kind: "toolset", Reason: "runtime_call"}
	inventory := made("langchain_inventory", "spare", "put")
	for _, c := range []struct {
		name, manifest string
		lists          []tool.Dynamic
		more           []tool.Tool
		want, key      string
	}{
		{"of the agent", header, []tool.Dynamic{list}, nil, effect.PartialBinding, "langchain.tool_inventories"},
		{"of nobody", header, []tool.Dynamic{loose}, nil, effect.PartialBinding, "in source"},
		{"one that its reader found an inventory for", header, []tool.Dynamic{{Kind: "toolset", Agent: "a", Resolved: true}}, nil, "", ""},
		{"a schema is no list", header, []tool.Dynamic{{Kind: "schema", Name: "get"}}, nil, "", ""},
		{"a declaration alone was made about other code", declaring("a: get"), []tool.Dynamic{list}, nil, effect.PartialBinding, "langchain.tool_inventories"},
		{"an inventory alone does not say what the agent has of it", header, []tool.Dynamic{list}, []tool.Tool{inventory}, effect.PartialBinding, "agent_bindings.declarations[].tools"},
		{"both do", declaring("a: get, put"), []tool.Dynamic{list}, []tool.Tool{inventory}, "", ""},
		{"an inventory of another framework", declaring("a: get"), []tool.Dynamic{loose}, []tool.Tool{inventory}, effect.PartialBinding, "in source"},
		{"a source that is bound as a whole", bound, []tool.Dynamic{list}, nil, effect.PartialBinding, "langchain.tool_inventories"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := dynamic(c.manifest, c.lists, c.more)
			same(t, "issues", kinds(s.Graph.Issues), c.want)
			for _, i := range s.Graph.Issues {
				key := i.Key
				if i.InSource {
					key = "in source" + key
				}
				same(t, "key", key, c.key)
			}
		})
	}
	server := tool.Dynamic{Framework: "openai_agents_sdk", Kind: "mcp_client", Reason: "runtime_call", Agent: "a", Name: "files"}
	limited := func(text string, kits ...tool.Toolkit) string {
		r := mixed(drawn("a", "a -> get"), listed("put"), listed("drop"))
		server.Origin = code(50)
		r.Dynamic = []tool.Dynamic{server}
		for _, k := range kits {
			k.Origin = code(40)
			r.Toolkit = append(r.Toolkit, k)
		}
		s := resolve(t, text, r)
		if len(s.Graph.Issues) == 0 {
			return ""
		}
		if s.Graph.Issues[0].InSource {
			return "in source"
		}
		return s.Graph.Issues[0].Key
	}
	kit := func(binding string, scopes ...string) tool.Toolkit {
		return tool.Toolkit{Binding: binding, Scopes: scopes, Limited: len(scopes) > 0}
	}
	const key = "agent_bindings.declarations[].tools"
	same(t, "a server with an allow-list that is declared", limited(declaring("a: get, put"), kit("files", "put")), "")
	same(t, "an allow-list that is not declared", limited(declaring("a: get"), kit("files", "put")), key)
	same(t, "one more than is declared", limited(declaring("a: get, put"), kit("files", "put", "drop")), key)
	same(t, "nothing is declared", limited(header, kit("files", "put")), key)
	same(t, "the allow-list of another server", limited(declaring("a: get, put"), kit("mail", "put")), "in source")
	same(t, "one of two servers of that name has none", limited(declaring("a: get, put"), kit("files", "put"), kit("files")), "in source")

	if s := dynamic(header, []tool.Dynamic{list, list, list}, nil); len(s.Graph.Issues) != 1 || !strings.Contains(s.Graph.Issues[0].Why, "3 lists") {
		t.Errorf("one row for all lists of one agent: %v", s.Graph.Issues)
	}
}

func TestAnnotationsBindTools(t *testing.T) {
	for _, c := range []struct {
		name    string
		reading *tool.Reading
		root    string
		reached string
		issues  string
	}{
		{"a list says who holds it", reading(listed("get", note("agent_bindings", []any{"clerk"}))), "clerk", "get", ""},
		{"an agent of the code", mixed(drawn("bot", "bot -> put"), listed("get", note("agent_bindings", []any{"bot"}))), "bot", "get put", ""},
		{"an agent that there is not", mixed(drawn("bot", "bot -> put"), listed("get", note("agent_bindings", []any{"clerk"}))), "bot", "put", effect.UnresolvedAgent},
		{
			"a handoff", reading(listed("get", note("agent_bindings", []any{"a"}), note("agent_handoffs", []any{"b"})), listed("put", note("agent_bindings", []any{"b"}))),
			"a", "get put", "",
		},
		{"a surface that is known in part", reading(listed("get", note("agent_bindings", []any{"a"}), note("binding_surface_partial", []any{"a"}))), "a", "get", effect.PartialBinding},
		{"no list", reading(listed("get", note("agent_bindings", 7))), "", "", effect.AmbiguousRoot + " " + effect.InvalidBindingAnnotation},
		{"no name", reading(listed("get", note("agent_bindings", []any{"a", true}))), "a", "get", effect.InvalidBindingAnnotation},
		{"a handoff from nobody", reading(listed("get", note("agent_handoffs", []any{"a"}))), "", "", effect.AmbiguousRoot + " " + effect.InvalidBindingAnnotation},
		{"an ADK agent", reading(listed("get", note("adk_agent_name", "desk"))), "desk", "get", ""},
		{"a plugin's server", reading(listed("get", note("codex_plugin", "kitbag"), note("codex_plugin_mcp_server", "files"))), "kitbag/files", "get", ""},
		{"a plugin without a server", reading(listed("get", note("codex_plugin", "kitbag"))), "", "", effect.AmbiguousRoot},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := resolve(t, header, c.reading)
			same(t, "root", rootName(s), c.root)
			same(t, "reached", reached(s), c.reached)
			same(t, "issues", kinds(s.Graph.Issues), c.issues)
		})
	}
}

func TestPathsLeadFromTheRoot(t *testing.T) {
	s := resolve(t, header, drawn("a b c", "a => b", "b => c", "a => c", "c -> get", "b -> put"))
	names := func(toolName string) string {
		var list []string
		for _, id := range s.Paths[the(t, s, toolName).ID] {
			n := slices.IndexFunc(s.Graph.Nodes, func(n effect.Node) bool { return n.ID == id })
			list = append(list, s.Graph.Nodes[n].Name)
		}
		return strings.Join(list, " ")
	}
	same(t, "the shortest", names("get"), "a c")
	same(t, "put", names("put"), "a b")
}

// A chain of thousands of agents must neither be walked twice nor be written
// down for each of its tools.
func TestALongChainOfAgentsIsCutInItsPaths(t *testing.T) {
	r := &tool.Reading{}
	name := func(i int) string {
		return "agent" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
	}
	const n = 3000
	for i := range n {
		r.Agents = append(r.Agents, tool.Agent{Name: name(i), Origin: code(i)})
		if i > 0 {
			r.Edges = append(r.Edges, tool.Edge{Kind: tool.Handoff, Agent: name(i - 1), To: name(i), Complete: true, Origin: code(i)})
		}
	}
	r.Tools = []tool.Tool{function("get")}
	r.Edges = append(r.Edges, tool.Edge{Kind: tool.DirectTool, Agent: name(n - 1), To: "get", Complete: true, Origin: code(n)})
	s := resolve(t, header, r)
	path := s.Paths[s.Catalog[0].ID]
	if len(path) != 32 || path[0] != s.Graph.Root {
		t.Errorf("a path of %d agents; reached %q, %v", len(path), reached(s), s.Graph.Issues)
	}
}

func TestAConflictOrAnOpenQuestionKeepsItsToolsFromPassing(t *testing.T) {
	s := resolve(t, declaring("a: get"), drawn("a", "a -> get", "a -> put"))
	if action(t, s, "get").Assessment.BindingEligible {
		t.Error("the declaration of its agent conflicts with the code")
	}
	s = resolve(t, header, drawn("a", "a -> get", "a -> put?"))
	if !action(t, s, "get").Assessment.BindingEligible {
		t.Error("the gap is about another tool")
	}
}
