package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is expected answers as what is asked for one by one, and is held to its id.
func TestExpectedObjectsAreThoseThatAreAskedFor(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
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
