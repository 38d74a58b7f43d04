package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// maxFile bounds a file that is edited. A file of instructions or settings over
// it is none that a host reads.
const maxFile = 1 << 20

// found is one place of the workspace: no file, a file with its text, or
// something that is left alone with the reason.
type found struct {
	path   string
	exists bool
	text   []byte
	bad    string
}

// look reads a file through no link: a link in a workspace may lead anywhere.
func look(workspace fs.FS, name string) found {
	f := found{path: name}
	parts := strings.Split(name, "/")
	for i := 1; i < len(parts); i++ {
		dir := strings.Join(parts[:i], "/")
		info, err := fs.Lstat(workspace, dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return f
		case err != nil:
			f.bad = dir + " cannot be read"
			return f
		case info.Mode()&fs.ModeSymlink != 0:
			f.bad = dir + " is a link, and nothing is written through links"
			return f
		case !info.IsDir():
			f.bad = dir + " is no folder"
			return f
		}
	}
	info, err := fs.Lstat(workspace, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f
	case err != nil:
		f.bad = "it cannot be read"
	case info.Mode()&fs.ModeSymlink != 0:
		f.bad = "it is a link, and nothing is written through links"
	case !info.Mode().IsRegular():
		f.bad = "it is no file"
	case info.Size() > maxFile:
		f.bad = fmt.Sprintf("it is over %d MiB", maxFile>>20)
	default:
		f.read(workspace)
	}
	return f
}

func (f *found) read(workspace fs.FS) {
	file, err := workspace.Open(f.path)
	if err != nil {
		f.bad = "it cannot be read"
		return
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		f.bad = "it cannot be read"
	case len(text) > maxFile:
		f.bad = fmt.Sprintf("it is over %d MiB", maxFile>>20)
	case bytes.IndexByte(text, 0) >= 0:
		f.bad = "it is no UTF-8 text"
	default:
		f.exists, f.text = true, text
	}
}

// pullRequestPath is the template that GitHub takes: the first of three folders
// that has one, in any spelling of the name.
func pullRequestPath(workspace fs.FS) string {
	const name = "pull_request_template.md"
	for _, dir := range []string{".github", ".", "docs"} {
		entries, err := fs.ReadDir(workspace, dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.EqualFold(e.Name(), name) {
				return path.Join(dir, e.Name())
			}
		}
	}
	return ".github/" + name
}
