package surface_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

func TestClaudeSettingsAreReadWithTheirPlaces(t *testing.T) {
	t.Parallel()
	_, after, ok := created(claudeSettings, `{
  "permissions": {
    "allow": ["Bash(ls)", 1, "Edit"],
    "ask": ["WebFetch"],
    "deny": ["Read(.env)"],
    "defaultMode": "plan",
    "additionalDirectories": []
  },
  "hooks": {"Stop": []},
  "sandbox": {},
  "plugins": {},
  "policyHelper": {},
  "model": "m"
}`).ClaudeSettings()
	if !ok {
		t.Fatal("not read")
	}
	want := []surface.PermissionRule{
		{List: "allow", Text: "Bash(ls)", Pos: source.Position{Line: 3, Column: 15}},
		{List: "allow", Text: "Edit", Pos: source.Position{Line: 3, Column: 30}},
	}
	if diff := cmp.Diff(want, after.Allow); diff != "" {
		t.Errorf("allow (-want +got):\n%s", diff)
	}
	for what, got := range map[string]int{
		"ask 4": after.Ask[0].Pos.Line, "deny 5": after.Deny[0].Pos.Line, "mode 6": after.DefaultMode.Pos.Line,
		"folders 7": after.OtherPermissions[0].Pos.Line, "hooks 9": after.Hooks.Pos.Line,
		"Stop 9": after.Hooks.Events()[0].Pos.Line, "sandbox 10": after.Sandbox.Pos.Line,
		"plugins 11": after.Plugins.Pos.Line, "helper 12": after.Unknown[0].Pos.Line,
	} {
		if !strings.HasSuffix(what, " "+itoa(got)) {
			t.Errorf("%s is on line %d", what, got)
		}
	}
	if !after.PolicyHelper || len(after.Unknown) != 1 {
		t.Errorf("policy helper %v, unknown %v", after.PolicyHelper, after.Unknown)
	}
}

func TestAModeIsGainedWhenItIsAnotherOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after string
		want          string
		unasked       bool
	}{
		{`"plan"`, `"plan"`, "", false},
		{`null`, `"acceptEdits"`, "acceptEdits", false},
		{`"plan"`, `"bypassPermissions"`, "bypassPermissions", true},
		{`"bypassPermissions"`, `"dontAsk"`, "dontAsk", true},
		{`"dontAsk"`, `null`, "", false},
		{`"plan"`, `"s3cr3t"`, "<redacted>", false},
		{`"plan"`, `["dontAsk"]`, "<redacted>", false},
		{`"plan"`, `""`, "<redacted>", false},
	} {
		s := edited(claudeSettings, `{"permissions":{"defaultMode":`+c.before+`}}`, `{"permissions":{"defaultMode":`+c.after+`}}`)
		before, after, _ := s.ClaudeSettings()
		mode, ok := surface.ModeGained(&before, &after)
		if ok != (c.want != "") || mode.Name != c.want || mode.Unasked != c.unasked {
			t.Errorf("%s to %s: %+v, %v; want %q, unasked %v", c.before, c.after, mode, ok, c.want, c.unasked)
		}
	}
}

func TestAPolicyHelperCountsAfterTheChangeOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, before, after string
		want                bool
	}{
		{claudeSettings, `{}`, `{"policyHelper":{"path":"x"}}`, true},
		{claudeSettings, `{"policyHelper":{"path":"x"}}`, `{}`, false},
		{claudeSettings, `{}`, `{"policyHelper":`, false},
		{"pkg/" + claudeSettings, `{}`, `{"policyHelper":{"path":"x"}}`, false},
	} {
		if got := edited(c.path, c.before, c.after).ClaudePolicyHelper(); got != c.want {
			t.Errorf("%s to %s at %s: %v, want %v", c.before, c.after, c.path, got, c.want)
		}
	}
}

// Large objects are compared through an index, in whatever order they come.
func TestAnotherOrderOfManyKeysIsNoChange(t *testing.T) {
	t.Parallel()
	var forth, back []string
	for i := range 2_000 {
		forth = append(forth, `"k`+itoa(i)+`":1`)
		back = append(back, `"k`+itoa(1_999-i)+`":1`)
	}
	file := func(members []string) string {
		object := "{" + strings.Join(members, ",") + "}"
		return `{"hooks":` + object + `,"sandbox":` + object + `}`
	}
	before, after, ok := edited(claudeSettings, file(forth), file(back)).ClaudeSettings()
	if !ok || after.Hooks.Changed(before.Hooks.Setting) || after.Sandbox.Changed(before.Sandbox) {
		t.Error("another order of keys is a change")
	}
	if changed := surface.ChangedSettings(before.Hooks.Events(), after.Hooks.Events()); len(changed) > 0 {
		t.Errorf("%d events changed", len(changed))
	}
}

func FuzzClaudeSettings(f *testing.F) {
	f.Add([]byte(`{}`), []byte(`{"permissions":{"allow":["Bash(*)","Edit(a)"],"deny":["Read(.env)"],"defaultMode":"plan"}}`))
	f.Add([]byte(`{"hooks":{"Stop":[{}]},"sandbox":{"a":1}}`), []byte("\xEF\xBB\xBF{\"hooks\":{},\"future\":\n[1]}"))
	f.Add([]byte(`[]`), []byte(`{"permissions":[],"hooks":"x"`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		s := edited(claudeSettings, string(before), string(after))
		s.ClaudePolicyHelper()
		was, is, ok := s.ClaudeSettings()
		if !ok {
			return
		}
		inside := places(after)
		for _, r := range surface.PermissionsGained(was.Allow, is.Allow) {
			inside(t, "rule", r.Pos)
			if r.Wildcard() && strings.HasSuffix(r.Masked(), "(<redacted-arguments>)") {
				t.Fatalf("wildcard %q is shown as %q", r.Text, r.Masked())
			}
		}
		for _, list := range [][]surface.Setting{
			surface.ChangedSettings(was.Unknown, is.Unknown), surface.ChangedSettings(was.Hooks.Events(), is.Hooks.Events()),
			surface.ChangedSettings(was.OtherPermissions, is.OtherPermissions),
			{is.Hooks.Setting, is.Sandbox, is.Plugins},
		} {
			for _, setting := range list {
				inside(t, setting.Key, setting.Pos)
			}
		}
		if mode, ok := surface.ModeGained(&was, &is); ok {
			inside(t, "mode", mode.Pos)
		}
		if len(surface.PermissionsGained(is.Allow, is.Allow))+len(surface.ChangedSettings(is.Unknown, is.Unknown)) > 0 {
			t.Fatal("a file gains something over itself")
		}
	})
}
