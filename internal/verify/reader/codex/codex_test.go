package codex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/codex"
	"plimsoll.dev/internal/verify/tool"
)

// tree is a manifest directory: names and texts in turn.
func tree(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("%s:\n  got  %s\n  want %s", what, strings.Join(got, "\n       "), strings.Join(want, "\n       "))
	}
}

func shown(r *tool.Reading) []string {
	var out []string
	for i := range r.Tools {
		t := &r.Tools[i]
		out = append(out, fmt.Sprintf("%s:%d %s", t.Name, t.Origin.Start.Line, canonical.UTF8.String(t.Annotations)))
	}
	return out
}

func warnings(r *tool.Reading) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func config(t *testing.T, path string, files fstest.MapFS) *tool.Reading {
	t.Helper()
	r, err := codex.ReadConfig(nil, manifest.Source{ID: "host", Type: "codex_config", Path: path}, files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheServersOfAConfigurationAreTheToolsTheyOffer(t *testing.T) {
	text := `model = "x"

[mcp_servers.docs]
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
enabled_tools = ["search", "read"]
default_tools_approval_mode = "approve"

[mcp_servers.docs.tools.read]
approval_mode = "prompt"

[mcp_servers.docs.tools.extra]
approval_mode = "approve"

[mcp_servers.shell]
command = "run"
env = { PATH = "/bin", GITHUB_TOKEN = "" }
env_vars = ["API_KEY", { name = "HOME" }]
disabled_tools = ["rm"]

[mcp_servers.shell.tools.ls]
approval_mode = "auto"

[mcp_servers.off]
command = "x"
enabled = false
enabled_tools = ["never"]

[plugins.kit.mcp_servers.files]
command = "y"
allowed_tools = ["open", "open", "close"]
tools.close.enabled = false
`
	for _, path := range []string{".", "./", ".codex/config.toml"} {
		r := config(t, path, tree(".codex/config.toml", text))
		same(t, "tools", shown(r), []string{
			`docs.read:3 {"mcp_approval_mode":"prompt","mcp_env_secret_names":["DOCS_TOKEN"],"mcp_server":"docs","mcp_unknown_schema":true}`,
			`docs.search:3 {"mcp_approval_mode":"approve","mcp_env_secret_names":["DOCS_TOKEN"],"mcp_server":"docs","mcp_unknown_schema":true}`,
			`shell.ls:15 {"mcp_approval_mode":"auto","mcp_env_secret_names":["API_KEY","GITHUB_TOKEN"],"mcp_server":"shell","mcp_unknown_schema":true}`,
			`shell.*:15 {"mcp_env_secret_names":["API_KEY","GITHUB_TOKEN"],"mcp_server":"shell","mcp_unknown_schema":true,"mcp_wildcard_tools":true}`,
			`kit.files.open:29 {"mcp_server":"kit.files","mcp_unknown_schema":true}`,
		})
		if len(r.Dynamic) != 1 || r.Dynamic[0].Name != "shell" || !r.Dynamic[0].Filtered || len(r.Edges) != 0 {
			t.Errorf("dynamic %+v, edges %v", r.Dynamic, r.Edges)
		}
		for _, o := range r.Tools {
			if o.Origin.SourceID != "host" || o.Origin.Type != "codex_config_mcp" || o.Origin.Path != ".codex/config.toml" {
				t.Errorf("origin is %+v", o.Origin)
			}
		}
	}
	if r := config(t, "app", tree("app/.codex/config.toml", "model = 'x'")); len(r.Tools)+len(r.Dynamic) != 0 {
		t.Errorf("a configuration without servers yields %v", shown(r))
	}
}

func TestAConfigurationThatCannotBeReadStopsTheReading(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		files   fstest.MapFS
		problem tool.Problem
		line    int
	}{
		"not there":   {".", tree(), tool.NotThere, 0},
		"no TOML":     {".", tree(".codex/config.toml", "a = 1\n[mcp_servers\n"), tool.Malformed, 2},
		"a key twice": {".", tree(".codex/config.toml", "a = 1\na = 2\n"), tool.Malformed, 2},
		"outside":     {"../x", tree(), tool.Outside, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := codex.ReadConfig(nil, manifest.Source{ID: "host", Path: c.path}, c.files)
			if err == nil || err.Problem != c.problem || err.Line != c.line || err.SourceID != "host" {
				t.Errorf("got %+v", err)
			}
		})
	}
}

const (
	goodPlugin = `{"name":"kit","version":"1.0","description":"A kit."}`
	goodSkill  = "---\nname: tidy\ndescription: Tidies.\n---\n# Tidy\n"
)

