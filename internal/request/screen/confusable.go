package screen

import "unicode"

// lookalikes are letters of other scripts and styles that are drawn like a small
// Latin letter, after folding. Only letters that pass for the Latin one in
// running text are here: a table of everything similar would turn Ukrainian into
// nonsense.
var lookalikes = map[rune]rune{
	// Cyrillic
	'а': 'a', 'в': 'b', 'ѕ': 's', 'е': 'e', 'і': 'i', 'ї': 'i', 'ј': 'j', 'к': 'k', 'м': 'm', 'н': 'h', 'о': 'o', 'р': 'p',
	'с': 'c', 'т': 't', 'у': 'y', 'х': 'x', 'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'ґ': 'r', 'г': 'r', 'ь': 'b', 'п': 'n', 'һ': 'h', 'ӏ': 'l',
	'ё': 'e', 'є': 'e', 'ү': 'y', 'ѵ': 'v', 'ш': 'w', 'ѡ': 'w', 'з': '3', 'б': '6', 'ո': 'n', 'ԍ': 'g',
	// Greek
	'α': 'a', 'β': 'b', 'γ': 'y', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'μ': 'u', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'σ': 'o', 'τ': 't', 'υ': 'u',
	'χ': 'x', 'ω': 'w', 'ϲ': 'c', 'ϳ': 'j',
	// Armenian, Cherokee, Latin of other uses
	'օ': 'o', 'ս': 'u', 'ց': 'g', 'հ': 'h', 'ա': 'w', 'զ': 'q', 'ı': 'i', 'ɩ': 'i', 'ɪ': 'i', 'ɑ': 'a', 'ɡ': 'g', 'ɢ': 'g', 'ɴ': 'n', 'ʀ': 'r',
	'ᴀ': 'a', 'ʙ': 'b', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ʜ': 'h', 'ᴊ': 'j', 'ᴋ': 'k', 'ʟ': 'l', 'ᴍ': 'm', 'ᴏ': 'o', 'ᴘ': 'p', 'ꜱ': 's',
	'ᴛ': 't', 'ᴜ': 'u', 'ᴠ': 'v', 'ᴡ': 'w', 'ʏ': 'y', 'ᴢ': 'z', 'ø': 'o', 'ƒ': 'f', 'ł': 'l', 'đ': 'd', 'ħ': 'h', 'ŧ': 't', 'ɇ': 'e',
}

// cyrillic is the other way: Latin letters that hide in a Ukrainian word.
var cyrillic = map[rune]rune{
	'a': 'а', 'b': 'ь', 'c': 'с', 'e': 'е', 'h': 'н', 'i': 'і', 'k': 'к', 'm': 'м', 'o': 'о', 'p': 'р', 't': 'т', 'x': 'х', 'y': 'у', 'ï': 'ї',
	'r': 'г', 'n': 'п', 'u': 'и', 'w': 'ш', '3': 'з', '0': 'о', '6': 'б', '4': 'ч',
}

// digits are figures and signs that stand for a letter ("1gn0r3").
var digits = map[rune]rune{
	'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '9': 'g', '@': 'a', '$': 's', '!': 'i', '|': 'l', '+': 't', '€': 'e', '£': 'l',
}

// script is the writing a letter belongs to, as far as it matters here.
type script uint8

const (
	noScript script = iota
	latin
	slavic
	cjk
	otherScript
)

func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return latin
		}
		return noScript
	case r >= 0x0400 && r <= 0x052f:
		return slavic
	case r >= 0x3040 && r <= 0x30ff, r >= 0x3400 && r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff, r >= 0x20000 && r <= 0x3ffff, r == '々', r == '〆':
		return cjk
	case r >= 0xc0 && r <= 0x24f:
		return latin
	case unicode.IsLetter(r):
		return otherScript
	}
	return noScript
}

// spellings are the ways a word may have to be read: as it stands, and with the
// letters that only look right put back. Most words have one.
func spellings(word string, buf []string) []string {
	buf = append(buf[:0], word)
	usual := true
	for i := 0; i < len(word) && usual; i++ {
		usual = 'a' <= word[i] && word[i] <= 'z'
	}
	if usual {
		return buf
	}
	var letters, figures, counted int
	foreign := false
	var has [otherScript + 1]int
	for _, r := range word {
		counted++
		if s := scriptOf(r); s != noScript {
			has[s]++
			letters++
			if s == slavic && r != 'ґ' && (r > 'я' && r != 'і' && r != 'ї' && r != 'є' && r != 'ё') {
				foreign = true // no letter of a language that is read here
			}
		} else if digits[r] != 0 {
			figures++
		}
	}
	strange := has[slavic] + has[otherScript]
	switch {
	case has[cjk] > 0 || letters == 0 || counted > 40:
		return buf
	case strange == 0 && figures == 0:
		for _, r := range word {
			if r >= 0x80 && lookalikes[r] != 0 {
				strange++
			}
		}
		if strange == 0 {
			return buf
		}
	}
	// A short word of another script that could be read as a Latin one is not.
	if has[latin] > 0 || figures > 0 || letters > 3 || foreign {
		if w, ok := respelt(word, lookalikes, latin); ok && w != word {
			buf = append(buf, w)
		}
	}
	if figures > 0 || has[slavic] > 0 && (has[latin] > 0 || has[otherScript] > 0) {
		if w, ok := respelt(word, cyrillic, slavic); ok && w != word {
			buf = append(buf, w)
		}
	}
	return buf
}

// respelt writes a word in one script, or says that it cannot be.
func respelt(word string, table map[rune]rune, to script) (string, bool) {
	for _, r := range word {
		if s := scriptOf(r); s != noScript && s != to && table[r] == 0 {
			return "", false
		}
	}
	out := make([]rune, 0, len(word))
	for i, r := range word {
		s := scriptOf(r)
		switch {
		case s == to && table[r] == 0, s == noScript && table[r] == 0 && digits[r] == 0:
			out = append(out, r)
		case table[r] != 0 && (s != to || r >= 0x80):
			out = append(out, table[r])
		case to == latin && digits[r] != 0:
			if r == '!' && i == len(word)-1 { // a sign at the end of a sentence
				return string(out), true
			}
			out = append(out, digits[r])
		case s == noScript || s == to:
			out = append(out, r)
		default:
			return "", false
		}
	}
	return string(out), true
}

// Letters counts the letters of a text by the writing they belong to: Latin,
// Cyrillic, Japanese.
func Letters(s string) (latinLetters, cyrillicLetters, japaneseLetters int) {
	for _, r := range s {
		switch scriptOf(r) {
		case latin:
			latinLetters++
		case slavic:
			cyrillicLetters++
		case cjk:
			japaneseLetters++
		case noScript, otherScript:
		}
	}
	return latinLetters, cyrillicLetters, japaneseLetters
}
