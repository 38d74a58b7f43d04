package shipgate

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/adopt"
	"plimsoll.dev/internal/adopt/starter"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/gate/redact"
)

// tell puts the plan into the result.
func (r *initResult) tell(f *initFlags, plan *adopt.Plan) {
	r.Complete = true
	changed := false
	for i := range plan.Edits {
		e := &plan.Edits[i]
		row := initFile{Target: e.Target, Path: e.Path, Outcome: e.Outcome, Diff: e.Diff()}
		if e.Existed {
			row.Diff = redact.Text(row.Diff)
		}
		if e.Note != "" {
			row.Note = &e.Note
		}
		r.Files = append(r.Files, row)
		r.Complete = r.Complete && !e.Outcome.LeftAlone()
		changed = changed || e.Changes()
	}
	r.Written = f.write && changed
	r.NextActions = r.next(f, changed)
	r.NextAction = r.NextActions[0].String()
}

const whyReviewed = "What init writes, and takes back, belongs to the boundary: a person reviews it. check says the same of this change."

// next is the ways on, best first.
func (r *initResult) next(f *initFlags, changed bool) []nextAction {
	at := " --workspace " + control.Quote(f.workspace)
	var rows []nextAction
	command := func(line, why string) { rows = append(rows, nextAction{Kind: "command", Command: &line, Why: why}) }
	if changed && !f.write {
		command(f.line()+" --write", "writes what is shown here")
		return append(append(rows, r.owed...), nextAction{Kind: "review", Why: whyReviewed})
	}
	for i := range r.Files {
		row := &r.Files[i]
		if row.Target == adopt.Manifest && row.Note != nil && *row.Note == starter.ErrNothing.Error() {
			rows = append(rows, nextAction{Kind: "review", Path: &row.Path, Why: "No manifest was written: " + *row.Note +
				". Without an agent none is needed; with one, name a file that lists its tools."})
		} else if row.Outcome.LeftAlone() {
			rows = append(rows, nextAction{Kind: "review", Path: &row.Path, Why: string(row.Target) + " was left as it is: " + *row.Note})
		}
	}
	rows = append(rows, r.owed...)
	command(program+" check"+at+" --format "+formatResult, "says what the change means and who decides")
	if r.declared() {
		verify := program + " verify" + at
		if f.json {
			verify += " --json"
		}
		command(verify, "gives the release decision, and asks in "+adopt.ReportsFolder+" for what only a person knows")
	}
	rows = append(rows, nextAction{Kind: "review", Why: whyReviewed})
	return rows
}

// declared says whether there is a manifest to verify with.
func (r *initResult) declared() bool {
	return r.Mode == "init" && !slices.ContainsFunc(r.Files, func(f initFile) bool { return f.Target == adopt.Manifest && f.Outcome == adopt.Skipped })
}

// line is the command line that was given, without --write.
func (f *initFlags) line() string {
	words := []string{program, "init", "--workspace", control.Quote(f.workspace)}
	flag := func(given bool, word string) {
		if given {
			words = append(words, word)
		}
	}
	flag(f.remove, "--remove")
	flag(f.minimal, "--minimal")
	flag(f.instructionsGiven, "--agent-instructions="+control.Quote(f.instructions))
	flag(f.ci, "--ci")
	flag(f.preCommit, "--pre-commit")
	flag(len(f.hooks) > 0, "--hooks="+control.Quote(strings.Join(f.hooks, ",")))
	flag(f.json, "--json")
	return strings.Join(words, " ")
}

// text is the result for a person. Without --write the diffs follow.
func (r *initResult) text(f *initFlags, colour bool) []byte {
	t := &ink.Text{Colour: colour}
	shown := 0
	for i := range r.Files {
		row := &r.Files[i]
		if row.Outcome == adopt.Absent {
			continue
		}
		shown++
		paint := ink.Plain
		switch {
		case row.Outcome.LeftAlone():
			paint = ink.Yellow
		case row.Diff != "":
			paint = ink.Green
		}
		t.Padded(paint, string(row.Outcome), 14)
		t.Write(ink.Printable(row.Path))
		if row.Note != nil {
			t.Write("  " + ink.Printable(*row.Note))
		}
		t.Write("\n")
	}
	if shown == 0 {
		t.Write("nothing of init's is here\n")
	}
	if !f.write && slices.ContainsFunc(r.Files, func(row initFile) bool { return row.Diff != "" }) {
		t.Write("nothing was written\n")
		for i := range r.Files {
			for line := range strings.Lines(r.Files[i].Diff) {
				line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
				t.Write(ink.Printable(line) + "\n")
			}
		}
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		t.Put(ink.Yellow, "open: ")
		t.Writef("%s:%d  %s  %s\n", ink.Printable(q.Path), q.Line, ink.Printable(q.Key), ink.Printable(q.Why))
	}
	for i := range r.NextActions {
		n := &r.NextActions[i]
		t.Write("next: " + ink.Printable(n.String()) + "\n")
		if n.Command != nil && n.Why != "" {
			t.Write("      " + ink.Printable(n.Why) + "\n")
		}
	}
	return t.Bytes()
}
