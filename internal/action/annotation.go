package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// AnnotationsFile is the annotations in the reports folder (§10).
const AnnotationsFile = "check-annotations.json"

// MaxAnnotations is how many GitHub takes at a time.
const MaxAnnotations = 50

// Annotation is a finding at its line, as GitHub's check runs have it.
type Annotation struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Level   Level  `json:"annotation_level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// Level is how loud an annotation is.
type Level string

// The levels.
const (
	Loud   Level = "failure" // critical and high
	Middle Level = "warning" // medium
	Quiet  Level = "notice"
)

// finding is what an annotation needs of a finding.
type finding struct {
	CheckID        string `json:"check_id"`
	Title          string `json:"title"`
	Severity       string `json:"severity"`
	Recommendation string `json:"recommendation"`
	Suppressed     bool   `json:"suppressed"`
	Source         *struct {
		Path *string `json:"path"`
		Line *int    `json:"start_line"`
	} `json:"source"`
}

// severities are the severities of findings, the worst first.
var severities = []string{"critical", "high", "medium", "low", "info"}

// annotations are the active findings that have a place, the worst first and at
// most n.
func annotations(findings []finding, n int) []Annotation {
	list := slices.Clone(findings)
	rank := func(f *finding) int {
		if i := slices.Index(severities, f.Severity); i >= 0 {
			return i
		}
		return 0 // one that we do not know is not put last
	}
	slices.SortStableFunc(list, func(a, b finding) int { return rank(&a) - rank(&b) })
	out := []Annotation{}
	for i := range list {
		f := &list[i]
		if f.Suppressed || f.Source == nil || f.Source.Path == nil || *f.Source.Path == "" {
			continue
		}
		if len(out) == min(n, MaxAnnotations) {
			break
		}
		line := 1
		if f.Source.Line != nil && *f.Source.Line > 0 {
			line = *f.Source.Line
		}
		level := Loud
		switch rank(f) {
		case 2:
			level = Middle
		case 3, 4:
			level = Quiet
		}
		out = append(out, Annotation{
			Path: oneLine(*f.Source.Path), Start: line, End: line, Level: level,
			Title: sentence(f.CheckID), Message: sentence(strings.TrimSpace(f.Title + ". " + f.Recommendation)),
		})
	}
	return out
}

// AnnotationsJSON is check-annotations.json.
func (o *Outcome) AnnotationsJSON() ([]byte, error) {
	list := o.Annotations
	if list == nil {
		list = []Annotation{}
	}
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

// commands are the words of workflow commands for the levels.
var commands = map[Level]string{Loud: "error", Middle: "warning", Quiet: "notice"}

// Both are escaped by what the runner takes out again; a property ends at a
// colon or a comma, everything at the end of its line.
var (
	inData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Commands is the annotations as workflow commands, one a line, and at last the
// reason of a failure.
func (o *Outcome) Commands() []byte {
	var b strings.Builder
	for i := range o.Annotations {
		a := &o.Annotations[i]
		fmt.Fprintf(&b, "::%s file=%s,line=%d,endLine=%d,title=%s::%s\n",
			commands[a.Level], inProperty.Replace(a.Path), a.Start, a.End, inProperty.Replace(a.Title), inData.Replace(a.Message))
	}
	if o.Failed() {
		fmt.Fprintf(&b, "::error title=Shipgate::%s\n", inData.Replace(o.Why))
	}
	return []byte(b.String())
}
