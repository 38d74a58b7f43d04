package main

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// disguised puts a text, or the part of it in double brackets, into a disguise.
func disguised(name, text string) (string, error) {
	if name == "-" {
		return text, nil
	}
	turn, ok := disguises[name]
	if !ok {
		return "", fmt.Errorf("there is no disguise %q", name)
	}
	before, rest, found := strings.Cut(text, "[[")
	if !found {
		return turn(text), nil
	}
	inside, after, found := strings.Cut(rest, "]]")
	if !found {
		return "", fmt.Errorf("a bracket is not closed")
	}
	return before + turn(inside) + after, nil
}

// swap is a disguise that puts one character in the place of another.
func swap(from, to string) func(string) string {
	table := map[rune]rune{}
	targets := []rune(to)
	for i, r := range []rune(from) {
		table[r] = targets[i]
	}
	return func(s string) string {
		return strings.Map(func(r rune) rune {
			if t, ok := table[r]; ok {
				return t
			}
			return r
		}, s)
	}
}

// each is a disguise of every character.
func each(turn func(r rune) string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteString(turn(r))
		}
		return b.String()
	}
}

var disguises = map[string]func(string) string{
	"base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base32": func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"hex":    func(s string) string { return hex.EncodeToString([]byte(s)) },
	"url": func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
		return b.String()
	},
	"binary": func(s string) string {
		var parts []string
		for _, c := range []byte(s) {
			parts = append(parts, fmt.Sprintf("%08b", c))
		}
		return strings.Join(parts, " ")
	},
	"decimal": func(s string) string {
		var parts []string
		for _, r := range s {
			parts = append(parts, strconv.Itoa(int(r)))
		}
		return strings.Join(parts, " ")
	},
	"entity": each(func(r rune) string { return fmt.Sprintf("&#x%x;", r) }),
	"escape": func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, "\\u%04x", u)
		}
		return b.String()
	},
	"rot13": each(func(r rune) string {
		switch {
		case 'a' <= r && r <= 'z':
			r = 'a' + (r-'a'+13)%26
		case 'A' <= r && r <= 'Z':
			r = 'A' + (r-'A'+13)%26
		}
		return string(r)
	}),
	"reversed": func(s string) string {
		r := []rune(s)
		slices.Reverse(r)
		return string(r)
	},
	"spaced": func(s string) string {
		var words []string
		for w := range strings.FieldsSeq(s) {
			words = append(words, strings.Join(strings.Split(w, ""), " "))
		}
		return strings.Join(words, "   ")
	},
	"invisible": func(s string) string { return strings.Join(strings.Split(s, ""), "\u200b") },
	"tags": each(func(r rune) string {
		if r >= ' ' && r <= '~' {
			r += 0xe0000
		}
		return string(r)
	}),
	"lookalike": func(s string) string {
		if strings.ContainsAny(s, "абвгдежзиклмнопрстуіїє") {
			return swap("аеіорсхуАЕІОРСХТМКВН", "aeiopcxyAEIOPCXTMKBH")(s)
		}
		return swap("aceiopsxyACEIOPSXTMKBH", "асеіорѕхуАСЕІОРЅХТМКВН")(s)
	},
	"leet": swap("aeiostAEIOST", "4310574310"+"57"),
	"fullwidth": each(func(r rune) string {
		switch {
		case r == ' ':
			r = '\u3000'
		case r > ' ' && r <= '~':
			r += 0xfee0
		}
		return string(r)
	}),
}
