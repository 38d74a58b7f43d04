package codex_test

import (
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/codex"
)

// Whatever a configuration holds, each tool of its reading has a name, a server
// and a place.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("[mcp_servers.a]\nenabled_tools=['x']\n[mcp_servers.a.tools.y]\nenabled=false\n"))
	f.Add([]byte("[plugins.p.mcp_servers.'a.b']\ncommand='x'\nenv={T_TOKEN=''}\nenv_vars=[1,{name=2}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := codex.ReadConfig(nil, manifest.Source{ID: "s", Path: "."}, tree(".codex/config.toml", string(text)))
		if (r == nil) == (err == nil) {
			t.Fatalf("%v and %v", r, err)
		}
		if r == nil {
			return
		}
		for _, o := range r.Tools {
			if o.Name == "" || o.Annotations["mcp_server"] == nil || o.Origin.Start.Line == 0 {
				t.Fatalf("%+v", o)
			}
		}
	})
}

// Whatever the files of a plugin hold, its reading ends.
func FuzzPlugin(f *testing.F) {
	f.Add([]byte(`{"name":"p","skills":["./s","./x.md"],"mcpServers":{"a":{}},"apps":[{"name":"x"}],"hooks":["../h"],"plugins":[{"source":"./p"}]}`), []byte(goodSkill))
	f.Add([]byte(`{"mcpServers":{"mcpServers":{"a":{"command":1}}},"plugins":[{"source":{"path":"p/../p"}}]}`), []byte("---\n- x\n---"))
	f.Fuzz(func(t *testing.T, text, skill []byte) {
		files := tree(
			"p/.codex-plugin/plugin.json", string(text), "p/.mcp.json", string(text), "p/.app.json", string(text), "p/hooks.json", string(text),
			"p/skills/a/SKILL.md", string(skill), "p/s/b/SKILL.md", string(skill), "p/x.md", string(skill),
		)
		m := &manifest.Manifest{Plugins: &manifest.Plugins{Inventories: []manifest.Artifact{{Path: "p/.mcp.json", Plugin: "p", Server: "a", Optional: true}}}}
		for _, s := range []manifest.Source{{ID: "s", Path: "p"}, {ID: "s", Mode: "marketplace", Path: "p/hooks.json"}} {
			if r, err := codex.ReadPlugin(m, s, files); (r == nil) == (err == nil) {
				t.Fatalf("%v and %v", r, err)
			}
		}
		if r, err := codex.ReadInventories(m, files); (r == nil) == (err == nil) {
			t.Fatalf("%v and %v", r, err)
		}
	})
}
