// Package starter writes the first manifest: what detection proves, and as
// questions with a ready patch what only a person knows
// (docs/spec/verification.md §18.2, rulings R12).
package starter

import (
	"errors"

	"plimsoll.dev/internal/adopt/detect"
)

// Placeholder stands where a value is needed and not known.
const Placeholder = "CHANGE_ME"

// Options is what the caller chooses.
type Options struct {
	Minimal bool   // without comments and without what has a default
	Name    string // of the project; "" takes the first candidate
	Agent   string // name of the agent; "" takes the root agent's
}

// Question is one thing that only a person knows.
type Question struct {
	Key   string `json:"key"`  // dotted key of the manifest
	Path  string `json:"path"` // of the manifest
	Line  int    `json:"line"` // where the answer goes, one-based
	Why   string `json:"why"`
	Patch string `json:"patch"` // unified diff against Draft.Text; values to fill in are CHANGE_ME
}

// Draft is a first manifest.
type Draft struct {
	Text      []byte     // of shipgate.yaml
	Questions []Question // in the order of the lines; never nil
}

// Manifest writes the first manifest of what was detected. It states no effect,
// authority, approval, confirmation, idempotency or closed-world binding. The
// error says that no manifest can be written: nothing was found that a manifest
// could name.
func Manifest(d *detect.Result, opt Options) (Draft, error) {
	return Draft{}, errors.New("not written yet")
}
