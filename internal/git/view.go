package git

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

// view is one side of a change as a tree of entries: a commit, the disk, or
// the index. All paths are repository-relative.
type view interface {
	// at is what lies at path, all of whose parents are plain folders of this
	// view. The zero entry: nothing. A nested repository is a gitlink.
	at(path string) (entry, error)
	// content is the bytes of the file or the text of the link at path. Over
	// bound it is errOversized.
	content(path string, e entry, bound int64) ([]byte, error)
	// known is the entry at path where a listing already named it as a plain
	// file or as absent, so that its folders need not be walked.
	known(path string) (entry, bool)
}

// treeView is a commit. listed holds what listings said of changed paths.
type treeView struct {
	tree   func() (*tree, error)
	blobs  func(id string, bound int64) ([]byte, error)
	listed map[string]entry
}

func (v treeView) at(p string) (entry, error) {
	// A listing names no folders: where it has nothing, there may be one.
	if e := v.listed[p]; e.present() {
		return e, nil
	}
	t, err := v.tree()
	if err != nil {
		return entry{}, err
	}
	return t.entry(p)
}

// known is a file, or nothing where no changed link or submodule stands for one
// of p's folders.
func (v treeView) known(p string) (entry, bool) {
	e, ok := v.listed[p]
	if !ok || e.file() {
		return e, ok
	}
	if e.present() {
		return entry{}, false
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if d := v.listed[dir]; d.link() || d.gitlink() {
			return entry{}, false
		}
	}
	return e, true
}

func (v treeView) content(_ string, e entry, bound int64) ([]byte, error) {
	return v.blobs(e.id, bound)
}

// blob is the content of a blob, errOversized over bound.
func (o *objects) blob(id string, bound int64) ([]byte, error) {
	obj, err := o.get(id, bound)
	if err != nil {
		return nil, err
	}
	if obj.kind != "blob" {
		return nil, &failure{verb: "cat-file", err: errMalformed}
	}
	if obj.data == nil {
		return nil, errOversized
	}
	return obj.data, nil
}

// overlay is entries that stand in for what a view would show, with the folders
// that they lie in.
type overlay struct {
	entries map[string]entry
	folders map[string]bool
}

func newOverlay() *overlay { return &overlay{entries: map[string]entry{}, folders: map[string]bool{}} }

func overlayOf(p string, e entry) *overlay {
	o := newOverlay()
	o.add(p, e)
	return o
}

func (o *overlay) add(p string, e entry) {
	o.entries[p] = e
	if !e.present() {
		return
	}
	for dir := path.Dir(p); dir != "." && !o.folders[dir]; dir = path.Dir(dir) {
		o.folders[dir] = true
	}
}

// at is the entry at p, and whether the overlay has a say there.
func (o *overlay) at(p string) (entry, bool) {
	e, ok := o.entries[p]
	if o.folders[p] && !e.present() {
		return entry{mode: modeFolder}, true
	}
	return e, ok
}

// diskView is the working tree. sparse holds the entries that a sparse
// checkout left off the disk: their working-tree side is their index entry.
type diskView struct {
	*disk
	sparse *overlay
	blobs  func(id string, bound int64) ([]byte, error)
}

func (v diskView) at(p string) (entry, error) {
	st, err := v.look(p)
	if err != nil {
		return entry{}, err
	}
	if st.info == nil {
		e, _ := v.sparse.at(p)
		return e, nil
	}
	switch m := st.info.Mode(); {
	case isLink(st.info):
		return entry{mode: modeLink}, nil
	case m.IsRegular():
		return entry{mode: modeFile}, nil
	case m.IsDir():
		if exists(v.full(p + "/.git")) {
			return entry{mode: modeGitlink}, nil
		}
		return entry{mode: modeFolder}, nil
	}
	return entry{}, errExternal
}

func (diskView) known(string) (entry, bool) { return entry{}, false }

func (v diskView) content(p string, e entry, bound int64) ([]byte, error) {
	if e.id != "" {
		return v.blobs(e.id, bound)
	}
	if e.link() {
		text, err := os.Readlink(v.full(p))
		if err != nil {
			return nil, errUnreadable
		}
		return []byte(text), nil
	}
	data, err := v.read(p, bound)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errUnreadable
	}
	return data, err
}

