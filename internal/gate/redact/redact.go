// Package redact masks what may be a secret in everything the gate prints:
// titles, messages, recommendations and evidence (docs/spec/boundary.md §14).
//
// Names are kept, values are not: an environment variable, a header, a flag or
// a server keeps its name, because a reviewer needs it and a name opens no
// door. What is masked does not depend on how often a text passes through here:
// every function leaves its own output as it is. All are pure and take time
// linear in the length of their input.
package redact

import "strings"

// The masks.
const (
	mask       = "<redacted>"
	maskedPath = "/<redacted-path>"
	maskedURL  = "<redacted-url>"
)

// secretWords are what a key that names a secret contains, without separators.
var secretWords = [...]string{
	"token", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "privatekey", "signingkey", "authorization", "cookie", "credential",
}

// IsSecretKey says whether a key, header, variable or flag of this name holds a
// secret: API_KEY, apiKey and x-api-key alike.
func IsSecretKey(key string) bool {
	plain := strings.Map(func(c rune) rune {
		switch {
		case c == '_' || c == '-' || c == '.' || c == ' ':
			return -1
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return c
	}, key)
	for _, w := range secretWords {
		if strings.Contains(plain, w) {
			return true
		}
	}
	return false
}
