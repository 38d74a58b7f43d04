package preflight

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/surface"
)

// skipped are folders whose files are nobody's source: what a tool made, or what
// was installed (§13.3). A planned path in one of them counts as any other.
var skipped = []string{
	".git", "node_modules", ".venv", "venv", "env", ".tox", ".nox", "__pycache__", "site-packages", "build", "dist", "target",
	"agents-shipgate-reports",
}

// The limits of a workspace. What is over a limit is refused, never cut off.
const (
	MaxEntries = 1_000_000
	maxFolders = 256 // links to folders at protected places
	maxHops    = 8
)

// ErrTooManyFiles says that a workspace is larger than a preflight looks at.
var ErrTooManyFiles = fmt.Errorf("the workspace has more than %d files", MaxEntries)

// ErrTooManyLinks says that more names lead to a file than are looked at.
var ErrTooManyLinks = fmt.Errorf("the workspace has more than %d links to folders at protected places", maxFolders)

// List is every file and link of a workspace outside of the skipped folders,
// sorted. No link is followed. A folder that cannot be read is there as unread:
// what lies in it is not known, and a plan that names it counts all the same.
func List(files fs.FS) ([]File, error) {
	var list []File
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case len(list) == MaxEntries:
			return ErrTooManyFiles
		case err != nil && name == ".":
			return err
		case err != nil:
			list = append(list, File{Path: name, Unread: true})
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			if name != "." && slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			target, err := fs.ReadLink(files, name)
			list = append(list, File{Path: name, Link: target, Unread: err != nil})
		case d.Type().IsRegular():
			list = append(list, File{Path: name})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return list, err
}

// places is what lies where in a workspace, and under which other names it can
// be reached.
type places struct {
	tree    []File
	links   map[string]string   // link to its text
	aliases map[string][]string // what links at protected places lead to, to those links
	present []presence

	// The longest key of links and of aliases: no longer prefix of a path needs to
	// be looked up, and a path may have thousands.
	longestLink, longestAlias int
}

// presence is one file at a protected place.
type presence struct {
	name string // as the surface names it
	file string // what is read there
	at   int    // its surface
	link string // the text of a link that leads to no file, else ""
}

// newPlaces finds the links of a workspace and what lies at protected places.
func newPlaces(tree []File, p *protection) (*places, error) {
	w := &places{tree: tree, links: map[string]string{}, aliases: map[string][]string{}}
	for _, f := range tree {
		if f.Link != "" {
			w.links[f.Path] = f.Link
			w.longestLink = max(w.longestLink, len(f.Path))
		}
	}
	files := map[string]bool{}
	if len(w.links) > 0 {
		for _, f := range tree {
			files[f.Path] = f.Link == "" && !f.Unread
		}
	}
	folders := 0
	for _, f := range tree {
		if f.Link == "" || !p.near(f.Path) {
			continue
		}
		end, ok := w.resolve(f.Path)
		if !ok {
			continue // it leads nowhere that a plan could name
		}
		if !files[end] {
			if folders++; folders > maxFolders {
				return nil, ErrTooManyLinks
			}
		}
		w.aliases[end] = append(w.aliases[end], f.Path)
		w.longestAlias = max(w.longestAlias, len(end))
	}
	for _, f := range tree {
		for _, name := range w.names(f.Path) {
			for _, at := range p.of(name) {
				on := presence{name: name, file: f.Path, at: at}
				if f.Link != "" {
					end, ok := w.resolve(f.Path)
					if on.file = end; !ok || !files[end] {
						on.file, on.link = "", f.Link
					}
				}
				w.present = append(w.present, on)
			}
		}
	}
	slices.SortFunc(w.present, func(a, b presence) int { return strings.Compare(a.name, b.name) })
	return w, nil
}

// near says whether a link at this path can give a file a protected name: it
// stands at one, or it is a folder of one.
func (p *protection) near(name string) bool {
	if len(p.of(name)) > 0 {
		return true
	}
	base := surface.Fold(path.Base(name))
	return slices.Contains(folders, base) || p.decidesBelow(name)
}

// folders are the names of folders that protected patterns pass through.
var folders = []string{
	".agents", ".agents-shipgate", ".claude", ".codex", ".codex-plugin", ".cursor", ".github", ".shipgate", ".vscode",
	"commands", "hooks", "policies", "prompts", "rules", "skills", "workflows",
}

func (p *protection) decidesBelow(name string) bool {
	for file := range p.decides {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return strings.HasPrefix(p.manifest, name+"/")
}

// resolve is where a path ends when links are followed inside of the workspace.
func (w *places) resolve(name string) (string, bool) {
	for at, hops := 0, 0; at <= len(name) && at <= w.longestLink; {
		end := len(name)
		if i := strings.IndexByte(name[at:], '/'); i >= 0 {
			end = at + i
		}
		target, link := w.links[name[:end]]
		if !link {
			at = end + 1
			continue
		}
		if hops++; hops > maxHops || strings.HasPrefix(target, "/") {
			return "", false
		}
		name, at = path.Join(path.Dir(name[:end]), target, name[end:]), 0
		if outside(name) {
			return "", false
		}
	}
	return name, true
}

// names are all names of a path: its own, and those that links at protected
// places give it.
func (w *places) names(name string) []string {
	list := []string{name}
	if len(w.aliases) == 0 {
		return list
	}
	for at := name; ; at = parent(at) {
		if at == "" {
			at = "."
		}
		if len(at) <= w.longestAlias {
			for _, link := range w.aliases[at] {
				rest := strings.TrimPrefix(name, at)
				if at == "." {
					rest = name
				}
				list = append(list, path.Join(link, rest))
			}
		}
		if at == "." {
			return list
		}
	}
}

// reached are all names of what a write to name would change: a link on the way
// leads the write to another file.
func (w *places) reached(name string) []string {
	list := w.names(name)
	if end, ok := w.resolve(name); ok && end != name {
		list = append(list, w.names(end)...)
	}
	return list
}

// inside are the files at protected places in a folder.
func (w *places) inside(folder string) []presence {
	if folder == "." {
		return w.present
	}
	low, _ := slices.BinarySearchFunc(w.present, folder+"/", func(p presence, s string) int { return strings.Compare(p.name, s) })
	high := low
	for high < len(w.present) && strings.HasPrefix(w.present[high].name, folder+"/") {
		high++
	}
	return w.present[low:high]
}
