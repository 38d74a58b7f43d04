package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
)

// Execution is what became of the run (docs/spec/verification.md §9.3).
type Execution string

// Applicability is what the run means for the change.
type Applicability string

// MergeVerdict is what a merge may do.
type MergeVerdict string

// The words of §9.3.
const (
	NotRun    Execution = "not_run"
	Succeeded Execution = "succeeded"
	Skipped   Execution = "skipped"
	Failed    Execution = "failed"

	NotEvaluated     Applicability = "not_evaluated"
	Verified         Applicability = "verified"
	NotApplicable    Applicability = "not_applicable"
	NoApplicability  Applicability = "failed"
	Mergeable        MergeVerdict  = "mergeable"
	NeedsHuman       MergeVerdict  = "human_review_required"
	NeedsEvidence    MergeVerdict  = "insufficient_evidence"
	BlockedFromMerge MergeVerdict  = "blocked"
	UnknownVerdict   MergeVerdict  = "unknown"
)

// verdictOf is what a decision means for a merge.
func verdictOf(d decision.Verdict) MergeVerdict {
	switch d {
	case decision.Passed:
		return Mergeable
	case decision.Blocked:
		return BlockedFromMerge
	case decision.InsufficientEvidence:
		return NeedsEvidence
	case decision.ReviewRequired:
	}
	return NeedsHuman // also for a word of a later version (§9.3, last row)
}

// completeDiff is the status of a change that was read in full.
func completeDiff() report.DiffStatus { return report.DiffStatus{Completeness: complete} }

// remedies says for each reason what helps. Reasons that a fetch helps name refs.
var remedies = map[string]string{
	"not_attempted":           "Name a base with --base, or compare the working tree by leaving --head out.",
	"refs_missing":            "Fetch the refs that are named, then run the same command again.",
	"merge_base_missing":      "Fetch more history, so that both sides meet, then run the same command again.",
	"unrelated_histories":     "Name a base that shares history with the head.",
	"objects_missing":         "Fetch the objects that this clone was cut short of, then run the same command again.",
	"metadata_limit_exceeded": "Split the change: it has more files than are looked at.",
	"body_limit_exceeded":     "Split the change, or have a person read the files that are named.",
	"git_timeout":             "Run the same command again when the machine is less busy.",
	"git_failed":              "Repair the repository or the files that are named, then run the same command again.",
}

// gapStatus is the status of a change that was read in part or not at all.
func gapStatus(completeness, reason, detail string) report.DiffStatus {
	return report.DiffStatus{
		Completeness: completeness, Reason: report.Text(reason), Detail: report.Text(detail), Remediation: report.Text(remedies[reason]),
		FetchRepairable: reason == "refs_missing" || reason == "merge_base_missing" || reason == "objects_missing",
	}
}

const (
	maxInstructions = 5
	maxPatches      = 10
)

// fixTask is nil when nothing is left to do. gating are the findings that decided,
// blockers first; target gives a patched file from the Git root, and is nil where
// no patches are wanted.
func fixTask(d *decision.Decision, gating []*check.Finding, unsafe bool, target func(string) string, command string) *report.FixTask {
	if d != nil && d.Decision == decision.Passed {
		return nil
	}
	task := &report.FixTask{Actor: control.Human, Shortcuts: control.ForbiddenShortcuts(), Command: report.Text(command)}
	if d == nil {
		return task
	}
	agent := !unsafe && len(gating) > 0 && d.Decision != decision.InsufficientEvidence && !d.Open()
	for i := range gating {
		agent = agent && gating[i].AutofixSafe && !gating[i].HumanReview
	}
	if agent {
		task.Actor, task.Safe = control.CodingAgent, true
	}
	if agent {
		task.Allowed = make([]report.Repair, 0, len(gating))
	} else if len(gating) > 0 {
		task.Forbidden = make([]report.Repair, 0, len(gating))
	}
	for _, f := range gating {
		if len(task.Instructions) < maxInstructions {
			instruct(task, instruction(f))
		}
		r := report.Repair{
			ID: f.ID, Actor: task.Actor, Kind: string(f.PatchKind), Reason: f.Recommendation, Command: report.Text(command),
			Target: report.Text(f.Source.Path), CheckID: report.Text(f.CheckID), FindingID: report.Text(f.ID),
		}
		if agent {
			task.Allowed = append(task.Allowed, r)
		} else {
			r.Actor, r.Kind, r.Command = control.Human, "review", ""
			task.Forbidden = append(task.Forbidden, r)
		}
		for _, p := range f.Patches {
			if agent && target != nil && p.Kind != check.Manual && len(task.Patches) < maxPatches {
				p.TargetFile = target(p.TargetFile)
				task.Patches = append(task.Patches, fixPatch(f, &p))
			}
		}
	}
	for i := range d.Coverage.Gaps {
		instruct(task, d.Coverage.Gaps[i].Next.Expects)
	}
	return task
}

func instruct(t *report.FixTask, text string) {
	if text != "" && len(t.Instructions) < maxInstructions && !slices.Contains(t.Instructions, text) {
		t.Instructions = append(t.Instructions, text)
	}
}

// fixPatch is a patch as verifier.json shows it. A patch is plain data: it has a
// JSON form.
func fixPatch(f *check.Finding, p *check.Patch) report.FixTaskPatch {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return report.FixTaskPatch{CheckID: f.CheckID, FindingID: report.Text(f.ID), Patch: text}
}

// instruction is one line about a finding: what to do, and where.
func instruction(f *check.Finding) string {
	at := f.Source.Path
	if at != "" && f.Source.StartLine > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Source.StartLine)
	}
	about := f.CheckID
	if f.ToolName != "" {
		about += " (" + f.ToolName + ")"
	}
	if at != "" {
		about += " at " + at
	}
	return about + ": " + f.Recommendation
}

// Command is the command that verifies the same subject again (§9.5). Flags that
// were left to their defaults stay out.
type Command struct{ Workspace, Config, Base, Head string }

// String is the command with every value quoted for a POSIX shell.
func (c Command) String() string { return c.words("") + " --json" }

// Preview is the same with --preview.
func (c Command) Preview() string { return c.words(" --preview") + " --json" }

func (c Command) words(more string) string {
	var b strings.Builder
	b.WriteString("agents-shipgate verify")
	for _, flag := range []struct{ name, value, usual string }{
		{"workspace", c.Workspace, "."}, {"config", c.Config, "shipgate.yaml"}, {"base", c.Base, ""}, {"head", c.Head, ""},
	} {
		if flag.value != "" && flag.value != flag.usual {
			b.WriteString(" --" + flag.name + " " + control.Quote(flag.value))
		}
	}
	return b.String() + more
}

// initialize is the command that writes a first manifest.
func (c Command) initialize() string {
	return "agents-shipgate init --workspace " + control.Quote(c.Workspace) + " --write --json"
}
