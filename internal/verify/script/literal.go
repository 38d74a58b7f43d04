package script

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape is what a string or a piece of a template stands for; raw is without
// its delimiters.
func unescape(raw string) string {
	if !strings.ContainsAny(raw, "\\\r") && utf8.ValidString(raw) {
		return raw
	}
	raw = strings.ReplaceAll(strings.ToValidUTF8(raw, "\uFFFD"), "\r\n", "\n")
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 >= len(raw) {
			b.WriteByte(raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'v':
			b.WriteByte('\v')
		case '0':
			b.WriteByte(0)
		case '\n', '\r': // the line goes on
		case 'x':
			i += code(&b, raw, i+1, 2)
		case 'u':
			i += unicode(&b, raw, i+1)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// code writes the character of n hexadecimal digits at i and answers how many
// bytes it took.
func code(b *strings.Builder, raw string, i, n int) int {
	if i+n > len(raw) {
		return 0
	}
	r, err := strconv.ParseUint(raw[i:i+n], 16, 32)
	if err != nil {
		return 0
	}
	b.WriteRune(rune(r)) //nolint:gosec // WriteRune turns what is no character into U+FFFD
	return n
}

func unicode(b *strings.Builder, raw string, i int) int {
	if i < len(raw) && raw[i] == '{' {
		end := strings.IndexByte(raw[i:], '}')
		if end < 2 || end > 9 {
			return 0
		}
		if code(b, raw, i+1, end-1) == 0 {
			return 0
		}
		return end + 1
	}
	if high, ok := unit(raw, i); ok && 0xD800 <= high && high < 0xDC00 && i+5 < len(raw) && raw[i+4] == '\\' && raw[i+5] == 'u' {
		if low, ok := unit(raw, i+6); ok && 0xDC00 <= low && low < 0xE000 {
			b.WriteRune((high-0xD800)<<10 + low - 0xDC00 + 0x10000)
			return 10
		}
	}
	return code(b, raw, i, 4)
}

func unit(raw string, i int) (rune, bool) {
	if i+4 > len(raw) {
		return 0, false
	}
	r, err := strconv.ParseUint(raw[i:i+4], 16, 16)
	return rune(r), err == nil //nolint:gosec // sixteen bits
}

// plainNumber is a number as JSON spells it, "" when it is none or too large.
func plainNumber(raw string) string {
	clean := strings.ToLower(strings.ReplaceAll(raw, "_", ""))
	negative := strings.HasPrefix(clean, "-")
	clean = strings.TrimPrefix(clean, "-")
	if strings.HasPrefix(clean, "0x") || strings.HasPrefix(clean, "0b") || strings.HasPrefix(clean, "0o") {
		n, err := strconv.ParseUint(strings.TrimSuffix(clean, "n"), 0, 63)
		if err != nil {
			return ""
		}
		clean = strconv.FormatUint(n, 10)
	}
	clean = strings.TrimSuffix(clean, "n")
	if strings.HasPrefix(clean, ".") {
		clean = "0" + clean
	}
	whole, rest, _ := strings.Cut(clean, ".")
	if strings.Contains(clean, ".") && (rest == "" || rest[0] == 'e') {
		clean = whole + rest
	}
	if clean == "" || strings.Trim(clean, "0123456789+-.e") != "" {
		return ""
	}
	if negative && clean != "0" {
		clean = "-" + clean
	}
	return clean
}