func plugin(t *testing.T, m *manifest.Manifest, s manifest.Source, files fstest.MapFS) *tool.Reading {
	t.Helper()
	r, err := codex.ReadPlugin(m, s, files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAPluginShowsItsComponents(t *testing.T) {
	files := tree(
		"plugins/kit/.codex-plugin/plugin.json", `{"name":"kit","version":"1.0","description":"A kit.","skills":"./skills/","mcpServers":"./.mcp.json",
			"apps":"./.app.json","hooks":["./hooks/a.json","../../evil.json","./gone.json"],"interface":{"logo":"./logo.png","screenshots":["/etc/x.png"]}}`,
		"plugins/kit/skills/tidy/SKILL.md", goodSkill,
		"plugins/kit/skills/twice/SKILL.md", "---\r\nname: tidy\r\n---\r\nx",
		"plugins/kit/skills/bare/SKILL.md", "# no front matter",
		"plugins/kit/skills/bad/SKILL.md", "---\na: [\n---\n",
		"plugins/kit/.mcp.json", `{"mcpServers":{"files":{"command":"x"},"net":{"url":"https://x.example"}}}`,
		"plugins/kit/.app.json", `{"apps":{"mail":{"id":"connector_1"},"cal":{"id":"connector_2","tools":[{"name":"list"}]}}}`,
		"plugins/kit/hooks/a.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
		"plugins/kit/logo.png", "x", "evil.json", "{}",
		"inv/files.json", `[{"name":"open","inputSchema":{"type":"object"}}]`,
	)
	m := &manifest.Manifest{Plugins: &manifest.Plugins{Inventories: []manifest.Artifact{
		{Path: "inv/files.json", Plugin: "kit", Server: "files"}, {Path: "inv/gone.json", Plugin: "kit", Server: "net", Optional: true},
	}}}
	r := plugin(t, m, manifest.Source{ID: "kits", Mode: "package", Path: "plugins/kit"}, files)
	if len(r.Tools) != 0 || len(r.Plugins) != 1 {
		t.Fatalf("tools %v, plugins %v", r.Tools, r.Plugins)
	}
	p := r.Plugins[0]
	if p.SourceID != "kits" || p.Root != "plugins/kit" || p.ManifestPath != "plugins/kit/.codex-plugin/plugin.json" || len(p.Issues) != 0 || p.Hooks != 1 {
		t.Errorf("plugin is %+v", p)
	}
	var got []string
	for _, c := range p.Components {
		got = append(got, c.Kind+" "+c.Path+" "+c.Reason)
	}
	same(t, "components", got, []string{
		"skills plugins/kit/skills ", "mcp_servers plugins/kit/.mcp.json ", "apps plugins/kit/.app.json ", "hooks plugins/kit/hooks/a.json ",
		"hooks evil.json outside", "hooks plugins/kit/gone.json missing", "assets plugins/kit/logo.png ", "assets /etc/x.png outside",
	})
	got = nil
	for _, s := range p.Skills {
		got = append(got, fmt.Sprint(s.Name, " ", s.MissingFields, " ", s.Duplicate))
	}
	same(t, "skills", got, []string{"bad [name description] false", "bare [name description] false", "tidy [] false", "tidy [description] true"})
	same(t, "servers", []string{fmt.Sprint(p.Servers)}, []string{"[{files plugins/kit/.mcp.json inv/files.json} {net plugins/kit/.mcp.json }]"})
	same(t, "apps", []string{fmt.Sprint(p.Apps)}, []string{"[{mail connector_1 plugins/kit/.app.json false} {cal connector_2 plugins/kit/.app.json true}]"})
	same(t, "warnings", warnings(r), []string{"malformed_skill"})
}

func TestAPluginIsReadAtTheUsualPlacesAndInline(t *testing.T) {
	files := tree(
		".codex-plugin/plugin.json", `{"name":"any","version":"1","description":"d","mcpServers":{"in":{"command":"x"}},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
		".mcp.json", `{"files":{"command":"x"}}`, "skills/a/SKILL.md", goodSkill,
	)
	r := plugin(t, &manifest.Manifest{}, manifest.Source{ID: "s", Path: "."}, files)
	p := r.Plugins[0]
	// What the plugin file says replaces the usual place; the rest is found there.
	same(t, "servers", []string{fmt.Sprint(p.Servers)}, []string{"[{in .codex-plugin/plugin.json }]"})
	if len(p.Skills) != 1 || p.Hooks != 1 || len(p.Issues) != 0 {
		t.Errorf("plugin is %+v", p)
	}
}

func TestWhatAPluginDoesNotSayOfItselfIsAnIssue(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"everything said":   {goodPlugin, ""},
		"no name":           {`{"version":"1","description":"d"}`, "missing_name"},
		"blank description": {`{"name":"kit","version":"1","description":" "}`, "missing_description"},
		"no version":        {`{"name":"kit","description":"d"}`, "missing_version"},
		"another name":      {`{"name":"tool","version":"1","description":"d"}`, "name_differs_from_root"},
	} {
		t.Run(name, func(t *testing.T) {
			r := plugin(t, &manifest.Manifest{}, manifest.Source{ID: "s", Mode: "package", Path: "x/kit"}, tree("x/kit/.codex-plugin/plugin.json", c.text))
			if got := strings.Join(r.Plugins[0].Issues, " "); got != c.want {
				t.Errorf("issues are %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMarketplaceShowsItsEntriesAndItsLocalPlugins(t *testing.T) {
	files := tree(
		".agents/plugins/marketplace.json", `{"name":"m","plugins":[
			{"name":"kit","source":{"source":"local","path":"./plugins/kit"},"policy":{"installation":"AVAILABLE","authentication":"ON_INSTALL"},"category":"Productivity"},
			{"name":"kit2","source":"./plugins/two","policy":{"installation":"AVAILABLE"}},
			{"name":"lost","source":{"source":"local","path":"./plugins/lost"},"policy":{"installation":"A","authentication":"B"},"category":"C"},
			{"name":"far","source":{"source":"git","url":"https://x.example/y"},"category":"C"},
			{"name":"up","source":"./../../up","policy":{"installation":"A","authentication":"B"},"category":"C"}]}`,
		"plugins/kit/.codex-plugin/plugin.json", goodPlugin,
		"plugins/two/.codex-plugin/plugin.json", goodPlugin,
	)
	for _, path := range []string{".", ".agents/plugins/marketplace.json"} {
		r := plugin(t, &manifest.Manifest{}, manifest.Source{ID: "shop", Mode: "marketplace", Path: path}, files)
		var got []string
		for _, e := range r.Markets[0].Entries {
			got = append(got, fmt.Sprint(e.Plugin, e.Missing))
		}
		same(t, "entries", got, []string{
			"kit[]", "kit2[policy.authentication category]", "lost[]", "far[policy.installation policy.authentication]", "up[]",
		})
		got = nil
		for _, p := range r.Plugins {
			got = append(got, fmt.Sprint(p.Root, p.Issues))
		}
		same(t, "plugins", got, []string{
			"plugins/kit[duplicate_name]", "plugins/two[name_differs_from_root duplicate_name]", "plugins/lost[missing_manifest]",
		})
		same(t, "warnings", warnings(r), []string{"remote_plugin", "plugin_outside"})
	}
}

func TestInventoriesOfAPluginAreItsAgents(t *testing.T) {
	files := tree("inv/a.json", `{"tools":[{"name":"open","annotations":{"codex_plugin":"other"}},{"name":"close"}]}`, "inv/b.json", `[{"name":"open"}]`)
	m := &manifest.Manifest{Plugins: &manifest.Plugins{Inventories: []manifest.Artifact{
		{Path: "inv/a.json", Plugin: "kit", Server: "files"},
		{Path: "inv/b.json", Plugin: "kit", Server: "net"},
		{Path: "inv/gone.json", Plugin: "kit", Server: "far", Optional: true},
	}}}
	r, err := codex.ReadInventories(m, files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range r.Edges {
		got = append(got, fmt.Sprintf("%s -%s-> %s in %s", e.Agent, e.Kind, e.To, e.Origin.SourceID))
	}
	same(t, "edges", got, []string{
		"kit/files -toolset-> open in codex_plugins:kit/files", "kit/files -toolset-> close in codex_plugins:kit/files",
		"kit/net -toolset-> open in codex_plugins:kit/net",
	})
	if len(r.Agents) != 2 || r.Tools[0].Annotations["codex_plugin"] != "kit" {
		t.Errorf("agents %v, annotations %v", r.Agents, r.Tools[0].Annotations)
	}
	same(t, "warnings", warnings(r), []string{"missing_optional_source"})
	m.Plugins.Inventories[2].Optional = false
	if _, err := codex.ReadInventories(m, files); err == nil || err.Problem != tool.NotThere {
		t.Errorf("got %v", err)
	}
}

func TestAPluginThatCannotBeReadStopsTheReading(t *testing.T) {
	for name, c := range map[string]struct {
		s       manifest.Source
		files   fstest.MapFS
		problem tool.Problem
	}{
		"no plugin":             {manifest.Source{Path: "x", Mode: "package"}, tree("x/y", ""), tool.NotThere},
		"no object":             {manifest.Source{Path: "x"}, tree("x/.codex-plugin/plugin.json", `[]`), tool.Malformed},
		"no JSON":               {manifest.Source{Path: "x"}, tree("x/.codex-plugin/plugin.json", `{`), tool.Malformed},
		"a component not JSON":  {manifest.Source{Path: "x"}, tree("x/.codex-plugin/plugin.json", goodPlugin, "x/.mcp.json", "{"), tool.Malformed},
		"no marketplace":        {manifest.Source{Path: "m.json", Mode: "marketplace"}, tree(), tool.NotThere},
		"outside":               {manifest.Source{Path: "../x"}, tree(), tool.Outside},
		"a plugin of a market":  {manifest.Source{Path: "m.json"}, tree("m.json", `{"plugins":[{"source":"./p"}]}`, "p/.codex-plugin/plugin.json", "3"), tool.Malformed},
		"a plugin file, broken": {manifest.Source{Path: "p/.codex-plugin/plugin.json"}, tree("p/.codex-plugin/plugin.json", "3"), tool.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.ID = "kits"
			_, err := codex.ReadPlugin(&manifest.Manifest{}, c.s, c.files)
			if err == nil || err.Problem != c.problem || err.SourceID != "kits" {
				t.Errorf("got %+v", err)
			}
		})
	}
}
