package git_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
)

const declared = "version: \"0.1\"\nproject: {name: p}\n"

// pair opens both sides of the repository's change.
func (r *repo) pair(more func(*git.PairRequest)) *git.Pair {
	r.t.Helper()
	req := git.PairRequest{Actor: gate.ActorCodex, Dir: r.root, Workspace: ".", Environ: os.Environ()}
	if more != nil {
		more(&req)
	}
	p, err := git.OpenPair(r.t.Context(), req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(p.Close)
	return p
}

func read(t *testing.T, side fs.FS, name string) string {
	t.Helper()
	b, err := fs.ReadFile(side, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "<missing>"
	case errors.Is(err, fs.ErrPermission):
		return "<refused>"
	case err != nil:
		return "<" + err.Error() + ">"
	}
	return string(b)
}

func TestBothSidesOfAWorkingTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"shipgate.yaml": declared, "tools/a.json": "one", "gone.json": "x"})
	r.git("update-ref", "refs/remotes/origin/main", "HEAD")
	r.write(files{"tools/a.json": "two"})
	r.git("commit", "-qam", "two")
	r.write(files{"tools/a.json": "three", "tools/mcp-new.json": "n"})
	r.remove("gone.json")
	p := r.pair(nil)
	if p.BaseRef != "origin/main" || p.Gap != nil || !p.Worktree || !p.CheckedOut {
		t.Fatalf("base %q, gap %+v", p.BaseRef, p.Gap)
	}
	for name, want := range map[string][2]string{
		"tools/a.json":       {"one", "three"},
		"tools/mcp-new.json": {"<missing>", "n"},
		"gone.json":          {"x", "<missing>"},
		".git/config":        {"<refused>", "<refused>"},
	} {
		if got := [2]string{read(t, p.Base, name), read(t, p.Head, name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if want := []string{"gone.json", "tools/a.json", "tools/mcp-new.json"}; !slices.Equal(p.ChangedFiles, want) {
		t.Errorf("changed %v, want %v", p.ChangedFiles, want)
	}
	if len(p.Changes) != 2 || p.Changes[0].Mode != gate.GitRange || p.Changes[1].Mode != gate.Worktree {
		t.Errorf("%d changes", len(p.Changes))
	}
}

func TestBothSidesOfARange(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"agent/shipgate.yaml": declared, "agent/t.json": "one", "AGENTS.md": advice})
	base := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.write(files{"agent/t.json": "two"})
	r.git("commit", "-qam", "two")
	r.write(files{"agent/t.json": "dirt"})
	p := r.pair(func(q *git.PairRequest) { q.Config, q.Base, q.Head = "agent/shipgate.yaml", base, "HEAD" })
	if read(t, p.Base, "t.json") != "one" || read(t, p.Head, "t.json") != "two" || read(t, p.HeadRoot, "AGENTS.md") != advice {
		t.Error("the sides are not those of the two commits")
	}
	if p.MergeBase != base || p.Worktree || !p.CheckedOut || !slices.Equal(p.ChangedFiles, []string{"agent/t.json"}) {
		t.Errorf("%+v", p)
	}
}

func TestAWorkingTreeIsLookedAtWhileGitAnswers(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"agent/shipgate.yaml": declared, "agent/t.json": "one"})
	r.write(files{"agent/t.json": "two"})
	var seen []string
	meanwhile := func(head fs.FS, name string) { seen = append(seen, name+": "+read(t, head, "t.json")) }
	p := r.pair(func(q *git.PairRequest) { q.Config, q.Base, q.Meanwhile = "agent/shipgate.yaml", "HEAD", meanwhile })
	if p.Gap != nil || !slices.Equal(p.ChangedFiles, []string{"agent/t.json"}) || read(t, p.Head, "t.json") != "two" {
		t.Errorf("gap %+v, changed %v", p.Gap, p.ChangedFiles)
	}
	r.pair(func(q *git.PairRequest) {
		q.Config, q.Base, q.Head, q.Meanwhile = "agent/shipgate.yaml", "HEAD", "HEAD", meanwhile // a commit is asked of git
	})
	if want := []string{"shipgate.yaml: two"}; !slices.Equal(seen, want) {
		t.Errorf("looked at %v, want %v", seen, want)
	}
}

