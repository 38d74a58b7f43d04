package delta

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"plimsoll.dev/internal/canonical"
)

// hasher takes the short hashes of many facts without a new buffer for each.
type hasher struct{ text []byte }

var hashers = sync.Pool{New: func() any { return new(hasher) }}

// short is the first 16 hex digits of SHA-256 over v with sorted keys, default
// separators and lists sorted by their own JSON (docs/spec/verification.md
// §11.1): the order in which a file lists something is no difference.
func (h *hasher) short(v any) string {
	h.text = canonical.Spaced.Append(h.text[:0], sortLists(v))
	sum := sha256.Sum256(h.text)
	return hex.EncodeToString(sum[:8])
}

// setHash is the whole SHA-256 of compact sorted JSON.
func setHash(v any) string { return canonical.UTF8.SHA256(v) }

// sortLists is v itself when no list in it has two members: most have not, and
// facts are hashed by the thousand.
func sortLists(v any) any {
	if !hasList(v) {
		return v
	}
	switch v := v.(type) {
	case canonical.Object:
		own := make(canonical.Object, len(v))
		for i, m := range v {
			own[i] = canonical.Member{Key: m.Key, Value: sortLists(m.Value)}
		}
		return own
	case map[string]any:
		own := make(map[string]any, len(v))
		for key, value := range v {
			own[key] = sortLists(value)
		}
		return own
	case []string:
		// The JSON of two strings compares as they do, but for escapes: those are
		// rare, and only the same order everywhere matters.
		own := make([]any, len(v))
		for i, s := range v {
			own[i] = s
		}
		return sortByJSON(own)
	case []any:
		return sortByJSON(v)
	case []canonical.Object:
		own := make([]any, len(v))
		for i, o := range v {
			own[i] = o
		}
		return sortByJSON(own)
	}
	return v
}

// hasList says whether a list of two or more is anywhere in v.
func hasList(v any) bool {
	switch v := v.(type) {
	case canonical.Object:
		return slices.ContainsFunc(v, func(m canonical.Member) bool { return hasList(m.Value) })
	case map[string]any:
		for _, value := range v {
			if hasList(value) {
				return true
			}
		}
	case []string:
		return len(v) > 1
	case []any:
		return len(v) > 1 || len(v) == 1 && hasList(v[0])
	case []canonical.Object:
		return len(v) > 1 || len(v) == 1 && hasList(v[0])
	}
	return false
}

func sortByJSON(list []any) []any {
	type entry struct {
		value any
		text  string
	}
	entries := make([]entry, len(list))
	for i, e := range list {
		e = sortLists(e)
		entries[i] = entry{e, canonical.Spaced.String(e)}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		switch {
		case a.text < b.text:
			return -1
		case a.text > b.text:
			return 1
		}
		return 0
	})
	own := make([]any, len(entries))
	for i, e := range entries {
		own[i] = e.value
	}
	return own
}
