package preflight

import (
	"maps"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/surface"
)

// checkChange is what check says of the plan's diff. A detached diff is judged
// in a workspace that lies there, so what lies at the path of a new tool source
// is known, as it is in a working tree (docs/spec/boundary.md §5.3).
func (e *evaluation) checkChange() error {
	if e.in.Change == nil {
		return nil
	}
	change := *e.in.Change
	change.Manifest.SourceKinds = maps.Clone(change.Manifest.SourceKinds)
	for i := range change.Changes {
		if c := &change.Changes[i]; c.Manifest && c.New.Present && c.New.Unresolved == "" {
			change.Manifest.SourceKinds = e.sourceKinds(c.New.Bytes)
		}
	}
	var err error
	e.check, err = gate.Check(change)
	return err
}

// sourceKinds says what lies at the path of each tool source of a manifest. What
// lies behind a link, or in a folder that is not looked at, is nothing.
func (e *evaluation) sourceKinds(text []byte) map[string]string {
	kinds := map[string]string{}
	for _, s := range surface.ParseManifest(text).Sources {
		name, ok := surface.ContainedPath(path.Dir(e.in.Manifest), s.Path)
		if !ok {
			continue
		}
		switch file, folder := e.lies(name); {
		case file && s.Type == "codex_plugin" && path.Base(name) == "marketplace.json":
			kinds[s.Path] = "marketplace"
		case file:
			kinds[s.Path] = "file"
		case folder:
			kinds[s.Path] = "dir"
			if plugin, _ := e.lies(name + "/.codex-plugin/plugin.json"); plugin {
				kinds[s.Path] = "plugin"
			}
		}
	}
	return kinds
}

// linked says whether a path is a link, or one of its folders is.
func (e *evaluation) linked(name string) bool {
	for at := name; at != ""; at = parent(at) {
		if i, found := e.find(at); found && e.in.Tree[i].Link != "" {
			return true
		}
	}
	return false
}

// find is the place of a name in the tree, or where it would be.
func (e *evaluation) find(name string) (at int, found bool) {
	return slices.BinarySearchFunc(e.in.Tree, name, func(f File, s string) int { return strings.Compare(f.Path, s) })
}

// lies says whether a plain file, or a folder with something in it, lies at a
// path none of whose folders is a link.
func (e *evaluation) lies(name string) (file, folder bool) {
	if at, found := e.find(name); found {
		return e.in.Tree[at].Link == "" && !e.in.Tree[at].Unread, false
	}
	next, _ := e.find(name + "/")
	return false, next < len(e.in.Tree) && strings.HasPrefix(e.in.Tree[next].Path, name+"/")
}
