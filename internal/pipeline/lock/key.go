package lock

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Key names what a lock is for: "contract:<id>" or
// "repo-path:<normalized-path>". Keys conflict when they are equal.
type Key string

const (
	contractPrefix = "contract:"
	pathPrefix     = "repo-path:"
)

// Prefixes is what keys begin with.
func Prefixes() []string { return []string{contractPrefix, pathPrefix} }

// Contract is the key of a contract.
func Contract(id contract.ID) Key { return Key(contractPrefix + string(id)) }

// ParseKey reads a key from outside; a path in it is normalised, so that two
// spellings of one path conflict.
func ParseKey(text string) (Key, error) {
	if id, ok := strings.CutPrefix(text, contractPrefix); ok && contract.ID(id).Valid() {
		return Key(text), nil
	}
	if path, ok := strings.CutPrefix(text, pathPrefix); ok {
		return Path(path)
	}
	return "", refusal.New(refusal.LockKeyInvalid, "%q is neither contract:<id> nor repo-path:<path>", text)
}

// Path is the key of a path relative to the root of the repository: separators
// as "/", "." and empty segments dropped, ".." resolved, NFC, case kept; the
// root is ".".
func Path(path string) (Key, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", invalid(path, "is empty or has a NUL")
	}
	path = norm.NFC.String(strings.ReplaceAll(path, `\`, "/"))
	if strings.HasPrefix(path, "/") || drive(path) {
		return "", invalid(path, "is absolute")
	}
	var kept []string
	for _, segment := range strings.Split(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			if len(kept) == 0 {
				return "", invalid(path, "leaves the root")
			}
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, segment)
		}
	}
	if len(kept) == 0 {
		return pathPrefix + ".", nil
	}
	return Key(pathPrefix + strings.Join(kept, "/")), nil
}

// drive says whether path begins with a drive of Windows, as in "C:/x".
func drive(path string) bool {
	return len(path) > 1 && path[1] == ':' && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z'
}

func invalid(path, why string) error {
	return refusal.New(refusal.LockPathInvalid, "the path %q %s", path, why)
}

// Sorted is the keys ascending and without repeats: the order in which several
// locks are taken, so that two callers never wait for each other.
func Sorted(keys []Key) []Key {
	s := slices.Clone(keys)
	slices.Sort(s)
	return slices.Compact(s)
}
