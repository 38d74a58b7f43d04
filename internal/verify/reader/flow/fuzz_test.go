package flow_test

import (
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/flow"
	"plimsoll.dev/internal/verify/tool"
)

// held fails when a reading holds what none may hold: a tool without a name or
// a place, an edge to nothing.
func held(t *testing.T, r *tool.Reading, err *tool.SourceError) {
	t.Helper()
	if (r == nil) == (err == nil) {
		t.Fatalf("%v and %v", r, err)
	}
	if r == nil {
		return
	}
	for i := range r.Tools {
		if o := &r.Tools[i]; o.Name == "" || o.Origin.Path == "" || o.Origin.SourceID == "" || o.Origin.Type == "" || o.Confidence == "" {
			t.Fatalf("%+v", *o)
		}
	}
	for _, e := range r.Edges {
		if e.Complete != (e.Unproven == "") || e.Origin.SourceID == "" {
			t.Fatalf("%+v", e)
		}
	}
	for _, d := range r.Dynamic {
		if d.Framework == "" || d.Kind == "" || d.Reason == "" {
			t.Fatalf("%+v", d)
		}
	}
}

// Whatever a workflow holds, its reading ends.
func FuzzN8N(f *testing.F) {
	f.Add([]byte(sample(f, "helpdesk.n8n.json")))
	f.Add([]byte(agentFlow(`"type":"@n8n/n8n-nodes-langchain.mcpClientTool","parameters":{"include":"selected","includeTools":["a","={{b}}"]}`)))
	f.Add([]byte(wired("", []string{firstAgent, askPerson, mailNode, trigger, helper}, "Mail>Ask", "Ask>Serve", "Helper>First")))
	f.Add([]byte(secretFlow(map[string]any{"a": "={{ $fromAI('x', `y${z}`, 'number', f(1,\"2)\")) }}"})))
	f.Add([]byte("0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		files := tree("d/w.json", string(text))
		r, err := flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts("d/w.json")}}, files)
		held(t, r, err)
		r, err = flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts("d"), EvalSets: artifacts("d"), CredentialStubs: artifacts("d")}}, files)
		held(t, r, err)
	})
}

// Likewise for definitions of Conductor.
func FuzzConductor(f *testing.F) {
	f.Add([]byte(sample(f, "travel.conductor.json")))
	f.Add([]byte(tasks(`"type":"SUB_WORKFLOW","subWorkflowParam":{"name":"flow","version":1}`, `"type":"DYNAMIC"`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		files := tree("d/w.json", string(text))
		for _, path := range []string{"d/w.json", "d"} {
			r, err := flow.ReadConductor(&manifest.Manifest{}, manifest.Source{ID: "s", Path: path}, files)
			held(t, r, err)
		}
	})
}
