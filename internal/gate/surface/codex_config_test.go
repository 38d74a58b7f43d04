package surface_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// codexConfig reads one side of a config.toml that must parse.
func codexConfig(t *testing.T, text string) surface.CodexConfig {
	t.Helper()
	value, err := source.ParseTOML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return surface.CodexConfigOf(surface.Doc{Value: value})
}

func TestTheSelectedProfileIsLaidOverTheTopKeyByKey(t *testing.T) {
	t.Parallel()
	c := codexConfig(t, `profile = "work"
sandbox_mode = "read-only"
default_permissions = ":workspace"
ask_for_approval = "never"

[sandbox_workspace_write]
network_access = true

[profiles.work]
sandbox_mode = "danger-full-access"
approval_policy = "on-request"

[profiles.work.sandbox_workspace_write]
writable_roots = []

[profiles.idle]
default_permissions = ":danger-full-access"
`)
	for _, f := range []struct {
		name string
		got  surface.CodexText
		text string
		line int
	}{
		{"sandbox_mode", c.SandboxMode, "danger-full-access", 10},
		{"default_permissions", c.DefaultPermissions, ":workspace", 3},
		{"approval_policy", c.ApprovalPolicy, "on-request", 11},
	} {
		if f.got.Text != f.text || f.got.Pos.Line != f.line {
			t.Errorf("%s is %q in line %d, want %q in line %d", f.name, f.got.Text, f.got.Pos.Line, f.text, f.line)
		}
	}
	if c.WorkspaceNetwork.On {
		t.Error("the table of the profile replaces the one on top, but the network is on")
	}
}

func TestASettingOfAnotherTypeIsNoSetting(t *testing.T) {
	t.Parallel()
	c := codexConfig(t, "sandbox_mode = [\"danger-full-access\"]\napproval_policy = {mode = \"never\"}\nask_for_approval = \"never\"\n"+
		"sandbox_workspace_write = true\npermissions = 1\nmcp_servers = [1]\napps = \"x\"\nhooks = false\nprofiles = 3\nplugins = \"p\"\n")
	if diff := cmp.Diff([]string{"", "", ""}, []string{c.SandboxMode.Text, c.ApprovalPolicy.Text, c.DefaultPermissions.Text}); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if c.WorkspaceNetwork.On || c.Permissions != nil || c.Servers != nil || c.AppTools != nil || c.Hooks != nil {
		t.Errorf("facts from nothing: %+v", c)
	}
}

func TestUnknownKeysThatSoundLikeGrants(t *testing.T) {
	t.Parallel()
	c := codexConfig(t, "model = \"m\"\nAllow_All = 1\nmy_mcp = 1\nnetwork_access = true\nsandbox_mode = \"x\"\nweb_search = true\n"+
		"hook_dir = \"x\"\npreapprovals = 1\n\n[permissions.dev]\nextends = \"x\"\nSuper = 1\n\n[permissions.dev.network]\nenabled = true\nraw = 1\n\n"+
		"[projects.\"/p\"]\ntrust_level = \"trusted\"\n")
	names := func(list []surface.Setting) (out []string) {
		for _, s := range list {
			out = append(out, s.Key)
		}
		return out
	}
	if diff := cmp.Diff([]string{"Allow_All", "my_mcp", "hook_dir", "preapprovals"}, names(c.UnknownGrants)); diff != "" {
		t.Errorf("on top (-want +got):\n%s", diff)
	}
	p := c.Permissions[0]
	if diff := cmp.Diff([][]string{{"Super"}, {"raw"}}, [][]string{names(p.Unknown), names(p.UnknownNetwork)}); diff != "" {
		t.Errorf("in the permission profile (-want +got):\n%s", diff)
	}
}

