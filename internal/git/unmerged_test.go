package git_test

import (
	"fmt"
	"testing"
)

// A conflict leaves up to three stages in the index. No commit can be made of
// it yet: a boundary path says so, and is judged as it lies on disk (§2.2).
func TestAConflictIsJudgedOnDiskAndIsIncomplete(t *testing.T) {
	t.Parallel()
	base := files{"notes.txt": "one\n", "AGENTS.md": advice, "app.go": "package app\n"}
	for _, row := range []struct {
		name         string
		ours, theirs files
		want         string
	}{
		{
			"both edited (UU)",
			files{"AGENTS.md": "ours\n"},
			files{"AGENTS.md": "theirs\n"},
			`files AGENTS.md
			 disk AGENTS.md: "ours\n" -> "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n"
			 issue index_unmerged AGENTS.md
			 record AGENTS.md edited 100644 -0 +4`,
		},
		{
			"both added (AA)",
			files{settings: harmless},
			files{settings: grant},
			fmt.Sprintf(`files .claude/settings.json
			 disk .claude/settings.json: harmless -> %q
			 issue index_unmerged .claude/settings.json
			 record .claude/settings.json edited 100644 -0 +4`, "<<<<<<< HEAD\n"+harmless+"=======\n"+grant+">>>>>>> side\n"),
		},
		{
			"deleted here, edited there (DU)",
			files{"AGENTS.md": ""},
			files{"AGENTS.md": laxer},
			`files AGENTS.md
			 disk AGENTS.md: absent -> laxer
			 issue index_unmerged AGENTS.md
			 record AGENTS.md new 100644 -0 +1`,
		},
		{
			"edited here, deleted there (UD)",
			files{"AGENTS.md": laxer},
			files{"AGENTS.md": ""},
			`files AGENTS.md
			 disk AGENTS.md: laxer -> laxer
			 issue index_unmerged AGENTS.md`,
		},
		{
			"a file that no host reads",
			files{"app.go": "package ours\n"},
			files{"app.go": "package theirs\n"},
			`files app.go
			 record app.go edited 100644 -0 +4`,
		},
		{
			"beside a file that merged well",
			files{"app.go": "package ours\n"},
			files{"app.go": "package theirs\n", settings: grant},
			`files .claude/settings.json app.go
			 disk .claude/settings.json: absent -> grant
			 record .claude/settings.json new 100644 -0 +1
			 record app.go edited 100644 -0 +4`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			r.git("checkout", "-q", "-b", "side")
			r.commit(row.theirs)
			r.git("checkout", "-q", "main")
			r.commit(row.ours)
			if out, err := r.try("merge", "side"); err == nil {
				t.Fatalf("the merge has no conflict: %s", out)
			}
			expect(t, r.input(), row.want)
		})
	}
	t.Run("both renamed, to different names (DD, AU, UA)", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"AGENTS.md": "one\ntwo\nthree\nfour\n"})
		r.git("checkout", "-q", "-b", "side")
		r.git("mv", "AGENTS.md", "AGENTS.override.md")
		r.git("commit", "-q", "-m", "theirs")
		r.git("checkout", "-q", "main")
		r.git("mv", "AGENTS.md", "CLAUDE.md")
		r.git("commit", "-q", "-m", "ours")
		r.try("merge", "side") //nolint:errcheck // it ends with conflicts
		expect(t, r.input(), `
			files AGENTS.md AGENTS.override.md CLAUDE.md
			disk AGENTS.md: absent -> absent
			disk AGENTS.override.md: absent -> "one\ntwo\nthree\nfour\n"
			disk CLAUDE.md: "one\ntwo\nthree\nfour\n" -> "one\ntwo\nthree\nfour\n"
			issue index_unmerged AGENTS.md
			issue index_unmerged AGENTS.override.md
			issue index_unmerged CLAUDE.md
			record AGENTS.override.md new 100644 -0 +4`)
	})
}
