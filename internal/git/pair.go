package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/source"
)

// PairRequest asks for both sides of a change as whole trees
// (docs/spec/verification.md §9.2).
type PairRequest struct {
	Actor     gate.Actor
	Dir       string // the caller's working directory, absolute
	Workspace string // as given; relative to Dir
	Config    string // as given; empty for shipgate.yaml. Relative to the workspace
	Base      string // as given; empty for the first of the usual refs
	Head      string // as given; empty for the working tree
	NoBase    bool
	Environ   []string
	YAML      source.Parser // of the manifest; nil for source.ParseYAML

	// Meanwhile is called with a head that is the working tree, from the manifest's
	// folder, and the manifest's name in it, while git answers everything else; nil
	// for nothing.
	Meanwhile func(head fs.FS, manifest string)
}

// Gap says why a change could not be read in full. The words are the reasons of
// docs/spec/verification.md §9.4.
type Gap struct {
	Reason string
	Detail string
	// Needs are the refs or commit ids that a fetch would have to bring.
	Needs []string
}

// Pair is both sides of one change. Close it.
type Pair struct {
	Root     string // of the repository, absolute
	Manifest string // repository-relative
	Config   string // as given, else the default name
	Dir      string // the manifest's folder, absolute

	// Head is the manifest's folder at the head, Base at the merge base; Base is
	// nil when there is none. BaseMissing says why: not_requested or ref_missing.
	Head, Base  fs.FS
	BaseMissing string
	// HeadRoot and BaseRoot are the same sides from the root of the repository.
	HeadRoot, BaseRoot fs.FS

	BaseRef, HeadRef         string // HeadRef is "" for the working tree
	BaseCommit, HeadCommit   string // HeadCommit is HEAD's for the working tree
	MergeBase, MergeBaseTree string
	BaseTree, HeadTree       string
	Worktree                 bool
	CheckedOut               bool          // the head is what HEAD is
	Changes                  []*gate.Input // what check judges: the committed range, then the working tree
	ChangedFiles             []string      // sorted, unique
	Text                     []byte        // the diff texts of Changes, in order
	Gap                      *Gap          // nil when the change was read in full

	head  *tree
	work  []*workSide
	batch *objects
	repo  *repository
}

// Close ends what reading the sides needs.
func (p *Pair) Close() {
	if p.batch != nil {
		p.batch.close()
	}
	for _, w := range p.work {
		w.close()
	}
	if p.repo != nil {
		p.repo.close()
	}
}

// usualBases are tried in this order when no base is named (§9.1). A local main
// counts only when it is named.
var usualBases = []string{"origin/HEAD", "origin/main", "origin/master"}

