package git_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
)

// plain is a workspace for supplied diffs, where no git runs.
func plain(t testing.TB, list files) *repo {
	t.Helper()
	r := &repo{t: t, root: filepath.Join(t.TempDir(), "repo")}
	r.mkdir(".git")
	r.write(list)
	return r
}

// patch is a record that puts a text in the place of another; "" is no file.
func patch(p, before, after string) string {
	head := fmt.Sprintf("diff --git a/%s b/%s\n", p, p)
	from, to := "a/"+p, "b/"+p
	switch {
	case before == "":
		head, from = head+"new file mode 100644\n", "/dev/null"
	case after == "":
		head, to = head+"deleted file mode 100644\n", "/dev/null"
	}
	lines := func(op, text string) (string, int) {
		if text == "" {
			return "", 0
		}
		list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		return op + strings.Join(list, "\n"+op) + "\n", len(list)
	}
	minus, olds := lines("-", before)
	plus, news := lines("+", after)
	return head + fmt.Sprintf("--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", from, to, min(1, olds), olds, min(1, news), news) + minus + plus
}

// Both sides of a record are rebuilt with the help of the workspace, and a
// token says how (docs/spec/boundary.md §3.3). Nothing is run.
func TestASuppliedDiffIsRebuilt(t *testing.T) {
	t.Parallel()
	rename := "diff --git a/docs/a.json b/" + settings + "\nsimilarity index 100%\nrename from docs/a.json\nrename to " + settings + "\n"
	for _, row := range []struct {
		name  string
		holds files
		diff  string
		want  string
	}{
		{
			"a new file", nil, patch(settings, "", grant),
			`files .claude/settings.json
			 diff_new_file .claude/settings.json: absent -> grant
			 record .claude/settings.json new 100644 -0 +1`,
		},
		{
			"a new file that is there already",
			files{settings: grant},
			patch(settings, "", grant),
			`files .claude/settings.json
			 diff_new_file .claude/settings.json: absent -> grant
			 record .claude/settings.json new 100644 -0 +1`,
		},
		{
			"a new file over another",
			files{settings: harmless},
			patch(settings, "", grant),
			`files .claude/settings.json
			 new_file_workspace_mismatch .claude/settings.json: absent -> (new_file_workspace_mismatch)
			 record .claude/settings.json new 100644 -0 +1`,
		},
		{
			"a deleted file", nil, patch(settings, harmless, ""),
			`files .claude/settings.json
			 diff_deleted_file .claude/settings.json: harmless -> absent [deleted]
			 record .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"a deleted file that holds something else",
			files{settings: grant},
			patch(settings, harmless, ""),
			`files .claude/settings.json
			 deleted_file_workspace_mismatch .claude/settings.json: "" -> (deleted_file_workspace_mismatch) [deleted]
			 record .claude/settings.json deleted 100644 -1 +0`,
		},
		{
			"an edit of the workspace",
			files{settings: harmless},
			patch(settings, harmless, grant),
			`files .claude/settings.json
			 diff_applied_to_workspace_base .claude/settings.json: harmless -> grant
			 record .claude/settings.json edited .. -1 +1`,
		},
		{
			"an edit that the workspace has",
			files{settings: grant},
			patch(settings, harmless, grant),
			`files .claude/settings.json
			 workspace_already_contains_diff_head .claude/settings.json: harmless -> grant
			 record .claude/settings.json edited .. -1 +1`,
		},
		{
			"an edit of another text",
			files{settings: wider},
			patch(settings, harmless, grant),
			`files .claude/settings.json
			 diff_workspace_mismatch .claude/settings.json: "" -> (diff_workspace_mismatch)
			 record .claude/settings.json edited .. -1 +1`,
		},
		{
			"an edit of a file that is not there", nil, patch(settings, harmless, grant),
			`files .claude/settings.json
			 workspace_file_missing .claude/settings.json: "" -> (workspace_file_missing)
			 record .claude/settings.json edited .. -1 +1`,
		},
		{
			"renamed into the boundary",
			files{settings: grant},
			rename,
			`files .claude/settings.json docs/a.json
			 workspace_renamed_file .claude/settings.json: absent -> grant
			 record .claude/settings.json renamed from docs/a.json ..`,
		},
		{
			"renamed into the boundary, and not in the workspace", nil, rename,
			`files .claude/settings.json docs/a.json
			 renamed_file_unresolved .claude/settings.json: "" -> (renamed_file_unresolved)
			 issue rename_target_unresolved .claude/settings.json
			 record .claude/settings.json renamed from docs/a.json ..`,
		},
		{
			"renamed out of the boundary, the file still here",
			files{"AGENTS.md": advice},
			"diff --git a/AGENTS.md b/x.md\nsimilarity index 100%\nrename from AGENTS.md\nrename to x.md\n",
			`files AGENTS.md x.md
			 diff_deleted_file AGENTS.md: advice -> absent [deleted]
			 issue rename_out_requires_review AGENTS.md
			 record x.md renamed from AGENTS.md ..`,
		},
		{
			"renamed out of the boundary, the file gone", nil,
			"diff --git a/AGENTS.md b/x.md\nsimilarity index 100%\nrename from AGENTS.md\nrename to x.md\n",
			`files AGENTS.md x.md
			 renamed_file_unresolved AGENTS.md: (renamed_file_unresolved) -> absent [deleted]
			 issue rename_out_requires_review AGENTS.md
			 record x.md renamed from AGENTS.md ..`,
		},
		{
			"a mode alone shows no content",
			files{settings: harmless},
			"diff --git a/" + settings + " b/" + settings + "\nold mode 100644\nnew mode 100755\n",
			`files .claude/settings.json
			 diff_workspace_mismatch .claude/settings.json: "" -> (diff_workspace_mismatch)
			 issue diff_content_missing .claude/settings.json
			 record .claude/settings.json edited 100644..100755`,
		},
		{
			"lines that are not UTF-8", nil, patch("AGENTS.md", "", "caf\xe9\n") + patch("legacy.c", "", "caf\xe9\n"),
			`files AGENTS.md legacy.c
			 diff_new_file AGENTS.md: absent -> (input_non_utf8)
			 issue input_non_utf8 AGENTS.md
			 record AGENTS.md new 100644 -0 +1
			 record legacy.c new 100644 -0 +1`,
		},
		{
			"a path that rules do not read", nil, patch("prompts/x", "one\n", "two\n"),
			`files prompts/x
			 prompts/x: "" -> ""
			 record prompts/x edited .. -1 +1`,
		},
		{
			"a path that leaves the workspace", nil, patch(".claude/../AGENTS.md", advice, laxer),
			`files .claude/../AGENTS.md
			 path_outside_workspace .claude/../AGENTS.md: "" -> (path_outside_workspace)
			 issue diff_path_invalid .claude/../AGENTS.md
			 record .claude/../AGENTS.md edited .. -1 +1`,
		},
		{
			"two records of one path",
			files{settings: harmless},
			patch(settings, harmless, grant) + patch(settings, harmless, grant),
			`files .claude/settings.json
			 diff_applied_to_workspace_base .claude/settings.json: harmless -> grant
			 diff_applied_to_workspace_base .claude/settings.json: harmless -> grant
			 issue diff_shape_invalid <diff>
			 record .claude/settings.json edited .. -1 +1
			 record .claude/settings.json edited .. -1 +1`,
		},
		{
			"no diff at all", nil, "This is prose.\n",
			`files
			 issue diff_unparseable <diff>`,
		},
		{"an empty diff", nil, "", `files`},
		{
			"a hard link in the workspace",
			files{"x": harmless},
			patch(settings, harmless, grant),
			`files .claude/settings.json
			 workspace_read_failed .claude/settings.json: "" -> (workspace_read_failed)
			 record .claude/settings.json edited .. -1 +1`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := plain(t, row.holds)
			if strings.Contains(row.name, "hard link") {
				r.mkdir(".claude")
				link(r, "x", settings)
			}
			in := r.input(supplied(row.diff), func(q *requestOf) { q.Environ = nil })
			expect(t, in, row.want)
			if string(in.Text) != row.diff {
				t.Errorf("text %q", in.Text)
			}
		})
	}
}

// A supplied diff has no tree to follow a link in: whatever links have to do
// with it is incomplete (§2.7).
func TestLinksOfASuppliedDiff(t *testing.T) {
	t.Parallel()
	linkRecord := func(p string) string {
		return strings.Replace(patch(p, "", "docs/a.md\n"), "100644", "120000", 1)
	}
	for _, row := range []struct {
		name  string
		holds files
		diff  string
		want  string
	}{
		{
			"a record adds a link", nil, linkRecord("CLAUDE.md"),
			`files CLAUDE.md
			 diff_new_file CLAUDE.md: absent -> (input_symlink_or_external)
			 issue input_symlink_or_external CLAUDE.md
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a record adds a link at a link point", nil, linkRecord(".claude"),
			`files .claude
			 .claude: absent -> ""
			 issue input_symlink_or_external .claude
			 link points .claude
			 record .claude new 120000 -0 +1`,
		},
		{
			"a record adds a link elsewhere", nil, linkRecord("src/x"),
			`files src/x
			 record src/x new 120000 -0 +1`,
		},
		{
			"the workspace has a link at the path",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice},
			patch("CLAUDE.md", advice, laxer),
			`files CLAUDE.md
			 workspace_read_failed CLAUDE.md: "" -> (input_symlink_or_external)
			 issue input_symlink_or_external CLAUDE.md
			 record CLAUDE.md edited .. -1 +1`,
		},
		{
			"the workspace has a link above the path",
			files{".claude": "-> kit", "kit/settings.json": harmless},
			patch(settings, harmless, grant),
			`files .claude/settings.json
			 workspace_read_failed .claude/settings.json: "" -> (input_symlink_or_external)
			 issue input_symlink_or_external .claude/settings.json
			 record .claude/settings.json edited .. -1 +1`,
		},
		{
			"a link at a fixed name ends at the path",
			files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice},
			patch("docs/a.md", advice, laxer),
			`files docs/a.md
			 issue input_symlink_or_external CLAUDE.md
			 record docs/a.md edited .. -1 +1`,
		},
		{
			"one in a parent folder of the path",
			files{"docs/AGENTS.md": "-> sub/a.md", "docs/sub/a.md": advice},
			patch("docs/sub/a.md", advice, laxer),
			`files docs/sub/a.md
			 issue input_symlink_or_external docs/AGENTS.md
			 record docs/sub/a.md edited .. -1 +1`,
		},
		{
			"one that will end at a new file",
			files{"AGENTS.md": "-> docs/a.md"},
			patch("docs/a.md", "", laxer),
			`files docs/a.md
			 issue input_symlink_or_external AGENTS.md
			 record docs/a.md new 100644 -0 +1`,
		},
		{
			"a link that passes through the path",
			files{"CLAUDE.md": "-> hop", "hop": "-> docs/a.md", "docs/a.md": advice},
			strings.Replace(patch("hop", "docs/a.md\n", "docs/b.md\n"), "--- ", "index 1..2 120000\n--- ", 1),
			`files hop
			 issue input_symlink_or_external CLAUDE.md
			 record hop edited 120000 -1 +1`,
		},
		{
			"a folder link above the path",
			files{".claude/skills": "-> ../kit", "kit/x/SKILL.md": advice},
			patch("kit/x/run.sh", "", laxer),
			`files kit/x/run.sh
			 issue input_symlink_or_external .claude/skills
			 link points .claude/skills
			 record kit/x/run.sh new 100644 -0 +1`,
		},
		{
			"a folder link below a link point",
			files{".claude/skills/pack": "-> ../../kit", "kit/x/SKILL.md": advice},
			patch("kit/x/run.sh", "", laxer),
			`files kit/x/run.sh
			 issue input_symlink_or_external .claude/skills/pack
			 link points .claude/skills/pack
			 record kit/x/run.sh new 100644 -0 +1`,
		},
		{
			"a folder link to the root",
			files{".cursor/rules": "-> ../"},
			patch("x.txt", "", laxer),
			`files x.txt
			 issue input_symlink_or_external .cursor/rules
			 link points .cursor/rules
			 record x.txt new 100644 -0 +1`,
		},
		{
			"workflows of a parent folder",
			files{"sub/.github": "-> ../kit", "kit/workflows/a.yml": advice},
			patch("sub/x.txt", "", laxer) + patch("kit/workflows/a.yml", advice, laxer),
			`files kit/workflows/a.yml sub/x.txt
			 issue input_symlink_or_external sub/.github
			 link points sub/.github
			 record sub/x.txt new 100644 -0 +1
			 record kit/workflows/a.yml edited .. -1 +1`,
		},
		{
			"a linked policy",
			files{"policies/host-boundary.shipgate.yaml": "-> ../p.yaml", "p.yaml": advice},
			patch("p.yaml", advice, laxer),
			`files p.yaml
			 issue input_symlink_or_external policies/host-boundary.shipgate.yaml
			 record p.yaml edited .. -1 +1`,
		},
		{
			"links that have nothing to do with it",
			files{"CLAUDE.md": "-> docs/a.md", ".claude": "-> kit", "AGENTS.md": "-> /etc/passwd"},
			patch("src/x.go", "", laxer),
			`files src/x.go
			 record src/x.go new 100644 -0 +1`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := plain(t, row.holds)
			expect(t, r.input(supplied(row.diff)), row.want)
		})
	}
}

