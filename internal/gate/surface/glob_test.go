package surface_test

import (
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/surface"
)

func TestGlobsFoldCaseUnlessTheyAreExact(t *testing.T) {
	folded, exact := surface.FoldedGlobs("**/*.MD", "Docs/**"), surface.ExactGlobs("**/*.md", "Docs/**")
	for _, c := range []struct {
		path          string
		folded, exact bool
	}{
		{"a.md", true, true},
		{"x/y/a.md", true, true},
		{"README.MD", true, false},
		{"Docs/a", true, true},
		{"docs/a", true, false},
		{"./docs/a", true, false},
		{`Docs\a`, true, true},
		{"a.mdx", false, false},
	} {
		if got := folded.Match(c.path); got != c.folded {
			t.Errorf("folded %q: %v", c.path, got)
		}
		if got := exact.Match(c.path); got != c.exact {
			t.Errorf("exact %q: %v", c.path, got)
		}
	}
	if (surface.Globs{}).Match("a") {
		t.Error("no pattern matches nothing")
	}
}

// A compiled pattern turns most paths away by a part that every match contains.
// It answers as the pattern itself does.
func TestACompiledPatternAnswersAsThePatternDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.StringMatching(`([ab.]{0,2}|\*|\*\*|\?|\[ab\]|a\*b|\*a)(/([ab.]{1,2}|\*\*|\*b|\?a|\[!a\])){0,3}`).Draw(rt, "pattern")
		path := rapid.StringMatching(`[abAB.]{1,3}(/[ab.]{1,2}){0,3}`).Draw(rt, "path")
		if got, want := surface.FoldedGlobs(pattern).Match(path), surface.MatchGlob(pattern, path); got != want {
			rt.Errorf("%q and %q: %v, want %v", pattern, path, got, want)
		}
	})
}

// On a file system that tells no cases apart, each of these names opens the file
// that a host looks for.
func TestNamesThatAFileSystemTakesForAnotherAreThatOther(t *testing.T) {
	t.Parallel()
	for spelled, meant := range map[string]string{
		"AGENT\u017f.md": "AGENTS.md", "\u017fhipgate.yaml": "shipgate.yaml", ".codex/con\ufb01g.toml": ".codex/config.toml",
		"s\u212aill.md": "SKILL.md", ".claude/Setting\u017f.json": ".claude/settings.json", ".mcp\u200d.json": ".mcp.json",
		"pkg/.github/workflows/agents-\u017fhipgate.yml": ".github/workflows/agents-shipgate.yml", "\ufeffCLAUDE.md": "CLAUDE.md",
	} {
		if got, want := surface.ClassOf(spelled), surface.ClassOf(meant); want == "" || got != want {
			t.Errorf("%q is of class %q, want %q", spelled, got, want)
		}
	}
	for _, other := range []string{"AGENTZ.md", "AGENTS\u0301.md", "agents\u2010md", "stra\u00dfe.md"} {
		if got := surface.ClassOf(other); got != "" {
			t.Errorf("%q is of class %q", other, got)
		}
	}
	if !surface.FoldedGlobs("Stra\u00dfe/**").Match("STRASSE/x") || !surface.MatchGlob("\ufb01les/*", "files/a") {
		t.Error("a pattern is not folded as paths are")
	}
}
