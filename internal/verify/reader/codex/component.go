package codex

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify/tool"
)

// maxSkills bounds the skills of one plugin.
const maxSkills = 1000

// pluginFiles reads the components of one plugin.
type pluginFiles struct {
	*pluginReader
	root string
	v    source.Value
	p    tool.Plugin

	skillNames map[string]bool
}

// A component is a part that a plugin names by a path, or that stands at the
// place where Codex looks by itself.
type component struct {
	kind, key string
	usual     []string
	read      func(name string, dir bool) *tool.SourceError
	inline    func(v source.Value)
}

// components looks at every part in the order of the plugin file's
// documentation: skills, servers, apps, hooks, pictures.
func (f *pluginFiles) components() *tool.SourceError {
	for _, c := range []component{
		{"skills", "skills", []string{"skills"}, f.skills, nil},
		{"mcp_servers", "mcpServers", []string{".mcp.json"}, f.servers, func(v source.Value) { f.serversIn(v, f.p.ManifestPath) }},
		{"apps", "apps", []string{".app.json"}, f.apps, func(v source.Value) { f.appsIn(v, f.p.ManifestPath) }},
		{"hooks", "hooks", []string{"hooks/hooks.json", "hooks.json"}, f.hooks, f.hooksIn},
	} {
		if err := f.component(c); err != nil {
			return err
		}
	}
	for _, key := range []string{"composerIcon", "logo"} {
		f.named("assets", f.v.At("interface", key))
	}
	for _, v := range f.v.At("interface", "screenshots").Items {
		f.named("assets", v)
	}
	return nil
}

