//go:build unix

package shipgate_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// errCannotBuild says that the installed git does not know what a case needs.
var errCannotBuild = errors.New("the installed git cannot build this repository")

// scene is the repository of one case and how the check is called on it.
type scene struct {
	c   *boundaryCase
	top string // everything of the case lies below
	dir string // the working tree that is judged
	// workspace, args and stdin are what the check gets, cwd is where it is called.
	cwd       string
	workspace string
	args      []string
	stdin     []byte
	sentinel  string // a program of the repository that runs leaves this name behind
	changes   []byte // what git says has changed; guards against cases that change nothing
	tick      int
	variation *variation // nil for the case as it is told
}

func buildCase(t *testing.T, c *boundaryCase) (*scene, error) {
	t.Helper()
	return buildVaried(t, c, nil)
}

// buildVaried builds a case in another of the ways that must not matter.
func buildVaried(t *testing.T, c *boundaryCase, v *variation) (*scene, error) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		return nil, err
	}
	s := &scene{
		c: c, top: top, cwd: top, dir: filepath.Join(top, "repo"), sentinel: filepath.Join(top, "started"), args: c.Args,
		variation: v,
	}
	for _, dir := range []string{s.dir, s.home()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := s.build(); err != nil {
		return nil, err
	}
	if empty := len(bytes.TrimSpace(s.changes)) == 0; c.Changes == "some" && empty || c.Changes == "none" && !empty {
		return nil, fmt.Errorf("the case is to change %s and changes %q", c.Changes, s.changes)
	}
	started, err := filepath.Glob(s.sentinel + "*")
	for _, name := range started {
		err = errors.Join(err, os.Remove(name))
	}
	return s, err
}

func (s *scene) home() string { return filepath.Join(s.top, "home") }

// environ is the environment of every git that builds the case: nothing of the
// person who runs the tests, fixed authors and dates.
func (s *scene) environ() []string {
	stamp := fmt.Sprintf("%d +0000", s.variation.clock(s.tick))
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home(), "XDG_CONFIG_HOME=" + filepath.Join(s.home(), ".config"),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Case Author", "GIT_AUTHOR_EMAIL=author@example.invalid", "GIT_AUTHOR_DATE=" + stamp,
		"GIT_COMMITTER_NAME=Case Author", "GIT_COMMITTER_EMAIL=author@example.invalid", "GIT_COMMITTER_DATE=" + stamp,
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C.UTF-8", "TZ=UTC",
	}
}

