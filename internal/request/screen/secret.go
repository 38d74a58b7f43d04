package screen

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match is a secret in a text: where it stands, and the rule that knows it.
// There is no field for the secret itself.
type Match struct {
	Rule  string
	Start int // bytes of the text that was searched
	End   int
}

// Secrets finds the secrets whose form is known: keys and tokens of services.
// What it is given it must neither keep nor log. The same text has the same
// secrets; their order does not matter, and every occurrence of one is there.
type Secrets interface {
	Find(text string) []Match
}

// Redaction stands where a secret was.
const Redaction = "[redacted]"

// told are words after which a person writes a secret down. They stand in the
// lower case.
var told = []string{
	"password", "passphrase", "passwd", "passcode", "secret key", "private key", "access key", "api key", "apikey", "token", "credential", "login",
	"parol", "пароль", "паролем", "пароля", "паролі", "токен", "токеном", "секретний ключ", "ключ доступу", "ключ api", "api-ключ", "кодове слово", "фраза доступу",
	"パスワード", "パスフレーズ", "トークン", "秘密鍵", "アクセスキー", "apiキー", "暗証番号", "合言葉",
}

// seeds are words after which a person writes down the words a wallet or a vault
// is restored from.
var seeds = []string{"seed phrase", "recovery phrase", "mnemonic", "backup phrase", "сід-фраза", "сід фраза", "seed-фраза", "фраза відновлення", "мнемонічна фраза", "シードフレーズ", "復元フレーズ", "リカバリーフレーズ"}

// pins are words after which four to eight figures are a secret.
var pins = []string{"pin", "pin code", "пін", "пін-код", "пінкод", "暗証番号", "pinコード", "ピンコード", "passcode"}

// spoken finds the secrets that no service has given a form: a password that
// somebody writes into a sentence, a login inside an address, a private key, the
// words of a wallet.
func spoken(s, lower string, heard []heard) []Match {
	var found []Match
	skip := 0 // the end of a word that is too long to be one
	for _, h := range heard {
		switch h.list {
		case hearTold:
			if h.end < skip {
				continue
			}
			found = after(found, s, lower, h.end, "spoken-secret", secretWord)
			if n := wordLength(s[h.end:]); n > maxSecretWord {
				skip = h.end + n
			}
		case hearPin:
			found = after(found, s, lower, h.end, "spoken-pin", pinWord)
		case hearSeed:
			found = after(found, s, lower, h.end, "seed-phrase", seedWords)
		case hearTopic:
		}
	}
	return keyBlocks(logins(found, s), s)
}

// after looks at what is written after a word that ends at a byte: within a few
// words, and behind a sign or a word that says "is".
func after(found []Match, s, lower string, end int, rule string, take func(s string) int) []Match {
	if at := value(s, lower, end); at >= 0 {
		if n := take(s[at:]); n > 0 {
			return append(found, Match{rule, at, at + n})
		}
	}
	return found
}

// assigned are the signs and words between a name and its value.
var assigned = []string{":", "=", "—", "–", " - ", "->", "→", " is ", " це ", "は", "：", "が", " – ", "を", "`", "\"", "«", "「", " was ", " reads "}

// value is where the value after a name begins, -1 when no sign says that one
// follows on the same line.
func value(s, lower string, from int) int {
	limit := min(len(s), from+64)
	if n := strings.IndexAny(lower[from:limit], "\n.!?。"); n >= 0 {
		limit = from + n
	}
	best := -1
	for _, a := range assigned {
		if i := strings.Index(lower[from:limit], a); i >= 0 && (best < 0 || from+i+len(a) < best) {
			best = from + i + len(a)
		}
	}
	for best >= 0 && best < len(s) {
		r, n := utf8.DecodeRuneInString(s[best:])
		if r != ' ' && !strings.ContainsRune("\"'`“”«»「」『』:=>*", r) {
			return best
		}
		best += n
	}
	return -1
}

// maxSecretWord is how long a word may be, in bytes, that somebody writes into a
// sentence as a password. Longer secrets have forms of their own.
const maxSecretWord = 512

// wordLength is how far it is to the next blank.
func wordLength(s string) int {
	if n := strings.IndexAny(s, " \n\t"); n >= 0 {
		return n
	}
	return len(s)
}

