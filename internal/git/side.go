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
	"sync"
	"syscall"
	"time"
)

// sideFileBound is the most bytes of one file of a side that are read into
// memory; a larger one can be opened and says its size, and has no content.
const sideFileBound = 10 << 20

// workSide is a folder of the working tree as a file system that no link leads
// out of. Opening never waits: a pipe is no file.
type workSide struct {
	root *os.Root

	// folders are paths that are folders and no links: each is looked at once, and
	// the first openFolders are kept open, so that what lies in one is reached in
	// one step; the others are nil. If somebody changes a folder meanwhile, no root
	// leads outside of it.
	mu      sync.Mutex
	folders map[string]*os.Root
	opened  int
}

// openFolders is how many folders of a side are kept open at most.
const openFolders = 128

// openWorkSide opens the folder; the caller closes it.
func openWorkSide(dir string) (*workSide, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &workSide{root: root, folders: map[string]*os.Root{}}, nil
}

func (w *workSide) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.folders {
		if r != nil {
			r.Close()
		}
	}
	return w.root.Close()
}

// reach is the open folder that a path is reached from, and the rest of the path.
func (w *workSide) reach(name string) (*os.Root, string) {
	w.mu.Lock()
	r := w.folders[path.Dir(name)]
	w.mu.Unlock()
	if r == nil {
		return w.root, filepath.FromSlash(name)
	}
	return r, path.Base(name)
}

// keep remembers a folder.
func (w *workSide) keep(name string) {
	w.mu.Lock()
	room := w.opened < openFolders
	if room {
		w.opened++
	}
	w.mu.Unlock()
	var r *os.Root
	if room {
		from, rest := w.reach(name)
		r, _ = from.OpenRoot(rest) // without it, the way there is longer
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders[name] != nil { // somebody else opened it meanwhile
		if r != nil {
			r.Close()
		}
		return
	}
	w.folders[name] = r
}

// Open opens a file or a folder below the side's root.
func (w *workSide) Open(name string) (fs.File, error) {
	at, _, err := follow(name, w.look)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	from, rest := w.reach(at)
	f, err := from.OpenFile(rest, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: sideError(err)}
	}
	return f, nil
}

func (w *workSide) look(name string) (fs.FileMode, string, error) {
	w.mu.Lock()
	_, known := w.folders[name]
	w.mu.Unlock()
	if known {
		return fs.ModeDir, "", nil
	}
	from, rest := w.reach(name)
	info, err := from.Lstat(rest)
	if err != nil {
		return 0, "", sideError(err)
	}
	if !isLink(info) {
		if info.IsDir() {
			w.keep(name)
		}
		return info.Mode(), "", nil
	}
	target, err := from.Readlink(rest)
	if err != nil {
		return 0, "", sideError(err)
	}
	return fs.ModeSymlink, target, nil
}

var errTooManyLinks = errors.New("too many links")

