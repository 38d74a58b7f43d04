package verify

import (
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
)

// How much of a verification people see; the artifacts have it all.
const (
	maxTextChanges  = 12
	maxTextFindings = 12
	maxTextGaps     = 8
)

// Text prints the verification for a person: the verdict, what agents can do now
// that they could not before, what is wrong and where, what is missing and how
// to say it, and what comes next.
func (r *Run) Text(colour bool) []byte {
	t := &ink.Text{Colour: colour}
	t.Put(ink.OfState(r.Control.State()), spaced(string(r.Verdict)))
	detail := "  " + spaced(string(r.Execution))
	if r.Decision != nil {
		detail = "  decision " + spaced(string(r.Decision.Decision))
		if r.Mode == "advisory" && r.Decision.Decision != decision.Passed && r.ExitCode == 0 {
			detail += " (advisory, so the exit code is 0)"
		}
	}
	t.Put(ink.Dim, detail+", "+spaced(string(r.Control.State())))
	t.Write("\n")
	t.Put(ink.Bold, ink.Printable(r.Headline))
	t.Write("\n")
	if r.Decision != nil {
		r.writeChanges(t)
		writeFindings(t, r.Gating())
		r.writeGaps(t, r.Decision.Coverage.Gaps)
	}
	t.Next(&r.Control)
	return t.Bytes()
}

func spaced(s string) string { return strings.ReplaceAll(s, "_", " ") }

func (r *Run) writeChanges(t *ink.Text) {
	rows := r.Actions.Rows
	if len(rows) > 0 {
		t.Write("\nwhat agents can do now\n")
	}
	for i := range rows[:min(len(rows), maxTextChanges)] {
		row := &rows[i]
		t.Write("  ")
		t.Padded(paintOf(check.Severity(row.Severity)), spaced(strings.ToLower(string(row.Type))), 24)
		t.Put(ink.Bold, ink.Printable(row.ToolName))
		t.Write(at(row.SourcePath, row.SourceLine) + "\n")
		t.Put(ink.Dim, "    "+ink.Printable(row.Reason))
		t.Write("\n")
	}
	if more := len(rows) - maxTextChanges; more > 0 {
		t.Writef("  and %d more\n", more)
	}
	for _, note := range []string{r.unbound(), r.outside(), r.empty()} {
		if note != "" {
			t.Write("\n" + ink.Printable(note) + "\n")
		}
	}
}

func at(path string, line int) string {
	if path == "" {
		return ""
	}
	s := "  " + ink.Printable(path)
	if line > 0 {
		s += ":" + strconv.Itoa(line)
	}
	return s
}

func paintOf(s check.Severity) ink.Paint {
	switch s {
	case check.Critical:
		return ink.Red
	case check.High, check.Medium:
		return ink.Yellow
	case check.Low, check.Info:
	}
	return ink.Plain
}

func writeFindings(t *ink.Text, found []check.Finding) {
	if len(found) == 0 {
		return
	}
	t.Write("\nwhat a release waits for\n")
	for i := range found[:min(len(found), maxTextFindings)] {
		f := &found[i]
		t.Write("  ")
		t.Padded(paintOf(f.Severity), string(f.Severity), 10)
		t.Put(ink.Bold, ink.Printable(f.Title))
		if f.ToolName != "" && !strings.Contains(f.Title, f.ToolName) {
			t.Write(" (" + ink.Printable(f.ToolName) + ")")
		}
		t.Write(at(f.Source.Path, f.Source.StartLine) + "\n")
		t.Put(ink.Dim, "            "+f.CheckID+": "+ink.Printable(f.Recommendation))
		t.Write("\n")
	}
	if more := len(found) - maxTextFindings; more > 0 {
		t.Writef("  and %d more\n", more)
	}
}

// writeGaps shows the gaps of one kind together: what closes one closes all.
func (r *Run) writeGaps(t *ink.Text, gaps []decision.Gap) {
	if len(gaps) == 0 {
		return
	}
	t.Write("\nwhat is not known yet\n")
	var kinds []string
	byKind := map[string][]*decision.Gap{}
	for i := range gaps {
		g := &gaps[i]
		if byKind[g.Kind] == nil {
			kinds = append(kinds, g.Kind)
		}
		byKind[g.Kind] = append(byKind[g.Kind], g)
	}
	for _, kind := range kinds[:min(len(kinds), maxTextGaps)] {
		same := byKind[kind]
		t.Write("  ")
		t.Put(ink.Bold, spaced(kind))
		t.Write("  " + subjects(same) + "\n")
		t.Put(ink.Dim, "    "+ink.Printable(same[0].Why))
		t.Write("\n    to close it: " + ink.Printable(same[0].Next.Expects) + "\n")
	}
	if more := len(kinds) - maxTextGaps; more > 0 {
		t.Writef("  and %d kinds more\n", more)
	}
	if r.Input.Reports != "" {
		t.Write("  " + ink.Printable(r.Input.Reports) + "/suggested-declarations.yaml asks for each answer in the form the manifest takes\n")
	}
}

const maxTextSubjects = 6

func subjects(gaps []*decision.Gap) string {
	var names []string
	for _, g := range gaps[:min(len(gaps), maxTextSubjects)] {
		names = append(names, ink.Printable(g.Subject))
	}
	s := strings.Join(names, ", ")
	if more := len(gaps) - maxTextSubjects; more > 0 {
		s += " and " + strconv.Itoa(more) + " more"
	}
	return s
}
