package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
	"plimsoll.dev/internal/verify/tool"
)

// Side is one side of a change, loaded: its manifest and what its tools may do.
type Side struct {
	Surface *effect.Surface
	Packs   []*manifest.PackFile
	Files   []File // everything that was read, by path; nil for the base of a change
}

// File is one file that a side was read from. Paths are relative to the
// manifest's folder.
type File struct {
	Path   string
	SHA256 string // 64 hex digits
	Size   int64
}

// read notes one more file that the side was read from.
func (s *Side) read(f File) {
	at, found := slices.BinarySearchFunc(s.Files, f, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if !found {
		s.Files = slices.Insert(s.Files, at, f)
	}
}

// LoadOptions is what a side needs to know besides its files.
type LoadOptions struct {
	Name  string   // of the manifest in its folder
	Today string   // YYYY-MM-DD
	Packs []string // policy packs besides the manifest's, relative to its folder

	Each tool.Each     // who reads the sources; nil for one after the other
	YAML source.Parser // of the manifest; nil for source.ParseYAML
}

// ErrNoManifest says that the side has no manifest at all.
var ErrNoManifest = errors.New("there is no manifest")

// Load reads one side. The tree's root is the manifest's folder. Errors are
// ErrNoManifest, *manifest.Errors (exit code 2), *effect.ConfigError (2) and
// *tool.SourceError (3).
func Load(tree fs.FS, opt LoadOptions) (*Side, error) {
	l, err := read(tree, opt, nil)
	if err != nil {
		return nil, err
	}
	return l.side(nil)
}

// loading is a side whose sources are read and not judged yet.
type loading struct {
	opt      LoadOptions
	seen     *readOnce
	manifest *manifest.Manifest
	text     []byte
	reading  *tool.Reading
	record   *reader.Record
	prepared *effect.Prepared
}

// read reads the manifest and the sources of one side. What the other side was
// read from, it need not read again where both have it alike; other may be nil.
func read(tree fs.FS, opt LoadOptions, other *loading) (*loading, error) {
	seen := &readOnce{tree: tree, files: map[string]*content{}}
	text, failed := tool.ReadFile(seen, opt.Name)
	if failed != nil {
		if failed.Problem == tool.NotThere {
			return nil, ErrNoManifest
		}
		return nil, failed
	}
	l := &loading{opt: opt, seen: seen, text: text}
	var before *reader.Record
	if other != nil && bytes.Equal(text, other.text) {
		l.manifest, before = other.manifest, other.record // nobody changes a manifest
	} else {
		m, err := manifest.Load(text, manifest.Options{Name: opt.Name, KnownCheck: check.Known, CheckIDs: check.IDs(), Today: opt.Today, YAML: opt.YAML})
		if err != nil {
			return nil, err
		}
		l.manifest = m
	}
	if l.reading, l.record, failed = reader.ReadLike(l.manifest, seen, opt.Each, before); failed != nil {
		return nil, failed
	}
	return l, nil
}

// Ahead is a head whose sources were read before it was known what changed.
type Ahead struct {
	head *loading
	err  error
}

// ReadAhead reads what Verify will read of the head. The tree's root is the
// manifest's folder.
func ReadAhead(head fs.FS, opt LoadOptions) *Ahead {
	a := &Ahead{}
	a.head, a.err = read(head, opt, nil)
	return a
}

// side is the side, and what it was read from. other is as in judge.
func (l *loading) side(other *effect.Surface) (*Side, error) {
	if l.prepared == nil {
		if err := l.prepare(nil); err != nil {
			return nil, err
		}
	}
	side, err := l.judge(other)
	if err == nil {
		side.Files = l.seen.read()
	}
	return side, err
}

// prepare finds out which tools the side has and who may call them. What the other
// side has alike is found once; like may be nil.
func (l *loading) prepare(like *effect.Prepared) (err error) {
	l.prepared, err = effect.PrepareLike(l.manifest, l.reading, l.opt.Each, like)
	return err
}

// judge says what the tools may do. What the other side has alike is judged once;
// other may be nil.
func (l *loading) judge(other *effect.Surface) (*Side, error) {
	surface, err := l.prepared.Judge(other)
	if err != nil {
		return nil, err
	}
	surface.Warnings = append(surface.Warnings, unfilled(l.manifest)...)
	packs, err := loadPacks(l.manifest, l.reading, l.seen, l.opt.Packs)
	if err != nil {
		return nil, err
	}
	return &Side{Surface: surface, Packs: packs}, nil
}

// loadPacks reads the policy packs that the manifest names. An optional pack
// that is not there is a warning.
func loadPacks(m *manifest.Manifest, r *tool.Reading, tree fs.FS, more []string) ([]*manifest.PackFile, error) {
	var packs []*manifest.PackFile
	named := slices.Clone(m.Checks.Packs)
	for _, p := range more {
		named = append(named, manifest.Pack{ID: p, Path: p})
	}
	for _, p := range named {
		text, failed := tool.ReadFile(tree, p.Path)
		if failed != nil && p.Optional && failed.Problem == tool.NotThere {
			r.Warnings = append(r.Warnings, tool.Warning{
				Code: "missing_optional_source", Message: "The policy pack " + p.Path + " is not there.", SourceID: p.ID,
				Origin: tool.Origin{Type: "policy_pack", SourceID: p.ID, Ref: p.Path, Path: p.Path},
			})
			continue
		}
		if failed != nil {
			failed.SourceID = p.ID
			return nil, failed
		}
		if sum := digest(text); p.SHA256 != "" && !strings.EqualFold(strings.TrimPrefix(p.SHA256, "sha256:"), sum) {
			return nil, &tool.SourceError{SourceID: p.ID, Path: p.Path, Problem: tool.Malformed, Detail: "is not the policy pack whose sha256 the manifest names"}
		}
		pack, err := manifest.ParsePack(p.Path, text)
		if err != nil {
			return nil, &tool.SourceError{SourceID: p.ID, Path: p.Path, Problem: tool.Malformed, Detail: err.Error(), Err: err}
		}
		pack.ID = p.ID
		packs = append(packs, pack)
	}
	return packs, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// readOnce reads each file of a tree at most once, so that what was hashed is
// what was judged.
type readOnce struct {
	tree fs.FS

	mu    sync.Mutex
	files map[string]*content
}

type content struct {
	info fs.FileInfo
	text []byte
	err  error
}

// Open gives a file's bytes as they were read first. Folders and files over the
// limit go through.
func (r *readOnce) Open(name string) (fs.File, error) {
	r.mu.Lock()
	c, ok := r.files[name]
	r.mu.Unlock()
	if ok {
		return c.open()
	}
	f, err := r.tree.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > tool.MaxFile {
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	defer f.Close()
	c = &content{info: info}
	c.text, c.err = whole(f, info.Size())
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, ok := r.files[name]; ok {
		c = first // another source read it meanwhile
	}
	r.files[name] = c
	return c.open()
}

// Holds says of what was not read yet what the tree below says. What it holds
// counts as read.
func (r *readOnce) Holds(name string, text []byte) (fs.FileInfo, bool) {
	r.mu.Lock()
	c, ok := r.files[name]
	r.mu.Unlock()
	if ok {
		return c.info, c.err == nil && bytes.Equal(c.text, text)
	}
	below, ok := r.tree.(tool.Holder)
	if !ok {
		return nil, false
	}
	info, ok := below.Holds(name, text)
	if !ok {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.files[name]; ok {
		return c.info, c.err == nil && bytes.Equal(c.text, text) // another source read it meanwhile
	}
	r.files[name] = &content{info: info, text: text}
	return info, true
}

// whole is the bytes of a file, one more than the limit at most.
func whole(f fs.File, size int64) ([]byte, error) {
	text := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := text.ReadFrom(io.LimitReader(f, tool.MaxFile+1))
	return text.Bytes(), err
}

func (c *content) open() (fs.File, error) {
	if c.err != nil {
		return nil, c.err
	}
	f := &contentFile{Reader: bytes.NewReader(c.text), info: readInfo{c.info, int64(len(c.text))}}
	if len(c.text) > tool.MaxFile {
		return f, nil // it grew meanwhile
	}
	return &textFile{f, c.text}, nil
}

type contentFile struct {
	*bytes.Reader
	info readInfo
}

// textFile is one whose bytes need not be copied.
type textFile struct {
	*contentFile
	text []byte
}

// Text is the bytes, as tool.Texter has it.
func (f *textFile) Text() []byte { return f.text }

func (f *contentFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *contentFile) Close() error               { return nil }

// readInfo is the file as it was read: a file that grew meanwhile has the size
// of the bytes at hand.
type readInfo struct {
	fs.FileInfo
	size int64
}

func (i readInfo) Size() int64        { return i.size }
func (i readInfo) ModTime() time.Time { return time.Time{} }

// read lists what was read.
func (r *readOnce) read() []File {
	files := make([]File, 0, len(r.files))
	for name, c := range r.files {
		if c.err == nil {
			files = append(files, File{Path: path.Clean(name), SHA256: digest(c.text), Size: int64(len(c.text))})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}
