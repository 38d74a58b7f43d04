// Package flow reads flows: workflows of n8n and of Conductor, whose agents
// call tools that the flow itself lists (docs/spec/verification.md §5.2, rows
// n8n and conductor; §6.4).
//
// A flow is data. An expression in it is never evaluated: what it would decide
// is a dynamic surface, not a guess.
package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// Bounds of one declared folder.
const (
	maxFiles  = 2000
	maxFolder = 64 << 20 // bytes
	maxLevels = 16
)

// A file is one JSON file of a declared path.
type file struct {
	name   string
	folder bool // found in a folder, not named itself
}

// files lists the JSON files that a declared path stands for: the file itself,
// or every *.json below the folder, in the order of names.
func files(tree fs.FS, declared string) ([]file, *tool.SourceError) {
	clean, ok := tool.Clean(declared)
	if !ok {
		return nil, &tool.SourceError{Path: declared, Problem: tool.Outside, Detail: "the path leaves the manifest directory"}
	}
	info, err := fs.Stat(tree, clean)
	if err != nil {
		return nil, statError(clean, err)
	}
	if !info.IsDir() {
		return []file{{name: clean}}, nil
	}
	var out []file
	var size int64
	walk := func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := path.Base(name); name != clean && (base == ".git" || base == "node_modules") {
				return fs.SkipDir
			}
			if strings.Count(strings.TrimPrefix(name, clean), "/") > maxLevels {
				return errTooDeep
			}
			return nil
		}
		if !strings.EqualFold(path.Ext(name), ".json") {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			size += info.Size()
		}
		if len(out) == maxFiles || size > maxFolder {
			return errTooMany
		}
		out = append(out, file{name: name, folder: true})
		return nil
	}
	switch err := fs.WalkDir(tree, clean, walk); {
	case errors.Is(err, errTooMany):
		detail := fmt.Sprintf("holds more than %d JSON files or %d MiB of them", maxFiles, maxFolder>>20)
		return nil, &tool.SourceError{Path: clean, Problem: tool.TooLarge, Detail: detail}
	case errors.Is(err, errTooDeep):
		return nil, &tool.SourceError{Path: clean, Problem: tool.TooLarge, Detail: fmt.Sprintf("holds folders more than %d levels deep", maxLevels)}
	case err != nil:
		return nil, statError(clean, err)
	}
	return out, nil
}

var (
	errTooMany = errors.New("too many files")
	errTooDeep = errors.New("too many levels")
)

func statError(name string, err error) *tool.SourceError {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tool.SourceError{Path: name, Problem: tool.NotThere, Detail: "no such file or folder", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &tool.SourceError{Path: name, Problem: tool.Outside, Detail: "leads outside the manifest directory or may not be read", Err: err}
	}
	return &tool.SourceError{Path: name, Problem: tool.Unreadable, Detail: "could not be read", Err: err}
}

// document reads one JSON or YAML file.
func document(tree fs.FS, name string) (source.Value, *tool.SourceError) {
	text, err := tool.ReadFile(tree, name)
	if err != nil {
		return source.Value{}, err
	}
	clean, _ := tool.Clean(name)
	return tool.Parse(clean, text)
}
