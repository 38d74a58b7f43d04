package detect_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
)

const bot = "from agents import Agent, function_tool\n\n\n@function_tool\ndef look(x: str) -> str:\n    return x\n\n\nbot = Agent(name=\"bot\", tools=[look])\n"

func codes(r *detect.Result) []string {
	var out []string
	for _, d := range r.Diagnostics {
		out = append(out, d.Code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestOverAThousandPythonFilesAreSaid(t *testing.T) {
	files, names := fstest.MapFS{}, []string{}
	for i := range 1100 {
		name := fmt.Sprintf("pkg/m%04d.py", i)
		files[name] = &fstest.MapFile{Data: []byte("import agents\n")}
		names = append(names, name)
	}
	files["bot.py"] = &fstest.MapFile{Data: []byte(bot)} // nearer to the root: never among those left out
	r := run(t, files, append(names, "bot.py"))
	if !slices.Contains(codes(r), "too_many_python_files") {
		t.Errorf("%v", codes(r))
	}
	if len(r.Suggested) != 1 || r.Suggested[0].Path != "bot.py" || r.Signals.PythonFiles != 1101 {
		t.Errorf("%+v %d", r.Suggested, r.Signals.PythonFiles)
	}
}

func TestWhatCannotBeReadIsSaidAndStopsNothing(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	files := fstest.MapFS{
		"bot.py":                         {Data: []byte(bot)},
		"binary.py":                      {Data: []byte("from agents import Agent\x00\xff\xfe")},
		"deep.py":                        {Data: []byte("from agents import Agent\nx = " + strings.Repeat("(", 5000) + "\n")},
		"mcp-deep.json":                  {Data: []byte(`{"tools": ` + deep)},
		"openapi-cut.yaml":               {Data: []byte("openapi: 3.1.0\npaths: {a: [")},
		"mcp-list.json":                  {Data: []byte(`{"tools": [{"name": "x", "inputSchema": {}}, 7, null, {"name": 3}]}`)},
		"pyproject.toml":                 {Data: []byte("[project\nname = ")},
		"package.json":                   {Data: []byte(`{"name": `)},
		"server.ts":                      {Data: []byte("import { McpServer } from \"@modelcontextprotocol/sdk/server/mcp.js\";\nconst x = `")},
		"server.go":                      {Data: []byte("package x\nimport \"github.com/modelcontextprotocol/go-sdk/mcp\"\nfunc {")},
		"n8n/huge-empty.json":            {Data: []byte(`{"nodes": [], "connections": {}}`)},
		"plug/.codex-plugin/plugin.json": {Data: []byte(`{"name": ["not", "text"]}`)},
	}
	names := []string{}
	for name := range files {
		names = append(names, name)
	}
	r := run(t, files, names)
	if len(r.Suggested) != 1 || r.Suggested[0].Path != "bot.py" {
		t.Errorf("%+v", r.Suggested)
	}
	said := map[string]bool{}
	for _, d := range r.Diagnostics {
		said[d.Path] = true
	}
	for _, name := range []string{"binary.py", "deep.py", "mcp-deep.json", "openapi-cut.yaml", "pyproject.toml", "package.json", "server.ts", "server.go"} {
		if !said[name] {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

// However much looks like evidence, the answer has an end, and so has the work.
func TestTheAnswerHasAnEnd(t *testing.T) {
	files, names := fstest.MapFS{}, []string{}
	put := func(name, text string) {
		files[name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	long := strings.Repeat("a", 100_000)
	var many strings.Builder
	many.WriteString("from agents import Agent, function_tool\n")
	for i := range 5000 {
		fmt.Fprintf(&many, "from agents import x%d\nAgent(name=\"n%d\", tools=[])\n", i, i)
	}
	put("many.py", many.String())
	put("long.py", "from agents import "+long+"\nimport agents."+long+"\n")
	put("nb.ipynb", `{"cells": [{"source": ["from crewai import Agent"]}]}`)
	for i := range 400 {
		dir := fmt.Sprintf("p%03d", i)
		put(dir+"/pyproject.toml", "[project]\nname = \""+dir+"\"\ndependencies = [\"openai-agents\"]\n")
		put(dir+"/bot.py", "from agents import Agent\n\nbot = Agent(name=\"b\", tools=[])\n")
		put(dir+"/openapi.json", `{"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {}}}}}`)
		put(dir+"/tests/test_a.py", "import crewai\n")
	}
	r := run(t, files, names)
	if text := mustJSON(t, r); len(text) > 1<<20 {
		t.Errorf("%d bytes", len(text))
	}
	for _, code := range []string{"too_many_imports", "unread_notebooks", "too_many_sources", "too_many_excluded", "too_many_projects", "too_many_candidates"} {
		if !slices.Contains(codes(r), code) {
			t.Errorf("%s is not said: %v", code, codes(r))
		}
	}
	if len(r.Suggested) > 200 || len(r.Projects) > 200 || len(r.Excluded) > 200 || r.Scope != detect.Ambiguous {
		t.Errorf("%d %d %d", len(r.Suggested), len(r.Projects), len(r.Excluded))
	}
}

func TestNamesThatNoManifestCanHoldAreCounted(t *testing.T) {
	secret := "pass" + "word=hunter2hunter2"
	files := fstest.MapFS{"bot.py": {Data: []byte(bot)}}
	names := []string{"bot.py", "a\nb.py", "c\\d.py", "\xff.py", "../out.py", "/abs.py", " pad.py", secret + "/mcp-tools.json", strings.Repeat("x", 2000)}
	for _, n := range names {
		if fs.ValidPath(n) {
			files[n] = &fstest.MapFile{Data: []byte(bot)}
		}
	}
	r := run(t, files, names)
	if got := codes(r); !cmp.Equal(got, []string{"unusable_name"}) {
		t.Errorf("%v", got)
	}
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), secret) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestSecretsInNamesAreNotRepeated(t *testing.T) {
	secret := "hunter2" + "hunter2"
	said := "pass" + "word=" + secret
	files := fstest.MapFS{
		"bot.py":                    {Data: []byte("from agents import Agent\n\nAgent(name=\"" + said + "\", tools=[])\n")},
		"pyproject.toml":            {Data: []byte("[project]\nname = \"" + said + "\"\n")},
		".codex-plugin/plugin.json": {Data: []byte(`{"name": "` + said + `"}`)},
	}
	r := run(t, files, []string{"bot.py", "pyproject.toml", ".codex-plugin/plugin.json"})
	if text := mustJSON(t, r); strings.Contains(string(text), secret) || len(r.Plugins) != 1 || len(r.Suggested) != 2 {
		t.Errorf("%s", text)
	}
}

// On a disk: a link is no file, wherever it leads.
func TestLinksAreNotFollowed(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"bot.py": bot} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "bot.py"), filepath.Join(inside, "linked.py")); err != nil {
		t.Skip("no links here")
	}
	if err := os.Symlink("linked.py", filepath.Join(inside, "again.py")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "folder")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	r := run(t, root.FS(), []string{"linked.py", "again.py", "folder/bot.py"})
	if r.IsAgentProject || len(r.Suggested) > 0 {
		t.Errorf("%+v", r.Suggested)
	}
	if !slices.Contains(codes(r), "unreadable_file") {
		t.Errorf("%v", codes(r))
	}
}

// The example repositories have manifests that people wrote: detection suggests
// each file that they name.
func TestExamplesAreSuggestedAsPeopleWroteThem(t *testing.T) {
	manifests, err := filepath.Glob("../../../examples/*/*/shipgate.yaml")
	if err != nil || len(manifests) < 8 {
		t.Fatal(err, len(manifests))
	}
	for _, at := range manifests {
		text, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Load(text, manifest.Options{})
		if err != nil {
			t.Fatal(at, err)
		}
		tree := os.DirFS(filepath.Dir(at))
		var names []string
		err = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && name != "shipgate.yaml" {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := detect.Detect(tree, names, detect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, s := range m.Sources {
			want[s.Path] = s.Type
		}
		if m.N8N != nil {
			for _, w := range m.N8N.Workflows {
				want[w.Path] = "n8n"
			}
		}
		for name, kind := range want {
			if !slices.ContainsFunc(r.Suggested, func(s detect.Source) bool { return string(s.Type) == kind && near(s.Path, name) }) {
				t.Errorf("%s names %s %s; suggested: %+v", at, kind, name, r.Suggested)
			}
		}
	}
}

// near says whether one path is the other, holds it or lies in it.
func near(a, b string) bool {
	inside := func(file, dir string) bool {
		return dir == "." || file == dir || strings.HasPrefix(path.Clean(file), path.Clean(dir)+"/")
	}
	return inside(a, b) || inside(b, a)
}

// The order and number of the names changes nothing, and neither does a second
// look.
func TestTheOrderOfNamesDoesNotMatter(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		files, names := tree(parsed(t, rapid.SampledFrom(archives).Draw(rt, "archive")))
		want, err := json.Marshal(run(t, files, names))
		if err != nil {
			rt.Fatal(err)
		}
		shuffled := rapid.Permutation(append(slices.Clone(names), names...)).Draw(rt, "names")
		got, err := json.Marshal(run(t, files, shuffled))
		if err != nil || string(got) != string(want) {
			rt.Fatalf("%v\n%s\n%s", err, want, got)
		}
	})
}

// Whatever a file holds: no panic, every suggestion is read by its reader, and
// every place lies in the tree.
func FuzzDetect(f *testing.F) {
	for _, name := range []string{"agents_sdk", "langchain", "lists", "flows", "plugin", "mcp_server_ts", "mcp_server_go", "unread"} {
		a := parsed(f, "testdata/"+name+".txtar")
		for _, file := range a.Files {
			if at, ok := strings.CutPrefix(file.Name, "repo/"); ok {
				f.Add(at, file.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		files := fstest.MapFS{"x/bot.py": {Data: []byte(bot)}}
		names := []string{"x/bot.py", name}
		if fs.ValidPath(name) && name != "." && name != "x" && !strings.HasPrefix(name, "x/") {
			files[name] = &fstest.MapFile{Data: text}
		}
		r := run(t, files, names)
		if !json.Valid(mustJSON(t, r)) || len(r.NextActions) == 0 || r.NextAction == "" {
			t.Fatal("no result")
		}
		for _, s := range r.Suggested {
			if s.Key != "tool_sources" {
				continue
			}
			m := &manifest.Manifest{Name: "shipgate.yaml", Sources: []manifest.Source{{ID: "a", Type: string(s.Type), Path: s.Path, Mode: s.Mode}}}
			if _, err := reader.Read(m, files); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
		}
		for _, fw := range r.Frameworks {
			for _, e := range fw.Evidence {
				if _, err := fs.Stat(files, e.File); err != nil {
					t.Fatalf("%+v: %v", e, err)
				}
			}
		}
	})
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