func TestAProfileThatTheFileDoesNotDefine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                    false,
		"model = \"m\"":                       false,
		"profile = \"a\"\n[profiles.a]":       false,
		"profile = \"a\"":                     true,
		"profile = \"a\"\n[profiles.b]":       true,
		"profile = \"a\"\nprofiles = {a = 1}": true,
		"profile = 1":                         true,
		"profile = ":                          false, // a text that failed is told as such
	} {
		s := surface.Read(&surface.Change{Path: "x/.codex/config.toml", New: surface.Side{Present: true, Bytes: []byte(text)}})
		if got := s.CodexProfileMissing(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	s := surface.Read(&surface.Change{Path: ".codex/requirements.toml", New: surface.Side{Present: true, Bytes: []byte("profile = 1")}})
	if s.CodexProfileMissing() {
		t.Error("another file has no profile to miss")
	}
}

func TestWhichConfigsAreCompared(t *testing.T) {
	t.Parallel()
	good := surface.Side{Present: true, Bytes: []byte("sandbox_mode = \"x\"\n")}
	bad := surface.Side{Present: true, Bytes: []byte("sandbox_mode = \n")}
	unknown := surface.Side{Present: true, Unresolved: "boundary_input_oversized"}
	for _, c := range []struct {
		name string
		c    surface.Change
		want bool
	}{
		{"both known", surface.Change{Old: good, New: good}, true},
		{"new file", surface.Change{New: good}, true},
		{"deleted", surface.Change{Old: good, Deleted: true}, false},
		{"new side malformed", surface.Change{Old: good, New: bad}, false},
		{"old side malformed", surface.Change{Old: bad, New: good}, false},
		{"new side unknown", surface.Change{Old: good, New: unknown}, false},
		{"old side unknown", surface.Change{Old: unknown, New: good}, false},
	} {
		c.c.Path = ".codex/config.toml"
		if _, _, ok := surface.Read(&c.c).CodexConfig(); ok != c.want {
			t.Errorf("%s: compared %v", c.name, ok)
		}
		if _, _, ok := surface.Read(&c.c).CodexHooks(); ok != c.want {
			t.Errorf("%s: hooks compared %v", c.name, ok)
		}
	}
}

func TestWhatADefaultApprovalNewlyCovers(t *testing.T) {
	t.Parallel()
	type approval = surface.CodexDefaultApproval
	one := func(tools, risky []string) []approval {
		return []approval{{Server: "mcp_servers.s", Tools: tools, Risky: risky}}
	}
	none := []string{}
	server := func(lines string) string { return "[mcp_servers.s]\n" + lines }
	const approve = "default_tools_approval_mode = \"approve\"\n"
	for _, c := range []struct {
		name     string
		old, now string
		want     []approval
	}{
		{"nothing said", "", server("command = \"x\"\n"), nil},
		{"another mode", "", server("default_tools_approval_mode = \"prompt\"\n"), nil},
		{"all it offers", "", server(approve), one(none, none)},
		{
			"every kind of list", "",
			server(approve + "enabled_tools = [\"d\", 7]\nallowed_tools = [\"c\"]\ntool_allowlist = [\"b\"]\ntools_allowlist = [\"a\", \"b\"]\n"),
			one([]string{"a", "b", "c", "d"}, none),
		},
		{"what is already unasked", server(approve), server(approve + "enabled_tools = [\"delete\"]\n"), nil},
		{"a longer list", server(approve + "enabled_tools = [\"a\"]\n"), server(approve + "enabled_tools = [\"delete\", \"a\"]\n"), one([]string{"delete"}, []string{"delete"})},
		{"the list dropped", server(approve + "enabled_tools = [\"a\"]\n"), server(approve), one(none, none)},
		{"switched on", server(approve + "enabled = false\n"), server(approve), one(none, none)},
		{"switched off", server(approve), server(approve + "enabled = false\n"), nil},
		{"a tool switched on", server(approve + "tools.send.enabled = false\n"), server(approve + "tools.send.enabled = true\n"), one([]string{"send"}, []string{"send"})},
		{"a tool table added", server(approve), server(approve + "tools.send.timeout = 1\n"), nil},
		{"a tool table beside a list", server(approve + "enabled_tools = [\"a\"]\n"), server(approve + "enabled_tools = [\"a\"]\ntools.b.timeout = 1\n"), nil},
		{"a listed tool switched on", server(approve + "enabled_tools = [\"send\"]\ntools.send.enabled = false\n"), server(approve + "enabled_tools = [\"send\"]\n"), one([]string{"send"}, []string{"send"})},
		{"a listed tool that stays off", server(approve + "enabled_tools = [\"send\"]\ntools.send.enabled = false\n"), server(approve + "tools.send.enabled = false\nenabled_tools = [\"send\"]\n"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := surface.NewDefaultApprovals(codexConfig(t, c.old), codexConfig(t, c.now))
			for i := range got {
				got[i].Pos = source.Position{}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("approvals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApprovalsOfSingleTools(t *testing.T) {
	t.Parallel()
	old := codexConfig(t, "[apps.a.tools.kept]\napproval_mode = \"approve\"\n[mcp_servers.s.tools.kept]\napproval_mode = \"approve\"\n"+
		"[mcp_servers.off]\nenabled = false\ntools.x.approval_mode = \"approve\"\n")
	now := codexConfig(t, "[apps.a.tools]\nkept.approval_mode = \"approve\"\nnew.approval_mode = \"approve\"\nasks.approval_mode = \"auto\"\n"+
		"[mcp_servers.s.tools]\nkept.approval_mode = \"approve\"\nnew.approval_mode = \"approve\"\n"+
		"[mcp_servers.off]\ntools.x.approval_mode = \"approve\"\n"+
		"[mcp_servers.out]\nenabled = false\ntools.x.approval_mode = \"approve\"\n"+
		"[plugins.p.mcp_servers.s]\ntools.x.approval_mode = \"approve\"\n")
	names := func(list []surface.CodexTool) (out []string) {
		for _, tool := range list {
			out = append(out, tool.Owner+" "+tool.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"a new"}, names(surface.NewAppApprovals(old, now))); diff != "" {
		t.Errorf("of apps (-want +got):\n%s", diff)
	}
	want := []string{"mcp_servers.s new", "mcp_servers.off x", "plugins.p.mcp_servers.s x"}
	if diff := cmp.Diff(want, names(surface.NewToolApprovals(old, now))); diff != "" {
		t.Errorf("of servers (-want +got):\n%s", diff)
	}
}
