package reader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
	"plimsoll.dev/internal/verify/tool"
)

func states(r *tool.Reading) []string {
	var out []string
	for _, s := range r.Sources {
		out = append(out, fmt.Sprintf("%s %s %s %d", s.ID, s.Type, s.State, s.Tools))
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestEverySourceEndsInAState(t *testing.T) {
	files := fstest.MapFS{
		"a.json":   {Data: []byte(`[{"name":"one"},{"name":"two words"},{"name":"9"}]`)},
		"api.yaml": {Data: []byte("openapi: 3.0.0\npaths: {/x: {get: {}}}\n")},
		"bad.json": {Data: []byte(`{`)},
		"o.json":   {Data: []byte(`[{"name":"f"}]`)},
	}
	m := &manifest.Manifest{
		Name: "shipgate.yaml",
		Sources: []manifest.Source{
			{ID: "kit", Type: "mcp", Path: "a.json"},
			{ID: "later", Type: "telepathy", Path: "x"},
			{ID: "gone", Type: "mcp", Path: "gone.json", Optional: true},
			{ID: "broken", Type: "mcp", Path: "bad.json", Optional: true},
			{ID: "api", Type: "openapi", Path: "api.yaml"},
		},
		OpenAI:    &manifest.OpenAI{Tools: []manifest.Artifact{{Path: "o.json"}}},
		Anthropic: &manifest.Anthropic{},
	}
	r, err := reader.Read(m, files)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "sources", states(r), []string{
		"kit mcp loaded 3", "later telepathy unsupported 0", "gone mcp missing 0", "broken mcp failed 0", "api openapi loaded 1",
		"openai_api openai_api.tools loaded 1", "anthropic anthropic loaded 0",
	})
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, w.SourceID+" "+w.Code)
	}
	same(t, "warnings", codes, []string{
		"later unsupported_source_type", "gone missing_optional_source", "broken unreadable_optional_source",
		"kit unusual_tool_name", "kit unusual_tool_name",
	})
	if r.API == nil || !r.API.OpenAI || !r.API.Anthropic || len(r.Tools) != 5 {
		t.Errorf("%+v, %d tools", r.API, len(r.Tools))
	}
}

func TestASourceThatIsNotOptionalStopsTheReading(t *testing.T) {
	for _, path := range []string{"gone.json", "bad.json", "../out.json"} {
		m := &manifest.Manifest{Sources: []manifest.Source{{ID: "kit", Type: "mcp", Path: path}}}
		r, err := reader.Read(m, fstest.MapFS{"bad.json": {Data: []byte("[")}})
		if r != nil || err == nil || err.SourceID != "kit" {
			t.Errorf("%s: %v, %v", path, r, err)
		}
	}
}

// Every type that §4.4 lists and every block of §4.5 has a reader.
func TestNoListedKindIsUnsupported(t *testing.T) {
	m := &manifest.Manifest{
		Name: "shipgate.yaml", OpenAI: &manifest.OpenAI{}, Anthropic: &manifest.Anthropic{}, ADK: &manifest.ADK{},
		LangChain: &manifest.Framework{}, CrewAI: &manifest.Framework{}, Plugins: &manifest.Plugins{}, N8N: &manifest.N8N{},
	}
	for _, kind := range []string{
		"mcp", "openapi", "openai_agents_sdk", "google_adk", "langchain", "crewai", "codex_config", "codex_plugin", "conductor", "mcp_server",
	} {
		m.Sources = append(m.Sources, manifest.Source{ID: kind, Type: kind, Path: "gone", Optional: true})
	}
	r, err := reader.Read(m, fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Sources {
		if s.State == tool.Unsupported || s.State == tool.Loaded && s.Path == "gone" {
			t.Errorf("%+v", s)
		}
	}
	if len(r.Sources) < 17 {
		t.Errorf("%d sources: %v", len(r.Sources), states(r))
	}
}

// A list without an end is refused whole: what is cut short would look complete.
func TestMoreToolsThanAreJudgedAreRefused(t *testing.T) {
	list := func(n int) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("[" + strings.TrimSuffix(strings.Repeat(`{"name":"x"},`, n), ",") + "]")}
	}
	files := fstest.MapFS{"half.json": list(reader.MaxTools / 2), "more.json": list(reader.MaxTools/2 + 1)}
	kit := func(id, path string) manifest.Source { return manifest.Source{ID: id, Type: "mcp", Path: path} }
	m := &manifest.Manifest{Name: "shipgate.yaml", Sources: []manifest.Source{kit("a", "half.json"), kit("b", "half.json")}}
	if r, err := reader.Read(m, files); err != nil || len(r.Tools) != reader.MaxTools {
		t.Fatalf("as many as are judged: %v", err)
	}
	m.Sources[1] = kit("b", "more.json")
	_, err := reader.Read(m, files)
	if err == nil || err.Problem != tool.TooLarge || err.SourceID != "b" || err.Path != "more.json" || !strings.Contains(err.Error(), "10001") {
		t.Errorf("one more: %v", err)
	}
	m.Sources[1] = kit("b", "half.json")
	m.OpenAI = &manifest.OpenAI{Tools: []manifest.Artifact{{Path: "more.json"}}}
	if _, err := reader.Read(m, files); err == nil || err.Problem != tool.TooLarge {
		t.Errorf("one more in a block: %v", err)
	}
	m.OpenAI, m.Sources[1] = nil, manifest.Source{ID: "b", Type: "mcp", Path: "more.json", Optional: true}
	r, err := reader.Read(m, files)
	if err != nil || len(r.Tools) != reader.MaxTools/2 {
		t.Fatalf("an optional one: %v", err)
	}
	same(t, "sources", states(r), []string{"a mcp loaded 5000", "b mcp failed 0"})
}
