package hostgrant_test

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/hostgrant"
)

// What a change of one file is: a signal where a host may do more, drift in
// every case where something that counts changed.
func TestDrift(t *testing.T) {
	const settings, servers, codex, workflow = ".claude/settings.json", ".mcp.json", ".codex/config.toml", ".github/workflows/a.yml"
	for name, c := range map[string]struct {
		before, after files
		drift         bool
		signals       []string
	}{
		"nothing": {files{"AGENTS.md": "a"}, files{"AGENTS.md": "a"}, false, nil},
		"a spelling of the same": {
			files{settings: `{"permissions":{"allow":["Read"]}}`}, files{settings: "{\n \"permissions\": {\"allow\": [\"Read\"]}}"}, false, nil,
		},
		"a setting that grants nothing": {files{settings: `{"model": "a"}`}, files{settings: `{"model": "b"}`}, true, nil},
		"a server added": {
			files{},
			files{servers: `{"mcpServers": {"a": {"command": "x"}}}`},
			true,
			[]string{`added: claude-code mcp_server "a" in .mcp.json: access execute, risk high`},
		},
		"a server removed":    {files{servers: `{"mcpServers": {"a": {"command": "x"}}}`}, files{}, true, nil},
		"a server off, added": {files{}, files{servers: `{"mcpServers": {"a": {"command": "x", "disabled": true}}}`}, true, nil},
		"a server switched on": {
			files{servers: `{"mcpServers": {"a": {"command": "x", "disabled": true}}}`},
			files{servers: `{"mcpServers": {"a": {"command": "x"}}}`},
			true,
			[]string{`widened: claude-code mcp_server "a" in .mcp.json: access execute, was none`},
		},
		"a server switched off": {
			files{servers: `{"mcpServers": {"a": {"command": "x"}}}`}, files{servers: `{"mcpServers": {"a": {"command": "x", "disabled": true}}}`}, true, nil,
		},
		"another program": {
			files{servers: `{"mcpServers": {"a": {"command": "x"}}}`},
			files{servers: `{"mcpServers": {"a": {"command": "y"}}}`},
			true,
			[]string{`widened: claude-code mcp_server "a" in .mcp.json: it is another program or host`},
		},
		"another argument": {
			files{servers: `{"mcpServers": {"a": {"command": "x", "args": ["1"]}}}`},
			files{servers: `{"mcpServers": {"a": {"command": "x", "args": ["2"]}}}`},
			true,
			[]string{`changed: claude-code mcp_server "a" in .mcp.json: what it does is not in the inventory`},
		},
		"one more variable": {
			files{servers: `{"mcpServers": {"a": {"command": "x"}}}`},
			files{servers: `{"mcpServers": {"a": {"command": "x", "env": {"K": "v"}}}}`},
			true,
			[]string{`widened: claude-code mcp_server "a" in .mcp.json: it is given more variables or headers`},
		},
		"a rotated secret": {
			files{servers: `{"mcpServers": {"a": {"command": "x", "env": {"K": "one"}}}}`}, files{servers: `{"mcpServers": {"a": {"command": "x", "env": {"K": "two"}}}}`}, false, nil,
		},
		"no question any more": {
			files{servers: `{"mcpServers": {"a": {"command": "x"}}}`},
			files{servers: `{"mcpServers": {"a": {"command": "x", "alwaysAllow": ["w"]}}}`},
			true,
			[]string{`widened: claude-code mcp_server "a" in .mcp.json: risk critical, was high`},
		},
		"a rule allowed": {
			files{settings: `{"permissions": {"allow": ["Bash(a)"]}}`},
			files{settings: `{"permissions": {"allow": ["Bash(a)", "Bash(b)"]}}`},
			true,
			[]string{`added: claude-code permission_rule "allow Bash(<redacted-arguments>)" in .claude/settings.json: access execute, risk medium`},
		},
		"a rule denied": {files{settings: `{}`}, files{settings: `{"permissions": {"deny": ["Bash(b)"]}}`}, true, nil},
		"a denial gone": {
			files{settings: `{"permissions": {"deny": ["Bash(b)"]}}`},
			files{settings: `{}`},
			true,
			[]string{`limit removed: claude-code permission_rule "deny Bash(<redacted-arguments>)" in .claude/settings.json`},
		},
		"a rule turned round": {
			files{settings: `{"permissions": {"deny": ["Read"]}}`},
			files{settings: `{"permissions": {"allow": ["Read"]}}`},
			true,
			[]string{
				`added: claude-code permission_rule "allow Read" in .claude/settings.json: access read, risk medium`,
				`limit removed: claude-code permission_rule "deny Read" in .claude/settings.json`,
			},
		},
		"a wider mode": {
			files{settings: `{"permissions": {"defaultMode": "plan"}}`},
			files{settings: `{"permissions": {"defaultMode": "acceptEdits"}}`},
			true,
			[]string{`widened: claude-code permission_mode "permissions.defaultMode = acceptEdits" in .claude/settings.json: access write, was read`},
		},
		"a narrower sandbox": {
			files{codex: `sandbox_mode = "danger-full-access"`},
			files{codex: `sandbox_mode = "read-only"`},
			true,
			[]string{`changed: codex sandbox "sandbox_mode = read-only" in .codex/config.toml: what it does is not in the inventory`},
		},
		"a sandbox gone": {
			files{codex: `sandbox_mode = "read-only"`},
			files{codex: ``},
			true,
			[]string{`limit removed: codex sandbox "sandbox_mode = read-only" in .codex/config.toml`},
		},
		"an unknown setting": {
			files{codex: ``},
			files{codex: `allow_more = "x"`},
			true,
			[]string{`added: codex permission_mode "allow_more = <redacted>" in .codex/config.toml: access unknown, risk unknown`},
		},
		"a requirement gone": {
			files{".codex/requirements.toml": "a = 1"}, files{}, true, []string{`limit removed: codex requirement "a" in .codex/requirements.toml`},
		},
		"a requirement changed": {
			files{".codex/requirements.toml": "a = 1"},
			files{".codex/requirements.toml": "a = 2"},
			true,
			[]string{`limit changed: codex requirement "a" in .codex/requirements.toml`},
		},
		"another hook": {
			files{".cursor/hooks.json": `{"hooks": {"stop": [{"command": "a"}]}}`},
			files{".cursor/hooks.json": `{"hooks": {"stop": [{"command": "b"}]}}`},
			true,
			[]string{`changed: cursor hook "stop" in .cursor/hooks.json: what it does is not in the inventory`},
		},
		"a token that writes more": {
			files{workflow: "on: push\npermissions: {contents: read}\njobs: {a: {x: y}}\n"},
			files{workflow: "on: push\npermissions: {contents: write}\njobs: {a: {x: y}}\n"},
			true,
			[]string{`widened: github workflow in .github/workflows/a.yml: access write, was read`},
		},
		"a token that writes elsewhere": {
			files{workflow: "on: push\npermissions: {issues: write}\njobs: {a: {x: y}}\n"},
			files{workflow: "on: push\npermissions: {contents: write}\njobs: {a: {x: y}}\n"},
			true,
			[]string{`widened: github workflow in .github/workflows/a.yml: its token writes more`},
		},
		"a job that is no grant": {
			files{workflow: "on: push\npermissions: {}\njobs: {a: {x: y}}\n"}, files{workflow: "on: push\npermissions: {}\njobs: {a: {x: z}}\n"}, true, nil,
		},
		"instructions": {
			files{"AGENTS.md": "a"},
			files{"AGENTS.md": "b"},
			true,
			[]string{`changed: codex instruction_trust_root in AGENTS.md: what it does is not in the inventory`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := compare(t, c.before, c.after)
			if d.HasDrift == nil || *d.HasDrift != c.drift || d.Status != hostgrant.Comparable {
				t.Fatalf("%s, reasons %v, drift %v", d.Status, d.Reasons, d.HasDrift)
			}
			if !slices.Equal(d.ExpansionSignals, c.signals) {
				t.Errorf("signals are %q, want %q", d.ExpansionSignals, c.signals)
			}
			if (d.NextAction != nil) != c.drift {
				t.Errorf("next action is %v", d.NextAction)
			}
		})
	}
}

