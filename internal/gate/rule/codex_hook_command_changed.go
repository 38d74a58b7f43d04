package rule

import "plimsoll.dev/internal/gate/surface"

// CodexHookCommandChanged reports a command that Codex newly runs at an event:
// added, or edited in any byte (docs/spec/boundary.md §5.1).
var CodexHookCommandChanged = Rule{
	ID:             "CODEX-HOOK-COMMAND-CHANGED",
	CheckID:        "SHIP-CODEX-BOUNDARY-HOOK-COMMAND-CHANGED",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Codex hook command added or edited",
	Recommendation: "Let a person read the command before it runs.",
	Kinds:          []string{"command_hook"},
	Check:          checkCodexHookCommandChanged,
}

func checkCodexHookCommandChanged(p *Pass) {
	for _, s := range p.Surfaces {
		before, after, ok := s.CodexHooks()
		if !ok {
			continue
		}
		for _, h := range surface.NewCommandHooks(before, after) {
			p.Report(s.Path, h.Pos.Line, "command_hook",
				With("event", h.Event), With("command_present", h.CommandPresent))
		}
	}
}
