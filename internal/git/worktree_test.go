package git_test

import (
	"os"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
)

// Every row of the table of after-states in docs/spec/boundary.md §2.2 (ruling
// R1): what the working tree and the index hold against HEAD, each by itself.
func TestWhatTheTwoAfterStatesAre(t *testing.T) {
	t.Parallel()
	base := files{settings: harmless, "notes.txt": "one\n"}
	bare := files{"notes.txt": "one\n"}
	for _, row := range []struct {
		name string
		base files
		do   func(r *repo)
		want string
	}{
		{
			"nothing is touched", base,
			func(*repo) {},
			`files`,
		},
		{
			"an unstaged edit is the disk's", base,
			func(r *repo) { r.write(files{settings: grant}) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> grant
			 record .claude/settings.json edited 100644 -1 +1`,
		},
		{
			"a staged edit is in both, and told once", base,
			func(r *repo) { r.stage(files{settings: grant}) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> grant
			 record .claude/settings.json edited 100644 -1 +1`,
		},
		{
			"staged and edited again (MM): two after-states", base,
			func(r *repo) { r.stage(files{settings: grant}); r.write(files{settings: wider}) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> wider
			 index .claude/settings.json: harmless -> grant
			 record .claude/settings.json edited 100644 -1 +1
			 staged .claude/settings.json edited 100644 -1 +1`,
		},
		{
			"staged, then restored on disk: only the next commit has it", base,
			func(r *repo) { r.stage(files{settings: grant}); r.write(files{settings: harmless}) },
			`files .claude/settings.json
			 index .claude/settings.json: harmless -> grant
			 staged .claude/settings.json edited 100644 -1 +1`,
		},
		{
			"new in the index, other on disk (AM)", bare,
			func(r *repo) { r.stage(files{settings: grant}); r.write(files{settings: harmless}) },
			`files .claude/settings.json
			 disk .claude/settings.json: absent -> harmless
			 index .claude/settings.json: absent -> grant
			 record .claude/settings.json new 100644 -0 +1
			 staged .claude/settings.json new 100644 -0 +1`,
		},
		{
			"new in the index, gone from disk with its folder (AD)", bare,
			func(r *repo) { r.stage(files{settings: grant}); r.remove(".claude") },
			`files .claude/settings.json
			 index .claude/settings.json: absent -> grant
			 staged .claude/settings.json new 100644 -0 +1`,
		},
		{
			"edited in the index, gone from disk (MD)", base,
			func(r *repo) { r.stage(files{settings: grant}); r.remove(settings) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> absent [deleted]
			 index .claude/settings.json: harmless -> grant
			 record .claude/settings.json deleted 100644 -1 +0
			 staged .claude/settings.json edited 100644 -1 +1`,
		},
		{
			"edited in the index, a link to another folder on disk", base,
			func(r *repo) {
				r.stage(files{settings: grant})
				r.remove(".claude")
				r.write(files{".claude": "-> kit", "kit/settings.json": harmless})
			},
			`files .claude .claude/settings.json
			 disk .claude/settings.json: harmless -> absent [deleted]
			 index .claude/settings.json: harmless -> grant
			 issue input_symlink_or_external .claude
			 link points .claude
			 record .claude/settings.json deleted 100644 -1 +0
			 record .claude new 120000 -0 +1
			 staged .claude/settings.json edited 100644 -1 +1`,
		},
		{
			"an unstaged deletion", base,
			func(r *repo) { r.remove(settings) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> absent [deleted]
			 record .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"a deletion that is staged in full", base,
			func(r *repo) { r.git("rm", "-q", settings) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> absent [deleted]
			 record .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"rm --cached keeps the host's file; the next commit drops it", base,
			func(r *repo) { r.git("rm", "-q", "--cached", settings) },
			`files .claude/settings.json
			 index .claude/settings.json: harmless -> absent [deleted]
			 staged .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"rm --cached and edited", base,
			func(r *repo) { r.git("rm", "-q", "--cached", settings); r.write(files{settings: grant}) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> grant
			 index .claude/settings.json: harmless -> absent [deleted]
			 record .claude/settings.json edited 100644 -1 +1
			 staged .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"rm --cached, edited and ignored", base,
			func(r *repo) {
				r.git("rm", "-q", "--cached", settings)
				r.write(files{settings: grant, ".git/info/exclude": ".claude\n"})
			},
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> grant
			 index .claude/settings.json: harmless -> absent [deleted]
			 record .claude/settings.json edited 100644 -1 +1
			 staged .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"rm --cached of any other file: its record is that of the disk", base,
			func(r *repo) { r.git("rm", "-q", "--cached", "notes.txt"); r.write(files{"notes.txt": "two\nthree\n"}) },
			`files notes.txt
			 record notes.txt edited 100644 -1 +2
			 staged notes.txt deleted 100644 -1 +0`,
		},
		{
			"an intended addition is on disk and in no commit", bare,
			func(r *repo) { r.write(files{settings: grant}); r.git("add", "-N", settings) },
			`files .claude/settings.json
			 disk .claude/settings.json: absent -> grant
			 record .claude/settings.json new 100644 -0 +1`,
		},
		{
			"an intended addition that is gone again is no change", bare,
			func(r *repo) { r.write(files{settings: grant}); r.git("add", "-N", settings); r.remove(settings) },
			`files .claude/settings.json`,
		},
		{
			"an intended addition over a path of HEAD (DA)", base,
			func(r *repo) {
				r.git("rm", "-q", "--cached", settings)
				r.git("add", "-N", settings)
				r.write(files{settings: grant})
			},
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> grant
			 index .claude/settings.json: harmless -> absent [deleted]
			 record .claude/settings.json edited 100644 -1 +1
			 staged .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"an intended addition over a path of HEAD that is gone from disk again (DD)", base,
			func(r *repo) {
				r.git("rm", "-q", "--cached", settings)
				r.git("add", "-N", settings)
				r.remove(settings)
			},
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> absent [deleted]
			 record .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"a rename is a deletion and an addition, by path",
			files{"docs/settings.json": grant},
			func(r *repo) { r.mkdir(".claude"); r.git("mv", "docs/settings.json", settings) },
			`files .claude/settings.json docs/settings.json
			 disk .claude/settings.json: absent -> grant
			 record .claude/settings.json renamed from docs/settings.json 100644`,
		},
		{
			"a rename out of the boundary", base,
			func(r *repo) { r.mkdir("docs"); r.git("mv", settings, "docs/settings.json") },
			`files .claude/settings.json docs/settings.json
			 disk .claude/settings.json: harmless -> absent [deleted]
			 issue rename_out_requires_review .claude/settings.json
			 record docs/settings.json renamed from .claude/settings.json 100644`,
		},
		{
			"a rename that git sees where rm --cached kept the file: each name has its record",
			files{"prompts/a.md": strings.Repeat("tool\n", 20)},
			func(r *repo) {
				r.git("rm", "-q", "--cached", "prompts/a.md")
				r.stage(files{"tools.py": strings.Repeat("tool\n", 20)})
			},
			`files prompts/a.md tools.py
			 index prompts/a.md: "" -> absent [deleted]
			 record tools.py new 100644 -0 +20
			 staged prompts/a.md deleted 100644 -20 +0`,
		},
		{
			"a file becomes a link",
			files{"CLAUDE.md": advice, "docs/rules.md": laxer},
			func(r *repo) { r.write(files{"CLAUDE.md": "-> docs/rules.md"}) },
			`files CLAUDE.md
			 disk CLAUDE.md: advice -> laxer [link:none,docs/rules.md]
			 record CLAUDE.md deleted 100644 -1 +0
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a link becomes a file",
			files{"CLAUDE.md": "-> docs/rules.md", "docs/rules.md": advice},
			func(r *repo) { r.stage(files{"CLAUDE.md": laxer}) },
			`files CLAUDE.md
			 disk CLAUDE.md: advice -> laxer [link:docs/rules.md,none]
			 record CLAUDE.md deleted 120000 -1 +0
			 record CLAUDE.md new 100644 -0 +1`,
		},
		{
			"a link in the index, a file on disk",
			files{"CLAUDE.md": advice, "docs/rules.md": laxer},
			func(r *repo) { r.stage(files{"CLAUDE.md": "-> docs/rules.md"}); r.write(files{"CLAUDE.md": advice}) },
			`files CLAUDE.md
			 index CLAUDE.md: advice -> laxer [link:none,docs/rules.md]
			 staged CLAUDE.md deleted 100644 -1 +0
			 staged CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a folder takes the place of a file",
			files{"CLAUDE.md": advice},
			func(r *repo) { r.remove("CLAUDE.md"); r.write(files{"CLAUDE.md/x.txt": "x\n"}) },
			`files CLAUDE.md
			 disk CLAUDE.md: advice -> absent [deleted]
			 record CLAUDE.md deleted 100644 -1 +0`,
		},
		{
			"a staged change of the mode alone", base,
			func(r *repo) { r.git("update-index", "--chmod=+x", settings) },
			`files .claude/settings.json
			 disk .claude/settings.json: harmless -> harmless [mode-only]
			 record .claude/settings.json edited 100644..100755`,
		},
		{
			"the mode on disk is no change", base,
			func(r *repo) {
				if err := os.Chmod(r.at(settings), 0o755); err != nil {
					r.t.Fatal(err)
				}
			},
			`files`,
		},
		{
			"a new time stamp is no change", base,
			func(r *repo) { r.write(files{settings: harmless, "notes.txt": "one\n"}) },
			`files`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, row.base)
			row.do(r)
			expect(t, r.input(), row.want)
		})
	}
}

// A line costs memory of its own, however short: a file of empty lines is over
// the bound long before its bytes are.
func TestAChangeOfTooManyLinesIsNotRead(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"notes.txt": advice})
	r.write(files{"notes.txt": strings.Repeat("\n", 2_600_000)})
	_ = failed(t, r, gate.GitFailed)
}
