package answer

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/request/screen"
)

// Witness knows what an answer must not repeat. Each of its checks finds an
// answer that followed the data instead of its prompt; none of them is what keeps
// such an answer from doing harm: a draft has no effect.
type Witness struct {
	Mark    string // 32 hex digits, drawn for this question
	Prompt  string
	Turn    string                 // as it was sent
	Key     func(text string) bool // whether a text holds the key of the endpoint
	Secrets Secrets
}

// Secrets reads a text for secrets and for orders, in plain and in disguise.
// *screen.Screen is one.
type Secrets interface {
	Read(text string) screen.Report
}

// check reads the raw answer, in case it is no JSON, and the texts in it, in case
// they are escaped.
func (w *Witness) check(b *Broken, raw string, list []string) {
	whole := raw + "\n" + strings.Join(list, "\n")
	if leaks(whole, w.Mark) {
		b.add(MarkLeak, problem.ContentInvalid, "", "the answer repeats the mark of the data")
	}
	if w.Key(whole) {
		b.add(KeyLeak, problem.ContentInvalid, "", "the answer holds what no answer may hold")
	}
	if w.recites(list) {
		b.add(PromptLeak, problem.ContentInvalid, "", "the answer repeats its instructions")
	}
	if slices.ContainsFunc(list, func(s string) bool { return strings.ContainsFunc(s, unseen) }) {
		b.add(Hidden, problem.ContentInvalid, "", "the answer holds characters that people cannot see")
	}
	if w.wanders(list) {
		b.add(Link, problem.ContentInvalid, "", "the answer holds a link or an address that is not in the data")
	}
	// A secret in the answer is the orchestrator's to find: it stops the request.
	if report := w.Secrets.Read(strings.Join(list, "\n")); report.Breach() {
		b.add(Order, problem.ContentInvalid, "", "the answer hands an instruction on")
	}
}

// leaks says whether a text holds the mark, or a good part of it: as it is,
// spaced, in other letters, turned round, in rot13, in hex or in base64.
func leaks(text, mark string) bool {
	const part = 12 // of 32 digits: nobody writes those by chance
	for _, form := range []string{strings.ToLower(text), turned(strings.ToLower(text)), strings.Map(rot13, strings.ToLower(text))} {
		plain := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, form)
		for i := 0; i+part <= len(mark); i++ {
			if strings.Contains(plain, mark[i:i+part]) {
				return true
			}
		}
		if strings.Contains(plain, hex.EncodeToString([]byte(mark))) {
			return true
		}
	}
	for shift := range 3 { // of the mark in the text that was encoded
		code := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + mark))
		if strings.Contains(text, code[4:len(code)-4]) {
			return true
		}
	}
	return false
}

func turned(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

func rot13(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return 'a' + (r-'a'+13)%26
	}
	return r
}

// recites says whether a text has at least recited bytes in a row of the prompt
// that are not in the data: whoever asks about the constitution gets it as data,
// and may have it quoted.
func (w *Witness) recites(list []string) bool {
	const window, step = 80, 40 // finds whatever has window+step bytes in common
	prompt, turn := squeezed(w.Prompt), ""
	for _, s := range list {
		s = squeezed(s)
		for i := 0; i+window <= len(s); i += step {
			if !strings.Contains(prompt, s[i:i+window]) {
				continue
			}
			if turn == "" {
				turn = squeezed(w.Turn)
			}
			if !strings.Contains(turn, s[i:i+window]) {
				return true
			}
		}
	}
	return false
}

// squeezed is a text in one case, with one blank where white space or a mark of
// Markdown was.
func squeezed(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return unicode.IsSpace(r) || r == '*' || r == '_' || r == '`' || r == '#'
	}), " ")
}

// unseen are the characters that hide a text from people or turn it round: tags,
// bidi controls, blanks of no width, and controls but the end of a line and a
// tab. The joiners stay: some languages are written with them.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r >= 0xE0000 && r <= 0xE0FFF, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r == 0x200B, r == 0x200E, r == 0x200F, r == 0x00AD, r == 0x061C, r == 0x180E, r == 0xFEFF, r == 0x3164, r == 0x115F, r == 0x1160, r == 0xFFA0:
		return true
	}
	return unicode.IsControl(r)
}

// wanders says whether there is a link or an address of e-mail that does not
// stand in the turn, to the letter: a link can carry away what is hung onto it.
func (w *Witness) wanders(list []string) bool {
	for _, s := range list {
		for _, word := range strings.FieldsFunc(s, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("<>()[]{}\"'`|«»“”、。「」", r)
		}) {
			word = strings.TrimRight(word, ".,;:!?…*_")
			lower := strings.ToLower(word)
			at := strings.Index(lower, "://")
			if at < 0 && !strings.HasPrefix(lower, "www.") && !strings.HasPrefix(lower, "//") && !address(lower) {
				continue
			}
			if !strings.Contains(w.Turn, word) {
				return true
			}
		}
	}
	return false
}

// address says whether a word is an address of e-mail.
func address(word string) bool {
	name, host, ok := strings.Cut(word, "@")
	return ok && name != "" && strings.Contains(strings.Trim(host, "."), ".")
}
