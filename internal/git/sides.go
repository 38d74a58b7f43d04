package git

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// comparison is one after-state against its base: two views and what Git said
// about the paths between them.
type comparison struct {
	token    surface.Token
	old, new view
	// changed holds every path that differs between the two sides.
	changed map[string]bool
	// entries are the two index or tree entries of a changed path, where known;
	// modes decide "mode only".
	entries map[string][2]entry
	// filtered paths carry a filter attribute on a side: neither text is known.
	filtered map[string]bool
	// bounds are paths with a bound of their own (untracked files).
	bounds map[string]int64
	// unread are paths whose new side another step could not read, by code.
	unread map[string]string
	// records by path, for paths whose texts are not known.
	records map[string]*diff.Record
	// manifestBound is the bound of the configured manifest on the new side.
	manifestBound int64
}

func newComparison(token surface.Token, before, after view, manifestBound int64) *comparison {
	return &comparison{
		token: token, old: before, new: after, manifestBound: manifestBound, changed: map[string]bool{},
		entries: map[string][2]entry{}, filtered: map[string]bool{}, bounds: map[string]int64{}, unread: map[string]string{},
	}
}

// replaced says whether the link at p was itself changed where hosts expect a
// folder: it is row 27 then, and the files below it are judged as Git lists
// them (§2.7). Any other changed link is followed.
func (c *comparison) replaced(p string) bool { return c.changed[p] && surface.IsLinkPoint(p) }

// build reads both sides of every touched path that rules judge: those that
// changed, and those that links at the candidates make part of the change.
func (a *acquisition) build(c *comparison, candidates map[string]bool) error {
	if len(c.changed) == 0 {
		return nil
	}
	touched, err := a.links(c, candidates)
	if err != nil {
		return err
	}
	for p := range c.changed {
		if a.judged(p) {
			touched[p] = true
		}
	}
	for _, p := range sorted(touched) {
		ch, err := a.change(c, p)
		if err != nil {
			return err
		}
		if ch != nil {
			a.in.Changes = append(a.in.Changes, *ch)
		}
	}
	return nil
}

// judged says whether rules judge a change of p.
func (a *acquisition) judged(p string) bool {
	return surface.IsBoundary(p) || p == a.manifest || p == a.policyPath && p != ""
}

// protected says whether p is a protected path: one that is judged, or a
// declared tool source.
func (a *acquisition) protected(p string) bool {
	return a.judged(p) || a.isDeclared(p)
}

