package redact

import (
	"strings"
	"unicode/utf8"
)

// URL masks an http, https, ws or wss URL: scheme, host and port stay, a path
// other than / becomes /<redacted-path>, user, query and fragment go. Anything
// else becomes <redacted-url>.
func URL(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !isWeb(scheme) {
		return maskedURL
	}
	return webURL(scheme, rest)
}

func isWeb(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "http", "https", "ws", "wss":
		return true
	}
	return false
}

// webURL masks the URL of a web scheme; rest is what follows the two slashes.
func webURL(scheme, rest string) string {
	authority, path := rest, ""
	// Browsers take a backslash for a slash, so it ends a host here, too.
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if !validHost(host) {
		return maskedURL
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	if path != "" && path != "/" {
		path = maskedPath
	}
	return scheme + "://" + host + path
}

// validHost says whether s is a name or an address with an optional port, and
// nothing that could hide something else.
func validHost(s string) bool {
	name, port := s, ""
	switch end := strings.IndexByte(s, ']'); {
	case strings.HasPrefix(s, "[") && end > 1:
		name, port = s[1:end], s[end+1:]
		if strings.Trim(name, "0123456789abcdefABCDEF:.") != "" {
			return false
		}
	default:
		if i := strings.IndexByte(s, ':'); i >= 0 {
			name, port = s[:i], s[i:]
		}
		for _, c := range name {
			if c < utf8.RuneSelf && !isName(byte(c)) || c == utf8.RuneError {
				return false
			}
		}
	}
	return name != "" && (port == "" || port[0] == ':' && strings.Trim(port[1:], "0123456789") == "")
}

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}
