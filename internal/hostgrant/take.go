package hostgrant

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// MaxFile is the most bytes of one configuration file that are read (§1).
const MaxFile = 1 << 20

// maxBelow is the most entries below a folder that stands behind a link.
const maxBelow = 10_000

// File is one configuration file as it was found.
type File struct {
	Path  string // relative to the Git root with slashes, or ~/… for a file of the user
	Scope Scope
	// As is the repository path whose format the file has; "" when Path says it.
	As    string
	Bytes []byte
	// Unread says in a few words why Bytes is not known; "" when it is.
	Unread string
}

// Input is everything an inventory depends on.
type Input struct {
	Workspace string // as given
	Scope     Scope
	Files     []File // in any order; those that no host reads are passed over
	// System is the operating system whose places of the user were looked at, as
	// the Go tools name it; only for LocalStatic.
	System string
	// Moved are the variables (UserFile.Folder) that name a folder of the user.
	Moved []string
	// Partial: the repository has more files than were looked at.
	Partial bool
}

// Collect reads those of the named files that hosts read, out of a repository,
// as files of scope. What is too large, is no plain file or leads out of the
// repository is there without its bytes; what is not there at all is left out. A
// folder that stands behind a link is read as the hosts see it.
func Collect(repository fs.FS, scope Scope, names []string) []File {
	var out []File
	for _, name := range names {
		switch point := surface.IsLinkPoint(name) && len(hostsThrough(name)) > 0; {
		case Reads(name) && !(point && folder(repository, name)):
			if f, there := ReadFile(repository, name); there {
				f.Path, f.Scope = name, scope
				out = append(out, f)
			}
		case point:
			out = append(out, below(repository, scope, name)...)
		}
	}
	return out
}

// CollectSpecial names what is no file at the hosts' places in the root of a
// repository: pipes, sockets and devices. Git lists none of them, and a host that
// opens one gets what nobody can look at.
func CollectSpecial(repository fs.FS, listed []File) []File {
	const special = fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice | fs.ModeIrregular
	var out []File
	names, _ := localPlaces()
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		known := slices.ContainsFunc(listed, func(f File) bool { return f.Path == name })
		if info, err := fs.Stat(repository, name); err == nil && !known && info.Mode()&special != 0 {
			out = append(out, File{Path: name, Scope: Repository, Unread: "no plain file"})
		}
	}
	return out
}

// CollectLocal reads what hosts read at their places in the root of a repository
// and what is not among the files that Git lists: those that people keep for
// themselves.
func CollectLocal(repository fs.FS, listed []File) []File {
	known := make(map[string]bool, len(listed))
	for i := range listed {
		known[listed[i].Path] = true
	}
	names, folders := localPlaces()
	files := Collect(repository, LocalStatic, names)
	for _, folder := range folders {
		files = append(files, below(repository, LocalStatic, folder)...)
	}
	return slices.DeleteFunc(files, func(f File) bool { return known[f.Path] })
}

// below is what hosts read in a folder that Git does not list file by file: one
// behind a link, in another repository, or ignored.
func below(repository fs.FS, scope Scope, name string) []File {
	info, err := fs.Stat(repository, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []File{{Path: name, Scope: scope, Unread: "a link that leads out of the repository or nowhere"}}
	case !info.IsDir():
		return nil // hosts look for files in a folder here
	}
	var out []File
	entries := 0
	err = fs.WalkDir(repository, name, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > maxBelow {
			return errTooMany
		}
		if Reads(at) && !e.IsDir() {
			if f, there := ReadFile(repository, at); there {
				f.Path, f.Scope = at, scope
				out = append(out, f)
			}
		}
		return nil
	})
	if err != nil {
		out = append(out, File{Path: name, Scope: scope, Unread: "a folder behind a link that could not be read in full"})
	}
	return out
}

