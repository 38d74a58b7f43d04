package rule

import "plimsoll.dev/internal/gate/surface"

// HostHookChanged fires when the hooks of Claude settings or of Cursor's hooks
// file mean something else: a hook runs a program, and taking one away may take
// a guard away.
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
			before, after, ok := s.HostHooks()
			if !ok || !after.Changed(before.Setting) {
				continue
			}
			changed := surface.ChangedSettings(before.Events(), after.Events())
			if len(changed) == 0 {
				p.Report(s.Path, after.Pos.Line, "hook_changed")
				continue
			}
			line := 0
			events := make([]string, len(changed))
			for i, event := range changed {
				events[i] = event.Key
				if line == 0 {
					line = event.Pos.Line
				}
			}
			if line == 0 { // every changed event is gone
				line = after.Pos.Line
			}
			p.Report(s.Path, line, "hook_changed", With("events", events))
		}
	},
}