// indexView is what the next commit takes: the index entry where index and
// disk differ, the disk everywhere else (§2.7). A folder in which the index has
// such an entry is a folder, whatever lies on disk.
type indexView struct {
	diskView
	split *overlay
}

func (v indexView) at(p string) (entry, error) {
	if e, ok := v.split.at(p); ok {
		return e, nil
	}
	return v.diskView.at(p)
}

// Bounds on following links (§2.7).
const (
	maxHops     = 8
	maxLinkText = 4096
)

// outcome is how following a path ended.
type outcome byte

const (
	nothing  outcome = iota // no such entry; where a link was passed, below a folder it leads to
	plain                   // a file, no link was passed
	linked                  // a file behind at least one link
	folder                  // a folder
	dangling                // a link was passed and leads nowhere
	refused                 // a link that may not be followed, or a nested repository
)

// resolution is a path followed to its end on one side.
type resolution struct {
	outcome outcome
	end     string   // the link-free path it ends at; of a dangling one, what is missing
	via     []string // the links that were passed, in order
	entry   entry
	code    string // the issue code of a refusal
}

// through says whether a link was passed.
func (r *resolution) through() bool { return len(r.via) > 0 }

// resolve follows p component by component. stop says of a link or nested
// repository among p's own folders that it is no way to p on this side: the
// folder's files are then judged as Git lists them, which is as absent.
func resolve(v view, p string, stop func(link string) bool) (resolution, error) {
	res := resolution{}
	if e, ok := v.known(p); ok {
		if !e.present() {
			return res, nil
		}
		return resolution{outcome: plain, end: p, entry: e}, nil
	}
	rest := strings.Split(p, "/")
	own := len(rest) // of rest, what is p's own and no text of a link
	var at []string
	for len(rest) > 0 {
		name, borrowed := rest[0], len(rest) > own
		rest = rest[1:]
		if !borrowed {
			own--
		}
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			if len(at) == 0 {
				return refuse(res), nil
			}
			at = at[:len(at)-1]
			continue
		}
		if strings.EqualFold(name, ".git") {
			return refuse(res), nil
		}
		here := strings.Join(append(at[:len(at):len(at)], name), "/")
		e, err := v.at(here)
		if r, ok := asReadError(err); ok {
			res.code = r.code
			return refuse(res), nil
		}
		if err != nil {
			return res, err
		}
		switch {
		case !e.present(), e.file() && len(rest) > 0:
			if borrowed {
				res.outcome, res.end = dangling, path.Join(append([]string{here}, rest...)...)
			}
			return res, nil
		case (e.link() || e.gitlink()) && !res.through() && own > 0 && stop != nil && stop(here):
			return resolution{}, nil
		case e.gitlink():
			return refuse(res), nil
		case e.link():
			res.via = append(res.via, here)
			text, err := v.content(here, e, maxLinkText)
			if _, unread := asReadError(err); err != nil && !unread {
				return res, err
			}
			if err != nil || !followable(text) || len(res.via) > maxHops {
				return refuse(res), nil
			}
			rest = append(strings.Split(string(text), "/"), rest...)
		case e.mode == modeFolder:
			at = append(at, name)
		default:
			res.end, res.entry, res.outcome = here, e, plain
			if res.through() {
				res.outcome = linked
			}
			return res, nil
		}
	}
	res.end, res.outcome = path.Join(at...), folder
	return res, nil
}

// above says whether the resolution ends at a folder that p lies below, and the
// rest of p. The root is above everything.
func (r *resolution) above(p string) (rest string, ok bool) {
	if r.outcome != folder {
		return "", false
	}
	if r.end == "" {
		return p, true
	}
	return strings.CutPrefix(p, r.end+"/")
}

func refuse(r resolution) resolution {
	r.outcome = refused
	if r.code == "" {
		r.code = codeExternal
	}
	return r
}

func followable(text []byte) bool {
	return len(text) > 0 && len(text) <= maxLinkText && text[0] != '/' && utf8.Valid(text) &&
		!strings.ContainsAny(string(text), "\x00\\")
}
