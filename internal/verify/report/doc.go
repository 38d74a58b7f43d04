// Package report writes the artifacts of verification, one file each
// (docs/spec/verification.md §10): report.json, report.md, report.sarif,
// verifier.json, verify-run.json and pr-comment.md.
//
// An artifact says the same to a machine and to a person. It repeats what was
// decided and decides nothing; a set of facts that contradict each other is
// refused when the artifact is made, never repaired.
//
// The same inputs give the same bytes. No clock, no host name and no random
// value enters an artifact, and of paths only manifest_dir of report.json is
// absolute.
package report

import (
	"fmt"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/tool"
)

// Text is a string that JSON spells null when it is empty.
type Text = delta.Text

// Line is a one-based line that JSON spells null when it is 0.
type Line = delta.Line

// document is JSON as artifacts have it (§1): declared order, one newline at the
// end, and an entry of a list in one line.
func document(v any) ([]byte, error) {
	d, err := documentBy(nil, v)
	return d.Bytes(), err
}

// documentBy is document by as many hands as each has.
func documentBy(each tool.Each, v any) (canonical.Doc, error) {
	text, err := canonical.SheetBy(each, v)
	if err != nil {
		return canonical.Doc{}, fault.E("report.document", fault.Internal, "an artifact has no JSON form", err)
	}
	return text, nil
}

// contradiction is an artifact whose parts do not agree: an error of our own.
func contradiction(artifact, format string, args ...any) error {
	return fault.E("report."+artifact, fault.Internal, artifact+" contradicts itself: "+fmt.Sprintf(format, args...), nil)
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
