package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The issue codes a read can end with (§11.2).
const (
	codeOversized  = "boundary_input_oversized"
	codeExternal   = "boundary_input_symlink_or_external"
	codeUnreadable = "boundary_input_unreadable"
	codeBinary     = "boundary_input_binary"
	codeNonUTF8    = "boundary_input_non_utf8"
	codeFiltered   = "boundary_input_filtered"
)

// readError is a read the strict reader refused; code is an issue code.
type readError struct{ code string }

func (e *readError) Error() string { return e.code }

var (
	errOversized  = &readError{codeOversized}
	errExternal   = &readError{codeExternal}
	errUnreadable = &readError{codeUnreadable}
	errBinary     = &readError{codeBinary}
)

// disk is the working tree as it lies there. Names are compared by their
// bytes: a name that the file system resolves although no such entry is stored
// is an alias and is refused (§2.5).
type disk struct {
	root  string
	names map[string]map[string]bool // folder → stored entry names
	block []byte                     // what files are hashed through

	// folders are plain folders under their stored names, while many files are held
	// against the index and nothing of them is kept; nil looks at each every time.
	folders map[string]bool
}

func newDisk(root string) *disk {
	return &disk{root: root, names: map[string]map[string]bool{}}
}

func (d *disk) full(path string) string { return filepath.Join(d.root, filepath.FromSlash(path)) }

// stored says whether the folder holds an entry of exactly this name.
func (d *disk) stored(dir, name string) (bool, error) {
	known, ok := d.names[dir]
	if !ok {
		f, err := os.Open(d.full(dir))
		if err != nil {
			return false, err
		}
		list, err := f.Readdirnames(-1)
		f.Close()
		if err != nil {
			return false, err
		}
		known = make(map[string]bool, len(list))
		for _, n := range list {
			known[n] = true
		}
		d.names[dir] = known
	}
	return known[name], nil
}

// state is what lies at a path whose parent folders are plain folders.
type state struct {
	info   fs.FileInfo // nil when nothing lies there
	parent string      // the parent folder that is a link; "" when none is
}

// look finds what lies at path. A parent that is a link, or no folder, ends the
// search there.
func (d *disk) look(path string) (state, error) {
	dir, rest := "", path
	for {
		name, more, cut := strings.Cut(rest, "/")
		at := join(dir, name)
		if cut && d.folders[at] {
			dir, rest = at, more
			continue
		}
		info, err := os.Lstat(d.full(at))
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			return state{}, nil
		}
		if err != nil {
			return state{}, errUnreadable
		}
		if ok, err := d.stored(dir, name); err != nil || !ok {
			if err != nil {
				return state{}, errUnreadable
			}
			return state{}, errExternal
		}
		if !cut {
			return state{info: info}, nil
		}
		if isLink(info) {
			return state{parent: at}, nil
		}
		if !info.IsDir() {
			return state{}, nil
		}
		if d.folders != nil {
			d.folders[at] = true
		}
		dir, rest = at, more
	}
}

func isLink(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0
}

// read is the strict reader: the bytes of the regular file at path, or an issue
// code in a *readError, or fs.ErrNotExist.
func (d *disk) read(path string, bound int64) ([]byte, error) {
	st, err := d.look(path)
	if err != nil {
		return nil, err
	}
	switch {
	case st.parent != "":
		return nil, errExternal
	case st.info == nil:
		return nil, fs.ErrNotExist
	}
	return readFile(d.full(path), st.info, bound)
}

// readOutside reads a file the caller named by a path of the file system, such
// as a diff or an explicit policy: the rules hold for the last component.
func readOutside(name string, bound int64) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return nil, fs.ErrNotExist
	case errors.Is(err, fs.ErrPermission):
		return nil, fs.ErrPermission
	case err != nil:
		return nil, errUnreadable
	}
	return readFile(name, info, bound)
}

// readFile reads a file that before says is there. It must be the same regular
// file with one link before, on and after the read.
func readFile(full string, before fs.FileInfo, bound int64) ([]byte, error) {
	if !before.Mode().IsRegular() || linkCount(before) != 1 {
		return nil, errExternal
	}
	if before.Size() > bound {
		return nil, errOversized
	}
	f, err := openNoFollow(full)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("%w: %w", errUnreadable, fs.ErrPermission)
		}
		return nil, errUnreadable
	}
	defer f.Close()
	on, err := f.Stat()
	if err != nil || !sameFile(before, on) {
		return nil, errUnreadable
	}
	data, err := io.ReadAll(io.LimitReader(f, bound+1))
	if err != nil {
		return nil, errUnreadable
	}
	if int64(len(data)) > bound {
		return nil, errOversized
	}
	after, err := os.Lstat(full)
	if err != nil || !sameFile(before, after) || int64(len(data)) != after.Size() {
		return nil, errUnreadable
	}
	return data, nil
}

// sameFile says whether both are the same unmoved file.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() &&
		a.ModTime().Equal(b.ModTime()) && linkCount(a) == linkCount(b) && changeTime(a) == changeTime(b)
}

// asReadError says whether err is a refused read, which is an issue and no
// failure of the whole check.
func asReadError(err error) (*readError, bool) { return errors.AsType[*readError](err) }

// codeOf is the issue code of a failed read; unreadable for any other error.
func codeOf(err error) string {
	var r *readError
	if errors.As(err, &r) {
		return r.code
	}
	return codeUnreadable
}
