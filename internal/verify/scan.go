package verify

import (
	"fmt"

	"plimsoll.dev/internal/gate/ink"
)

// alone takes everything about a change out of the input of a scan: it looks at
// one tree (docs/spec/verification.md §9.8), and nothing of the change can make
// it fail. A gap stays where the tree itself could not be opened.
func (in *Input) alone() {
	in.Base, in.BaseRoot, in.BaseRef, in.BaseMissing = nil, nil, "", "not_requested"
	in.Changes, in.ChangedFiles, in.DiffText = nil, nil, nil
	if in.Head != nil {
		in.Gap = nil
	}
}

// scanned is what a scan writes: the report, and what would close its gaps.
// There is nothing else to say without a change.
func (a *artifacts) scanned(version string) ([]Artifact, error) {
	files := append(a.whole(version), a.suggestions()...)
	if err := a.make(files); err != nil {
		return nil, err
	}
	a.put(files)
	return a.list, nil
}

// ScanText prints a scan for a person: what is wrong and where, and what is
// missing. It says nothing of a merge: a scan decides none. The run has a decision.
func (r *Run) ScanText(colour bool) []byte {
	t := &ink.Text{Colour: colour}
	t.Put(ink.Bold, spaced(string(r.Decision.Decision)))
	s := r.HeadSide.Surface
	t.Put(ink.Dim, fmt.Sprintf("  one tree, tools: %d, actions that the agent reaches: %d", len(s.Catalog), len(s.Actions)))
	t.Write("\n")
	t.Put(ink.Bold, ink.Printable(r.Headline))
	t.Write("\n")
	writeFindings(t, r.Gating())
	r.writeGaps(t, r.Decision.Coverage.Gaps)
	return t.Bytes()
}
