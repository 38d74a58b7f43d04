package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/state"
)

// Publication (docs/spec/contracts.md §6.7): the end of a run of phase Publish,
// by the service itself for low and medium work, by the release manager
// otherwise.

func (x *session) publishLater(gate *Contract) error {
	ref := gate.Ref()
	// Asked again after whatever was in its way; the run itself takes place once.
	key := fmt.Sprintf("%s:%d/publish/%s", ref.ID, ref.Version, x.w.stamp())
	return x.enqueue(JobPublish, key, gate.Chain, targetArgs{Chain: gate.Chain, ID: ref.ID, Version: ref.Version}, time.Time{})
}

// RunPublish is the service's own publication run. It touches no repository.
func (s *Service) RunPublish(ctx context.Context, a Attempt) error {
	args, err := arguments[targetArgs](a)
	if err != nil {
		return err
	}
	l, err := s.look(ctx, args.Chain, false)
	if err != nil {
		return again(err)
	}
	g := generator{attempt: a, args: args, target: contract.KindEvidence, actor: policyEngine()}
	return s.generate(ctx, g, func() error {
		return s.step(ctx, policyEngine(), "run.end", args.Chain, func(x *session) error { return x.publish(args.ref(), l) })
	})
}

func (x *session) publish(gate Ref, l look) error {
	w := x.w
	c := w.gateRow()
	if c == nil || c.Ref() != gate {
		return nil // the work was judged again
	}
	run, err := x.alive()
	if err != nil || run != nil {
		return err
	}
	task := w.taskRow()
	f, err := x.boundary()
	if err != nil {
		return err
	}
	claim := phase.Claim{
		Phase: phase.Publish, Chain: w.phase(), TaskSeed: stateOf(task), Intent: stateOf(w.intentRow()), Role: contract.PolicyEngine,
		Capabilities: w.task().CapabilitiesSnapshot, Level: w.gateLevel(f.result), Automatic: x.s.conf.AutomaticTests, Gate: w.publication(),
	}
	if err := phase.Start(claim); err != nil {
		return nil //nolint:nilerr // what changed meanwhile dispatches it again
	}
	classification, err := x.freshen(task, phase.Publish, l)
	if err != nil {
		return x.stopped(err)
	}
	if err := x.free(task.Ref().ID); err != nil {
		return err
	}
	claimed, err := x.start(task, x.s.conf.NewID("exec"), ClaimArgs{}, classification)
	if err != nil {
		return err
	}
	run = claimed.Run
	x.run = run.ExecutionID
	note, err := x.noteOf(run)
	if err != nil {
		return err
	}
	text := note.Markdown()
	record, err := artifact.NewRecord(phase.ReleaseNote, task.Ref().ID, task.Ref().Version, phase.Publish, run.ExecutionID, text)
	if err != nil {
		return err
	}
	if err := x.AddArtifact(x.artifact(run, record, text)); err != nil {
		return err
	}
	e := x.published(run, contract.Hash(text), classification)
	if faults, _ := document.Evidence(e, document.Around{Gate: w.lastGate(), GateAsked: true, Level: claim.Level, Own: true}); len(faults) > 0 {
		return faults
	}
	_, err = x.end(run, ending{outcome: phase.Succeeded, stale: classification},
		&Contract{Document: e, Chain: run.Chain, Source: run.TaskSeed, ExecutionID: run.ExecutionID})
	return err
}

// stopped is a publication that may not go on now. What was frozen stays so, and
// what was asked for is asked for.
func (x *session) stopped(err error) error {
	if x.owes || len(x.more) > 0 {
		return nil
	}
	return err
}

// published is the Evidence of the service's own publication run (§6.7).
func (x *session) published(run *Run, output string, c contract.Classification) *contract.Evidence {
	at := x.at()
	id, _ := x.NextID(contract.KindEvidence)
	head := x.w.chain.HeadCommit
	if head == "" {
		head = unknown
	}
	return &contract.Evidence{
		Base: contract.Base{
			ID: id, Kind: contract.KindEvidence, State: contract.Published, Version: 1, CreatedAt: at, UpdatedAt: at,
		},
		TaskSeedID: run.TaskSeed.ID, BaseCommit: head, HeadCommit: head,
		InputHash: contract.EmptyObjectHash, OutputHash: output, DiffHash: contract.EmptyDiffHash,
		Model: contract.Model{Name: "none", Version: "none", ParametersHash: contract.EmptyObjectHash},
		Tools: []string{string(contract.PolicyEngineActor)},
		Environment: contract.Environment{
			OS: "plimsoll", Runtime: "plimsoll", ContainerImageDigest: contract.Uncontainerized,
			LockfileHash: ingest.LockfileHash(nil),
		},
		StaleStatus: contract.StaleStatus{Classification: c, EvaluatedAt: at},
		MergeResult: contract.MergeResult{Status: contract.MergeNotApplicable},
		StartTime:   at, EndTime: at, Actor: contract.PolicyEngineActor,
		ApprovalsSnapshot: document.Snapshot(x.w.lastGate(), at), PolicyVerdict: contract.VerdictApproved,
	}
}

// publishChain is the end of a publication run: the phase, and Acceptance,
// TaskSeed and intent in this order (§6.7).
func (x *session) publishChain(run *Run) error {
	w := x.w
	task, intent, acceptance := w.taskRow(), w.intentRow(), w.acceptanceRow()
	a := contract.Actor{ID: run.Actor, Role: run.Role}
	f, err := x.boundary()
	if err != nil {
		return err
	}
	answer := state.Answered(approval.Publishable(w.gate()))
	status := w.acceptance().Status
	for _, c := range []*Contract{acceptance, task, intent} {
		err := x.moved(c, state.Event{
			To: contract.Published, Actor: x.orchestrator(), Policy: answer, InPublish: w.phase() == phase.Publish, AcceptanceStatus: status,
		})
		if err != nil {
			return err
		}
	}
	return x.stepTo(task, phase.Published, a, phase.Request{
		Role: run.Role, Deputy: run.Role == contract.Admin, Proofs: phase.Needed(phase.Publish), Level: w.gateLevel(f.result), Gate: answer,
	})
}