// follow leads a name through links to what it stands for, inside of one side
// and never through git's own folder. look says what lies at a path none of
// whose folders is a link, and where it leads if it is one.
func follow(name string, look func(string) (mode fs.FileMode, target string, err error)) (at string, mode fs.FileMode, err error) {
	if err := openable(name); err != nil {
		return "", 0, err
	}
	rest, done, hops := name, ".", 0
	mode = fs.ModeDir
	for rest != "." && rest != "" {
		first, more, _ := strings.Cut(rest, "/")
		next := path.Join(done, first)
		var target string
		if mode, target, err = look(next); err != nil {
			return "", 0, err
		}
		if mode&fs.ModeSymlink == 0 {
			if more != "" && !mode.IsDir() {
				return "", 0, fs.ErrNotExist
			}
			rest, done = more, next
			continue
		}
		if hops++; hops > maxHops {
			return "", 0, errTooManyLinks
		}
		if len(target) > maxLinkText || target == "" || strings.HasPrefix(target, "/") {
			return "", 0, fs.ErrPermission
		}
		rest, done, mode = path.Join(done, target, more), ".", fs.ModeDir
		if rest == ".." || strings.HasPrefix(rest, "../") {
			return "", 0, fs.ErrPermission
		}
		if err := openable(rest); err != nil {
			return "", 0, err
		}
	}
	return done, mode, nil
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

// Open opens a file or a folder of the commit.
func (t *treeSide) Open(name string) (fs.File, error) {
	at, mode, err := follow(name, t.look)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if mode.IsDir() {
		return t.folder(name, at)
	}
	e, err := t.entry(at)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	obj, err := t.blobs.get(e.id, sideFileBound)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	info := sideInfo{name: path.Base(name), size: obj.size}
	return &sideFile{sideInfo: info, Reader: bytes.NewReader(obj.data)}, nil
}

// Holds says whether the commit has a file of exactly these bytes, by their id.
func (t *treeSide) Holds(name string, text []byte) (fs.FileInfo, bool) {
	at, mode, err := follow(name, t.look)
	if err != nil || mode != 0 {
		return nil, false
	}
	e, err := t.entry(at)
	if err != nil || !e.file() || objectID("blob", text, len(e.id)) != e.id {
		return nil, false
	}
	return sideInfo{name: path.Base(name), size: int64(len(text))}, true
}

// entry is what the commit has at a path of the side.
func (t *treeSide) entry(at string) (entry, error) { return t.tree.entry(t.place(at)) }

func (t *treeSide) place(at string) string {
	if at == "." {
		return t.dir
	}
	return join(t.dir, at)
}

// look says what lies at a path; a submodule is nothing.
func (t *treeSide) look(name string) (fs.FileMode, string, error) {
	e, err := t.entry(name)
	switch {
	case err != nil:
		return 0, "", err
	case e.mode == modeFolder:
		return fs.ModeDir, "", nil
	case e.link():
		obj, err := t.blobs.get(e.id, maxLinkText)
		if err != nil {
			return 0, "", err
		}
		return fs.ModeSymlink, string(obj.data), nil
	case e.file():
		return 0, "", nil
	}
	return 0, "", fs.ErrNotExist
}

func (t *treeSide) folder(name, at string) (fs.File, error) {
	list, err := t.tree.folder(t.place(at))
	if err == nil && list == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	d := &sideDir{sideInfo: sideInfo{name: path.Base(name), mode: fs.ModeDir}}
	for entryName, e := range list {
		item := sideEntry{sideInfo: sideInfo{name: entryName}, side: t, at: path.Join(at, entryName)}
		switch {
		case e.mode == modeFolder:
			item.mode = fs.ModeDir
		case e.link():
			item.mode = fs.ModeSymlink
		case !e.file():
			continue
		}
		d.entries = append(d.entries, item)
	}
	slices.SortFunc(d.entries, func(a, b sideEntry) int { return strings.Compare(a.name, b.name) })
	return d, nil
}

// sideInfo is what is known of an entry of a commit.
type sideInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i sideInfo) Name() string       { return i.name }
func (i sideInfo) Size() int64        { return i.size }
func (i sideInfo) Mode() fs.FileMode  { return i.mode }
func (i sideInfo) Type() fs.FileMode  { return i.mode.Type() }
func (i sideInfo) ModTime() time.Time { return time.Time{} }
func (i sideInfo) IsDir() bool        { return i.mode.IsDir() }
func (i sideInfo) Sys() any           { return nil }

// sideEntry is one entry of a listing. Its size is asked for only when somebody
// wants it.
type sideEntry struct {
	sideInfo
	side *treeSide
	at   string
}

// Info is the entry with its size.
func (e sideEntry) Info() (fs.FileInfo, error) {
	if e.mode != 0 {
		return e.sideInfo, nil
	}
	f, err := e.side.Open(e.at)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// sideFile is one open file of a commit.
type sideFile struct {
	sideInfo
	*bytes.Reader
}

func (f *sideFile) Stat() (fs.FileInfo, error) { return f.sideInfo, nil }
func (f *sideFile) Close() error               { return nil }

// Size is the file's, not what is left of the reader.
func (f *sideFile) Size() int64 { return f.sideInfo.size } //nolint:staticcheck // the reader has a method of this name

// sideDir is one open folder of a commit.
type sideDir struct {
	sideInfo
	entries []sideEntry
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
