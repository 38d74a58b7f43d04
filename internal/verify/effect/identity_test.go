package effect_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The ids are a promise to every lock file and baseline: their text is spelt out
// here and never changes.
func TestIdsAreDigestsOfCanonicalJSON(t *testing.T) {
	s := resolve(t, header, reading(
		listed("get_stock"), operation("GET", "/stock/{id}", "stock"), function("größe"),
	))
	for name, locator := range map[string]string{
		"get_stock": `{"native_locator":"get_stock","source_id":"kit","source_type":"mcp"}`,
		"stock":     `{"native_locator":"GET /stock/{id}","source_id":"api","source_type":"openapi"}`,
		"größe":     `{"native_locator":"bot.py#größe","source_id":"bot","source_type":"sdk_function"}`,
	} {
		got := the(t, s, name)
		obs := "obs_v1_" + digest(locator)
		same(t, name, strings.Join(got.Observations, " "), obs)
		same(t, name, got.ID, "tool_v2_"+digest(`{"observation_id":"`+obs+`"}`))
		same(t, name, got.Status, "structural")
		same(t, name, got.Provider, got.Origin.SourceID)
	}
}

func TestToolsThatCannotBeToldApartStopTheReading(t *testing.T) {
	for _, c := range []struct {
		name  string
		tools []tool.Tool
		say   string
	}{
		{"twice in one source", []tool.Tool{listed("get"), listed("get")}, `the tool "get" is there twice`},
		{"one operation twice", []tool.Tool{operation("GET", "/x", "a"), operation("GET", "/x", "b")}, "is there twice"},
		{"no source", []tool.Tool{listed("get", in(" "))}, "a source without an id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := effect.Resolve(load(t, header), reading(c.tools...))
			failed, ok := errors.AsType[*tool.SourceError](err)
			if !ok || failed.Problem != tool.Malformed || !strings.Contains(failed.Detail, c.say) {
				t.Errorf("got %v", err)
			}
		})
	}
	for _, c := range []struct {
		name  string
		tools []tool.Tool
	}{
		{"one name in two sources", []tool.Tool{listed("get"), listed("get", in("spare"))}},
		{"one name of two operations", []tool.Tool{operation("GET", "/x", "a"), operation("PUT", "/x", "a")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s := resolve(t, header, reading(c.tools...)); len(s.Catalog) != 2 {
				t.Errorf("%d tools: observations are never joined by name", len(s.Catalog))
			}
		})
	}
}

func TestAToolOfASourceThatWasNotReadStopsTheReading(t *testing.T) {
	r := reading(listed("get", in("elsewhere")))
	r.Sources = []tool.Source{{ID: "kit", State: tool.Loaded}}
	_, err := effect.Resolve(load(t, header), r)
	if failed, ok := errors.AsType[*tool.SourceError](err); !ok || failed.SourceID != "elsewhere" {
		t.Errorf("got %v", err)
	}
}

const joined = header + `
tool_identity:
  bindings:
    - id: stock-lookup
      provider: depot
      reason: one service behind both
      primary: {source_id: kit, tool: get_stock}
      members: [{source_id: api, tool: stock}, {source_id: kit, tool: get_stock}]
`

func TestABindingJoinsObservations(t *testing.T) {
	s := resolve(t, joined, reading(
		listed("get_stock", auth(tool.Auth{Scopes: []string{"stock:read"}}), note("readOnlyHint", true)),
		operation("GET", "/stock", "stock", saying("Shows the stock."), auth(tool.Auth{Type: "oauth2", Scopes: []string{"stock:list"}}),
			func(t *tool.Tool) { t.Owner = "logistics" }),
	))
	got := the(t, s, "get_stock")
	same(t, "id", got.ID, "tool_v2_"+digest(`{"binding_id":"stock-lookup","provider":"depot"}`))
	same(t, "status", got.Status, "declared")
	same(t, "provider", got.Provider, "depot")
	same(t, "filled", got.Description+"|"+got.Owner+"|"+got.Auth.Type, "Shows the stock.|logistics|oauth2")
	same(t, "scopes are united", strings.Join(got.Auth.Scopes, " "), "stock:list stock:read")
	same(t, "hints are added", hints(got), "read_only/http_method/high read_only/readOnlyHint/high")
	same(t, "issues", kinds(got.Issues), "")
	if len(s.Catalog) != 1 || len(got.Observations) != 2 || got.Members[0].Name != "get_stock" {
		t.Errorf("%d tools, members %v", len(s.Catalog), got.Members)
	}
}