func (f *pluginFiles) component(c component) *tool.SourceError {
	v := f.v.Get(c.key)
	switch v.Kind {
	case source.Map:
		if c.inline != nil {
			c.inline(v)
		}
		return nil
	case source.String, source.List:
		items := v.Items
		if v.Kind == source.String {
			items = []source.Value{v}
		}
		for _, item := range items {
			if item.Kind == source.Map && c.inline != nil {
				c.inline(item)
				continue
			}
			name, dir, ok := f.named(c.kind, item)
			if !ok {
				continue
			}
			if err := c.read(name, dir); err != nil {
				return err
			}
		}
		return nil
	case source.Null, source.Bool, source.Number, source.Date:
	}
	for _, name := range c.usual {
		at, reason, dir := f.state(f.root, name)
		if reason == "missing" {
			continue
		}
		f.p.Components = append(f.p.Components, tool.Component{Kind: c.kind, Path: at, Reason: reason})
		if reason == "" {
			if err := c.read(at, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// named records a component that the plugin names, and says whether it is there.
func (f *pluginFiles) named(kind string, v source.Value) (name string, dir, ok bool) {
	if v.Kind != source.String || v.Text == "" {
		return "", false, false
	}
	name, reason, dir := f.state(f.root, v.Text)
	f.p.Components = append(f.p.Components, tool.Component{Kind: kind, Path: name, Reason: reason})
	return name, dir, reason == ""
}

// skills reads every SKILL.md of a folder of skills, or of one skill.
func (f *pluginFiles) skills(name string, dir bool) *tool.SourceError {
	if !dir {
		return f.skill(name)
	}
	if _, reason, isDir := f.state(name, "SKILL.md"); reason == "" && !isDir {
		return f.skill(path.Join(name, "SKILL.md"))
	}
	entries, err := fs.ReadDir(f.tree, name)
	if err != nil {
		return &tool.SourceError{Path: name, Problem: tool.Unreadable, Detail: "could not be read", Err: err}
	}
	if len(entries) > maxSkills {
		return &tool.SourceError{Path: name, Problem: tool.TooLarge, Detail: "holds more than 1000 skills"}
	}
	for _, entry := range entries {
		file := path.Join(name, entry.Name(), "SKILL.md")
		info, err := fs.Stat(f.tree, file)
		if err != nil || info.IsDir() {
			if entry.IsDir() && errors.Is(err, fs.ErrNotExist) {
				// A folder of skills with one that has none: it has no name either.
				f.p.Skills = append(f.p.Skills, tool.Skill{Name: entry.Name(), Path: file, MissingFields: []string{"name", "description"}})
			}
			continue
		}
		if err := f.skill(file); err != nil {
			return err
		}
	}
	return nil
}

// skill reads the front matter of one SKILL.md.
func (f *pluginFiles) skill(file string) *tool.SourceError {
	text, err := tool.ReadFile(f.tree, file)
	if err != nil {
		return err
	}
	s := tool.Skill{Path: file}
	head, perr := frontMatter(text)
	if perr != nil {
		f.warn("malformed_skill", "the front matter of a skill is not valid YAML", file, perr.Pos)
	}
	s.Name = strings.TrimSpace(head.Get("name").Str())
	for _, key := range []string{"name", "description"} {
		if strings.TrimSpace(head.Get(key).Str()) == "" {
			s.MissingFields = append(s.MissingFields, key)
		}
	}
	if s.Name == "" {
		s.Name = path.Base(path.Dir(file))
	}
	s.Duplicate, f.skillNames[s.Name] = f.skillNames[s.Name], true
	f.p.Skills = append(f.p.Skills, s)
	return nil
}

// frontMatter is the YAML between the first line "---" and the next one; an
// empty value when there is none.
func frontMatter(text []byte) (source.Value, *source.ParseError) {
	text, _ = source.TrimBOM(text)
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return source.Value{}, nil
	}
	head, _, ok := bytes.Cut(append([]byte("\n"), rest...), []byte("\n---"))
	if !ok {
		return source.Value{}, nil
	}
	return source.ParseYAML(head)
}

func (f *pluginFiles) warn(code, message, file string, pos source.Position) {
	f.out.Warn(code, message, tool.Origin{Type: "codex_plugin", SourceID: f.s.ID, Ref: f.s.Path, Path: file, Start: pos})
}

func (f *pluginFiles) servers(name string, _ bool) *tool.SourceError {
	v, err := f.document(name)
	if err == nil {
		f.serversIn(v, name)
	}
	return err
}

// serversIn reads a map of servers, with or without the key that hosts put
// around it.
func (f *pluginFiles) serversIn(v source.Value, file string) {
	wrapped := false
	for _, key := range []string{"mcpServers", "mcp_servers", "servers"} {
		if m := v.Get(key); m.Kind == source.Map {
			wrapped = true
			f.serverMap(m, file)
		}
	}
	if !wrapped {
		f.serverMap(v, file)
	}
}

func (f *pluginFiles) serverMap(v source.Value, file string) {
	for _, m := range v.Members {
		if m.Value.Kind != source.Map {
			continue
		}
		f.p.Servers = append(f.p.Servers, tool.PluginServer{Name: m.Key, Path: file, Inventory: f.inventoryOf(f.p.Name, m.Key)})
	}
}

func (f *pluginFiles) apps(name string, _ bool) *tool.SourceError {
	v, err := f.document(name)
	if err == nil {
		f.appsIn(v, name)
	}
	return err
}

// appsIn reads {"apps": {"<name>": {"id": "…"}}}, or a list of such objects.
func (f *pluginFiles) appsIn(v source.Value, file string) {
	apps := v.Get("apps")
	if !apps.Present() {
		apps = v
	}
	for _, m := range apps.Members {
		if m.Value.Kind == source.Map {
			f.app(m.Key, m.Value, file)
		}
	}
	for _, item := range apps.Items {
		f.app(item.Get("name").Str(), item, file)
	}
}

// app records a connector. What it offers is known here only when it lists its
// tools or an inventory of the plugin does.
func (f *pluginFiles) app(name string, v source.Value, file string) {
	id := ""
	for _, key := range []string{"id", "connector_id", "connectorId"} {
		if id == "" {
			id = v.Get(key).Str()
		}
	}
	f.p.Apps = append(f.p.Apps, tool.PluginApp{
		Name: name, ConnectorID: id, Path: file,
		Local: len(v.Get("tools").Items) > 0 || f.inventoryOf(f.p.Name, name) != "",
	})
}

func (f *pluginFiles) hooks(name string, _ bool) *tool.SourceError {
	v, err := f.document(name)
	if err == nil {
		f.hooksIn(v)
	}
	return err
}

func (f *pluginFiles) hooksIn(v source.Value) {
	f.p.Hooks += len(surface.CodexHooksOf(surface.Doc{Value: v}))
}
