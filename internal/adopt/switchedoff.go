package adopt

import (
	"io/fs"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/gate/source"
)

// switchedOff says where the workspace tells a host to run no hooks, "" where it
// does not. A hook that is written and never called would only look like one.
func switchedOff(workspace fs.FS, h hook.Host) string {
	switch h {
	case hook.ClaudeCode:
		for _, name := range []string{".claude/settings.json", ".claude/settings.local.json"} {
			if v, err := source.ParseJSON(look(workspace, name).text); err == nil && v.Get("disableAllHooks").True() {
				return "disableAllHooks in " + name + " switches the hooks of this host off"
			}
		}
	case hook.Codex:
		const name = ".codex/config.toml"
		root, err := source.ParseTOML(look(workspace, name).text)
		if err != nil {
			return ""
		}
		for _, key := range []string{"hooks", "codex_hooks"} {
			if v := root.At("features", key); v.Present() && !v.True() {
				return "features." + key + " in " + name + " switches the hooks of this host off"
			}
		}
	case hook.Cursor:
	}
	return ""
}
