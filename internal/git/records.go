package git

import (
	"bytes"
	"slices"
	"sort"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

// The bounds on untracked files that become part of the change.
const (
	untrackedBound    = 128 << 10
	untrackedSumBound = 1 << 20
)

// recordSet is the records of one after-state with their texts.
type recordSet struct {
	records []diff.Record
	texts   [][]byte
}

func (s *recordSet) add(rec diff.Record, text []byte) {
	s.records = append(s.records, rec)
	s.texts = append(s.texts, text)
}

func (s *recordSet) synthetic(rec diff.Record) { s.add(rec, diff.Render(&rec)) }

func (s *recordSet) byPath() map[string]*diff.Record {
	out := map[string]*diff.Record{}
	for i := range s.records {
		r := &s.records[i]
		for _, p := range []string{r.OldName, r.NewName} {
			if p != "" {
				out[p] = r
			}
		}
	}
	return out
}

// records reads both diffs and the untracked files, and builds the changes of
// both after-states.
func (w *worktreeChange) records() error {
	disk, err := w.diskRecords()
	if err != nil {
		return err
	}
	untracked := &recordSet{}
	on := &comparison{
		token: surface.GitWorktree, old: w.head, new: w.diskView(), changed: map[string]bool{},
		entries: map[string][2]entry{}, filtered: map[string]bool{}, bounds: map[string]int64{}, unread: map[string]string{},
		manifestBound: manifestBound,
	}
	for p, c := range w.changes {
		if w.protected(p) && !c.unmerged && !w.differs(c) {
			continue // only the index differs
		}
		on.changed[p] = true
		on.filtered[p] = w.filtered(p)
		if c.y == '.' {
			on.entries[p] = [2]entry{c.head, c.index}
		}
		if c.unmerged && surface.IsBoundary(p) {
			w.issue("boundary_index_unmerged", p)
		}
	}
	if err := w.untracked(untracked, on); err != nil {
		return err
	}
	staged, index, err := w.indexRecords(on)
	if err != nil {
		return err
	}
	w.structure(disk.records, false)
	w.structure(untracked.records, false)
	w.structure(staged.records, false)

	on.records = (&recordSet{records: slices.Concat(disk.records, untracked.records)}).byPath()
	states := []*comparison{on}
	if index != nil {
		index.records = staged.byPath()
		states = append(states, index)
	}
	candidates := w.linkCandidates()
	for _, c := range states {
		through, err := w.links(c, candidates)
		if err != nil {
			return err
		}
		if err := w.build(c, through); err != nil {
			return err
		}
	}
	w.in.Records = slices.Concat(disk.records, untracked.records, staged.records)
	w.in.IndexFrom = len(disk.records) + len(untracked.records)
	w.in.Text = bytes.Join(slices.Concat(disk.texts, untracked.texts), nil)
	if index != nil {
		w.in.IndexText = bytes.Join(staged.texts, nil)
	}
	files := map[string]bool{}
	for p := range w.changes {
		files[p] = true
	}
	for i := range w.in.Records {
		for _, p := range []string{w.in.Records[i].OldName, w.in.Records[i].NewName} {
			if p != "" {
				files[p] = true
			}
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
	paths := make([]string, 0, len(w.changes))
	read := false
	for p := range w.changes {
		paths = append(paths, p)
		read = read || w.readable(p)
	}
	sort.Strings(paths)
	if read {
		// Blobs will be asked for: let cat-file start beside the diff.
		if _, err := w.objects(); err != nil {
			return nil, err
		}
	}
	args := append([]string{w.status.head}, diffOptions...)
	p, err := w.repo.diff(w.ctx, append(append(args, "--"), literals(paths)...)...)
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{}
	for i := range p.records {
		r := p.records[i]
		names := []string{r.OldName, r.NewName}
		odd := false
		for _, name := range names {
			c := w.changes[name]
			odd = odd || name != "" && (c == nil || w.protected(name) && (!c.unmerged && !w.differs(c) || c.x == 'D' && w.split(c)))
		}
		if odd {
			continue
		}
		for _, name := range names {
			shown[name] = true
		}
		if err := w.keep(set, r, p.texts[i]); err != nil {
			return nil, err
		}
	}
	for _, name := range paths {
		c := w.changes[name]
		if shown[name] || !w.protected(name) || c.unmerged || !w.differs(c) {
			continue
		}
		rec, err := w.synthetic(w.head, w.diskView(), name)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			set.synthetic(*rec)
		}
	}
	return set, nil
}

// keep adds one of Git's records: without its hunks where a filter stands
// between the two texts, read raw where Git called it binary.
func (w *worktreeChange) keep(set *recordSet, r diff.Record, text []byte) error {
	p := r.Path()
	if c := w.changes[p]; c != nil && w.filtered(p) {
		set.add(w.filteredRecord(r, c))
		return nil
	}
	if r.Binary {
		rec, err := w.raw(w.head, w.diskView(), &r)
		if err != nil {
			return err
		}
		if rec != nil {
			set.synthetic(*rec)
			return nil
		}
	}
	set.add(r, text)
	return nil
}

// filteredRecord is a header that binds the bytes on disk without showing them.
func (w *worktreeChange) filteredRecord(r diff.Record, c *change) (diff.Record, []byte) {
	r.Hunks, r.HasHunks, r.Binary = nil, false, false
	text := diff.Render(&r)
	now := strings.Repeat("0", len(c.index.id))
	if st, err := w.disk.look(c.path); err == nil && st.info != nil && st.info.Mode().IsRegular() {
		if st.info.Size() > lfsHashBound {
			return r, append(text, []byte("index "+c.index.id+"..size "+strconv.FormatInt(st.info.Size(), 10)+"\n")...)
		}
		if id, _, err := w.disk.hash(c.path, st.info.Size(), 0, len(c.index.id)); err == nil {
			now = id
		}
	}
	return r, append(text, []byte("index "+c.index.id+".."+now+"\n")...)
}

// raw reads both sides of a record that Git called binary, where it matters
// (§2.4). Nil means that Git's record stands.
func (a *acquisition) raw(before, after view, r *diff.Record) (*diff.Record, error) {
	p := r.Path()
	matters := a.protected(p) || trigger.CapabilityByPath(p)
	if !matters && !strings.HasSuffix(p, ".py") {
		return nil, nil
	}
	rec := *r
	rec.Binary = false
	texts := [2][]byte{}
	for i, side := range []struct {
		v    view
		name string
	}{{before, r.OldName}, {after, r.NewName}} {
		if side.name == "" {
			continue
		}
		e, err := side.v.at(side.name)
		if err == nil && e.file() {
			texts[i], err = side.v.content(side.name, e, rawBound)
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
		if bytes.IndexByte(texts[i], 0) >= 0 {
			if matters {
				a.issue(codeBinary, p)
			}
			return nil, nil
		}
	}
	full := diff.Replace(p, r.OldMode, r.NewMode, texts[0], texts[1])
	rec.Hunks, rec.HasHunks = full.Hunks, full.HasHunks
	return &rec, nil
}

// synthetic is a record of both sides of a path that Git does not show.
func (a *acquisition) synthetic(before, after view, p string) (*diff.Record, error) {
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
		if texts[i], err = v.content(p, e, surfaceBound); err != nil {
			if _, unread := asReadError(err); !unread {
				return nil, err
			}
			texts[i] = nil
		}
		if bytes.IndexByte(texts[i], 0) >= 0 {
			texts[i] = nil
		}
	}
	var rec diff.Record
	switch {
	case modes[0] == "" && modes[1] == "":
		return nil, nil
	case modes[0] == "":
		rec = diff.NewFile(p, modes[1], texts[1])
	case modes[1] == "":
		rec = diff.Delete(p, modes[0], texts[0])
	default:
		rec = diff.Replace(p, modes[0], modes[1], texts[0], texts[1])
	}
	return &rec, nil
}

// indexRecords is the diff of HEAD against the index for split paths. Without
// any the comparison is nil.
func (w *worktreeChange) indexRecords(on *comparison) (*recordSet, *comparison, error) {
	set := &recordSet{}
	entries := map[string]entry{}
	var paths []string
	for p, c := range w.changes {
		if w.split(c) {
			paths = append(paths, p)
			entries[p] = c.index
		}
	}
	if len(paths) == 0 {
		return set, nil, nil
	}
	sort.Strings(paths)
	args := append(append([]string{"--cached"}, diffOptions...), "--no-renames", w.status.head, "--")
	p, err := w.repo.diff(w.ctx, append(args, literals(paths)...)...)
	if err != nil {
		return nil, nil, err
	}
	view := indexView{diskView: w.diskView(), split: entries}
	for i := range p.records {
		r := p.records[i]
		if _, ok := entries[r.Path()]; !ok {
			continue
		}
		if r.Binary {
			rec, err := w.raw(w.head, view, &r)
			if err != nil {
				return nil, nil, err
			}
			if rec != nil {
				set.synthetic(*rec)
				continue
			}
		}
		set.add(r, p.texts[i])
	}
	c := &comparison{
		token: surface.GitIndex, old: w.head, new: view, changed: map[string]bool{}, entries: map[string][2]entry{},
		filtered: on.filtered, bounds: map[string]int64{}, unread: map[string]string{}, manifestBound: manifestBound,
	}
	for _, p := range paths {
		if ch := w.changes[p]; ch.index.present() || ch.head.present() {
			c.changed[p] = true
			c.entries[p] = [2]entry{ch.head, ch.index}
			c.filtered[p] = w.filtered(p)
		}
	}
	return set, c, nil
}

// untracked adds the untracked files that are part of the change (§2.2 step 5).
func (w *worktreeChange) untracked(set *recordSet, on *comparison) error {
	sum := int64(0)
	names := slices.Clone(w.status.untracked)
	sort.Strings(names)
	for _, name := range slices.Compact(names) {
		if bare, nested := strings.CutSuffix(name, "/"); nested {
			// A nested repository where hosts look: nothing below it is listed.
			w.issue(codeExternal, bare)
			if surface.IsLinkPoint(bare) {
				w.linkPoint(bare)
			}
			continue
		}
		c := w.changes[name]
		if c != nil && w.protected(name) {
			continue // rm --cached: the path has its record already
		}
		needed := w.relevant(name) || w.reached(name)
		st, err := w.disk.look(name)
		switch {
		case err == nil && st.info == nil:
			continue // it went away, or lies below a link
		case err == nil && isLink(st.info):
			if !needed && !surface.IsLinkPoint(name) {
				continue
			}
			text, err := w.diskView().content(name, entry{mode: modeLink}, maxLinkText)
			if err != nil {
				w.issue(codeOf(err), name)
			}
			set.synthetic(diff.NewFile(name, modeLink, text))
			on.changed[name] = true
			continue
		}
		if !needed && !strings.HasSuffix(name, ".py") && !trigger.CapabilityByPath(name) {
			continue // a file at a link point below no host's pattern
		}
		text, err := w.disk.read(name, untrackedBound)
		if err == nil && needed && sum+int64(len(text)) > untrackedSumBound {
			err = errOversized
		}
		if err == nil && strings.ContainsAny(name, "\r\n") {
			w.issue("boundary_path_not_diff_representable", name)
		}
		if err != nil {
			w.issue(codeOf(err), name)
			on.unread[name] = codeOf(err)
			set.synthetic(diff.NewFile(name, modeFile, nil))
			on.changed[name] = true
			continue
		}
		if !needed && !trigger.Capability(name, surface.Lines(text)) {
			continue
		}
		if sum += int64(len(text)); sum > untrackedSumBound {
			w.issue(codeOversized, name)
			text = nil
		}
		on.bounds[name] = untrackedBound
		on.filtered[name] = w.filtered(name)
		on.changed[name] = true
		if bytes.IndexByte(text, 0) >= 0 {
			text = nil // the change's own side says why
			if !w.readable(name) {
				w.issue(codeBinary, name)
			}
		}
		set.synthetic(diff.NewFile(name, modeFile, text))
	}
	return nil
}

// linkCandidates are the links at adapter paths and link points on any side.
func (w *worktreeChange) linkCandidates() map[string]bool {
	out := map[string]bool{}
	at := func(p string) bool { return surface.IsAdapterPath(p) || surface.IsLinkPoint(p) }
	for p, t := range w.index {
		if t.link() && at(p) {
			out[p] = true
		}
	}
	add := func(p string) {
		if st, err := w.disk.look(p); at(p) && (err != nil || st.info != nil && isLink(st.info)) {
			out[p] = true
		}
	}
	for p, c := range w.changes {
		if at(p) && (c.head.link() || c.index.link()) {
			out[p] = true
		}
		add(p)
	}
	for _, p := range w.status.untracked {
		add(strings.TrimSuffix(p, "/"))
	}
	return out
}
