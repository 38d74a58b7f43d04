package detect_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/gate/source"
)

// members are the keys of an object, in order.
func members(v source.Value) string {
	var keys []string
	for _, m := range v.Members {
		keys = append(keys, m.Key)
	}
	return strings.Join(keys, " ")
}

// The document has the members of docs/spec/verification.md §18.1, and lists are
// lists where nothing was found.
func TestTheDocumentHasTheFormOfTheSpecification(t *testing.T) {
	const top = "is_agent_project frameworks agent_name_candidates project_name_candidates agent_scope agent_project_candidates " +
		"suggested_sources excluded_sources codex_plugin_candidates next_action workspace_signals diagnostics next_actions"
	files, names := tree(parsed(t, "testdata/agents_sdk.txtar"))
	for _, r := range []*detect.Result{run(t, files, names), run(t, fstest.MapFS{}, nil)} {
		v, err := source.ParseJSON(mustJSON(t, r))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(top, members(v)); d != "" {
			t.Error(d)
		}
		for _, m := range v.Members {
			if m.Value.Kind == source.Null {
				t.Errorf("%s is null", m.Key)
			}
		}
		for _, m := range v.Get("workspace_signals").Members {
			if m.Value.Kind == source.Null {
				t.Errorf("workspace_signals.%s is null", m.Key)
			}
		}
		if got := members(v.Get("next_actions").Items[0]); got != "kind command path why expects" {
			t.Errorf("a row of next_actions has %s", got)
		}
		for _, f := range v.Get("frameworks").Items {
			if got := members(f); got != "type score confidence evidence candidate_files" {
				t.Errorf("a framework has %s", got)
			}
			for _, e := range f.Get("evidence").Items {
				if got := members(e); got != "file line kind what" {
					t.Errorf("evidence has %s", got)
				}
			}
		}
	}
}

func TestScoresArePrintedInHalves(t *testing.T) {
	for s, want := range map[detect.Score]string{0: "0.0", 1: "0.5", 4: "2.0", 5: "2.5", 15: "7.5"} {
		if got := string(mustJSON(t, s)); got != want {
			t.Errorf("%d is %s", s, got)
		}
	}
}

// Many workflows of one folder are named by it when it holds no other JSON; else
// each by itself.
func TestManyWorkflowsAreNamedByTheirFolder(t *testing.T) {
	const flow = `{"name": "n", "nodes": [{"name": "a", "type": "@n8n/n8n-nodes-langchain.agent", "parameters": {}}], "connections": {}}`
	files, names := fstest.MapFS{}, []string{}
	put := func(name, text string) {
		files[name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	for _, n := range []string{"a", "b", "c", "d", "sub/e", "sub/f"} {
		put("flows/"+n+".json", flow)
		put("mixed/"+n+".json", flow)
	}
	put("mixed/settings.json", "{}")
	put("package.json", "{}")
	slices.Sort(names)
	var got []string
	for _, s := range run(t, files, names).Suggested {
		if s.Key == "n8n.workflows" {
			got = append(got, s.Path)
		}
	}
	slices.Sort(got)
	if want := []string{"flows", "mixed/a.json", "mixed/b.json", "mixed/c.json", "mixed/d.json", "mixed/sub"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
