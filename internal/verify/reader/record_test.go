package reader_test

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
	"plimsoll.dev/internal/verify/tool"
)

// texts is a tree whose files have their bytes at hand, as a side has.
type texts fstest.MapFS

func (t texts) Open(name string) (fs.File, error) {
	f, err := fstest.MapFS(t).Open(name)
	if file, ok := t[name]; err == nil && ok && file.Mode.IsRegular() {
		return textFile{f, file.Data}, nil
	}
	return f, err
}

type textFile struct {
	fs.File
	text []byte
}

func (f textFile) Text() []byte { return f.text }

// holder is a tree that knows what it holds; nobody has to open it.
type holder struct {
	texts
	opened *atomic.Int64
}

func (h holder) Open(name string) (fs.File, error) {
	h.opened.Add(1)
	return h.texts.Open(name)
}

func (h holder) Holds(name string, text []byte) (fs.FileInfo, bool) {
	file, ok := h.texts[name]
	if !ok || !file.Mode.IsRegular() || string(file.Data) != string(text) {
		return nil, false
	}
	info, err := fs.Stat(h.texts, name)
	return info, err == nil
}

const (
	toolModule  = "from agents import function_tool\n\n\n@function_tool\ndef look(place: str) -> str:\n    \"\"\"Looks.\"\"\"\n    return place\n"
	agentModule = "from agents import Agent\n\nfrom desk.tools import look\n\nagent = Agent(name=\"desk\", tools=[look])\n"
)

func desk() texts {
	return texts{
		"a.json":            {Data: []byte(`[{"name":"one","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}]`)},
		"b.json":            {Data: []byte(`[{"name":"two"}]`)},
		"desk/__init__.py":  {},
		"desk/tools.py":     {Data: []byte(toolModule)},
		"desk/agent.py":     {Data: []byte(agentModule)},
		"servers/server.ts": {Data: []byte("import { McpServer } from \"@modelcontextprotocol/sdk/server/mcp.js\";\nconst s = new McpServer({});\ns.registerTool(\"count\", {}, f);\n")},
	}
}

var deskManifest = &manifest.Manifest{
	Name: "shipgate.yaml",
	Sources: []manifest.Source{
		{ID: "a", Type: "mcp", Path: "a.json"},
		{ID: "b", Type: "mcp", Path: "b.json", Optional: true},
		{ID: "desk", Type: "openai_agents_sdk", Path: "desk"},
		{ID: "servers", Type: "mcp_server", Path: "servers"},
		{ID: "flows", Type: "conductor", Path: "flows", Optional: true},
	},
}

// atOnce does all pieces at once, whatever there is to share.
func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func TestWhatBothSidesHaveAlikeIsReadOnce(t *testing.T) {
	first, record, err := reader.ReadLike(deskManifest, desk(), atOnce, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := reader.ReadLike(deskManifest, desk(), nil, record)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Fatalf("%v: two readings of the same files differ", err)
	}
	if len(first.Tools) != 4 {
		t.Fatalf("%d tools", len(first.Tools))
	}
	if &first.Tools[0].Params[0] != &second.Tools[0].Params[0] {
		t.Error("the second side was read again")
	}
}