func TestWhatCannotBeComparedNeverSaysNoDrift(t *testing.T) {
	v := take(t, files{"AGENTS.md": "a"}, hostgrant.Repository)
	saved, err := hostgrant.Save(v)
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, new string) []byte {
		if !strings.Contains(string(saved), old) {
			t.Fatalf("the baseline has no %q", old)
		}
		return []byte(strings.Replace(string(saved), old, new, 1))
	}
	local := take(t, files{"AGENTS.md": "a"}, hostgrant.LocalStatic)
	for name, c := range map[string]struct {
		text    []byte
		current *hostgrant.Inventory
		reason  string
	}{
		"none":               {nil, v, "baseline_missing"},
		"an empty one":       {[]byte{}, v, "baseline_malformed"},
		"half of one":        {saved[:len(saved)/2], v, "baseline_malformed"},
		"a list":             {[]byte("[]"), v, "baseline_malformed"},
		"another version":    {swap(`"host_grants_baseline_schema_version": "0.2"`, `"host_grants_baseline_schema_version": "0.3"`), v, "baseline_version"},
		"an inventory":       {[]byte(printed(t, "host-grants-inventory.v0.2", v)), v, "baseline_version"},
		"an edited one":      {swap(`"risk": "medium"`, `"risk": "low"`), v, "baseline_damaged"},
		"a member more":      {swap(`"workspace": "."`, `"workspace": ".", "more": 1`), v, "baseline_malformed"},
		"a member of a kind": {swap(`"path": "AGENTS.md"`+"\n      }\n    ],\n    \"host_cov", `"path": "AGENTS.md", "rule": "x"`+"\n      }\n    ],\n    \"host_cov"), v, "baseline_damaged"},
		"an unknown word":    {swap(`"access": "none"`, `"access": "little"`), v, "baseline_malformed"},
		"a key twice":        {swap(`"workspace": "."`, `"workspace": ".", "workspace": "."`), v, "baseline_malformed"},
		"one of any size":    {append(slices.Clone(saved), make([]byte, hostgrant.MaxBaseline)...), v, "baseline_too_large"},
		"another scope":      {saved, local, "scope_differs"},
	} {
		t.Run(name, func(t *testing.T) {
			d := hostgrant.Compare("b", c.text, c.current)
			printed(t, "host-grants-drift.v0.2", d)
			if d.HasDrift != nil || d.Status != hostgrant.Incomparable || !slices.Equal(d.Reasons, []string{c.reason}) || d.NextAction == nil || len(d.Changes) > 0 {
				t.Errorf("%+v", d)
			}
		})
	}
	// The name of the workspace is no difference.
	v.Workspace = "elsewhere"
	if d := hostgrant.Compare("b", saved, v); d.HasDrift == nil || *d.HasDrift {
		t.Errorf("%+v", d)
	}
}

