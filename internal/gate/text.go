package gate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
)

// How much of a result people see; the JSON has it all.
const (
	maxTextRows    = 20
	maxTextRemarks = 5
)

// paint is a terminal's colour; the empty paint leaves text as it is.
type paint string

const (
	red    paint = "\x1b[31m"
	green  paint = "\x1b[32m"
	yellow paint = "\x1b[33m"
	cyan   paint = "\x1b[36m"
	bold   paint = "\x1b[1m"
	dim    paint = "\x1b[2m"
	plain  paint = ""
)

// text writes a result for people. Names and messages come from the change and
// may hold anything, so everything printed goes through printable.
type text struct {
	b      strings.Builder
	colour bool
}

func (t *text) put(p paint, s string) {
	if !t.colour || p == plain {
		t.b.WriteString(s)
		return
	}
	t.b.WriteString(string(p) + s + "\x1b[0m")
}

// padded writes s and blanks up to the width, blanks outside the colour.
func (t *text) padded(p paint, s string, width int) {
	t.put(p, s)
	t.b.WriteString(strings.Repeat(" ", max(0, width-len([]rune(s)))))
}

// Text prints the result for a person: where it stands, each row with its place,
// and what comes next. It says the same as JSON, in fewer words.
func (r *Result) Text(colour bool) []byte {
	t := &text{colour: colour}
	t.put(statePaint(r.Control.State()), strings.ReplaceAll(string(r.Control.State()), "_", " "))
	t.put(dim, fmt.Sprintf("  decision %s, risk %s", strings.ReplaceAll(string(r.Decision), "_", " "), r.RiskLevel))
	t.b.WriteString("\n")
	t.put(bold, printable(r.Summary))
	t.b.WriteString("\n")
	t.rows(r.Violations)
	t.remarks(r.Diagnostics)
	t.next(&r.Control)
	return []byte(t.b.String())
}

func statePaint(s control.State) paint {
	switch s {
	case control.Complete:
		return green
	case control.AgentActionRequired:
		return cyan
	case control.ReviewPublishable:
		return yellow
	case control.HumanReviewRequired:
		return red
	}
	return plain
}

func actionPaint(a rule.Action) paint {
	switch a {
	case rule.Block:
		return red
	case rule.RequireReview:
		return yellow
	case rule.Allow, rule.Warn:
	}
	return plain
}

func (t *text) rows(rows []Violation) {
	if len(rows) == 0 {
		return
	}
	shown := rows[:min(len(rows), maxTextRows)]
	actions, risks := 0, 0
	for i := range shown {
		actions = max(actions, len(actionWord(shown[i].Action)))
		risks = max(risks, len(shown[i].RiskLevel))
	}
	t.b.WriteString("\n")
	for i := range shown {
		v := &shown[i]
		t.b.WriteString("  ")
		t.padded(actionPaint(v.Action), actionWord(v.Action), actions+2)
		t.padded(plain, string(v.RiskLevel), risks+2)
		t.put(bold, place(v))
		t.b.WriteString("\n" + strings.Repeat(" ", actions+risks+6) + printable(v.Title) + detail(v) + "\n")
		t.b.WriteString(strings.Repeat(" ", actions+risks+6))
		t.put(dim, v.ID+": "+printable(v.Recommendation))
		t.b.WriteString("\n")
	}
	if more := len(rows) - len(shown); more > 0 {
		fmt.Fprintf(&t.b, "  and %d more\n", more)
	}
}

func actionWord(a rule.Action) string {
	if a == rule.RequireReview {
		return "review"
	}
	return string(a)
}

func place(v *Violation) string {
	p := printable(v.Path)
	switch {
	case v.Path == "":
		return "the change"
	case v.Line > 0:
		return p + ":" + strconv.Itoa(v.Line)
	}
	return p
}

// maxDetail is how much of a piece of evidence a person sees.
const maxDetail = 60

// detail is what the row is about, in parentheses: the first piece of text in
// its evidence, which is masked already.
func detail(v *Violation) string {
	for _, m := range v.Evidence {
		s, ok := m.Value.(string)
		if !ok || m.Key == "kind" || s == "" {
			continue
		}
		if r := []rune(s); len(r) > maxDetail {
			s = string(r[:maxDetail]) + "…"
		}
		return " (" + printable(s) + ")"
	}
	return ""
}

// remarks are the diagnostics that say why something was not judged.
func (t *text) remarks(list []Diagnostic) {
	var shown []Diagnostic
	for _, d := range list {
		if d.Level != levelInfo {
			shown = append(shown, d)
		}
	}
	if len(shown) == 0 {
		return
	}
	t.b.WriteString("\n")
	for _, d := range shown[:min(len(shown), maxTextRemarks)] {
		t.b.WriteString("  ")
		t.padded(dim, d.Level, len(levelWarning)+2)
		if d.Path != "" && !strings.HasPrefix(d.Message, d.Path) {
			t.b.WriteString(printable(d.Path) + ": ")
		}
		t.b.WriteString(printable(d.Message) + "\n")
	}
	if more := len(shown) - maxTextRemarks; more > 0 {
		fmt.Fprintf(&t.b, "  and %d more\n", more)
	}
}

func (t *text) next(c *control.Control) {
	a := c.NextAction()
	if a == nil {
		return
	}
	_, _, reviewers := c.HumanReview()
	t.b.WriteString("\n")
	t.line("next", string(a.Kind)+": "+printable(a.Why))
	if a.Expects != "" {
		t.line("expects", printable(a.Expects))
	}
	for _, command := range c.AllowedNextCommands() {
		t.line("command", printable(command))
	}
	if len(reviewers) > 0 {
		t.line("reviewers", strings.Join(reviewers, ", "))
	}
}

func (t *text) line(name, value string) {
	t.padded(dim, name, len("reviewers")+2)
	t.b.WriteString(value + "\n")
}

// printable shows what could move a cursor or hide a name as an escape.
func printable(s string) string {
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
