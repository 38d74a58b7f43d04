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

// passesThrough says whether some path below folder p can match the pattern, by
// a name that the pattern fixes. One that starts with "**/" passes through any
// folder before its first name, and that is no reason here.
func passesThrough(pattern []string, p string) bool {
	first := 1
	if pattern[0] == "**" {
		first = 2
	}
	for cut := first; cut < len(pattern); cut++ {
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
