package git_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/git"
)

// repo is a throwaway repository with one commit.
type repo struct {
	t    *testing.T
	root string
}

// files maps a path to its text; a text that starts with "-> " is a link.
type files map[string]string

func newRepo(t *testing.T, base files) *repo {
	t.Helper()
	r := &repo{t: t, root: filepath.Join(t.TempDir(), "repo")}
	if err := os.MkdirAll(r.root, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	r.write(base)
	r.git("add", "-A", "-f")
	r.git("commit", "-q", "--allow-empty", "-m", "base")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(list files) {
	r.t.Helper()
	for p, text := range list {
		full := filepath.Join(r.root, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			r.t.Fatal(err)
		}
		os.Remove(full)
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(target, full); err != nil {
				r.t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *repo) remove(paths ...string) {
	for _, p := range paths {
		if err := os.Remove(filepath.Join(r.root, p)); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *repo) acquire(edit ...func(*git.Request)) (*gate.Input, error) {
	r.t.Helper()
	req := git.Request{Actor: gate.ActorCodex, Dir: r.root, Workspace: ".", Environ: os.Environ()}
	for _, e := range edit {
		e(&req)
	}
	return git.Acquire(context.Background(), req)
}

func (r *repo) input(edit ...func(*git.Request)) *gate.Input {
	r.t.Helper()
	in, err := r.acquire(edit...)
	if err != nil {
		r.t.Fatal(err)
	}
	return in
}

func refs(base, head string) func(*git.Request) {
	return func(q *git.Request) { q.Base, q.Head = base, head }
}

// snapshot is the content of everything below the root, the git folder
// included.
func (r *repo) snapshot() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(r.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			out[p], err = os.Readlink(p)
			return err
		}
		data, err := os.ReadFile(p)
		sum := sha256.Sum256(data)
		out[p] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// change is the change of path p that the after-state token shows.
func change(t *testing.T, in *gate.Input, p string, token surface.Token) *surface.Change {
	t.Helper()
	for i := range in.Changes {
		if c := &in.Changes[i]; c.Path == p && c.Source == token {
			return c
		}
	}
	t.Fatalf("no change of %s from %s; there are %v", p, token, changed(in))
	return nil
}

func changed(in *gate.Input) []string {
	var out []string
	for _, c := range in.Changes {
		out = append(out, c.Path+"@"+string(c.Source))
	}
	return out
}

func codes(in *gate.Input) []string {
	var out []string
	for _, i := range in.Issues {
		out = append(out, i.Code+" "+i.Path)
	}
	return out
}
