package codex

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/tool"
)

// Where a plugin and a marketplace say what they are.
const (
	PluginFile = ".codex-plugin/plugin.json"
	MarketFile = ".agents/plugins/marketplace.json"
)

// maxPlugins bounds the local plugins of one marketplace.
const maxPlugins = 500

// ReadPlugin reads one row of tool_sources of type codex_plugin. Mode package:
// the path is the plugin's folder. Mode marketplace: the path is the
// marketplace file or the folder above its fixed place; its local entries are
// read. Without a mode a folder with a plugin file is a package. The plugins
// themselves yield no tool: tools come from ReadInventories (§5.2).
func ReadPlugin(m *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	r := &pluginReader{out: &tool.Reading{}, m: m, s: s, tree: tree, read: map[string]bool{}}
	err := r.source()
	if err != nil {
		err.SourceID = s.ID
		return nil, err
	}
	r.duplicates()
	return r.out, nil
}

// ReadInventories reads codex_plugins.mcp_tool_inventories: the tools of a
// plugin's servers, each list a source and an agent "<plugin>/<server>"
// (§6.4).
func ReadInventories(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	out := &tool.Reading{}
	if m.Plugins == nil {
		return out, nil
	}
	seen := map[string]bool{}
	for _, art := range m.Plugins.Inventories {
		agent := art.Plugin + "/" + art.Server
		id := tool.BlockSource("codex_plugins", agent)
		if seen[id] {
			id += "#" + art.Path // two lists of one server stay two sources
		}
		seen[id] = true
		found, err := listing.ReadInventory(tree, art, "codex_plugin_mcp_inventory", id)
		if err != nil {
			return nil, err
		}
		at := tool.Origin{Type: "codex_plugin_mcp_inventory", SourceID: id, Ref: art.Path, Path: art.Path}
		if loaded(found) {
			found.Agents = append(found.Agents, tool.Agent{Name: agent, Origin: at})
		}
		for i := range found.Tools {
			t := &found.Tools[i]
			if t.Annotations == nil {
				t.Annotations = map[string]any{}
			}
			// What the file itself says about its owner does not count.
			t.Annotations["codex_plugin"], t.Annotations["codex_plugin_mcp_server"] = art.Plugin, art.Server
			found.Edges = append(found.Edges, tool.Edge{
				Kind: tool.Toolset, Agent: agent, To: t.Name, Complete: true, Declared: true, Origin: t.Origin,
			})
		}
		out.Add(found)
	}
	return out, nil
}

func loaded(r *tool.Reading) bool {
	for _, s := range r.Sources {
		if s.State == tool.Loaded {
			return true
		}
	}
	return false
}

type pluginReader struct {
	out  *tool.Reading
	m    *manifest.Manifest
	s    manifest.Source
	tree fs.FS
	read map[string]bool // inventories by path: whether they can be read
}

func (r *pluginReader) source() *tool.SourceError {
	clean, ok := tool.Clean(r.s.Path)
	if !ok {
		return &tool.SourceError{Path: r.s.Path, Problem: tool.Outside, Detail: "the path leaves the manifest directory"}
	}
	switch {
	case r.s.Mode == "marketplace", r.s.Mode == "" && path.Ext(clean) == ".json" && path.Base(clean) != path.Base(PluginFile):
		return r.market(clean)
	case path.Base(clean) == path.Base(PluginFile):
		return r.plugin(path.Dir(path.Dir(clean)))
	}
	return r.plugin(clean)
}

// document reads one JSON file.
func (r *pluginReader) document(name string) (source.Value, *tool.SourceError) {
	text, err := tool.ReadFile(r.tree, name)
	if err != nil {
		return source.Value{}, err
	}
	v, err := tool.Parse(name, text)
	if err == nil && v.Kind != source.Map {
		err = &tool.SourceError{Path: name, Problem: tool.Malformed, Detail: "is not an object"}
	}
	return v, err
}

