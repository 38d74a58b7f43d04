// Package codex reads what Codex brings along: the MCP servers of a
// configuration, and plugin packages with their components
// (docs/spec/verification.md §5.2, rows codex_config and codex_plugin).
//
// The facts of a configuration come from package surface, which also guards its
// changes: one reader, one meaning.
package codex

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// ConfigFile is where Codex keeps its settings below a folder.
const ConfigFile = ".codex/config.toml"

// ReadConfig reads one row of tool_sources of type codex_config: a folder with
// .codex/config.toml, or that file. Every tool that a server is known to offer
// is one tool named "<server>.<tool>", because a name is only unique in its
// server; a server that may offer anything is one stub "<server>.*" (§5.2).
func ReadConfig(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	file := s.Path
	if path.Ext(file) != ".toml" {
		file = path.Join(file, ConfigFile)
	}
	text, serr := tool.ReadFile(tree, file)
	if serr != nil {
		serr.SourceID = s.ID
		return nil, serr
	}
	file, _ = tool.Clean(file)
	text, _ = source.TrimBOM(text)
	root, err := source.ParseTOML(text)
	if err != nil {
		return nil, &tool.SourceError{
			SourceID: s.ID, Path: file, Line: err.Pos.Line, Problem: tool.Malformed, Detail: "is not valid TOML, or holds a key twice", Err: err,
		}
	}
	c := &config{out: &tool.Reading{}, at: tool.Origin{Type: "codex_config_mcp", SourceID: s.ID, Ref: s.Path, Path: file}}
	tables := serverTables(root)
	view := surface.CodexConfigOf(surface.Doc{Value: root})
	for i := range view.Servers {
		server := &view.Servers[i]
		c.server(server, tables[server.Ref])
	}
	return c.out, nil
}

// serverTables are the tables of all servers by their dotted name.
func serverTables(root source.Value) map[string]source.Value {
	out := map[string]source.Value{}
	add := func(prefix string, servers source.Value) {
		for _, m := range servers.Members {
			out[prefix+"."+m.Key] = m.Value
		}
	}
	add("mcp_servers", root.Get("mcp_servers"))
	for _, plugin := range root.Get("plugins").Members {
		add("plugins."+plugin.Key+".mcp_servers", plugin.Value.Get("mcp_servers"))
	}
	return out
}

type config struct {
	out *tool.Reading
	at  tool.Origin
}

// serverName is how a server is called among tools: its own name, behind that
// of the plugin that brings it.
func serverName(ref string) string {
	if name, ok := strings.CutPrefix(ref, "mcp_servers."); ok {
		return name
	}
	plugin, name, _ := strings.Cut(strings.TrimPrefix(ref, "plugins."), ".mcp_servers.")
	return plugin + "." + name
}

// server adds the tools of one server. One that is switched off offers none.
func (c *config) server(s *surface.CodexServer, table source.Value) {
	if s.Disabled {
		return
	}
	name := serverName(s.Ref)
	secrets := secretNames(table)
	modes := map[string]string{}
	for _, m := range table.Get("tools").Members {
		modes[m.Key] = m.Value.Get("approval_mode").Str()
	}
	off := map[string]bool{}
	for _, v := range table.Get("disabled_tools").Strings() {
		off[v.Text] = true
	}
	for i := range s.Tools {
		if s.Tools[i].Disabled {
			off[s.Tools[i].Name] = true
		}
	}
	listed := map[string]bool{}
	for _, n := range s.Listed {
		listed[n] = true
	}
	usual := table.Get("default_tools_approval_mode").Str()
	entry := func(offered, mode string) tool.Tool {
		t := tool.Tool{
			Name: name + "." + offered, Origin: c.at, Method: "stub", Confidence: tool.Medium,
			Annotations: map[string]any{"mcp_server": name, "mcp_unknown_schema": true},
		}
		t.Origin.Start, t.Origin.EndLine = table.Pos, tool.EndLine(table)
		if mode == "" {
			mode = usual
		}
		if mode != "" {
			t.Annotations["mcp_approval_mode"] = mode
		}
		if len(secrets) > 0 {
			t.Annotations["mcp_env_secret_names"] = secrets
		}
		return t
	}
	for _, offered := range s.Names() {
		// With a list, a table of a tool that is not on it switches nothing on.
		if off[offered] || offered == "" || s.Restricted && !listed[offered] {
			continue
		}
		c.out.Tools = append(c.out.Tools, entry(offered, modes[offered]))
	}
	if s.Restricted {
		return
	}
	t := entry("*", "")
	t.Confidence = tool.Low
	t.Annotations["mcp_wildcard_tools"] = true
	c.out.Tools = append(c.out.Tools, t)
	c.out.Dynamic = append(c.out.Dynamic, tool.Dynamic{
		Framework: "codex_config", Kind: "wildcard", Reason: "wildcard", Name: name, Filtered: len(off) > 0, Origin: t.Origin,
	})
}

// secretWords are what the name of an environment variable that holds a secret
// contains (§12.3, ENV-SECRET-PASSTHROUGH).
func secretWord(name string) bool {
	lower := strings.ToLower(name)
	for _, word := range []string{"api_key", "apikey", "auth", "credential", "password", "secret", "token"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// secretNames are the environment variables with secrets that a server gets:
// set for it, passed on to it, or sent to it in a header. Names only; sorted.
func secretNames(table source.Value) []any {
	var names []string
	for _, m := range table.Get("env").Members {
		names = append(names, m.Key)
	}
	for _, v := range table.Get("env_vars").Items {
		name := v.Str()
		if v.Kind == source.Map {
			name = v.Get("name").Str()
		}
		names = append(names, name)
	}
	for _, m := range table.Get("env_http_headers").Members {
		names = append(names, m.Value.Str())
	}
	if bearer := table.Get("bearer_token_env_var").Str(); bearer != "" {
		names = append(names, bearer)
	}
	slices.Sort(names)
	var out []any
	for _, name := range slices.Compact(names) {
		if secretWord(name) {
			out = append(out, name)
		}
	}
	return out
}