func (s *scene) git(args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.dir, s.environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// steps runs git commands, each written as words, until one fails.
func (s *scene) steps(commands ...[]string) error {
	for _, args := range commands {
		if _, err := s.git(args...); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) initialise() error {
	if len(s.c.Init) == 0 {
		empty, err := emptyRepository()
		if err != nil {
			return err
		}
		return os.CopyFS(s.dir, empty)
	}
	return initialise(s.git, s.dir, s.c.Init...)
}

// emptyRepository is what git init makes, started once for all cases.
var emptyRepository = sync.OnceValues(func() (fs.FS, error) {
	dir, err := os.MkdirTemp("", "empty-repository-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := scene{dir: dir, top: dir}
	if err := initialise(s.git, dir); err != nil {
		return nil, err
	}
	kept := fstest.MapFS{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		file := &fstest.MapFile{}
		if err == nil && !d.IsDir() {
			file.Data, err = os.ReadFile(path)
		}
		if err == nil {
			file.Mode = info.Mode()
			kept[filepath.ToSlash(rel)] = file
		}
		return err
	})
	return kept, err
})

func initialise(git func(...string) ([]byte, error), dir string, options ...string) error {
	if _, err := git(append(words("init -q -b main --template="), options...)...); err != nil {
		return fmt.Errorf("%w: %w", errCannotBuild, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("[core]\n\tautocrlf = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	return errors.Join(err, f.Close())
}

func (s *scene) commit(message string) error {
	s.tick++
	return s.steps(words("-c commit.gpgsign=false commit -q --allow-empty --no-verify -m", message))
}

func (s *scene) build() error {
	c := s.c
	var err error
	switch c.History {
	case "none":
		err = errors.Join(s.apply("base"), s.apply("head"))
		s.changes = []byte("no repository")
		return s.finish(err)
	case "unborn":
		err = errors.Join(s.initialise(), s.apply("base"), s.apply("head"))
		if err == nil && c.Mode == "staged" {
			err = s.stage("head", false)
		}
		if err == nil {
			s.changes, err = s.git(words("status --porcelain -uall")...)
		}
		return s.finish(err)
	}
	if err := s.base(); err != nil {
		return err
	}
	if c.Mode == "worktree" || c.Mode == "staged" {
		err = s.uncommitted()
	} else {
		err = s.committed()
	}
	return s.finish(err)
}

func (s *scene) base() error {
	c := s.c
	if err := errors.Join(s.initialise(), s.variation.earlier(s)); err != nil {
		return err
	}
	if err := errors.Join(s.apply("base"), s.stage("base", true), s.commit("base"), s.checkOut(c.CheckedOut)); err != nil {
		return err
	}
	if c.Sparse != nil {
		args := words("sparse-checkout set --cone")
		if c.SparseIndex {
			args = append(args, "--sparse-index")
		}
		if err := s.steps(append(args, c.Sparse...)); err != nil {
			return err
		}
	}
	return s.flags(c.IndexFlags)
}

func (s *scene) flags(flags map[string][]string) error {
	for flag, paths := range flags {
		if err := s.steps(append([]string{"update-index", "--" + flag, "--"}, paths...)); err != nil {
			return err
		}
	}
	return nil
}

// uncommitted leaves the change on disk, or in the index with more on disk.
func (s *scene) uncommitted() error {
	c := s.c
	if c.History == "linked" {
		linked := filepath.Join(s.top, "linked")
		if err := s.steps(words("worktree add -q -b change", linked)); err != nil {
			return err
		}
		s.dir = linked
	}
	if err := s.apply("head"); err != nil {
		return err
	}
	var err error
	switch {
	case c.History == "conflict":
		err = s.conflict()
	case c.Mode == "staged":
		err = errors.Join(s.stage("head", false), s.flags(c.FlagsAfter), s.apply("worktree"), s.checkOut(c.StagedOut))
		for _, path := range c.WorktreeDelete {
			err = errors.Join(err, os.Remove(s.path(path)))
		}
	}
	for _, path := range c.IntentToAdd {
		err = errors.Join(err, s.steps(words("add --intent-to-add --", path)))
	}
	if err != nil {
		return err
	}
	s.changes, err = s.git(words("status --porcelain -uall")...)
	return err
}

// conflict leaves an unfinished merge.
func (s *scene) conflict() error {
	err := errors.Join(
		s.steps(words("checkout -q -b change")), s.stage("head", false), s.commit("change"),
		s.steps(words("checkout -q main")), s.apply("upstream"), s.stage("upstream", false), s.commit("upstream"),
		s.steps(words("checkout -q change")))
	if err != nil {
		return err
	}
	if _, err := s.git(words("merge -q --no-commit main")...); err == nil {
		return errors.New("the merge has no conflict")
	}
	return nil
}

// committed puts the change on a branch of its own.
func (s *scene) committed() error {
	c := s.c
	err := errors.Join(s.steps(words("checkout -q -b change")), s.apply("head"), s.stage("head", false), s.commit("change"))
	if err == nil && (c.History == "diverged" || c.History == "merge") {
		err = errors.Join(
			s.steps(words("checkout -q main")), s.apply("upstream"), s.stage("upstream", false), s.commit("upstream"),
			s.steps(words("checkout -q change")))
	}
	if err == nil && c.History == "merge" {
		s.tick++
		err = errors.Join(
			s.steps(words("merge -q --no-ff --no-commit -s ort main")), s.apply("merge"), s.stage("merge", false),
			s.commit("merge main"))
	}
	if err != nil {
		return err
	}
	if s.changes, err = s.git(words("diff --name-status main...change")...); err != nil {
		return err
	}
	shallow := strings.HasPrefix(c.History, "shallow")
	if shallow {
		branches := "--single-branch"
		if c.History == "shallow-both" {
			branches = "--no-single-branch"
		}
		clone := filepath.Join(s.top, "clone")
		if err := s.steps(words("clone -q --depth 1 --branch change", branches, "file://"+s.dir, clone)); err != nil {
			return err
		}
		s.dir = clone
	}
	if c.Mode == "diff" {
		return s.supply()
	}
	if !shallow {
		err = s.apply("worktree")
		for _, path := range c.WorktreeDelete {
			err = errors.Join(err, os.Remove(s.path(path)))
		}
	}
	named := false
	for _, arg := range c.Args {
		named = named || arg == "--base" || arg == "--head"
	}
	if !named {
		base := "main"
		if shallow {
			base = "origin/main"
		}
		s.args = append(s.args[:len(s.args):len(s.args)], "--base", base, "--head", "HEAD")
	}
	return err
}

// supply makes the diff that the check gets instead of the commits.
func (s *scene) supply() error {
	d := s.c.Diff
	var text []byte
	var err error
	switch {
	case d.Text != nil:
		text = []byte(*d.Text)
	case d.B64 != nil:
		text, err = base64.StdEncoding.DecodeString(*d.B64)
	default:
		options := d.Options
		if options == nil {
			options = []string{"-M"}
		}
		args := append(words("diff --no-ext-diff --no-textconv --no-color"), options...)
		text, err = s.git(append(args, "main", "change")...)
	}
	if err != nil {
		return err
	}
	if d.CRLF {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if d.Cut > 0 {
		text = text[:min(d.Cut, len(text))]
	}
	s.changes = text
	if d.Checkout == "" || d.Checkout == "base" {
		if err := s.steps(words("checkout -q main")); err != nil {
			return err
		}
	}
	file := filepath.Join(s.top, "change.diff")
	switch {
	case d.Missing:
		file = filepath.Join(s.top, "absent.diff")
	case d.Stdin:
		file, s.stdin = "-", text
	default:
		err = os.WriteFile(file, text, 0o644)
	}
	s.args = append(s.args[:len(s.args):len(s.args)], "--diff", file)
	return err
}

func (s *scene) path(path string) string { return filepath.Join(s.dir, filepath.FromSlash(path)) }

func (s *scene) write(path string, text []byte) error {
	full := s.path(path)
	if info, err := os.Lstat(full); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(full); err != nil {
			return err
		}
	}
	return errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, text, s.variation.mode()))
}

// prune removes the folders that a removed file leaves empty.
func (s *scene) prune(dir string) {
	for dir != s.dir && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// apply puts one layer of the case into the working tree.
func (s *scene) apply(layer string) error {
	c := s.c
	if layer == "head" {
		for _, path := range c.Delete {
			if err := os.Remove(s.path(path)); err != nil {
				return err
			}
			s.prune(filepath.Dir(s.path(path)))
		}
		for _, pair := range c.Rename {
			from, to := s.path(pair[0]), s.path(pair[1])
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)); err != nil {
				return err
			}
			s.prune(filepath.Dir(from))
		}
	}
	if err := s.stored(layer); err != nil {
		return err
	}
	for _, path := range s.variation.order(c.Text[layer]) {
		if err := s.write(path, []byte(c.Text[layer][path])); err != nil {
			return err
		}
	}
	for path, data := range c.Bytes[layer] {
		text, err := base64.StdEncoding.DecodeString(data)
		if err := errors.Join(err, s.write(path, text)); err != nil {
			return err
		}
	}
	for path, f := range c.Fill[layer] {
		if err := s.write(path, []byte(f.Prefix+strings.Repeat(f.Repeat, f.Count)+f.Suffix)); err != nil {
			return err
		}
	}
	for path, target := range c.Links[layer] {
		full := s.path(path)
		if err := os.Remove(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.Symlink(target, full)); err != nil {
			return err
		}
	}
	for path, mode := range c.Modes[layer] {
		bits, err := strconv.ParseUint(mode, 8, 32)
		if err := errors.Join(err, os.Chmod(s.path(path), fs.FileMode(bits))); err != nil {
			return err
		}
	}
	return nil
}

// stored writes the layer's files that lie beside case.json, each under its
// name without the extra .txt.
func (s *scene) stored(layer string) error {
	top := filepath.Join(s.c.dir, layer)
	if _, err := os.Stat(top); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		name, ok := strings.CutSuffix(filepath.ToSlash(rel), ".txt")
		if !ok {
			return fmt.Errorf("%s does not end in .txt", path)
		}
		text, err := os.ReadFile(path)
		return errors.Join(err, s.write(name, text))
	})
}