func folder(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

var errTooMany = errors.New("too many entries")

// ReadFile reads one file, at most MaxFile bytes of it; there is false when
// nothing lies at name.
func ReadFile(fsys fs.FS, name string) (f File, there bool) {
	f.Path = name
	info, err := fs.Stat(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, false
	case err != nil:
		f.Unread = "not to be opened, or a link that leads out"
		return f, true
	case !info.Mode().IsRegular():
		f.Unread = "no plain file"
		return f, true
	case info.Size() > MaxFile:
		f.Unread = "larger than 1 MiB"
		return f, true
	}
	file, err := fsys.Open(name)
	if err != nil {
		f.Unread = "not to be opened"
		return f, true
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err = errors.Join(err, file.Close()); err != nil {
		f.Unread = "not to be read"
		return f, true
	}
	if len(text) > MaxFile {
		f.Unread = "larger than 1 MiB"
		return f, true
	}
	f.Bytes = text
	return f, true
}

// excluded is what no reader of files can know (docs/spec/boundary.md §11.3).
var excluded = []string{
	"invocation_flags", "remote_managed_settings", "runtime_sandbox_enforcement", "runtime_tool_behavior", "transient_approvals",
	"ui_and_session_state",
}

// Take is the inventory of the files. The same files in another order give the
// same inventory.
func Take(in Input) *Inventory {
	v := &Inventory{
		Version: InventoryVersion, Workspace: in.Workspace, Scope: in.Scope, StaticOnly: true,
		Artifacts: []Artifact{}, Grants: []Grant{}, Issues: []Issue{}, Excluded: slices.Clone(excluded),
	}
	if in.Scope == Repository {
		v.Excluded = sorted(append(v.Excluded, string(LocalStatic)))
	}
	t := &taking{v: v}
	for i := range in.Files {
		if f := &in.Files[i]; f.Scope == Repository || in.Scope == LocalStatic {
			t.file(f)
		}
	}
	if in.Partial {
		for _, host := range hosts {
			t.issue(host, &File{Path: ".", Scope: Repository}, Unreadable, true, "The repository has more files than are looked at.")
		}
	}
	t.across()
	slices.SortFunc(v.Artifacts, func(a, b Artifact) int {
		return cmp.Or(cmp.Compare(rank(hosts, a.Host), rank(hosts, b.Host)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(v.Issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(rank(hosts, a.Host), rank(hosts, b.Host)), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	v.Issues = slices.CompactFunc(v.Issues, func(a, b Issue) bool { return a.ID == b.ID })
	slices.SortFunc(v.Grants, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(rank(hosts, a.Host), rank(hosts, b.Host)), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	v.Grants = slices.CompactFunc(v.Grants, func(a, b Grant) bool { return a.ID == b.ID })
	v.Coverage = t.coverage(in)
	return v
}

// taking is one inventory in the making.
type taking struct {
	v      *Inventory
	scopes map[string]Scope // of issues, by id
}

// file reads one file as what its path says it is.
func (t *taking) file(f *File) {
	as := f.As
	if as == "" {
		as = f.Path
	}
	p := placeOf(as)
	if p == nil {
		for _, host := range hostsThrough(as) {
			t.issue(host, f, Unreadable, true, "What lies here is "+f.Unread+".")
		}
		return
	}
	a := Artifact{
		ID: id("ha", string(p.host), string(f.Scope), f.Path), Host: p.host, Kind: p.kind, Path: f.Path, Scope: f.Scope,
		ParseStatus: Failed,
	}
	defer func() { t.v.Artifacts = append(t.v.Artifacts, a) }()
	if f.Unread != "" {
		t.issue(p.host, f, Unreadable, true, "The file is "+f.Unread+".")
		return
	}
	r := &reading{taking: t, file: f, place: p, path: as}
	r.s = surface.Read(&surface.Change{Path: as, New: surface.Side{Present: true, Bytes: f.Bytes}})
	if p.kind == Instructions {
		d := digestText(f.Bytes)
		a.ParseStatus, a.RedactedSHA256 = Parsed, &d
		r.instructions(d)
		return
	}
	doc := r.s.NewDoc
	if doc.Err == nil && doc.Value.Kind != source.Map {
		doc.Err = &source.ParseError{Parser: "its root is no object", Pos: source.Position{Line: 1, Column: 1}}
	}
	if doc.Err != nil {
		t.issue(p.host, f, ParseFailed, true, "The file could not be parsed: "+doc.Err.Error()+".")
		return
	}
	r.root = doc.Value
	part := doc.Value
	if f.Scope == LocalStatic && as == userServers && f.Path != as {
		part = doc.Value.Get("mcpServers")
	}
	d := digest(part)
	a.ParseStatus, a.RedactedSHA256 = Parsed, &d
	r.grants()
	if r.unsupported {
		a.ParseStatus = Unsupported
	}
}

func (t *taking) issue(host Host, f *File, kind IssueKind, blocking bool, message string) {
	i := Issue{
		ID: id("hi", string(host), string(f.Scope), f.Path, string(kind), message), Host: host, Kind: kind, Blocking: blocking,
		Message: message, Source: f.Path,
	}
	if t.scopes == nil {
		t.scopes = map[string]Scope{}
	}
	t.scopes[i.ID] = f.Scope
	t.v.Issues = append(t.v.Issues, i)
}

// across is what only several files together say.
func (t *taking) across() {
	var configs []string
	for i := range t.v.Artifacts {
		if a := &t.v.Artifacts[i]; a.Host == Codex && a.Kind == Config && a.Scope == Repository {
			configs = append(configs, a.Path)
		}
	}
	slices.Sort(configs)
	for _, c := range configs {
		if path.Dir(path.Dir(c)) != "." {
			t.issue(Codex, &File{Path: c, Scope: Repository}, UnresolvedPrecedence, false,
				"Whether this configuration is in effect, or one nearer to the root, depends on the folder that the host is started in.")
		}
	}
}

// coverage is one row a host and scope.
func (t *taking) coverage(in Input) []Coverage {
	var out []Coverage
	scopes := []Scope{Repository}
	if in.Scope == LocalStatic {
		scopes = append(scopes, LocalStatic)
	}
	for _, host := range hosts {
		for _, scope := range scopes {
			if host == GitHub && scope == LocalStatic {
				continue
			}
			out = append(out, t.covered(in, host, scope))
		}
	}
	return out
}

func (t *taking) covered(in Input, host Host, scope Scope) Coverage {
	c := Coverage{Host: host, Scope: scope, Status: CoverageComplete, Expected: []string{}, Observed: []string{}, IssueIDs: []string{}}
	if host == VSCode {
		c.Status = CoverageExperimental
	}
	if scope == Repository {
		for i := range places {
			if places[i].host == host {
				c.Expected = append(c.Expected, places[i].patterns...)
			}
		}
	} else {
		for _, f := range UserFiles(in.System) {
			if f.host == host {
				c.Expected = append(c.Expected, f.Path(slices.Contains(in.Moved, f.Folder)))
			}
		}
	}
	for i := range t.v.Artifacts {
		if a := &t.v.Artifacts[i]; a.Host == host && a.Scope == scope {
			c.Observed = append(c.Observed, a.Path)
		}
	}
	for i := range t.v.Issues {
		issue := &t.v.Issues[i]
		if issue.Host != host || t.scopes[issue.ID] != scope {
			continue
		}
		c.IssueIDs = append(c.IssueIDs, issue.ID)
		if issue.Blocking {
			c.Status = CoveragePartial
		}
	}
	c.Expected, c.Observed, c.IssueIDs = sorted(c.Expected), sorted(c.Observed), sorted(c.IssueIDs)
	return c
}

// sorted is a list as a set. It changes l.
func sorted(l []string) []string {
	slices.SortFunc(l, strings.Compare)
	return slices.Compact(l)
}
