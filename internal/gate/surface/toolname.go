package surface

import "strings"

// RiskyToolName says whether a tool of this name is taken to write, or to act
// outside (docs/spec/boundary.md §5.1, "Risky tool name"). A name is all that is
// known of a tool here: a wrong "yes" costs a person a look, a wrong "no" still
// ends in a review.
func RiskyToolName(name string) bool {
	words := toolWords(name)
	for _, w := range words {
		if anyForm(w, isActionWord) {
			return true
		}
	}
	if len(words) > 0 && anyForm(words[0], isReadingWord) {
		return false
	}
	for _, w := range words {
		if w == "payment" || w == "refund" {
			return true
		}
	}
	return false
}

// toolWords splits a name where a small letter or a digit meets a capital, and
// at everything that is neither letter nor digit.
func toolWords(name string) []string {
	var words []string
	start := -1
	end := func(i int) {
		if start >= 0 {
			words = append(words, lowerASCII(name[start:i]))
		}
		start = -1
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !isAlnum(c):
			end(i)
			continue
		case start >= 0 && isUpper(c) && !isUpper(name[i-1]):
			end(i)
		}
		if start < 0 {
			start = i
		}
	}
	end(len(name))
	return words
}

// anyForm says whether the word or one of its plainer forms is in the set.
func anyForm(word string, in func(string) bool) bool {
	if in(word) {
		return true
	}
	if base := thirdPersonBase(word); base != "" && in(base) {
		return true
	}
	if len(word) > 4 && strings.HasSuffix(word, "ed") && (in(word[:len(word)-1]) || in(word[:len(word)-2])) {
		return true
	}
	if len(word) > 5 && strings.HasSuffix(word, "ing") {
		stem := word[:len(word)-3]
		return in(stem) || in(stem+"e")
	}
	return false
}

// thirdPersonBase is the action word of a third-person form, or "". The spec
// lists the forms; "applies", "execs" and "runs" are not among them.
func thirdPersonBase(word string) string {
	if base, ok := strings.CutSuffix(word, "es"); ok {
		switch base {
		case "patch", "publish", "push":
			return base
		}
	}
	base, ok := strings.CutSuffix(word, "s")
	if !ok || !isActionWord(base) {
		return ""
	}
	switch base {
	case "apply", "exec", "run", "patch", "publish", "push":
		return ""
	}
	return base
}

func isActionWord(word string) bool {
	switch word {
	case "apply", "approve", "cancel", "commit", "create", "delete", "deploy", "destroy", "drop", "edit",
		"exec", "execute", "grant", "kill", "merge", "overwrite", "patch", "post", "publish", "purge",
		"push", "put", "release", "remove", "revoke", "run", "send", "terminate", "transfer", "truncate",
		"update", "wipe", "write":
		return true
	}
	return false
}

func isReadingWord(word string) bool {
	switch word {
	case "compute", "describe", "fetch", "get", "list", "lookup", "read", "search", "show":
		return true
	}
	return false
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || isUpper(c) || '0' <= c && c <= '9'
}
