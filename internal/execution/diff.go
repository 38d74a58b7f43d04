package execution

import (
	"bytes"
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/pipeline/artifact"
)

// change makes the change_diff of a run out of the diff of git, while git writes
// it (docs/spec/contracts.md §7.1). It keeps what is to be delivered and the line
// it is at, whatever the size of the diff.
type change struct {
	known *strings.Replacer // what is secret by where it came from
	key   privateKey

	out   bytes.Buffer
	line  []byte
	size  int64            // of the line so far, which is longer than what is kept of it
	wide  bool             // the line is too long to be kept
	body  bool             // its header is over
	start int              // of its body in out
	full  bool             // its body is left out, or the rest of everything is
	end   bool             // not even headers fit any more
	kept  artifact.Omitted // of the body: what out has of it
	left  artifact.Omitted
}

func newChange(known *strings.Replacer) *change { return &change{known: known} }

// A line that is longer than this cannot be kept, since all of it is one secret
// or none.
const longestChange = artifact.DiffBound / 4

// spare is room for the statements of what is left out.
const spare = 64

// Write implements io.Writer and never fails.
func (c *change) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		take := end + 1
		if end < 0 {
			take = len(p)
		}
		c.size += int64(take)
		if c.wide = c.wide || len(c.line)+take > longestChange; !c.wide {
			c.line = append(c.line, p[:take]...)
		}
		if p = p[take:]; end >= 0 {
			c.flush()
		}
	}
	return n, nil
}

// flush takes the line that has ended.
func (c *change) flush() {
	text, size, wide := string(c.line), c.size, c.wide
	c.line, c.size, c.wide = c.line[:0], 0, false
	head := strings.HasPrefix(text, "diff --git ")
	switch {
	case c.end:
		c.leave(size)
		return
	case head:
		c.say()
		c.body, c.full, c.key = false, false, false
	case !c.body && (strings.HasPrefix(text, "@@ ") || wide):
		c.body, c.start = true, c.out.Len()
	case !c.body && strings.HasPrefix(text, "GIT binary patch"):
		c.body, c.start, c.full = true, c.out.Len(), true
	}
	if c.full {
		c.leave(size)
		return
	}
	masked := text
	if c.body && !wide {
		masked = c.mask(text)
	}
	if !wide && c.out.Len()+len(masked)+2*spare <= artifact.DiffBound {
		c.out.WriteString(masked)
		if c.body {
			c.kept.Lines, c.kept.Bytes = c.kept.Lines+1, c.kept.Bytes+size
		}
		return
	}
	if c.body { // none of it, rather than a half that looks like all
		c.out.Truncate(c.start)
		c.left, c.kept, c.full = c.kept, artifact.Omitted{}, true
	} else {
		c.say()
		c.end = true
	}
	c.leave(size)
}

func (c *change) leave(size int64) { c.left.Lines, c.left.Bytes = c.left.Lines+1, c.left.Bytes+size }

// say says what was left out of the file that is over.
func (c *change) say() {
	if c.left.Lines > 0 {
		c.out.WriteString(c.left.String() + "\n")
	}
	c.left, c.kept = artifact.Omitted{}, artifact.Omitted{}
}

// mask is a line of a body with its secrets masked, and said to be so.
func (c *change) mask(line string) string {
	text := strings.TrimSuffix(line, "\n")
	sign, rest := "", text
	switch {
	case strings.HasPrefix(text, "@@ "):
		c.key = false
		if end := strings.Index(text[2:], "@@"); end >= 0 {
			sign, rest = text[:end+4], text[end+4:]
		}
	case text != "":
		sign, rest = text[:1], text[1:]
	}
	masked := c.key.mask(redact.Source(c.known.Replace(rest)))
	if masked == rest {
		return line
	}
	return artifact.DiffWithheld + "\n" + sign + masked + line[len(text):]
}

// text is the artifact, once git has written everything.
func (c *change) text() []byte {
	if c.size > 0 {
		c.flush()
	}
	c.say()
	return c.out.Bytes()
}
