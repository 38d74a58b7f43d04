// Package ink writes results for people: colour where it is wanted, and nothing
// from a change that could move a cursor or hide a name.
package ink

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"plimsoll.dev/internal/gate/control"
)

// Paint is a terminal's colour; Plain leaves text as it is.
type Paint string

// The paints.
const (
	Red    Paint = "\x1b[31m"
	Green  Paint = "\x1b[32m"
	Yellow Paint = "\x1b[33m"
	Cyan   Paint = "\x1b[36m"
	Bold   Paint = "\x1b[1m"
	Dim    Paint = "\x1b[2m"
	Plain  Paint = ""
)

// Text is one result in the making. Names and messages come from the change and
// may hold anything: what is not ours goes through Printable.
type Text struct {
	Colour bool

	b strings.Builder
}

// Bytes is what was written.
func (t *Text) Bytes() []byte { return []byte(t.b.String()) }

// Put writes s in a colour.
func (t *Text) Put(p Paint, s string) {
	if !t.Colour || p == Plain {
		t.b.WriteString(s)
		return
	}
	t.b.WriteString(string(p) + s + "\x1b[0m")
}

// Write writes s as it is.
func (t *Text) Write(s string) { t.b.WriteString(s) }

// Writef formats.
func (t *Text) Writef(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

// Padded writes s and blanks up to the width, blanks outside the colour.
func (t *Text) Padded(p Paint, s string, width int) {
	t.Put(p, s)
	t.b.WriteString(strings.Repeat(" ", max(0, width-len([]rune(s)))))
}

// OfState is the colour of a control state.
func OfState(s control.State) Paint {
	switch s {
	case control.Complete:
		return Green
	case control.AgentActionRequired:
		return Cyan
	case control.ReviewPublishable:
		return Yellow
	case control.HumanReviewRequired:
		return Red
	}
	return Plain
}

// Next writes what the caller may do next; nothing where nothing is left.
func (t *Text) Next(c *control.Control) {
	a := c.NextAction()
	if a == nil {
		return
	}
	_, _, reviewers := c.HumanReview()
	t.b.WriteString("\n")
	t.line("next", string(a.Kind)+": "+Printable(a.Why))
	if a.Expects != "" {
		t.line("expects", Printable(a.Expects))
	}
	for _, command := range c.AllowedNextCommands() {
		t.line("command", Printable(command))
	}
	if len(reviewers) > 0 {
		t.line("reviewers", Printable(strings.Join(reviewers, ", ")))
	}
}

func (t *Text) line(name, value string) {
	t.Padded(Dim, name, len("reviewers")+2)
	t.b.WriteString(value + "\n")
}

// Printable shows what could move a cursor or hide a name as an escape.
func Printable(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if hidden(c) {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func hidden(c rune) bool { return c != ' ' && !unicode.IsPrint(c) }
