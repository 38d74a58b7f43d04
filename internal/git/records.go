package git

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

// recordSet is the records of one after-state with their texts.
type recordSet struct {
	records []diff.Record
	texts   [][]byte
	made    int // bytes of texts that Git did not print
}

func (s *recordSet) add(rec diff.Record, text []byte) {
	s.records = append(s.records, rec)
	s.texts = append(s.texts, text)
}

// synthetic adds records that Git does not show, within the bound that holds
// for those it does.
func (s *recordSet) synthetic(records ...diff.Record) error {
	for i := range records {
		text := diff.Render(&records[i])
		if s.made += len(text); s.made > patchBound {
			return &failure{verb: "diff", err: errTooLong}
		}
		s.add(records[i], text)
	}
	return nil
}

func (s *recordSet) byPath() map[string]*diff.Record {
	out := map[string]*diff.Record{}
	for i := range s.records {
		r := &s.records[i]
		for _, p := range names(r) {
			out[p] = r
		}
	}
	return out
}

// names are the one or two names of a record.
func names(r *diff.Record) []string {
	switch {
	case r.OldName == "" || r.OldName == r.NewName:
		return []string{r.NewName}
	case r.NewName == "":
		return []string{r.OldName}
	}
	return []string{r.OldName, r.NewName}
}

// records reads both diffs and the untracked files, and builds the changes of
// both after-states.
func (w *worktreeChange) records() error {
	disk, err := w.diskRecords()
	if err != nil {
		return err
	}
	on := newComparison(surface.GitWorktree, w.head, w.diskView(), manifestBound)
	for p, c := range w.changes {
		if c.unmerged && surface.IsBoundary(p) {
			w.issue("boundary_index_unmerged", p)
		}
		if w.protected(p) && w.filtered(p) {
			w.issue(codeFiltered, p)
		}
		if !c.unmerged && !w.differs(c) {
			continue // only the index differs
		}
		on.changed[p] = true
		on.filtered[p] = w.filtered(p)
		if c.y == '.' {
			on.entries[p] = [2]entry{c.head, c.index}
		}
	}
	if err := w.untracked(disk, on); err != nil {
		return err
	}
	on.records = disk.byPath()
	staged, index, err := w.indexRecords()
	if err != nil {
		return err
	}
	w.structure(disk.records)
	w.structure(staged.records)

	candidates := w.linkCandidates()
	if err := w.fillSparse(candidates); err != nil {
		return err
	}
	for _, c := range []*comparison{on, index} {
		if err := w.build(c, candidates); err != nil {
			return err
		}
	}
	w.in.Records = slices.Concat(disk.records, staged.records)
	w.in.IndexFrom = len(disk.records)
	w.in.Text = bytes.Join(disk.texts, nil)
	if len(index.changed) > 0 {
		w.in.IndexText = bytes.Join(staged.texts, nil)
	}
	files := map[string]bool{}
	for p := range w.changes {
		files[p] = true
	}
	for i := range w.in.Records {
		for _, p := range names(&w.in.Records[i]) {
			files[p] = true
		}
	}
	w.in.ChangedFiles = sorted(files)
	return nil
}

// diskRecords is the diff of HEAD against the working tree, corrected where
// the own comparison knows better.
func (w *worktreeChange) diskRecords() (*recordSet, error) {
	set := &recordSet{}
	if len(w.changes) == 0 {
		return set, nil
	}
	paths := w.paths()
	p, err := w.diffHead(paths)
	if err != nil {
		return nil, err
	}
	shown, torn := map[string]bool{}, map[string]bool{}
	for i := range p.records {
		r := &p.records[i]
		list := names(r)
		keep := !slices.ContainsFunc(list, func(name string) bool { return !w.shownByGit(name) })
		for _, name := range list {
			shown[name] = shown[name] || keep
			torn[name] = torn[name] || !keep
		}
		if !keep {
			continue
		}
		if err := w.keep(set, r, p.texts[i]); err != nil {
			return nil, err
		}
	}
	for _, name := range paths {
		c := w.changes[name]
		switch {
		case shown[name], c.unmerged:
		case w.protected(name), torn[name], c.own, w.kept(c):
			if err := w.show(set, c); err != nil {
				return nil, err
			}
		case c.x == '.' && c.y == 'M':
			delete(w.changes, name) // only its time stamp differs
		}
	}
	return set, nil
}