// sentinel is what no document may hold; it is joined so that nobody takes it
// for a secret of this repository.
var sentinel = "s3ntinel" + "-" + "v4lue"

// secretive are files that hold the sentinel wherever a value can stand.
func secretive() files {
	s := sentinel
	return files{
		".mcp.json": `{"mcpServers": {"a": {"command": "K=` + s + ` npx", "args": ["--token", "` + s + `", "--api-key=` + s + `"], "env": {"K": "` + s + `"},
			"headers": {"H": "` + s + `"}, "token": "` + s + `"}, "b": {"url": "https://u:` + s + `@h.example/` + s + `?k=` + s + `"}}}`,
		".claude/settings.json": `{"permissions": {"allow": ["Bash(login ` + s + `)", "Bash login ` + s + `"], "deny": ["Read(` + s + `)"]},
			"env": {"K": "` + s + `"}, "apiKeyHelper": "` + s + `", "mystery": "` + s + `", "hooks": {"Stop": [{"command": "x ` + s + `"}]},
			"sandbox": {"network": {"proxy": "` + s + `"}}}`,
		".codex/config.toml": `sandbox_mode = "` + s + `"` + "\napproval_policy = \"" + s + "\"\nallow_x = \"" + s + "\"\n[mcp_servers.a]\ncommand = \"x\"\nenv = {K = \"" + s +
			"\"}\nhttp_headers = {H = \"" + s + "\"}\n[permissions.p.network]\nproxy_url = \"http://" + s + "\"\n[permissions.p.filesystem]\nx = \"" + s + "\"\n",
		".codex/requirements.toml":     `a = "` + s + `"` + "\nb = [\"" + s + "\"]\n",
		".codex/hooks.json":            `{"Stop": [{"command": "` + s + `"}]}`,
		".cursor/cli.json":             `{"permissions": {"allow": ["Shell(` + s + `)"]}, "network": "` + s + `", "x": {"y": "` + s + `"}}`,
		".vscode/mcp.json":             `{"servers": {"v": {"command": "v", "env": {"K": "` + s + `"}}}, "inputs": [{"default": "` + s + `"}]}`,
		".github/workflows/a.yml":      "on: push\nenv: {K: " + s + "}\npermissions: {contents: " + s + "}\njobs: {a: {env: {K: " + s + "}}}\n",
		"AGENTS.md":                    "the password is " + s,
		"broken/.mcp.json":             `{"` + s + `": `,
		"broken/.codex/config.toml":    s + " = ",
		".github/workflows/broken.yml": "a: [" + s,
	}
}

