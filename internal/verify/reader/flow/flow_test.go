package flow_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/flow"
	"plimsoll.dev/internal/verify/tool"
)

// sample is one file of testdata.
func sample(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tree is a manifest directory: names and texts in turn.
func tree(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

func artifacts(paths ...string) []manifest.Artifact {
	var out []manifest.Artifact
	for _, p := range paths {
		out = append(out, manifest.Artifact{Path: p})
	}
	return out
}

// show is one tool in one line: type name (confidence) parameters.
func show(t *tool.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", t.Origin.Type, t.Name, t.Confidence)
	for _, p := range t.Params {
		fmt.Fprintf(&b, " %s:%s", p.Name, p.Type)
		if p.Required {
			b.WriteString("!")
		}
	}
	return b.String()
}

func shown(r *tool.Reading) []string {
	out := []string{}
	for i := range r.Tools {
		out = append(out, show(&r.Tools[i]))
	}
	return out
}

func edges(r *tool.Reading) []string {
	out := []string{}
	for _, e := range r.Edges {
		line := fmt.Sprintf("%s -%s-> %s", e.Agent, e.Kind, e.To)
		if !e.Complete {
			line += " ?" + e.Unproven
		}
		out = append(out, line)
	}
	return out
}

func dynamics(r *tool.Reading) []string {
	out := []string{}
	for _, d := range r.Dynamic {
		line := fmt.Sprintf("%s %s", d.Kind, d.Reason)
		if d.Name != "" {
			line += " " + d.Name
		}
		if d.Agent != "" {
			line += " of " + d.Agent
		}
		if d.Selection != "" {
			line += " (" + d.Selection + ")"
		}
		out = append(out, line)
	}
	return out
}

func agents(r *tool.Reading) []string {
	out := []string{}
	for _, a := range r.Agents {
		out = append(out, a.Name)
	}
	return out
}

func warnings(r *tool.Reading) []string {
	out := []string{}
	for _, w := range r.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  got  %s\n  want %s", what, strings.Join(got, "\n       "), strings.Join(want, "\n       "))
	}
}

// find is the tool of a name.
func find(t *testing.T, r *tool.Reading, name string) *tool.Tool {
	t.Helper()
	for i := range r.Tools {
		if r.Tools[i].Name == name {
			return &r.Tools[i]
		}
	}
	t.Fatalf("no tool %q in %v", name, shown(r))
	return nil
}

func annotations(t *tool.Tool) string { return canonical.UTF8.String(t.Annotations) }

// n8n reads the workflows at the given paths.
func n8n(t *testing.T, files fstest.MapFS, paths ...string) *tool.Reading {
	t.Helper()
	r, err := flow.ReadN8N(&manifest.Manifest{N8N: &manifest.N8N{Workflows: artifacts(paths...)}}, files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agentFlow is a workflow with one agent and the given tool nodes, each
// connected to it. A node is written without braces.
func agentFlow(nodes ...string) string {
	all := []string{`{"id":"a","name":"Agent","type":"@n8n/n8n-nodes-langchain.agent","typeVersion":2,"parameters":{}}`}
	var wires []string
	for i, n := range nodes {
		all = append(all, fmt.Sprintf(`{"id":"t%d","name":"Tool %d",%s}`, i, i, n))
		wires = append(wires, fmt.Sprintf(`"Tool %d":{"ai_tool":[[{"node":"Agent","type":"ai_tool","index":0}]]}`, i))
	}
	return `{"name":"w","nodes":[` + strings.Join(all, ",") + `],"connections":{` + strings.Join(wires, ",") + `}}`
}