func TestNothingOfThePrimaryIsOverwritten(t *testing.T) {
	s := resolve(t, joined, reading(
		listed("get_stock", saying("From the list."), func(t *tool.Tool) { t.Owner = "a" }),
		operation("GET", "/stock", "stock", saying("From the API."), func(t *tool.Tool) { t.Owner = "b" }),
	))
	got := the(t, s, "get_stock")
	same(t, "kept", got.Description+got.Owner, "From the list.a")
}

// A host's configuration knows that there is a tool, and a list knows what it
// takes: together they know the tool, whichever of them is the primary.
func TestASchemaThatOneMemberKnowsIsKnown(t *testing.T) {
	for _, primary := range []string{"{source_id: kit, tool: get}", "{source_id: spare, tool: files.get}"} {
		text := bound + "tool_identity: {bindings: [{id: b, provider: p, reason: r, primary: " + primary +
			", members: [{source_id: kit, tool: get}, {source_id: spare, tool: files.get}]}]}\n"
		s := resolve(t, text, reading(
			listed("get", note("readOnlyHint", true), takes(tool.Parameter{Name: "path", Type: "string", Required: true})),
			made("codex_config_mcp", "spare", "files.get", note("mcp_unknown_schema", true), note("mcp_approval_mode", "auto"),
				auth(tool.Auth{}), func(t *tool.Tool) { t.Input = nil }),
		))
		a := s.Actions[0]
		if len(s.Actions) != 1 || !a.Assessment.PassEligible || !a.Tool.AutoApproved() || !slices.Contains(a.RequiredInputs, "path") {
			t.Errorf("primary %s: %v, inputs %v", primary, a.Assessment.Issues, a.RequiredInputs)
		}
	}
	both := resolve(t, bound+`tool_identity: {bindings: [{id: b, provider: p, reason: r, primary: {source_id: kit, tool: get},
  members: [{source_id: kit, tool: get}, {source_id: spare, tool: files.get}]}]}
`, reading(
		listed("get", note("mcp_unknown_schema", true)), made("codex_config_mcp", "spare", "files.get", note("mcp_unknown_schema", true)),
	))
	if both.Catalog[0].SchemaKnown() {
		t.Error("nobody knows the schema")
	}
}

func TestMembersThatDifferConflict(t *testing.T) {
	number := func(kind string, required bool) edit {
		return takes(tool.Parameter{Name: "n", Type: kind, Required: required})
	}
	for _, c := range []struct {
		name string
		a, b []edit
		want string
	}{
		{"the same", []edit{number("number", true)}, []edit{number("number", true)}, ""},
		{"integer is number", []edit{number("number", true)}, []edit{number("integer", true)}, ""},
		{"an unknown type says nothing", []edit{number("", true)}, []edit{number("string", true)}, ""},
		{"types", []edit{number("number", true)}, []edit{number("string", true)}, "their inputs"},
		{"required", []edit{number("number", true)}, []edit{number("number", false)}, "their inputs"},
		{"names", []edit{number("number", true)}, []edit{takes(tool.Parameter{Name: "m", Type: "number", Required: true})}, "their inputs"},
		{"one more", []edit{number("number", true)}, []edit{number("number", true), takes(tool.Parameter{Name: "m"})}, "their inputs"},
		{"one schema is unknown", []edit{number("number", true), note("mcp_unknown_schema", true)}, []edit{takes(tool.Parameter{Name: "m"})}, ""},
		{"annotation", []edit{note("idempotentHint", true)}, []edit{note("idempotentHint", false)}, "the annotation idempotentHint"},
		{"annotation on one side", []edit{note("idempotentHint", true)}, nil, ""},
		{"where it is from", []edit{note("mcp_server", "a")}, []edit{note("mcp_server", "b")}, ""},
		{"auth type", nil, []edit{auth(tool.Auth{Type: "apiKey", Scopes: []string{"s"}})}, "their auth type"},
		{"auth type in another case", nil, []edit{auth(tool.Auth{Type: "OAuth2", Scopes: []string{"s"}})}, ""},
		{"mode", nil, []edit{auth(tool.Auth{Type: "oauth2"})}, "their authority mode"},
		{"one says nothing of it", nil, []edit{auth(tool.Auth{})}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := resolve(t, joined, reading(listed("get_stock", c.a...), operation("GET", "/stock", "stock", c.b...)))
			got := the(t, s, "get_stock")
			if c.want == "" {
				same(t, "issues", kinds(got.Issues), "")
				return
			}
			same(t, "issues", kinds(got.Issues), effect.ConflictingIdentity)
			if !strings.Contains(got.Issues[0].Why, c.want) {
				t.Errorf("why: %s", got.Issues[0].Why)
			}
		})
	}
}

