package hook

import (
	"encoding/hex"
	"slices"
	"strconv"

	"plimsoll.dev/internal/gate/source"
)

// Memory is what one session was told, the oldest first. The zero Memory
// remembers nothing.
type Memory struct{ entries []entry }

type entry struct {
	Digest string `json:"digest"`
	Told   int    `json:"told"`
}

const (
	memoryVersion = 1
	// MaxMemory is how many bytes of a memory are read: more than is ever written.
	MaxMemory  = 16 << 10
	maxEntries = 64
)

// ReadMemory is the memory that was written, or the zero Memory for anything
// else: what cannot be read is said again.
func ReadMemory(text []byte) Memory {
	var m Memory
	if len(text) > MaxMemory {
		return m
	}
	v, err := source.ParseJSON(text)
	if err != nil || v.Get("version").Text != strconv.Itoa(memoryVersion) || len(v.Get("told").Items) > maxEntries {
		return m
	}
	for _, item := range v.Get("told").Items {
		e := entry{Digest: item.Get("digest").Str()}
		told, err := strconv.Atoi(item.Get("told").Text)
		if raw, bad := hex.DecodeString(e.Digest); err != nil || bad != nil || len(raw) != 32 || told < 1 || told > Patience {
			return Memory{}
		}
		e.Told = told
		m.entries = append(m.entries, e)
	}
	return m
}

// Told is how often the session was told what the digest names.
func (m Memory) Told(digest string) int {
	for _, e := range m.entries {
		if e.Digest == digest {
			return e.Told
		}
	}
	return 0
}

// With is the memory with another count for the digest; 0 forgets it. What is
// too much is dropped, the oldest first.
func (m Memory) With(digest string, told int) Memory {
	kept := slices.DeleteFunc(slices.Clone(m.entries), func(e entry) bool { return e.Digest == digest })
	if told > 0 {
		kept = append(kept, entry{Digest: digest, Told: told})
	}
	return Memory{kept[max(0, len(kept)-maxEntries):]}
}

// Bytes is the memory as ReadMemory takes it, at most MaxMemory.
func (m Memory) Bytes() []byte {
	return append(line(struct {
		Version int     `json:"version"`
		Told    []entry `json:"told"`
	}{memoryVersion, append([]entry{}, m.entries...)}), '\n')
}

// MemoryName is the name of the file that a session's memory lies in: sessions
// are named by hosts, and no name of theirs becomes a name on disk. Each event
// of a session has its own, since another event speaks to another agent.
func (e *Event) MemoryName() string {
	return sum([]byte(e.Host), []byte(e.Name), []byte(e.Session))[:40] + ".json"
}