// market reads a marketplace and its local plugins.
func (r *pluginReader) market(file string) *tool.SourceError {
	if path.Ext(file) != ".json" {
		file = path.Join(file, MarketFile)
	}
	root, err := r.document(file)
	if err != nil {
		return err
	}
	market := tool.Marketplace{SourceID: r.s.ID, Path: file}
	for _, v := range root.Get("plugins").Items {
		entry := tool.MarketEntry{Plugin: v.Get("name").Str()}
		for _, keys := range [][]string{{"policy", "installation"}, {"policy", "authentication"}, {"category"}} {
			if v.At(keys...).Str() == "" {
				entry.Missing = append(entry.Missing, strings.Join(keys, "."))
			}
		}
		market.Entries = append(market.Entries, entry)
	}
	r.out.Markets = append(r.out.Markets, market)
	at := tool.Origin{Type: "codex_plugin", SourceID: r.s.ID, Ref: r.s.Path, Path: file}
	if len(market.Entries) == 0 {
		r.out.Warn("empty_marketplace", "the marketplace offers no plugin", at)
	}
	roots := surface.PluginRoots(root)
	if remote := len(market.Entries) - len(roots); remote > 0 {
		r.out.Warn("remote_plugin", "the marketplace offers plugins that are not in this repository; they were not read", at)
	}
	if len(roots) > maxPlugins {
		return &tool.SourceError{Path: file, Problem: tool.TooLarge, Detail: "offers more than 500 local plugins"}
	}
	dir, seen := surface.MarketplaceDir(file), map[string]bool{}
	for _, p := range roots {
		root, ok := tool.Clean(path.Join(dir, p))
		switch {
		case !ok:
			r.out.Warn("plugin_outside", "a plugin of the marketplace lies outside the manifest directory and was not read", at)
			continue
		case seen[root]:
			continue
		}
		seen[root] = true
		if err := r.plugin(root); err != nil {
			if err.Problem != tool.NotThere {
				return err
			}
			// The entry leads nowhere; that is a finding about the plugin.
			r.out.Plugins = append(r.out.Plugins, tool.Plugin{
				SourceID: r.s.ID, Name: path.Base(root), Root: root, ManifestPath: path.Join(root, PluginFile),
				Issues: []string{"missing_manifest"},
			})
		}
	}
	return nil
}

// plugin reads one package.
func (r *pluginReader) plugin(root string) *tool.SourceError {
	file := path.Join(root, PluginFile)
	v, err := r.document(file)
	if err != nil {
		return err
	}
	p := &pluginFiles{pluginReader: r, root: root, v: v, skillNames: map[string]bool{}, p: tool.Plugin{
		SourceID: r.s.ID, Name: v.Get("name").Str(), Root: root, ManifestPath: file,
	}}
	for _, key := range []string{"name", "version", "description"} {
		if strings.TrimSpace(v.Get(key).Str()) == "" {
			p.p.Issues = append(p.p.Issues, "missing_"+key)
		}
	}
	if base := path.Base(root); base != "." && p.p.Name != "" && p.p.Name != base {
		p.p.Issues = append(p.p.Issues, "name_differs_from_root")
	}
	if err := p.components(); err != nil {
		return err
	}
	r.out.Plugins = append(r.out.Plugins, p.p)
	return nil
}

// duplicates marks plugins of one source that share a name.
func (r *pluginReader) duplicates() {
	times := map[string]int{}
	for i := range r.out.Plugins {
		times[r.out.Plugins[i].Name]++
	}
	for i := range r.out.Plugins {
		if p := &r.out.Plugins[i]; p.Name != "" && times[p.Name] > 1 {
			p.Issues = append(p.Issues, "duplicate_name")
		}
	}
}

// inventoryOf is the path of the list that is declared and can be read for a
// server, or "".
func (r *pluginReader) inventoryOf(plugin, server string) string {
	if r.m.Plugins == nil {
		return ""
	}
	for _, art := range r.m.Plugins.Inventories {
		if art.Plugin != plugin || art.Server != server {
			continue
		}
		if _, known := r.read[art.Path]; !known {
			found, err := listing.ReadInventory(r.tree, art, "codex_plugin_mcp_inventory", r.s.ID)
			r.read[art.Path] = err == nil && loaded(found)
		}
		if r.read[art.Path] {
			return art.Path
		}
	}
	return ""
}

// state says what lies at a path of a plugin.
func (r *pluginReader) state(root, name string) (clean, reason string, dir bool) {
	if strings.HasPrefix(name, "/") || strings.Contains(name, `\`) {
		return name, "outside", false
	}
	clean = path.Join(root, name)
	if _, ok := tool.Clean(clean); !ok || root != "." && clean != root && !strings.HasPrefix(clean, root+"/") {
		return clean, "outside", false
	}
	info, err := fs.Stat(r.tree, clean)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return clean, "outside", false
	case err != nil:
		return clean, "missing", false
	}
	return clean, "", info.IsDir()
}
