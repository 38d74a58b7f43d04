package redact

import "strings"

// Source masks a line of a file as Text masks a sentence, but for web addresses:
// one that holds nothing of a secret stays, because whoever reads a change has to
// see where it leads.
func Source(line string) string { return settled(line, true) }

// harmless says whether what follows the slashes of a web address holds nothing
// of a secret: no user, no parameter that is called one, and no word of letters
// and digits that is long enough to be one.
func harmless(rest string) bool {
	authority, path := rest, ""
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if strings.Contains(authority, "@") || !validHost(authority) || strings.Contains(path, "@") {
		return false
	}
	word, letters, digits := 0, false, false
	for i := range len(path) + 1 {
		var c byte
		if i < len(path) {
			c = path[i]
		}
		switch {
		case alphanumeric(c):
			digit := c <= '9'
			letters, digits = letters || !digit, digits || digit
			continue
		case c == '=' && IsSecretKey(path[word:i]):
			return false
		case c == '-' || c == '_':
			continue // an id of a hook is one word with them
		}
		if i-word >= leastToken && letters && digits {
			return false
		}
		word, letters, digits = i+1, false, false
	}
	return true
}
