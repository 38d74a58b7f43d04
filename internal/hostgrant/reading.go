package hostgrant

import (
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// reading is one file on its way into the inventory.
type reading struct {
	*taking
	file  *File
	place *place
	path  string // whose format the file has
	s     *surface.Surface
	root  source.Value
	// unsupported: the file names something that decides and that is in no file.
	unsupported bool
	listed      int // grants of this file
}

// maxListed bounds the grants of one file: no person reads more, and a hostile
// file of 1 MiB could name a hundred thousand.
const maxListed = 5000

// add keeps a grant; key is what names it among those of its kind in its file.
func (r *reading) add(g Grant, digest string, key ...string) {
	if r.listed++; r.listed > maxListed {
		if r.listed == maxListed+1 {
			r.block(UnsupportedSetting, "The file has more entries than are listed.")
		}
		return
	}
	g.Host, g.Scope, g.Source, g.ConfigSHA256 = r.place.host, r.file.Scope, r.file.Path, digest
	g.ID = id("hg", append([]string{string(g.Kind), string(g.Host), string(g.Scope), g.Source}, key...)...)
	r.v.Grants = append(r.v.Grants, g)
}

// note keeps an issue that leaves the inventory complete.
func (r *reading) note(kind IssueKind, message string) {
	r.issue(r.place.host, r.file, kind, false, message)
}

// block keeps an issue that makes the inventory incomplete.
func (r *reading) block(kind IssueKind, message string) {
	r.unsupported = true
	r.issue(r.place.host, r.file, kind, true, message)
}

// instructions are a text that hosts give to their agents: it grants nothing by
// itself, and who may write it steers them.
func (r *reading) instructions(digest string) {
	r.add(Grant{Kind: InstructionTrustRoot, Access: NoAccess, Risk: Medium, Path: r.file.Path}, digest)
}

// grants reads the file by its place.
func (r *reading) grants() {
	switch r.place.kind {
	case Config:
		switch r.place.host {
		case Codex:
			r.codexConfig()
		case ClaudeCode:
			r.claudeSettings()
		case Cursor:
			r.cursorCLI()
		case VSCode, GitHub:
		}
	case MCP:
		r.servers(r.root)
		if r.file.Scope == LocalStatic && r.path == userServers {
			r.projectServers()
		}
	case Hooks:
		events := r.root.Get("hooks")
		r.odd("hooks", events, source.Map)
		if events.Kind != source.Map {
			events = r.root
		}
		r.hooks(events)
	case WorkflowFile:
		r.workflow()
	case Requirements:
		for _, m := range r.root.Members {
			r.add(Grant{Kind: Requirement, Access: NoAccess, Risk: NoRisk, Name: m.Key, Value: shown(m.Value)}, digest(m.Value), m.Key)
		}
	case Instructions:
	}
}

// hooks is one grant an event: what runs there is one decision.
func (r *reading) hooks(events source.Value) {
	for _, m := range events.Members {
		if m.Value.Kind != source.List && m.Value.Kind != source.Map {
			continue // a version, a switch
		}
		g := Grant{Kind: Hook, Access: Execute, Risk: High, Event: m.Key}
		if len(m.Value.Items)+len(m.Value.Members) == 0 {
			g.Access, g.Risk = NoAccess, NoRisk
		}
		r.add(g, digest(m.Value), "event", m.Key)
	}
}

// program is a setting that names a program which the host starts by itself.
func (r *reading) program(key string, v source.Value) {
	r.add(Grant{Kind: Hook, Access: Execute, Risk: High, Event: key}, digest(v), "program", key)
}

// rules are the entries of one list of permissions.
func (r *reading) rules(list []surface.PermissionRule, disposition Disposition) {
	for _, rule := range list {
		// The argument is never shown, and two rules that differ in it alone are
		// two grants: the digest keeps them apart.
		d := "sha256:" + canonical.UTF8.SHA256(redact.Text(rule.Text))
		g := Grant{Kind: PermissionRule, Rule: rule.Masked(), Disposition: disposition, Wildcard: rule.Wildcard()}
		g.Access, g.Risk = reach(rule, disposition)
		r.add(g, d, string(disposition), rule.List, d)
	}
}

// mode is a setting of how far a host goes without a question.
func (r *reading) mode(key string, v source.Value, access Access, risk Risk) {
	r.add(Grant{Kind: PermissionMode, Access: access, Risk: risk, Setting: key, Value: shown(v)}, digest(v), key)
}

// sandbox is a setting of what a host keeps its commands from.
func (r *reading) sandbox(key string, v source.Value, access Access, risk Risk) {
	r.add(Grant{Kind: Sandbox, Access: access, Risk: risk, Setting: key, Value: shown(v)}, digest(v), key)
}

// unknown are settings whose meaning is not known here: they are listed, so that
// a change of one shows.
func (r *reading) unknown(prefix string, list []surface.Setting) {
	for _, s := range list {
		r.add(Grant{Kind: PermissionMode, Access: Unknown, Risk: UnknownRisk, Setting: prefix + s.Key, Value: shape(s.Value)}, digest(s.Value), prefix+s.Key)
	}
	if len(list) > 0 {
		r.note(UnsupportedSetting, "The file has settings whose meaning is not known here; they are listed with unknown access.")
	}
}

// odd lists a setting that is there in a form which hosts do not document: what
// they make of it is not known. null says nothing.
func (r *reading) odd(key string, v source.Value, want source.Kind) {
	wrong := v.Present() && v.Kind != source.Null && v.Kind != want
	if want == source.List && v.Kind == want {
		wrong = len(v.Strings()) != len(v.Items)
	}
	if wrong {
		r.unknown("", []surface.Setting{{Key: key, Value: v}})
	}
}

// folder is a place beside the workspace that a host may work in.
func (r *reading) folder(key string, v source.Value) {
	risk := Medium
	switch p := strings.TrimSpace(v.Text); {
	case p == "/" || p == "~" || p == "~/":
		risk = Critical
	case strings.HasPrefix(p, "/"), strings.HasPrefix(p, "~"), strings.HasPrefix(p, ".."), strings.HasPrefix(p, "$"), strings.Contains(p, `:\`):
		risk = High
	}
	d := digest(v)
	r.add(Grant{Kind: AdditionalPath, Access: Write, Risk: risk, Path: clip(redact.Text(v.Text))}, d, key, d)
}

// plugins are entries of a table by name, on, off or with a table of their own;
// key names the table.
func (r *reading) plugins(key string, table source.Value, access Access, risk Risk) {
	for _, m := range table.Members {
		g := Grant{Kind: PluginOrApp, Access: access, Risk: risk, Name: m.Key}
		enabled := m.Value
		if m.Value.Kind == source.Map {
			enabled = m.Value.Get("enabled")
		}
		if enabled.Kind == source.Bool {
			g.Enabled = &enabled.Truth
		}
		if g.Enabled != nil && !*g.Enabled {
			g.Access, g.Risk = NoAccess, NoRisk
		}
		r.add(g, digest(m.Value), key, m.Key)
	}
}

// reach is what a permission rule lets a host do, by the tool that it names and
// by how much of it it names.
func reach(rule surface.PermissionRule, disposition Disposition) (Access, Risk) {
	if disposition == Deny {
		return NoAccess, NoRisk
	}
	name, _, _ := strings.Cut(strings.TrimSpace(rule.Text), "(")
	access := toolAccess(rule.List, strings.TrimSpace(name))
	if disposition == Ask {
		return access, Low
	}
	if !rule.Wildcard() {
		switch access {
		case Read:
			return access, Low
		case Unknown:
			return access, UnknownRisk
		case NoAccess, Write, Execute, External, Admin:
		}
		return access, Medium
	}
	switch access {
	case Execute, Admin:
		return access, Critical
	case Read:
		return access, Medium
	case NoAccess, Write, External, Unknown:
	}
	return access, High
}

// toolAccess is what the hosts' own tools do. Cursor keeps lists by category.
func toolAccess(list, name string) Access {
	switch list {
	case "shell":
		return Execute
	case "read":
		return Read
	case "write":
		return Write
	}
	switch lower := strings.ToLower(name); lower {
	case "*":
		return Admin
	case "bash", "shell", "powershell", "task", "agent", "skill", "killshell", "monitor":
		return Execute
	case "write", "edit", "multiedit", "notebookedit", "delete":
		return Write
	case "read", "glob", "grep", "ls", "notebookread", "todowrite", "todoread", "bashoutput":
		return Read
	case "webfetch", "websearch", "mcp":
		return External
	default:
		if strings.HasPrefix(lower, "mcp__") {
			return External
		}
	}
	return Unknown
}
