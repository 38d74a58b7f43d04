package surface

import (
	"cmp"
	"path"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// ToolSource is one row of tool_sources of a manifest, as far as the gate
// looks at it (docs/spec/verification.md §4.4).
type ToolSource struct {
	ID, Type, Path, Mode string
	Pos                  source.Position
}

// ManifestDoc is a shipgate.yaml as the gate reads it: leniently, because a
// manifest with a mistake still declares what it declares. Package verify reads
// it strictly.
type ManifestDoc struct {
	// Valid: the text parses and is a mapping with version, project and agent.
	// Only a valid one has sources.
	Valid   bool
	Value   source.Value
	Sources []ToolSource
	// Files are the files and folders that framework blocks name as sources of
	// tools, relative to the manifest (docs/spec/verification.md §4.5).
	Files []string
}

// toolFiles are the lists of framework blocks whose files offer tools.
var toolFiles = []struct{ block, list string }{
	{"openai_api", "tools"},
	{"openai_api", "function_schemas"},
	{"anthropic", "tools"},
	{"google_adk", "python_entrypoints"},
	{"google_adk", "agent_configs"},
	{"google_adk", "tool_inventories"},
	{"langchain", "python_entrypoints"},
	{"langchain", "tool_inventories"},
	{"crewai", "python_entrypoints"},
	{"crewai", "tool_inventories"},
	{"codex_plugins", "mcp_tool_inventories"},
	{"n8n", "workflows"},
	{"n8n", "tool_inventories"},
}

// ParseManifest reads the text of a manifest.
func ParseManifest(text []byte) ManifestDoc { return ReadManifest(text, source.ParseYAML) }

// ReadManifest is ParseManifest with a parser of YAML of the caller's.
func ReadManifest(text []byte, parse source.Parser) ManifestDoc {
	body, _ := source.TrimBOM(text)
	v, err := parse(body)
	if err != nil || !LooksLikeManifest(v) {
		return ManifestDoc{}
	}
	doc := ManifestDoc{Valid: true, Value: v}
	for _, row := range v.Get("tool_sources").Items {
		if row.Kind != source.Map {
			continue
		}
		doc.Sources = append(doc.Sources, ToolSource{
			ID: row.Get("id").Str(), Type: row.Get("type").Str(),
			Path: row.Get("path").Str(), Mode: row.Get("mode").Str(), Pos: row.Pos,
		})
	}
	for _, f := range toolFiles {
		for _, entry := range v.At(f.block, f.list).Items {
			if p := cmp.Or(entry.Str(), entry.Get("path").Str()); p != "" {
				doc.Files = append(doc.Files, p)
			}
		}
	}
	return doc
}

// LooksLikeManifest says whether a parsed file is a manifest of the gate,
// whatever it is called (docs/spec/boundary.md §5.3).
func LooksLikeManifest(v source.Value) bool {
	return v.Kind == source.Map && v.Get("version").Present() && v.Get("project").Present() && v.Get("agent").Present()
}

// ContainedPath resolves the path of a declaration against the folder of the
// file that makes it, by its letters alone. It must stay inside the repository
// and must not be its root, which would declare everything (§6.3).
func ContainedPath(dir, p string) (string, bool) {
	if p == "" || strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\\\x00") {
		return "", false
	}
	full := path.Join(dir, p)
	if full == "." || full == ".." || strings.HasPrefix(full, "../") || strings.HasPrefix(full, "/") {
		return "", false
	}
	return full, true
}

// MarketplaceDir is the folder that the plugin paths of a marketplace file are
// relative to: the one above its fixed place, else its own.
func MarketplaceDir(file string) string {
	dir := path.Dir(file)
	for _, place := range []string{".agents/plugins", ".claude-plugin"} {
		if dir == place {
			return "."
		}
		if above, ok := strings.CutSuffix(dir, "/"+place); ok {
			return above
		}
	}
	return dir
}

// PluginRoots is the path of every local plugin that a Codex or Claude
// marketplace names, relative to MarketplaceDir. A plugin that lives elsewhere
// is no file of this repository.
func PluginRoots(marketplace source.Value) []string {
	base := marketplace.At("metadata", "pluginRoot").Str()
	var out []string
	for _, plugin := range marketplace.Get("plugins").Items {
		p := localSource(plugin.Get("source"))
		if p == "" {
			continue
		}
		if base != "" && !strings.HasPrefix(p, "./") {
			p = path.Join(base, p)
		}
		out = append(out, p)
	}
	return out
}

// localSource is the path of a plugin source, or "" for a remote one.
func localSource(v source.Value) string {
	p := v.Str()
	if v.Kind == source.Map {
		switch v.Get("source").Str() {
		case "", "local", "directory", "file":
		default:
			return ""
		}
		for _, remote := range []string{"url", "repo", "package"} {
			if v.Get(remote).Present() {
				return ""
			}
		}
		p = v.Get("path").Str()
	}
	if strings.HasPrefix(p, "/") || strings.Contains(p, "://") || strings.HasPrefix(p, "git@") {
		return ""
	}
	return p
}
