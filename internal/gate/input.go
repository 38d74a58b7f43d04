package gate

import (
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/surface"
)

// Mode is the value of input_mode (docs/spec/boundary.md §1). It decides routes,
// so package control has the table.
type Mode = control.Mode

// The input modes.
const (
	Worktree     = control.Worktree
	GitRange     = control.GitRange
	ProvidedDiff = control.ProvidedDiff
)

// Actor is the calling agent.
type Actor string

// The actors.
const (
	ActorCodex  Actor = "codex"
	ActorClaude Actor = "claude-code"
	ActorCursor Actor = "cursor"
)

// Input is a change, read in full: everything Check looks at. Package git makes
// it; Check itself reads nothing.
type Input struct {
	Actor Actor
	Mode  Mode
	// Workspace is --workspace made absolute lexically; ConfigArg is the
	// manifest as command strings name it (§7.4). Base and Head are the refs as
	// given, empty outside a range.
	Workspace, ConfigArg, Base, Head string

	// Records in the order of §2.2: working-tree records, untracked records,
	// then index records from IndexFrom on (len(Records) when none).
	Records   []diff.Record
	IndexFrom int
	// Text and IndexText are the diff texts that subject_sha256 binds; IndexText
	// is nil when no path is split.
	Text, IndexText []byte
	// ChangedFiles is sorted and unique.
	ChangedFiles []string
	// Changes are the touched protected paths with both sides. Order does not
	// matter.
	Changes []surface.Change
	// Issues are inputs that could not be read; Diagnostics are remarks that are
	// no issue (content_source, byte_order_mark is added by Check).
	Issues      []surface.Issue
	Diagnostics []surface.Diagnostic
	// LinkPoints are paths of row-27 issues at link points, which make every
	// adapter that passes through them partial.
	LinkPoints []string

	Manifest Manifest
	Policy   PolicyFiles
}

// Manifest is what the subject says about the configured manifest.
type Manifest struct {
	Path    string // repository-relative, normalised
	Present bool   // adoption (§6.1)
	// Declared is every declared tool source and every local plugin root behind
	// a declared marketplace, repository-relative (§6.3).
	Declared []string
	// AdoptionProven: the base carries no manifest and this change adds exactly
	// one (§5.3). False in a detached diff.
	AdoptionProven bool
	// SourceKinds is what lies at the path of each tool source the manifest
	// gains, by the path as written: "file", "dir", "plugin" (a package
	// directory with a plugin.json) or "marketplace"; missing when nothing safe
	// lies there. It decides proposal-safe additions.
	SourceKinds map[string]string
}

// PolicyFile is one policy file as it was read.
type PolicyFile = policy.File

// PolicyFiles is every place a policy can come from (§10.1).
type PolicyFiles = policy.Files