// isDeclared says whether p is a declared tool source or lies below one.
func (a *acquisition) isDeclared(p string) bool {
	for len(a.declared) > 0 {
		if a.declared[p] {
			return true
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return false
}

// readable says whether rules read the text at p; other protected paths only
// count as changed.
func (a *acquisition) readable(p string) bool {
	return surface.IsAdapterPath(p) || p == a.manifest || p == a.policyPath && p != ""
}

func (a *acquisition) change(c *comparison, p string) (*surface.Change, error) {
	before, err := resolve(c.old, p, c.replaced)
	if err != nil {
		return nil, err
	}
	after, err := resolve(c.new, p, c.replaced)
	if err != nil {
		return nil, err
	}
	if a.atLinkPoint(p, before, after) {
		return nil, nil // row 27 alone; made by links
	}
	ch := &surface.Change{
		Path: p, Source: c.token, Listed: c.changed[p],
		Manifest: p == a.manifest, Policy: p == a.policyPath && p != "",
	}
	if e := c.entries[p]; e[0].file() && e[1].file() && e[0].id == e[1].id && e[0].mode != e[1].mode {
		ch.ModeOnly = true
	}
	if !a.readable(p) {
		ch.Old.Present = before.outcome != nothing
		ch.New.Present = after.outcome != nothing
		ch.Deleted = ch.Old.Present && !ch.New.Present
		a.lines(c, ch)
		return ch, nil
	}
	if a.linkRefused(p, before, after) {
		a.issue(codeExternal, p)
		ch.Old, err = a.oldBesideRefused(c, p, before)
		ch.New = surface.Side{Present: after.outcome != nothing, Unresolved: codeExternal}
		ch.Deleted = ch.Old.Present && !ch.New.Present
		a.lines(c, ch)
		return ch, err
	}
	if before.through() || after.through() {
		ch.Link = &surface.Link{Old: target(before), New: target(after)}
	}
	if err := a.readSides(c, ch, before, after); err != nil {
		return nil, err
	}
	for _, s := range []surface.Side{ch.Old, ch.New} {
		if s.Unresolved != "" {
			a.issue(s.Unresolved, p)
		}
	}
	ch.Deleted = ch.Old.Present && !ch.New.Present
	a.lines(c, ch)
	return ch, nil
}

// readSides reads both texts of a change.
func (a *acquisition) readSides(c *comparison, ch *surface.Change, before, after resolution) (err error) {
	p, bound := ch.Path, int64(surfaceBound)
	if p == a.manifest {
		bound = c.manifestBound
	}
	if ch.Old, err = a.side(c, c.old, p, before, bound); err != nil {
		return err
	}
	if untracked, ok := c.bounds[p]; ok {
		bound = untracked
	}
	if ch.New, err = a.side(c, c.new, p, after, bound); err != nil {
		return err
	}
	if code := c.unread[p]; code != "" && ch.New.Present {
		ch.New = surface.Side{Present: true, Unresolved: code}
	}
	if text := ch.New.Bytes; surface.IsGateWorkflow(p) && bytes.Contains(text, []byte("uses:")) && bytes.Contains(text, []byte("./")) {
		ch.ActionUsesGate, err = a.actionUsesGate(c.new)
	}
	return err
}

// linkRefused says that a side is behind a link that may not be read (§2.7).
// The configured manifest is never read through a link (§2.6).
func (a *acquisition) linkRefused(p string, before, after resolution) bool {
	if p == a.manifest && (before.through() || after.through()) {
		return true
	}
	bad := func(r resolution) bool { return r.outcome == refused || r.outcome == folder && r.through() }
	return bad(before) || bad(after) || after.outcome == dangling
}

// oldBesideRefused is the old side of a path whose new text is not known: read
// where it can be, absent where no host could read it.
func (a *acquisition) oldBesideRefused(c *comparison, p string, before resolution) (surface.Side, error) {
	if before.outcome == refused || before.outcome == folder && before.through() {
		return surface.Side{Present: true, Unresolved: codeExternal}, nil
	}
	return a.side(c, c.old, p, before, surfaceBound)
}

func target(r resolution) *string {
	if r.outcome != linked {
		return nil
	}
	return &r.end
}

// side reads the text at the end of a resolution. An entry that is no file and
// no link (a folder under a file's name) counts as absent.
func (a *acquisition) side(c *comparison, v view, p string, r resolution, bound int64) (surface.Side, error) {
	if r.outcome != plain && r.outcome != linked {
		return surface.Side{}, nil
	}
	if c.filtered[p] || c.filtered[r.end] {
		return surface.Side{Present: true, Unresolved: codeFiltered}, nil
	}
	text, err := v.content(r.end, r.entry, bound)
	if _, unread := asReadError(err); unread {
		return surface.Side{Present: true, Unresolved: codeOf(err)}, nil
	}
	if err != nil {
		return surface.Side{}, err
	}
	return textSide(text), nil
}

// textSide is a side with this text, unresolved when no rule may read it.
func textSide(text []byte) surface.Side {
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		return surface.Side{Present: true, Unresolved: codeBinary}
	case !utf8.Valid(text):
		return surface.Side{Present: true, Unresolved: codeNonUTF8}
	}
	return surface.Side{Present: true, Bytes: text}
}

// lines gives the change its added and removed lines: from the two texts where
// both are known, else from the record's hunks.
func (a *acquisition) lines(c *comparison, ch *surface.Change) {
	if ch.Old.Unresolved == "" && ch.New.Unresolved == "" && a.readable(ch.Path) {
		ch.Added, ch.Removed = surface.ChangedLines(ch.Old.Bytes, ch.New.Bytes)
		return
	}
	if rec := c.records[ch.Path]; rec != nil {
		ch.Added, ch.Removed = recordLines(rec)
		ch.OldHunkLines, ch.NewHunkLines = hunkLines(rec)
	}
}

func recordLines(rec *diff.Record) (added, removed []surface.AddedLine) {
	for _, l := range rec.Added() {
		added = append(added, surface.AddedLine{Text: l})
	}
	for _, l := range rec.Removed() {
		removed = append(removed, surface.AddedLine{Text: l})
	}
	return added, removed
}

// hunkLines are the lines of the hunks as each side has them, context included.
func hunkLines(rec *diff.Record) (before, after []string) {
	for i := range rec.Hunks {
		for _, l := range rec.Hunks[i].Lines {
			text := surface.Lossy(string(l.Text))
			if l.Op != '+' {
				before = append(before, text)
			}
			if l.Op != '-' {
				after = append(after, text)
			}
		}
	}
	return before, after
}

// actionUsesGate says whether the repository's own action is the gate (§5.1,
// rule 10). An action that cannot be read is not.
func (a *acquisition) actionUsesGate(v view) (bool, error) {
	for _, name := range []string{"action.yml", "action.yaml"} {
		res, err := resolve(v, name, nil)
		if err != nil {
			return false, err
		}
		if res.outcome != plain {
			continue
		}
		text, err := v.content(name, res.entry, surfaceBound)
		if _, unread := asReadError(err); unread {
			continue
		}
		if err != nil {
			return false, err
		}
		if doc, bad := source.ParseYAML(text); bad == nil && surface.ActionIsGate(doc) {
			return true, nil
		}
	}
	return false, nil
}

// links finds what the change reaches through links (§2.7). candidates are the
// paths of links at adapter paths and link points, on any side. It returns the
// adapter paths that are touched through a link, and reports the link points
// that are no longer the folder Git lists.
func (a *acquisition) links(c *comparison, candidates map[string]bool) (map[string]bool, error) {
	through := map[string]bool{}
	for _, l := range sorted(candidates) {
		for _, v := range []view{c.old, c.new} {
			res, err := resolve(v, l, nil)
			if err != nil {
				return nil, err
			}
			if res.through() {
				a.reach(c, l, &res, through)
			}
		}
	}
	for _, p := range sorted(c.changed) {
		if !surface.IsLinkPoint(p) {
			continue
		}
		before, err := resolve(c.old, p, c.replaced)
		if err != nil {
			return nil, err
		}
		after, err := resolve(c.new, p, c.replaced)
		if err != nil {
			return nil, err
		}
		if a.atLinkPoint(p, before, after) {
			a.linkPoint(p)
		}
	}
	return through, nil
}

// reach adds to through what the change touches through the link l, which is
// resolved on one side.
func (a *acquisition) reach(c *comparison, l string, res *resolution, through map[string]bool) {
	turned := slices.ContainsFunc(append(res.via, res.end), func(p string) bool { return p != l && c.changed[p] })
	switch {
	case turned && surface.IsLinkPoint(l) && (res.outcome == folder || !a.readable(l)):
		a.linkPoint(l)
	case turned && a.readable(l) && res.outcome != folder:
		through[l] = true
	}
	for p := range c.changed {
		if rest, below := res.above(p); below && surface.IsAdapterPath(l+"/"+rest) {
			through[l+"/"+rest] = true
		}
	}
}

// atLinkPoint says whether a changed path is a link or a nested repository
// where hosts expect a folder. A link to a file below such a folder is none:
// it is read like any other.
func (a *acquisition) atLinkPoint(p string, before, after resolution) bool {
	if !surface.IsLinkPoint(p) {
		return false
	}
	special := func(r resolution) bool {
		switch r.outcome {
		case refused, dangling:
			return true
		case folder:
			return r.through()
		case nothing, plain, linked:
		}
		return false
	}
	if surface.IsAdapterPath(p) {
		// A file a host loads: links to nowhere are row 27 with unresolved text.
		only := func(r resolution) bool { return r.outcome == folder && r.through() }
		return only(before) || only(after)
	}
	return special(before) || special(after)
}

func (a *acquisition) linkPoint(p string) {
	a.issue(codeExternal, p)
	for _, have := range a.in.LinkPoints {
		if have == p {
			return
		}
	}
	a.in.LinkPoints = append(a.in.LinkPoints, p)
	sort.Strings(a.in.LinkPoints)
}

// structure adds the structural issues of one after-state's records (§3.2).
func (a *acquisition) structure(records []diff.Record) {
	for _, i := range diff.Issues(records, diff.Options{Boundary: a.judged}) {
		a.report(surface.Issue{Code: i.Code, Path: i.Path, Message: i.Message})
	}
}
