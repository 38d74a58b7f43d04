package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/diff"
)

// boundary is a small world: these paths and nothing else are protected.
func boundary(path string) bool {
	return slices.Contains([]string{".mcp.json", "CLAUDE.md", "policies/a.shipgate.yaml", "caf\uFFFD"}, path)
}

func issuesOf(text []byte, detached bool) []string {
	var out []string
	for _, i := range diff.Issues(diff.Parse(text), diff.Options{Boundary: boundary, Detached: detached, Text: text}) {
		out = append(out, i.Code+" "+i.Path)
	}
	return out
}

func TestStructuralIssues(t *testing.T) {
	edit := text("diff --git a/.mcp.json b/.mcp.json", "--- a/.mcp.json", "+++ b/.mcp.json", "@@ -1 +1 @@", "-a", "+b")
	for _, c := range []struct {
		name               string
		diff               []byte
		git, detachedExtra []string
	}{
		{"nothing", nil, nil, nil},
		{"blank text", []byte("\n \t\n"), nil, nil},
		{"a well-formed edit", edit, nil, nil},
		{"text without a record", text("hello"), []string{"boundary_diff_unparseable <diff>"}, nil},
		{"a patch without git headers", text("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"), []string{"boundary_diff_unparseable <diff>"}, nil},
		{
			"a patch in front of the first record",
			append(text("--- a/.mcp.json", "+++ b/.mcp.json", "@@ -1 +1 @@", "-a", "+b"), edit...),
			[]string{"boundary_diff_unparseable <diff>"},
			nil,
		},
		{"a letter in front of the first record", append(text("From: me", "---", " x | 2 +-"), edit...), nil, nil},
		{
			"a new record that names an old side",
			text("diff --git a/x b/x", "new file mode 100644", "--- a/x", "+++ b/x"),
			[]string{"boundary_diff_shape_invalid x"},
			nil,
		},
		{
			"a deleted record that names a new side",
			text("diff --git a/x b/x", "deleted file mode 100644", "--- a/x", "+++ b/x"),
			[]string{"boundary_diff_shape_invalid x"},
			nil,
		},
		{
			"new and deleted",
			text("diff --git a/x b/x", "new file mode 100644", "deleted file mode 100644"),
			[]string{"boundary_diff_shape_invalid x"},
			nil,
		},
		{
			"new and renamed",
			text("diff --git a/x b/y", "new file mode 100644", "rename from x", "rename to y"),
			[]string{"boundary_diff_shape_invalid y"},
			nil,
		},
		{
			"two records of one path",
			append(slices.Clone(edit), edit...),
			[]string{"boundary_diff_shape_invalid <diff>"},
			nil,
		},
		{
			"a type change",
			text("diff --git a/CLAUDE.md b/CLAUDE.md", "deleted file mode 100644", "--- a/CLAUDE.md", "+++ /dev/null", "@@ -1 +0,0 @@", "-a",
				"diff --git a/CLAUDE.md b/CLAUDE.md", "new file mode 120000", "--- /dev/null", "+++ b/CLAUDE.md", "@@ -0,0 +1 @@", "+b"),
			nil, nil,
		},
		{
			"a deletion and an addition of one kind",
			text("diff --git a/x b/x", "deleted file mode 100644", "diff --git a/x b/x", "new file mode 100755"),
			[]string{"boundary_diff_shape_invalid <diff>"},
			nil,
		},
		{
			"an addition before the deletion",
			text("diff --git a/x b/x", "new file mode 120000", "diff --git a/x b/x", "deleted file mode 100644"),
			[]string{"boundary_diff_shape_invalid <diff>"},
			nil,
		},
		{
			"a name that is not portable on either side",
			text("diff --git a/x:y b/con.txt", "rename from x:y", "rename to con.txt"),
			[]string{"boundary_diff_path_invalid x:y", "boundary_diff_path_invalid con.txt"},
			nil,
		},
		{
			"headers that disagree",
			text("diff --git a/x b/x", "--- a/x", "+++ b/y"),
			[]string{"boundary_diff_path_invalid <invalid-path>"},
			nil,
		},
		{
			"a name that is not UTF-8",
			[]byte("diff --git a/caf\xe9 b/caf\xe9\n--- a/caf\xe9\n+++ b/caf\xe9\n@@ -1 +1 @@\n-a\n+b\n"),
			[]string{"boundary_diff_path_invalid caf\uFFFD"},
			nil,
		},
		{
			"a boundary file renamed away",
			text("diff --git a/CLAUDE.md b/notes.md", "rename from CLAUDE.md", "rename to notes.md"),
			[]string{"boundary_rename_out_requires_review CLAUDE.md"},
			nil,
		},
		{"a boundary file copied", text("diff --git a/CLAUDE.md b/notes.md", "copy from CLAUDE.md", "copy to notes.md"), nil, nil},
		{"a boundary file renamed to another", text("diff --git a/CLAUDE.md b/.mcp.json", "rename from CLAUDE.md", "rename to .mcp.json"), nil, nil},
		{
			"a boundary record without hunks",
			text("diff --git a/.mcp.json b/.mcp.json", "old mode 100644", "new mode 100755"),
			nil,
			[]string{"boundary_diff_content_missing .mcp.json"},
		},
		{
			"a binary boundary record",
			text("diff --git a/.mcp.json b/.mcp.json", "Binary files a/.mcp.json and b/.mcp.json differ"),
			nil,
			[]string{"boundary_diff_content_missing .mcp.json"},
		},
		{
			"a boundary record that is cut off",
			text("diff --git a/CLAUDE.md b/CLAUDE.md", "--- a/CLAUDE.md", "+++ b/CLAUDE.md", "@@ -1,2 +1,2 @@", "-a"),
			nil,
			[]string{"boundary_diff_content_missing CLAUDE.md"},
		},
		{"any other record without hunks", text("diff --git a/docs/a.md b/docs/a.md", "old mode 100644", "new mode 100755"), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.git, issuesOf(c.diff, false)); d != "" {
				t.Errorf("in a Git mode: %s", d)
			}
			if d := cmp.Diff(append(slices.Clone(c.git), c.detachedExtra...), issuesOf(c.diff, true)); d != "" {
				t.Errorf("detached: %s", d)
			}
		})
	}
}

