package git

import (
	"path"
	"slices"
	"sort"
	"strings"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

// worktreeChange is the work of worktree mode (§2.2): the base is HEAD, the
// after-states are the disk and, for split paths, the index.
type worktreeChange struct {
	*acquisition
	status  *status
	tracked []tracked
	index   map[string]tracked // stage 0, by path
	sparse  map[string]entry
	verdict map[string]verdict
	reach   map[string]bool // paths that links at adapter paths pass through or end at
	under   []string        // folders that links at link points end at
	changes map[string]*change
	filters *filters
	onDisk  map[string]string // filter values of changed paths, disk side
	inHead  map[string]string
	head    treeView
}

func (a *acquisition) worktree() error {
	w := &worktreeChange{
		acquisition: a, index: map[string]tracked{}, sparse: map[string]entry{}, verdict: map[string]verdict{},
		reach: map[string]bool{}, changes: map[string]*change{}, filters: newFilters(a.repo, a.disk),
	}
	text, present, err := a.readManifest(w.diskView(), manifestBound)
	if err != nil {
		return err
	}
	a.declare(text, w.diskView())
	if err := w.list(); err != nil {
		return err
	}
	if w.status.head == "" {
		return &InputError{Failure: gate.HeadUnborn}
	}
	if err := w.indexManifest(present); err != nil {
		return err
	}
	w.merge()
	w.head = a.treeView(w.status.head)
	if err := w.knowHead(); err != nil {
		return err
	}
	if err := w.filter(); err != nil {
		return err
	}
	if err := a.policies(w.diskView()); err != nil {
		return err
	}
	if err := w.records(); err != nil {
		return err
	}
	return w.adoption()
}

func (w *worktreeChange) diskView() diskView {
	return diskView{disk: w.disk, sparse: w.sparse, blobs: w.blob}
}

// list runs processes 1a and 1b beside each other. An untracked name is kept
// only when something can want it; whether a link leads to it is known once 1b
// has been compared with the disk.
func (w *worktreeChange) list() error {
	specs := icaseGlobs(append(surface.ProtectedPatterns(), "**/"+attributesFile))
	specs = append(specs, literal(w.manifest))
	if w.policyPath != "" {
		specs = append(specs, literal(w.policyPath))
	}
	for _, p := range w.in.Manifest.Declared {
		specs = append(specs, literal(p))
	}
	compared := make(chan struct{})
	var listErr error
	go func() {
		defer close(compared)
		if w.tracked, listErr = w.repo.tracked(w.ctx, specs); listErr == nil {
			listErr = w.compare()
		}
	}()
	st, err := w.repo.status(w.ctx, func(name string) bool {
		if w.candidate(name) {
			return true
		}
		<-compared
		return w.reached(name)
	})
	<-compared
	if err == nil {
		err = listErr
	}
	w.status = st
	return err
}

// compare is the own comparison of protected paths, and what links on disk
// lead to. It runs while git status does.
func (w *worktreeChange) compare() error {
	var links []string
	for i := range w.tracked {
		t := &w.tracked[i]
		if t.stage != '0' {
			continue
		}
		w.index[t.path] = *t
		if t.gitlink() {
			continue
		}
		v := w.disk.compare(t)
		w.verdict[t.path] = v
		if t.tag == 'S' && v == unchanged {
			if st, err := w.disk.look(t.path); err == nil && st.info == nil {
				w.sparse[t.path] = t.entry
			}
		}
		if t.link() {
			links = append(links, t.path)
		}
	}
	// The disk view reads no blob here: a sparse link has its text in the index
	// and leads to nothing untracked.
	v := diskView{disk: w.disk, sparse: map[string]entry{}}
	for _, l := range links {
		res, err := resolve(v, l, nil)
		if err != nil {
			return err
		}
		for _, p := range append(res.via, res.end) {
			w.reach[p] = true
		}
		if res.outcome == folder && res.through() {
			w.under = append(w.under, res.end+"/")
		}
	}
	return nil
}

// candidate says whether an untracked name can matter by its name alone (§2.2
// step 5). A trailing "/" marks a nested repository.
func (w *worktreeChange) candidate(name string) bool {
	bare := strings.TrimSuffix(name, "/")
	if bare != name {
		return surface.IsLinkPoint(bare) || surface.IsAdapterPath(bare)
	}
	return w.relevant(name) || surface.IsLinkPoint(name) || strings.HasSuffix(name, ".py") || trigger.CapabilityByPath(name)
}

// relevant names are kept whatever they hold.
func (w *worktreeChange) relevant(name string) bool {
	return w.protected(name) || isDeclared(w.in.Manifest.Declared, name)
}

func isDeclared(declared []string, name string) bool {
	return slices.ContainsFunc(declared, func(d string) bool { return name == d || strings.HasPrefix(name, d+"/") })
}

func (w *worktreeChange) reached(name string) bool {
	return w.reach[name] || slices.ContainsFunc(w.under, func(u string) bool { return strings.HasPrefix(name, u) })
}

// indexManifest settles adoption: an entry on disk or in the index counts
// (ruling R1). A manifest that a sparse checkout left off the disk declares
// its sources all the same.
func (w *worktreeChange) indexManifest(onDisk bool) error {
	t, inIndex := w.index[w.manifest]
	w.in.Manifest.Present = onDisk || inIndex
	if !inIndex || !t.file() || w.verdict[w.manifest] == unchanged && onDisk {
		return nil
	}
	text, err := w.blob(t.id, manifestBound)
	if codeOf(err) == codeOversized {
		err = nil
	}
	if err != nil {
		return err
	}
	before := len(w.in.Manifest.Declared)
	w.declare(text, w.diskView())
	if len(w.in.Manifest.Declared) == before {
		return nil
	}
	// Sources only the index declares: compare them too.
	more, err := w.repo.tracked(w.ctx, literals(w.in.Manifest.Declared))
	if err != nil {
		return err
	}
	w.tracked = more
	return w.compare()
}

// merge corrects Git's listing by the own comparison (§2.2).
func (w *worktreeChange) merge() {
	for i := range w.status.changes {
		c := &w.status.changes[i]
		if v, ok := w.verdict[c.path]; ok && !c.unmerged && c.y != 'A' {
			switch {
			case v == unchanged:
				c.y = '.'
			case v == modified && c.y == '.':
				c.y = 'M'
			case v == deleted && c.y == '.':
				c.y = 'D'
			}
		}
		if c.x != '.' || c.y != '.' {
			w.changes[c.path] = c
		}
	}
	listed := map[string]bool{}
	for i := range w.status.changes {
		listed[w.status.changes[i].path] = true
	}
	for p, v := range w.verdict {
		if listed[p] || v != modified && v != deleted {
			continue
		}
		c := &change{path: p, x: '.', y: 'M', head: w.index[p].entry, index: w.index[p].entry}
		if v == deleted {
			c.y = 'D'
		}
		w.changes[p] = c
	}
	w.ignoredManifest()
}

// ignoredManifest puts a manifest that neither the index nor the listing knows
// (it is ignored) among the untracked names (§2.2 step 6).
func (w *worktreeChange) ignoredManifest() {
	_, inIndex := w.index[w.manifest]
	if inIndex || w.changes[w.manifest] != nil || slices.Contains(w.status.untracked, w.manifest) {
		return
	}
	if st, err := w.disk.look(w.manifest); err == nil && st.info != nil && !st.info.IsDir() {
		w.status.untracked = append(w.status.untracked, w.manifest)
	}
}

// split says whether index and disk hold different after-states (ruling R1).
func (w *worktreeChange) split(c *change) bool {
	switch {
	case c.unmerged, c.x == '.':
		return false
	case c.y != '.':
		return true
	case c.x == 'D':
		st, err := w.disk.look(c.path)
		return err != nil || st.info != nil && !st.info.IsDir()
	}
	return false
}

// knowHead records what the listing said of HEAD, so that trees are walked for
// other paths only; an unmerged path's entry is looked up.
func (w *worktreeChange) knowHead() error {
	for p, c := range w.changes {
		if c.unmerged {
			e, err := w.head.at(p)
			if err != nil {
				return err
			}
			c.head = e
			continue
		}
		w.head.listed[p] = c.head
	}
	for _, p := range w.status.untracked {
		if _, ok := w.changes[p]; !ok {
			w.head.listed[p] = entry{}
		}
	}
	for p, t := range w.index {
		if w.changes[p] == nil {
			w.head.listed[p] = t.entry
		}
	}
	return nil
}

// filter finds filter attributes on both sides of the changed paths and drops
// what Git LFS keeps and nobody changed (§2.2, §2.3).
func (w *worktreeChange) filter() error {
	paths := make([]string, 0, len(w.changes))
	attributesChanged := false
	for p := range w.changes {
		paths = append(paths, p)
		attributesChanged = attributesChanged || path.Base(p) == attributesFile
	}
	for _, p := range w.status.untracked {
		if !strings.HasSuffix(p, "/") {
			paths = append(paths, p)
		}
		attributesChanged = attributesChanged || path.Base(p) == attributesFile
	}
	if len(paths) == 0 {
		return nil
	}
	sort.Strings(paths)
	files := w.filters.onDisk(paths, func(name string) []byte {
		t, ok := w.index[name]
		if !ok || !t.file() {
			return nil
		}
		data, err := w.blob(t.id, settingsBound)
		if err != nil {
			return []byte("filter")
		}
		return data
	})
	var err error
	if w.onDisk, err = w.filters.ask(w.ctx, paths, files, nil); err != nil {
		return err
	}
	w.inHead = w.onDisk
	if attributesChanged {
		ids := map[string]entry{}
		for name, t := range w.index {
			if path.Base(name) == attributesFile {
				ids[name] = t.entry
			}
		}
		for name, c := range w.changes {
			if path.Base(name) == attributesFile {
				ids[name] = c.head
			}
		}
		o, err := w.objects()
		if err != nil {
			return err
		}
		if w.inHead, err = w.filters.inTree(w.ctx, paths, ids, o); err != nil {
			return err
		}
	}
	room := int64(lfsHashBound)
	for _, p := range paths {
		c := w.changes[p]
		if c == nil || w.onDisk[p] != "lfs" || w.inHead[p] != "lfs" || c.y != 'M' || !c.index.file() {
			continue
		}
		pointer, err := w.blob(c.index.id, settingsBound)
		if codeOf(err) == codeOversized && err != nil {
			continue
		}
		if err != nil {
			return err
		}
		if !w.disk.holdsLFS(p, pointer, &room) {
			continue
		}
		if c.y = '.'; c.x == '.' {
			delete(w.changes, p)
		}
	}
	return nil
}

func (w *worktreeChange) filtered(p string) bool { return w.onDisk[p] != "" || w.inHead[p] != "" }

// differs says whether the disk holds another state of a protected path than
// HEAD does; for every other path Git's word stands.
func (w *worktreeChange) differs(c *change) bool {
	if c.x == '.' || c.y == '.' && c.x != 'D' {
		return true
	}
	st, err := w.disk.look(c.path)
	if err != nil {
		return true
	}
	there := st.info != nil && !st.info.IsDir()
	if there != c.head.present() {
		return true
	}
	return there && !w.disk.holds(c.path, st.info, c.head)
}

// adoption fills what the wording and the exception for manifests need (§5.3).
func (w *worktreeChange) adoption() error {
	v := w.diskView()
	if w.changes[w.manifest] != nil {
		text, _, err := w.readManifest(v, manifestBound)
		if err != nil {
			return err
		}
		w.in.Manifest.SourceKinds = w.sourceKinds(text, v)
	}
	return w.proveAdoption(w.status.head)
}
