package redact

import "strings"

// Text masks what looks like a secret in a sentence, a command line or a piece
// of configuration:
//
//   - http, https, ws and wss URLs, as URL does, and a password in any other;
//   - the value of a header: Authorization, Cookie, X-Api-Key and their kin;
//   - what follows Bearer;
//   - the value of an assignment or a long flag whose name IsSecretKey;
//   - a token of a well-known issuer, wherever it stands.
//
// Everything else stays byte for byte: identifiers, paths, dotted references
// and names of servers, even one that is called token-service.
//
// One reading can leave what only the next one sees: behind --password, the
// word --https://h is another flag until it is a masked URL. So a text is read
// until nothing changes, which the second or third reading finds.
func Text(s string) string { return settled(s, false) }

func settled(s string, source bool) string {
	for {
		masked := once(s, source)
		if masked == s {
			return s
		}
		s = masked
	}
}

func once(s string, source bool) string {
	m := masker{in: s, source: source}
	for m.at < len(s) {
		if !isWord(s[m.at]) {
			m.at++
			continue
		}
		start := m.at
		for m.at < len(s) && isWord(s[m.at]) {
			m.at++
		}
		m.word(start, m.at)
	}
	if m.copied == 0 {
		return s
	}
	return m.out.String() + s[m.copied:]
}

// A masker walks over a text, word by word. What it has not replaced is copied
// late, in one piece.
type masker struct {
	in     string
	at     int // read so far
	copied int // of in, what out stands for
	source bool
	out    strings.Builder
}

// replace puts text in the place of in[from:to] and goes on behind it.
func (m *masker) replace(from, to int, text string) {
	m.out.WriteString(m.in[m.copied:from])
	m.out.WriteString(text)
	m.copied, m.at = to, to
}

// hide masks in[from:to], unless there is nothing.
func (m *masker) hide(from, to int) {
	if from < to {
		m.replace(from, to, mask)
	}
}

// word looks at the word in[start:end] and at what follows it.
func (m *masker) word(start, end int) {
	word, rest := m.in[start:end], m.in[end:]
	if strings.HasPrefix(rest, "://") {
		m.url(start, end)
		return
	}
	var open byte // the quote that the word stands right behind and that is still open
	if start > 0 && isQuote(m.in[start-1]) {
		open = m.in[start-1]
	}
	// A quote right behind the word closes it: "name": value, "name" = value.
	after, closed := end, false
	if rest = strings.TrimPrefix(rest, `\`); open != 0 && strings.HasPrefix(rest, string(open)) {
		after, closed = len(m.in)-len(rest)+1, true
		open = 0
	}
	sign := m.blanks(after)
	switch {
	case m.byteAt(sign) == ':' && isSecretHeader(word):
		m.headerValue(sign+1, open)
	case (m.byteAt(sign) == '=' || m.byteAt(sign) == ':' && closed) && IsSecretKey(word):
		m.assigned(sign+1, open)
	case sign > end && strings.EqualFold(word, "bearer"):
		if to := m.bareEnd(sign); !isBearerNoun(m.in[sign:to]) {
			m.hide(sign, to)
		}
	case strings.HasPrefix(word, "--") && IsSecretKey(word):
		m.flagValue(end, after, closed)
	default:
		if at := token(word); at >= 0 {
			m.hide(start+at, end)
		}
	}
}

// url masks the URL whose scheme is in[start:end].
func (m *masker) url(start, end int) {
	scheme, from := m.in[start:end], end+len("://")
	if plain := scheme[strings.LastIndexAny(scheme, "+-.")+1:]; isWeb(plain) || hasSuffixFold(scheme, "http") || hasSuffixFold(scheme, "https") {
		if to := m.urlEnd(from); m.source && harmless(m.in[from:to]) {
			m.at = to
		} else if from < to {
			m.replace(start, to, webURL(scheme, m.in[from:to]))
		}
		return
	}
	// The path of another scheme is read on: it may hold an assignment.
	to := from
	for to < len(m.in) && m.in[to] > ' ' && strings.IndexByte("/?#\\\"'`", m.in[to]) < 0 {
		to++
	}
	user := strings.LastIndexByte(m.in[from:to], '@')
	if user >= 0 && strings.Contains(m.in[from:from+user], ":") {
		m.replace(from, from+user+1, "")
	}
}