func (s *scene) stage(layer string, force bool) error {
	args := words("add -A")
	if force {
		args = append(args, "-f")
	}
	if err := s.steps(append(args, "--", ".")); err != nil {
		return err
	}
	if layer == "head" {
		for _, path := range s.c.Untrack {
			if err := s.steps(words("rm -q --cached --", path)); err != nil {
				return err
			}
		}
	}
	for path, commit := range s.c.Gitlinks[layer] {
		if err := os.MkdirAll(s.path(path), 0o755); err != nil {
			return err
		}
		if err := s.steps(words("update-index --add --cacheinfo", "160000,"+commit+","+path)); err != nil {
			return err
		}
	}
	return nil
}

// checkOut puts other bytes on disk and lets git take them for the committed
// ones, as a filter or a line-end conversion does.
func (s *scene) checkOut(files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	before, err := s.git(words("ls-files -s")...)
	if err != nil {
		return err
	}
	for path, text := range files {
		stored, err := s.git("cat-file", "blob", ":"+path)
		if err != nil {
			return err
		}
		blob := filepath.Join(s.home(), "blob")
		attributes := filepath.Join(s.dir, ".git", "info", "attributes")
		old := time.Unix(1000000000, 0)
		err = errors.Join(
			os.WriteFile(blob, stored, 0o644), s.write(path, []byte(text)), os.Chtimes(s.path(path), old, old),
			s.write(".git/info/attributes", []byte("* filter=case -text -ident !eol !working-tree-encoding\n")),
			s.steps([]string{"-c", "filter.case.clean=cat '" + blob + "'", "add", "--", path}),
			os.Remove(attributes))
		if err != nil {
			return err
		}
	}
	after, err := s.git(words("ls-files -s")...)
	if err == nil && !bytes.Equal(after, before) {
		err = errors.New("checked_out has changed the index")
	}
	return err
}
