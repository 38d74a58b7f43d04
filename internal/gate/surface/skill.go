package surface

// SkillCommand is the first added line of a skill that carries a command
// (docs/spec/boundary.md §5.1, "Skills").
func (s *Surface) SkillCommand() (line AddedLine, found bool) {
	if !s.IsSkill() {
		return AddedLine{}, false
	}
	for _, l := range s.Added {
		if bearsCommand(lowerASCII(l.Text)) || bearsCommand(shown(l.Text)) {
			return l, true
		}
	}
	return AddedLine{}, false
}

func bearsCommand(line string) bool {
	return containsAny(line,
		"exec_command", "write_stdin", "apply_patch", "shell", "subprocess",
		"python ", "node ", "bash ", "sh ", "script/", "scripts/", "command:", "cmd:", "run:")
}
