package patch

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSteps bounds a pointer; no file nests deeper.
const maxSteps = 512

// Steps are the parts of an RFC 6901 pointer, unescaped; "" has none. It answers
// false for a text that is no pointer.
func Steps(pointer string) ([]string, bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' || !utf8.ValidString(pointer) {
		return nil, false
	}
	parts := strings.Split(pointer[1:], "/")
	if len(parts) > maxSteps {
		return nil, false
	}
	for i, p := range parts {
		for j := range len(p) {
			if p[j] == '~' && (j+1 == len(p) || p[j+1] != '0' && p[j+1] != '1') {
				return nil, false
			}
		}
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts, true
}

// Pointer is the RFC 6901 pointer of steps.
func Pointer(steps ...string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	return b.String()
}

// index is a step as the index of a list of n items.
func index(step string, n int) (int, bool) {
	i, err := strconv.Atoi(step)
	return i, err == nil && i >= 0 && i < n && strconv.Itoa(i) == step
}
