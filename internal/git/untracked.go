package git

import (
	"bytes"
	"slices"
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

// untracked adds the untracked files that are part of the change (§2.2 step 5).
func (w *worktreeChange) untracked(set *recordSet, on *comparison) error {
	room := int64(untrackedSumBound)
	names := slices.Clone(w.status.untracked)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if bare, nested := strings.CutSuffix(name, "/"); nested {
			// A nested repository where hosts look: nothing below it is listed.
			w.issue(codeExternal, bare)
			if surface.IsLinkPoint(bare) {
				w.linkPoint(bare)
			}
			continue
		}
		if w.changes[name] != nil {
			continue // it left the index, and has its record already
		}
		rec := w.untrackedRecord(name, &room, on)
		if rec == nil {
			continue
		}
		if strings.ContainsAny(name, "\r\n") {
			w.issue("boundary_path_not_diff_representable", name)
		}
		on.changed[name] = true
		if err := set.synthetic(*rec); err != nil {
			return err
		}
	}
	return nil
}

// untrackedRecord is the record of one untracked file, nil when it is no part of
// the change. room is what may still be read; it is lowered by what was.
func (w *worktreeChange) untrackedRecord(name string, room *int64, on *comparison) *diff.Record {
	needed := w.protected(name) || w.reached(name)
	st, err := w.disk.look(name)
	switch {
	case err == nil && st.info == nil:
		return nil // it went away, or lies below a link
	case err == nil && isLink(st.info):
		if !needed && !surface.IsLinkPoint(name) {
			return nil
		}
		text, err := w.diskView().content(name, entry{mode: modeLink}, maxLinkText)
		if err != nil {
			w.issue(codeOf(err), name)
		}
		rec := diff.NewFile(name, modeLink, text)
		return &rec
	case !needed && !contentMatters(name):
		return nil // a file at a link point, below no host's pattern
	}
	text, err := w.disk.read(name, untrackedBound)
	if err == nil && !needed && !trigger.Capability(name, surface.Lines(text)) {
		return nil
	}
	if err == nil && int64(len(text)) > *room {
		err = errOversized
	}
	if err != nil {
		w.issue(codeOf(err), name)
		on.unread[name] = codeOf(err)
		rec := diff.NewFile(name, modeFile, nil)
		return &rec
	}
	*room -= int64(len(text))
	on.bounds[name] = untrackedBound
	if w.filtered(name) {
		on.filtered[name] = true
		if w.protected(name) {
			w.issue(codeFiltered, name)
		}
	}
	if bytes.IndexByte(text, 0) >= 0 {
		text = nil
		if w.matters(name) {
			w.issue(codeBinary, name)
		}
	}
	rec := diff.NewFile(name, modeFile, text)
	return &rec
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
		if !at(p) {
			return
		}
		if st, err := w.disk.look(p); err != nil || st.info != nil && isLink(st.info) {
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

// fillSparse adds the targets of links that a sparse checkout left off the disk
// (§2.2). Only protected paths were listed with their flags, so Git is asked for
// a path where a link on disk leads nowhere.
func (w *worktreeChange) fillSparse(candidates map[string]bool) error {
	if !w.repo.sparse {
		return nil
	}
	asked := map[string]bool{}
	for range maxHops {
		var missing []string
		for _, l := range sorted(candidates) {
			res, err := resolve(w.diskView(), l, nil)
			if err != nil {
				return err
			}
			if res.outcome == dangling && !asked[res.end] {
				asked[res.end] = true
				missing = append(missing, res.end)
			}
		}
		specs := literals(missing)
		if len(specs) == 0 {
			return nil
		}
		left, err := w.repo.tracked(w.ctx, specs, func(p string) bool { return asked[p] })
		if err != nil {
			return err
		}
		for i := range left {
			if t := &left[i]; t.tag == 'S' && t.stage == '0' {
				if _, absent := w.disk.compare(t); absent {
					w.sparse.add(t.path, t.entry)
				}
			}
		}
	}
	return nil
}
