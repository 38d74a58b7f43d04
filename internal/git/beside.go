package git

import (
	"context"
	"io/fs"
	"path"
	"slices"
)

// Beside is a state that the head holds beside the working tree, from the
// manifest's folder and from the repository's root.
type Beside struct {
	Dir, Root fs.FS
	Staged    bool // the index; else the head commit
}

// Besides are the head commit, where the change has commits, and what is staged,
// where something is. They are nothing for a head that is a commit itself.
func (p *Pair) Besides(ctx context.Context) ([]Beside, error) {
	if !p.Worktree || p.Gap != nil || p.head == nil {
		return nil, nil
	}
	var all []Beside
	if p.MergeBase != p.HeadCommit {
		all = append(all, p.beside(p.head, false))
	}
	st, err := p.repo.status(ctx)
	if err != nil {
		return nil, err
	}
	staged, err := p.batch.treeOf(p.HeadCommit)
	if err != nil {
		return nil, err
	}
	if some, err := staged.stage(st.changes); err != nil || !some {
		return all, err
	}
	return append(all, p.beside(staged, true)), nil
}

func (p *Pair) beside(t *tree, staged bool) Beside {
	dir := path.Dir(p.Manifest)
	if dir == "." {
		dir = ""
	}
	return Beside{Dir: &treeSide{tree: t, blobs: p.batch, dir: dir}, Root: &treeSide{tree: t, blobs: p.batch}, Staged: staged}
}

// stage makes the tree of HEAD what the index holds; false when nothing is
// staged. What is not merged yet is no state that a commit could have.
func (t *tree) stage(changes []change) (some bool, err error) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.unmerged || c.x == '.' })
	// What goes away makes room: a file may become a folder.
	slices.SortStableFunc(changes, func(a, b change) int {
		switch gone, other := a.index.present(), b.index.present(); {
		case gone == other:
			return 0
		case other:
			return -1
		}
		return 1
	})
	for i := range changes {
		if err := t.put(changes[i].path, changes[i].index); err != nil {
			return false, err
		}
	}
	return len(changes) > 0, nil
}

// put sets the entry at a path, the absent one to take it away.
func (t *tree) put(name string, e entry) error {
	dir, base := path.Dir(name), path.Base(name)
	if dir == "." {
		dir = ""
	}
	folder, err := t.folder(dir)
	if err != nil {
		return err
	}
	if folder == nil {
		if !e.present() {
			return nil
		}
		folder = map[string]entry{}
		if err := t.put(dir, entry{mode: modeFolder}); err != nil {
			return err
		}
		t.folders[dir] = folder
	}
	if e.present() {
		folder[base] = e
	} else {
		delete(folder, base)
	}
	return nil
}
