package surface

import "plimsoll.dev/internal/canonical"

// Token names how a text was obtained; it is printed in content_source
// diagnostics and enters the Codex-family id (docs/spec/boundary.md §3.3).
type Token string

// The tokens of the Git modes. Detached diffs have their own, made by package
// diff.
const (
	GitWorktree Token = "git_worktree"
	GitIndex    Token = "git_index"
	GitRange    Token = "git_range"
)

// Side is one file before or after the change.
type Side struct {
	Present bool
	Bytes   []byte
	// Unresolved is the issue code or token that says why the text is not
	// known; empty when it is. An absent side is known: it is empty.
	Unresolved string
}

// Link is set on a change whose path is a link, or lies behind one, on some
// side. A target is the resolved repository path, nil on a side that is no link
// or that could not be read (docs/spec/boundary.md §2.7).
type Link struct {
	Old, New *string
}

// Evidence is the two targets as the evidence of rule 24 has them.
func (l *Link) Evidence() canonical.Object {
	show := func(s *string) any {
		if s == nil {
			return nil
		}
		return *s
	}
	return canonical.Object{{Key: "old_target", Value: show(l.Old)}, {Key: "new_target", Value: show(l.New)}}
}

// Change is one touched protected path in one after-state: what the rules
// judge. A path whose index and disk differ yields two changes (ruling R1).
type Change struct {
	Path     string
	Source   Token
	Old, New Side
	// Deleted: the base has an entry of this name and the after-state has none.
	// A rename away is a deletion here (§3.2).
	Deleted bool
	// ModeOnly: same object on both sides, another regular mode (ruling R4).
	ModeOnly bool
	// Link is nil for a plain file.
	Link *Link
	// Listed: Git (or the diff) names this path. False for a path that is only
	// reached through a link.
	Listed bool
	// Manifest and Policy: the path is the configured manifest, or the file
	// that --policy names, whatever the path tables say about its name.
	Manifest, Policy bool
	// ActionUsesGate: the repository's own action.yml (head side) is the gate's
	// action; only meaningful for a gate workflow that says "uses: ./".
	ActionUsesGate bool
	// Added and Removed are the changed lines, decoded lossily, without line
	// ends. In Git modes they are the multiset difference of the two texts.
	Added, Removed []AddedLine
	// OldHunkLines and NewHunkLines are the lines of the hunks as each side has
	// them, context included, decoded lossily. They stand in for a policy file
	// whose text is not known (§5.1 rule 11); empty where there are no hunks.
	OldHunkLines, NewHunkLines []string
}

// AddedLine is a changed line and its one-based number on its side (0 when it
// is not known).
type AddedLine struct {
	Text string
	Line int
}

// Issue is a reason why an input could not be read in full. Each becomes one
// row BOUNDARY-INPUT-INCOMPLETE and one code in issues[] (§5.3, §11.2).
type Issue struct {
	Code    string
	Path    string // repository path, or "<diff>"
	Message string // one sentence without any content of the file
}

// Diagnostic is one entry of diagnostics[].
type Diagnostic struct {
	Level   string // info, warning or error
	Code    string
	Message string
	Path    string // may be empty
}
