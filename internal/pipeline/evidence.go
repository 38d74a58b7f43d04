package pipeline

import (
	"context"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// The Evidence of runs (docs/spec/contracts.md §4.5, §9): of one that its
// executor tells about, in time or too late, and of one that nobody does.

// tooLate refuses a result and keeps the Evidence in it (§4.5). Storing it
// changes no contract and needs no lock.
func (x *session) tooLate(run *Run, r report, refused error) error {
	late := &Late{Err: refused}
	if late.Evidence = run.Evidence; late.Evidence != "" || len(r.evidence) == 0 {
		return x.keepLate(late)
	}
	boundary, err := x.boundary()
	if err != nil {
		return err
	}
	d, err := run.details()
	if err != nil {
		return err
	}
	classification := d.Stale
	if classification == "" {
		classification = contract.Fresh
	}
	level := x.w.withSignals(r.signals).level(boundary.result).Level
	why := string(refusal.CodeOf(refused))
	c, _, err := x.evidence(run, r, level, classification, contract.MergeResult{Status: contract.MergeNotAttempted, Reason: &why})
	if err != nil {
		if refusal.CodeOf(err) == "" {
			return err
		}
		return x.keepLate(late) // what cannot be kept is not kept; the refusal stands
	}
	if err := x.store(run, c); err != nil {
		return err
	}
	late.Evidence = c.Ref().ID
	return x.keepLate(late)
}

func (x *session) keepLate(l *Late) error {
	if len(x.more) == 0 {
		return l
	}
	x.kept = l
	return nil
}

// evidence is the Evidence of a run: what the executor knows, and what is the
// service's to say (§20.3). It is judged as a document of this system.
func (x *session) evidence(run *Run, r report, level contract.Level, c contract.Classification, m contract.MergeResult) (*Contract, []refusal.Code, error) {
	id, err := x.NextID(contract.KindEvidence)
	if err != nil {
		return nil, nil, err
	}
	at := x.at()
	gate, last := x.w.gatesOf(run.TaskSeed)
	v := map[string]any{}
	for k, member := range r.evidence {
		v[k] = member
	}
	for k, member := range map[string]any{
		"schemaVersion": contract.SchemaVersion, "id": string(id), "kind": string(contract.KindEvidence), "state": string(contract.Published),
		"version": number(1), "createdAt": at.String(), "updatedAt": at.String(),
		"taskSeedId": string(run.TaskSeed.ID), "actor": string(run.Actor),
		"staleStatus":   map[string]any{"classification": string(c), "evaluatedAt": at.String()},
		"mergeResult":   merged(m),
		"policyVerdict": string(document.Verdict(level, x.w.violation(level) != "", gate)),
	} {
		if _, given := r.evidence[k]; given {
			return nil, nil, malformed("/evidence/"+k, "%s is the service's to say", k)
		}
		v[k] = member
	}
	if _, given := v["baseCommit"]; !given && run.BaseCommit != "" {
		v["baseCommit"] = run.BaseCommit
	}
	if r.headCommit != "" {
		v["headCommit"] = r.headCommit
	} else if _, given := v["headCommit"]; !given && x.w.chain.HeadCommit != "" {
		v["headCommit"] = x.w.chain.HeadCommit
	}
	if snapshot := document.Snapshot(last, at); len(snapshot) > 0 {
		entries := make([]any, len(snapshot))
		for i, a := range snapshot {
			entries[i] = member(a.Object())
		}
		v["approvalsSnapshot"] = entries
	}
	d, err := contract.DecodeValue(v)
	if err != nil {
		return nil, nil, err
	}
	e := d.(*contract.Evidence)
	if faults := document.Alone(e); len(faults) > 0 {
		return nil, nil, faults
	}
	faults, warnings := document.Evidence(e, document.Around{
		Gate: last, GateAsked: true, Level: level, Persisted: x.Now(), Own: true,
	})
	if len(faults) > 0 {
		return nil, nil, faults
	}
	return &Contract{
		Document: e, Text: contract.CanonicalValue(v), Chain: run.Chain, Source: run.TaskSeed, ExecutionID: run.ExecutionID,
	}, warnings, nil
}

// store keeps the Evidence of a run and announces it. One run has one.
func (x *session) store(run *Run, c *Contract) error {
	if err := x.create(contract.Actor{ID: run.Actor, Role: run.Role}, c, state.Event{}, state.Snapshot{}, nil); err != nil {
		return err
	}
	x.note(contract.Actor{ID: run.Actor, Role: run.Role}, "contract.create", c, event.Record{To: string(contract.Published)})
	run.Evidence = c.Ref().ID
	key := evidenceKey(run)
	if err := x.AddEffect(Effect{Key: key, Result: c.Ref(), At: x.Now()}); err != nil {
		return err
	}
	if !run.Alive() && x.run != run.ExecutionID {
		return x.UpdateRun(run)
	}
	return nil
}

// RunEvidence writes the Evidence of a run that delivered none (§4.5).
func (s *Service) RunEvidence(ctx context.Context, a Attempt) error {
	args, err := arguments[runArgs](a)
	if err != nil {
		return err
	}
	return again(s.step(ctx, s.orchestrator(), "contract.create", args.Chain, func(x *session) error {
		run, err := x.Run(args.Execution)
		if err != nil || run.Alive() || run.Evidence != "" {
			return err
		}
		d, err := run.details()
		if err != nil {
			return err
		}
		c, err := x.ownEvidence(run, d.Reason)
		if err != nil {
			return err
		}
		return x.store(run, c)
	}))
}

// ownEvidence is the Evidence the service writes for a run that delivered none:
// nothing is known of its work but that it took place.
func (x *session) ownEvidence(run *Run, reason string) (*Contract, error) {
	id, err := x.NextID(contract.KindEvidence)
	if err != nil {
		return nil, err
	}
	base := run.BaseCommit
	if base == "" {
		base = unknown
	}
	d, err := run.details()
	if err != nil {
		return nil, err
	}
	stale := d.Stale
	if stale == "" {
		stale = contract.Fresh
	}
	_, last := x.w.gatesOf(run.TaskSeed)
	at, end := x.at(), x.Now()
	if !run.Alive() {
		end = run.EndedAt
	}
	e := generation.LostRun{
		ID: id, TaskSeed: run.TaskSeed.ID, Actor: run.Actor, BaseCommit: base, Start: run.StartedAt, End: end,
		Stale:       contract.StaleStatus{Classification: stale, EvaluatedAt: at},
		Environment: nowhere(), InputHash: contract.EmptyObjectHash, Approvals: document.Snapshot(last, at), Reason: reason,
	}.Evidence(x.Now())
	return &Contract{Document: e, Chain: run.Chain, Source: run.TaskSeed, ExecutionID: run.ExecutionID}, nil
}

// unknown is what Evidence says of what nobody can say: seven characters, as
// long as a commit must be.
const unknown = "unknown"

// nowhere is the environment of a run nobody has told about.
func nowhere() contract.Environment {
	return contract.Environment{
		OS: unknown, Runtime: unknown, ContainerImageDigest: contract.Uncontainerized, LockfileHash: ingest.LockfileHash(nil),
	}
}

func merged(m contract.MergeResult) map[string]any {
	o := map[string]any{"status": string(m.Status)}
	if m.Reason != nil {
		o["reason"] = *m.Reason
	}
	return o
}

// member is a canonical object as contract.DecodeValue takes it.
func member(o canonical.Object) map[string]any {
	v := make(map[string]any, len(o))
	for _, m := range o {
		v[m.Key] = m.Value
	}
	return v
}
