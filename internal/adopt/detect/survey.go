package detect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Bounds of one detection. Beyond one of them a diagnostic says so.
const (
	maxNames    = 200_000
	maxBytes    = 256 << 20
	maxEvidence = 20 // places that are named of one kind of evidence
	maxListed   = 200
)

// hit is one piece of evidence. Pieces of one role count once.
type hit struct {
	kind     Type
	file     string
	line     int
	strength Strength
	role     string // import, decorator, call, shape, dependency, or the name of a folder
	what     string
}

type entry struct{ name, reason string }

// survey is one detection under way.
type survey struct {
	tree     fs.FS
	opt      Options
	out      *Result
	files    []entry
	set      map[string]bool
	hits     []hit
	left     map[Excluded]bool
	trees    map[string]*pyFile
	declared map[Type]bool
	shadow   map[Type]bool
	broken   map[string]bool // files that a diagnostic names
	foreign  map[string]bool // unsupported libraries that were named
	markers  map[string]bool // folders with a file that makes them a project
	shapes   []shape
	deeper   []string // names of projects below the workspace's own folder
	servers  []string // files that use a server library of MCP, in scripts and in Go
	seen     map[hitKey]int
	loads    int // files that readers read to try suggestions
	bytes    int
	spent    bool
}

// Detect looks at the files of a workspace. Files are slash-separated paths
// below the root of the tree; links are not followed. The error is one of the
// tree itself: what is wrong with a file is a diagnostic.
func Detect(tree fs.FS, files []string, opt Options) (*Result, error) {
	opt.Workspace = cmp.Or(opt.Workspace, ".")
	if _, err := fs.Stat(tree, "."); err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	s := &survey{
		tree: tree, opt: opt, set: map[string]bool{}, left: map[Excluded]bool{}, trees: map[string]*pyFile{}, declared: map[Type]bool{},
		shadow: map[Type]bool{}, broken: map[string]bool{}, foreign: map[string]bool{}, markers: map[string]bool{}, seen: map[hitKey]int{},
		out: &Result{
			Frameworks: []Framework{}, AgentNames: []string{}, ProjectNames: []string{}, Scope: Unknown, Projects: []Project{},
			Suggested: []Source{}, Excluded: []Excluded{}, Plugins: []PluginCandidate{}, Diagnostics: []Diagnostic{}, NextActions: []Action{},
			Signals: Signals{Listed: opt.Listed, Manifests: []string{}, Hosts: []string{}, Declared: []string{}, Unsupported: []string{}},
		},
	}
	s.names(files)
	s.dependencies()
	s.pythons()
	s.notebooks()
	s.scripts()
	s.golang()
	s.artifacts()
	s.suggest()
	s.frameworks()
	s.finish()
	return s.out, nil
}

// names takes the files that can be named and looked at.
func (s *survey) names(files []string) {
	names := slices.Clone(files)
	slices.Sort(names)
	names = slices.Compact(names)
	if s.opt.Partial || len(names) > maxNames {
		names = names[:min(len(names), maxNames)]
		s.note("too_many_files", ".", 0, counted(len(names), "file")+" were looked at; the workspace has more")
	}
	if s.opt.Nested > 0 || slices.Contains(names, ".gitmodules") {
		s.note("nested_repositories", ".", 0, "repositories and submodules inside of the workspace are not looked at; detect them on their own")
	}
	unnamed := 0
	for _, name := range names {
		if !fs.ValidPath(name) || name == "." || !nameable(name) {
			unnamed++
			continue
		}
		reason, at := leftOut(name)
		s.files = append(s.files, entry{name, reason})
		if s.set[name] = true; skipped(reason) {
			s.leave("", at, reason)
			continue
		}
		base := path.Base(name)
		switch {
		case base == manifest.DefaultName:
			if len(s.out.Signals.Manifests) < maxListed {
				s.out.Signals.Manifests = append(s.out.Signals.Manifests, name)
			}
			s.markers[path.Dir(name)] = true
		case slices.Contains(projectFiles, base):
			s.markers[path.Dir(name)] = true
		}
		if surface.IsAdapterPath(name) && len(s.out.Signals.Hosts) < maxListed {
			s.out.Signals.Hosts = append(s.out.Signals.Hosts, name)
		}
	}
	s.out.Signals.Files = len(s.files)
	if unnamed > 0 {
		s.note("unusable_name", ".", 0, counted(unnamed, "file")+" cannot be named in a manifest: a name holds control characters, a backslash, no UTF-8 or a secret")
	}
	slices.SortFunc(s.out.Signals.Manifests, byDepth)
}

// read is the text of a regular file that no link stands for.
func (s *survey) read(name string) ([]byte, bool) {
	if s.broken[name] {
		return nil, false
	}
	fail := func(why string) ([]byte, bool) {
		s.broken[name] = true
		if reason, _ := leftOut(name); reason == "" {
			s.note("unreadable_file", name, 0, why)
		}
		return nil, false
	}
	info, err := fs.Lstat(s.tree, name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was listed, and is deleted on disk
		s.broken[name] = true
		return nil, false
	case err != nil:
		return fail("could not be read")
	case info.Mode()&fs.ModeSymlink != 0:
		return fail("is a link, and links are not followed")
	case !info.Mode().IsRegular():
		return fail("is not a regular file")
	case s.bytes+int(min(info.Size(), tool.MaxFile)) > maxBytes:
		if !s.spent {
			s.spent = true
			s.note("too_much_text", ".", 0, fmt.Sprintf("only %d MiB of files were read; the workspace has more", maxBytes>>20))
		}
		return nil, false
	}
	text, failed := tool.ReadFile(s.tree, name)
	if failed != nil {
		return fail(failed.Detail)
	}
	s.bytes += len(text)
	return text, true
}