func TestABindingThatFitsNotExactlyAppliesNowhere(t *testing.T) {
	binding := func(id, members string) string {
		return "\n    - {id: " + id + ", provider: p, reason: r, primary: {source_id: kit, tool: a}, members: [" + members + "]}"
	}
	const a, b, c = "{source_id: kit, tool: a}", "{source_id: spare, tool: b}", "{source_id: kit, tool: c}"
	tools := []tool.Tool{listed("a"), listed("b", in("spare")), listed("c"), listed("other")}
	for _, row := range []struct {
		name, bindings, affected string
	}{
		{"a member that nobody has", binding("x", a+", {source_id: spare, tool: nope}"), "a"},
		{"two bindings of one observation", binding("x", a+", "+b) + binding("y", a+", "+c), "a b c"},
		{"one observation in two spellings", binding("x", a+", {source_id: kit, tool: a, source_type: mcp}"), "a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := resolve(t, header+"tool_identity:\n  bindings:"+row.bindings+"\n", reading(tools...))
			var affected []string
			for _, got := range s.Catalog {
				same(t, got.Name, got.Status, "structural")
				if kinds(got.Issues) == effect.InvalidBinding {
					affected = append(affected, got.Name)
				}
			}
			same(t, "affected", strings.Join(affected, " "), row.affected)
		})
	}
}

// A binding that touches nothing must not vanish.
func TestABindingOfNoToolAtAllIsCarriedByAWitness(t *testing.T) {
	const text = header + `
tool_identity:
  bindings:
    - {id: ghost, provider: p, reason: r, primary: {source_id: kit, tool: x}, members: [{source_id: kit, tool: x}, {source_id: kit, tool: y}]}
`
	s := resolve(t, text, reading(listed("a"), listed("b")))
	same(t, "the first tool", kinds(s.Catalog[0].Issues), effect.InvalidBinding)
	same(t, "path", strings.Join(s.Catalog[0].Issues[0].Path, "/"), "tool_identity/bindings/0")
	s = resolve(t, text, reading())
	if !slices.ContainsFunc(s.Graph.Issues, func(i effect.Issue) bool { return i.Kind == effect.InvalidBinding }) || s.Graph.Eligible {
		t.Errorf("without any tool the graph carries it: %v", s.Graph.Issues)
	}
}

