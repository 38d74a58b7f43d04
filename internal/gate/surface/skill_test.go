package surface_test

import (
	"testing"

	"plimsoll.dev/internal/gate/surface"
)

func TestASkillLineThatCarriesACommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, added string
		line        int
	}{
		{".claude/skills/a/SKILL.md", "Pack the notes.\nRun: it", 2},
		{".claude/skills/a/b/skill.md", "COMMAND: x", 1},
		{".agents/skills/a/SKILL.md", "cmd: x", 1},
		{".agents/skills/a/SKILL.md", "use exec_command, write_stdin or apply_patch", 1},
		{".agents/skills/a/SKILL.md", "python x", 1},
		{".agents/skills/a/SKILL.md", "Python, node, Bash: words", 0},
		{".agents/skills/a/SKILL.md", "node x", 1},
		{".agents/skills/a/SKILL.md", "bash x", 1},
		{".agents/skills/a/SKILL.md", "in script/x", 1},
		{".agents/skills/a/SKILL.md", "a subprocess", 1},
		{".agents/skills/a/SKILL.md", "s\u200bh\u00a0x", 1}, // read as a person sees it
		{".agents/skills/a/SKILL.md", "Packs the release notes.", 0},
		{"SKILL.md", "run: x", 0},
		{".cursor/skills/a/SKILL.md", "run: x", 0},
	} {
		s := surface.Read(&surface.Change{Path: c.path, Added: changed(c.added)})
		line, found := s.SkillCommand()
		if found != (c.line > 0) || line.Line != c.line {
			t.Errorf("%s %q: line %d, want %d", c.path, c.added, line.Line, c.line)
		}
	}
}
