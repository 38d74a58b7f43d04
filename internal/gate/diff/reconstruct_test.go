package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/diff"
)

func holding(s string) diff.WorkspaceFile {
	return diff.WorkspaceFile{State: diff.FileRead, Bytes: []byte(s)}
}

// Every row of the table in docs/spec/boundary.md §3.3.
func TestReconstructFollowsTheTable(t *testing.T) {
	const (
		newFile = "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n"
		gone    = "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
		moved   = "diff --git a/x b/y\nrename from x\nrename to y\n"
		touched = moved + "--- a/x\n+++ b/y\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n"
		edit    = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -9,2 +9,3 @@\n i\n+I\n j\n"
		adds    = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,0 +2,1 @@\n+a\n"
		base    = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"
		head    = "a\nB\nc\nd\ne\nf\ng\nh\ni\nI\nj\n"
		cut     = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n"
		noLines = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
	)
	missing := diff.WorkspaceFile{State: diff.FileMissing}
	outside := diff.WorkspaceFile{State: diff.FileOutside}
	unsafe := diff.WorkspaceFile{State: diff.FileUnsafe}
	failed := diff.WorkspaceFile{State: diff.FileReadFailed}
	for _, c := range []struct {
		name     string
		diff     string
		file     diff.WorkspaceFile
		source   string
		old, new string // "-" for a side that is absent
	}{
		{"new, not there yet", newFile, missing, "diff_new_file", "-", "a\nb\n"},
		{"new, there", newFile, holding("a\nb\n"), "diff_new_file", "-", "a\nb\n"},
		{"new, there with other line ends", newFile, holding("a\r\nb\r\n"), "diff_new_file", "-", "a\nb\n"},
		{"new, other bytes", newFile, holding("a\nb"), "new_file_workspace_mismatch", "", ""},
		{"new, a link", newFile, unsafe, "new_file_workspace_mismatch", "", ""},
		{"new, outside", newFile, outside, "new_file_workspace_mismatch", "", ""},
		{"new, unreadable", newFile, failed, "new_file_workspace_mismatch", "", ""},
		{"new, cut off", strings.TrimSuffix(newFile, "+b\n"), missing, "diff_workspace_mismatch", "", ""},
		{"new, without a last line end", newFile + "\\ No newline at end of file\n", missing, "diff_new_file", "-", "a\nb"},

		{"deleted, gone", gone, missing, "diff_deleted_file", "a\nb\n", "-"},
		{"deleted, still there", gone, holding("a\nb\n"), "diff_deleted_file", "a\nb\n", "-"},
		{"deleted, other bytes", gone, holding("a\n"), "deleted_file_workspace_mismatch", "", ""},
		{"deleted, a link in its place", gone, unsafe, "deleted_file_workspace_mismatch", "", ""},
		{"deleted, cut off", strings.TrimSuffix(gone, "-b\n"), missing, "diff_workspace_mismatch", "", ""},

		{"renamed", moved, holding("a\n"), "workspace_renamed_file", "-", "a\n"},
		{"renamed and edited", touched, holding("A\nb\n"), "workspace_renamed_file", "-", "A\nb\n"},
		{"renamed, another text in its place", touched, holding("harmless\nb\n"), "renamed_file_unresolved", "", ""},
		{"renamed, not there", moved, missing, "renamed_file_unresolved", "", ""},
		{"renamed, behind a link", moved, unsafe, "renamed_file_unresolved", "", ""},
		{"renamed, outside", moved, outside, "renamed_file_unresolved", "", ""},
		{"renamed, unreadable", moved, failed, "renamed_file_read_failed", "", ""},

		{"edit on the base", edit, holding(base), "diff_applied_to_workspace_base", base, head},
		{"edit on the head", edit, holding(head), "workspace_already_contains_diff_head", base, head},
		{"edit on the base with other line ends", edit, holding(strings.ReplaceAll(base, "\n", "\r\n")), "diff_applied_to_workspace_base", base, head},
		{
			"edit without a last line end", edit, holding(strings.TrimSuffix(base, "\n")), "diff_applied_to_workspace_base",
			strings.TrimSuffix(base, "\n"), strings.TrimSuffix(head, "\n"),
		},
		{"only adds, and is there", adds, holding("a\na\n"), "workspace_already_contains_diff_head", "a\n", "a\na\n"},
		{"only adds, and is not there", adds, holding("b\nc\n"), "diff_applied_to_workspace_base", "b\nc\n", "b\na\nc\n"},
		{"adds to an empty file", strings.Replace(adds, "-1,0 +2", "-0,0 +1", 1), holding(""), "diff_applied_to_workspace_base", "", "a\n"},
		{"edit elsewhere", edit, holding("z\n"), "diff_workspace_mismatch", "", ""},
		{"edit one line off", edit, holding("\n" + base), "diff_workspace_mismatch", "", ""},
		{"edit, cut off", cut, holding("a\nb\nc\n"), "diff_workspace_mismatch", "", ""},
		{"edit without lines", noLines, holding("a\n"), "diff_workspace_mismatch", "", ""},
		{"edit, outside", edit, outside, "path_outside_workspace", "", ""},
		{"edit, missing", edit, missing, "workspace_file_missing", "", ""},
		{"edit, unreadable", edit, failed, "workspace_read_failed", "", ""},
		{"edit, behind a link", edit, unsafe, "workspace_read_failed", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := diff.Reconstruct(&diff.Parse([]byte(c.diff))[0], c.file)
			show := func(present bool, text []byte) string {
				if !present && !got.Unresolved {
					return "-"
				}
				return string(text)
			}
			if got.Source != c.source {
				t.Errorf("source %q, want %q", got.Source, c.source)
			}
			wantUnresolved := c.old == "" && c.new == ""
			if got.Unresolved != wantUnresolved {
				t.Errorf("unresolved %v, want %v", got.Unresolved, wantUnresolved)
			}
			if old := show(got.OldPresent, got.Old); old != c.old {
				t.Errorf("old %q, want %q", old, c.old)
			}
			if now := show(got.NewPresent, got.New); now != c.new {
				t.Errorf("new %q, want %q", now, c.new)
			}
		})
	}
}

