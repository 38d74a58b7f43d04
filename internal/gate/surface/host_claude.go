package surface

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// ClaudeSettings is what .claude/settings.json or settings.local.json grants
// (docs/spec/boundary.md §5.2).
type ClaudeSettings struct {
	// Allow and Deny decide without asking. Ask is read for those who list
	// permissions; no rule compares it (OP-13).
	Allow, Deny, Ask []PermissionRule
	DefaultMode      Setting
	// OtherPermissions are keys of "permissions" that are none of the above.
	OtherPermissions []Setting

	Hooks            HostHooks
	Sandbox, Plugins Setting
	// Unknown are top-level keys whose meaning is not known here.
	Unknown []Setting
	// PolicyHelper: the effective settings come from a program, which no reader
	// of the file can know.
	PolicyHelper bool
}

var knownClaudeKeys = []string{
	"$schema", "apiKeyHelper", "attribution", "autoUpdatesChannel", "cleanupPeriodDays", "companyAnnouncements",
	"env", "forceLoginMethod", "forceLoginOrgUUID", "hooks", "includeCoAuthoredBy", "language", "model",
	"permissions", "plugins", "sandbox", "statusLine",
}

// ClaudeSettingsOf reads a settings object.
func ClaudeSettingsOf(v source.Value) ClaudeSettings {
	permissions := v.Get("permissions")
	return ClaudeSettings{
		Allow:            permissionRules("allow", permissions.Get("allow")),
		Deny:             permissionRules("deny", permissions.Get("deny")),
		Ask:              permissionRules("ask", permissions.Get("ask")),
		DefaultMode:      setting(permissions, "defaultMode"),
		OtherPermissions: settings(permissions, outside("allow", "ask", "deny", "defaultMode")),
		Hooks:            hostHooks(v),
		Sandbox:          setting(v, "sandbox"),
		Plugins:          setting(v, "plugins"),
		Unknown:          settings(v, outside(knownClaudeKeys...)),
		PolicyHelper:     v.Get("policyHelper").Present(),
	}
}

// Mode is a permission mode as evidence shows it, and how far it reaches.
type Mode struct {
	Name string
	// Unasked: the host acts without any prompt in this mode.
	Unasked bool
	Pos     source.Position
}

// ModeGained is the permission mode that after sets and before did not. A mode
// that goes away, or that is null, gives nothing.
func ModeGained(before, after *ClaudeSettings) (Mode, bool) {
	s := after.DefaultMode
	if !s.Value.Present() || s.Value.Kind == source.Null || !s.Changed(before.DefaultMode) {
		return Mode{}, false
	}
	name := s.Value.Str()
	return Mode{
		Name:    maskWord(name),
		Unasked: name == "bypassPermissions" || name == "dontAsk",
		Pos:     s.Pos,
	}, true
}

// maskWord shows a value that is meant to be one plain word.
func maskWord(text string) string {
	letter := func(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
	if text == "" || len(text) > 40 || strings.TrimFunc(text, letter) != "" {
		return redacted
	}
	return text
}

// ClaudeSettings is both sides of a Claude settings file; ok is false for any
// other surface and when a side could not be read.
func (s *Surface) ClaudeSettings() (before, after ClaudeSettings, ok bool) {
	if s.Role != RoleClaudeSettings || !s.readable() {
		return ClaudeSettings{}, ClaudeSettings{}, false
	}
	return ClaudeSettingsOf(s.OldDoc.Value), ClaudeSettingsOf(s.NewDoc.Value), true
}

// ClaudePolicyHelper says whether the settings after the change name a program
// that computes the effective ones: the issue host_inventory_unsupported (§4.5).
func (s *Surface) ClaudePolicyHelper() bool {
	return s.Role == RoleClaudeSettings && ClaudeSettingsOf(s.NewDoc.Value).PolicyHelper
}
