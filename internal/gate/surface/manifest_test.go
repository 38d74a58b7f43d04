package surface_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

const manifestHead = `version: "0.1"
project:
  name: mail
agent:
  name: mailer
environment:
  target: local
`

const oneSource = manifestHead + `tool_sources:
  - id: api
    type: openapi
    path: api/openapi.yaml
`

func TestAManifestDeclaresItsToolSources(t *testing.T) {
	doc := surface.ParseManifest([]byte("\xEF\xBB\xBF" + oneSource + `  - id: pack
    type: codex_plugin
    path: .agents/plugins/marketplace.json
    mode: marketplace
  - just a word
  - {id: 7, type: mcp}
`))
	want := []surface.ToolSource{
		{ID: "api", Type: "openapi", Path: "api/openapi.yaml"},
		{ID: "pack", Type: "codex_plugin", Path: ".agents/plugins/marketplace.json", Mode: "marketplace"},
		{Type: "mcp"},
	}
	if !doc.Valid {
		t.Fatal("not valid")
	}
	if d := cmp.Diff(want, doc.Sources, cmpopts.IgnoreFields(surface.ToolSource{}, "Pos")); d != "" {
		t.Error(d)
	}
	if doc.Sources[0].Pos.Line != 9 {
		t.Errorf("the first source is at line %d", doc.Sources[0].Pos.Line)
	}
}

func TestATextThatIsNoManifestDeclaresNothing(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"a list":            "- version\n- project\n- agent\n",
		"broken":            oneSource + "  - id: [\n",
		"a key given twice": oneSource + "agent:\n  name: other\n",
		"without an agent":  "version: \"0.1\"\nproject: {name: x}\ntool_sources:\n  - {id: a, type: mcp, path: a.json}\n",
	} {
		if doc := surface.ParseManifest([]byte(text)); doc.Valid || len(doc.Sources) > 0 {
			t.Errorf("%s: %+v", name, doc)
		}
	}
}

func TestAManifestIsKnownByItsKeysWhateverItsName(t *testing.T) {
	for text, want := range map[string]bool{
		"{version: 1, project: x, agent: y}":           true,
		"{version: , project: x, agent: y}":            true,
		"{version: 1, project: x}":                     false,
		"[version, project, agent]":                    false,
		"{nested: {version: 1, project: x, agent: y}}": false,
	} {
		v, err := source.ParseYAML([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := surface.LooksLikeManifest(v); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestADeclaredPathStaysInsideTheRepository(t *testing.T) {
	for _, c := range []struct{ dir, p, want string }{
		{"", "a/b.json", "a/b.json"},
		{".", "./a/", "a"},
		{"sub", "a.json", "sub/a.json"},
		{"sub", "../a.json", "a.json"},
		{"sub", "a/../../b", "b"},
		{"sub", ".", "sub"},
		{".", ".", ""},
		{"sub", "..", ""},
		{"sub", "../../a", ""},
		{".", "..", ""},
		{".", "", ""},
		{".", "/etc/passwd", ""},
		{".", `a\b`, ""},
		{".", "a\x00", ""},
		{".", "..a/b", "..a/b"},
	} {
		got, ok := surface.ContainedPath(c.dir, c.p)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q, %v", c.p, c.dir, got, ok)
		}
	}
}

func TestAMarketplaceNamesItsLocalPlugins(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"Codex", `{"plugins":[{"name":"a","source":{"source":"local","path":"./plugins/a"}},{"source":{"path":"plugins/b"}}]}`, []string{"./plugins/a", "plugins/b"}},
		{"Claude", `{"plugins":[{"name":"a","source":"./plugins/a"}]}`, []string{"./plugins/a"}},
		{"a root for bare names", `{"metadata":{"pluginRoot":"./plugins"},"plugins":[{"source":"a"},{"source":"./b"}]}`, []string{"plugins/a", "./b"}},
		{
			"remote ones", `{"plugins":[{"source":{"source":"github","repo":"x/y"}},{"source":{"source":"git-subdir","url":"u","path":"p"}},
			{"source":{"url":"u","path":"p"}},{"source":"https://x.test/y"},{"source":"git@x.test:y"},{"source":"/abs"},{"source":7},{}]}`, nil,
		},
		{"no list", `{"plugins":{"source":"./a"}}`, nil},
		{"nothing", `[]`, nil},
	} {
		v, err := source.ParseJSON([]byte(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, surface.PluginRoots(v)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestPluginPathsStartAboveTheFixedPlaceOfTheirMarketplace(t *testing.T) {
	for file, want := range map[string]string{
		".agents/plugins/marketplace.json":     ".",
		"sub/.agents/plugins/marketplace.json": "sub",
		".claude-plugin/marketplace.json":      ".",
		"kit/.claude-plugin/marketplace.json":  "kit",
		"kit/marketplace.json":                 "kit",
		"marketplace.json":                     ".",
		"my.agents/plugins/marketplace.json":   "my.agents/plugins",
	} {
		if got := surface.MarketplaceDir(file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// addition is a change of a manifest, and what lies at the paths it names.

// Files of framework blocks are read like rows: a text or a mapping with a path.
func TestFilesOfFrameworkBlocks(t *testing.T) {
	doc := surface.ParseManifest([]byte(oneSource + `n8n:
  workflows: [flows/mail.json, {path: flows/more, optional: true}, 3, ""]
  credential_stubs: [stubs.json]
crewai:
  python_entrypoints: [src/crew.py]
anthropic: [not, a, mapping]
openai_api:
  tools: tools.json
`))
	if want := []string{"src/crew.py", "flows/mail.json", "flows/more"}; !slices.Equal(doc.Files, want) {
		t.Errorf("%q, want %q", doc.Files, want)
	}
}
