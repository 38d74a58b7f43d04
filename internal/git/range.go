package git

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/surface"
)

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
		obj, err := o.namedCommit([]string{"--base", "--head"}[i], ref)
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
	r := &rangeChange{p: p, base: base, attributes: attributes, links: links}
	r.comparison = newComparison(surface.GitRange, a.treeView(base), a.treeView(ids[1]), manifestBoundGit)
	r.list()
	return a.judgeRange(r)
}

// rangeChange is the comparison of two trees.
type rangeChange struct {
	*comparison
	p          *patch
	base       string
	attributes map[string]entry // attributes files of the head tree
	links      map[string]bool  // links of the head tree at adapter paths and link points
}

// list takes over what Git listed, so that trees are walked for other paths only.
func (r *rangeChange) list() {
	before, after := r.old.(treeView).listed, r.new.(treeView).listed
	for _, e := range r.p.entries {
		before[e.oldName], after[e.newName] = e.old, e.new
		r.changed[e.oldName], r.changed[e.newName] = true, true
		if e.oldName == e.newName {
			r.entries[e.newName] = [2]entry{e.old, e.new}
		} else if e.status == 'R' {
			after[e.oldName] = entry{}
		}
	}
}

func (a *acquisition) judgeRange(r *rangeChange) error {
	text, present, err := a.readManifest(r.new, manifestBoundGit)
	if err != nil {
		return err
	}
	a.in.Manifest.Present = present
	a.declare(text, r.new)
	if r.changed[a.manifest] {
		a.in.Manifest.SourceKinds = a.sourceKinds(text, r.new)
	}
	if err := a.policies(r.new); err != nil {
		return err
	}
	if err := a.rangeFilters(r); err != nil {
		return err
	}
	set := &recordSet{}
	for i := range r.p.records {
		if err := a.keepReadable(set, r.old, r.new, &r.p.records[i], r.p.texts[i]); err != nil {
			return err
		}
	}
	r.records = set.byPath()
	a.structure(set.records)
	for p, e := range r.entries {
		if (e[0].link() || e[1].link()) && (surface.IsAdapterPath(p) || surface.IsLinkPoint(p)) {
			r.links[p] = true
		}
	}
	if err := a.build(r.comparison, r.links); err != nil {
		return err
	}
	a.in.Records, a.in.IndexFrom = set.records, len(set.records)
	a.in.Text = bytes.Join(set.texts, nil)
	a.in.ChangedFiles = sorted(r.changed)
	a.proveAdoption(r.base)
	return nil
}

// mergeBase is where both histories meet. Without one, fetching can help only
// in a clone that was cut short (OP-2). base and head are ids of commits.
func (a *acquisition) mergeBase(base, head string) (string, error) {
	if base == head {
		return base, nil
	}
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

// rangeFilters marks the changed paths that have a filter attribute in either
// tree. A protected one cannot be judged.
func (a *acquisition) rangeFilters(r *rangeChange) error {
	paths := sorted(r.changed)
	if len(paths) == 0 {
		return nil
	}
	sides := []map[string]entry{r.attributes}
	if slices.ContainsFunc(paths, func(p string) bool { return path.Base(p) == attributesFile }) {
		base := maps.Clone(r.attributes)
		for _, e := range r.p.entries {
			delete(base, e.newName)
		}
		for _, e := range r.p.entries {
			if path.Base(e.oldName) == attributesFile {
				base[e.oldName] = e.old
			}
		}
		sides = append(sides, base)
	}
	f := newFilters(a.repo, a.disk)
	for _, attributes := range sides {
		values, err := f.inTree(a.ctx, paths, attributes, a.objects)
		if err != nil {
			return err
		}
		for p := range values {
			r.filtered[p] = true
			if a.protected(p) {
				a.issue(codeFiltered, p)
			}
		}
	}
	return nil
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
func (a *acquisition) proveAdoption(commit string) {
	manifests := 0
	for i := range a.in.Records[:a.in.IndexFrom] {
		r := &a.in.Records[i]
		if a.isManifest(r.OldName) || a.isManifest(r.NewName) {
			manifests++
			if !r.New || r.Renamed || r.Copied {
				return
			}
		}
		if isYAML(r.OldName) && (r.Deleted || r.Renamed) {
			return
		}
	}
	if manifests != 1 {
		return
	}
	none, err := a.noManifest(commit)
	a.in.Manifest.AdoptionProven = err == nil && none
}

// noManifest says whether no YAML file of a commit reads as a manifest, within
// the bounds of the proof.
func (a *acquisition) noManifest(commit string) (bool, error) {
	var ids []string
	err := a.repo.stream(a.ctx, nil, func(in *bufio.Reader) error {
		return fields(in, func(f []byte) (int, error) {
			// 100644 blob <id>\t<path>
			head, name, _ := strings.Cut(string(f), "\t")
			if p := strings.Split(head, " "); isYAML(name) && len(p) == 3 && p[1] == "blob" {
				if ids = append(ids, p[2]); len(ids) > probeFiles {
					return 0, errTooLong
				}
			}
			return 0, nil
		})
	}, "ls-tree", "-r", "-z", "--full-tree", commit)
	if errors.Is(err, errTooLong) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sum := 0
	for _, id := range ids {
		text, err := a.blob(id, probeEach)
		if _, unread := asReadError(err); unread {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if sum += len(text); sum > probeSum || surface.ParseManifest(text).Valid {
			return false, nil
		}
	}
	return true, nil
}

func (a *acquisition) isManifest(p string) bool {
	return p != "" && (p == a.manifest || surface.ClassOf(p) == surface.ClassManifest)
}

func isYAML(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".yml" || ext == ".yaml"
}
