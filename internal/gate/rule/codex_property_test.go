package rule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

const codexConfigPath = ".codex/config.toml"

// tomlTable is one table of a config: its header ("" on top) and its lines, in
// any order. Names that a user chooses are written in «».
type tomlTable struct {
	header string
	lines  []string
}

// drawCodexConfig draws a config with every kind of grant in it or not.
func drawCodexConfig(t *rapid.T) []tomlTable {
	var tables []tomlTable
	add := func(header string, lines ...string) {
		lines = some(t, header, lines...)
		if header != "" && len(lines) == 0 {
			return
		}
		tables = append(tables, tomlTable{header, lines})
	}
	mode := func(key string) string { return key + ` = "` + pick(t, key, "approve", "prompt") + `"` }
	add("",
		`model = "m"`,
		`approval_policy = "`+pick(t, "approval", "never", "on-failure", "on-request")+`"`,
		`sandbox_mode = "`+pick(t, "sandbox", "read-only", "danger-full-access")+`"`,
		`default_permissions = "`+pick(t, "permissions", ":workspace", ":danger-full-access")+`"`,
		`allow_everything = `+pick(t, "unknown", "1", "{a = 1}"),
		`profile = "«fast»"`)
	add("sandbox_workspace_write", "network_access = "+pick(t, "network", "true", "false"), "writable_roots = []")
	add("profiles.«fast»", `sandbox_mode = "danger-full-access"`, `approval_policy = "never"`)
	for _, p := range []string{"«lab»", "«field»"} {
		add("permissions."+p, `extends = ":workspace"`, "super = "+pick(t, p, "1", "2"))
		add("permissions."+p+".network", `mode = "`+pick(t, p+" mode", "full", "limited")+`"`, "raw = 1")
		add("permissions."+p+".network.domains", `"*" = true`, `"*.shop.test" = "`+pick(t, p+" shop", "allow", "deny")+`"`, `"a.test" = true`)
	}
	for _, s := range []string{"mcp_servers.«mail»", "mcp_servers.«files»", "plugins.«kit».mcp_servers.«mail»"} {
		add(s, mode("default_tools_approval_mode"), "enabled = "+pick(t, s+" enabled", "true", "false"),
			"enabled_tools = ["+pick(t, s+" tools", `"«list_x»"`, `"«list_x»", "«send_x»"`)+"]")
		add(s+".tools.«send_x»", mode("approval_mode"), "timeout = 1")
		add(s+".tools.«list_x»", mode("approval_mode"), "enabled = false")
	}
	add("apps.«cal».tools.«send_x»", mode("approval_mode"), "timeout = 2")
	add("apps.«cal».tools.«list_x»", mode("approval_mode"))
	add("hooks",
		`«Stop» = [{hooks = [{type = "command", command = "`+pick(t, "stop", "a", "b")+`"}]}]`,
		`«Start» = {command = "c", timeout = 3}`)
	return tables
}

// printTOML writes the tables; free means in any order, with comments and blank
// lines between.
func printTOML(t *rapid.T, tables []tomlTable, free bool) string {
	if free {
		tables = rapid.Permutation(tables).Draw(t, "tables")
		// What stands on top has no header to come back to.
		slices.SortStableFunc(tables, func(a, b tomlTable) int {
			switch {
			case a.header == b.header:
				return 0
			case a.header == "":
				return -1
			case b.header == "":
				return 1
			}
			return 0
		})
	}
	var b strings.Builder
	noise := func() {
		if free {
			b.WriteString(rapid.SampledFrom([]string{"", "\n", "# sandbox_mode = \"danger-full-access\"\n", "\t# \"*\" = true\n"}).Draw(t, "noise"))
		}
	}
	for _, table := range tables {
		noise()
		if table.header != "" {
			fmt.Fprintf(&b, "[%s]\n", table.header)
		}
		lines := table.lines
		if free && len(lines) > 1 {
			lines = rapid.Permutation(lines).Draw(t, "lines")
		}
		for _, line := range lines {
			noise()
			b.WriteString(line)
			if free && rapid.Bool().Draw(t, "note") {
				b.WriteString(" # as agreed")
			}
			b.WriteByte('\n')
		}
	}
	return rename(b.String(), "", "")
}

// rename gives every name in «» a beginning and an end.
func rename(text, prefix, suffix string) string {
	return strings.NewReplacer("«", prefix, "»", suffix).Replace(text)
}

func drawCodexHooks(t *rapid.T) node {
	handler := func(label string) node {
		return object(member{"type", text(pick(t, label+" type", "command", "prompt"))}, member{"command", text(pick(t, label, "", "a", "b"))})
	}
	events := object()
	for _, e := range some(t, "event", "«Stop»", "«Start»", "«PreToolUse»") {
		group := object(member{"matcher", text("*")}, member{"hooks", node{list: []node{handler(e + " 1"), handler(e + " 2")}}})
		events.members = append(events.members, member{e, node{list: []node{group, handler(e + " 3")}}})
	}
	return object(member{"hooks", events})
}

