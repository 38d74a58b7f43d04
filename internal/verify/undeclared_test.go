package verify_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/patch"
)

const wipe = `from agents import Agent, function_tool

@function_tool
def wipe(x: str) -> dict:
    """Wipe all that there is."""

helper = Agent(name="helper", tools=[wipe])
`

// differing is what check reads of the files in which both sides differ.
func differing(base, head map[string]string, manifestPath string) *gate.Input {
	in := &gate.Input{
		Actor: gate.ActorCodex, Mode: gate.Worktree, Workspace: "/repo", ConfigArg: manifestPath,
		Manifest: gate.Manifest{Path: manifestPath, Present: true, Declared: []string{"tools.json"}},
	}
	all := maps.Clone(base)
	maps.Copy(all, head)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		before, was := base[name]
		after, is := head[name]
		if before == after && was == is {
			continue
		}
		in.Records = append(in.Records, record(name, before, after, was, is))
		in.ChangedFiles = append(in.ChangedFiles, name)
	}
	in.IndexFrom = len(in.Records)
	return in
}

// record is the difference of one file as git shows it: without what both sides
// begin and end with.
func record(name, before, after string, was, is bool) diff.Record {
	minus, plus := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for len(minus) > 0 && len(plus) > 0 && minus[0] == plus[0] {
		minus, plus = minus[1:], plus[1:]
	}
	for len(minus) > 0 && len(plus) > 0 && minus[len(minus)-1] == plus[len(plus)-1] {
		minus, plus = minus[:len(minus)-1], plus[:len(plus)-1]
	}
	rec := diff.Replace(name, "100644", "100644", []byte(strings.Join(minus, "")), []byte(strings.Join(plus, "")))
	rec.New, rec.Deleted = !was, !is
	return rec
}

// asked is the question about files that no source reads, nil for none.
func asked(r *verify.Run) *decision.Gap {
	for i := range r.Decision.Coverage.Gaps {
		if g := &r.Decision.Coverage.Gaps[i]; g.Kind == "source_warning" && g.Subject == "tool_sources" {
			return g
		}
	}
	return nil
}

func compareFiles(t *testing.T, base, head map[string]string) *verify.Run {
	t.Helper()
	return run(t, base, head, func(in *verify.Input) {
		in.Changes = []*gate.Input{differing(base, head, "shipgate.yaml")}
	})
}

