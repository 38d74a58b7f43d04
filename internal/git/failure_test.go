package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
)

// Each way in which there is no change to judge has an answer of its own
// (docs/spec/boundary.md §1, §2.3).
func TestFailures(t *testing.T) {
	t.Parallel()
	base := files{settings: harmless, "notes.txt": "one\n"}
	forged := func(r *repo, name, content string) {
		r.write(files{"../forged": content})
		path := func(id string) string { return r.at(".git/objects/" + id[:2] + "/" + id[2:]) }
		kind := r.git("cat-file", "-t", name)
		data, err := os.ReadFile(path(r.git("hash-object", "-w", "--literally", "-t", kind, "../forged")))
		if err != nil {
			r.t.Fatal(err)
		}
		target := path(r.git("rev-parse", name))
		os.Remove(target)
		if err := os.WriteFile(target, data, 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	lose := func(r *repo, name string) {
		id := r.git("rev-parse", name)
		r.remove(".git/objects/" + id[:2] + "/" + id[2:])
	}
	damage := func(r *repo, name string) {
		id := r.git("rev-parse", name)
		r.remove(".git/objects/" + id[:2] + "/" + id[2:])
		r.write(files{".git/objects/" + id[:2] + "/" + id[2:]: "no object"})
	}
	worktree := func(*requestOf) {}
	for _, row := range []struct {
		name string
		do   func(r *repo)
		edit func(*requestOf)
		want gate.Failure
	}{
		{"no repository", func(r *repo) { r.remove(".git") }, worktree, gate.NoRepository},
		{"no repository, but refs", func(r *repo) { r.remove(".git") }, refs("a", "b"), gate.RefMissing},
		{"no repository, but a diff", func(r *repo) { r.remove(".git") }, supplied(""), gate.NoRepository},
		{"a bare repository", func(r *repo) { copyTree(r.t, r.at(".git"), r.root); r.remove(".git") }, worktree, gate.NoRepository},
		{"a ref that is not there", func(*repo) {}, refs("main", "nowhere"), gate.RefMissing},
		{"a ref that is no commit", func(*repo) {}, refs("main", "main:notes.txt"), gate.RefMissing},
		{"a ref of two lines", func(*repo) {}, refs("main", "main\nmain"), gate.RefMissing},
		{"an ambiguous ref", func(*repo) {}, refs("main", "^main"), gate.RefMissing},
		{"no common history", func(r *repo) {
			r.git("checkout", "-q", "--orphan", "other")
			r.git("commit", "-q", "-m", "other")
		}, refs("main", "other"), gate.HistoryUnjoined},
		{"a forged old text", func(r *repo) {
			r.write(files{settings: grant})
			forged(r, "HEAD:"+settings, grant+" ")
		}, worktree, gate.ObjectDamaged},
		{"a forged old text of a range", func(r *repo) {
			r.commit(files{settings: grant})
			forged(r, "HEAD~1:"+settings, wider)
		}, refs("HEAD~1", "HEAD"), gate.ObjectDamaged},
		{"a forged tree on the way to a link's target", func(r *repo) {
			r.commit(files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice, "kit/a.md": advice})
			r.write(files{"CLAUDE.md": laxer})
			forged(r, "HEAD:docs", "")
		}, worktree, gate.ObjectDamaged},
		{"a forged commit", func(r *repo) {
			r.commit(files{"CLAUDE.md": "-> docs/a.md", "docs/a.md": advice})
			r.write(files{"CLAUDE.md": laxer})
			forged(r, "HEAD", strings.Replace(r.git("cat-file", "commit", "HEAD")+"\n", "next", "text", 1))
		}, worktree, gate.ObjectDamaged},
		{"a lost object in a complete clone", func(r *repo) {
			r.commit(files{settings: grant})
			lose(r, "HEAD~1:"+settings)
		}, refs("HEAD~1", "HEAD"), gate.ObjectDamaged},
		{"a lost object of HEAD", func(r *repo) { r.write(files{settings: grant}); lose(r, "HEAD:"+settings) }, worktree, gate.ObjectDamaged},
		{"a damaged object", func(r *repo) { r.write(files{settings: grant}); damage(r, "HEAD:"+settings) }, worktree, gate.ObjectDamaged},
		{"a damaged tree", func(r *repo) { r.write(files{settings: grant}); damage(r, "HEAD^{tree}") }, worktree, gate.ObjectDamaged},
		{"a broken configuration file", func(r *repo) { r.append(".git/config", "[core\n") }, worktree, gate.GitFailed},
		{"a broken value", func(r *repo) { r.append(".git/config", "[core]\n\tabbrev = x\n") }, worktree, gate.GitFailed},
		{"an unknown extension", func(r *repo) {
			r.append(".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfromTheFuture = true\n")
		}, worktree, gate.GitFailed},
		{"a broken index", func(r *repo) { r.write(files{".git/index": "x"}) }, worktree, gate.GitFailed},
		{"no git", func(*repo) {}, func(q *requestOf) { q.Environ = []string{"PATH=/nowhere"} }, gate.GitFailed},
		{"no search path", func(*repo) {}, func(q *requestOf) { q.Environ = nil }, gate.GitFailed},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			row.do(r)
			_ = failed(t, r, row.want, row.edit)
		})
	}
	t.Run("an unborn HEAD, and with something staged", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, nil)
		_ = failed(t, r, gate.HeadUnborn)
		r.stage(files{settings: grant})
		_ = failed(t, r, gate.HeadUnborn)
	})
	t.Run("a shallow clone", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		r.git("checkout", "-q", "-b", "side")
		r.commit(files{settings: grant})
		r.git("checkout", "-q", "main")
		r.commit(files{"notes.txt": "two\n"})
		r.git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+r.root, "../shallow")
		shallow := &repo{t: t, root: r.at("../shallow")}
		_ = failed(t, shallow, gate.HistoryShallow, refs("origin/main", "origin/side"))
		_ = failed(t, shallow, gate.RefMissing, refs("origin/main~1", "origin/main"))
		expect(t, shallow.input(refs("origin/main", "origin/main")), `files`)
		shallow.write(files{settings: grant})
		expect(t, shallow.input(), `
			files .claude/settings.json
			disk .claude/settings.json: harmless -> grant
			record .claude/settings.json edited 100644 -1 +1`)
	})
	t.Run("a partial clone", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		r.commit(files{settings: grant})
		r.git("config", "uploadpack.allowFilter", "true")
		r.git("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+r.root, "../partial")
		partial := &repo{t: t, root: r.at("../partial")}
		_ = failed(t, partial, gate.ObjectsMissing, refs("HEAD~1", "HEAD"))
		_ = failed(t, partial, gate.WorktreeObjects)
	})
}

