package reader

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"

	"plimsoll.dev/internal/verify/tool"
)

// Record is what every source of one side was read from. The other side of a
// change has the same manifest most of the time, and nearly all of its files: a
// reader that would open the same files, with the same bytes, would find the same
// tools.
type Record struct {
	sources []recorded
	large   sync.Mutex // held by the one large source that is being read
}

// largeSource is how many bytes make a source large: what is made of it takes
// many times as much memory, so that no two of them are read at once.
const largeSource = 1 << 20

// recorded is one source: what its reader opened, in that order, and found.
type recorded struct {
	seen    []seen
	whole   bool // seen is every answer, and reading all that was made of them
	reading *tool.Reading
}

// seen is one answer of the tree.
type seen struct {
	name    string
	missing bool
	text    []byte        // of a file
	folder  fs.FileInfo   // of a folder
	entries []fs.DirEntry // of a folder, by name
}

// again is the reading of source i where another tree gives every answer that
// its reader was given, else nil.
func (r *Record) again(i int, tree fs.FS) *tool.Reading {
	if r == nil || i >= len(r.sources) || !r.sources[i].whole {
		return nil
	}
	for n := range r.sources[i].seen {
		if !r.sources[i].seen[n].stands(tree) {
			return nil
		}
	}
	return r.sources[i].reading
}

// stands says whether another tree gives the same answer.
func (s *seen) stands(tree fs.FS) bool {
	if h, ok := tree.(tool.Holder); ok && s.text != nil {
		if _, ok := h.Holds(s.name, s.text); ok {
			return true
		}
	}
	is, ok := look(tree, s.name)
	return ok && s.equal(&is)
}

func (s *seen) equal(o *seen) bool {
	return s.missing == o.missing && (s.folder == nil) == (o.folder == nil) && bytes.Equal(s.text, o.text) &&
		slices.EqualFunc(s.entries, o.entries, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() && a.Type() == b.Type() })
}

// look opens a name. It answers false for what cannot be compared: a file that
// is too large or no file at all, and an error of another kind than "not there".
func look(tree fs.FS, name string) (s seen, ok bool) {
	s.name = name
	f, err := tree.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		s.missing = true
		return s, true
	}
	if err != nil {
		return s, false
	}
	defer f.Close()
	if text, ok := tool.TextOf(f); ok {
		s.text = text
		return s, true
	}
	list, ok := f.(fs.ReadDirFile)
	info, err := f.Stat()
	if !ok || err != nil || !info.IsDir() {
		return s, false
	}
	s.folder = info
	s.entries, err = list.ReadDir(-1)
	slices.SortFunc(s.entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return s, err == nil
}

// watched is a tree that remembers what it answered.
type watched struct {
	tree fs.FS
	seen []seen
	lost bool // it gave an answer that cannot be compared

	large *sync.Mutex
	size  int64
	holds bool
}

// opened counts what the source takes, and waits where another one is large, too.
func (w *watched) opened(bytes int64) {
	if w.size += bytes; w.size > largeSource && !w.holds {
		w.large.Lock()
		w.holds = true
	}
}

// end lets the next large source be read.
func (w *watched) end() {
	if w.holds {
		w.large.Unlock()
	}
}

// Open opens a name and remembers what was there. A folder that was opened just
// before is not listed again: whoever walks through one asks first what it is.
func (w *watched) Open(name string) (fs.File, error) {
	if n := len(w.seen); n > 0 && w.seen[n-1].name == name && w.seen[n-1].folder != nil {
		return w.folder(&w.seen[n-1]), nil
	}
	s, ok := look(w.tree, name)
	if !ok {
		w.lost = true
		w.opened(tool.MaxFile) // nobody knows how much it is
		return w.tree.Open(name)
	}
	w.opened(int64(len(s.text)))
	w.seen = append(w.seen, s)
	if s.folder == nil {
		return w.tree.Open(name)
	}
	return w.folder(&s), nil
}

func (w *watched) folder(s *seen) fs.File {
	return &watchedFolder{info: s.folder, of: w, left: s.entries}
}

// watchedFolder lists what was remembered.
type watchedFolder struct {
	info fs.FileInfo
	of   *watched
	left []fs.DirEntry
}

// Stat is the folder as it was opened first.
func (f *watchedFolder) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing: the folder was read at once.
func (f *watchedFolder) Close() error { return nil }

// Read is no way to read a folder.
func (f *watchedFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: fs.ErrInvalid}
}

// ReadDir is fs.ReadDirFile.
func (f *watchedFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(f.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.left) {
		n = len(f.left)
	}
	list := make([]fs.DirEntry, n)
	for i, e := range f.left[:n] {
		list[i] = watchedEntry{e, f.of}
	}
	f.left = f.left[n:]
	return list, nil
}

// watchedEntry is an entry of which more than its name and type may be asked:
// then it cannot be compared.
type watchedEntry struct {
	fs.DirEntry
	of *watched
}

// Info is the entry's size and time.
func (e watchedEntry) Info() (fs.FileInfo, error) {
	e.of.lost = true
	return e.DirEntry.Info()
}