// secretWord is the length of the word at the beginning of s when it looks made
// up by a machine or a careful person, else 0.
func secretWord(s string) int {
	n, classes := 0, [4]int{}
	for n < len(s) {
		if n > maxSecretWord {
			return 0
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		if unicode.IsSpace(r) || strings.ContainsRune("\"'`“”«»「」『』<>。、", r) || r >= 0x3000 {
			break
		}
		switch {
		case unicode.IsUpper(r):
			classes[0]++
		case unicode.IsLower(r):
			classes[1]++
		case unicode.IsDigit(r):
			classes[2]++
		default:
			classes[3]++
		}
		n += size
	}
	word := strings.TrimRight(s[:n], ".,;:!?)]")
	if len(word) < 8 || placeholder(word) {
		return 0
	}
	signs := strings.Trim(word, "-_./:")
	kinds := 0
	for i, c := range classes {
		if c > 0 && (i != 3 || strings.ContainsAny(signs, "!@#$%^&*+=?~|\\")) {
			kinds++
		}
	}
	switch {
	case classes[2] == 0 && kinds < 3, classes[0]+classes[1] == 0, kinds < 2:
		return 0
	case strings.Contains(word, "://") || strings.Contains(word, "@") && strings.Contains(word, "."):
		return 0 // an address; logins looks into those
	case bits(word) < 2.6:
		return 0
	}
	return len(word)
}

// placeholder says whether a word only marks where a secret would stand.
func placeholder(w string) bool {
	l := strings.ToLower(w)
	if strings.ContainsAny(w, "<>{}[]") || strings.HasPrefix(w, "$") || strings.HasPrefix(w, "%") {
		return true
	}
	for _, p := range []string{"xxxx", "****", "....", "example", "placeholder", "changeme", "your_", "your-", "redacted", "todo", "приклад", "例"} {
		if strings.Contains(l, p) {
			return true
		}
	}
	return false
}

// bits is the entropy of a word per character.
func bits(w string) float64 {
	counts, all := map[rune]int{}, 0
	for _, r := range w {
		counts[r]++
		all++
	}
	keys := make([]int, 0, len(counts))
	for _, c := range counts {
		keys = append(keys, c)
	}
	slices.Sort(keys) // one order of adding, one result
	sum := 0.0
	for _, c := range keys {
		p := float64(c) / float64(all)
		sum -= p * math.Log2(p)
	}
	return sum
}

func pinWord(s string) int {
	n := 0
	for n < len(s) && digitByte(s[n]) {
		n++
	}
	if n < 4 || n > 8 || n < len(s) && (s[n] == ':' || s[n] == '-' || s[n] == '/') {
		return 0
	}
	return n
}

// seedWords is the length of twelve or more short plain words in a row.
func seedWords(s string) int {
	count, end := 0, 0
	for i := 0; i < len(s); {
		n := i
		for n < len(s) && s[n] >= 'a' && s[n] <= 'z' {
			n++
		}
		if n-i < 3 || n-i > 8 {
			break
		}
		count, end = count+1, n
		for n < len(s) && (s[n] == ' ' || s[n] == ',' || s[n] == '\n') {
			n++
		}
		if n == end {
			break
		}
		i = n
	}
	if count < 12 {
		return 0
	}
	return end
}

// logins finds a password inside an address: scheme://name:password@host.
func logins(found []Match, s string) []Match {
	for from := 0; ; {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return found
		}
		from += i + 3
		end := strings.IndexAny(s[from:], " \t\n/?#\"'<>)")
		if end < 0 {
			end = len(s) - from
		}
		host := s[from : from+end]
		at := strings.LastIndexByte(host, '@')
		colon := strings.IndexByte(host, ':')
		if at > 0 && colon >= 0 && colon+1 < at && !placeholder(host[colon+1:at]) && !strings.EqualFold(host[colon+1:at], "password") {
			found = append(found, Match{"login-in-address", from + colon + 1, from + at})
		}
	}
}

// keyBlocks finds private keys in the form that files have, whole or cut off.
func keyBlocks(found []Match, s string) []Match {
	const begin, private, rule = "-----BEGIN ", "PRIVATE KEY", "private-key"
	for from := 0; ; {
		i := strings.Index(s[from:], begin)
		if i < 0 {
			return found
		}
		i += from
		from = i + len(begin)
		head := s[from:min(len(s), from+48)]
		if !strings.Contains(head, private) {
			continue
		}
		body := from + strings.Index(head, private) + len(private)
		end := strings.Index(s[body:], "-----END ")
		switch {
		case end >= 0:
			end += body + len("-----END ")
			if n := strings.Index(s[end:min(len(s), end+64)], "-----"); n >= 0 {
				end += n + len("-----")
			}
		default:
			end = len(s)
		}
		if end-i >= 64 {
			found = append(found, Match{rule, i, end})
		}
		from = end
	}
}

// Merged is spans in order, none touching another: what Redacted replaces, of the
// spans of all secrets.
func Merged(spans []Span) []Span { return merged(slices.Clone(spans)) }

// merged are spans in order, none touching another.
func merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// redact is the text with every span replaced.
func redact(s string, spans []Span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	last := 0
	for _, p := range spans {
		b.WriteString(s[last:p.Start])
		b.WriteString(Redaction)
		last = p.End
	}
	b.WriteString(s[last:])
	return b.String()
}

// masked is the text with every byte that came from one of the spans as a star:
// its offsets stay, its secrets do not.
func masked(t Text, spans []Span) Text {
	if len(spans) == 0 {
		return t
	}
	b := []byte(t.form)
	for i := range b {
		f := t.at(i)
		k, _ := slices.BinarySearchFunc(spans, int(f.start), func(s Span, at int) int { return s.End - 1 - at })
		if k < len(spans) && spans[k].Start < int(f.end) && int(f.start) < spans[k].End {
			b[i] = '*'
		}
	}
	return Text{form: string(b), from: t.from, size: t.size}
}
