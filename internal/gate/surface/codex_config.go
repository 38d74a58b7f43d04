package surface

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// CodexConfig is what one side of a .codex/config.toml lets Codex do
// (docs/spec/boundary.md §5.1). Facts come in file order, each with its place.
type CodexConfig struct {
	// The four settings of the effective profile: the top-level table with the
	// selected [profiles.<name>] laid over it, key by key.
	SandboxMode        CodexText
	DefaultPermissions CodexText
	ApprovalPolicy     CodexText // approval_policy, else ask_for_approval
	WorkspaceNetwork   CodexSwitch

	// UnknownGrants are top-level keys that the format does not know and whose
	// name sounds like a grant.
	UnknownGrants []Setting
	Permissions   []CodexPermissions
	Servers       []CodexServer
	AppTools      []CodexTool
	Hooks         []CodexHook

	// HooksOff: hooks are switched off, on top or in any profile. A profile can be
	// chosen on the command line, so each of them counts.
	HooksOff bool
}

// CodexText is a setting that holds text; empty when it is absent or holds
// something else.
type CodexText struct {
	Text string
	Pos  source.Position
}

// CodexSwitch is a setting that is on only when it is the boolean true.
type CodexSwitch struct {
	On  bool
	Pos source.Position
}

// CodexPermissions is one table [permissions.<profile>].
type CodexPermissions struct {
	Profile        string
	Unknown        []Setting // beside the keys the format knows
	UnknownNetwork []Setting // likewise below network
	NetworkMode    CodexText
	Domains        []CodexDomain
}

// CodexDomain is one entry of [permissions.<profile>.network.domains].
type CodexDomain struct {
	Pattern string
	Value   source.Value
	Allowed bool
	Pos     source.Position
}

// Wildcard says whether the pattern stands for more than one host.
func (d CodexDomain) Wildcard() bool { return strings.Contains(d.Pattern, "*") }

// CodexConfigOf reads one parsed side. A side that is absent, unresolved or
// malformed says nothing.
func CodexConfigOf(doc Doc) CodexConfig {
	if doc.Err != nil {
		return CodexConfig{}
	}
	root := doc.Value
	effective := effectiveProfile(root)
	c := CodexConfig{
		SandboxMode:        codexText(effective("sandbox_mode")),
		DefaultPermissions: codexText(effective("default_permissions")),
		WorkspaceNetwork:   codexSwitch(effective("sandbox_workspace_write").Get("network_access")),
		UnknownGrants:      settings(root, isUnknownGrant),
		Servers:            codexServers(root),
		AppTools:           codexAppTools(root),
		Hooks:              codexHooksIn(root.Get("hooks")),
		HooksOff:           hooksOff(root),
	}
	approval := effective("approval_policy")
	if !approval.Present() {
		approval = effective("ask_for_approval")
	}
	c.ApprovalPolicy = codexText(approval)
	for _, m := range root.Get("profiles").Members {
		c.HooksOff = c.HooksOff || hooksOff(m.Value)
	}
	for _, m := range root.Get("permissions").Members {
		if m.Value.Kind == source.Map {
			c.Permissions = append(c.Permissions, codexPermissions(m.Key, m.Value))
		}
	}
	return c
}

// CodexConfig is both sides of a .codex/config.toml; ok is false when they are
// not to be compared: the file is deleted, or a side is not known or did not
// parse.
func (s *Surface) CodexConfig() (before, after CodexConfig, ok bool) {
	if s.Role != RoleCodexConfig || s.Deleted || !s.readable() {
		return CodexConfig{}, CodexConfig{}, false
	}
	return CodexConfigOf(s.OldDoc), CodexConfigOf(s.NewDoc), true
}

// CodexProfileMissing says whether the new side selects a profile that the file
// does not define, so that its effective settings are not all in this file
// (docs/spec/boundary.md §4.5, host_inventory_unsupported).
func (s *Surface) CodexProfileMissing() bool {
	if s.Role != RoleCodexConfig || s.NewDoc.Err != nil {
		return false
	}
	root := s.NewDoc.Value
	return root.Get("profile").Present() && selectedProfile(root).Kind != source.Map
}

func selectedProfile(root source.Value) source.Value {
	name := root.Get("profile")
	if name.Kind != source.String {
		return source.Value{}
	}
	return root.At("profiles", name.Text)
}

// effectiveProfile looks up a key in the selected profile, then on top. The
// overlay is shallow: a table in the profile replaces the one on top.
func effectiveProfile(root source.Value) func(key string) source.Value {
	profile := selectedProfile(root)
	return func(key string) source.Value {
		if v := profile.Get(key); v.Present() {
			return v
		}
		return root.Get(key)
	}
}

func codexPermissions(name string, table source.Value) CodexPermissions {
	network := table.Get("network")
	p := CodexPermissions{
		Profile:        name,
		Unknown:        settings(table, outside("description", "extends", "workspace_roots", "filesystem", "network")),
		UnknownNetwork: settings(network, isUnknownNetworkKey),
		NetworkMode:    codexText(network.Get("mode")),
	}
	for _, m := range network.Get("domains").Members {
		p.Domains = append(p.Domains, CodexDomain{
			Pattern: m.Key,
			Value:   m.Value,
			Allowed: m.Value.True() || strings.EqualFold(m.Value.Str(), "allow"),
			Pos:     m.Pos,
		})
	}
	return p
}

// hooksOff says whether the table of features says anything but true of hooks.
// The second key is the feature's older name.
func hooksOff(table source.Value) bool {
	for _, key := range [...]string{"hooks", "codex_hooks"} {
		if v := table.At("features", key); v.Present() && !v.True() {
			return true
		}
	}
	return false
}

func codexText(v source.Value) CodexText { return CodexText{Text: v.Str(), Pos: v.Pos} }

func codexSwitch(v source.Value) CodexSwitch { return CodexSwitch{On: v.True(), Pos: v.Pos} }

func isUnknownGrant(key string) bool {
	switch key {
	case "approval_policy", "apps", "ask_for_approval", "default_permissions", "hooks", "mcp_servers", "network_access",
		"permissions", "plugins", "profile", "profiles", "sandbox_mode", "sandbox_workspace_write":
		return false
	}
	return containsAny(strings.ToLower(key),
		"allow", "approval", "deny", "hook", "mcp", "network", "permission", "sandbox")
}

func isUnknownNetworkKey(key string) bool {
	switch key {
	case "enabled", "proxy_url", "admin_url", "enable_socks5", "socks_url", "enable_socks5_udp", "allow_upstream_proxy",
		"dangerously_allow_non_loopback_proxy", "dangerously_allow_non_loopback_admin",
		"dangerously_allow_all_unix_sockets", "mode", "allow_local_binding", "domains", "unix_sockets":
		return false
	}
	return true
}
