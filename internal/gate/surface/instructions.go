package surface

import (
	"strings"
	"unicode/utf8"
)

// GateLine is what one line of an instruction file says about the gate
// (docs/spec/boundary.md §5.1, "Instruction wording").
type GateLine struct {
	Mentions bool // it names the gate or one of its commands
	Requires bool // a mention that demands the run
	Softens  bool // a mention that lets the run go
}

// ReadGateLine reads one line, whatever its case.
//
// A mention and a demand must stand there letter by letter: an invisible
// character inside "shipgate check" leaves no command that an agent could copy.
// A softening counts as a person reads it, invisible characters taken out,
// because hiding one is the reason to write it so.
func ReadGateLine(line string) GateLine {
	exact := lowerASCII(line)
	g := GateLine{Mentions: mentionsGate(exact)}
	g.Requires = g.Mentions && demands(exact)
	seen := shown(line)
	g.Softens = (g.Mentions || mentionsGate(seen)) && softens(seen)
	return g
}

func mentionsGate(line string) bool {
	return containsAny(line, "agents-shipgate", "agents_shipgate", "shipgate check", "shipgate verify", "shipgate scan")
}

func demands(line string) bool {
	return containsWord(line, "always", "must", "required", "require", "requires", "shall") || demandsBeforeEnd(line)
}

// demandReach is how many characters may stand between "before" and the end of
// the work that it speaks of.
const demandReach = 80

// demandsBeforeEnd says whether "before" is followed within reach by a word that
// begins with complet, finish or report.
func demandsBeforeEnd(line string) bool {
	const before = "before"
	for from := 0; ; {
		i := strings.Index(line[from:], before)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(before)
		if !wordStarts(line, i) || !wordEnds(line, from) {
			continue
		}
		for at, n := from, 0; at < len(line) && n <= demandReach; n++ {
			rest := line[at:]
			if wordStarts(line, at) &&
				(strings.HasPrefix(rest, "complet") || strings.HasPrefix(rest, "finish") || strings.HasPrefix(rest, "report")) {
				return true
			}
			_, size := utf8.DecodeRuneInString(rest)
			at += size
		}
	}
}

func softens(line string) bool {
	return containsWord(line,
		"advisory", "at your discretion", "bypass", "can be skipped", "disable", "disabled", "do not run", "don't run",
		"ignore", "no need", "not required", "optional", "skip", "unnecessary")
}

// GateWording sums up what the changed lines of an instruction file do to the
// gate's place in it.
type GateWording struct {
	RemovedMention, AddedMention         bool
	RemovedRequirement, AddedRequirement bool
	Softened                             bool
	// Line is the new line that softens, else the first that mentions; 0 when
	// the wording is simply gone.
	Line int
}

// GateWording reads the changed lines. They are there, and are read, whether or
// not the file around them could be.
func (s *Surface) GateWording() GateWording {
	var w GateWording
	for _, l := range s.Removed {
		g := ReadGateLine(l.Text)
		w.RemovedMention = w.RemovedMention || g.Mentions
		w.RemovedRequirement = w.RemovedRequirement || g.Requires
	}
	for _, l := range s.Added {
		g := ReadGateLine(l.Text)
		if g.Softens && !w.Softened || g.Mentions && w.Line == 0 {
			w.Line = l.Line
		}
		w.AddedMention = w.AddedMention || g.Mentions
		w.AddedRequirement = w.AddedRequirement || g.Requires
		w.Softened = w.Softened || g.Softens
	}
	return w
}

// Weakened says whether the changed lines take the gate back: its mention is
// gone, let go, or no longer demanded.
func (w GateWording) Weakened() bool {
	return w.RemovedMention && (!w.AddedMention || w.Softened || w.RemovedRequirement && !w.AddedRequirement)
}
