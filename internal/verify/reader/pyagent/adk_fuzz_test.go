package pyagent_test

import (
	"os"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

// program is a sample of Python that a fuzz target starts from.
func program(f *testing.F, name string) []byte {
	f.Helper()
	text, err := os.ReadFile(samples + name)
	if err != nil {
		f.Fatal(err)
	}
	return text
}

// sound fails when a reading holds what none may hold.
func sound(t *testing.T, r *tool.Reading, err *tool.SourceError) {
	t.Helper()
	if (r == nil) == (err == nil) {
		t.Fatalf("%v and %v", r, err)
	}
	if r == nil {
		return
	}
	for i := range r.Tools {
		if o := &r.Tools[i]; o.Name == "" || o.Origin.Path == "" || o.Origin.SourceID == "" || o.Confidence == "" {
			t.Fatalf("%+v", *o)
		}
	}
	for _, e := range r.Edges {
		if e.To == "" || e.Agent == "" || e.Complete != (e.Unproven == "") {
			t.Fatalf("%+v", e)
		}
	}
}

// Whatever an agent configuration holds, its reading ends.
func FuzzADKConfig(f *testing.F) {
	f.Add([]byte("name: a\ntools: [x, {name: McpToolset, args: {tool_filter: [y], inventory_path: a.yaml}}]\nsub_agents: [{config_path: a.yaml}, {name: b}, code]\n"))
	f.Add([]byte(`{"name":"a","tools":[{"name":"AgentTool","args":{"agent":{"name":"c","tools":["t"]}}},{"name":"FunctionTool","args":{"func":"m.f"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range []string{"a.yaml", "a.json"} {
			r, err := pyagent.ReadADKSource(nil, manifest.Source{ID: "s", Path: name}, tree(map[string]string{name: string(text)}))
			sound(t, r, err)
		}
	})
}

// Whatever a program holds, its reading ends.
func FuzzADKAndCrewAI(f *testing.F) {
	f.Add(program(f, "google_adk_agent/agent.py"))
	f.Add(program(f, "simple_crewai_agent/crew.py"))
	f.Add([]byte("from google.adk.agents import Agent as A\nclass B(A):\n  def __init__(s): super().__init__(tools=[s.x, A(tools=[])])\n  def x(s): return B()\nB().tools.append(B)\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		files := tree(map[string]string{"a.py": string(text), "b.py": "from a import *\n"})
		r, err := pyagent.ReadADKSource(nil, manifest.Source{ID: "s", Path: "."}, files)
		sound(t, r, err)
		r, err = pyagent.ReadCrewAISource(nil, manifest.Source{ID: "s", Path: "."}, files)
		sound(t, r, err)
	})
}
