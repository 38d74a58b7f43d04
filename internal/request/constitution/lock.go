package constitution

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxLockBytes bounds the lock file.
const maxLockBytes = 64 << 10

var lockLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S+) (\S+) ([0-9a-f]{64})$`) })

// checkLock compares the documents with the lock file: a body that changed while
// its version did not is a change that nobody announced
// (docs/spec/circle.md §3). A version the lock does not have yet is a change that
// somebody did announce.
func checkLock(n *notes, text []byte, documents map[AgentID]document) {
	known := map[string]bool{}
	for _, path := range promptPaths() {
		known[path] = true
	}
	read := map[string]document{}
	for _, d := range documents {
		read[d.path] = d
	}
	seen := map[string]int{}
	for i, line := range strings.Split(string(normalised(text)), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := lockLine().FindStringSubmatch(line)
		if m == nil || !versionForm().MatchString(m[2]) {
			n.add(LockPath, i+1, "is not a line of path, version and sha256")
			continue
		}
		path, version, sum := m[1], Version(m[2]), m[3]
		first := seen[path]
		seen[path] = i + 1
		d, ok := read[path]
		switch {
		case !known[path]:
			n.add(LockPath, i+1, "%q is no prompt of this configuration", clip(path))
		case first > 0:
			n.add(LockPath, i+1, "%s is locked twice; the first is on line %d", path, first)
		case ok && d.version == version && d.sha256() != sum:
			n.add(path, d.first, "the text changed and its version is still %s; %s:%d locks another text under it", version, LockPath, i+1)
		}
	}
	for _, id := range agents() {
		if path := promptPaths()[id]; seen[path] == 0 {
			n.add(LockPath, 1, "%s is not locked", path)
		}
	}
}

// Lock is the text of a lock file for the prompts of s, sorted by path.
func (s *Set) Lock() []byte {
	var b bytes.Buffer
	b.WriteString("# path version sha256 of the text below the front matter\n")
	for _, p := range s.Prompts() {
		fmt.Fprintf(&b, "%s %s %s\n", p.Path, p.Version, p.SHA256)
	}
	return b.Bytes()
}

// PromptFile is one of the fifteen prompt files.
type PromptFile struct {
	Agent   AgentID `json:"agent"`
	Path    string  `json:"path"`
	Version Version `json:"version"`
	SHA256  string  `json:"sha256"` // of the body, as prompts are made of it
}

// Prompts is the prompt files, sorted by path.
func (s *Set) Prompts() []PromptFile {
	list := make([]PromptFile, 0, len(s.documents))
	for id, d := range s.documents {
		list = append(list, PromptFile{id, d.path, d.version, d.sha256()})
	}
	slices.SortFunc(list, func(a, b PromptFile) int { return strings.Compare(a.Path, b.Path) })
	return list
}
