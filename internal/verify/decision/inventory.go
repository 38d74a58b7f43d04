package decision

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// listedTool is one tool of an inventory as ReadMCP reads it.
type listedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       any             `json:"inputSchema,omitempty"`
	Annotations map[string]bool `json:"annotations,omitempty"`
}

// suggestedInventory is one inventory that a person may take over.
type suggestedInventory struct {
	SourceID  string   `json:"source_id"`
	Framework string   `json:"framework"`
	Path      string   `json:"source_path"`
	Key       *string  `json:"manifest_key"`
	Places    []string `json:"seen_at"`
	Content   struct {
		Tools []listedTool `json:"tools"`
	} `json:"content"`
}

// Inventory is suggested-inventory.json: what was seen where reading could not
// list the tools, or not with certainty, by source. Content is a whole inventory
// file, but for what only its owner knows (D70.W4).
func Inventory(head *effect.Surface) []byte {
	if head == nil || head.Reading == nil {
		return nil
	}
	entries := []*suggestedInventory{}
	bySource := map[[3]string]*suggestedInventory{}
	add := func(source, framework, path, at string, t listedTool) {
		key := [3]string{source, framework, path}
		e := bySource[key]
		if e == nil {
			e = &suggestedInventory{SourceID: source, Framework: framework, Path: path, Key: inventoryKey(framework)}
			bySource[key] = e
			entries = append(entries, e)
		}
		e.Places = append(e.Places, at)
		e.Content.Tools = append(e.Content.Tools, t)
	}
	for i := range head.Reading.Dynamic {
		d := &head.Reading.Dynamic[i]
		if !d.Resolved && d.Name != "" {
			add(d.Origin.SourceID, d.Framework, d.Origin.Path, place(d.Origin), listedTool{Name: d.Name})
		}
	}
	declared := sourcePaths(head.Manifest)
	for _, t := range head.Catalog {
		if o := &t.Origin; len(t.Members) == 1 && !t.Confidence.AtLeast(tool.High) && !t.Wildcard() && head.Reach[t.ID] != effect.Unbound {
			path, ok := declared[o.SourceID]
			if !ok {
				path = o.Path
			}
			add(o.SourceID, o.Type, path, place(*o), listing(t))
		}
	}
	for _, e := range entries {
		e.Places = unique(e.Places)
		slices.SortStableFunc(e.Content.Tools, func(a, b listedTool) int { return strings.Compare(a.Name, b.Name) })
		e.Content.Tools = slices.CompactFunc(e.Content.Tools, func(a, b listedTool) bool { return a.Name == b.Name })
	}
	slices.SortFunc(entries, func(a, b *suggestedInventory) int {
		return strings.Compare(a.SourceID+"\x00"+a.Framework+"\x00"+a.Path, b.SourceID+"\x00"+b.Framework+"\x00"+b.Path)
	})
	return pretty(struct {
		Schema      string                `json:"schema_version"`
		Inventories []*suggestedInventory `json:"inventories"`
	}{"shipgate.suggested_inventory/v1", entries})
}

// listing is a tool of code as a list would have it.
func listing(t *effect.Tool) listedTool {
	l := listedTool{Name: t.Name, Description: redact.Text(t.Description)}
	if t.Input != nil {
		l.Input = redact.Value("", t.Input)
	}
	for _, hint := range []string{"destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"} {
		if value, ok := t.Flag(hint); ok {
			if l.Annotations == nil {
				l.Annotations = map[string]bool{}
			}
			l.Annotations[hint] = value
		}
	}
	return l
}

// sourcePaths is what the manifest declares as the sources of tools, by id.
func sourcePaths(m *manifest.Manifest) map[string]string {
	if m == nil {
		return nil
	}
	paths := make(map[string]string, len(m.Sources))
	for i := range slices.Backward(m.Sources) {
		paths[m.Sources[i].ID] = m.Sources[i].Path // the first of an id counts
	}
	return paths
}
