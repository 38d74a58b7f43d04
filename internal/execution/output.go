package execution

import (
	"bufio"
	"io"
	"os"
	"strings"
	"sync"

	"plimsoll.dev/internal/gate/redact"
)

// longestLine is how much of one line is masked at a time. What looks for a
// secret needs the whole of it, and a progress bar is one line for ever.
const longestLine = 64 << 10

// capture takes what a command prints, line by line with secrets masked: to the
// log, and to whoever watches, who may be the log of a CI system that many read.
// Over its bound it keeps nothing more and says so once.
type capture struct {
	watch  io.Writer
	mask   *strings.Replacer
	over   chan struct{} // closed when more came than room
	closed sync.Once

	log  *bufio.Writer
	file *os.File
	line []byte
	key  privateKey
	room int64
	err  error
}

// A private key in the form everybody prints it in is a secret on lines of
// their own that say nothing of it.
const (
	keyBegin = "-----BEGIN "
	keyEnd   = "PRIVATE KEY-----"
)

// privateKey says whether the line before was of a private key.
type privateKey bool

// mask masks the lines of a private key. Whatever looks unlike one ends it, so
// that a log that only speaks of keys stays readable.
func (k *privateKey) mask(line string) string {
	plain := strings.TrimSpace(line)
	if begins := strings.Index(plain, keyBegin); begins >= 0 && strings.HasSuffix(plain, keyEnd) {
		*k = true
		return line
	}
	if *k = *k && privateKey(plain != "" && !strings.ContainsFunc(plain, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '/' && r != '='
	})); bool(*k) {
		return "<redacted>"
	}
	return line
}

func newCapture(name string, watch io.Writer, room int64, mask *strings.Replacer) (*capture, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &capture{watch: watch, mask: mask, over: make(chan struct{}), log: bufio.NewWriter(file), file: file, room: room}, nil
}

// Write never fails: a command must not die because nobody can watch it. A log
// that cannot be written is found at the end. A line is shown when it is whole,
// since half a secret is none that could be found.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if int64(n) > c.room {
		p = p[:c.room]
		c.closed.Do(func() { close(c.over) })
	}
	c.room -= int64(len(p))
	for _, b := range p {
		if c.line = append(c.line, b); b == '\n' || len(c.line) >= longestLine {
			c.flush()
		}
	}
	return n, nil
}

func (c *capture) flush() {
	text := c.mask.Replace(strings.ToValidUTF8(string(c.line), "\uFFFD"))
	end := ""
	if trimmed, ok := strings.CutSuffix(text, "\n"); ok {
		text, end = trimmed, "\n"
	}
	text = c.key.mask(redact.Text(text)) + end
	c.line = c.line[:0]
	if _, err := io.WriteString(c.watch, text); err != nil {
		c.watch = io.Discard
	}
	if _, err := c.log.WriteString(text); err != nil && c.err == nil {
		c.err = err
	}
	// Each line reaches the disk by itself, for whoever follows the log and for
	// the account of a runner that dies.
	if err := c.log.Flush(); err != nil && c.err == nil {
		c.err = err
	}
}

// close ends the log.
func (c *capture) close() error {
	if len(c.line) > 0 {
		c.flush()
	}
	if err := c.file.Close(); err != nil && c.err == nil {
		c.err = err
	}
	return c.err
}
