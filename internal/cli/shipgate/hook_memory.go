package shipgate

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/adopt/hook"
)

// Bounds of the folder that remembers what sessions were told.
const (
	memoryFolder = "shipgate/hooks" // below the user's cache
	memoryFiles  = 256
	memoryAge    = 30 * 24 * time.Hour
	memoryListed = 4096 // of a folder that somebody has filled
)

// sessionMemory is the memory of one session in the user's cache. A nil one
// remembers nothing; so does one whose folder cannot be used. It is a file of
// its own, replaced as a whole: sessions do not meet, and of two writers for one
// session the last wins, whose loser only says something again.
type sessionMemory struct {
	cache, name string
	was         hook.Memory
}

// openMemory reads what the session was told. Nothing is ever written into a
// repository that is judged: with a cache inside one there is no memory.
func openMemory(env Env, e *hook.Event, judged []workplace) *sessionMemory {
	cache := cacheFolder(env)
	if !filepath.IsAbs(cache) {
		return nil
	}
	for _, w := range judged {
		if w.top != "" && liesIn(w.top, cache) {
			return nil
		}
	}
	m := &sessionMemory{cache: cache, name: memoryFolder + "/" + e.MemoryName()}
	root, err := os.OpenRoot(cache)
	if err != nil {
		return m // it does not exist yet
	}
	defer root.Close()
	if info, err := root.Lstat(m.name); err != nil || !info.Mode().IsRegular() {
		return m
	}
	file, err := root.Open(m.name)
	if err != nil {
		return m
	}
	defer file.Close()
	if text, err := io.ReadAll(io.LimitReader(file, hook.MaxMemory+1)); err == nil {
		m.was = hook.ReadMemory(text)
	}
	return m
}

func (m *sessionMemory) told(digest string) int {
	if m == nil {
		return 0
	}
	return m.was.Told(digest)
}

// remember writes the new count. That it could not is no failure: the same is
// said again.
func (m *sessionMemory) remember(digest string, told int) {
	if m == nil || digest == "" || m.was.Told(digest) == told {
		return
	}
	if err := os.MkdirAll(m.cache, 0o700); err != nil {
		return
	}
	root, err := os.OpenRoot(m.cache)
	if err != nil {
		return
	}
	defer root.Close()
	if err := root.MkdirAll(memoryFolder, 0o700); err != nil {
		return
	}
	draft := m.name + "." + rand.Text() + ".tmp"
	if err := root.WriteFile(draft, m.was.With(digest, told).Bytes(), 0o600); err == nil {
		// Last of all: who is killed after it and before the end has told nobody.
		tidy(root)
		if err := root.Rename(draft, m.name); err == nil {
			return
		}
	}
	_ = root.Remove(draft) // a leftover is tidied away with the old ones
}

// tidy drops what is old or too much, the oldest first.
func tidy(root *os.Root) {
	folder, err := root.Open(memoryFolder)
	if err != nil {
		return
	}
	defer folder.Close()
	entries, err := folder.ReadDir(memoryListed)
	if err != nil || len(entries) <= memoryFiles/2 {
		return
	}
	type aged struct {
		name string
		at   time.Time
	}
	files := make([]aged, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, aged{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b aged) int {
		if by := a.at.Compare(b.at); by != 0 {
			return by
		}
		return strings.Compare(a.name, b.name)
	})
	oldest := time.Now().Add(-memoryAge)
	for i, f := range files {
		if len(files)-i > memoryFiles || f.at.Before(oldest) {
			_ = root.Remove(memoryFolder + "/" + f.name) // another process may have been first
		}
	}
}

// cacheFolder is the user's cache as os.UserCacheDir names it, for this
// environment; "" when there is none.
func cacheFolder(env Env) string {
	switch runtime.GOOS {
	case "windows":
		return env.lookup("LocalAppData")
	case "darwin":
		if home := env.lookup("HOME"); home != "" {
			return filepath.Join(home, "Library", "Caches")
		}
		return ""
	}
	if cache := env.lookup("XDG_CACHE_HOME"); cache != "" {
		return cache
	}
	if home := env.lookup("HOME"); home != "" {
		return filepath.Join(home, ".cache")
	}
	return ""
}

// liesIn says whether path is dir or below it, by where it leads as far as it
// exists.
func liesIn(dir, path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			rest, err := filepath.Rel(at, path)
			if err != nil {
				return true
			}
			rel, err := filepath.Rel(dir, filepath.Join(real, rest))
			return err == nil && (rel == "." || filepath.IsLocal(rel))
		}
		if filepath.Dir(at) == at {
			return false
		}
	}
}
