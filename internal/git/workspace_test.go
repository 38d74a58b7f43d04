package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/git"
)

func openWorkspace(t *testing.T, dir, at string) *git.Workspace {
	t.Helper()
	w, err := git.OpenWorkspace(t.Context(), dir, at, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func TestAWorkspaceHoldsWhatGitTracksOrDoesNotIgnore(t *testing.T) {
	r := newRepo(t, files{"a.py": "a", "sub/b.py": "b", "sub/gone.py": "c", ".gitignore": "*.log\n", "sub/deep/d.py": "d"})
	r.write(files{"new.py": "n", "x.log": "l", "sub/new.py": "n", "sub/y.log": "l"})
	r.mkdir("nested")
	r.git("init", "-q", "nested")
	r.write(files{"nested/n.py": "n"})
	if err := os.Remove(r.at("sub/gone.py")); err != nil {
		t.Fatal(err)
	}
	w := openWorkspace(t, r.root, ".")
	want := []string{".gitignore", "a.py", "new.py", "sub/b.py", "sub/deep/d.py", "sub/gone.py", "sub/new.py"}
	if d := cmp.Diff(want, w.Names); d != "" || !w.ByGit || w.Partial || w.Nested != 1 || w.Root != r.root {
		t.Errorf("%s %+v", d, w)
	}
	w = openWorkspace(t, r.root, "sub")
	if d := cmp.Diff([]string{"b.py", "deep/d.py", "gone.py", "new.py"}, w.Names); d != "" || !w.ByGit {
		t.Error(d)
	}
	if text, err := fs.ReadFile(w.Tree, "b.py"); err != nil || string(text) != "b" {
		t.Errorf("%q %v", text, err)
	}
}

// A folder that git ignores, and one without a repository, are walked.
func TestAFolderThatGitDoesNotKnowIsWalked(t *testing.T) {
	r := newRepo(t, files{".gitignore": "out/\n"})
	r.write(files{"out/a.py": "a", "out/node_modules/x/index.js": "x", "out/.git-not/b.py": "b"})
	plain := t.TempDir()
	if err := os.CopyFS(plain, os.DirFS(r.at("out"))); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*git.Workspace{openWorkspace(t, r.root, "out"), openWorkspace(t, plain, ".")} {
		if d := cmp.Diff([]string{".git-not/b.py", "a.py"}, w.Names); d != "" || w.ByGit {
			t.Error(d)
		}
	}
}

func TestNoLinkLeadsOutOfAWorkspace(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, to := range map[string]string{"file.py": filepath.Join(outside, "secret.txt"), "folder": outside, "up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here")
		}
	}
	w := openWorkspace(t, dir, ".")
	if d := cmp.Diff([]string{"file.py", "folder", "up"}, w.Names); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"file.py", "folder/secret.txt"} {
		if text, err := fs.ReadFile(w.Tree, name); err == nil {
			t.Errorf("%s: %q", name, text)
		}
	}
	info, err := fs.Lstat(w.Tree, "file.py")
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v %v", info, err)
	}
	if to, err := fs.ReadLink(w.Tree, "folder"); err != nil || to != outside {
		t.Errorf("%q %v", to, err)
	}
}

func TestAWorkspaceThatIsNotThereIsAWrongFlag(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"gone", "file"} {
		_, err := git.OpenWorkspace(t.Context(), dir, at, nil)
		if wrong, ok := errors.AsType[*git.ShapeError](err); !ok || wrong.Flag != "--workspace" {
			t.Errorf("%s: %v", at, err)
		}
	}
	// An empty repository lists nothing; the walk finds what lies there.
	r := newRepo(t, nil)
	r.write(files{"a.py": "a"})
	if w := openWorkspace(t, r.root, "."); !slices.Equal(w.Names, []string{"a.py"}) {
		t.Errorf("%v", w.Names)
	}
}
