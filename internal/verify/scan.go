package verify

import (
	"fmt"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/verify/report"
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
	if err := a.whole(version, reportFiles()); err != nil {
		return nil, err
	}
	return a.list, a.suggestions()
}

// reportFiles are the whole report in its three forms.
func reportFiles() []Artifact {
	return []Artifact{
		{Name: "report.json", Key: "report_json"},
		{Name: "report.md", Key: "report_markdown"},
		{Name: "report.sarif", Key: "report_sarif"},
	}
}

// whole writes the report for programs, for people and for code scanning. names
// are the files that are named in it.
func (a *artifacts) whole(version string, names []Artifact) error {
	in := a.in
	in.Generated = a.paths(names...)
	var docs [3]canonical.Doc
	var failed [3]error
	parts := []func(){
		func() { docs[0], failed[0] = report.New(in).Doc() },
		func() { docs[1] = canonical.Text(report.Markdown(in)) },
		func() {
			text, err := report.SARIF(in, version)
			docs[2], failed[2] = canonical.Text(text), err
		},
	}
	in.Each.Do(len(parts), func(i int) { parts[i]() })
	for i, f := range reportFiles() {
		if err := a.addDoc(f.Name, f.Key, docs[i], failed[i]); err != nil {
			return err
		}
	}
	return nil
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
