package git

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

const commitBound = 1 << 20

// The empty tree in both hashes: diffing against it lists a whole tree.
const (
	emptyTreeSHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptyTreeSHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// committed reads the range base...head: the merge base of two commits against
// the second. The checkout plays no part (§2.4, ruling R15).
func (a *acquisition) committed() error {
	o, err := a.objects()
	if err != nil {
		return err
	}
	ids := [2]string{}
	for i, ref := range []string{a.req.Base, a.req.Head} {
		obj, err := o.get(ref+"^{commit}", commitBound)
		if errors.Is(err, errObjectMissing) || err == nil && obj.kind != "commit" {
			return &InputError{Failure: gate.RefMissing}
		}
		if err != nil {
			return err
		}
		ids[i] = obj.id
	}
	base, err := a.mergeBase(ids[0], ids[1])
	if err != nil {
		return err
	}
	p, attributes, links, err := a.listRange(base, ids[1])
	if err != nil {
		return err
	}
	before, after := a.treeView(base), a.treeView(ids[1])
	changed := map[string]bool{}
	entries := map[string][2]entry{}
	for _, e := range p.entries {
		if e.oldName == e.newName {
			entries[e.newName] = [2]entry{e.old, e.new}
			before.listed[e.newName], after.listed[e.newName] = e.old, e.new
		} else {
			after.listed[e.newName] = e.new
			before.listed[e.oldName] = e.old
			if e.status == 'R' {
				after.listed[e.oldName] = entry{}
			}
		}
		changed[e.oldName], changed[e.newName] = true, true
	}
	return a.judgeRange(&rangeChange{
		p: p, base: base, before: before, after: after, changed: changed, entries: entries, attributes: attributes, links: links,
	})
}

type rangeChange struct {
	p             *patch
	base          string
	before, after treeView
	changed       map[string]bool
	entries       map[string][2]entry
	attributes    map[string]entry // attributes files of the head tree
	links         map[string]bool  // links of the head tree at adapter paths and link points
}

func (a *acquisition) judgeRange(r *rangeChange) error {
	text, present, err := a.readManifest(r.after, manifestBoundGit)
	if err != nil {
		return err
	}
	a.in.Manifest.Present = present
	a.declare(text, r.after)
	if r.changed[a.manifest] {
		a.in.Manifest.SourceKinds = a.sourceKinds(text, r.after)
	}
	if err := a.policies(r.after); err != nil {
		return err
	}
	filtered, err := a.rangeFilters(r)
	if err != nil {
		return err
	}
	set := &recordSet{}
	for i := range r.p.records {
		rec := r.p.records[i]
		if rec.Binary {
			raw, err := a.raw(r.before, r.after, &rec)
			if err != nil {
				return err
			}
			if raw != nil {
				set.synthetic(*raw)
				continue
			}
		}
		set.add(rec, r.p.texts[i])
	}
	a.structure(set.records, false)
	c := &comparison{
		token: surface.GitRange, old: r.before, new: r.after, changed: r.changed, entries: r.entries, filtered: filtered,
		bounds: map[string]int64{}, unread: map[string]string{}, records: set.byPath(), manifestBound: manifestBoundGit,
	}
	candidates := r.links
	for p, e := range r.entries {
		if (e[0].link() || e[1].link()) && (surface.IsAdapterPath(p) || surface.IsLinkPoint(p)) {
			candidates[p] = true
		}
	}
	through, err := a.links(c, candidates)
	if err != nil {
		return err
	}
	if err := a.build(c, through); err != nil {
		return err
	}
	a.in.Records, a.in.IndexFrom = set.records, len(set.records)
	a.in.Text = bytes.Join(set.texts, nil)
	a.in.ChangedFiles = sorted(r.changed)
	return a.proveAdoption(r.base)
}

// mergeBase is where both histories meet. Without one, fetching can help only
// in a clone that was cut short (OP-2).
func (a *acquisition) mergeBase(base, head string) (string, error) {
	out, err := a.repo.output(a.ctx, nil, settingsBound, "merge-base", base, head)
	if err == nil {
		id, _, _ := strings.Cut(string(out), "\n")
		if id == "" {
			return "", &failure{verb: "merge-base", err: errMalformed}
		}
		return id, nil
	}
	if f, ok := errors.AsType[*failure](err); ok && f.stderr == "" && len(out) == 0 {
		if a.repo.shallow || a.repo.partial {
			return "", &InputError{Failure: gate.HistoryShallow, Err: err}
		}
		return "", &InputError{Failure: gate.HistoryUnjoined, Err: err}
	}
	if a.repo.shallow || a.repo.partial {
		return "", &InputError{Failure: gate.HistoryShallow, Err: err}
	}
	return "", err
}

// listRange runs processes 3a and 3b beside each other. The second finds the
// links and attributes files of the head tree.
func (a *acquisition) listRange(base, head string) (p *patch, attributes map[string]entry, links map[string]bool, err error) {
	var wg sync.WaitGroup
	var list *patch
	var listErr error
	wg.Go(func() {
		empty := emptyTreeSHA1
		if len(head) == 64 {
			empty = emptyTreeSHA256
		}
		args := []string{"--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty", empty, head, "--"}
		list, listErr = a.repo.diff(a.ctx, append(args, icaseGlobs(append(surface.LinkPatterns(), "**/"+attributesFile))...)...)
	})
	p, err = a.repo.diff(a.ctx, append(slices.Clone(diffOptions), base, head)...)
	wg.Wait()
	if err == nil {
		err = listErr
	}
	if err != nil {
		return nil, nil, nil, err
	}
	attributes, links = map[string]entry{}, map[string]bool{}
	for _, e := range list.entries {
		if path.Base(e.newName) == attributesFile {
			attributes[e.newName] = e.new
		}
		if e.new.link() {
			links[e.newName] = true
		}
	}
	return p, attributes, links, nil
}

func (a *acquisition) treeView(commit string) treeView {
	return treeView{listed: map[string]entry{}, blobs: a.blob, tree: sync.OnceValues(func() (*tree, error) {
		o, err := a.objects()
		if err != nil {
			return nil, err
		}
		return o.treeOf(commit)
	})}
}

// rangeFilters are the touched paths with a filter attribute in either tree.
func (a *acquisition) rangeFilters(r *rangeChange) (map[string]bool, error) {
	var paths []string
	attributesChanged := false
	for p := range r.changed {
		attributesChanged = attributesChanged || path.Base(p) == attributesFile
		if a.protected(p) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	out := map[string]bool{}
	if len(paths) == 0 {
		return out, nil
	}
	f := newFilters(a.repo, a.disk)
	o, err := a.objects()
	if err != nil {
		return nil, err
	}
	sides := []map[string]entry{r.attributes}
	if attributesChanged {
		base := map[string]entry{}
		for name, e := range r.attributes {
			base[name] = e
		}
		for name, e := range r.entries {
			if path.Base(name) == attributesFile {
				base[name] = e[0]
			}
		}
		sides = append(sides, base)
	}
	for _, ids := range sides {
		values, err := f.inTree(a.ctx, paths, ids, o)
		if err != nil {
			return nil, err
		}
		for p := range values {
			out[p] = true
		}
	}
	return out, nil
}

// The bounds of the proof that a base carries no manifest (§5.3).
const (
	probeFiles = 10_000
	probeEach  = 512 << 10
	probeSum   = 64 << 20
)

// proveAdoption sets AdoptionProven when the change adds exactly one manifest,
// touches no other YAML file by removal or rename, and no file of the base
// reads as a manifest. It chooses words only, so every doubt means "not proven".
func (a *acquisition) proveAdoption(commit string) error {
	manifests := 0
	for i := range a.in.Records[:a.in.IndexFrom] {
		r := &a.in.Records[i]
		if a.isManifest(r.OldName) || a.isManifest(r.NewName) {
			manifests++
			if !r.New || r.Renamed || r.Copied {
				return nil
			}
		}
		if isYAML(r.OldName) && (r.Deleted || r.Renamed) {
			return nil
		}
	}
	if manifests != 1 {
		return nil
	}
	list, err := a.repo.output(a.ctx, nil, listingBound, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil //nolint:nilerr // not proven
	}
	files, sum := 0, 0
	for line := range strings.SplitSeq(string(list), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !isYAML(name) || len(f) != 3 || f[1] != "blob" {
			continue
		}
		text, err := a.blob(f[2], probeEach)
		if files, sum = files+1, sum+len(text); err != nil || files > probeFiles || sum > probeSum {
			return nil //nolint:nilerr // not proven
		}
		body, _ := source.TrimBOM(text)
		if doc, bad := source.ParseYAML(body); bad == nil && surface.LooksLikeManifest(doc) {
			return nil
		}
	}
	a.in.Manifest.AdoptionProven = true
	return nil
}

func (a *acquisition) isManifest(p string) bool {
	return p != "" && (p == a.manifest || surface.ClassOf(p) == surface.ClassManifest)
}

func isYAML(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".yml" || ext == ".yaml"
}
