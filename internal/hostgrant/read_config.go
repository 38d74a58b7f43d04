package hostgrant

import (
	"slices"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// claudeSettings reads .claude/settings.json and its kin.
func (r *reading) claudeSettings() {
	s := surface.ClaudeSettingsOf(r.root)
	permissions := r.root.Get("permissions")
	r.odd("permissions", permissions, source.Map)
	for _, key := range []string{"allow", "ask", "deny", "additionalDirectories"} {
		r.odd("permissions."+key, permissions.Get(key), source.List)
	}
	for _, key := range []string{"hooks", "sandbox", "plugins", "enabledPlugins"} {
		r.odd(key, r.root.Get(key), source.Map)
	}
	r.rules(s.Allow, Allow)
	r.rules(s.Ask, Ask)
	r.rules(s.Deny, Deny)
	if v := s.DefaultMode.Value; v.Present() && v.Kind != source.Null {
		access, risk := claudeMode(v.Str())
		r.mode("permissions.defaultMode", v, access, risk)
	}
	var other []surface.Setting
	for _, o := range s.OtherPermissions {
		switch o.Key {
		case "additionalDirectories":
			for _, d := range o.Value.Strings() {
				r.folder("permissions.additionalDirectories", d)
			}
		case "disableBypassPermissionsMode":
			r.mode("permissions."+o.Key, o.Value, NoAccess, NoRisk)
		default:
			other = append(other, o)
		}
	}
	r.unknown("permissions.", other)
	r.hooks(s.Hooks.Value)
	for _, key := range []string{"apiKeyHelper", "statusLine"} {
		if v := r.root.Get(key); v.Present() && v.Kind != source.Null {
			r.program(key, v)
		}
	}
	for _, m := range s.Sandbox.Value.Members {
		access, risk := claudeSandbox(m.Key, m.Value)
		r.sandbox("sandbox."+m.Key, m.Value, access, risk)
	}
	r.plugins("plugins", s.Plugins.Value, Execute, High)
	r.claudeOther(s.Unknown)
	if s.PolicyHelper {
		r.block(UnsupportedSetting, "The file names a program that computes the settings in effect; nothing is known of them.")
	}
}

// claudeOther are settings that no rule of a change compares one by one.
func (r *reading) claudeOther(list []surface.Setting) {
	var other []surface.Setting
	for _, o := range list {
		switch o.Key {
		case "awsAuthRefresh", "awsCredentialExport", "fileSuggestion", "otelHeadersHelper":
			r.program(o.Key, o.Value)
		case "enabledPlugins":
			r.plugins(o.Key, o.Value, Execute, High)
		case "extraKnownMarketplaces":
			r.mode(o.Key, o.Value, Unknown, UnknownRisk)
			r.note(RemoteSourceExcluded, "The file names marketplaces of plugins, which are not read.")
		case "enableAllProjectMcpServers":
			access, risk := NoAccess, NoRisk
			if o.Value.True() {
				access, risk = Execute, High
			}
			r.mode(o.Key, o.Value, access, risk)
		case "enabledMcpjsonServers":
			r.mode(o.Key, o.Value, Execute, High)
		case "disabledMcpjsonServers":
			r.mode(o.Key, o.Value, NoAccess, NoRisk)
		case "policyHelper":
			// It is an issue of its own.
		default:
			other = append(other, o)
		}
	}
	r.unknown("", other)
}

func claudeMode(name string) (Access, Risk) {
	switch name {
	case "bypassPermissions", "dontAsk":
		return Admin, Critical
	case "acceptEdits":
		return Write, High
	case "default", "plan":
		return Read, Low
	}
	return Unknown, UnknownRisk
}

func claudeSandbox(key string, v source.Value) (Access, Risk) {
	on := v.True()
	switch key {
	case "enabled":
		if on {
			return NoAccess, NoRisk
		}
		return Execute, High
	case "autoAllowBashIfSandboxed":
		if on {
			return Execute, Medium
		}
		return NoAccess, NoRisk
	case "allowUnsandboxedCommands", "excludedCommands", "enableWeakerNestedSandbox":
		if on || len(v.Items) > 0 {
			return Execute, High
		}
		return NoAccess, NoRisk
	case "network":
		return External, Medium
	}
	return Unknown, UnknownRisk
}

// cursorCLI reads .cursor/cli.json and the user's file of the same format.
func (r *reading) cursorCLI() {
	s := surface.CursorCLIOf(r.root)
	permissions := r.root.Get("permissions")
	r.odd("permissions", permissions, source.Map)
	r.odd("permissions.allow", permissions.Get("allow"), source.List)
	r.odd("permissions.deny", permissions.Get("deny"), source.List)
	for _, key := range []string{"shell", "read", "write"} {
		r.odd(key, r.root.Get(key), source.List)
	}
	r.rules(s.Allow, Allow)
	r.rules(s.Deny, Deny)
	r.unknown("permissions.", s.OtherPermissions)
	if v := s.Network.Value; v.Present() && v.Kind != source.Null {
		access, risk := External, High
		if v.Kind == source.Bool && !v.Truth {
			access, risk = NoAccess, NoRisk
		}
		r.mode("network", v, access, risk)
	}
	r.unknown("", slices.DeleteFunc(s.Unknown, func(o surface.Setting) bool { return o.Key == "version" }))
}

// codexConfig reads a config.toml.
func (r *reading) codexConfig() {
	c := surface.CodexConfigOf(r.s.NewDoc)
	r.codexShapes()
	for _, m := range []struct {
		key  string
		text surface.CodexText
		of   func(string) (Access, Risk)
		keep func(string, source.Value, Access, Risk)
	}{
		{"sandbox_mode", c.SandboxMode, codexSandbox, r.sandbox},
		{"default_permissions", c.DefaultPermissions, func(string) (Access, Risk) { return Unknown, UnknownRisk }, r.mode},
		{"approval_policy", c.ApprovalPolicy, codexApproval, r.mode},
	} {
		if m.text.Text != "" {
			access, risk := m.of(m.text.Text)
			m.keep(m.key, text(m.text.Text), access, risk)
		}
	}
	if c.WorkspaceNetwork.On {
		r.sandbox("sandbox_workspace_write.network_access", source.Value{Kind: source.Bool, Truth: true}, External, High)
	}
	r.codexProfiles()
	for i := range c.Permissions {
		r.codexPermissions(&c.Permissions[i])
	}
	unasked := map[string]bool{}
	for i := range c.Servers {
		s := &c.Servers[i]
		unasked[s.Ref] = unasked[s.Ref] || s.ApprovesAll || slices.ContainsFunc(s.Tools, func(t surface.CodexTool) bool { return t.Approves && !t.Disabled })
	}
	r.codexServers("mcp_servers", r.root.Get("mcp_servers"), unasked)
	for _, m := range r.root.Get("plugins").Members {
		r.codexServers("plugins."+m.Key+".mcp_servers", m.Value.Get("mcp_servers"), unasked)
	}
	r.plugins("plugins", r.root.Get("plugins"), Execute, High)
	r.codexApps(c.AppTools)
	r.hooks(r.root.Get("hooks"))
	if v := r.root.Get("notify"); v.Present() {
		r.program("notify", v)
	}
	r.unknown("", c.UnknownGrants)
	if r.s.CodexProfileMissing() {
		r.block(UnsupportedSetting, "The file selects a profile that it does not define; the settings in effect are not all in it.")
	}
}

// codexShapes lists what has another form than the reader takes: an approval
// policy may be a table of its own, for example.
func (r *reading) codexShapes() {
	for _, key := range []string{"apps", "hooks", "mcp_servers", "permissions", "plugins", "profiles"} {
		r.odd(key, r.root.Get(key), source.Map)
	}
	tables := []source.Member{{Value: r.root}}
	for _, m := range r.root.Get("profiles").Members {
		tables = append(tables, source.Member{Key: "profiles." + m.Key + ".", Value: m.Value})
	}
	for _, t := range tables {
		for _, key := range []string{"approval_policy", "ask_for_approval", "default_permissions", "profile", "sandbox_mode"} {
			r.odd(t.Key+key, t.Value.Get(key), source.String)
		}
		write := t.Value.Get("sandbox_workspace_write")
		r.odd(t.Key+"sandbox_workspace_write", write, source.Map)
		r.odd(t.Key+"sandbox_workspace_write.writable_roots", write.Get("writable_roots"), source.List)
		r.odd(t.Key+"sandbox_workspace_write.network_access", write.Get("network_access"), source.Bool)
	}
}

func (r *reading) codexProfiles() {
	profiles := r.root.Get("profiles")
	for _, m := range profiles.Members {
		access, risk := Unknown, UnknownRisk
		if mode := m.Value.Get("sandbox_mode").Str(); mode != "" {
			access, risk = codexSandbox(mode)
		}
		r.add(Grant{Kind: Profile, Access: access, Risk: risk, Name: m.Key, Resolved: m.Value.Kind == source.Map}, digest(m.Value), "defined", m.Key)
	}
	if v := r.root.Get("profile"); v.Kind == source.String {
		resolved := profiles.Get(v.Text).Kind == source.Map
		access, risk := NoAccess, NoRisk // what it sets is listed as the settings in effect
		if !resolved {
			access, risk = Unknown, UnknownRisk
		}
		r.add(Grant{Kind: Profile, Access: access, Risk: risk, Name: clip(v.Text), Resolved: resolved}, digest(v), "selected")
	}
	// The table of the selected profile takes the place of the one on top.
	write := r.root.Get("sandbox_workspace_write")
	if chosen := profiles.Get(r.root.Get("profile").Str()).Get("sandbox_workspace_write"); chosen.Present() {
		write = chosen
	}
	for _, d := range write.Get("writable_roots").Strings() {
		r.folder("sandbox_workspace_write.writable_roots", d)
	}
}

func (r *reading) codexPermissions(p *surface.CodexPermissions) {
	prefix := "permissions." + p.Profile + "."
	table := r.root.At("permissions", p.Profile)
	if v := table.Get("filesystem"); v.Present() {
		r.sandbox(prefix+"filesystem", v, Write, Medium)
	}
	if v := table.Get("workspace_roots"); v.Present() {
		r.sandbox(prefix+"workspace_roots", v, Write, Medium)
	}
	if v := table.Get("extends"); v.Present() {
		r.sandbox(prefix+"extends", v, Unknown, UnknownRisk)
	}
	r.odd(prefix+"network", table.Get("network"), source.Map)
	r.odd(prefix+"network.mode", table.At("network", "mode"), source.String)
	r.odd(prefix+"network.domains", table.At("network", "domains"), source.Map)
	if p.NetworkMode.Text != "" {
		r.sandbox(prefix+"network.mode", text(p.NetworkMode.Text), External, Medium)
	}
	for _, d := range p.Domains {
		access, risk := External, Medium
		switch {
		case !d.Allowed:
			access, risk = NoAccess, NoRisk
		case d.Wildcard():
			risk = High
		}
		// A pattern is a name; what is not allowed is said by its access.
		r.add(Grant{Kind: Sandbox, Access: access, Risk: risk, Setting: prefix + "network.domains", Value: clip(redact.Text(d.Pattern))},
			digest(d.Value), prefix+"network.domains", d.Pattern)
	}
	for _, m := range table.Get("network").Members {
		if m.Key != "mode" && m.Key != "domains" {
			access, risk := External, Medium
			if m.Value.Kind == source.Bool && !m.Value.Truth {
				access, risk = NoAccess, NoRisk
			}
			r.sandbox(prefix+"network."+m.Key, m.Value, access, risk)
		}
	}
	r.unknown(prefix, p.Unknown)
}

// codexServers hands a table of servers to the reader of server maps: the two
// name what they start and where they connect by the same keys.
func (r *reading) codexServers(ref string, table source.Value, unasked map[string]bool) {
	as := source.Value{Kind: source.Map, Members: []source.Member{{Key: "mcpServers", Value: table}}}
	for _, s := range surface.MCPServersOf(as) {
		r.server(s, table.Get(s.Name), unasked[ref+"."+s.Name], ref, s.Name)
	}
}

func (r *reading) codexApps(tools []surface.CodexTool) {
	approved := map[string]bool{}
	for _, t := range tools {
		approved[t.Owner] = approved[t.Owner] || t.Approves && !t.Disabled
	}
	for _, m := range r.root.Get("apps").Members {
		risk := Medium
		if approved[m.Key] {
			risk = High
		}
		r.plugins("apps", source.Value{Kind: source.Map, Members: []source.Member{m}}, External, risk)
	}
}

func codexSandbox(mode string) (Access, Risk) {
	switch mode {
	case "danger-full-access":
		return Admin, Critical
	case "workspace-write":
		return Write, Medium
	case "read-only":
		return Read, Low
	}
	return Unknown, UnknownRisk
}

func codexApproval(policy string) (Access, Risk) {
	switch policy {
	case "never":
		return Execute, Critical
	case "on-failure":
		return Execute, High
	case "on-request":
		return Execute, Medium
	case "untrusted":
		return Read, Low
	}
	return Unknown, UnknownRisk
}

func text(s string) source.Value { return source.Value{Kind: source.String, Text: s} }
