package check

import (
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Find runs the check and fills what every finding of it has in common: a Run
// function says only what is particular. A check without Run finds nothing.
func (c *Check) Find(s *Subject) []Finding {
	if c.Run == nil {
		return nil
	}
	found := c.Run(s)
	for i := range found {
		c.fill(s, &found[i])
	}
	return found
}

// fill sets what f leaves open. A check that is not dynamic cannot choose its
// severity below the floor: Evaluate raises it.
func (c *Check) fill(s *Subject, f *Finding) {
	f.CheckID = c.ID
	if f.Category == "" {
		f.Category = c.Category
	}
	if f.Title == "" {
		f.Title = c.Title
	}
	if f.Severity == "" {
		f.Severity = c.Severity
	}
	if f.Recommendation == "" {
		f.Recommendation = c.Recommendation
	}
	if f.Confidence == "" {
		f.Confidence = tool.High
	}
	if f.Provenance == "" {
		f.Provenance = StaticDeclaration
	}
	if f.AgentID == "" && s != nil && s.Surface != nil {
		f.AgentID = s.Graph.Root
	}
	if f.Evidence == nil {
		f.Evidence = map[string]any{}
	}
}

// about is a finding that points at a tool.
func about(t *effect.Tool) Finding {
	f := Finding{ToolID: t.ID, ToolName: t.Name, Source: SourceOf(t.Origin), Provenance: StaticDeclaration}
	if t.Tool.Method == "parsed" || t.Tool.Method == "prebuilt" || t.Origin.Location != "" { // a place in code
		f.Provenance = ASTExtraction
	}
	return f
}

// add appends one of many findings, of which so many may still come, this one
// among them. A finding is large: a list that grows step by step takes several
// times its memory, while room that is not needed is never touched.
func add(found []Finding, f Finding, left int) []Finding {
	const many = 64
	if n := len(found); n == cap(found) && n >= many {
		found = slices.Grow(found, left)
	}
	return append(found, f)
}

// inManifest is a finding that points at the value of the manifest under the
// given keys, or at the whole file when there is none.
func inManifest(m *manifest.Manifest, keys ...string) Finding {
	src := Source{Type: "manifest", Ref: m.Name, Path: m.Name}
	if at := m.At(keys...); len(keys) > 0 && at.Line > 0 {
		src.StartLine, src.StartColumn, src.Pointer = at.Line, at.Column, Pointer(keys...)
	}
	return Finding{Source: src, Provenance: StaticDeclaration}
}

// Pointer is the JSON pointer (RFC 6901) of a path of keys.
func Pointer(keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// index is a list index as a key of a path.
func index(i int) string { return strconv.Itoa(i) }
