package pipeline

import (
	"fmt"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// What a chain came to, for the request that started it (docs/spec/circle.md §9).
// The contracts know the request by its id and nothing else of it: the end of a
// chain is a job of the circle.

// JobResult brings the end of a chain back to the request that started it. The
// circle works it.
const JobResult JobKind = "circle_result"

// ResultArgs is what a JobResult says: which version of which intent ended, how,
// and whose request it was.
type ResultArgs struct {
	Request string         `json:"request"`
	Chain   contract.ID    `json:"chain"`
	Version int64          `json:"version"`
	State   contract.State `json:"state"`
}

// ends says whether an intent in a state has ended for good. What supersedes a
// version is published itself.
func ends(s contract.State) bool {
	switch s {
	case contract.Published, contract.Revoked, contract.Archived:
		return true
	case contract.Draft, contract.Active, contract.Frozen, contract.Superseded:
	}
	return false
}

// tell has the circle hear of the end of an intent that was made for a request. It
// is told once for each version and end, whatever runs twice.
func (x *session) tell(c *Contract) error {
	ref, s := c.Ref(), stateOf(c)
	if c.Document.Head().Kind != contract.KindIntent || !ends(s) || x.w.chain.Correlation == string(x.w.chain.ID) {
		return nil
	}
	args := ResultArgs{Request: x.w.chain.Correlation, Chain: ref.ID, Version: ref.Version, State: s}
	return x.enqueue(JobResult, fmt.Sprintf("%s:%d/%s", ref.ID, ref.Version, s), ref.ID, args, time.Time{})
}

// Outcome is how a version of an intent stands, and what was made of it.
type Outcome struct {
	Ref
	Correlation string
	State       contract.State
	FreezeCause contract.Cause
	Phase       Phase // of the chain, where the version is under way; else ""
	HeadCommit  string
	UpdatedAt   time.Time // of the intent

	Task Ref       // zero while there is none
	Gate *Contract // of the current Acceptance version; nil while there is none
	Note *Artifact // the release note of the publication, without its bytes; nil before
}

// FinalDecision is that of the gate, "" while there is none.
func (o *Outcome) FinalDecision() contract.FinalDecision {
	if g := docOf[*contract.PublishGate](o.Gate); g != nil {
		return g.FinalDecision
	}
	return ""
}

// OutcomeOf is what became of a version of an intent; version 0 is the one that is
// under way.
func OutcomeOf(r Reader, intent Ref) (*Outcome, error) {
	w, err := load(r, nil, intent.ID)
	if err != nil {
		return nil, err
	}
	if intent.Version == 0 {
		intent.Version = w.chain.Version
	}
	c := w.row(intent)
	if c == nil {
		return nil, missing("%s has no version %d", intent.ID, intent.Version)
	}
	o := &Outcome{
		Ref: intent, Correlation: w.chain.Correlation, State: stateOf(c), FreezeCause: c.FreezeCause,
		UpdatedAt: c.Document.Head().UpdatedAt.Time(),
	}
	if w.chain.Version == intent.Version {
		o.Phase, o.HeadCommit = w.chain.Phase, w.chain.HeadCommit
	}
	task := w.made(contract.KindTaskSeed, intent)
	if task == nil {
		return o, nil
	}
	o.Task = task.Ref()
	if a := w.made(contract.KindAcceptance, task.Ref()); a != nil {
		o.Gate = w.made(contract.KindPublishGate, a.Ref())
	}
	o.Note, err = publishedNote(r, w, task.Ref())
	return o, err
}

// publishedNote is the release note of the run that published a task, nil before.
func publishedNote(r Reader, w *work, task Ref) (*Artifact, error) {
	runs, err := r.Runs(RunFilter{
		Chains: []contract.ID{w.chain.ID}, Phases: []Phase{Phase(phase.Publish)}, Outcomes: []string{string(phase.Succeeded)},
	}, Page{})
	if err != nil {
		return nil, err
	}
	published := map[string]bool{}
	for _, run := range runs {
		published[run.ExecutionID] = run.TaskSeed == task
	}
	if len(runs) == 0 {
		return nil, nil
	}
	all, err := r.Artifacts(w.chain.ID)
	if err != nil {
		return nil, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if a := all[i]; a.Kind == ArtifactKind(phase.ReleaseNote) && published[a.ExecutionID] {
			return &a, nil
		}
	}
	return nil, nil
}
