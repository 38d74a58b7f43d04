package git_test

import (
	"strings"
	"testing"
)

// A gitlink is never entered; at a link point it stands for a folder that
// nobody can read.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	kit := newRepo(t, files{"x/SKILL.md": advice})
	id := kit.git("rev-parse", "HEAD")
	add := func(r *repo, p, id string) { r.git("update-index", "--add", "--cacheinfo", "160000,"+id+","+p) }
	other := strings.Repeat("1", 40)
	base := files{"a.txt": "x\n", ".gitmodules": "[submodule \"s\"]\n\tpath = s\n\turl = x\n\tignore = all\n"}
	for _, row := range []struct {
		name string
		base func(r *repo)
		next func(r *repo)
		want string
	}{
		{
			"moved elsewhere, although ignored",
			func(r *repo) { add(r, "s", id) },
			func(r *repo) { add(r, "s", other) },
			`files s
			 record s edited 160000 -1 +1`,
		},
		{
			"added at a link point",
			func(*repo) {},
			func(r *repo) { add(r, ".claude/skills", id) },
			`files .claude/skills
			 issue input_symlink_or_external .claude/skills
			 link points .claude/skills
			 record .claude/skills new 160000 -0 +1`,
		},
		{
			"moved at a link point",
			func(r *repo) { add(r, ".claude/skills", id) },
			func(r *repo) { add(r, ".claude/skills", other) },
			`files .claude/skills
			 issue input_symlink_or_external .claude/skills
			 link points .claude/skills
			 record .claude/skills edited 160000 -1 +1`,
		},
		{
			"at an adapter path",
			func(*repo) {},
			func(r *repo) { add(r, "CLAUDE.md", id) },
			`files CLAUDE.md
			 range CLAUDE.md: absent -> (input_symlink_or_external)
			 issue input_symlink_or_external CLAUDE.md
			 record CLAUDE.md new 160000 -0 +1`,
		},
		{
			"a link into one",
			func(r *repo) { add(r, "s", id) },
			func(r *repo) { r.stage(files{"CLAUDE.md": "-> s/x/SKILL.md"}) },
			`files CLAUDE.md
			 range CLAUDE.md: absent -> (input_symlink_or_external)
			 issue input_symlink_or_external CLAUDE.md
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"untouched",
			func(r *repo) { add(r, ".claude/skills", id) },
			func(r *repo) { r.stage(files{"a.txt": "y\n"}) },
			`files a.txt
			 record a.txt edited 100644 -1 +1`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			row.base(r)
			r.git("commit", "-q", "--allow-empty", "-m", "base")
			row.next(r)
			r.git("commit", "-q", "-m", "next")
			expect(t, r.input(refs("HEAD~1", "HEAD")), row.want)
		})
	}
	t.Run("a dirty one is no change and is not entered", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		copyTree(t, kit.root, r.at("s"))
		add(r, "s", id)
		r.git("commit", "-q", "-m", "base")
		sub := &repo{t: t, root: r.at("s")}
		// No setting reaches the drivers of another repository.
		sub.git("config", "filter.evil.clean", "touch "+r.at("ran")+"; cat")
		sub.write(files{".git/info/attributes": "* filter=evil\n", "x/SKILL.md": strings.ToUpper(advice), "CLAUDE.md": advice})
		expect(t, r.input(), `files`)
		sub.commit(files{"y": "y\n"})
		r.remove("ran")
		expect(t, r.input(), `
			files s
			record s edited 160000 -1 +1`)
	})
	t.Run("a link into a nested repository on disk", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		copyTree(t, kit.root, r.at("vendor"))
		r.write(files{"CLAUDE.md": "-> vendor/x/SKILL.md"})
		expect(t, r.input(), `
			files CLAUDE.md
			disk CLAUDE.md: absent -> (input_symlink_or_external)
			issue input_symlink_or_external CLAUDE.md
			record CLAUDE.md new 120000 -0 +1`)
	})
}
