package listing

import (
	"io/fs"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// ReadMCP reads the list of tools of one MCP source: an array, or an object
// with tools (§5.2 row mcp). A source that opens everything gives one stub.
func ReadMCP(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	return readTools(tree, s.Path, "mcp", s.ID)
}

// ReadInventory reads a list of tools that stands for what code cannot show: of
// the form of an MCP source, under the source type and id of its framework
// (§5.2 row *_inventories). An optional inventory that cannot be read is a
// warning and a source row.
func ReadInventory(tree fs.FS, art manifest.Artifact, sourceType, sourceID string) (*tool.Reading, *tool.SourceError) {
	row := tool.Source{ID: sourceID, Type: sourceType, Path: art.Path, Optional: art.Optional, State: tool.Loaded}
	out, err := readTools(tree, art.Path, sourceType, sourceID)
	if err != nil {
		if art.Optional {
			return tool.Skipped(row, err), nil
		}
		return nil, err
	}
	row.Tools = len(out.Tools)
	out.Sources = append(out.Sources, row)
	return out, nil
}

func readTools(tree fs.FS, name, kind, id string) (*tool.Reading, *tool.SourceError) {
	text, err := tool.ReadFile(tree, name)
	if err != nil {
		err.SourceID = id
		return nil, err
	}
	clean, _ := tool.Clean(name)
	f, err := newFile(clean, kind, id, text)
	if err != nil {
		return nil, err
	}
	if err := f.tools(); err != nil {
		return nil, err
	}
	return f.out, nil
}

// tools reads the whole list.
func (f *file) tools() *tool.SourceError {
	if f.root.Kind != source.List && f.root.Kind != source.Map {
		return f.fail(f.root, "", "holds neither a list of tools nor an object with tools")
	}
	entries, pointer, isList := f.entries("tools")
	open, at, err := f.wildcard(isList)
	if err != nil {
		return err
	}
	switch {
	case open.Present() && len(entries) > 0:
		return f.fail(open, at, "opens every tool and lists some as well")
	case open.Present():
		f.stub(open, at)
		return nil
	case isList && len(entries) == 1 && entries[0].Str() == "*":
		f.stub(entries[0], pointer+"/0")
		return nil
	case !isList && f.root.Get("tools").Present() && f.root.Get("tools").Kind != source.Null:
		return f.fail(f.root.Get("tools"), "/tools", "tools is neither a list nor \"*\"")
	case !isList:
		f.warn("no_tools", "the file has no list of tools", f.root, "")
	}
	for i, entry := range entries {
		f.entry(entry, pointer+"/"+strconv.Itoa(i))
	}
	return nil
}

// wildcard is the value that opens every tool, absent when none does.
func (f *file) wildcard(isList bool) (source.Value, string, *tool.SourceError) {
	if f.root.Kind != source.Map {
		return source.Value{}, "", nil
	}
	switch w := f.root.Get("wildcard"); {
	case w.True():
		return w, "/wildcard", nil
	case w.Present() && w.Kind != source.Null && w.Kind != source.Bool:
		return source.Value{}, "", f.fail(w, "/wildcard", "wildcard is neither true nor false")
	}
	if all := f.root.Get("tools"); !isList && all.Str() == "*" {
		return all, "/tools", nil
	}
	return source.Value{}, "", nil
}

// stub stands for all tools of a source that does not name them.
func (f *file) stub(v source.Value, pointer string) {
	t := tool.Tool{
		Name: f.source + ".*", Origin: f.origin(v, pointer), Method: "stub", Confidence: tool.High,
		Annotations: map[string]any{"wildcard_tools": true},
	}
	f.add(t, v)
	f.warn("wildcard_tools", "the source opens every tool of its server", v, pointer)
}

// entry reads one tool.
func (f *file) entry(v source.Value, pointer string) {
	if v.Kind != source.Map {
		f.warn("not_a_tool", "an entry is not an object and was skipped", v, pointer)
		return
	}
	name := strings.TrimSpace(f.text(v, pointer, "name"))
	if name == "" {
		f.warn("unnamed_tool", "an entry has no name and was skipped", v, pointer)
		return
	}
	t := tool.Tool{
		Name:        name,
		Description: f.text(v, pointer, "description"),
		Owner:       f.text(v, pointer, "owner"),
		Origin:      f.origin(v, pointer),
		Annotations: f.annotations(v, pointer),
		Auth:        f.auth(v, pointer),
		Method:      "declared",
		Confidence:  tool.High,
	}
	var unknown bool
	t.Input, unknown = f.schema(v, pointer, "inputSchema", "input_schema")
	if unknown && t.Input == nil {
		note(&t, "mcp_unknown_schema", true)
	}
	t.Output, _ = f.schema(v, pointer, "outputSchema", "output_schema")
	t.Params = tool.Parameters(t.Input)
	if strings.Contains(name, "*") {
		note(&t, "wildcard_tools", true)
	}
	f.add(t, v)
}
