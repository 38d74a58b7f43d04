package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hearing is the list a word belongs to that makes the screen look closer at what
// stands beside it.
type hearing uint8

const (
	hearTold  hearing = iota // a secret may follow
	hearPin                  // figures that are one may follow
	hearSeed                 // the words of a wallet may follow
	hearTopic                // personal data of a topic
)

// heard is such a word at a place of a form.
type heard struct {
	list  hearing
	topic int // of topics
	start int
	end   int
}

// listener finds all of them in one walk.
type listener struct{ tree tree[heard] }

func newListener() listener {
	l := listener{newTree[heard]()}
	for list, words := range map[hearing][]string{hearTold: told, hearPin: pins, hearSeed: seeds} {
		for _, w := range words {
			l.tree.add(w, heard{list: list})
		}
	}
	for i := range topics {
		for w := range strings.SplitSeq(topics[i].parts[0], "|") {
			l.tree.add(strings.TrimLeft(w, " "), heard{list: hearTopic, topic: i})
		}
	}
	return l
}

// listen finds the words in a text in lower case, at the beginning of words and
// anywhere in Japanese.
func (l *listener) listen(lower string) []heard {
	var found []heard
	inside := false
	for i := 0; i < len(lower); {
		r, n := rune(lower[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(lower[i:])
		}
		if !inside {
			node := int32(0)
			for j := i; j < len(lower); j++ {
				if node = l.tree.step(node, lower[j]); node == 0 {
					break
				}
				for _, h := range l.tree.nodes[node].entries {
					h.start, h.end = i, j+1
					found = append(found, h)
				}
			}
		}
		inside = wordRune(r) && scriptOf(r) != cjk && (r < '0' || r > '9')
		i += n
	}
	return found
}

// lowered has the length of s, so that places in both are the same.
func lowered(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch l := r; {
		case common(r):
			if r < 0x0430 {
				l = unicode.ToLower(r)
			}
			b = utf8.AppendRune(b, l)
		default:
			if l = unicode.ToLower(r); utf8.RuneLen(l) != n {
				l = r
			}
			if l == utf8.RuneError {
				b = append(b, s[i:i+n]...)
			} else {
				b = utf8.AppendRune(b, l)
			}
		}
		i += n
	}
	return string(b)
}
