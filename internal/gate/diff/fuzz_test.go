package diff_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/diff"
)

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"agent-protocol/diffs/*.diff", "authored/*.diff"} {
		names, err := filepath.Glob(filepath.Join(boundaryData, pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("no seeds at %s: %v", pattern, err)
		}
		for _, n := range names {
			seed, err := os.ReadFile(n)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(seed)
		}
	}
	for _, s := range []string{
		"diff --git \"a/\\303\\251\" b/x y\nrename from \"\\303\\251\"\nrename to x y\n",
		"diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\r@tool\n+b\n\\ No newline\n@@@ -1 +1 @@\n",
		"diff --git a/x b/x\rnew file mode 120000\r--- /dev/null\r+++ b/x\r@@ -0,0 +1 @@\r+y\r",
		"diff --git a/ b/\nGIT binary patch\nliteral 1\n",
		"diff --git a/x b/x\n@@ -1,9999999999999 +1 @@\n-\n+\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		records := diff.Parse(text)
		if !bytes.Equal(before, text) {
			t.Fatal("the input was written to")
		}
		unified := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
		for i := range records {
			r := &records[i]
			if r.Path() == "" {
				t.Fatalf("record %d has no path", i)
			}
			for _, l := range r.Added() {
				requireFrom(t, unified, l)
			}
			for _, l := range r.Removed() {
				requireFrom(t, unified, l)
			}
			for _, state := range []diff.FileState{diff.FileMissing, diff.FileRead, diff.FileUnsafe} {
				if got := diff.Reconstruct(r, diff.WorkspaceFile{State: state, Bytes: text}); got.Source == "" {
					t.Fatalf("record %d: no source", i)
				}
			}
			requireStable(t, r)
		}
		diff.Issues(records, diff.Options{Boundary: boundary, Detached: true, Text: text})
		diff.HashMembers(records)
	})
}

// requireFrom checks that a line of a record stands in the text.
func requireFrom(t *testing.T, text, line string) {
	t.Helper()
	if !strings.Contains(line, "\uFFFD") && !strings.Contains(text, line) {
		t.Fatalf("%q is not in the text", line)
	}
}

// requireStable checks that a well-formed record survives its own text.
func requireStable(t *testing.T, r *diff.Record) {
	t.Helper()
	wellFormed := r.Complete() && !r.InvalidName && !r.ShapeOld && !r.ShapeNew && !(r.New && r.Deleted) &&
		!(r.Renamed && r.Copied) && !((r.Renamed || r.Copied) && (r.New || r.Deleted))
	if !wellFormed {
		return
	}
	once := diff.Parse(diff.Render(r))
	if len(once) != 1 {
		t.Fatalf("%d records of one:\n%s", len(once), diff.Render(r))
	}
	twice := diff.Parse(diff.Render(&once[0]))
	if d := cmp.Diff(once, twice, sameRecord); d != "" {
		t.Fatal(d)
	}
	if once[0].OldName != r.OldName || once[0].NewName != r.NewName || once[0].New != r.New || once[0].Deleted != r.Deleted {
		t.Fatalf("%+v became %+v", r, once[0])
	}
	if d := cmp.Diff(r.Added(), once[0].Added()); d != "" {
		t.Fatal(d)
	}
}

// Time grows with the text and not with its square, whatever the text is made
// of. No clock is asked: a square of these sizes would take hours, and the test
// run's own limit ends it.
func TestParsingIsLinear(t *testing.T) {
	const size = 4 << 20
	for name, unit := range map[string]string{
		"lines":   "+x\n",
		"records": "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n",
		"spaces":  "diff --git " + strings.Repeat("a ", size/2) + "\n",
		"hunks":   "@@ -1,2 +1,2 @@\n",
		"sides":   "--- a/x\n+++ b/x\n",
		"markers": "\\ No\n",
		"escapes": "diff --git \"" + strings.Repeat(`\a`, size/2) + "\" b\n",
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte("diff --git a/x b/x\n@@ -0,0 +1,99999999 @@\n" + strings.Repeat(unit, max(1, size/len(unit))))
			records := diff.Parse(text)
			diff.Issues(records, diff.Options{Text: text, Detached: true, Boundary: boundary})
			diff.Reconstruct(&records[0], holding("x\n"))
		})
	}
}

func BenchmarkParse(b *testing.B) {
	var text []byte
	for i := range 2000 {
		r := diff.Replace(fmt.Sprintf("dir/file%d.go", i), "100644", "100644",
			[]byte(strings.Repeat("some line of the old text\n", 20)), []byte(strings.Repeat("some line of the new text\n", 20)))
		text = append(text, diff.Render(&r)...)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		diff.Parse(text)
	}
}