// No link leads out of a side, on disk or in a commit, and none loops.
func TestALinkStaysInsideItsSide(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{
		"agent/shipgate.yaml": declared, "agent/real/t.json": "in", "out.json": "out",
		"agent/in.json": "-> real/t.json", "agent/dir": "-> real", "agent/up.json": "-> ../out.json",
		"agent/abs.json": "-> /etc/hostname", "agent/loop": "-> loop", "agent/git": "-> .git/config", "agent/sub/git": "-> ../.git/config", "agent/.gitx": "x",
		"agent/back.json": "-> ../agent/real/t.json",
	})
	p := r.pair(func(q *git.PairRequest) { q.Config, q.Base = "agent/shipgate.yaml", "HEAD" })
	for name, want := range map[string]string{
		"in.json": "in", "dir/t.json": "in", "up.json": "<refused>", "abs.json": "<refused>", "git": "<refused>", "back.json": "<refused>",
	} {
		for side, tree := range map[string]fs.FS{"disk": p.Head, "commit": p.Base} {
			if got := read(t, tree, name); got != want {
				t.Errorf("%s on %s: %q, want %q", name, side, got, want)
			}
		}
	}
	for _, tree := range []fs.FS{p.Head, p.Base} {
		if _, err := fs.ReadFile(tree, "loop"); err == nil {
			t.Error("a loop was read")
		}
	}
}

// What a commit holds is what reading it gives, with links and without a question
// to git for each file.
func TestACommitHoldsWhatReadingItGives(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{
		"agent/shipgate.yaml": declared, "agent/a.json": "one", "agent/empty.json": "", "agent/real/t.json": "in", "out.json": "out",
		"agent/in.json": "-> real/t.json", "agent/dir": "-> real", "agent/up.json": "-> ../out.json", "agent/loop": "-> loop",
	})
	p := r.pair(func(q *git.PairRequest) { q.Config, q.Base = "agent/shipgate.yaml", "HEAD" })
	base := p.Base.(interface {
		Holds(name string, text []byte) (fs.FileInfo, bool)
	})
	for _, name := range []string{"a.json", "empty.json", "in.json", "dir/t.json", "real", "up.json", "loop", "gone.json", "../out.json", ".git/config"} {
		text, err := fs.ReadFile(p.Base, name)
		if _, holds := base.Holds(name, text); holds != (err == nil) {
			t.Errorf("%s: held: %v, read: %v", name, holds, err)
		}
		if _, holds := base.Holds(name, append(text, 'x')); holds {
			t.Errorf("%s: it holds what it does not", name)
		}
	}
	if info, _ := base.Holds("in.json", []byte("in")); info.Name() != "in.json" || info.Size() != 2 || !info.Mode().IsRegular() {
		t.Errorf("%s of %d bytes", info.Name(), info.Size())
	}
}

// A commit as a file system keeps the rules that the standard library tests.
func TestACommitIsAFileSystem(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"shipgate.yaml": declared, "a/b/c.txt": "c", "a/d.txt": "d", "e.txt": "e"})
	p := r.pair(func(q *git.PairRequest) { q.Base = "HEAD" })
	if err := fstest.TestFS(p.Base, "shipgate.yaml", "a/b/c.txt", "a/d.txt", "e.txt"); err != nil {
		t.Error(err)
	}
}

func TestAChangeThatCannotBeReadIsAGap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		do     func(*repo)
		ask    func(*git.PairRequest)
		reason string
		needs  string
	}{
		{"a base that is not there", nil, func(q *git.PairRequest) { q.Base = "origin/gone" }, "refs_missing", "origin/gone"},
		{"a head that is not there", nil, func(q *git.PairRequest) { q.Base, q.Head = "HEAD", "gone" }, "refs_missing", "gone"},
		{"histories that never meet", func(r *repo) {
			r.git("checkout", "-q", "--orphan", "other")
			r.git("commit", "-q", "--allow-empty", "-m", "other")
		}, func(q *git.PairRequest) { q.Base, q.Head = "main", "other" }, "unrelated_histories", ""},
		{"a commit and nothing to compare it with", nil, func(q *git.PairRequest) { q.Head = "HEAD" }, "not_attempted", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{"shipgate.yaml": declared})
			if c.do != nil {
				c.do(r)
			}
			p := r.pair(c.ask)
			if p.Gap == nil || p.Gap.Reason != c.reason || strings.Join(p.Gap.Needs, " ") != c.needs {
				t.Errorf("gap %+v", p.Gap)
			}
			if len(p.Changes) > 0 {
				t.Error("a change that was not read is judged")
			}
		})
	}
}

func TestWithoutAnyCommitThereIsNothingToCompare(t *testing.T) {
	t.Parallel()
	r := newRepo(t, nil)
	r.write(files{"shipgate.yaml": declared})
	if p := r.pair(nil); p.Gap == nil || p.Gap.Reason != "git_failed" {
		t.Errorf("gap %+v", p.Gap)
	}
}
