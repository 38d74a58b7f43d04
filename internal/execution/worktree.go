package execution

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// add makes a worktree at path with a new branch at a commit.
func (r *repository) add(ctx context.Context, path, branch, commit string) (*tree, error) {
	if _, err := r.output(ctx, "worktree", "add", "--quiet", "-b", branch, "--", path, commit); err != nil {
		return nil, err
	}
	folder, err := pointed(filepath.Join(path, ".git"), path, "gitdir: ")
	if err != nil {
		return nil, err
	}
	return &tree{Path: path, GitDir: folder, Branch: branch}, nil
}

// settled is what a command left in its worktree.
type settled struct {
	head string
	// added is how many paths the runner committed for it; left says that
	// something is only in the worktree.
	added int
	left  bool
}

// settle finds where the worktree stands. With commit, what was changed and not
// committed becomes a commit of its own, so that nothing is lost. The branch of
// the run is moved to the head, wherever the command left HEAD.
//
// What a filter would have to change first is left where it is: without the
// filter other bytes would be committed than the person's git would. So is a
// repository inside the worktree, of which a commit would keep the name alone.
func (r *repository) settle(ctx context.Context, t *tree, commit bool, message string) (settled, error) {
	var s settled
	for _, name := range []string{"index.lock", "HEAD.lock"} { // of a git that was killed; nobody else works here
		if err := os.Remove(filepath.Join(t.GitDir, name)); err != nil && !os.IsNotExist(err) {
			return s, err
		}
	}
	head, err := r.in(ctx, t, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return s, fmt.Errorf("the worktree stands at no commit: %w", err)
	}
	s.head = string(head)
	changed, tracked, err := r.changed(ctx, t)
	if err != nil {
		return s, err
	}
	if commit && len(changed) > 0 {
		if err := r.keep(ctx, t, &s, changed, message); err != nil {
			return s, err
		}
	} else {
		s.left = tracked
	}
	_, err = r.output(ctx, "update-ref", "refs/heads/"+t.Branch, s.head)
	return s, err
}

// changed is the paths that differ from HEAD, and whether one of them is tracked.
func (r *repository) changed(ctx context.Context, t *tree) (paths []string, tracked bool, err error) {
	list, err := r.in(ctx, t, nil, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return nil, false, err
	}
	for entry := range strings.SplitSeq(string(list), "\x00") {
		if len(entry) < 4 {
			continue
		}
		paths = append(paths, entry[3:])
		tracked = tracked || entry[:2] != "??"
	}
	return paths, tracked, nil
}

// keep commits paths with git's plumbing: no hook, no editor, no signature, and
// a merge or rebase that was under way stays as it is.
func (r *repository) keep(ctx context.Context, t *tree, s *settled, paths []string, message string) error {
	filtered, err := r.filtered(ctx, t, paths)
	if err != nil {
		return err
	}
	var take bytes.Buffer
	for _, p := range paths {
		if filtered[p] || strings.HasSuffix(p, "/") {
			s.left = true
			continue
		}
		take.WriteString(p + "\x00")
		s.added++
	}
	if s.added == 0 {
		return nil
	}
	if _, err := r.in(ctx, t, take.Bytes(), "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return err
	}
	id, err := r.in(ctx, t, nil, "write-tree")
	if err != nil {
		return err
	}
	before, err := r.in(ctx, t, nil, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return err
	}
	if bytes.Equal(id, before) {
		s.added = 0
		return nil
	}
	made, err := r.in(ctx, t, nil, "commit-tree", "-p", s.head, "-m", message, string(id))
	if err != nil {
		return err
	}
	s.head = string(made)
	_, err = r.in(ctx, t, nil, "update-ref", "HEAD", s.head)
	return err
}

// filtered is which of the paths have a filter attribute.
func (r *repository) filtered(ctx context.Context, t *tree, paths []string) (map[string]bool, error) {
	out, err := r.in(ctx, t, []byte(strings.Join(paths, "\x00")+"\x00"), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if v := fields[i+2]; v != "unspecified" && v != "unset" {
			found[fields[i]] = true
		}
	}
	return found, nil
}

// remove takes a worktree away; its branch stays.
func (r *repository) remove(ctx context.Context, t *tree) error {
	if _, err := r.output(ctx, "worktree", "remove", "--force", "--", t.Path); err == nil {
		return nil
	}
	// A folder without write permission, such as a cache of modules, stops git.
	if err := removeAll(t.Path); err != nil {
		return err
	}
	_, err := r.output(ctx, "worktree", "prune")
	return err
}

// removeAll is os.RemoveAll that is not stopped by folders without write
// permission.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o700) //nolint:gosec // a folder must be entered to be emptied
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(path)
}
