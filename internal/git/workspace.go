package git

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of a Workspace.
const (
	workspaceNames = 200_000
	maxLevels      = 64 // of folders that are walked
)

// Workspace is a folder as it lies on disk, with the files that belong to it:
// those that git tracks and those it does not ignore, or all of them where there
// is no repository. Close it.
type Workspace struct {
	Dir     string // absolute
	Root    string // of the repository, "" without one
	Tree    fs.FS  // of Dir; no link leads out of it, and Lstat sees links
	Names   []string
	ByGit   bool
	Partial bool // there are more than Names holds
	Nested  int  // repositories inside of it that git does not know; their files are not listed

	side *workSide
}

// Close ends what reading the workspace needs.
func (w *Workspace) Close() { w.side.close() }

// OpenWorkspace opens a folder; workspace is relative to dir. The error is a
// *ShapeError when there is no such folder. A repository that git cannot list is
// walked.
func OpenWorkspace(ctx context.Context, dir, workspace string, environ []string) (*Workspace, error) {
	at := absolute(dir, workspace)
	side, err := openWorkSide(at)
	if err != nil {
		return nil, &ShapeError{Flag: "--workspace", Msg: workspace + " is no folder that can be opened"}
	}
	w := &Workspace{Dir: at, Tree: linkTree{side}, side: side}
	root, base := findRoot(at)
	if root != "" {
		w.Root = root
		if below, inside := relative(root, base); inside {
			if err := w.list(ctx, below, environ); err == nil && len(w.Names) > 0 {
				w.ByGit = true
				return w, nil
			}
		}
	}
	w.Names, w.Partial = nil, false
	return w, w.walk()
}

var errEnough = errors.New("enough names")

// list asks git for the names below a folder of the repository.
func (w *Workspace) list(ctx context.Context, below string, environ []string) error {
	repo, err := open(ctx, w.Root, environ)
	if err != nil {
		return err
	}
	defer repo.close()
	args := []string{"ls-files", "--cached", "--others", "--exclude-standard", "-z"}
	prefix := ""
	if below != "." {
		args, prefix = append(args, "--", literal(below)), below+"/"
	}
	names := map[string]bool{}
	err = repo.stream(ctx, nil, func(in *bufio.Reader) error {
		return fields(in, func(f []byte) (int, error) {
			name, inside := strings.CutPrefix(string(f), prefix)
			switch {
			case !inside || name == "" || names[name]:
				return 0, nil
			case strings.HasSuffix(name, "/"):
				w.Nested++
				return 0, nil
			}
			if len(names) == workspaceNames {
				w.Partial = true
				return 0, nil
			}
			names[name] = true
			return len(name), nil
		})
	}, args...)
	if err != nil {
		return err
	}
	w.Names = sorted(names)
	return nil
}

// unwalked are folders that nobody keeps sources in.
var unwalked = []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox"}

// walk lists every file below the workspace; links are named, never followed.
func (w *Workspace) walk() error {
	err := fs.WalkDir(w.Tree, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // a folder that may not be read: its files are not known
			w.Partial = true
			return fs.SkipDir
		case e.IsDir():
			deep := strings.Count(name, "/") > maxLevels
			w.Partial = w.Partial || deep
			if name != "." && slices.Contains(unwalked, e.Name()) || deep {
				return fs.SkipDir
			}
			return nil
		case len(w.Names) == workspaceNames:
			w.Partial = true
			return errEnough
		}
		w.Names = append(w.Names, name)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return &ShapeError{Flag: "--workspace", Msg: filepath.Base(w.Dir) + " cannot be read"}
	}
	slices.Sort(w.Names)
	return nil
}

// linkTree is a folder whose links can be seen.
type linkTree struct{ *workSide }

// Lstat says what lies at a name, a link itself included.
func (t linkTree) Lstat(name string) (fs.FileInfo, error) {
	info, err := t.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: sideError(err)}
	}
	return info, nil
}

// ReadLink is the text of a link.
func (t linkTree) ReadLink(name string) (string, error) {
	target, err := t.root.Readlink(filepath.FromSlash(name))
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: sideError(err)}
	}
	return target, nil
}
