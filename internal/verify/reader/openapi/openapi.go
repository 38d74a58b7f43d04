// Package openapi reads the operations of an OpenAPI 3.0 or 3.1 document as
// tools (docs/spec/verification.md §5.2 row openapi).
//
// The document is walked as a parsed tree with positions; no reference leaves
// it, and nothing is fetched. Why not a library: docs/decisions/0071.
package openapi

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// methods are the operations of a path item.
var methods = []string{"get", "put", "post", "delete", "patch", "options", "head", "trace"}

// ReadSource reads the document of one row of tool_sources.
func ReadSource(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	return Read(tree, s.Path, "openapi", s.ID)
}

// Read reads the document in the file name, under a source type and a source id.
func Read(tree fs.FS, name, sourceType, sourceID string) (*tool.Reading, *tool.SourceError) {
	text, err := tool.ReadFile(tree, name)
	if err != nil {
		err.SourceID = sourceID
		return nil, err
	}
	clean, _ := tool.Clean(name)
	return Parse(clean, text, sourceType, sourceID)
}

// Parse reads a document that is at hand as text; name says where it stands.
func Parse(name string, text []byte, sourceType, sourceID string) (*tool.Reading, *tool.SourceError) {
	root, err := tool.Parse(name, text)
	if err != nil {
		err.SourceID = sourceID
		return nil, err
	}
	d := &document{
		path: name, kind: sourceType, id: sourceID, root: root,
		out: &tool.Reading{}, budget: maxDocumentNodes,
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	return d.out, nil
}

// document is one document that is being read.
type document struct {
	path, kind, id string
	root           source.Value
	newer          bool // 3.1: what stands beside a $ref counts
	out            *tool.Reading
	seen           map[string]bool // names of tools
	budget         int             // schema nodes that may still be written out
}

func (d *document) fail(v source.Value, pointer, detail string) *tool.SourceError {
	return &tool.SourceError{
		SourceID: d.id, Path: d.path, Line: v.Pos.Line, Pointer: pointer, Problem: tool.Malformed, Detail: detail,
	}
}

func (d *document) origin(v source.Value, pos source.Position, pointer string) tool.Origin {
	return tool.Origin{
		Type: d.kind, SourceID: d.id, Ref: d.path, Path: d.path, Pointer: pointer, Start: pos, EndLine: tool.EndLine(v),
	}
}

func (d *document) warn(code, message string, v source.Value, pointer string) {
	d.out.Warnings = append(d.out.Warnings, tool.Warning{
		Code: code, Message: message, SourceID: d.id, Origin: d.origin(v, v.Pos, pointer),
	})
}

func (d *document) read() *tool.SourceError {
	if d.root.Kind != source.Map {
		return d.fail(d.root, "", "is not an OpenAPI document")
	}
	version := d.root.Get("openapi")
	switch text := version.Text; {
	case text == "3.1" || strings.HasPrefix(text, "3.1."):
		d.newer = true
	case text == "3" && version.Kind == source.Number: // 3.0 without quotes
	case text == "3.0" || strings.HasPrefix(text, "3.0."):
	default:
		return d.fail(d.root, "/openapi", "is not an OpenAPI document of version 3.0 or 3.1")
	}
	paths := d.root.Get("paths")
	if paths.Kind != source.Map {
		return d.fail(d.root, "/paths", "has no paths")
	}
	d.seen = map[string]bool{}
	for _, m := range paths.Members {
		if strings.HasPrefix(m.Key, "x-") {
			continue
		}
		if err := d.item(m); err != nil {
			return err
		}
	}
	return nil
}

// item reads one path item.
func (d *document) item(m source.Member) *tool.SourceError {
	pointer := tool.Pointer("paths", m.Key)
	if m.Value.Kind != source.Map {
		return d.fail(source.Value{Pos: m.Pos}, pointer, "a path item is not an object")
	}
	item := m.Value
	target, ok := d.follow(item, pointer)
	if !ok {
		d.out.Dynamic = append(d.out.Dynamic, tool.Dynamic{
			Framework: "openapi", Kind: "path_item", Reason: "unresolved_reference", Name: m.Key, Origin: d.origin(item, m.Pos, pointer),
		})
	}
	if target.Kind != source.Map {
		return d.fail(source.Value{Pos: m.Pos}, pointer, "a path item is not an object")
	}
	parts := []source.Value{item}
	if item.Get("$ref").Kind == source.String && ok {
		// An operation beside the reference is the item's own and stands for
		// that of the target.
		parts = append(parts, target)
	}
	for i, part := range parts {
		for _, field := range part.Members {
			if i > 0 && item.Get(field.Key).Present() {
				continue
			}
			if !slices.Contains(methods, field.Key) {
				d.unknownKey(field, pointer)
				continue
			}
			if field.Value.Kind != source.Map {
				return d.fail(source.Value{Pos: field.Pos}, pointer+"/"+field.Key, "an operation is not an object")
			}
			if err := d.operation(m.Key, part, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// itemKeys are the keys of a path item that hold no operation.
var itemKeys = []string{"$ref", "summary", "description", "servers", "parameters"}

func (d *document) unknownKey(field source.Member, pointer string) {
	if !slices.Contains(itemKeys, field.Key) && !strings.HasPrefix(field.Key, "x-") {
		d.warn("unknown_path_key", "a path item holds a key that is no method and was skipped", source.Value{Pos: field.Pos}, pointer+tool.Pointer(field.Key))
	}
}

// operation reads one operation as a tool.
func (d *document) operation(path string, item source.Value, field source.Member) *tool.SourceError {
	op, pointer := field.Value, tool.Pointer("paths", path, field.Key)
	t := tool.Tool{
		Name:        d.name(path, field, pointer),
		Description: joined(op.Get("summary").Str(), op.Get("description").Str()),
		Origin:      d.origin(op, field.Pos, pointer),
		Annotations: d.annotations(op, pointer),
		Auth:        d.auth(op, pointer),
		Method:      "declared",
		Confidence:  tool.High,
	}
	t.Annotations["httpMethod"] = strings.ToUpper(field.Key)
	t.Annotations["path"] = path
	t.Owner, _ = t.Annotations["owner"].(string)
	w := &writer{doc: d, pointer: pointer, budget: maxNodes}
	input, err := w.input(item, op)
	if err != nil {
		return err
	}
	t.Input = input
	t.Params = tool.Parameters(input)
	t.Output = (&writer{doc: d, pointer: pointer, budget: maxNodes}).output(op)
	if w.unresolved {
		// A part of the schema stands somewhere that is not read.
		t.Confidence = tool.Medium
	}
	if d.seen[t.Name] {
		d.warn("duplicate_tool", "two operations are named "+strconv.Quote(t.Name), op, pointer)
	}
	d.seen[t.Name] = true
	d.out.Tools = append(d.out.Tools, t)
	return nil
}

// name is the operationId, or method and path.
func (d *document) name(path string, field source.Member, pointer string) string {
	switch id := field.Value.Get("operationId"); {
	case id.Kind == source.String && strings.TrimSpace(id.Text) != "":
		return strings.TrimSpace(id.Text)
	case id.Present():
		d.warn("invalid_field", "operationId is not text", id, pointer+"/operationId")
	}
	rest := strings.NewReplacer("/", "_", "-", "_", "{", "", "}", "").Replace(strings.Trim(path, "/"))
	if rest == "" {
		rest = "root"
	}
	return field.Key + "_" + rest
}

func joined(summary, description string) string {
	return strings.TrimSpace(strings.TrimSpace(summary) + "\n" + strings.TrimSpace(description))
}

// extensions are the keys of §5.3 that OpenAPI spells with x- in front.
var extensions = []string{
	"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "retryPolicy", "auditLog", "dryRun", "rollback",
}

// annotations are the extensions of an operation. The map x-agents-shipgate is
// merged in; where both speak, the key of the operation stands and is told.
func (d *document) annotations(op source.Value, pointer string) map[string]any {
	out := map[string]any{}
	for _, key := range extensions {
		if v := op.Get("x-" + key); v.Present() {
			out[key] = tool.Plain(v)
		}
	}
	if v := op.Get("x-agents-shipgate-permissions"); v.Present() {
		out["x-agents-shipgate-permissions"] = tool.Plain(v)
	}
	more := op.Get("x-agents-shipgate")
	if more.Present() && more.Kind != source.Map {
		d.warn("invalid_field", "x-agents-shipgate is not an object", more, pointer+"/x-agents-shipgate")
	}
	for _, m := range more.Members {
		if v := op.Get("x-" + m.Key); v.Present() && slices.Contains(extensions, m.Key) {
			if !v.Equal(m.Value) {
				d.warn("conflicting_annotation", "x-"+m.Key+" and x-agents-shipgate differ", m.Value, pointer+tool.Pointer("x-agents-shipgate", m.Key))
			}
			continue
		}
		out[m.Key] = tool.Plain(m.Value)
	}
	return out
}
