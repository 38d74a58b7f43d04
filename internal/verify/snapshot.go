package verify

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Snapshot is what the files of one tree say about the gate itself: how strict
// it is (docs/spec/verification.md §9.7), and which files beside the fixed
// places decide it (§9.6). Tools are not read.
type Snapshot struct {
	Policy *EffectivePolicy
	// Decides are files that the manifest names as inputs of the gate, from the
	// root of the repository.
	Decides map[string]surface.Class
}

// ReadSnapshot reads the manifest at a path from the root, and what stands
// beside it. Errors are ErrNoManifest, *manifest.Errors and *tool.SourceError.
func ReadSnapshot(root fs.FS, manifestPath, today string) (*Snapshot, error) {
	dir := path.Dir(manifestPath)
	tree, err := fs.Sub(root, dir)
	if err != nil {
		return nil, errors.Join(ErrNoManifest, err)
	}
	name := path.Base(manifestPath)
	text, failed := tool.ReadFile(tree, name)
	if failed != nil {
		if failed.Problem == tool.NotThere {
			return nil, ErrNoManifest
		}
		return nil, failed
	}
	m, err := manifest.Load(text, manifest.Options{Name: name, KnownCheck: check.Known, CheckIDs: check.IDs(), Today: today})
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Policy: policyOf(m, baselineOf(tree), gatePresent(root)), Decides: map[string]surface.Class{}}
	files := named(m)
	for _, file := range sortedKeys(files) {
		if clean, ok := tool.Clean(file); ok {
			s.Decides[path.Join(dir, clean)] = files[file]
		}
	}
	return s, nil
}

// Hash is the SHA-256 of the policy's canonical JSON in 64 hex digits.
func (p *EffectivePolicy) Hash() (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return digest(canonical.UTF8.Reorder(nil, text)), nil
}

// ForbiddenActions are what no caller may do on its own, whatever a result says.
func ForbiddenActions() []string { return append([]string{}, forbiddenActions...) }
