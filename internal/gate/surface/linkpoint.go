package surface

// linkPointPatterns are the folder positions that an adapter pattern with a
// fixed first name passes through: a link or a submodule there would give a
// host another folder than the one Git lists (§2.7).
var linkPointPatterns = []string{
	".claude", ".claude/commands/**", ".claude/skills/**", ".cursor", ".cursor/rules/**", ".vscode",
	".agents", ".agents/skills/**", ".shipgate", ".agents-shipgate", "policies",
	"**/.codex", "**/.github", "**/.github/workflows",
}

var linkPointGlobs = globs(linkPointPatterns...)

// IsLinkPoint says whether a link or gitlink at p would stand in for a folder
// that hosts read.
func IsLinkPoint(p string) bool { return matchAny(linkPointGlobs, fold(p)) }

// AdaptersThrough lists the adapters with a pattern that passes through the
// link point p; row 27 there makes each of them partial (§11.1).
func AdaptersThrough(p string) []AdapterID {
	var out []AdapterID
	for i := range adapters {
		for _, pattern := range adapters[i].globs {
			if passesThrough(pattern.segments, fold(p)) {
				out = append(out, adapters[i].ID)
				break
			}
		}
	}
	return out
}

// passesThrough says whether some path below folder p can match the pattern.
// A pattern that starts with "**/" and a free name passes through any folder
// and is no reason here.
func passesThrough(pattern []string, p string) bool {
	if pattern[0] == "**" && len(pattern) == 2 {
		return false
	}
	for cut := 1; cut < len(pattern); cut++ {
		if matchSegments(pattern[:cut], p) {
			return true
		}
	}
	return false
}

// LinkPatterns is every adapter pattern and link point: where a link would
// stand in for what a host reads (§2.7).
func LinkPatterns() []string {
	var out []string
	for i := range adapters {
		out = append(out, adapters[i].Patterns...)
	}
	return append(out, linkPointPatterns...)
}
