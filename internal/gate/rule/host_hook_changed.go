package rule

import "plimsoll.dev/internal/gate/surface"

// HostHookChanged fires when the hooks of Claude settings mean something else:
// a hook runs a program, and taking one away may take a guard away.
var HostHookChanged = Rule{
	ID:             "HOST-HOOK-CHANGED",
	CheckID:        "SHIP-HOST-BOUNDARY-HOOK-CHANGED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Host hooks changed",
	Recommendation: "Let a person read the hooks before they run.",
	Kinds:          []string{"hook_changed"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			before, after, ok := s.ClaudeSettings()
			if !ok || !after.Hooks.Changed(before.Hooks) {
				continue
			}
			changed := surface.ChangedSettings(before.HookEvents(), after.HookEvents())
			if len(changed) == 0 {
				p.Report(s.Path, after.Hooks.Pos.Line, "hook_changed")
				continue
			}
			events := make([]string, len(changed))
			line := after.Hooks.Pos.Line
			for i, event := range changed {
				events[i] = event.Key
				if i == 0 && event.Pos.Line > 0 {
					line = event.Pos.Line
				}
			}
			p.Report(s.Path, line, "hook_changed", With("events", events))
		}
	},
}
