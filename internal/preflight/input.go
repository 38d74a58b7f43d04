package preflight

import (
	"encoding/json"
	"io/fs"

	"plimsoll.dev/internal/gate"
)

// Input is everything Evaluate looks at.
type Input struct {
	// Workspace and Config are as the caller wrote them; commands repeat them.
	Workspace, Config string
	// Root is the folder that paths are relative to, absolute: the root of the
	// repository, or the workspace where there is none. Below is the workspace
	// relative to it, "." for the root itself; Manifest is the configured
	// manifest, relative to it.
	Root, Below, Manifest string
	Repository            bool   // Root is one of Git
	Today                 string // YYYY-MM-DD

	Files fs.FS  // Root
	Tree  []File // what List found in Files

	Plan *Plan
	// Change is the plan's diff as check reads it, detached; nil where there is no
	// repository to read it in. It is there without a diff too: what is wrong with
	// the policies of the repository shows all the same.
	Change *gate.Input
	// Base is an earlier result, nil for none.
	Base *Base
	// Host is how the host grants stand to a baseline, nil without one.
	Host *HostDrift
}

// File is one file or link of the workspace.
type File struct {
	Path string
	Link string // the text of a link, "" for a file
	// Unread: a folder that could not be listed, or a link that could not be read.
	Unread bool
}

// HostDrift is how the grants of hosts differ from a baseline that a person kept
// (docs/spec/verification.md §16).
type HostDrift struct {
	Document json.RawMessage // the drift document
	Baseline string          // its file, as the caller wrote it
	// Differs: something changed, or the two could not be compared.
	Differs bool
	Reasons []string // what differs, for people
}

// Base is what a later preflight compares itself with.
type Base struct {
	GraphHash  string
	Files      map[string]string // protected path to hash
	PolicyHash string            // "" where there was none
}
