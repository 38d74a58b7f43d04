package gate

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/gate/rule"
)

// How much of a result people see; the JSON has it all.
const (
	maxTextRows    = 20
	maxTextRemarks = 5
)

// Text prints the result for a person: where it stands, each row with its place,
// and what comes next. It says the same as JSON, in fewer words.
func (r *Result) Text(colour bool) []byte {
	t := &ink.Text{Colour: colour}
	t.Put(ink.OfState(r.Control.State()), strings.ReplaceAll(string(r.Control.State()), "_", " "))
	t.Put(ink.Dim, fmt.Sprintf("  decision %s, risk %s", strings.ReplaceAll(string(r.Decision), "_", " "), r.RiskLevel))
	t.Write("\n")
	t.Put(ink.Bold, ink.Printable(r.Summary))
	t.Write("\n")
	writeRows(t, r.Violations)
	writeRemarks(t, r.Diagnostics)
	t.Next(&r.Control)
	return t.Bytes()
}

func actionPaint(a rule.Action) ink.Paint {
	switch a {
	case rule.Block:
		return ink.Red
	case rule.RequireReview:
		return ink.Yellow
	case rule.Allow, rule.Warn:
	}
	return ink.Plain
}

func writeRows(t *ink.Text, rows []Violation) {
	if len(rows) == 0 {
		return
	}
	shown := rows[:min(len(rows), maxTextRows)]
	actions, risks := 0, 0
	for i := range shown {
		actions = max(actions, len(actionWord(shown[i].Action)))
		risks = max(risks, len(shown[i].RiskLevel))
	}
	t.Write("\n")
	for i := range shown {
		v := &shown[i]
		t.Write("  ")
		t.Padded(actionPaint(v.Action), actionWord(v.Action), actions+2)
		t.Padded(ink.Plain, string(v.RiskLevel), risks+2)
		t.Put(ink.Bold, place(v))
		t.Write("\n" + strings.Repeat(" ", actions+risks+6) + ink.Printable(v.Title) + detail(v) + "\n")
		t.Write(strings.Repeat(" ", actions+risks+6))
		t.Put(ink.Dim, v.ID+": "+ink.Printable(v.Recommendation))
		t.Write("\n")
	}
	if more := len(rows) - len(shown); more > 0 {
		t.Writef("  and %d more\n", more)
	}
}

func actionWord(a rule.Action) string {
	if a == rule.RequireReview {
		return "review"
	}
	return string(a)
}

func place(v *Violation) string {
	p := ink.Printable(v.Path)
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
		return " (" + ink.Printable(s) + ")"
	}
	return ""
}

// remarks are the diagnostics that say why something was not judged.
func writeRemarks(t *ink.Text, list []Diagnostic) {
	var shown []Diagnostic
	for _, d := range list {
		if d.Level != levelInfo {
			shown = append(shown, d)
		}
	}
	if len(shown) == 0 {
		return
	}
	t.Write("\n")
	for _, d := range shown[:min(len(shown), maxTextRemarks)] {
		t.Write("  ")
		t.Padded(ink.Dim, d.Level, len(levelWarning)+2)
		if d.Path != "" && !strings.HasPrefix(d.Message, d.Path) {
			t.Write(ink.Printable(d.Path) + ": ")
		}
		t.Write(ink.Printable(d.Message) + "\n")
	}
	if more := len(shown) - maxTextRemarks; more > 0 {
		t.Writef("  and %d more\n", more)
	}
}