func TestASideThatHoldsTheSameFilesIsNotOpened(t *testing.T) {
	first, record, err := reader.ReadLike(deskManifest, desk(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened := func(tree texts) (*tool.Reading, int64) {
		side := holder{tree, new(atomic.Int64)}
		r, _, err := reader.ReadLike(deskManifest, side, nil, record)
		if err != nil {
			t.Fatal(err)
		}
		return r, side.opened.Load()
	}
	second, few := opened(desk())
	if !reflect.DeepEqual(first, second) {
		t.Error("two readings of the same files differ")
	}
	other := desk()
	other["a.json"] = &fstest.MapFile{Data: []byte(`[{"name":"other"}]`)}
	if _, more := opened(other); few >= more {
		t.Errorf("%d opened where all files are held, %d where one is not", few, more)
	}
}

func TestASideIsReadAgainWhereItDiffers(t *testing.T) {
	_, record, err := reader.ReadLike(deskManifest, desk(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, change := range map[string]texts{
		"a list":                        {"a.json": file(`[{"name":"other"}]`)},
		"a list that is gone":           {"b.json": nil},
		"a list that is no list":        {"b.json": file("{")},
		"a list that is a folder now":   {"b.json": nil, "b.json/x": file("")},
		"a module":                      {"desk/tools.py": file(toolModule + "\n\n@function_tool\ndef more() -> str:\n    return \"\"\n")},
		"a module that is new":          {"desk/more.py": file(toolModule)},
		"a module that is gone":         {"desk/tools.py": nil},
		"a folder that is new":          {"servers/more/x.ts": file("import { McpServer } from \"@modelcontextprotocol/sdk/server/mcp.js\";\nconst s = new McpServer({});\ns.registerTool(\"wipe\", {}, f);\n")},
		"a flow where there was none":   {"flows/f.json": file(`{"name":"f","tasks":[]}`)},
		"a file over the limit":         {"a.json": file(`["` + string(make([]byte, tool.MaxFile)) + `"]`)},
		"a package beside a module now": {"desk/tools/__init__.py": file(toolModule)},
	} {
		tree := desk()
		maps.Copy(tree, change)
		maps.DeleteFunc(tree, func(_ string, f *fstest.MapFile) bool { return f == nil })
		want, wantErr := reader.Read(deskManifest, fstest.MapFS(tree))
		for i, each := range []tool.Each{nil, atOnce, atOnce} {
			side := fs.FS(tree)
			if i == 2 {
				side = holder{tree, new(atomic.Int64)}
			}
			got, _, err := reader.ReadLike(deskManifest, side, each, record)
			if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s:\ngot  %+v, %v\nwant %+v, %v", name, got, err, want, wantErr)
			}
		}
	}
}

func TestManySourcesAreReadOneByOneOnceTheyAreTooMany(t *testing.T) {
	list := func(n int, name string) *fstest.MapFile {
		text := make([]byte, 0, 40*n)
		for i := range n {
			text = fmt.Appendf(text, ",{\"name\":\"%s_%d\"}", name, i)
		}
		return &fstest.MapFile{Data: []byte("[" + string(text[1:]) + "]")}
	}
	tree := texts{}
	m := &manifest.Manifest{Name: "shipgate.yaml"}
	for i := range 20 {
		name := fmt.Sprintf("s%d", i)
		m.Sources = append(m.Sources, manifest.Source{ID: name, Type: "mcp", Path: name + ".json", Optional: i < 3})
		tree[name+".json"] = list(reader.MaxTools*2/3, name)
	}
	// What is too many is told of the same source, however it is read; one that is
	// optional is left out and the next one counts.
	_, want := reader.Read(m, fstest.MapFS(tree))
	_, _, got := reader.ReadLike(m, tree, atOnce, nil)
	if want == nil || got == nil || got.Error() != want.Error() || got.SourceID != "s3" {
		t.Errorf("got %v, want %v", got, want)
	}
	for i := range m.Sources {
		m.Sources[i].Optional = true
	}
	all, failed := reader.Read(m, fstest.MapFS(tree))
	again, _, err := reader.ReadLike(m, tree, atOnce, nil)
	if failed != nil || err != nil || !reflect.DeepEqual(all, again) {
		t.Errorf("%v, %v: two readings differ", failed, err)
	}
}

// counted counts how often each name is opened.
type counted struct {
	texts
	opened map[string]int
}

func (c counted) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.texts.Open(name)
}

func TestAFolderOfASourceIsListedOnce(t *testing.T) {
	tree := counted{desk(), map[string]int{}}
	if _, _, err := reader.ReadLike(deskManifest, tree, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"desk", "servers"} {
		if n := tree.opened[name]; n != 1 {
			t.Errorf("%s was opened %d times", name, n)
		}
	}
}