// OpenPair reads the change and opens both of its sides. Errors are
// *ShapeError, and *InputError where there is no repository at all; a change
// that could not be read in full is no error but a Gap.
func OpenPair(ctx context.Context, req PairRequest) (*Pair, error) {
	workspace := absolute(req.Dir, req.Workspace)
	root, base := findRoot(workspace)
	if root == "" {
		return nil, &InputError{Failure: gate.NoRepository}
	}
	config := req.Config
	if config == "" {
		config = defaultManifest
	}
	place := config
	if !filepath.IsAbs(place) {
		place = filepath.Join(base, place)
	}
	manifest, inside := relative(root, place)
	if !inside || manifest == "." {
		return nil, &ShapeError{Flag: "--config", Msg: config + " is outside the repository"}
	}
	p := &Pair{
		Root: root, Manifest: manifest, Config: config, Dir: filepath.Join(root, filepath.FromSlash(path.Dir(manifest))),
		BaseRef: req.Base, HeadRef: req.Head, Worktree: req.Head == "",
	}
	if err := p.openBeside(ctx, &req); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// openBeside opens the pair while req.Meanwhile looks at the working tree, for
// which nobody has to ask git.
func (p *Pair) openBeside(ctx context.Context, req *PairRequest) error {
	if !p.Worktree || req.Meanwhile == nil {
		return p.open(ctx, req)
	}
	head, err := openWorkSide(p.Dir)
	if err != nil {
		return p.open(ctx, req) // it finds the reason, or another one before it
	}
	p.work = append(p.work, head)
	done := make(chan error, 1)
	go func() { done <- p.open(ctx, req) }()
	req.Meanwhile(head, path.Base(p.Manifest))
	return <-done
}

func (p *Pair) open(ctx context.Context, req *PairRequest) (err error) {
	work := p.acquireWork(ctx, req)
	defer work.end()
	if p.repo, err = open(ctx, p.Root, req.Environ); err != nil {
		return p.fail(err, nil)
	}
	if p.batch, err = p.repo.objects(ctx); err != nil {
		return p.fail(err, nil)
	}
	head := req.Head
	if head == "" {
		head = "HEAD"
	}
	p.batch.expect(expected(req, head))
	defer p.batch.forget()
	if p.HeadCommit, err = p.commit("--head", head); err != nil {
		return p.fail(err, []string{head})
	}
	at, err := p.commit("--head", "HEAD")
	p.CheckedOut = err == nil && at == p.HeadCommit
	if err := p.chooseBase(ctx, req); err != nil {
		return err
	}
	if err := p.openSides(); err != nil {
		return err
	}
	if p.Gap != nil {
		return nil
	}
	return p.readChange(ctx, req, work)
}

// expected are the names under which open looks for commits and their trees.
func expected(req *PairRequest, head string) []string {
	refs := []string{head, "HEAD"}
	switch {
	case req.NoBase:
	case req.Base != "":
		refs = append(refs, req.Base)
	default:
		for _, ref := range usualBases {
			refs = append(refs, "refs/remotes/"+ref)
		}
	}
	slices.Sort(refs)
	var names []string
	for _, ref := range slices.Compact(refs) {
		names = append(names, ref+"^{commit}", ref+"^{tree}")
		if plainName(ref) {
			for _, folder := range nameFolders {
				names = append(names, folder+ref+"^{commit}")
			}
		}
	}
	return names
}

// commit is the id of the commit that a flag's ref names; errObjectMissing when
// there is none.
func (p *Pair) commit(flag, ref string) (string, error) {
	obj, err := p.batch.namedCommit(flag, ref)
	if err != nil {
		return "", err
	}
	if obj.kind != "commit" {
		return "", errObjectMissing
	}
	return obj.id, nil
}

// chooseBase finds the base and where both histories meet.
func (p *Pair) chooseBase(ctx context.Context, req *PairRequest) (err error) {
	switch {
	case req.NoBase:
		p.BaseMissing = "not_requested"
	case req.Base != "":
		if p.BaseCommit, err = p.commit("--base", req.Base); err != nil {
			p.BaseMissing = "ref_missing"
			return p.fail(err, []string{req.Base})
		}
	default:
		for _, ref := range usualBases {
			id, err := p.commit("--base", "refs/remotes/"+ref)
			if err == nil && (id != p.HeadCommit || p.Worktree) {
				p.BaseRef, p.BaseCommit = ref, id
				break
			}
		}
	}
	if p.BaseCommit == "" {
		if !p.Worktree {
			if p.BaseMissing == "" {
				p.BaseMissing = "ref_missing"
			}
			p.Gap = &Gap{Reason: "not_attempted", Detail: "There is no base to compare with."}
			return nil
		}
		// The working tree is always compared with something: its own commit.
		p.MergeBase = p.HeadCommit
		if p.BaseMissing == "" {
			p.BaseRef, p.BaseCommit = "HEAD", p.HeadCommit
		}
		return nil
	}
	a := &acquisition{ctx: ctx, repo: p.repo, in: &gate.Input{Mode: gate.GitRange}}
	if p.MergeBase, err = a.mergeBase(p.BaseCommit, p.HeadCommit); err != nil {
		return p.fail(err, []string{p.BaseRef})
	}
	return nil
}

// openSides opens the head, and the base where there is one.
func (p *Pair) openSides() (err error) {
	dir := path.Dir(p.Manifest)
	if dir == "." {
		dir = ""
	}
	head, err := p.batch.treeOf(p.HeadCommit)
	if err != nil {
		return p.fail(err, nil)
	}
	p.head, p.HeadTree = head, head.id
	p.Head, p.HeadRoot = &treeSide{tree: head, blobs: p.batch, dir: dir}, &treeSide{tree: head, blobs: p.batch}
	if p.Worktree {
		if p.Head, err = p.workSide(p.Dir); err != nil {
			return err
		}
		if p.HeadRoot, err = p.workSide(p.Root); err != nil {
			return err
		}
	}
	if p.BaseMissing != "" || p.MergeBase == "" {
		return nil
	}
	base, err := p.batch.treeOf(p.MergeBase)
	if err != nil {
		return p.fail(err, nil)
	}
	p.BaseTree = base.id
	p.Base, p.BaseRoot = &treeSide{tree: base, blobs: p.batch, dir: dir}, &treeSide{tree: base, blobs: p.batch}
	return nil
}

// Holds says whether the head commit has anything at a repository-relative path.
func (p *Pair) Holds(name string) bool {
	if p.head == nil {
		return false
	}
	e, err := p.head.entry(path.Clean(name))
	return err == nil && e.present()
}

func (p *Pair) workSide(dir string) (*workSide, error) {
	w, err := openWorkSide(dir)
	if err != nil {
		return nil, &ShapeError{Flag: "--config", Msg: p.Config + ": its folder cannot be opened"}
	}
	p.work = append(p.work, w)
	return w, nil
}

// readChange reads what check would judge: what the head commit changes since
// the merge base, and what the working tree changes since the head commit. Both
// count: a push publishes the one and the next commit the other.
func (p *Pair) readChange(ctx context.Context, req *PairRequest, work *acquiring) error {
	var parts []func() (*gate.Input, error)
	if p.MergeBase != p.HeadCommit || !p.Worktree {
		r := req.change()
		r.Base, r.Head = p.MergeBase, p.HeadCommit
		parts = append(parts, func() (*gate.Input, error) { return Acquire(ctx, r) })
	}
	if p.Worktree {
		parts = append(parts, work.answer)
	}
	changed := map[string]bool{}
	var text bytes.Buffer
	for _, part := range parts {
		in, err := part()
		if _, shape := errors.AsType[*ShapeError](err); shape {
			return err
		}
		if err != nil {
			return p.fail(err, []string{p.BaseRef})
		}
		p.Changes = append(p.Changes, in)
		text.Write(in.Text)
		text.Write(in.IndexText)
		for _, name := range in.ChangedFiles {
			changed[name] = true
		}
	}
	p.Text = text.Bytes()
	p.ChangedFiles = sorted(changed)
	return nil
}

// change asks for the change of the working tree.
func (req *PairRequest) change() Request {
	return Request{Actor: req.Actor, Dir: req.Dir, Workspace: req.Workspace, Config: req.Config, Environ: req.Environ, YAML: req.YAML}
}

// acquiring is the change of the working tree, which rests on no base and is read
// from the first moment. What it answers counts once the sides are open.
type acquiring struct {
	answer func() (*gate.Input, error)
	end    func() // waits where nobody has asked
}

func (p *Pair) acquireWork(ctx context.Context, req *PairRequest) *acquiring {
	if !p.Worktree {
		return &acquiring{end: func() {}}
	}
	ctx, cancel := context.WithCancel(ctx)
	var in *gate.Input
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		in, err = Acquire(ctx, req.change())
	}()
	return &acquiring{
		answer: func() (*gate.Input, error) { <-done; return in, err },
		end:    func() { cancel(); <-done },
	}
}

