package shipgate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/cli/verification"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify"
)

// folder is the reports folder of one run. It holds what verification wrote and
// nothing else: a folder with anything of the repository in it is refused, so
// that no artifact can take the place of a file that people own.
type folder struct{ path string }

// kept are other files that a reports folder may hold.
var kept = []string{".gitignore", "packet.json", "packet.md", "packet.html", "agent-handoff.json", "host-grants.json", "check-annotations.json"}

// folder opens the reports folder, or refuses it. pair is nil for a command that
// adds to it and reads no change.
func (f *verifyFlags) folder(env Env, pair *git.Pair) (*folder, error) {
	at := &folder{path: within(env.abs(f.workspace), f.out)}
	refuse := func(why string) error {
		return usage("--out %s %s", f.out, why).choosing("Name with --out a folder of its own for the artifacts; it may not be there yet.")
	}
	if pair != nil && committed(pair, at.path) {
		return nil, refuse("is part of the repository: its files are committed")
	}
	if behindLink(env.abs(f.workspace), at.path) {
		return nil, refuse("lies behind a link")
	}
	info, err := os.Lstat(at.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, nil
	case err != nil:
		return nil, unreadable("--out", f.out, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, refuse("is a link")
	case !info.IsDir():
		return nil, refuse("is no folder")
	}
	entries, err := os.ReadDir(at.path)
	if err != nil {
		return nil, unreadable("--out", f.out, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(kept, e.Name()) && !slices.Contains(verify.ArtifactNames, e.Name()) && !strings.HasPrefix(e.Name(), ".shipgate-") {
			return nil, refuse(fmt.Sprintf("holds %q, which verification did not write", e.Name()))
		}
	}
	return at, nil
}

// behindLink says whether a folder between a workspace and a place in it is a
// link: the workspace would choose where artifacts are written, and what they
// replace.
func behindLink(workspace, place string) bool {
	rel, err := filepath.Rel(workspace, place)
	if err != nil || !filepath.IsLocal(rel) {
		return false // the caller named a place of their own
	}
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(workspace, dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// write puts the artifacts in place, each in one piece, after it has taken away
// those of an earlier run: a stale artifact must not be mistaken for a current
// one, and no folder holds some of either. (A file that takes the place of another
// is written through by some file systems, too, which takes longer than all else.)
func (f *folder) write(list []verify.Artifact) error {
	fail := func(err error) error {
		return &failure{kind: otherError, code: exitInternal, msg: "the artifacts could not be written to " + f.path, err: plainError(err)}
	}
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return fail(err)
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	earlier := append(slices.Clone(verify.ArtifactNames), "agent-handoff.json")
	failed := make([]error, max(len(earlier), len(list)))
	verification.Each(len(earlier), func(i int) {
		if err := root.Remove(earlier[i]); !errors.Is(err, fs.ErrNotExist) {
			failed[i] = err
		}
	})
	if err := errors.Join(failed...); err != nil {
		return fail(err)
	}
	verification.Each(len(list), func(i int) {
		part := ".shipgate-" + list[i].Name
		if failed[i] = writePart(root, part, list[i].Doc); failed[i] == nil {
			failed[i] = root.Rename(part, filepath.FromSlash(list[i].Name))
		}
	})
	if err := errors.Join(failed...); err != nil {
		return fail(err)
	}
	return nil
}

// writePart writes one file in full.
func writePart(root *os.Root, name string, doc canonical.Doc) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = doc.WriteTo(file)
	return errors.Join(err, file.Close())
}

// committed says whether the head commit has something at an absolute path.
func committed(pair *git.Pair, name string) bool {
	rel, err := filepath.Rel(pair.Root, name)
	return err == nil && pair.Holds(filepath.ToSlash(rel))
}
