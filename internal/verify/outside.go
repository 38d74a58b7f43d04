package verify

import (
	"fmt"
	"strings"

	"plimsoll.dev/internal/gate/redact"
)

// outside names the changed files that look like tools or agents and that no
// source of the manifest reads (docs/spec/boundary.md §6.4): nothing of them was
// judged, and those that the change adds are asked about. It is "" when there is none.
func (r *Run) outside() string {
	var names []string
	for _, u := range r.unreadFiles() {
		if present(r.Input.HeadRoot, u.name) {
			names = append(names, redact.Text(u.name))
		}
	}
	count := len(names)
	if count == 0 {
		return ""
	}
	if count > maxUnbound {
		names = append(names[:maxUnbound], fmt.Sprintf("and %d more", count-maxUnbound))
	}
	what, them := "1 changed file looks", "it"
	if count > 1 {
		what, them = fmt.Sprintf("%d changed files look", count), "them"
	}
	return what + " like tools or agents and no tool source reads " + them + ": " + strings.Join(names, ", ")
}

// empty says that nothing was compared: the base is the head commit, and nothing
// differs from it. "" for a change.
func (r *Run) empty() string {
	in := r.Input
	if in.Options.Scan || in.Base == nil || in.Git.MergeBase != in.Git.HeadCommit || len(in.ChangedFiles) > 0 {
		return ""
	}
	return "The base and the head are one commit and nothing else differs: there was no change to judge."
}
