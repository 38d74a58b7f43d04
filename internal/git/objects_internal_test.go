package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newRepository is a folder for a repository, and git in it.
func newRepository(t *testing.T) (root string, run func(args ...string) string) {
	t.Helper()
	root = t.TempDir()
	return root, func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
}

// What is expected answers as what is asked for one by one, and is held to its id.
func TestExpectedObjectsAreThoseThatAreAskedFor(t *testing.T) {
	t.Parallel()
	root, run := newRepository(t)
	run("init", "-q")
	run("commit", "-q", "--allow-empty", "-m", "one")
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("add", "a.txt")
	run("commit", "-q", "-m", "two")
	head, tree, blob := run("rev-parse", "HEAD"), run("rev-parse", "HEAD^{tree}"), run("rev-parse", "HEAD:a.txt")
	file := filepath.Join(root, ".git", "objects", blob[:2], blob[2:])
	other, err := os.ReadFile(filepath.Join(root, ".git", "objects", tree[:2], tree[2:]))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, other, 0o600)); err != nil {
		t.Fatal(err)
	}

	names := []string{"HEAD^{commit}", "gone^{commit}", "HEAD:a.txt", "HEAD^{tree}", "two\nnames", head}
	open := func() *objects {
		o, err := newRunner(root, os.Environ(), nil).objects(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.close)
		return o
	}
	plain, ahead := open(), open()
	ahead.expect(names)
	for _, forgotten := range []bool{false, true} {
		for _, name := range append(names, tree) {
			for _, bound := range []int64{commitBound, 8} {
				want, wrong := plain.get(name, bound)
				got, err := ahead.get(name, bound)
				if !errors.Is(err, wrong) || (want == nil) != (got == nil) ||
					want != nil && (got.id != want.id || got.kind != want.kind || got.size != want.size || !bytes.Equal(got.data, want.data) || (got.data == nil) != (want.data == nil)) {
					t.Errorf("%q, at most %d bytes, forgotten %v: got %v, %v, want %v, %v", name, bound, forgotten, got, err, want, wrong)
				}
			}
		}
		ahead.forget()
	}
	if _, err := plain.get("HEAD:a.txt", commitBound); !errors.Is(err, errObjectDamaged) {
		t.Errorf("the damaged object answers %v", err)
	}

	// More names than a pipe may hold are asked for when they are needed.
	many := open()
	many.expect([]string{strings.Repeat("x", mostExpected), "HEAD^{commit}"})
	if obj, err := many.get("HEAD^{commit}", commitBound); err != nil || obj.id != head || many.known != nil {
		t.Error(obj, err)
	}
}

// Folders that are read beside others are those that are read alone, whatever
// their size, and one that is damaged is refused in either way.
func TestFoldersReadTogetherAreThoseReadAlone(t *testing.T) {
	t.Parallel()
	root, run := newRepository(t)
	write := func(name, text string) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	var names []string
	for i := range 80 {
		names = append(names, fmt.Sprintf("src/part%02d", i))
		write(names[i]+"/a.txt", fmt.Sprint(i/2)) // two of each are alike
	}
	for i := range smallFolder / 200 {
		write(names[20]+"/"+strings.Repeat("x", 200)+fmt.Sprint(i), "")
	}
	write("src/file", "no folder")
	run("add", ".")
	run("commit", "-q", "-m", "one")
	bad := run("rev-parse", "HEAD:"+names[30])
	file := filepath.Join(root, ".git", "objects", bad[:2], bad[2:])
	other := run("rev-parse", "HEAD:"+names[40])
	text, err := os.ReadFile(filepath.Join(root, ".git", "objects", other[:2], other[2:]))
	if err := errors.Join(err, os.Chmod(file, 0o600), os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}

	read := func(alone bool) map[string]string {
		o, err := newRunner(root, os.Environ(), nil).objects(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer o.close()
		tree, err := o.treeOf("HEAD^{commit}")
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, name := range append(names, "src/file", "src/gone") {
			if alone {
				clear(tree.asked)
			}
			f, err := tree.folder(name)
			found[name] = fmt.Sprint(f, err)
		}
		if _, known := tree.folders[names[0]]; !known || len(tree.folders) != 2+len(names)-2 {
			t.Errorf("alone %v: %d folders are known", alone, len(tree.folders))
		}
		return found
	}
	alone, together := read(true), read(false)
	for name, want := range alone {
		if got := together[name]; got != want {
			t.Errorf("%s: %.200s, want %.200s", name, got, want)
		}
	}
	if !strings.Contains(alone[names[30]], errObjectDamaged.Error()) {
		t.Errorf("the damaged folder is %s", alone[names[30]])
	}
}
