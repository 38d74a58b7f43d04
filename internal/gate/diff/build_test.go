package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/diff"
)

// The synthetic record of docs/spec/boundary.md §2.2 is what the sample is
// hashed over.
func TestANewFileRendersAsTheSampleDoes(t *testing.T) {
	for _, c := range []struct{ sample, path, content string }{
		{"authored/complete.diff", ".codex/config.toml", "model = \"m-small\"\n"},
		{"authored/graded.diff", ".codex/config.toml", "model = \"m-small\"\napproval_policy = \"never\"\n"},
		{"authored/block.diff", ".claude/settings.json", "{\"permissions\": {\"allow\": [\"Bash(*)\"]}}\n"},
	} {
		r := diff.NewFile(c.path, "100644", []byte(c.content))
		if d := cmp.Diff(string(readData(t, c.sample)), string(diff.Render(&r))); d != "" {
			t.Errorf("%s: %s", c.sample, d)
		}
	}
}

func TestBuiltRecordsRenderAndParseBack(t *testing.T) {
	withIndex := diff.Replace("x", "100644", "100644", nil, nil)
	withIndex.Index = "1111111..2222222"
	for _, c := range []struct {
		name   string
		record diff.Record
		want   []byte
	}{
		{"an empty new file", diff.NewFile("x", "100644", nil), text("diff --git a/x b/x", "new file mode 100644")},
		{
			"a new file without a last line end", diff.NewFile("x", "100644", []byte("a\nb")),
			text("diff --git a/x b/x", "new file mode 100644", "--- /dev/null", "+++ b/x", "@@ -0,0 +1,2 @@",
				"+a", "+b", `\ No newline at end of file`),
		},
		{
			"a file of one empty line", diff.NewFile("x", "100644", []byte("\n")),
			text("diff --git a/x b/x", "new file mode 100644", "--- /dev/null", "+++ b/x", "@@ -0,0 +1,1 @@", "+"),
		},
		{
			"a new link", diff.NewFile("CLAUDE.md", "120000", []byte("AGENTS.md")),
			text("diff --git a/CLAUDE.md b/CLAUDE.md", "new file mode 120000", "--- /dev/null", "+++ b/CLAUDE.md",
				"@@ -0,0 +1,1 @@", "+AGENTS.md", `\ No newline at end of file`),
		},
		{
			"a replaced text", diff.Replace("x", "100644", "100755", []byte("a\nb"), []byte("c\n")),
			text("diff --git a/x b/x", "old mode 100644", "new mode 100755", "--- a/x", "+++ b/x", "@@ -1,2 +1,1 @@",
				"-a", "-b", `\ No newline at end of file`, "+c"),
		},
		{
			"a text that was empty", diff.Replace("x", "", "", nil, []byte("c\n")),
			text("diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -0,0 +1,1 @@", "+c"),
		},
		{
			"a deleted file", diff.Delete("x", "100644", []byte("a\n")),
			text("diff --git a/x b/x", "deleted file mode 100644", "--- a/x", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-a"),
		},
		{
			"a record without lines", withIndex,
			text("diff --git a/x b/x", "index 1111111..2222222 100644"),
		},
		{
			"a name with spaces", diff.Replace("my file", "", "", []byte("a\n"), nil),
			text("diff --git a/my file b/my file", "--- a/my file\t", "+++ b/my file\t", "@@ -1,1 +0,0 @@", "-a"),
		},
		{
			"a name to quote", diff.Delete("a\"\\\t\x01é", "100644", []byte("a\n")),
			text(`diff --git "a/a\"\\\t\001é" "b/a\"\\\t\001é"`, "deleted file mode 100644", `--- "a/a\"\\\t\001é"`,
				"+++ /dev/null", "@@ -1,1 +0,0 @@", "-a"),
		},
		{
			"a rename of a binary file",
			diff.Record{OldName: "x", NewName: "y", Renamed: true, Binary: true},
			text("diff --git a/x b/y", "rename from x", "rename to y", "Binary files a/x and b/y differ"),
		},
		{
			"a copy",
			diff.Record{OldName: "x", NewName: "y", Copied: true},
			text("diff --git a/x b/y", "copy from x", "copy to y"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := diff.Render(&c.record)
			if d := cmp.Diff(string(c.want), string(got)); d != "" {
				t.Fatal(d)
			}
			if d := cmp.Diff([]diff.Record{c.record}, diff.Parse(got), sameRecord); d != "" {
				t.Error(d)
			}
		})
	}
}

// Two untracked files that differ in their line ends only are two subjects.
func TestRenderKeepsTheBytesOfAFile(t *testing.T) {
	content := "a\r\nb\rc\r\n"
	r := diff.NewFile("x", "100644", []byte(content))
	want := "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\r\n+b\rc\r\n"
	if got := string(diff.Render(&r)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if d := cmp.Diff([]string{"a", "b", "c"}, r.Added()); d != "" {
		t.Error(d)
	}
}