func TestNoSecretIsShown(t *testing.T) {
	all := secretive()
	v := take(t, all, hostgrant.Repository)
	text := printed(t, "host-grants-inventory.v0.2", v)
	if strings.Contains(text, sentinel) {
		for line := range strings.Lines(text) {
			if strings.Contains(line, sentinel) {
				t.Errorf("shown: %s", line)
			}
		}
	}
	whole := maps.Clone(all)
	maps.DeleteFunc(whole, func(path, _ string) bool { return strings.Contains(path, "broken") })
	for path := range whole {
		without := maps.Clone(whole)
		delete(without, path)
		for _, d := range []*hostgrant.Drift{compare(t, whole, without), compare(t, without, whole)} {
			if strings.Contains(printed(t, "host-grants-drift.v0.2", d), sentinel) || *d.HasDrift == false {
				t.Errorf("%s is shown in the drift, or is none", path)
			}
		}
	}
	// Values below env and headers are in no digest either.
	const servers = ".mcp.json"
	other := files{servers: strings.ReplaceAll(`{"mcpServers": {"a": {"command": "x", "env": {"K": "@"}, "headers": {"H": "@"}, "args": ["--token", "@"]}}}`, "@", sentinel)}
	same := files{servers: strings.ReplaceAll(other[servers], sentinel, "x")}
	if take(t, other, hostgrant.Repository).SHA256() != take(t, same, hostgrant.Repository).SHA256() {
		t.Error("a value is in a digest")
	}
}

// pool are texts that any of the paths may hold.
func pool() (paths, texts []string) {
	texts = []string{
		"", "{}", "[]", "x", "a = 1", "on: push\n", `{"mcpServers": {"a": {"command": "x"}}}`, `{"servers": {"a": {"url": "https://h"}}}`,
		`{"permissions": {"allow": ["Bash"], "deny": ["Read"]}}`, `{"hooks": {"Stop": [{"command": "x"}]}}`, "sandbox_mode = \"read-only\"\n",
		"[mcp_servers.a]\ncommand = \"x\"\n", "on: pull_request_target\npermissions: write-all\njobs: {a: {}}\n", `{"policyHelper": 1}`, "\xff",
	}
	for path, text := range secretive() {
		paths, texts = append(paths, path), append(texts, text)
	}
	paths = append(paths, ".cursor/rules/x.mdc", ".claude", "sub/AGENTS.md", "README.md")
	slices.Sort(paths)
	slices.Sort(texts)
	return paths, texts
}

