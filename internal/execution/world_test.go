//go:build !windows

package execution_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/pipeline/phase"
)

func TestMain(m *testing.M) {
	if os.Getenv("EXECUTION_TEST_RUNNER") != "" {
		os.Exit(runnerProcess())
	}
	dir, err := os.MkdirTemp("", "execution-")
	if err != nil {
		panic(err)
	}
	templateDir = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir) // a temporary folder
		os.Exit(code)
	}), goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// world is a repository somebody works in, a service, and a folder for runs.
type world struct {
	t       *testing.T
	repo    string
	state   string
	base    string
	service *service
	out     buffer
	notes   buffer
	conf    execution.Config
	names   atomic.Int64
}

// buffer is written by runners and read by tests.
type buffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newWorld(t *testing.T, p phase.Phase) *world {
	t.Helper()
	w := &world{t: t, repo: filepath.Join(t.TempDir(), "place"), state: filepath.Join(t.TempDir(), "runs"), service: newService(p)}
	if err := os.CopyFS(w.repo, os.DirFS(template(t))); err != nil {
		t.Fatal(err)
	}
	w.base = gitIn(t, w.repo, "rev-parse", "HEAD")
	w.service.base, w.service.head = w.base, w.base
	// Every hook of the repository would be noticed.
	for _, hook := range []string{"post-checkout", "pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"} {
		w.script(filepath.Join(".git", "hooks", hook), "echo ran >> "+filepath.Join(w.repo, ".git", "hook-ran"))
	}
	w.conf = execution.Config{
		Judge: judge, Repo: w.repo, State: w.state, NewID: func() string { return fmt.Sprintf("run-%d", w.names.Add(1)) },
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Environ: os.Environ(),
		Output: &w.out, Notes: &w.notes, Grace: 2 * time.Second,
	}
	return w
}

var templateDir string

// template is a repository in which somebody is in the middle of something.
func template(t *testing.T) string {
	t.Helper()
	if exists(filepath.Join(templateDir, ".git")) {
		return templateDir
	}
	w := &world{t: t, repo: templateDir}
	w.git("init", "--quiet", "--initial-branch=main")
	w.git("config", "user.name", "Ada")
	w.git("config", "user.email", "ada@example.invalid")
	w.write("hello.txt", "hello\n")
	w.write("other.txt", "other\n")
	w.write("go.sum", "sum\r\n")
	w.write(".gitignore", "*.ignored\n")
	w.git("add", "--all")
	w.git("commit", "--quiet", "-m", "Begin")
	w.write("hello.txt", "hello, half done\n")
	w.write("staged.txt", "staged\n")
	w.git("add", "staged.txt")
	w.write("untracked.txt", "untracked\n")
	return templateDir
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.repo, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// script writes a program. No process is started meanwhile: it would hold the
// program open for writing, and what is open for writing is not run.
func (w *world) script(name, text string) {
	w.t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(filepath.Join(w.repo, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return gitIn(w.t, w.repo, args...)
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (w *world) runner() *execution.Runner {
	w.t.Helper()
	c := w.conf
	if c.Server == nil {
		c.Server = w.service
	}
	r, err := execution.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// run runs a shell script as the command of the task.
func (w *world) run(script string) *execution.Result {
	w.t.Helper()
	res, err := w.runner().Run(w.t.Context(), w.order(script))
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

func (w *world) order(script string) execution.Order {
	return execution.Order{Task: "TS-001", Phase: w.service.phase, Command: []string{"sh", "-c", ownGit + script}}
}

// ownGit keeps the hooks out of what a command commits by itself: those that run
// in a test are the runner's fault then.
const ownGit = `git() { command git -c core.hooksPath=/dev/null "$@"; }; `

// untouched is everything of the repository that a run must leave alone.
func (w *world) untouched() string {
	w.t.Helper()
	var b strings.Builder
	for _, name := range []string{"HEAD", "config", "index", "refs/heads/main", "logs/HEAD"} {
		text, err := os.ReadFile(filepath.Join(w.repo, ".git", name))
		if err != nil {
			w.t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		b.WriteString(name + " " + hex.EncodeToString(sum[:]) + "\n")
	}
	err := filepath.WalkDir(w.repo, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(name + " " + info.Mode().String() + " " + info.ModTime().String())
		if !d.IsDir() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			b.Write(text)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.repo, ".git", "hook-ran")); err == nil {
		w.t.Error("a hook of the repository ran")
	}
	return b.String()
}

// folders is what is left of runs.
func (w *world) folders() []string {
	w.t.Helper()
	entries, err := os.ReadDir(w.state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func evidence(t *testing.T, e *execution.End) map[string]any {
	t.Helper()
	if e == nil {
		t.Fatal("there is no account")
	}
	var v map[string]any
	if err := json.Unmarshal(e.Evidence, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// until waits for something another process does.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// judge runs the gate on a committed range, as a shell wires it.
func judge(ctx context.Context, r execution.Range) (*gate.Result, error) {
	input, err := git.Acquire(ctx, git.Request{Actor: r.Actor, Dir: r.Dir, Workspace: ".", Base: r.Base, Head: r.Head, Environ: r.Environ})
	if unread, ok := errors.AsType[*git.InputError](err); ok {
		return gate.ErrorResult(gate.ErrorInput{
			Actor: r.Actor, Mode: gate.GitRange, Failure: unread.Failure, Detail: unread.Detail, Workspace: ".", Base: r.Base, Head: r.Head,
			Root: r.Dir, Config: filepath.Join(r.Dir, "shipgate.yaml"),
		}), nil
	}
	if err != nil {
		return nil, err
	}
	return gate.Check(*input)
}
