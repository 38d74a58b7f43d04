package surface

import "plimsoll.dev/internal/gate/source"

// CursorCLI is what .cursor/cli.json grants (docs/spec/boundary.md §5.2).
type CursorCLI struct {
	// Allow is permissions.allow and the category lists shell, read and write.
	// Categories are allowances only: losing one is no lost deny (OP-15).
	Allow, Deny []PermissionRule
	// OtherPermissions are keys of "permissions" besides allow and deny.
	OtherPermissions []Setting
	Network          Setting
	// Unknown are top-level keys whose meaning is not known here.
	Unknown []Setting
}

// CursorCLIOf reads a Cursor CLI configuration object.
func CursorCLIOf(v source.Value) CursorCLI {
	permissions := v.Get("permissions")
	allow := permissionRules("allow", permissions.Get("allow"))
	for _, category := range []string{"shell", "read", "write"} {
		allow = append(allow, permissionRules(category, v.Get(category))...)
	}
	return CursorCLI{
		Allow:            allow,
		Deny:             permissionRules("deny", permissions.Get("deny")),
		OtherPermissions: settings(permissions, outside("allow", "deny")),
		Network:          setting(v, "network"),
		Unknown:          settings(v, outside("$schema", "permissions", "shell", "read", "write", "network")),
	}
}

// CursorCLI is both sides of a Cursor CLI file; ok is false for any other
// surface and when a side could not be read.
func (s *Surface) CursorCLI() (before, after CursorCLI, ok bool) {
	if s.Role != RoleCursorCLI || !s.readable() {
		return CursorCLI{}, CursorCLI{}, false
	}
	return CursorCLIOf(s.OldDoc.Value), CursorCLIOf(s.NewDoc.Value), true
}
