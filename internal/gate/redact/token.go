package redact

import "strings"

// issued are how the tokens of well-known issuers begin. Such a token is a secret
// wherever it stands.
var issued = [...]string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_live_", "sk_test_", "rk_live_", "xoxb-", "xoxp-", "xoxa-", "xoxr-",
	"xoxs-", "AIza", "npm_", "hf_", "pypi-", "dckr_pat_", "shpat_", "AKIA", "ASIA",
}

const leastToken = 16 // characters behind the beginning

// token is where in a word a token begins; -1 without one. Names are words too:
// only what mixes small and capital letters with digits is one, as chance does.
func token(word string) int {
	if len(word) < leastToken+len("sk-") {
		return -1
	}
	for _, prefix := range issued {
		for from := 0; ; {
			at := strings.Index(word[from:], prefix)
			if at < 0 {
				break
			}
			at += from
			if from = at + len(prefix); at > 0 && alphanumeric(word[at-1]) {
				continue
			}
			if random(word[from:], prefix == "AKIA" || prefix == "ASIA") {
				return at
			}
		}
	}
	return -1
}

// random says whether a text begins with what a generator of tokens prints.
func random(rest string, capitals bool) bool {
	var n, small, capital, digit int
	for ; n < len(rest) && (alphanumeric(rest[n]) || rest[n] == '_' || rest[n] == '-'); n++ {
		switch c := rest[n]; {
		case c >= 'a':
			small++
		case c >= 'A' && c <= 'Z':
			capital++
		case c >= '0' && c <= '9':
			digit++
		}
	}
	return n >= leastToken && capital > 0 && digit > 0 && (small > 0 || capitals)
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
