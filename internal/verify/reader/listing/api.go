package listing

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// block reads the artifacts of one framework block of the manifest.
type block struct {
	tree fs.FS
	id   string // source id of everything in the block: its key in the manifest
	kind string // source_type of its tools
	api  *tool.API
	out  *tool.Reading
}

// each reads every artifact of one role. What cannot be read ends the reading
// unless the artifact is optional.
func (b *block) each(role string, list []manifest.Artifact, read func(manifest.Artifact, string, []byte) *tool.SourceError) *tool.SourceError {
	for _, art := range list {
		before := len(b.out.Tools)
		row := tool.Source{ID: b.id, Type: b.id + "." + role, Path: art.Path, Optional: art.Optional, State: tool.Loaded}
		err := b.one(art, read)
		switch {
		case err != nil && art.Optional:
			b.out.Add(tool.Skipped(row, err))
			continue
		case err != nil:
			return err
		}
		row.Tools = len(b.out.Tools) - before
		b.out.Sources = append(b.out.Sources, row)
	}
	return nil
}

func (b *block) one(art manifest.Artifact, read func(manifest.Artifact, string, []byte) *tool.SourceError) *tool.SourceError {
	text, err := tool.ReadFile(b.tree, art.Path)
	if err == nil {
		clean, _ := tool.Clean(art.Path)
		err = read(art, clean, text)
	}
	if err != nil {
		err.SourceID = b.id
	}
	return err
}

func (b *block) file(name string, text []byte) (*file, *tool.SourceError) {
	f, err := newFile(name, b.kind, b.id, text)
	if err == nil {
		f.out = b.out
	}
	return f, err
}

func (b *block) prompt(_ manifest.Artifact, name string, text []byte) *tool.SourceError {
	text, _ = source.TrimBOM(text)
	b.api.Prompts = append(b.api.Prompts, tool.Prompt{Path: name, Text: strings.ToValidUTF8(string(text), "\uFFFD")})
	return nil
}

// list reads a file that is a list, an object with a list below one of keys,
// one object, or JSON Lines; the pointer of a line is /<index>.
func (b *block) list(name string, text []byte, keys ...string) (*file, []source.Value, string, *tool.SourceError) {
	if lines := path.Ext(name); lines == ".jsonl" || lines == ".ndjson" {
		f := &file{path: name, kind: b.kind, source: b.id, out: b.out, seen: map[string]bool{}}
		items, err := f.lines(text)
		return f, items, "", err
	}
	f, err := b.file(name, text)
	if err != nil {
		return nil, nil, "", err
	}
	for _, key := range keys {
		if items, pointer, ok := f.entries(key); ok {
			return f, items, pointer, nil
		}
	}
	switch f.root.Kind {
	case source.Map:
		return f, []source.Value{f.root}, "", nil
	case source.Null:
		return f, nil, "", nil
	default:
		return nil, nil, "", f.fail(f.root, "", "holds neither a list nor an object")
	}
}

// lines reads JSON Lines; empty lines are no rows.
func (f *file) lines(text []byte) ([]source.Value, *tool.SourceError) {
	var items []source.Value
	text, _ = source.TrimBOM(text)
	for i, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		v, err := source.ParseJSON(line)
		if err != nil {
			return nil, &tool.SourceError{
				SourceID: f.source, Path: f.path, Line: i + 1, Problem: tool.Malformed,
				Detail: "is not valid JSON, or holds a key twice", Err: err,
			}
		}
		onLine(&v, i+1)
		items = append(items, v)
	}
	return items, nil
}

// onLine moves a value that was parsed alone to the line where it stands.
func onLine(v *source.Value, line int) {
	v.Pos.Line = line
	for i := range v.Items {
		onLine(&v.Items[i], line)
	}
	for i := range v.Members {
		v.Members[i].Pos.Line = line
		onLine(&v.Members[i].Value, line)
	}
}

func (b *block) testCases(_ manifest.Artifact, name string, text []byte) *tool.SourceError {
	_, items, _, err := b.list(name, text, "test_cases", "cases", "tests")
	b.api.TestCases += len(items)
	return err
}

// traces reads recorded calls. A row that is no call of a tool is a warning.
func (b *block) traces(_ manifest.Artifact, name string, text []byte) *tool.SourceError {
	f, items, pointer, err := b.list(name, text, "traces", "events", "tool_calls")
	if err != nil {
		return err
	}
	for i, v := range items {
		at := pointer + "/" + strconv.Itoa(i)
		if v.Kind != source.Map || v.Get("tool_name").Str() == "" {
			f.warn("unsupported_trace_row", "a row has no tool_name and was skipped", v, at)
			continue
		}
		b.api.Traces = append(b.api.Traces, tool.TraceEvent{
			Tool: v.Get("tool_name").Text, Path: name, Pointer: at,
			Approved:  f.flag(v, at, "approved"),
			Confirmed: f.flag(v, at, "confirmed"),
			Success:   f.flag(v, at, "success"),
		})
	}
	return nil
}

// flag is a recorded boolean; nil when it was not recorded as one.
func (f *file) flag(row source.Value, pointer, key string) *bool {
	v := row.Get(key)
	switch v.Kind {
	case source.Bool:
		truth := v.Truth
		return &truth
	case "", source.Null:
	default:
		f.warn("unsupported_trace_row", key+" is neither true nor false", v, pointer+tool.Pointer(key))
	}
	return nil
}

// named gives a schema file a name: as declared, as the file says, else the
// file's own name without its extensions.
func named(art manifest.Artifact, inside string) string {
	switch {
	case art.Name != "":
		return art.Name
	case inside != "":
		return inside
	}
	stem, _, _ := strings.Cut(path.Base(art.Path), ".")
	return stem
}
