package verify

import (
	"errors"
	"io/fs"
	"path"
	"sync"
)

// load reads one more state of the head, whose files are the head's but for some.
func (r *Run) load(tree fs.FS) (*Side, error) {
	l, err := r.read(tree, r.head)
	if err == nil {
		err = l.prepare(r.head.prepared)
	}
	if err != nil {
		return nil, err
	}
	return l.side(r.HeadSide.Surface)
}

func (r *Run) read(tree fs.FS, other *loading) (*loading, error) {
	if tree == nil {
		return nil, ErrNoManifest
	}
	opt := LoadOptions{Name: path.Base(r.Input.ManifestPath), Today: r.Input.Options.Today, Packs: r.Input.Options.Packs, Each: r.Input.Each}
	return read(tree, opt, other)
}

// loadSides reads both sides and says what their tools may do: the head, then what
// is different at the base, which is read while the head is judged.
func (r *Run) loadSides() {
	if a := r.Input.Ahead; a != nil {
		r.head, r.Err = a.head, a.err
	} else {
		r.head, r.Err = r.read(r.Input.Head, nil)
	}
	if r.Err != nil {
		return
	}
	var base *loading
	var failed error
	// Both need what is prepared of the head. Whoever is there first prepares it.
	prepare := sync.OnceValue(func() error { return r.head.prepare(nil) })
	parts := []func(){func() {
		if r.Err = prepare(); r.Err == nil {
			r.HeadSide, r.Err = r.head.side(nil)
		}
	}}
	if r.Input.Base != nil {
		parts = append(parts, func() {
			if base, failed = r.read(r.Input.Base, r.head); failed == nil && prepare() == nil {
				failed = base.prepare(r.head.prepared)
			}
		})
	}
	r.Input.Each.Do(len(parts), func(i int) { parts[i]() })
	if r.Err != nil {
		return
	}
	var side *Side
	if base != nil && failed == nil {
		side, failed = base.judge(r.HeadSide.Surface)
	}
	r.loadBase(side, failed)
}

// loadBase takes the base side. A base that cannot be read leaves the head to be
// judged without facts to compare with.
func (r *Run) loadBase(side *Side, err error) {
	if r.Input.Base == nil {
		if r.BaseStatus == "" {
			r.BaseStatus = "not_requested"
		}
		return
	}
	switch r.BaseSide = side; {
	case err == nil:
		r.BaseStatus = "succeeded"
	case errors.Is(err, ErrNoManifest):
		r.BaseStatus = "missing_manifest"
		r.BaseNotes = append(r.BaseNotes, "The base has no manifest: this change introduces it.")
	default:
		r.BaseStatus = "scan_failed"
		r.BaseNotes = append(r.BaseNotes, "The base could not be read: "+firstLine(err.Error()))
	}
}