// The same files in another order give the same bytes; what is saved compares
// with itself without drift; what is not known is never "no drift".
func TestAnInventoryIsAFunctionOfItsFiles(t *testing.T) {
	paths, texts := pool()
	some := rapid.MapOfN(rapid.SampledFrom(paths), rapid.SampledFrom(texts), 0, 8)
	rapid.Check(t, func(rt *rapid.T) {
		one, two := files(some.Draw(rt, "one")), files(some.Draw(rt, "two"))
		in := one.input(hostgrant.Repository)
		v := hostgrant.Take(in)
		first := printed(t, "host-grants-inventory.v0.2", v)
		seed := rapid.Uint64().Draw(rt, "seed")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(in.Files), func(i, j int) { in.Files[i], in.Files[j] = in.Files[j], in.Files[i] })
		if printed(t, "host-grants-inventory.v0.2", hostgrant.Take(in)) != first {
			rt.Fatal("another order gives another inventory")
		}
		saved, err := hostgrant.Save(v)
		if (err == nil) != v.Complete() {
			rt.Fatalf("complete %v, saved %v", v.Complete(), err)
		}
		if err != nil {
			return
		}
		if d := hostgrant.Compare("b", saved, v); d.HasDrift == nil || *d.HasDrift || *d.BaselineSHA256 != *d.CurrentSHA256 {
			rt.Fatalf("it drifts from itself: %+v", d)
		}
		w := hostgrant.Take(two.input(hostgrant.Repository))
		d := hostgrant.Compare("b", saved, w)
		printed(t, "host-grants-drift.v0.2", d)
		switch {
		case !w.Complete():
			if d.HasDrift != nil {
				rt.Fatal("what is not known is compared")
			}
		case *d.HasDrift != (v.SHA256() != w.SHA256()):
			rt.Fatalf("drift is %v, digests %s and %s", *d.HasDrift, v.SHA256(), w.SHA256())
		}
	})
}