func TestSharedPathsAreOneIssueThatNamesThree(t *testing.T) {
	var records []diff.Record
	for _, p := range []string{"a", "b", "c", "d", "e", "a", "b", "c", "d", "a"} {
		records = append(records, diff.Replace(p, "", "", nil, []byte("x\n")))
	}
	got := diff.Issues(records, diff.Options{})
	if len(got) != 1 || got[0].Code != "boundary_diff_shape_invalid" || got[0].Path != "<diff>" {
		t.Fatalf("got %+v", got)
	}
	if !strings.Contains(got[0].Message, "a, b, c and 1 more") {
		t.Errorf("message %q", got[0].Message)
	}
}

func TestARecordThatItsMakerCallsInvalidIsOne(t *testing.T) {
	r := diff.NewFile("x\uFFFD", "100644", nil)
	r.InvalidName = true
	got := diff.Issues([]diff.Record{r}, diff.Options{})
	if len(got) != 1 || got[0].Code != "boundary_diff_path_invalid" || got[0].Path != "x\uFFFD" {
		t.Errorf("got %+v", got)
	}
}

func TestANameThatIsNotUTF8IsPrintedLossily(t *testing.T) {
	got := diff.Issues([]diff.Record{diff.NewFile("caf\xe9", "100644", nil)}, diff.Options{})
	if len(got) != 1 || got[0].Path != "caf\uFFFD" {
		t.Errorf("got %+v", got)
	}
}

func TestPortablePaths(t *testing.T) {
	for _, p := range []string{"x", "a/b", "café/x", ".claude/x", "..x", "a b", "console", "com0", "com10", "lptx", "x.con", "a-\U0001F6A2", ".gitignore", ".github/x", "x.git/y", "git~12"} {
		if !diff.PortablePath(p) {
			t.Errorf("%q is refused", p)
		}
	}
	for _, p := range []string{
		"", "/x", "./x", "//x", "a//b", "a/", "a/../b", "..", ".", `a\b`, "c:x", "a\tb", "a\x00", "a ", "a./b", "x/.", "con", "a/NUL",
		"Aux.txt", "com1", "LPT9.c", "con .txt", "caf\xe9", ".git", ".git/config", "a/.GIT/hooks/pre-commit", "git~1/config", "Git~1", ".g\u200cit/config", "\ufeff.git/x",
	} {
		if diff.PortablePath(p) {
			t.Errorf("%q is accepted", p)
		}
	}
}

func TestARenameOntoABoundaryPathNeedsItsHead(t *testing.T) {
	r := diff.Record{OldName: "x", NewName: ".mcp.json", Renamed: true}
	for _, c := range []struct {
		name string
		file diff.WorkspaceFile
		want string
	}{
		{"missing", diff.WorkspaceFile{State: diff.FileMissing}, "boundary_rename_target_unresolved"},
		{"outside", diff.WorkspaceFile{State: diff.FileOutside}, "boundary_rename_target_unresolved"},
		{"behind a link", diff.WorkspaceFile{State: diff.FileUnsafe}, "boundary_rename_target_unresolved"},
		{"unreadable", diff.WorkspaceFile{State: diff.FileReadFailed}, "boundary_rename_target_unreadable"},
		{"with a NUL", diff.WorkspaceFile{State: diff.FileRead, Bytes: []byte("a\x00")}, "boundary_rename_target_unreadable"},
		{"not UTF-8", diff.WorkspaceFile{State: diff.FileRead, Bytes: []byte("\xe9")}, "boundary_rename_target_unreadable"},
		{"empty", diff.WorkspaceFile{State: diff.FileRead, Bytes: make([]byte, 0)}, ""},
		{"just at the bound", diff.WorkspaceFile{State: diff.FileRead, Bytes: []byte(strings.Repeat("x", 128<<10))}, ""},
		{"over the bound by one", diff.WorkspaceFile{State: diff.FileRead, Bytes: []byte(strings.Repeat("x", 128<<10+1))}, "boundary_rename_target_oversized"},
	} {
		issue, found := diff.RenameTarget(&r, c.file)
		if found != (c.want != "") || issue.Code != c.want || found && issue.Path != ".mcp.json" {
			t.Errorf("%s: got %+v", c.name, issue)
		}
	}
}
