package surface

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// What lies at the path of a tool source, as Input.Manifest.SourceKinds of
// package gate says it.
const (
	SourceFile        = "file"
	SourceDir         = "dir"
	SourcePlugin      = "plugin"      // a package folder with .codex-plugin/plugin.json
	SourceMarketplace = "marketplace" // a plugin marketplace file
)

// ProposalSafeAddition says whether a changed manifest gains nothing but
// well-formed tool sources, so that it needs no catch-all row
// (docs/spec/boundary.md §5.3). added and removed are the changed lines; kinds
// is what lies at the path of each added source, by the path as written.
//
// That no other manifest is touched is for the caller to know.
func ProposalSafeAddition(before, after []byte, added []AddedLine, removed int, kinds map[string]string) bool {
	if removed > 0 || len(added) == 0 {
		return false
	}
	for _, l := range added {
		if strings.TrimSpace(l.Text) == "" || hasComment(l.Text) {
			return false
		}
	}
	was, is := ParseManifest(before), ParseManifest(after)
	if !was.Valid || !is.Valid || !sameButSources(was.Value, is.Value) {
		return false
	}
	rows, ok := addedRows(was.Value.Get("tool_sources"), is.Value.Get("tool_sources"))
	if !ok || len(rows) == 0 || !uniqueIDs(is.Sources) {
		return false
	}
	for _, row := range rows {
		if !safeRow(row, kinds) {
			return false
		}
	}
	hadKey := was.Value.Get("tool_sources").Present()
	for _, text := range insertions(Lines(before), Lines(after)) {
		v, err := source.ParseYAML([]byte(text))
		if err != nil {
			continue
		}
		if !hadKey && v.Kind == source.Map && len(v.Members) == 1 {
			// The first sources of a manifest bring their key with them.
			v = v.Get("tool_sources")
		}
		if v.Equal(source.Value{Kind: source.List, Items: rows}) {
			return true
		}
	}
	return false
}

// hasComment says whether a line may hold a YAML comment. A mark inside a
// quoted text counts as one too.
func hasComment(line string) bool {
	for i := 0; i < len(line); i++ {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return true
		}
	}
	return false
}

// sameButSources compares two manifests without their tool sources.
func sameButSources(a, b source.Value) bool {
	rest := func(v source.Value) source.Value {
		out := source.Value{Kind: source.Map}
		for _, m := range v.Members {
			if m.Key != "tool_sources" {
				out.Members = append(out.Members, m)
			}
		}
		return out
	}
	return rest(a).Equal(rest(b))
}

// addedRows is what the new list has beside the old rows, which must all be
// there, unchanged and in order.
func addedRows(was, is source.Value) (rows []source.Value, ok bool) {
	if is.Kind != source.List || was.Present() && was.Kind != source.List {
		return nil, false
	}
	next := 0
	for _, row := range is.Items {
		if next < len(was.Items) && row.Equal(was.Items[next]) {
			next++
			continue
		}
		rows = append(rows, row)
	}
	return rows, next == len(was.Items)
}

func uniqueIDs(list []ToolSource) bool {
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		if seen[s.ID] {
			return false
		}
		seen[s.ID] = true
	}
	return true
}

// safeRow says whether a row names one existing thing inside the repository
// and asks for nothing else.
func safeRow(row source.Value, kinds map[string]string) bool {
	if row.Kind != source.Map {
		return false
	}
	for _, m := range row.Members {
		if m.Value.Kind != source.String {
			return false
		}
		switch m.Key {
		case "id", "type", "path", "mode":
		default:
			return false
		}
	}
	p, mode := row.Get("path").Str(), row.Get("mode")
	if row.Get("id").Str() == "" || !plainPath(p) {
		return false
	}
	kind := kinds[p]
	switch row.Get("type").Str() {
	case "mcp", "openapi", "conductor":
		return !mode.Present() && (kind == SourceFile || kind == SourceMarketplace)
	case "codex_plugin":
		return mode.Str() == "package" && kind == SourcePlugin || mode.Str() == "marketplace" && kind == SourceMarketplace
	case "openai_agents_sdk", "google_adk", "langchain", "crewai", "codex_config", "mcp_server":
		return !mode.Present() && kind != ""
	}
	return false
}

// plainPath says whether p is a relative path below the manifest's folder that
// never steps up.
func plainPath(p string) bool {
	if _, ok := ContainedPath(".", p); !ok {
		return false
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == ".." {
			return false
		}
	}
	return true
}

// insertions is the lines that after has beside those of before, as texts: once
// with the old lines found from the top and once from the bottom, since a line
// that occurs on both sides of an insertion can belong to either. Nothing when
// a line of before is missing.
func insertions(before, after []string) []string {
	var down, up []string
	next := 0
	for _, l := range after {
		if next < len(before) && l == before[next] {
			next++
			continue
		}
		down = append(down, l)
	}
	if next < len(before) {
		return nil
	}
	next = len(before) - 1
	for i := len(after) - 1; i >= 0; i-- {
		if next >= 0 && after[i] == before[next] {
			next--
			continue
		}
		up = append(up, after[i])
	}
	slices.Reverse(up)
	return []string{strings.Join(down, "\n"), strings.Join(up, "\n")}
}