func FuzzTake(f *testing.F) {
	paths, texts := pool()
	for i, text := range texts {
		f.Add(uint8(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, place uint8, text []byte) {
		path := paths[int(place)%len(paths)]
		v := hostgrant.Take(hostgrant.Input{Workspace: ".", Scope: hostgrant.Repository, Files: []hostgrant.File{{Path: path, Scope: hostgrant.Repository, Bytes: text}}})
		out, err := v.JSON()
		if err != nil {
			t.Fatal(err)
		}
		saved, err := hostgrant.Save(v)
		if err != nil {
			if v.Complete() {
				t.Fatalf("%v\n%s", err, out)
			}
			return
		}
		if d := hostgrant.Compare("b", saved, v); d.HasDrift == nil || *d.HasDrift {
			t.Fatalf("it drifts from itself: %v\n%s", d.Reasons, out)
		}
	})
}

func FuzzCompare(f *testing.F) {
	v := hostgrant.Take(files{"AGENTS.md": "a", ".mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`}.input(hostgrant.Repository))
	saved, err := hostgrant.Save(v)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(saved)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := hostgrant.Compare("b", text, v)
		if _, err := d.JSON(); err != nil {
			t.Fatal(err)
		}
		if (d.HasDrift == nil) != (d.Status == hostgrant.Incomparable) || (d.HasDrift == nil) != (len(d.Reasons) > 0) {
			t.Fatalf("%+v", d)
		}
		if d.HasDrift != nil && !*d.HasDrift && *d.BaselineSHA256 != *d.CurrentSHA256 {
			t.Fatalf("no drift between %s and %s", *d.BaselineSHA256, *d.CurrentSHA256)
		}
	})
}

// What hosts see behind links inside of the repository is read; what lies
// outside, is too large or no file is said, and nothing else is touched.
func TestCollect(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(root, name string, text []byte) {
		t.Helper()
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, target string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skip("no links here")
		}
	}
	write(dir, "kit/settings.json", []byte(`{}`))
	write(dir, "kit/commands/go.md", []byte("x"))
	write(dir, "docs/rules.md", []byte("x"))
	write(outside, "secret.json", []byte(`{}`))
	write(dir, ".cursor/cli.json", make([]byte, hostgrant.MaxFile+1))
	write(dir, ".vscode/mcp.json/x", nil)
	link(".claude", "kit")
	link("AGENTS.md", "docs/rules.md")
	link(".mcp.json", filepath.Join(outside, "secret.json"))
	link(".agents", outside)
	link(".cursor/rules", "../docs")
	link(".github", "gone")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	got := map[string]string{}
	names := []string{".agents", ".claude", ".cursor/cli.json", ".cursor/rules", ".github", ".mcp.json", ".vscode/mcp.json", "AGENTS.md", "CLAUDE.md", "docs/rules.md"}
	for _, f := range hostgrant.Collect(root.FS(), hostgrant.Repository, names) {
		got[f.Path] = f.Unread
	}
	want := map[string]string{
		".agents": "a link that leads out of the repository or nowhere", ".claude/settings.json": "", ".claude/commands/go.md": "",
		".cursor/cli.json": "larger than 1 MiB", ".mcp.json": "not to be opened, or a link that leads out", ".vscode/mcp.json": "no plain file",
		"AGENTS.md": "", ".cursor/rules/rules.md": "",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// The same links, ignored: nothing is hidden.
	left := map[string]string{}
	for _, f := range hostgrant.CollectLocal(root.FS(), nil) {
		left[f.Path] = f.Unread
	}
	for path, unread := range map[string]string{
		".claude/settings.json": "", ".claude/commands/go.md": "", ".mcp.json": want[".mcp.json"], ".agents/skills": want[".agents"],
	} {
		if got, there := left[path]; !there || got != unread {
			t.Errorf("%s is %q, %v", path, got, there)
		}
	}
	if f, there := hostgrant.ReadFile(fstest.MapFS{}, "AGENTS.md"); there {
		t.Errorf("read %+v", f)
	}
}

// What Git ignores is read at the places of hosts, and only what it does not list.
func TestCollectLocal(t *testing.T) {
	tree := fstest.MapFS{}
	for _, name := range []string{
		".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/commands/mine/go.md", ".claude/commands/ours.md",
		".cursor/rules/mine.mdc", ".github/workflows/mine.yml", "AGENTS.md", "sub/AGENTS.md", "README.md", ".claude/agents/no.md",
	} {
		tree[name] = &fstest.MapFile{Data: []byte("{}")}
	}
	var got []string
	listed := hostgrant.Collect(tree, hostgrant.Repository, []string{".claude/commands/ours.md", ".claude/settings.json", "AGENTS.md"})
	for _, f := range hostgrant.CollectLocal(tree, listed) {
		if f.Scope != hostgrant.LocalStatic || f.Unread != "" {
			t.Errorf("%+v", f)
		}
		got = append(got, f.Path)
	}
	slices.Sort(got)
	want := []string{
		".claude/commands/mine/go.md", ".claude/settings.local.json", ".cursor/rules/mine.mdc", ".github/workflows/mine.yml", ".mcp.json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A pipe at the place of a host gives it what no file says; Git does not list it.
func TestWhatIsNoFileIsNamed(t *testing.T) {
	tree := fstest.MapFS{
		".mcp.json": {Mode: fs.ModeNamedPipe | 0o600}, ".claude/settings.json": {Mode: fs.ModeSocket | 0o600}, "AGENTS.md": {Data: []byte("x")},
		".cursor/cli.json": {Mode: fs.ModeDir | 0o700}, "notes": {Mode: fs.ModeNamedPipe | 0o600}, ".cursor/mcp.json": {Mode: fs.ModeNamedPipe | 0o600},
	}
	got := hostgrant.CollectSpecial(tree, []hostgrant.File{{Path: ".cursor/mcp.json"}})
	if len(got) != 2 || got[0].Path != ".claude/settings.json" || got[1].Path != ".mcp.json" || got[0].Unread == "" || got[1].Unread == "" {
		t.Errorf("%+v", got)
	}
	taken := hostgrant.Take(hostgrant.Input{Scope: hostgrant.Repository, Files: got})
	if taken.Complete() {
		t.Errorf("an inventory with a pipe in it is complete: %+v", taken.Issues)
	}
}
