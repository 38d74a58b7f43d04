package surface

import (
	"slices"

	"plimsoll.dev/internal/gate/source"
)

// CodexServer is one tool server of a Codex config: a table of mcp_servers, or
// of plugins.<name>.mcp_servers.
type CodexServer struct {
	Ref      string // dotted, for example "plugins.kit.mcp_servers.files"
	Disabled bool   // enabled = false: none of its tools runs at all
	// ApprovesAll: default_tools_approval_mode is "approve".
	ApprovesAll bool
	// Restricted: the server lists the tools it may offer; without a list it
	// offers whatever it likes.
	Restricted bool
	// Listed are the names of those lists.
	Listed []string
	// Tools are the tables below tools.
	Tools []CodexTool
	Pos   source.Position // of the approval mode, else of the server
}

// CodexTool is one table tools.<name>, of a server or of an app.
type CodexTool struct {
	Owner    string // Ref of the server, or name of the app
	Name     string
	Disabled bool // enabled = false
	Approves bool // approval_mode is "approve"
	Pos      source.Position
}

// Names are the tools the server is known to offer, sorted: the listed ones and
// those with a table that does not switch them off.
func (c *CodexServer) Names() []string {
	names := slices.Clone(c.Listed)
	for i := range c.Tools {
		if !c.Tools[i].Disabled {
			names = append(names, c.Tools[i].Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// approvesByDefault says whether a tool of the server runs without a question
// unless its own table says otherwise.
func (c *CodexServer) approvesByDefault() bool { return c.ApprovesAll && !c.Disabled }

// unasked tells of each tool whether it runs without a question by the server's
// default.
func (c *CodexServer) unasked() func(tool string) bool {
	if !c.approvesByDefault() {
		return func(string) bool { return false }
	}
	listed := make(map[string]bool, len(c.Listed))
	for _, n := range c.Listed {
		listed[n] = true
	}
	off := map[string]bool{}
	for i := range c.Tools {
		if c.Tools[i].Disabled {
			off[c.Tools[i].Name] = true
		}
	}
	return func(tool string) bool { return !off[tool] && (listed[tool] || !c.Restricted) }
}

// CodexDefaultApproval is a server whose tools newly run without a question.
type CodexDefaultApproval struct {
	Server string
	Tools  []string // those that newly do, by name; empty when none can be named
	Risky  []string // of these, the risky ones
	Pos    source.Position
}

// NewDefaultApprovals are the default approvals that after has and before has
// not. A server that approved all its listed tools and now lists one more, or
// lists none any longer, grants something new without a word about approval.
func NewDefaultApprovals(before, after CodexConfig) []CodexDefaultApproval {
	old := make(map[string]*CodexServer, len(before.Servers))
	for i := range before.Servers {
		old[before.Servers[i].Ref] = &before.Servers[i]
	}
	var out []CodexDefaultApproval
	for i := range after.Servers {
		now := &after.Servers[i]
		if !now.approvesByDefault() {
			continue
		}
		was := old[now.Ref]
		if was == nil {
			was = &CodexServer{}
		}
		a := CodexDefaultApproval{Server: now.Ref, Tools: []string{}, Risky: []string{}, Pos: now.Pos}
		fresh := !was.approvesByDefault()
		unaskedBefore, unaskedNow := was.unasked(), now.unasked()
		for _, tool := range now.Names() {
			if !fresh && (unaskedBefore(tool) || !unaskedNow(tool)) {
				continue
			}
			a.Tools = append(a.Tools, tool)
			if RiskyToolName(tool) {
				a.Risky = append(a.Risky, tool)
			}
		}
		unbound := was.Restricted && !now.Restricted
		if fresh || unbound || len(a.Tools) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// NewToolApprovals are the tables tools.<name> of a server in use that newly
// approve their tool.
func NewToolApprovals(before, after CodexConfig) []CodexTool {
	return newlyApproved(serverTools(before), serverTools(after))
}

// NewAppApprovals are the tables apps.<app>.tools.<name> that newly approve
// their tool.
func NewAppApprovals(before, after CodexConfig) []CodexTool {
	return newlyApproved(before.AppTools, after.AppTools)
}

func serverTools(c CodexConfig) []CodexTool {
	var out []CodexTool
	for i := range c.Servers {
		if !c.Servers[i].Disabled {
			out = append(out, c.Servers[i].Tools...)
		}
	}
	return out
}

func newlyApproved(before, after []CodexTool) []CodexTool {
	type key struct{ owner, name string }
	was := make(map[key]bool, len(before))
	for i := range before {
		if before[i].Approves {
			was[key{before[i].Owner, before[i].Name}] = true
		}
	}
	var out []CodexTool
	for i := range after {
		if after[i].Approves && !was[key{after[i].Owner, after[i].Name}] {
			out = append(out, after[i])
		}
	}
	return out
}

func codexServers(root source.Value) []CodexServer {
	out := serversIn(nil, "mcp_servers", root.Get("mcp_servers"))
	for _, plugin := range root.Get("plugins").Members {
		out = serversIn(out, "plugins."+plugin.Key+".mcp_servers", plugin.Value.Get("mcp_servers"))
	}
	return out
}

func serversIn(out []CodexServer, prefix string, table source.Value) []CodexServer {
	for _, m := range table.Members {
		if m.Value.Kind != source.Map {
			continue
		}
		mode := m.Value.Get("default_tools_approval_mode")
		s := CodexServer{
			Ref:         prefix + "." + m.Key,
			Disabled:    isFalse(m.Value.Get("enabled")),
			ApprovesAll: mode.Str() == "approve",
			Pos:         mode.Pos,
		}
		if !mode.Present() {
			s.Pos = m.Pos
		}
		for _, key := range []string{"enabled_tools", "allowed_tools", "tool_allowlist", "tools_allowlist"} {
			list := m.Value.Get(key)
			s.Restricted = s.Restricted || list.Present()
			for _, name := range list.Strings() {
				s.Listed = append(s.Listed, name.Text)
			}
		}
		s.Tools = toolTables(s.Ref, m.Value)
		out = append(out, s)
	}
	return out
}

func codexAppTools(root source.Value) []CodexTool {
	var out []CodexTool
	for _, app := range root.Get("apps").Members {
		out = append(out, toolTables(app.Key, app.Value)...)
	}
	return out
}

func toolTables(owner string, table source.Value) []CodexTool {
	var out []CodexTool
	for _, m := range table.Get("tools").Members {
		mode := m.Value.Get("approval_mode")
		t := CodexTool{
			Owner:    owner,
			Name:     m.Key,
			Disabled: isFalse(m.Value.Get("enabled")),
			Approves: mode.Str() == "approve",
			Pos:      mode.Pos,
		}
		out = append(out, t)
	}
	return out
}

func isFalse(v source.Value) bool { return v.Kind == source.Bool && !v.Truth }
