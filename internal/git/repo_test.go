package git_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/git"
)

// repo is a throwaway repository with one commit.
type repo struct {
	t    testing.TB
	root string
	path string // put before the search path of the check
}

// files maps a path to its text; a text that starts with "-> " is a link.
type files map[string]string

// templates holds one built repository for each base, so that a table of tests
// starts git for its own steps only.
var templates struct {
	sync.Mutex
	dir   string
	built map[string]*template
}

type template struct {
	once sync.Once
	root string
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "templates-")
	if err != nil {
		panic(err)
	}
	templates.dir, templates.built = dir, map[string]*template{}
	// Each check of a property is a repository of its own.
	if err := flag.Set("rapid.checks", "6"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// newRepo is a repository with one commit; without any when base is nil.
func newRepo(t testing.TB, base files, options ...string) *repo {
	t.Helper()
	key := fmt.Sprintf("%v %q %q", base == nil, options, slices.Sorted(maps.Keys(base)))
	for _, p := range slices.Sorted(maps.Keys(base)) {
		key += fmt.Sprintf("%q", base[p])
	}
	templates.Lock()
	made := templates.built[key]
	if made == nil {
		made = &template{root: filepath.Join(templates.dir, fmt.Sprint(len(templates.built)))}
		templates.built[key] = made
	}
	templates.Unlock()
	made.once.Do(func() {
		r := &repo{t: t, root: made.root}
		if len(options) == 0 && base != nil {
			copyTree(t, newRepo(t, nil).root, r.root)
		} else {
			r.mkdir("")
			r.git(append([]string{"init", "-q", "-b", "main", "--template="}, options...)...)
			r.mkdir(".git/info", ".git/hooks")
		}
		if base == nil {
			return
		}
		r.write(base)
		r.git("add", "-A", "-f")
		r.git("commit", "-q", "--allow-empty", "-m", "base")
	})
	r := &repo{t: t, root: filepath.Join(t.TempDir(), "repo")}
	copyTree(t, made.root, r.root)
	return r
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			text, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(text, target)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *repo) at(p string) string { return filepath.Join(r.root, filepath.FromSlash(p)) }

func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// try runs a command that may well fail, such as a merge with conflicts.
func (r *repo) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r *repo) mkdir(paths ...string) {
	r.t.Helper()
	for _, p := range paths {
		if err := os.MkdirAll(r.at(p), 0o755); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *repo) write(list files) {
	r.t.Helper()
	for p, text := range list {
		r.mkdir(filepath.Dir(p))
		full := r.at(p)
		os.Remove(full)
		if strings.HasPrefix(text, "-> ") {
			r.remove(p)
		}
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

// program writes a script. No process is started meanwhile: it would hold the
// script open for writing, and what is open for writing is not run.
func (r *repo) program(p, run string) {
	r.t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	r.write(files{p: "#!/bin/sh\n" + run + "\n"})
	if err := os.Chmod(r.at(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) append(p, text string) {
	r.t.Helper()
	old, err := os.ReadFile(r.at(p))
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(files{p: string(old) + text})
}

func (r *repo) remove(paths ...string) {
	r.t.Helper()
	for _, p := range paths {
		if err := os.RemoveAll(r.at(p)); err != nil {
			r.t.Fatal(err)
		}
	}
}

// stage writes files and adds them to the index.
func (r *repo) stage(list files) {
	r.t.Helper()
	r.write(list)
	r.git(append([]string{"add", "-f", "--"}, slices.Sorted(maps.Keys(list))...)...)
}

// commit writes files, removes those whose text is empty, and commits everything.
func (r *repo) commit(list files) {
	r.t.Helper()
	for p, text := range list {
		if text == "" {
			r.remove(p)
			delete(list, p)
		}
	}
	r.write(list)
	r.git("add", "-A", "-f")
	r.git("commit", "-q", "--allow-empty", "-m", "next")
}

func (r *repo) acquire(edit ...func(*git.Request)) (*gate.Input, error) {
	r.t.Helper()
	req := git.Request{Actor: gate.ActorCodex, Dir: r.root, Workspace: ".", Environ: os.Environ()}
	for _, e := range edit {
		e(&req)
	}
	if r.path != "" {
		req.Environ = append(req.Environ, "PATH="+r.path+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	before := r.snapshot()
	in, err := git.Acquire(context.Background(), req)
	if d := cmp.Diff(before, r.snapshot()); d != "" {
		r.t.Errorf("the repository was written to:\n%s", d)
	}
	return in, err
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

func supplied(text string) func(*git.Request) {
	return func(q *git.Request) { q.Diff = &git.Supplied{Reader: strings.NewReader(text)} }
}

// snapshot is the mode and the content of everything below the root, the git
// folder included.
func (r *repo) snapshot() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(r.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(p)
		case info.Mode().IsRegular():
			data, readErr := os.ReadFile(p)
			sum := sha256.Sum256(data)
			content, err = hex.EncodeToString(sum[:]), readErr
		}
		out[p] = info.Mode().String() + " " + content
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// The texts that most tests are about. A story names them.
const (
	settings = ".claude/settings.json"
	harmless = `{"permissions":{"allow":["Bash(make lint)"]}}` + "\n"
	grant    = `{"permissions":{"allow":["Bash(*)"]}}` + "\n"
	wider    = `{"permissions":{"allow":["Bash(*)","WebFetch"]}}` + "\n"
	advice   = "Run the checks first.\n"
	laxer    = "Run the checks if you like.\n"
)

var named = map[string]string{
	harmless: "harmless", grant: "grant", wider: "wider", advice: "advice", laxer: "laxer", "": `""`,
}

// story is an input as a person would tell it, one line for each fact:
//
//	files  every changed file
//	disk, index, range or a token of a detached diff
//	       a change with both texts
//	issue  a code and its path
//	record a record of the working tree or of the only after-state
//	staged a record of the index
func story(in *gate.Input) string {
	var b strings.Builder
	line := func(parts ...string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		b.WriteString(strings.Join(parts, " ") + "\n")
	}
	line("files", strings.Join(in.ChangedFiles, " "))
	changes := slices.Clone(in.Changes)
	slices.SortStableFunc(changes, func(a, b surface.Change) int { return strings.Compare(a.Path, b.Path) })
	for _, c := range changes {
		line(token(c.Source), c.Path+":", side(c.Old), "->", side(c.New), marks(&c))
	}
	var issues []string
	for _, i := range in.Issues {
		issues = append(issues, "issue "+strings.TrimPrefix(i.Code, "boundary_")+" "+i.Path)
		if i.Message == "" {
			issues = append(issues, "issue without a message "+i.Path)
		}
	}
	slices.Sort(issues)
	for _, i := range issues {
		line(i)
	}
	if len(in.LinkPoints) > 0 {
		line("link points", strings.Join(in.LinkPoints, " "))
	}
	for i := range in.Records {
		word := "record"
		if i >= in.IndexFrom {
			word = "staged"
		}
		line(word, record(&in.Records[i]))
	}
	return b.String()
}

func token(t surface.Token) string {
	switch t {
	case surface.GitWorktree:
		return "disk"
	case surface.GitIndex:
		return "index"
	case surface.GitRange:
		return "range"
	}
	return string(t)
}

func side(s surface.Side) string {
	text := string(s.Bytes)
	switch name := named[text]; {
	case s.Unresolved != "":
		return "(" + strings.TrimPrefix(s.Unresolved, "boundary_") + ")"
	case !s.Present:
		return "absent"
	case name != "":
		return name
	}
	return fmt.Sprintf("%q", text)
}

func marks(c *surface.Change) string {
	var out []string
	for mark, on := range map[string]bool{
		"deleted": c.Deleted, "mode-only": c.ModeOnly, "unlisted": !c.Listed, "manifest": c.Manifest, "policy": c.Policy,
		"gate-action": c.ActionUsesGate,
	} {
		if on {
			out = append(out, mark)
		}
	}
	if c.Link != nil {
		show := func(s *string) string {
			if s == nil {
				return "none"
			}
			return *s
		}
		out = append(out, "link:"+show(c.Link.Old)+","+show(c.Link.New))
	}
	slices.Sort(out)
	if len(out) == 0 {
		return ""
	}
	return "[" + strings.Join(out, " ") + "]"
}

func record(r *diff.Record) string {
	word, modes := "edited", r.OldMode+".."+r.NewMode
	switch {
	case r.New:
		word, modes = "new", r.NewMode
	case r.Deleted:
		word, modes = "deleted", r.OldMode
	case r.Renamed:
		word = "renamed from " + r.OldName
	}
	if r.OldMode == r.NewMode && r.OldMode != "" {
		modes = r.OldMode
	}
	lines := ""
	if r.HasHunks {
		lines = fmt.Sprintf(" -%d +%d", len(r.Removed()), len(r.Added()))
	}
	if r.Binary {
		lines = " binary"
	}
	return r.Path() + " " + word + " " + modes + lines
}

// expect compares a story with what a test tells; indentation is free.
func expect(t testing.TB, in *gate.Input, want string) {
	t.Helper()
	var lines []string
	for l := range strings.SplitSeq(want, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	if d := cmp.Diff(strings.Join(lines, "\n")+"\n", story(in)); d != "" {
		t.Errorf("the change is told differently (-want +got):\n%s", d)
	}
}

// change is the change of path p that the after-state token shows.
func change(t testing.TB, in *gate.Input, p string, token surface.Token) *surface.Change {
	t.Helper()
	for i := range in.Changes {
		if c := &in.Changes[i]; c.Path == p && c.Source == token {
			return c
		}
	}
	t.Fatalf("no change of %s from %s:\n%s", p, token, story(in))
	return nil
}

// requestOf is the request that a test edits.
type requestOf = git.Request

func workspace(dir string) func(*requestOf) { return func(q *requestOf) { q.Workspace = dir } }

func config(p string) func(*requestOf) { return func(q *requestOf) { q.Config = p } }

func policy(p string) func(*requestOf) { return func(q *requestOf) { q.Policy = p } }

func symlink(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