// unified is a diff of two texts that end in a line end, made the plain way:
// a longest common subsequence, three lines of context.
func unified(before, after []string) string {
	lcs := make([][]int, len(before)+1)
	for i := range lcs {
		lcs[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			} else {
				lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1])
			}
		}
	}
	type op struct {
		mark byte
		text string
	}
	var ops []op
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			ops = append(ops, op{' ', before[i]})
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && lcs[i+1][j] >= lcs[i][j+1]:
			ops = append(ops, op{'-', before[i]})
			i++
		default:
			ops = append(ops, op{'+', after[j]})
			j++
		}
	}
	const context = 3
	var b strings.Builder
	b.WriteString("diff --git a/x b/x\n--- a/x\n+++ b/x\n")
	oldLine, newLine := 1, 1
	for k := 0; k < len(ops); {
		near := func(k int) bool {
			lo, hi := max(0, k-context), min(len(ops), k+context+1)
			return slices.ContainsFunc(ops[lo:hi], func(o op) bool { return o.mark != ' ' })
		}
		if !near(k) {
			k, oldLine, newLine = k+1, oldLine+1, newLine+1
			continue
		}
		end, olds, news := k, 0, 0
		for end < len(ops) && near(end) {
			if ops[end].mark != '+' {
				olds++
			}
			if ops[end].mark != '-' {
				news++
			}
			end++
		}
		at := func(line, count int) int {
			if count == 0 {
				return line - 1
			}
			return line
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", at(oldLine, olds), olds, at(newLine, news), news)
		for _, o := range ops[k:end] {
			fmt.Fprintf(&b, "%c%s\n", o.mark, o.text)
		}
		k, oldLine, newLine = end, oldLine+olds, newLine+news
	}
	return b.String()
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// Whatever the edit, both sides come back whether the workspace still holds the
// base or already holds the head.
func TestBothSidesComeBackFromEitherWorkspace(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "a", "b", "c = 1", "-- x", "++ y", "@@ -1 +1 @@", "\\ z"})
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(line, 1, 40).Draw(t, "before")
		after := slices.Clone(before)
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(after)).Draw(t, "at")
			cut := min(rapid.IntRange(0, 3).Draw(t, "cut"), len(after)-at)
			after = slices.Replace(after, at, at+cut, rapid.SliceOfN(line, 0, 3).Draw(t, "put")...)
		}
		if slices.Equal(before, after) {
			t.Skip("no change")
		}
		records := diff.Parse([]byte(unified(before, after)))
		for _, here := range []struct{ name, text string }{{"base", joined(before)}, {"head", joined(after)}} {
			got := diff.Reconstruct(&records[0], holding(here.text))
			if got.Unresolved {
				t.Fatalf("workspace holds %s: %s", here.name, got.Source)
			}
			if string(got.Old) == joined(before) && string(got.New) == joined(after) {
				continue
			}
			// A text can be the base of one edit and the head of another: then
			// the sides must at least be joined by this diff.
			again := diff.Reconstruct(&records[0], holding(string(got.Old)))
			if again.Unresolved || got.Source == diff.SourceBase && string(got.Old) != here.text ||
				got.Source == diff.SourceHead && string(got.New) != here.text {
				t.Fatalf("workspace holds %s: %s, old %q, new %q", here.name, got.Source, got.Old, got.New)
			}
		}
	})
}
