// Package constitution is the circle's sources of truth: the registry of
// agents, the constitution and the prompts, read from one folder, checked as a
// whole, and the only maker of system prompts (docs/spec/circle.md §§1-3).
//
// Load reads everything and reports every fault at once, with its place. What it
// returns never changes; Holder puts one Set in the place of another, and only a
// sound one. Nothing that a request says reaches this package.
package constitution

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/fault"
)

// Set is one loaded configuration.
type Set struct {
	registry  Registry
	documents map[AgentID]document
	files     map[string][]byte
	locked    bool
	sum       string
}

// Registry is the registry of the set. It is shared: nobody changes it.
func (s *Set) Registry() *Registry { return &s.registry }

// SHA256 is config_sha256: the digest of every file of the set, as sorted lines
// of "sha256 path" over contents whose line ends are "\n".
func (s *Set) SHA256() string { return s.sum }

// Locked says whether the set came with a prompts.lock.
func (s *Set) Locked() bool { return s.locked }

// Paths is the files of the set, sorted.
func (s *Set) Paths() []string {
	list := make([]string, 0, len(s.files))
	for name := range s.files {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// File is the text of a file of the set, as it was read: every member may read
// the constitution and the registry. nil when there is no such file.
func (s *Set) File(name string) []byte { return slices.Clone(s.files[name]) }

// Body is the text of an agent's prompt file without its front matter, as
// prompts are made of it; "" for an unknown agent.
func (s *Set) Body(id AgentID) string { return s.documents[id].body }

// Load reads and checks a configuration: agents_registry.yaml, JOS_BASE.md,
// orchestrator.md, workers/ and, where there is one, prompts.lock, at the root of
// files. The error is a fault of kind Invalid around Faults, everything that is
// wrong at once, or of kind Unavailable when a file cannot be read.
func Load(files fs.FS) (*Set, error) {
	const op = "constitution.Load"
	n := &notes{}
	s := &Set{documents: map[AgentID]document{}, files: map[string][]byte{}}
	prompts := map[AgentID]int{}
	switch text, err := s.read(files, RegistryPath, maxRegistryBytes); {
	case errors.Is(err, fs.ErrNotExist):
		n.add(RegistryPath, 1, "is not there")
	case errors.Is(err, errTaken):
		n.add(RegistryPath, 1, "%v", err)
	case err != nil:
		return nil, fault.E(op, fault.Unavailable, "read "+RegistryPath, err)
	case n.readable(RegistryPath, text):
		d := decodeRegistry(n, RegistryPath, normalised(text))
		s.registry, prompts = d.registry, d.prompts
	}
	for _, id := range agents() {
		name := promptPaths()[id]
		switch text, err := s.read(files, name, maxDocumentBytes); {
		case errors.Is(err, fs.ErrNotExist):
			n.add(RegistryPath, prompts[id], "the prompt of %s, %s, is not there", id, name)
		case errors.Is(err, errTaken):
			n.add(name, 1, "%v", err)
		case err != nil:
			return nil, fault.E(op, fault.Unavailable, "read "+name, err)
		default:
			if d, ok := parseDocument(n, name, id, text); ok {
				s.documents[id] = d
			}
		}
	}
	if err := strays(n, files); err != nil {
		return nil, fault.E(op, fault.Unavailable, "list the prompts", err)
	}
	switch text, err := s.read(files, LockPath, maxLockBytes); {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errTaken):
		n.add(LockPath, 1, "%v", err)
	case err != nil:
		return nil, fault.E(op, fault.Unavailable, "read "+LockPath, err)
	case n.readable(LockPath, text):
		s.locked = true
		checkLock(n, text, s.documents)
	}
	if faults := n.faults(); len(faults) > 0 {
		return nil, fault.E(op, fault.Invalid, "the clan configuration cannot be used", faults)
	}
	var b strings.Builder
	for _, name := range s.Paths() {
		fmt.Fprintf(&b, "%s %s\n", digest(normalised(s.files[name])), name)
	}
	s.sum = digest([]byte(b.String()))
	return s, nil
}

// errTaken is why a path holds nothing that could be read as a file of ours.
var errTaken = errors.New("cannot be read")

// read keeps a file of at most limit bytes. What is there and is no such file is
// an errTaken: opening a pipe would wait for ever.
func (s *Set) read(files fs.FS, name string, limit int) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a file", errTaken)
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", errTaken, limit)
	}
	s.files[name] = text
	return text, nil
}

// strays notes pages that look like prompts and are nobody's: somebody believes
// they count.
func strays(n *notes, files fs.FS) error {
	known := map[string]bool{"README.md": true}
	for _, name := range promptPaths() {
		known[name] = true
	}
	for _, folder := range []string{".", workerFolder} {
		entries, err := fs.ReadDir(files, folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		for _, e := range entries {
			if name := path.Join(folder, e.Name()); strings.HasSuffix(name, ".md") && !known[name] {
				n.add(name, 1, "is the prompt of no agent")
			}
		}
	}
	return nil
}

// Holder keeps the configuration in use. It is safe for concurrent use.
type Holder struct {
	mu      sync.RWMutex // guards current
	current *Set
}

// NewHolder holds s, which is not nil.
func NewHolder(s *Set) *Holder { return &Holder{current: s} }

// Set is the configuration in use. Who works on one request asks once.
func (h *Holder) Set() *Set {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.current
}

// Reload loads a configuration and puts it into use. When it is not sound the
// one in use stays, and the error says why.
func (h *Holder) Reload(files fs.FS) (*Set, error) {
	s, err := Load(files)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = s
	return s, nil
}
