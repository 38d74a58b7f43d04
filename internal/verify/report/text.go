package report

import (
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
	var b strings.Builder
	text := []rune(redact.Text(s))
	for n, r := range text {
		if n == limit {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError, unicode.IsSpace(r), r < 0x20, r == 0x7f:
			b.WriteByte(' ')
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r):
			// Direction marks and joiners change what a person reads and are not seen.
			b.WriteRune(utf8.RuneError)
		case r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
			b.WriteByte('\\')
			b.WriteRune(r)
			if linked(text, n) {
				b.WriteString(joiner)
			}
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// linked says whether a forge makes a link of what stands around text[n].
func linked(text []rune, n int) bool {
	before := strings.ToLower(string(text[max(n-3, 0):n]))
	switch text[n] {
	case '@', '#':
		return true
	case ':':
		return n+1 < len(text) && text[n+1] == '/'
	case '-':
		return strings.HasSuffix(before, "gh")
	case '.':
		return before == "www"
	}
	return false
}

const joiner = "\u2060"

// code is text of a repository as a code span: nothing in it is markup. The
// fence is longer than any run of backticks inside.
func code(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range redact.Text(s) {
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
