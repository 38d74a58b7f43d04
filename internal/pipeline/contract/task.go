package contract

import (
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/capability"
)

// GenerationPolicy says how a generated contract becomes Active: by itself, or
// when every role of the list has approved (docs/spec/contracts.md §4.2).
type GenerationPolicy struct {
	AutoActivate bool
	Approvals    RoleSet
}

// TaskSeed is an executable unit of work.
type TaskSeed struct {
	Base
	IntentID             ID
	Description          string
	OwnerRole            Role
	ExecutionPlan        []string // in order of execution
	CapabilitiesSnapshot capability.Set
	GenerationPolicy     GenerationPolicy
}

// Source is the intent it was made from.
func (d *TaskSeed) Source() ID { return d.IntentID }

// With is a copy with another common part.
func (d *TaskSeed) With(b Base) Document {
	c := *d
	c.Base = b
	return &c
}

func readTaskSeed(b Base, m reader) *TaskSeed {
	return &TaskSeed{
		Base:                 b,
		IntentID:             ID(m.text("intentId")),
		Description:          m.text("description"),
		OwnerRole:            Role(m.text("ownerRole")),
		ExecutionPlan:        m.texts("executionPlan"),
		CapabilitiesSnapshot: m.capabilities("requestedCapabilitiesSnapshot"),
		GenerationPolicy:     m.policy("generationPolicy"),
	}
}

func (d *TaskSeed) members() canonical.Object {
	return canonical.Object{
		{Key: "intentId", Value: string(d.IntentID)},
		{Key: "description", Value: d.Description},
		{Key: "ownerRole", Value: string(d.OwnerRole)},
		{Key: "executionPlan", Value: d.ExecutionPlan},
		{Key: "requestedCapabilitiesSnapshot", Value: names(d.CapabilitiesSnapshot.List())},
		{Key: "generationPolicy", Value: d.GenerationPolicy.object()},
	}
}

func (m reader) policy(name string) GenerationPolicy {
	o := m.object(name)
	return GenerationPolicy{
		AutoActivate: o.flag("auto_activate"),
		Approvals:    o.roles("requiredActivationApprovals"),
	}
}

func (p GenerationPolicy) object() canonical.Object {
	return canonical.Object{
		{Key: "auto_activate", Value: p.AutoActivate},
		{Key: "requiredActivationApprovals", Value: names(p.Approvals.List())},
	}
}
