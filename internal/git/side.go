package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// sideFileBound is the most bytes of one file of a side that are read into
// memory; a larger one can be opened and says its size, and has no content.
const sideFileBound = 10 << 20

// workSide is a folder of the working tree as a file system that no link leads
// out of. Opening never waits: a pipe is no file.
type workSide struct{ root *os.Root }

// openWorkSide opens the folder; the caller closes it.
func openWorkSide(dir string) (*workSide, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &workSide{root}, nil
}

func (w *workSide) close() error { return w.root.Close() }

// Open opens a file or a folder below the side's root.
func (w *workSide) Open(name string) (fs.File, error) {
	if err := openable(name); err != nil {
		return nil, err
	}
	f, err := w.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: sideError(err)}
	}
	return f, nil
}

// Stat looks at what lies at name without opening it.
func (w *workSide) Stat(name string) (fs.FileInfo, error) {
	if err := openable(name); err != nil {
		return nil, err
	}
	info, err := w.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: sideError(err)}
	}
	return info, nil
}

// openable refuses names that are none and everything of git's own folder.
func openable(name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") {
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}
	}
	return nil
}

// sideError gives what the system says the name that readers know: a link that
// leads out is fs.ErrPermission.
func sideError(err error) error {
	var system syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return fs.ErrNotExist
	case errors.Is(err, fs.ErrPermission):
		return fs.ErrPermission
	case errors.As(err, &system):
		return system
	}
	// os.Root has no exported error for "leads outside".
	return fs.ErrPermission
}

// treeSide is a folder of a commit as a file system. Links are followed inside
// of the folder, as the working tree follows them.
type treeSide struct {
	tree  *tree
	blobs *objects
	dir   string // of the repository, "" for its root
}

var errTooManyLinks = errors.New("too many links")

// Open opens a file or a folder of the commit.
func (t *treeSide) Open(name string) (fs.File, error) {
	at, e, err := t.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if e.mode == modeFolder {
		return t.folder(name, at)
	}
	obj, err := t.blobs.get(e.id, sideFileBound)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	info := sideInfo{name: path.Base(name), size: obj.size}
	return &sideFile{sideInfo: info, Reader: bytes.NewReader(obj.data)}, nil
}

// resolve follows name to a file or a folder; at is its path in the repository.
func (t *treeSide) resolve(name string) (at string, e entry, err error) {
	if err := openable(name); err != nil {
		return "", entry{}, err
	}
	rest, done, hops := name, "", 0
	if name == "." {
		rest = ""
	}
	for rest != "" {
		first, more, _ := strings.Cut(rest, "/")
		next := join(done, first)
		if e, err = t.tree.entry(join(t.dir, next)); err != nil {
			return "", entry{}, err
		}
		switch {
		case e.link():
			if hops++; hops > maxHops {
				return "", entry{}, errTooManyLinks
			}
			target, err := t.target(done, e)
			if err != nil {
				return "", entry{}, err
			}
			rest, done = path.Join(target, more), ""
			if rest == "." {
				rest = ""
			}
		case e.mode == modeFolder, e.file() && more == "":
			rest, done = more, next
		default:
			return "", entry{}, fs.ErrNotExist
		}
	}
	if done == "" {
		return t.dir, entry{mode: modeFolder}, nil
	}
	e, err = t.tree.entry(join(t.dir, done))
	return join(t.dir, done), e, err
}

// target is where a link in the folder dir leads, relative to the side's root.
func (t *treeSide) target(dir string, e entry) (string, error) {
	obj, err := t.blobs.get(e.id, maxLinkText)
	if err != nil {
		return "", err
	}
	if obj.data == nil || bytes.HasPrefix(obj.data, []byte("/")) {
		return "", fs.ErrPermission
	}
	target := path.Join(dir, string(obj.data))
	if target == ".." || strings.HasPrefix(target, "../") {
		return "", fs.ErrPermission
	}
	return target, openable(target)
}

func (t *treeSide) folder(name, at string) (fs.File, error) {
	list, err := t.tree.folder(at)
	if err == nil && list == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	d := &sideDir{sideInfo: sideInfo{name: path.Base(name), mode: fs.ModeDir}}
	for entryName, e := range list {
		info := sideInfo{name: entryName, size: -1}
		switch {
		case e.mode == modeFolder:
			info.mode = fs.ModeDir
		case e.link():
			info.mode = fs.ModeSymlink
		case !e.file():
			continue
		}
		d.entries = append(d.entries, info)
	}
	slices.SortFunc(d.entries, func(a, b sideInfo) int { return strings.Compare(a.name, b.name) })
	return d, nil
}

// sideInfo is what is known of an entry of a commit. The size of an entry of a
// listing is not known before it is opened: -1.
type sideInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i sideInfo) Name() string               { return i.name }
func (i sideInfo) Size() int64                { return i.size }
func (i sideInfo) Mode() fs.FileMode          { return i.mode }
func (i sideInfo) Type() fs.FileMode          { return i.mode.Type() }
func (i sideInfo) ModTime() time.Time         { return time.Time{} }
func (i sideInfo) IsDir() bool                { return i.mode.IsDir() }
func (i sideInfo) Sys() any                   { return nil }
func (i sideInfo) Info() (fs.FileInfo, error) { return i, nil }

// sideFile is one open file of a commit.
type sideFile struct {
	sideInfo
	*bytes.Reader
}

func (f *sideFile) Stat() (fs.FileInfo, error) { return f.sideInfo, nil }
func (f *sideFile) Close() error               { return nil }

// Size is the file's, not what is left of the reader.
func (f *sideFile) Size() int64 { return f.sideInfo.size }

// sideDir is one open folder of a commit.
type sideDir struct {
	sideInfo
	entries []sideInfo
	next    int
}

func (d *sideDir) Stat() (fs.FileInfo, error) { return d.sideInfo, nil }
func (d *sideDir) Close() error               { return nil }
func (d *sideDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir is the folder's entries by name, as fs.ReadDirFile has it.
func (d *sideDir) ReadDir(n int) ([]fs.DirEntry, error) {
	left := d.entries[d.next:]
	if n > 0 && len(left) == 0 {
		return nil, io.EOF
	}
	if n > 0 && len(left) > n {
		left = left[:n]
	}
	d.next += len(left)
	list := make([]fs.DirEntry, len(left))
	for i, e := range left {
		list[i] = e
	}
	return list, nil
}
