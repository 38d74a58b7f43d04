package action

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/report"
)

// Status is what became of the run.
type Status string

// The states of a run (§21.2). Only Evaluated can pass.
const (
	Evaluated Status = "evaluated"   // there is a decision, and every artifact of it is whole
	Failed    Status = "failed"      // the gate ran and could not decide; verifier.json says why
	DidNotRun Status = "did_not_run" // there is nothing that could be believed
)

// Policy is which decisions fail the job (§21.2).
type Policy string

// The values of check_run_policy.
const (
	Advisory         Policy = "advisory"
	BlockedFails     Policy = "blocked-fails"
	RequireMergeable Policy = "require-mergeable"
)

// Policies are all policies, the mildest first.
func Policies() []Policy { return []Policy{Advisory, BlockedFails, RequireMergeable} }

// Valid says whether p is one of them.
func (p Policy) Valid() bool { return slices.Contains(Policies(), p) }

// Conclusion is how the check run and the job end.
type Conclusion string

// The conclusions. A job ends well on Success and on Neutral.
const (
	Success Conclusion = "success"
	Neutral Conclusion = "neutral" // not mergeable, and the policy leaves it to people
	Failure Conclusion = "failure"
)

// blocked and mergeable are the verdicts that policies speak of (§9.3).
const (
	blockedVerdict   = "blocked"
	mergeableVerdict = "mergeable"
)

// Verdicts are the merge verdicts that fail_on_merge_verdicts may name.
var Verdicts = []string{mergeableVerdict, "human_review_required", "insufficient_evidence", blockedVerdict, "unknown"}

// Input is what one run of the gate left behind.
type Input struct {
	Scan     bool   // one tree was scanned: there is no verdict about a merge
	Stopped  string // why the gate was not started; "" when it was
	ExitCode int    // of the gate; over 128 a signal ended it
	Result   []byte // all that it printed on stdout
	Said     []byte // what it printed on stderr
	Reports  fs.FS  // the folder of its artifacts; nil when there is none
	Folder   string // the folder as artifacts name it

	Policy      Policy
	FailOn      []string // merge verdicts that fail the job besides
	Annotations int      // how many annotations may be made
}

// Outcome is what the job says and does.
type Outcome struct {
	Status     Status
	Conclusion Conclusion
	// Why is the reason for Conclusion as one sentence of ours; text of the
	// repository in it is made printable.
	Why     string
	Outputs []Output
	// Comment is the comment of the pull request, marker included; nil after a
	// scan that has a report.
	Comment     []byte
	Summary     []byte // of the job, Markdown
	Annotations []Annotation
	SARIF       []byte // report.sarif; nil when there is none
}

// Output is one output of the Action. A value is one line.
type Output struct{ Name, Value string }

// Failed says whether the job fails.
func (o *Outcome) Failed() bool { return o.Conclusion != Success && o.Conclusion != Neutral }

// Conclude makes the outcome of a run. It has no error: what cannot be read did
// not run.
func Conclude(in *Input) *Outcome {
	facts, status, why := read(in)
	o := &Outcome{Status: status}
	o.Conclusion, o.Why = conclude(in, facts, status, why)
	if facts == nil {
		facts = &evidence{}
	}
	if status == Evaluated {
		o.Annotations = annotations(facts.report.Findings, in.Annotations)
		o.SARIF = facts.files["report.sarif"]
	}
	o.Outputs = outputs(in, facts, status)
	o.text(in, facts)
	return o
}

// conclude applies the policy, the first reason to fail first.
func conclude(in *Input, e *evidence, status Status, why string) (Conclusion, string) {
	if !in.Policy.Valid() {
		return Failure, "The policy is none of advisory, blocked-fails and require-mergeable."
	}
	switch status {
	case Evaluated:
	case Failed:
		return Failure, "The gate could not decide: " + why
	default:
		return Failure, "The gate did not run: " + why
	}
	decision, verdict := e.decision(), e.verdict()
	said := "The decision is " + decision + "."
	if !in.Scan {
		said = "The verdict is " + verdict + "."
	}
	switch {
	case in.ExitCode == exitGate:
		return Failure, said + " The strict gate failed."
	case slices.Contains(in.FailOn, verdict):
		return Failure, said + " fail_on_merge_verdicts names it."
	case in.Policy == RequireMergeable && !(verdict == mergeableVerdict && e.verifier.CanMerge):
		return Failure, said + " The policy require-mergeable takes nothing else than mergeable."
	case in.Policy == BlockedFails && (decision == blockedVerdict || verdict == blockedVerdict):
		return Failure, said + " The policy blocked-fails does not take it."
	case in.Scan && decision == "passed", !in.Scan && verdict == mergeableVerdict && e.verifier.CanMerge:
		return Success, said
	}
	return Neutral, said + fmt.Sprintf(" The policy %s leaves it to people.", in.Policy)
}

// ParseFailOn reads fail_on_merge_verdicts: merge verdicts, separated by commas.
func ParseFailOn(text string) ([]string, error) {
	var list []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "":
		case !slices.Contains(Verdicts, word):
			return nil, fmt.Errorf("%q is no merge verdict; there are %s", word, strings.Join(Verdicts, ", "))
		default:
			list = append(list, word)
		}
	}
	return list, nil
}

// Marker is the first line of the comment, by which it is found again.
const Marker = report.Marker