// noteIntact says whether the stored release note is the one of the data, and
// its digest the outputHash of the Evidence (§7.1).
func (x *session) noteIntact(run *Run, stored []byte, output string) error {
	n, err := x.noteOf(run)
	if err != nil {
		return err
	}
	hash, err := artifact.CheckNote(n, stored)
	if err != nil {
		return err
	}
	if !strings.EqualFold(hash, output) {
		return absent(phase.ReleaseNote, run)
	}
	return nil
}

// noteOf is the data of the release note a run of phase Publish writes.
func (x *session) noteOf(run *Run) (*artifact.Note, error) { return releaseNote(x, x.w, run) }

// releaseNote puts the note together from the chain. run is the publication it
// is written in; nil is a preview, in the name of whoever will write it.
func releaseNote(r Reader, w *work, run *Run) (*artifact.Note, error) {
	gate := w.gateRow()
	if gate == nil {
		return nil, approval.Publishable(nil)
	}
	f, err := readBoundary(r, w)
	if err != nil {
		return nil, err
	}
	n := &artifact.Note{DiffHash: w.chain.DiffHash, CorrelationID: w.chain.Correlation}
	if n.Files, err = f.changes(); err != nil {
		return nil, err
	}
	i, g := w.intent(), w.gate()
	n.Intent.ID, n.Intent.Version, n.Intent.Text, n.Intent.Creator, n.Intent.Priority = i.ID, i.Version, i.Intent, i.Creator, i.Priority
	n.TaskSeed = artifact.Reference{ID: w.taskRow().Ref().ID, Version: w.taskRow().Ref().Version}
	n.Acceptance.Reference = artifact.Reference{ID: w.acceptanceRow().Ref().ID, Version: w.acceptanceRow().Ref().Version}
	n.Acceptance.Status = w.acceptance().Status
	n.Gate.Reference = artifact.Reference{ID: g.ID, Version: g.Version}
	n.Gate.FinalDecision, n.Gate.ApprovalDigest = g.FinalDecision, gate.ApprovalDigest
	assessed := w.level(f.result)
	n.Risk.Level, n.Risk.Reasons = g.RiskLevel, assessed.Reasons
	n.Commits.Base, n.Commits.Head = orUnknown(w.chain.BaseCommit), orUnknown(w.chain.HeadCommit)
	if err := agreed(r, w, n); err != nil {
		return nil, err
	}
	if err := pathOf(r, w, n, gate, f, run); err != nil {
		return nil, err
	}
	for _, c := range w.rows {
		if e, ok := c.Document.(*contract.Evidence); ok && c.Source == w.taskRow().Ref() && (run == nil || c.ExecutionID != run.ExecutionID) {
			n.Evidence = append(n.Evidence, e.ID)
		}
	}
	n.At = g.UpdatedAt.String()
	n.WrittenBy.ActorID, n.WrittenBy.Role = contract.PolicyEngineActor, contract.PolicyEngine
	if run != nil {
		n.At = contract.At(run.StartedAt).String()
		n.WrittenBy.ActorID, n.WrittenBy.Role = run.Actor, run.Role
	}
	n.Sort()
	return n, nil
}

// agreed adds who approved, reviewed and checked the work.
func agreed(r Reader, w *work, n *artifact.Note) error {
	g := w.gate()
	n.Approvals, n.Reviews, n.Checks, n.Evidence = []artifact.NoteApproval{}, []artifact.NoteReview{}, []artifact.NoteCheck{}, []contract.ID{}
	consents, err := r.Consents(g.ID)
	if err != nil {
		return err
	}
	for _, a := range g.Approvals {
		entry := artifact.NoteApproval{Role: a.Role, ActorID: a.ActorID, Decision: a.Decision, DecidedAt: a.DecidedAt.String()}
		for _, c := range consents {
			if c.GateVersion == g.Version && c.Role == a.Role && c.ActorID == a.ActorID && c.Decision == a.Decision {
				entry.Digest, entry.BaseCommit, entry.HeadCommit, entry.SelfApproved = &c.Digest, c.BaseCommit, c.HeadCommit, c.SelfApproved
			}
		}
		n.Approvals = append(n.Approvals, entry)
	}
	reviews, err := r.Reviews(w.taskRow().Ref())
	if err != nil {
		return err
	}
	for _, v := range reviews {
		if v.DiffHash == w.chain.DiffHash {
			n.Reviews = append(n.Reviews, artifact.NoteReview{
				Role: v.Role, Reviewer: v.Reviewer, Verdict: v.Verdict, At: contract.At(v.At).String(), HeadCommit: v.HeadCommit,
			})
		}
	}
	if w.d.Judged == "" {
		return nil
	}
	run, err := r.Run(w.d.Judged)
	if err != nil {
		return err
	}
	d, err := run.details()
	if err != nil {
		return err
	}
	for _, c := range d.Checks {
		n.Checks = append(n.Checks, artifact.NoteCheck{Criterion: c.Criterion, Passed: c.Passed, Detail: c.Detail})
	}
	return nil
}

func orUnknown(commit string) string {
	if commit == "" {
		return unknown
	}
	return commit
}
