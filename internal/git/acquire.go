package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"sort"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// Request is one call of check, as the caller made it.
type Request struct {
	Actor     gate.Actor
	Dir       string    // the caller's working directory, absolute
	Workspace string    // as given; relative to Dir
	Config    string    // as given; empty for shipgate.yaml. Relative to the workspace
	Policy    string    // as given; empty for none. Relative to the workspace
	Diff      *Supplied // nil in the Git modes
	Base      string    // both or neither
	Head      string
	Environ   []string
	YAML      source.Parser // of the manifest; nil for source.ParseYAML
}

// Supplied is a diff that did not come from Git. Reader is standard input;
// without it the diff is the file at Path, relative to Dir.
type Supplied struct {
	Path   string
	Reader io.Reader
}

// ShapeError says that the request itself is wrong: exit 2 and no result.
type ShapeError struct {
	Flag string
	Msg  string
}

func (e *ShapeError) Error() string { return e.Flag + ": " + e.Msg }

// InputError says that there is no change to judge. Each Failure has a result
// of its own (§1, §12.3).
type InputError struct {
	Failure gate.Failure
	// Detail is what Git said, bounded and with local paths masked; "" when the
	// failure says it all.
	Detail string
	Err    error
}

func (e *InputError) Error() string {
	if e.Err == nil {
		return string(e.Failure)
	}
	return string(e.Failure) + ": " + e.Err.Error()
}

func (e *InputError) Unwrap() error { return e.Err }

const (
	defaultManifest  = "shipgate.yaml"
	manifestBound    = 4 << 20
	manifestBoundGit = 512 << 10
	policyBound      = 1 << 20
	surfaceBound     = 1 << 20
	rawBound         = 32 << 20
)

// acquisition is the work of one request.
type acquisition struct {
	ctx  context.Context //nolint:containedctx // an acquisition lives for one call
	req  *Request
	repo *repository
	disk *disk
	in   *gate.Input

	root       string
	base       string // the workspace below root, without links
	manifest   string // repository-relative
	policyPath string // repository-relative, "" when none or outside
	declared   map[string]bool

	batch *objects

	issued map[[2]string]bool
}

// Acquire reads the change that req asks about. Errors are *ShapeError or
// *InputError.
func Acquire(ctx context.Context, req Request) (*gate.Input, error) {
	workspace := absolute(req.Dir, req.Workspace)
	if req.YAML == nil {
		req.YAML = source.ParseYAML
	}
	a := &acquisition{ctx: ctx, req: &req, issued: map[[2]string]bool{}, declared: map[string]bool{}}
	a.in = &gate.Input{Actor: req.Actor, Workspace: workspace, Base: req.Base, Head: req.Head, Mode: gate.Worktree}
	switch {
	case req.Diff != nil:
		a.in.Mode = gate.ProvidedDiff
	case req.Base != "":
		a.in.Mode = gate.GitRange
	}
	a.root, a.base = findRoot(workspace)
	if a.root == "" {
		if a.in.Mode == gate.GitRange {
			return nil, &InputError{Failure: gate.RefMissing, Detail: "The workspace is not inside a Git repository."}
		}
		return nil, &InputError{Failure: gate.NoRepository}
	}
	a.disk = newDisk(a.root)
	if err := a.locate(); err != nil {
		return nil, err
	}
	defer func() {
		if a.batch != nil {
			a.batch.close()
		}
	}()
	if err := a.read(); err != nil {
		return nil, a.inputError(err)
	}
	return a.in, nil
}

func (a *acquisition) read() (err error) {
	if a.in.Mode == gate.ProvidedDiff {
		return a.detached()
	}
	if a.repo, err = open(a.ctx, a.root, a.req.Environ); err != nil {
		return err
	}
	defer a.repo.close()
	if a.in.Mode == gate.GitRange {
		return a.committed()
	}
	return a.worktree()
}

// inputError gives a failure of Git the result that §1 names for it. An object
// that a complete clone lacks is damage; only a clone that was cut short can
// fetch it.
func (a *acquisition) inputError(err error) error {
	if _, ok := errors.AsType[*InputError](err); ok {
		return err
	}
	e := &InputError{Failure: gate.GitFailed, Err: err}
	reason := cmp.Or(objectError(err), err)
	switch {
	case errors.Is(reason, errObjectMissing) && a.repo != nil && a.repo.incomplete():
		e.Failure = gate.WorktreeObjects
		if a.in.Mode == gate.GitRange {
			e.Failure = gate.ObjectsMissing
		}
	case errors.Is(reason, errObjectMissing), errors.Is(reason, errObjectDamaged):
		e.Failure = gate.ObjectDamaged
	case errors.Is(err, context.DeadlineExceeded):
		e.Detail = "Git did not answer in time."
	default:
		e.Detail = shown(a.root, err.Error())
	}
	return e
}

