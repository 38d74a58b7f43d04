package surface

import (
	"path"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// Role is what a file is to the rules, by its path (§4.3).
type Role string

// The roles. A gate workflow in the root is a Workflow too: see GateWorkflow.
const (
	RoleCodexConfig    Role = "codex_config"    // **/.codex/config.toml
	RoleCodexHooks     Role = "codex_hooks"     // **/.codex/hooks.json
	RoleClaudeSettings Role = "claude_settings" // root .claude/settings.json, settings.local.json
	RoleMCPServers     Role = "mcp_servers"     // root .mcp.json, .cursor/mcp.json, .vscode/mcp.json
	RoleCursorCLI      Role = "cursor_cli"      // root .cursor/cli.json
	RoleCursorHooks    Role = "cursor_hooks"    // root .cursor/hooks.json
	RoleWorkflow       Role = "workflow"        // root .github/workflows/*.yml, *.yaml
	RolePolicy         Role = "policy"          // policies/*.shipgate.yaml and the --policy file
	RoleSyntax         Role = "syntax"          // any other adapter path with a parsed suffix: syntax only
	RoleText           Role = "text"            // not parsed
)

var (
	codexConfigGlobs    = globs("**/.codex/config.toml")
	codexHooksGlobs     = globs("**/.codex/hooks.json")
	claudeSettingsGlobs = globs(".claude/settings.json", ".claude/settings.local.json")
	mcpServersGlobs     = globs(".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")
	cursorCLIGlobs      = globs(".cursor/cli.json")
	cursorHooksGlobs    = globs(".cursor/hooks.json")
	workflowGlobs       = globs(".github/workflows/*.yml", ".github/workflows/*.yaml")
	policyGlobs         = globs("policies/*.shipgate.yaml")
	instructionGlobs    = globs("**/AGENTS.md", "**/AGENTS.override.md", "**/CLAUDE.md", ".cursor/rules/**")
	skillGlobs          = globs(".claude/skills/**/SKILL.md", ".agents/skills/**/SKILL.md")
)

// roleOf is the role of a change. Roles do not overlap; instruction wording,
// skill wording and the gate workflow's line scan are facts beside the role.
func roleOf(c *Change) Role {
	p := fold(c.Path)
	switch {
	case matchAny(codexConfigGlobs, p):
		return RoleCodexConfig
	case matchAny(codexHooksGlobs, p):
		return RoleCodexHooks
	case matchAny(claudeSettingsGlobs, p):
		return RoleClaudeSettings
	case matchAny(mcpServersGlobs, p):
		return RoleMCPServers
	case matchAny(cursorCLIGlobs, p):
		return RoleCursorCLI
	case matchAny(cursorHooksGlobs, p):
		return RoleCursorHooks
	case matchAny(workflowGlobs, p):
		return RoleWorkflow
	case c.Policy, matchAny(policyGlobs, p):
		return RolePolicy
	}
	if IsAdapterPath(c.Path) {
		switch path.Ext(p) {
		case ".json", ".toml", ".yml", ".yaml":
			return RoleSyntax
		}
	}
	return RoleText
}

// Doc is one side of a file, parsed. An absent side is an empty Map without
// error. A text that is unresolved, or that no parser reads, leaves the zero Doc.
type Doc struct {
	Value  source.Value
	Err    *source.ParseError
	HadBOM bool
}

// Surface is a Change read as what its path says it is.
type Surface struct {
	*Change
	Role  Role
	Class Class // by the path, else manifest or policy by the file's part in this run

	OldDoc, NewDoc Doc // parsed roles only
}

// IsInstructions says whether rule 9 reads the path.
func (s *Surface) IsInstructions() bool { return matchAny(instructionGlobs, fold(s.Path)) }

// IsSkill says whether rule 13 reads the path.
func (s *Surface) IsSkill() bool { return matchAny(skillGlobs, fold(s.Path)) }

// Root says whether the path, whatever its case, is exactly want.
func (s *Surface) Root(want string) bool { return fold(s.Path) == want }

// Failed says whether a side that rules compare did not parse; the rows of the
// surface are then not computed from it (§4.5).
func (s *Surface) Failed() bool { return s.OldDoc.Err != nil || s.NewDoc.Err != nil }

// Read reads a change. It keeps a pointer to c.
func Read(c *Change) *Surface {
	s := &Surface{Change: c, Role: roleOf(c), Class: ClassOf(c.Path)}
	switch {
	case s.Class == "" && c.Manifest:
		s.Class = ClassManifest
	case s.Class == "" && c.Policy:
		s.Class = ClassPolicy
	}
	if s.Role == RoleText {
		return s
	}
	s.NewDoc = s.parse(c.New)
	if s.Role != RoleSyntax {
		s.OldDoc = s.parse(c.Old)
	}
	return s
}

func (s *Surface) parse(side Side) Doc {
	switch {
	case side.Unresolved != "":
		return Doc{}
	case !side.Present && s.Role == RoleCodexHooks && s.Deleted:
		// A deleted hooks file has empty text, which is no JSON (§5.1).
		return parseText(s.Role, s.Path, nil)
	case !side.Present:
		return Doc{Value: source.Value{Kind: source.Map}}
	}
	return parseText(s.Role, s.Path, side.Bytes)
}

func parseText(role Role, p string, text []byte) Doc {
	body, had := source.TrimBOM(text)
	d := Doc{HadBOM: had}
	ext := path.Ext(fold(p))
	parser := source.JSONParser
	switch {
	case role == RoleCodexHooks && had:
		// That host's reader refuses the mark.
		d.Err = &source.ParseError{Parser: source.JSONParser, Pos: source.Position{Line: 1, Column: 1}}
		return d
	case role == RoleMCPServers && strings.HasPrefix(fold(p), ".vscode/"), role == RoleSyntax && IsExperimental(p):
		d.Value, d.Err = source.ParseJSONC(body)
	case role == RoleWorkflow, role == RolePolicy, ext == ".yml", ext == ".yaml":
		parser = source.YAMLParser
		d.Value, d.Err = source.ParseYAML(body)
	case ext == ".toml":
		parser = source.TOMLParser
		d.Value, d.Err = source.ParseTOML(body)
	default:
		d.Value, d.Err = source.ParseJSON(body)
	}
	// A root that is no object is a failure only where a rule reads the file;
	// a workflow has a kind of its own for it, a policy may be a bare list in
	// the eyes of rule 11.
	switch role {
	case RoleCodexHooks, RoleClaudeSettings, RoleMCPServers, RoleCursorCLI, RoleCursorHooks:
		if d.Err == nil && d.Value.Kind != source.Map {
			d.Err = &source.ParseError{Parser: parser, Pos: source.Position{Line: 1, Column: 1}}
		}
	case RoleCodexConfig, RoleWorkflow, RolePolicy, RoleSyntax, RoleText:
	}
	return d
}
