package contract

import "plimsoll.dev/internal/canonical"

// Classification is how old the copies are that a run worked from.
type Classification string

// The classifications.
const (
	Fresh           Classification = "fresh"
	SoftStale       Classification = "soft_stale"
	HardStaleCopies Classification = "hard_stale"
)

// Valid says whether c is one of the three.
func (c Classification) Valid() bool {
	return c == Fresh || c == SoftStale || c == HardStaleCopies
}

// MergeStatus is what became of competing updates.
type MergeStatus string

// The merge statuses.
const (
	MergeNotApplicable MergeStatus = "not_applicable"
	MergeNotAttempted  MergeStatus = "not_attempted"
	Merged             MergeStatus = "merged"
	MergeManual        MergeStatus = "manual_resolution_required"
)

// Valid says whether s is one of the four.
func (s MergeStatus) Valid() bool {
	switch s {
	case MergeNotApplicable, MergeNotAttempted, Merged, MergeManual:
		return true
	}
	return false
}

// PolicyVerdict is what the Policy Engine said of the work when the Evidence
// was written.
type PolicyVerdict string

// The verdicts.
const (
	VerdictApproved PolicyVerdict = "approved"
	VerdictRejected PolicyVerdict = "rejected"
	VerdictManual   PolicyVerdict = "manual_review_required"
)

// Valid says whether v is one of the three.
func (v PolicyVerdict) Valid() bool {
	return v == VerdictApproved || v == VerdictRejected || v == VerdictManual
}

// Uncontainerized is what containerImageDigest says of a run outside any
// container, in exactly this spelling.
const Uncontainerized = "uncontainerized"

// Model is the model that took part in a run; name and version are "none" when
// none did.
type Model struct {
	Name           string
	Version        string
	ParametersHash string
}

// Environment is where a run took place.
type Environment struct {
	OS                   string
	Runtime              string
	ContainerImageDigest string
	LockfileHash         string
}

// StaleStatus is the last evaluation of docs/spec/contracts.md §11.
type StaleStatus struct {
	Classification Classification
	EvaluatedAt    Timestamp
	Reason         *string
}

// MergeResult is the last evaluation of docs/spec/contracts.md §13.
type MergeResult struct {
	Status   MergeStatus
	MergedAt Timestamp // zero when absent
	Strategy *string
	Reason   *string
}

// Evidence is the trail of one execution, enough to reproduce it. It never
// changes. ApprovalsSnapshot is nil when absent: the schema has no empty
// one.
type Evidence struct {
	Base
	TaskSeedID        ID
	BaseCommit        string
	HeadCommit        string
	InputHash         string
	OutputHash        string
	DiffHash          string
	Model             Model
	Tools             []string
	Environment       Environment
	StaleStatus       StaleStatus
	MergeResult       MergeResult
	StartTime         Timestamp
	EndTime           Timestamp
	Actor             ActorID
	ApprovalsSnapshot []Approval
	PolicyVerdict     PolicyVerdict
}

// Source is the TaskSeed that was executed.
func (d *Evidence) Source() ID { return d.TaskSeedID }

// With is a copy with another common part.
func (d *Evidence) With(b Base) Document {
	c := *d
	c.Base = b
	return &c
}

func readEvidence(b Base, m reader) *Evidence {
	model, env := m.object("model"), m.object("environment")
	stale, merge := m.object("staleStatus"), m.object("mergeResult")
	d := &Evidence{
		Base:       b,
		TaskSeedID: ID(m.text("taskSeedId")),
		BaseCommit: m.text("baseCommit"),
		HeadCommit: m.text("headCommit"),
		InputHash:  m.text("inputHash"),
		OutputHash: m.text("outputHash"),
		DiffHash:   m.text("diffHash"),
		Model: Model{
			Name:           model.text("name"),
			Version:        model.text("version"),
			ParametersHash: model.text("parametersHash"),
		},
		Tools: m.texts("tools"),
		Environment: Environment{
			OS:                   env.text("os"),
			Runtime:              env.text("runtime"),
			ContainerImageDigest: env.text("containerImageDigest"),
			LockfileHash:         env.text("lockfileHash"),
		},
		StaleStatus: StaleStatus{
			Classification: Classification(stale.text("classification")),
			EvaluatedAt:    stale.time("evaluatedAt"),
			Reason:         stale.optional("reason"),
		},
		MergeResult: MergeResult{
			Status:   MergeStatus(merge.text("status")),
			MergedAt: merge.time("mergedAt"),
			Strategy: merge.optional("strategy"),
			Reason:   merge.optional("reason"),
		},
		StartTime:     m.time("startTime"),
		EndTime:       m.time("endTime"),
		Actor:         ActorID(m.text("actor")),
		PolicyVerdict: PolicyVerdict(m.text("policyVerdict")),
	}
	if _, there := m["approvalsSnapshot"]; there {
		d.ApprovalsSnapshot = m.approvals("approvalsSnapshot")
	}
	return d
}

func (d *Evidence) members() canonical.Object {
	stale := canonical.Object{
		{Key: "classification", Value: string(d.StaleStatus.Classification)},
		{Key: "evaluatedAt", Value: d.StaleStatus.EvaluatedAt.String()},
	}
	stale = optional(stale, "reason", d.StaleStatus.Reason)
	merge := canonical.Object{{Key: "status", Value: string(d.MergeResult.Status)}}
	if !d.MergeResult.MergedAt.IsZero() {
		merge = append(merge, canonical.Member{Key: "mergedAt", Value: d.MergeResult.MergedAt.String()})
	}
	merge = optional(merge, "strategy", d.MergeResult.Strategy)
	merge = optional(merge, "reason", d.MergeResult.Reason)
	o := canonical.Object{
		{Key: "taskSeedId", Value: string(d.TaskSeedID)},
		{Key: "baseCommit", Value: d.BaseCommit},
		{Key: "headCommit", Value: d.HeadCommit},
		{Key: "inputHash", Value: d.InputHash},
		{Key: "outputHash", Value: d.OutputHash},
		{Key: "diffHash", Value: d.DiffHash},
		{Key: "model", Value: canonical.Object{
			{Key: "name", Value: d.Model.Name},
			{Key: "version", Value: d.Model.Version},
			{Key: "parametersHash", Value: d.Model.ParametersHash},
		}},
		{Key: "tools", Value: d.Tools},
		{Key: "environment", Value: canonical.Object{
			{Key: "os", Value: d.Environment.OS},
			{Key: "runtime", Value: d.Environment.Runtime},
			{Key: "containerImageDigest", Value: d.Environment.ContainerImageDigest},
			{Key: "lockfileHash", Value: d.Environment.LockfileHash},
		}},
		{Key: "staleStatus", Value: stale},
		{Key: "mergeResult", Value: merge},
		{Key: "startTime", Value: d.StartTime.String()},
		{Key: "endTime", Value: d.EndTime.String()},
		{Key: "actor", Value: string(d.Actor)},
		{Key: "policyVerdict", Value: string(d.PolicyVerdict)},
	}
	if d.ApprovalsSnapshot != nil {
		o = append(o, canonical.Member{Key: "approvalsSnapshot", Value: approvalObjects(d.ApprovalsSnapshot)})
	}
	return o
}

func optional(o canonical.Object, name string, text *string) canonical.Object {
	if text == nil {
		return o
	}
	return append(o, canonical.Member{Key: name, Value: *text})
}
