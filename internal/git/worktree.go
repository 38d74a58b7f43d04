package git

import (
	"cmp"
	"context"
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
	names   func() error       // waits for the untracked names
	ahead   *ahead
	sparse  *overlay
	verdict map[string]verdict
	reach   map[string]bool // paths that links at adapter paths pass through or end at
	under   []resolution    // links at adapter paths and link points that end at folders
	changes map[string]*change
	onDisk  filtered // of changed paths
	inHead  filtered
	head    treeView
}

func (a *acquisition) worktree() error {
	w := &worktreeChange{
		acquisition: a, index: map[string]tracked{}, sparse: newOverlay(), verdict: map[string]verdict{},
		reach: map[string]bool{}, changes: map[string]*change{},
	}
	var cancel context.CancelFunc
	a.ctx, cancel = context.WithCancel(a.ctx)
	defer w.settle()
	defer cancel()
	text, onDisk, err := a.readManifest(w.diskView(), manifestBound)
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
	if err := w.indexManifest(onDisk); err != nil {
		return err
	}
	w.merge()
	w.head = a.treeView(w.status.head)
	for _, step := range []func() error{
		w.runAhead, w.names, w.ignoredManifest, w.knowHead, w.filter, func() error { return a.policies(w.diskView()) }, w.records, w.adoption,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for the processes that an early end has left behind.
func (w *worktreeChange) settle() {
	if w.names != nil {
		w.names() //nolint:errcheck // nobody asks any more
	}
	if w.ahead != nil {
		w.ahead.answer() //nolint:errcheck // nobody asks any more
	}
}

func (w *worktreeChange) diskView() diskView {
	return diskView{disk: w.disk, sparse: w.sparse, blobs: w.blob}
}

// list runs processes 1a to 1c beside each other: together they are no slower
// than a git status that looks for untracked files as well. An untracked name
// is kept only when something can want it; whether a link leads to it is known
// once 1c has been compared with the disk.
func (w *worktreeChange) list() error {
	keep := func(p string) bool {
		return w.protected(p) || surface.IsLinkPoint(p) || path.Base(p) == attributesFile
	}
	compared, named := make(chan struct{}), make(chan struct{})
	var listErr, namesErr error
	go func() {
		defer close(compared)
		if w.tracked, listErr = w.repo.tracked(w.ctx, w.protectedSpecs(), keep); listErr == nil {
			listErr = w.compare()
		}
	}()
	var names []string
	go func() {
		defer close(named)
		names, namesErr = w.repo.untracked(w.ctx, func(name string) bool {
			if w.candidate(name) {
				return true
			}
			<-compared
			return w.reached(name)
		})
	}()
	st, err := w.repo.status(w.ctx)
	<-compared
	w.status = st
	w.names = func() error {
		<-named
		st.untracked = names
		return namesErr
	}
	return cmp.Or(err, listErr)
}

// protectedSpecs are pathspecs that match protected paths, links and attributes
// files, all of which start with a dot, among others; none, for the whole index,
// when a manifest declares more than fits on a command line.
func (w *worktreeChange) protectedSpecs() []string {
	named := append([]string{w.manifest}, w.in.Manifest.Declared...)
	if w.policyPath != "" {
		named = append(named, w.policyPath)
	}
	specs := literals(named)
	if specs == nil {
		return nil
	}
	return append(anywhere(surface.ListingPatterns()), specs...)
}

// compare is the own comparison of protected paths, and what links on disk
// lead to. It runs while git status does.
func (w *worktreeChange) compare() error {
	var links []string
	w.disk.folders = map[string]bool{}
	defer func() { w.disk.folders = nil }()
	for i := range w.tracked {
		t := &w.tracked[i]
		if t.stage != '0' {
			continue
		}
		w.index[t.path] = *t
		if t.gitlink() {
			continue
		}
		v, absent := w.disk.compare(t)
		w.verdict[t.path] = v
		if v == unchanged && absent {
			w.sparse.add(t.path, t.entry)
		}
		if t.link() {
			links = append(links, t.path)
		}
	}
	// The disk view reads no blob here: a sparse link has its text in the index
	// and leads to nothing untracked.
	v := diskView{disk: w.disk, sparse: newOverlay()}
	for _, l := range links {
		res, err := resolve(v, l, nil)
		if err != nil {
			return err
		}
		for _, p := range append(res.via, res.end) {
			w.reach[p] = true
		}
		if res.outcome == folder && res.through() {
			w.under = append(w.under, res)
		}
	}
	return nil
}

// candidate says whether an untracked name can matter by its name alone (§2.2
// step 5). A trailing "/" marks a nested repository.
func (w *worktreeChange) candidate(name string) bool {
	if bare, nested := strings.CutSuffix(name, "/"); nested {
		return surface.IsLinkPoint(bare) || surface.IsAdapterPath(bare)
	}
	return w.protected(name) || surface.IsLinkPoint(name) || contentMatters(name)
}

// contentMatters says whether what an untracked file holds decides if it is
// part of the change.
func contentMatters(name string) bool {
	return strings.HasSuffix(name, ".py") || trigger.CapabilityByPath(name)
}

func (w *worktreeChange) reached(name string) bool {
	return w.reach[name] || slices.ContainsFunc(w.under, func(r resolution) bool { _, below := r.above(name); return below })
}

// indexManifest settles adoption: an entry on disk or in the index counts
// (ruling R1). A manifest that only the index holds in this form declares its
// sources all the same, and those are listed then, too.
func (w *worktreeChange) indexManifest(onDisk bool) error {
	t, inIndex := w.index[w.manifest]
	w.in.Manifest.Present = onDisk || slices.ContainsFunc(w.tracked, func(t tracked) bool { return t.path == w.manifest })
	if !inIndex || onDisk && w.verdict[w.manifest] == unchanged {
		return nil
	}
	text, _, err := w.readManifest(indexView{diskView: w.diskView(), split: overlayOf(w.manifest, t.entry)}, manifestBound)
	if err != nil {
		return err
	}
	if err := w.names(); err != nil { // they are chosen by what is declared
		return err
	}
	before := len(w.in.Manifest.Declared)
	w.declare(text, w.diskView())
	if len(w.in.Manifest.Declared) == before {
		return nil
	}
	return w.list()
}

// merge corrects Git's listing by the own comparison (§2.2).
func (w *worktreeChange) merge() {
	listed := map[string]bool{}
	for i := range w.status.changes {
		c := &w.status.changes[i]
		listed[c.path] = true
		if c.x == 'D' && c.y == '.' {
			// What a listing of the index has there is no entry but an intention.
			delete(w.index, c.path)
			delete(w.verdict, c.path)
		}
		if v, ok := w.verdict[c.path]; ok && !c.unmerged && c.y != 'A' {
			switch {
			case v == unchanged:
				c.y = '.'
			case v != asListed && c.y == '.':
				c.y, c.own = v.letter(), true
			}
		}
		if c.x != '.' || c.y != '.' {
			w.changes[c.path] = c
		}
	}
	for p, v := range w.verdict {
		if !listed[p] && (v == modified || v == deleted) {
			w.changes[p] = &change{path: p, x: '.', y: v.letter(), index: w.index[p].entry, own: true}
		}
	}
}

// ignoredManifest puts a manifest that neither the index nor the listing knows
// (it is ignored) among the untracked names (§2.2 step 6).
func (w *worktreeChange) ignoredManifest() error {
	_, inIndex := w.index[w.manifest]
	if inIndex || w.changes[w.manifest] != nil || slices.Contains(w.status.untracked, w.manifest) {
		return nil
	}
	if st, err := w.disk.look(w.manifest); err == nil && st.info != nil && !st.info.IsDir() {
		w.status.untracked = append(w.status.untracked, w.manifest)
	}
	return nil
}

// split says whether index and disk hold different after-states (ruling R1).
func (w *worktreeChange) split(c *change) bool {
	switch {
	case c.unmerged, c.x == '.':
		return false
	case c.y != '.':
		return true
	}
	return w.kept(c)
}

// kept says whether a path that left the index still lies on disk: what
// "rm --cached" does. Git does not compare such a file.
func (w *worktreeChange) kept(c *change) bool {
	if c.x != 'D' || c.y != '.' {
		return false
	}
	st, err := w.disk.look(c.path)
	return err != nil || st.info != nil && !st.info.IsDir()
}

// knowHead records what the listing said of HEAD, so that trees are walked for
// other paths only. An unmerged path's entry is looked up, and so are those of
// paths that only the own comparison found and of intended additions that are
// gone again: of these Git says nothing, or what the index has.
func (w *worktreeChange) knowHead() error {
	for p, c := range w.changes {
		if c.unmerged && !w.judged(p) && !surface.IsLinkPoint(p) && path.Base(p) != attributesFile {
			continue // ignored
		}
		intended := c.x == '.' && c.y == 'D' && c.index.id == objectID("blob", nil, len(c.index.id))
		if c.unmerged || c.own && c.x == '.' || intended {
			e, err := w.head.at(p)
			if err != nil {
				return err
			}
			c.head = e
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
	var paths []string
	for p := range w.changes {
		paths = append(paths, p)
	}
	for _, p := range w.status.untracked {
		if !strings.HasSuffix(p, "/") {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	sort.Strings(paths)
	inIndex, inHead := map[string]entry{}, map[string]entry{}
	for name, t := range w.index {
		if path.Base(name) == attributesFile {
			inIndex[name], inHead[name] = t.entry, t.entry
		}
	}
	attributesChanged := false
	for _, name := range paths {
		if path.Base(name) != attributesFile {
			continue
		}
		attributesChanged = true
		if c := w.changes[name]; c != nil {
			inHead[name] = c.head
		}
	}
	f := newFilters(w.repo, w.disk)
	var extra bool
	var err error
	if w.onDisk, extra, err = f.onDisk(w.ctx, paths, inIndex, w.objects); err != nil {
		return err
	}
	w.inHead = w.onDisk
	if attributesChanged || extra {
		if w.inHead, err = f.inTree(w.ctx, paths, inHead, w.objects); err != nil {
			return err
		}
	}
	return w.dropUnchangedLFS(paths)
}

func (w *worktreeChange) dropUnchangedLFS(paths []string) error {
	room := int64(lfsHashBound)
	for _, p := range paths {
		c := w.changes[p]
		if c == nil || w.onDisk[p] != "lfs" || w.inHead[p] != "lfs" || c.y != 'M' || !c.index.file() {
			continue
		}
		pointer, err := w.blob(c.index.id, settingsBound)
		if _, unread := asReadError(err); unread {
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

func (w *worktreeChange) filtered(p string) bool { return w.onDisk.has(p) || w.inHead.has(p) }

// differs says whether the disk holds another state of a path than HEAD does.
// Where only one of index and disk changed, it does.
func (w *worktreeChange) differs(c *change) bool {
	if c.x == '.' && (c.y != 'D' || c.head.present()) || c.y == '.' && c.x != 'D' {
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
	w.proveAdoption(w.status.head)
	return nil
}
