package gate

import (
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/rule"
)

// Failure says why the change to check could not be acquired (§1, §12.3).
type Failure string

// The failures.
const (
	DiffMissing     Failure = "diff_missing"
	DiffUnreadable  Failure = "diff_unreadable" // no permission, or the read broke off
	DiffTooLarge    Failure = "diff_too_large"
	DiffLinked      Failure = "diff_linked"     // a link, a hard link or no regular file
	StdinTooLarge   Failure = "stdin_too_large" // or the read broke off
	NoRepository    Failure = "no_repository"
	RefMissing      Failure = "ref_missing"
	HistoryShallow  Failure = "history_shallow"  // no merge base, and fetching can help (OP-2)
	HistoryUnjoined Failure = "history_unjoined" // no merge base in a complete clone
	ObjectsMissing  Failure = "objects_missing"  // never downloaded, in a range
	WorktreeObjects Failure = "worktree_objects" // never downloaded, in worktree mode
	ObjectDamaged   Failure = "object_damaged"
	HeadUnborn      Failure = "head_unborn" // no commit yet (OP-4)
	GitFailed       Failure = "git_failed"  // not runnable, timeout, output bound, malformed output, unknown extension
)

// failure is what a result says about one Failure. A route without expects is a
// person's.
type failure struct {
	class   string // error_class of the audit id: a fixed token (OP-12)
	message string // of the diagnostic
	why     string
	step    string // first instruction; the second is the rerun
	fetch   bool   // the agent can help by fetching
	expects string // appended to "<base> and <head>"
}

const (
	fetchWhy  = "Make both refs available in the workspace, then run the same check again; the check fetches nothing."
	fetchStep = "Make the refs available."
)

func (f Failure) describe() (failure, bool) {
	switch f {
	case DiffMissing:
		return failure{class: "FileNotFoundError", message: "The diff file does not exist.", why: "The diff file cannot be read; a person has to restore it.", step: "Restore the diff file."}, true
	case DiffUnreadable:
		return failure{class: "PermissionError", message: "The diff file is not readable.", why: "The diff file cannot be read; a person has to restore it.", step: "Make the diff file readable."}, true
	case DiffTooLarge:
		return failure{class: "ValueError", message: "The diff file is larger than 32 MiB.", why: "The diff file is too large to check; a person has to split it.", step: "Supply a smaller diff."}, true
	case DiffLinked:
		return failure{class: "ValueError", message: "The diff file is a link or no regular file.", why: "The diff file is not a plain file; a person has to supply it as one.", step: "Supply the diff as a plain file."}, true
	case StdinTooLarge:
		return failure{class: "ValueError", message: "The diff on stdin is larger than 32 MiB or broke off.", why: "The diff on stdin cannot be checked in full; a person has to supply it again.", step: "Supply a smaller or complete diff."}, true
	case NoRepository:
		return failure{class: "RuntimeError", message: "The workspace is not inside a Git repository.", why: "There is no repository to check; a person has to name the workspace.", step: "Name a workspace inside a Git repository."}, true
	case RefMissing:
		return failure{class: "RuntimeError", message: "A requested ref does not exist in this repository.", why: fetchWhy, step: fetchStep, fetch: true}, true
	case HistoryShallow:
		return failure{class: "RuntimeError", message: "The history of this clone does not connect the two refs.", why: fetchWhy, step: fetchStep, fetch: true, expects: ", with their common history"}, true
	case HistoryUnjoined:
		return failure{class: "RuntimeError", message: "The two refs have no common history.", why: "The two refs have no common history; a person has to choose others.", step: "Choose two refs with common history."}, true
	case ObjectsMissing:
		return failure{class: "RuntimeError", message: "Objects of the range were never downloaded.", why: fetchWhy, step: fetchStep, fetch: true, expects: ", with their objects"}, true
	case WorktreeObjects:
		return failure{class: "RuntimeError", message: "Objects of the working tree's base were never downloaded.", why: "The base of the working tree is incomplete; a person has to download it.", step: "Download the missing objects."}, true
	case ObjectDamaged:
		return failure{class: "RuntimeError", message: "An object of the repository does not match its id.", why: "The repository is damaged or forged; a person has to look at it.", step: "Restore the damaged object."}, true
	case HeadUnborn:
		return failure{class: "RuntimeError", message: "The repository has no commit yet.", why: "There is no commit to compare with; a person has to commit first.", step: "Make a first commit."}, true
	case GitFailed:
		return failure{class: "RuntimeError", message: "Git could not read this repository.", why: "Git could not read the change; a person has to look at the repository.", step: "Repair the repository or update Git."}, true
	}
	return failure{}, false
}

