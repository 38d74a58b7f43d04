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
	if e, ok := v.listed[p]; ok {
		return e, nil
	}
	t, err := v.tree()
	if err != nil {
		return entry{}, err
	}
	return t.entry(p)
}

func (v treeView) known(p string) (entry, bool) {
	e, ok := v.listed[p]
	return e, ok && (e.file() || !e.present())
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

// diskView is the working tree. sparse holds the entries that a sparse
// checkout left off the disk: their working-tree side is their index entry.
type diskView struct {
	*disk
	sparse map[string]entry
	blobs  func(id string, bound int64) ([]byte, error)
}

func (v diskView) at(p string) (entry, error) {
	st, err := v.look(p)
	if err != nil {
		return entry{}, err
	}
	if st.info == nil {
		if e, ok := v.sparse[p]; ok {
			return e, nil
		}
		if v.sparseFolder(p) {
			return entry{mode: modeFolder}, nil
		}
		return entry{}, nil
	}
	switch m := st.info.Mode(); {
	case isLink(st.info):
		return entry{mode: modeLink}, nil
	case m.IsRegular():
		return entry{mode: modeFile}, nil
	case m.IsDir():
		if _, err := os.Lstat(v.full(p + "/.git")); err == nil {
			return entry{mode: modeGitlink}, nil
		}
		return entry{mode: modeFolder}, nil
	}
	return entry{}, errExternal
}

func (diskView) known(string) (entry, bool) { return entry{}, false }

func (v diskView) sparseFolder(p string) bool {
	for name := range v.sparse {
		if strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}

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
// disk differ, the disk everywhere else (§2.7).
type indexView struct {
	diskView
	split map[string]entry
}

func (v indexView) at(p string) (entry, error) {
	if e, ok := v.split[p]; ok {
		if !e.present() {
			return entry{}, nil
		}
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
	nothing  outcome = iota // no such entry, and no link was passed
	plain                   // a file, no link was passed
	linked                  // a file behind at least one link
	folder                  // a folder
	dangling                // a link was passed and leads nowhere
	refused                 // a link that may not be followed, or a nested repository
)

// resolution is a path followed to its end on one side.
type resolution struct {
	outcome outcome
	end     string   // the link-free path it ends at
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
	var at []string
	own := len(rest) // components of p itself still to go
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		own--
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
		case !e.present():
			return res.missing(), nil
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
		case len(rest) > 0:
			return res.missing(), nil
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

func (r resolution) missing() resolution {
	if r.through() {
		r.outcome = dangling
	}
	return r
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