// The diff itself is one plain file, or standard input, of at most 32 MiB.
func TestWhereASuppliedDiffComesFrom(t *testing.T) {
	t.Parallel()
	r := plain(t, files{"a.diff": patch("x", "", "y\n"), "linked.diff": "-> a.diff", "sub/b.diff": "\xe9\xff\n" + patch("x", "", "y\n"), "way": "-> sub"})
	r.write(files{"once.diff": "x\n"})
	link(r, "once.diff", "twice.diff")
	outside := filepath.Join(t.TempDir(), "o.diff")
	if err := os.WriteFile(outside, []byte(patch("x", "", "y\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	outsideLink := filepath.Join(t.TempDir(), "l.diff")
	symlink(t, outside, outsideLink)
	file := func(p string) func(*requestOf) { return func(q *requestOf) { q.Diff = &git.Supplied{Path: p} } }
	for given, want := range map[string]gate.Failure{
		"a.diff": "", "sub/b.diff": "", outside: "", r.at("a.diff"): "",
		"none.diff": gate.DiffMissing, "none/a.diff": gate.DiffMissing, "a.diff/x": gate.DiffMissing,
		"linked.diff": gate.DiffLinked, "twice.diff": gate.DiffLinked, "sub": gate.DiffLinked, "way/b.diff": gate.DiffLinked,
		outsideLink: gate.DiffLinked,
	} {
		in, err := r.acquire(file(given))
		e, _ := errors.AsType[*git.InputError](err)
		switch {
		case want == "" && (err != nil || len(in.Records) != 1):
			t.Errorf("%s: %v", given, err)
		case want != "" && (e == nil || e.Failure != want):
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
	t.Run("over 32 MiB", func(t *testing.T) {
		t.Parallel()
		large := plain(t, files{"large.diff": strings.Repeat("x", 32<<20+1)})
		_ = failed(t, large, gate.DiffTooLarge, file("large.diff"))
	})
	t.Run("over two and a half million lines", func(t *testing.T) {
		t.Parallel()
		long := plain(t, files{"long.diff": strings.Repeat("\n", 2_500_001)})
		_ = failed(t, long, gate.DiffTooLarge, file("long.diff"))
	})
	stdin := func(in io.Reader) func(*requestOf) { return func(q *requestOf) { q.Diff = &git.Supplied{Reader: in} } }
	for name, in := range map[string]io.Reader{
		"too long":   strings.NewReader(strings.Repeat("x", 32<<20+1)),
		"many lines": strings.NewReader(strings.Repeat("\n", 2_500_001)),
		"breaks off": io.MultiReader(strings.NewReader("diff"), iotest.ErrReader(errors.New("gone"))),
	} {
		t.Run(name, func(t *testing.T) { _ = failed(t, r, gate.StdinTooLarge, stdin(in)) })
	}
	t.Run("the workspace's manifest and policies are in use", func(t *testing.T) {
		t.Parallel()
		r := plain(t, files{"shipgate.yaml": manifest("tools"), "policies/agent-boundary.shipgate.yaml": "id: x\n"})
		in := r.input(supplied(patch("tools/a.json", "", "{}\n")))
		if !in.Manifest.Present || len(in.Manifest.Declared) != 1 || in.Mode != gate.ProvidedDiff {
			t.Errorf("%+v", in.Manifest)
		}
		if got := in.Policy.Workspace["policies/agent-boundary.shipgate.yaml"]; string(got.Bytes) != "id: x\n" {
			t.Errorf("%+v", got)
		}
	})
}
