package worker

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/request/constitution"
)

// proposed is a configuration with one of its files replaced, as constitution.Load
// reads one. It is how a proposal is read by the same code that would load it.
type proposed struct {
	files map[string][]byte
}

// propose is the set in force with another text for a file. The lock is left out:
// a proposal changes what is locked, and whether its version does too is said of
// each file.
func propose(set *constitution.Set, name string, text []byte) proposed {
	p := proposed{map[string][]byte{name: text}}
	for _, other := range set.Paths() {
		if other != name && other != constitution.LockPath {
			p.files[other] = set.File(other)
		}
	}
	return p
}

// Open implements fs.FS.
func (p proposed) Open(name string) (fs.File, error) {
	if text, ok := p.files[name]; ok {
		return &openFile{info: fileInfo{path.Base(name), int64(len(text)), 0o444}, Reader: bytes.NewReader(text)}, nil
	}
	names := []string{}
	for file := range p.files {
		rest, below := strings.CutPrefix(file, name+"/")
		if name == "." {
			rest, below = file, true
		}
		if first, _, _ := strings.Cut(rest, "/"); below && !slices.Contains(names, first) {
			names = append(names, first)
		}
	}
	if len(names) == 0 || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	slices.Sort(names)
	d := &openFile{info: fileInfo{path.Base(name), 0, fs.ModeDir | 0o555}, Reader: bytes.NewReader(nil)}
	for _, n := range names {
		mode := fs.ModeDir | 0o555
		if _, file := p.files[path.Join(name, n)]; file {
			mode = 0o444
		}
		d.entries = append(d.entries, fs.FileInfoToDirEntry(fileInfo{n, int64(len(p.files[path.Join(name, n)])), mode}))
	}
	return d, nil
}

type openFile struct {
	*bytes.Reader
	info    fileInfo
	entries []fs.DirEntry
	read    int
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

// ReadDir implements fs.ReadDirFile.
func (f *openFile) ReadDir(n int) ([]fs.DirEntry, error) {
	left := f.entries[f.read:]
	if n <= 0 {
		f.read = len(f.entries)
		return left, nil
	}
	if len(left) == 0 {
		return nil, io.EOF
	}
	left = left[:min(n, len(left))]
	f.read += len(left)
	return left, nil
}

type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }
