package console

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Texts of others may hold what no reader sees: signs that turn the direction of
// what follows, have no width, or stand on top of each other. A page shows each
// by its number, so that nothing looks like what it is not.

// unseen says that nobody sees a character.
func unseen(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f, r > 0xad && r < 0x300, r >= 0x400 && r < 0x483: // Latin and Cyrillic, most of all
		return false
	case r == '\n', r == '\r', r == '\t':
		return false
	case r >= 0xE0100 && r <= 0xE01EF: // variants of characters that have none
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// stacked says that a character stands on the one before it.
func stacked(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) }

// stackedMost is how many characters may stand on one.
const stackedMost = 3

// numbered is a character that nobody sees, by its number.
func numbered(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// visible is a page with every character that nobody sees by its number. Markup
// stays as it is, for no text of others is in it but in attributes, and so do the
// texts of fields, which are sent back.
func visible(page []byte) []byte {
	var out bytes.Buffer
	kept, stack, tag, field := 0, 0, false, false
	put := func(at, size int, text string) {
		if out.Len() == 0 {
			out.Grow(len(page) + 64)
		}
		_, _ = out.Write(page[kept:at])
		_, _ = out.WriteString(text)
		kept = at + size
	}
	for i := 0; i < len(page); {
		b := page[i]
		switch {
		case b == '<':
			tag, stack = true, 0
			field = bytes.HasPrefix(page[i:], []byte("<textarea")) || field && !bytes.HasPrefix(page[i:], []byte("</textarea"))
			i++
			continue
		case b == '>':
			tag = false
			i++
			continue
		case tag || field || b >= ' ' && b < 0x7f:
			stack = 0
			i++
			continue
		}
		r, size := utf8.DecodeRune(page[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			put(i, size, fmt.Sprintf("⟨%02X⟩", b))
		case unseen(r):
			put(i, size, numbered(r))
		case stacked(r):
			if stack++; stack > stackedMost {
				put(i, size, numbered(r))
			}
		default:
			stack = 0
		}
		i += size
	}
	if kept == 0 {
		return page
	}
	_, _ = out.Write(page[kept:])
	return out.Bytes()
}