func plus(files map[string]string, more ...string) map[string]string {
	out := maps.Clone(files)
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// What looks like tools and no source reads is for a person where the change
// adds it, and nobody's question where it was there before.
func TestFilesThatNoSourceReadsAreAskedAbout(t *testing.T) {
	files := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	list := "{\"tools\": [\n{\"name\": \"a\"},\n{\"name\": \"b\"}\n]}\n"
	for _, c := range []struct {
		name       string
		base, head map[string]string
		kind       string // the type that it looks like; "" for no question
		path       string
	}{
		{"an agent", files, plus(files, "boot.py", wipe), "openai_agents_sdk", "boot.py"},
		{"an agent of LangChain", files, plus(files, "boot.py", "from langchain.tools import tool\n\n@tool\ndef wipe(): ...\n"), "langchain", "boot.py"},
		{"a list", files, plus(files, "kit/mcp.json", list), "mcp", "kit/mcp.json"},
		{"an API", files, plus(files, "kit/openapi.yaml", "openapi: 3.1.0\n"), "openapi", "kit/openapi.yaml"},
		{"a tool more", plus(files, "boot.py", "x = 1\n"), plus(files, "boot.py", wipe), "openai_agents_sdk", "boot.py"},
		{"one in a list more", plus(files, "mcp.json", list), plus(files, "mcp.json", strings.Replace(list, "{\"name\": \"b\"}", "{\"name\": \"b\"},\n{\"name\": \"c\"}", 1)), "mcp", "mcp.json"},
		{"a folder that is called docs", files, plus(files, "docs/boot.py", wipe), "openai_agents_sdk", "docs/boot.py"},

		{"there already", plus(files, "boot.py", wipe), plus(files, "boot.py", wipe), "", ""},
		{"another line of it", plus(files, "boot.py", wipe), plus(files, "boot.py", wipe+"x = 1\n"), "", ""},
		{"gone", plus(files, "boot.py", wipe, "mcp.json", list), files, "", ""},
		{"a line less of a list", plus(files, "mcp.json", list), plus(files, "mcp.json", strings.Replace(list, "{\"name\": \"a\"},\n", "", 1)), "", ""},
		{"tests", files, plus(files, "tests/boot.py", wipe, "kit/test_boot.py", wipe, "kit/boot_test.go", wipe, "kit/boot.test.ts", wipe), "", ""},
		{"fixtures", files, plus(files, "fixtures/boot.py", wipe, "kit/testdata/boot.py", wipe), "", ""},
		{"documents", files, plus(files, "README.md", wipe, "docs/boot.rst", wipe), "", ""},
		{"a program", files, plus(files, "boot.py", "x = 1\n"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compareFiles(t, c.base, c.head)
			g := asked(r)
			if c.kind == "" {
				if g != nil {
					t.Errorf("asks %+v", g)
				}
				return
			}
			if g == nil || r.Decision.Decision != decision.ReviewRequired || r.CanMerge || r.Fix.Safe || r.Control.State() == "complete" {
				t.Fatalf("%s\n%s", r.Decision.Decision, r.Text(false))
			}
			if !strings.Contains(g.Why, c.path) || g.Next.Path != "shipgate.yaml" || len(g.Next.Accepted) == 0 || g.Next.Accepted[0] != c.kind ||
				!strings.Contains(g.Next.Expects, "key tool_sources[].type in shipgate.yaml") || !strings.Contains(g.Next.Expects, c.path) {
				t.Errorf("%+v", g)
			}
		})
	}
}

// Ten such files are one question, and one of them is no source that failed.
func TestManyFilesThatNoSourceReadsAreOneQuestion(t *testing.T) {
	files := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	head := maps.Clone(files)
	for _, c := range "abcdefghijkl" {
		head["kit/"+string(c)+".py"] = wipe
	}
	r := compareFiles(t, files, head)
	g := asked(r)
	if g == nil || r.Decision.Decision != decision.ReviewRequired || r.Decision.Coverage.SourceWarnings != 1 || len(g.Next.Template.Edits) > 10 {
		t.Fatalf("%s", r.Text(false))
	}
	if !strings.Contains(g.Next.Expects, "11 more") {
		t.Errorf("%q", g.Next.Expects)
	}
}

// answered is a value of a template with the answer in the place of the question.
func answered(value any, answer string) any {
	o, ok := value.(canonical.Object)
	if !ok {
		return answer
	}
	out := slices.Clone(o)
	for i := range out {
		if out[i].Value == manifest.Review {
			out[i].Value = answer
		}
	}
	return out
}

// The answer that is asked for closes the question: the file is read from then
// on. The template alone is no answer.
func TestDeclaringTheFileClosesTheQuestion(t *testing.T) {
	files := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	for _, c := range []struct{ path, text, answer string }{
		{"boot.py", wipe, "openai_agents_sdk"},
		{"kit/mcp.json", `{"tools": []}`, "mcp"},
		{"kit/n8n-flow.json", `{"name": "f", "nodes": [], "connections": {}}`, "kit/n8n-flow.json"},
	} {
		head := plus(files, c.path, c.text)
		g := asked(compareFiles(t, files, head))
		if g == nil {
			t.Fatalf("%s is no question", c.path)
		}
		var open, edits []patch.Edit
		for _, e := range g.Next.Template.Edits {
			open = append(open, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: e.Value})
			edits = append(edits, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: answered(e.Value, c.answer)})
		}
		unanswered, failed := patch.Apply([]byte(readOnly), patch.YAML, open...)
		if failed != nil {
			t.Fatal(failed)
		}
		if _, err := manifest.Load(unanswered, manifest.Options{Name: "shipgate.yaml", KnownCheck: check.Known, CheckIDs: check.IDs(), Today: today}); err == nil {
			t.Errorf("%s: the question counts as an answer\n%s", c.path, unanswered)
		}
		text, failed := patch.Apply([]byte(readOnly), patch.YAML, edits...)
		if failed != nil {
			t.Fatal(failed)
		}
		head["shipgate.yaml"] = string(text)
		r := compareFiles(t, files, head)
		if r.Decision == nil {
			t.Fatalf("%s: %v\n%s", c.path, r.Err, text)
		}
		if g := asked(r); g != nil {
			t.Errorf("%s: still asks %+v\n%s", c.path, g, text)
		}
	}
}

// A file that another manifest reads is judged there; one beside it is not. A
// manifest names nothing outside of its folder, so such a question has no edit.
func TestFilesOfOtherManifests(t *testing.T) {
	other := strings.Replace(readOnly, "{id: shop, type: mcp, path: tools.json}", "{id: shop, type: mcp, path: tools.json}\n  - {id: code, type: openai_agents_sdk, path: app}", 1)
	base := map[string]string{
		"a/shipgate.yaml": readOnly, "a/tools.json": getOrder,
		"b/shipgate.yaml": other, "b/tools.json": getOrder, "b/app/x.py": "x = 1\n",
	}
	for _, c := range []struct {
		path       string
		asks, edit bool
	}{
		{"b/app/boot.py", false, false}, {"b/boot.py", true, false}, {"boot.py", true, false}, {"a/boot.py", true, true},
	} {
		head := plus(base, c.path, wipe)
		r := run(t, base, head, func(in *verify.Input) {
			in.ManifestPath, in.Config = "a/shipgate.yaml", "a/shipgate.yaml"
			at := func(files map[string]string) map[string]string {
				return map[string]string{"shipgate.yaml": files["a/shipgate.yaml"], "tools.json": files["a/tools.json"]}
			}
			in.Base, in.Head = tree(at(base)), tree(at(head))
			in.Changes = []*gate.Input{differing(base, head, "a/shipgate.yaml")}
		})
		if r.Decision == nil {
			t.Fatal(r.Err)
		}
		g := asked(r)
		if (g != nil) != c.asks || r.CanMerge == c.asks {
			t.Errorf("%s: %s", c.path, r.Text(false))
		}
		if g != nil && (g.Next.Template != nil) != c.edit {
			t.Errorf("%s: %+v", c.path, g.Next)
		}
	}
}