// locate finds the manifest and the policy in the repository and refuses a
// --config that cannot be bound to one file (§1, shape error 7).
func (a *acquisition) locate() error {
	config := a.req.Config
	if config == "" {
		config = defaultManifest
	}
	rel, inside := relative(a.root, a.place(config))
	if !inside || rel == "." {
		return &ShapeError{Flag: "--config", Msg: fmt.Sprintf("%s is outside the repository", config)}
	}
	a.manifest = rel
	a.in.ConfigArg = rel
	a.in.Manifest.Path = rel
	if a.req.Policy != "" {
		if p, inside := relative(a.root, a.place(a.req.Policy)); inside {
			a.policyPath = p
		}
	}
	if a.in.Mode == gate.GitRange || a.req.Config == "" {
		return nil
	}
	_, err := a.disk.read(rel, manifestBound)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case codeOf(err) == codeOversized:
		return &ShapeError{Flag: "--config", Msg: fmt.Sprintf("%s is over 4 MiB", config)}
	case codeOf(err) == codeExternal && rel == defaultManifest:
		return nil // it is named without being named, so it is answered with a result (§2.6)
	case codeOf(err) == codeExternal:
		return &ShapeError{Flag: "--config", Msg: fmt.Sprintf("%s is not one regular file under exactly this name: a link, a hard link, another kind of file, or a name stored in another spelling", config)}
	}
	return &ShapeError{Flag: "--config", Msg: fmt.Sprintf("%s is not readable", config)}
}

// place makes a path that was given relative to the workspace absolute, in the
// spelling of the root.
func (a *acquisition) place(p string) string {
	if !filepath.IsAbs(p) {
		return filepath.Join(a.base, p)
	}
	if rel, inside := relative(a.in.Workspace, p); inside {
		return filepath.Join(a.base, filepath.FromSlash(rel))
	}
	return filepath.Clean(p)
}

// readGiven reads a file that the caller named: by the strict reader inside the
// repository, elsewhere by its last component (§2.5).
func (a *acquisition) readGiven(full string, bound int64) ([]byte, error) {
	if rel, inside := relative(a.root, full); inside {
		return a.disk.read(rel, bound)
	}
	return readOutside(full, bound)
}

// objects starts cat-file once; every further request uses the same process.
func (a *acquisition) objects() (*objects, error) {
	if a.batch == nil {
		o, err := a.repo.objects(a.ctx)
		if err != nil {
			return nil, err
		}
		a.batch = o
	}
	return a.batch, nil
}

func (a *acquisition) blob(id string, bound int64) ([]byte, error) {
	o, err := a.objects()
	if err != nil {
		return nil, err
	}
	return o.blob(id, bound)
}

var issueMessages = map[string]string{
	codeOversized:                          "The file is larger than the check reads.",
	codeExternal:                           "The path is a link that cannot be followed, an alias, a hard link or no regular file.",
	codeUnreadable:                         "The file could not be read, or it moved while it was read.",
	codeBinary:                             "The file holds NUL bytes.",
	codeNonUTF8:                            "The file is not UTF-8.",
	codeFiltered:                           "A Git filter stands between the stored and the shown text, so neither is known to be what the host reads.",
	"boundary_index_unmerged":              "The path has unmerged stages in the index.",
	"boundary_path_not_diff_representable": "The name holds a control character that a diff cannot carry.",
}

// issue records a row-27 issue.
func (a *acquisition) issue(code, p string) {
	a.report(surface.Issue{Code: code, Path: p, Message: issueMessages[code]})
}

// report records an issue once for each code and path.
func (a *acquisition) report(i surface.Issue) {
	if key := [2]string{i.Code, i.Path}; !a.issued[key] {
		a.issued[key] = true
		a.in.Issues = append(a.in.Issues, i)
	}
}

// policies reads every policy file there is from one side; an explicit one
// always from disk, as given (§10.1).
func (a *acquisition) policies(v view) error {
	files := &a.in.Policy
	if a.req.Policy != "" {
		files.ExplicitPath = a.req.Policy
		files.Explicit = &gate.PolicyFile{}
		data, err := a.readGiven(a.place(a.req.Policy), policyBound)
		switch {
		case err == nil:
			files.Explicit.Found, files.Explicit.Bytes = true, data
		case !errors.Is(err, fs.ErrNotExist):
			files.Explicit.Found, files.Explicit.Err = true, readSentence(err)
		}
		return nil
	}
	files.Workspace = map[string]gate.PolicyFile{}
	for _, name := range []string{
		"policies/agent-boundary.shipgate.yaml", "policies/codex-boundary.shipgate.yaml", "policies/host-boundary.shipgate.yaml",
	} {
		res, err := resolve(v, name, nil)
		if err != nil {
			return err
		}
		switch res.outcome {
		case nothing:
		case plain, linked:
			f := gate.PolicyFile{Found: true}
			data, err := v.content(res.end, res.entry, policyBound)
			if _, unread := asReadError(err); err != nil && !unread {
				return err
			}
			if f.Bytes = data; err != nil {
				f.Bytes, f.Err = nil, readSentence(err)
			}
			files.Workspace[name] = f
		case folder, dangling, refused:
			files.Workspace[name] = gate.PolicyFile{Found: true, Err: issueMessages[codeExternal]}
		}
	}
	return nil
}

