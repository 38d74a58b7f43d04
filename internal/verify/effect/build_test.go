package effect_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// header is a manifest that every test starts from: a listing, an API and code.
const header = `version: "0.1"
project: {name: depot}
agent: {name: stock-assistant, declared_purpose: ["look up stock"]}
environment: {target: local}
tool_sources:
  - {id: kit, type: mcp, path: kit.json}
  - {id: spare, type: mcp, path: spare.json}
  - {id: api, type: openapi, path: api.yaml}
  - {id: bot, type: openai_agents_sdk, path: bot.py}
`

// bound gives the root agent every tool of the listing, so that a test can look
// at something else.
const bound = `version: "0.1"
project: {name: depot}
agent: {name: stock-assistant, declared_purpose: ["look up stock"]}
environment: {target: local}
tool_sources:
  - {id: kit, type: mcp, path: kit.json, binding: {complete: true, reason: reviewed}}
  - {id: spare, type: mcp, path: spare.json, binding: {complete: true, reason: reviewed}}
  - {id: api, type: openapi, path: api.yaml, binding: {complete: true, reason: reviewed}}
  - {id: bot, type: openai_agents_sdk, path: bot.py, binding: {complete: true, reason: reviewed}}
`

func load(t testing.TB, text string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Load([]byte(text), manifest.Options{Name: "shipgate.yaml", Today: "2026-06-01"})
	if err != nil {
		t.Fatalf("the manifest of the test does not load:\n%v\n%s", err, text)
	}
	return m
}

func resolve(t testing.TB, text string, r *tool.Reading) *effect.Surface {
	t.Helper()
	s, err := effect.Resolve(load(t, text), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reading(tools ...tool.Tool) *tool.Reading { return &tool.Reading{Tools: tools} }

type edit func(*tool.Tool)

// listed is a tool of the listing kit as its reader gives it: high confidence, an
// empty object as its input, scoped authority.
func listed(name string, edits ...edit) tool.Tool {
	return made("mcp", "kit", name, edits...)
}

func made(kind, sourceID, name string, edits ...edit) tool.Tool {
	t := tool.Tool{
		Name: name, Confidence: tool.High, Annotations: map[string]any{}, Input: map[string]any{"type": "object"},
		Origin: tool.Origin{Type: kind, SourceID: sourceID, Ref: sourceID + ".json", Path: sourceID + ".json", Pointer: "/tools/0"},
		Auth:   tool.Auth{Type: "oauth2", Scopes: []string{"stock:read"}, Source: "source"},
	}
	for _, e := range edits {
		e(&t)
	}
	return t
}

// operation is an operation of the API.
func operation(method, path, name string, edits ...edit) tool.Tool {
	return made("openapi", "api", name, append([]edit{note("httpMethod", method), note("path", path)}, edits...)...)
}

// function is a function in the code of the bot.
func function(name string, edits ...edit) tool.Tool {
	return made("sdk_function", "bot", name, append([]edit{func(t *tool.Tool) {
		t.Confidence, t.Signature, t.Origin.Ref, t.Origin.Path = tool.Medium, "def "+name+"()", "bot.py", "bot.py"
		t.Origin.Location, t.Origin.Start, t.Origin.Pointer = "bot.py:7", source.Position{Line: 7, Column: 1}, ""
	}}, edits...)...)
}

func note(key string, value any) edit { return func(t *tool.Tool) { t.Annotations[key] = value } }

func saying(text string) edit { return func(t *tool.Tool) { t.Description = text } }

func auth(a tool.Auth) edit { return func(t *tool.Tool) { t.Auth = a } }

func scopes(list ...string) edit { return func(t *tool.Tool) { t.Auth.Scopes = list } }

func takes(params ...tool.Parameter) edit {
	return func(t *tool.Tool) { t.Params = append(t.Params, params...) }
}

func in(sourceID string) edit {
	return func(t *tool.Tool) {
		t.Origin.SourceID, t.Origin.Ref, t.Origin.Path = sourceID, sourceID+".json", sourceID+".json"
	}
}

// the is the one tool of a name.
func the(t testing.TB, s *effect.Surface, name string) *effect.Tool {
	t.Helper()
	var found *effect.Tool
	for _, c := range s.Catalog {
		if c.Name == name {
			if found != nil {
				t.Fatalf("there are several tools %q", name)
			}
			found = c
		}
	}
	if found == nil {
		t.Fatalf("there is no tool %q", name)
	}
	return found
}

func action(t testing.TB, s *effect.Surface, name string) *effect.Action {
	t.Helper()
	a := s.Action(the(t, s, name).ID)
	if a == nil {
		t.Fatalf("%q is no action; the graph: %s %v", name, s.Graph.Status, s.Graph.Issues)
	}
	return a
}

// kinds are the kinds of issues, sorted, each once.
func kinds(issues []effect.Issue) string {
	var list []string
	for _, i := range issues {
		list = append(list, i.Kind)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

func hints(t *effect.Tool) string {
	var list []string
	for _, h := range t.Hints {
		list = append(list, h.Tag+"/"+h.Source+"/"+string(h.Confidence))
	}
	return strings.Join(list, " ")
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got: %s\nwant: %s", what, got, want)
	}
}
