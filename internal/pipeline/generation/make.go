package generation

import (
	"time"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// Seed makes the TaskSeed of an intent version (docs/spec/contracts.md §4.1).
// description and plan are a planner's; without one the intent's own text is
// both. The state it begins in follows from the derived policy.
func Seed(intent *contract.Intent, id contract.ID, version int64, description string, plan []string, now time.Time) *contract.TaskSeed {
	if description == "" {
		description = intent.Intent
	}
	if len(plan) == 0 {
		plan = []string{description}
	}
	policy := approval.TaskSeedPolicy(intent.RequestedCapabilities)
	return &contract.TaskSeed{
		Base:                 base(contract.KindTaskSeed, id, version, policy, now),
		IntentID:             intent.ID,
		Description:          description,
		OwnerRole:            phase.Owner(intent.RequestedCapabilities),
		ExecutionPlan:        plan,
		CapabilitiesSnapshot: intent.RequestedCapabilities,
		GenerationPolicy:     policy,
	}
}

// Verdict is what the Validator came to. Level is the risk of the execution,
// signals of the run included; Details is a summary for people.
type Verdict struct {
	Status  contract.Status
	Details string
	Checks  []phase.Check
	Level   contract.Level
}

// Accept makes the Acceptance of a TaskSeed version from its first result.
func Accept(t *contract.TaskSeed, id contract.ID, version int64, v Verdict, now time.Time) *contract.Acceptance {
	policy := approval.AcceptancePolicy(t.GenerationPolicy, t.CapabilitiesSnapshot, v.Level)
	return &contract.Acceptance{
		Base:             base(contract.KindAcceptance, id, version, policy, now),
		TaskSeedID:       t.ID,
		Status:           v.Status,
		Details:          v.details(),
		Criteria:         phase.Criteria(t.ExecutionPlan, v.Checks),
		GenerationPolicy: policy,
	}
}

// Revise is the next version of an Acceptance, in place: a later result for the
// same TaskSeed version. The state stays, and so does every criterion
// there is: a result adds, it never drops one. The policy is derived anew in
// Draft and kept in Active, where a risk that rose meanwhile shows in the gate.
func Revise(a *contract.Acceptance, t *contract.TaskSeed, v Verdict, now time.Time) *contract.Acceptance {
	next := *a
	next.Version++
	next.UpdatedAt = contract.At(now)
	next.Status, next.Details = v.Status, v.details()
	next.Criteria = phase.Criteria(a.Criteria, v.Checks) // those of the plan are the first of them
	if a.State == contract.Draft {
		next.GenerationPolicy = approval.AcceptancePolicy(t.GenerationPolicy, t.CapabilitiesSnapshot, v.Level)
	}
	return &next
}

func (v Verdict) details() string {
	if v.Details == "" {
		return string(v.Status)
	}
	return v.Details
}

func base(k contract.Kind, id contract.ID, version int64, p contract.GenerationPolicy, now time.Time) contract.Base {
	b := contract.Base{ID: id, Kind: k, State: contract.Draft, Version: version, CreatedAt: contract.At(now), UpdatedAt: contract.At(now)}
	if p.AutoActivate {
		b.State = contract.Active
	}
	return b
}

// LostRun is the Evidence the Orchestrator writes for a run that ended without
// any: lost with its lock, or given back (docs/spec/contracts.md §4.5, §20.3).
// Reason is "lock.lost" or "released". Nothing is known of the work, so nothing
// is claimed of it.
type LostRun struct {
	ID          contract.ID
	TaskSeed    contract.ID
	Actor       contract.ActorID
	BaseCommit  string
	Start, End  time.Time
	Stale       contract.StaleStatus
	Environment contract.Environment
	InputHash   string
	Approvals   []contract.Approval // document.Snapshot of the moment
	Reason      string
}

// Evidence is the Evidence of a lost run.
func (r LostRun) Evidence(now time.Time) *contract.Evidence {
	at := contract.At(now)
	return &contract.Evidence{
		Base: contract.Base{
			ID: r.ID, Kind: contract.KindEvidence, State: contract.Published, Version: 1, CreatedAt: at, UpdatedAt: at,
		},
		TaskSeedID:        r.TaskSeed,
		BaseCommit:        r.BaseCommit,
		HeadCommit:        r.BaseCommit,
		InputHash:         r.InputHash,
		OutputHash:        contract.EmptyObjectHash,
		DiffHash:          contract.EmptyDiffHash,
		Model:             contract.Model{Name: "unknown", Version: "unknown", ParametersHash: contract.EmptyObjectHash},
		Tools:             []string{"unknown"},
		Environment:       r.Environment,
		StaleStatus:       r.Stale,
		MergeResult:       contract.MergeResult{Status: contract.MergeNotAttempted, Reason: &r.Reason},
		StartTime:         contract.At(r.Start),
		EndTime:           contract.At(r.End),
		Actor:             r.Actor,
		ApprovalsSnapshot: r.Approvals,
		PolicyVerdict:     contract.VerdictManual,
	}
}
