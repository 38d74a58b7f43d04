package adopt

import "plimsoll.dev/internal/gate/source"

// Remember adds texts to what older versions are taken to have written, and
// gives back what forgets them.
func Remember(t Target, texts ...string) (forget func()) {
	was := rendered
	for _, text := range texts {
		rendered += string(t) + " " + digestOf(text) + "\n"
	}
	return func() { rendered = was }
}

// FindBlock says whether a text has a block of the kind that its target writes,
// and gives the text without it.
func FindBlock(t Target, text []byte) (rest []byte, ok bool) {
	b := syntaxOf(t).find(text)
	if b.none || b.unclear != "" {
		return nil, false
	}
	rest, _ = cutBlock(text, b)
	return rest, true
}

// Parts is how many values a JSON object holds, in all depths, and whether each
// of them is again the value that the strict parser read.
func Parts(text []byte) (n int, bad string) {
	root, bad := parseParts(text)
	if bad != "" {
		return 0, bad
	}
	return countParts(text, &root)
}

func countParts(text []byte, p *part) (n int, bad string) {
	v, err := source.ParseJSON(text[p.start:p.end])
	if err != nil || !v.Equal(p.value) {
		return 0, "wrong"
	}
	n = 1
	for i := range p.children {
		more, bad := countParts(text, &p.children[i].part)
		if bad != "" {
			return 0, bad
		}
		n += more
	}
	return n, ""
}
