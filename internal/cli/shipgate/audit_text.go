package shipgate

import (
	"strings"

	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/hostgrant"
)

// grantsText is the inventory for a person: the riskiest first, by host.
func grantsText(v *hostgrant.Inventory, saved, colour bool) []byte {
	t := &ink.Text{Colour: colour}
	t.Put(ink.Bold, counted(len(v.Grants), "grant"))
	t.Writef(" in %s (%s)\n", counted(len(v.Artifacts), "file"), strings.ReplaceAll(string(v.Scope), "_", " "))
	left := manyRows
	for _, risk := range []hostgrant.Risk{hostgrant.Critical, hostgrant.High, hostgrant.UnknownRisk, hostgrant.Medium, hostgrant.Low, hostgrant.NoRisk} {
		for i := range v.Grants {
			if g := &v.Grants[i]; g.Risk == risk {
				if left--; left < 0 {
					continue
				}
				t.Write("  ")
				t.Padded(ofRisk(risk), string(risk), 10)
				t.Padded(ink.Plain, string(g.Access), 10)
				t.Padded(ink.Plain, string(g.Host), 13)
				t.Writef("%s  %s\n", ink.Printable(g.Source), ink.Printable(g.Summary()))
			}
		}
	}
	moreText(t, -left)
	issuesText(t, v.Issues)
	if v.Complete() {
		t.Write("complete for its scope")
	} else {
		t.Put(ink.Yellow, "incomplete")
	}
	t.Writef("; not to be known from files: %s\n", strings.ReplaceAll(strings.Join(v.Excluded, ", "), "_", " "))
	if saved {
		t.Writef("saved to %s\n", hostgrant.BaselinePath)
	}
	return t.Bytes()
}

func ofRisk(r hostgrant.Risk) ink.Paint {
	switch r {
	case hostgrant.Critical, hostgrant.High:
		return ink.Red
	case hostgrant.Medium, hostgrant.UnknownRisk:
		return ink.Yellow
	case hostgrant.Low, hostgrant.NoRisk:
	}
	return ink.Plain
}

func issuesText(t *ink.Text, issues []hostgrant.Issue) {
	for i := range issues[:min(len(issues), manyRows)] {
		paint, word := ink.Dim, "note"
		if issues[i].Blocking {
			paint, word = ink.Yellow, "not known"
		}
		t.Put(paint, word)
		t.Writef(": %s  %s\n", ink.Printable(issues[i].Source), ink.Printable(issues[i].Message))
	}
	moreText(t, len(issues)-manyRows)
}

// manyRows is how many rows of one sort a person is shown.
const manyRows = 60

// moreText says how many rows are not shown, where there are any.
func moreText(t *ink.Text, left int) {
	if left > 0 {
		t.Writef("  and %d more; --json has them all\n", left)
	}
}

// driftText is the drift for a person.
func driftText(d *hostgrant.Drift, colour bool) []byte {
	t := &ink.Text{Colour: colour}
	switch {
	case d.HasDrift == nil:
		t.Put(ink.Yellow, "not to be compared")
		t.Writef(" with %s: %s\n", ink.Printable(d.BaselineFile), strings.ReplaceAll(strings.Join(d.Reasons, ", "), "_", " "))
	case *d.HasDrift:
		t.Put(ink.Yellow, "drift")
		t.Writef(" since %s: %s, %s\n", ink.Printable(d.BaselineFile), counted(len(d.Changes), "grant"), counted(len(d.ArtifactChanges), "file"))
	default:
		t.Put(ink.Green, "no drift")
		t.Writef(" since %s\n", ink.Printable(d.BaselineFile))
	}
	for _, s := range d.ExpansionSignals[:min(len(d.ExpansionSignals), manyRows)] {
		t.Write("  ")
		t.Put(ink.Red, "expands")
		t.Write("  " + ink.Printable(s) + "\n")
	}
	moreText(t, len(d.ExpansionSignals)-manyRows)
	for i := range d.Changes[:min(len(d.Changes), manyRows)] {
		c := &d.Changes[i]
		word, g := "changed", c.Current
		switch {
		case c.Baseline == nil:
			word = "added"
		case c.Current == nil:
			word, g = "removed", c.Baseline
		}
		t.Write("  ")
		t.Padded(ink.Plain, word, 9)
		t.Writef("%s  %s  %s\n", g.Host, ink.Printable(g.Source), ink.Printable(g.Summary()))
	}
	moreText(t, len(d.Changes)-manyRows)
	for i := range d.ArtifactChanges[:min(len(d.ArtifactChanges), manyRows)] {
		c := &d.ArtifactChanges[i]
		word, a := "changed", c.Current
		switch {
		case c.Baseline == nil:
			word = "added"
		case c.Current == nil:
			word, a = "removed", c.Baseline
		}
		t.Write("  ")
		t.Padded(ink.Plain, word, 9)
		t.Writef("file %s (%s)\n", ink.Printable(a.Path), a.Host)
	}
	moreText(t, len(d.ArtifactChanges)-manyRows)
	issuesText(t, d.Issues)
	if d.NextAction != nil {
		t.Write("next: " + *d.NextAction + "\n")
	}
	return t.Bytes()
}
