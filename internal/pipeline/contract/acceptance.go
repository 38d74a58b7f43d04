package contract

import "plimsoll.dev/internal/canonical"

// Status is what the verification of an execution came to.
type Status string

// The statuses.
const (
	Pending Status = "pending"
	Passed  Status = "passed"
	Failed  Status = "failed"
	Blocked Status = "blocked" // it could not be judged
)

// Valid says whether s is one of the four.
func (s Status) Valid() bool {
	switch s {
	case Pending, Passed, Failed, Blocked:
		return true
	}
	return false
}

// Acceptance is the result of verifying an execution.
type Acceptance struct {
	Base
	TaskSeedID       ID
	Status           Status
	Details          string
	Criteria         []string
	GenerationPolicy GenerationPolicy // never lists policy_engine
}

// Source is the TaskSeed whose execution was judged.
func (d *Acceptance) Source() ID { return d.TaskSeedID }

// With is a copy with another common part.
func (d *Acceptance) With(b Base) Document {
	c := *d
	c.Base = b
	return &c
}

func readAcceptance(b Base, m reader) *Acceptance {
	return &Acceptance{
		Base:             b,
		TaskSeedID:       ID(m.text("taskSeedId")),
		Status:           Status(m.text("status")),
		Details:          m.text("details"),
		Criteria:         m.texts("criteria"),
		GenerationPolicy: m.policy("generationPolicy"),
	}
}

func (d *Acceptance) members() canonical.Object {
	return canonical.Object{
		{Key: "taskSeedId", Value: string(d.TaskSeedID)},
		{Key: "status", Value: string(d.Status)},
		{Key: "details", Value: d.Details},
		{Key: "criteria", Value: d.Criteria},
		{Key: "generationPolicy", Value: d.GenerationPolicy.object()},
	}
}
