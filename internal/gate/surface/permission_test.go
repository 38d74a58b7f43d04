package surface_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/surface"
)

func TestAPermissionRuleHasAShapeAndAMask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		wildcard bool
		masked   string
	}{
		{"*", true, "*"},
		{"Bash", true, "Bash"},
		{"mcp__git", true, "mcp__git"},
		{"mcp__git__*", true, "mcp__git__*"},
		{"Bash(*)", true, "Bash(*)"},
		{"Bash(*:*)", true, "Bash(<wildcard>)"},
		{"Bash( *)", true, "Bash(<wildcard>)"},
		{"Read(**)", true, "Read(<wildcard>)"},
		{"Read(*", true, "Read(<wildcard>)"},
		{"Bash()", true, "Bash()"},
		{"Bash( )", true, "Bash()"},
		{" Bash ", true, "Bash"},
		{"Bash(npm test:*)", false, "Bash(<redacted-arguments>)"},
		{"WebFetch(domain:docs.test)", false, "WebFetch(<redacted-arguments>)"},
		{"Bash(npm test", false, "Bash(<redacted-arguments>)"},
		{"Bash(echo (a))", false, "Bash(<redacted-arguments>)"},
		{"TOKEN=s3cr3t", true, "TOKEN<redacted>"},
		{"TOKEN=s3cr3t(x)", false, "TOKEN<redacted>(<redacted-arguments>)"},
		{"https://u:s3cr3t@host.test", true, "https<redacted>"},
		{strings.Repeat("a", 200), true, strings.Repeat("a", 128) + "<redacted>"},
		{"", true, ""},
	} {
		r := surface.PermissionRule{Text: c.text}
		if got := r.Wildcard(); got != c.wildcard {
			t.Errorf("%q: wildcard %v, want %v", c.text, got, c.wildcard)
		}
		if got := r.Masked(); got != c.masked {
			t.Errorf("%q: masked %q, want %q", c.text, got, c.masked)
		}
	}
}

func TestAMaskNeverShowsAnArgument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.StringMatching(`[A-Za-z_*. =/-]{0,12}`).Draw(t, "tool")
		argument := rapid.String().Draw(t, "argument")
		r := surface.PermissionRule{Text: tool + "(" + argument + "s3cr3t)"}
		if strings.Contains(r.Masked(), "s3cr3t") {
			t.Fatalf("%q is shown as %q", r.Text, r.Masked())
		}
	})
}

func TestGainedPermissionsAreASetDifferenceByListAndText(t *testing.T) {
	t.Parallel()
	rules := rapid.SliceOf(rapid.Custom(func(t *rapid.T) surface.PermissionRule {
		return surface.PermissionRule{
			List: rapid.SampledFrom([]string{"allow", "read", "write"}).Draw(t, "list"),
			Text: rapid.SampledFrom([]string{"Bash", "Bash(a)", "Read(b)", "*"}).Draw(t, "text"),
		}
	}))
	rapid.Check(t, func(t *rapid.T) {
		before, after := rules.Draw(t, "before"), rules.Draw(t, "after")
		gained := surface.PermissionsGained(before, after)
		want := map[surface.PermissionRule]bool{}
		for _, r := range after {
			want[r] = true
		}
		for _, r := range before {
			delete(want, r)
		}
		for _, r := range gained {
			if !want[r] {
				t.Fatalf("%v gained once too often from %v to %v", r, before, after)
			}
			delete(want, r)
		}
		if len(want) > 0 {
			t.Fatalf("%v not gained from %v to %v", want, before, after)
		}
		if again := surface.PermissionsGained(after, rapid.Permutation(after).Draw(t, "order")); len(again) > 0 {
			t.Fatalf("another order of %v gains %v", after, again)
		}
	})
}
