// Package mcpserver reads the tools that the source code of an MCP server
// registers: TypeScript, JavaScript and Go (docs/spec/verification.md §5.2 row
// mcp_server). Nothing is run or imported.
//
// A registration whose name, list or schema is computed is a dynamic surface
// with its reason. Literal registrations are tools of medium confidence: code
// may register more than a reader sees.
package mcpserver

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Bounds of one source.
const (
	maxFiles = 2000
	maxBytes = 64 << 20
)

const sourceType = "mcp_server_code"

// ReadServer reads one file or one directory. From a file, what it imports of
// its own directory is read as well; of a directory, every file but tests,
// dependencies and built things.
func ReadServer(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	r := &reader{id: s.ID, ref: s.Path, tree: tree, out: &tool.Reading{}, text: map[string][]byte{}, seen: map[string]int{}}
	clean, ok := tool.Clean(s.Path)
	if !ok {
		return nil, r.failed(&tool.SourceError{Path: s.Path, Problem: tool.Outside, Detail: "the path leaves the manifest directory"})
	}
	r.root = clean
	names, single, err := r.files(clean)
	if err != nil {
		return nil, r.failed(err)
	}
	if single {
		r.root = path.Dir(clean)
	}
	if err := r.scripts(names, single); err != nil {
		return nil, r.failed(err)
	}
	if err := r.golang(names); err != nil {
		return nil, r.failed(err)
	}
	if len(r.out.Tools)+len(r.out.Dynamic) == 0 {
		r.out.Warn("no_tools", "the source registers no tool that is read", tool.Origin{Type: sourceType, SourceID: s.ID, Ref: s.Path, Path: clean})
	}
	return r.out, nil
}

type reader struct {
	id, ref string
	root    string // directory that imports stay in
	tree    fs.FS
	out     *tool.Reading
	text    map[string][]byte
	bytes   int
	seen    map[string]int // index of the tool by name
}

func (r *reader) failed(err *tool.SourceError) *tool.SourceError {
	err.SourceID = r.id
	return err
}

var (
	scriptSuffixes = []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".tsx", ".jsx"}
	skippedFolders = []string{"node_modules", "vendor", "dist", "build", "out", "coverage", "__tests__", "__mocks__", "testdata"}
	skippedEndings = []string{".d.ts", ".d.mts", ".d.cts", ".min.js", "_test.go"}
)

func isScript(name string) bool { return slices.Contains(scriptSuffixes, path.Ext(name)) }

// files are the source files of the declared path, sorted, and whether it is
// one file.
func (r *reader) files(name string) ([]string, bool, *tool.SourceError) {
	info, err := fs.Stat(r.tree, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, &tool.SourceError{Path: name, Problem: tool.NotThere, Detail: "no such file or directory", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return nil, false, &tool.SourceError{Path: name, Problem: tool.Outside, Detail: "leads outside the manifest directory or may not be read", Err: err}
	case err != nil:
		return nil, false, &tool.SourceError{Path: name, Problem: tool.Unreadable, Detail: "could not be read", Err: err}
	}
	if !info.IsDir() {
		if !isScript(name) && path.Ext(name) != ".go" {
			return nil, false, &tool.SourceError{Path: name, Problem: tool.Malformed, Detail: "is no TypeScript, JavaScript or Go file"}
		}
		return []string{name}, true, nil
	}
	var out []string
	err = fs.WalkDir(r.tree, name, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if at != name && (strings.HasPrefix(base, ".") || slices.Contains(skippedFolders, base)) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 && (isScript(base) || path.Ext(base) == ".go" || path.Ext(base) == "") {
			r.out.Warn("linked_file", "a link inside of the source was not followed", tool.Origin{Type: sourceType, SourceID: r.id, Ref: r.ref, Path: at})
			return nil
		}
		if !d.Type().IsRegular() || !isScript(base) && path.Ext(base) != ".go" || isTest(base) {
			return nil
		}
		if out = append(out, at); len(out) > maxFiles {
			return errTooMany
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		return nil, false, &tool.SourceError{Path: name, Problem: tool.TooLarge, Detail: fmt.Sprintf("holds over %d source files", maxFiles)}
	}
	if err != nil {
		return nil, false, &tool.SourceError{Path: name, Problem: tool.Unreadable, Detail: "could not be read", Err: err}
	}
	return out, false, nil
}

var errTooMany = errors.New("too many files")

func isTest(base string) bool {
	for _, ending := range skippedEndings {
		if strings.HasSuffix(base, ending) {
			return true
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	return isScript(base) && (strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec"))
}

// read is the text of one file, read once.
func (r *reader) read(name string) ([]byte, *tool.SourceError) {
	if text, ok := r.text[name]; ok {
		return text, nil
	}
	text, err := tool.ReadFile(r.tree, name)
	if err != nil {
		return nil, err
	}
	if r.bytes += len(text); r.bytes > maxBytes {
		return nil, &tool.SourceError{Path: r.ref, Problem: tool.TooLarge, Detail: fmt.Sprintf("holds over %d MiB of source", maxBytes>>20)}
	}
	r.text[name] = text
	return text, nil
}

func (r *reader) origin(file string, line, column int) tool.Origin {
	o := tool.Origin{Type: sourceType, SourceID: r.id, Ref: r.ref, Path: file, Start: source.Position{Line: line, Column: column}}
	if line > 0 {
		o.Location = file + ":" + strconv.Itoa(line)
	}
	return o
}

// dynamic records a surface that cannot be listed by reading.
func (r *reader) dynamic(kind, reason, name string, at tool.Origin) {
	if reason == "" {
		reason = "unsupported_expression"
	}
	r.out.Dynamic = append(r.out.Dynamic, tool.Dynamic{Framework: "mcp_server", Kind: kind, Reason: reason, Name: name, Origin: at})
}

// definition is one tool as the code defines it. A nil schema is one that is
// not given; computed is one that is and cannot be read.
type definition struct {
	name, description string
	input, output     schema
	annotations       map[string]any
	at                tool.Origin
}

// schema is a JSON Schema. Unknown is why a part of it is not known; with a nil
// value nothing is.
type schema struct {
	value   map[string]any
	unknown string
}

// add keeps a tool. The same definition again, in another branch or file, is
// one tool; another one of the same name stays, because it may do more.
func (r *reader) add(d definition) {
	t := tool.Tool{
		Name: d.name, Description: strings.TrimSpace(d.description), Origin: d.at,
		Annotations: d.annotations, Method: "parsed", Confidence: tool.Medium,
	}
	if d.input.value != nil {
		t.Input = any(d.input.value)
		t.Params = tool.Parameters(t.Input)
	}
	if d.output.value != nil {
		t.Output = any(d.output.value)
	}
	if d.input.unknown != "" {
		if t.Input == nil {
			if t.Annotations == nil {
				t.Annotations = map[string]any{}
			}
			t.Annotations["mcp_unknown_schema"] = true
		}
		r.dynamic("schema", d.input.unknown, d.name, d.at)
	}
	if i, ok := r.seen[d.name]; ok {
		r.out.Warn("duplicate_tool", "the tool "+strconv.Quote(d.name)+" is registered twice", d.at)
		if sameTool(&r.out.Tools[i], &t) {
			return
		}
	}
	r.seen[d.name] = len(r.out.Tools)
	r.out.Tools = append(r.out.Tools, t)
}

func sameTool(a, b *tool.Tool) bool {
	view := func(t *tool.Tool) []byte {
		return canonical.UTF8.Append(nil, []any{t.Description, t.Input, t.Output, t.Annotations})
	}
	return bytes.Equal(view(a), view(b))
}
