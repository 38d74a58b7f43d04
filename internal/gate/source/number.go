package source

import (
	"strconv"
	"strings"
)

// plainDigits is how many digits a number may have and still be written
// without an exponent.
const plainDigits = 40

// decimal is the normal form of a decimal number: two spellings of one number
// get one text, two numbers never do. It is exact, where a float would make
// 0.1 and 0.1000000000000000055 the same. The normal form is JSON, and its own
// normal form. It answers false for a text that is no decimal number.
func decimal(text string) (string, bool) {
	sign, rest := cutSign(text)
	mantissa, power := rest, "0"
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, power = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	_, magnitude := cutSign(power)
	if !digits(whole) || !digits(fraction) || !digits(magnitude) || whole+fraction == "" || magnitude == "" {
		return "", false
	}
	shown := strings.TrimLeft(whole+fraction, "0")
	if shown == "" {
		return "0", true
	}
	exponent, err := strconv.ParseInt(power, 10, 32)
	if err != nil {
		// Beyond every reader's range; only its spelling can be compared.
		return sign + strings.ToLower(rest), true
	}
	trimmed := strings.TrimRight(shown, "0")
	scale := int(exponent) - len(fraction) + len(shown) - len(trimmed) // text = trimmed × 10^scale
	return sign + point(trimmed, scale), true
}

// cutSign separates a leading sign; the sign is "-" or "".
func cutSign(text string) (sign, rest string) {
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		return "-", rest
	}
	return "", strings.TrimPrefix(text, "+")
}

// point writes d × 10^scale. d neither starts nor ends with 0.
func point(d string, scale int) string {
	whole := len(d) + scale // digits before the point; 0 or less for a number below 1
	switch {
	case scale >= 0 && whole <= plainDigits:
		return d + strings.Repeat("0", scale)
	case scale < 0 && whole > 0 && whole <= plainDigits:
		return d[:whole] + "." + d[whole:]
	case scale < 0 && whole <= 0 && whole > -6:
		return "0." + strings.Repeat("0", -whole) + d
	}
	text := d[:1]
	if len(d) > 1 {
		text += "." + d[1:]
	}
	return text + "e" + strconv.Itoa(whole-1)
}

// float is the normal form of a number that its format tells apart from an
// integer: 1.0 in TOML and YAML is not 1.
func float(text string) (string, bool) {
	d, ok := decimal(text)
	if ok && digits(strings.TrimPrefix(d, "-")) {
		d += ".0"
	}
	return d, ok
}

// integer is the normal form of an integer with an optional 0x, 0o or 0b
// prefix and underscores that fits 64 bits with its sign.
func integer(text string) (string, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
	return strconv.FormatInt(n, 10), err == nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
