package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/surface"
)

// Every row of the table of docs/spec/boundary.md §2.7 (ruling R3), in the
// working tree and in a range: what a host would read is read at the target,
// what it could not be shown to read is incomplete. SIDE is disk or range.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		base files
		next files
		want string
	}{
		{
			"the target is edited",
			files{"CLAUDE.md": "-> AGENTS.md", "AGENTS.md": advice},
			files{"AGENTS.md": laxer},
			`files AGENTS.md
			 SIDE AGENTS.md: advice -> laxer
			 SIDE CLAUDE.md: advice -> laxer [link:AGENTS.md,AGENTS.md unlisted]
			 record AGENTS.md edited 100644 -1 +1`,
		},
		{
			"the link is retargeted",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice, "docs/b.md": laxer},
			files{"CLAUDE.md": "-> docs/b.md"},
			`files CLAUDE.md
			 SIDE CLAUDE.md: advice -> laxer [link:docs/a.md,docs/b.md]
			 record CLAUDE.md edited 120000 -1 +1`,
		},
		{
			"the link is retargeted to an equal text",
			files{".codex/config.toml": "-> ../a.toml", "a.toml": advice, "b.toml": advice},
			files{".codex/config.toml": "-> ../b.toml"},
			`files .codex/config.toml
			 SIDE .codex/config.toml: advice -> advice [link:a.toml,b.toml]
			 record .codex/config.toml edited 120000 -1 +1`,
		},
		{
			"a file becomes a link",
			files{".mcp.json": harmless, "kit/mcp.json": grant},
			files{".mcp.json": "-> kit/mcp.json"},
			`files .mcp.json
			 SIDE .mcp.json: harmless -> grant [link:none,kit/mcp.json]
			 record .mcp.json deleted 100644 -1 +0
			 record .mcp.json new 120000 -0 +1`,
		},
		{
			"a link becomes a file",
			files{".mcp.json": "-> kit/mcp.json", "kit/mcp.json": harmless},
			files{".mcp.json": grant},
			`files .mcp.json
			 SIDE .mcp.json: harmless -> grant [link:kit/mcp.json,none]
			 record .mcp.json deleted 120000 -1 +0
			 record .mcp.json new 100644 -0 +1`,
		},
		{
			"a link is new",
			files{"docs/a.md": advice},
			files{"CLAUDE.md": "-> docs/a.md"},
			`files CLAUDE.md
			 SIDE CLAUDE.md: absent -> advice [link:none,docs/a.md]
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a link is deleted",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice},
			files{"CLAUDE.md": ""},
			`files CLAUDE.md
			 SIDE CLAUDE.md: advice -> absent [deleted link:docs/a.md,none]
			 record CLAUDE.md deleted 120000 -1 +0`,
		},
		{
			"link and target are deleted",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice},
			files{"CLAUDE.md": "", "docs/a.md": ""},
			`files CLAUDE.md docs/a.md
			 SIDE CLAUDE.md: advice -> absent [deleted link:docs/a.md,none]
			 record CLAUDE.md deleted 120000 -1 +0
			 record docs/a.md deleted 100644 -1 +0`,
		},
		{
			"the target goes: dangling",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice},
			files{"docs/a.md": ""},
			`files docs/a.md
			 SIDE CLAUDE.md: advice -> (input_symlink_or_external) [unlisted]
			 issue input_symlink_or_external CLAUDE.md
			 record docs/a.md deleted 100644 -1 +0`,
		},
		{
			"the target comes: no host could read it before",
			files{"CLAUDE.md": "-> docs/a.md", "notes.txt": "x\n"},
			files{"docs/a.md": advice},
			`files docs/a.md
			 SIDE CLAUDE.md: absent -> advice [link:none,docs/a.md unlisted]
			 record docs/a.md new 100644 -0 +1`,
		},
		{
			"a dangling link is deleted",
			files{"CLAUDE.md": "-> docs/a.md"},
			files{"CLAUDE.md": ""},
			`files CLAUDE.md
			 SIDE CLAUDE.md: absent -> absent [link:none,none]
			 record CLAUDE.md deleted 120000 -1 +0`,
		},
		{
			"the second hop is turned",
			files{"CLAUDE.md": "-> hop", "hop": "-> docs/a.md", "docs/a.md": advice, "docs/b.md": laxer},
			files{"hop": "-> docs/b.md"},
			`files hop
			 SIDE CLAUDE.md: advice -> laxer [link:docs/a.md,docs/b.md unlisted]
			 record hop edited 120000 -1 +1`,
		},
		{
			"the second hop is turned outside",
			files{"CLAUDE.md": "-> hop", "hop": "-> docs/a.md", "docs/a.md": advice},
			files{"hop": "-> /etc/passwd"},
			`files hop
			 SIDE CLAUDE.md: advice -> (input_symlink_or_external) [unlisted]
			 issue input_symlink_or_external CLAUDE.md
			 record hop edited 120000 -1 +1`,
		},
		{
			"a folder on the way becomes a link",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice, "kit/a.md": laxer},
			files{"docs": "-> kit"},
			`files docs docs/a.md
			 SIDE CLAUDE.md: advice -> laxer [link:docs/a.md,kit/a.md unlisted]
			 record docs new 120000 -0 +1
			 record docs/a.md deleted 100644 -1 +0`,
		},
		{
			"nothing that the link passes is touched",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice, "docs/b.md": advice},
			files{"docs/b.md": laxer},
			`files docs/b.md
			 record docs/b.md edited 100644 -1 +1`,
		},
		{
			"an untouched link outside stops nothing",
			files{"CLAUDE.md": "-> ../outside.md", ".claude/skills": "-> /opt/skills", "a.txt": "x\n"},
			files{"a.txt": "y\n"},
			`files a.txt
			 record a.txt edited 100644 -1 +1`,
		},
		{
			"an unchanged folder link, a file below its target",
			files{".claude/skills": "-> ../.agents/skills", ".agents/skills/x/SKILL.md": advice},
			files{".agents/skills/x/SKILL.md": laxer},
			`files .agents/skills/x/SKILL.md
			 SIDE .agents/skills/x/SKILL.md: advice -> laxer
			 SIDE .claude/skills/x/SKILL.md: advice -> laxer [link:.agents/skills/x/SKILL.md,.agents/skills/x/SKILL.md unlisted]
			 record .agents/skills/x/SKILL.md edited 100644 -1 +1`,
		},
		{
			"an unchanged folder link, a new and a deleted file below its target",
			files{".claude/commands": "-> ../kit", "kit/a.md": advice},
			files{"kit/a.md": "", "kit/sub/b.md": laxer},
			`files kit/a.md kit/sub/b.md
			 SIDE .claude/commands/a.md: advice -> absent [deleted link:kit/a.md,none unlisted]
			 SIDE .claude/commands/sub/b.md: absent -> laxer [link:none,kit/sub/b.md unlisted]
			 record kit/a.md deleted 100644 -1 +0
			 record kit/sub/b.md new 100644 -0 +1`,
		},
		{
			"an unchanged folder link to the root",
			files{".claude/commands": "-> ..", "x.md": advice},
			files{"x.md": laxer},
			`files x.md
			 SIDE .claude/commands/x.md: advice -> laxer [link:x.md,x.md unlisted]
			 record x.md edited 100644 -1 +1`,
		},
		{
			"a folder link to what no pattern reads",
			files{".claude/skills": "-> ../kit", "kit/run.sh": "x\n"},
			files{"kit/run.sh": "y\n"},
			`files kit/run.sh
			 record kit/run.sh edited 100644 -1 +1`,
		},
		{
			"a folder becomes a link",
			files{".claude/skills/x/SKILL.md": advice, "kit/x/SKILL.md": laxer},
			files{".claude/skills": "-> ../kit"},
			`files .claude/skills .claude/skills/x/SKILL.md
			 SIDE .claude/skills/x/SKILL.md: advice -> absent [deleted]
			 issue input_symlink_or_external .claude/skills
			 link points .claude/skills
			 record .claude/skills new 120000 -0 +1
			 record .claude/skills/x/SKILL.md deleted 100644 -1 +0`,
		},
		{
			"a link becomes a folder",
			files{".claude/skills": "-> ../kit", "kit/x/SKILL.md": advice},
			files{".claude/skills": "", ".claude/skills/x/SKILL.md": laxer},
			`files .claude/skills .claude/skills/x/SKILL.md
			 SIDE .claude/skills/x/SKILL.md: absent -> laxer
			 issue input_symlink_or_external .claude/skills
			 link points .claude/skills
			 record .claude/skills deleted 120000 -1 +0
			 record .claude/skills/x/SKILL.md new 100644 -0 +1`,
		},
		{
			"a folder link is retargeted",
			files{".claude": "-> a", "a/settings.json": harmless, "b/settings.json": grant},
			files{".claude": "-> b"},
			`files .claude
			 issue input_symlink_or_external .claude
			 link points .claude
			 record .claude edited 120000 -1 +1`,
		},
		{
			"the second hop of a folder link is turned",
			files{".claude": "-> hop", "hop": "-> a", "a/settings.json": harmless, "b/settings.json": grant},
			files{"hop": "-> b"},
			`files hop
			 issue input_symlink_or_external .claude
			 link points .claude
			 record hop edited 120000 -1 +1`,
		},
		{
			"the second hop of a dangling folder link is turned outside",
			files{".claude": "-> hop", "hop": "-> nowhere"},
			files{"hop": "-> /opt/claude"},
			`files hop
			 issue input_symlink_or_external .claude
			 link points .claude
			 record hop edited 120000 -1 +1`,
		},
		{
			"any other folder becomes a link: its files are read where they are now",
			files{"sub/CLAUDE.md": advice, "kit/CLAUDE.md": laxer},
			files{"sub": "-> kit"},
			`files sub sub/CLAUDE.md
			 SIDE sub/CLAUDE.md: advice -> laxer [link:none,kit/CLAUDE.md]
			 record sub new 120000 -0 +1
			 record sub/CLAUDE.md deleted 100644 -1 +0`,
		},
		{
			"any other link becomes a folder",
			files{"sub": "-> kit", "kit/CLAUDE.md": advice},
			files{"sub": "", "sub/CLAUDE.md": laxer},
			`files sub sub/CLAUDE.md
			 SIDE sub/CLAUDE.md: advice -> laxer [link:kit/CLAUDE.md,none]
			 record sub deleted 120000 -1 +0
			 record sub/CLAUDE.md new 100644 -0 +1`,
		},
		{
			"any other folder becomes a link outside",
			files{"sub/CLAUDE.md": advice},
			files{"sub": "-> /opt"},
			`files sub sub/CLAUDE.md
			 SIDE sub/CLAUDE.md: advice -> (input_symlink_or_external)
			 issue input_symlink_or_external sub/CLAUDE.md
			 record sub new 120000 -0 +1
			 record sub/CLAUDE.md deleted 100644 -1 +0`,
		},
		{
			"a link point at any depth",
			files{"sub/.codex/config.toml": advice, "kit/config.toml": laxer},
			files{"sub/.codex": "-> ../kit"},
			`files sub/.codex sub/.codex/config.toml
			 SIDE sub/.codex/config.toml: advice -> absent [deleted]
			 issue input_symlink_or_external sub/.codex
			 link points sub/.codex
			 record sub/.codex new 120000 -0 +1
			 record sub/.codex/config.toml deleted 100644 -1 +0`,
		},
		{
			"an adapter path ends at a folder",
			files{"docs/x": "x\n"},
			files{"CLAUDE.md": "-> docs"},
			`files CLAUDE.md
			 SIDE CLAUDE.md: absent -> (input_symlink_or_external)
			 issue input_symlink_or_external CLAUDE.md
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"eight hops", chain(8, files{"CLAUDE.md": advice, "end.md": laxer}),
			files{"CLAUDE.md": "-> hop1"},
			`files CLAUDE.md
			 SIDE CLAUDE.md: advice -> laxer [link:none,end.md]
			 record CLAUDE.md deleted 100644 -1 +0
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a refused link becomes a file",
			files{"CLAUDE.md": "-> /etc/passwd"},
			files{"CLAUDE.md": advice},
			`files CLAUDE.md
			 SIDE CLAUDE.md: (input_symlink_or_external) -> (input_symlink_or_external)
			 issue input_symlink_or_external CLAUDE.md
			 record CLAUDE.md deleted 120000 -1 +0
			 record CLAUDE.md new 100644 -0 +1`,
		},
		{
			"a link with a trust-root class only is not read",
			files{"a.md": advice, "b.md": laxer, "prompts/x": "-> ../a.md", ".claude/agents/y.md": advice},
			files{"prompts/x": "-> ../b.md", ".claude/agents/y.md": "-> ../../b.md"},
			`files .claude/agents/y.md prompts/x
			 SIDE .claude/agents/y.md: "" -> ""
			 SIDE prompts/x: "" -> ""
			 record .claude/agents/y.md deleted 100644 -1 +0
			 record .claude/agents/y.md new 120000 -0 +1
			 record prompts/x edited 120000 -1 +1`,
		},
		{
			"a link to a file below a link point is read like any other",
			files{".cursor/rules/a.mdc": advice, "kit/a.mdc": laxer},
			files{".cursor/rules/a.mdc": "-> ../../kit/a.mdc"},
			`files .cursor/rules/a.mdc
			 SIDE .cursor/rules/a.mdc: advice -> laxer [link:none,kit/a.mdc]
			 record .cursor/rules/a.mdc deleted 100644 -1 +0
			 record .cursor/rules/a.mdc new 120000 -0 +1`,
		},
		{
			"a linked manifest",
			files{"m.yaml": advice, "shipgate.yaml": advice},
			files{"shipgate.yaml": "-> m.yaml"},
			`files shipgate.yaml
			 SIDE shipgate.yaml: advice -> (input_symlink_or_external) [manifest]
			 issue input_symlink_or_external shipgate.yaml
			 record shipgate.yaml deleted 100644 -1 +0
			 record shipgate.yaml new 120000 -0 +1`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, row.base)
			for p, text := range row.next {
				if text == "" {
					r.remove(p)
				}
			}
			for p, text := range row.next {
				if text != "" {
					r.write(files{p: text})
				}
			}
			r.git("add", "-A", "-f")
			expect(t, r.input(), strings.ReplaceAll(row.want, "SIDE", "disk"))
			r.git("commit", "-q", "-m", "next")
			expect(t, r.input(refs("HEAD~1", "HEAD")), strings.ReplaceAll(row.want, "SIDE", "range"))
		})
	}
}

// Each of these links is refused, or leads nowhere: nobody can say what a host
// would read.
func TestLinksThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	texts := map[string]string{ // by a folder of the same name, one below the root
		"absolute":                 "-> /CLAUDE.md",
		"above the root":           "-> ../../x",
		"above the root and back":  "-> ../../repo/x.md",
		"into the git folder":      "-> ../.git/HEAD",
		"the same in capitals":     "-> ../.GIT/HEAD",
		"dangling":                 "-> docs/none.md",
		"a file where a folder is": "-> ../x.md/y",
		"a file with a slash":      "-> ../x.md/",
		"a folder":                 "-> ../docs",
		"itself":                   "-> CLAUDE.md",
		"a backslash":              `-> ..\x.md`,
		"a name that is no UTF-8":  "-> ../\xe9",
		"nine hops":                "-> ../hop1",
		"longer than 4096 bytes":   "-> " + strings.Repeat("./", 2047) + "../x.md",
	}
	base, next := chain(9, files{"end.md": advice, "x.md": advice, "docs/x.md": advice, "\xe9": advice, "..\\x.md": advice}), files{}
	for dir, text := range texts {
		base[dir+"/CLAUDE.md"], next[dir+"/CLAUDE.md"] = advice, text
	}
	r := newRepo(t, base)
	long := "longer than 4096 bytes/CLAUDE.md"
	text := next[long]
	delete(next, long)
	r.write(next)
	check := func(in *gate.Input, token surface.Token, paths files) {
		t.Helper()
		for p := range paths {
			c := change(t, in, p, token)
			if c.Link != nil || c.New.Unresolved != "boundary_input_symlink_or_external" || string(c.Old.Bytes) != advice {
				t.Errorf("%s: %s -> %s %s", p, side(c.Old), side(c.New), marks(c))
			}
		}
	}
	check(r.input(), surface.GitWorktree, next)
	r.git("add", "-A")
	// No file system takes a link so long, but a tree does.
	r.write(files{"text": strings.TrimPrefix(text, "-> ")})
	r.git("update-index", "--cacheinfo", "120000,"+r.git("hash-object", "-w", "text")+","+long)
	r.git("commit", "-q", "-m", "next")
	next[long] = text
	check(r.input(refs("HEAD~1", "HEAD")), surface.GitRange, next)
}

const refusedLink = `files CLAUDE.md
	SIDE CLAUDE.md: advice -> (input_symlink_or_external)
	issue input_symlink_or_external CLAUDE.md
	record CLAUDE.md deleted 100644 -1 +0
	record CLAUDE.md new 120000 -0 +1`

// chain adds links of which the first needs n-1 hops to end.md.
func chain(n int, list files) files {
	for i := 1; i < n; i++ {
		target := "end.md"
		if i+1 < n {
			target = "hop" + string(rune('1'+i))
		}
		list["hop"+string(rune('0'+i))] = "-> " + target
	}
	return list
}

// On disk a link may lead to what no tree has; the two after-states follow it
// each in its own entries.
func TestLinksOfTheWorkingTree(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		base files
		do   func(r *repo)
		want string
	}{
		{
			"to an ignored file",
			files{"CLAUDE.md": advice, ".gitignore": "private.md\n"},
			func(r *repo) { r.write(files{"private.md": laxer, "CLAUDE.md": "-> private.md"}) },
			`files CLAUDE.md
			 disk CLAUDE.md: advice -> laxer [link:none,private.md]
			 record CLAUDE.md deleted 100644 -1 +0
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"its target is staged in one form and lies on disk in another",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice},
			func(r *repo) { r.stage(files{"docs/a.md": laxer}); r.write(files{"docs/a.md": "on disk\n"}) },
			`files docs/a.md
			 disk CLAUDE.md: advice -> "on disk\n" [link:docs/a.md,docs/a.md unlisted]
			 index CLAUDE.md: advice -> laxer [link:docs/a.md,docs/a.md unlisted]
			 record docs/a.md edited 100644 -1 +1
			 staged docs/a.md edited 100644 -1 +1`,
		},
		{
			"its target is staged and restored on disk",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice},
			func(r *repo) { r.stage(files{"docs/a.md": laxer}); r.write(files{"docs/a.md": advice}) },
			`files docs/a.md
			 index CLAUDE.md: advice -> laxer [link:docs/a.md,docs/a.md unlisted]
			 staged docs/a.md edited 100644 -1 +1`,
		},
		{
			"a staged link to a file with an unstaged edit",
			files{"CLAUDE.md": advice, "docs/a.md": advice, "docs/b.md": advice},
			func(r *repo) {
				r.stage(files{"CLAUDE.md": "-> docs/a.md"})
				r.write(files{"CLAUDE.md": "-> docs/b.md", "docs/a.md": laxer})
			},
			`files CLAUDE.md docs/a.md
			 disk CLAUDE.md: advice -> advice [link:none,docs/b.md]
			 index CLAUDE.md: advice -> advice [link:none,docs/a.md]
			 record CLAUDE.md deleted 100644 -1 +0
			 record CLAUDE.md new 120000 -0 +1
			 record docs/a.md edited 100644 -1 +1
			 staged CLAUDE.md deleted 100644 -1 +0
			 staged CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a staged link to an intended addition, which no commit takes",
			files{"CLAUDE.md": advice},
			func(r *repo) {
				r.write(files{"docs/a.md": laxer})
				r.git("add", "-N", "docs/a.md")
				r.stage(files{"CLAUDE.md": "-> docs/a.md"})
				r.write(files{"CLAUDE.md": advice})
			},
			`files CLAUDE.md docs/a.md
			 index CLAUDE.md: advice -> (input_symlink_or_external)
			 issue input_symlink_or_external CLAUDE.md
			 record docs/a.md new 100644 -0 +1
			 staged CLAUDE.md deleted 100644 -1 +0
			 staged CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a hard link as target",
			files{"CLAUDE.md": advice, "docs/a.md": laxer},
			func(r *repo) { link(r, "docs/a.md", "second"); r.write(files{"CLAUDE.md": "-> docs/a.md"}) },
			`files CLAUDE.md
			 disk CLAUDE.md: advice -> (input_symlink_or_external) [link:none,docs/a.md]
			 issue input_symlink_or_external CLAUDE.md
			 record CLAUDE.md deleted 100644 -1 +0
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"an assume-unchanged link is turned",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice, "docs/b.md": laxer},
			func(r *repo) {
				r.git("update-index", "--assume-unchanged", "CLAUDE.md")
				r.write(files{"CLAUDE.md": "-> docs/b.md"})
			},
			`files CLAUDE.md
			 disk CLAUDE.md: advice -> laxer [link:docs/a.md,docs/b.md]
			 record CLAUDE.md edited 120000 -1 +1`,
		},
		{
			"an untracked link takes the place of a folder",
			files{"sub/CLAUDE.md": advice, "kit/CLAUDE.md": laxer},
			func(r *repo) { r.write(files{"sub": "-> kit"}) },
			`files sub/CLAUDE.md
			 disk sub/CLAUDE.md: advice -> laxer [link:none,kit/CLAUDE.md]
			 record sub/CLAUDE.md deleted 100644 -1 +0`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, row.base)
			row.do(r)
			expect(t, r.input(), row.want)
		})
	}
	t.Run("a target that only the checkout has is dangling in a range", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"CLAUDE.md": advice, ".gitignore": "private.md\n"})
		r.commit(files{"CLAUDE.md": "-> private.md"})
		r.write(files{".git/info/exclude": "private.md\n", "private.md": laxer})
		expect(t, r.input(refs("HEAD~1", "HEAD")), strings.ReplaceAll(refusedLink, "SIDE", "range"))
	})
	t.Run("a workspace behind a link", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless, "sub/shipgate.yaml": manifest("a.json")})
		r.write(files{settings: grant, "elsewhere": "-> sub"})
		way := filepath.Join(t.TempDir(), "way")
		symlink(t, r.at("sub"), way)
		for name, dir := range map[string]string{"outside": way, "inside": r.at("elsewhere")} {
			in := r.input(workspace(dir))
			change(t, in, settings, "git_worktree")
			if in.Workspace != dir || in.Manifest.Path != "sub/shipgate.yaml" || !in.Manifest.Present {
				t.Errorf("a link %s: workspace %s, manifest %+v", name, in.Workspace, in.Manifest)
			}
		}
	})
	t.Run("a link into another repository is a workspace of that one", func(t *testing.T) {
		t.Parallel()
		r, other := newRepo(t, files{"a": "b\n"}), newRepo(t, files{settings: harmless, "sub/x": "y\n"})
		other.write(files{settings: grant})
		symlink(t, other.at("sub"), r.at("way"))
		change(t, other.input(workspace(r.at("way"))), settings, "git_worktree")
	})
}
