package shipgate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"plimsoll.dev/internal/adopt"
)

// carryOut makes all edits of a plan, or none: every new file is written beside
// its place first, then all are put in place, and a failure on the way takes
// back what was done. Nothing is written through a link, and nothing outside the
// workspace.
func carryOut(root *os.Root, plan *adopt.Plan) error {
	w := &writing{root: root}
	for i := range plan.Edits {
		e := &plan.Edits[i]
		if !e.Changes() {
			continue
		}
		if err := w.stage(e); err != nil {
			return w.refuse(e, err)
		}
	}
	for i := range w.staged {
		if err := w.place(&w.staged[i]); err != nil {
			return w.refuse(w.staged[i].edit, err)
		}
		w.placed++
	}
	for i := range w.staged {
		if e := w.staged[i].edit; e.Delete {
			w.prune(e.Path)
		}
	}
	return nil
}

// writing is one plan on its way to the disk.
type writing struct {
	root   *os.Root
	staged []stagedEdit
	placed int
	made   []string // folders, outer ones first
}

type stagedEdit struct {
	edit *adopt.Edit
	part string      // the new file beside its place; "" for one that is deleted
	mode fs.FileMode // of the file that was there
}

var errChanged = errors.New("it changed while it was looked at")

// stage writes the new text beside its place. The file must still be the one that
// the plan was made for.
func (w *writing) stage(e *adopt.Edit) error {
	s := stagedEdit{edit: e, mode: 0o644}
	if err := w.folders(path.Dir(e.Path)); err != nil {
		return err
	}
	mode, err := w.asPlanned(e)
	if err != nil {
		return err
	}
	if e.Existed {
		s.mode = mode
	}
	if !e.Delete {
		part, err := w.beside(e.Path, e.After, s.mode, e.Existed)
		if err != nil {
			return err
		}
		s.part = part
	}
	w.staged = append(w.staged, s)
	return nil
}

// asPlanned says whether the file is still the one that the plan was made for, and
// its mode.
func (w *writing) asPlanned(e *adopt.Edit) (fs.FileMode, error) {
	info, err := w.root.Lstat(e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if e.Existed {
			return 0, errChanged
		}
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular() || !e.Existed:
		return 0, errChanged
	}
	now, err := w.root.ReadFile(e.Path)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(now, e.Before) {
		return 0, errChanged
	}
	return info.Mode().Perm(), nil
}

// folders makes the folders of a path that are not there. None may be a link.
func (w *writing) folders(dir string) error {
	if dir == "." {
		return nil
	}
	parts := strings.Split(dir, "/")
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		info, err := w.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := w.root.Mkdir(at, 0o755); err != nil {
				return err
			}
			w.made = append(w.made, at)
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is no folder", at)
		}
	}
	return nil
}

// beside writes a new file in the folder of another.
func (w *writing) beside(name string, text []byte, mode fs.FileMode, exact bool) (part string, err error) {
	var f *os.File
	for n := 0; f == nil; n++ {
		part = path.Join(path.Dir(name), fmt.Sprintf(".shipgate-init-%d", n))
		f, err = w.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil && (n == maxParts || !errors.Is(err, fs.ErrExist)) {
			return "", err
		}
	}
	_, err = io.Copy(f, bytes.NewReader(text))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && exact {
		err = w.root.Chmod(part, mode) // the mask of the process took some away
	}
	if err != nil {
		return "", errors.Join(err, w.root.Remove(part))
	}
	return part, nil
}

// maxParts is how many files of a name of ours may lie about in a folder.
const maxParts = 64

// place puts one new file in its place. All the others were staged since this one
// was looked at, and an editor may have saved it in between.
func (w *writing) place(s *stagedEdit) error {
	if _, err := w.asPlanned(s.edit); err != nil {
		return err
	}
	if s.edit.Delete {
		return w.root.Remove(s.edit.Path)
	}
	return w.root.Rename(s.part, s.edit.Path)
}

// refuse takes everything back and says what went wrong.
func (w *writing) refuse(e *adopt.Edit, err error) error {
	left := w.takeBack()
	f := &failure{kind: inputParseError, code: exitInput, path: e.Path, err: plainError(err), msg: e.Path + ": cannot be written; nothing was changed"}
	if left != nil {
		f.kind, f.code = otherError, exitInternal
		f.msg, f.err = e.Path+": cannot be written, and not everything could be taken back", errors.Join(plainError(err), left)
		return f.stopping("A person looks at what git status shows.")
	}
	return f.choosing("Make " + e.Path + " and its folder writable, and run init again.")
}

func (w *writing) takeBack() (failed error) {
	for i := w.placed - 1; i >= 0; i-- {
		s := &w.staged[i]
		if !s.edit.Existed {
			failed = errors.Join(failed, w.root.Remove(s.edit.Path))
			continue
		}
		part, err := w.beside(s.edit.Path, s.edit.Before, s.mode, true)
		if err == nil {
			err = w.root.Rename(part, s.edit.Path)
		}
		failed = errors.Join(failed, err)
	}
	for i := w.placed; i < len(w.staged); i++ {
		if s := &w.staged[i]; s.part != "" {
			failed = errors.Join(failed, w.root.Remove(s.part))
		}
	}
	for i := len(w.made) - 1; i >= 0; i-- {
		// One that is no longer empty holds something of somebody else.
		if err := w.root.Remove(w.made[i]); err != nil && !errors.Is(err, fs.ErrExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// prune removes the folders of a deleted file that are empty now. Git does not
// keep empty folders, so none of these is a loss.
func (w *writing) prune(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if w.root.Remove(dir) != nil {
			return
		}
	}
}
