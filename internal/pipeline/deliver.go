package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// What is delivered besides contracts: artifacts, reviews and verify artifacts
// (docs/spec/contracts.md §7, §7.1, §20.3).

// ArtifactPut stores an artifact of a run while it goes on.
func (s *Service) ArtifactPut(ctx context.Context, by Caller, a ArtifactArgs) (*ArtifactPut, error) {
	return do(ctx, s, by, "artifact.put", func(x *session) (*ArtifactPut, error) {
		run, err := x.mine(a.Execution)
		if err != nil {
			return nil, err
		}
		if err := x.over(run); err != nil {
			return nil, x.keep(err)
		}
		kind := phase.Proof(a.Kind)
		if !delivers(phase.Phase(run.Phase), kind) {
			return nil, refusal.New(refusal.PhaseGuardFailed, "a run of %s delivers no %s", run.Phase, a.Kind)
		}
		return x.putArtifact(run, kind, a.Bytes)
	})
}

// delivers says whether a run of a phase delivers a kind of artifact.
func delivers(p phase.Phase, kind phase.Proof) bool {
	if kind == phase.BoundaryResult || kind == phase.VerifyResult || kind == phase.ChangeDiff {
		return p == phase.Build || p == phase.Stabilize || p == phase.Refactor
	}
	return slices.Contains(asked(p), ArtifactKind(kind))
}