// The order of tables and keys, comments and blank lines say nothing.
func TestWritingACodexConfigInAnotherWayGrantsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tables := drawCodexConfig(t)
		before, after := printTOML(t, tables, false), printTOML(t, tables, true)
		for _, f := range judge(codexConfigPath, before, after) {
			if f.Rule.Family != rule.GenericFamily {
				t.Fatalf("%s\nfrom\n%s\nto\n%s", fixtureLine(f), before, after)
			}
		}
	})
}

func TestTheVerdictOnACodexConfigDoesNotDependOnHowASideIsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := drawCodexConfig(t), drawCodexConfig(t)
		want := lines(judge(codexConfigPath, printTOML(t, before, false), printTOML(t, after, false)))
		got := lines(judge(codexConfigPath, printTOML(t, before, true), printTOML(t, after, true)))
		if !slices.Equal(want, got) {
			t.Fatalf("%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestWritingCodexHooksInAnotherWayChangesNoCommand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawCodexHooks(t)
		before, after := style{t: t}.print(n), style{t: t, shuffle: true, spaces: true}.print(n)
		for _, f := range judge(".codex/hooks.json", before, after) {
			if f.Rule.Family != rule.GenericFamily {
				t.Fatalf("%s\nfrom %s\nto   %s", fixtureLine(f), before, after)
			}
		}
	})
}

// The rules know no server, profile, app, event or tool: other names on both
// sides give the same rows about the other names.
func TestRenamingWhatAUserNamesKeepsTheVerdictOnACodexConfig(t *testing.T) {
	t.Parallel()
	marked := func(tables []tomlTable, prefix, suffix string) string {
		var b strings.Builder
		for _, table := range tables {
			if table.header != "" {
				b.WriteString("[" + table.header + "]\n")
			}
			b.WriteString(strings.Join(table.lines, "\n") + "\n")
		}
		return rename(b.String(), prefix, suffix)
	}
	rapid.Check(t, func(t *rapid.T) {
		before, after := drawCodexConfig(t), drawCodexConfig(t)
		kinds := func(prefix, suffix string) []string {
			var out []string
			for _, f := range judge(codexConfigPath, marked(before, prefix, suffix), marked(after, prefix, suffix)) {
				out = append(out, f.Rule.ID+" "+f.Kind())
			}
			slices.Sort(out)
			return out
		}
		// A suffix leaves the first word of a tool, which the name of a reading
		// tool is judged by.
		want, got := kinds("", ""), kinds("", "_of_ours")
		if !slices.Equal(want, got) {
			t.Fatalf("%q\nnot %q\nfrom\n%s\nto\n%s", got, want, marked(before, "", ""), marked(after, "", ""))
		}
	})
}

// A secret in a place where no row shows a value, or in a text that does not
// parse, is in no row (docs/spec/boundary.md §14).
func TestNoSecretReachesACodexFinding(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, c := range []struct{ path, text string }{
		{codexConfigPath, `sandbox_mode = hunter2`},
		{codexConfigPath, "allow_x = \"hunter2\"\npermissions.p.super = \"hunter2\"\npermissions.p.network.raw = \"hunter2\"\n"},
		{codexConfigPath, "mcp_servers.s = {default_tools_approval_mode = \"approve\", env = {K = \"hunter2\"}, args = [\"hunter2\"]}\nhooks.Stop = {command = \"hunter2\"}\n"},
		{".codex/hooks.json", `{"Stop": {"command": "hunter2"}}`},
		{".codex/hooks.json", `{"Stop": hunter2}`},
		{"AGENTS.md", "hunter2\n"},
		{".agents/skills/a/SKILL.md", "run: hunter2\n"},
		{".github/workflows/agents-shipgate.yml", "run: hunter2\n"},
		{"policies/a.shipgate.yaml", "- {id: A, action: hunter2, risk_level: hunter2}\n"},
	} {
		other := map[string]string{".codex/hooks.json": "{}", "AGENTS.md": "shipgate check\n", "policies/a.shipgate.yaml": "- {id: A, action: block, risk_level: low}\n"}[c.path]
		change := &surface.Change{
			Path: c.path, Source: surface.GitWorktree, Listed: true,
			Old: surface.Side{Present: true, Bytes: []byte(other)},
			New: surface.Side{Present: true, Bytes: []byte(c.text)},
		}
		change.Added, change.Removed = surface.ChangedLines([]byte(other), []byte(c.text))
		p := rule.Pass{Surfaces: []*surface.Surface{surface.Read(change)}}
		spoke := false
		for _, f := range p.Run(rule.Catalogue()) {
			spoke = spoke || f.Rule.Family == rule.CodexFamily
			if line := fixtureLine(f); strings.Contains(line, secret) {
				t.Errorf("%s\nof %s", line, c.text)
			}
		}
		if !spoke {
			t.Errorf("%s: no Codex rule speaks of %q", c.path, c.text)
		}
	}
}
