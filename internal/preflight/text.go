package preflight

import "plimsoll.dev/internal/gate/ink"

// maxShown is how many signals and notes a person is shown.
const maxShown = 20

// Text is the result for people.
func (r *Result) Text(colour bool) []byte {
	t := &ink.Text{Colour: colour}
	t.Put(ink.OfState(r.Control.State()), string(r.Control.State()))
	t.Write("  " + ink.Printable(r.Control.Reason()) + "\n")
	shown := 0
	for i := range r.Signals {
		s := &r.Signals[i]
		if s.Kind == VerifyRequired {
			continue // the last line says it
		}
		if shown++; shown > maxShown {
			continue
		}
		paint := ink.Plain
		switch s.Severity {
		case Critical:
			paint = ink.Red
		case High:
			paint = ink.Yellow
		case Medium, Low, Info:
		}
		t.Write("  ")
		t.Padded(paint, string(s.Severity), 9)
		t.Write(ink.Printable(s.Reason))
		if s.Kind == MissingEvidence || s.Kind == LeastPrivilege {
			t.Write("  (" + ink.Printable(s.Subject) + ")")
		}
		t.Write("\n           " + ink.Printable(s.Recommendation) + "\n")
	}
	if shown > maxShown {
		t.Writef("  and %d more\n", shown-maxShown)
	}
	for _, n := range r.Notes[:min(len(r.Notes), maxShown)] {
		t.Write("note: " + ink.Printable(n) + "\n")
	}
	t.Next(&r.Control)
	return t.Bytes()
}
