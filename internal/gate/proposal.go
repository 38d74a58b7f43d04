package gate

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// proposalSafe is the path of the configured manifest when the change does
// nothing to it but add well-formed tool sources, in one block (§5.3); empty
// otherwise. Such an addition only makes the gate look at more.
func proposalSafe(surfaces []*surface.Surface, m Manifest) string {
	s, before, after := onlyManifest(surfaces)
	if s == nil || !sameBut(before, after, toolSources) {
		return ""
	}
	added, ok := addedItems(before.Get(toolSources).Items, after.Get(toolSources).Items)
	if !ok || !blockReads(surface.Lines(s.Old.Bytes), surface.Lines(s.New.Bytes), added) {
		return ""
	}
	for _, row := range added {
		if !safeSource(row, m.SourceKinds) {
			return ""
		}
	}
	return s.Path
}

// unignores is the path of the configured manifest when the change does nothing
// to it but take rows out of checks.ignore (§5.3); empty otherwise. The gate
// then says more than it did, never less.
func unignores(surfaces []*surface.Surface) string {
	s, before, after := onlyManifest(surfaces)
	if s == nil || !sameBut(before, after, "checks") ||
		!sameBut(before.Get("checks"), after.Get("checks"), "ignore") {
		return ""
	}
	left, had := after.At("checks", "ignore").Items, before.At("checks", "ignore").Items
	if _, dropped := addedItems(left, had); !dropped || !subsequence(surface.Lines(s.New.Bytes), surface.Lines(s.Old.Bytes)) {
		return ""
	}
	return s.Path
}

// subsequence says whether every line of part is a line of whole, in order. A
// line that is left with an empty list is no new text.
func subsequence(part, whole []string) bool {
	for _, line := range part {
		if emptied(line) {
			continue
		}
		i := slices.Index(whole, line)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}

func emptied(line string) bool {
	line = strings.TrimSpace(line)
	return line == "ignore: []" || line == "[]"
}

// onlyManifest is the one manifest that the change touches, when it is the
// configured one, a plain file on both sides, and reads as a manifest on both.
func onlyManifest(surfaces []*surface.Surface) (s *surface.Surface, before, after source.Value) {
	for _, c := range surfaces {
		if !c.Manifest && c.Class != surface.ClassManifest {
			continue
		}
		if s != nil {
			return nil, before, after
		}
		s = c
	}
	if s == nil || !s.Manifest || s.Link != nil || s.ModeOnly || !known(s.Old) || !known(s.New) {
		return nil, before, after
	}
	before, oldErr := source.ParseYAML(s.Old.Bytes)
	after, newErr := source.ParseYAML(s.New.Bytes)
	if oldErr != nil || newErr != nil || !isManifest(before) || !isManifest(after) {
		return nil, before, after
	}
	return s, before, after
}

const toolSources = "tool_sources"

func known(s surface.Side) bool { return s.Present && s.Unresolved == "" }

// isManifest says whether the text can be one at all.
func isManifest(v source.Value) bool {
	return v.Get("version").Present() && v.Get("project").Present() && v.Get("agent").Present() &&
		v.Get(toolSources).Kind == source.List
}

// sameBut says whether two mappings are equal in every member but one.
func sameBut(a, b source.Value, except string) bool {
	rest := func(v source.Value) source.Value {
		v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m source.Member) bool { return m.Key == except })
		return v
	}
	return rest(a).Equal(rest(b))
}

// addedItems is what b holds beyond a; false unless all of a is in b, in order,
// and something was added.
func addedItems(a, b []source.Value) ([]source.Value, bool) {
	var added []source.Value
	for _, item := range b {
		if len(a) > 0 && a[0].Equal(item) {
			a = a[1:]
			continue
		}
		added = append(added, item)
	}
	return added, len(a) == 0 && len(added) > 0
}

// blockReads says whether the new text is the old one with one block of lines
// put in, and the block, read by itself, is exactly the added rows. A block
// whose last line equals the line before it can be cut out at more than one
// place; every place counts.
func blockReads(before, after []string, added []source.Value) bool {
	size := len(after) - len(before)
	if size <= 0 {
		return false
	}
	start := 0
	for start < len(before) && before[start] == after[start] {
		start++
	}
	if !slices.Equal(before[start:], after[start+size:]) {
		return false
	}
	for {
		if readsAs(after[start:start+size], added) {
			return true
		}
		if start == 0 || after[start-1] != after[start+size-1] {
			return false
		}
		start--
	}
}

func readsAs(lines []string, rows []source.Value) bool {
	for _, l := range lines {
		if t := strings.TrimSpace(l); t == "" || strings.Contains(t, "#") {
			return false
		}
	}
	list, err := source.ParseYAML([]byte(strings.Join(lines, "\n") + "\n"))
	return err == nil && list.Equal(source.Value{Kind: source.List, Items: rows})
}

// safeSource says whether an added row names one source of a built-in type that
// lies where it says.
func safeSource(row source.Value, kinds map[string]string) bool {
	for _, m := range row.Members {
		switch m.Key {
		case "id", "type", "path", "mode":
			if m.Value.Str() == "" {
				return false
			}
		default:
			return false
		}
	}
	path := row.Get("path").Str()
	if row.Get("id").Str() == "" || !contained(path) {
		return false
	}
	mode, kind := row.Get("mode").Str(), kinds[path]
	switch row.Get("type").Str() {
	case "codex_plugin":
		return mode == "package" && kind == "plugin" || mode == "marketplace" && kind == "marketplace"
	case "mcp", "openapi", "conductor":
		return mode == "" && kind == "file"
	case "openai_agents_sdk", "google_adk", "langchain", "crewai", "codex_config", "mcp_server":
		return mode == "" && kind != ""
	}
	return false
}

// contained says whether path stays inside its folder by its spelling alone.
func contained(path string) bool {
	return path != "" && !strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "\\:") &&
		!slices.Contains(strings.Split(path, "/"), "..")
}
