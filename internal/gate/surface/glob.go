package surface

import "strings"

// glob is a compiled pattern: its segments, lower-cased. "**" stands for zero or more whole
// segments, "*" and "?" stay inside one, "[...]" is a class; both ends are
// anchored. A trailing "/**" matches the folder itself too (§4.1).
type glob struct {
	segments []string
	needs    string // what every match contains; most paths are turned away by it
}

func newGlob(pattern string) glob {
	return glob{segments: strings.Split(pattern, "/"), needs: longestLiteral(pattern)}
}

func globs(patterns ...string) []glob {
	out := make([]glob, len(patterns))
	for i, p := range patterns {
		out[i] = newGlob(Fold(p))
	}
	return out
}

// longestLiteral is the longest part of a pattern that stands for itself. A
// slash beside a star may stand for nothing, and so may all after a class.
func longestLiteral(pattern string) string {
	plain, _, _ := strings.Cut(pattern, "[")
	longest := ""
	for part := range strings.FieldsFuncSeq(plain, func(c rune) bool { return c == '*' || c == '?' }) {
		if part = strings.Trim(part, "/"); len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// matchAny says whether a folded path matches one of the globs.
func matchAny(list []glob, path string) bool {
	for i := range list {
		if strings.Contains(path, list[i].needs) && matchSegments(list[i].segments, path) {
			return true
		}
	}
	return false
}

// MatchGlob matches one pattern against one path, both folded to lower case.
func MatchGlob(pattern, path string) bool {
	return matchSegments(strings.Split(Fold(pattern), "/"), fold(path))
}

// Globs is a set of patterns, compiled once. The zero Globs matches nothing.
type Globs struct {
	list  []glob
	exact bool
}

// FoldedGlobs compiles patterns for which case does not count.
func FoldedGlobs(patterns ...string) Globs { return Globs{list: globs(patterns...)} }

// ExactGlobs compiles patterns for which case counts.
func ExactGlobs(patterns ...string) Globs {
	list := make([]glob, len(patterns))
	for i, p := range patterns {
		list[i] = newGlob(p)
	}
	return Globs{list: list, exact: true}
}

// Match says whether any of the patterns matches path.
func (g Globs) Match(path string) bool {
	if g.exact {
		return matchAny(g.list, clean(path))
	}
	return matchAny(g.list, fold(path))
}

func matchSegments(pattern []string, path string) bool {
	for len(pattern) > 0 && pattern[0] != "**" {
		if path == "" {
			return false
		}
		seg, rest, more := strings.Cut(path, "/")
		if !matchSegment(pattern[0], seg) {
			return false
		}
		pattern = pattern[1:]
		if !more {
			return len(pattern) == 0 || len(pattern) == 1 && pattern[0] == "**"
		}
		path = rest
	}
	if len(pattern) == 0 {
		return path == ""
	}
	if len(pattern) == 1 {
		return true
	}
	for {
		if matchSegments(pattern[1:], path) {
			return true
		}
		_, rest, more := strings.Cut(path, "/")
		if !more {
			return false
		}
		path = rest
	}
}

// matchSegment matches inside one segment. It backtracks to the last star only,
// so its cost is bounded by the product of both lengths.
func matchSegment(pattern, name string) bool {
	p, n := 0, 0
	star, mark := -1, 0
	for n < len(name) {
		if p < len(pattern) {
			switch pattern[p] {
			case '*':
				star, mark = p, n
				p++
				continue
			case '?':
				p, n = p+1, n+1
				continue
			case '[':
				if ok, width := matchClass(pattern[p:], name[n]); ok {
					p, n = p+width, n+1
					continue
				}
			default:
				if pattern[p] == name[n] {
					p, n = p+1, n+1
					continue
				}
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, n = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchClass matches one byte against a class at the start of pattern and
// returns the width of the class. An unclosed class matches a literal "[".
func matchClass(pattern string, c byte) (matched bool, width int) {
	end := strings.IndexByte(pattern[1:], ']')
	if end < 0 {
		return c == '[', 1
	}
	body := pattern[1 : end+1]
	negated := strings.HasPrefix(body, "!")
	body = strings.TrimPrefix(body, "!")
	for i := 0; i < len(body); i++ {
		if i+2 < len(body) && body[i+1] == '-' {
			if body[i] <= c && c <= body[i+2] {
				return !negated, end + 2
			}
			i += 2
			continue
		}
		if body[i] == c {
			return !negated, end + 2
		}
	}
	return negated, end + 2
}
