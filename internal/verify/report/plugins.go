package report

import "plimsoll.dev/internal/verify/tool"

// pluginSurfaceJSON is codex_plugin_surface: what plugins bring besides tools
// (§5.2 row codex_plugin). It is named and not evaluated as tools.
type pluginSurfaceJSON struct {
	Plugins      []pluginJSON      `json:"plugins"`
	Marketplaces []marketplaceJSON `json:"marketplaces"`
}

type pluginJSON struct {
	SourceID   string             `json:"source_id"`
	Name       string             `json:"name"`
	Root       string             `json:"root"`
	Manifest   Text               `json:"manifest_path"`
	Issues     []string           `json:"issues"`
	Components []componentJSON    `json:"components"`
	Skills     []skillJSON        `json:"skills"`
	Servers    []pluginServerJSON `json:"mcp_servers"`
	Apps       []pluginAppJSON    `json:"apps"`
	Hooks      int                `json:"hook_count"`
}

type componentJSON struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`
	Reason Text   `json:"reason"` // missing or outside; null when it is there
}

type skillJSON struct {
	Name      string   `json:"name"`
	Path      string   `json:"path"`
	Missing   []string `json:"missing_fields"`
	Duplicate bool     `json:"duplicate"`
}

type pluginServerJSON struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Inventory Text   `json:"inventory_path"`
}

type pluginAppJSON struct {
	Name      string `json:"name"`
	Connector Text   `json:"connector_id"`
	Path      string `json:"path"`
	Local     bool   `json:"local_surface"`
}

type marketplaceJSON struct {
	SourceID string            `json:"source_id"`
	Path     string            `json:"path"`
	Entries  []marketEntryJSON `json:"entries"`
}

type marketEntryJSON struct {
	Plugin  string   `json:"plugin"`
	Missing []string `json:"missing"`
}

// pluginSurfaceOf is nil when no source is a plugin.
func pluginSurfaceOf(r *tool.Reading) *pluginSurfaceJSON {
	if r == nil || len(r.Plugins)+len(r.Markets) == 0 {
		return nil
	}
	s := &pluginSurfaceJSON{Plugins: []pluginJSON{}, Marketplaces: []marketplaceJSON{}}
	for i := range r.Plugins {
		p := &r.Plugins[i]
		row := pluginJSON{
			SourceID: p.SourceID, Name: p.Name, Root: p.Root, Manifest: Text(p.ManifestPath), Issues: list(p.Issues), Hooks: p.Hooks,
			Components: []componentJSON{}, Skills: []skillJSON{}, Servers: []pluginServerJSON{}, Apps: []pluginAppJSON{},
		}
		for _, c := range p.Components {
			row.Components = append(row.Components, componentJSON{c.Kind, c.Path, Text(c.Reason)})
		}
		for _, k := range p.Skills {
			row.Skills = append(row.Skills, skillJSON{k.Name, k.Path, list(k.MissingFields), k.Duplicate})
		}
		for _, v := range p.Servers {
			row.Servers = append(row.Servers, pluginServerJSON{v.Name, v.Path, Text(v.Inventory)})
		}
		for _, a := range p.Apps {
			row.Apps = append(row.Apps, pluginAppJSON{a.Name, Text(a.ConnectorID), a.Path, a.Local})
		}
		s.Plugins = append(s.Plugins, row)
	}
	for i := range r.Markets {
		m := &r.Markets[i]
		row := marketplaceJSON{SourceID: m.SourceID, Path: m.Path, Entries: []marketEntryJSON{}}
		for _, e := range m.Entries {
			row.Entries = append(row.Entries, marketEntryJSON{e.Plugin, list(e.Missing)})
		}
		s.Marketplaces = append(s.Marketplaces, row)
	}
	return s
}