// Valid says whether f is one of the failures above.
func (f Failure) Valid() bool {
	_, ok := f.describe()
	return ok
}

// ErrorInput is a request whose change could not be acquired.
type ErrorInput struct {
	Actor   Actor
	Mode    Mode
	Failure Failure
	// Detail is what Git said, bounded and with local paths masked; may be empty.
	Detail string
	// Workspace, Diff, Base and Head as given; empty when they were not.
	Workspace, Diff, Base, Head string
	// The same places resolved, for the audit id (§9.6): Root is the workspace,
	// Config the manifest, Policy and DiffPath empty when there are none. A diff
	// on stdin has no path.
	Root, Config, Policy, DiffPath string
}

const unreadableChange = "The change to check could not be read."

// ErrorResult is the answer to a request whose change could not be acquired
// (§12.3). It never allows anything.
func ErrorResult(in ErrorInput) *Result {
	f, known := in.Failure.describe()
	if !known {
		f, _ = GitFailed.describe()
	}
	ctl := control.NeedsPerson(unreadableChange, f.why)
	if f.fetch {
		ctl = control.NeedsRefs(unreadableChange, in.Base+" and "+in.Head+f.expects, f.why)
	}
	r := bare(in.Actor, in.Mode, ctl, noPolicy("unresolved", "unknown"))
	r.RiskLevel = rule.Medium
	r.PolicyVersion = "unresolved"
	r.AuditID = errorAuditID(&in, f.class)
	r.Subject.Workspace, r.Subject.Diff, r.Subject.Base, r.Subject.Head = in.Workspace, in.Diff, in.Base, in.Head
	r.Repair = control.RepairPlan{
		Actor: control.Human, Instructions: []string{f.step, "Then run the original check again."},
		ForbiddenShortcuts: control.ForbiddenShortcuts(
			"Do not report completion before a successful rerun.", "Do not read a decision out of prose or a failed command."),
	}
	if f.fetch {
		r.Repair.Actor = control.CodingAgent
	}
	message := f.message
	if in.Detail != "" {
		message += " " + redact.Text(in.Detail)
	}
	const code = "diff_input_unresolved"
	r.Diagnostics = []Diagnostic{{Level: levelError, Code: code, Message: message}}
	r.Issues = []string{code}
	r.Trace = []Step{{"diff", "The diff failed before any rule ran."}}
	return r
}

// errorAuditID binds the request and the class of its failure (§9.6).
func errorAuditID(in *ErrorInput, class string) string {
	return "agent_boundary_error_" + canonical.Compact.SHA256(canonical.Object{
		{Key: "schema", Value: SchemaVersion},
		{Key: "kind", Value: "diff_input_error"},
		{Key: "actor", Value: string(in.Actor)},
		{Key: "workspace", Value: in.Root},
		{Key: "config", Value: in.Config},
		{Key: "policy", Value: orNull(in.Policy)},
		{Key: "input_kind", Value: string(in.Mode)},
		{Key: "diff", Value: orNull(in.DiffPath)},
		{Key: "base", Value: orNull(in.Base)},
		{Key: "head", Value: orNull(in.Head)},
		{Key: "error_class", Value: class},
	})[:24]
}
