package effect

import "strings"

// BroadScope says whether a scope opens more than one thing (§6.1): "*" or
// "admin" by itself, a wildcard at the end, or admin or write-all inside.
func BroadScope(scope string) bool {
	s := strings.ToLower(strings.TrimSpace(scope))
	return s == "*" || strings.HasSuffix(s, ":*") || strings.HasSuffix(s, "/*") ||
		strings.Contains(s, "admin") || strings.Contains(s, "write-all") || strings.Contains(s, "write_all")
}

// Covers says whether a declared scope covers a scope: equal ignoring case, "*",
// or "x:*" where scope starts with "x:" (§6.1).
func Covers(declared, scope string) bool {
	d, s := strings.ToLower(strings.TrimSpace(declared)), strings.ToLower(strings.TrimSpace(scope))
	if d == s || d == "*" {
		return true
	}
	prefix, wild := strings.CutSuffix(d, "*")
	return wild && strings.HasSuffix(prefix, ":") && strings.HasPrefix(s, prefix)
}

// Cover is a set of declared scopes that is asked often: Covers of any of them,
// in time that does not grow with their number.
type Cover struct {
	all    bool
	exact  map[string]bool
	prefix map[string]bool // with the colon at the end
}

// NewCover is the cover of declared scopes.
func NewCover(declared []string) Cover {
	c := Cover{exact: make(map[string]bool, len(declared)), prefix: map[string]bool{}}
	for _, d := range declared {
		d = strings.ToLower(strings.TrimSpace(d))
		c.all = c.all || d == "*"
		c.exact[d] = true
		if prefix, wild := strings.CutSuffix(d, "*"); wild && strings.HasSuffix(prefix, ":") {
			c.prefix[prefix] = true
		}
	}
	return c
}

// Has says whether any of the declared scopes covers the scope.
func (c Cover) Has(scope string) bool {
	s := strings.ToLower(strings.TrimSpace(scope))
	if c.all || c.exact[s] {
		return true
	}
	if len(c.prefix) == 0 {
		return false
	}
	for i := range len(s) {
		if s[i] == ':' && c.prefix[s[:i+1]] {
			return true
		}
	}
	return false
}