// failed expects a failure, and that nothing was written.
func failed(t *testing.T, r *repo, want gate.Failure, edit ...func(*requestOf)) *git.InputError {
	t.Helper()
	in, err := r.acquire(edit...)
	e, ok := errors.AsType[*git.InputError](err)
	switch {
	case !ok:
		t.Fatalf("got %v and %v, want %s", in, err, want)
	case e.Failure != want:
		t.Fatalf("got %v, want %s", err, want)
	case !e.Failure.Valid():
		t.Errorf("%s is no failure of the gate", e.Failure)
	case strings.Contains(e.Detail, r.root), len(e.Detail) > 300:
		t.Errorf("the detail shows a local path, or too much: %q", e.Detail)
	}
	return e
}

// What git says is passed on in one short line, without local paths.
func TestTheDetailOfAFailure(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ says, want string }{
		"paths are masked": {
			`echo "fatal: cannot open '/home/jo/My Work/x' or C:\\Users\\jo: no" >&2`,
			"git status: fatal: cannot open '<path>' or C:<path> no",
		},
		"the root is masked with its blanks": {`echo "fatal: bad $PWD/.git/config" >&2`, "git status: fatal: bad <path>"},
		"refs and options stay":              {`echo "fatal: bad refs/heads/main --no-index" >&2`, "git status: fatal: bad refs/heads/main --no-index"},
		"control characters go":              {`printf 'a\033[31mb\007\n\nc\302\233d' >&2`, "git status: a[31mb cd"},
		"no more than 240 characters":        {`printf 'é%.0s' $(seq 300) >&2`, "git status: " + strings.Repeat("é", 114)},
		"a flood is swallowed":               {`head -c 50000000 /dev/zero | tr '\0' x >&2`, "git status: " + strings.Repeat("x", 228)},
		"nothing is said":                    {`:`, "git status: exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{"a": "b\n"})
			tools := &repo{t: t, root: t.TempDir()}
			tools.program("git", "case \" $* \" in *' status '*) "+row.says+"; exit 1;; esac")
			r.path = tools.root
			if e := failed(t, r, gate.GitFailed); e.Detail != row.want {
				t.Errorf("got  %q\nwant %q", e.Detail, row.want)
			}
		})
	}
}