// fail turns what went wrong into a gap: nothing else is known then, and a pair
// with a gap is never judged.
func (p *Pair) fail(err error, needs []string) error {
	if wrong, ok := errors.AsType[*ShapeError](err); ok {
		return wrong
	}
	p.Gap = &Gap{Reason: "git_failed", Detail: shown(p.Root, err.Error())}
	if in, ok := errors.AsType[*InputError](err); ok {
		p.Gap.Detail = in.Detail
		switch in.Failure {
		case gate.RefMissing:
			p.Gap.Reason, p.Gap.Needs = "refs_missing", needs
		case gate.HistoryShallow:
			p.Gap.Reason, p.Gap.Needs = "merge_base_missing", needs
		case gate.HistoryUnjoined:
			p.Gap.Reason = "unrelated_histories"
		case gate.ObjectsMissing, gate.WorktreeObjects:
			p.Gap.Reason, p.Gap.Needs = "objects_missing", needs
		default:
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		p.Gap.Reason = "git_timeout"
	case errors.Is(err, errObjectMissing) && slices.Contains(needs, "HEAD"):
		p.Gap.Detail = "The repository has no commit yet."
	case errors.Is(err, errObjectMissing) && len(needs) > 0:
		p.Gap.Reason, p.Gap.Needs = "refs_missing", needs
		p.Gap.Detail = shown(p.Root, "No commit here is called "+strings.Join(needs, " or ")+".")
	case errors.Is(err, errObjectMissing) && p.repo != nil && p.repo.incomplete():
		p.Gap.Reason, p.Gap.Needs = "objects_missing", []string{p.BaseRef}
	}
	return nil
}
