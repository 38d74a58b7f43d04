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

// capture takes what a command prints: to whoever watches as it is, to the log
// line by line with secrets masked. Over its bound it keeps nothing more and
// says so once.
type capture struct {
	watch  io.Writer
	mask   *strings.Replacer
	over   chan struct{} // closed when more came than room
	closed sync.Once

	log  *bufio.Writer
	file *os.File
	line []byte
	room int64
	err  error
}

func newCapture(name string, watch io.Writer, room int64, mask *strings.Replacer) (*capture, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &capture{watch: watch, mask: mask, over: make(chan struct{}), log: bufio.NewWriter(file), file: file, room: room}, nil
}

// Write never fails: a command must not die because nobody can watch it. A log
// that cannot be written is found at the end.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if int64(n) > c.room {
		p = p[:c.room]
		c.closed.Do(func() { close(c.over) })
	}
	c.room -= int64(len(p))
	if _, err := c.watch.Write(p); err != nil {
		c.watch = io.Discard
	}
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
	if _, err := c.log.WriteString(redact.Text(text) + end); err != nil && c.err == nil {
		c.err = err
	}
	c.line = c.line[:0]
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