// A git that does not answer, says too much or says what nobody understands.
func TestAGitThatMisbehaves(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		does   string
		detail string
	}{
		"hangs":                      {`case " $* " in *' status '*) exec sleep 60;; esac`, "Git did not answer in time."},
		"hangs holding its output":   {`case " $* " in *' status '*) sleep 3 & exec sleep 60;; esac`, "Git did not answer in time."},
		"lists without end":          {`case " $* " in *' status '*) exec cat /dev/zero | tr '\0' x;; esac`, "git status: its output is over the bound"},
		"lists what is no listing":   {`case " $* " in *' status '*) printf '?\0';; esac`, "git status: its output is malformed"},
		"breaks off in the middle":   {`case " $* " in *' ls-files '*) printf 'H 100644 0 0\ta';; esac`, "git ls-files: unexpected EOF"},
		"lists an entry of no shape": {`case " $* " in *' ls-files '*) printf 'H 100644 0\0';; esac`, "git ls-files: its output is malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{"a": "b\n"})
			tools := &repo{t: t, root: t.TempDir()}
			tools.program("git", row.does)
			ctx := context.Background()
			if strings.Contains(name, "hangs") {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
				defer cancel()
			}
			started := time.Now()
			_, err := git.Acquire(ctx, git.Request{
				Dir: r.root, Workspace: ".", Environ: append(os.Environ(), "PATH="+tools.root+string(filepath.ListSeparator)+os.Getenv("PATH")),
			})
			e, ok := errors.AsType[*git.InputError](err)
			if !ok || e.Failure != gate.GitFailed || e.Detail != row.detail {
				t.Errorf("got %#v, want %q", err, row.detail)
			}
			if took := time.Since(started); strings.Contains(name, "hangs") && took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A request that is wrong in itself has no result at all (§1, shape error 7).
func TestAConfigThatNamesNoOneFile(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{
		"shipgate.yaml": manifest(), "conf/gate.yaml": manifest(), "linked.yaml": "-> conf/gate.yaml", "way": "-> conf",
	})
	link(r, "conf/gate.yaml", "second.yaml")
	r.write(files{"conf/one.yaml": manifest()})
	for given, want := range map[string]string{
		"conf/one.yaml":           "",
		"./conf/../conf/one.yaml": "",
		r.at("conf/one.yaml"):     "",
		"none.yaml":               "",
		"shipgate.yaml":           "",
		"../out.yaml":             "outside the repository",
		"/etc/passwd":             "outside the repository",
		".":                       "outside the repository",
		"linked.yaml":             "not one regular file",
		"way/one.yaml":            "not one regular file",
		"second.yaml":             "not one regular file",
		"conf":                    "not one regular file",
	} {
		for mode, edit := range map[string]func(*requestOf){"worktree": func(*requestOf) {}, "a diff": supplied("")} {
			_, err := r.acquire(config(given), edit)
			e, ok := errors.AsType[*git.ShapeError](err)
			switch {
			case want == "" && err != nil:
				t.Errorf("%s for a %s: %v", given, mode, err)
			case want != "" && (!ok || e.Flag != "--config" || !strings.Contains(e.Msg, want)):
				t.Errorf("%s for a %s: %v, want %q", given, mode, err, want)
			}
		}
	}
	t.Run("over 4 MiB", func(t *testing.T) {
		t.Parallel()
		large := plain(t, files{"large.yaml": strings.Repeat("#", 4<<20+1)})
		_, err := large.acquire(config("large.yaml"), supplied(""))
		if e, ok := errors.AsType[*git.ShapeError](err); !ok || !strings.Contains(e.Msg, "over 4 MiB") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the default name is answered with a result", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"m.yaml": manifest(), "shipgate.yaml": "-> m.yaml"})
		for _, given := range []string{"", "shipgate.yaml"} {
			expect(t, r.input(config(given)), `
				files
				issue input_symlink_or_external shipgate.yaml`)
		}
	})
}
