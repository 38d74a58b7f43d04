package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// findRoot is the evaluation root: the nearest ancestor of the workspace, itself
// included, that has an entry named .git; "" when there is none (§1). It is
// looked for where the workspace really lies, as git does, since a link can
// lead into another repository. Root keeps the caller's spelling where that
// names the same folder; base is the workspace below root without any link.
func findRoot(workspace string) (root, base string) {
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		real = workspace
	}
	root = ancestorWithGit(real)
	if root == "" {
		return "", ""
	}
	below, err := filepath.Rel(root, real)
	if err != nil {
		return "", ""
	}
	if spelled := ancestorWithGit(workspace); spelled != "" && sameFolder(spelled, root) {
		root = spelled
	}
	return root, filepath.Join(root, below)
}

func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
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
	sparse  bool   // a sparse checkout, or the settings of one
	close   func() // removes what open made outside the repository
	*runner
}

// incomplete says whether objects may be absent because this clone was cut short.
func (r *repository) incomplete() bool { return r.shallow || r.partial }

// open prepares the repository at root. Only when a configuration file of the
// repository speaks of filters or includes is git asked for the drivers' names.
func open(ctx context.Context, root string, environ []string) (*repository, error) {
	r := &repository{root: root, runner: newRunner(root, environ, nil), close: func() {}}
	r.own, r.common = gitFolders(root)
	r.shallow = exists(filepath.Join(r.common, "shallow"))
	r.sparse = exists(filepath.Join(r.own, "info", "sparse-checkout"))
	ask := false
	note := func(settings []byte) {
		lower := bytes.ToLower(settings)
		says := func(word string) bool { return bytes.Contains(lower, []byte(word)) }
		ask = ask || says("[filter") || says("[include")
		r.sparse = r.sparse || says("sparse")
		r.partial = r.partial || says("partialclone") || says(".promisor")
	}
	for _, name := range []string{
		filepath.Join(r.common, "config"), filepath.Join(r.own, "config.worktree"), filepath.Join(r.common, "config.worktree"),
	} {
		data, err := readSmall(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			ask = true
		}
		note(data)
	}
	if ask {
		names, err := r.output(ctx, nil, settingsBound, "config", "--list", "-z", "--name-only")
		if err != nil {
			return nil, err
		}
		note(names)
		r.runner = newRunner(root, environ, filterDrivers(names))
	}
	if r.sparse {
		return r, r.quarantine()
	}
	return r, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// quarantine lets git write objects into a temporary folder instead of the
// repository: to list a sparse index it makes it a full one in memory, and
// stores the trees of that.
func (r *repository) quarantine() error {
	dir, remove, err := tempDir(r.root)
	if err != nil {
		return err
	}
	r.close = remove
	stored := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.Join(r.common, "objects"))
	r.runner = r.with("GIT_OBJECT_DIRECTORY="+dir, `GIT_ALTERNATE_OBJECT_DIRECTORIES="`+stored+`"`)
	return nil
}

// tempDir makes a temporary folder that is not in the repository, wherever the
// environment wants temporary files to be.
func tempDir(root string) (dir string, remove func(), err error) {
	place := os.TempDir()
	if liesBelow(root, place) {
		if place, err = os.UserCacheDir(); err != nil {
			return "", nil, err
		}
		if liesBelow(root, place) {
			return "", nil, errNoTempDir
		}
	}
	if dir, err = os.MkdirTemp(place, "shipgate-"); err != nil {
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}

var errNoTempDir = errors.New("there is no temporary folder outside the repository")

// filterDrivers are the names between "filter." and the last dot, each once. A
// driver may have the empty name: "filter=" in an attributes file runs it.
func filterDrivers(keys []byte) []string {
	var out []string
	seen := map[string]bool{}
	for key := range strings.SplitSeq(string(keys), "\x00") {
		name, ok := strings.CutPrefix(key, "filter.")
		if dot := strings.LastIndexByte(name, '.'); ok && dot >= 0 && !seen[name[:dot]] {
			seen[name[:dot]] = true
			out = append(out, name[:dot])
		}
	}
	return out
}

// relative is path below root with slashes, and whether it is inside.
func relative(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
