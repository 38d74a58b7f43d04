package surface_test

import (
	"testing"

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
