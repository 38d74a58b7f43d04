package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"plimsoll.dev/internal/fault"
)

// findRoot is the evaluation root: the nearest ancestor of dir, itself
// included, that has an entry named .git; "" when there is none (§1). A
// workspace that is itself a link is looked at where it leads, too.
func findRoot(dir string) string {
	if root := ancestorWithGit(dir); root != "" {
		return root
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		return ancestorWithGit(real)
	}
	return ""
}

func ancestorWithGit(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitFolders are the folder that belongs to this worktree and the one all
// worktrees share; both are the same in a plain repository.
func gitFolders(root string) (own, common string) {
	own = filepath.Join(root, ".git")
	if data, err := readSmall(own); err == nil {
		target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
		if !ok {
			return own, own
		}
		own = absolute(root, target)
	}
	common = own
	if data, err := readSmall(filepath.Join(own, "commondir")); err == nil {
		common = absolute(own, strings.TrimRight(string(data), "\r\n"))
	}
	return own, common
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// readSmall reads a file below the git folder, at most settingsBound bytes.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > settingsBound {
		return nil, errUnreadable
	}
	return os.ReadFile(name)
}

// repository is one repository, ready to be asked.
type repository struct {
	root    string
	own     string // the worktree's git folder
	common  string
	shallow bool
	partial bool
	close   func() // removes what open made outside the repository
	*runner
}

// open prepares the repository at root. Only when a configuration file of the
// repository speaks of filters or includes is git asked for the drivers' names.
func open(ctx context.Context, root string, environ []string) (*repository, error) {
	r := &repository{root: root, runner: newRunner(root, environ, nil), close: func() {}}
	r.own, r.common = gitFolders(root)
	_, err := os.Lstat(filepath.Join(r.common, "shallow"))
	r.shallow = err == nil
	ask, sparse := false, false
	for _, name := range []string{
		filepath.Join(r.common, "config"), filepath.Join(r.own, "config.worktree"), filepath.Join(r.common, "config.worktree"),
	} {
		data, err := readSmall(name)
		if err != nil && !os.IsNotExist(err) {
			ask = true
			continue
		}
		lower := bytes.ToLower(data)
		ask = ask || bytes.Contains(lower, []byte("[filter")) || bytes.Contains(lower, []byte("[include"))
		r.partial = r.partial || bytes.Contains(lower, []byte("partialclone"))
		sparse = sparse || bytes.Contains(lower, []byte("sparse"))
	}
	if ask {
		out, err := r.output(ctx, nil, settingsBound, "config", "--list", "-z", "--name-only")
		if err != nil {
			return nil, err
		}
		r.runner = newRunner(root, environ, filterDrivers(out))
	}
	if sparse {
		return r, r.quarantine()
	}
	return r, nil
}

// quarantine lets git write objects into a temporary folder instead of the
// repository: to list a sparse index it makes it a full one in memory, and
// stores the trees of that.
func (r *repository) quarantine() error {
	dir, remove, err := tempDir()
	if err != nil {
		return err
	}
	r.close = remove
	stored := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.Join(r.common, "objects"))
	r.runner = r.with("GIT_OBJECT_DIRECTORY="+dir, `GIT_ALTERNATE_OBJECT_DIRECTORIES="`+stored+`"`)
	return nil
}

// filterDrivers are the names between "filter." and the last dot, each once.
func filterDrivers(list []byte) []string {
	var out []string
	seen := map[string]bool{}
	for _, key := range strings.Split(string(list), "\x00") {
		name, ok := strings.CutPrefix(key, "filter.")
		if dot := strings.LastIndexByte(name, '.'); ok && dot > 0 && !seen[name[:dot]] {
			seen[name[:dot]] = true
			out = append(out, name[:dot])
		}
	}
	return out
}

// lexical makes path absolute against dir without resolving any link.
func lexical(dir, path string) string { return absolute(dir, path) }

// relative is path below root with slashes, and whether it is inside.
func relative(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func internal(op string, err error) error { return fault.E(op, fault.Internal, "read the change", err) }
