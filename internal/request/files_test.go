package request_test

import (
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	plimsoll "plimsoll.dev"
)

// edited is the shipped configuration, which a test edits.
type edited struct {
	mu    sync.Mutex // guards files
	files fstest.MapFS
}

func configuration(t *testing.T) *edited {
	t.Helper()
	e := &edited{files: fstest.MapFS{}}
	shipped := must(plimsoll.ClanConfig())
	err := fs.WalkDir(shipped, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(shipped, path)
		e.files[path] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *edited) open() (fs.FS, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	copied := fstest.MapFS{}
	for name, f := range e.files {
		copied[name] = f
	}
	return copied, nil
}

func (e *edited) edit(name, from, to string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(e.files[name].Data), from, to, 1))}
}
