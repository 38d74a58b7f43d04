package diff_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/diff"
)

// repository is a folder that git works in, with nobody's settings.
type repository struct {
	t    *testing.T
	root string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := repository{t: t, root: t.TempDir()}
	r.git("init", "-q")
	return r
}

func (r repository) git(args ...string) []byte {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.test")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}

func (r repository) write(name, content string) {
	r.t.Helper()
	full := filepath.Join(r.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r repository) remove(names ...string) {
	r.t.Helper()
	for _, n := range names {
		if err := os.Remove(filepath.Join(r.root, filepath.FromSlash(n))); err != nil {
			r.t.Fatal(err)
		}
	}
}

func numbered(n int, edit map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := edit[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// everyday makes a repository with one change of every kind.
func everyday(t *testing.T) repository {
	t.Helper()
	r := newRepository(t)
	r.write("edit.txt", numbered(40, nil))
	r.write("my file.txt", "a\nb\n")
	r.write("döcs/naïve.md", "a\n")
	r.write("odd\"na\\me\t.txt", "a\n")
	r.write("gone.txt", "a\nb\n")
	r.write("empty.txt", "")
	r.write("noeol.txt", "a\nb")
	r.write("crlf.txt", "a\r\nb\r\n")
	r.write("binary.bin", "a\x00b\n")
	r.write("moved.txt", numbered(30, nil))
	r.write("same.txt", numbered(20, map[int]string{1: "only here\n"}))
	r.write("run.sh", "#!/bin/sh\n")
	r.write("link.md", "text\n")
	r.write("removed-lines.txt", "-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "base")

	r.write("edit.txt", numbered(40, map[int]string{2: "changed\n", 3: "", 38: "line 38\nmore\n"}))
	r.write("my file.txt", "a\nc\n")
	r.write("döcs/naïve.md", "b\n")
	r.write("odd\"na\\me\t.txt", "b\n")
	r.write("noeol.txt", "a\nc")
	r.write("crlf.txt", "a\r\nc\r\n")
	r.write("binary.bin", "a\x00c\n")
	r.write("fresh file.txt", "a\n")
	r.write("fresh-empty.txt", "")
	r.write("sub dir/moved and edited.txt", numbered(30, map[int]string{15: "changed\n"}))
	r.write("b same.txt", numbered(20, map[int]string{1: "only here\n"}))
	r.write("removed-lines.txt", "")
	r.remove("gone.txt", "empty.txt", "moved.txt", "same.txt", "link.md")
	if err := os.Symlink("edit.txt", filepath.Join(r.root, "link.md")); err != nil {
		t.Skip("links cannot be made here")
	}
	r.git("add", "-A")
	r.git("update-index", "--chmod=+x", "run.sh")
	return r
}

// seen is a record in the words that both parsers have.
type seen struct {
	Old, New       string
	OldMode        string
	NewMode        string
	Fresh, Gone    bool
	Renamed, Copy  bool
	Binary         bool
	Headers, Lines []string
}

func oursAsSeen(r *diff.Record) seen {
	s := seen{
		Old: r.OldName, New: r.NewName, OldMode: r.OldMode, NewMode: r.NewMode, Fresh: r.New, Gone: r.Deleted,
		Renamed: r.Renamed, Copy: r.Copied, Binary: r.Binary,
	}
	for _, h := range r.Hunks {
		s.Headers = append(s.Headers, fmt.Sprint(h.OldStart, h.OldCount, h.NewStart, h.NewCount))
		for _, l := range h.Lines {
			s.Lines = append(s.Lines, string(l.Op)+string(l.Text))
		}
	}
	return s
}

func theirsAsSeen(f *gitdiff.File) seen {
	s := seen{
		Old: f.OldName, New: f.NewName, Fresh: f.IsNew, Gone: f.IsDelete,
		Renamed: f.IsRename, Copy: f.IsCopy, Binary: f.IsBinary,
	}
	if f.OldMode != 0 {
		s.OldMode = fmt.Sprintf("%06o", uint32(f.OldMode))
	}
	if f.NewMode != 0 {
		s.NewMode = fmt.Sprintf("%06o", uint32(f.NewMode))
	}
	if s.NewMode == "" && !s.Gone {
		s.NewMode = s.OldMode // they keep the mode of an index line on one side
	}
	for _, h := range f.TextFragments {
		s.Headers = append(s.Headers, fmt.Sprint(h.OldPosition, h.OldLines, h.NewPosition, h.NewLines))
		for _, l := range h.Lines {
			s.Lines = append(s.Lines, l.Op.String()+strings.TrimSuffix(strings.TrimSuffix(l.Line, "\n"), "\r"))
		}
	}
	return s
}

func TestGitOutputReadsAsAnotherParserReadsIt(t *testing.T) {
	r := everyday(t)
	for _, options := range [][]string{
		{"--full-index"},
		{"--unified=0"},
		{"--no-renames"},
		{"--binary"},
		{"--find-copies-harder"},
	} {
		for _, quote := range []string{"true", "false"} {
			t.Run(strings.Join(options, " ")+" core.quotePath="+quote, func(t *testing.T) {
				text := r.git(append([]string{"-c", "core.quotePath=" + quote, "diff", "--cached", "HEAD"}, options...)...)
				theirs, _, err := gitdiff.Parse(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				ours := diff.Parse(text)
				var got, want []seen
				for i := range ours {
					got = append(got, oursAsSeen(&ours[i]))
				}
				for _, f := range theirs {
					want = append(want, theirsAsSeen(f))
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
				for i := range ours {
					if !ours[i].Complete() || ours[i].InvalidName || ours[i].ShapeOld || ours[i].ShapeNew {
						t.Errorf("%s is not well formed", ours[i].Path())
					}
				}
			})
		}
	}
}

func TestGitOutputSurvivesRendering(t *testing.T) {
	records := diff.Parse(everyday(t).git("diff", "--cached", "HEAD"))
	if len(records) < 15 {
		t.Fatalf("only %d records", len(records))
	}
	var all []byte
	for i := range records {
		all = append(all, diff.Render(&records[i])...)
	}
	if d := cmp.Diff(records, diff.Parse(all), sameRecord); d != "" {
		t.Error(d)
	}
}

// The other side of a file is what git has there, whichever side lies on disk.
func TestGitDiffsReconstructWhatGitHas(t *testing.T) {
	r := everyday(t)
	records := diff.Parse(r.git("diff", "--cached", "HEAD", "--no-renames"))
	for _, name := range []string{"edit.txt", "my file.txt", "döcs/naïve.md", "odd\"na\\me\t.txt", "noeol.txt"} {
		before, after := r.git("show", "HEAD:"+name), r.git("show", ":"+name)
		var record *diff.Record
		for i := range records {
			if records[i].Path() == name {
				record = &records[i]
			}
		}
		if record == nil {
			t.Errorf("%s: no record", name)
			continue
		}
		for _, here := range [][]byte{before, after} {
			got := diff.Reconstruct(record, diff.WorkspaceFile{State: diff.FileRead, Bytes: here})
			if got.Unresolved || !bytes.Equal(got.Old, before) || !bytes.Equal(got.New, after) {
				t.Errorf("%s: %s, old %q, new %q", name, got.Source, got.Old, got.New)
			}
		}
	}
}
