package answer

import "plimsoll.dev/internal/request"

// Decode is the answer decoder alone, for its fuzz target.
func Decode(text string, blanks []request.Blank) ([]request.Prose, []string, *Broken) {
	b := &Broken{}
	drafts, texts := decode(b, text, blanks)
	return drafts, texts, b
}

// Leaks says whether a text holds a mark, for its fuzz target.
func Leaks(text, mark string) bool { return leaks(text, mark) }
