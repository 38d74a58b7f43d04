package rule

// CodexSkillCommandChanged reports a skill whose added lines carry commands, so
// that the skill now runs something (docs/spec/boundary.md §5.1, "Skills").
var CodexSkillCommandChanged = Rule{
	ID:             "CODEX-SKILL-COMMAND-CHANGED",
	CheckID:        "SHIP-CODEX-BOUNDARY-SKILL-COMMAND-CHANGED",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           Medium,
	Title:          "Skill text now carries commands",
	Recommendation: "Let a person read the commands in the skill.",
	Kinds:          []string{"command_bearing_skill_change"},
	Check:          checkCodexSkillCommandChanged,
}

func checkCodexSkillCommandChanged(p *Pass) {
	for _, s := range p.Surfaces {
		if line, found := s.SkillCommand(); found {
			p.Report(s.Path, line.Line, "command_bearing_skill_change")
		}
	}
}
