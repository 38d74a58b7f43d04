package surface

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lowerASCII folds A to Z and nothing else. Full folding would turn a Kelvin
// sign into a "k", and a command spelled with one is another command.
func lowerASCII(s string) string {
	first := strings.IndexFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' })
	if first < 0 {
		return s
	}
	b := []byte(s)
	for i := first; i < len(b); i++ {
		if isUpper(b[i]) {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// shown is a line as a person sees it: invisible characters gone, every space
// one plain space, curly apostrophes straight, A to Z folded. Only findings that
// get louder by it may read a line this way.
func shown(line string) string {
	var b strings.Builder
	b.Grow(len(line))
	space := false
	for _, r := range line {
		switch {
		case isInvisible(r):
			continue
		case unicode.IsSpace(r):
			space = true
			continue
		case r == '\u2019' || r == '\u02BC':
			r = '\''
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return lowerASCII(b.String())
}

// isInvisible says whether a character takes no room on a screen: format
// characters (zero-width ones, direction marks, tags), variation selectors and
// the fillers that are letters by name only.
func isInvisible(r rune) bool {
	if r < 0x80 {
		return false
	}
	switch {
	case r == '\u034F', r == '\u115F', r == '\u1160', r == '\u17B4', r == '\u17B5', r == '\u3164', r == '\uFFA0':
		return true
	case unicode.Is(unicode.Variation_Selector, r), 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// containsAny says whether text holds one of the parts.
func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// containsWord says whether text holds one of the words or phrases with no
// letter, digit or underscore beside it.
func containsWord(text string, words ...string) bool {
	for _, w := range words {
		for from := 0; ; {
			i := strings.Index(text[from:], w)
			if i < 0 {
				break
			}
			i += from
			if wordStarts(text, i) && wordEnds(text, i+len(w)) {
				return true
			}
			from = i + len(w)
		}
	}
	return false
}

func wordStarts(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return i == 0 || !isWordRune(r)
}

func wordEnds(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return i == len(text) || !isWordRune(r)
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
