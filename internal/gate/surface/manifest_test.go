package surface_test

import (
	"strings"
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
type addition struct{ before, after string }

func (a addition) safe(kinds map[string]string) bool {
	added, removed := surface.ChangedLines([]byte(a.before), []byte(a.after))
	return surface.ProposalSafeAddition([]byte(a.before), []byte(a.after), added, len(removed), kinds)
}

var everythingThere = map[string]string{
	"tools.json": "file", "kit": "plugin", "src": "dir", "market.json": "marketplace", "agent.py": "file",
	"../up.json": "file", ".": "dir", "/abs.json": "file", "a/../tools.json": "file",
}

func row(fields ...string) string { return "  - " + strings.Join(fields, "\n    ") + "\n" }

func TestASourceThatIsOnlyDeclaredIsSafe(t *testing.T) {
	added := row("id: tools", "type: mcp", "path: tools.json")
	second := row("id: more", "type: mcp", "path: agent.py")
	third := row("id: third", "type: mcp", "path: kit/a.json")
	kinds := map[string]string{"tools.json": "file", "agent.py": "file", "kit/a.json": "file"}
	for name, a := range map[string]addition{
		"at the end":    {oneSource, oneSource + added},
		"two at once":   {oneSource, oneSource + added + second},
		"in front":      {oneSource, strings.Replace(oneSource, "  - id: api", added+"  - id: api", 1)},
		"in two places": {oneSource, strings.Replace(oneSource, "  - id: api", added+"  - id: api", 1) + second},
		"two in front of one like them": {
			manifestHead + "tool_sources:\n" + added,
			manifestHead + "tool_sources:\n" + second + third + added,
		},
		"the first one": {manifestHead, manifestHead + "tool_sources:\n" + added},
		"that begins like the next one": {
			manifestHead + "tool_sources:\n" + row("type: mcp", "id: a", "path: tools.json"),
			manifestHead + "tool_sources:\n" + row("type: mcp", "id: b", "path: agent.py") + row("type: mcp", "id: a", "path: tools.json"),
		},
	} {
		if !a.safe(kinds) {
			t.Errorf("%s: not safe", name)
		}
	}
}

func TestTheRowOfASafeSourceIsPlain(t *testing.T) {
	for _, c := range []struct {
		fields string // separated by "|"
		want   bool
	}{
		{"id: x|type: mcp|path: tools.json", true},
		{"id: x|type: openapi|path: tools.json", true},
		{"id: x|type: conductor|path: tools.json", true},
		{"id: x|type: langchain|path: src", true},
		{"id: x|type: langchain|path: agent.py", true},
		{"id: x|type: openai_agents_sdk|path: agent.py", true},
		{"id: x|type: google_adk|path: src", true},
		{"id: x|type: crewai|path: src", true},
		{"id: x|type: codex_config|path: src", true},
		{"id: x|type: mcp_server|path: src", true},
		{"id: x|type: codex_plugin|path: kit|mode: package", true},
		{"id: x|type: codex_plugin|path: market.json|mode: marketplace", true},

		{"id: x|type: mcp|path: src", false},                                // a folder
		{"id: x|type: conductor|path: src", false},                          // likewise
		{"id: x|type: mcp|path: gone.json", false},                          // not there
		{"id: x|type: langchain|path: gone", false},                         // likewise
		{"id: x|type: mcp|path: tools.json|mode: package", false},           // a mode without a plugin
		{"id: x|type: langchain|path: src|mode: package", false},            // likewise
		{"id: x|type: codex_plugin|path: kit", false},                       // a plugin without a mode
		{"id: x|type: codex_plugin|path: kit|mode: marketplace", false},     // no marketplace
		{"id: x|type: codex_plugin|path: src|mode: package", false},         // no package
		{"id: x|type: codex_plugin|path: market.json|mode: package", false}, // likewise
		{"id: x|type: n8n|path: tools.json", false},                         // no type of a manifest
		{"id: x|type: mine|path: tools.json", false},
		{"id: \"\"|type: mcp|path: tools.json", false},
		{"id: api|type: mcp|path: tools.json", false}, // taken
		{"id: 7|type: mcp|path: tools.json", false},
		{"type: mcp|path: tools.json", false},
		{"id: x|path: tools.json", false},
		{"id: x|type: mcp", false},
		{"id: x|type: openai_agents_sdk", false},
		{"id: x|type: mcp|path: tools.json|trust: high", false},
		{"id: x|type: mcp|path: tools.json|optional: true", false},
		{"id: x|type: mcp|path: tools.json|authority: {mode: none}", false},
		{"id: x|type: mcp|path: ../up.json", false},
		{"id: x|type: mcp|path: a/../tools.json", false},
		{"id: x|type: mcp|path: /abs.json", false},
		{"id: x|type: langchain|path: .", false},
		{"id: x|type: mcp|path: tools.json # fine", false},
		{"id: x|# fine|type: mcp|path: tools.json", false},
		{"id: x||type: mcp|path: tools.json", false},
	} {
		a := addition{oneSource, oneSource + row(strings.Split(c.fields, "|")...)}
		if got := a.safe(everythingThere); got != c.want {
			t.Errorf("%s: %v", c.fields, got)
		}
	}
}

func TestAnyOtherChangeOfAManifestIsNotSafe(t *testing.T) {
	added := row("id: tools", "type: mcp", "path: tools.json")
	for name, a := range map[string]addition{
		"nothing":                 {oneSource, oneSource},
		"a new manifest":          {"", oneSource},
		"another key":             {oneSource, oneSource + "ci:\n  mode: advisory\n"},
		"another key beside it":   {oneSource, oneSource + added + "ci:\n  mode: advisory\n"},
		"a row that is edited":    {oneSource, strings.Replace(oneSource, "api/openapi.yaml", "tools.json", 1)},
		"a row that gains a key":  {oneSource, oneSource + "    optional: true\n"},
		"rows that change places": {oneSource + added, manifestHead + "tool_sources:\n" + added + strings.TrimPrefix(oneSource, manifestHead+"tool_sources:\n")},
		"a row that leaves":       {oneSource + added, oneSource},
		"a second document":       {oneSource, oneSource + "---\n" + added},
		"a mistake elsewhere":     {oneSource + "ci: [\n", oneSource + added + "ci: [\n"},
		"an alias":                {oneSource, oneSource + "  - &x\n    id: x\n    type: mcp\n    path: tools.json\n  - *x\n"},
		"only a comment":          {oneSource, oneSource + "# to do\n"},
		"only a blank line":       {oneSource, oneSource + "\n"},
		"the list becomes a word": {manifestHead, manifestHead + "tool_sources: none\n"},
	} {
		if a.safe(everythingThere) {
			t.Errorf("%s: safe", name)
		}
	}
}
