package hostgrant

import (
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/gate/surface"
)

// place is one row of what hosts read of a repository: the patterns of the
// adapters of docs/spec/boundary.md §4.1, by host and by what the file is to it.
// A file that several hosts read stands once, under the first of them.
type place struct {
	host     Host
	kind     ArtifactKind
	patterns []string
}

var places = []place{
	{Codex, Config, []string{"**/.codex/config.toml"}},
	{Codex, Hooks, []string{"**/.codex/hooks.json"}},
	{Codex, Requirements, []string{"**/.codex/requirements.toml"}},
	{Codex, Instructions, []string{"**/AGENTS.md", "**/AGENTS.override.md", ".agents/skills/**/SKILL.md"}},
	{ClaudeCode, Config, []string{".claude/settings.json", ".claude/settings.local.json"}},
	{ClaudeCode, MCP, []string{"**/.mcp.json"}},
	{ClaudeCode, Instructions, []string{"**/CLAUDE.md", ".claude/commands/**", ".claude/skills/**/SKILL.md"}},
	{Cursor, Config, []string{".cursor/cli.json"}},
	{Cursor, Hooks, []string{".cursor/hooks.json"}},
	{Cursor, MCP, []string{".cursor/mcp.json"}},
	{Cursor, Instructions, []string{".cursor/rules/**"}},
	{VSCode, MCP, []string{".vscode/mcp.json"}},
	{GitHub, WorkflowFile, []string{".github/workflows/*.yml", ".github/workflows/*.yaml"}},
}

var placeGlobs = sync.OnceValue(func() []surface.Globs {
	out := make([]surface.Globs, len(places))
	for i := range places {
		out[i] = surface.FoldedGlobs(places[i].patterns...)
	}
	return out
})

// placeOf is the row of a repository path; nil for a file that no host reads.
func placeOf(path string) *place {
	for i, g := range placeGlobs() {
		if g.Match(path) {
			return &places[i]
		}
	}
	return nil
}

// Reads says whether a host reads a file of this repository path.
func Reads(path string) bool { return placeOf(path) != nil }

// hostsThrough are the hosts that read files below a folder where hosts expect
// one and where something else lies.
func hostsThrough(path string) []Host {
	var out []Host
	if lower := strings.ToLower(path); lower == ".github" || lower == ".github/workflows" {
		return []Host{GitHub}
	}
	for _, adapter := range surface.AdaptersThrough(path) {
		switch adapter {
		case surface.Codex:
			out = append(out, Codex)
		case surface.Shared:
			// Its other folders are the gate's own.
			if first, _, _ := strings.Cut(strings.ToLower(path), "/"); first == ".agents" {
				out = append(out, Codex)
			}
		case surface.ClaudeCode:
			out = append(out, ClaudeCode)
		case surface.Cursor:
			out = append(out, Cursor)
		case surface.VSCodeMCP:
			out = append(out, VSCode)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// localPlaces are the fixed repository paths that hosts read, and localFolders
// those below which they look: what people keep for themselves lies there.
func localPlaces() (names, folders []string) {
	for i := range places {
		for _, p := range places[i].patterns {
			p = strings.TrimPrefix(p, "**/")
			fixed, _, pattern := strings.Cut(p, "*")
			if !pattern {
				names = append(names, p)
			} else if folder := strings.TrimSuffix(fixed, "/"); folder != "" && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	return names, folders
}

// UserFile is one configuration file of the user.
type UserFile struct {
	// Folder is the variable that names the folder instead, "" when none does;
	// Name is the path below it, and Home the path below the home folder.
	Folder, Name, Home string
	// As is the repository path whose format the file has.
	As   string
	host Host
}

// Path is the file as it is shown: no absolute path of a machine.
func (f *UserFile) Path(folderSet bool) string {
	if folderSet && f.Folder != "" {
		return "$" + f.Folder + "/" + f.Name
	}
	return "~/" + f.Home
}

// UserFiles are the files of the user that hosts read on an operating system, by
// the name that the Go tools give it.
func UserFiles(system string) []UserFile {
	const codex, claude = "CODEX_HOME", "CLAUDE_CONFIG_DIR"
	out := []UserFile{
		{codex, "AGENTS.md", ".codex/AGENTS.md", "AGENTS.md", Codex},
		{codex, "config.toml", ".codex/config.toml", ".codex/config.toml", Codex},
		{codex, "hooks.json", ".codex/hooks.json", ".codex/hooks.json", Codex},
		{claude, ".claude.json", ".claude.json", userServers, ClaudeCode},
		{claude, "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.md", ClaudeCode},
		{claude, "settings.json", ".claude/settings.json", ".claude/settings.json", ClaudeCode},
		{"", "", ".cursor/cli-config.json", ".cursor/cli.json", Cursor},
		{"", "", ".cursor/hooks.json", ".cursor/hooks.json", Cursor},
		{"", "", ".cursor/mcp.json", ".cursor/mcp.json", Cursor},
	}
	code := UserFile{As: ".vscode/mcp.json", host: VSCode}
	switch system {
	case "darwin":
		code.Home = "Library/Application Support/Code/User/mcp.json"
	case "windows":
		code.Folder, code.Name, code.Home = "APPDATA", "Code/User/mcp.json", "AppData/Roaming/Code/User/mcp.json"
	default:
		code.Folder, code.Name, code.Home = "XDG_CONFIG_HOME", "Code/User/mcp.json", ".config/Code/User/mcp.json"
	}
	return append(out, code)
}

// userServers is the format of a file of which only the servers are read: the
// rest of it is a record of what its host did.
const userServers = ".mcp.json"
