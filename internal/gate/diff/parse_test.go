package diff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll.dev/internal/gate/diff"
)

// shape is what a test says about a record, without its lines.
type shape struct {
	Old, New string
	Flags    string // words in the order of flagsOf
	Modes    string // "old>new"
}

func flagsOf(r *diff.Record) string {
	var out []string
	for _, f := range []struct {
		set  bool
		word string
	}{
		{r.New, "new"},
		{r.Deleted, "deleted"},
		{r.Renamed, "renamed"},
		{r.Copied, "copied"},
		{r.Binary, "binary"},
		{r.InvalidName, "invalid"},
		{r.ShapeOld, "shape-old"},
		{r.ShapeNew, "shape-new"},
	} {
		if f.set {
			out = append(out, f.word)
		}
	}
	return strings.Join(out, " ")
}

func shapes(records []diff.Record) []shape {
	var out []shape
	for i := range records {
		r := &records[i]
		s := shape{Old: r.OldName, New: r.NewName, Flags: flagsOf(r)}
		if r.OldMode+r.NewMode != "" {
			s.Modes = r.OldMode + ">" + r.NewMode
		}
		out = append(out, s)
	}
	return out
}

func text(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

func TestTheHeadersOfARecordSayItsNamesAndFlags(t *testing.T) {
	for _, c := range []struct {
		name string
		diff []byte
		want []shape
	}{
		{
			"an edit",
			text("diff --git a/x b/x", "index 11..22 100644", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"),
			[]shape{{Old: "x", New: "x", Modes: "100644>100644"}},
		},
		{
			"a new file",
			text("diff --git a/x b/x", "new file mode 100755", "--- /dev/null", "+++ b/x", "@@ -0,0 +1 @@", "+b"),
			[]shape{{New: "x", Flags: "new", Modes: ">100755"}},
		},
		{
			"a new empty file",
			text("diff --git a/x b/x", "new file mode 100644", "index 00..e6"),
			[]shape{{New: "x", Flags: "new", Modes: ">100644"}},
		},
		{
			"a deleted file",
			text("diff --git a/x b/x", "deleted file mode 100644", "--- a/x", "+++ /dev/null", "@@ -1 +0,0 @@", "-b"),
			[]shape{{Old: "x", Flags: "deleted", Modes: "100644>"}},
		},
		{
			"a change of mode",
			text("diff --git a/x b/x", "old mode 100644", "new mode 100755"),
			[]shape{{Old: "x", New: "x", Modes: "100644>100755"}},
		},
		{
			"a rename",
			text("diff --git a/x b/y", "similarity index 100%", "rename from x", "rename to y"),
			[]shape{{Old: "x", New: "y", Flags: "renamed"}},
		},
		{
			"a rename whose header can be split in several places",
			text("diff --git a/x b b/y", "rename from x b", "rename to y"),
			[]shape{{Old: "x b", New: "y", Flags: "renamed"}},
		},
		{
			"a copy",
			text("diff --git a/x b/y", "copy from x", "copy to y"),
			[]shape{{Old: "x", New: "y", Flags: "copied"}},
		},
		{
			"a binary file",
			text("diff --git a/x b/x", "index 11..22 100644", "Binary files a/x and b/x differ"),
			[]shape{{Old: "x", New: "x", Flags: "binary", Modes: "100644>100644"}},
		},
		{
			"a binary patch",
			text("diff --git a/x b/x", "index 11..22", "GIT binary patch", "literal 1", "IcmZ", "", "literal 0", "HcmV?d00001"),
			[]shape{{Old: "x", New: "x", Flags: "binary"}},
		},
		{
			"names with spaces",
			text("diff --git a/my file b/my file", "--- a/my file\t", "+++ b/my file\t", "@@ -1 +1 @@", "-a", "+b"),
			[]shape{{Old: "my file", New: "my file"}},
		},
		{
			"a name that repeats the header's own separator",
			text("diff --git a/x b/x b/x b/x", "--- a/x b/x\t", "+++ b/x b/x\t"),
			[]shape{{Old: "x b/x", New: "x b/x"}},
		},
		{
			"names without prefix",
			text("diff --git lib/x lib/x", "--- lib/x", "+++ lib/x", "@@ -1 +1 @@", "-a", "+b"),
			[]shape{{Old: "lib/x", New: "lib/x"}},
		},
		{
			"prefixes the other way round",
			text("diff --git b/x a/x", "--- b/x", "+++ a/x", "@@ -1 +1 @@", "-a", "+b"),
			[]shape{{Old: "x", New: "x"}},
		},
		{
			"quoted names",
			text(`diff --git "a/\303\251\t\"\\" "b/\303\251\t\"\\"`, `--- "a/\303\251\t\"\\"`, `+++ "b/\303\251\t\"\\"`),
			[]shape{{Old: "é\t\"\\", New: "é\t\"\\"}},
		},
		{
			"one quoted name",
			text(`diff --git a/my x "b/\a"`, "rename from my x", `rename to "\a"`),
			[]shape{{Old: "my x", New: "\a", Flags: "renamed"}},
		},
		{
			"the other quoted name",
			text(`diff --git "a/\a" b/my x`, `rename from "\a"`, "rename to my x"),
			[]shape{{Old: "\a", New: "my x", Flags: "renamed"}},
		},
		{
			"text around the records",
			text("From: someone", "Subject: change", "", "---", " x | 2 +-", "", "diff --git a/x b/x",
				"--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b", "-- ", "2.39.5", ""),
			[]shape{{Old: "x", New: "x"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, shapes(diff.Parse(c.diff))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHeadersThatDisagreeLeaveNoNameToTrust(t *testing.T) {
	const bad = diff.InvalidPath
	for _, c := range []struct {
		name string
		diff []byte
		want shape
	}{
		{"another old side", text("diff --git a/x b/x", "--- a/y", "+++ b/x"), shape{bad, "x", "invalid", ""}},
		{"another new side", text("diff --git a/x b/x", "--- a/x", "+++ b/.mcp.json"), shape{"x", bad, "invalid", ""}},
		{"no file on the old side of an edit", text("diff --git a/x b/x", "--- /dev/null", "+++ b/x"), shape{bad, "x", "invalid", ""}},
		{"no file on the new side of an edit", text("diff --git a/x b/x", "--- a/x", "+++ /dev/null"), shape{"x", bad, "invalid", ""}},
		{
			"a second file without a header of its own",
			text("diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b",
				"--- a/.mcp.json", "+++ b/.mcp.json", "@@ -1 +1 @@", "-a", "+b"),
			shape{bad, bad, "invalid", ""},
		},
		{"a rename from elsewhere", text("diff --git a/x b/y", "rename from z", "rename to y"), shape{bad, "y", "renamed invalid", ""}},
		{"two names that nothing joins", text("diff --git a/x b/y"), shape{bad, bad, "invalid", ""}},
		{"prefixes of another kind", text("diff --git i/.cursor/cli.json w/.cursor/cli.json"), shape{bad, bad, "invalid", ""}},
		{"a header that cannot be split", text("diff --git a/x y b/z w"), shape{bad, bad, "invalid", ""}},
		{"half a rename", text("diff --git a/x y b/z w", "rename from x y"), shape{bad, bad, "renamed invalid", ""}},
		{"one name only", text("diff --git a/x"), shape{bad, bad, "invalid", ""}},
		{"no name", text("diff --git "), shape{bad, bad, "invalid", ""}},
		{"empty names", text("diff --git a/ b/"), shape{bad, bad, "invalid", ""}},
		{"an unknown escape", text(`diff --git "a/\q" "b/\q"`), shape{bad, bad, "invalid", ""}},
		{"a number that is no byte", text(`diff --git "a/\777" "b/\777"`), shape{bad, bad, "invalid", ""}},
		{"an open quotation", text(`diff --git "a/x b/x`), shape{bad, bad, "invalid", ""}},
		{"a new file that was there", text("diff --git a/x b/x", "new file mode 100644", "--- a/x", "+++ b/x"), shape{"x", "x", "new shape-old", ">100644"}},
		{"a deleted file that stays", text("diff --git a/x b/x", "deleted file mode 100644", "--- a/x", "+++ b/x"), shape{"x", "x", "deleted shape-new", "100644>"}},
		{"new and deleted", text("diff --git a/x b/x", "new file mode 100644", "deleted file mode 100644"), shape{"x", "x", "new deleted", "100644>100644"}},
		{
			"a name that is not UTF-8 is printed lossily",
			[]byte("diff --git a/caf\xe9 b/caf\xe9\n"),
			shape{"caf\uFFFD", "caf\uFFFD", "invalid", ""},
		},
		{
			"quoted bytes that are not UTF-8",
			text(`diff --git "a/\351" "b/\351"`),
			shape{"\uFFFD", "\uFFFD", "invalid", ""},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff([]shape{c.want}, shapes(diff.Parse(c.diff))); d != "" {
				t.Error(d)
			}
		})
	}
}

func hunks(body ...string) []byte {
	return text(append([]string{"diff --git a/x b/x", "--- a/x", "+++ b/x"}, body...)...)
}

func TestAHunkTakesTheLinesThatItOwes(t *testing.T) {
	for _, c := range []struct {
		name           string
		diff           []byte
		added, removed []string
		complete       []bool
	}{
		{"missing counts are one", hunks("@@ -3 +3 @@ func x() {", "-a", "+b"), []string{"b"}, []string{"a"}, []bool{true}},
		{
			"content may look like a header", hunks("@@ -1,2 +1,2 @@", "--- x", "-@@ -1 +1 @@", "+++ y", "+diff --git a/z b/z"),
			[]string{"++ y", "diff --git a/z b/z"},
			[]string{"-- x", "@@ -1 +1 @@"},
			[]bool{true},
		},
		{"two hunks", hunks("@@ -1 +1 @@", "-a", "+b", "@@ -9,0 +10,2 @@", "+c", "+d"), []string{"b", "c", "d"}, []string{"a"}, []bool{true, true}},
		{"more lines than owed are no content", hunks("@@ -1 +1 @@", "-a", "+b", "+c"), []string{"b"}, []string{"a"}, []bool{true}},
		{"a foreign line ends a hunk", hunks("@@ -1,2 +1,2 @@", "-a", "?", "+b"), nil, []string{"a"}, []bool{false}},
		{"an empty line ends a hunk", hunks("@@ -1,2 +1,2 @@", "-a", "", "+b"), nil, []string{"a"}, []bool{false}},
		{"a record ends a hunk", append(hunks("@@ -1,2 +1,2 @@", "-a"), text("diff --git a/y b/y")...), nil, []string{"a"}, []bool{false}},
		{"the wrong side is owed", hunks("@@ -1,2 +1,0 @@", "+a", "-b", "-c"), []string{"a"}, []string{"b", "c"}, []bool{false}},
		{"a count beyond all files", hunks("@@ -1,99999999999999999999 +1 @@", "-a", "+b"), []string{"b"}, []string{"a"}, []bool{false}},
		{"a header that is none", hunks("@@ -x +1 @@", "+a"), nil, nil, []bool{false}},
		{"a combined hunk", hunks("@@@ -1 -1 +1 @@@", "++a"), nil, nil, []bool{false}},
		{"a hunk of nothing", hunks("@@ -0,0 +0,0 @@"), nil, nil, []bool{true}},
		{"bytes that are not UTF-8", []byte("diff --git a/x b/x\n@@ -0,0 +1 @@\n+\xff\xe9\n"), []string{"\uFFFD\uFFFD"}, nil, []bool{true}},
		{"line ends of another system", []byte("diff --git a/x b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n"), []string{"b"}, []string{"a"}, []bool{true}},
		{"line ends of an old system", []byte("diff --git a/x b/x\r@@ -1 +1 @@\r-a\r+b\r"), []string{"b"}, []string{"a"}, []bool{true}},
		{"a lone CR hides nothing that follows", []byte("diff --git a/x b/x\n@@ -0,0 +1,2 @@\n+a\r@tool\n+b\n"), []string{"a", "@tool", "b"}, nil, []bool{true}},
		{"no line end at the end", []byte("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b"), []string{"b"}, []string{"a"}, []bool{true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := diff.Parse(c.diff)[0]
			if d := cmp.Diff(c.added, r.Added()); d != "" {
				t.Errorf("added: %s", d)
			}
			if d := cmp.Diff(c.removed, r.Removed()); d != "" {
				t.Errorf("removed: %s", d)
			}
			var complete []bool
			for i := range r.Hunks {
				complete = append(complete, r.Hunks[i].Complete())
			}
			if d := cmp.Diff(c.complete, complete); d != "" {
				t.Errorf("complete: %s", d)
			}
		})
	}
}

func TestTheMarkerOfAMissingLineEndBelongsToTheLineBeforeIt(t *testing.T) {
	const marker = `\ No newline at end of file`
	for _, c := range []struct {
		name     string
		body     []string
		old, new bool
	}{
		{"none", []string{"-a", "+b"}, false, false},
		{"old", []string{"-a", marker, "+b"}, true, false},
		{"new", []string{"-a", "+b", marker}, false, true},
		{"each", []string{"-a", marker, "+b", marker}, true, true},
		{"both by a context line", []string{" a", marker}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := diff.Parse(hunks(append([]string{"@@ -1 +1 @@"}, c.body...)...))[0].Hunks[0]
			if h.NoEOLOld != c.old || h.NoEOLNew != c.new || !h.Complete() {
				t.Errorf("old %v, new %v, complete %v", h.NoEOLOld, h.NoEOLNew, h.Complete())
			}
		})
	}
}

func TestATextWithoutRecordsHasNone(t *testing.T) {
	for _, s := range []string{"", "\n\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "diff --git", "diff --cc x\n"} {
		if got := diff.Parse([]byte(s)); len(got) > 0 {
			t.Errorf("%q: %d records", s, len(got))
		}
	}
}

// sameRecord compares what a record says, whatever the empty values look like.
var sameRecord = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreUnexported(diff.Record{}),
}
