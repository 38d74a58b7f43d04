// Package surface knows what the coding-agent configuration of a repository
// is: which paths belong to which host, which of them govern the gate, and
// what each file says, before and after a change, as typed values.
//
// Everything here is a table or a pure function of bytes. The package decides
// nothing; rules do (docs/spec/boundary.md §4).
package surface

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// AdapterID names one adapter of §4.1.
type AdapterID string

// The adapters in table order.
const (
	Codex      AdapterID = "codex"
	ClaudeCode AdapterID = "claude_code"
	Cursor     AdapterID = "cursor"
	VSCodeMCP  AdapterID = "vscode_mcp"
	Shared     AdapterID = "shared"
)

// Adapter is one row of the table in §4.1.
type Adapter struct {
	ID           AdapterID
	Hosts        []string
	Patterns     []string
	Experimental bool

	globs []glob
}

// Matches says whether path belongs to the adapter. path is
// repository-relative; case does not count.
func (a *Adapter) Matches(path string) bool { return matchAny(a.globs, fold(path)) }

var adapters = compile([]Adapter{
	{
		ID: Codex, Hosts: []string{"codex"},
		Patterns: []string{"**/.codex/config.toml", "**/.codex/hooks.json", "**/.codex/requirements.toml"},
	},
	{
		ID: ClaudeCode, Hosts: []string{"claude-code"},
		Patterns: []string{
			".claude/settings.json", ".claude/settings.local.json", "**/.mcp.json", "**/CLAUDE.md",
			".claude/commands/**", ".claude/skills/**/SKILL.md",
		},
	},
	{
		ID: Cursor, Hosts: []string{"cursor"},
		Patterns: []string{".cursor/cli.json", ".cursor/hooks.json", ".cursor/mcp.json", ".cursor/rules/**"},
	},
	{
		ID: VSCodeMCP, Hosts: []string{"vscode"}, Experimental: true,
		Patterns: []string{".vscode/mcp.json"},
	},
	{
		ID: Shared, Hosts: []string{"codex", "claude-code", "cursor"},
		Patterns: []string{
			"**/AGENTS.md", "**/AGENTS.override.md", "shipgate.yaml", ".shipgate/agent-contract.json",
			"policies/*.shipgate.yaml", ".agents/skills/**/SKILL.md",
			"**/.github/workflows/*.yml", "**/.github/workflows/*.yaml",
			".agents-shipgate/baseline*.json", ".agents-shipgate/*waiver*.json", ".agents-shipgate/state*.json",
		},
	},
})

func compile(list []Adapter) []Adapter {
	for i := range list {
		list[i].globs = globs(list[i].Patterns...)
	}
	return list
}

// Adapters is every adapter in table order. The slice is shared: do not write.
func Adapters() []Adapter { return adapters }

// IsAdapterPath says whether any adapter matches path.
func IsAdapterPath(path string) bool {
	p := fold(path)
	return slices.ContainsFunc(adapters, func(a Adapter) bool { return matchAny(a.globs, p) })
}

// IsExperimental says whether path belongs to an experimental adapter.
func IsExperimental(path string) bool {
	p := fold(path)
	return slices.ContainsFunc(adapters, func(a Adapter) bool { return a.Experimental && matchAny(a.globs, p) })
}

// fold brings a path to the form that patterns are written in.
func fold(path string) string { return Fold(clean(path)) }

// Fold is a name as a file system sees it that tells no cases apart. Such a system
// takes more than capitals for the same: the long s for s, ligatures for their
// letters; some leave out of a name what joins letters or turns their direction.
// Git calls each spelling a file of its own, and a host there opens the one that
// it looks for.
func Fold(name string) string {
	lower := strings.ToLower(name)
	for i := range len(lower) {
		if lower[i] >= utf8.RuneSelf {
			return caseFolds.Replace(strings.Map(kept, lower))
		}
	}
	return lower
}

// caseFolds are the letters beyond those of strings.ToLower whose case folding is
// of ASCII.
var caseFolds = strings.NewReplacer(
	"\u017f", "s", "\u00df", "ss", "\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl", "\ufb05", "st", "\ufb06", "st",
)

// kept drops the characters that HFS+ ignores in names.
func kept(r rune) rune {
	if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
		return -1
	}
	return r
}

// clean is fold without the change of case.
func clean(path string) string {
	return strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "./")
}
