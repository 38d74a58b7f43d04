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
func fold(path string) string { return strings.ToLower(clean(path)) }

// clean is fold without the change of case.
func clean(path string) string {
	return strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "./")
}