// paths are the changed paths of the index.
func (w *worktreeChange) paths() []string {
	out := make([]string, 0, len(w.changes))
	for p := range w.changes {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// ahead is a diff that was asked for before all was known that decides whether
// it is the right one.
type ahead struct {
	question []string
	answer   func() (*patch, error)
}

// runAhead starts processes 2a and 2b while the untracked files are still
// looked for: they change nothing about what is compared.
func (w *worktreeChange) runAhead() error {
	paths := w.paths()
	if len(paths) == 0 {
		return nil
	}
	if slices.ContainsFunc(paths, w.readable) {
		if _, err := w.objects(); err != nil {
			return err
		}
	}
	question := w.question(paths)
	type answer struct {
		p   *patch
		err error
	}
	done := make(chan answer, 1)
	go func() {
		p, err := w.repo.diff(w.ctx, question...)
		done <- answer{p, err}
	}()
	w.ahead = &ahead{question, sync.OnceValues(func() (*patch, error) {
		a := <-done
		return a.p, a.err
	})}
	return nil
}

// ask runs git diff, or takes the answer that was asked for ahead.
func (w *worktreeChange) ask(question []string) (*patch, error) {
	if w.ahead != nil && slices.Equal(w.ahead.question, question) {
		return w.ahead.answer()
	}
	return w.repo.diff(w.ctx, question...)
}

// fewPaths is how many paths Git finds in an index faster than it looks at the
// whole tree: it tries each path on each entry.
const fewPaths = 24

// question is what git diff is asked about changed paths, the sides and the
// paths: none for the whole tree.
func (w *worktreeChange) question(paths []string) []string {
	sides, mixed := w.sides()
	if mixed || len(paths) > fewPaths {
		paths = nil
	}
	return slices.Concat(sides, diffOptions, []string{"--"}, literals(paths))
}

// diffHead runs git diff for the paths. Git gives up when one is a pipe or a
// socket now, so those are then left out and become records of our own.
func (w *worktreeChange) diffHead(paths []string) (*patch, error) {
	p, err := w.ask(w.question(paths))
	if f, ok := errors.AsType[*failure](err); !ok || !strings.Contains(f.stderr, "unsupported file type") {
		return p, err
	}
	var plain []string
	for _, name := range paths {
		info, err := os.Lstat(w.disk.full(name))
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() && !isLink(info) {
			w.changes[name].own = true
			continue
		}
		plain = append(plain, name)
	}
	if len(plain) == 0 {
		return &patch{}, nil
	}
	return w.repo.diff(w.ctx, slices.Concat([]string{w.status.head}, diffOptions, []string{"--"}, literals(plain))...)
}

// sides are the arguments that make git diff compare HEAD with the disk. Where
// the index equals one of them at every changed path, the index stands in for
// it: Git walks HEAD, index and disk at once in time that grows with the square
// of the index when paths are named, and linearly when none are, so a mixed
// change is asked for whole.
func (w *worktreeChange) sides() (args []string, mixed bool) {
	asHead, asDisk := true, true
	for _, c := range w.changes {
		// Of an intended addition the index has the name only.
		asHead = asHead && !c.unmerged && c.x == '.' && c.y != 'A' && (c.own || c.head.present())
		asDisk = asDisk && !c.unmerged && c.y == '.' && !w.kept(c)
	}
	switch {
	case asHead:
		return nil, false
	case asDisk:
		return []string{"--cached", w.status.head}, false
	}
	return []string{w.status.head}, true
}

// shownByGit says whether Git's record of a changed path tells the difference
// between HEAD and the disk.
func (w *worktreeChange) shownByGit(name string) bool {
	c := w.changes[name]
	return c != nil && (c.unmerged || !c.own && !w.kept(c) && (!w.protected(name) || w.differs(c)))
}

// show adds the record of a path whose own one Git does not print.
func (w *worktreeChange) show(set *recordSet, c *change) error {
	if !w.differs(c) {
		return nil
	}
	records, err := w.replaced(w.head, w.diskView(), c.path)
	if err != nil {
		return err
	}
	if !w.filtered(c.path) {
		return set.synthetic(records...)
	}
	for i := range records {
		set.add(w.header(&records[i]))
	}
	return nil
}

// keep adds one of Git's records: without its hunks where a filter stands
// between the two texts, read raw where Git called it binary.
func (w *worktreeChange) keep(set *recordSet, r *diff.Record, text []byte) error {
	if w.filtered(r.Path()) {
		set.add(w.header(r))
		return nil
	}
	return w.keepReadable(set, w.head, w.diskView(), r, text)
}

func (a *acquisition) keepReadable(set *recordSet, before, after view, r *diff.Record, text []byte) error {
	if r.Binary {
		rec, err := a.raw(before, after, r)
		if err != nil {
			return err
		}
		if rec != nil {
			return set.synthetic(*rec)
		}
	}
	set.add(*r, text)
	return nil
}

// header is a record that binds the bytes on disk without showing them.
func (w *worktreeChange) header(from *diff.Record) (diff.Record, []byte) {
	r := *from
	r.Hunks, r.HasHunks, r.Binary = nil, false, false
	p := r.Path()
	none := strings.Repeat("0", len(w.status.head))
	was, now := none, none
	if c := w.changes[p]; c != nil && c.index.present() {
		was = c.index.id
	}
	if st, err := w.disk.look(p); err == nil && st.info != nil && st.info.Mode().IsRegular() {
		if st.info.Size() > lfsHashBound {
			now = "size " + strconv.FormatInt(st.info.Size(), 10)
		} else if id, _, err := w.disk.hash(p, st.info.Size(), 0, len(none)); err == nil {
			now = id
		}
	}
	return r, append(diff.Render(&r), "index "+was+".."+now+"\n"...)
}

// matters says whether bytes that cannot be shown at p are a reason to stop.
func (a *acquisition) matters(p string) bool { return a.protected(p) || trigger.CapabilityByPath(p) }

// raw reads both sides of a record that Git called binary, where it matters
// (§2.4). Nil means that Git's record stands.
func (a *acquisition) raw(before, after view, r *diff.Record) (*diff.Record, error) {
	p := r.Path()
	matters := a.matters(p)
	if !matters && !strings.HasSuffix(p, ".py") {
		return nil, nil
	}
	var texts [2][]byte
	for i, side := range []struct {
		v    view
		name string
	}{{before, r.OldName}, {after, r.NewName}} {
		if side.name == "" {
			continue
		}
		e, err := side.v.at(side.name)
		if err == nil && e.file() {
			texts[i], err = side.v.content(side.name, e, patchBound)
		}
		if err == nil && bytes.IndexByte(texts[i], 0) >= 0 {
			err = errBinary
		}
		if _, unread := asReadError(err); unread {
			if matters {
				a.issue(codeOf(err), p)
			}
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	rec := *r
	full := diff.Replace(p, r.OldMode, r.NewMode, texts[0], texts[1])
	rec.Binary, rec.Hunks, rec.HasHunks = false, full.Hunks, full.HasHunks
	return &rec, nil
}

// replaced is what Git would print of a path, with all of both texts: a record
// of each side where the kind of the entry changes, else one of both. A text
// that cannot be read, or is none, is left out.
func (a *acquisition) replaced(before, after view, p string) ([]diff.Record, error) {
	var texts [2][]byte
	var modes [2]string
	for i, v := range []view{before, after} {
		e, err := v.at(p)
		if _, unread := asReadError(err); unread {
			modes[i] = modeFile // something lies there and cannot be read
			continue
		}
		if err != nil {
			return nil, err
		}
		if !e.present() || e.mode == modeFolder || e.gitlink() {
			continue
		}
		modes[i] = e.mode
		texts[i], err = v.content(p, e, surfaceBound)
		if _, unread := asReadError(err); err != nil && !unread {
			return nil, err
		}
		if err != nil || bytes.IndexByte(texts[i], 0) >= 0 {
			texts[i] = nil
		}
	}
	was, now := entry{mode: modes[0]}, entry{mode: modes[1]}
	if was.file() && now.file() {
		now.mode = was.mode // the disk's permissions are no change (§2.2)
	}
	if was.present() && now.present() && was.file() == now.file() {
		return []diff.Record{diff.Replace(p, was.mode, now.mode, texts[0], texts[1])}, nil
	}
	var out []diff.Record
	if was.present() {
		out = append(out, diff.Delete(p, was.mode, texts[0]))
	}
	if now.present() {
		out = append(out, diff.NewFile(p, now.mode, texts[1]))
	}
	return out, nil
}

// indexRecords is the diff of HEAD against the index for split paths, and the
// comparison of the two; without any, both are empty.
func (w *worktreeChange) indexRecords() (*recordSet, *comparison, error) {
	set := &recordSet{}
	view := indexView{diskView: w.diskView(), split: newOverlay()}
	c := newComparison(surface.GitIndex, w.head, view, manifestBound)
	var paths []string
	for p, ch := range w.changes {
		if ch.unmerged || ch.y == '.' && !w.split(ch) {
			continue
		}
		view.split.add(p, ch.index)
		if !w.split(ch) {
			continue
		}
		paths = append(paths, p)
		if ch.index.present() || ch.head.present() {
			c.changed[p] = true
			c.entries[p] = [2]entry{ch.head, ch.index}
			c.filtered[p] = w.filtered(p)
		}
	}
	if len(paths) == 0 {
		return set, c, nil
	}
	sort.Strings(paths)
	p, err := w.repo.diff(w.ctx, slices.Concat([]string{"--cached"}, diffOptions, []string{"--no-renames", w.status.head, "--"}, literals(paths))...)
	if err != nil {
		return nil, nil, err
	}
	for i := range p.records {
		r := &p.records[i]
		switch name := r.Path(); {
		case !c.changed[name]:
		case w.filtered(name):
			set.add(stored(r, c.entries[name]))
		default:
			if err := w.keepReadable(set, w.head, view, r, p.texts[i]); err != nil {
				return nil, nil, err
			}
		}
	}
	c.records = set.byPath()
	return set, c, nil
}

// stored is a record that binds two objects without showing them.
func stored(from *diff.Record, ids [2]entry) (diff.Record, []byte) {
	r := *from
	r.Hunks, r.HasHunks, r.Binary = nil, false, false
	return r, append(diff.Render(&r), "index "+ids[0].id+".."+ids[1].id+"\n"...)
}