func (x *session) putArtifact(run *Run, kind phase.Proof, b []byte) (*ArtifactPut, error) {
	record, err := artifact.NewRecord(kind, run.TaskSeed.ID, run.TaskSeed.Version, phase.Phase(run.Phase), run.ExecutionID, b)
	if err != nil {
		return nil, err
	}
	x.rec.Cause, x.rec.Digest = run.ExecutionID+" "+string(kind), record.SHA256
	stored, err := x.Artifact(run.ExecutionID, ArtifactKind(kind))
	switch {
	case err == nil:
		if err := (artifact.Record{Kind: kind, SHA256: stored.SHA256}).Again(b); err != nil {
			return nil, err
		}
		stored.Bytes = nil
		return &ArtifactPut{Artifact: *stored, Duplicate: true}, nil
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	put := x.artifact(run, record, b)
	if err := x.AddArtifact(put); err != nil {
		return nil, err
	}
	put.Bytes = nil
	return &ArtifactPut{Artifact: put}, nil
}

// artifact is a record as the store has it.
func (x *session) artifact(run *Run, r artifact.Record, b []byte) Artifact {
	return Artifact{
		ExecutionID: r.ExecutionID, Kind: ArtifactKind(r.Kind), Chain: run.Chain, Task: run.TaskSeed, Phase: Phase(r.Phase),
		SHA256: r.SHA256, Size: r.Size, MediaType: r.MediaType, Bytes: b, At: x.Now(),
	}
}

// ArtifactList is the artifacts of a run, without their bytes.
func (s *Service) ArtifactList(ctx context.Context, execution string) ([]Artifact, error) {
	return view(ctx, s, func(r Reader) ([]Artifact, error) {
		run, err := r.Run(execution)
		if run, err = found(run, err, "the run %s is unknown", execution); err != nil {
			return nil, err
		}
		Traced(ctx, run.Correlation)
		all, err := r.Artifacts(run.Chain)
		list := []Artifact{}
		for _, a := range all {
			if a.ExecutionID == execution {
				list = append(list, a)
			}
		}
		return list, err
	})
}

// ArtifactGet is one artifact of a run with its bytes.
func (s *Service) ArtifactGet(ctx context.Context, execution string, kind ArtifactKind) (*Artifact, error) {
	return view(ctx, s, func(r Reader) (*Artifact, error) {
		a, err := r.Artifact(execution, kind)
		return found(a, err, "the run %s has no %s", execution, kind)
	})
}

// ReviewList is the reviews of a task.
func (s *Service) ReviewList(ctx context.Context, task contract.ID) ([]Review, error) {
	return view(ctx, s, func(r Reader) ([]Review, error) {
		c, err := r.Contract(task)
		if c, err = found(c, err, "%s is unknown", task); err != nil {
			return nil, err
		}
		Traced(ctx, c.Correlation)
		return r.Reviews(c.Ref())
	})
}

// ReviewsOf is the reviews of several TaskSeed versions, of each oldest first.
func (s *Service) ReviewsOf(ctx context.Context, tasks []Ref) (map[Ref][]Review, error) {
	return view(ctx, s, func(r Reader) (map[Ref][]Review, error) {
		list, err := r.Reviews(tasks...)
		of := map[Ref][]Review{}
		for _, v := range list {
			of[v.Task] = append(of[v.Task], v)
		}
		return of, err
	})
}

// ReviewRecord records a review of the work in Refactor. The last of run and
// reviews takes the step to Publish.
func (s *Service) ReviewRecord(ctx context.Context, by Caller, a ReviewArgs) (*Review, error) {
	return do(ctx, s, by, "review.record", func(x *session) (*Review, error) {
		c, err := x.resolved(a.Task)
		if err != nil {
			return nil, err
		}
		w := x.w
		if t := w.taskRow(); t != nil && t.Ref().ID == a.Task {
			c = t
		}
		diff := w.chain.DiffHash
		if diff == "" {
			diff = contract.EmptyDiffHash
		}
		text, err := x.review(a, diff)
		if err != nil {
			return nil, err
		}
		reviewed := a.HeadCommit
		if document.SameCommit(reviewed, w.chain.HeadCommit) {
			reviewed = w.chain.HeadCommit
		}
		if err := phase.RecordReview(by.Role, w.phase(), w.chain.HeadCommit, reviewed); err != nil {
			return nil, err
		}
		if err := x.holding(); err != nil {
			return nil, err
		}
		r := Review{
			Chain: w.chain.ID, Task: c.Ref(), Reviewer: by.Actor, Role: by.Role, Verdict: a.Verdict, HeadCommit: a.HeadCommit,
			DiffHash: w.chain.DiffHash, Text: text, At: x.Now(),
		}
		x.rec.To, x.rec.HeadCommit = a.Verdict, a.HeadCommit
		if err := x.AddReview(r); err != nil {
			return nil, err
		}
		w.examine = true
		return &r, nil
	})
}

// review is the stored review result, or what its schema refuses.
func (x *session) review(a ReviewArgs, diff string) ([]byte, error) {
	blocking := make([]any, len(a.Blocking))
	for i, b := range a.Blocking {
		if err := x.plain(fmt.Sprintf("/blocking/%d/text", i), b.Text); err != nil {
			return nil, err
		}
		item := map[string]any{"text": b.Text}
		if b.Path != "" {
			item["path"] = b.Path
		}
		if b.Line != 0 {
			item["line"] = number(b.Line)
		}
		blocking[i] = item
	}
	role := x.by.Role
	if role != contract.SecurityReviewer {
		role = contract.ProjectLead // whether the role may review is asked after the form
	}
	v := map[string]any{
		"reviewer": string(x.by.Actor), "role": string(role), "headCommit": a.HeadCommit, "diffHash": diff, "verdict": a.Verdict,
		"blocking": blocking, "at": x.at().String(),
	}
	if faults := artifact.Validate(artifact.ReviewForm, v); len(faults) > 0 {
		return nil, faults
	}
	return contract.CanonicalValue(v), nil
}

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// VerifyRecord takes the verify artifact that a boundary result owes (R10). Its
// arrival is a result of its own: the Acceptance is judged again, once.
func (s *Service) VerifyRecord(ctx context.Context, by Caller, a VerifyArgs) (*ArtifactPut, error) {
	return do(ctx, s, by, "verify.record", func(x *session) (*ArtifactPut, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		if _, err := x.resolved(a.Task); err != nil {
			return nil, err
		}
		w := x.w
		task := w.taskRow()
		if task == nil || task.Ref().ID != a.Task {
			return nil, missing("%s is not under way", a.Task)
		}
		if err := running(task); err != nil {
			return nil, err
		}
		v, ok := readVerify(a.Artifact)
		if !ok {
			return nil, refusal.New(refusal.PhaseGuardFailed, "the artifact names no decision")
		}
		run, mine, err := x.verified(a, v)
		if err != nil {
			return nil, err
		}
		if !mine && !(x.held.Has(contract.Admin) && (by.Role == contract.Admin || by.Role == "")) {
			return nil, refuseRole(by.Role, "record a verify artifact for somebody else's run")
		}
		before, err := x.boundary()
		if err != nil {
			return nil, err
		}
		put, err := x.putArtifact(run, phase.VerifyResult, a.Artifact)
		if err != nil || put.Duplicate {
			return put, err
		}
		if before.verifyID == v.DecisionID && before.result != nil && before.result.Verify == v.Decision {
			return put, nil // what it says has been judged already
		}
		if w.acceptanceRow() == nil || w.d.Judged == "" {
			return put, nil
		}
		return put, x.rejudgeLater(v.DecisionID)
	})
}

// verified is the newest run with the commits of a verify artifact, which must
// be those of the chain, and whether the caller ran one of those.
func (x *session) verified(a VerifyArgs, v verifyArtifact) (run *Run, mine bool, err error) {
	w := x.w
	other := refusal.New(refusal.PhaseGuardFailed, "the chain is at %s..%s", w.chain.BaseCommit, w.chain.HeadCommit)
	named := v.commits()
	if len(named) == 0 {
		return nil, false, refusal.New(refusal.PhaseGuardFailed, "the artifact names no commits")
	}
	for _, s := range append(named, verifySubject{a.BaseCommit, a.HeadCommit}) {
		if !document.SameCommit(s.BaseCommit, w.chain.BaseCommit) || !document.SameCommit(s.HeadCommit, w.chain.HeadCommit) {
			return nil, false, other
		}
	}
	runs, err := x.Runs(RunFilter{Chains: []contract.ID{w.chain.ID}}, Page{})
	if err != nil {
		return nil, false, err
	}
	for _, r := range runs {
		if r.TaskSeed != w.taskRow().Ref() || r.Alive() || !document.SameCommit(r.HeadCommit, a.HeadCommit) || r.Phase == Phase(phase.Publish) {
			continue
		}
		if run == nil {
			run = r
		}
		mine = mine || r.Actor == x.by.Actor
	}
	if run == nil {
		return nil, false, other
	}
	return run, mine, nil
}
