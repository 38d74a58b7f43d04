package surface_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/surface"
)

func TestWhatALineSaysAboutTheGate(t *testing.T) {
	t.Parallel()
	type line = surface.GateLine
	mention := line{Mentions: true}
	demand := line{Mentions: true, Requires: true}
	soft := line{Mentions: true, Softens: true}
	both := line{Mentions: true, Requires: true, Softens: true}
	for _, c := range []struct {
		text string
		want line
	}{
		{"Run shipgate check.", mention},
		{"SHIPGATE VERIFY", mention},
		{"see agents_shipgate", mention},
		{"agents-shipgate", mention},
		{"run `shipgate scan`", mention},
		{"shipgate", line{}},
		{"shipgate preflight", line{}},
		{"shipgate  check", line{}},
		{"You must run tests.", line{}},
		{"The gate is optional.", line{}},

		{"Always run shipgate check", demand},
		{"shipgate check is required", demand},
		{"This repository requires shipgate check", demand},
		{"You shall run shipgate check", demand},
		{"mustard, then shipgate check", mention},
		{"shipgate check before you report a change complete", demand},
		{"Before finishing: shipgate check", demand},
		{"beforehand finish: shipgate check", mention},
		{"shipgate check before the unfinished part", mention},
		{"shipgate check before " + strings.Repeat("é", 78) + " completion", demand},
		{"shipgate check before " + strings.Repeat("é", 79) + " completion", mention},

		{"shipgate check is optional", soft},
		{"Skip shipgate check", soft},
		{"The skipper runs shipgate check", mention},
		{"shipgate check is not required", both},
		{"you must not: don't run shipgate check", both},
		{"don’t run shipgate check", soft},
		{"do  not\u00a0run shipgate check", soft},
		{"shipgate check can be skipped", soft},
		{"shipgate check was skipped", mention},
		{"non_optional shipgate check", mention},
		{"no needle: shipgate check", mention},
		{"use shipgate check at your discretion", soft},

		// Invisible characters break a command and hide no softening.
		{"Always run ship\u200bgate check", line{}},
		{"Always run shipgate\u00ad check", line{}},
		{"Always run shipgate chec\U000E006B", line{}},
		{"Always run shipgate chec\u212a", line{}}, // the Kelvin sign
		{"shipgate check is op\u2060tional", soft},
		{"ship\u200bgate check is optional", line{Softens: true}},
		{"shipgate check is \u202eoptional", soft},
		{"Always run shipgate check\ufe0f", demand},
	} {
		if diff := cmp.Diff(c.want, surface.ReadGateLine(c.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestWhatChangedLinesDoToTheGate(t *testing.T) {
	t.Parallel()
	const asks, demands, softens = "Run shipgate check.", "You must run shipgate check.", "shipgate check is optional."
	for _, c := range []struct {
		name           string
		removed, added string
		weakened       bool
		line           int
	}{
		{"nothing about the gate", "a", "b", false, 0},
		{"a mention is added", "", asks, false, 1},
		{"a mention is gone", asks, "", true, 0},
		{"a mention is exchanged", asks, demands, false, 1},
		{"a demand becomes a mention", demands, asks, true, 1},
		{"a demand stays one", demands, "Always run shipgate check.", false, 1},
		{"a mention is softened", asks, softens, true, 1},
		{"a softening without anything removed", "a", softens, false, 1},
		{"the softening is where to look", asks, "x\n" + asks + "\n" + softens, true, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := surface.Read(&surface.Change{Path: "AGENTS.md", Removed: changed(c.removed), Added: changed(c.added)})
			w := s.GateWording()
			if w.Weakened() != c.weakened || w.Line != c.line {
				t.Errorf("weakened %v at line %d, want %v at %d", w.Weakened(), w.Line, c.weakened, c.line)
			}
		})
	}
}

// changed is a text as changed lines.
func changed(text string) []surface.AddedLine {
	added, _ := surface.ChangedLines(nil, []byte(text))
	return added
}
