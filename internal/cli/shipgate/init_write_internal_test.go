package shipgate

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/adopt"
)

// snapshot is every file, folder and link below dir, with modes and bytes.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.WriteString(" " + string(text))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func rooted(t *testing.T, files map[string]string) (dir string, root *os.Root) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, root
}

func made(name, text string) adopt.Edit {
	return adopt.Edit{Path: name, After: []byte(text), Outcome: adopt.Created}
}

func changed(name, before, after string) adopt.Edit {
	return adopt.Edit{Path: name, Existed: true, Before: []byte(before), After: []byte(after), Outcome: adopt.Appended}
}

// Whatever fails, and wherever on the way: the workspace is as it was.
func TestAPlanThatFailsChangesNothing(t *testing.T) {
	gone := adopt.Edit{Path: "b.txt", Existed: true, Before: []byte("b"), Delete: true, Outcome: adopt.Removed}
	for name, last := range map[string]adopt.Edit{
		"a file that changed":                 changed("c.txt", "what it was", "x"),
		"a file that came":                    made("c.txt", "x"),
		"a file that is gone":                 changed("gone.txt", "", "x"),
		"a file to delete that changed":       {Path: "c.txt", Existed: true, Before: []byte("other"), Delete: true},
		"a folder that is a file":             made("c.txt/x", "x"),
		"a folder in the place of a file":     made("dir", "x"),
		"a link":                              changed("link", "c", "x"),
		"a link for a folder":                 made("linked/x", "x"),
		"a path that leaves the workspace":    made("../x", "x"),
		"a place that an edit before it took": made("new/deep", "x"),
	} {
		t.Run(name, func(t *testing.T) {
			dir, root := rooted(t, map[string]string{"a.txt": "a", "b.txt": "b", "c.txt": "c", "dir/d.txt": "d"})
			for link, to := range map[string]string{"link": "c.txt", "linked": "dir"} {
				if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
					t.Skip(err)
				}
			}
			before := snapshot(t, dir)
			plan := &adopt.Plan{Edits: []adopt.Edit{changed("a.txt", "a", "A"), made("new/deep/er/x.txt", "x"), gone, last}}
			err := carryOut(root, plan)
			f, ok := err.(*failure) //nolint:errorlint // it returns it bare
			if !ok || f.code != exitInput || f.path != last.Path || len(f.next) == 0 {
				t.Errorf("the error is %v", err)
			}
			if after := snapshot(t, dir); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// Here all is staged, and two files are in place already when a third cannot be
// put over a folder that came in between.
func TestAPlanThatFailsHalfwayIsTakenBack(t *testing.T) {
	dir, root := rooted(t, map[string]string{"a.txt": "a", "b.txt": "b"})
	before := snapshot(t, dir)
	gone := adopt.Edit{Path: "b.txt", Existed: true, Before: []byte("b"), Delete: true, Outcome: adopt.Removed}
	plan := &adopt.Plan{Edits: []adopt.Edit{
		changed("a.txt", "a", "A"), gone, made("n/new.txt", "n"), made("late", "x"), made("late/folder/x", "x"),
	}}
	err := carryOut(root, plan)
	if f, ok := err.(*failure); !ok || f.code != exitInput || f.path != "late" { //nolint:errorlint // it returns it bare
		t.Errorf("the error is %v", err)
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestAPlanKeepsModesAndLeavesNothingAbout(t *testing.T) {
	dir, root := rooted(t, map[string]string{"a.txt": "a", "keep/b.txt": "b", "gone/deep/c.txt": "c", ".shipgate-init-0": "somebody's"})
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	plan := &adopt.Plan{Edits: []adopt.Edit{
		changed("a.txt", "a", "A"), made("x/y/z", "z"),
		{Path: "gone/deep/c.txt", Existed: true, Before: []byte("c"), Delete: true},
		{Path: "keep/b.txt", Existed: true, Before: []byte("b"), Outcome: adopt.Edited},
	}}
	if err := carryOut(root, plan); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(snapshot(t, dir), dir, "")
	for _, want := range []string{"/a.txt -rw-r----- A\n", "/x/y/z -rw-r--r-- z\n", "/keep/b.txt -rw------- b\n", "/.shipgate-init-0 -rw------- somebody's\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "gone") || strings.Count(got, "shipgate-init") != 1 {
		t.Errorf("left over:\n%s", got)
	}
}

// Somebody saves a file, or makes one, after it was staged and before it is put in
// place: theirs stays, and all that was done is taken back.
func TestAFileThatIsSavedMeanwhileStays(t *testing.T) {
	for name, saved := range map[string]string{"b.md": "theirs", "c.md": "theirs too"} {
		t.Run(name, func(t *testing.T) {
			dir, root := rooted(t, map[string]string{"b.md": "before"})
			edits := []adopt.Edit{made("a.md", "new"), changed("b.md", "before", "after"), made("c.md", "new")}
			w := &writing{root: root}
			for i := range edits {
				if err := w.stage(&edits[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(saved), 0o600); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"b.md": "before", name: saved}
			var err error
			for i := range w.staged {
				if err = w.place(&w.staged[i]); err != nil {
					break
				}
				w.placed++
			}
			if err == nil {
				t.Fatal("what somebody saved is replaced")
			}
			if err := w.takeBack(); err != nil {
				t.Error(err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != len(want) {
				t.Errorf("%v, %v", entries, err)
			}
			for name, text := range want {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
					t.Errorf("%s is %q, %v", name, got, err)
				}
			}
		})
	}
}