func readSentence(err error) string { return issueMessages[codeOf(err)] }

// readManifest reads the configured manifest on one side. Present says whether
// an entry is there at all. One that is no readable text is an issue even when
// the change does not touch it: a manifest in use is a relevant input (§2.6). A
// link is not followed, because verify refuses it.
func (a *acquisition) readManifest(v view, bound int64) (text []byte, present bool, err error) {
	e, err := a.manifestEntry(v)
	if err == nil && (!e.present() || e.mode == modeFolder) {
		return nil, false, nil
	}
	if err == nil && !e.file() {
		err = errExternal
	}
	if err == nil {
		text, err = v.content(a.manifest, e, bound)
	}
	if r, ok := asReadError(err); ok {
		a.issue(r.code, a.manifest)
		return nil, true, nil
	}
	if err != nil {
		return nil, true, err
	}
	side := textSide(text)
	if side.Unresolved != "" {
		a.issue(side.Unresolved, a.manifest)
	}
	return side.Bytes, true, nil
}

func (a *acquisition) manifestEntry(v view) (entry, error) {
	res, err := resolve(v, path.Dir(a.manifest), nil)
	if err != nil || res.outcome != folder || res.through() {
		return entry{}, err
	}
	return v.at(a.manifest)
}

// declare adds the tool sources of one manifest text, those of its framework
// blocks, and the plugin roots behind a declared marketplace, to the declared
// paths (§6.3).
func (a *acquisition) declare(text []byte, v view) {
	doc := surface.ReadManifest(text, a.req.YAML)
	if !doc.Valid {
		return
	}
	add := func(p string) {
		if !a.declared[p] {
			a.declared[p] = true
			a.in.Manifest.Declared = append(a.in.Manifest.Declared, p)
		}
	}
	for _, s := range doc.Sources {
		p, ok := surface.ContainedPath(path.Dir(a.manifest), s.Path)
		if !ok {
			continue
		}
		add(p)
		if s.Type != "codex_plugin" {
			continue
		}
		for _, root := range a.pluginRoots(v, p) {
			add(root)
		}
	}
	for _, name := range doc.Files {
		if p, ok := surface.ContainedPath(path.Dir(a.manifest), name); ok {
			add(p)
		}
	}
	sort.Strings(a.in.Manifest.Declared)
}

// pluginRoots are the local plugin folders a marketplace file at p names.
func (a *acquisition) pluginRoots(v view, p string) []string {
	res, err := resolve(v, p, nil)
	if err != nil || res.outcome != plain {
		return nil
	}
	text, err := v.content(p, res.entry, surfaceBound)
	if err != nil {
		return nil
	}
	doc, bad := source.ParseJSON(text)
	if bad != nil {
		return nil
	}
	var out []string
	for _, rel := range surface.PluginRoots(doc) {
		if root, ok := surface.ContainedPath(surface.MarketplaceDir(p), rel); ok {
			out = append(out, root)
		}
	}
	return out
}

// sourceKinds says what lies at the path of each tool source that the manifest
// text names; it decides proposal-safe additions (§5.3).
func (a *acquisition) sourceKinds(text []byte, v view) map[string]string {
	doc := surface.ReadManifest(text, a.req.YAML)
	out := map[string]string{}
	kind := func(p string) outcome {
		res, err := resolve(v, p, nil)
		if err != nil || res.through() {
			return nothing
		}
		return res.outcome
	}
	for _, s := range doc.Sources {
		p, ok := surface.ContainedPath(path.Dir(a.manifest), s.Path)
		if !ok {
			continue
		}
		switch kind(p) {
		case plain:
			out[s.Path] = "file"
			if s.Type == "codex_plugin" && filepath.Base(p) == "marketplace.json" {
				out[s.Path] = "marketplace"
			}
		case folder:
			out[s.Path] = "dir"
			if kind(p+"/.codex-plugin/plugin.json") == plain {
				out[s.Path] = "plugin"
			}
		case nothing, linked, dangling, refused:
		}
	}
	return out
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}
