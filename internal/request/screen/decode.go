package screen

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of decoding. A decoded form is never longer than what it was made from,
// so these bound the work for any text.
const (
	maxDepth = 3  // forms in forms
	minBase  = 12 // letters of the shortest base64 run that is looked at
	minHex   = 16 // digits of the shortest hex run
)

// segment is a part of a text that says something else when it is decoded.
type segment struct {
	start, end int
	text       string
	kind       string
}

// decoder finds a segment that begins at byte i of s. An empty text means that
// none does; end is then where it is worth looking again, so that no byte is looked
// at by one decoder more than a few times.
type decoder struct {
	kind   string
	starts func(c byte) bool
	find   func(s string, i int) (end int, text string)
	run    func(c byte) bool // the bytes that cannot begin a segment right after a failed one
}

var decoders = []decoder{
	{"entity", func(c byte) bool { return c == '&' }, entity, nil},
	{"url", func(c byte) bool { return c == '%' }, percent, nil},
	{"escape", func(c byte) bool { return c == '\\' }, escape, nil},
	{"hex", isHexStart, hexRun, hexByte},
	{"binary", func(c byte) bool { return c == '0' || c == '1' }, binaryRun, func(c byte) bool { return c == '0' || c == '1' }},
	{"decimal", digitByte, decimalRun, digitByte},
	{"base32", func(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '2' && c <= '7' }, base32Run, base64Byte},
	{"base64", base64Byte, base64Run, base64Byte},
}

// decoded is the text with everything in it that is an encoding of readable text
// put in its place, and the names of the encodings. ok is false when there is
// none. Every byte of a decoded part came from the whole encoded one.
func decoded(t Text) (out Text, kinds string, ok bool) {
	var found []segment
	s := t.form
	var next [16]int // where each decoder looks again
	for i := 0; i < len(s); {
		// A run of letters and digits is looked at from its beginning.
		if s[i] >= utf8.RuneSelf || s[i] == ' ' || i > 0 && alphanumeric(s[i]) && alphanumeric(s[i-1]) && !(len(found) > 0 && found[len(found)-1].end == i) {
			i++
			continue
		}
		hit := false
		for k := range decoders {
			d := &decoders[k]
			if i < next[k] || !d.starts(s[i]) {
				continue
			}
			end, text := d.find(s, i)
			if text != "" {
				found = append(found, segment{i, end, text, d.kind})
				i, hit = end, true
				break
			}
			for end < len(s) && d.run != nil && d.run(s[end]) {
				end++
			}
			next[k] = end
		}
		if !hit {
			i++
		}
	}
	if len(found) == 0 {
		return t, "", false
	}
	b := newBuilder(len(s))
	last := 0
	for _, f := range found {
		b.copy(t, last, f.start)
		b.writeString(f.text, t.Origin(f.start, f.end).small())
		last = f.end
		if !strings.Contains(kinds, f.kind) {
			kinds += "+" + f.kind
		}
	}
	b.copy(t, last, len(s))
	return b.text(t.size), kinds[1:], true
}

