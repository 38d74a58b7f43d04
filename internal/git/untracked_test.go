package git_test

import (
	"fmt"
	"strings"
	"testing"
)

const tool = "from agents import function_tool\n\n@function_tool\ndef pay(): ...\n"

// An untracked name is part of the change only if it is relevant
// (docs/spec/boundary.md §2.2, step 5).
func TestWhichUntrackedFilesAreTheChange(t *testing.T) {
	t.Parallel()
	base := files{
		"notes.txt": "one\n", "shipgate.yaml": manifest("specs", "one.json"), "AGENTS.md": "-> docs/rules.txt",
		".claude/skills/pack": "-> ../../kit",
	}
	for _, row := range []struct {
		name string
		add  files
		want string
	}{
		{
			"whatever no rule and no trigger asks for",
			files{"a.txt": "x\n", "src/b.go": "x\n", "package.json": "{}\n", "docs/c.md": "x\n"},
			`files`,
		},
		{
			"a host's file, and one with a trust-root class",
			files{settings: grant, "prompts/x.txt": "x\n"},
			`files .claude/settings.json prompts/x.txt
			 disk .claude/settings.json: absent -> grant
			 disk prompts/x.txt: absent -> ""
			 record .claude/settings.json new 100644 -0 +1
			 record prompts/x.txt new 100644 -0 +1`,
		},
		{
			"declared tool sources, and files below one",
			files{"one.json": "{}\n", "specs/a.json": "{}\n", "specs-b.json": "{}\n"},
			`files one.json specs/a.json
			 record one.json new 100644 -0 +1
			 record specs/a.json new 100644 -0 +1`,
		},
		{
			"what a link at an adapter path leads to",
			files{"docs/rules.txt": advice, "docs/other.txt": advice},
			`files docs/rules.txt
			 disk AGENTS.md: absent -> advice [link:none,docs/rules.txt unlisted]
			 record docs/rules.txt new 100644 -0 +1`,
		},
		{
			"what lies below the end of a folder link",
			files{"kit/x/SKILL.md": advice, "kit/x/run.sh": "x\n"},
			`files kit/x/SKILL.md kit/x/run.sh
			 disk .claude/skills/pack/x/SKILL.md: absent -> advice [link:none,kit/x/SKILL.md unlisted]
			 disk kit/x/SKILL.md: absent -> ""
			 record kit/x/SKILL.md new 100644 -0 +1
			 record kit/x/run.sh new 100644 -0 +1`,
		},
		{
			"a capability, by path and by content",
			files{"agent.py": tool, "plain.py": "x = 1\n", "pay-mcp.json": "{}\n", "tests/agent.py": "x = 1\n"},
			`files agent.py pay-mcp.json
			 record agent.py new 100644 -0 +4
			 record pay-mcp.json new 100644 -0 +1`,
		},
		{
			"a link at an adapter path, and a link point",
			files{"CLAUDE.md": "-> notes.txt", ".cursor": "-> kit", "src/agent.py": "-> ../notes.txt"},
			`files .cursor CLAUDE.md
			 disk CLAUDE.md: absent -> "one\n" [link:none,notes.txt]
			 issue input_symlink_or_external .cursor
			 link points .cursor
			 record .cursor new 120000 -0 +1
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a file at a link point that no pattern reads",
			files{".vscode": "x\n", ".agents-shipgate": "x\n"},
			`files .agents-shipgate
			 disk .agents-shipgate: absent -> ""
			 record .agents-shipgate new 100644 -0 +1`,
		},
		{
			"what cannot be read stays visible",
			files{".mcp.json": "{}\x00\n", "prompts/x.png": "\x00\n", "pay-mcp.json": "\x00\n", "AGENTS.override.md": "\xe9\n"},
			`files .mcp.json AGENTS.override.md pay-mcp.json prompts/x.png
			 disk .mcp.json: absent -> (input_binary)
			 disk AGENTS.override.md: absent -> (input_non_utf8)
			 disk prompts/x.png: absent -> ""
			 issue input_binary .mcp.json
			 issue input_binary pay-mcp.json
			 issue input_binary prompts/x.png
			 issue input_non_utf8 AGENTS.override.md
			 record .mcp.json new 100644
			 record AGENTS.override.md new 100644 -0 +1
			 record pay-mcp.json new 100644
			 record prompts/x.png new 100644`,
		},
		{
			"an ignored host's file is no part of the next commit",
			files{settings: grant, ".gitignore": ".claude\n"},
			`files`,
		},
		{
			"a file over 128 KiB",
			files{settings: strings.Repeat("x", 128<<10+1), "big.py": strings.Repeat("x", 128<<10+1), "big.txt": strings.Repeat("x", 128<<10+1)},
			`files .claude/settings.json big.py
			 disk .claude/settings.json: absent -> (input_oversized)
			 issue input_oversized .claude/settings.json
			 issue input_oversized big.py
			 record .claude/settings.json new 100644
			 record big.py new 100644`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			r.write(row.add)
			expect(t, r.input(), row.want)
		})
	}
	t.Run("a nested repository at a link point or an adapter path, and elsewhere", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		nested := newRepo(t, files{"settings.json": grant})
		for _, p := range []string{".claude", "CLAUDE.md", "vendor/lib"} {
			copyTree(t, nested.root, r.at(p))
		}
		r.remove(".claude/skills")
		r.git("update-index", "--force-remove", ".claude/skills/pack") // it would be listed below the folder
		r.git("commit", "-q", "-m", "next")
		expect(t, r.input(), `
			files
			issue input_symlink_or_external .claude
			issue input_symlink_or_external CLAUDE.md
			link points .claude`)
	})
	t.Run("1 MiB together, by name", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		for i := range 9 {
			r.write(files{fmt.Sprintf(".claude/commands/%d.md", i): strings.Repeat("x", 120<<10)})
		}
		r.write(files{".claude/commands/last.md": advice})
		in := r.input()
		for i, want := range []string{"", "", "", "", "", "", "", "", "boundary_input_oversized"} {
			if got := change(t, in, fmt.Sprintf(".claude/commands/%d.md", i), "git_worktree").New.Unresolved; got != want {
				t.Errorf("%d.md: %q, want %q", i, got, want)
			}
		}
		if c := change(t, in, ".claude/commands/last.md", "git_worktree"); string(c.New.Bytes) != advice {
			t.Error("a small file found no room")
		}
	})
}

// An entry on disk or in the index adopts; one that is ignored is compared all
// the same (§2.2 step 6, §2.6).
func TestTheManifest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		base     files
		do       func(r *repo)
		present  bool
		declared string
		want     string
	}{
		{
			"none",
			files{"a": "b\n"},
			func(*repo) {}, false, "",
			`files`,
		},
		{
			"tracked and untouched",
			files{"shipgate.yaml": manifest("tools/a.json")},
			func(*repo) {}, true, "tools/a.json",
			`files`,
		},
		{
			"ignored",
			files{".gitignore": "shipgate.yaml\n"},
			func(r *repo) { r.write(files{"shipgate.yaml": manifest("tools/a.json")}) }, true, "tools/a.json",
			fmt.Sprintf(`files shipgate.yaml
			 disk shipgate.yaml: absent -> %q [manifest]
			 record shipgate.yaml new 100644 -0 +5`, manifest("tools/a.json")),
		},
		{
			"deleted on disk, in the index still",
			files{"shipgate.yaml": manifest("tools/a.json"), "tools/a.json": "{}\n"},
			func(r *repo) { r.remove("shipgate.yaml") }, true, "tools/a.json",
			fmt.Sprintf(`files shipgate.yaml
			 disk shipgate.yaml: %q -> absent [deleted manifest]
			 record shipgate.yaml deleted 100644 -5 +0`, manifest("tools/a.json")),
		},
		{
			"what only the index declares counts, flags and untracked files included",
			files{"shipgate.yaml": manifest(), "tools/a.json": "{}\n"},
			func(r *repo) {
				r.git("update-index", "--assume-unchanged", "tools/a.json")
				r.stage(files{"shipgate.yaml": manifest("tools")})
				r.write(files{"shipgate.yaml": manifest(), "tools/a.json": "[]\n", "tools/b.json": "[]\n"})
			}, true, "tools",
			fmt.Sprintf(`files shipgate.yaml tools/a.json tools/b.json
			 index shipgate.yaml: %q -> %q [manifest]
			 record tools/a.json edited 100644 -1 +1
			 record tools/b.json new 100644 -0 +1
			 staged shipgate.yaml edited 100644 -0 +1`, manifest(), manifest("tools")),
		},
		{
			"linked: it adopts, is not followed, and is an issue even untouched",
			files{"m.yaml": manifest("tools/a.json"), "shipgate.yaml": "-> m.yaml"},
			func(*repo) {}, true, "",
			`files
			 issue input_symlink_or_external shipgate.yaml`,
		},
		{
			"not UTF-8: an issue even untouched",
			files{"shipgate.yaml": manifest("\xe9")},
			func(*repo) {}, true, "",
			`files
			 issue input_non_utf8 shipgate.yaml`,
		},
		{
			"no manifest by its text adopts and declares nothing",
			files{"shipgate.yaml": "- a list\n"},
			func(*repo) {}, true, "",
			`files`,
		},
		{
			"a folder of that name is none",
			files{"shipgate.yaml/x": "y\n"},
			func(*repo) {}, false, "",
			`files`,
		},
		{
			"sources outside, of the root and with tricks are not declared",
			files{"shipgate.yaml": manifest("../a.json", ".", "/etc/a.json", "a\\b", "x/../tools/a.json")},
			func(*repo) {}, true, "tools/a.json",
			`files`,
		},
		{
			"more sources than fit on a command line",
			files{"shipgate.yaml": manifest(many("tools/%d.json", 2000)...), "tools/7.json": "{}\n"},
			func(r *repo) {
				r.git("update-index", "--assume-unchanged", "tools/7.json")
				r.write(files{"tools/7.json": "[]\n"})
			}, true, "*",
			`files tools/7.json
			 record tools/7.json edited 100644 -1 +1`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, row.base)
			row.do(r)
			in := r.input()
			expect(t, in, row.want)
			if in.Manifest.Present != row.present {
				t.Errorf("present: %v", in.Manifest.Present)
			}
			if got := strings.Join(in.Manifest.Declared, " "); got != row.declared && row.declared != "*" {
				t.Errorf("declared %q, want %q", got, row.declared)
			}
		})
	}
}

func many(format string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}
