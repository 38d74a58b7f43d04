package tool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// MaxFile is the most bytes of one structured input (§1).
const MaxFile = 10 << 20

// Problem is why a source could not be read.
type Problem string

// The problems.
const (
	NotThere   Problem = "missing"
	Outside    Problem = "outside" // leaves the manifest directory
	TooLarge   Problem = "too_large"
	Unreadable Problem = "unreadable"
	Malformed  Problem = "malformed"
)

// SourceError stops a reading: exit code 3 unless the source is optional.
// Detail is a sentence without any value of the file.
type SourceError struct {
	SourceID string
	Path     string
	Line     int // 0 when not known
	Pointer  string
	Problem  Problem
	Detail   string
	Err      error
}

func (e *SourceError) Error() string {
	at := e.Path
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", e.Path, e.Line)
	} else if e.Pointer != "" {
		at = e.Path + "#" + e.Pointer
	}
	if e.SourceID != "" {
		return fmt.Sprintf("source %q: %s: %s", e.SourceID, at, e.Detail)
	}
	return at + ": " + e.Detail
}

func (e *SourceError) Unwrap() error { return e.Err }

// ReadFile reads one regular file of the tree whose root is the manifest
// directory, at most MaxFile bytes. The tree itself refuses links that lead
// outside: it answers with an error that is fs.ErrPermission.
func ReadFile(tree fs.FS, name string) ([]byte, *SourceError) {
	clean, ok := Clean(name)
	if !ok {
		return nil, &SourceError{Path: name, Problem: Outside, Detail: "the path leaves the manifest directory"}
	}
	f, err := tree.Open(clean)
	if err != nil {
		return nil, openError(clean, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, openError(clean, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &SourceError{Path: clean, Problem: Unreadable, Detail: "is not a regular file"}
	}
	if info.Size() > MaxFile {
		return nil, tooLarge(clean)
	}
	if text, ok := TextOf(f); ok {
		return text, nil
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, openError(clean, err)
	}
	if len(text) > MaxFile {
		return nil, tooLarge(clean)
	}
	return text, nil
}

// A Texter is an open file whose bytes are at hand, at most MaxFile of them. They
// must not be changed.
type Texter interface{ Text() []byte }

// TextOf is the bytes of a file that is a Texter.
func TextOf(f fs.File) ([]byte, bool) {
	if t, ok := f.(Texter); ok {
		return t.Text(), true
	}
	return nil, false
}

// A Holder is a tree that can say without reading a file whether it has exactly
// these bytes. Holds answers false as well for what is no regular file, and where
// it cannot know.
type Holder interface {
	Holds(name string, text []byte) (fs.FileInfo, bool)
}

// Clean is a declared path in the form the tree takes, and whether it stays
// inside.
func Clean(name string) (string, bool) {
	if name == "" || strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\x00\\") || !utf8.ValidString(name) {
		return "", false
	}
	clean := path.Clean(name)
	return clean, fs.ValidPath(clean)
}

func openError(name string, err error) *SourceError {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &SourceError{Path: name, Problem: NotThere, Detail: "no such file", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &SourceError{Path: name, Problem: Outside, Detail: "leads outside the manifest directory or may not be read", Err: err}
	}
	return &SourceError{Path: name, Problem: Unreadable, Detail: "could not be read", Err: err}
}

func tooLarge(name string) *SourceError {
	return &SourceError{Path: name, Problem: TooLarge, Detail: fmt.Sprintf("is over %d MiB", MaxFile>>20)}
}