// urlEnd is where the URL ends whose authority begins at from. A sentence's
// punctuation and a bracket that the URL did not open do not belong to it.
func (m *masker) urlEnd(from int) int {
	const brackets = "()[]{}<>"
	var count [len(brackets)]int
	to, path := from, false
	for ; to < len(m.in); to++ {
		c := m.in[to]
		if c <= ' ' || isQuote(c) || c == '<' && !path {
			break
		}
		path = path || strings.IndexByte(`/\?#`, c) >= 0
		if i := strings.IndexByte(brackets, c); i >= 0 {
			count[i]++
		}
	}
	for ; to > from; to-- {
		c := m.in[to-1]
		if strings.IndexByte(".,;:!?", c) >= 0 {
			continue
		}
		i := strings.IndexByte(brackets, c)
		if i < 0 || i%2 == 0 || count[i] <= count[i-1] {
			break
		}
		count[i]--
	}
	return to
}

// headerValue masks the value of a header. It goes on to the end of the line,
// or to the quote that the header stands in.
func (m *masker) headerValue(from int, open byte) {
	from, quote := m.quoted(m.blanks(from))
	if quote == 0 {
		quote = open
	}
	m.hide(from, m.untilQuote(from, quote))
}

// assigned masks the value of an assignment: up to its quote, up to the quote
// that all of it stands in, or one word.
func (m *masker) assigned(from int, open byte) {
	from, quote := m.quoted(m.blanks(from))
	if quote == 0 && open != 0 && m.byteAt(m.lineEnd(from, open)) == open {
		quote = open
	}
	if quote != 0 {
		m.hide(from, m.untilQuote(from, quote))
		return
	}
	m.hide(from, m.wordEnd(from))
}

// flagValue masks the word after a long flag, or the next item of a list of
// quoted words.
func (m *masker) flagValue(end, after int, closed bool) {
	from := m.blanks(after)
	if closed {
		if m.byteAt(from) != ',' {
			return
		}
		from = m.blanks(from + 1)
	} else if from == end {
		return
	}
	from, quote := m.quoted(from)
	switch {
	case m.byteAt(from) == '-': // another flag
	case quote != 0:
		m.hide(from, m.untilQuote(from, quote))
	default:
		m.hide(from, m.wordEnd(from))
	}
}

// quoted steps over an opening quote, which may be escaped.
func (m *masker) quoted(at int) (int, byte) {
	i := at
	if m.byteAt(i) == '\\' {
		i++
	}
	if c := m.byteAt(i); isQuote(c) {
		return i + 1, c
	}
	return at, 0
}

// untilQuote is where the value that begins at from ends: before the quote, or
// with the line. The blanks before it and an escape stay.
func (m *masker) untilQuote(from int, quote byte) int {
	value := m.in[from:m.lineEnd(from, quote)]
	return from + len(strings.TrimRight(value, " \t\\"))
}

// wordEnd is where the unquoted value that begins at from ends. Bearer x and
// its like count as one value.
func (m *masker) wordEnd(from int) int {
	end := m.bareEnd(from)
	switch strings.ToLower(m.in[from:end]) {
	case "bearer", "basic", "digest", "token":
		if next := m.blanks(end); next > end && m.bareEnd(next) > next {
			end = m.bareEnd(next)
		}
	}
	return end
}

func (m *masker) bareEnd(from int) int {
	end := from
	for end < len(m.in) && m.in[end] > ' ' && !isQuote(m.in[end]) && m.in[end] != '&' && m.in[end] != ';' {
		end++
	}
	return from + len(strings.TrimRight(m.in[from:end], `.,:!?)]}\`))
}

// lineEnd is where the line ends, or the quote stands if that is earlier. It
// looks no further than that, so that a long line of quotes is read once.
func (m *masker) lineEnd(from int, quote byte) int {
	for from < len(m.in) && m.in[from] != '\n' && m.in[from] != '\r' && (quote == 0 || m.in[from] != quote) {
		from++
	}
	return from
}

// blanks is the first place from at on that is no blank.
func (m *masker) blanks(at int) int {
	for m.byteAt(at) == ' ' || m.byteAt(at) == '\t' {
		at++
	}
	return at
}

// byteAt is the byte at a place, 0 behind the end.
func (m *masker) byteAt(at int) byte {
	if at < len(m.in) {
		return m.in[at]
	}
	return 0
}

func isWord(c byte) bool { return isName(c) || c == '+' || c >= 0x80 }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isBearerNoun says whether a word behind Bearer makes it prose: a rule may be
// about bearer tokens.
func isBearerNoun(word string) bool {
	switch strings.ToLower(word) {
	case "token", "tokens", "auth", "authentication", "authorization", "credential", "credentials", "header", "headers", "scheme":
		return true
	}
	return false
}

// isSecretHeader knows headers by name where any key would be too much: a
// sentence may well say "token: the third word".
func isSecretHeader(name string) bool {
	return hasSuffixFold(name, "authorization") || hasSuffixFold(name, "cookie") ||
		strings.EqualFold(name, "api-key") || strings.EqualFold(name, "private-token") ||
		len(name) > 2 && strings.EqualFold(name[:2], "x-") && IsSecretKey(name)
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}
