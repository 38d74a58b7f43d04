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

// coveredBy says whether any of the declared scopes covers the scope.
func coveredBy(declared []string, scope string) bool {
	for _, d := range declared {
		if Covers(d, scope) {
			return true
		}
	}
	return false
}
