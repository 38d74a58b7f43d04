package report

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/gate/redact"
)

// plain makes text of a repository harmless in Markdown that a forge renders:
// secrets masked, one line, at most limit characters, and nothing that is
// markup, a link, a mention, a reference to an issue or HTML.
//
// Every ASCII punctuation mark is escaped with a backslash, which CommonMark
// shows as the mark itself. That is not enough for what a forge links in the
// text that it has rendered, so a word joiner, which shows as nothing, breaks
// those: @name, #1, GH-1, scheme:// and www. Nothing else is touched, so that a
// scope or a key can be copied.
func plain(s string, limit int) string {
	text := redact.Text(s)
	out := make([]byte, 0, len(text)+len(text)/8)
	n := 0
	for i, r := range text {
		if n == limit {
			out = append(out, "…"...)
			break
		}
		n++
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			out = append(out, byte(r))
		case r == utf8.RuneError, unicode.IsSpace(r), r < 0x20, r == 0x7f:
			out = append(out, ' ')
		case r < utf8.RuneSelf:
			out = append(out, '\\', byte(r))
			if linked(text[:i], byte(r), text[i+1:]) {
				out = append(out, joiner...)
			}
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r):
			// Direction marks and joiners change what a person reads and are not seen.
			out = utf8.AppendRune(out, utf8.RuneError)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(bytes.TrimSpace(out))
}

// linked says whether a forge makes a link of what stands around a mark.
func linked(before string, mark byte, after string) bool {
	ends := func(with string) bool {
		n := len(before) - len(with)
		return n >= 0 && strings.EqualFold(before[n:], with)
	}
	switch mark {
	case '@', '#':
		return true
	case ':':
		return strings.HasPrefix(after, "/")
	case '-':
		return ends("gh")
	case '.':
		return ends("www")
	}
	return false
}

const joiner = "\u2060"

// code is text of a repository as a code span: nothing in it is markup. The
// fence is longer than any run of backticks inside.
func code(s string, limit int) string {
	s = redact.Text(s)
	if len(s) <= limit && unmarked(s) {
		return "`" + s + "`"
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == limit {
			b.WriteString("…")
			break
		}
		n++
		switch {
		case r == utf8.RuneError, unicode.IsSpace(r), r < 0x20, r == 0x7f:
			b.WriteByte(' ')
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	text := b.String()
	if strings.TrimSpace(text) == "" {
		return "\\-"
	}
	run, longest := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	// A pipe would end a cell of a table, and a blank beside the fence is taken off.
	text = strings.ReplaceAll(text, "|", "¦")
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.HasPrefix(text, " ") || strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	if len(fence) > 2 {
		return joiner + fence + text + fence // else a line that begins with it reads as the start of a block
	}
	return fence + text + fence
}

// unmarked says whether a text is shown as it is between two backticks, which
// nearly every name is.
func unmarked(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '`' || c == '|' {
			return false
		}
	}
	return s != ""
}