func alphanumeric(c byte) bool {
	return digitByte(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func digitByte(c byte) bool { return c >= '0' && c <= '9' }

func hexByte(c byte) bool {
	return digitByte(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isHexStart(c byte) bool { return hexByte(c) }

func base64Byte(c byte) bool {
	return digitByte(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '/' || c == '-' || c == '_'
}

// readable says whether decoded bytes are text that somebody wrote, and gives it
// as UTF-8. What is read out of random letters is not.
func readable(b []byte) (string, bool) {
	if len(b) < 4 {
		return "", false
	}
	if s, ok := wide(b); ok {
		return s, true
	}
	if !utf8.Valid(b) {
		return "", false
	}
	letters, all := 0, 0
	for _, r := range string(b) {
		all++
		switch {
		case unicode.IsLetter(r) || r == ' ':
			letters++
		case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r', r == utf8.RuneError:
			return "", false
		}
	}
	return string(b), letters*10 >= all*6
}

// wide reads UTF-16 of mostly Latin text.
func wide(b []byte) (string, bool) {
	if len(b)%2 != 0 || len(b) < 8 {
		return "", false
	}
	zeros := 0
	for i := 1; i < len(b); i += 2 {
		if b[i] == 0 {
			zeros++
		}
	}
	if zeros*4 < len(b) {
		return "", false
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	return strings.ToValidUTF8(string(utf16.Decode(units)), ""), true
}

func entity(s string, i int) (int, string) {
	end := strings.IndexByte(s[i:min(len(s), i+34)], ';')
	if end < 3 {
		return i + 1, ""
	}
	end += i + 1
	text := html.UnescapeString(s[i:end])
	if text == s[i:end] || text == "\x00" {
		return i + 1, ""
	}
	return end, text
}

func percent(s string, i int) (int, string) {
	var b []byte
	for i+2 < len(s) && s[i] == '%' && hexByte(s[i+1]) && hexByte(s[i+2]) {
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			break
		}
		b = append(b, byte(n))
		i += 3
	}
	if len(b) == 0 || !utf8.Valid(b) {
		return i + 1, ""
	}
	return i, printable(string(b))
}

// printable has a blank where a control character was.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// escape reads \x69, \u0069, \u{69} and \U00000069, one after another.
func escape(s string, i int) (int, string) {
	var units []uint16
	var b []byte
	flush := func() {
		for _, r := range utf16.Decode(units) {
			b = utf8.AppendRune(b, r)
		}
		units = units[:0]
	}
	for i+2 < len(s) && s[i] == '\\' {
		digits, from := 0, i+2
		switch s[i+1] {
		case 'x':
			digits = 2
		case 'u':
			digits = 4
			if s[i+2] == '{' {
				digits = strings.IndexByte(s[from:min(len(s), from+9)], '}') - 1
				from++
			}
		case 'U':
			digits = 8
		}
		if digits < 1 || from+digits > len(s) {
			break
		}
		n, err := strconv.ParseUint(s[from:from+digits], 16, 32)
		if err != nil || n > unicode.MaxRune {
			break
		}
		switch s[i+1] {
		case 'x':
			flush()
			b = append(b, byte(n))
		default:
			if n <= 0xffff {
				units = append(units, uint16(n))
			} else {
				flush()
				b = utf8.AppendRune(b, rune(n))
			}
		}
		i = from + digits
		if i < len(s) && s[i] == '}' {
			i++
		}
	}
	flush()
	if len(b) == 0 {
		return i + 1, ""
	}
	return i, printable(strings.ToValidUTF8(string(b), ""))
}

// hexRun reads pairs of digits: in one piece, or parted by one blank, colon or
// comma, with or without 0x before each.
func hexRun(s string, i int) (int, string) {
	if i > 0 && base64Byte(s[i-1]) {
		return i + 1, ""
	}
	var digits []byte
	end := i
	for j := i; j < len(s); {
		if strings.HasPrefix(s[j:], "0x") {
			j += 2
		}
		n := j
		for n < len(s) && hexByte(s[n]) {
			n++
		}
		if n == j || (n-j)%2 != 0 {
			break
		}
		digits = append(digits, s[j:n]...)
		end, j = n, n
		for k := 0; k < 2 && j < len(s) && (s[j] == ' ' || s[j] == ':' || s[j] == ',' || s[j] == '\n'); k++ {
			j++
		}
	}
	if len(digits) < minHex || end < len(s) && base64Byte(s[end]) && s[end] != '-' {
		return end + 1, ""
	}
	b := make([]byte, len(digits)/2)
	if _, err := hex.Decode(b, digits); err != nil {
		return end + 1, ""
	}
	if text, ok := readable(b); ok {
		return end, text
	}
	return end + 1, ""
}

// binaryRun reads bytes written as eight ones and zeros.
func binaryRun(s string, i int) (int, string) {
	var b []byte
	end := i
	for j := i; j+8 <= len(s); {
		n, err := strconv.ParseUint(s[j:j+8], 2, 8)
		if err != nil {
			break
		}
		b = append(b, byte(n))
		j += 8
		end = j
		if j < len(s) && (s[j] == ' ' || s[j] == ',' || s[j] == '\n') {
			j++
		}
	}
	if text, ok := readable(b); ok {
		return end, text
	}
	return end + 1, ""
}

// decimalRun reads characters written as their numbers.
func decimalRun(s string, i int) (int, string) {
	var b []byte
	end, count := i, 0
	for j := i; j < len(s); {
		n := j
		for n < len(s) && digitByte(s[n]) && n-j < 7 {
			n++
		}
		v, err := strconv.Atoi(s[j:n])
		if err != nil || v < 32 || v > unicode.MaxRune || !utf8.ValidRune(rune(v)) {
			break
		}
		b = utf8.AppendRune(b, rune(v))
		count++
		end, j = n, n
		for k := 0; k < 2 && j < len(s) && (s[j] == ' ' || s[j] == ','); k++ {
			j++
		}
		if j == n {
			break
		}
	}
	if count < 6 {
		return end + 1, ""
	}
	if text, ok := readable(b); ok {
		return end, text
	}
	return end + 1, ""
}

func base32Run(s string, i int) (int, string) {
	end := i
	for end < len(s) && (s[end] >= 'A' && s[end] <= 'Z' || s[end] >= '2' && s[end] <= '7') {
		end++
	}
	if end-i < minHex || end < len(s) && base64Byte(s[end]) {
		return end + 1, ""
	}
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(s[i:end])
	if err != nil {
		return end + 1, ""
	}
	for end < len(s) && s[end] == '=' {
		end++
	}
	if text, ok := readable(b); ok {
		return end, text
	}
	return end + 1, ""
}

// base64Run reads both alphabets, with and without padding, also over line breaks
// as mail has them.
func base64Run(s string, i int) (int, string) {
	var run []byte
	end := i
	for j := i; j < len(s); {
		n := j
		for n < len(s) && base64Byte(s[n]) {
			n++
		}
		line := n - j
		for _, c := range []byte(s[j:n]) {
			switch c {
			case '-':
				c = '+'
			case '_':
				c = '/'
			}
			run = append(run, c)
		}
		end = n
		if line < 32 || n >= len(s) || s[n] != '\n' {
			break
		}
		j = n + 1
		for j < len(s) && s[j] == ' ' {
			j++
		}
	}
	if len(run) < minBase {
		return end + 1, ""
	}
	for end < len(s) && s[end] == '=' {
		end++
	}
	// A run that lost its last character is still read by whoever wants to.
	whole := len(run)
	if whole%4 == 1 {
		whole--
	}
	b, err := base64.RawStdEncoding.DecodeString(string(run[:whole]))
	if err != nil {
		return end + 1, ""
	}
	if text, ok := readable(b); ok {
		return end, text
	}
	return end + 1, ""
}

// hiddenText is what is written in characters that cannot be seen: tag characters,
// which mirror ASCII, and variation selectors, which carry bytes. The span of a
// byte is the character it hides in.
func hiddenText(s string) (Text, bool) {
	var b *builder
	for i, r := range s {
		if r < 0xfe00 {
			continue
		}
		at := Span{i, i + utf8.RuneLen(r)}.small()
		switch {
		case r >= 0xe0020 && r <= 0xe007e:
			r -= 0xe0000
		case r >= 0xfe00 && r <= 0xfe0f:
			r -= 0xfe00
		case r >= 0xe0100 && r <= 0xe01ef:
			r -= 0xe0100 - 16
		default:
			continue
		}
		if b == nil {
			b = newBuilder(64)
		}
		b.writeByte(byte(r), at)
	}
	if b == nil {
		return Text{}, false
	}
	text, ok := readable(b.form)
	if !ok || len(text) != len(b.form) {
		return Text{}, false
	}
	return b.text(len(s)), true
}
