package hostgrant_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/hostgrant"
)

// schemas are the two published schemas.
var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, name := range []string{"host-grants-inventory.v0.2", "host-grants-drift.v0.2"} {
		text, err := plimsoll.VerificationSchema(name)
		if err != nil {
			panic(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		c := jsonschema.NewCompiler()
		if err = errors.Join(err, c.AddResource(name, v)); err != nil {
			panic(err)
		}
		all[name] = c.MustCompile(name)
	}
	return all
})

type printer interface{ JSON() ([]byte, error) }

// printed is a document as it is written, held against its schema.
func printed(t testing.TB, name string, d printer) string {
	t.Helper()
	text, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas()[name].Validate(v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// files are the files of a repository by path.
type files map[string]string

func (f files) input(scope hostgrant.Scope) hostgrant.Input {
	in := hostgrant.Input{Workspace: ".", Scope: scope, System: "linux"}
	for path, text := range f {
		file := hostgrant.File{Path: path, Scope: hostgrant.Repository, Bytes: []byte(text)}
		if as, user := strings.CutPrefix(path, "~/"); user {
			file.Scope, file.As = hostgrant.LocalStatic, as
			if as == ".claude.json" {
				file.As = ".mcp.json"
			}
		}
		in.Files = append(in.Files, file)
	}
	return in
}

func take(t testing.TB, f files, scope hostgrant.Scope) *hostgrant.Inventory {
	t.Helper()
	v := hostgrant.Take(f.input(scope))
	printed(t, "host-grants-inventory.v0.2", v)
	return v
}

func compare(t testing.TB, before, after files) *hostgrant.Drift {
	t.Helper()
	base, err := hostgrant.Save(take(t, before, hostgrant.Repository))
	if err != nil {
		t.Fatal(err)
	}
	d := hostgrant.Compare("host-grants.json", base, take(t, after, hostgrant.Repository))
	printed(t, "host-grants-drift.v0.2", d)
	return d
}

// row is a grant in one line.
func row(g *hostgrant.Grant) string {
	s := strings.Join([]string{string(g.Host), g.Source, g.Summary(), string(g.Access), string(g.Risk)}, " | ")
	for name, list := range map[string][]string{"env": g.EnvKeys, "headers": g.HeaderKeys} {
		if len(list) > 0 {
			s += " | " + name + " " + strings.Join(list, ",")
		}
	}
	if g.Kind == hostgrant.MCPServer {
		s += " | " + g.Transport + " " + g.Endpoint
	}
	if g.Kind == hostgrant.Workflow {
		s += " | on " + strings.Join(g.Triggers, ",") + " writes " + strings.Join(g.WriteScopes, ",")
	}
	return s
}

func rows(v *hostgrant.Inventory) []string {
	var out []string
	for i := range v.Grants {
		out = append(out, row(&v.Grants[i]))
	}
	return out
}

func TestEveryKindOfFileGivesItsGrants(t *testing.T) {
	for name, c := range map[string]struct {
		files files
		want  []string
		notes []hostgrant.IssueKind
	}{
		"claude settings": {
			files: files{".claude/settings.json": `{"permissions": {"allow": ["Bash(*)", "Bash(npm test:*)", "mcp__git", "Weird"],
				"ask": ["WebFetch(domain:x)"], "deny": ["Read(./.env)"], "defaultMode": "bypassPermissions",
				"additionalDirectories": ["../docs", "sub"], "disableBypassPermissionsMode": "disable"},
				"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}], "Empty": []},
				"sandbox": {"enabled": false, "allowUnsandboxedCommands": true}, "apiKeyHelper": "bin/key",
				"enabledPlugins": {"kit@shop": true, "old@shop": false}, "enableAllProjectMcpServers": true, "mystery": "x", "model": "opus"}`},
			want: []string{
				`claude-code | .claude/settings.json | additional_path "../docs" | write | high`,
				`claude-code | .claude/settings.json | additional_path "sub" | write | medium`,
				`claude-code | .claude/settings.json | hook "Empty" | none | none`,
				`claude-code | .claude/settings.json | hook "Stop" | execute | high`,
				`claude-code | .claude/settings.json | hook "apiKeyHelper" | execute | high`,
				`claude-code | .claude/settings.json | permission_mode "enableAllProjectMcpServers = true" | execute | high`,
				`claude-code | .claude/settings.json | permission_mode "mystery = <redacted>" | unknown | unknown`,
				`claude-code | .claude/settings.json | permission_mode "permissions.defaultMode = bypassPermissions" | admin | critical`,
				`claude-code | .claude/settings.json | permission_mode "permissions.disableBypassPermissionsMode = disable" | none | none`,
				`claude-code | .claude/settings.json | permission_rule "allow Bash(*)" | execute | critical`,
				`claude-code | .claude/settings.json | permission_rule "allow Bash(<redacted-arguments>)" | execute | medium`,
				`claude-code | .claude/settings.json | permission_rule "allow Weird" | unknown | high`,
				`claude-code | .claude/settings.json | permission_rule "allow mcp__git" | external | high`,
				`claude-code | .claude/settings.json | permission_rule "ask WebFetch(<redacted-arguments>)" | external | low`,
				`claude-code | .claude/settings.json | permission_rule "deny Read(<redacted-arguments>)" | none | none`,
				`claude-code | .claude/settings.json | plugin_or_app "kit@shop" | execute | high`,
				`claude-code | .claude/settings.json | plugin_or_app "old@shop" | none | none`,
				`claude-code | .claude/settings.json | sandbox "sandbox.allowUnsandboxedCommands = true" | execute | high`,
				`claude-code | .claude/settings.json | sandbox "sandbox.enabled = false" | execute | high`,
			},
			notes: []hostgrant.IssueKind{hostgrant.UnsupportedSetting},
		},
		"servers": {
			files: files{
				".mcp.json": `{"mcpServers": {"a": {"command": "npx", "args": ["x"], "env": {"B": "1", "A": "2"}},
					"u": {"url": "https://h.example/p", "headers": {"X-Key": "v"}}, "off": {"command": "x", "disabled": true},
					"auto": {"command": "x", "alwaysAllow": ["write"]}}}`,
				".vscode/mcp.json": "{\n// as that host has it\n\"servers\": {\"v\": {\"command\": \"v\"}},}",
			},
			want: []string{
				`claude-code | .mcp.json | mcp_server "a" | execute | high | env A,B | stdio npx`,
				`claude-code | .mcp.json | mcp_server "auto" | execute | critical | stdio x`,
				`claude-code | .mcp.json | mcp_server "off" | none | none | stdio x`,
				`claude-code | .mcp.json | mcp_server "u" | external | high | headers X-Key | url h.example`,
				`vscode | .vscode/mcp.json | mcp_server "v" | execute | high | stdio v`,
			},
		},
		"forms that no host documents": {
			files: files{
				".claude/settings.json": `{"permissions": {"allow": "Bash", "deny": [1]}, "hooks": [], "sandbox": null}`,
				".codex/config.toml":    "mcp_servers = 1\n[approval_policy]\ngranular = {x = true}\n[profiles.p]\nsandbox_mode = 1\n[permissions.q]\nextends = \"wide\"\n",
				".cursor/mcp.json":      `{"mcpServers": [{"command": "x"}]}`,
			},
			want: []string{
				`codex | .codex/config.toml | permission_mode "approval_policy = {1 keys}" | unknown | unknown`,
				`codex | .codex/config.toml | permission_mode "mcp_servers = 1" | unknown | unknown`,
				`codex | .codex/config.toml | permission_mode "profiles.p.sandbox_mode = 1" | unknown | unknown`,
				`codex | .codex/config.toml | profile "p" | unknown | unknown`,
				`codex | .codex/config.toml | sandbox "permissions.q.extends = wide" | unknown | unknown`,
				`claude-code | .claude/settings.json | permission_mode "hooks = [0 items]" | unknown | unknown`,
				`claude-code | .claude/settings.json | permission_mode "permissions.allow = <redacted>" | unknown | unknown`,
				`claude-code | .claude/settings.json | permission_mode "permissions.deny = [1 items]" | unknown | unknown`,
				`cursor | .cursor/mcp.json | permission_mode "mcpServers = [1 items]" | unknown | unknown`,
			},
			notes: []hostgrant.IssueKind{hostgrant.UnsupportedSetting, hostgrant.UnsupportedSetting, hostgrant.UnsupportedSetting},
		},
		"one server under two keys": {
			files: files{".cursor/mcp.json": `{"mcpServers": {"a": {"command": "one"}}, "servers": {"a": {"command": "two"}}}`},
			want: []string{
				`cursor | .cursor/mcp.json | mcp_server "a" | execute | high | stdio one`,
				`cursor | .cursor/mcp.json | mcp_server "a" | execute | high | stdio two`,
			},
			notes: []hostgrant.IssueKind{hostgrant.UnresolvedPrecedence},
		},
		"codex config": {
			files: files{".codex/config.toml": `
profile = "work"
sandbox_mode = "read-only"
approval_policy = "untrusted"
notify = ["say"]
network_permission_extra = true
[sandbox_workspace_write]
network_access = true
writable_roots = ["/srv"]
[profiles.work]
sandbox_mode = "danger-full-access"
[profiles.play]
approval_policy = "never"
[permissions.dev.network]
mode = "limited"
[permissions.dev.network.domains]
"*.example" = "allow"
"bad.example" = "deny"
[mcp_servers.files]
command = "npx"
default_tools_approval_mode = "approve"
env = {FILES = "1"}
bearer_token_env_var = "FILES_BEARER"
[mcp_servers.web]
url = "https://web.example/mcp"
http_headers = {X-One = "1"}
[mcp_servers.web.tools.post]
approval_mode = "approve"
[plugins.kit]
enabled = true
[plugins.kit.mcp_servers.inner]
command = "inner"
[apps.mail]
enabled = false
[[hooks.Stop]]
command = "x"
`},
			want: []string{
				`codex | .codex/config.toml | additional_path "/srv" | write | high`,
				`codex | .codex/config.toml | hook "Stop" | execute | high`,
				`codex | .codex/config.toml | hook "notify" | execute | high`,
				`codex | .codex/config.toml | mcp_server "files" | execute | critical | env FILES,FILES_BEARER | stdio npx`,
				`codex | .codex/config.toml | mcp_server "inner" | execute | high | stdio inner`,
				`codex | .codex/config.toml | mcp_server "web" | external | critical | headers X-One | url web.example`,
				`codex | .codex/config.toml | permission_mode "approval_policy = untrusted" | read | low`,
				`codex | .codex/config.toml | permission_mode "network_permission_extra = true" | unknown | unknown`,
				`codex | .codex/config.toml | plugin_or_app "kit" | execute | high`,
				`codex | .codex/config.toml | plugin_or_app "mail" | none | none`,
				`codex | .codex/config.toml | profile "play" | unknown | unknown`,
				`codex | .codex/config.toml | profile "work" | admin | critical`,
				`codex | .codex/config.toml | profile "work" | none | none`,
				`codex | .codex/config.toml | sandbox "permissions.dev.network.domains = *.example" | external | high`,
				`codex | .codex/config.toml | sandbox "permissions.dev.network.domains = bad.example" | none | none`,
				`codex | .codex/config.toml | sandbox "permissions.dev.network.mode = limited" | external | medium`,
				`codex | .codex/config.toml | sandbox "sandbox_mode = danger-full-access" | admin | critical`,
				`codex | .codex/config.toml | sandbox "sandbox_workspace_write.network_access = true" | external | high`,
			},
			notes: []hostgrant.IssueKind{hostgrant.UnsupportedSetting},
		},
		"codex requirements and hooks": {
			files: files{
				".codex/requirements.toml": "allowed_approval_policies = [\"untrusted\", \"on-request\"]\n[limit]\nx = 1\n",
				".codex/hooks.json":        `{"hooks": {"Stop": [{"command": "x"}]}}`,
				"sub/.codex/config.toml":   "sandbox_mode = \"read-only\"",
			},
			want: []string{
				`codex | .codex/hooks.json | hook "Stop" | execute | high`,
				`codex | .codex/requirements.toml | requirement "allowed_approval_policies" | none | none`,
				`codex | .codex/requirements.toml | requirement "limit" | none | none`,
				`codex | sub/.codex/config.toml | sandbox "sandbox_mode = read-only" | read | low`,
			},
			notes: []hostgrant.IssueKind{hostgrant.UnresolvedPrecedence},
		},
		"cursor": {
			files: files{
				".cursor/cli.json":    `{"permissions": {"allow": ["Shell(*)"], "deny": ["Read(x)"]}, "write": ["src"], "network": true, "version": 1}`,
				".cursor/hooks.json":  `{"version": 1, "hooks": {"stop": [{"command": "x"}]}}`,
				".cursor/rules/a.mdc": "be kind",
			},
			want: []string{
				`cursor | .cursor/cli.json | permission_mode "network = true" | external | high`,
				`cursor | .cursor/cli.json | permission_rule "allow Shell(*)" | execute | critical`,
				`cursor | .cursor/cli.json | permission_rule "allow src" | write | high`,
				`cursor | .cursor/cli.json | permission_rule "deny Read(<redacted-arguments>)" | none | none`,
				`cursor | .cursor/hooks.json | hook "stop" | execute | high`,
				`cursor | .cursor/rules/a.mdc | instruction_trust_root | none | medium`,
			},
		},
		"workflows": {
			files: files{
				".github/workflows/all.yml":    "on: push\npermissions: write-all\njobs: {a: {runs-on: x}}\n",
				".github/workflows/read.yml":   "on: [push, workflow_dispatch]\npermissions: {contents: read}\njobs: {a: {runs-on: x}}\n",
				".github/workflows/silent.yml": "on: push\njobs: {a: {runs-on: x}}\n",
				".github/workflows/target.yml": "on: pull_request_target\njobs:\n  a: {permissions: {issues: write, contents: write}, uses: 'other/repo/.github/workflows/x.yml@v1'}\n",
				".github/workflows/none.yaml":  "on: push\npermissions: {}\njobs: {a: {runs-on: x}}\n",
				"sub/.github/workflows/no.yml": "on: push\npermissions: write-all\n",
			},
			want: []string{
				`github | .github/workflows/all.yml | workflow | admin | critical | on push writes `,
				`github | .github/workflows/none.yaml | workflow | none | low | on push writes `,
				`github | .github/workflows/read.yml | workflow | read | low | on push,workflow_dispatch writes `,
				`github | .github/workflows/silent.yml | workflow | unknown | unknown | on push writes `,
				`github | .github/workflows/target.yml | workflow | write | critical | on pull_request_target writes contents,issues`,
			},
			notes: []hostgrant.IssueKind{hostgrant.RemoteSourceExcluded},
		},
		"texts": {
			files: files{
				"AGENTS.md": "a", "sub/CLAUDE.md": "b", ".claude/commands/x/go.md": "c", ".claude/skills/s/SKILL.md": "d", ".agents/skills/s/SKILL.md": "e",
				"README.md": "no host reads it", ".claude/agents/x.md": "nor this", "shipgate.yaml": "version: 1", "policies/a.shipgate.yaml": "rules: []",
			},
			want: []string{
				`codex | .agents/skills/s/SKILL.md | instruction_trust_root | none | medium`,
				`codex | AGENTS.md | instruction_trust_root | none | medium`,
				`claude-code | .claude/commands/x/go.md | instruction_trust_root | none | medium`,
				`claude-code | .claude/skills/s/SKILL.md | instruction_trust_root | none | medium`,
				`claude-code | sub/CLAUDE.md | instruction_trust_root | none | medium`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := take(t, c.files, hostgrant.Repository)
			got, want := rows(v), slices.Clone(c.want)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			var notes []hostgrant.IssueKind
			for _, i := range v.Issues {
				if i.Blocking {
					t.Errorf("%s: %s", i.Source, i.Message)
				}
				notes = append(notes, i.Kind)
			}
			if !slices.Equal(notes, c.notes) {
				t.Errorf("notes are %v, want %v", notes, c.notes)
			}
		})
	}
}

// What is not known blocks: such an inventory is neither saved nor compared.
func TestWhatIsNotKnownMakesTheInventoryIncomplete(t *testing.T) {
	for name, c := range map[string]struct {
		files files
		host  hostgrant.Host
		kind  hostgrant.IssueKind
	}{
		"broken JSON":       {files{".mcp.json": "{"}, hostgrant.ClaudeCode, hostgrant.ParseFailed},
		"a key twice":       {files{".claude/settings.json": `{"model": 1, "model": 2}`}, hostgrant.ClaudeCode, hostgrant.ParseFailed},
		"a list":            {files{".cursor/mcp.json": "[]"}, hostgrant.Cursor, hostgrant.ParseFailed},
		"nested, a list":    {files{"sub/.mcp.json": "[]"}, hostgrant.ClaudeCode, hostgrant.ParseFailed},
		"broken TOML":       {files{".codex/config.toml": "x ="}, hostgrant.Codex, hostgrant.ParseFailed},
		"empty workflow":    {files{".github/workflows/a.yml": ""}, hostgrant.GitHub, hostgrant.ParseFailed},
		"a marker in hooks": {files{".codex/hooks.json": "\xEF\xBB\xBF{}"}, hostgrant.Codex, hostgrant.ParseFailed},
		"a policy helper":   {files{".claude/settings.json": `{"policyHelper": {"path": "x"}}`}, hostgrant.ClaudeCode, hostgrant.UnsupportedSetting},
		"too many entries":  {files{".cursor/hooks.json": manyHooks()}, hostgrant.Cursor, hostgrant.UnsupportedSetting},
		"a missing profile": {files{".codex/config.toml": `profile = "gone"`}, hostgrant.Codex, hostgrant.UnsupportedSetting},
	} {
		t.Run(name, func(t *testing.T) {
			v := take(t, c.files, hostgrant.Repository)
			if v.Complete() || len(v.Issues) != 1 || v.Issues[0].Kind != c.kind || v.Issues[0].Host != c.host || !v.Issues[0].Blocking {
				t.Fatalf("issues are %+v", v.Issues)
			}
			for _, cov := range v.Coverage {
				if partial := cov.Host == c.host; (cov.Status == hostgrant.CoveragePartial) != partial || (len(cov.IssueIDs) == 1) != partial {
					t.Errorf("coverage is %+v", cov)
				}
			}
			if _, err := hostgrant.Save(v); fault.KindOf(err) != fault.Conflict {
				t.Errorf("saved: %v", err)
			}
			base, err := hostgrant.Save(take(t, files{}, hostgrant.Repository))
			if err != nil {
				t.Fatal(err)
			}
			d := hostgrant.Compare("b", base, v)
			printed(t, "host-grants-drift.v0.2", d)
			if d.HasDrift != nil || d.Status != hostgrant.Incomparable || !slices.Equal(d.Reasons, []string{"current_incomplete"}) || len(d.Issues) != 1 {
				t.Errorf("compared: %+v", d)
			}
		})
	}
	unread := hostgrant.Input{Workspace: ".", Scope: hostgrant.Repository, Files: []hostgrant.File{
		{Path: "AGENTS.md", Scope: hostgrant.Repository, Unread: "larger than 1 MiB"},
		{Path: ".claude", Scope: hostgrant.Repository, Unread: "a link that leads out"},
		{Path: "README.md", Scope: hostgrant.Repository, Unread: "no plain file"},
	}}
	if v := hostgrant.Take(unread); v.Complete() || len(v.Issues) != 2 {
		t.Errorf("issues are %+v", v.Issues)
	}
	if v := hostgrant.Take(hostgrant.Input{Workspace: ".", Scope: hostgrant.Repository, Partial: true}); v.Complete() || len(v.Issues) != 5 {
		t.Errorf("issues are %+v", v.Issues)
	}
}

func manyHooks() string {
	var b strings.Builder
	for i := range 5001 {
		fmt.Fprintf(&b, `,"e%d": [{}]`, i)
	}
	return `{"version": 1` + b.String() + "}"
}

// The user's own files are read only when they are asked for, and only the
// servers of the record that a host keeps.
func TestTheUsersOwnFiles(t *testing.T) {
	all := files{
		"AGENTS.md": "a", "~/.codex/config.toml": `approval_policy = "never"`,
		"~/.claude.json": `{"mcpServers": {"a": {"command": "a"}}, "history": 1, "projects": {"/home/x": {"mcpServers": {"b": {}}}}}`,
	}
	if v := take(t, all, hostgrant.Repository); len(v.Artifacts) != 1 || !slices.Contains(v.Excluded, "local_static") {
		t.Errorf("%+v, excluded %v", v.Artifacts, v.Excluded)
	}
	v := take(t, all, hostgrant.LocalStatic)
	want := []string{
		`codex | AGENTS.md | instruction_trust_root | none | medium`,
		`codex | ~/.codex/config.toml | permission_mode "approval_policy = never" | execute | critical`,
		`claude-code | ~/.claude.json | mcp_server "a" | execute | high | stdio a`,
	}
	if got := rows(v); !slices.Equal(got, want) || slices.Contains(v.Excluded, "local_static") || len(v.Coverage) != 9 {
		t.Errorf("got %q, excluded %v, coverage %d", got, v.Excluded, len(v.Coverage))
	}
	if len(v.Issues) != 1 || v.Issues[0].Kind != hostgrant.UnsupportedSetting || v.Issues[0].Blocking {
		t.Errorf("issues are %+v", v.Issues)
	}
	all["~/.claude.json"] = strings.Replace(all["~/.claude.json"], `"history": 1`, `"history": 2`, 1)
	if again := take(t, all, hostgrant.LocalStatic); again.SHA256() != v.SHA256() {
		t.Error("the record of what a host did is taken for what it is allowed")
	}
}

// Every path that the gate calls a host's is one that the inventory reads, or is
// known to be no host's.
func TestEveryAdapterPatternIsReadOrLeftOutOnPurpose(t *testing.T) {
	own := []string{
		"shipgate.yaml", ".shipgate/agent-contract.json", "policies/*.shipgate.yaml", // the gate's
		".agents-shipgate/baseline*.json", ".agents-shipgate/*waiver*.json", ".agents-shipgate/state*.json",
		"**/.github/workflows/*.yml", "**/.github/workflows/*.yaml", // the host reads those of the root
	}
	name := strings.NewReplacer("**/", "", "**", "x", "*", "x")
	for _, a := range surface.Adapters() {
		for _, p := range a.Patterns {
			if got, want := hostgrant.Reads(name.Replace(p)), !slices.Contains(own, p) || strings.Contains(p, ".github"); got != want {
				t.Errorf("%s: %v", p, got)
			}
		}
	}
	if hostgrant.Reads("sub/.github/workflows/x.yml") {
		t.Error("a workflow below the root is read")
	}
}

func TestTheJSONOfAGrantHasTheMembersOfItsKindAlone(t *testing.T) {
	v := take(t, files{".mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`}, hostgrant.Repository)
	text, err := json.Marshal(&v.Grants[0])
	if err != nil {
		t.Fatal(err)
	}
	var back hostgrant.Grant
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil || !bytes.Equal(text, again) || bytes.Contains(text, []byte("disposition")) {
		t.Errorf("%s\n%s, %v", text, again, err)
	}
}