func TestSelectors(t *testing.T) {
	approve := func(entry string) string {
		return bound + "policies: {require_approval_for_tools: [" + entry + "]}\n"
	}
	tools := []tool.Tool{listed("get"), listed("get", in("spare")), listed("put"), operation("GET", "/a", "op"), operation("GET", "/b", "op")}
	id := func(s *effect.Surface, sourceID, name string) *effect.Tool {
		for _, c := range s.Catalog {
			if c.Name == name && c.Origin.SourceID == sourceID {
				return c
			}
		}
		t.Fatal(sourceID, name)
		return nil
	}
	first := resolve(t, bound, reading(tools...))
	for _, c := range []struct {
		name, entry string
		controlled  string // source ids of controlled tools
		issues      string // kind x count, over the catalog
	}{
		{"a unique name", "put", "kit", ""},
		{"a name in two sources", "get", "", "ambiguous_tool_selector x 2"},
		{"qualified by source", "{tool: get, source_id: spare}", "spare", ""},
		{"qualified by provider", "{tool: get, provider: kit}", "kit", ""},
		{"qualified by type, which both have", "{tool: get, source_type: mcp}", "", "ambiguous_tool_selector x 2"},
		{"qualified by a source that has no such tool", "{tool: put, source_id: spare}", "", "unresolved_tool_selector x 1"},
		{"another case", "Put", "", "unresolved_tool_selector x 1"},
		{"by id", "{tool_id: " + id(first, "spare", "get").ID + "}", "spare", ""},
		{"two entries for one tool", "put, {tool: put, source_id: kit}", "kit", "ambiguous_tool_selector x 1"},
		{"two operations of one name", "op", "", "ambiguous_tool_selector x 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := resolve(t, approve(c.entry), reading(tools...))
			var controlled []string
			counts, kind := 0, ""
			for _, got := range s.Catalog {
				if s.Controlled(effect.ApprovalControl, got) {
					controlled = append(controlled, got.Origin.SourceID)
				}
				for _, i := range got.Issues {
					counts++
					kind = i.Kind
					if len(i.Path) < 3 || i.Path[0] != "policies" {
						t.Errorf("the issue says not where: %v", i.Path)
					}
				}
			}
			issues := ""
			if counts > 0 {
				issues = kind + " x " + string(rune('0'+counts))
			}
			same(t, "controlled", strings.Join(controlled, " "), c.controlled)
			same(t, "issues", issues, c.issues)
		})
	}
}

func TestAnAmbiguousSelectorSaysWhatTellsThemApart(t *testing.T) {
	s := resolve(t, bound+"policies: {require_approval_for_tools: [get, op]}\n", reading(
		listed("get"), listed("get", in("spare")), operation("GET", "/a", "op"), operation("GET", "/b", "op"),
	))
	for _, c := range s.Catalog {
		candidates := strings.Join(c.Issues[0].Candidates, " ")
		switch c.Name {
		case "get":
			same(t, "sources tell them apart", candidates, "kit spare")
		case "op":
			if strings.Count(candidates, "tool_v2_") != 2 {
				t.Errorf("two of one source are told apart by id: %s", candidates)
			}
		}
	}
}

func TestASelectorMayNameAnyMemberOfABoundTool(t *testing.T) {
	r := reading(listed("get_stock"), operation("GET", "/stock", "stock"))
	for entry, want := range map[string]bool{
		"get_stock": true, "stock": true, "{tool: stock, source_id: api, source_type: openapi}": true,
		"{tool: stock, source_id: api, source_type: mcp}": false, // not one and the same observation
		"{tool: stock, provider: depot}":                  true,
		"{tool: stock, provider: api}":                    false,
	} {
		s := resolve(t, joined+"policies: {require_confirmation_for_tools: ["+entry+"]}\n", r)
		if got := s.Controlled(effect.ConfirmationControl, s.Catalog[0]); got != want {
			t.Errorf("%s selects the bound tool: %t", entry, got)
		}
	}
}

func TestPolicyRuleFilesNameToolsOfTheirBlock(t *testing.T) {
	rules := func(tools ...tool.Tool) *tool.Reading {
		r := reading(tools...)
		r.API = &tool.API{Policy: tool.APIPolicy{Approval: []string{"pay", "gone"}}}
		return r
	}
	controlled := func(s *effect.Surface) string {
		var list []string
		for _, c := range s.Catalog {
			if s.Controlled(effect.ApprovalControl, c) {
				list = append(list, c.Origin.Type)
			}
		}
		return strings.Join(list, " ")
	}
	same(t, "the only one", controlled(resolve(t, header, rules(listed("pay")))), "mcp")
	same(t, "the one of the block", controlled(resolve(t, header, rules(listed("pay"), made("openai_api", "spare", "pay")))), "openai_api")
	same(t, "two elsewhere", controlled(resolve(t, header, rules(listed("pay"), listed("pay", in("spare"))))), "")
}
