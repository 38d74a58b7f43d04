package surface

import "plimsoll.dev/internal/gate/source"

// HostHooks are the hooks of Claude settings or of Cursor's hooks file: one
// object with a list of commands per event (docs/spec/boundary.md §5.2, D20.10).
type HostHooks struct{ Setting }

// Events is one setting per event; none when the hooks are no object.
func (h HostHooks) Events() []Setting {
	return settings(h.Value, func(string) bool { return true })
}

func hostHooks(v source.Value) HostHooks { return HostHooks{setting(v, "hooks")} }

// HostHooks is both sides of a file that holds host hooks; ok is false for any
// other surface and when a side could not be read.
func (s *Surface) HostHooks() (before, after HostHooks, ok bool) {
	if s.Role != RoleClaudeSettings && s.Role != RoleCursorHooks || !s.readable() {
		return HostHooks{}, HostHooks{}, false
	}
	return hostHooks(s.OldDoc.Value), hostHooks(s.NewDoc.Value), true
}
