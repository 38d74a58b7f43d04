package surface_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

const (
	claudeSettings = ".claude/settings.json"
	cursorCLI      = ".cursor/cli.json"
	mcpServers     = ".mcp.json"
	vscodeServers  = ".vscode/mcp.json"
	ciWorkflow     = ".github/workflows/ci.yml"
)

// edited is the surface of a file that is on both sides.
func edited(path, before, after string) *surface.Surface {
	return surface.Read(&surface.Change{
		Path: path, Source: surface.GitWorktree, Listed: true,
		Old: surface.Side{Present: true, Bytes: []byte(before)},
		New: surface.Side{Present: true, Bytes: []byte(after)},
	})
}

// created is the surface of a file that is new.
func created(path, after string) *surface.Surface {
	return surface.Read(&surface.Change{
		Path: path, Source: surface.GitWorktree, Listed: true,
		New: surface.Side{Present: true, Bytes: []byte(after)},
	})
}

// places says of a position whether it lies in the text, its end included; the
// zero position, "not known", does too.
func places(text []byte) func(t *testing.T, what string, p source.Position) {
	text, _ = source.TrimBOM(text)
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n")
	return func(t *testing.T, what string, p source.Position) {
		t.Helper()
		if p == (source.Position{}) {
			return
		}
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > 2+utf8.RuneCountInString(lines[p.Line-1]) {
			t.Fatalf("%s at %d:%d, outside of %q", what, p.Line, p.Column, text)
		}
	}
}

func TestFilesBelowTheRootAndUnreadTextsHaveNoTypedSides(t *testing.T) {
	t.Parallel()
	unresolved := surface.Read(&surface.Change{
		Path: claudeSettings, New: surface.Side{Present: true, Unresolved: "workspace_file_missing"},
	})
	unresolvedBefore := surface.Read(&surface.Change{
		Path: claudeSettings, Old: surface.Side{Present: true, Unresolved: "boundary_input_binary"},
	})
	for name, s := range map[string]*surface.Surface{
		"nested settings":        created("pkg/.claude/settings.json", `{}`),
		"malformed settings":     created(claudeSettings, `{`),
		"malformed old settings": edited(claudeSettings, `{`, `{}`),
		"unresolved settings":    unresolved,
		"unresolved before":      unresolvedBefore,
		"nested servers":         created("sub/.mcp.json", `{}`),
		"servers without object": created(mcpServers, `[]`),
		"cursor rules":           created(".cursor/rules/a.mdc", `{}`),
		"nested workflow":        created("sub/"+ciWorkflow, `on: push`),
		"workflow that is text":  created(ciWorkflow, `push`),
		"workflow that was text": edited(ciWorkflow, `push`, `on: push`),
	} {
		_, _, claude := s.ClaudeSettings()
		_, _, cursor := s.CursorCLI()
		_, _, servers := s.MCPServers()
		_, _, workflow := s.Workflow()
		if claude || cursor || servers || workflow {
			t.Errorf("%s: claude %v, cursor %v, servers %v, workflow %v; want none", name, claude, cursor, servers, workflow)
		}
	}
}

func TestAFileThatNoRuleReadsSaysWhereItIsMalformed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, before, after string
		want                string // the message; empty for no issue
	}{
		{"sub/.mcp.json", `{}`, "{\n  s3cr3t", "sub/.mcp.json is malformed: JSONDecodeError at line 2, column 3"},
		{"sub/.mcp.json", `{s3cr3t`, `{}`, ""},
		{"sub/" + ciWorkflow, `on: push`, "on: push\non: s3cr3t", "sub/" + ciWorkflow + " is malformed: YAMLError at line 2, column 1"},
		{".codex/requirements.toml", ``, "a = 1\na = 2", ".codex/requirements.toml is malformed: TOMLDecodeError at line 2, column 1"},
		{"policies/team.shipgate.yaml", `rules: []`, "rules: [", "policies/team.shipgate.yaml is malformed: YAMLError"},
		{"shipgate.yaml", `version: 1`, "version: 1\nproject: a", ""},
		{claudeSettings, `{}`, `{`, ""},
		{"AGENTS.md", ``, `{`, ""},
	} {
		issue := edited(c.path, c.before, c.after).SyntaxIssue()
		switch {
		case c.want == "" && issue != nil:
			t.Errorf("%s: issue %+v, want none", c.path, *issue)
		case c.want == "":
		case issue == nil:
			t.Errorf("%s: no issue, want %q", c.path, c.want)
		case issue.Code != "host_inventory_parse_failed" || issue.Path != c.path || !strings.HasPrefix(issue.Message, c.want):
			t.Errorf("%s: issue %+v, want message %q", c.path, *issue, c.want)
		}
	}
}