// note adds a diagnostic.
func (s *survey) note(code, at string, line int, message string) {
	if n := len(s.out.Diagnostics); n == maxListed {
		s.out.Diagnostics = append(s.out.Diagnostics, Diagnostic{Code: "too_many_diagnostics", Path: ".", Message: "More was found than is listed here."})
		return
	} else if n > maxListed {
		return
	}
	s.out.Diagnostics = append(s.out.Diagnostics, Diagnostic{Code: code, Path: at, Line: line, Message: clip(message)})
}

// hit takes one piece of evidence. In a file that is left out it only says that
// the file was.
func (s *survey) hit(h hit) {
	reason, at := leftOut(h.file)
	if reason != "" {
		s.leave(h.kind, at, reason)
		return
	}
	s.take(h)
}

// take keeps one piece of evidence of a file that counts.
func (s *survey) take(h hit) {
	key := hitKey{h.kind, h.file, h.role}
	if s.seen[key]++; s.seen[key] > maxEvidence {
		return // one of them counts, and no more are shown
	}
	h.what = clip(h.what)
	s.hits = append(s.hits, h)
}

type hitKey struct {
	kind       Type
	file, role string
}

// maxText is the most bytes of a sentence: names of code may be of any length.
const maxText = 300

// clip is a sentence as a result may print it.
func clip(text string) string {
	text = redact.Text(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

func (s *survey) leave(kind Type, at, reason string) { s.left[Excluded{kind, at, reason}] = true }

// unsupported names a library that no reader reads, once.
func (s *survey) unsupported(name, file string, line int, how string) {
	if reason, _ := leftOut(file); reason != "" || s.foreign[name] {
		return
	}
	s.foreign[name] = true
	s.out.Signals.Unsupported = append(s.out.Signals.Unsupported, name)
	s.note("unsupported_framework", file, line, "the file "+how+"; no reader reads "+name+", so that its tools count only when a file lists them")
}

// of are the files that hold evidence of a family in a role, sorted; every role
// when none is given.
func (s *survey) of(kind Type, roles ...string) []string {
	var out []string
	for _, h := range s.hits {
		if h.kind == kind && h.strength == Strong && (len(roles) == 0 || slices.Contains(roles, h.role)) {
			out = append(out, h.file)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// weakFolders are folders that speak for tools a little.
var weakFolders = []string{"prompts", "tools", ".agents-shipgate"}

// frameworks scores the evidence (§18.1): each role counts once.
func (s *survey) frameworks() {
	for _, kind := range Types {
		var list []hit
		strong := false
		for _, h := range s.hits {
			if h.kind == kind {
				list = append(list, h)
				strong = strong || h.strength == Strong
			}
		}
		if !strong {
			continue
		}
		list = append(list, s.weak(kind)...)
		slices.SortStableFunc(list, func(a, b hit) int {
			return cmp.Or(cmp.Compare(rank(a.strength), rank(b.strength)), cmp.Compare(roleRank(a.role), roleRank(b.role)), byDepth(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.what, b.what))
		})
		f := Framework{Type: kind, Evidence: []Evidence{}, Files: s.of(kind)}
		count := map[string]int{}
		for i, h := range list {
			if i > 0 && h == list[i-1] {
				continue
			}
			if count[h.role]++; count[h.role] == 1 {
				f.Score += points(h.strength)
			}
			if count[h.role] <= maxEvidence {
				f.Evidence = append(f.Evidence, Evidence{File: h.file, Line: h.line, Kind: h.strength, What: h.what})
			}
		}
		f.Confidence = confidence(f.Score)
		if len(f.Files) > maxListed {
			s.note("too_many_candidates", ".", 0, "only the first of "+counted(len(f.Files), "file")+" with "+string(kind)+" are listed")
			f.Files = f.Files[:maxListed]
		}
		s.out.Frameworks = append(s.out.Frameworks, f)
	}
}

// weak are the folders that speak for a family that was found.
func (s *survey) weak(kind Type) []hit {
	var out []hit
	for _, dir := range weakFolders {
		for _, f := range s.files {
			if f.reason == "" && (strings.HasPrefix(f.name, dir+"/") || strings.Contains(f.name, "/"+dir+"/")) {
				at := f.name[:strings.Index("/"+f.name, "/"+dir+"/")+len(dir)]
				out = append(out, hit{kind: kind, file: at, strength: Weak, role: dir, what: "there is a folder named " + dir})
				break
			}
		}
	}
	return out
}

// roleRank is the order in which evidence is shown: how it begins comes first.
func roleRank(role string) int {
	return slices.Index([]string{"import", "decorator", "call", "shape", "dependency", "prompts", "tools", ".agents-shipgate"}, role)
}

func rank(s Strength) int { return slices.Index([]Strength{Strong, Medium, Weak}, s) }

// points are what one role counts, in halves.
func points(s Strength) Score {
	switch s {
	case Strong:
		return 4
	case Medium:
		return 2
	case Weak:
		return 1
	}
	return 0
}

func confidence(s Score) tool.Confidence {
	switch {
	case s >= 8:
		return tool.High
	case s >= 5:
		return tool.Medium
	}
	return tool.Low
}
