package adopt

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/patch"
)

// Target is one thing that adoption writes. Its name is what the command line
// and the result call it.
type Target string

// The targets, in the order of a plan (docs/spec/verification.md §§18.2, 21.4).
const (
	Manifest    Target = "manifest"
	Contract    Target = "contract"
	Ignore      Target = "gitignore"
	AgentsMD    Target = "agents-md"
	ClaudeMD    Target = "claude-md"
	CursorRule  Target = "cursor"
	CodexSkill  Target = "codex-skill"
	PullRequest Target = "pr-template"
	Workflow    Target = "workflow"
	PreCommit   Target = "pre-commit"
	CodexHooks  Target = "hooks-codex"
	ClaudeHooks Target = "hooks-claude-code"
	CursorHooks Target = "hooks-cursor"
)

// Instructions are the targets that speak to agents and their reviewers.
var Instructions = []Target{AgentsMD, ClaudeMD, CursorRule, CodexSkill, PullRequest}

// Outcome says what becomes of a target.
type Outcome string

// The outcomes. A target that is left alone is NewerVersion, Ambiguous, Edited
// or Skipped; the note says why and what a person can do.
const (
	Created      Outcome = "created"
	Appended     Outcome = "appended"
	Updated      Outcome = "updated"  // to what this version of the program writes
	Migrated     Outcome = "migrated" // from an older version of the block
	Unchanged    Outcome = "unchanged"
	NewerVersion Outcome = "newer_version"
	Ambiguous    Outcome = "ambiguous" // markers that are unpaired or repeated
	Edited       Outcome = "edited"    // by somebody since it was written
	Skipped      Outcome = "skipped"
	Removed      Outcome = "removed"
	Absent       Outcome = "absent" // nothing of ours to take back
)

// LeftAlone says whether the target was to be written, or taken back, and was not.
func (o Outcome) LeftAlone() bool {
	return slices.Contains([]Outcome{NewerVersion, Ambiguous, Edited, Skipped}, o)
}

// Edit is what becomes of one file.
type Edit struct {
	Target  Target
	Path    string // below the workspace, with forward slashes
	Outcome Outcome
	Note    string // one sentence, or ""; no text of the file
	// Before is the file as it is; Existed tells an empty one from none. After is
	// the file as it is to be; Delete means that there is to be none. Both are nil
	// for a target that is left alone.
	Before, After   []byte
	Existed, Delete bool
}

// Changes says whether the edit writes or deletes the file.
func (e *Edit) Changes() bool {
	return e.Delete || e.After != nil && (!e.Existed || string(e.After) != string(e.Before))
}

// Diff is the edit as a unified diff that git can apply, "" when it changes
// nothing.
func (e *Edit) Diff() string {
	if !e.Changes() {
		return ""
	}
	text := patch.Diff(e.Path, e.Before, e.After)
	switch {
	case !e.Existed:
		return "--- /dev/null" + strings.TrimPrefix(text, "--- a/"+e.Path)
	case e.Delete:
		return strings.Replace(text, "\n+++ b/"+e.Path+"\n", "\n+++ /dev/null\n", 1)
	}
	return text
}

// Plan is what is to be done in a workspace. It can be carried out in whole or
// not at all.
type Plan struct {
	Edits []Edit // in the order of targets, one per file
}

// Options is what adoption is to write.
type Options struct {
	Manifest     []byte   // text of the first shipgate.yaml; nil leaves the manifest alone
	Contract     []byte   // text of the agent contract; nil writes none
	Ignore       bool     // the reports folder in .gitignore
	Instructions []Target // of Instructions
	Workflow     bool
	PreCommit    bool
	Hooks        []Target // CodexHooks, ClaudeHooks, CursorHooks
	Version      string   // of the program, as the workflow installs it
}
